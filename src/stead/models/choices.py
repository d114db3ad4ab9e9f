"""What was chosen for a column and why, as data that a person can read: counts, never a value of the file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stead.tables.schema import Column


@dataclass(frozen=True)
class Choice:
    """The model of a column and the reason for it; no model where the column is kept as it is."""

    column: str
    model: str = ""
    formula: str = ""
    why: str = ""


@dataclass(frozen=True)
class Shape:
    """What the values of a column show and its schema does not declare: spikes, heaps, a lowest value."""

    column: str
    spikes: tuple[float, ...] = ()
    heaps: tuple[float, ...] = ()
    lowest: float | None = None
    why: tuple[str, ...] = ()

    def of(self, column: Column) -> Column:
        """The column with them."""
        low = column.bounds[0] if self.lowest is None else self.lowest
        return replace(
            column,
            spikes=self.spikes or column.spikes,
            heaps=self.heaps or column.heaps,
            bounds=(low, column.bounds[1]),
        )

    def __bool__(self) -> bool:
        return bool(self.spikes or self.heaps or self.lowest is not None)

    def __repr__(self) -> str:
        return f"Shape({self.column!r}, {len(self.spikes)} spikes, {len(self.heaps)} heaps)"
