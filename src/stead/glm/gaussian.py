"""The normal family, restricted to an interval where the column has bounds.

    y | eta, sigma ~ N(eta, sigma^2) given low <= y <= high,
    log p = -z^2/2 - log sigma - log(Phi(b) - Phi(a)) + const,  z = (y - eta)/sigma, a = (low - eta)/sigma, b = (high - eta)/sigma.

With M = Phi(b) - Phi(a), r_a = phi(a)/M, r_b = phi(b)/M the mass has d log M / d eta = (r_a - r_b)/sigma and
d log M / d log sigma = a r_a - b r_b. Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, section 13.10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from stead.glm.families import Family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LOG_2_PI = float(np.log(2.0 * np.pi))
EDGE = 1e-9
"""A rounded value may lie this far beyond a bound."""
FAR = 9.0
"""Standard deviations beyond which a bound cuts off less than 1e-18 of a normal distribution."""


@dataclass(frozen=True)
class Gaussian(Family):
    """The normal family on the transformed scale of the response, with optional bounds there."""

    low: float = -np.inf
    high: float = np.inf

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """The standard deviation."""
        return ("sigma",)

    @property
    def bounded(self) -> bool:
        """Whether draws are held between bounds."""
        return bool(np.isfinite(self.low) or np.isfinite(self.high))

    def log_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Log N(y; eta, sigma^2) - log P(low <= Y <= high)."""
        sigma = auxiliary[:, :1]
        standard = (response - predictor) / sigma  # (H, n)
        density: Array = -0.5 * standard**2 - np.log(sigma) - 0.5 * LOG_2_PI
        if self.bounded:
            density -= self.log_mass(predictor, sigma)
            density = np.where((response < self.low - EDGE) | (response > self.high + EDGE), -np.inf, density)
        return density

    def score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """(y - eta) / sigma^2 - (r_a - r_b) / sigma."""
        sigma = auxiliary[:, :1]
        plain: Array = (response - predictor) / sigma**2
        if self.bounded:
            _, _, at_low, at_high = self.edges(predictor, sigma)
            plain = plain - (at_low - at_high) / sigma
        return plain

    def curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """(1 + a r_a - b r_b - (r_a - r_b)^2) / sigma^2."""
        sigma = float(auxiliary[0])
        result = np.full(len(predictor), 1.0)
        if self.bounded:
            low, high, at_low, at_high = self.edges(predictor, sigma)
            result += product(low, at_low) - product(high, at_high) - (at_low - at_high) ** 2
        return np.asarray(np.maximum(result, 0.0) / sigma**2)

    def auxiliary_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """(z^2 - 1 - (a r_a - b r_b)) / sigma."""
        sigma = auxiliary[:, :1]
        slope = ((response - predictor) / sigma) ** 2 - 1.0
        if self.bounded:
            low, high, at_low, at_high = self.edges(predictor, sigma)
            slope -= product(low, at_low) - product(high, at_high)
        return np.asarray(slope / sigma)[:, :, None]

    def start(self, response: Array) -> tuple[Array, Array]:
        """Mean and standard deviation."""
        return np.array([response.mean()]), np.log([max(response.std(), 1e-12)])

    def log_mass(self, predictor: Array, sigma: Array | float) -> Array:
        """Log P(low <= Y <= high | eta, sigma)."""
        return log_between((self.low - predictor) / sigma, (self.high - predictor) / sigma)

    def sample(self, predictor: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """Eta + sigma z; between bounds, the inverse of the distribution function, in the nearer tail."""
        sigma = float(auxiliary[0])
        if not self.bounded:
            return predictor + sigma * rng.standard_normal(len(predictor))
        below, above = (self.low - predictor) / sigma, (self.high - predictor) / sigma
        flip = below + above > 0
        left, right = ndtr(np.where(flip, -above, below)), ndtr(np.where(flip, -below, above))
        standard = ndtri(left + rng.random(len(predictor)) * (right - left))
        drawn = predictor + sigma * np.where(flip, -standard, standard)
        held: Array = np.clip(drawn, self.low, self.high)
        return held

    def reached(self, predictor: Array, sigma: float) -> bool:
        """Whether a bound cuts off anything that double precision can see."""
        nearest = min(float((predictor - self.low).min()), float((self.high - predictor).min()))
        return nearest < FAR * sigma

    def edges(self, predictor: Array, sigma: Array | float) -> tuple[Array, Array, Array, Array]:
        """Both bounds in standard deviations, and the density at each relative to the mass between them."""
        low, high = (self.low - predictor) / sigma, (self.high - predictor) / sigma
        mass = self.log_mass(predictor, sigma)
        at = [np.exp(-0.5 * edge**2 - 0.5 * LOG_2_PI - mass) for edge in (low, high)]
        return low, high, at[0], at[1]


def log_between(below: Array, above: Array) -> Array:
    """Log(Phi(above) - Phi(below)), in the tail where nothing cancels."""
    with np.errstate(invalid="ignore"):  # both ends may be infinite
        flip = below + above > 0
    left, right = np.where(flip, -above, below), np.where(flip, -below, above)
    low_tail, high_tail = log_ndtr(left), log_ndtr(right)
    with np.errstate(divide="ignore"):
        return np.asarray(high_tail + np.log1p(-np.exp(low_tail - high_tail)))


def product(edge: Array, density: Array) -> Array:
    """A bound times the density there, 0 where there is no bound."""
    return np.where(np.isfinite(edge), edge, 0.0) * density
