"""Linear regression of a numeric column, on its own scale or that of a monotone function g.

    g(y_i) | x_i, beta, sigma ~ N(x_i'beta, sigma^2)

`weak` (default) is conjugate. On centred and scaled predictors, with c the median of g(y) and d its median
absolute deviation, frozen at the fit,

    beta_j | sigma ~ N(0, (10 sigma)^2),  alpha | sigma ~ N(c, (10 sigma)^2),  sigma^2 ~ Inv-Gamma(1/2, (d/10)^2 / 2),

so that sigma^2 | y ~ nu_n s_n^2 / chi2(nu_n) and beta | sigma, y ~ N(b_n, sigma^2 L_n^-1) with

    L_n = L_0 + X'X,  b_n = L_n^-1 (L_0 b_0 + X'y),  nu_n = nu_0 + n,
    nu_n s_n^2 = nu_0 s_0^2 + y'y + b_0'L_0 b_0 - b_n'L_n b_n

(Gelman, Carlin, Stern, Dunson, Vehtari & Rubin 2013, Bayesian Data Analysis, section 14.8; the prior is worth one
observation). `flat` is what brms uses by default: slopes flat, alpha ~ Student-t(3, c, s), sigma ~ Student-t+(3, 0, s)
with s = max(2.5, 1.4826 d) (Bürkner 2017). It is drawn from the posterior under 1/sigma^2 and corrected by
independence Metropolis with weights that hardly vary; so is a response with bounds that bite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from stead.errors import InputRefused
from stead.glm.families import Gaussian
from stead.glm.priors import student_t_log
from stead.glm.rank import independent_columns
from stead.models.notes import left_out
from stead.models.regression import Fitted, Regression
from stead.models.response import NumericResponse, numeric_response
from stead.sampling import diagnostics
from stead.sampling.proposals import independence_chain, proposals_needed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.families import Family
    from stead.glm.standardized import Standardized
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

CLOSED_FORM = "independent draws from the closed form"
CORRECTED = "closed form, corrected by independence Metropolis"
NORMAL_MAD = 1.4826


@dataclass(frozen=True)
class ConjugatePrior:
    """The normal-inverse-gamma prior with its constants spelled out, on centred and scaled predictors.

    coefficients | sigma ~ N((center, 0, ...), (width sigma)^2), sigma^2 ~ Inv-Gamma(degrees / 2, degrees spread^2 / 2)
    """

    center: float
    spread: float
    width: float = 10.0
    degrees: float = 1.0


@dataclass(frozen=True)
class Linear(Regression):
    """`stead.Linear("log(Income) ~ log(Expenditure) + Race", prior="weak")`."""

    def response_of(self, column: Column) -> NumericResponse:
        """A number."""
        return numeric_response(self.target, column, "Linear")

    def draw(
        self,
        data: Standardized,
        family: Family,
        draws: int,
        rng: np.random.Generator,
    ) -> Fitted:
        """Draws of coefficients and sigma."""
        center, deviation = _center_and_deviation(data)
        prior = ConjugatePrior(center, 0.1 * deviation) if self.prior == "weak" else self.prior
        proposal = _conjugate(data, prior if isinstance(prior, ConjugatePrior) else None, center)
        bounded = isinstance(family, Gaussian) and _bites(family, data, proposal)
        exact = self.prior != "flat" and not bounded
        coefficients, sigma = proposal.sample(draws if exact else proposals_needed(draws), rng)
        notes = left_out(data, proposal.free)
        if exact:
            return Fitted(
                data.original(coefficients), sigma, diagnostics.independent(CLOSED_FORM, draws), notes
            )
        log_weight = np.zeros(len(sigma))
        if self.prior == "flat":
            spread = max(2.5, NORMAL_MAD * deviation)
            log_weight += np.log(sigma) + student_t_log(sigma, 0.0, spread, 3.0)  # the proposal has 1/sigma
            if data.intercept:
                log_weight += student_t_log(coefficients[:, 0], center, spread, 3.0)
        if isinstance(family, Gaussian) and bounded:
            log_weight -= _log_mass(family, data, coefficients, sigma)
        index, acceptance = independence_chain(log_weight, draws, rng)
        kept, scale = coefficients[index], sigma[index]
        checked = diagnostics.of_chain(CORRECTED, np.column_stack([kept, scale]), log_weight, acceptance)
        return Fitted(data.original(kept), scale, checked, notes)


@dataclass(frozen=True)
class _Conjugate:
    """beta | sigma ~ N(location, sigma^2 (L L')^-1) over the free coefficients, sigma^2 ~ degrees spread^2 / chi2(degrees)."""

    location: Array  # (p,)
    factor: Array  # lower Cholesky factor over the free coefficients
    degrees: float
    spread: float
    free: NDArray[np.bool_]

    def sample(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Coefficients (H, p) and sigma (H,)."""
        sigma = self.spread * np.sqrt(self.degrees / rng.chisquare(self.degrees, count))
        coefficients = np.tile(self.location, (count, 1))
        normal = rng.standard_normal((int(self.free.sum()), count))
        if self.free.any():
            coefficients[:, self.free] += (solve_triangular(self.factor.T, normal, lower=False) * sigma).T
        return coefficients, sigma


def _conjugate(data: Standardized, prior: ConjugatePrior | None, center: float) -> _Conjugate:
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
    return _Conjugate(location, factor, degrees, float(np.sqrt(left / degrees)), free)


def _moments(data: Standardized, offset: float) -> tuple[Array, Array, float]:
    """X'X, X'(y - offset) and the square of y - offset, summed over row blocks."""
    width = len(data.labels)
    gram, cross, square = np.zeros((width, width)), np.zeros(width), 0.0
    for design, response in data.blocks():
        centred = response - offset
        gram += design.T @ design
        cross += centred @ design
        square += float(centred @ centred)
    return gram, cross, square


def _center_and_deviation(data: Standardized) -> tuple[float, float]:
    """Median of the response and its median absolute deviation; the SD where half of the values are one."""
    response = np.concatenate([block for _, block in data.raw_blocks()])
    center = float(np.median(response))
    deviation = float(np.median(np.abs(response - center)))
    return center, deviation or float(response.std())


def _bites(family: Gaussian, data: Standardized, proposal: _Conjugate) -> bool:
    """Whether the bounds change the likelihood of any row."""
    return family.bounded and any(
        family.reached(design @ proposal.location, proposal.spread) for design, _ in data.blocks()
    )


def _log_mass(family: Gaussian, data: Standardized, coefficients: Array, sigma: Array) -> Array:
    """sum_i log P(low <= Y_i <= high) under every draw: what a likelihood between bounds divides by."""  # (H,)
    total = np.zeros(len(sigma))
    for design, _ in data.blocks():
        for start in range(0, len(design), 512):
            total += family.log_mass(coefficients @ design[start : start + 512].T, sigma[:, None]).sum(axis=1)
    return total
