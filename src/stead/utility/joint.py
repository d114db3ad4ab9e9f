"""Joint distribution functions of several columns, compared at every merged row.

F(t) is the share of rows that are at most t in every coordinate, and the difference at the N merged rows is

    D_i = (n_s A_i - n B_i) / (n n_s),     A_i, B_i = confidential, synthetic rows at most t_i,

in whole numbers until the division. This is a definition, not the supremum over the plane, and it depends on which way
the axes point: with the first one held there are 2^(d-1) orientations, and their maximum is an option.

The reference is the mean under exchanged labels, on a thinned stack where the files are large: there U_m is taken to
their size by the root of the numbers of rows, U_a by the numbers. Where columns were kept, labels are exchanged within
aligned pairs, since kept values agree on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from stead.randomness import thin_rows
from stead.utility.relabelling import How, own_labels, relabelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Numbers = NDArray[np.int64]

Signs: TypeAlias = tuple[int, ...]
MOST_ROWS, MOST_COORDINATES = 60_000, 4
"""Beyond four columns, and without compiled loops, every row is compared with every other, up to this many."""
TIMES = 40
THIN = {2: 40_000, 3: 20_000, 4: 6_000}
THIN_BEYOND = 2_000


@dataclass(frozen=True)
class Distance:
    """U_m and U_a, and the orientation of the axes with the largest U_m."""

    maximum: float
    mean_square: float
    orientation: Signs


def orientations(columns: int, *, every: bool) -> list[Signs]:
    """The axes as they are; or all ways to turn those after the first."""
    if not every:
        return [(1,) * columns]
    return [(1, *signs) for signs in product((1, -1), repeat=columns - 1)]


def countable(rows: int, columns: int) -> bool:
    """Whether this many merged rows are compared in reasonable time."""
    from stead.kernels.jit import AVAILABLE

    return rows <= MOST_ROWS or (AVAILABLE and columns <= MOST_COORDINATES)


def joint_distance(real: Array, made: Array, axes: Sequence[Signs]) -> Distance:
    """U_m and U_a of several columns; over several orientations, their maxima."""
    labels = own_labels(len(real), len(made))[None, :]
    each = [_distances(np.concatenate([real, made]) * signs, labels)[0] for signs in axes]
    best = max(range(len(axes)), key=lambda place: each[place][0])
    return Distance(each[best][0], max(square for _, square in each), axes[best])


def joint_reference(real: Array, made: Array, axes: Sequence[Signs], how: How) -> tuple[float, float]:
    """The means of U_m and U_a under exchanged labels."""
    most = THIN.get(real.shape[1], THIN_BEYOND) // 2
    few, few_made = real[thin_rows(len(real), most)], made[thin_rows(len(made), most)]
    rng = np.random.default_rng(0)  # the reference of a measure is the same whenever it is computed
    labels = np.array([relabelled(how, len(few), len(few_made), rng) for _ in range(TIMES)])
    stacked = np.concatenate([few, few_made])
    each = np.array([_distances(stacked * signs, labels) for signs in axes]).max(axis=0)  # (times, 2)
    smaller = (1.0 / len(real) + 1.0 / len(made)) / (1.0 / len(few) + 1.0 / len(few_made))
    maximum, square = each.mean(axis=0)
    return float(maximum * np.sqrt(smaller)), float(square * smaller)


def _distances(stacked: Array, labels: Array) -> list[tuple[float, float]]:
    """U_m and U_a for each labelling of the stacked rows; 1 is synthetic."""  # (N, d), (R, N)
    from stead.kernels.dominance import weight_at_most

    marked = labels.astype(np.int64)
    made = int(marked[0].sum())
    real = len(stacked) - made
    weights = np.where(marked == 1, -real, made)  # sums are the differences in units of 1 / (n n_s)
    found = []
    for difference in np.abs(weight_at_most(stacked, weights)):
        shares = difference / (real * made)
        found.append((float(difference.max() / (real * made)), float(np.mean(shares**2))))
    return found
