"""How much weight lies at or below each row in every coordinate: exact dominance counting, all rows at once.

    D_i = sum of w_j over all rows j with x_jk <= x_ik for k = 1..d

Rows sorted in lexicographic order have every row that they dominate before them, equal rows apart, which are
merged first. So the first coordinate is settled by the order, and what is left is a sweep:

    d = 2   insert in order of x_1 into a Fenwick tree over x_2, asking before each insertion
    d = 3   halve; rows of the left half count for rows of the right half where x_2 and x_3 agree: a merge in
            order of x_2, with a Fenwick tree over x_3
    d = 4   halve once more inside each halving

O(N log^(d-1) N) time, O(N) memory. Bentley (1980), "Multidimensional divide-and-conquer", Communications of the
ACM 23; Fenwick (1994), Software: Practice and Experience 24.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.kernels.jit import AVAILABLE, compiled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

MOST_COORDINATES = 4
TILE_CELLS = 1 << 24


def weight_at_most(points: NDArray[Any], weights: Numbers) -> Numbers:
    """The weight at or below each row, for several weightings of the same rows; exact, since weights are whole."""  # (N, d), (R, N) -> (R, N)
    if points.shape[1] > MOST_COORDINATES or not AVAILABLE:
        return weight_at_most_twin(points, weights)
    ranks, place = _distinct_rows(points)
    columns = [np.ascontiguousarray(column) for column in ranks.T[1:]]
    sweep = _SWEEPS[points.shape[1]]
    result = np.empty_like(weights)
    for one, answer in zip(weights, result, strict=True):
        own = np.zeros(len(ranks), np.int64)
        np.add.at(own, place, one)
        answer[:] = (own + sweep(own, *columns))[place]
    return result


def weight_at_most_twin(points: NDArray[Any], weights: Numbers) -> Numbers:
    """The definition, a tile of rows at a time: O(d N^2)."""
    result = np.empty_like(weights)
    tile = max(1, TILE_CELLS // max(len(points), 1))
    for start in range(0, len(points), tile):
        asked = points[start : start + tile]
        below = np.ones((len(asked), len(points)), bool)  # (tile, N)
        for column, bound in zip(points.T, asked.T, strict=True):
            below &= column <= bound[:, None]
        result[:, start : start + tile] = weights @ below.T
    return result


def _distinct_rows(points: NDArray[Any]) -> tuple[Numbers, Numbers]:
    """Ranks of the distinct rows in lexicographic order, and which of them each row is."""  # (K, d), (N,)
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in points.T])
    order = np.lexsort(ranks.T[::-1])
    ordered = ranks[order]
    new = np.ones(len(ranks), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(len(ranks), np.int64)
    place[order] = np.cumsum(new) - 1
    return ordered[new], place


@compiled
def _insert(tree: Numbers, rank: int, weight: int) -> None:
    """Add a weight at a rank of a Fenwick tree."""
    at = rank + 1
    while at < len(tree):
        tree[at] += weight
        at += at & -at


@compiled
def _at_most(tree: Numbers, rank: int) -> int:
    """The weight at ranks up to this one."""
    total, at = 0, rank + 1
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total


@compiled
def _sweep_2(weights: Numbers, second: Numbers) -> Numbers:
    """For rows in lexicographic order: the weight of earlier rows that do not exceed them in the second coordinate."""
    below = np.zeros(len(weights), np.int64)
    tree = np.zeros(second.max() + 2, np.int64)
    for row in range(len(weights)):
        below[row] = _at_most(tree, second[row])
        _insert(tree, second[row], weights[row])
    return below


@compiled
def _join(
    order: Numbers,
    start: int,
    middle: int,
    stop: int,
    key: Numbers,
    merged: Numbers,
    left: NDArray[np.bool_],
) -> None:
    """Merge two runs that are in order of `key`, the left one first where they tie; `left` marks where a row came from."""
    one, other = start, middle
    for at in range(start, stop):
        from_left = one < middle and (other >= stop or key[order[one]] <= key[order[other]])
        left[at] = from_left
        if from_left:
            merged[at] = order[one]
            one += 1
        else:
            merged[at] = order[other]
            other += 1


@compiled
def _halve(
    order: Numbers,
    start: int,
    stop: int,
    key: Numbers,
    last: Numbers,
    weights: Numbers,
    counts: NDArray[np.bool_],
    asks: NDArray[np.bool_],
    below: Numbers,
    tree: Numbers,
) -> None:
    """Add to `below`, of each row that asks, the weight of rows before it that count and exceed it in neither coordinate.

    A part of `order` comes in the order of the coordinates settled so far and leaves in order of `key`.
    """
    merged, left = np.empty(stop, np.int64), np.empty(stop, np.bool_)
    half = 1
    while half < stop - start:
        for first in range(start, stop, 2 * half):
            middle, end = min(first + half, stop), min(first + 2 * half, stop)
            _join(order, first, middle, end, key, merged, left)
            for at in range(first, end):
                row = merged[at]
                if left[at] and counts[row]:
                    _insert(tree, last[row], weights[row])
                elif not left[at] and asks[row]:
                    below[row] += _at_most(tree, last[row])
            for at in range(first, middle):
                if counts[order[at]]:
                    _insert(tree, last[order[at]], -weights[order[at]])
        order[start:stop] = merged[start:stop]
        half *= 2


@compiled
def _sweep_3(weights: Numbers, second: Numbers, third: Numbers) -> Numbers:
    """The same for two coordinates that remain: halves are merged by the second, a tree holds the third."""
    rows = len(weights)
    below, tree = np.zeros(rows, np.int64), np.zeros(third.max() + 2, np.int64)
    every = np.ones(rows, np.bool_)
    _halve(np.arange(rows), 0, rows, second, third, weights, every, every, below, tree)
    return below


@compiled
def _sweep_4(weights: Numbers, second: Numbers, third: Numbers, fourth: Numbers) -> Numbers:
    """The same for three coordinates that remain: of two halves the left one counts and the right one asks.

    Put in order of the second coordinate, both together are halved again, by the third.
    """
    rows = len(weights)
    below, tree = np.zeros(rows, np.int64), np.zeros(fourth.max() + 2, np.int64)
    order, merged, left = np.arange(rows), np.empty(rows, np.int64), np.empty(rows, np.bool_)
    counts, asks, inner = np.zeros(rows, np.bool_), np.zeros(rows, np.bool_), np.empty(rows, np.int64)
    half = 1
    while half < rows:
        for start in range(0, rows, 2 * half):
            middle, stop = min(start + half, rows), min(start + 2 * half, rows)
            _join(order, start, middle, stop, second, merged, left)
            for at in range(start, stop):
                counts[merged[at]], asks[merged[at]] = left[at], not left[at]
            size = stop - start
            inner[:size] = merged[start:stop]
            _halve(inner, 0, size, third, fourth, weights, counts, asks, below, tree)
        order[:] = merged
        half *= 2
    return below


@compiled
def _sweep_1(weights: Numbers) -> Numbers:
    """Nothing remains: the weight of all earlier rows."""
    below = np.zeros(len(weights), np.int64)
    below[1:] = np.cumsum(weights)[:-1]
    return below


_SWEEPS: dict[int, Callable[..., Numbers]] = {1: _sweep_1, 2: _sweep_2, 3: _sweep_3, 4: _sweep_4}
