"""Averages of weights over draws, and how far they can be relied on.

    log E[p w_g] = logsumexp_h(log p_h + log w_hg) - logsumexp_h(log p_h)

with ESS = (sum a)^2 / sum a^2 for the addends a_h = p_h w_hg, and Pareto k of their tail. p_h depends on neither record nor
guess, so that an average under several p is one product of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.sampling.tail import pareto_k

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


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
        highest = np.maximum(log_weight.max(axis=0), -1e300)
        weight = np.exp(log_weight - highest)
        first, second = self.shares @ weight, np.square(self.shares) @ np.square(weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.where(second > 0, first**2 / second, 0.0)
            return np.log(first) + highest, size

    def worst_k(self, log_weight: Array) -> Array:
        """The largest Pareto k over the bases; 0 where the tail is flat."""  # (r,), from (H, r)
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(self.shares), -1e300)
        found = [
            [pareto_k(np.maximum(log + column, -1e300)) or 0.0 for log in logs] for column in log_weight.T
        ]
        return np.array(found).max(axis=1, initial=-np.inf) if found else np.zeros(0)
