"""R-hat, effective sizes and Pareto k against arviz-stats, which computes the same one parameter at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from stead.sampling.mixing import mixing
from stead.sampling.tail import pareto_k

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

array_stats = pytest.importorskip("arviz_stats.base").array_stats
RNG = np.random.default_rng(3)
CHAINS, DRAWS = 4, 250


def _moving(share: float, count: int = DRAWS) -> Array:
    """Chains of y_t = share y_(t-1) + e_t."""
    noise = RNG.normal(size=(CHAINS, count + 50))
    path = np.zeros_like(noise)
    for step in range(1, count + 50):
        path[:, step] = share * path[:, step - 1] + noise[:, step]
    return path[:, 50:]


def _repeating(share: float) -> Array:
    """What a Metropolis chain gives: the state before, again."""
    fresh = RNG.normal(size=(CHAINS, DRAWS))
    kept = RNG.random((CHAINS, DRAWS)) < share
    place = np.where(kept, 0, np.arange(DRAWS))
    return np.take_along_axis(fresh, np.maximum.accumulate(place, axis=1), axis=1)


CASES: dict[str, Array] = {
    "independent": RNG.normal(size=(CHAINS, DRAWS)),
    "heavy tails": RNG.standard_cauchy((CHAINS, DRAWS)),
    "slow": _moving(0.95),
    "alternating": _moving(-0.6),
    "repeated states": _repeating(0.4),
    "whole numbers": RNG.poisson(1.5, (CHAINS, DRAWS)).astype(float),
    "chains apart": RNG.normal(size=(CHAINS, DRAWS)) + np.arange(CHAINS)[:, None],
    "chains of different widths": RNG.normal(size=(CHAINS, DRAWS)) * np.arange(1, CHAINS + 1)[:, None],
    "an odd number of draws": RNG.normal(size=(CHAINS, DRAWS))[:, :101],
    "few draws": RNG.normal(size=(CHAINS, 5)),
    "far from zero": 1e9 + RNG.normal(size=(CHAINS, DRAWS)),
}


@pytest.mark.parametrize("name", CASES)
def test_r_hat_and_effective_sizes(name: str) -> None:
    chains = CASES[name]
    rhat, bulk, tail = mixing(chains[None])
    assert rhat[0] == pytest.approx(float(array_stats.rhat(chains)), rel=1e-9)
    assert bulk[0] == pytest.approx(float(array_stats.ess(chains, method="bulk")), rel=1e-9)
    expected = float(array_stats.ess(chains, method="tail", prob=(0.05, 0.95)))
    assert tail[0] == pytest.approx(expected, rel=1e-9)


def test_many_parameters_at_once_are_each_on_their_own() -> None:
    named = [chains for chains in CASES.values() if chains.shape == (CHAINS, DRAWS)]
    together = mixing(np.stack(named))
    alone = [mixing(chains[None]) for chains in named]
    for place, figure in enumerate(together):
        assert figure == pytest.approx(np.array([one[place][0] for one in alone]), rel=1e-12)


@pytest.mark.parametrize("degrees", [2.0, 5.0, 30.0])
@pytest.mark.parametrize("count", [60, 1200])
def test_pareto_k(degrees: float, count: int) -> None:
    """Log ratios of a normal target over t proposals, and the other way round, whose tail is heavy."""
    points = RNG.standard_t(degrees, count)
    ratio = -0.5 * points**2 + 0.5 * (degrees + 1.0) * np.log1p(points**2 / degrees)
    for log_weight in (ratio, -ratio, 3.0 * RNG.normal(size=count)):
        _, expected = array_stats.psislw(-log_weight)
        assert pareto_k(log_weight) == pytest.approx(float(expected), abs=1e-9)


def test_pareto_k_of_a_tail_that_is_known() -> None:
    """Weights u^-k have shape k, and the fit is within its own spread of it."""
    for shape in (0.2, 0.7, 1.2):
        log_weight = -shape * np.log(RNG.random(40_000))
        assert pareto_k(log_weight) == pytest.approx(shape, abs=0.12)


def test_no_tail_no_k() -> None:
    assert pareto_k(np.zeros(1000)) is None
    assert pareto_k(np.zeros(3)) is None
