"""Whether the terms of a classifier lie in the score space of the synthesis model.

At its maximum a likelihood equates the observed sum of each score with its expectation, so that data drawn from the fitted
model reproduce the confidential mean of every term in the span of the scores, but for their own noise. For y given x with
terms r of its formula R, the intercept among them, that span has

    linear     r y for r in R, and y^2;     logistic   r y for r in R.

What r y expects is r times the mean of y, so that where earlier synthesized columns are in r or R, these products must lie
in the space as well; the mean of a logistic model is no sum of such products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from stead.language.grammar import Factor, parse

if TYPE_CHECKING:
    from stead.language.design import Design
    from stead.models.base import Posterior
    from stead.tables.schema import Schema

Product: TypeAlias = tuple[Factor, ...]
"""Factors in order; a number may be there twice."""


@dataclass(frozen=True)
class _Part:
    """One model of a sequence: the response, the terms it is predicted from, and whether it is linear."""

    response: Factor
    terms: tuple[Product, ...]
    linear: bool


def in_score_space(design: Design, posterior: Posterior | None, schema: Schema) -> bool | None:
    """True or False, or None where it cannot be told: no posterior, a model of another kind, gaps, bounds."""
    if posterior is None:
        return None
    parts: dict[str, _Part] = {}
    for entry in posterior.describe():
        if entry["model"] not in {"Linear", "Logistic"}:
            return None
        formula = parse(entry["formula"])
        response = formula.response
        if response is None or schema[response.column].bounds != (None, None):
            return None
        terms = (((),) if formula.intercept else ()) + formula.terms
        parts[response.column] = _Part(
            response, tuple(_product(term, schema) for term in terms), entry["model"] == "Linear"
        )
    factors = {factor for term in design.formula.terms for factor in term}
    factors |= {factor for part in parts.values() for term in part.terms for factor in term}
    if any(factor.function == "poly" for factor in factors) or set(design.gaps) & set(parts):
        return None
    return all(_inside(_product(term, schema), parts, schema) for term in design.formula.terms)


def _product(factors: Product, schema: Schema) -> Product:
    """In order; indicators of a category are their own squares."""
    coded = {factor for factor in factors if schema[factor.column].coded}
    return tuple(sorted([*coded, *(factor for factor in factors if factor not in coded)]))


def _inside(product: Product, parts: dict[str, _Part], schema: Schema) -> bool:
    """Whether the mean of a product is reproduced."""
    made = [name for name in parts if any(factor.column == name for factor in product)]
    if not made:
        return True
    part = parts[made[-1]]  # the last in the order in which columns are made
    own = [factor for factor in product if factor.column == made[-1]]
    rest = tuple(factor for factor in product if factor.column != made[-1])
    if any(factor != part.response for factor in own):
        return False
    expected = [_product((*rest, *term), schema) for term in part.terms]
    if len(own) == 1 and rest in part.terms:
        earlier = [one for one in expected if any(factor.column in parts for factor in one)]
        return not earlier or (part.linear and all(_inside(one, parts, schema) for one in earlier))
    if len(own) == 2 and not rest and part.linear:
        squares = [_product((*one, *other), schema) for one in part.terms for other in part.terms]
        return all(_inside(square, parts, schema) for square in squares)
    return False
