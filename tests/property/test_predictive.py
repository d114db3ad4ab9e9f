"""Laws of the predictive check: cells of ten confidential rows, no value of a row, a share outside that chance explains."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stead
from stead.tables.records import Values
from stead.tables.schema import Column
from stead.utility.grid import SMALLEST_CELL
from stead.utility.predictive import DRAWS, Against, beyond, predictive_check
from stead.utility.shown_cells import cells_of, round_edges
from stead.utility.shown_statistics import statistics_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

SHAPES = ("normal", "lognormal", "zeros", "heaped", "far", "years", "mixed", "constant")


def numbers(shape: str, seed: int, rows: int) -> NDArray[np.float64]:
    """A column of many digits, of one of several shapes."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=rows)
    made: dict[str, NDArray[np.float64]] = {
        "normal": 100 * normal,
        "lognormal": np.exp(9 + 1.3 * normal),
        "zeros": np.where(rng.random(rows) < 0.6, 0.0, np.exp(7 + normal)),
        "heaped": np.where(rng.random(rows) < 0.5, np.round(np.exp(9 + normal), -3), np.exp(9 + normal)),
        "far": 5e8 + 3 * normal,
        "years": np.floor(1930 + 70 * rng.random(rows)),
        "mixed": np.where(np.arange(rows) < 3, 1e9 * (1 + rng.random(rows)), normal),
        "constant": np.full(rows, 7.25),
    }
    return made[shape]


def present(values: NDArray[Any], gaps: int = 0) -> Values:
    missing = np.zeros(len(values), np.int8)
    missing[: min(gaps, len(values))] = -1
    return Values(np.where(missing == 0, values, 0), missing)


def with_digits(values: NDArray[np.float64]) -> set[float]:
    """Values that are not round: more than three decimals, so that they belong to one row."""
    return {value for value in values.tolist() if value != round(value, 3)}


def numbers_in(content: Any) -> Iterator[float]:
    """Every number of a document."""
    if isinstance(content, dict):
        for value in content.values():
            yield from numbers_in(value)
    elif isinstance(content, (list, tuple)):
        for value in content:
            yield from numbers_in(value)
    elif isinstance(content, (int, float)) and not isinstance(content, bool):
        yield float(content)


@given(st.sampled_from(SHAPES), st.integers(0, 2**32 - 1), st.integers(0, 400), st.integers(0, 30))
def test_no_cell_of_a_number_holds_fewer_than_ten_rows(shape: str, seed: int, rows: int, gaps: int) -> None:
    held = present(numbers(shape, seed, rows), gaps)
    cells = cells_of(Column("x", "continuous"), held, 20)
    counts = cells.counts(held)
    assert counts.sum() == held.present.sum()
    assert len(counts) == len(cells.labels) <= 20
    assert len(counts) == 1 or counts.min() >= SMALLEST_CELL
    assert len(set(cells.labels)) == len(cells.labels)


@given(st.sampled_from(SHAPES), st.integers(0, 2**32 - 1), st.integers(50, 400))
def test_no_bound_of_a_cell_is_a_value_of_a_row_with_digits_of_its_own(
    shape: str, seed: int, rows: int
) -> None:
    """Bounds lie on a lattice as wide as the cells allow; a value that is round itself may fall on it."""
    values = numbers(shape, seed, rows)
    edges = round_edges(values, 20)
    assert with_digits(values).isdisjoint(edges.tolist())
    assert all(f"{edge:.12g}" == f"{edge:.10g}" for edge in edges.tolist())


@given(st.sampled_from(SHAPES), st.integers(0, 2**32 - 1), st.integers(60, 400), st.floats(1.5, 1e6))
def test_an_extreme_moves_no_bound(shape: str, seed: int, rows: int, factor: float) -> None:
    values = np.sort(numbers(shape, seed, rows))
    further = values.copy()
    further[-1] += factor * (1 + abs(values[-1]))
    further[0] -= factor * (1 + abs(values[0]))
    assert np.array_equal(round_edges(values, 20), round_edges(further, 20))


@given(st.integers(0, 2**32 - 1), st.integers(20, 400), st.floats(0.1, 30))
def test_whole_numbers_are_cells_of_their_own_while_they_are_few(seed: int, rows: int, mean: float) -> None:
    held = present(np.random.default_rng(seed).poisson(mean, rows))
    cells = cells_of(Column("k", "count"), held, 20)
    counts = cells.counts(held)
    assert counts.sum() == rows
    assert len(counts) == 1 or counts.min() >= SMALLEST_CELL
    assert (cells.edges == np.round(cells.edges)).all()
    if mean < 4 and rows > 200:
        assert cells.labels[0] == "0" or (held.values == 0).sum() < SMALLEST_CELL


@given(
    st.lists(st.integers(0, 40), min_size=2, max_size=12),
    st.integers(0, 25),
    st.lists(st.integers(0, 3), min_size=12, max_size=12),
)
def test_no_cell_of_a_category_holds_fewer_than_ten_rows(
    counts: list[int], gaps: int, drawn: list[int]
) -> None:
    column = Column("c", "categorical", levels=tuple(f"level {k}" for k in range(len(counts))))
    codes = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    held = Values(
        np.concatenate([codes, np.zeros(gaps, np.int32)]),
        np.concatenate([np.zeros(len(codes), np.int8), np.full(gaps, -1, np.int8)]),
    )
    also = present(np.repeat(np.arange(len(counts), dtype=np.int32), drawn[: len(counts)]))
    cells = cells_of(column, held, 20, [also])
    rows = cells.counts(held)
    assert rows.sum() == len(held)
    assert cells.counts(also).sum() == len(also), "a drawn level is never lost"
    assert len(rows) <= 1 or rows.min() >= SMALLEST_CELL
    for level, count in enumerate(counts):
        if count < SMALLEST_CELL:
            assert f"level {level}" not in cells.labels


@given(st.sampled_from(SHAPES), st.integers(0, 2**32 - 1), st.integers(0, 300), st.integers(0, 40))
def test_statistics_of_few_rows_or_of_one_are_withheld(shape: str, seed: int, rows: int, gaps: int) -> None:
    held = present(numbers(shape, seed, rows), gaps)
    drawn = [present(numbers(shape, seed + k, rows), gaps) for k in range(1, 4)]
    own = held.values[held.present]
    for one in statistics_of(Column("x", "continuous"), held, drawn):
        if one.name == "share of zeros":
            assert bool(one.reason) == ((own == 0).sum() < 10 or 0 < (own != 0).sum() < 10)
        elif one.name == "share missing":
            assert bool(one.reason) == (held.gaps < 10 or 0 < rows - held.gaps < 10)
        elif one.name == "mean":
            assert bool(one.reason) == (len(own) < 10 or np.abs(own).max() > 0.5 * np.abs(own).sum())
        else:
            squares = (own - own.mean()) ** 2
            assert bool(one.reason) == (len(own) < 10 or squares.max() > 0.5 * squares.sum())


def release_of(columns: dict[str, NDArray[Any]], *models: stead.Linear | stead.Logistic) -> stead.Release:
    return stead.synthesize(
        stead.table(columns), stead.Sequence(models), m=1, draws=60, rng=1, override="a test"
    )


@settings(max_examples=15)
@given(st.sampled_from(("normal", "lognormal", "zeros", "heaped", "far", "mixed")), st.integers(0, 2**20))
def test_no_number_of_the_result_is_a_value_of_the_file(shape: str, seed: int) -> None:
    """No order statistic and no extreme, as a number or as a text."""
    values = numbers(shape, seed, 240)
    group = np.where(np.random.default_rng(seed).random(240) < 0.3, "a", "b")
    release = release_of({"y": values, "g": group}, stead.Linear("y ~ g"))
    content = predictive_check(release, draws=19).to_dict()
    alone = with_digits(values)
    assert alone.isdisjoint(numbers_in(content))
    written = json.dumps(content, allow_nan=False)
    assert not [value for value in alone if f"{value:.8g}" in written or f"{value:,.8g}" in written]
    assert sum(content["aggregates"]["columns"][0]["confidential"]) == pytest.approx(1, abs=1e-3)


@given(st.integers(1, 400))
def test_the_range_and_the_tail_say_the_same(count: int) -> None:
    rng = np.random.default_rng(count)
    own, drawn = rng.integers(0, 60, 50).astype(float), rng.integers(10, 50, (count, 50)).astype(float)
    against = Against.of(own, drawn)
    outside = (own < against.low) | (own > against.high)
    assert np.array_equal(outside, against.tail <= 2 * beyond(count) / (count + 1) + 1e-12)
    assert (against.low <= against.middle).all()
    assert (against.middle <= against.high).all()


def test_one_more_draw_falls_outside_as_often_as_it_says() -> None:
    """Exactly 2k / (D + 1) = 1/10, for 40,000 numbers: within four standard errors of 0.0015."""
    drawn = np.random.default_rng(8).normal(size=(DRAWS + 1, 40_000))
    against = Against.of(drawn[0], drawn[1:])
    outside = float(np.mean((drawn[0] < against.low) | (drawn[0] > against.high)))
    assert 2 * beyond(DRAWS) / (DRAWS + 1) == pytest.approx(0.1)
    assert outside == pytest.approx(0.1, abs=0.006)
    assert float(np.mean(against.tail <= 0.5)) == pytest.approx(0.5, abs=0.01)


def test_a_model_that_is_right_has_few_cells_outside_and_a_wrong_one_many() -> None:
    """Over 12 data sets of 500 rows: about 0.09 of the cells where the model is right."""
    right, wrong = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=500)
        y = np.exp(2 + 0.5 * x + 0.8 * rng.normal(size=500))
        columns = {"x": x, "y": y}
        right.append(predictive_check(release_of(columns, stead.Linear("log(y) ~ x"))).value or 0.0)
        wrong.append(predictive_check(release_of(columns, stead.Linear("y ~ x"))).value or 0.0)
    assert np.mean(right) < 0.14
    assert min(wrong) > 0.5


def test_a_missed_share_of_zeros_is_seen() -> None:
    rng = np.random.default_rng(2)
    y = np.where(rng.random(600) < 0.4, 0.0, np.round(np.exp(rng.normal(3, 0.5, 600)), 2))
    release = release_of({"x": rng.normal(size=600), "y": y}, stead.Linear("y ~ x"))
    (column,) = predictive_check(release).aggregates["columns"]
    zeros = next(one for one in column["statistics"] if one["name"] == "share of zeros")
    assert zeros["value"] == pytest.approx(0.4, abs=0.05)
    assert zeros["high"] < 0.05
    assert zeros["outside"]
    assert zeros["tail"] == pytest.approx(2 / (DRAWS + 1), abs=1e-4)


def test_the_same_check_twice_is_the_same_and_long_files_stand_by_a_sample() -> None:
    release = stead.synthesize(
        stead.consumer_survey(21_000), stead.Linear("log(Income) ~ Race"), m=1, draws=40, rng=1
    )
    first = predictive_check(release, draws=3)
    assert first.to_dict() == predictive_check(release, draws=3).to_dict()
    assert first.details["rows"] == 20_000
    assert first.details["of_rows"] == 21_000
    assert first.details["draws"] == 3


def test_what_cannot_be_checked_says_why() -> None:
    survey = stead.consumer_survey(120)
    outside = stead.Release.from_tables(survey, [survey], synthesized=["Income"], aligned=True)
    assert "no posterior" in predictive_check(outside).reason
    release = stead.synthesize(survey, stead.Linear("log(Income) ~ 1"), m=1, draws=30, rng=1)
    with pytest.raises(stead.UsageError, match="Race is not synthesized"):
        predictive_check(release, "Race")
    with pytest.raises(stead.UsageError, match="did you mean Income"):
        predictive_check(release, ["Incme"])
    with pytest.raises(stead.UsageError, match="each once"):
        predictive_check(release, ["Income", "Income"])
    with pytest.raises(stead.UsageError, match="from 1"):
        predictive_check(release, draws=0)
    few = np.r_[np.zeros(55), np.ones(5)]
    rare = release_of({"b": few, "x": np.arange(60.0)}, stead.Logistic("b ~ x"))
    checked = predictive_check(rare)
    assert not checked.available
    assert "two cells of ten records" in checked.reason
