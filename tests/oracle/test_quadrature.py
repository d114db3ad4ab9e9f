"""Every family's posterior against its own density on a grid: one, two or three parameters, few rows, priors of every kind.

The densities are written out here from the docstrings of the models, with scipy and nothing of stead. A draw's place in
its marginal distribution, and the place of its density among all, are uniform exactly when the draws come from the posterior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, gammaln, log_expit, log_ndtr, logsumexp, ndtr

import stead
from stead.models.regression_posterior import RegressionPosterior
from stead.tables.records import Values

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from stead.models.regression import Regression

    Array = NDArray[np.float64]

MANY, APART = 8_000, 4
LEAST = 1e-4
"""With fixed seeds a constant of the code: some 100 p-values."""
RNG = np.random.default_rng(12)


@dataclass(frozen=True)
class Case:
    """A model, its data, and its log posterior over `posterior.draws`, up to a constant."""

    model: Regression
    records: stead.Records
    density: Callable[[Array], Array]  # (G, d) -> (G,)
    size: int = 301
    logs: tuple[int, ...] = ()  # parameters that the density takes the logs of


def fit(model: Regression, records: stead.Records, draws: int = MANY) -> RegressionPosterior:
    posterior = model.fit(records, draws=draws, rng=4)
    assert isinstance(posterior, RegressionPosterior)
    return posterior


def places(draws: Array, density: Callable[[Array], Array], size: int) -> list[Array]:
    """Of some draws, in each marginal distribution and by their density."""  # each (H,)
    spread = draws.std(axis=0)
    low, high = draws.min(axis=0) - 2.0 * spread, draws.max(axis=0) + 2.0 * spread
    axes = [np.linspace(*ends, size) for ends in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    blocks = np.array_split(points, max(1, len(points) // 20_000))
    height = np.concatenate([density(block) for block in blocks])
    height = np.where(np.isnan(height), -np.inf, height)
    mass = np.exp(height - height.max()).reshape([size] * len(axes))
    found = []
    for place, axis in enumerate(axes):
        marginal = mass.sum(axis=tuple(other for other in range(len(axes)) if other != place))
        assert max(marginal[0], marginal[-1]) < 2e-3 * marginal.max(), "the grid is too narrow"
        area = np.concatenate([[0.0], np.cumsum(0.5 * (marginal[1:] + marginal[:-1]))])
        found.append(np.interp(draws[:, place], axis, area / area[-1]))
    order = np.argsort(height)
    below = np.cumsum(mass.ravel()[order])
    found.append(np.interp(density(draws), height[order], below / below[-1]))
    return found


def require_same(draws: Array, density: Callable[[Array], Array], size: int = 301) -> None:
    apart = draws.reshape(-1, 4, draws.shape[1])[::APART].reshape(-1, draws.shape[1])
    p_values = [stats.kstest(place, "uniform").pvalue for place in places(apart, density, size)]
    assert min(p_values) > LEAST, p_values


# ---- priors and predictors ---------------------------------------------------------------------------


def t3(value: Array, location: float = 0.0, scale: float = 2.5) -> Array:
    return -2.0 * np.log1p(((value - location) / scale) ** 2 / 3.0)


def normal(value: Array, location: float, scale: Array | float) -> Array:
    return -0.5 * ((value - location) / scale) ** 2


def line(points: Array, x: Array) -> Array:
    return points[:, :1] + points[:, 1:2] * x  # (G, n)


def centred(points: Array, x: Array, unit: float | None = None) -> tuple[Array, Array]:
    """Intercept and slope on the centred and scaled predictor."""
    return points[:, 0] + points[:, 1] * x.mean(), points[:, 1] * (x.std() if unit is None else unit)


# ---- data ---------------------------------------------------------------------------------------------

N = 24
X = RNG.normal(30.0, 4.0, N)
B = (RNG.random(N) < expit(0.25 * (X - 30.0))).astype(float)
K = RNG.poisson(np.exp(0.6 + 0.08 * (X - 30.0))).astype(float)
Y = np.round(RNG.normal(5.0, 1.3, N), 6)
P = RNG.gamma(2.5, 2.0, N)
RARE = np.zeros(40)
RARE[:2] = 1.0
RARE_B = (RNG.random(40) < 0.5).astype(float)
RARE_B[:2] = 0.0
SPLIT = np.arange(10.0)
H = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 0, 1, 2])
W = RNG.integers(1, 6, N).astype(float)
WHOLE = np.array([3.0, 4, 4, 5, 5, 5, 6, 6, 7])
HEAPED = np.array([10.0, 10, 20, 20, 20, 13, 17, 22, 30])


def table(**columns: object) -> stead.Records:
    """`kind_name=values`, as number_x or binary_b."""
    kinds = {
        "number": "continuous",
        "binary": "binary",
        "count": "count",
        "level": "categorical",
        "ordered": "ordered",
    }
    schema, held = [], {}
    for key, values in columns.items():
        kind, name = key.split("_")
        numbers = np.asarray(values)
        levels = tuple(range(int(numbers.max()) + 1)) if kind in {"binary", "level", "ordered"} else ()
        schema.append(stead.Column(name, kinds[kind], levels=levels))  # type: ignore[arg-type]
        dtype = np.int32 if levels else np.int64 if kind == "count" else float
        held[name] = Values.complete(numbers.astype(dtype))
    return stead.Records(stead.Schema(schema), held, len(next(iter(held.values()))))


def with_column(column: stead.Column, values: Array) -> stead.Records:
    dtype = np.int64 if column.whole else float
    return stead.Records(
        stead.Schema([column]), {column.name: Values.complete(values.astype(dtype))}, len(values)
    )


def weighted(records: stead.Records, weight: Array) -> stead.Records:
    return records.with_column(stead.Column("w", "continuous", role="weight"), Values.complete(weight))


# ---- densities ------------------------------------------------------------------------------------------


def logistic(points: Array, x: Array, y: Array, unit: float | None = None) -> Array:
    alpha, gamma = centred(points, x, unit)
    fitted = log_expit((2.0 * y - 1.0) * line(points, x)).sum(axis=1)
    return np.asarray(fitted + t3(alpha) + normal(gamma, 0.0, 2.5))


def logistic_flat(points: Array) -> Array:
    alpha, _ = centred(points, X)
    return np.asarray(log_expit((2.0 * B - 1.0) * line(points, X)).sum(axis=1) + t3(alpha))


def logistic_declared(points: Array) -> Array:
    alpha, _ = centred(points, X)
    prior = -2.5 * np.log1p(((alpha - 1.0) / 2.0) ** 2 / 4.0) + normal(points[:, 1], 0.5, 0.3)
    return np.asarray(log_expit((2.0 * B - 1.0) * line(points, X)).sum(axis=1) + prior)


def logistic_twice(points: Array) -> Array:
    """No intercept, and the second predictor is twice the first: only the prior tells them apart."""
    eta = (points[:, :1] + 2.0 * points[:, 1:]) * (X - 30.0)
    unit = (X - 30.0).std()
    prior = normal(points[:, 0] * unit, 0.0, 2.5) + normal(2.0 * points[:, 1] * unit, 0.0, 2.5)
    return np.asarray(log_expit((2.0 * B - 1.0) * eta).sum(axis=1) + prior)


def logistic_weighted(points: Array) -> Array:
    """Weights add up to the rows, and means and scales are weighted."""
    weight = W * N / W.sum()
    mean = weight @ X / N
    spread = np.sqrt(weight @ (X - mean) ** 2 / N)
    prior = t3(points[:, 0] + points[:, 1] * mean) + normal(points[:, 1] * spread, 0.0, 2.5)
    return np.asarray(log_expit((2.0 * B - 1.0) * line(points, X)) @ weight + prior)


def probit(points: Array) -> Array:
    alpha, gamma = centred(points, X)
    fitted = log_ndtr((2.0 * B - 1.0) * line(points, X)).sum(axis=1)
    return np.asarray(fitted + t3(alpha) + normal(gamma, 0.0, 1.5))


def middle(values: Array) -> tuple[float, float]:
    """Median, and the scale of a log-link intercept."""
    center = float(np.median(values))
    return center, max(2.5, 1.4826 * float(np.median(np.abs(values - center))))


def poisson(points: Array) -> Array:
    alpha, gamma = centred(points, X)
    eta = line(points, X)
    return np.asarray(
        (K * eta - np.exp(eta)).sum(axis=1) + t3(alpha, *middle(np.log(K + 0.1))) + normal(gamma, 0.0, 2.5)
    )


def poisson_between(points: Array) -> Array:
    """Between 1 and 4: divided by the probability of lying there, count by count."""
    counts = np.clip(K, 1.0, 4.0)
    alpha, gamma = centred(points, X)
    eta = line(points, X)
    possible = np.arange(1.0, 5.0)
    mass = logsumexp(possible * eta[:, :, None] - gammaln(possible + 1.0), axis=2)
    prior = t3(alpha, *middle(np.log(counts + 0.1))) + normal(gamma, 0.0, 2.5)
    return np.asarray((counts * eta - mass).sum(axis=1) + prior)


def inverse_gamma(value: Array) -> Array:
    return -1.4 * np.log(value) - 0.3 / value


def negative_binomial(points: Array) -> Array:
    """In log shape: counts that are nearly Poisson leave its posterior a long tail."""
    mean, shape = np.exp(points[:, :1]), np.exp(points[:, 1:])
    with np.errstate(all="ignore"):
        fitted = np.asarray(stats.nbinom.logpmf(K, shape, shape / (shape + mean))).sum(axis=1)
        prior = t3(points[:, 0], *middle(np.log(K + 0.1))) + inverse_gamma(shape[:, 0])
        return np.asarray(fitted + prior + points[:, 1])


def gamma(points: Array) -> Array:
    mean, shape = np.exp(points[:, :1]), points[:, 1:]
    with np.errstate(all="ignore"):
        fitted = np.asarray(stats.gamma.logpdf(P, shape, scale=mean / shape)).sum(axis=1)
        prior = t3(points[:, 0], *middle(np.log(P))) + inverse_gamma(points[:, 1])
        return np.where(points[:, 1] > 0, fitted + prior, -np.inf)


def ordered(points: Array) -> Array:
    """Two thresholds and no predictor."""
    rising = points[:, 0] < points[:, 1]
    ends = np.stack([np.zeros(len(points)), *expit(points.T), np.ones(len(points))])
    with np.errstate(all="ignore"):
        fitted = np.log(np.diff(ends, axis=0))[H].sum(axis=0)
        return np.where(rising, fitted + t3(points[:, 0]) + t3(points[:, 1]), -np.inf)


def ordered_two(points: Array) -> Array:
    """Slope, then the one threshold; of centred predictors it is c - b mean."""
    eta = points[:, 1:] - points[:, :1] * X
    prior = normal(points[:, 0] * X.std(), 0.0, 2.5) + t3(points[:, 1] - points[:, 0] * X.mean())
    return np.asarray(log_expit(np.where(B == 1.0, -eta, eta)).sum(axis=1) + prior)


def multinomial(points: Array) -> Array:
    eta = np.column_stack([np.zeros(len(points)), points])
    fitted = (eta - logsumexp(eta, axis=1, keepdims=True))[:, H].sum(axis=1)
    return np.asarray(fitted + t3(points[:, 0]) + t3(points[:, 1]))


def gauss(points: Array, values: Array) -> Array:
    """Log-likelihood of a mean and a standard deviation."""
    with np.errstate(all="ignore"):
        return np.asarray(np.asarray(stats.norm.logpdf(values, points[:, :1], points[:, 1:2])).sum(axis=1))


def positive(points: Array, height: Array) -> Array:
    return np.where(points[:, 1] > 0, height, -np.inf)


def linear_flat(points: Array) -> Array:
    center, scale = middle(Y)
    return positive(points, gauss(points, Y) + t3(points[:, 0], center, scale) + t3(points[:, 1], 0.0, scale))


def inverse_gamma_prior(points: Array, values: Array) -> Array:
    """Of the weak prior: alpha | sigma and sigma, as a density of sigma."""
    center = float(np.median(values))
    spread = 0.1 * float(np.median(np.abs(values - center)))
    with np.errstate(all="ignore"):
        sigma = points[:, 1]
        return np.asarray(
            normal(points[:, 0], center, 10.0 * sigma) - 3.0 * np.log(sigma) - 0.5 * (spread / sigma) ** 2
        )


def linear_weak(points: Array) -> Array:
    return positive(points, gauss(points, Y) + inverse_gamma_prior(points, Y))


def linear_declared(points: Array) -> Array:
    with np.errstate(all="ignore"):
        prior = normal(points[:, 0], 4.0, 0.2) + 3.0 * np.log(points[:, 1]) - 2.0 * points[:, 1]
        return positive(points, gauss(points, Y) + prior)


def linear_between(points: Array) -> Array:
    """At least 4, which cuts off a fifth; the constants of the conjugate prior are declared."""
    values = Y[Y >= 4.0]
    with np.errstate(all="ignore"):
        sigma = points[:, 1]
        mass = log_ndtr((points[:, 0] - 4.0) / sigma)
        prior = normal(points[:, 0], 5.0, 0.5 * sigma) - 22.0 * np.log(sigma) - 10.0 * (1.2 / sigma) ** 2
        return positive(points, gauss(points, values) - len(values) * mass + prior)


def cell(points: Array, low: Array, high: Array) -> Array:
    """P(low < y < high), (G, n)."""
    with np.errstate(all="ignore"):
        mean, sigma = points[:, :1], points[:, 1:2]
        return np.asarray(ndtr((high - mean) / sigma) - ndtr((low - mean) / sigma))


def linear_whole(points: Array) -> Array:
    with np.errstate(all="ignore"):
        fitted = np.log(cell(points, WHOLE - 0.5, WHOLE + 0.5)).sum(axis=1)
        return positive(points, fitted + inverse_gamma_prior(points, WHOLE))


def linear_heaped(points: Array) -> Array:
    """Each whole number stays with probability 1 - share, and else goes to the nearest ten, half upward: enumerated."""
    share = points[:, 2:]
    total = np.zeros(len(points))
    with np.errstate(all="ignore"):
        for value, count in zip(*np.unique(HEAPED, return_counts=True), strict=True):
            plain = cell(points, value - 0.5, value + 0.5)[:, 0]
            near = [z for z in range(60) if 10 * np.floor(z / 10 + 0.5) == value]
            heaped = sum(cell(points, np.array(z - 0.5), np.array(z + 0.5))[:, 0] for z in near)
            total += count * np.log((1.0 - share[:, 0]) * plain + share[:, 0] * heaped)
        prior = normal(points[:, 0], 18.0, 2.0) + 7.0 * np.log(points[:, 1]) - points[:, 1]
        inside = (points[:, 1] > 0) & (share[:, 0] > 0) & (share[:, 0] < 1)
        return np.where(inside, total + prior, -np.inf)


BINARY = table(number_x=X, binary_b=B)
WEAK, FLAT = "weak", "flat"
CASES: dict[str, Case] = {
    "logistic, weak": Case(stead.Logistic("b ~ x"), BINARY, lambda points: logistic(points, X, B)),
    "logistic, flat": Case(stead.Logistic("b ~ x", FLAT), BINARY, logistic_flat),
    "logistic, declared": Case(
        stead.Logistic("b ~ x", {"Intercept": "student_t(4, 1, 2)", "x": "normal(0.5, 0.3)"}),
        BINARY,
        logistic_declared,
    ),
    "logistic, separated": Case(
        stead.Logistic("b ~ x"),
        table(number_x=SPLIT, binary_b=SPLIT > 4),
        lambda points: logistic(points, SPLIT, (SPLIT > 4).astype(float)),
    ),
    "logistic, a rare level without a case": Case(
        stead.Logistic("b ~ g"),
        table(level_g=RARE, binary_b=RARE_B),
        lambda points: logistic(points, RARE, RARE_B, unit=1.0),
    ),
    "logistic, a predictor twice": Case(
        stead.Logistic("b ~ x + z - 1"),
        table(number_x=X - 30.0, number_z=2.0 * (X - 30.0), binary_b=B),
        logistic_twice,
    ),
    "logistic, weighted": Case(
        stead.Logistic("b ~ x", weights="pseudo"), weighted(BINARY, W), logistic_weighted
    ),
    "probit": Case(stead.Probit("b ~ x"), BINARY, probit),
    "poisson": Case(stead.Poisson("k ~ x"), table(number_x=X, count_k=K), poisson),
    "negative binomial": Case(
        stead.NegativeBinomial("k ~ 1"), table(count_k=K), negative_binomial, logs=(1,)
    ),
    "gamma": Case(stead.Gamma("p ~ 1"), table(number_p=P), gamma),
    "ordered, three levels": Case(stead.Ordered("h ~ 1"), table(ordered_h=H), ordered),
    "ordered, two levels": Case(stead.Ordered("b ~ x"), table(number_x=X, ordered_b=B), ordered_two),
    "multinomial": Case(stead.Multinomial("h ~ 1"), table(level_h=H), multinomial),
    "linear, weak": Case(stead.Linear("y ~ 1"), table(number_y=Y), linear_weak),
    "linear, flat": Case(stead.Linear("y ~ 1", FLAT), table(number_y=Y), linear_flat),
    "linear, declared": Case(
        stead.Linear("y ~ 1", {"Intercept": "normal(4, 0.2)", "sigma": "gamma(4, 2)"}),
        table(number_y=Y),
        linear_declared,
    ),
    "linear, between bounds": Case(
        stead.Linear("y ~ 1", stead.ConjugatePrior(center=5.0, spread=1.2, width=0.5, degrees=20.0)),
        with_column(stead.Column("y", "continuous", bounds=(4.0, None)), Y[Y >= 4.0]),
        linear_between,
    ),
    "linear, whole numbers": Case(
        stead.Linear("y ~ 1"), with_column(stead.Column("y", "continuous", decimals=0), WHOLE), linear_whole
    ),
    "linear, heaped": Case(
        stead.Linear("y ~ 1", {"Intercept": "normal(18, 2)", "sigma": "gamma(8, 1)"}),
        with_column(stead.Column("y", "continuous", decimals=0, heaps=(10.0,)), HEAPED),
        linear_heaped,
        size=61,
    ),
    "poisson, between bounds": Case(
        stead.Poisson("k ~ x"),
        table(number_x=X).with_column(
            stead.Column("k", "count", bounds=(1, 4)), Values.complete(np.clip(K, 1, 4).astype(np.int64))
        ),
        poisson_between,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_draws_come_from_the_posterior(name: str) -> None:
    case = CASES[name]
    draws = fit(case.model, case.records).draws
    draws[:, case.logs] = np.log(draws[:, case.logs])
    require_same(draws, case.density, case.size)


def test_a_posterior_that_is_a_little_off_is_found() -> None:
    draws = fit(stead.Logistic("b ~ x"), BINARY).draws
    mean = draws.mean(axis=0)
    for spoilt in (mean + 1.15 * (draws - mean), draws + 0.1 * draws.std(axis=0)):
        with pytest.raises(AssertionError):
            require_same(spoilt, CASES["logistic, weak"].density)


def test_a_posterior_that_runs_off_along_a_ridge_is_reported() -> None:
    """Values that pile up at a bound: the mean may be far below it, and sigma as large as it takes. No sampler here walks that far."""
    column = stead.Column("y", "continuous", bounds=(4.0, None))
    posterior = fit(stead.Linear("y ~ 1"), with_column(column, np.maximum(Y, 4.0)), 1_000)
    assert posterior.quality.method.startswith("Hamiltonian")
    assert posterior.quality.problems


def test_a_rate_under_its_conjugate_prior_is_exact() -> None:
    """Of the rate: rate | y ~ Gamma(a + sum y, b + n), independent draws."""
    posterior = fit(stead.Poisson("k ~ 1", {"rate": "gamma(2, 0.5)"}), table(count_k=K))
    exact = stats.gamma(2.0 + K.sum(), scale=1.0 / (0.5 + N))
    assert stats.kstest(np.exp(posterior.draws[:, 0]), exact.cdf).pvalue > LEAST


def test_fewer_rows_than_terms() -> None:
    """Three rows, five coefficients: the prior, weighed by the likelihood, is reference enough."""
    x = np.array([[0.0, 1, 2, 5], [1, 0, 4, 1], [3, 1, 0, 0]])
    b = np.array([1.0, 0.0, 1.0])
    records = table(number_p=x[:, 0], number_q=x[:, 1], number_r=x[:, 2], number_s=x[:, 3], binary_b=b)
    posterior = fit(stead.Logistic("b ~ p + q + r + s"), records)
    rng = np.random.default_rng(0)
    alpha, slopes = 2.5 * rng.standard_t(3, 400_000), 2.5 * rng.normal(size=(400_000, 4))
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    eta = alpha[:, None] + slopes @ standard.T
    weight = np.exp(log_expit((2.0 * b - 1.0) * eta).sum(axis=1))
    weight /= weight.sum()
    effective = 1.0 / (weight**2).sum()
    ours = posterior.draws[:, 1:] * x.std(axis=0)
    for place in range(4):
        mean = weight @ slopes[:, place]
        spread = np.sqrt(weight @ (slopes[:, place] - mean) ** 2)
        error = spread * np.sqrt(1.0 / effective + 1.0 / (posterior.quality.ess_bulk or 1.0))
        assert abs(ours[:, place].mean() - mean) < 4.5 * error
        assert ours[:, place].std() == pytest.approx(spread, rel=0.08)


@pytest.mark.parametrize("weights", ["", "pseudo"])
@pytest.mark.parametrize(
    "model",
    [stead.Logistic("b ~ g + h"), stead.Poisson("k ~ g"), stead.Multinomial("h ~ g"), stead.Ordered("o ~ g")],
    ids=lambda model: type(model).__name__,
)
def test_rows_that_are_alike_may_be_cells(
    model: Regression, weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All-categorical covariates are collapsed to weighted cells: the draws are those of the rows."""
    rng = np.random.default_rng(2)
    records = table(
        level_g=rng.integers(0, 3, 300),
        level_h=rng.integers(0, 3, 300),
        ordered_o=rng.integers(0, 3, 300),
        binary_b=rng.integers(0, 2, 300),
        count_k=rng.poisson(1.0, 300),
    )
    if weights:
        records = weighted(records, rng.integers(1, 4, 300).astype(float))
        model = type(model)(model.formula, weights="pseudo")
    cells = fit(model, records, 400)
    monkeypatch.setattr("stead.glm.standardized.collapsed", lambda _, rows: rows)
    rows = fit(model, records, 400)
    np.testing.assert_allclose(cells.draws, rows.draws, rtol=1e-5, atol=1e-6)


def test_weights_that_are_whole_numbers_are_rows_taken_so_often() -> None:
    """The pseudo-likelihood of n rows has the weight of n rows: that of all the repeated rows to the power n / sum w."""
    case = CASES["logistic, weighted"]
    again = np.repeat(np.arange(N), W.astype(int))
    x, b = X[again], B[again]

    def repeated(points: Array) -> Array:
        fitted = log_expit((2.0 * b - 1.0) * line(points, x)).sum(axis=1) * N / W.sum()
        alpha, gamma = centred(points, x)
        return np.asarray(fitted + t3(alpha) + normal(gamma, 0.0, 2.5))

    require_same(fit(case.model, case.records).draws, repeated)


def test_missing_codes_and_spikes_are_logistic_regressions_of_what_is_left() -> None:
    """Of 60 cells 8 have the first code, 5 the second, 12 are zero; each share is among those not decided before."""
    rng = np.random.default_rng(5)
    missing = np.repeat(np.array([1, 2, 0], np.int8), [8, 5, 47])
    values = np.concatenate([np.zeros(25), rng.normal(3.0, 1.0, 35)])
    column = stead.Column("y", "continuous", missing=(-7, -8), spikes=(0.0,))
    records = stead.Records(stead.Schema([column]), {"y": Values(values, missing)}, 60)
    posterior = fit(stead.Linear("y ~ 1"), records)
    assert posterior.parts.codes == (1, 2)
    counts = [(8, 60), (5, 52), (12, 47)]
    for coefficients, (hits, of) in zip(posterior.parts.coefficients, counts, strict=True):

        def density(points: Array, hits: int = hits, of: int = of) -> Array:
            eta = points[:, 0]
            return np.asarray(hits * log_expit(eta) + (of - hits) * log_expit(-eta) + t3(eta))

        require_same(coefficients, density, 4_001)
    left = values[25:]
    require_same(
        posterior.draws,
        lambda points: positive(points, gauss(points, left) + inverse_gamma_prior(points, left)),
    )
