"""The values that a number of a column can have: its decimals, its bounds, and the heaps that people round to.

A drawn number is first rounded to the unit d of the column, then, with probability pi_k, to a coarser unit u_k, a whole
multiple r_k of d, half of it upward; where that would leave the bounds it stays. All that ends at a value y under unit k
is an interval,

    y + (ceil(-r_k/2) - 1/2) d  <  number  <  y + (ceil(r_k/2) - 1/2) d,

which reaches to the bound where y is the first or the last value inside it. Heitjan & Rubin (1990), Journal of the
American Statistical Association 85, on heaped ages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.tables.schema import Column

    Array = NDArray[np.float64]

NEARLY = 1e-6


def unit_of(column: Column) -> float:
    """The last decimal of a column, 1 for codes of levels; 0 where no decimals are declared."""
    places = 0 if column.whole or column.coded else column.decimals
    return 0.0 if places is None else 10.0**-places


@dataclass(frozen=True)
class Grid:
    """Steps of `unit` between `low` and `high` (inf: no bound); no rounding where `unit` is 0."""

    unit: float
    low: float
    high: float
    heaps: tuple[float, ...] = ()

    @classmethod
    def of(cls, column: Column, lowest: float, *, closed: bool = False) -> Grid:
        """The grid of a column whose values are above `lowest`, or from it on."""
        unit = unit_of(column)
        low = -np.inf if column.bounds[0] is None else float(column.bounds[0])
        high = np.inf if column.bounds[1] is None else float(column.bounds[1])
        if column.kind == "count" and column.bounds[0] is None:
            low = 0.0
        if unit:
            low = float(np.ceil(low / unit - NEARLY)) * unit if np.isfinite(low) else low
            high = float(np.floor(high / unit + NEARLY)) * unit if np.isfinite(high) else high
            if np.isfinite(lowest) and low <= lowest:
                low = lowest + (0.0 if closed else unit)
        elif np.isfinite(lowest):
            low = max(low, lowest)
        return cls(unit, low, high, tuple(float(heap) for heap in column.heaps) if unit else ())

    @property
    def units(self) -> tuple[float, ...]:
        """The unit of the column, then the heaps."""
        return (self.unit, *self.heaps)

    @property
    def inside(self) -> float:
        """Some value of the grid."""
        return self.low if np.isfinite(self.low) else min(0.0, self.high)

    def nearest(self, numbers: Array) -> Array:
        """Each number as a cell holds it."""
        held = numbers
        if self.unit:
            held = np.round(numbers, round(-np.log10(self.unit)))
        if np.isfinite(self.low) or np.isfinite(self.high):
            held = np.clip(held, self.low, self.high)
        return np.asarray(held)

    def heaped(self, numbers: Array, shares: Array, rng: np.random.Generator) -> Array:
        """Some of the numbers, already on the grid, on coarser units; `shares` are those of the heaps."""
        if not self.heaps:
            return numbers
        kind = np.searchsorted(np.cumsum(shares[::-1]), rng.random(len(numbers)), side="right")
        result = numbers.copy()
        for place, heap in enumerate(self.heaps[::-1]):
            rows = kind == place
            result[rows] = self._to_heap(numbers[rows], heap)
        return self.nearest(result)

    def cells(self, values: Array) -> Array:
        """Both ends of what ends at each value, for each unit in turn; a pair of equal ends where nothing does."""  # (n, 2 K)
        steps = np.round(values / self.unit)
        first = np.round(self.low / self.unit) if np.isfinite(self.low) else -np.inf
        last = np.round(self.high / self.unit) if np.isfinite(self.high) else np.inf
        ends = []
        for unit in self.units:
            ratio = round(unit / self.unit)
            below, above = np.ceil(-ratio / 2.0), np.ceil(ratio / 2.0) - 1.0
            on = np.mod(steps, ratio) == 0
            away = ~on & (self._to_heap(values, unit) == values)
            low = np.where(on, steps + below, steps)
            high = np.where(on, steps + above, np.where(away, steps, steps - 1.0))
            low_end = np.where((low <= first) & (high >= low), -np.inf, (low - 0.5) * self.unit)
            high_end = np.where((high >= last) & (high >= low), np.inf, (high + 0.5) * self.unit)
            ends += [low_end, high_end]
        return np.stack(ends, axis=1)

    def _to_heap(self, values: Array, heap: float) -> Array:
        """Rounded to a multiple of `heap`, half upward; as it was where that would leave the bounds."""
        ratio = round(heap / self.unit)
        steps = np.round(values / self.unit)
        coarse = np.floor(steps / ratio + 0.5) * ratio * self.unit
        return np.where((coarse < self.low) | (coarse > self.high), values, coarse)
