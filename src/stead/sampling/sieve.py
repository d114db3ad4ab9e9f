"""Proposals that a cheap approximation has looked at first: those that it finds too many of are thinned out.

A draw theta of the proposal q passes with probability

    a(theta) = p~(theta) / (c q(theta)), held between FLOOR and 1,

so that what passes is independent, with a density proportional to q a: nearly the approximation p~ itself. An independence
chain over it, with weights posterior / (q a), is exact whatever p~ is, and moves at nearly every step where p~ is close.
Where p~ is far too low, no weight is more than 1 / FLOOR times what it is without the sieve. Tierney (1994), Annals of
Statistics 22, section 2.3.4. The chain that looks at p~ first and at the posterior later (Christen & Fox 2005) was
refused: which points it looks at depends on what was accepted before, so that they cannot be computed in one pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from stead.sampling.proposals import SplitStudentT

    Array = NDArray[np.float64]

FLOOR = 0.1
PILOT, HIGH = 256, 0.9
"""c is at this quantile of p~ / q over a pilot sample that is used for nothing else."""


@dataclass(frozen=True)
class Sieved:
    """A proposal behind a sieve."""

    proposal: SplitStudentT
    approximation: Callable[[Array], Array]
    level: float  # log c
    share: float
    """Of the pilot sample, what passes."""

    @classmethod
    def over(
        cls, proposal: SplitStudentT, approximation: Callable[[Array], Array], rng: np.random.Generator
    ) -> Sieved:
        """Look at a pilot sample for c."""
        ratio = _ratio(approximation, *proposal.offer(PILOT, rng))
        finite = ratio[np.isfinite(ratio)]
        level = float(np.quantile(finite, HIGH)) if len(finite) else 0.0
        return cls(proposal, approximation, level, float(np.exp(_held(ratio - level)).mean()))

    def offer(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Independent points that passed, and log(q a) at each, up to a constant."""  # (count, p), (count,)
        kept: list[tuple[Array, Array]] = []
        left = count
        while left > 0:
            points, log_proposal = self.proposal.offer(int(1.1 * left / self.share) + 16, rng)
            log_pass = _held(_ratio(self.approximation, points, log_proposal) - self.level)
            passed = np.log(rng.random(len(points))) < log_pass
            kept.append((points[passed], (log_proposal + log_pass)[passed]))
            left -= int(passed.sum())
        points, log_density = (np.concatenate(part)[:count] for part in zip(*kept, strict=True))
        return points, log_density


def _held(ratio: Array) -> Array:
    """Log a."""
    return np.clip(ratio, np.log(FLOOR), 0.0)


def _ratio(approximation: Callable[[Array], Array], points: Array, log_proposal: Array) -> Array:
    """Log(p~ / q); -inf where p~ is not a number."""
    ratio = approximation(points) - log_proposal
    return np.where(np.isnan(ratio), -np.inf, ratio)
