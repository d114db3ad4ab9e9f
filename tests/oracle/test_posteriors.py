"""Posteriors against closed forms computed another way; test_quadrature.py has those that have none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

import stead
from stead.glm.binary import Bernoulli
from stead.glm.gaussian import Gaussian
from stead.glm.mode import find_mode
from stead.glm.priors import prior_of
from stead.glm.standardized import Standardized
from stead.glm.target import Target
from stead.language.design import Design
from stead.models.regression_posterior import RegressionPosterior

RNG = np.random.default_rng(7)
N = 200
X = RNG.normal(50.0, 4.0, N)
G = RNG.integers(0, 2, N)
Y = np.exp(1.0 + 0.05 * X + 0.3 * G + 0.4 * RNG.normal(size=N))
B = (RNG.random(N) < 1 / (1 + np.exp(-0.2 * (X - 50)))).astype(int)
DATA = stead.table({"x": X, "g": np.where(G == 1, "b", "a"), "y": Y, "b": B})
MANY = 40_000


def _fit(
    model: stead.Linear | stead.Logistic, draws: int, records: stead.Records = DATA, rng: int = 1
) -> RegressionPosterior:
    posterior = model.fit(records, draws=draws, rng=rng)
    assert isinstance(posterior, RegressionPosterior)
    return posterior


def _assert_moments(draws: np.ndarray, mean: float, sd: float, effective: float) -> None:
    """Mean and SD within 4.5 Monte Carlo standard errors."""
    assert abs(draws.mean() - mean) < 4.5 * sd / np.sqrt(effective)
    assert abs(draws.std() / sd - 1) < 4.5 / np.sqrt(2 * effective)


def test_linear_weak_is_the_normal_inverse_gamma_posterior() -> None:
    """The marginal posteriors are Student-t; here from the textbook formulas on the standardized design."""
    posterior = _fit(stead.Linear("log(y) ~ x + g"), MANY)
    y = np.log(Y)
    centre, deviation = float(np.median(y)), float(np.median(np.abs(y - np.median(y))))
    standard = np.column_stack([np.ones(N), (X - X.mean()) / X.std(), G - G.mean()])
    prior_precision = np.eye(3) / 100.0
    prior_mean = np.array([centre, 0, 0])
    precision = standard.T @ standard + prior_precision
    location = np.linalg.solve(precision, standard.T @ y + prior_precision @ prior_mean)
    degrees = N + 1
    total = (
        (0.1 * deviation) ** 2
        + y @ y
        + prior_mean @ prior_precision @ prior_mean
        - location @ precision @ location
    )
    cov = np.linalg.inv(precision) * total / (degrees - 2)
    back = np.array([[1, -X.mean() / X.std(), -G.mean()], [0, 1 / X.std(), 0], [0, 0, 1]])
    mean, sd = back @ location, np.sqrt(np.diag(back @ cov @ back.T))
    for column in range(3):
        _assert_moments(posterior.draws[:, column], mean[column], sd[column], MANY)
    variance = posterior.draws[:, 3] ** 2
    exact = stats.invgamma(degrees / 2, scale=total / 2)
    assert stats.kstest(variance, exact.cdf).pvalue > 1e-4
    assert posterior.parameters == ("Intercept", "x", "g[b]", "sigma")


def test_linear_flat_is_least_squares_where_the_heavy_prior_is_far_wider() -> None:
    posterior = _fit(stead.Linear("log(y) ~ x + g", prior="flat"), MANY)
    design = np.column_stack([np.ones(N), X, G])
    estimate, residual, _, _ = np.linalg.lstsq(design, np.log(Y))
    variance = residual[0] / (N - 3)
    sd = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * variance)
    for column in range(3):
        assert abs(posterior.draws[:, column].mean() - estimate[column]) < 0.05 * sd[column]
        assert posterior.draws[:, column].std() == pytest.approx(sd[column], rel=0.03)


def test_the_mode_is_where_the_gradient_vanishes() -> None:
    design = Design.bind("b ~ x + g", DATA)
    data = Standardized(design, DATA, B.astype(float), np.ones(N, bool))
    target = Target(data, Bernoulli(), prior_of("weak", data), np.ones(3, bool))
    mode = find_mode(target)
    matrix = np.vstack([block for block, _, _ in data.blocks()])

    def height(point: np.ndarray) -> float:
        eta = matrix @ point
        prior = stats.t(3, 0, 2.5).logpdf(point[0]) + stats.norm(0, 2.5).logpdf(point[1:]).sum()
        return float((B * eta - np.logaddexp(0, eta)).sum() + prior)

    for axis in np.eye(3):
        slope = (height(mode.point + 1e-5 * axis) - height(mode.point - 1e-5 * axis)) / 2e-5
        assert abs(slope) < 1e-4


def test_the_tiled_log_likelihood_is_the_plain_one() -> None:
    rng = np.random.default_rng(0)
    for rows, draws in ((1, 1), (255, 127), (256, 128), (700, 300)):
        design, response = rng.normal(size=(rows, 3)) * 5, rng.integers(0, 2, rows).astype(float)
        coefficients = rng.normal(size=(3, draws)) * 10
        eta = design @ coefficients
        several = coefficients.T[:, None, :]
        plain = (response[:, None] * eta - np.logaddexp(0, eta)).sum(axis=0)
        tiled = Bernoulli().total(design, response, None, several, np.zeros((draws, 0)))
        assert tiled == pytest.approx(plain, rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("low", [-np.inf, -1.0, 0.5, 6.0])
@pytest.mark.parametrize("high", [np.inf, 6.5])
def test_a_normal_between_bounds_has_total_mass_one_and_its_own_sampler(low: float, high: float) -> None:
    family = Gaussian(low, high)
    mean, sigma = 0.3, 1.2
    edges = (max(low, mean - 12 * sigma), min(high, mean + 12 * sigma))
    mass, _ = integrate.quad(
        lambda y: float(
            np.exp(family.log_density(np.array([y]), np.array([[mean]]), np.array([[sigma]])))[0, 0]
        ),
        *edges,
    )
    assert mass == pytest.approx(1.0, abs=1e-7)
    drawn = family.sample(np.full(20_000, mean), np.array([sigma]), np.random.default_rng(1))
    reference = stats.truncnorm((low - mean) / sigma, (high - mean) / sigma, loc=mean, scale=sigma)
    assert stats.kstest(drawn, reference.cdf).pvalue > 1e-4
    assert drawn.min() >= low
    assert drawn.max() <= high


def test_the_log_likelihood_has_the_jacobian_of_the_transformation() -> None:
    """Under each draw the density of y integrates to one over y, whatever the scale it is modelled on."""
    for formula, start in (
        ("log(y) ~ x", 1e-9),
        ("cbrt(y) ~ x", -2000.0),
        ("asinh(y) ~ x", -3000.0),
        ("log1p(y) ~ x", -0.999999),
        ("sqrt(y) ~ x", 0.0),
        ("y ~ x", -400.0),
    ):
        posterior = _fit(stead.Linear(formula), 2)
        grid = (
            np.concatenate([np.linspace(start, 5, 60_001)[1:], np.geomspace(5, 30_000, 60_000)[1:]])
            if start > -1
            else np.linspace(start, 4_000, 400_001)
        )
        one = stead.table({"x": np.full(len(grid), X[0]), "y": grid + 0.0})
        density = np.exp(posterior.log_likelihood(one)[0])
        assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=2e-3), formula


def test_separation_and_rank_are_survived_under_the_weak_prior_and_refused_or_reported_under_the_flat_one() -> (
    None
):
    separated = stead.table(
        {"x": np.arange(60.0), "z": np.arange(60.0) * 2 + 1, "b": (np.arange(60) >= 30).astype(int)}
    )
    weak = _fit(stead.Logistic("b ~ x"), 400, separated)
    assert any("separate" in note for note in weak.notes)
    assert np.isfinite(weak.draws).all()
    with pytest.raises(stead.InputRefused, match="weak"):
        stead.Logistic("b ~ x", prior="flat").fit(separated, rng=1)
    noisy = stead.table({"x": X, "z": 2 * X + 1, "y": Y})
    flat = _fit(stead.Linear("log(y) ~ x + z", prior="flat"), 400, noisy)
    assert any("determined by others" in note and "z" in note for note in flat.notes)
    assert (flat.draws[:, 2] == 0).all()
    both = _fit(stead.Linear("log(y) ~ x + z"), 400, noisy)
    assert both.draws[:, 2].std() > 0


def test_fewer_rows_than_terms() -> None:
    few = stead.table({"y": Y[:4], "x": X[:4], "g": ["a", "b", "c", "d"]})
    posterior = _fit(stead.Linear("y ~ x * g"), 100, few)
    assert np.isfinite(posterior.draws).all()
    with pytest.raises(stead.InputRefused, match="not enough"):
        stead.Linear("y ~ x + g", prior="flat").fit(few, rng=1)
