"""Averages of weights over draws, and how far they can be relied on.

    log E[p w_g] = logsumexp_h(log p_h + log w_hg) - logsumexp_h(log p_h)

with ESS = (sum a)^2 / sum a^2 for the addends a_h = p_h w_hg, and Pareto k of their tail. p_h depends on neither record nor
guess, so that an average under several p is one product of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.sampling.tail import pareto_shapes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


IMPOSSIBLE = -1e300
"""The log of a weight that is none."""


@dataclass(frozen=True, eq=False)
class Bases:
    """Several p over the same draws, as shares that add up to 1."""

    shares: Array  # (J, H)

    @classmethod
    def of(cls, log_base: Array) -> Bases:
        """From logs up to a constant each."""
        shifted = np.exp(log_base - log_base.max(axis=1, keepdims=True))
        return cls(shifted / shifted.sum(axis=1, keepdims=True))

    def average(self, log_weight: Array) -> tuple[Array, Array]:
        """Log E[w] and the effective size, of every record."""  # (J, r) each, from (H, r)
        highest = np.maximum(log_weight.max(axis=0), IMPOSSIBLE)
        weight = np.exp(log_weight - highest)
        first, second = self.shares @ weight, np.square(self.shares) @ np.square(weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.where(second > 0, first**2 / second, 0.0)
            return np.log(first) + highest, size

    def worst_k(self, log_weight: Array) -> Array:
        """The largest Pareto k over the bases; 0 where the tail is flat."""  # (r,), from (r, H)
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(self.shares), IMPOSSIBLE)
        shapes = [pareto_shapes(np.maximum(log_weight + log, IMPOSSIBLE)) for log in logs]
        return np.asarray(np.nan_to_num(np.stack(shapes), nan=0.0).max(axis=0))

    def curved(self, slope: Array, curve: Array, moved: Array) -> tuple[Array, Array]:
        """Log E[w] and the effective size for log w = -delta a - delta^2 b that exp() can hold."""  # (J, r, G) each
        shape = (len(self.shares), *moved.shape)
        first, second = np.empty(shape), np.empty(shape)
        weight, bend, squared = np.empty_like(slope), np.empty_like(slope), np.square(self.shares)
        for guess in range(moved.shape[1]):
            delta = moved[:, guess, None]
            np.multiply(slope, -delta, out=weight)
            np.multiply(curve, delta**2, out=bend)
            np.exp(np.subtract(weight, bend, out=weight), out=weight)
            first[:, :, guess] = self.shares @ weight.T
            second[:, :, guess] = squared @ np.square(weight, out=weight).T
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(first), np.where(second > 0, first**2 / second, 0.0)

    def stepped(self, base: Array, curve: Array) -> tuple[Array, Array]:
        """Log E[w] and the effective size of guesses at equal steps, see kernels/belief.py."""  # (J, r, G) each
        from stead.kernels import belief, jit

        shape = (len(self.shares), len(base), 2 * len(curve) - 1)
        first, second = np.empty(shape), np.empty(shape)
        sums = belief.stepped_sums if jit.AVAILABLE else belief.stepped_sums_plain
        sums(base, curve, self.shares, first, second)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(first), np.where(second > 0, first**2 / second, 0.0)
