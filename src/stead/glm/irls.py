"""The posterior mode of a generalised linear model by iteratively reweighted least squares.

    beta <- beta + (X'WX + P)^-1 (X'(y - mu) + gradient of the log prior),

a Newton step, halved until the log posterior does not fall. X'WX and X'(y - mu) are sums over row
blocks. McCullagh & Nelder (1989), section 2.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from stead.errors import InputRefused
from stead.glm.families import Bernoulli

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.priors import CoefficientPrior
    from stead.glm.standardized import Standardized

    Array = NDArray[np.float64]

MOST_STEPS, TOLERANCE, MOST_HALVINGS = 100, 1e-10, 30
WIDEST = 10.0
"""A posterior standard deviation this large, in log-odds per indicator or standardized predictor, is a ridge to infinity."""


@dataclass(frozen=True)
class Mode:
    """Where the posterior is highest, and minus its second derivative there."""

    coefficients: Array
    precision: Array
    steps: int


def find_mode(data: Standardized, prior: CoefficientPrior, free: NDArray[np.bool_]) -> Mode:
    """The mode over the coefficients that are `free`; the others stay at 0."""
    coefficients = np.zeros(len(free))
    height = _log_posterior(data, prior, coefficients, free)
    for step in range(1, MOST_STEPS + 1):
        gradient, precision = _derivatives(data, prior, coefficients)
        move = np.zeros_like(coefficients)
        move[free] = cho_solve(_factor(precision[np.ix_(free, free)]), gradient[free])
        decrement = float(gradient[free] @ move[free])
        for _ in range(MOST_HALVINGS):
            proposed = _log_posterior(data, prior, coefficients + move, free)
            if proposed >= height - 1e-12 * abs(height):
                break
            move *= 0.5
        coefficients, height = coefficients + move, proposed
        if decrement < TOLERANCE:
            precision = _derivatives(data, prior, coefficients)[1]
            variance = np.diag(cho_solve(_factor(precision[np.ix_(free, free)]), np.eye(int(free.sum()))))
            if variance.max(initial=0.0) < WIDEST**2:
                return Mode(coefficients, precision, step)
            break
    raise InputRefused(
        "E-SEPARATION",
        'the likelihood has no maximum: the predictors separate the two levels; use prior="weak", which keeps going',
    )


def _log_posterior(
    data: Standardized, prior: CoefficientPrior, coefficients: Array, free: NDArray[np.bool_]
) -> float:
    return float(log_posterior(data, prior, coefficients[None, :], free)[0])


def log_posterior(
    data: Standardized, prior: CoefficientPrior, coefficients: Array, free: NDArray[np.bool_]
) -> Array:
    """Log posterior of every draw, up to a constant."""  # (H,)
    total = prior.log_density(np.where(free, coefficients, prior.location))
    for design, response in data.blocks():
        total = total + Bernoulli.log_likelihood(response, design, coefficients.T)
    return total


def _derivatives(data: Standardized, prior: CoefficientPrior, coefficients: Array) -> tuple[Array, Array]:
    gradient, diagonal = prior.gradient_and_precision(coefficients)
    precision = np.diag(diagonal)
    for design, response in data.blocks():
        residual, weight = Bernoulli.residual_and_weight(response, design @ coefficients)
        gradient = gradient + residual @ design
        precision = precision + (design * weight[:, None]).T @ design
    return gradient, precision


def _factor(precision: Array) -> tuple[Array, bool]:
    try:
        factor, lower = cho_factor(precision, lower=True)
    except np.linalg.LinAlgError:
        factor, lower = None, True
    if factor is None:
        raise InputRefused(
            "E-RANK",
            'the terms of the formula determine each other, and a flat prior does not settle them; use prior="weak"',
        )
    return np.asarray(factor), bool(lower)
