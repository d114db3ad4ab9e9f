"""The methods of `Sequence.auto`, by name: what each makes of a column before its predictors are chosen.

A method is a function from a column and its values to a `Draft`; another one (trees, say) is another line of `METHODS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.language.functions import FUNCTIONS
from stead.language.grammar import Factor, Formula
from stead.models.budget import MOST_BYTES, estimate
from stead.models.choices import Shape
from stead.models.choosing.counts import OVER, ROUNDED, model_of_count
from stead.models.choosing.numbers import FEWEST_ROWS, scale_of, shape_of
from stead.models.choosing.predictors import ROWS_FOR_EACH
from stead.models.storage import model_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stead.models.base import Model
    from stead.models.regression import Weights
    from stead.tables.records import Values
    from stead.tables.schema import Column

DRAWS, NOMINAL_ROWS = 1_000, 1_000
MOST_SECONDS_ALONE = 120.0
"""A column that would take longer than this without any predictor is not made."""
RARE, LARGE_COUNT = 10, 10
TELLING_FOR_EACH = 5
"""Records beside the commonest level for each column of a design: five to nine "events per variable" are enough
(Vittinghoff & McCulloch 2007, American Journal of Epidemiology 165)."""


@dataclass(frozen=True)
class Room:
    """What a column may take: records at hand, seconds, and what survey weights are for."""

    rows: int
    seconds: float
    weights: Weights


@dataclass(frozen=True)
class Draft:
    """A model without its predictors: how it is built from them, and what it can give."""

    build: Callable[[Sequence[Factor]], Model]
    fits: Callable[[int], bool]
    shape: Shape
    why: tuple[str, ...]
    possible: bool = True
    scale: str = ""
    """The function on whose scale the column predicts others: its own, or that next to it which takes all it can give."""


def regression(column: Column, held: Values | None, room: Room) -> Draft:
    """A regression, by the kind of the column and by what its values show."""
    if column.coded:
        return _levels(column, held, room)
    return _count(column, held, room) if column.kind == "count" else _number(column, held, room)


def _count(column: Column, held: Values | None, room: Room) -> Draft:
    name, said, shape = "NegativeBinomial", "it may vary more than a Poisson count", Shape(column.name)
    scale = ""
    if held is not None:
        name, shape, said = model_of_count(column, held)
        scale = scale_of_count(name, held)
    why = f"count; {said}{', so a normal one rounded to whole numbers' if name == ROUNDED else ''}"
    return _draft(name, Factor(column.name), 1, room, shape, (why,), scale=scale)


def _number(column: Column, held: Values | None, room: Room) -> Draft:
    function, shape, why = "", Shape(column.name), str(column.kind)
    if held is not None:
        shape = shape_of(column, held)
        present = held.values[held.present].astype(float)
        body = present[~np.isin(present, shape.of(column).spikes)]
        if column.kind == "continuous" and len(body) >= FEWEST_ROWS:
            function = scale_of(body)
    if function:
        why += f"; on the scale of {function}(), where it is nearest to normal"
    scale = inside(function, shape.of(column).spikes)
    return _draft("Linear", Factor(column.name, function), 1, room, shape, (why,), scale=scale)


def inside(function: str, spikes: tuple[float, ...]) -> str:
    """A function that takes what one takes, and spikes besides."""
    for name in (function, "log1p", "asinh") if function else ():
        if not FUNCTIONS[name].outside(np.array(spikes, float)):
            return name
    return ""


def scale_of_count(name: str, held: Values) -> str:
    """A count that varies much predicts on a logarithmic scale, so that a large one does not move others without bound."""
    most = held.values[held.present].max(initial=0)
    return "log1p" if name == OVER or most >= LARGE_COUNT else ""


METHODS: dict[str, Callable[[Column, Values | None, Room], Draft]] = {"regression": regression}


def _levels(column: Column, held: Values | None, room: Room) -> Draft:
    levels = len(column.levels)
    name = "Logistic" if levels <= 2 else "Ordered" if column.kind == "ordered" else "Multinomial"
    why = [f"{levels} levels{' in order' if name == 'Ordered' else ''}"]
    telling = None
    if held is not None:
        counts = np.bincount(held.values[held.present], minlength=levels)
        rare = int((counts < RARE).sum())
        why += [f"{rare} of them with fewer than {RARE} records"] if rare else []
        telling = int(counts.sum() - counts.max())
    count = levels - 1 if name == "Multinomial" else 1
    return _draft(
        name,
        Factor(column.name),
        count,
        room,
        Shape(column.name),
        (", ".join(why),),
        levels=levels,
        telling=telling,
    )


def _draft(
    name: str,
    response: Factor,
    count: int,
    room: Room,
    shape: Shape,
    why: tuple[str, ...],
    *,
    levels: int = 0,
    telling: int | None = None,
    scale: str = "",
) -> Draft:
    """`telling` records say something of the effects: all, or those that are not at the commonest level."""
    rows = room.rows or NOMINAL_ROWS
    most = (
        rows // ROWS_FOR_EACH if telling is None else min(rows // ROWS_FOR_EACH, telling // TELLING_FOR_EACH)
    )
    units = 1 + len(shape.heaps) if shape.heaps else 0

    def within(width: int, seconds: float) -> bool:
        cells = min(rows, levels) if levels and width == 1 else rows  # levels alone are as many cells
        memory, taken = estimate(count, width, cells, DRAWS, units)
        return taken <= seconds and memory <= MOST_BYTES

    def fits(width: int) -> bool:
        return width <= most and within(width, room.seconds)

    def build(predictors: Sequence[Factor]) -> Model:
        formula = Formula(response, intercept=True, terms=tuple((one,) for one in predictors))
        return model_named(name, str(formula), weights=room.weights)

    possible = within(1, MOST_SECONDS_ALONE)
    return Draft(build, fits, shape, (*why, *shape.why), possible, scale)
