"""Published draws of a model, taken over as they are: the beliefs that were published with them follow.

    log belief_g = logsumexp_h(log p_h + log w_hg) - logsumexp_h(log w_hg) - ...,
    p_h = p(Z | theta_h),     w_hg = p(guess g | theta_h) / p(truth | theta_h)

is written out here from the two methods of a posterior alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import stead
from stead.tables.records import Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.models.base import Posterior

    Array = NDArray[np.float64]

KNOWN = Path(__file__).resolve().parents[3] / "shared" / "known"
pytestmark = pytest.mark.skipif(
    not KNOWN.is_dir(), reason="the files with known answers (../shared/known) are not here"
)
RECORD = 7  # the eighth
ANSWER = {
    12.6: 0.09231563,
    12.1: 0.09228750,
    13.1: 0.09204320,
    11.6: 0.09203442,
    11.1: 0.09160126,
    13.6: 0.09136939,
    10.6: 0.09099926,
    10.1: 0.09020571,
    14.1: 0.09017674,
    9.6: 0.08916632,
    9.1: 0.08780057,
}


def _logs(name: str) -> stead.Records:
    read = stead.read(KNOWN / name, categorical=["UrbanRural", "Race"])
    logged = {f"Log{key}": np.round(np.log(read[key].values), 1) for key in ("Income", "Expenditure")}
    return stead.table(logged)


def _draws() -> Array:
    return np.loadtxt(KNOWN / "ce_994_draws.csv", delimiter=",", skiprows=1)[:, 1:]


def _belief(posterior: Posterior) -> dict[float, float]:
    confidential, synthetic = _logs("ce_994.csv"), _logs("ce_994_synthetic.csv")
    log_p = posterior.log_likelihood(synthetic).sum(axis=1)  # (H,)
    truth = posterior.log_likelihood(confidential)[:, RECORD]
    evidence = {}
    for shift in np.arange(-2.5, 2.75, 0.5):
        values = confidential["LogIncome"].values + shift
        guess = confidential.with_column(confidential.schema["LogIncome"], Values.complete(values))
        log_w = posterior.log_likelihood(guess.take(np.array([RECORD])))[:, 0] - truth
        evidence[round(float(values[RECORD]), 1)] = logsumexp(log_p + log_w) - logsumexp(log_w)
    total = logsumexp(list(evidence.values()))
    return {guess: float(np.exp(value - total)) for guess, value in evidence.items()}


def test_the_draws_of_the_lecture() -> None:
    posterior = stead.Linear("LogIncome ~ LogExpenditure").posterior(_draws())
    assert posterior.parameters == ("Intercept", "LogExpenditure", "sigma")
    assert _belief(posterior) == pytest.approx(ANSWER, abs=1e-8)


def test_the_same_draws_as_a_model_that_was_fitted_elsewhere() -> None:
    """With a function for the density; its predictive draws play no part in a belief."""
    draws = _draws()
    confidential = _logs("ce_994.csv")

    def density(records: stead.Records, named: dict[str, Array]) -> Array:
        mean = named["beta[0]"][:, None] + named["beta[1]"][:, None] * records["LogExpenditure"].values
        return np.asarray(stats.norm.logpdf(records["LogIncome"].values, mean, named["sigma"][:, None]))

    source = {
        "posterior": {"beta": draws[None, :, :2], "sigma": draws[None, :, 2]},
        "posterior_predictive": {"LogIncome": np.tile(confidential["LogIncome"].values, (1, 50, 1))},
    }
    posterior = stead.External(source, "LogIncome", log_likelihood=density).fit(confidential)
    assert _belief(posterior) == pytest.approx(ANSWER, abs=1e-8)
