"""The log-likelihood of many draws at once, for a cost that does not grow with draws times rows.

Near the mode each row is a polynomial of degree 4 in the distance of its predictor from that at the mode, delta_i = x_i'd:

    sum_i w_i log p(y_i | eta_i + delta_i) = sum_k sum_i w_i a_ik delta_i^k
                                           = c + g'd + v'm + v'A_3 d + v'A_4 v,      v = all products d_j d_k,

and the sums over rows of a_ik times products of x are taken once. The a_ik interpolate log p at five points that span
three posterior standard deviations of delta_i. It is used where it agrees with the likelihood itself to `CLOSE`, which
is tried at the farthest proposals and at others; where it does not, every draw is computed directly. Tierney & Kadane
(1986) expand the same function to the same order for its integral.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.mode import Mode
    from stead.glm.target import Target

    Array = NDArray[np.float64]

CLOSE = 1e-3
"""Largest error in a log posterior: a probability of acceptance is off by less than a thousandth."""
SPAN = 3.0
NODES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
_FIT = np.linalg.inv(np.vander(NODES, increasing=True))
CHUNK = 4096
WIDEST = 24


@dataclass(frozen=True)
class Surface:
    """The sums over rows; adding the prior gives the log posterior."""

    target: Target
    mode: Array
    first: tuple[NDArray[np.int64], NDArray[np.int64]]  # the pairs j <= k
    constant: float
    linear: Array  # g, (q,)
    square: Array  # m, (pairs,)
    cubic: Array  # A_3, (pairs, q)
    quartic: Array  # A_4, (pairs, pairs)

    @classmethod
    def at(cls, target: Target, mode: Mode) -> Surface | None:
        """The surface of a target with one linear predictor and nothing else; None where it would not save work."""
        size = len(mode.point)
        if target.family.count != 1 or target.family.auxiliary or not 0 < size <= WIDEST:
            return None
        pairs = np.triu_indices(size)
        constant, linear, square = 0.0, np.zeros(size), np.zeros(len(pairs[0]))
        cubic = np.zeros((len(pairs[0]), size))
        quartic = np.zeros((len(pairs[0]), len(pairs[0])))
        half = np.linalg.cholesky(mode.precision)
        coefficients = target.unpack(mode.point[None])[0][0, 0]
        for design, response, weight in target.data.blocks():
            for start in range(0, len(response), CHUNK):
                rows = slice(start, start + CHUNK)
                matrix = design[rows]
                free = matrix if target.free.all() else matrix[:, target.free]
                reach = SPAN * np.linalg.norm(solve_triangular(half, free.T, lower=True), axis=0)
                powers = _interpolate(target, response[rows], matrix @ coefficients, np.maximum(reach, 1e-6))
                if weight is not None:
                    powers = powers * weight[rows]
                products = free[:, pairs[0]] * free[:, pairs[1]]
                constant += float(powers[0].sum())
                linear += powers[1] @ free
                square += powers[2] @ products
                cubic += products.T @ (free * powers[3][:, None])
                quartic += products.T @ (products * powers[4][:, None])
        return cls(target, mode.point, pairs, constant, linear, square, cubic, quartic)

    def log_density(self, points: Array) -> Array:
        """The log posterior of every point, up to the constant of `Target.log_density`."""  # (H,)
        away = points - self.mode
        twice = np.where(self.first[0] == self.first[1], 1.0, 2.0)
        products = away[:, self.first[0]] * away[:, self.first[1]] * twice
        whole, u = self.target.unpack(points)
        result: Array = (
            self.constant
            + away @ self.linear
            + products @ self.square
            + np.einsum("hj,hj->h", products @ self.cubic, away)
            + np.einsum("hj,hj->h", products @ self.quartic, products)
            + self.target.prior.log_density(whole.reshape(len(points), -1), u)
        )
        return result

    def agrees(self, points: Array, distance: Array) -> bool:
        """Whether it is as close as it must be at the farthest points and at some others."""
        farthest = np.argsort(distance)[-8:]
        tried = points[np.union1d(farthest, np.arange(0, len(points), max(1, len(points) // 16)))]
        return bool(np.abs(self.log_density(tried) - self.target.log_density(tried)).max() < CLOSE)


def _interpolate(target: Target, response: Array, predictor: Array, reach: Array) -> Array:
    """The coefficients a_ik of each row."""  # (5, n)
    none = np.zeros((1, 0))
    values = np.stack(
        [target.family.log_density(response, (predictor + node * reach)[None], none)[0] for node in NODES]
    )
    return np.asarray((_FIT @ values) / reach ** np.arange(5)[:, None])
