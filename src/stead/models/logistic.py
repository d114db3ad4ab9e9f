"""Logistic regression of a column with two levels.

    y_i | x_i, beta ~ Bernoulli(1 / (1 + exp(-x_i'beta)))

Priors on centred and scaled predictors: `weak`, slopes N(0, 2.5^2), intercept Student-t(3, 0, 2.5), which keeps
going under separation and rank deficiency (Gelman, Jakulin, Pittau & Su 2008, Annals of Applied Statistics 2);
`flat`, slopes flat, intercept Student-t(3, 0, 2.5), what brms uses by default (Bürkner 2017, Journal of
Statistical Software 80). How draws are made is in sampling/posterior_draws.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stead.glm.binary import Bernoulli
from stead.models.regression import Regression
from stead.models.response import LevelResponse, require_levels

if TYPE_CHECKING:
    from stead.tables.schema import Column


@dataclass(frozen=True)
class Logistic(Regression):
    """`stead.Logistic("Insured ~ log(Income) + Race", prior="weak")`."""

    def response_of(self, column: Column) -> LevelResponse:
        """A column of two levels; the second is what the probability is of."""
        require_levels(column, "Logistic", most=2)
        return LevelResponse(column, Bernoulli())
