"""Counts: the Poisson and the negative binomial family, with a log link.

    poisson             y | eta       ~ Poisson(mu),  mu = exp(eta)
    negative binomial   y | eta, phi  ~ mean mu, variance mu + mu^2 / phi

McCullagh & Nelder (1989), chapter 6; Hilbe (2011), Negative Binomial Regression, 2nd ed. Between bounds: see bounded.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import betainc, digamma, gammainc, gammaincc, gammaln

from stead.glm.bounded import LARGEST, Bounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MOST = 2.0**62
WINDOW = 512
"""Counts from a bound that are looked at where nearly all probability lies beyond it; farther ones have none."""


@dataclass(frozen=True)
class Poisson(Bounded):
    """Counts whose variance is their mean, between `low` and `high`."""

    separable: ClassVar[bool] = True

    def plain_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Y eta - exp(eta) - log y!."""
        return np.asarray(response * predictor - _mean(predictor) - gammaln(response + 1.0))

    def plain_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Y - mu."""
        return response - _mean(predictor)

    def plain_curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Mu."""
        return _mean(predictor)

    def start(self, response: Array) -> tuple[Array, Array]:
        """The log of the mean."""
        return np.log([max(float(response.mean()), 1e-3)]), np.zeros(0)

    def draw(self, mean: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """Counts."""
        return rng.poisson(np.minimum(mean, MOST)).astype(float)

    def draw_between(self, mean: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """By the probabilities of the counts next to the bound that the mean is beyond."""
        values = np.empty(len(mean))
        for above in (False, True):
            rows = np.flatnonzero((mean > self.high) == above)
            first = max(self.low, self.high - WINDOW) if above else self.low
            counts = np.arange(first, min(self.high, first + WINDOW) + 1.0)
            for start in range(0, len(rows), 1024):
                some = rows[start : start + 1024]
                eta = np.log(mean[some])[:, None]
                density = self.plain_density(
                    counts, np.broadcast_to(eta, (len(some), len(counts))), auxiliary[None]
                )
                mass = np.cumsum(np.exp(density - density.max(axis=1, keepdims=True)), axis=1)
                mark = rng.random(len(some)) * mass[:, -1]
                values[some] = counts[(mass < mark[:, None]).sum(axis=1)]
        return values

    def log_mass(self, predictor: Array, auxiliary: Array) -> Array:
        """Log P(low <= Y <= high), from the tail in which nothing cancels."""
        mean = _mean(predictor)
        low, high = np.ceil(self.low), np.floor(self.high)
        with np.errstate(divide="ignore"):
            if not np.isfinite(high):
                return np.log(self._from(low, mean, auxiliary))
            upward = self._from(low, mean, auxiliary) - self._from(high + 1.0, mean, auxiliary)
            downward = self._below(high + 1.0, mean, auxiliary) - self._below(low, mean, auxiliary)
            return np.log(np.maximum(np.where(mean < low + 1.0, upward, downward), 0.0))

    def _from(self, count: float, mean: Array, auxiliary: Array) -> Array:
        """P(Y >= count)."""
        return np.asarray(gammainc(count, mean)) if count > 0 else np.ones(mean.shape)

    def _below(self, count: float, mean: Array, auxiliary: Array) -> Array:
        """P(Y < count)."""
        return np.asarray(gammaincc(count, mean)) if count > 0 else np.zeros(mean.shape)


@dataclass(frozen=True)
class NegativeBinomial(Poisson):
    """Counts that vary more than their mean."""

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """The shape phi; the Poisson family is its limit at infinity."""
        return ("shape",)

    def plain_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Log G(y + phi) - log G(phi) - log y! - phi log(1 + mu/phi) - y log(phi + mu) + y eta."""
        shape, mean = auxiliary[:, :1], _mean(predictor)
        counts, place = np.unique(response, return_inverse=True)
        known = gammaln(counts + shape) - gammaln(shape) - gammaln(counts + 1.0)  # (H, distinct counts)
        # -phi log(1 + mu/phi), not phi log phi - phi log(phi + mu): nothing cancels when phi is large
        result: Array = known[:, place] - shape * np.log1p(mean / shape)
        return result - response * np.log(shape + mean) + response * predictor

    def plain_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Phi (y - mu) / (phi + mu)."""
        shape, mean = auxiliary[:, :1], _mean(predictor)
        return np.asarray(shape * (response - mean) / (shape + mean))

    def plain_curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """(y + phi) phi mu / (phi + mu)^2."""
        shape, mean = float(auxiliary[0]), _mean(predictor)
        return np.asarray((response + shape) * shape * mean / (shape + mean) ** 2)

    def plain_auxiliary_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Psi(y + phi) - psi(phi) - log(1 + mu/phi) - (y - mu) / (phi + mu)."""
        shape, mean = auxiliary[:, :1], _mean(predictor)
        counts, place = np.unique(response, return_inverse=True)
        known = digamma(counts + shape) - digamma(shape)
        slope = known[:, place] - np.log1p(mean / shape) - (response - mean) / (shape + mean)
        return np.asarray(slope)[:, :, None]

    def start(self, response: Array) -> tuple[Array, Array]:
        """The log of the mean, and the shape that gives the variance."""
        mean = max(float(response.mean()), 1e-3)
        beyond = max(float(response.var()) - mean, mean**2 / 100.0)
        return np.log([mean]), np.log([mean**2 / beyond])

    def draw(self, mean: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """A Poisson count whose mean is drawn from a gamma distribution."""
        shape = float(auxiliary[0])
        rate = rng.standard_gamma(shape, len(mean)) * (mean / shape)
        return rng.poisson(np.minimum(rate, MOST)).astype(float)

    def _from(self, count: float, mean: Array, auxiliary: Array) -> Array:
        shape = auxiliary[:, :1]
        return np.asarray(betainc(count, shape, mean / (shape + mean))) if count > 0 else np.ones(mean.shape)

    def _below(self, count: float, mean: Array, auxiliary: Array) -> Array:
        shape = auxiliary[:, :1]
        return (
            np.asarray(betainc(shape, count, shape / (shape + mean))) if count > 0 else np.zeros(mean.shape)
        )


def _mean(predictor: Array) -> Array:
    return np.exp(np.minimum(predictor, LARGEST))
