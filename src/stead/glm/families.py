"""Families: the density of a response given its linear predictor, and how to draw from it.

    gaussian   y | eta, sigma ~ N(eta, sigma^2), restricted to [low, high] where the column has bounds
    bernoulli  y | eta        ~ Bernoulli(1 / (1 + exp(-eta)))

McCullagh & Nelder (1989), Generalized Linear Models, 2nd ed., chapters 2-4. Arrays are (rows,) or, for
several draws at once, (draws, rows).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.special import expit, log_ndtr, ndtr, ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LOG_2_PI = float(np.log(2.0 * np.pi))
TILE_ROWS, TILE_DRAWS = 256, 128
EDGE = 1e-9
"""A rounded value may lie this far beyond a bound."""
FAR = 9.0
"""Standard deviations beyond which a bound cuts off less than 1e-18 of a normal distribution."""


class Family(Protocol):
    """What a regression posterior needs of its family. `scale` is None where the family has none."""

    def log_density(self, response: Array, predictor: Array, scale: Array | None) -> Array:
        """Log p(y | eta, scale), broadcast over draws and rows."""
        ...

    def sample(self, predictor: Array, scale: float, rng: np.random.Generator) -> Array:
        """One response for each row."""
        ...


@dataclass(frozen=True)
class Gaussian:
    """The normal family on the transformed scale of the response, with optional bounds there."""

    low: float = -np.inf
    high: float = np.inf

    @property
    def bounded(self) -> bool:
        """Whether draws are held between bounds."""
        return bool(np.isfinite(self.low) or np.isfinite(self.high))

    def log_density(self, response: Array, predictor: Array, scale: Array | None) -> Array:
        """Log N(y; eta, sigma^2) - log P(low <= Y <= high)."""
        sigma = _column(scale)
        standard = (response - predictor) / sigma  # (H, n)
        density: Array = -0.5 * standard**2 - np.log(sigma) - 0.5 * LOG_2_PI
        if self.bounded:
            density -= self.log_mass(predictor, sigma)
            density = np.where((response < self.low - EDGE) | (response > self.high + EDGE), -np.inf, density)
        return density

    def log_mass(self, predictor: Array, sigma: Array | float) -> Array:
        """Log P(low <= Y <= high | eta, sigma)."""
        below, above = (self.low - predictor) / sigma, (self.high - predictor) / sigma
        if not np.isfinite(self.high):
            return np.asarray(log_ndtr(-below))
        if not np.isfinite(self.low):
            return np.asarray(log_ndtr(above))
        flip = below + above > 0  # work in the lower tail, where nothing cancels
        left, right = np.where(flip, -above, below), np.where(flip, -below, above)
        low_tail, high_tail = log_ndtr(left), log_ndtr(right)
        return np.asarray(high_tail + np.log1p(-np.exp(low_tail - high_tail)))

    def sample(self, predictor: Array, scale: float, rng: np.random.Generator) -> Array:
        """Eta + sigma z; between bounds, the inverse of the distribution function, in the nearer tail."""
        if not self.bounded:
            return predictor + scale * rng.standard_normal(len(predictor))
        below, above = (self.low - predictor) / scale, (self.high - predictor) / scale
        flip = below + above > 0
        left, right = ndtr(np.where(flip, -above, below)), ndtr(np.where(flip, -below, above))
        standard = ndtri(left + rng.random(len(predictor)) * (right - left))
        drawn = predictor + scale * np.where(flip, -standard, standard)
        held: Array = np.clip(drawn, self.low, self.high)
        return held

    def reached(self, predictor: Array, sigma: float) -> bool:
        """Whether a bound cuts off anything that double precision can see."""
        nearest = min(float((predictor - self.low).min()), float((self.high - predictor).min()))
        return nearest < FAR * sigma


@dataclass(frozen=True)
class Bernoulli:
    """Two levels, 0 and 1, with a logistic link."""

    def log_density(self, response: Array, predictor: Array, scale: Array | None) -> Array:  # noqa: ARG002 - no scale
        """Y eta - log(1 + exp(eta))."""
        return response * predictor - np.logaddexp(0.0, predictor)

    def sample(self, predictor: Array, scale: float, rng: np.random.Generator) -> Array:  # noqa: ARG002 - no scale
        """1 with probability 1 / (1 + exp(-eta))."""
        return (rng.random(len(predictor)) < expit(predictor)).astype(float)

    @staticmethod
    def log_likelihood(response: Array, design: Array, coefficients: Array) -> Array:
        """The log-likelihood of every draw, summed over rows: (y - 1/2)'X B - 1/2 sum |eta| - sum log(1 + exp(-|eta|)).

        The last sum is the log of a product over a tile of rows, so that there is one log for many cells;
        each factor is between 1 and 2, and 2^256 is a double. A tile stays in the cache of one core, where
        exp() costs least, and is small enough that the matrix product does not start threads.
        """
        total: Array = ((response - 0.5) @ design) @ coefficients  # (H,)
        tile = np.empty((TILE_ROWS, TILE_DRAWS))
        for first in range(0, coefficients.shape[1], TILE_DRAWS):
            some = np.ascontiguousarray(coefficients[:, first : first + TILE_DRAWS])
            spent = np.zeros(some.shape[1])
            for start in range(0, len(response), TILE_ROWS):
                rows = design[start : start + TILE_ROWS]
                eta = tile.ravel()[: len(rows) * some.shape[1]].reshape(len(rows), some.shape[1])
                np.abs(np.matmul(rows, some, out=eta), out=eta)
                spent += 0.5 * eta.sum(axis=0)
                np.exp(np.negative(eta, out=eta), out=eta)
                eta += 1.0
                spent += np.log(np.multiply.reduce(eta, axis=0))
            total[first : first + TILE_DRAWS] -= spent
        return total

    @staticmethod
    def residual_and_weight(response: Array, predictor: Array) -> tuple[Array, Array]:
        """The score y - p and the curvature p (1 - p) in eta."""
        probability = expit(predictor)
        return response - probability, probability * (1.0 - probability)


def _column(scale: Array | None) -> Array:
    if scale is None:
        raise ValueError("a normal density needs its standard deviation")
    return np.asarray(scale, float)[:, None] if np.ndim(scale) else np.asarray(scale, float)
