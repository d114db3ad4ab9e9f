"""How many points of its group lie in the box of each query: exact, for one, two and three coordinates.

One coordinate: points sorted within groups, two searches for a query. Two: a sweep over the first coordinate that
enters the ranks of the second into a set and asks it at both ends of each box, O(n log n). Three: a wavelet tree over the
first coordinate turns a box into O(log n) boxes of the other two, each level of the tree one sweep, O(n log^2 n).
Boxes are closed; who wants them open, or wider by a tolerance, moves the bounds. Derivation and costs:
docs/derivations/matching.md. The plain twin is `plain.within`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.kernels.compiled import compiled
from stead.kernels.ranks import below, empty_set, enter
from stead.kernels.sorting import grouped, order_of
from stead.randomness import row_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Index = NDArray[np.int32]

COORDINATES = 3
"""More than these are counted by `bits`."""

SHORT = 32
"""Points that are looked at one by one rather than divided further."""


def within(group: Index, low: Floats, high: Floats, point_group: Index, points: Floats, groups: int) -> Index:
    """For each query the number of points of its group with low <= point <= high in every coordinate.

    `low` and `high` are (d, n), `points` is (d, N) with d from 1 to 3; groups are 0, 1, ..., groups - 1.
    """
    begin = starts_of(point_group, groups)
    ends = [ends_of(group, low[k], high[k], point_group, points[k], begin) for k in range(len(points))]
    if len(ends) == 1:
        return ends[0].last - ends[0].first
    ends.sort(key=lambda one: int((one.last - one.first).sum(dtype=np.int64)))  # the most telling one first
    asked = ends[0].asked
    ends = [one.take(asked) for one in ends]  # queries that ask for near places stand beside each other
    counts = np.zeros(len(group), np.int32)
    if len(ends) == 2:
        across, up = ends
        spans = [(across.first, across.last)]
        ranks = up.ranks()[across.order]
        _sweep(ranks, *_events(spans, len(ranks)), up.first, up.last, counts)
    else:
        _descend(ends, counts)
    result = np.empty_like(counts)
    result[asked] = counts
    return result


@dataclass(frozen=True)
class Ends:
    """What is found along one coordinate.

    order         the points by group and value
    first, last   of each query: the place of its first point in this order, and the place behind its last one
    asked         the queries by group and lower bound
    """

    order: Index
    first: Index
    last: Index
    asked: Index

    def ranks(self) -> Index:
        """The place of each point."""
        ranks = np.empty(len(self.order), np.int32)
        ranks[self.order] = np.arange(len(self.order), dtype=np.int32)
        return ranks

    def take(self, asked: Index) -> Ends:
        """The same with the queries in another order."""
        return Ends(self.order, self.first[asked], self.last[asked], asked)


def starts_of(group: Index, groups: int) -> Whole:
    """Where each group begins when rows are arranged by group, and where the last one ends."""
    begin = np.zeros(groups + 1, np.int64)
    _tally_groups(group, begin)
    return np.cumsum(begin, out=begin)


@compiled
def _tally_groups(group: Index, begin: Whole) -> None:
    for one in group:
        begin[one + 1] += 1


def ends_of(
    group: Index, low: Floats, high: Floats, point_group: Index, points: Floats, begin: Whole
) -> Ends:
    """Sort points and queries along one coordinate, and search; group g has the places from begin[g] to begin[g + 1]."""
    order, asked = order_of(points), order_of(low)
    groups = len(begin) - 1
    if groups > 1:
        order = grouped(order, point_group, begin)
        asked = grouped(asked, group, starts_of(group, groups))
    arranged = points[order]
    first, last = np.empty_like(asked), np.empty_like(asked)
    near = np.zeros(2, np.int64)
    for block in row_blocks(len(asked)):  # what is fetched from afar for a block stays in the cache
        rows = asked[block]
        first[rows], last[rows] = _places(group[rows], low[rows], high[rows], arranged, begin, near)
    return Ends(order, first, last, asked)


@compiled
def _places(
    group: Index, low: Floats, high: Floats, arranged: Floats, begin: Whole, near: Whole
) -> tuple[Index, Index]:
    """Two binary searches for each query, begun where the query before it ended: the next place is near."""
    first, last = np.empty(len(group), np.int32), np.empty(len(group), np.int32)
    for row in range(len(group)):
        start, stop = begin[group[row]], begin[group[row] + 1]
        near[0] = _search(arranged, start, stop, near[0], low[row], False)
        near[1] = _search(arranged, start, stop, near[1], high[row], True)
        first[row], last[row] = near[0], max(near[0], near[1])
    return first, last


@compiled
def _search(
    arranged: Floats, start: np.int64, stop: np.int64, near: np.int64, bound: float, beyond: bool
) -> np.int64:
    """The first place in [start, stop) whose value is at least the bound, or beyond it; strides double away from `near`."""
    left = right = min(max(near, start), stop)
    stride = np.int64(1)
    if right < stop and _before(arranged[right], bound, beyond):
        left += 1
        while left + stride <= stop and _before(arranged[left + stride - 1], bound, beyond):
            left += stride
            stride *= 2
        right = min(left + stride - 1, stop)
    else:
        while right - stride >= start and not _before(arranged[right - stride], bound, beyond):
            right -= stride
            stride *= 2
        left = max(right - stride, start)
    while left < right:
        middle = (left + right) >> 1
        if _before(arranged[middle], bound, beyond):
            left = middle + 1
        else:
            right = middle
    return left


@compiled
def _before(value: float, bound: float, beyond: bool) -> bool:
    return value < bound or (beyond and value == bound)


# ---- two coordinates: one sweep ---------------------------------------------------------------------


@compiled
def _sweep(ranks: Index, at: Index, owners: Index, lowest: Index, beyond: Index, counts: Index) -> None:
    """Enter the ranks one by one; before each, ask for the queries filed there how many members are in [lowest, beyond).

    A query that is filed as -1 - row is subtracted.
    """
    bits, blocks, spans = empty_set(len(ranks))
    for place in range(len(ranks) + 1):
        for event in range(at[place], at[place + 1]):
            owner = owners[event]
            row = owner if owner >= 0 else -1 - owner
            members = below(beyond[row], bits, blocks, spans) - below(lowest[row], bits, blocks, spans)
            counts[row] += members if owner >= 0 else -members
        if place < len(ranks):
            enter(ranks[place], bits, blocks, spans)


def _events(spans: list[tuple[Index, Index]], places: int) -> tuple[Index, Index]:
    """The events of a sweep by place: those at place p are owners[at[p] : at[p + 1]].

    A span adds what is entered before its end and subtracts what is entered before its beginning.
    """
    at = np.zeros(places + 2, np.int32)
    for begins, ends in spans:
        _tally(begins, ends, at)
    np.cumsum(at, out=at)
    owners = np.empty(at[-1], np.int32)
    filed = at.copy()
    for begins, ends in spans:
        _file(begins, ends, filed, owners)
    return at, owners


@compiled
def _tally(begins: Index, ends: Index, at: Index) -> None:
    for row in range(len(begins)):
        if begins[row] != ends[row]:
            at[begins[row] + 1] += np.int32(1)
            at[ends[row] + 1] += np.int32(1)


@compiled
def _file(begins: Index, ends: Index, at: Index, owners: Index) -> None:
    for row in range(len(begins)):
        if begins[row] != ends[row]:
            owners[at[ends[row]]] = row
            at[ends[row]] += np.int32(1)
            owners[at[begins[row]]] = -1 - row
            at[begins[row]] += np.int32(1)


# ---- three coordinates: a sweep for each level of a wavelet tree --------------------------------------


def _descend(ends: list[Ends], counts: Index) -> None:
    """Points stand in the order of one coordinate, with their ranks by the other two.

    A level sorts the points stably by one bit of the rank across, the highest first. Ranks below a bound are, for each
    bit that is one in the bound, a whole node: a span of places, which a sweep counts. A box is what is below its upper bound
    less what is below its lower one; while the two have the same bits, both are in the same node and cancel.
    """
    along, across, up = ends
    ends.clear()  # of 10^7 rows, each array is 40 MB
    tree, ranks = across.ranks()[along.order], up.ranks()[along.order]
    bounds, window = np.stack([across.last, across.first]), np.stack([up.first, up.last])
    begin, end = np.stack([along.first] * 2), np.stack([along.last] * 2)  # on the path of each bound
    del along, across, up
    left, right = np.empty_like(begin), np.empty_like(begin)
    zeros = np.empty(len(tree) + 1, np.int32)
    spare = np.empty_like(tree), np.empty_like(ranks)
    for bit in range(len(tree).bit_length() - 1, -1, -1):
        if not _finish_short(bit, tree, ranks, bounds, window, begin, end, counts):
            return
        _split(bit, tree, ranks, *spare, zeros)
        (tree, ranks), spare = spare, (tree, ranks)
        _divide(bit, zeros, bounds, begin, end, left, right)
        # what is below the lower bound is subtracted: its span is turned around
        at, owners = _events([(left[0], right[0]), (right[1], left[1])], len(ranks))
        if len(owners):
            _sweep(ranks, at, owners, window[0], window[1], counts)


@compiled
def _split(bit: int, tree: Index, ranks: Index, next_tree: Index, next_ranks: Index, zeros: Index) -> None:
    """Points whose bit is zero before the others, and how many of them stand before each place."""
    count = np.int32(0)
    for place in range(len(tree)):
        zeros[place] = count
        count += np.int32(1 - ((tree[place] >> bit) & 1))
    zeros[-1] = count
    for place in range(len(tree)):
        there = zeros[place] if zeros[place] != zeros[place + 1] else count + place - zeros[place]
        next_tree[there], next_ranks[there] = tree[place], ranks[place]


@compiled
def _finish_short(
    bit: int, tree: Index, ranks: Index, bounds: Index, window: Index, begin: Index, end: Index, counts: Index
) -> int:
    """Look through spans of few points, and end them: their path is done. How many paths go on?"""
    going = 0
    for row in range(len(counts)):
        together = (bounds[0, row] >> (bit + 1)) == (bounds[1, row] >> (bit + 1))
        for path in range(2 - together):
            if 0 < end[path, row] - begin[path, row] <= SHORT:
                least, found = bounds[1, row] if together else np.int32(0), 0
                for place in range(begin[path, row], end[path, row]):
                    inside = least <= tree[place] < bounds[path, row]
                    found += inside & (window[0, row] <= ranks[place] < window[1, row])
                counts[row] += -found if path else found
                end[path, row] = begin[path, row]
                if together:
                    end[1, row] = begin[1, row]
            going += begin[path, row] != end[path, row]
    return going


@compiled
def _divide(
    bit: int, zeros: Index, bounds: Index, begin: Index, end: Index, left: Index, right: Index
) -> None:
    """Take both paths of every query one level down; the spans [left, right) leave them here."""
    half = zeros[-1]
    for row in range(bounds.shape[1]):
        together = (bounds[0, row] >> (bit + 1)) == (bounds[1, row] >> (bit + 1))
        for path in range(2):
            left[path, row] = right[path, row] = 0
            if begin[path, row] == end[path, row]:
                continue
            first, last = zeros[begin[path, row]], zeros[end[path, row]]
            if (bounds[path, row] >> bit) & 1:
                if not (together and (bounds[1 - path, row] >> bit) & 1):
                    left[path, row], right[path, row] = first, last
                first, last = half + begin[path, row] - first, half + end[path, row] - last
            begin[path, row], end[path, row] = first, last
