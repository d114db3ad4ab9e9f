"""The log-likelihood of many draws at once, for a cost that does not grow with draws times rows.

Near the mode each row is a polynomial of degree 4 in the distance of its predictor from that at the mode, delta_i = x_i'd:

    sum_i w_i log p(y_i | eta_i + delta_i) = sum_k sum_i w_i a_ik delta_i^k
                                           = c + g'd + v'm + v'A_3 d + v'A_4 v,      v = all products d_j d_k,

and the sums over rows of a_ik times products of x are taken once. The a_ik interpolate log p at five points that span
three posterior standard deviations of delta_i. It is used in place of the likelihood where a probability of acceptance
is off by less than `CLOSE`, which is tried at the farthest proposals and at others; elsewhere every draw is computed
directly. Tierney & Kadane (1986) expand the same function to the same order for its integral.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.mode import Mode
    from stead.glm.target import Target

    Array = NDArray[np.float64]

CLOSE = 1e-3
"""Largest error in a probability of acceptance: the error in the log posterior, times that probability."""
SPAN = 3.0
NODES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
_FIT = np.linalg.inv(np.vander(NODES, increasing=True))
CHUNK = 512
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
        half = np.linalg.inv(np.linalg.cholesky(mode.precision))
        coefficients = target.unpack(mode.point[None])[0][0, 0]
        for design, response, weight in target.data.blocks():
            for start in range(0, len(response), CHUNK):
                rows = slice(start, start + CHUNK)
                matrix = design[rows]
                free = np.ascontiguousarray((matrix if target.free.all() else matrix[:, target.free]).T)
                reach = SPAN * np.sqrt(((half @ free) ** 2).sum(axis=0))
                powers = _interpolate(target, response[rows], matrix @ coefficients, np.maximum(reach, 1e-6))
                if weight is not None:
                    powers = powers * weight[rows]
                products = free[pairs[0]] * free[pairs[1]]  # (pairs, rows)
                constant += float(powers[0].sum())
                linear += free @ powers[1]
                square += products @ powers[2]
                cubic += products @ (free * powers[3]).T
                quartic += products @ (products * powers[4]).T
        return cls(target, mode.point, pairs, constant, linear, square, cubic, quartic)

    def log_density(self, points: Array) -> Array:
        """The log posterior of every point, up to the constant of `Target.log_density`."""  # (H,)
        away = np.ascontiguousarray((points - self.mode).T)  # (q, H)
        twice = np.where(self.first[0] == self.first[1], 1.0, 2.0)
        products = away[self.first[0]] * away[self.first[1]] * twice[:, None]  # (pairs, H)
        inner = self.quartic @ products
        inner += self.cubic @ away
        inner += self.square[:, None]
        whole, u = self.target.unpack(points)
        result: Array = (
            self.constant
            + self.linear @ away
            + np.einsum("jh,jh->h", inner, products)
            + self.target.prior.log_density(whole.reshape(len(points), -1), u)
        )
        return result

    def agrees(self, points: Array, log_proposal: Array) -> bool:
        """Whether it is as close as it must be at the farthest proposals and at some others."""
        farthest = np.argsort(log_proposal)[:8]
        tried = np.union1d(farthest, np.arange(0, len(points), max(1, len(points) // 16)))
        cheap, exact = self.log_density(points[tried]), self.target.log_density(points[tried])
        log_weight = np.maximum(cheap, exact) - log_proposal[tried]
        accepted = np.exp(np.minimum(log_weight - np.median(log_weight), 0.0))
        return bool((np.abs(cheap - exact) * accepted).max() < CLOSE)


def _interpolate(target: Target, response: Array, predictor: Array, reach: Array) -> Array:
    """The coefficients a_ik of each row."""  # (5, n)
    none = np.zeros((1, 0))
    values = np.stack(
        [target.family.log_density(response, (predictor + node * reach)[None], none)[0] for node in NODES]
    )
    return np.asarray((_FIT @ values) / reach ** np.arange(5)[:, None])
