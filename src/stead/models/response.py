"""The response of a regression: from the cells of a column to what its family models, and back.

A numeric response is modelled as g(y). What is drawn is taken back, rounded to the decimals of the column, and kept
inside its bounds and the domain of g: the smallest log-income of a column in whole units becomes 1, not 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from stead.errors import DiagnosticsFailed, UsageError, shorten
from stead.glm.gaussian import Gaussian
from stead.glm.rounded import Rounded
from stead.language.design import transform_of
from stead.models.rounding import Grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.families import Family
    from stead.language.functions import Function
    from stead.language.grammar import Factor
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

LARGEST_WHOLE = 2.0**62


class Response(Protocol):
    """How a column is modelled."""

    @property
    def column(self) -> Column:
        """The column."""
        ...

    @property
    def family(self) -> Family:
        """The distribution of what `encode` gives."""
        ...

    def encode(self, values: NDArray[Any], present: NDArray[np.bool_]) -> Array:
        """What is modelled: (n,), or (n, k) for a family that wants several numbers a row; NaN where there is nothing to model."""
        ...

    def decode(self, modelled: Array, auxiliary: Array, rng: np.random.Generator) -> NDArray[Any]:
        """Cells of the column, from what the family drew."""
        ...

    def log_jacobian(self, values: NDArray[Any], usable: NDArray[np.bool_]) -> Array:
        """What turns the density of what is modelled into that of a cell; -inf where a cell is impossible."""
        ...


@dataclass(frozen=True)
class NumericResponse:
    """A number on the scale of a function g, normal there: continuous, count or date.

    Where `rounded`, a cell has the probability of all that is rounded to it, and heaps are drawn; else it has a density.
    """

    factor: Factor
    column: Column
    rounded: bool = False

    @property
    def function(self) -> Function:
        """The g of g(y)."""
        return transform_of(self.factor)

    @property
    def grid(self) -> Grid:
        """The values that a cell can have."""
        return Grid.of(self.column, self.function.lowest, closed=self.function.closed)

    @property
    def family(self) -> Gaussian:
        """Normal on the transformed scale, between the transformed bounds."""
        low, high = bounds_of(self.column)
        edges = self._on_scale(max(low, self.function.lowest)), self._on_scale(high)
        return Rounded(*edges, units=len(self.grid.units)) if self.rounded else Gaussian(*edges)

    def as_cells(self) -> NumericResponse:
        """The same with the probability of a cell instead of a density."""
        return replace(self, rounded=True)

    def encode(self, values: NDArray[Any], present: NDArray[np.bool_]) -> Array:
        """g(y), or g at both ends of all that is rounded to y; NaN where y is missing or outside the domain."""
        numbers = values.astype(float)
        function = self.function
        usable = present & ((numbers >= function.lowest) if function.closed else (numbers > function.lowest))
        if self.rounded:
            ends = self.grid.cells(np.where(usable, numbers, self.grid.inside))
            held = np.clip(self._on_scale_all(ends), self.family.low, self.family.high)
            return np.where(usable[:, None], held, np.nan)
        encoded = np.full(len(numbers), np.nan)
        encoded[usable] = function.forward(numbers[usable])
        return encoded

    def decode(self, modelled: Array, auxiliary: Array, rng: np.random.Generator) -> NDArray[Any]:
        """Cells of the column: the inverse of g, rounded, inside the bounds."""
        with np.errstate(over="ignore"):
            numbers = self.function.inverse(modelled)
        numbers = self.grid.nearest(numbers)
        if self.rounded:
            numbers = self.grid.heaped(numbers, auxiliary[1:], rng)
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
        """Log |g'(y)|, or 0 for the probability of a cell; -inf where y is outside the domain of g."""
        slope = np.full(len(values), -np.inf)
        slope[usable] = 0.0 if self.rounded else self.function.log_slope(values[usable].astype(float))
        return slope

    def _on_scale(self, edge: float) -> float:
        """G at a bound; nothing is below the open edge of a domain."""
        return float(self._on_scale_all(np.array([edge]))[0])

    def _on_scale_all(self, edges: Array) -> Array:
        function = self.function
        below = (edges < function.lowest) | ((edges == function.lowest) & (not function.closed))
        fit = np.isfinite(edges) & ~below
        scaled = np.where(below, -np.inf, edges)
        scaled[fit] = function.forward(edges[fit])
        return scaled


@dataclass(frozen=True)
class PlainResponse:
    """A number on its own scale, between bounds that its family knows."""

    column: Column
    family: Family
    positive: bool = False

    def encode(self, values: NDArray[Any], present: NDArray[np.bool_]) -> Array:
        """The number; NaN where it is missing or cannot be."""
        numbers = values.astype(float)
        usable = present & ((numbers > 0) if self.positive else (numbers >= 0))
        return np.where(usable, numbers, np.nan)

    def decode(self, modelled: Array, auxiliary: Array, rng: np.random.Generator) -> NDArray[Any]:
        """Rounded to the decimals of the column, inside the bounds."""
        numbers = Grid.of(self.column, 0.0 if self.positive else -np.inf).nearest(modelled)
        if self.column.whole and bool((np.abs(numbers) > LARGEST_WHOLE).any()):
            raise DiagnosticsFailed(
                "E-OVERFLOW",
                f"{shorten(self.column.name)}: drawn values are too large for a number; declare bounds for the column",
            )
        return numbers.astype(np.int64) if self.column.whole else numbers

    def log_jacobian(self, values: NDArray[Any], usable: NDArray[np.bool_]) -> Array:
        """0 where the number can be."""
        return np.where(usable, 0.0, -np.inf)


@dataclass(frozen=True)
class LevelResponse:
    """A column of levels; what is modelled is the code, from 0."""

    column: Column
    family: Family

    def encode(self, values: NDArray[Any], present: NDArray[np.bool_]) -> Array:
        """The code; NaN where missing."""
        return np.where(present, values.astype(float), np.nan)

    def decode(self, modelled: Array, auxiliary: Array, rng: np.random.Generator) -> NDArray[Any]:
        """Codes."""
        return modelled.astype(np.int32)

    def log_jacobian(self, values: NDArray[Any], usable: NDArray[np.bool_]) -> Array:
        """0: a probability needs no Jacobian."""
        return np.zeros(len(values))


def bounds_of(column: Column) -> tuple[float, float]:
    """Lowest and highest value of a column, -inf or inf where there is none; a count starts at 0."""
    low, high = column.bounds
    if low is None:
        low = 0.0 if column.kind == "count" else -np.inf
    return float(low), float(np.inf if high is None else high)


def require_number(
    column: Column, model: str, kinds: tuple[str, ...] = ("continuous", "count", "date")
) -> None:
    """Refuse a response that is not a number, or not one of these kinds."""
    require_kept(column)
    if column.coded:
        hint = (
            "stead.Logistic is for two levels"
            if len(column.levels) == 2
            else "stead.Multinomial is for levels"
        )
        raise UsageError(
            "E-RESPONSE", f"{model}: {shorten(column.name)} is {column.kind}, not a number; {hint}"
        )
    if column.kind not in kinds:
        raise UsageError(
            "E-RESPONSE",
            f"{model}: {shorten(column.name)} is {column.kind}, and the model is for {' or '.join(kinds)} columns",
        )


def require_levels(column: Column, model: str, fewest: int = 2, most: int | None = None) -> None:
    """Refuse a response that has no levels, or not as many as the model is for."""
    require_kept(column)
    count = len(column.levels)
    if not column.coded or count < fewest or (most is not None and count > most):
        levels = f"{count} levels" if column.coded else f"{column.kind} values"
        wanted = "two" if most == 2 else f"at least {fewest} levels"
        hint = "; stead.Multinomial is for more" if most == 2 and count > 2 else ""
        raise UsageError(
            "E-RESPONSE",
            f"{model}: {shorten(column.name)} has {levels}, and the model is for a column of {wanted}{hint}; categorical= makes levels of numbers",
        )


def require_plain(factor: Factor, model: str) -> None:
    """Refuse a function of the response where the model has its own scale."""
    if factor.function:
        raise UsageError(
            "E-RESPONSE",
            f"{model}: {factor} is transformed, and the model is for the column as it is; write {shorten(factor.column)} ~ ...",
        )


def require_kept(column: Column) -> None:
    """Refuse a column that is never synthesized."""
    if column.role != "keep":
        raise UsageError(
            "E-ROLE",
            f"{shorten(column.name)} has the role {column.role}, and such a column is never synthesized",
        )
