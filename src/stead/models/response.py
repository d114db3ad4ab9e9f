"""The response of a regression: from a column to the scale that is modelled, and back to cells.

A numeric response is modelled as g(y). What is drawn is taken back, rounded to the decimals of the
column, and kept inside its bounds and the domain of g: the smallest log-income of a column in whole
units becomes 1, not 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import DiagnosticsFailed, UsageError, shorten
from stead.glm.families import Bernoulli, Family, Gaussian
from stead.language.design import transform_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.language.functions import Function
    from stead.language.grammar import Factor
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

LARGEST_WHOLE = 2.0**62


@dataclass(frozen=True)
class NumericResponse:
    """A number: continuous, count or date, on the scale of a function."""

    factor: Factor
    column: Column

    @property
    def function(self) -> Function:
        """The g of g(y)."""
        return transform_of(self.factor)

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest value of the column, -inf or inf where there is none; a count starts at 0."""
        low, high = self.column.bounds
        if low is None:
            low = 0.0 if self.column.kind == "count" else -np.inf
        return float(low), float(np.inf if high is None else high)

    @property
    def family(self) -> Gaussian:
        """Normal on the transformed scale, between the transformed bounds."""
        low, high = self.bounds
        return Gaussian(self._on_scale(max(low, self.function.lowest)), self._on_scale(high))

    def _on_scale(self, edge: float) -> float:
        """G at a bound; nothing is below the open edge of a domain."""
        if edge <= self.function.lowest and not self.function.closed:
            return -np.inf
        return float(self.function.forward(np.array([edge]))[0]) if np.isfinite(edge) else edge

    def encode(self, values: NDArray[Any], present: NDArray[np.bool_]) -> Array:
        """g(y) where y is present and in the domain; NaN elsewhere, which no caller reads."""
        numbers = values.astype(float)
        usable = present & (
            (numbers >= self.function.lowest) if self.function.closed else (numbers > self.function.lowest)
        )
        encoded = np.full(len(numbers), np.nan)
        encoded[usable] = self.function.forward(numbers[usable])
        return encoded

    def decode(self, modelled: Array) -> NDArray[Any]:
        """Cells of the column: the inverse of g, rounded, inside the bounds."""
        with np.errstate(over="ignore"):
            numbers = self.function.inverse(modelled)
        places = 0 if self.column.whole else self.column.decimals
        low, high = self.bounds
        if places is not None:
            numbers = np.round(numbers, places)
            step = 10.0**-places
            low = np.ceil(round(low / step, 6)) * step if np.isfinite(low) else low
            if np.isfinite(self.function.lowest) and low <= self.function.lowest:
                low = self.function.lowest + (0.0 if self.function.closed else step)
        if np.isfinite(low) or np.isfinite(high):
            numbers = np.clip(numbers, low, high)
        lost = int(np.count_nonzero(~np.isfinite(numbers)))
        if self.column.whole:
            lost += int(np.count_nonzero(np.abs(numbers) > LARGEST_WHOLE))
        if lost:
            raise DiagnosticsFailed(
                "E-OVERFLOW",
                f"{shorten(self.column.name)}: {lost:,} drawn values are too large for a number; declare bounds for the column",
            )
        return numbers.astype(np.int64) if self.column.whole else numbers

    def log_jacobian(self, values: NDArray[Any], usable: NDArray[np.bool_]) -> Array:
        """Log |g'(y)|, and -inf where y is outside the domain of g."""
        slope = np.full(len(values), -np.inf)
        slope[usable] = self.function.log_slope(values[usable].astype(float))
        return slope


@dataclass(frozen=True)
class BinaryResponse:
    """A column of two levels; the second is what the probability is of."""

    factor: Factor
    column: Column

    @property
    def family(self) -> Family:
        """Bernoulli with a logistic link."""
        return Bernoulli()

    def encode(self, values: NDArray[Any], present: NDArray[np.bool_]) -> Array:
        """0 for the first level, 1 for the second; NaN where missing, which no caller reads."""
        return np.where(present, values.astype(float), np.nan)

    def decode(self, modelled: Array) -> NDArray[Any]:
        """Codes."""
        return modelled.astype(np.int32)

    def log_jacobian(self, values: NDArray[Any], usable: NDArray[np.bool_]) -> Array:  # noqa: ARG002 - a discrete response has none
        """0: a probability needs no Jacobian."""
        return np.zeros(len(values))


def numeric_response(factor: Factor, column: Column, model: str) -> NumericResponse:
    """Refuse a response that is not a number."""
    _require_kept(column)
    if column.coded:
        hint = (
            "stead.Logistic is for two levels"
            if len(column.levels) == 2
            else "its model needs a column of numbers"
        )
        raise UsageError(
            "E-RESPONSE", f"{model}: {shorten(column.name)} is {column.kind}, not a number; {hint}"
        )
    return NumericResponse(factor, column)


def binary_response(factor: Factor, column: Column, model: str) -> BinaryResponse:
    """Refuse a response that does not have two levels."""
    _require_kept(column)
    if not column.coded or len(column.levels) != 2:
        levels = f"{len(column.levels)} levels" if column.coded else f"{column.kind} values"
        raise UsageError(
            "E-RESPONSE",
            f"{model}: {shorten(column.name)} has {levels}, and the model is for a column of two; list a column of 1 and 2 in categorical=",
        )
    return BinaryResponse(factor, column)


def _require_kept(column: Column) -> None:
    if column.role != "keep":
        raise UsageError(
            "E-ROLE",
            f"{shorten(column.name)} has the role {column.role}, and such a column is never synthesized",
        )
