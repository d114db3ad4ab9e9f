"""Log-likelihoods that are known for some rows, found again by what is in the row.

The values and missing codes of a row are mixed into 64 bits, column after column, by the finalizer of SplitMix64 (Steele,
Lea & Flood 2014, OOPSLA): two different rows share a number with probability 2^-64. So a row keeps its log-likelihood in
whatever order or block it is asked for, and a row that was never given one is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused, UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from stead.tables.records import Records, Values

    Array = NDArray[np.float64]
    Keys = NDArray[np.uint64]

STEP, FIRST, SECOND = (
    np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
SHIFTS = tuple(np.uint64(bits) for bits in (30, 27, 31))


@dataclass(frozen=True, eq=False, repr=False)
class KnownRows:
    """The keys of rows, in order, and the log-likelihood of each under every draw."""

    names: tuple[str, ...]
    keys: Keys  # (R,)
    density: Array  # (H, R)

    @classmethod
    def of(cls, pairs: Iterable[tuple[Records, Array]]) -> KnownRows:
        """From records and their log-likelihood (H, rows); rows that are alike must have the same one."""
        parts = list(pairs)
        names = parts[0][0].names
        keys = np.concatenate([row_keys(records, names) for records, _ in parts])
        density = np.concatenate([values for _, values in parts], axis=1)
        if np.isnan(density).any():
            raise UsageError(
                "E-EXTERNAL",
                f"log_likelihood: {int(np.isnan(density).any(axis=0).sum()):,} rows are not numbers",
            )
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        again = np.flatnonzero(first[inverse] != np.arange(len(keys)))
        same = np.isclose(density[:, again], density[:, first[inverse[again]]], rtol=1e-6, atol=1e-6)
        if not same.all():
            raise InputRefused(
                "E-EXTERNAL",
                f"log_likelihood: {int((~same).any(axis=0).sum()):,} rows have another one than a row that is the same in all columns, so that the model knows more of them than the records do; add what it knows as a column, or leave it out with log_likelihood=False",
            )
        return cls(names, distinct, density[:, first])

    def look_up(self, records: Records, draws: slice) -> Array:
        """The log-likelihood of each row; a row that is not known is refused."""  # (h, n)
        lacking = [name for name in self.names if name not in records]
        if lacking:
            raise UsageError(
                "E-EXTERNAL",
                f"a log-likelihood is known for whole rows, and {', '.join(map(shorten, lacking))} is not among the columns",
            )
        asked = row_keys(records, self.names)
        place = np.minimum(np.searchsorted(self.keys, asked), len(self.keys) - 1)
        unknown = int(np.count_nonzero(self.keys[place] != asked))
        if unknown:
            raise UsageError(
                "E-EXTERNAL",
                f"{unknown:,} of {records.rows:,} rows have no log-likelihood: that of a model fitted elsewhere is known for the confidential rows only; stead.External takes that of others in elsewhere=[(records, values)], or a function log_likelihood=",
            )
        return np.asarray(self.density[draws][:, place])


def row_keys(records: Records, names: Iterable[str]) -> Keys:
    """A number for each row, from some columns."""  # (n,)
    keys = np.zeros(records.rows, np.uint64)
    for name in names:
        keys = _mixed(keys, records[name])
    return keys


def column_key(held: Values) -> int:
    """A number for a whole column in its order."""
    own = _mixed(np.arange(len(held), dtype=np.uint64), held)
    return int(np.bitwise_xor.reduce(own, initial=len(held)))


def _mixed(keys: Keys, held: Values) -> Keys:
    values = np.where(held.present, held.values, 0).astype(float) + 0.0  # -0.0 is 0.0
    for part in (values.view(np.uint64), held.missing.astype(np.int64).view(np.uint64)):
        keys = (keys ^ part) + STEP
        keys = (keys ^ (keys >> SHIFTS[0])) * FIRST
        keys = (keys ^ (keys >> SHIFTS[1])) * SECOND
        keys = keys ^ (keys >> SHIFTS[2])
    return keys
