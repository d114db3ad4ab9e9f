"""The cells that a column is cut into: each holds at least ten confidential records, and no bound of one is a value of a row.

Numbers are cut at round places near their quantiles, rounded to what the distance to the next place allows; the first
and the last cell are open, so that no extreme is shown. Whole numbers that few different records share are cells of
their own. Levels that are too rare, and missing cells of a category, are counted together; where they are too few
together as well, the smallest level goes with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from stead.utility.grid import SMALLEST_CELL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.tables.records import Values
    from stead.tables.schema import Column

    Array = NDArray[np.float64]
    Codes = NDArray[np.int64]

OTHER, MISSING = "other", "missing"
NONE = -1
"""The cell of what is not counted."""


@dataclass(frozen=True)
class Cells:
    """The cells of one column and the rule that puts a value into one."""

    column: Column
    labels: tuple[str, ...]
    bounds: tuple[str, ...]  # between neighbouring cells of a number, as they are written
    edges: Array  # the same as numbers
    cell_of_level: Codes  # of a category; missing comes last

    def counts(self, held: Values) -> NDArray[np.int64]:
        """Rows in each cell; missing numbers are in none, missing categories in one of their own or with the rare."""
        if self.column.coded:
            cells = self.cell_of_level[np.where(held.present, held.values, len(self.cell_of_level) - 1)]
        else:
            present = held.values[held.present].astype(float)
            cells = np.searchsorted(self.edges, present, side="right")
        return np.bincount(cells[cells != NONE], minlength=len(self.labels))


def cells_of(column: Column, held: Values, most: int, also: Sequence[Values] = ()) -> Cells:
    """At most `most` cells of a number, or one for each level that is not rare; a level that neither `held` nor `also` has is left out."""
    if column.coded:
        return _of_levels(column, held, also)
    present = held.values[held.present].astype(float)
    least = 86_400.0 if column.kind == "date" and column.unit == "second" else float(column.whole)
    edges = round_edges(present, most, least=least, each=column.kind == "count")
    bounds = tuple(_written(edge, column) for edge in edges)
    return Cells(column, _labels(edges, bounds, column), bounds, edges, np.zeros(0, np.int64))


def round_edges(values: Array, most: int, *, least: float = 0.0, each: bool = False) -> Array:
    """Round inner edges near quantiles, ten values at least in each cell.

    They are multiples of `least` where it is not 0. With `each`, every whole number is a cell where they are few.
    """
    if len(values) < 2 * SMALLEST_CELL:
        return np.zeros(0)
    wanted = np.quantile(values, np.linspace(0, 1, min(most, len(values) // SMALLEST_CELL) + 1)[1:-1])
    if each and wanted[-1] - values.min() <= most:
        places = np.arange(np.floor(values.min()) + 1, np.floor(wanted[-1]) + 2)
    else:
        places = _rounded(wanted, least)
    ordered, kept, before = np.sort(values), list[float](), 0
    for edge in np.unique(places):
        below = int(np.searchsorted(ordered, edge, side="left"))
        if below - before >= SMALLEST_CELL and len(values) - below >= SMALLEST_CELL:
            kept.append(float(edge))
            before = below
    return np.array(kept)


def _rounded(wanted: Array, least: float) -> Array:
    """Each place on a lattice of 1, 2 or 5 times a power of ten, at most a quarter of the way between its neighbours."""
    ends = np.concatenate([wanted[:1], wanted, wanted[-1:]])
    room = (ends[2:] - ends[:-2]) / 4
    spread = (wanted[-1] - wanted[0]) / (4 * len(wanted)) or max(abs(float(wanted[0])), 1.0) / 100
    room = np.where(room > 0, room, spread)
    power = 10.0 ** np.floor(np.log10(room))
    step = power * np.select([room >= 5 * power, room >= 2 * power], [5.0, 2.0], 1.0)
    if least:
        step = np.maximum(np.round(step / least), 1.0) * least
    digits = np.maximum(0, 1 - np.floor(np.log10(step))).astype(int)
    return np.array(
        [round(place, n) for place, n in zip(np.round(wanted / step) * step, digits, strict=True)]
    )


def _of_levels(column: Column, held: Values, also: Sequence[Values]) -> Cells:
    """A cell for each level with ten records or more; the others together, and missing with them if it is rare."""
    levels = len(column.levels)
    counts = _level_counts(held, levels)
    occurring = counts + sum(_level_counts(one, levels) for one in also)
    rare = set(np.flatnonzero((counts < SMALLEST_CELL) & (occurring > 0)).tolist())
    common = [place for place in range(levels + 1) if counts[place] >= SMALLEST_CELL]
    while rare and common and sum(counts[place] for place in rare) < SMALLEST_CELL:
        smallest = min(common, key=lambda place: (counts[place], place))
        common.remove(smallest)
        rare.add(smallest)
    cell = np.full(levels + 1, NONE)
    cell[common] = np.arange(len(common))
    cell[list(rare)] = len(common)
    labels = [MISSING if place == levels else str(column.levels[place]) for place in common]
    if rare:
        labels.append(f"{OTHER} or {MISSING}" if levels in rare else OTHER)
    return Cells(column, tuple(labels), (), np.zeros(0), cell)


def _level_counts(held: Values, levels: int) -> Codes:
    """Rows of each level, those of missing cells last."""
    return np.bincount(np.where(held.present, held.values, levels), minlength=levels + 1)


def _labels(edges: Array, bounds: tuple[str, ...], column: Column) -> tuple[str, ...]:
    if not bounds:
        return ("all",)
    if column.kind == "count":
        lows = [None, *(int(edge) for edge in edges)]
        tops = [*(int(edge) - 1 for edge in edges), None]
        return tuple(
            (f"{top} or fewer" if top else "0")
            if low is None
            else f"{low:,} or more"
            if top is None
            else f"{low:,}"
            if low == top
            else f"{low:,}–{top:,}"
            for low, top in zip(lows, tops, strict=True)
        )
    return f"< {bounds[0]}", *(f"{low} to {high}" for low, high in pairwise(bounds)), f"≥ {bounds[-1]}"


def _written(number: float, column: Column) -> str:
    """An edge as it is shown: a day for a date."""
    if column.kind == "date":
        return str(np.datetime64(round(number) if column.unit == "day" else int(number) // 86_400, "D"))
    return f"{number:,.12g}"
