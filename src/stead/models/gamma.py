"""Gamma regression of a positive number, with a log link.

    y_i | x_i, beta, a ~ Gamma(shape a, mean exp(x_i'beta))

Priors on centred and scaled predictors: `weak`, slopes N(0, 2.5^2), intercept Student-t(3, l, s) with l the median of log y
and s = max(2.5, 1.4826 times their median absolute deviation); `flat`, slopes flat, the same intercept; shape
a ~ Inv-Gamma(.4, .3). A column with bounds has the distribution between them; zeros are a spike of the column.
McCullagh & Nelder (1989), Generalized Linear Models, 2nd ed., chapter 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused, shorten
from stead.glm.gamma import Gamma as GammaFamily
from stead.models.regression import Frame, Regression
from stead.models.response import PlainResponse, Response, bounds_of, require_number, require_plain

if TYPE_CHECKING:
    from stead.glm.standardized import Standardized
    from stead.models.drawing import Fitted
    from stead.tables.schema import Column

NORMAL_MAD = 1.4826


@dataclass(frozen=True)
class Gamma(Regression):
    """`stead.Gamma("Income ~ Race + KidsCount", prior="weak")`."""

    def response_of(self, column: Column) -> PlainResponse:
        """A positive number."""
        require_plain(self.target, "Gamma")
        require_number(column, "Gamma")
        low, high = bounds_of(column)
        return PlainResponse(column, GammaFamily(max(low, 0.0), high), positive=True)

    def center(self, data: Standardized) -> tuple[float, float]:
        """Of log y."""
        location, deviation = data.center_and_deviation(np.log)
        return location, max(2.5, NORMAL_MAD * deviation)

    def draw(
        self, frame: Frame, response: Response, draws: int, rng: np.random.Generator
    ) -> tuple[Fitted, Response]:
        """As every regression, once every value is positive."""
        outside = int(np.count_nonzero(frame.held.values[frame.used] <= 0))
        if outside:
            raise InputRefused(
                "E-DOMAIN",
                f"{shorten(self.target.column)}: {outside:,} values are not above 0; a spike at 0 is modelled apart: spikes = [0] in the schema",
            )
        return super().draw(frame, response, draws, rng)
