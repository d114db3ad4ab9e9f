"""The weights that turn draws given the truth into draws given a guess.

    w_hg = p(hypothesised part of y_i | theta_h) / p(y_i^s | theta_h)

In a sequence the hypothesised part is, where the record's other synthesized values are known, every term that the guess
changes: its own, and those of later columns that it predicts; where they are unknown these are integrated out, and the
part ends with the last guessed column. Terms that cancel are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from stead.tables.records import Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.models.base import Posterior
    from stead.risk.guesses import Guessed
    from stead.tables.records import Records

    Array = NDArray[np.float64]


SAFE = 600.0
"""exp() of this, and its square root, are numbers that a double holds."""


def parts_of(posterior: Posterior) -> tuple[Posterior, ...]:
    """The models of a sequence in order; a single one as it is."""
    return cast("tuple[Posterior, ...]", getattr(posterior, "parts_in_order", (posterior,)))


def with_guess(records: Records, guessed: Guessed, guess: int | NDArray[np.int64]) -> Records:
    """The records with the guessed columns put in place; one guess for all, or one for each record."""
    changed = records
    for name, values in guessed.values.items():
        row: NDArray[Any] = (
            values[guess] if isinstance(guess, int) else values[guess, np.arange(values.shape[1])]
        )
        changed = changed.with_column(records.schema[name], Values(row, records[name].missing))
    return changed


@dataclass(frozen=True, eq=False)
class Quadratic:
    """log w = jacobian - delta a_h - delta^2 b_h, with a = r / sigma^2 and b = 1 / (2 sigma^2)."""

    slope: Array  # a, (r, H)
    curve: Array  # b, (H,)
    moved: Array  # delta, (r, G)
    jacobian: Array  # (r, G)

    def log_weight(self, guess: NDArray[np.int64]) -> Array:
        """One guess for each record, without the Jacobian, which no draw changes."""  # (r, H)
        delta = self.moved[np.arange(len(guess)), guess][:, None]
        return np.asarray(-delta * self.slope - delta**2 * self.curve)

    @property
    def largest(self) -> float:
        """A bound of |log w|."""
        furthest = float(np.abs(self.moved).max())
        steepest = max(float(self.slope.max()), -float(self.slope.min()))
        return furthest * steepest + furthest**2 * float(self.curve.max())

    def step(self) -> float | None:
        """The step, where guesses lie at equal steps around the truth."""
        half = self.moved.shape[1] // 2
        step = float(self.moved[0, -1]) / half if half else 0.0
        steps = step * np.arange(-half, half + 1)
        if (
            step <= 0
            or self.moved.shape[1] != 2 * half + 1
            or not np.allclose(self.moved, steps, rtol=0, atol=1e-9 * step)
        ):
            return None
        return step


class Weigher:
    """log w of a block of records under some draws, guess by guess."""

    def __init__(
        self, posterior: Posterior, records: Records, targets: Sequence[str], *, known: bool
    ) -> None:
        parts = parts_of(posterior)
        last = max(
            (place for place, part in enumerate(parts) if set(part.responses) & set(targets)),
            default=len(parts) - 1,
        )
        touched = [
            part
            for part in parts
            if set(part.responses) & set(targets) or set(getattr(part, "predictors", targets)) & set(targets)
        ]
        self._records = records
        self._above = [part for part in touched if known or parts.index(part) <= last]
        below = self._above if known else [*self._above, *parts[last + 1 :]]
        self._below = below
        self._sums: Array | None = None

    def quadratic(self, guessed: Guessed) -> Quadratic | None:
        """The weights as a parabola in the guess, where one normal column is guessed and nothing else moves."""
        if len(self._above) != 1 or len(guessed.values) != 1 or self._below != self._above:
            return None
        part = self._above[0]
        name = next(iter(guessed.values))
        found = (
            part.residuals(self._records) if hasattr(part, "residuals") and name in part.responses else None
        )
        if found is None:
            return None
        scale = part.scale(name)
        values = guessed.values[name].T.astype(float)  # (r, G)
        low, high = self._records.schema[name].bounds
        inside = (values > scale.lowest) | ((values == scale.lowest) & scale.closed)
        inside &= (values >= (-np.inf if low is None else low)) & (
            values <= (np.inf if high is None else high)
        )
        if not inside.all():
            return None
        truth = self._records[name].values.astype(float)[:, None]
        moved = scale.forward(values) - scale.forward(truth)
        jacobian = scale.log_slope(values) - scale.log_slope(truth)
        return Quadratic(found[0], found[1], moved, jacobian)

    def log_weight(self, guessed: Guessed, guess: int | NDArray[np.int64]) -> Array:
        """Log w under every draw."""  # (H, r)
        total = self._sum(self._above, with_guess(self._records, guessed, guess))
        with np.errstate(invalid="ignore"):
            total = total - self._base
        return np.where(np.isnan(total), -np.inf, total)

    @property
    def _base(self) -> Array:
        """The log density of the truth, computed when it is first wanted."""
        if self._sums is None:
            self._sums = self._sum(self._below, self._records)
        return self._sums

    @staticmethod
    def _sum(parts: Sequence[Posterior], records: Records) -> Array:
        total: Array = sum(
            (part.log_likelihood(records) for part in parts[1:]), parts[0].log_likelihood(records)
        )
        return total
