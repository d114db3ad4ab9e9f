"""What a release without any leak would give: the synthesized columns of every row drawn afresh, without regard to the record.

Let n_i rows agree with record i on the columns that are kept (row i is one of them), and let a drawn row match record i on the
synthesized columns with probability pi_i. The draws are independent, so the rows of these n_i that match are Binomial(n_i, pi_i),
and row i is as likely to be one of them as any other. This module finds n_i and pi_i; what follows from them is exact and needs no
random number (docs/derivations/matching.md):

    margins   each column drawn from its confidential margin: pi_i is the product of the shares of the margins near record i
    holdout   the columns of a random row of a holdout that agrees with record i on the kept columns which must be equal (of any
              row, where none does): pi_i is the share of these rows that match
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.engine.coding import tally
from stead.engine.counting import count
from stead.randomness import row_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from stead.engine.regions import Regions
    from stead.kernels import Kernels

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Codes = NDArray[Any]  # whole numbers of 32 or 64 bits
    Coding = tuple[Codes, Codes, int]


def alike(code: Codes, size: int) -> tuple[Whole, Whole]:
    """One row of each code that occurs, and how many rows have it."""
    rows, weight = np.zeros(size, np.int64), tally(code, size)
    for block in row_blocks(len(code)):
        rows[code[block]] = np.arange(block.start, block.stop)
    return rows[weight > 0], weight[weight > 0]


def by_margins(
    digits: Mapping[str, Whole],
    weight: Whole,
    near: Sequence[str],
    points: Floats,
    regions: Regions,
    kernels: Kernels,
) -> Floats:
    """The probability that a row drawn from the margins matches each record, or each group of records that are alike.

    Given are the digits of the columns, and the points of those that must be near.
    """
    share, n = np.ones(len(weight)), int(weight.sum())
    for name, digit in digits.items():
        if name not in near:
            share *= (np.bincount(digit, weights=weight) / n)[digit]
    for k, name in enumerate(near):
        gap, along = digits[name], regions.along(slice(k, k + 1))
        share *= count(along, gap, gap, points[k : k + 1], int(gap.max(initial=0)) + 1, kernels) / n
    return share


def by_holdout(
    kept: Coding, made: Coding, both: Coding, points: Floats, regions: Regions, kernels: Kernels
) -> Floats:
    """The share of comparable rows of a holdout that match each record.

    Codes are those of the records, those of the holdout, and how many there are; points are those of the holdout.
    """
    comparable = tally(kept[1], kept[2])[kept[0]]
    match, anywhere = (
        count(regions, real, other, points, size, kernels) for real, other, size in (both, made)
    )
    return np.where(comparable > 0, match / np.maximum(comparable, 1), anywhere / points.shape[1])
