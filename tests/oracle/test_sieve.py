"""A chain over sieved proposals has the posterior as its target, however wrong the approximation in the sieve is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import integrate, stats
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

import stead
from stead.glm.threads import threads_for
from stead.models.regression_posterior import RegressionPosterior
from stead.sampling.proposals import SplitStudentT, independence_chain, proposals_needed
from stead.sampling.sieve import FLOOR, Sieved

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MANY = 20_000
GUMBEL = stats.gumbel_r()


def _target(points: Array) -> Array:
    return np.asarray(GUMBEL.logpdf(points[:, 0]))


APPROXIMATIONS: dict[str, Callable[[Array], Array]] = {
    "itself": _target,
    "shifted": lambda points: _target(points - 1.5),
    "normal": lambda points: -0.5 * points[:, 0] ** 2,
    "turned round": lambda points: _target(-points),
    "without a bound": lambda points: points[:, 0] ** 4,
    "not a number on one side": lambda points: np.where(points[:, 0] > 0.3, np.nan, 0.0),
    "impossible on one side": lambda points: np.where(points[:, 0] > 0.3, -np.inf, _target(points)),
}


def _sieve(approximation: Callable[[Array], Array]) -> Sieved:
    proposal = SplitStudentT.around(np.zeros(1), np.eye(1), _target, 10.0)
    return Sieved.over(proposal, approximation, np.random.default_rng(1))


@pytest.mark.parametrize("name", APPROXIMATIONS)
def test_what_passes_has_the_density_that_is_said(name: str) -> None:
    sieve = _sieve(APPROXIMATIONS[name])
    points, log_density = sieve.offer(MANY, np.random.default_rng(2))
    grid = np.linspace(-30.0, 60.0, 400_001)
    plain = sieve.proposal.log_density(grid[:, None])
    ratio = np.minimum(APPROXIMATIONS[name](grid[:, None]) - plain - sieve.level, 0.0)
    density = np.exp(plain) * np.maximum(np.exp(np.where(np.isnan(ratio), -np.inf, ratio)), FLOOR)
    area = integrate.cumulative_trapezoid(density, grid, initial=0)
    assert stats.kstest(np.interp(points[:, 0], grid, area / area[-1]), "uniform").pvalue > 1e-3
    said = np.exp(log_density - log_density.max()) / np.interp(points[:, 0], grid, density)
    assert np.median(np.abs(said / np.median(said) - 1.0)) < 1e-3


@pytest.mark.parametrize("name", APPROXIMATIONS)
def test_the_chain_is_exact(name: str) -> None:
    rng = np.random.default_rng(3)
    points, log_proposal = _sieve(APPROXIMATIONS[name]).offer(proposals_needed(MANY), rng)
    index, acceptance = independence_chain(_target(points) - log_proposal, MANY, rng)
    apart = (
        points[index, 0].reshape(-1, 4)[::20].ravel()
    )  # states of one chain, far enough apart to be independent
    assert stats.kstest(apart, GUMBEL.cdf).pvalue > 1e-3
    assert acceptance > (0.97 if name == "itself" else 0.2)


def test_a_rare_level_costs_few_draws() -> None:
    """One case of a level: the polynomial is refused as a likelihood, and still good as a sieve."""
    rng = np.random.default_rng(0)
    level = np.where(np.arange(800) < 1, "rare", np.where(np.arange(800) < 400, "a", "b"))
    x = rng.normal(size=800)
    y = (rng.random(800) < 1 / (1 + np.exp(-x))).astype(int)
    y[0] = 0
    posterior = stead.Logistic("y ~ x + level").fit(stead.table({"x": x, "level": level, "y": y}), rng=1)
    assert isinstance(posterior, RegressionPosterior)
    assert posterior.quality.acceptance is not None
    assert 0.93 < posterior.quality.acceptance < 1.0


def _counts() -> set[int]:
    return {entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"}


def test_threads_are_held_while_a_narrow_regression_is_fitted_and_given_back() -> None:
    before = _counts()
    with threads_for(1_000):
        assert _counts() == before
    with threads_for(10):
        with threads_for(3):
            assert _counts() == {1}
        assert _counts() == {1}
    assert _counts() == before
    with pytest.raises(RuntimeError), threads_for(10):
        raise RuntimeError
    assert _counts() == before


def test_fits_at_the_same_time_give_the_threads_back_too() -> None:
    before = _counts()
    survey = stead.consumer_survey(300)
    with ThreadPoolExecutor(4) as pool:
        models = [stead.Linear("log(Income) ~ Race")] * 8
        draws = list(pool.map(lambda model: model.fit(survey, draws=10, rng=1).draws, models))
    assert all((one == draws[0]).all() for one in draws)
    assert _counts() == before
