"""Posterior draws of a logistic regression: proposals at the mode, made exact by independence Metropolis.

    log posterior(beta) = sum_i [y_i x_i'beta - log(1 + exp(x_i'beta))] + log prior(beta),

on centred and scaled predictors. The work is one log-likelihood of all proposals, linear in rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused
from stead.glm.irls import find_mode, log_posterior
from stead.glm.priors import CoefficientPrior
from stead.glm.rank import independent_columns
from stead.sampling import diagnostics
from stead.sampling.proposals import SplitStudentT, independence_chain, proposals_needed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.priors import PriorName
    from stead.glm.standardized import Standardized

    Array = NDArray[np.float64]

METHOD = "independence Metropolis on Student-t proposals at the mode"


def draw_logit(
    data: Standardized, prior: PriorName | CoefficientPrior, draws: int, rng: np.random.Generator
) -> tuple[Array, diagnostics.Diagnostics, NDArray[np.bool_]]:
    """Draws on the scales of the data, their diagnostics, and which coefficients are free."""
    width = len(data.labels)
    chosen = (
        CoefficientPrior.named(prior, width, intercept=data.intercept) if isinstance(prior, str) else prior
    )
    free = ~data.constant
    if prior == "flat":
        free &= independent_columns(
            sum((design.T @ design for design, _ in data.blocks()), np.zeros((width, width)))
        )
    mode = find_mode(data, chosen, free)

    def log_density(points: Array) -> Array:
        whole = np.zeros((len(points), width))
        whole[:, free] = points
        return log_posterior(data, chosen, whole, free)

    precision = mode.precision[np.ix_(free, free)]
    proposal = SplitStudentT.around(
        mode.coefficients[free], precision, log_density, degrees=max(10.0, 4.0 * free.sum())
    )
    offered = proposal.sample(proposals_needed(draws), rng)
    log_weight = log_density(offered) - proposal.log_density(offered)
    index, acceptance = independence_chain(log_weight, draws, rng)
    kept = np.zeros((draws, width))
    kept[:, free] = offered[index]
    return data.original(kept), diagnostics.of_chain(METHOD, kept, log_weight, acceptance), free


def separated(data: Standardized, free: NDArray[np.bool_]) -> bool:
    """Whether the likelihood alone has no maximum: some predictor tells the two levels apart for certain."""
    width = len(data.labels)
    flat = CoefficientPrior(np.zeros(width), np.full(width, np.inf), np.full(width, np.inf))
    gram = sum((design.T @ design for design, _ in data.blocks()), np.zeros((width, width)))
    try:
        find_mode(data, flat, free & independent_columns(gram))
    except InputRefused as error:
        return error.code == "E-SEPARATION"
    return False
