"""Dominance counting against its definition, and what is left of it without a cache folder or without numba."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stead.kernels.dominance import MOST_COORDINATES, weight_at_most, weight_at_most_twin


def definition(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Row by row, pair by pair."""
    return np.array(
        [
            [sum(w for x, w in zip(points, one, strict=True) if (x <= asked).all()) for asked in points]
            for one in weights
        ]
    )


@settings(derandomize=True, deadline=None, max_examples=120)
@given(st.data(), st.integers(1, MOST_COORDINATES))
def test_equal_to_the_definition_with_ties(data: st.DataObject, columns: int) -> None:
    rows = data.draw(st.integers(1, 24))
    cell = st.integers(-2, 3)
    points = np.array(data.draw(st.lists(st.tuples(*[cell] * columns), min_size=rows, max_size=rows)), float)
    weights = np.array(data.draw(st.lists(st.tuples(*[st.integers(-9, 9)] * rows), min_size=1, max_size=3)))
    expected = definition(points, weights)
    assert (weight_at_most(points, weights) == expected).all()
    assert (weight_at_most_twin(points, weights) == expected).all()


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5])
def test_equal_to_the_twin_on_more_rows(columns: int) -> None:
    rng = np.random.default_rng(columns)
    points = np.column_stack([rng.normal(size=1_500), *rng.integers(0, 40, (columns - 1, 1_500))])
    weights = rng.integers(-1_000, 1_000, (2, 1_500))
    assert (weight_at_most(points, weights) == weight_at_most_twin(points, weights)).all()


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_a_chain_and_an_antichain(columns: int) -> None:
    """Rows in order dominate all before them; rows of which none dominates another have their own weight."""
    line = np.arange(50.0)
    ones = np.ones((1, 50), np.int64)
    chain = np.column_stack([line] * columns)
    assert (weight_at_most(chain, ones)[0] == np.arange(1, 51)).all()
    if columns > 1:
        turned = np.column_stack([line, -line, *[line] * (columns - 2)])
        assert (weight_at_most(turned, ones) == 1).all()
    assert (weight_at_most(np.zeros((50, columns)), ones) == 50).all()


def test_weights_are_exact_beyond_the_digits_of_a_double() -> None:
    weights = np.array([[2**60, 1, -(2**60), 3]])
    assert weight_at_most(np.array([[1.0, 1], [2, 2], [3, 3], [4, 4]]), weights)[0].tolist() == [
        2**60,
        2**60 + 1,
        1,
        4,
    ]


ANSWER = """
import numpy as np
from stead.kernels.dominance import weight_at_most, AVAILABLE
print(AVAILABLE, weight_at_most(np.array([[1.0, 2], [2, 1], [2, 2]]), np.array([[1, 10, 100]])).tolist())
"""
NO_CACHE = "import numba.core.caching as caching\ncaching.CacheImpl._locator_classes = []\n"
NO_NUMBA = "import sys\nsys.modules['numba'] = None\n"


@pytest.mark.parametrize(
    ("before", "available"), [(NO_CACHE, True), (NO_NUMBA, False)], ids=["cache", "numba"]
)
def test_without_a_folder_for_compiled_code_and_without_numba(before: str, available: bool) -> None:
    """A package folder and a home that cannot be written to are no error, and neither is a missing compiler."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", before + ANSWER], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"{available} [[1, 10, 111]]"
