"""500 replicates of every model in the normal run; `make calibrate` does 4,000 and writes them down."""

from __future__ import annotations

import numpy as np
import pytest

from tests.calibration.simulation import CASES, ranks, unevenness
from tests.calibration.successive import joint_z

REPLICATES = 500
LEAST = 1e-4
"""With fixed seeds this is a constant of the code, not a chance: 27 p-values, each below it with probability 1e-4 (twice, two tests)."""


@pytest.mark.parametrize("name", CASES)
def test_the_rank_of_the_truth_is_uniform(name: str) -> None:
    p_values = unevenness(ranks(CASES[name], REPLICATES, seed=20))
    assert p_values.min() > LEAST, p_values


@pytest.mark.parametrize(("name", "spoil"), [("linear", 0.75), ("linear", 1.3), ("logistic", 0.75)])
def test_a_posterior_of_the_wrong_width_is_found(name: str, spoil: float) -> None:
    p_values = unevenness(ranks(CASES[name], REPLICATES, seed=21, spoil=spoil))
    assert p_values.min() < LEAST, p_values


def test_bounds_left_out_of_the_likelihood_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stead.models.linear._bites", lambda *_: False)
    p_values = unevenness(ranks(CASES["linear between bounds"], REPLICATES, seed=20))
    assert p_values.min() < LEAST, p_values


@pytest.mark.parametrize(("name", "steps"), [("linear", 3000), ("logistic", 1500)])
def test_joint_distribution(name: str, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Geweke (2004): alternate data given parameters and parameters given data; the parameters keep the prior.

    A chain over few rows moves fast; its means are compared with independent draws from the prior by
    batch means. Bounded functions of the parameters are compared, because the prior has heavy tails.
    """
    # data of one level only are refused to users, and are part of the joint distribution
    monkeypatch.setattr("stead.models.regression.require_values", lambda *_: None)
    z = joint_z(name, steps, seed=5)
    assert np.abs(z).max() < 4.0, z
