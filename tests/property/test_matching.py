"""Laws of matching: what must hold for every table, and what chance gives when it is left to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stead
from stead.engine.regions import Keys
from stead.risk.chance import Figures, by_chance

if TYPE_CHECKING:
    from stead.engine.base import Convention

SEEDS = st.integers(0, 2**32 - 1)


def _table(n: int, seed: int, *, known: int = 0) -> stead.Records:
    """Two known columns, the same for every seed, and three synthesized ones."""
    held, drawn = np.random.default_rng(known), np.random.default_rng(seed)
    return stead.table(
        {
            "a": held.integers(0, 3, n),
            "b": np.round(held.normal(0, 2, n), 1),
            "c": drawn.integers(0, 3, n),
            "x": np.round(drawn.lognormal(0, 1, n), 1),
            "y": np.round(drawn.normal(0, 3, n), 1),
        },
        categorical=["a", "c"],
    )


def _release(n: int, seed: int, sets: int = 2) -> stead.Release:
    made = [_table(n, seed + place + 1) for place in range(sets)]
    return stead.Release.from_tables(_table(n, seed), made, synthesized=["c", "x", "y"], aligned=True)


RADIUS: dict[str, Any] = {"b": 1, "x": "40%, at least 0.1", "y": 1.5}


@settings(derandomize=True, deadline=None, max_examples=15)
@given(SEEDS, st.sampled_from(["summaries", "probabilities"]))
def test_the_order_of_the_records_does_not_matter(seed: int, convention: Any) -> None:
    release = _release(40, seed)
    order = np.random.default_rng(seed).permutation(40)
    other = stead.Release.from_tables(
        release.confidential.take(order),
        [one.take(order) for one in release.synthetic],
        synthesized=["c", "x", "y"],
        aligned=True,
    )
    one, two = (
        stead.match_risk(each, ["a", "b"], radius=RADIUS, convention=convention) for each in (release, other)
    )
    for name, array in one.per_record.items():
        assert np.array_equal(array[order], two.per_record[name])
    assert one.value == pytest.approx(two.value, rel=1e-12)


@settings(derandomize=True, deadline=None, max_examples=15)
@given(SEEDS)
def test_a_wider_region_has_no_fewer_matches(seed: int) -> None:
    release = _release(40, seed)
    before: Any = None
    for scale in (0.5, 1.0, 2.0):
        radius: dict[str, Any] = {"b": scale, "x": f"{40 * scale}%", "y": 1.5 * scale}
        for closed in (False, True):
            held: Any = stead.match_risk(release, ["a", "b"], radius=radius, closed=closed).per_record
            if before is not None:
                assert (held["c"] >= before["c"]).all()
                assert (held["T"] >= before["T"]).all()
            before = held


@settings(derandomize=True, deadline=None, max_examples=15)
@given(SEEDS)
def test_who_knows_less_has_no_fewer_matches(seed: int) -> None:
    release = _release(40, seed)
    more: Any = stead.match_risk(release, ["a", "b"], radius=RADIUS).per_record
    fewer: Any = stead.match_risk(release, "a", radius={"x": RADIUS["x"], "y": 1.5}).per_record
    assert (fewer["c"] >= more["c"]).all()
    assert (fewer["T"] == more["T"]).all(), (
        "known columns agree in every row: only the synthesized ones can differ"
    )


def test_sets_that_are_alike_count_once_under_probabilities() -> None:
    release = _release(60, 1, sets=1)
    thrice = stead.Release.from_tables(
        release.confidential, [release.synthetic[0]] * 3, synthesized=["c", "x", "y"], aligned=True
    )
    one = stead.match_risk(release, "a", radius={"x": "50%", "y": 2})
    conventions: tuple[Convention, ...] = ("summaries", "probabilities")
    for convention in conventions:
        other = stead.match_risk(thrice, "a", radius={"x": "50%", "y": 2}, convention=convention)
        assert other.value == pytest.approx(one.value, rel=1e-12)


def test_blocks_of_rows_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    release = _release(300, 5)
    radii: list[tuple[list[str], Any]] = [(["a", "b"], RADIUS), (["a"], {"x": 1, "y": 1})]
    whole = [stead.match_risk(release, known, radius=radius) for known, radius in radii]
    monkeypatch.setattr("stead.randomness.row_blocks.__defaults__", (7,))
    parts = [stead.match_risk(release, known, radius=radius) for known, radius in radii]
    for one, other in zip(whole, parts, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-14)
        for name, array in one.per_record.items():
            assert np.array_equal(array, other.per_record[name])


def test_many_columns_make_codes_that_are_packed() -> None:
    """Forty columns of three levels are more combinations than 64 bits hold: the codes are made compact on the way."""
    random = np.random.default_rng(0)
    names = [f"c{place}" for place in range(45)]
    real = random.integers(0, 3, (200, 45)) * (random.random((200, 45)) < 0.02)
    made = real.copy()
    made[:100, -1] = 2 - made[:100, -1]
    schema = stead.Schema([stead.Column(name, "categorical", levels=(0, 1, 2)) for name in names])
    tables = [stead.table(dict(zip(names, one.T, strict=True)), schema) for one in (real, made)]
    release = stead.Release.from_tables(tables[0], [tables[1]], synthesized=names[-1:], aligned=True)
    for engine in (stead.Local(), stead.Local(compiled=False)):
        found = stead.match_risk(release, names[:-1], engine=engine)
        cells = {tuple(row): 0 for row in made.tolist()}
        for row in made.tolist():
            cells[tuple(row)] += 1
        counts = [cells.get(tuple(row), 0) for row in real.tolist()]
        assert found.per_record["c"].tolist() == counts
        assert found.per_record["T"].tolist() == (real == made).all(axis=1).tolist()


# ---- chance -------------------------------------------------------------------------------------------

N, DRAWS = 60, 600


def _simulated(keys: Keys, convention: Any, sets: int, holdout: stead.Records | None) -> list[Figures]:
    """Releases in which the synthesized columns are drawn by chance, as the reference supposes."""
    random, engine = np.random.default_rng(4), stead.Local()
    real = _table(N, 2)
    rows = np.arange(N)
    pool = (
        None
        if holdout is None
        else [np.flatnonzero(holdout["a"].values == level) for level in real["a"].values]
    )
    figures = []
    for _ in range(DRAWS):
        made = []
        for _ in range(sets):
            one = real
            if pool is None:
                for name in keys.made:
                    one = one.with_column(real.schema[name], real[name].take(random.integers(0, N, N)))
            else:
                assert holdout is not None
                donors = np.array([random.choice(some) for some in pool])
                for name in keys.made:
                    one = one.with_column(real.schema[name], holdout[name].take(donors))
            made.append(one.take(rows))
        figures.append(Figures.of(engine.match_counts(real, made, keys, convention)))
    return figures


@pytest.mark.parametrize("source", ["margins", "holdout"])
@pytest.mark.parametrize(("convention", "sets"), [("summaries", 1), ("probabilities", 3)])
@pytest.mark.parametrize("near", [False, True], ids=["codes", "numbers"])
def test_the_reference_of_no_leak_is_what_chance_gives(
    source: str, convention: Any, sets: int, near: bool
) -> None:
    """The closed form against simulated releases: within four standard errors of their mean."""
    holdout = _table(200, 9, known=8) if source == "holdout" else None
    radius = {"b": stead.Radius(1), "x": stead.Radius(share=0.5), "y": stead.Radius(2)} if near else {}
    keys = Keys(("a", "b") if near else ("a",), ("c", "x", "y") if near else ("c",), radius)
    figures = _simulated(keys, convention, sets, holdout)
    chances = stead.Local().chances(_table(N, 2), keys, holdout)
    expected = by_chance(chances, convention, sets)
    names = (
        ["expected_match_risk"] if sets > 1 else ["expected_match_risk", "true_match_rate", "unique_matches"]
    )
    for name in names:
        values = np.array([getattr(one, name) for one in figures])
        error = values.std(ddof=1) / np.sqrt(DRAWS)
        assert abs(values.mean() - getattr(expected, name)) < 4 * error + 1e-12, name
    if sets > 1:
        assert expected.unique_matches is None
