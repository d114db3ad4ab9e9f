"""Multinomial regression of a column with any number of levels, without an order.

    P(y_i = k | x_i, beta) = exp(x_i'beta_k) / sum_l exp(x_i'beta_l),     beta_1 = 0

Priors on centred and scaled predictors, the same for each level but the first: `weak`, slopes N(0, 2.5^2), intercept
Student-t(3, 0, 2.5); `flat`, slopes flat, intercept Student-t(3, 0, 2.5), what brms uses by default. A level that hardly
occurs is kept by the weak prior. Agresti (2013), Categorical Data Analysis, 3rd ed., chapter 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stead.glm.binary import Bernoulli
from stead.glm.levels import Multinomial as MultinomialFamily
from stead.models.regression import Regression
from stead.models.response import LevelResponse, require_levels

if TYPE_CHECKING:
    from stead.tables.schema import Column


@dataclass(frozen=True)
class Multinomial(Regression):
    """`stead.Multinomial("Race ~ UrbanRural + log(Income)", prior="weak")`."""

    def response_of(self, column: Column) -> LevelResponse:
        """A column of levels."""
        require_levels(column, "Multinomial")
        several = len(column.levels) > 2  # two levels are the logistic family
        return LevelResponse(column, MultinomialFamily(len(column.levels)) if several else Bernoulli())
