"""Families against scipy.stats and against differences of their own densities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, ndtr, softmax

from stead.glm.binary import Bernoulli, ProbitBernoulli
from stead.glm.counts import NegativeBinomial, Poisson
from stead.glm.gamma import Gamma
from stead.glm.gaussian import Gaussian
from stead.glm.levels import Cumulative, Multinomial

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from stead.glm.families import Family

    Array = NDArray[np.float64]

DRAWS, ROWS = 3, 40
RNG = np.random.default_rng(11)
ETA = RNG.normal(size=(DRAWS, ROWS))
ETAS = RNG.normal(size=(DRAWS, ROWS, 3))
NONE = np.zeros((DRAWS, 0))
SHAPE = np.array([[0.4], [2.0], [9.0]])
CUTS = np.array([[-1.0, 0.2, 1.5], [-0.1, 0.0, 0.1], [-3.0, 1.0, 1.2]])
BINARY = RNG.integers(0, 2, ROWS).astype(float)
LEVEL = RNG.integers(0, 4, ROWS).astype(float)
COUNT = RNG.poisson(2.0, ROWS).astype(float)
POSITIVE = RNG.gamma(2.0, 1.0, ROWS) + 0.3


def _cumulative(level: Array, eta: Array, cuts: Array) -> Array:
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    place = level.astype(int)
    return np.asarray(np.log(expit(edges[place + 1] - eta) - expit(edges[place] - eta)))


def _between(log_density: Any, upper: Any, lower: Any) -> Any:
    return log_density - np.log(upper - lower)


CASES: dict[str, tuple[Family, Array, Array, Array, Callable[[Array, Array, Array], Any]]] = {
    "bernoulli": (Bernoulli(), BINARY, ETA, NONE, lambda y, eta, _: stats.bernoulli.logpmf(y, expit(eta))),
    "probit": (ProbitBernoulli(), BINARY, ETA, NONE, lambda y, eta, _: stats.bernoulli.logpmf(y, ndtr(eta))),
    "poisson": (Poisson(), COUNT, ETA, NONE, lambda y, eta, _: stats.poisson.logpmf(y, np.exp(eta))),
    "poisson to 6": (
        Poisson(high=6.0),
        np.minimum(COUNT, 6.0),
        ETA,
        NONE,
        lambda y, eta, _: stats.poisson.logpmf(y, np.exp(eta)) - stats.poisson.logcdf(6, np.exp(eta)),
    ),
    "negative binomial": (
        NegativeBinomial(),
        COUNT,
        ETA,
        SHAPE,
        lambda y, eta, a: stats.nbinom.logpmf(y, a, a / (a + np.exp(eta))),
    ),
    "negative binomial, 1 to 9": (
        NegativeBinomial(1.0, 9.0),
        np.clip(COUNT, 1.0, 9.0),
        ETA,
        SHAPE,
        lambda y, eta, a: _between(
            stats.nbinom.logpmf(y, a, a / (a + np.exp(eta))),
            stats.nbinom.cdf(9, a, a / (a + np.exp(eta))),
            stats.nbinom.cdf(0, a, a / (a + np.exp(eta))),
        ),
    ),
    "gamma": (
        Gamma(),
        POSITIVE,
        ETA,
        SHAPE,
        lambda y, eta, a: stats.gamma.logpdf(y, a, scale=np.exp(eta) / a),
    ),
    "gamma, .3 to 20": (
        Gamma(0.3, 20.0),
        POSITIVE,
        ETA,
        SHAPE,
        lambda y, eta, a: _between(
            stats.gamma.logpdf(y, a, scale=np.exp(eta) / a),
            stats.gamma.cdf(20.0, a, scale=np.exp(eta) / a),
            stats.gamma.cdf(0.3, a, scale=np.exp(eta) / a),
        ),
    ),
    "gaussian": (Gaussian(), POSITIVE, ETA, SHAPE, stats.norm.logpdf),
    "gaussian, .3 to 20": (
        Gaussian(0.3, 20.0),
        POSITIVE,
        ETA,
        SHAPE,
        lambda y, eta, a: stats.truncnorm.logpdf(y, (0.3 - eta) / a, (20.0 - eta) / a, eta, a),
    ),
    "multinomial": (
        Multinomial(4),
        LEVEL,
        ETAS,
        NONE,
        lambda y, eta, _: np.log(
            softmax(np.column_stack([np.zeros(ROWS), eta]), axis=1)[np.arange(ROWS), y.astype(int)]
        ),
    ),
    "cumulative": (Cumulative(4), LEVEL, ETA, CUTS, _cumulative),
}


@pytest.mark.parametrize("name", CASES)
def test_density(name: str) -> None:
    family, response, eta, auxiliary, reference = CASES[name]
    expected = np.stack([reference(response, eta[h], auxiliary[h]) for h in range(DRAWS)])
    np.testing.assert_allclose(family.log_density(response, eta, auxiliary), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_score_and_curvature_are_derivatives(name: str) -> None:
    family, response, eta, auxiliary, _ = CASES[name]
    step = 1e-5
    score = family.score(response, eta, auxiliary)
    for place in range(family.count):
        shift = np.zeros(eta.shape)
        shift[(..., place) if eta.ndim == 3 else ...] = step
        ahead, behind = (family.log_density(response, eta + sign * shift, auxiliary) for sign in (1, -1))
        own = score[..., place] if eta.ndim == 3 else score
        np.testing.assert_allclose(own, (ahead - behind) / (2 * step), atol=1e-7)
        curvature = family.curvature(response, eta[0], auxiliary[0])
        there, back = (family.score(response, eta + sign * shift, auxiliary)[0] for sign in (1, -1))
        own = curvature[:, place] if eta.ndim == 3 else curvature
        np.testing.assert_allclose(own, -(there - back) / (2 * step), atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_auxiliary_scores_and_jacobians_are_derivatives(name: str) -> None:
    family, response, eta, auxiliary, _ = CASES[name]
    step = 1e-6
    score = family.auxiliary_score(response, eta, auxiliary)
    free = np.log(auxiliary) if family.auxiliary[:1] != ("threshold1",) else _free(auxiliary)
    np.testing.assert_allclose(family.natural(free), auxiliary, rtol=1e-12, atol=1e-12)
    total = family.chain(free, score.sum(axis=1)) + family.jacobian_slope(free)
    for place in range(auxiliary.shape[1]):
        shift = step * (np.arange(auxiliary.shape[1]) == place)
        ahead, behind = (
            family.log_density(response, eta, auxiliary + sign * shift).sum(axis=1) for sign in (1, -1)
        )
        np.testing.assert_allclose(
            score[:, :, place].sum(axis=1), (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-6
        )
        ahead, behind = (
            family.log_density(response, eta, family.natural(free + sign * shift)).sum(axis=1)
            + family.log_jacobian(free + sign * shift)
            for sign in (1, -1)
        )
        np.testing.assert_allclose(total[:, place], (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_draws_have_the_distribution(name: str) -> None:
    """A probability integral transform of many draws at one predictor is uniform (randomized where discrete)."""
    family, _, eta, auxiliary, _ = CASES[name]
    count = 4000
    predictor = np.repeat(eta[1, :1], count, axis=0)
    rng = np.random.default_rng(5)
    drawn = family.sample(predictor, auxiliary[1], rng)
    values = np.unique(drawn)
    if len(values) < 60:
        density = np.exp(
            family.log_density(values, np.repeat(eta[1:2, :1], len(values), axis=1), auxiliary[1:2])
        )[0]
        observed = np.array([(drawn == value).sum() for value in values])
        expected = density * count
        usual = expected > 5
        statistic = ((observed - expected) ** 2 / expected)[usual].sum()
        assert stats.chi2.sf(statistic, usual.sum()) > 1e-3
    else:
        grid = np.linspace(values.min(), values.max(), 20_001)
        density = np.exp(
            family.log_density(grid, np.repeat(eta[1:2, :1], len(grid), axis=1), auxiliary[1:2])
        )[0]
        area = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(grid))])
        assert abs(area[-1] - 1.0) < 0.01
        assert stats.kstest(np.interp(drawn, grid, area), "uniform").pvalue > 1e-3


FAR = (-800.0, -690.0, -60.0, -9.0, 7.0, 40.0, 690.0, 800.0)


@pytest.mark.parametrize("eta", FAR)
@pytest.mark.parametrize("shape", [None, 0.5, 3.0, 200.0])
def test_counts_whose_mean_is_far_beyond_their_bounds(shape: float | None, eta: float) -> None:
    """By the ratios of neighbouring counts, in which nothing is lost; the probability of lying between the bounds is 0 in doubles."""
    family = Poisson(2.0, 6.0) if shape is None else NegativeBinomial(2.0, 6.0)
    auxiliary = np.zeros((1, 0)) if shape is None else np.array([[shape]])
    counts = np.arange(2.0, 7.0)
    steps = eta - np.log(counts[1:])
    if shape is not None:
        steps = np.log(counts[:-1] + shape) - np.log(counts[1:]) - np.logaddexp(0.0, np.log(shape) - eta)
    height = np.concatenate([[0.0], np.cumsum(steps)])
    expected = height - np.logaddexp.reduce(height)
    density = family.log_density(counts, np.full((1, 5), eta), auxiliary)[0]
    assert density == pytest.approx(expected, rel=1e-9, abs=1e-7)
    mean = float(np.exp(expected) @ counts)
    if shape is None:
        score = family.score(counts, np.full((1, 5), eta), auxiliary)[0]
        assert score == pytest.approx(counts - mean, abs=1e-6)
    drawn = family.sample(np.full(4_000, eta), auxiliary[0], np.random.default_rng(4))
    assert drawn.mean() == pytest.approx(mean, abs=0.1)


@pytest.mark.parametrize("eta", FAR)
@pytest.mark.parametrize("shape", [0.5, 3.0, 200.0])
def test_a_gamma_variable_whose_mean_is_far_beyond_its_bounds(shape: float, eta: float) -> None:
    """On the log scale from the nearer bound, by the trapezoidal rule; draws by the same distribution function."""
    family, auxiliary = Gamma(2.0, 9.0), np.array([[shape]])
    eta = float(np.clip(eta, -690.0, 690.0))
    bound, side = (9.0, -1.0) if eta > 2.0 else (2.0, 1.0)
    rate = shape * bound * np.exp(-eta)
    away = np.linspace(0.0, min(np.log(4.5), 60.0 / abs(shape - rate)), 200_001)
    height = np.exp(side * shape * away - rate * np.expm1(side * away))
    area = np.concatenate([[0.0], np.cumsum(0.5 * (height[1:] + height[:-1]) * np.diff(away))])
    values = np.array([2.0, 2.5, 8.0, 9.0])
    own = np.log(values / bound)
    expected = shape * own - rate * np.expm1(own) - np.log(values) - np.log(area[-1])
    density = family.log_density(values, np.full((1, 4), eta), auxiliary)[0]
    assert density == pytest.approx(expected, rel=1e-6, abs=1e-6)
    drawn = family.sample(np.full(4_000, eta), auxiliary[0], np.random.default_rng(4))
    assert drawn.min() >= 2.0
    assert drawn.max() <= 9.0
    if away[-1] > 1e-6:  # else doubles next to the bound are too few to tell
        place = np.interp(side * np.log(drawn / bound), away, area / area[-1])
        assert stats.kstest(place, "uniform").pvalue > 1e-3
    else:
        assert np.abs(np.log(drawn / bound)).max() < 1e-4


def _free(cuts: Array) -> Array:
    return np.concatenate([cuts[:, :1], np.log(np.diff(cuts, axis=1))], axis=1)
