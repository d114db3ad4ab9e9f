"""Proposals at the mode, and the chain that makes them exact.

A multivariate Student-t sits at the posterior mode, as wide on each side as the posterior is. Its draws are corrected
by an independence Metropolis chain, whose target is the posterior itself:

    accept theta* with probability min(1, w(theta*) / w(theta)),   w = posterior / proposal.

Tierney (1994), Annals of Statistics 22, section 2.3.3. Importance resampling was refused: it is exact only in
the limit, and a release is one draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

CHAINS, BURN_IN = 4, 50
LOOKS = np.array([0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 6.0])
NARROWEST, WIDEST = 0.7, 20.0


@dataclass(frozen=True)
class SplitStudentT:
    """A Student-t around the mode whose scale differs by direction and by side, so that it covers a skewed posterior.

    With mode m, curvature Q diag(lambda) Q' there and factors up_i, down_i,

        theta = m + sum_i q_i z_i (up_i if z_i > 0 else down_i) / sqrt(lambda_i),   z ~ t_nu(0, I).

    The factor of a side is the largest delta / sqrt(2 (log p(m) - log p(m + delta q_i / sqrt(lambda_i)))) over a few
    delta: 1 where the posterior is normal, more where it falls off slowly. Geweke (1989), Econometrica 57, section 4.
    """

    location: Array  # (p,)
    directions: Array  # (p, p), columns q_i
    spread: Array  # (p,), 1 / sqrt(lambda_i)
    up: Array
    down: Array
    degrees: float

    @classmethod
    def around(
        cls, location: Array, precision: Array, log_density: Callable[[Array], Array], degrees: float
    ) -> SplitStudentT:
        """Look along each direction on both sides; `log_density` takes (count, p) points."""
        values, directions = np.linalg.eigh(precision)
        spread = 1.0 / np.sqrt(values)
        width, looks = len(location), len(LOOKS)
        steps = (directions * spread).T  # (p, p), row i is one step along direction i
        offsets = LOOKS[:, None, None] * steps  # (looks, p, p)
        points = np.concatenate([location + offsets, location - offsets]).reshape(-1, width)
        drop = log_density(location[None, :])[0] - log_density(points).reshape(2, looks, width)
        factor = (LOOKS[:, None] / np.sqrt(2.0 * np.maximum(drop, 1e-9))).max(axis=1)  # (2, p)
        up, down = np.clip(factor, NARROWEST, WIDEST)
        return cls(location, directions, spread, up, down, degrees)

    def offer(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Independent points, and the log density at each, up to a constant."""  # (count, p), (count,)
        normal = rng.standard_normal((count, len(self.location)))
        student = normal / np.sqrt(rng.chisquare(self.degrees, count) / self.degrees)[:, None]
        points = self.location + (student * self._sides(student) * self.spread) @ self.directions.T
        return points, self.log_density(points)

    def log_density(self, points: Array) -> Array:
        """Log density, up to a constant."""  # (count,)
        along = ((points - self.location) @ self.directions) / self.spread
        sides = self._sides(along)
        squared = ((along / sides) ** 2).sum(axis=1)
        power = 0.5 * (self.degrees + len(self.location))
        result: Array = -power * np.log1p(squared / self.degrees) - np.log(sides).sum(axis=1)
        return result

    def _sides(self, along: Array) -> Array:
        return np.where(along > 0, self.up, self.down)


def proposals_needed(draws: int) -> int:
    """How many proposals `independence_chain` looks at for `draws` states."""
    return CHAINS * (BURN_IN + -(-draws // CHAINS))


def independence_chain(
    log_weight: Array, draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], float]:
    """Which proposal each draw is, chain after chain in turn, and the share of proposals accepted after burn-in.

    `log_weight` has `proposals_needed(draws)` values: the states of four chains, each begun at its first proposal.
    """
    steps = len(log_weight) // CHAINS
    offered = log_weight.reshape(CHAINS, steps)
    marks = np.log(rng.random(offered.shape))
    path = np.empty(offered.shape, np.int64)
    for chain in range(CHAINS):  # plain numbers: a step of four chains at once costs more in numpy
        weights, current = offered[chain].tolist(), 0
        for step, mark in enumerate(marks[chain].tolist()):
            if mark < weights[step] - weights[current]:
                current = step
            path[chain, step] = current
    moved = float(np.mean(np.diff(path[:, BURN_IN - 1 :], axis=1) != 0))
    index = path[:, BURN_IN:] + steps * np.arange(CHAINS)[:, None]  # (chains, draws per chain)
    return index.T.ravel()[:draws], moved
