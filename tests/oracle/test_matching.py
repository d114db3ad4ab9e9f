"""Matching against its plain definition, in exact arithmetic, on generated tables.

Numbers have one decimal, so that every one is a whole number of tenths: the oracle compares these, and a tie on the bound is a tie.
The measure gets the same numbers as floats. Both kernels, compiled and plain, must give what the oracle gives.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stead
from stead.kernels import bits, boxes, plain
from stead.kernels.codes import dense

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stead.engine.base import Engine

MISSING = -9.0
Cell = int | str | None


class Case:
    """A confidential table and m synthetic ones, in whole numbers: levels of categories, tenths of numbers, None and a missing code."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.n, self.m = int(random.integers(1, 13)), int(random.integers(1, 4))
        self.kept = [f"k{place}" for place in range(random.integers(0, 3))]
        near = [f"x{place}" for place in range(random.integers(0, 4))]
        codes = [f"s{place}" for place in range(random.integers(0, 3))]
        self.made = codes + near or ["s0"]
        if near and random.random() < 0.3:
            self.kept.append("y")  # a known number
        gaps = random.random() < 0.3
        self.tables: list[dict[str, list[Cell]]] = [{} for _ in range(self.m + 1)]
        for name in self.kept + self.made:
            number = name[0] in "xy"
            for place, table in enumerate(self.tables):
                if place and name in self.kept:
                    table[name] = self.tables[0][name]
                    continue
                drawn = random.integers(-6, 7, self.n) if number else random.integers(0, 2, self.n)
                cells: list[Cell] = [int(value) for value in drawn]
                if gaps:
                    for row in np.flatnonzero(random.random(self.n) < 0.2):
                        cells[row] = None if random.random() < 0.5 else "missing"
                table[name] = cells
        self.numbers = [name for name in self.kept + self.made if name[0] in "xy"]
        self.ball = len([name for name in self.numbers if name in self.made]) > 1 and random.random() < 0.3
        self.units = {name: int(random.integers(1, 4)) for name in self.numbers if name in self.made}
        self.reach = int(random.integers(1, 5))  # of the ball, in halves
        self.radii = {
            name: (int(random.integers(0, 5)), int(random.choice([0, 0, 20, 50, 100, 150])))
            for name in self.numbers
        }  # tenths, per cent
        self.closed = bool(random.random() < 0.7)
        if not self.closed:
            self.radii = {name: (tenths + 1, share) for name, (tenths, share) in self.radii.items()}

    @property
    def radius(self) -> Any:
        """The radii as a user writes them."""
        inside = self.units if self.ball else {}
        radii = {
            name: stead.Radius(tenths / 10, share / 100)
            for name, (tenths, share) in self.radii.items()
            if name not in inside
        }
        return (
            [radii, stead.Ball({name: unit / 10 for name, unit in inside.items()}, self.reach / 2)]
            if inside
            else radii
        )

    def table(self, place: int) -> stead.Records:
        """A table as records."""
        columns = []
        for name in self.kept + self.made:
            code = (MISSING,) if name in self.numbers else (9,)
            columns.append(
                stead.Column(name, "continuous", missing=code)
                if name in self.numbers
                else stead.Column(name, "categorical", levels=(0, 1), missing=code)
            )
        data = {
            name: [self._cell(name, cell) for cell in self.tables[place][name]]
            for name in self.kept + self.made
        }
        return stead.table(data, stead.Schema(columns))

    def _cell(self, name: str, cell: Cell) -> float | None:
        if cell == "missing":
            return MISSING if name in self.numbers else 9
        if cell is None or isinstance(cell, str):
            return None
        return cell / 10 if name in self.numbers else cell

    def release(self) -> stead.Release:
        """The release."""
        return stead.Release.from_tables(
            self.table(0),
            [self.table(place) for place in range(1, self.m + 1)],
            synthesized=self.made,
            aligned=True,
        )

    def inside(self, one: int, row: int, other: int) -> bool:
        """Whether a row of a set matches a record: the definition."""
        distance = Fraction(0)
        for name in self.kept + self.made:
            y, z = self.tables[0][name][row], self.tables[one][name][other]
            if not isinstance(y, int) or not isinstance(z, int) or name not in self.numbers:
                if y != z:
                    return False
                continue
            if self.ball and name in self.units:
                distance += Fraction(z - y, self.units[name]) ** 2
                continue
            tenths, share = self.radii[name]
            bound = max(Fraction(tenths), Fraction(share * abs(y), 100))
            if abs(z - y) > bound or (not self.closed and abs(z - y) == bound):
                return False
        limit = Fraction(self.reach, 2) ** 2
        return not self.ball or distance < limit or (self.closed and distance == limit)

    def summaries(self) -> tuple[list[list[int]], list[list[bool]]]:
        """The definition of c and T, (m, n)."""
        counts, own = [], []
        for one in range(1, self.m + 1):
            match = [[self.inside(one, row, other) for other in range(self.n)] for row in range(self.n)]
            counts.append([sum(flags) for flags in match])
            own.append([match[row][row] for row in range(self.n)])
        return counts, own

    def probabilities(self) -> tuple[list[int], list[bool]]:
        """The definition of c and T over all sets."""
        counts, own = [], []
        for row in range(self.n):
            likely = [Fraction(0)] * self.n
            for one in range(1, self.m + 1):
                match = [self.inside(one, row, other) for other in range(self.n)]
                likely = [
                    p + (Fraction(1, sum(match)) if flag else 0)
                    for p, flag in zip(likely, match, strict=True)
                ]
            best = max(likely)
            counts.append(sum(p == best for p in likely) if best else 0)
            own.append(bool(best) and likely[row] == best)
        return counts, own


def _same(case: Case, measured: stead.Measurement, counts: Any, own: Any) -> None:
    """The measure against c and T of the oracle, (sets, n)."""
    c, T = np.array(counts), np.array(own)
    held = {name: np.atleast_2d(array.T) for name, array in measured.per_record.items()}
    assert np.array_equal(held["c"], c)
    assert np.array_equal(held["T"], T)
    assert np.array_equal(held["K"], c * T == 1)
    assert np.array_equal(held["F"], c * (1 - T) == 1)
    expected = sum(Fraction(int(t), int(one)) for one, t in zip(c.ravel(), T.ravel(), strict=True) if one)
    assert measured.value == pytest.approx(float(expected / len(c)), rel=1e-12)
    unique = (c == 1).sum(axis=1)
    false = [(one & ~flags).sum() / s for one, flags, s in zip(c == 1, T, unique, strict=True) if s]
    details = measured.to_dict()
    assert details["unique_matches"] == pytest.approx(unique.mean(), rel=1e-12)
    assert details["true_match_rate"] == pytest.approx(((c == 1) & T).mean(), rel=1e-12)
    assert details["false_match_rate"] == (pytest.approx(np.mean(false), rel=1e-12) if false else None)


def _measure(case: Case, convention: Any, engine: Engine[Any]) -> stead.Measurement:
    return stead.match_risk(
        case.release(),
        case.kept,
        radius=case.radius,
        closed=case.closed,
        convention=convention,
        engine=engine,
    )


@settings(derandomize=True, deadline=None, max_examples=1000)
@given(st.integers(0, 2**32 - 1))
def test_equal_to_the_definition_on_generated_tables(seed: int) -> None:
    """0 to 3 numbers; absolute, share and ball radii; ties on the bound; zeros, negatives and missing cells; closed and open."""
    case = Case(seed)
    _same(case, _measure(case, "summaries", stead.Local()), *case.summaries())


@settings(derandomize=True, deadline=None, max_examples=400)
@given(st.integers(0, 2**32 - 1))
def test_the_other_convention_is_equal_to_its_definition(seed: int) -> None:
    case = Case(seed)
    counts, own = case.probabilities()
    _same(case, _measure(case, "probabilities", stead.Local()), [counts], [own])


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["summaries", "probabilities"]))
def test_the_plain_twins_give_the_same(seed: int, convention: str) -> None:
    case = Case(seed)
    one, other = (_measure(case, convention, stead.Local(compiled=flag)) for flag in (True, False))
    assert _figures(one) == pytest.approx(_figures(other), rel=1e-12)
    for name, array in one.per_record.items():
        assert np.array_equal(array, other.per_record[name])


def _figures(measured: stead.Measurement) -> list[float]:
    """The figures of a measurement and of its references; -1 where one is not available."""
    held = measured.to_dict()
    rows = [held, *held["baselines"].values()]
    names = ("expected_match_risk", "true_match_rate", "false_match_rate", "unique_matches")
    return [-1.0 if one[name] is None else one[name] for one in rows for name in names]


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["summaries", "probabilities"]))
def test_the_engine_for_files_gives_the_same(tmp_path: Path, seed: int, convention: str) -> None:
    case = Case(seed)
    tables = [case.table(place) for place in range(case.m + 1)]
    paths = [stead.write(table, tmp_path / f"{place}.parquet") for place, table in enumerate(tables)]
    release = stead.ParquetRelease.open(paths[0], paths[1:], synthesized=case.made, schema=tables[0].schema)
    engine = stead.Tables()
    arguments: Any = {
        "radius": case.radius,
        "closed": case.closed,
        "convention": convention,
        "engine": engine,
    }
    found = stead.match_risk(release, case.kept, **arguments)
    assert _figures(found) == pytest.approx(_figures(_measure(case, convention, stead.Local())), rel=1e-12)
    names = case.kept + case.made
    keys, target = names[:-1] or names, names[-1]
    measures: list[Callable[..., stead.Measurement]] = [partial(stead.uniques, keys=names)]
    if len(names) > 1:
        measures += [partial(one, keys=keys, target=target) for one in (stead.disco, stead.dcap)]
    measures += [partial(stead.replicated_values, columns=name) for name in case.numbers if name in case.made]
    for measure in measures:
        assert _rounded(measure(release, engine=engine)) == _rounded(measure(case.release()))


def _rounded(measured: stead.Measurement) -> Any:
    """A measurement as JSON, its numbers to ten digits: two engines add them in different orders."""
    return json.loads(json.dumps(measured.to_dict()), parse_float=lambda text: round(float(text), 10))


# ---- kernels on larger tables -------------------------------------------------------------------------


def _queries(random: np.random.Generator, coordinates: int, groups: int) -> tuple[Any, Any, Any, Any, Any]:
    """Queries and points with many ties, in groups."""
    n, points = (int(size) for size in random.integers(1, 900, 2))
    spread = int(random.choice([3, 40, 10_000]))
    at = random.integers(-spread, spread + 1, (coordinates, n)).astype(float)
    reach = random.integers(0, spread + 2, (coordinates, n))
    return (
        random.integers(0, groups, n).astype(np.int32),
        at - reach,
        at + random.integers(-1, 2, n) * 0.5 + reach,
        random.integers(0, groups, points).astype(np.int32),
        random.integers(-spread, spread + 1, (coordinates, points)).astype(float),
    )


@settings(derandomize=True, deadline=None, max_examples=90)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.sampled_from([1, 2, 30]))
def test_points_in_boxes(seed: int, coordinates: int, groups: int) -> None:
    """Sorting, the sweep and the wavelet tree against comparing all with all, beyond the spans that are looked through."""
    asked = _queries(np.random.default_rng(seed), coordinates, groups)
    expected = plain.within(*asked)
    assert np.array_equal(boxes.within(*asked, groups), expected)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 3), st.sampled_from([1, 3]))
def test_the_likeliest_points(seed: int, coordinates: int, sets: int, groups: int) -> None:
    random = np.random.default_rng(seed)
    group, low, high, point_group, _ = _queries(random, coordinates, groups)
    points = random.integers(-40, 41, (sets, coordinates, len(point_group))).astype(float)
    scale = np.where(random.random(coordinates) < 0.4, 1.0, 0.0)
    limit = np.where(scale.any(), 900.0, np.inf) * np.ones(len(group))
    region = group, low, high, (low + high) / 2, limit, point_group, points, scale
    found, expected = bits.likeliest(*region, groups), plain.likeliest(*region)
    assert np.array_equal(found[0], expected[0])
    assert found[1] == pytest.approx(expected[1], rel=1e-12)
    assert np.array_equal(found[2], expected[2])


@pytest.mark.parametrize("spread", [3, 500, 2**62])
def test_codes_are_the_same_for_the_same_numbers_alone(spread: int) -> None:
    numbers = np.random.default_rng(spread).integers(-spread, spread, 5000)
    codes, count = dense(numbers)
    assert count == len(np.unique(numbers)) == len(set(zip(numbers.tolist(), codes.tolist(), strict=True)))
    assert set(codes.tolist()) == set(range(count))
