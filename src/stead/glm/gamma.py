"""The gamma family, with a log link: positive numbers whose standard deviation grows with their mean.

    y | eta, a ~ Gamma(shape a, mean mu = exp(eta)),
    log p = a (log a - eta + log y - y/mu) - log y - log G(a).

McCullagh & Nelder (1989), chapter 8. Between bounds: see bounded.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import digamma, gammainc, gammaincc, gammainccinv, gammaincinv, gammaln

from stead.glm.bounded import FAINTEST, LARGEST, Bounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TINY = np.finfo(float).tiny
_GAUSS, _WEIGHTS = np.polynomial.legendre.leggauss(32)
NODES, SHARES = 0.5 * (_GAUSS + 1.0), 0.5 * _WEIGHTS
"""Of an integral from 0 to 1."""


@dataclass(frozen=True)
class Gamma(Bounded):
    """Positive numbers between `low` and `high`."""

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """The shape; the coefficient of variation is 1 / sqrt(shape)."""
        return ("shape",)

    def plain_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """The second equation."""
        shape, ratio = auxiliary[:, :1], _ratio(response, predictor)
        inner: Array = np.log(shape) - predictor + np.log(response) - ratio
        return np.asarray(shape * inner - gammaln(shape) - np.log(response))

    def plain_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """A (y / mu - 1)."""
        return np.asarray(auxiliary[:, :1] * (_ratio(response, predictor) - 1.0))

    def plain_curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """A y / mu."""
        return np.asarray(float(auxiliary[0]) * _ratio(response, predictor))

    def plain_auxiliary_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Log a + 1 - eta + log y - y / mu - psi(a)."""
        shape = auxiliary[:, :1]
        slope = (
            np.log(shape) + 1.0 - predictor + np.log(response) - _ratio(response, predictor) - digamma(shape)
        )
        return np.asarray(slope)[:, :, None]

    def start(self, response: Array) -> tuple[Array, Array]:
        """The log of the mean, and the shape that gives the variance."""
        mean, variance = float(response.mean()), float(response.var())
        return np.log([mean]), np.log([np.clip(mean**2 / max(variance, 1e-300), 1e-2, 1e6)])

    def draw(self, mean: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """Positive numbers."""
        shape = float(auxiliary[0])
        return rng.standard_gamma(shape, len(mean)) * (mean / shape)

    def near_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """With t = log(y / bound) and r = shape bound / mu: a t - r (exp(t) - 1) - log y, less the log of its integral.

        The integrand falls off from the bound at the rate |a - r|; 32 nodes reach as far as exp(-40).
        """
        shape = auxiliary[:, 0]
        sign, bound, rate = self._side(predictor, shape)
        reach = np.minimum(np.log(self.high) - np.log(max(self.low, TINY)), 40.0 / np.abs(shape - rate))
        t = (sign * reach)[:, None] * NODES
        inside = shape[:, None] * t - rate[:, None] * np.expm1(t)
        own = np.log(response / bound)
        height = shape * own - rate * np.expm1(own) - np.log(response)
        return np.asarray(height - np.log(np.exp(inside) @ SHARES) - np.log(reach))

    def draw_between(self, mean: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """By the inverse of the distribution function where that can be computed, else next to the bound."""
        shape = float(auxiliary[0])
        low, high = self.low * shape / mean, self.high * shape / mean
        mark = rng.random(len(mean))
        left, right = gammainc(shape, low), gammainc(shape, high)
        upper, lower = gammaincc(shape, low), gammaincc(shape, high)
        below = mean < self.low
        inverse = np.where(
            below,
            gammainccinv(shape, lower + mark * (upper - lower)),
            gammaincinv(shape, left + mark * (right - left)),
        )
        drawn = np.clip(inverse * mean / shape, self.low, self.high)
        lost = np.flatnonzero(np.where(below, upper - lower, right - left) < np.exp(FAINTEST))
        if len(lost):
            drawn[lost] = self._draw_near(np.log(mean[lost]), np.full(len(lost), shape), rng)
        return np.asarray(drawn)

    def _draw_near(self, predictor: Array, shape: Array, rng: np.random.Generator) -> Array:
        """T from the exponential distribution with the rate at the bound, accepted with exp(-r (exp(t) - 1 - t))."""
        sign, bound, rate = self._side(predictor, shape)
        fall = np.abs(shape - rate)
        room = -np.expm1(-fall * (np.log(self.high) - np.log(max(self.low, TINY))))
        t = np.zeros(len(predictor))
        left = np.arange(len(predictor))
        while len(left):
            t[left] = -sign[left] * np.log1p(-rng.random(len(left)) * room[left]) / fall[left]
            kept = rng.random(len(left)) < np.exp(-rate[left] * (np.expm1(t[left]) - t[left]))
            left = left[~kept]
        return np.clip(bound * np.exp(t), self.low, self.high)

    def _side(self, predictor: Array, shape: Array) -> tuple[Array, Array, Array]:
        """1 at the lower bound and -1 at the upper, that bound, and r."""
        above = predictor > np.log(self.high)
        bound = np.where(above, self.high, self.low)
        rate = shape * bound * np.exp(np.clip(-predictor, -LARGEST, LARGEST))
        return np.where(above, -1.0, 1.0), bound, rate

    def log_mass(self, predictor: Array, auxiliary: Array) -> Array:
        """Log P(low <= Y <= high), from the tail in which nothing cancels."""
        shape = auxiliary[:, :1]
        rate = shape * np.exp(-np.clip(predictor, -LARGEST, LARGEST))
        low, high = self.low * rate, self.high * rate
        with np.errstate(divide="ignore"):
            upward = gammaincc(shape, low) - gammaincc(shape, high)
            downward = gammainc(shape, high) - gammainc(shape, low)
            return np.log(np.maximum(np.where(low > shape, upward, downward), 0.0))


def _ratio(response: Array, predictor: Array) -> Array:
    """Y / mu, as large as a double can be squared."""
    return np.asarray(np.exp(np.minimum(np.log(response) - predictor, 0.5 * LARGEST)))
