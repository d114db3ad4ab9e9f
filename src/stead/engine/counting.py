"""Counting that does not depend on where rows come from: what both engines do once a block of rows is coded.

For confidential row i and set l, c_il is the number of rows of set l with the code of row i whose point is in its region, and
T_il is 1 where row i of the set is one of them. Under the convention `probabilities` a row j is as likely as
p_ij = (1/m) sum_l [j matches in set l] / c_il; c_i is the number of rows with the highest p_ij and T_i is 1 where row i is one
of them (Reiter & Mitra 2009, section 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.engine.coding import looked_up, mixed, tally
from stead.engine.regions import Regions
from stead.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.kernels import Kernels

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Codes = NDArray[Any]  # whole numbers of 32 or 64 bits
    Flags = NDArray[np.bool_]

TIE = 1e-12
"""Sums of probabilities that differ by less than this share are equal: they are the same sum, added in another order."""
BOX_COORDINATES = 3


@dataclass(frozen=True)
class Coded:
    """A confidential table and synthetic ones: codes of the kept columns and of the synthesized ones, regions and points.

    Kept columns are the same in row i of every table, and so is a kept coordinate of `points`, (d, n) for each set.
    """

    kept: Codes
    kept_codes: int
    real: Codes
    made: list[Codes]
    made_codes: int
    regions: Regions
    points: list[Floats]

    def whole(self, kernels: Kernels) -> tuple[Codes, list[Codes], int]:
        """One code of all columns that must agree: of the confidential rows, of each set, and how many there are."""
        made = [self.real, *self.made]
        codes, size = mixed([self.kept] * len(made), self.kept_codes, made, self.made_codes, kernels.dense)
        return codes[0], codes[1:], size

    def own(self) -> Flags:
        """Whether row i of each set matches confidential row i, (m, n)."""
        same = np.stack([self.real == one for one in self.made])
        if len(self.regions.low):
            same &= np.stack([self.regions.hold(points) for points in self.points])
        return same


def summaries(held: Coded, kernels: Kernels) -> tuple[Codes, Flags]:
    """Find c and T of each record in each set, both (m, n)."""
    real, made, size = held.whole(kernels)
    counts = [
        count(held.regions, real, one, points, size, kernels)
        for one, points in zip(made, held.points, strict=True)
    ]
    return np.stack(counts), held.own()


def count(
    regions: Regions, group: Codes, point_group: Codes, points: Floats, size: int, kernels: Kernels
) -> Codes:
    """How many points of its group are in the region of each record."""
    if not len(points):
        return looked_up(tally(point_group, size).astype(np.int32), group)
    group, point_group = group.astype(np.int32, copy=False), point_group.astype(np.int32, copy=False)
    if len(points) <= BOX_COORDINATES and not regions.scale.any():
        return kernels.within(group, regions.low, regions.high, point_group, points, size)
    around = regions.low, regions.high, regions.centre, regions.limit
    return kernels.likeliest(group, *around, point_group, points[None], regions.scale, size)[0][:, 0]


def probabilities(held: Coded, kernels: Kernels) -> tuple[Whole, Flags]:
    """Find c and T of each record over all sets, both (n,)."""
    return _likeliest_equal(held, kernels) if not len(held.regions.low) else _likeliest_near(held, kernels)


def _likeliest_equal(held: Coded, kernels: Kernels) -> tuple[Whole, Flags]:
    """Without coordinates: rows of one code that match in the same sets (a pattern of bits) are equally likely."""
    real, made, size = held.whole(kernels)
    m = len(made)
    if size >= 1 << (62 - m):
        raise UsageError(
            "E-SETS", f"{m} sets are too many for the convention probabilities; use summaries, or fewer sets"
        )
    matches = np.stack([tally(one, size) for one in made])  # (m, codes)
    patterns = []
    for place, code in enumerate(made):
        earlier = np.zeros(len(code), np.bool_)
        for other in made[:place]:
            earlier |= other == code  # counted there already
        pattern = np.full(len(code), 1 << place, np.int64)
        for later in range(place + 1, m):
            pattern |= (made[later] == code).astype(np.int64) << later
        patterns.append((code.astype(np.int64) * (1 << m) + pattern)[~earlier])
    found, rows = _tallied(np.concatenate(patterns), size << m)
    code, pattern = found >> m, found & ((1 << m) - 1)
    likely = _sum(pattern, matches[:, code])
    best, counts = np.zeros(size), np.zeros(size, np.int64)
    np.maximum.at(best, code, likely)
    top = likely >= best[code] * (1 - TIE)
    np.add.at(counts, code[top], rows[top])
    own = np.zeros(len(real), np.int64)
    for place, one in enumerate(made):
        own |= (one == real).astype(np.int64) << place
    return counts[real], (own > 0) & (_sum(own, matches[:, real]) >= best[real] * (1 - TIE))


def _tallied(numbers: Whole, size: int) -> tuple[Whole, Whole]:
    """The different numbers below `size`, and how often each occurs."""
    if size > 4 * len(numbers) + (1 << 16):
        return np.unique(numbers, return_counts=True)
    rows = np.bincount(numbers, minlength=size)
    found = np.flatnonzero(rows)
    return found, rows[found]


def _sum(pattern: Whole, matches: Whole) -> Floats:
    """The sum of 1/c over the sets in a pattern of bits."""
    total = np.zeros(len(pattern))
    for place, count in enumerate(matches):
        total += np.where((pattern >> place) & 1, 1.0 / np.maximum(count, 1), 0.0)
    return total


def _likeliest_near(held: Coded, kernels: Kernels) -> tuple[Whole, Flags]:
    """With coordinates: the code of the synthesized columns is one more of them, at distance zero."""
    regions, points = held.regions, np.array(held.points)  # (m, d, n)
    if held.made_codes > 1:
        code = held.real.astype(float)[None]
        low, high, centre = (np.vstack([one, code]) for one in (regions.low, regions.high, regions.centre))
        regions = Regions(low, high, centre, regions.limit, np.append(regions.scale, 0.0))
        points = np.concatenate([points, np.array(held.made, float)[:, None]], axis=1)
    dense, codes = kernels.dense(held.kept.astype(np.int64))
    kept = dense.astype(np.int32)
    around = regions.low, regions.high, regions.centre, regions.limit
    matches, best, counts = kernels.likeliest(kept, *around, kept, points, regions.scale, codes)
    own = (held.own().T / np.maximum(matches, 1)).sum(axis=1)
    return counts, (own > 0) & (own >= best * (1 - TIE))
