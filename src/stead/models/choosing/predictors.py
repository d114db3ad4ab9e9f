"""Which of the columns that are known predict a column: all where they fit, else the most useful, one after the other.

    next = argmax_j  V(y, j) - mean_(s chosen) V(j, s)

over those that are associated with y beyond chance: relevant, and not said already (Peng, Long & Ding 2005, IEEE
Transactions on Pattern Analysis and Machine Intelligence 27). V is the square root of that in association.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stead.language.grammar import Factor

MOST_LEVELS = 50
"""A column of more levels predicts nothing: its indicators would be most of the design."""
ROWS_FOR_EACH = 10
"""Columns of a design are at most one for so many records."""


@dataclass(frozen=True)
class Predictor:
    """A column that is known when another is made: its place among all columns, and how many columns of a design it takes."""

    factor: Factor
    place: int
    width: int


def choose(
    place: int,
    known: Sequence[Predictor],
    strength: NDArray[np.float32] | None,
    most: int,
    fits: Callable[[int], bool],
) -> tuple[Predictor, ...]:
    """Predictors of the column at `place`, in the order in which they are known.

    `fits` says whether a design of so many columns is still within reach. Without data the nearest are taken.
    """
    if not known:
        return ()
    if len(known) <= most and fits(1 + sum(one.width for one in known)):
        return tuple(known)
    order = _nearest(known) if strength is None else _useful(place, known, strength, most)
    chosen: list[int] = []
    width = 1
    for at in order:
        if len(chosen) == most:
            break
        if fits(width + known[at].width):
            chosen.append(at)
            width += known[at].width
    return tuple(known[at] for at in sorted(chosen))


def _nearest(known: Sequence[Predictor]) -> list[int]:
    return list(range(len(known)))[::-1]


def _useful(place: int, known: Sequence[Predictor], strength: NDArray[np.float32], most: int) -> list[int]:
    """Places in `known`, the most useful first; some more than asked for, because not all may fit."""
    places = np.array([one.place for one in known])
    own = strength[place, places]
    said = np.zeros(len(known))
    open_, order = own > 0, list[int]()
    while open_.any() and len(order) < 2 * most:
        worth = np.where(open_, own - said / max(len(order), 1), -np.inf)
        best = int(worth.argmax())
        order.append(best)
        open_[best] = False
        said += strength[places[best], places]
    return order
