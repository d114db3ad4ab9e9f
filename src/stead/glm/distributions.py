"""Prior distributions by the names that Stan and brms use: `normal(0, 2.5)`, `student_t(3, 0, 2.5)`, `flat`.

    normal(location, scale)                  student_t(degrees, location, scale)
    gamma(shape, rate)                       inv_gamma(shape, scale)
    exponential(rate)                        flat

The last three belong to positive parameters; normal and student_t of a positive parameter are the half that is positive.
Densities are up to a constant. They are text because a plan holds them, and text cannot run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import UsageError, nearest, shorten

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ARGUMENTS = {
    "flat": 0,
    "normal": 2,
    "student_t": 3,
    "gamma": 2,
    "inv_gamma": 2,
    "exponential": 1,
}
REAL = ("flat", "normal", "student_t")
"""Those that a coefficient may have."""
_WRITTEN = re.compile(r"^\s*([a-z_]+)\s*(?:\(([^()]*)\))?\s*$")


@dataclass(frozen=True)
class Distribution:
    """A distribution and its numbers."""

    name: str
    numbers: tuple[float, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Distribution:
        """Read `name(number, ...)`; anything else is an error."""
        found = _WRITTEN.match(text) if isinstance(text, str) else None
        if found is None:
            raise UsageError(
                "E-PRIOR", f"{shorten(str(text))!r} is not a distribution; write one as normal(0, 2.5)"
            )
        name, inside = found.group(1), found.group(2) or ""
        if name not in ARGUMENTS:
            raise UsageError(
                "E-PRIOR", f"no distribution is called {shorten(name)}; {nearest(name, ARGUMENTS)}"
            )
        try:
            numbers = tuple(float(part) for part in inside.split(",")) if inside.strip() else ()
        except ValueError:
            numbers = (np.nan,)
        wanted = ARGUMENTS[name]
        positive = numbers if name in {"gamma", "inv_gamma", "exponential"} else numbers[-1:]
        positive = (*positive, *numbers[:1]) if name == "student_t" else positive
        if len(numbers) != wanted or not all(np.isfinite(numbers)) or not all(one > 0 for one in positive):
            raise UsageError(
                "E-PRIOR",
                f"{shorten(text)!r}: {name} takes {wanted} numbers; scales, degrees, shapes and rates are above 0",
            )
        return cls(name, numbers)

    def log_density(self, value: Array) -> Array:
        """Log density, up to a constant."""
        if self.name == "normal":
            location, scale = self.numbers
            return np.asarray(-0.5 * ((value - location) / scale) ** 2)
        if self.name == "student_t":
            degrees, location, scale = self.numbers
            return np.asarray(-0.5 * (degrees + 1.0) * np.log1p(((value - location) / scale) ** 2 / degrees))
        if self.name == "gamma":
            shape, rate = self.numbers
            return np.asarray((shape - 1.0) * np.log(value) - rate * value)
        if self.name == "inv_gamma":
            shape, scale = self.numbers
            return np.asarray(-(shape + 1.0) * np.log(value) - scale / value)
        if self.name == "exponential":
            return np.asarray(-self.numbers[0] * value)
        return np.zeros(np.shape(value))

    def slope(self, value: Array) -> Array:
        """D log density / d value."""
        if self.name == "normal":
            location, scale = self.numbers
            return np.asarray(-(value - location) / scale**2)
        if self.name == "student_t":
            degrees, location, scale = self.numbers
            away = value - location
            return np.asarray(-(degrees + 1.0) * away / (degrees * scale**2 + away**2))
        if self.name == "gamma":
            shape, rate = self.numbers
            return np.asarray((shape - 1.0) / value - rate)
        if self.name == "inv_gamma":
            shape, scale = self.numbers
            return np.asarray(-(shape + 1.0) / value + scale / value**2)
        if self.name == "exponential":
            return np.full(np.shape(value), -self.numbers[0])
        return np.zeros(np.shape(value))

    def __str__(self) -> str:
        inside = ", ".join(f"{number:g}" for number in self.numbers)
        return f"{self.name}({inside})" if inside else self.name
