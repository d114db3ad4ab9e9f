"""Tables of one, two or three columns, confidential beside synthetic.

For shares p_k (confidential) and q_k (synthetic) of the cells,

    total variation  1/2 sum |p_k - q_k|                    Freeman-Tukey  4 n sum (sqrt p_k - sqrt q_k)^2
    Hellinger        sqrt(1/2 sum (sqrt p_k - sqrt q_k)^2)   Jensen-Shannon sqrt(1/2 KL(p, r) + 1/2 KL(q, r))

with r = (p + q)/2 and logarithms to base 2; each beside its mean (of the square, for the two with a root) in two samples of
these sizes, see chance.py. pMSE of a table is that of a classifier with a term for each cell,

    pMSE = sum_k (t_k / N) (s_k / t_k - c)^2,     k* = cells - cells of the kept columns alone,

for t_k rows in the cell, s_k of them synthetic; its null is that of null.py. Voas & Williamson (2001), Geographical and
Environmental Modelling 5; Raab, Nowok & Dibben (2021), arXiv 2109.12717.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.utility.chance import losses, mean_losses
from stead.utility.null import analytic_lines, used_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Numbers = NDArray[np.int64]

MOST_DENSE = 1 << 20


@dataclass(frozen=True, repr=False)
class Coded:
    """A column as cells: how many there are, the confidential rows, the rows of each synthetic set."""

    cells: int
    real: Numbers
    made: tuple[Numbers, ...]


def compare(columns: Mapping[str, Coded], kept: Sequence[str], proper: bool | None) -> dict[str, Any]:
    """Every measure of one table, over all sets; `kept` are those of its columns that agree in both files."""
    real, sets, group = _counted(list(columns.values()), [name in kept for name in columns])
    each = [_one(real, made, group, proper) for made in sets]
    means = {key: float(np.mean([one[key] for one in each])) for key in each[0]}
    chance = means["pmse_reference"]
    return {
        "columns": list(columns),
        **means,
        "ratio": means["pmse"] / chance if chance > 0 else None,
        "per_dataset": [one["total_variation"] for one in each],
    }


def _one(real: Array, made: Array, group: Numbers, proper: bool | None) -> dict[str, float]:
    """The measures of one set."""
    n, n_s = int(real.sum()), int(made.sum())
    rows, share = n + n_s, n_s / (n + n_s)
    totals = real + made
    there = totals > 0
    real, made, totals, group = real[there], made[there], totals[there], group[there]
    of_group = np.bincount(group, weights=totals)
    found = losses(real, made)
    chance = mean_losses(totals.astype(np.int64), totals / of_group[group], n, n_s)
    pmse = float((totals / rows * (made / totals - share) ** 2).sum())
    rank = len(totals) - int(np.count_nonzero(of_group))
    line = analytic_lines(rank, share, rows)[used_line(proper)]
    return {
        "total_variation": found.total_variation,
        "reference": chance.total_variation,
        "hellinger": float(np.sqrt(found.freeman_tukey / (8.0 * n))),
        "hellinger_reference": float(np.sqrt(chance.freeman_tukey / (8.0 * n))),
        "jensen_shannon": float(np.sqrt(max(0.0, found.divergence))),
        "jensen_shannon_reference": float(np.sqrt(chance.divergence)),
        "freeman_tukey": found.freeman_tukey,
        "freeman_tukey_reference": chance.freeman_tukey,
        "pmse": pmse,
        "pmse_reference": line.mean,
        "k_star": float(rank),
    }


def _counted(columns: Sequence[Coded], kept: Sequence[bool]) -> tuple[Array, list[Array], Numbers]:
    """Counts of the joint cells in each file, and the cell of the kept columns that each belongs to."""
    size = int(np.prod([column.cells for column in columns], dtype=object))
    real = _joint(columns, [column.real for column in columns])
    sets = [
        _joint(columns, [column.made[place] for column in columns]) for place in range(len(columns[0].made))
    ]
    if size > MOST_DENSE:  # most cells are empty: number those that are not
        used, place = np.unique(np.concatenate([real, *sets]), return_inverse=True)
        real, *sets = np.split(place, np.cumsum([len(real), *map(len, sets)])[:-1])
    else:
        used = np.arange(size)
    counts = [np.bincount(one, minlength=len(used)).astype(float) for one in (real, *sets)]
    group = np.zeros(len(used), np.int64)
    below = used
    for column, is_kept in zip(columns, kept, strict=True):
        if is_kept:
            group = group * column.cells + below % column.cells
        below = below // column.cells
    return counts[0], counts[1:], np.unique(group, return_inverse=True)[1]


def _joint(columns: Sequence[Coded], cells: Sequence[Numbers]) -> Numbers:
    """One number for each row: its joint cell, the first column varying fastest."""
    joint = np.zeros(len(cells[0]), np.int64)
    for column, one in zip(reversed(columns), reversed(cells), strict=True):
        joint = joint * column.cells + one
    return joint
