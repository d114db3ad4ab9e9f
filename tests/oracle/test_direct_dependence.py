"""Why a synthetic record that depends on its confidential one directly is refused: enumeration of small generators.

Each generator has parameters on a finite grid, so that p(Z | y_-i, g) is a finite sum. The plain formula takes Z to
depend on y through the parameters alone; where something else is shared it answers another question.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import stead
from stead.models.regression_posterior import RegressionPosterior

GRID = np.linspace(0.05, 0.95, 10)


def _bernoulli(y: int, p: Any) -> Any:
    return p if y else 1 - p


def test_a_column_predicted_from_a_confidential_one() -> None:
    """B is released as a draw given the confidential a: Z_i says of a_i what its own likelihood says."""
    a, b, z = (1, 0, 1), (1, 0, 1), (1, 0, 1)
    record = 0

    def joint(guess: int, *, direct: bool) -> float:
        """p(Z | y_-i, a_i = guess), by summing over the two probabilities of b given a."""
        known = list(a)
        known[record] = guess
        above = below = 0.0
        for p0, p1 in product(GRID, GRID):
            p = (p0, p1)
            data = np.prod([_bernoulli(b[i], p[known[i]]) for i in range(3)])
            # directly: row i of Z is drawn given the confidential a_i; plainly: given the released, true a
            made = np.prod([_bernoulli(z[i], p[known[i] if direct else a[i]]) for i in range(3)])
            above += data * made
            below += data
        return float(above / below)

    def belief(*, direct: bool) -> float:
        first, second = (joint(guess, direct=direct) for guess in (0, 1))
        return second / (first + second)

    assert belief(direct=True) > belief(direct=False) + 0.1
    with pytest.raises(stead.UsageError, match="which a later model makes"):
        stead.Sequence([stead.Logistic("b ~ a"), stead.Logistic("a ~ 1")])


def test_a_kept_class() -> None:
    """Two classes that all but determine the value; the class of a record is drawn once and kept for its synthetic row."""
    high = {0: 0.02, 1: 0.98}  # P(value = 1 | class), known
    z, others = 1, 0.5

    def evidence(guess: int, *, kept: bool) -> float:
        given = {k: others * _bernoulli(guess, high[k]) for k in (0, 1)}
        total = sum(given.values())
        if kept:  # row i of Z comes from the class of record i
            return float(sum(given[k] / total * _bernoulli(z, high[k]) for k in (0, 1)))
        # a class drawn anew knows nothing of record i
        return float(sum(others * _bernoulli(z, high[k]) for k in (0, 1)))

    kept = evidence(1, kept=True) / (evidence(0, kept=True) + evidence(1, kept=True))
    plain = evidence(1, kept=False) / (evidence(0, kept=False) + evidence(1, kept=False))
    assert plain == pytest.approx(0.5)
    assert kept > 0.95


def test_a_shared_mask_counts_once() -> None:
    """Two sets whose row i is drawn around one mask W of the value: adding their evidence counts W twice."""
    values, spread = np.array([-1.0, 0.0, 1.0]), 1.0
    masks = np.linspace(-6.0, 6.0, 2401)
    z = np.array([1.2, 0.9])

    def normal(x: Any, mean: Any) -> Any:
        return np.exp(-0.5 * ((x - mean) / spread) ** 2)

    weights = normal(masks[None, :], values[:, None])  # p(W | y = g)
    weights /= weights.sum(axis=1, keepdims=True)
    each = [(weights * normal(one, masks)).sum(axis=1) for one in z]
    jointly = (weights * normal(z[0], masks) * normal(z[1], masks)).sum(axis=1)
    summed = each[0] * each[1]
    right, wrong = jointly / jointly.sum(), summed / summed.sum()
    assert wrong[2] > right[2] + 0.03


def test_such_a_posterior_is_refused_until_it_supplies_its_likelihood() -> None:
    class Masked(RegressionPosterior):
        depends_on_record = "a mask that all sets share"

    survey = stead.consumer_survey(200)
    release = stead.synthesize(survey, stead.Linear("log(Income) ~ Race"), m=1, draws=50, rng=1)
    fitted = release.posterior
    assert isinstance(fitted, RegressionPosterior)
    masked = Masked(**{name: getattr(fitted, name) for name in fitted.__dataclass_fields__})
    with pytest.raises(stead.UsageError, match="a mask that all sets share"):
        stead.attribute_risk(replace(release, posterior=masked), "Income")
