"""Rows that are alike, as one row with a weight: a million rows of categories are a few thousand cells.

sum_i w_i log p(y_i | x_i) = sum_cells (sum of w_i in the cell) log p(y | x)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.language.design import Design
    from stead.tables.records import Records

    Array = NDArray[np.float64]

MOST_CELLS = 1 << 24


@dataclass(frozen=True)
class Rows:
    """The rows that a regression is fitted to: which, their responses, and their weights (None: all 1)."""

    records: Records
    response: Array
    used: NDArray[np.bool_]
    weight: Array | None = None


def collapsed(design: Design, rows: Rows) -> Rows:
    """Cells instead of rows, where every predictor is categorical and the response a whole number from 0."""
    names = design.formula.predictors
    if rows.response.ndim > 1 or any(not design.schema[name].coded for name in names):
        return rows
    chosen = np.flatnonzero(rows.used)
    response = rows.response[chosen]
    key = response.astype(np.int64)
    size = int(key.max(initial=0)) + 1
    if not len(chosen) or (key < 0).any() or (key != response).any():
        return rows
    for name in names:
        held, levels = rows.records[name], len(design.schema[name].levels)
        code = np.where(held.present, held.values, levels)[chosen]
        key, size = key * (levels + 1) + code, size * (levels + 1)
        if size > min(MOST_CELLS, 8 * len(chosen) + 1024):
            return rows
    weight = np.bincount(key, None if rows.weight is None else rows.weight[chosen], size)
    cells = np.flatnonzero(weight)
    if 2 * len(cells) > len(chosen):
        return rows
    example = np.zeros(size, np.int64)
    example[key] = chosen
    picked = example[cells]
    return Rows(
        rows.records.take(picked),
        rows.response[picked],
        np.ones(len(cells), bool),
        weight[cells].astype(float),
    )
