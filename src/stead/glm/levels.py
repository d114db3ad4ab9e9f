"""More than two levels: the multinomial and the cumulative (proportional odds) family, with a logistic link.

    multinomial   P(y = k | eta) = exp(eta_k) / sum_l exp(eta_l),  eta_0 = 0
    cumulative    P(y <= k | eta, c) = F(c_k - eta),  c_1 < ... < c_(K-1),  F logistic

Thresholds move freely as c_1 = u_1, c_k = c_(k-1) + exp(u_k). McCullagh & Nelder (1989), chapter 5;
Agresti (2013), Categorical Data Analysis, 3rd ed., chapter 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import expit, logit

from stead.glm.families import TILE, Family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


SAFE = 600.0
"""exp() of this is a double, and so is a sum of many."""


@dataclass(frozen=True)
class Multinomial(Family):
    """Levels without an order; the first is the reference."""

    levels: int = 2

    separable: ClassVar[bool] = True

    @property
    def count(self) -> int:
        """One predictor for each level but the first."""
        return self.levels - 1

    def log_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """eta_y - log sum_l exp(eta_l)."""
        highest = np.maximum(predictor.max(axis=2), 0.0)
        shifted = np.exp(predictor - highest[:, :, None])
        log_sum = np.log(shifted.sum(axis=2) + np.exp(-highest)) + highest
        level = response.astype(np.int64)
        chosen = np.take_along_axis(predictor, np.maximum(level - 1, 0)[None, :, None], axis=2)[:, :, 0]
        return np.asarray(np.where(level == 0, 0.0, chosen) - log_sum)

    def total(
        self, design: Array, response: Array, weight: Array | None, coefficients: Array, auxiliary: Array
    ) -> Array:
        """sum_l b_l'(sum of x over the rows of level l) - sum_i log(1 + sum_l exp(x_i'b_l)).

        Nothing is shifted before exp() where no predictor is beyond what a double holds; elsewhere the plain sum is taken.
        """
        if np.abs(design).sum(axis=1).max(initial=0.0) * np.abs(coefficients).max(initial=0.0) > SAFE:
            return super().total(design, response, weight, coefficients, auxiliary)
        level = response.astype(np.int64)
        share = np.ones(len(level)) if weight is None else weight
        sums = np.stack(
            [
                (design * np.where(level == place, share, 0.0)[:, None]).sum(axis=0)
                for place in range(1, self.levels)
            ]
        )
        total: Array = np.einsum("hlp,lp->h", coefficients, sums)
        tile = max(1, TILE // max(1, len(coefficients) * self.count))
        flat = coefficients.reshape(-1, design.shape[1])
        for start in range(0, len(design), tile):
            rows = slice(start, start + tile)
            eta = flat @ design[rows].T  # (H L, rows)
            odds = np.exp(eta, out=eta).reshape(len(coefficients), self.count, -1).sum(axis=1)
            total -= np.log1p(odds) @ share[rows]
        return total

    def probabilities(self, predictor: Array) -> Array:
        """Of every level but the first; eta is (..., L)."""
        highest = np.maximum(predictor.max(axis=-1, keepdims=True), 0.0)
        shifted = np.exp(predictor - highest)
        return np.asarray(shifted / (shifted.sum(axis=-1, keepdims=True) + np.exp(-highest)))

    def score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """1[y = l] - p_l."""
        hit = response[:, None] == np.arange(1, self.levels)  # (n, L)
        return np.asarray(hit - self.probabilities(predictor))

    def curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """diag(p) - p p'."""
        probability = self.probabilities(predictor)  # (n, L)
        result = -probability[:, :, None] * probability[:, None, :]
        place = np.arange(self.count)
        result[:, place, place] += probability
        return np.asarray(result)

    def information(
        self, design: Array, response: Array, predictor: Array, auxiliary: Array, weight: Array | None
    ) -> Array:
        """Blocks X'diag(p_l)X less Q'Q, where row i of Q is p_i (x) x_i: one product instead of one for each pair of levels."""
        width = design.shape[1]
        result = np.zeros((self.count * width, self.count * width))
        tile = max(1, 8 * TILE // max(1, self.count * width))
        for start in range(0, len(design), tile):
            rows = slice(start, start + tile)
            matrix, probability = design[rows], self.probabilities(predictor[rows])
            scaled = probability if weight is None else probability * weight[rows, None]
            crossed = (probability[:, :, None] * matrix[:, None, :]).reshape(len(matrix), -1)
            weighed = (scaled[:, :, None] * matrix[:, None, :]).reshape(len(matrix), -1)
            result -= crossed.T @ weighed
            for place in range(self.count):
                own = slice(place * width, (place + 1) * width)
                result[own, own] += matrix.T @ weighed[:, own]
        return result

    def start(self, response: Array) -> tuple[Array, Array]:
        """Log-odds of the shares, each level counted once more."""
        counts = np.bincount(response.astype(np.int64), minlength=self.levels) + 1.0
        return np.log(counts[1:] / counts[0]), np.zeros(0)

    def sample(self, predictor: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """A level for each row, by the inverse of the distribution function."""
        highest = np.maximum(predictor.max(axis=1), 0.0)
        sums = np.empty((self.levels, len(predictor)))  # a row for each level: sums go along memory
        np.exp(-highest, out=sums[0])
        for place in range(1, self.levels):
            np.exp(predictor[:, place - 1] - highest, out=sums[place])
            sums[place] += sums[place - 1]
        mark = rng.random(len(predictor)) * sums[-1]
        level = np.zeros(len(predictor))
        for row in sums[:-1]:
            level += mark >= row
        return level


@dataclass(frozen=True)
class Cumulative(Family):
    """Levels in order; one linear predictor moves them all."""

    levels: int = 2

    separable: ClassVar[bool] = True

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """The thresholds between neighbouring levels."""
        return tuple(f"threshold{place}" for place in range(1, self.levels))

    def log_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Log F(b) + log(1 - F(a)) + log(1 - exp(a - b)), between a = c_(k-1) - eta and b = c_k - eta."""
        below, above, gap = self._edges(response, predictor, auxiliary)
        with np.errstate(divide="ignore"):
            return -np.logaddexp(0.0, -above) - np.logaddexp(0.0, below) + np.log(-np.expm1(-gap))

    def score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """F(a) + F(b) - 1."""
        below, above, _ = self._edges(response, predictor, auxiliary)
        return np.asarray(expit(below) + expit(above) - 1.0)

    def curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """F(a) (1 - F(a)) + F(b) (1 - F(b))."""
        below, above, _ = self._edges(response, predictor[None], auxiliary[None])
        low, high = expit(below[0]), expit(above[0])
        return np.asarray(low * (1.0 - low) + high * (1.0 - high))

    def auxiliary_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """1 - F(b) + 1 / (exp(b - a) - 1) for the upper threshold of y; -F(a) - 1 / (exp(b - a) - 1) for the lower."""
        below, above, gap = self._edges(response, predictor, auxiliary)
        with np.errstate(divide="ignore", over="ignore"):
            pull = 1.0 / np.expm1(gap)
        level = response.astype(np.int64)
        result = np.zeros((*predictor.shape, self.levels - 1))
        for place in range(self.levels - 1):
            upper, lower = level == place, level == place + 1
            result[:, upper, place] = (1.0 - expit(above) + pull)[:, upper]
            result[:, lower, place] = (-expit(below) - pull)[:, lower]
        return result

    def natural(self, free: Array) -> Array:
        """Thresholds: the first, then steps upward."""
        steps = np.concatenate([free[:, :1], np.exp(free[:, 1:])], axis=1)
        return np.cumsum(steps, axis=1)

    def chain(self, free: Array, slope: Array) -> Array:
        """u_k moves threshold k and all above it."""
        later = np.cumsum(slope[:, ::-1], axis=1)[:, ::-1]
        return np.concatenate([later[:, :1], np.exp(free[:, 1:]) * later[:, 1:]], axis=1)

    def log_jacobian(self, free: Array) -> Array:
        """The sum of all but the first."""
        return np.asarray(free[:, 1:].sum(axis=1))

    def jacobian_slope(self, free: Array) -> Array:
        """0 for the first, 1 for the others."""
        slope = np.ones_like(free)
        slope[:, 0] = 0.0
        return slope

    def start(self, response: Array) -> tuple[Array, Array]:
        """Thresholds at the log-odds of the cumulative shares, each level counted once more."""
        counts = np.bincount(response.astype(np.int64), minlength=self.levels) + 1.0
        thresholds = logit(np.cumsum(counts)[:-1] / counts.sum())
        return np.zeros(1), np.concatenate([thresholds[:1], np.log(np.diff(thresholds))])

    def sample(self, predictor: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """The number of thresholds below eta + a logistic error."""
        error = logit(rng.random(len(predictor)))
        return np.searchsorted(auxiliary, predictor + error, side="left").astype(float)

    def _edges(self, response: Array, predictor: Array, auxiliary: Array) -> tuple[Array, Array, Array]:
        """Distance of eta to the thresholds on both sides of y, and between those."""
        far = np.full((len(auxiliary), 1), np.inf)
        edges = np.concatenate([-far, auxiliary, far], axis=1)  # (H, K + 1)
        level = response.astype(np.int64)
        low, high = edges[:, level], edges[:, level + 1]
        return low - predictor, high - predictor, high - low
