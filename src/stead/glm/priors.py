"""Priors of coefficients on the standardized scale: independent, each normal, Student-t, or flat.

    weak   slopes N(0, 2.5^2), intercept Student-t(3) at the centre of the response
    flat   slopes flat, intercept Student-t(3): what brms uses by default

The intercept belongs to centred predictors. Gelman, Jakulin, Pittau & Su (2008), Annals of Applied
Statistics 2; Bürkner (2017), Journal of Statistical Software 80.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PriorName = Literal["weak", "flat"]
SLOPE_SCALE = 2.5
INTERCEPT_DEGREES = 3.0


@dataclass(frozen=True)
class CoefficientPrior:
    """Location, scale (inf: flat) and degrees of freedom (inf: normal) of each coefficient."""

    location: Array
    scale: Array
    degrees: Array

    @classmethod
    def named(
        cls, name: PriorName, width: int, *, intercept: bool, location: float = 0.0, scale: float = 2.5
    ) -> CoefficientPrior:
        """The prior `weak` or `flat`; `location` and `scale` are those of the intercept."""
        locations, degrees = np.zeros(width), np.full(width, np.inf)
        scales = np.full(width, SLOPE_SCALE if name == "weak" else np.inf)
        if intercept:
            locations[0], scales[0], degrees[0] = location, scale, INTERCEPT_DEGREES
        return cls(locations, scales, degrees)

    def log_density(self, coefficients: Array) -> Array:
        """Log prior of every draw, up to a constant."""  # (H,)
        squared = self._squared(coefficients)
        heavy = np.isfinite(self.degrees)
        nu = self.degrees[heavy]
        density: Array = -0.5 * squared[:, ~heavy].sum(axis=1)
        density -= (0.5 * (nu + 1) * np.log1p(squared[:, heavy] / nu)).sum(axis=1)
        return density

    def gradient_and_precision(self, coefficients: Array) -> tuple[Array, Array]:
        """Gradient, and a positive precision: (nu + 1) / (nu s^2 + d^2), the weight of the t as a scale mixture."""  # (p,)
        difference = coefficients - self.location
        finite, heavy = np.isfinite(self.scale), np.isfinite(self.degrees)
        precision = np.zeros_like(coefficients)
        precision[finite] = 1.0 / self.scale[finite] ** 2
        nu = self.degrees[heavy]
        precision[heavy] = (nu + 1) / (nu * self.scale[heavy] ** 2 + difference[heavy] ** 2)
        return -precision * difference, precision

    def _squared(self, coefficients: Array) -> Array:
        difference = coefficients - self.location  # (H, p)
        return np.where(np.isfinite(self.scale), (difference / self.scale) ** 2, 0.0)


def student_t_log(value: Array, location: float, scale: float, degrees: float) -> Array:
    """Log Student-t density, up to a constant."""
    result: Array = -0.5 * (degrees + 1) * np.log1p(((value - location) / scale) ** 2 / degrees)
    return result
