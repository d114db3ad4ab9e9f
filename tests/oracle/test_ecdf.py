"""Distribution functions against the plain definition, and against the two-sample Kolmogorov-Smirnov statistic."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp

import stead


def _release(real: dict[str, np.ndarray], made: list[dict[str, np.ndarray]]) -> stead.Release:
    names = list(real)
    return stead.Release.from_tables(
        stead.table(real), [stead.table(one) for one in made], synthesized=names, aligned=False
    )


def _plain(real: np.ndarray, made: np.ndarray) -> tuple[float, float]:
    """U_m and U_a by comparing every merged row with every row."""
    merged = np.vstack([real, made])
    difference = np.array([(real <= t).all(axis=1).mean() - (made <= t).all(axis=1).mean() for t in merged])
    return float(np.abs(difference).max()), float((difference**2).mean())


small = st.integers(-3, 3)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.data(), st.integers(1, 4))
def test_equal_to_the_plain_definition_with_ties(data: st.DataObject, columns: int) -> None:
    row = st.tuples(*[small] * columns)
    # a value beyond the digits of the others keeps the columns numbers rather than codes
    real = np.array(data.draw(st.lists(row, min_size=2, max_size=12)), float) + 0.25
    made = np.array(data.draw(st.lists(row, min_size=2, max_size=12)), float) + 0.25
    names = [f"c{place}" for place in range(columns)]
    release = _release(dict(zip(names, real.T, strict=True)), [dict(zip(names, made.T, strict=True))])
    measured = stead.ecdf(release, columns=names)
    largest, square = _plain(real, made)
    assert measured.value == pytest.approx(largest, abs=1e-12)
    assert measured.details["mean_square"] == pytest.approx(square, abs=1e-12)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.data(), st.integers(2, 4))
def test_the_maximum_over_orientations_is_that_of_all_turned_axes(data: st.DataObject, columns: int) -> None:
    row = st.tuples(*[small] * columns)
    real = np.array(data.draw(st.lists(row, min_size=2, max_size=10)), float) + 0.25
    made = np.array(data.draw(st.lists(row, min_size=2, max_size=10)), float) + 0.25
    names = [f"c{place}" for place in range(columns)]
    release = _release(dict(zip(names, real.T, strict=True)), [dict(zip(names, made.T, strict=True))])
    signs = [np.array((1, *rest)) for rest in product((1, -1), repeat=columns - 1)]
    each = [_plain(real * sign, made * sign) for sign in signs]
    measured = stead.ecdf(release, names, every_orientation=True)
    assert measured.value == pytest.approx(max(largest for largest, _ in each), abs=1e-12)
    assert measured.details["mean_square"] == pytest.approx(max(square for _, square in each), abs=1e-12)
    assert measured.details["orientations"] == 2 ** (columns - 1)


def test_axes_are_turned_for_two_to_four_columns() -> None:
    real = {name: np.array([0.5, 1.5, 2.5]) for name in "abcde"}
    release = _release(real, [real])
    for names in (["a"], list("abcde")):
        with pytest.raises(stead.UsageError, match="2 to 4 columns"):
            stead.ecdf(release, names, every_orientation=True)


def test_the_reference_of_kept_and_synthesized_columns_exchanges_labels_within_pairs() -> None:
    """Kept values agree on both sides, so that two samples, which do not share them, are too far apart."""
    rng = np.random.default_rng(5)
    values, references = [], []
    for _ in range(40):
        x = rng.normal(size=300)
        y, z = 2 * x + rng.normal(size=300), 2 * x + rng.normal(size=300)
        release = stead.Release.from_tables(
            stead.table({"x": x, "y": y}), [stead.table({"x": x, "y": z})], synthesized=["y"], aligned=True
        )
        measured = stead.ecdf(release, ["x", "y"])
        assert measured.reference_name == "labels swapped within pairs"
        values.append(measured.value or 0.0)
        references.append(measured.reference or 0.0)
    assert np.mean(values) == pytest.approx(np.mean(references), rel=0.1)


def test_more_columns_or_rows_than_can_be_counted_are_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stead.utility.joint.MOST_ROWS", 10)
    real = {name: np.arange(8.0) + 0.5 for name in "abcde"}
    release = _release(real, [real])
    assert "more than 4 columns" in stead.ecdf(release, list("abcde")).reason
    assert stead.ecdf(release, list("abcd")).value == 0.0


def test_one_column_is_the_kolmogorov_smirnov_statistic() -> None:
    rng = np.random.default_rng(0)
    for n, n_s in ((50, 50), (500, 100), (40, 3000)):
        real, made = rng.normal(size=n), rng.normal(0.2, 1.1, size=n_s)
        value = stead.ecdf(_release({"x": real}, [{"x": made}]), "x").value
        assert value == pytest.approx(ks_2samp(real, made).statistic, abs=1e-12)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_the_reference_is_what_two_samples_of_one_distribution_give(columns: int) -> None:
    rng = np.random.default_rng(1)
    names = [f"c{place}" for place in range(columns)]
    values, references, squares, square_references = [], [], [], []
    for _ in range(150 if columns == 1 else 40):
        shared = rng.multivariate_normal(np.zeros(columns), 0.5 + 0.5 * np.eye(columns), 400)
        real, made = shared[:250], shared[250:]
        one = stead.ecdf(
            _release(dict(zip(names, real.T, strict=True)), [dict(zip(names, made.T, strict=True))]), names
        )
        values.append(one.value or 0.0)
        references.append(one.reference or 0.0)
        squares.append(one.details["mean_square"])
        square_references.append(one.details["mean_square_reference"])
    assert np.mean(values) == pytest.approx(np.mean(references), rel=0.08)
    assert np.mean(squares) == pytest.approx(np.mean(square_references), rel=0.25)


def test_missing_cells_are_left_out_and_counted() -> None:
    real = stead.table({"x": [1.5, 2.5, None, 4.5]})
    made = stead.table({"x": [1.5, None, None, 4.5]})
    measured = stead.ecdf(stead.Release.from_tables(real, [made], synthesized=["x"], aligned=False), "x")
    assert measured.details["rows_compared"] == [3, 2]
    assert measured.value == pytest.approx(1 / 6)
    empty = stead.table({"x": [None, None, None, 1.5]}).take(slice(0, 3))
    gone = stead.Release.from_tables(real, [empty], synthesized=["x"], aligned=False)
    assert "missing cell" in stead.ecdf(gone, "x").reason


def test_a_category_has_no_distribution_function() -> None:
    real = stead.table({"g": ["a", "b", "a"], "x": [1.5, 2.0, 3.0]})
    release = stead.Release.from_tables(real, [real], synthesized=["g", "x"], aligned=True)
    with pytest.raises(stead.UsageError, match="needs an order"):
        stead.ecdf(release, "g")
    with pytest.raises(stead.UsageError, match="did you mean x"):
        stead.ecdf(release, "X")
