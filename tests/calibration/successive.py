"""The successive-conditional simulator of Geweke (2004), Journal of the American Statistical Association 99."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import stead
from stead.models.regression_posterior import RegressionPosterior
from stead.tables.records import Values
from stead.tables.schema import Column
from tests.calibration.simulation import BINARY, LinearCase, PriorCase, predictors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.tables.records import Records

    Array = NDArray[np.float64]

PRIOR = stead.ConjugatePrior(center=1.0, spread=0.8, width=1.0, degrees=6.0)
BATCHES = 30


def joint_z(name: str, steps: int, seed: int) -> Array:
    """How far the means of bounded functions of the parameters are from those under the prior, in standard errors."""
    rng = np.random.default_rng(seed)
    given = predictors(6)
    case: LinearCase | PriorCase
    if name == "linear":
        case = LinearCase(stead.Linear("y ~ x", PRIOR), PRIOR, Column("y", "continuous"), given)
    else:
        case = PriorCase(stead.Logistic("y ~ x"), given, BINARY)
    prior = np.array([case.draw(rng)[0] for _ in range(steps)])
    _, records = case.draw(rng)
    chain = []
    for _ in range(steps):
        truth, records = _step(case, records, rng)
        chain.append(truth)
    scale = np.median(np.abs(prior - np.median(prior, axis=0)), axis=0)
    here, there = (
        _bounded((values - np.median(prior, axis=0)) / scale) for values in (np.array(chain), prior)
    )
    batches = here[: steps // BATCHES * BATCHES].reshape(BATCHES, -1, here.shape[1]).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / BATCHES + there.var(axis=0) / steps)
    distance: Array = (here.mean(axis=0) - there.mean(axis=0)) / error
    return distance


def _step(case: LinearCase | PriorCase, records: Records, rng: np.random.Generator) -> tuple[Array, Records]:
    """Parameters given the data, then data given the parameters."""
    posterior = case.model.fit(records, draws=1, rng=rng)
    fresh = posterior.draws[0]
    assert isinstance(posterior, RegressionPosterior)
    drawn = replace(posterior, coefficients=posterior.coefficients[:1]).sample(0, case.given, rng)
    held = drawn[case.column.name]
    return fresh, case.given.with_column(case.column, Values.complete(held.values))


def _bounded(standard: Array) -> Array:
    """Tanh and its square, side by side."""
    bent = np.tanh(standard)
    return np.hstack([bent, bent**2])
