"""Two levels, 0 and 1: the logistic and the probit family.

    logistic   P(y = 1 | eta) = 1 / (1 + exp(-eta))
    probit     P(y = 1 | eta) = Phi(eta)

McCullagh & Nelder (1989), Generalized Linear Models, 2nd ed., chapter 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import expit, log_ndtr, ndtr

from stead.glm.families import Family
from stead.glm.gaussian import LOG_2_PI

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TILE_ROWS, TILE_DRAWS = 256, 128


@dataclass(frozen=True)
class Bernoulli(Family):
    """Two levels with a logistic link."""

    separable: ClassVar[bool] = True

    def log_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Y eta - log(1 + exp(eta))."""
        return response * predictor - np.logaddexp(0.0, predictor)

    def sample(self, predictor: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """1 with probability 1 / (1 + exp(-eta))."""
        return (rng.random(len(predictor)) < expit(predictor)).astype(float)

    def score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Y - p."""
        return np.asarray(response - expit(predictor))

    def curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """P (1 - p)."""
        probability = expit(predictor)
        return np.asarray(probability * (1.0 - probability))

    def total(
        self,
        design: Array,
        response: Array,
        weight: Array | None,
        coefficients: Array,
        auxiliary: Array,
    ) -> Array:
        """(y - 1/2)'X B - 1/2 sum |eta| - sum log(1 + exp(-|eta|)), where no row has a weight.

        The last sum is the log of a product over a tile of rows, so that there is one log for many cells;
        each factor is between 1 and 2, and 2^256 is a double. A tile stays in the cache of one core, where
        exp() costs least.
        """
        if weight is not None:
            return super().total(design, response, weight, coefficients, auxiliary)
        columns = coefficients[:, 0].T
        total: Array = ((response - 0.5) @ design) @ columns  # (H,)
        tile = np.empty(TILE_ROWS * TILE_DRAWS)
        for first in range(0, columns.shape[1], TILE_DRAWS):
            some = np.ascontiguousarray(columns[:, first : first + TILE_DRAWS])
            spent = np.zeros(some.shape[1])
            for start in range(0, len(response), TILE_ROWS):
                rows = design[start : start + TILE_ROWS]
                eta = tile[: len(rows) * some.shape[1]].reshape(len(rows), some.shape[1])
                np.abs(np.matmul(rows, some, out=eta), out=eta)
                spent += 0.5 * eta.sum(axis=0)
                np.exp(np.negative(eta, out=eta), out=eta)
                eta += 1.0
                spent += np.log(np.multiply.reduce(eta, axis=0))
            total[first : first + TILE_DRAWS] -= spent
        return total


@dataclass(frozen=True)
class ProbitBernoulli(Family):
    """Two levels with a probit link."""

    separable: ClassVar[bool] = True

    def log_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Log Phi(eta) or log Phi(-eta)."""
        return np.asarray(log_ndtr((2.0 * response - 1.0) * predictor))

    def sample(self, predictor: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """1 with probability Phi(eta)."""
        return (rng.random(len(predictor)) < ndtr(predictor)).astype(float)

    def score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Q phi(eta) / Phi(q eta) with q = 1 or -1."""
        sign = 2.0 * response - 1.0
        ratio = np.exp(-0.5 * predictor**2 - 0.5 * LOG_2_PI - log_ndtr(sign * predictor))
        return np.asarray(sign * ratio)

    def curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """S (s + eta), where s is the score."""
        slope = self.score(response, predictor, auxiliary)
        return np.asarray(slope * (slope + predictor))
