"""Hamiltonian Monte Carlo, preconditioned by the curvature at the mode: for a posterior that proposals at the mode miss.

With precision P = L L' there, x = L'(theta - mode) has about unit variance. Each iteration draws a momentum r ~ N(0, I),
moves (x, r) along the leapfrog path for a length drawn from [0.5, 1.5] pi/2, and accepts with probability
min(1, exp(H_before - H_after)). The step is tuned to an acceptance of .8 during warm-up, by dual averaging, and then held.
Four chains move together. Neal (2011), Handbook of Markov Chain Monte Carlo, chapter 5; Hoffman & Gelman (2014), JMLR 15, section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from stead.sampling.proposals import CHAINS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

WARM_UP, WANTED, MOST_STEPS = 300, 0.8, 60
SHRINKAGE, DECAY, OFFSET = 0.05, 0.75, 10.0


class Density(Protocol):
    """A log density over points (H, q), and its gradient."""

    def log_density(self, points: Array) -> Array:
        """Up to a constant."""  # (H,)
        ...

    def gradient(self, points: Array) -> Array:
        """Of the log density."""  # (H, q)
        ...


def hamiltonian_chains(
    density: Density,
    mode: Array,
    precision: Array,
    draws: int,
    rng: np.random.Generator,
    thin: int = 1,
) -> tuple[Array, float]:
    """Points, the four chains in turn, every `thin`-th state of each, and the mean acceptance after warm-up."""
    paths = _Paths(density, mode, np.asarray(cholesky(precision, lower=True)))
    each = -(-draws // CHAINS)
    x = rng.standard_normal((CHAINS, len(mode)))
    height, slope = paths.look(x)
    step, kept, accepted = _Step(0.5), np.empty((each, CHAINS, len(mode))), 0.0
    for iteration in range(WARM_UP + thin * each):
        length = 0.5 * np.pi * rng.uniform(0.5, 1.5)
        momentum = rng.standard_normal(x.shape)
        moved, towards, new_height, new_slope = paths.leap(x, momentum, slope, step.size, length)
        with np.errstate(over="ignore", invalid="ignore"):  # a path that ran off is turned down below
            change = new_height - height + 0.5 * (momentum**2 - towards**2).sum(axis=1)
        probability = np.exp(np.minimum(np.where(np.isfinite(change), change, -np.inf), 0.0))
        taken = rng.random(CHAINS) < probability
        x = np.where(taken[:, None], moved, x)
        height, slope = np.where(taken, new_height, height), np.where(taken[:, None], new_slope, slope)
        if iteration < WARM_UP:
            step.tune(float(probability.mean()), last=iteration == WARM_UP - 1)
            continue
        state, left = divmod(iteration - WARM_UP + 1, thin)
        if not left:
            kept[state - 1] = paths.point(x)
        accepted += float(probability.mean()) / (thin * each)
    return kept.reshape(-1, len(mode))[:draws], accepted


@dataclass(frozen=True)
class _Paths:
    """The density in the coordinates x."""

    density: Density
    mode: Array
    factor: Array  # L, lower

    def point(self, x: Array) -> Array:
        """Theta = mode + L'^-1 x."""
        return self.mode + np.asarray(solve_triangular(self.factor, x.T, lower=True, trans="T")).T

    def look(self, x: Array) -> tuple[Array, Array]:
        """Log density and its gradient in x."""
        theta = self.point(x)
        with np.errstate(all="ignore"):  # a path that leaves what doubles can hold is turned down
            height, gradient = self.density.log_density(theta), self.density.gradient(theta)
        finite = np.where(np.isfinite(gradient), gradient, 0.0)
        return height, np.asarray(solve_triangular(self.factor, finite.T, lower=True)).T

    def leap(
        self, x: Array, momentum: Array, slope: Array, step: float, length: float
    ) -> tuple[Array, Array, Array, Array]:
        """The end of a leapfrog path: x, momentum, height, slope."""
        height = np.zeros(len(x))
        for _ in range(int(np.clip(np.ceil(length / step), 1, MOST_STEPS))):
            momentum = momentum + 0.5 * step * slope
            x = x + step * momentum
            height, slope = self.look(x)
            momentum = momentum + 0.5 * step * slope
        return x, momentum, height, slope


class _Step:
    """The size of a leapfrog step, tuned by dual averaging."""

    def __init__(self, size: float) -> None:
        self.size = size
        self._target, self._mean_log, self._error, self._count = np.log(10.0 * size), np.log(size), 0.0, 0

    def tune(self, acceptance: float, *, last: bool) -> None:
        """Take in one acceptance; at the last, hold the average."""
        self._count += 1
        share = 1.0 / (self._count + OFFSET)
        self._error = (1.0 - share) * self._error + share * (WANTED - acceptance)
        now = self._target - np.sqrt(self._count) / SHRINKAGE * self._error
        weight = self._count**-DECAY
        self._mean_log = weight * now + (1.0 - weight) * self._mean_log
        self.size = float(np.exp(np.clip(self._mean_log if last else now, -12.0, 1.0)))
