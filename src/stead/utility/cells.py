"""The cells of a column: what its values are counted in, none finer than ten confidential records.

A level with fewer than ten is counted under "other". A number is cut at round places near its deciles, not in equal
widths, which would put nearly every income in one cell; small whole numbers are cells of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from stead.utility.grid import SMALLEST_CELL, cell_edges, spaced_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.tables.records import Values
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

CELLS = 10
OTHER, MISSING = "other", "missing"


@dataclass(frozen=True)
class Cells:
    """The cells of one column and the rule that puts a value into one; the last is for missing values."""

    column: Column
    labels: tuple[str, ...]
    edges: Array  # of a number
    cell_of_level: NDArray[np.int64]  # of a category

    def of(self, held: Values) -> NDArray[np.int64]:
        """The cell of each row."""
        if self.column.coded:
            cells = self.cell_of_level[held.values]
        else:
            cells = np.searchsorted(self.edges, held.values.astype(float), side="right")
        placed: NDArray[np.int64] = np.where(held.present, cells, len(self.labels) - 1)
        return placed


def cells_of(column: Column, held: Values) -> Cells:
    """The cells of a column, from its confidential values."""
    if not column.coded:
        present = held.values[held.present].astype(float)
        edges = (
            spaced_edges(present, np.arange(1.0, 2 * CELLS))
            if column.kind == "count"
            else cell_edges(present, CELLS)
        )
        return Cells(column, (*_edge_labels(edges, column), MISSING), edges, np.zeros(0, np.int64))
    counts = np.bincount(held.values[held.present], minlength=len(column.levels))
    large = np.flatnonzero(counts >= SMALLEST_CELL)
    cell_of_level = np.full(len(column.levels), len(large))
    cell_of_level[large] = np.arange(len(large))
    labels = (*(str(column.levels[level]) for level in large), OTHER, MISSING)
    return Cells(column, labels, np.zeros(0), cell_of_level)


def _edge_labels(edges: Array, column: Column) -> tuple[str, ...]:
    if not len(edges):
        return ("all",)
    shown = [_date(edge, column) if column.kind == "date" else f"{edge:,.12g}" for edge in edges]
    if column.kind == "count":
        lows = [0, *(int(edge) for edge in edges)]
        tops = [*(int(edge) - 1 for edge in edges), None]
        return tuple(
            f"{low} or more" if top is None else str(low) if low == top else f"{low}–{top}"
            for low, top in zip(lows, tops, strict=True)
        )
    return (
        f"< {shown[0]}",
        *(f"{low} to {high}" for low, high in pairwise(shown)),
        f"≥ {shown[-1]}",
    )


def _date(number: float, column: Column) -> str:
    days = int(number) if column.unit == "day" else int(number) // 86_400
    return str(np.datetime64(days, "D"))
