"""What the measures of a table are when nothing but chance differs: exact in small cells, a normal limit in large ones.

Of the t rows of a cell, in both files together, J = j are synthetic with J ~ Binomial(t, c) under the null; with p = (t - J)/n
and q = J/n_s a measure that sums a loss over cells has the mean sum over cells of E loss(p, q). Limits for large t:

    E |p - q| = sqrt(2/pi v),  E 4 n (sqrt p - sqrt q)^2 = 1/c,  E JS = (1/n + 1/n_s) / (8 log 2),   v = (t/N) (1/n + 1/n_s),

each variance times 1 - r, where r is the cell's share of the rows that agree with it in the kept columns, since kept columns
give each such group the same number of rows in both files (r is the share of all rows where no column is kept).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Numbers = NDArray[np.int64]

SMALL = 60
"""Cells up to this many rows are computed exactly."""


@dataclass(frozen=True)
class Losses:
    """Sums over cells: half of |p - q|, 4 n (sqrt p - sqrt q)^2, and the Jensen-Shannon divergence in bits."""

    total_variation: float
    freeman_tukey: float
    divergence: float


def cell_losses(real: Array, made: Array, rows: float, made_rows: float) -> Array:
    """The three losses of each cell, from its counts."""  # (3, cells)
    p, q = real / rows, made / made_rows
    middle = 0.5 * (p + q)
    safe = np.where(middle > 0, middle, 1.0)
    bits = 0.5 * (_entropy(p, safe) + _entropy(q, safe))
    return np.array([0.5 * np.abs(p - q), 4.0 * rows * (np.sqrt(p) - np.sqrt(q)) ** 2, bits])


def losses(real: Array, made: Array) -> Losses:
    """The losses of two tables of counts."""
    summed = cell_losses(real, made, float(real.sum()), float(made.sum())).sum(axis=1)
    return Losses(*summed.tolist())


def mean_losses(totals: Numbers, within: Array, rows: int, made_rows: int) -> Losses:
    """Their means under the null; `within` is r of each cell."""
    share = made_rows / (rows + made_rows)
    noise = 1.0 / rows + 1.0 / made_rows
    left = np.clip(1.0 - within, 0.0, 1.0)
    pooled = totals / (rows + made_rows)
    limit = np.array(
        [
            0.5 * np.sqrt(2.0 / np.pi * pooled * noise),
            np.full(len(totals), 1.0 / share),
            np.full(len(totals), noise / (8.0 * np.log(2.0))),
        ]
    )  # (3, cells)
    few = np.flatnonzero(totals <= SMALL)
    limit[:, few] = _exact(rows, made_rows)[:, totals[few]]
    limit *= np.array([np.sqrt(left), left, left])
    return Losses(*limit.sum(axis=1).tolist())


def _exact(rows: int, made_rows: int) -> Array:
    """The mean losses of cells with 0 to SMALL rows."""  # (3, SMALL + 1)
    share = made_rows / (rows + made_rows)
    means = np.zeros((3, SMALL + 1))
    weights = np.ones(1)  # the binomial probabilities of t, from those of t - 1
    for total in range(1, SMALL + 1):
        weights = np.append(weights * (1.0 - share), 0.0) + np.append(0.0, weights * share)
        made = np.arange(total + 1.0)
        means[:, total] = cell_losses(total - made, made, rows, made_rows) @ weights
    return means


def _entropy(p: Array, r: Array) -> Array:
    """P log2(p / r), 0 where p is 0."""
    safe = np.where(p > 0, p, 1.0)
    result: Array = p * np.log2(np.where(p > 0, safe / r, 1.0))
    return result
