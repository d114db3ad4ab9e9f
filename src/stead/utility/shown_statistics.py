"""A few statistics of a column that may be shown: mean, standard deviation, share of zeros, share missing.

A share is withheld where fewer than ten rows have the property, or fewer than ten lack it; a mean or a standard deviation
where fewer than ten values are present, or where one of them makes up more than half of the sum (of squares), because
it could then be guessed from it: the (1, k) dominance rule with k = 50 (Hundepool et al. 2012, Statistical Disclosure
Control, section 4.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from stead.utility.grid import SMALLEST_CELL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.tables.records import Values
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

DOMINANT = 0.5
FEW_VALUES = "fewer than ten values are present"
FEW_ROWS = "a group of fewer than ten rows"
ONE_ROW = "one row makes up more than half of it"


@dataclass(frozen=True)
class Statistic:
    """One statistic of a column and of D drawn ones; where it may not be shown, `reason` says why."""

    name: str
    form: Literal["place", "distance", "share"]
    value: float
    drawn: Array  # (D,)
    step: float  # to which it is rounded
    reason: str = ""


def statistics_of(column: Column, held: Values, drawn: Sequence[Values]) -> list[Statistic]:
    """Those that this kind of column has; a share that is 0 in every set is left out."""
    sets = (held, *drawn)
    numbers = [] if column.coded else [one.values[one.present].astype(float) for one in sets]
    zeros = [(int((one == 0).sum()), len(one)) for one in numbers]
    missing = [(one.gaps, len(one)) for one in sets]
    moments = _moments(numbers) if numbers and min(map(len, numbers)) > 1 else []
    return [*moments, *_share("share of zeros", zeros), *_share("share missing", missing)]


def _moments(numbers: list[Array]) -> list[Statistic]:
    """Mean and standard deviation, rounded to three digits of the latter."""
    own = numbers[0]
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # what a bad model draws can be too large to be squared
        means = np.array([one.mean() for one in numbers])
        spreads = np.array([one.std(ddof=1) for one in numbers])
    if not spreads[0] > 0:
        return []
    step = 10.0 ** (np.floor(np.log10(spreads[0])) - 2)
    few = FEW_VALUES if len(own) < SMALLEST_CELL else ""
    return [
        Statistic("mean", "place", means[0], means[1:], step, few or _dominated(np.abs(own))),
        Statistic(
            "standard deviation",
            "distance",
            spreads[0],
            spreads[1:],
            step,
            few or _dominated((own - means[0]) ** 2),
        ),
    ]


def _dominated(parts: Array) -> str:
    """Whether one part is more than half of the sum, and why that matters."""
    return ONE_ROW if parts.max() > DOMINANT * parts.sum() else ""


def _share(name: str, counts: list[tuple[int, int]]) -> list[Statistic]:
    """A share from the rows that have a property and the rows there are, of each set."""
    if not any(having for having, _ in counts):
        return []
    having, rows = counts[0]
    reason = FEW_ROWS if having < SMALLEST_CELL or 0 < rows - having < SMALLEST_CELL else ""
    shares = np.array([one / max(of, 1) for one, of in counts])
    return [Statistic(name, "share", shares[0], shares[1:], 1e-4, reason)]
