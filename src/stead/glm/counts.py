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
from stead.glm.families import TILE

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    def total(
        self, design: Array, response: Array, weight: Array | None, coefficients: Array, auxiliary: Array
    ) -> Array:
        """Y'X B - sum exp(eta) - sum log y!, where no bound cuts anything off."""
        if self.bounded or self.auxiliary:
            return super().total(design, response, weight, coefficients, auxiliary)
        share = np.ones(len(response)) if weight is None else weight
        columns = np.ascontiguousarray(coefficients[:, 0].T)
        total: Array = ((share * response) @ design) @ columns - share @ gammaln(response + 1.0)
        tile = max(1, TILE // max(1, len(coefficients)))
        for start in range(0, len(response), tile):
            rows = slice(start, start + tile)
            eta = design[rows] @ columns  # (rows, H)
            total -= share[rows] @ np.exp(np.minimum(eta, LARGEST, out=eta), out=eta)
        return total

    def start(self, response: Array) -> tuple[Array, Array]:
        """The log of the mean."""
        return np.log([max(float(response.mean()), 1e-3)]), np.zeros(0)

    def draw(self, mean: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """Counts."""
        return rng.poisson(np.minimum(mean, MOST)).astype(float)

    def relative(self, base: float, steps: Array, predictor: Array, auxiliary: Array) -> Array:
        """Log f(base + steps) - log f(base); nothing of the size of the mean cancels."""
        return np.asarray(steps * predictor - gammaln(base + steps + 1.0) + gammaln(base + 1.0))

    def near_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Relative to the counts next to the bound that the mean is beyond."""
        result = np.empty(len(predictor))
        for rows, base, _, weight in self._next_to_bounds(predictor, auxiliary):
            own = self.relative(base, response[rows] - base, predictor[rows], auxiliary[rows])
            result[rows] = own - np.log(np.exp(weight).sum(axis=1))
        return result

    def draw_between(self, mean: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """By the probabilities of the counts next to the bound that the mean is beyond."""
        values = np.empty(len(mean))
        own = np.broadcast_to(auxiliary, (len(mean), len(auxiliary)))
        for rows, base, steps, weight in self._next_to_bounds(np.log(mean), own):
            mass = np.cumsum(np.exp(weight), axis=1)
            mark = rng.random(len(rows)) * mass[:, -1]
            values[rows] = base + steps[(mass < mark[:, None]).sum(axis=1)]
        return values

    def _next_to_bounds(
        self, predictor: Array, auxiliary: Array
    ) -> Iterator[tuple[NDArray[np.int64], float, Array, Array]]:
        """Rows, their bound, the counts there as steps from it, and log f of each relative to the bound's."""
        above = np.exp(np.minimum(predictor, LARGEST)) > self.high
        for upper in (False, True):
            base = np.floor(self.high) if upper else np.ceil(self.low)
            steps = np.arange(0.0, min(np.floor(self.high) - np.ceil(self.low), WINDOW - 1.0) + 1.0)
            steps = -steps if upper else steps
            every = np.flatnonzero(above == upper)
            for start in range(0, len(every), 1024):
                rows = every[start : start + 1024]
                weight = self.relative(base, steps, predictor[rows, None], auxiliary[rows])
                yield rows, base, steps, weight

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

    def relative(self, base: float, steps: Array, predictor: Array, auxiliary: Array) -> Array:
        """Log f(base + steps) - log f(base)."""
        shape = auxiliary[:, :1] if predictor.ndim == 2 else auxiliary[:, 0]
        share = -np.logaddexp(0.0, np.log(shape) - predictor)  # log mu / (mu + phi)
        return np.asarray(
            steps * share
            + (gammaln(base + steps + shape) - gammaln(base + shape))
            - (gammaln(base + steps + 1.0) - gammaln(base + 1.0))
        )

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
