"""From a formula and a schema to the columns of a design matrix, frozen at the fit, built block by block.

Coding follows R: a category in a term is coded by contrasts with its first level where the rest of the
term is in the formula too (the intercept being the empty term), else by one indicator for each level.
Levels come from the schema, so an unseen level cannot slip into the reference row. A predictor that has
gaps in the confidential file gets a level of its own, or, for a number, 0 beside an indicator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import InputRefused, UsageError, shorten
from stead.language.functions import FUNCTIONS, IDENTITY
from stead.language.grammar import Factor, Formula, parse
from stead.randomness import row_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stead.language.functions import Function
    from stead.language.grammar import Term
    from stead.tables.records import Records
    from stead.tables.schema import Column, Schema

MISSING = "missing"


@dataclass(frozen=True)
class Design:
    """A formula bound to a schema. `gaps` are the predictors that had missing cells at the fit."""

    formula: Formula
    schema: Schema
    gaps: tuple[str, ...] = ()

    @classmethod
    def bind(cls, formula: str | Formula, records: Records) -> Design:
        """Bind a formula to records: names must exist, and functions must suit their columns."""
        parsed = parse(formula) if isinstance(formula, str) else formula
        used = dict.fromkeys(([parsed.response.column] if parsed.response else []) + list(parsed.predictors))
        for name in used:
            _ = records[name]  # refuses an unknown name and one that is left behind
        design = cls(
            parsed, records.schema.only(used), tuple(name for name in parsed.predictors if records[name].gaps)
        )
        for factor in {factor for term in parsed.terms for factor in term} | (
            {parsed.response} if parsed.response else set()
        ):
            check_factor(factor, records.schema[factor.column])
            if factor.function in FUNCTIONS:
                apart = records.schema[factor.column].spikes if factor == parsed.response else ()
                require_domain(factor, records, apart)
        return design

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the matrix columns."""
        labels = ["Intercept"] if self.formula.intercept else []
        for term in self.formula.terms:
            parts = [self._factor_labels(factor, term) for factor in term]
            labels += _crossed_labels(parts)
        return (*labels, *(f"{MISSING}({name})" for name in self._numeric_gaps))

    @property
    def sources(self) -> tuple[str, ...]:
        """The term that each matrix column comes from: a label without its level, which is a value of the file."""
        sources = ["Intercept"] if self.formula.intercept else []
        for term in self.formula.terms:
            columns = math.prod(len(self._factor_labels(factor, term)) for factor in term)
            sources += [":".join(map(str, term))] * columns
        return (*sources, *(f"{MISSING}({name})" for name in self._numeric_gaps))

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """Which matrix columns are 0 or 1 by construction: levels, products of levels, gaps."""
        marks: list[bool] = [False] if self.formula.intercept else []
        for term in self.formula.terms:
            columns = math.prod(len(self._factor_labels(factor, term)) for factor in term)
            marks += [all(self.schema[factor.column].coded for factor in term)] * columns
        return np.array([*marks, *(True for _ in self._numeric_gaps)], bool)

    def matrix(self, records: Records, rows: slice = slice(None)) -> NDArray[np.float64]:
        """The design of some rows."""  # (rows, p)
        block = records.take(rows) if rows != slice(None) else records
        parts = [np.ones((block.rows, 1))] if self.formula.intercept else []
        built: dict[tuple[Factor, bool], NDArray[np.float64]] = {}  # a factor is in many terms
        for term in self.formula.terms:
            keys = [(factor, self._contrasts(factor, term)) for factor in term]
            for key in keys:
                if key not in built:
                    built[key] = self._factor_columns(*key, block)
            parts.append(_crossed_columns([built[key] for key in keys]))
        parts += [(block[name].missing != 0)[:, None].astype(float) for name in self._numeric_gaps]
        return np.concatenate(parts, axis=1) if parts else np.zeros((block.rows, 0))

    def blocks(self, records: Records) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """The design of each row block in turn, so that memory does not grow with the rows."""
        for rows in row_blocks(records.rows):
            yield rows, self.matrix(records, rows)

    @property
    def _numeric_gaps(self) -> tuple[str, ...]:
        return tuple(name for name in self.gaps if not self.schema[name].coded)

    def _contrasts(self, factor: Factor, term: Term) -> bool:
        rest = frozenset(other for other in term if other != factor)
        if not rest:
            return self.formula.intercept or self._first_category() != factor
        return any(frozenset(other) == rest for other in self.formula.terms)

    def _first_category(self) -> Factor | None:
        """Without an intercept the first category of the formula is coded in full, and it alone."""
        return next(
            (term[0] for term in self.formula.terms if len(term) == 1 and self.schema[term[0].column].coded),
            None,
        )

    def _factor_labels(self, factor: Factor, term: Term) -> list[str]:
        column = self.schema[factor.column]
        if not column.coded:
            return (
                [str(factor)]
                if factor.function != "poly"
                else [f"{factor}{power}" for power in range(1, factor.degree + 1)]
            )
        levels = [str(level) for level in column.levels] + ([MISSING] if factor.column in self.gaps else [])
        return [f"{factor}[{level}]" for level in levels[1 if self._contrasts(factor, term) else 0 :]]

    def _factor_columns(self, factor: Factor, contrasts: bool, block: Records) -> NDArray[np.float64]:
        column, held = self.schema[factor.column], block[factor.column]
        extra = factor.column in self.gaps
        if held.gaps and not extra:
            raise InputRefused(
                "E-GAPS",
                f"column {shorten(column.name)}: {held.gaps:,} cells are missing, and it had none when the model was fitted",
            )
        if not column.coded:
            return _numeric_columns(factor, held.values, held.present)
        codes = np.where(held.present, held.values, len(column.levels))
        first = 1 if contrasts else 0
        indicators: NDArray[np.float64] = (
            codes[:, None] == np.arange(first, len(column.levels) + extra)
        ).astype(float)
        return indicators


def check_factor(factor: Factor, column: Column) -> None:
    """Refuse a function of a column that is not a number."""
    if factor.function and column.coded:
        raise UsageError(
            "E-FORMULA",
            f"{factor}: {shorten(column.name)} is {column.kind}, and {factor.function}() is for numbers",
        )


def require_domain(factor: Factor, records: Records, apart: tuple[float, ...] = ()) -> None:
    """Refuse a function where some values lie outside its domain, with their count; those that are modelled apart may."""
    held, function = records[factor.column], FUNCTIONS[factor.function]
    present = held.values[held.present]
    outside = function.outside(present[~np.isin(present, apart)] if apart else present)
    if outside:
        bound = f"{'below' if function.closed else 'at or below'} {function.lowest:g}"
        others = "asinh() and cbrt() take every number" + (
            ", log1p() takes 0" if factor.function == "log" else ""
        )
        raise InputRefused(
            "E-DOMAIN", f"{factor}: {outside:,} values of {shorten(factor.column)} are {bound}; {others}"
        )


def transform_of(factor: Factor) -> Function:
    """The function of a response."""
    return FUNCTIONS[factor.function] if factor.function else IDENTITY


def _numeric_columns(factor: Factor, values: NDArray[Any], present: NDArray[np.bool_]) -> NDArray[np.float64]:
    numbers = values.astype(float)
    if factor.function == "poly":
        raised: NDArray[np.float64] = numbers[:, None] ** np.arange(1, factor.degree + 1)
        return np.where(present[:, None], raised, 0.0)
    if not factor.function:
        return np.where(present, numbers, 0.0)[:, None]
    function = FUNCTIONS[factor.function]
    safe = np.where(present, numbers, 1.0)
    outside = function.outside(safe)
    if outside:
        raise InputRefused(
            "E-DOMAIN", f"{factor}: {outside:,} values are outside the domain of {factor.function}()"
        )
    return np.where(present, function.forward(safe), 0.0)[:, None]


def _crossed_columns(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    product = parts[0]
    for part in parts[1:]:  # the first factor varies fastest, as in R
        product = (part[:, :, None] * product[:, None, :]).reshape(len(product), -1)
    return product


def _crossed_labels(parts: list[list[str]]) -> list[str]:
    labels = parts[0]
    for part in parts[1:]:
        labels = [f"{left}:{right}" for right in part for left in labels]
    return labels
