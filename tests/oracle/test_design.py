"""The design matrix against a plain builder that goes row by row, and against the rank that it must have.

Write a test here when the fast coding of a formula is to be compared with a slow one.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stead.language.design import Design
from stead.language.grammar import Factor, Formula, parse
from stead.tables.records import Records, Values
from stead.tables.schema import Column, Schema

if TYPE_CHECKING:
    from stead.language.grammar import Term

LEVELS = {"a": 2, "b": 3, "c": 4}
NUMBERS = ("x", "z")
FACTORS = [
    *map(Factor, (*LEVELS, *NUMBERS)),
    Factor("x", "poly", 3),
    Factor("z", "asinh"),
    Factor("x", "cbrt"),
]


@st.composite
def tables(draw: st.DrawFn) -> Records:
    rows = draw(st.integers(1, 12))
    columns, held = [], {}
    for name, levels in LEVELS.items():
        columns.append(Column(name, "categorical", levels=tuple(f"l{level}" for level in range(levels))))
        codes = draw(st.lists(st.integers(-1, levels - 1), min_size=rows, max_size=rows))
        held[name] = values(np.maximum(codes, 0).astype(np.int32), codes)
    for name in NUMBERS:
        columns.append(Column(name, "continuous"))
        numbers = draw(st.lists(st.integers(-1, 9), min_size=rows, max_size=rows))
        held[name] = values(np.maximum(numbers, 0) / 4, numbers)
    return Records(Schema(columns), held, rows)


def values(array: np.ndarray, codes: list[int]) -> Values:
    """The array with a gap where the code is -1."""
    missing = np.array([-1 if code < 0 else 0 for code in codes], np.int8)
    return Values(np.where(missing == 0, array, 0).astype(array.dtype), missing)


FORMULAS = st.builds(
    lambda terms, intercept: Formula(
        None, intercept, tuple(sorted(dict.fromkeys(map(tuple, terms)), key=len))
    ),
    st.lists(st.lists(st.sampled_from(FACTORS), min_size=1, max_size=3, unique=True), max_size=4),
    st.booleans(),
)


def text_of(formula: Formula) -> Formula:
    """As the parser gives it: a term once, whatever the order of its factors."""
    return parse(str(formula))


def slow_row(formula: Formula, records: Records, row: int) -> list[float]:
    """One row of the design, by R's rule, term by term."""
    numbers = [1.0] if formula.intercept else []
    for term in formula.terms:
        parts = [slow_factor(formula, factor, term, records, row) for factor in term]
        for several in product(*reversed(parts)):  # the first factor varies fastest
            result = 1.0
            for number in several:
                result *= number
            numbers.append(result)
    gaps = [records[name].missing for name in formula.predictors if name in NUMBERS and records[name].gaps]
    return numbers + [float(missing[row] != 0) for missing in gaps]


def slow_factor(formula: Formula, factor: Factor, term: Term, records: Records, row: int) -> list[float]:
    gone = bool(records[factor.column].missing[row])
    value = records[factor.column].values[row]
    if factor.column in NUMBERS:
        number = float(value)
        if factor.function == "poly":
            return [0.0 if gone else number**power for power in range(1, factor.degree + 1)]
        forward = {"": number, "asinh": np.arcsinh(number), "cbrt": np.cbrt(number)}[factor.function]
        return [0.0 if gone else float(forward)]
    levels = list(range(LEVELS[factor.column])) + ([-1] if records[factor.column].gaps else [])
    indicators = [float((-1 if gone else value) == level) for level in levels]
    return indicators[1:] if by_contrasts(formula, factor, term) else indicators


def by_contrasts(formula: Formula, factor: Factor, term: Term) -> bool:
    """Whether the rest of the term is a term too; without an intercept the first category alone makes up for it."""
    rest = set(term) - {factor}
    if rest:
        return any(set(other) == rest for other in formula.terms)
    firsts = [each for (each, *more) in formula.terms if not more and each.column in LEVELS]
    return formula.intercept or firsts[0] != factor


@given(formula=FORMULAS, records=tables())
@settings(max_examples=400)
def test_the_matrix_is_that_of_the_slow_builder(formula: Formula, records: Records) -> None:
    formula = text_of(formula)
    design = Design.bind(formula, records)
    matrix = design.matrix(records)
    slow = [slow_row(formula, records, row) for row in range(records.rows)]
    assert matrix.shape == (records.rows, len(slow[0]))
    assert np.allclose(matrix, np.array(slow).reshape(matrix.shape), rtol=1e-14, atol=0)
    assert len(design.labels) == len(set(design.labels)) == matrix.shape[1]


SATURATED = [
    *("a", "a - 1", "a + b", "a + b - 1", "a * b", "a * b - 1", "a:b - 1", "a * b * c", "a * b * c - 1"),
    *("(a + b + c)^2", "(a + b + c)^2 - 1", "a + a:b", "a + a:b - 1", "a:b + c - 1", "a * b + b * c"),
]


@pytest.mark.parametrize("text", SATURATED)
@pytest.mark.parametrize("gaps", [False, True])
def test_the_columns_are_independent_and_span_all_indicators(text: str, gaps: bool) -> None:
    """Every combination of levels once: the coding has full column rank, that of all indicators together."""
    first = -1 if gaps else 0
    rows = list(product(*(range(first, levels) for levels in LEVELS.values())))
    columns = [
        Column(name, "categorical", levels=tuple(f"l{level}" for level in range(levels)))
        for name, levels in LEVELS.items()
    ]
    codes = {name: [row[place] for row in rows] for place, name in enumerate(LEVELS)}
    held = {name: values(np.maximum(codes[name], 0).astype(np.int32), codes[name]) for name in LEVELS}
    records = Records(Schema(columns), held, len(rows))
    formula = parse(text)
    matrix = Design.bind(formula, records).matrix(records)
    full = [np.ones((len(rows), 1))] if formula.intercept else []
    for term in formula.terms:
        keys = list(zip(*(codes[factor.column] for factor in term), strict=True))
        full.append(np.array([[key == other for other in sorted(set(keys))] for key in keys], float))
    rank = np.linalg.matrix_rank(np.concatenate(full, axis=1))
    assert np.linalg.matrix_rank(matrix) == rank
    if text != "a:b + c - 1":  # R codes this one with a column too many, and so do we
        assert matrix.shape[1] == rank
