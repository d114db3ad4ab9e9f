"""The kernels in plain numpy: every point compared with every query, a tile at a time. O(n^2), for tests and for machines without numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Index = NDArray[np.int32]

TILE = 256
TIE = 1e-12


def within(group: Index, low: Floats, high: Floats, point_group: Index, points: Floats) -> Index:
    """For each query the number of points of its group with low <= point <= high in every coordinate."""
    counts = np.zeros(len(group), np.int32)
    for start in range(0, len(group), TILE):
        rows = slice(start, start + TILE)
        inside = point_group == group[rows, None]  # (tile, N)
        for k in range(len(points)):
            inside &= (points[k] >= low[k, rows, None]) & (points[k] <= high[k, rows, None])
        counts[rows] = inside.sum(axis=1)
    return counts


def likeliest(
    group: Index,
    low: Floats,
    high: Floats,
    centre: Floats,
    limit: Floats,
    point_group: Index,
    points: Floats,
    scale: Floats,
) -> tuple[Whole, Floats, Whole]:
    """For each query and set the number of points in the region, and which points are the likeliest over all sets.

    Likely is the sum of the inverse of these numbers over the sets in which a point is; given are the highest, and how many reach it.
    """
    n, m = len(group), len(points)
    counts, best, reached = np.zeros((n, m), np.int64), np.zeros(n), np.zeros(n, np.int64)
    for start in range(0, n, TILE):
        rows = slice(start, start + TILE)
        total = np.zeros((len(group[rows]), len(point_group)))
        for one in range(m):
            inside = point_group == group[rows, None]  # (tile, N)
            distance = np.zeros_like(total)
            for k, value in enumerate(points[one]):
                inside &= (value >= low[k, rows, None]) & (value <= high[k, rows, None])
                distance += (scale[k] * (value - centre[k, rows, None])) ** 2
            inside &= distance <= limit[rows, None]
            counts[rows, one] = inside.sum(axis=1)
            total += inside / np.maximum(counts[rows, one, None], 1)
        best[rows] = total.max(axis=1, initial=0.0)
        reached[rows] = ((total > 0) & (total >= best[rows, None] * (1 - TIE))).sum(axis=1)
    return counts, best, reached


def dense(numbers: Whole) -> tuple[Whole, int]:
    """For each number a code, the same for the same numbers, and how many codes there are."""
    found, codes = np.unique(numbers, return_inverse=True)
    return codes.astype(np.int64), len(found)
