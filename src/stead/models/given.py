"""A posterior from draws that were made elsewhere, for the models that stead knows.

One row for each draw; columns: intercept, slopes in the order of the formula, scale (sigma, shape, thresholds) last. With
several linear predictors, those of the second level come first, then those of the third, and so on. A formula does not
say which of its predictors are categories: they come from a schema, and without one every predictor is a number, which
for a category of two levels is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, nearest, shorten
from stead.language.design import Design, check_factor
from stead.models.regression_posterior import RegressionPosterior
from stead.sampling.diagnostics import Diagnostics
from stead.tables.schema import Column, Kind, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.models.regression import Regression

GIVEN = "draws given by their user"
KINDS: dict[str, Kind] = {
    "Poisson": "count",
    "NegativeBinomial": "count",
    "Logistic": "binary",
    "Probit": "binary",
}
"""Kind of the response where no schema says it."""
NEEDS_SCHEMA = ("Multinomial", "Ordered")


def posterior_of(model: Regression, draws: Any, schema: Schema | None) -> RegressionPosterior:
    """The posterior, or a refusal that says which columns the draws should have."""
    known = _schema(model) if schema is None else schema
    for name in dict.fromkeys([model.target.column, *model.parsed.predictors]):
        if name not in known:
            raise UsageError(
                "E-COLUMN", f"schema: no column is called {shorten(name)}; {nearest(name, known.names)}"
            )
    for factor in {factor for term in model.parsed.terms for factor in term}:
        check_factor(factor, known[factor.column])
    used = dict.fromkeys([model.target.column, *model.parsed.predictors])
    design = Design(model.parsed, known.only(used))
    response = model.response_of(known[model.target.column])
    family, width = response.family, len(design.labels)
    thresholds = "threshold1" in family.auxiliary and model.parsed.intercept
    effects = family.count * width - (1 if thresholds else 0)
    array = _numbers(draws)
    wanted = effects + len(family.auxiliary)
    if array.ndim != 2 or array.shape[1] != wanted or not len(array):
        shape = " x ".join(str(size) for size in array.shape)
        probe = RegressionPosterior(
            model=model,
            design=design,
            response=response,
            coefficients=np.zeros((1, family.count * width)),
            auxiliary=np.zeros((1, len(family.auxiliary))),
            quality=Diagnostics(GIVEN, 1),
        )
        raise UsageError(
            "E-DRAWS",
            f"draws are {shape}; one row for each draw, {wanted} columns: {', '.join(probe.parameters[:12])}{'' if schema else '; a predictor that is a category needs schema='}",
        )
    if not np.isfinite(array).all():
        raise UsageError(
            "E-DRAWS", f"{int((~np.isfinite(array)).any(axis=1).sum()):,} draws are not finite numbers"
        )
    coefficients, auxiliary = array[:, :effects], array[:, effects:]
    if {"sigma", "shape"} & set(family.auxiliary) and bool((auxiliary[:, 0] <= 0).any()):
        raise UsageError("E-DRAWS", f"{family.auxiliary[0]}, the last column, is above 0 in every draw")
    if thresholds:
        if auxiliary.shape[1] > 1 and bool((np.diff(auxiliary, axis=1) <= 0).any()):
            raise UsageError("E-DRAWS", "thresholds, the last columns, rise from left to right in every draw")
        coefficients = np.column_stack([np.zeros(len(array)), coefficients])
    return RegressionPosterior(
        model=model,
        design=design,
        response=response,
        coefficients=coefficients,
        auxiliary=auxiliary,
        quality=Diagnostics(GIVEN, len(array)),
    )


def _numbers(draws: Any) -> NDArray[np.float64]:
    try:
        return np.array(draws, float)
    except (TypeError, ValueError):
        raise UsageError(
            "E-DRAWS", "draws are numbers, one row for each draw, all rows of one length"
        ) from None


def _schema(model: Regression) -> Schema:
    """Numbers everywhere: right where no predictor is a category."""
    name = type(model).__name__
    if name in NEEDS_SCHEMA:
        raise UsageError(
            "E-SCHEMA",
            f"{name}: the levels of {shorten(model.target.column)} come from a schema; give schema=",
        )
    kind = KINDS.get(name, "continuous")
    columns = [Column(model.target.column, kind, levels=(0, 1) if kind == "binary" else ())]
    columns += [
        Column(other, "continuous") for other in model.parsed.predictors if other != model.target.column
    ]
    return Schema(columns)
