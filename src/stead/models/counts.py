"""Regressions of a count, with a log link.

    Poisson             y_i | x_i, beta       ~ Poisson(mu_i),                    mu_i = exp(x_i'beta)
    NegativeBinomial    y_i | x_i, beta, phi  ~ mean mu_i, variance mu_i + mu_i^2 / phi

Priors on centred and scaled predictors: `weak`, slopes N(0, 2.5^2), intercept Student-t(3, l, s) with l the median of
log(y + .1) and s = max(2.5, 1.4826 times their median absolute deviation); `flat`, slopes flat, the same intercept;
phi ~ Inv-Gamma(.4, .3), what brms uses by default (Bürkner 2017). Without predictors a Poisson model may declare a prior of
its rate, {"rate": "gamma(a, b)"}, which is conjugate:

    rate | y ~ Gamma(a + sum y, b + n).

A column with bounds has the distribution of its family between them.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import UsageError, shorten
from stead.glm.counts import NegativeBinomial as NegativeBinomialFamily
from stead.glm.counts import Poisson as PoissonFamily
from stead.glm.distributions import Distribution
from stead.models.drawing import Fitted
from stead.models.regression import Frame, Regression
from stead.models.response import PlainResponse, Response, bounds_of, require_number, require_plain
from stead.sampling import diagnostics

if TYPE_CHECKING:
    from stead.glm.standardized import Standardized
    from stead.tables.schema import Column

RATE = "rate"
CONJUGATE = "independent draws from the conjugate gamma"
NORMAL_MAD = 1.4826


@dataclass(frozen=True)
class _CountRegression(Regression):
    """What both share."""

    def response_of(self, column: Column) -> PlainResponse:
        """A count, above its spikes."""
        name = type(self).__name__
        require_plain(self.target, name)
        require_number(column, name, ("count",))
        low, high = bounds_of(column)
        return PlainResponse(column, self.family_of(low + len(column.spikes), high))

    @abstractmethod
    def family_of(self, low: float, high: float) -> PoissonFamily:
        """The family between these values."""

    def center(self, data: Standardized) -> tuple[float, float]:
        """Of log(y + .1)."""
        location, deviation = data.center_and_deviation(lambda counts: np.log(counts + 0.1))
        return location, max(2.5, NORMAL_MAD * deviation)


@dataclass(frozen=True)
class Poisson(_CountRegression):
    """`stead.Poisson("KidsCount ~ log(Income) + Race", prior="weak")`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._rate and self.parsed.terms:
            raise UsageError(
                "E-PRIOR",
                f"{shorten(self.formula)!r}: a prior of the rate is for a formula without predictors, y ~ 1",
            )

    def family_of(self, low: float, high: float) -> PoissonFamily:
        """Poisson."""
        return PoissonFamily(low, high)

    def draw(
        self, frame: Frame, response: Response, draws: int, rng: np.random.Generator
    ) -> tuple[Fitted, Response]:
        """From the conjugate gamma where its prior is declared."""
        if not self._rate:
            return super().draw(frame, response, draws, rng)
        prior = Distribution.parse(self._rate)
        family = response.family
        if prior.name != "gamma" or (isinstance(family, PoissonFamily) and family.bounded):
            raise UsageError(
                "E-PRIOR", "a rate has a gamma(shape, rate) prior, for a count without bounds and spikes"
            )
        data = frame.data(response)
        weight = data.weights
        total = float(data.responses.sum() if weight is None else weight @ data.responses)
        shape, inverse = prior.numbers
        rate = rng.standard_gamma(shape + total, draws) / (inverse + data.rows)
        checked = diagnostics.independent(CONJUGATE, draws)
        return Fitted(
            np.log(rate)[:, None], np.zeros((draws, 0)), checked, data.constants((0.0, 1.0))
        ), response

    @property
    def _rate(self) -> str:
        return str(self.prior.get(RATE, "")) if isinstance(self.prior, dict) else ""


@dataclass(frozen=True)
class NegativeBinomial(_CountRegression):
    """`stead.NegativeBinomial("Visits ~ Age + Sex", prior="weak")`."""

    def family_of(self, low: float, high: float) -> PoissonFamily:
        """Negative binomial."""
        return NegativeBinomialFamily(low, high)
