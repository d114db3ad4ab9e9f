"""An axis of a chart: where a value falls in pixels, and which ticks have room for their labels.

Vega draws the axis; this module only has to agree with its scales, so that labels can be placed
where nothing else is.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from stead.report import look

if TYPE_CHECKING:
    from collections.abc import Iterator

GAP = 14.0  # pixels between two tick labels
EDGE = 22.0  # pixels that a label may stand out on the right


@dataclass(frozen=True)
class Axis:
    """`kind` is linear, log, or symlog: a log axis that passes through zero and is linear below `unit`."""

    kind: str
    low: float
    high: float
    pixels: float
    unit: float = 1.0

    def position(self, value: float) -> float:
        """The pixel of a value, from the left."""
        low, high = self._level(self.low), self._level(self.high)
        return self.pixels * (self._level(value) - low) / (high - low)

    def _level(self, value: float) -> float:
        if self.kind == "log":
            return math.log(value)
        return math.copysign(math.log1p(abs(value) / self.unit), value) if self.kind == "symlog" else value

    def scale(self) -> dict[str, Any]:
        """The same axis as a Vega-Lite scale."""
        spec = {"type": self.kind, "domain": [self.low, self.high], "nice": False, "zero": False}
        return spec | ({"constant": self.unit} if self.kind == "symlog" else {})

    def ticks(self) -> list[float]:
        """The first choice of round values, from many to few, whose labels have room."""
        choices = linear_choices(self.low, self.high)
        if self.kind != "linear":
            choices = log_choices(self.low, self.high, self.unit) + choices
        inside = [[t for t in ticks if self.low <= t <= self.high and self._inside(t)] for ticks in choices]
        return next(
            (ticks for ticks in inside if len(ticks) > 1 and self._fits(ticks)), max(inside, key=len)[:1]
        )

    def _inside(self, value: float) -> bool:
        """Whether the label does not leave the picture on the right; on the left there is room."""
        return self.position(value) + look.width(look.tick(value), look.TICK_SIZE) / 2 < self.pixels + EDGE

    def _fits(self, ticks: list[float]) -> bool:
        ends = [(self.position(t), look.width(look.tick(t), look.TICK_SIZE) / 2) for t in ticks]
        return all(b[0] - a[0] >= a[1] + b[1] + GAP for a, b in pairwise(ends))


def axis(kind: str, low: float, high: float, pixels: float, unit: float = 1.0) -> Axis:
    """An axis with some width, even for a column with one value; log becomes symlog where it meets zero."""
    if high <= low:
        low, high = (low / 2, low * 2) if kind == "log" and low > 0 else (low - 1, low + 1)
    return Axis("symlog" if kind == "log" and low <= 0 else kind, low, high, pixels, unit)


def linear_choices(low: float, high: float) -> list[list[float]]:
    """Ticks at multiples of 1, 2, 2.5 or 5 times a power of ten; at most six, then fewer."""
    choices = []
    for most in range(6, 0, -1):
        rough = (high - low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9))
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        choices.append([float(f"{k * step:.12g}") for k in range(first, last + 1)])
    return [ticks for ticks in choices if len(ticks) > 1] or [[low, high]]


def log_choices(low: float, high: float, unit: float) -> list[list[float]]:
    """Ticks at 1, 2, 5 times the powers of ten, then at every power, every second, third, ..."""
    top = math.ceil(math.log10(max(abs(low), abs(high))))
    bottom = math.floor(math.log10(low if low > 0 else unit))
    return [
        sorted({t for t in _powers(bottom, top, step, factors) if low <= t <= high})
        for factors, step in [((1, 2, 5), 1), *(((1,), step) for step in range(1, 13))]
    ]


def _powers(bottom: int, top: int, step: int, factors: tuple[int, ...]) -> Iterator[float]:
    """Zero, and each factor times each power of ten, with both signs."""
    yield 0.0
    for power in range(top, bottom - 1, -step):
        for factor in factors:
            yield factor * 10.0**power
            yield -factor * 10.0**power


def vega_axis(places: list[float], **more: Any) -> dict[str, Any]:
    """A Vega-Lite axis with these ticks and our way to write them; only numbers enter the expression."""
    values = json.dumps(places)
    labels = json.dumps([look.tick(t) for t in places])
    return {
        "values": places,
        "tickCount": len(places) + 1,  # otherwise Vega drops some of the values on a short axis
        "labelExpr": f"{labels}[indexof({values}, datum.value)]",
        "title": None,
        **more,
    }
