"""Families held between bounds: the plain distribution divided by the probability of what lies between.

    log p(y | eta, a) = log f(y | eta, a) - log M(eta, a),     M = P(low <= Y <= high)

The derivatives of log M are differences: it is smooth, cheap beside f, and for a shape parameter has no closed form.
Where M is less than a double can hold, nearly all of it lies next to one bound, and p is f relative to its sum there.
Draws out of bounds are drawn again; where hardly any falls inside, they are drawn next to that bound.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.glm.families import Family

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LARGEST = 700.0
"""A linear predictor beyond this has no mean that a double can hold."""
STEP, WIDE_STEP = 1e-5, 1e-3
ROUNDS = 8
FAINTEST = -600.0
"""Below this log M loses digits, and soon is the log of nothing."""


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
    def near_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Log p where M is lost: one response, predictor and row of auxiliary parameters for each."""  # (m,)

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
        if not self.bounded:
            return plain
        mass = self.log_mass(predictor, auxiliary)
        with np.errstate(invalid="ignore"):
            result = np.asarray(plain - mass)
        return self._mended(result, mass, self.near_density, response, predictor, auxiliary)

    def score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """D log p / d eta."""
        plain = self.plain_score(response, predictor, auxiliary)
        if not self.bounded:
            return plain
        above, below = (self.log_mass(predictor + step, auxiliary) for step in (STEP, -STEP))
        with np.errstate(invalid="ignore"):
            result = np.asarray(plain - (above - below) / (2.0 * STEP))

        def slope(y: Array, eta: Array, own: Array) -> Array:
            there, back = (self.near_density(y, eta + step, own) for step in (STEP, -STEP))
            return (there - back) / (2.0 * STEP)

        return self._mended(result, np.minimum(above, below), slope, response, predictor, auxiliary)

    def curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """-d2 log p / d eta2."""
        plain = self.plain_curvature(response, predictor, auxiliary)
        if not self.bounded:
            return plain
        one, own = predictor[None], auxiliary[None]
        steps = (WIDE_STEP, 0.0, -WIDE_STEP)
        above, here, below = (self.log_mass(one + step, own) for step in steps)
        with np.errstate(invalid="ignore"):
            result = np.asarray(plain[None] + (above - 2.0 * here + below) / WIDE_STEP**2)

        def bend(y: Array, eta: Array, own: Array) -> Array:
            there, middle, back = (self.near_density(y, eta + step, own) for step in steps)
            return np.asarray((2.0 * middle - there - back) / WIDE_STEP**2)

        return np.asarray(self._mended(result, np.minimum(above, below), bend, response, one, own)[0])

    def auxiliary_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """D log p / d auxiliary."""
        slope = self.plain_auxiliary_score(response, predictor, auxiliary)
        if not self.bounded:
            return slope
        for place in range(auxiliary.shape[1]):
            shift = np.zeros(auxiliary.shape[1])
            shift[place] = STEP

            def figure(y: Array, eta: Array, own: Array, shift: Array = shift, place: int = place) -> Array:
                there, back = (self.near_density(y, eta, own * (1.0 + sign * shift)) for sign in (1.0, -1.0))
                return np.asarray((there - back) / (2.0 * STEP * own[:, place]))

            above, below = (
                self.log_mass(predictor, auxiliary * (1.0 + sign * shift)) for sign in (1.0, -1.0)
            )
            with np.errstate(invalid="ignore"):
                own = slope[:, :, place] - (above - below) / (2.0 * STEP * auxiliary[:, place : place + 1])
            mass = np.minimum(above, below)
            slope[:, :, place] = self._mended(own, mass, figure, response, predictor, auxiliary)
        return slope

    def _mended(
        self,
        result: Array,
        mass: Array,
        figure: Callable[[Array, Array, Array], Array],
        response: Array,
        predictor: Array,
        auxiliary: Array,
    ) -> Array:
        """A result with `figure` where the mass is lost."""
        draw, row = np.nonzero(~(mass > FAINTEST) | (np.abs(predictor) > LARGEST))
        if len(draw):
            result[draw, row] = figure(response[row], predictor[draw, row], auxiliary[draw])
        return result

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
