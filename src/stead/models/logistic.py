"""Logistic regression of a column with two levels.

    y_i | x_i, beta ~ Bernoulli(1 / (1 + exp(-x_i'beta)))

Priors on centred and scaled predictors: `weak`, slopes N(0, 2.5^2), intercept Student-t(3, 0, 2.5), which keeps
going under separation and rank deficiency (Gelman, Jakulin, Pittau & Su 2008, Annals of Applied Statistics 2);
`flat`, slopes flat, intercept Student-t(3, 0, 2.5), what brms uses by default (Bürkner 2017, Journal of
Statistical Software 80). Draws are exact: see logit_draws.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stead.models.logit_draws import draw_logit, separated
from stead.models.notes import left_out
from stead.models.regression import Fitted, Regression
from stead.models.response import BinaryResponse, binary_response

if TYPE_CHECKING:
    import numpy as np

    from stead.glm.families import Family
    from stead.glm.standardized import Standardized
    from stead.tables.schema import Column


@dataclass(frozen=True)
class Logistic(Regression):
    """`stead.Logistic("Insured ~ log(Income) + Race", prior="weak")`."""

    def response_of(self, column: Column) -> BinaryResponse:
        """A column of two levels."""
        return binary_response(self.target, column, "Logistic")

    def draw(self, data: Standardized, family: Family, draws: int, rng: np.random.Generator) -> Fitted:  # noqa: ARG002 - a Bernoulli has nothing to tell
        """Draws of the coefficients."""
        coefficients, checked, free = draw_logit(data, self.prior, draws, rng)
        notes = left_out(data, free)
        if separated(data, free):
            notes = (
                *notes,
                "the predictors separate the two levels: how large the effects are is decided by the prior",
            )
        return Fitted(coefficients, None, checked, notes)
