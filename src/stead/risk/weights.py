"""The weights that turn draws given the truth into draws given a guess.

    w_hg = p(hypothesised part of y_i | theta_h) / p(y_i^s | theta_h)

In a sequence the hypothesised part is, where the record's other synthesized values are known, every term that the guess
changes: its own, and those of later columns that it predicts; where they are unknown these are integrated out, and the
part ends with the last guessed column. Terms that cancel are left out.
"""

from __future__ import annotations

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
        self._base = self._sum(below, records)

    def log_weight(self, guessed: Guessed, guess: int | NDArray[np.int64]) -> Array:
        """Log w under every draw."""  # (H, r)
        total = self._sum(self._above, with_guess(self._records, guessed, guess))
        with np.errstate(invalid="ignore"):
            total = total - self._base
        return np.where(np.isnan(total), -np.inf, total)

    @staticmethod
    def _sum(parts: Sequence[Posterior], records: Records) -> Array:
        total: Array = sum(
            (part.log_likelihood(records) for part in parts[1:]), parts[0].log_likelihood(records)
        )
        return total
