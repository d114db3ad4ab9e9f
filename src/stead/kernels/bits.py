"""Which points are the likeliest, when each lies in m sets at m places: regions as bits over the points, words at a time.

Point j of a group stands in set l at points[l, :, j]. For query i, c_l is the number of points whose place in set l is in the
region, and a point is as likely as the sum of 1/c_l over the sets in which it is in the region. Wanted are c_l, the highest sum
and how many points reach it. The region is a box, and within it a ball where `scale` is positive:

    low <= x <= high,   sum_k (scale_k (x_k - centre_k))^2 <= limit

The points of an interval are one run in the sorted order, so their bits are the difference of two prefixes; prefixes are kept
at every 256th part of the order and the ragged ends set bit by bit. Coordinates and sets then combine 64 points at a time: O(n^2 / 64)
for a group of n, whatever the number of coordinates. A k-d tree was refused: in m x d dimensions it visits most of its nodes
(at 10^4 rows, three sets and two coordinates it took a hundred times as long). The plain twin is `plain.likeliest`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stead.kernels.boxes import ends_of, starts_of
from stead.kernels.compiled import compiled
from stead.kernels.ranks import ones
from stead.kernels.sorting import grouped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Index = NDArray[np.int32]
    Bits = NDArray[np.uint64]

TIE = 1e-12
"""Sums that differ by less than this share are equal: they are the same sum, added in another order."""


def likeliest(
    group: Index,
    low: Floats,
    high: Floats,
    centre: Floats,
    limit: Floats,
    point_group: Index,
    points: Floats,
    scale: Floats,
    groups: int,
) -> tuple[Whole, Floats, Whole]:
    """For each query and set the number of points in the region, (n, m); the highest sum, (n,), and how many reach it.

    `low`, `high` and `centre` are (d, n), `limit` (n,), `points` (m, d, N), `scale` (d,); groups are 0, 1, ..., groups - 1.
    """
    begin, starts = starts_of(point_group, groups), starts_of(group, groups)
    sets, width, _ = points.shape
    place = np.empty(len(point_group), np.int32)  # of a point in its group
    place[grouped(np.arange(len(place), dtype=np.int32), point_group, begin)] = np.arange(len(place))
    place -= begin[point_group].astype(np.int32)
    orders = np.empty((sets * width, len(point_group)), np.int32)
    first, last = (np.empty((sets * width, len(group)), np.int32) for _ in range(2))
    for one in range(sets):
        for k in range(width):
            found = ends_of(group, low[k], high[k], point_group, points[one, k], begin)
            at = one * width + k
            orders[at], first[at], last[at] = place[found.order], found.first, found.last
    asked = grouped(np.arange(len(group), dtype=np.int32), group, starts)
    row_of = np.empty(len(point_group), np.int32)  # of a place, group by group
    row_of[begin[point_group] + place] = np.arange(len(place), dtype=np.int32)
    return _likeliest(begin, starts, asked, orders, first, last, centre, limit, points, row_of, scale)


@compiled
def _likeliest(
    begin: Whole,
    starts: Whole,
    asked: Index,
    orders: Index,
    first: Index,
    last: Index,
    centre: Floats,
    limit: Floats,
    points: Floats,
    row_of: Index,
    scale: Floats,
) -> tuple[Whole, Floats, Whole]:
    sets, width, _ = points.shape
    counts = np.zeros((len(asked), sets), np.int64)
    best, reached = np.zeros(len(asked)), np.zeros(len(asked), np.int64)
    for one in range(len(begin) - 1):
        rows, start = begin[one + 1] - begin[one], begin[one]
        if rows == 0 or starts[one] == starts[one + 1]:
            continue
        step = max(64, rows >> 8)
        kept = _prefixes(orders, start, rows, step)
        inside = np.zeros((sets, kept.shape[2]), np.uint64)
        interval = np.zeros(kept.shape[2], np.uint64)
        for query in asked[starts[one] : starts[one + 1]]:
            for each in range(sets):
                for k in range(width):
                    at = each * width + k
                    target = inside[each] if k == 0 else interval
                    order = orders[at, start : start + rows]
                    _run(order, first[at, query] - start, last[at, query] - start, step, kept[at], target)
                    if k > 0:
                        for word in range(len(interval)):
                            inside[each, word] &= interval[word]
                if scale.max() > 0:
                    _round(inside[each], points[each], row_of, start, centre[:, query], limit[query], scale)
                for word in range(len(interval)):
                    counts[query, each] += ones(inside[each, word])
            best[query], reached[query] = _highest(inside, counts[query])
    return counts, best, reached


@compiled
def _prefixes(orders: Index, start: int, rows: int, step: int) -> Bits:
    """For each order the bits of its first 0, step, 2 step, ... points."""
    kept = np.zeros((len(orders), rows // step + 1, (rows + 63) >> 6), np.uint64)
    for at in range(len(orders)):
        for block in range(1, kept.shape[1]):
            kept[at, block] = kept[at, block - 1]
            for place in range(start + (block - 1) * step, start + block * step):
                point = orders[at, place]
                kept[at, block, point >> 6] |= np.uint64(1) << np.uint64(point & 63)
    return kept


@compiled
def _run(order: Index, first: int, last: int, step: int, kept: Bits, target: Bits) -> None:
    """The bits of the points at places [first, last) of an order."""
    left, right = -(-first // step), last // step  # whole blocks between
    if left >= right:
        target[:] = np.uint64(0)
        left = right = -1
    else:
        for word in range(len(target)):
            target[word] = kept[left, word] ^ kept[right, word]
    for place in range(first, last if left < 0 else left * step):
        target[order[place] >> 6] |= np.uint64(1) << np.uint64(order[place] & 63)
    if left >= 0:
        for place in range(right * step, last):
            target[order[place] >> 6] |= np.uint64(1) << np.uint64(order[place] & 63)


@compiled
def _round(
    inside: Bits, points: Floats, row_of: Index, start: int, centre: Floats, limit: float, scale: Floats
) -> None:
    """Take the corners off a box: what is in it and not in the ball."""
    for word in range(len(inside)):
        left = inside[word]
        while left:
            lowest = left & (~left + np.uint64(1))
            left ^= lowest
            row = row_of[start + (word << 6) + ones(lowest - np.uint64(1))]
            distance = 0.0
            for k in range(len(scale)):
                away = scale[k] * (points[k, row] - centre[k])
                distance += away * away
            if distance > limit:
                inside[word] ^= lowest


@compiled
def _highest(inside: Bits, counts: Whole) -> tuple[float, np.int64]:
    """The highest sum of 1/c_l over the sets in which a point is, and how many points reach it."""
    everywhere = np.int64(0)
    for word in range(inside.shape[1]):
        common = inside[0, word]
        for each in range(1, len(inside)):
            common &= inside[each, word]
        everywhere += ones(common)
    if everywhere:
        return (1.0 / counts).sum(), everywhere
    best, reached = 0.0, np.int64(0)
    for word in range(inside.shape[1]):
        somewhere = np.uint64(0)
        for each in range(len(inside)):
            somewhere |= inside[each, word]
        while somewhere:
            lowest = somewhere & (~somewhere + np.uint64(1))
            somewhere ^= lowest
            total = _sum(inside[:, word], lowest, counts)
            if total > best * (1 + TIE):
                best, reached = total, np.int64(0)
            reached += total >= best * (1 - TIE)
    return best, reached


@compiled
def _sum(inside: Bits, point: np.uint64, counts: Whole) -> float:
    """The sum of 1/c_l over the sets in which one point is."""
    total = 0.0
    for each in range(len(inside)):
        if inside[each] & point:
            total += 1.0 / counts[each]
    return total
