"""Draws from the posterior of a regression: proposals at the mode made exact by a chain, or Hamiltonian Monte Carlo.

    1. the mode and its curvature (Newton)
    2. Student-t proposals there, as wide on each side as the posterior is, sieved by a polynomial near the log posterior
    3. independence Metropolis over them; their log posteriors come from that polynomial where it agrees, else from all rows
    4. where the weights have a heavy tail (Pareto k) or few draws are effective: Hamiltonian Monte Carlo instead

Each step is a module of its own; which of them made the draws is in `Diagnostics.method`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stead.glm.mode import find_mode
from stead.glm.surface import Surface
from stead.sampling import diagnostics
from stead.sampling.hamiltonian import hamiltonian_chains
from stead.sampling.proposals import SplitStudentT, independence_chain, proposals_needed
from stead.sampling.sieve import Sieved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.mode import Mode
    from stead.glm.target import Target
    from stead.sampling.diagnostics import Diagnostics

    Array = NDArray[np.float64]

METROPOLIS = "independence Metropolis on Student-t proposals at the mode"
HAMILTONIAN = "Hamiltonian Monte Carlo, preconditioned at the mode"
THIN_PATHS = 5
"""Paths between two draws where every path as a draw does not mix."""
IMPOSSIBLE = -1e300
"""The log weight of a proposal that cannot be."""
LEAST_SHARE = 0.2
"""Below this share of effective draws the proposals are given up."""


def draw(target: Target, draws: int, rng: np.random.Generator) -> tuple[Array, Diagnostics]:
    """Draws of the free parameters of `target`."""  # (H, q)
    if not target.width:
        return np.zeros((draws, 0)), diagnostics.independent("nothing to draw", draws)
    mode = find_mode(target)
    for_proposals, for_paths = rng.spawn(2)
    points, checked = _metropolis(target, mode, draws, for_proposals)
    share = 1.0 if checked.ess_bulk is None else checked.ess_bulk / draws
    heavy = checked.pareto_k is not None and checked.pareto_k > diagnostics.HIGHEST_K
    if not heavy and share >= LEAST_SHARE:
        return points, checked
    why = (
        f"Pareto k of the proposals was {checked.pareto_k:.2f}"
        if heavy
        else f"{share:.0%} of the proposals' draws were effective"
    )
    return _hamiltonian(target, mode, draws, why, for_paths)


def _hamiltonian(
    target: Target, mode: Mode, draws: int, why: str, rng: np.random.Generator
) -> tuple[Array, Diagnostics]:
    """A path for each draw; where those do not mix, several, of which the last is kept."""
    for thin, stream in zip((1, THIN_PATHS), rng.spawn(2), strict=True):
        points, acceptance = hamiltonian_chains(target, mode.point, mode.precision, draws, stream, thin)
        checked = replace(diagnostics.of_chain(HAMILTONIAN, points, None, acceptance), why=why)
        if not checked.problems:
            break
    return points, checked


def _metropolis(
    target: Target, mode: Mode, draws: int, rng: np.random.Generator
) -> tuple[Array, Diagnostics]:
    surface = Surface.at(target, mode)
    degrees = max(10.0, 4.0 * target.width)
    count = proposals_needed(draws)
    if surface is not None:
        cheap = surface.log_density
        proposal = SplitStudentT.around(mode.point, mode.precision, cheap, degrees)
        offered, log_proposal = Sieved.over(proposal, cheap, rng).offer(count, rng)
        if surface.agrees(offered, log_proposal):
            return _chain(proposal, offered, log_proposal, cheap(offered), draws, rng)
    proposal = SplitStudentT.around(mode.point, mode.precision, target.log_density, degrees)
    source = proposal if surface is None else Sieved.over(proposal, surface.log_density, rng)
    offered, log_proposal = source.offer(count, rng)
    return _chain(proposal, offered, log_proposal, target.log_density(offered), draws, rng)


def _chain(
    proposal: SplitStudentT,
    offered: Array,
    log_proposal: Array,
    height: Array,
    draws: int,
    rng: np.random.Generator,
) -> tuple[Array, Diagnostics]:
    """Pareto k is that of the weights without the sieve: with it most are the same, and the few others have no tail to speak of."""
    log_weight = np.maximum(height - log_proposal, IMPOSSIBLE)
    index, acceptance = independence_chain(log_weight, draws, rng)
    plain = np.maximum(height - proposal.log_density(offered), IMPOSSIBLE)
    points = offered[index]
    return points, diagnostics.of_chain(METROPOLIS, points, plain, acceptance)
