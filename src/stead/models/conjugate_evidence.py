"""Exact evidence for a linear regression under its conjugate prior.

With D the confidential rows and Z a synthetic set, p(Z | y) = C(D and Z) / C(D), where C is proportional to S^(-nu/2):

    log p(Z | y_-i, g) = -(nu_0 + n + n_s)/2 log S_DZ(g) + (nu_0 + n)/2 log S_D(g) + const,
    S(y_i + delta) = S + 2 delta (y_i - x_i'b) + delta^2 (1 - h_i),      h_i = x_i'L^-1 x_i,

S = nu s^2 and b, L as in linear.py, each for its own rows. A guess changes one response, so that every record and guess costs
a few multiplications. Gelman et al. (2013), section 14.8, for the marginal likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.glm.priors import ConjugatePrior
from stead.glm.standardized import Standardized
from stead.models.linear import Linear, conjugate
from stead.models.response import NumericResponse
from stead.tables.stacking import stacked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from stead.models.regression_posterior import RegressionPosterior
    from stead.tables.records import Records

    Array = NDArray[np.float64]


def has_exact_evidence(posterior: RegressionPosterior) -> bool:
    """Whether the draws came from the closed form, and a guess moves a density alone."""
    response = posterior.response
    return (
        isinstance(posterior.model, Linear)
        and posterior.constants is not None
        and posterior.model.prior != "flat"
        and isinstance(posterior.model.prior, (str, ConjugatePrior))
        and isinstance(response, NumericResponse)
        and not response.rounded
        and not posterior.parts.spikes
        and not posterior.model.weights
        and not response.family.bounded
    )


def exact_evidence(
    posterior: RegressionPosterior,
    confidential: Records,
    synthetic: Sequence[Records],
    values: Mapping[str, NDArray[Any]],
    rows: NDArray[np.int64],
) -> Array:
    """The evidence, summed over the sets."""  # (n, G)
    response = posterior.response
    if not isinstance(response, NumericResponse):
        raise TypeError("asked for before")
    guesses = values[posterior.column.name]
    held = confidential[posterior.column.name]
    here = response.encode(held.values, held.present)[rows]
    moved = np.stack([response.encode(one, np.ones(len(one), bool)) for one in guesses])
    delta = (moved - here).T  # (n, G)
    base = _Rows.of(posterior, confidential, rows, here)
    total = np.zeros(delta.shape)
    for made in synthetic:
        both = _Rows.of(posterior, stacked(confidential, made), rows, here)
        total += both.log_marginal(delta) - base.log_marginal(delta)
    return np.where(np.isnan(delta), -np.inf, total)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The conjugate posterior given some rows, and where the records in question lie under it."""

    degrees: float
    square: float  # S
    residual: Array  # (n,), y_i - x_i'b
    leverage: Array  # (n,), h_i

    @classmethod
    def of(
        cls, posterior: RegressionPosterior, records: Records, rows: NDArray[np.int64], here: Array
    ) -> _Rows:
        response, constants = posterior.response, posterior.constants
        if constants is None:
            raise ValueError("asked for before")
        held = records[posterior.column.name]
        data = Standardized(
            posterior.design,
            records,
            response.encode(held.values, held.present),
            held.present,
            None,
            constants,
        )
        center, deviation = constants.center
        given = posterior.model.prior
        prior = given if isinstance(given, ConjugatePrior) else ConjugatePrior(center, 0.1 * deviation)
        fit = conjugate(data, prior, center)
        design = data.standard(posterior.design.matrix(records.take(rows)))
        half = fit.half(design[:, fit.free])
        return cls(
            fit.degrees, fit.degrees * fit.spread**2, here - design @ fit.location, (half**2).sum(axis=0)
        )

    def log_marginal(self, delta: Array) -> Array:
        """-nu/2 log S(delta)."""
        square = (
            self.square + 2.0 * delta * self.residual[:, None] + delta**2 * (1.0 - self.leverage[:, None])
        )
        return np.asarray(-0.5 * self.degrees * np.log(square))
