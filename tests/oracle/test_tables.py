"""Tables, moments and their references, against loops over rows and against simulation."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

import stead
from stead.utility.chance import SMALL, cell_losses, losses, mean_losses
from stead.utility.crosstabs import Coded, compare
from stead.utility.moments import Exchange, correlation, moments


def categories(rows: list[tuple[int, int, int]]) -> dict[str, list[str]]:
    return {name: [f"{name}{row[place]}" for row in rows] for place, name in enumerate("abc")}


row = st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2))


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(row, min_size=1, max_size=40), st.lists(row, min_size=1, max_size=40), st.integers(1, 3))
def test_a_table_is_counted_row_by_row(
    real: list[tuple[int, int, int]], made: list[tuple[int, int, int]], order: int
) -> None:
    sizes = (3, 2, 3)
    coded = {
        name: Coded(
            sizes[place], np.array([one[place] for one in real]), (np.array([one[place] for one in made]),)
        )
        for place, name in enumerate("abc"[:order])
    }
    found = compare(coded, kept=("a",) if order > 1 else (), proper=True)
    first, second = (Counter(one[:order] for one in rows) for rows in (real, made))
    cells = list(product(*map(range, sizes[:order])))
    p, q = (np.array([counts[cell] for cell in cells]) / counts.total() for counts in (first, second))
    n, n_s = len(real), len(made)
    c = n_s / (n + n_s)
    assert found["total_variation"] == pytest.approx(0.5 * np.abs(p - q).sum())
    assert found["hellinger"] == pytest.approx(np.sqrt(0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum()))
    assert found["jensen_shannon"] == pytest.approx(jensenshannon(p, q, base=2), abs=1e-8)
    assert found["freeman_tukey"] == pytest.approx(4 * n * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum())
    scores = [second[one[:order]] / (first[one[:order]] + second[one[:order]]) for one in (*real, *made)]
    assert found["pmse"] == pytest.approx(np.mean((np.array(scores) - c) ** 2))
    there = {one[:order] for one in (*real, *made)}
    rank = len(there) - (len({cell[0] for cell in there}) if order > 1 else 1)
    assert found["k_star"] == rank
    assert found["pmse_reference"] == pytest.approx(rank * c * (1 - c) / (n + n_s))


def test_a_table_with_more_cells_than_fit_is_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    coded = {name: Coded(9, rng.integers(0, 9, 80), (rng.integers(0, 9, 90),)) for name in "abc"}
    dense = compare(coded, ("b",), proper=False)
    monkeypatch.setattr("stead.utility.crosstabs.MOST_DENSE", 10)
    sparse = compare(coded, ("b",), proper=False)
    for key in set(dense) - {"columns", "per_dataset"}:
        assert sparse[key] == pytest.approx(dense[key]), key


@pytest.mark.parametrize("sizes", [(40, 40), (300, 900), (5_000, 5_000)])
def test_the_references_are_the_means_of_relabelled_tables(sizes: tuple[int, int]) -> None:
    """From cells with one row to cells with hundreds; and with a kept column that agrees in both files."""
    n, n_s = sizes
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(25))
    totals = np.bincount(rng.choice(25, n + n_s, p=shares), minlength=25)
    found = []
    for _ in range(400):
        made = rng.multivariate_hypergeometric(totals, n_s)
        found.append(losses((totals - made).astype(float), made.astype(float)))
    expected = mean_losses(totals, totals / totals.sum(), n, n_s)
    for key in ("total_variation", "freeman_tukey", "divergence"):
        simulated = np.array([getattr(one, key) for one in found])
        error = simulated.std() / np.sqrt(len(simulated))
        assert getattr(expected, key) == pytest.approx(
            simulated.mean(), abs=4 * error + 0.02 * simulated.mean()
        )


def test_small_cells_run_into_the_limit_of_large_ones() -> None:
    totals = np.array([SMALL, SMALL + 1])
    one, other = (mean_losses(totals[[place]], np.zeros(1), 10_000, 10_000) for place in (0, 1))
    assert one.total_variation == pytest.approx(other.total_variation, rel=0.02)
    assert one.freeman_tukey == pytest.approx(other.freeman_tukey, rel=0.02)
    assert one.divergence == pytest.approx(other.divergence, rel=0.03)
    assert cell_losses(np.zeros(1), np.zeros(1), 5, 5).sum() == 0


def simulated(rng: np.random.Generator, rows: int) -> dict[str, np.ndarray]:
    x = rng.lognormal(9, 0.6, rows)
    return {"x": x, "y": np.log(x) + rng.normal(0, 0.5, rows), "g": rng.choice(["u", "v", "w"], rows)}


def test_pairs_and_triples_of_two_samples_have_ratio_one_and_their_references() -> None:
    rng = np.random.default_rng(3)
    found: list[dict[str, float]] = []
    for _ in range(40):
        one, other = (stead.table(simulated(rng, 600)) for _ in range(2))
        release = stead.Release.from_tables(
            one, [other], synthesized=["x", "y", "g"], aligned=False, proper=True
        )
        tables = [
            *stead.margins(release, order=2).details["tables"],
            *stead.margins(release, order=3).details["tables"],
        ]
        found += [table for table in tables if set(table["columns"]) in ({"x", "y"}, {"x", "y", "g"})]
    for key, reference, tolerance in (
        ("total_variation", "reference", 0.03),
        ("freeman_tukey", "freeman_tukey_reference", 0.05),
        ("hellinger", "hellinger_reference", 0.03),
        ("jensen_shannon", "jensen_shannon_reference", 0.03),
        ("pmse", "pmse_reference", 0.05),
    ):
        for size in (2, 3):
            some = [one for one in found if len(one["columns"]) == size]  # type: ignore[arg-type]
            ratio = np.mean([one[key] for one in some]) / np.mean([one[reference] for one in some])
            assert ratio == pytest.approx(1, abs=tolerance), (key, size)


def test_pairs_with_a_kept_column_have_ratio_one_when_the_other_is_drawn_given_it() -> None:
    rng = np.random.default_rng(4)
    ratios, variations = [], []
    for _ in range(60):
        g = rng.choice(["u", "v", "w"], 500, p=[0.7, 0.2, 0.1])
        x, z = (rng.normal(size=500) + 3 * (g == "v") for _ in range(2))
        release = stead.Release.from_tables(
            stead.table({"g": g, "x": x}),
            [stead.table({"g": g, "x": z})],
            synthesized=["x"],
            aligned=True,
            proper=True,
        )
        (table,) = stead.margins(release, order=2).details["tables"]
        ratios.append(table["ratio"])
        variations.append(table["total_variation"] / table["reference"])
    assert np.mean(ratios) == pytest.approx(1, abs=4 * np.std(ratios) / np.sqrt(60) + 0.02)
    assert np.mean(variations) == pytest.approx(1, abs=0.05)


def _both(release: stead.Release) -> dict[str, dict[str, float]]:
    exchange = Exchange.of(release)
    return {
        **(moments(release, "x", exchange) or {}),
        "correlation": correlation(release, ("x", "y"), exchange) or {},
    }


def test_the_references_of_moments_and_correlations_are_what_two_samples_give() -> None:
    rng = np.random.default_rng(5)
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(100):
        one, other = (stead.table({"x": rng.gamma(4, 2, 500), "w": rng.normal(size=500)}) for _ in range(2))
        one, other = (
            stead.table({"x": part["x"].values, "y": part["x"].values + 2 * part["w"].values})
            for part in (one, other)
        )
        release = stead.Release.from_tables(one, [other], synthesized=["x", "y"], aligned=False)
        each = _both(release)
        for key, held in each.items():
            found.setdefault(key, []).append((held["difference"], held["reference"]))
    assert set(found) == {"mean", "sd", "skewness", "correlation"}
    for key, pairs in found.items():
        difference, reference = np.mean(pairs, axis=0)
        assert difference == pytest.approx(reference, rel=0.2), key


def test_moments_are_those_of_numpy_and_gaps_are_left_out_pair_by_pair() -> None:
    real = stead.table({"x": [1.5, 2.0, None, 4.0, 7.5], "y": [1.0, None, 3.0, 5.5, 2.0]})
    release = stead.Release.from_tables(real, [real], synthesized=["x", "y"], aligned=True)
    exchange = Exchange.of(release)
    of_x, both = moments(release, "x", exchange), correlation(release, ("x", "y"), exchange)
    assert of_x is not None
    assert both is not None
    assert of_x["mean"]["confidential"] == pytest.approx(np.mean([1.5, 2, 4, 7.5]))
    assert of_x["sd"]["synthetic"] == pytest.approx(np.std([1.5, 2, 4, 7.5]))
    assert both["confidential"] == pytest.approx(np.corrcoef([1.5, 4, 7.5], [1, 5.5, 2])[0, 1])
    assert both["difference"] == 0
    constant = stead.table({"x": [2.5, 2.5, None], "y": [1.0, 2.5, 3.0]})
    flat = stead.Release.from_tables(constant, [constant], synthesized=["x"], aligned=True)
    assert moments(flat, "x", exchange) is None
    assert correlation(flat, ("x", "y"), exchange) is None


def test_which_tables_are_made_and_what_is_refused() -> None:
    rng = np.random.default_rng(6)
    real = stead.table({name: rng.normal(size=80) for name in "abcd"})
    made = real.with_column(real.schema["b"], real["d"])
    release = stead.Release.from_tables(real, [made], synthesized=["b"], aligned=True)
    pairs = stead.margins(release, order=2)
    assert {tuple(one["columns"]) for one in pairs.details["tables"]} == {("a", "b"), ("b", "c"), ("b", "d")}
    assert len(pairs.details["correlations"]) == 3
    triples = stead.margins(release, order=3)
    assert all("b" in one["columns"] for one in triples.details["tables"])
    assert len(triples.details["tables"]) == 3
    assert triples.aggregates == {}
    assert set(stead.margins(release).details["moments"]) == {"b"}
    assert "no table of 2 columns has a synthesized one" in stead.margins(release, ["a", "c"], order=2).reason
    assert stead.margins(release, ["a"]).value == 0
    with pytest.raises(stead.UsageError, match="order is 1, 2 or 3"):
        stead.margins(release, order=4)
    with pytest.raises(stead.UsageError, match="at least 2 columns"):
        stead.margins(release, ["b"], order=2)


def test_a_table_of_one_cell_has_no_ratio() -> None:
    real = stead.table({"a": ["u"] * 30, "b": ["v"] * 30})
    release = stead.Release.from_tables(real, [real], synthesized=["a", "b"], aligned=False)
    assert stead.margins(release).details["columns"]["a"]["ratio"] is None
    pairs = stead.margins(release, order=2)
    assert pairs.details["tables"][0]["ratio"] is None
    assert pairs.aggregates == {}


def test_too_many_tables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stead.utility.margins.MOST_TABLES", 5)
    real = stead.table({name: np.arange(30.0) + 0.5 for name in "abcd"})
    release = stead.Release.from_tables(real, [real], synthesized=["a"], aligned=True)
    with pytest.raises(stead.UsageError, match="4 columns have 6 tables of 2, at most 5"):
        stead.margins(release, order=2)
