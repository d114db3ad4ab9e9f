"""Regression of a column with ordered levels, by proportional odds.

    P(y_i <= k | x_i, beta, c) = 1 / (1 + exp(-(c_k - x_i'beta))),     c_1 < ... < c_(K-1)

The thresholds c take the place of an intercept. Priors on centred and scaled predictors: `weak`, slopes N(0, 2.5^2),
thresholds Student-t(3, 0, 2.5); `flat`, slopes flat, thresholds Student-t(3, 0, 2.5), what brms uses by default.
McCullagh (1980), Journal of the Royal Statistical Society B 42.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stead.errors import UsageError, shorten
from stead.glm.levels import Cumulative
from stead.models.regression import Regression
from stead.models.response import LevelResponse, require_levels

if TYPE_CHECKING:
    from stead.tables.schema import Column


@dataclass(frozen=True)
class Ordered(Regression):
    """`stead.Ordered("Education ~ Age + log(Income)", prior="weak")`."""

    def response_of(self, column: Column) -> LevelResponse:
        """A column of ordered levels; two levels are in order as they are."""
        require_levels(column, "Ordered")
        if column.kind == "categorical":
            raise UsageError(
                "E-RESPONSE",
                f'Ordered: {shorten(column.name)} is categorical, and its levels have no order; declare kind="ordered", or take stead.Multinomial',
            )
        if not self.parsed.intercept:
            raise UsageError(
                "E-FORMULA",
                f"{shorten(self.formula)!r}: thresholds take the place of the intercept; leave out - 1",
            )
        return LevelResponse(column, Cumulative(len(column.levels)))
