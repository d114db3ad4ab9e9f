"""Draws of a regression that has no closed form: which terms are free, the draws, what is to be said of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused
from stead.glm.mode import find_mode
from stead.glm.priors import CoefficientPrior, IndependentPrior
from stead.glm.rank import independent_columns
from stead.glm.target import Target
from stead.sampling.posterior_draws import draw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.families import Family
    from stead.glm.priors import Prior
    from stead.glm.standardized import Constants, Standardized
    from stead.sampling.diagnostics import Diagnostics

    Array = NDArray[np.float64]

LOOSE = 0.8
"""A posterior standard deviation above this, per indicator or standardized predictor, may be the prior's own."""


@dataclass(frozen=True)
class Fitted:
    """Draws on the scales of the data, and what is to be said of them."""

    coefficients: Array  # (H, L p), one linear predictor after the other
    auxiliary: Array  # (H, A)
    diagnostics: Diagnostics
    constants: Constants
    notes: tuple[str, ...] = ()


def draw_regression(
    data: Standardized,
    family: Family,
    prior: Prior,
    center: tuple[float, float],
    draws: int,
    rng: np.random.Generator,
) -> Fitted:
    """Draws from p(coefficients, auxiliary | data)."""
    free = ~data.constant
    if "threshold1" in family.auxiliary:  # thresholds take the place of an intercept
        free[0] = False
    if isinstance(prior, IndependentPrior) and np.isinf(prior.coefficients.scale).any():
        free &= independent_columns(data.gram())
    target = Target(data, family, prior, free)
    points, checked = draw(target, draws, rng)
    whole, u = target.unpack(points)
    notes = left_out(data, free)
    if (
        family.separable
        and points[:, : target.effects].std(axis=0).max(initial=0.0) > LOOSE
        and _separated(target)
    ):
        notes = (
            *notes,
            "the predictors separate the levels or the zeros: how large the effects are is decided by the prior",
        )
    coefficients, auxiliary = data.original(whole.reshape(draws, -1)), family.natural(u)
    if "threshold1" in family.auxiliary:  # P(y <= k) = F(c_k - x'b): centring moves the thresholds
        auxiliary = auxiliary - coefficients[:, :1]
        coefficients[:, 0] = 0.0
    return Fitted(coefficients, auxiliary, checked, data.constants(center), notes)


def left_out(data: Standardized, free: NDArray[np.bool_]) -> tuple[str, ...]:
    """One sentence for the columns that never vary, one for those that others determine; terms, never levels."""
    notes = []
    determined = ~free & ~data.constant
    determined &= np.array(data.sources) != "Intercept"
    for marked, why in ((data.constant, "never vary"), (determined, "are determined by others")):
        if marked.any():
            terms = dict.fromkeys(data.sources[place] for place in np.flatnonzero(marked))
            notes.append(
                f"{int(marked.sum())} columns of the design {why} and are left out, in {', '.join(terms)}"
            )
    return tuple(notes)


def _separated(target: Target) -> bool:
    """Whether the likelihood alone has no maximum."""
    width = len(target.free) * target.family.count
    flat = CoefficientPrior(np.zeros(width), np.full(width, np.inf), np.full(width, np.inf))
    free = target.free & independent_columns(target.data.gram())
    auxiliary = target.prior.auxiliary if isinstance(target.prior, IndependentPrior) else ()
    try:
        find_mode(Target(target.data, target.family, IndependentPrior(flat, auxiliary), free))
    except InputRefused as error:
        return error.code == "E-SEPARATION"
    return False
