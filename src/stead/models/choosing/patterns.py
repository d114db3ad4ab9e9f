"""Columns whose cells are missing in the same records: a rule between columns can only hold among them.

A recode or a multiple is missing exactly where its source is; a sum is missing where any of its parts is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from stead.tables.records import Records

FEWEST_RECORDS = 50
"""A rule is not looked for where fewer records could show it."""


@dataclass(frozen=True, repr=False, eq=False)
class Pattern:
    """Columns that are missing in the same records, and the records where they are not."""

    names: tuple[str, ...]
    present: NDArray[np.bool_]

    def covers(self, other: Pattern) -> bool:
        """Whether `other` has a value wherever this one has."""
        return not bool((self.present & ~other.present).any())


def patterns(records: Records, names: Iterable[str]) -> tuple[Pattern, ...]:
    """The patterns that occur, those of most columns first."""
    found: dict[bytes, list[str]] = {}
    for name in names:
        found.setdefault(np.packbits(records[name].present).tobytes(), []).append(name)
    kept = [Pattern(tuple(listed), records[listed[0]].present) for listed in found.values()]
    kept = [one for one in kept if int(one.present.sum()) >= FEWEST_RECORDS]
    return tuple(sorted(kept, key=lambda one: -len(one.names)))


def chance_of(counts: NDArray[np.int64]) -> float:
    """Digits of evidence that each agreeing record brings: -log10 of the chance that two unrelated cells agree."""
    share = counts / max(counts.sum(), 1)
    return float(-np.log10(max(float((share**2).sum()), 1e-300)))
