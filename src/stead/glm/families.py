"""Families: the density of a response given its linear predictors, how to draw from it, and its derivatives.

A family may have auxiliary parameters (a standard deviation, a shape, thresholds). `natural` makes them
from unconstrained numbers u, so that a sampler moves freely. McCullagh & Nelder (1989), Generalized Linear
Models, 2nd ed. Shapes: predictor eta is (H, n), or (H, n, L) where there are L of them; auxiliary is (H, A).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TILE = 1 << 17
"""Cells (draws x rows x predictors) that are looked at together: 1 MiB, which stays in the cache of one core."""


@dataclass(frozen=True)
class Family(ABC):
    """What all families share; one without auxiliary parameters inherits the rest."""

    predictors: ClassVar[int] = 1
    separable: ClassVar[bool] = False
    """Whether a likelihood may have no maximum, so that an effect runs off to infinity."""

    @property
    def count(self) -> int:
        """How many linear predictors there are."""
        return self.predictors

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """Names of the auxiliary parameters."""
        return ()

    @abstractmethod
    def log_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """Log p(y | eta, auxiliary)."""  # (H, n)

    @abstractmethod
    def sample(self, predictor: Array, auxiliary: Array, rng: np.random.Generator) -> Array:
        """One response for each row, under one draw: predictor (n,) or (n, L), auxiliary (A,)."""

    @abstractmethod
    def score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """D log p / d eta."""  # like predictor

    @abstractmethod
    def curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """-d2 log p / d eta2, under one draw."""  # (n,) or (n, L, L)

    def information(
        self, design: Array, response: Array, predictor: Array, auxiliary: Array, weight: Array | None
    ) -> Array:
        """Sum of w_i W_i (x) x_i x_i' over rows, under one draw; W_i is the curvature of row i."""  # (L p, L p)
        curvature = self.curvature(response, predictor, auxiliary)
        return design.T @ (design * (curvature if weight is None else curvature * weight)[:, None])

    def auxiliary_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """D log p / d auxiliary."""  # (H, n, A)
        return np.zeros((*predictor.shape[:2], 0))

    def natural(self, free: Array) -> Array:
        """The auxiliary parameters from unconstrained ones; here the exponential, as all but thresholds are positive."""
        return np.exp(free)

    def chain(self, free: Array, slope: Array) -> Array:
        """D / du from d / d auxiliary."""  # (H, A)
        return np.exp(free) * slope

    def log_jacobian(self, free: Array) -> Array:
        """Log |d auxiliary / du|."""  # (H,)
        return np.asarray(free.sum(axis=1))

    def jacobian_slope(self, free: Array) -> Array:
        """D log_jacobian / du."""  # (H, A)
        return np.ones_like(free)

    def start(self, response: Array) -> tuple[Array, Array]:
        """Where a search for the mode begins: an intercept for each predictor, and u."""
        return np.zeros(self.count), np.zeros(len(self.auxiliary))

    def total(
        self,
        design: Array,
        response: Array,
        weight: Array | None,
        coefficients: Array,
        auxiliary: Array,
    ) -> Array:
        """The log-likelihood of every draw, summed over rows; coefficients are (H, L, p)."""  # (H,)
        result = np.zeros(len(coefficients))
        tile = max(1, TILE // max(1, len(coefficients) * self.count))
        for start in range(0, len(response), tile):
            rows = slice(start, start + tile)
            density = self.log_density(
                response[rows], predictors(design[rows], coefficients, self.count), auxiliary
            )
            result += density.sum(axis=1) if weight is None else density @ weight[rows]
        return result


def predictors(design: Array, coefficients: Array, count: int) -> Array:
    """Eta of some rows under every draw: (H, n), or (H, n, L)."""
    if count == 1:
        flat: Array = coefficients[:, 0] @ design.T
        return flat
    several: Array = np.matmul(design[None], coefficients.transpose(0, 2, 1))
    return several
