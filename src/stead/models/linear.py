"""Linear regression of a numeric column, on its own scale or that of a monotone function g.

    g(y_i) | x_i, beta, sigma ~ N(x_i'beta, sigma^2)

`weak` (default) is conjugate. On centred and scaled predictors, with c the median of g(y) and d its median
absolute deviation, frozen at the fit,

    beta_j | sigma ~ N(0, (10 sigma)^2),  alpha | sigma ~ N(c, (10 sigma)^2),  sigma^2 ~ Inv-Gamma(1/2, (d/10)^2 / 2),

so that sigma^2 | y ~ nu_n s_n^2 / chi2(nu_n) and beta | sigma, y ~ N(b_n, sigma^2 L_n^-1) with

    L_n = L_0 + X'WX,  b_n = L_n^-1 (L_0 b_0 + X'Wy),  nu_n = nu_0 + n,
    nu_n s_n^2 = nu_0 s_0^2 + y'Wy + b_0'L_0 b_0 - b_n'L_n b_n

(Gelman, Carlin, Stern, Dunson, Vehtari & Rubin 2013, Bayesian Data Analysis, section 14.8; the prior is worth one
observation; W is the identity, or the survey weights). `flat` is what brms uses by default: slopes flat,
alpha ~ Student-t(3, c, s), sigma ~ Student-t+(3, 0, s) with s = max(2.5, 1.4826 d) (Bürkner 2017); it is drawn from the
posterior under 1/sigma^2 and corrected by independence Metropolis with weights that hardly vary. Bounds that bite, heaps,
rounding that is coarse beside sigma and other priors have no closed form and are drawn like every other regression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from stead.errors import InputRefused
from stead.glm.distributions import Distribution
from stead.glm.priors import ConjugatePrior, NormalInverseGamma, prior_of
from stead.glm.rank import independent_columns
from stead.models.drawing import Fitted, draw_regression, left_out
from stead.models.regression import Frame, Regression
from stead.models.response import NumericResponse, Response, require_number
from stead.sampling import diagnostics
from stead.sampling.proposals import independence_chain, proposals_needed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.gaussian import Gaussian
    from stead.glm.priors import Prior
    from stead.glm.standardized import Constants, Standardized
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

CLOSED_FORM = "independent draws from the closed form"
CORRECTED = "closed form, corrected by independence Metropolis"
NORMAL_MAD = 1.4826
COARSE = 0.3
"""A unit of rounding wider than this many sigma adds more than 1 % to the variance, and becomes part of the likelihood."""


@dataclass(frozen=True)
class Linear(Regression):
    """`stead.Linear("log(Income) ~ log(Expenditure) + Race", prior="weak")`."""

    conjugate: ClassVar[bool] = True

    def response_of(self, column: Column) -> NumericResponse:
        """A number."""
        require_number(column, "Linear")
        return NumericResponse(self.target, column)

    def draw(
        self, frame: Frame, response: Response, draws: int, rng: np.random.Generator
    ) -> tuple[Fitted, Response]:
        """In closed form where there is one, else like every other regression."""
        if not isinstance(response, NumericResponse):
            raise TypeError("a linear regression has a numeric response")
        data = frame.data(NumericResponse(response.factor, response.column))
        constants = data.frozen or data.constants(self.center(data))
        center, deviation = constants.center
        declared = self._declared(center, deviation)
        proposal = conjugate(data, declared, center)
        if response.rounded or (not data.frozen and _in_cells(response, data, proposal.spread)):
            response = response.as_cells()
            data = frame.data(response)
        elif not isinstance(self.prior, (str, ConjugatePrior)) or _bites(response.family, data, proposal):
            pass
        elif self.prior == "flat":
            return _corrected(data, proposal, constants, draws, rng), response
        else:
            coefficients, sigma = proposal.sample(draws, rng)
            checked = diagnostics.independent(CLOSED_FORM, draws)
            notes = left_out(data, proposal.free)
            return Fitted(data.original(coefficients), sigma[:, None], checked, constants, notes), response
        prior = self._prior(data, response.family, declared, center, deviation)
        return draw_regression(data, response.family, prior, constants.center, draws, rng), response

    def center(self, data: Standardized) -> tuple[float, float]:
        """Median and median absolute deviation of g(y)."""
        return data.center_and_deviation()

    def _declared(self, center: float, deviation: float) -> ConjugatePrior | None:
        """The conjugate prior, or None under another."""
        if isinstance(self.prior, ConjugatePrior):
            return self.prior
        return ConjugatePrior(center, 0.1 * deviation) if self.prior == "weak" else None

    def _prior(
        self,
        data: Standardized,
        family: Gaussian,
        declared: ConjugatePrior | None,
        center: float,
        deviation: float,
    ) -> Prior:
        """The same prior, where draws are made like those of every other regression."""
        if declared is not None:
            return NormalInverseGamma(declared, ~data.constant, data.intercept)
        if isinstance(self.prior, ConjugatePrior):
            raise TypeError("a conjugate prior is declared")
        spread = _flat_spread(deviation)
        return prior_of(
            self.prior,
            data,
            family.auxiliary,
            location=center,
            spread=spread,
            slope=10.0 * max(deviation, 1e-12),
        )


@dataclass(frozen=True)
class Conjugate:
    """beta | sigma ~ N(location, sigma^2 (L L')^-1) over the free coefficients, sigma^2 ~ degrees spread^2 / chi2(degrees)."""

    location: Array  # (p,)
    factor: Array  # lower Cholesky factor over the free coefficients
    degrees: float
    spread: float
    free: NDArray[np.bool_]

    def half(self, design: Array) -> Array:
        """L^-1/2 x of some rows of the free columns."""  # (p, rows)
        return np.asarray(solve_triangular(self.factor, design.T, lower=True))

    def sample(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Coefficients (H, p) and sigma (H,)."""
        sigma = self.spread * np.sqrt(self.degrees / rng.chisquare(self.degrees, count))
        coefficients = np.tile(self.location, (count, 1))
        normal = rng.standard_normal((int(self.free.sum()), count))
        if self.free.any():
            coefficients[:, self.free] += (solve_triangular(self.factor.T, normal, lower=False) * sigma).T
        return coefficients, sigma


def conjugate(data: Standardized, prior: ConjugatePrior | None, center: float) -> Conjugate:
    """The posterior under `prior`, or under 1/sigma^2 where there is none."""
    center = prior.center if prior else center
    offset = center if data.intercept else 0.0
    gram, cross, square = _moments(data, offset)
    free = ~data.constant if prior else ~data.constant & independent_columns(gram)
    count = int(free.sum())
    degrees = data.rows + prior.degrees if prior else float(data.rows - count)
    if degrees <= 0:
        raise InputRefused(
            "E-FEW-ROWS",
            f'{data.rows:,} rows are not enough for {count:,} terms under a flat prior; use prior="weak"',
        )
    gram, cross = gram[np.ix_(free, free)], cross[free]
    if prior:
        gram = gram + np.eye(count) / prior.width**2
        square += prior.degrees * prior.spread**2
    factor = cholesky(gram, lower=True)
    half = solve_triangular(factor, cross, lower=True)
    left = max(
        square - float(half @ half), np.finfo(float).eps * square
    )  # rounding may leave less than nothing
    location = np.zeros(len(free))
    location[free] = solve_triangular(factor.T, half, lower=False)
    if data.intercept:
        location[0] += offset
    return Conjugate(location, factor, degrees, float(np.sqrt(left / degrees)), free)


def _moments(data: Standardized, offset: float) -> tuple[Array, Array, float]:
    """X'WX, X'W(y - offset) and the weighted square of y - offset, summed over row blocks."""
    width = len(data.labels)
    gram, cross, square = np.zeros((width, width)), np.zeros(width), 0.0
    for design, response, weight in data.blocks():
        centred = response - offset
        weighed = centred if weight is None else weight * centred
        gram += design.T @ (design if weight is None else design * weight[:, None])
        cross += weighed @ design
        square += float(weighed @ centred)
    return gram, cross, square


def _corrected(
    data: Standardized, proposal: Conjugate, constants: Constants, draws: int, rng: np.random.Generator
) -> Fitted:
    """Draws under the flat prior."""
    center, spread = constants.center[0], _flat_spread(constants.center[1])
    coefficients, sigma = proposal.sample(proposals_needed(draws), rng)
    heavy = Distribution("student_t", (3.0, 0.0, spread))
    log_weight = np.log(sigma) + heavy.log_density(sigma)  # the proposal has 1/sigma
    if data.intercept:
        log_weight += heavy.log_density(coefficients[:, 0] - center)
    index, acceptance = independence_chain(log_weight, draws, rng)
    kept, scale = coefficients[index], sigma[index]
    checked = diagnostics.of_chain(CORRECTED, np.column_stack([kept, scale]), log_weight, acceptance)
    return Fitted(data.original(kept), scale[:, None], checked, constants, left_out(data, proposal.free))


def _flat_spread(deviation: float) -> float:
    return max(2.5, NORMAL_MAD * deviation)


def _bites(family: Gaussian, data: Standardized, proposal: Conjugate) -> bool:
    """Whether the bounds change the likelihood of any row."""
    return family.bounded and any(
        family.reached(design @ proposal.location, proposal.spread) for design, _, _ in data.blocks()
    )


def _in_cells(response: NumericResponse, data: Standardized, sigma: float) -> bool:
    """Whether people heap, or the unit of the column, on the scale that is modelled, is wide beside sigma for a typical value."""
    if response.column.heaps or not response.grid.unit:
        return bool(response.column.heaps)
    typical = float(response.function.inverse(np.array([data.center_and_deviation()[0]]))[0])
    slope = float(response.function.log_slope(np.array([max(abs(typical), 1e-300)]))[0])
    return bool(np.exp(slope) * response.grid.unit > COARSE * sigma)
