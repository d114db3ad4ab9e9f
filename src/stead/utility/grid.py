"""Round places to look at a distribution from: grids and cells that are not values of any row.

Tails hold few people, so grids end where at least ten records are beyond, and cells hold at least ten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SMALLEST_CELL = 10
GRID_POINTS, SKEWED = 96, 5.0


def round_to(values: Array, digits: int) -> Array:
    """Round to significant digits."""
    with np.errstate(divide="ignore"):
        magnitude = np.where(values == 0, 0.0, np.floor(np.log10(np.abs(values))))
    factor = 10.0 ** (digits - 1 - magnitude)
    rounded: Array = np.round(values * factor) / factor
    return rounded


def evaluate(sample: Array, at: Array) -> Array:
    """The empirical distribution function of `sample` at some places."""
    share: Array = np.searchsorted(np.sort(sample), at, side="right") / len(sample)
    return share


def grid_for(pooled: Array, rows: int) -> tuple[Array, Literal["linear", "log"]]:
    """Round places over the middle of a distribution, on a log scale where it is positive and skewed."""
    tail = min(max(0.005, SMALLEST_CELL / rows), 0.25)
    low, middle, high = np.quantile(pooled, [tail, 0.5, 1.0 - tail])
    skewed = low > 0 and high / middle > SKEWED
    places = np.geomspace(low, high, GRID_POINTS) if skewed else np.linspace(low, high, GRID_POINTS)
    if np.array_equal(pooled, np.round(pooled)) and high - low < GRID_POINTS:
        places = np.arange(np.floor(low), np.ceil(high) + 1)  # few whole numbers: each is a place
        return places, "linear"
    step = (high - low) / GRID_POINTS
    digits = (
        3
        if skewed or step == 0
        else int(np.clip(np.ceil(np.log10(max(abs(low), abs(high), step) / step)) + 1, 2, 6))
    )
    return np.unique(round_to(places, digits)), "log" if skewed else "linear"


def cell_edges(values: Array, cells: int) -> Array:
    """Round inner edges that cut `values` into about `cells` parts of similar size, none below ten."""
    if not len(values):
        return np.zeros(0)
    wanted = np.quantile(values, np.linspace(0, 1, cells + 1)[1:-1])
    return spaced_edges(values, np.unique(round_to(wanted, 2)))


def spaced_edges(values: Array, edges: Array) -> Array:
    """Those of some edges, from the lowest up, that leave at least ten values below, between and above."""
    below = np.searchsorted(np.sort(values), edges, side="left")
    kept: list[float] = []
    before = 0
    for edge, count in zip(edges.tolist(), below.tolist(), strict=True):
        if count - before >= SMALLEST_CELL and len(values) - count >= SMALLEST_CELL:
            kept.append(edge)
            before = count
    return np.array(kept)
