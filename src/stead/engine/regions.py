"""What counts as a match: columns that must agree, and columns that must be near.

Value z of a synthetic row is near value y of a confidential one when |z - y| <= r, with r = max(at_least, share |y|), or,
for several columns at once, when sum_k ((z_k - y_k) / s_k)^2 <= r^2 (a ball, s_k the standard deviation of the confidential
column). The bound belongs to the region (`closed`), and numbers that are decimal on paper are not decimal in binary: 0.3 - 0.2 is
not 0.1. A bound is therefore met with a relative tolerance of 1e-9 of the radius, and of four units in the last place of
the values that were subtracted. With closed=False what is that near to the bound is outside.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from stead.errors import UsageError, shorten

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TOLERANCE, LAST_PLACES = 1e-9, 2.0**-50
WRITTEN = re.compile(r"\s*([0-9.eE+-]+)\s*(%?)\s*(?:,?\s*at least\s+([0-9.eE+-]+))?\s*")


@dataclass(frozen=True)
class Radius:
    """How far from a value is still near: `at_least`, or a share of its size where that is more.

    Radius(500) is 500 everywhere; Radius(share=0.2) a fifth of each value, and zero for a value of zero, which then matches
    itself alone; Radius(100, share=0.2) a fifth, but never less than 100.
    """

    at_least: float = 0.0
    share: float = 0.0

    def __post_init__(self) -> None:
        for number in (self.at_least, self.share):
            if not isinstance(number, (int, float)) or not math.isfinite(number) or number < 0:
                raise UsageError("E-RADIUS", "a radius is a finite number from 0 on")

    @classmethod
    def of(cls, written: Radius | float | str) -> Radius:
        """The radius that a user means: 500, "500", "20%" or "20%, at least 100"."""
        if isinstance(written, Radius):
            return written
        if not isinstance(written, str):
            return cls(written)
        found = WRITTEN.fullmatch(written)
        try:
            number, least = float(found[1]) if found else math.nan, float(found[3] or 0) if found else 0.0
        except ValueError:
            number = least = math.nan
        if found and found[2]:
            return cls(least, number / 100)
        if found and found[3] is None and math.isfinite(number):
            return cls(number)
        raise UsageError(
            "E-RADIUS", f'{shorten(written)} is no radius; write 500, "20%" or "20%, at least 100"'
        )

    def times(self, scale: float) -> Radius:
        """A radius so many times as large."""
        return Radius(self.at_least * scale, self.share * scale)

    def around(self, values: Floats, *, closed: bool) -> tuple[Floats, Floats]:
        """The lowest and the highest value that is near each of these."""
        size = np.abs(values)
        reach = np.maximum(self.at_least, self.share * size)
        slack = TOLERANCE * reach + LAST_PLACES * (size + reach)
        reach = reach + slack if closed else reach - slack
        return values - reach, values + reach

    def __str__(self) -> str:
        if not self.share:
            return f"{self.at_least:g}"
        return f"{100 * self.share:g}%" + (f", at least {self.at_least:g}" if self.at_least else "")


@dataclass(frozen=True)
class Ball:
    """One radius for several columns: the Euclidean distance of their values, each divided by its unit.

    Ball({"Income", "Expenditure"}, 0.1) takes the standard deviation of the confidential column as the unit; a mapping such
    as Ball({"Income": 1000, "Expenditure": 500}, 1) names units of its own.
    """

    columns: Iterable[str] | Mapping[str, float | None]
    radius: float
    units: Mapping[str, float | None] = field(init=False)

    def __post_init__(self) -> None:
        named = (self.columns,) if isinstance(self.columns, str) else self.columns
        units = dict(named) if isinstance(named, Mapping) else dict.fromkeys(sorted(named))
        object.__setattr__(self, "units", units)
        object.__setattr__(self, "radius", Radius.of(self.radius).at_least)
        if not units or not all(
            unit is None or (isinstance(unit, (int, float)) and 0 < unit < math.inf)
            for unit in units.values()
        ):
            raise UsageError("E-RADIUS", "a ball has at least one column, and units are positive numbers")

    def unit(self, name: str, values: Floats) -> float:
        """The unit of a column: as declared, or the standard deviation of its values."""
        unit = self.units[name]
        if unit is None:
            unit = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        if not unit > 0:
            raise UsageError(
                "E-RADIUS",
                f"column {shorten(name)} does not vary, so that no distance can be measured in its units; leave it out of the ball",
            )
        return unit

    def limit(self, size: Floats, *, closed: bool) -> Floats:
        """The highest squared distance that is near, for points whose coordinates have these absolute sums."""
        slack = TOLERANCE * self.radius + LAST_PLACES * (size + self.radius)
        reach = self.radius + slack if closed else self.radius - slack
        return np.where(reach < 0, -1.0, reach * reach)

    def __str__(self) -> str:
        return f"ball of {self.radius:g} over {', '.join(self.units)}"


Radii: TypeAlias = "Mapping[str, Radius | float | str] | Ball"


@dataclass(frozen=True)
class Keys:
    """The columns of a match: which must agree and which must be near, kept ones apart from synthesized ones.

    Kept columns are the same in row i of every file, so that they need to be looked at once. A column that is near has a radius,
    or is one of a ball, whose units are numbers here.
    """

    kept: tuple[str, ...]
    made: tuple[str, ...]
    radius: Mapping[str, Radius]
    ball: Ball | None = None
    closed: bool = True

    def near(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Which of some columns need not be equal."""
        ball = () if self.ball is None else tuple(self.ball.units)
        return tuple(name for name in names if name in self.radius or name in ball)


@dataclass(frozen=True)
class Regions:
    """What is near each confidential row: a box, and a ball within it where `scale` is positive.

    `low`, `high` and `centre` are (d, n), `limit` (n,), `scale` (d,).
    """

    low: Floats
    high: Floats
    centre: Floats
    limit: Floats
    scale: Floats

    @classmethod
    def around(cls, values: Floats, names: tuple[str, ...], keys: Keys) -> Regions:
        """The regions of rows with these coordinates, (d, n), NaN where missing; these are set to zero.

        What is missing is near whatever is missing as well, which its digit says, and has no bounds.
        """
        missing = np.isnan(values)
        values[missing] = 0.0
        low, high, scale = np.empty_like(values), np.empty_like(values), np.zeros(len(names))
        limit = np.full(values.shape[1] if len(names) else 0, np.inf)
        ball = keys.ball
        if ball is not None and (rounded := [k for k, name in enumerate(names) if name in ball.units]):
            for k in rounded:
                scale[k] = 1.0 / ball.unit(names[k], values[k][~missing[k]])
            size = (np.abs(values[rounded]) * scale[rounded, None]).sum(axis=0)
            limit = ball.limit(size, closed=keys.closed)
            for k in rounded:  # the box only has to hold the ball
                reach = np.sqrt(np.maximum(limit, 0.0)) / scale[k]
                reach += TOLERANCE * reach + LAST_PLACES * (np.abs(values[k]) + reach)
                low[k], high[k] = values[k] - reach, values[k] + reach
        for k, name in enumerate(names):
            if name in keys.radius:
                low[k], high[k] = keys.radius[name].around(values[k], closed=keys.closed)
        low[missing], high[missing] = -np.inf, np.inf
        return cls(low, high, values, limit, scale)

    def hold(self, points: Floats) -> NDArray[np.bool_]:
        """Whether the point of each row, (d, n), is in its region."""
        inside = np.ones(points.shape[1], np.bool_)
        for k in range(len(points)):
            inside &= (self.low[k] <= points[k]) & (points[k] <= self.high[k])
        if self.scale.any():
            away = self.scale[:, None] * (points - self.centre)
            inside &= (away * away).sum(axis=0) <= self.limit
        return inside

    def along(self, coordinates: slice) -> Regions:
        """The regions along some of the coordinates."""
        return Regions(
            self.low[coordinates],
            self.high[coordinates],
            self.centre[coordinates],
            self.limit if self.scale[coordinates].any() else np.full_like(self.limit, np.inf),
            self.scale[coordinates],
        )
