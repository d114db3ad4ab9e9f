"""The posterior mode of a regression by Newton's method.

    theta <- theta + (curvature)^-1 gradient,

halved until the log posterior does not fall; for a generalised linear model this is iteratively reweighted least
squares. McCullagh & Nelder (1989), section 2.5. Where the surface is not concave (a shape, thresholds), directions
of negative curvature are turned round (Nocedal & Wright 2006, Numerical Optimization, section 3.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from stead.errors import InputRefused

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.target import Target

    Array = NDArray[np.float64]

MOST_STEPS, TOLERANCE, MOST_HALVINGS = 200, 1e-10, 40
FLATTEST = 1e-8
WIDEST = 10.0
"""A posterior standard deviation this large, in log-odds per indicator or standardized predictor, is a ridge to infinity."""


@dataclass(frozen=True)
class Mode:
    """Where the posterior is highest, and minus its second derivative there."""

    point: Array
    precision: Array
    height: float
    steps: int


def find_mode(target: Target, start: Array | None = None) -> Mode:
    """The mode; refused where there is none."""
    point = target.start() if start is None else start.copy()
    height = float(target.log_density(point[None])[0])
    for step in range(1, MOST_STEPS + 1):
        gradient, precision = target.derivatives(point)
        move = _solve(target, precision, gradient)
        decrement = float(gradient @ move)
        if decrement < TOLERANCE:
            _require_summit(target, precision)
            return Mode(point, precision, height, step)
        for _ in range(MOST_HALVINGS):
            proposed = float(target.log_density((point + move)[None])[0])
            if proposed >= height - 1e-12 * abs(height):
                break
            move *= 0.5
        else:  # no step is uphill in double precision: this is the top
            _require_summit(target, precision)
            return Mode(point, precision, height, step)
        point, height = point + move, proposed
    raise _no_summit()


def _solve(target: Target, precision: Array, gradient: Array) -> Array:
    try:
        factor = cho_factor(precision, lower=True)
    except np.linalg.LinAlgError:
        factor = None
    if factor is not None:
        return np.asarray(cho_solve(factor, gradient))
    if not target.family.auxiliary:
        raise InputRefused(
            "E-RANK",
            'the terms of the formula determine each other, and a flat prior does not settle them; use prior="weak"',
        )
    values, directions = np.linalg.eigh(precision)
    bent = np.maximum(np.abs(values), FLATTEST * np.abs(values).max())
    return np.asarray(directions @ ((directions.T @ gradient) / bent))


def _require_summit(target: Target, precision: Array) -> None:
    """Refuse a ridge: an effect that the likelihood would let run off to infinity."""
    if not target.family.separable or not len(precision):
        return
    effects = precision[: target.effects, : target.effects]
    try:
        spread = np.diag(np.linalg.inv(effects))
    except np.linalg.LinAlgError:
        spread = np.array([np.inf])
    if not (spread.max(initial=0.0) < WIDEST**2):
        raise _no_summit()


def _no_summit() -> InputRefused:
    return InputRefused(
        "E-SEPARATION",
        'the likelihood has no maximum: the predictors separate the levels or the zeros; use prior="weak", which keeps going',
    )
