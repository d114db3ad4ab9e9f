"""The posterior of a regression as a function of free numbers: its log density, gradient and curvature.

    log p(theta | y) = sum_i w_i log p(y_i | X_i B, auxiliary) + log prior(B) + log prior(auxiliary) + log |d auxiliary / du|

theta = (the free coefficients of each linear predictor on centred and scaled predictors, u). Sums run over row blocks,
so that memory does not grow with rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.glm.families import predictors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.families import Family
    from stead.glm.priors import Prior
    from stead.glm.standardized import Standardized

    Array = NDArray[np.float64]

STEP = 1e-5
"""Of the differences that give the curvature in u; gradients are exact, so that their error is of this order."""


@dataclass(frozen=True)
class Target:
    """A log posterior over theta."""

    data: Standardized
    family: Family
    prior: Prior
    free: NDArray[np.bool_]  # (p,), the same for each linear predictor

    @property
    def effects(self) -> int:
        """How many coefficients are free."""
        return self.family.count * int(self.free.sum())

    @property
    def width(self) -> int:
        """The length of theta."""
        return self.effects + len(self.family.auxiliary)

    def unpack(self, points: Array) -> tuple[Array, Array]:
        """All coefficients (H, L, p), those that are not free 0, and u (H, A)."""
        whole = np.zeros((len(points), self.family.count, len(self.free)))
        whole[:, :, self.free] = points[:, : self.effects].reshape(len(points), self.family.count, -1)
        return whole, points[:, self.effects :]

    def start(self) -> Array:
        """Where a search for the mode begins."""
        intercepts, u = self.family.start(self.data.responses)
        effects = np.zeros((self.family.count, int(self.free.sum())))
        if self.data.intercept and self.free[0]:
            effects[:, 0] = intercepts
        return np.concatenate([effects.ravel(), u])

    def log_density(self, points: Array) -> Array:
        """Log posterior of every point, up to a constant."""  # (H,)
        whole, u = self.unpack(points)
        natural = self.family.natural(u)
        total = self.prior.log_density(whole.reshape(len(points), -1), natural) + self.family.log_jacobian(u)
        for design, response, weight in self.data.blocks():
            total = total + self.family.total(design, response, weight, whole, natural)
        return np.where(np.isnan(total), -np.inf, total)

    def gradient(self, points: Array) -> Array:
        """Of the log posterior, at every point."""  # (H, q)
        whole, u = self.unpack(points)
        natural = self.family.natural(u)
        flat, slope = self.prior.gradient(whole.reshape(len(points), -1), natural)
        effects = flat.reshape(whole.shape)
        for design, response, weight in self.data.blocks():
            eta = predictors(design, whole, self.family.count)
            score = self.family.score(response, eta, natural)
            own = self.family.auxiliary_score(response, eta, natural)  # (H, n, A)
            if weight is not None:
                score = score * (weight if score.ndim == 2 else weight[:, None])
                own = own * weight[:, None]
            effects = effects + (
                (score @ design)[:, None] if score.ndim == 2 else np.matmul(score.transpose(0, 2, 1), design)
            )
            slope = slope + own.sum(axis=1)
        in_u = self.family.chain(u, slope) + self.family.jacobian_slope(u) if u.shape[1] else u
        return np.concatenate([effects[:, :, self.free].reshape(len(points), -1), in_u], axis=1)

    def derivatives(self, point: Array) -> tuple[Array, Array]:
        """Gradient and curvature (minus the second derivative) at one point."""
        whole, u = self.unpack(point[None])
        natural = self.family.natural(u)
        effects = self.prior.gradient(whole.reshape(1, -1), natural)[0].reshape(whole[0].shape)
        width, count = len(self.free), self.family.count
        curved = np.zeros((count * width, count * width))
        for design, response, weight in self.data.blocks():
            eta = predictors(design, whole, count)
            score = self.family.score(response, eta, natural)[0]
            if weight is not None:
                score = score * (weight if count == 1 else weight[:, None])
            effects = effects + (score @ design if count == 1 else score.T @ design)
            curved += self.family.information(design, response, eta[0], natural[0], weight)
        flat = np.flatnonzero(self._mask)
        square = curved[np.ix_(flat, flat)]
        square[np.diag_indices(len(flat))] += self.prior.precision(whole.reshape(1, -1), natural)[0, flat]
        if not u.shape[1]:
            return effects[:, self.free].ravel(), square
        gradient = self.gradient(point[None])[0]
        return gradient, self._with_auxiliary(point, square)

    def _with_auxiliary(self, point: Array, square: Array) -> Array:
        """The curvature with its rows for u, by central differences of the gradient."""
        size = len(point)
        steps = np.zeros((size - self.effects, size))
        steps[np.arange(len(steps)), np.arange(self.effects, size)] = STEP
        there = self.gradient(np.concatenate([point + steps, point - steps]))
        rows = -(there[: len(steps)] - there[len(steps) :]) / (2.0 * STEP)
        result = np.zeros((size, size))
        result[: self.effects, : self.effects] = square
        result[self.effects :] = rows
        result[: self.effects, self.effects :] = rows[:, : self.effects].T
        own = rows[:, self.effects :]
        result[self.effects :, self.effects :] = 0.5 * (own + own.T)
        return result

    @property
    def _mask(self) -> NDArray[np.bool_]:
        return np.tile(self.free, self.family.count)
