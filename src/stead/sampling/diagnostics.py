"""What a sampler says of its own draws: effective sizes, R-hat, Pareto k, and when they are too bad to release.

Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis 16 (rank-normalized R-hat, bulk and
tail effective size); Vehtari, Simpson, Gelman, Yao & Gabry (2024), JMLR 25 (Pareto k). See mixing.py and tail.py.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.sampling.mixing import mixing
from stead.sampling.proposals import CHAINS
from stead.sampling.tail import pareto_k

if TYPE_CHECKING:
    from numpy.typing import NDArray

HIGHEST_K, HIGHEST_R_HAT, LEAST_SHARE, ENOUGH_FOR_R_HAT = 0.7, 1.05, 0.1, 400
FEWEST_STATES = 4


@dataclass(frozen=True)
class Diagnostics:
    """The worst figure over all parameters of one fit; None where it does not apply."""

    method: str
    draws: int
    ess_bulk: float | None = None
    ess_tail: float | None = None
    rhat: float | None = None
    pareto_k: float | None = None
    acceptance: float | None = None
    why: str = ""
    """Why this method and not the first choice; empty where it was."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Why these draws are not to be relied on; empty where they are."""
        found = []
        if self.pareto_k is not None and self.pareto_k > HIGHEST_K:
            found.append(
                f"Pareto k is {self.pareto_k:.2f} (limit {HIGHEST_K}): the proposals miss part of the posterior"
            )
        if self.rhat is not None and self.draws >= ENOUGH_FOR_R_HAT and self.rhat > HIGHEST_R_HAT:
            found.append(f"R-hat is {self.rhat:.3f} (limit {HIGHEST_R_HAT}): the chains do not agree")
        if self.ess_bulk is not None and self.ess_bulk < LEAST_SHARE * self.draws:
            found.append(
                f"{self.ess_bulk:.0f} of {self.draws} draws are effective (at least {LEAST_SHARE:.0%}): the chain hardly moves"
            )
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """For the assessment."""
        return asdict(self)


def independent(method: str, draws: int) -> Diagnostics:
    """Of draws that are independent by construction."""
    return Diagnostics(method, draws)


def of_chain(
    method: str, draws: NDArray[np.float64], log_weight: NDArray[np.float64] | None, acceptance: float
) -> Diagnostics:
    """Of draws from four chains that take turns, and of the weights of all proposals where there were any."""  # draws (H, p)
    each = len(draws) // CHAINS
    chains = (
        draws[: each * CHAINS].reshape(each, CHAINS, draws.shape[1]).transpose(2, 1, 0)
    )  # (p, chains, draws)
    k = None if log_weight is None else pareto_k(log_weight)
    return replace(of_given_chains(method, chains), draws=len(draws), pareto_k=k, acceptance=acceptance)


def of_given_chains(method: str, chains: NDArray[np.float64]) -> Diagnostics:
    """Of draws alone, (parameters, chains, draws); parameters that never vary are left out."""
    count = chains.shape[1] * chains.shape[2]
    varying = chains[np.ptp(chains, axis=(1, 2)) > 0] if count else chains[:0]
    if chains.shape[2] < FEWEST_STATES or not len(varying):
        return Diagnostics(method, count)
    rhat, bulk, tail = mixing(varying)
    return Diagnostics(method, count, float(bulk.min()), float(tail.min()), float(rhat.max()))
