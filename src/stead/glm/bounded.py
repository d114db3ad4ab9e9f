"""Families held between bounds: the plain distribution divided by the probability of what lies between.

    log p(y | eta, a) = log f(y | eta, a) - log M(eta, a),     M = P(low <= Y <= high)

The derivatives of log M are differences: it is smooth, cheap beside f, and for a shape parameter has no closed form.
Draws out of bounds are drawn again; where hardly any falls inside, the family inverts its distribution function there.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.glm.families import Family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LARGEST = 700.0
"""A linear predictor beyond this has no mean that a double can hold."""
STEP, WIDE_STEP = 1e-5, 1e-3
ROUNDS = 8


@dataclass(frozen=True)
class Bounded(Family):
    """A positive variable with a log link, between `low` and `high`."""

    low: float = 0.0
    high: float = np.inf

    @property
    def bounded(self) -> bool:
        """Whether a bound cuts off anything."""
        return self.low > 0 or bool(np.isfinite(self.high))

    @abstractmethod
    def plain_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Log f."""  # (H, n)

    @abstractmethod
    def plain_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """D log f / d eta."""

    @abstractmethod
    def plain_curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """-d2 log f / d eta2, under one draw."""  # (n,)

    @abstractmethod
    def log_mass(self, predictor: Array, auxiliary: Array) -> Array:
        """Log P(low <= Y <= high); auxiliary is (H, A)."""  # (H, n)

    @abstractmethod
    def draw(self, mean: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """From the plain distribution."""

    @abstractmethod
    def draw_between(self, mean: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """Between the bounds, for rows where hardly anything lies there."""

    def plain_auxiliary_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """D log f / d auxiliary."""  # (H, n, A)
        return np.zeros((*predictor.shape, 0))

    def log_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Log f - log M."""
        plain = self.plain_density(response, predictor, auxiliary)
        return plain - self.log_mass(predictor, auxiliary) if self.bounded else plain

    def score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """D log p / d eta."""
        plain = self.plain_score(response, predictor, auxiliary)
        if not self.bounded:
            return plain
        above, below = (self.log_mass(predictor + step, auxiliary) for step in (STEP, -STEP))
        return np.asarray(plain - (above - below) / (2.0 * STEP))

    def curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """-d2 log p / d eta2."""
        plain = self.plain_curvature(response, predictor, auxiliary)
        if not self.bounded:
            return plain
        above, here, below = (
            self.log_mass((predictor + step)[None], auxiliary[None])[0]
            for step in (WIDE_STEP, 0.0, -WIDE_STEP)
        )
        return np.asarray(plain + (above - 2.0 * here + below) / WIDE_STEP**2)

    def auxiliary_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """D log p / d auxiliary."""
        slope = self.plain_auxiliary_score(response, predictor, auxiliary)
        if not self.bounded:
            return slope
        for place in range(auxiliary.shape[1]):
            step = STEP * auxiliary[:, place : place + 1]
            shift = np.zeros_like(auxiliary)
            shift[:, place : place + 1] = step
            above, below = (self.log_mass(predictor, auxiliary + sign * shift) for sign in (1.0, -1.0))
            slope[:, :, place] -= (above - below) / (2.0 * step)
        return slope

    def sample(self, predictor: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """One for each row."""
        mean = np.exp(np.clip(predictor, -LARGEST, LARGEST))
        values = self.draw(mean, auxiliary, rng)
        for _ in range(ROUNDS if self.bounded else 0):
            outside = np.flatnonzero((values < self.low) | (values > self.high))
            if not len(outside):
                return values
            values[outside] = self.draw(mean[outside], auxiliary, rng)
        outside = np.flatnonzero((values < self.low) | (values > self.high))
        if len(outside):
            values[outside] = self.draw_between(mean[outside], auxiliary, rng)
        return values
