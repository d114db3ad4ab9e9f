"""Probit regression of a column with two levels.

    y_i | x_i, beta ~ Bernoulli(Phi(x_i'beta))

Priors on centred and scaled predictors: `weak`, slopes N(0, 1.5^2), intercept Student-t(3, 0, 2.5): as wide as those
of a logistic regression, whose unit is 1.6 to 1.8 times smaller (Amemiya 1981, Journal of Economic Literature 19); `flat`, slopes
flat, intercept Student-t(3, 0, 2.5), what brms uses by default (Bürkner 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stead.glm.binary import ProbitBernoulli
from stead.models.regression import Regression
from stead.models.response import LevelResponse, require_levels

if TYPE_CHECKING:
    from stead.tables.schema import Column


@dataclass(frozen=True)
class Probit(Regression):
    """`stead.Probit("Disabled ~ Age + Sex", prior="weak")`."""

    weak_slope: ClassVar[float] = 1.5

    def response_of(self, column: Column) -> LevelResponse:
        """A column of two levels; the second is what the probability is of."""
        require_levels(column, "Probit", most=2)
        return LevelResponse(column, ProbitBernoulli())
