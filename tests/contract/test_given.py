"""A posterior from draws that were made elsewhere, for the models that stead knows: it is the one that made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

import stead
from stead.models.regression_posterior import RegressionPosterior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.models.regression import Regression

    Array = NDArray[np.float64]

ROWS, DRAWS = 120, 12
RNG = np.random.default_rng(6)


def _survey() -> stead.Records:
    x = RNG.normal(size=ROWS)
    signal = 0.8 * x + RNG.logistic(size=ROWS)
    return stead.table(
        {
            "x": x,
            "w": RNG.exponential(size=ROWS) + 0.1,
            "g": RNG.choice(["a", "b", "c"], ROWS),
            "income": np.exp(2.0 + 0.5 * x + 0.4 * RNG.normal(size=ROWS)),
            "owns": np.where(signal > 0, "yes", "no"),
            "region": RNG.choice(["north", "south", "west"], ROWS),
            "health": np.array(["poor", "fair", "good"])[np.digitize(signal, [-1.0, 1.0])],
            "kids": RNG.poisson(np.exp(0.3 + 0.3 * x)),
        },
        stead.Schema(
            [
                stead.Column("x", "continuous"),
                stead.Column("w", "continuous"),
                stead.Column("g", "categorical", levels=("a", "b", "c")),
                stead.Column("income", "continuous"),
                stead.Column("owns", "binary", levels=("no", "yes")),
                stead.Column("region", "categorical", levels=("north", "south", "west")),
                stead.Column("health", "ordered", levels=("poor", "fair", "good")),
                stead.Column("kids", "count"),
            ]
        ),
    )


SURVEY = _survey()
MODELS: dict[str, tuple[Regression, tuple[str, ...]]] = {
    "linear": (stead.Linear("log(income) ~ x + log(w)"), ("Intercept", "x", "log(w)", "sigma")),
    "linear, a category": (
        stead.Linear("income ~ x * g"),
        ("Intercept", "x", "g[b]", "g[c]", "x:g[b]", "x:g[c]", "sigma"),
    ),
    "linear, no intercept": (stead.Linear("income ~ x + g - 1"), ("x", "g[a]", "g[b]", "g[c]", "sigma")),
    "logistic": (stead.Logistic("owns ~ x + g"), ("Intercept", "x", "g[b]", "g[c]")),
    "probit": (stead.Probit("owns ~ poly(x, 2)"), ("Intercept", "poly(x, 2)1", "poly(x, 2)2")),
    "multinomial": (
        stead.Multinomial("region ~ x + owns"),
        (
            *("south: Intercept", "south: x", "south: owns[yes]"),
            *("west: Intercept", "west: x", "west: owns[yes]"),
        ),
    ),
    "ordered": (stead.Ordered("health ~ x + g"), ("x", "g[b]", "g[c]", "threshold1", "threshold2")),
    "poisson": (stead.Poisson("kids ~ x + g"), ("Intercept", "x", "g[b]", "g[c]")),
    "negative binomial": (stead.NegativeBinomial("kids ~ x"), ("Intercept", "x", "shape")),
    "gamma": (stead.Gamma("income ~ x"), ("Intercept", "x", "shape")),
}


@pytest.mark.parametrize("name", MODELS)
def test_draws_that_are_handed_back_give_the_same_posterior(name: str) -> None:
    model, columns = MODELS[name]
    fitted = model.fit(SURVEY, draws=DRAWS, rng=1)
    given = model.posterior(fitted.draws, SURVEY.schema)
    assert given.parameters == columns == fitted.parameters
    np.testing.assert_array_equal(given.draws, fitted.draws)
    np.testing.assert_allclose(given.log_likelihood(SURVEY), fitted.log_likelihood(SURVEY), rtol=1e-12)
    np.testing.assert_array_equal(
        given.log_likelihood(SURVEY, slice(2, 5)), given.log_likelihood(SURVEY)[2:5]
    )
    others = SURVEY.without(model.responses)
    for h in (0, DRAWS - 1):
        ours, theirs = (one.sample(h, others, 5)[model.responses[0]].values for one in (fitted, given))
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", MODELS)
def test_the_columns_are_those_of_the_formula_in_its_order(name: str) -> None:
    """One column at a time is moved: the density moves where that parameter has a part in it, and nowhere else."""
    model, columns = MODELS[name]
    draws = model.fit(SURVEY, draws=1, rng=1).draws
    base = model.posterior(draws, SURVEY.schema).log_likelihood(SURVEY)[0]
    for place, label in enumerate(columns):
        moved = draws.copy()
        moved[:, place] += 0.01
        change = model.posterior(moved, SURVEY.schema).log_likelihood(SURVEY)[0] != base
        expected = np.ones(ROWS, bool)
        for part in label.split(": ")[-1].split(":"):
            if "[" in part:
                column, level = part.rstrip("]").split("[")
                expected &= SURVEY[column].values == SURVEY.schema[column].levels.index(level)
        if label == "threshold1":
            expected = SURVEY["health"].values <= 1
        if label == "threshold2":
            expected = SURVEY["health"].values >= 1
        assert change[expected].mean() > 0.95, label
        assert not change[~expected].any(), label


@pytest.mark.parametrize(
    "model",
    [model for name, (model, columns) in MODELS.items() if not any("[" in label for label in columns)],
    ids=lambda model: type(model).__name__,
)
def test_no_schema_is_needed_where_all_predictors_are_numbers(model: Regression) -> None:
    fitted = model.fit(SURVEY, draws=DRAWS, rng=1)
    given = model.posterior(fitted.draws)
    np.testing.assert_allclose(given.log_likelihood(SURVEY), fitted.log_likelihood(SURVEY), rtol=1e-12)


def test_two_levels_count_as_0_and_1_without_a_schema() -> None:
    model = stead.Linear("log(income) ~ owns")
    fitted = model.fit(SURVEY, draws=DRAWS, rng=1)
    given = model.posterior(fitted.draws)
    np.testing.assert_allclose(given.log_likelihood(SURVEY), fitted.log_likelihood(SURVEY), rtol=1e-12)


def test_more_levels_without_a_schema_are_found_by_the_number_of_columns() -> None:
    model = stead.Linear("log(income) ~ g")
    draws = model.fit(SURVEY, draws=DRAWS, rng=1).draws
    with pytest.raises(
        stead.UsageError, match=r"12 x 4; .* 3 columns: Intercept, g, sigma.*categor.*schema="
    ):
        model.posterior(draws)


def test_a_normal_density_by_hand() -> None:
    draws = np.array([[1.0, 0.5, 0.7], [2.0, -0.5, 0.2]])
    posterior = stead.Linear("log(income) ~ x").posterior(draws.tolist())
    x, y = SURVEY["x"].values, SURVEY["income"].values
    for h, (a, b, sigma) in enumerate(draws):
        expected = stats.norm.logpdf(np.log(y), a + b * x, sigma) - np.log(y)
        np.testing.assert_allclose(posterior.log_likelihood(SURVEY)[h], expected, rtol=1e-12)
    assert posterior.quality.method == "draws given by their user"


@pytest.mark.parametrize(
    ("model", "draws", "match"),
    [
        (
            stead.Linear("income ~ x"),
            np.zeros((5, 2)),
            "5 x 2; one row for each draw, 3 columns: Intercept, x, sigma",
        ),
        (stead.Linear("income ~ x"), np.zeros(3), "draws are 3; one row for each draw"),
        (stead.Linear("income ~ x"), np.zeros((0, 3)), "draws are 0 x 3"),
        (stead.Linear("income ~ x"), np.zeros((4, 3)), "sigma, the last column, is above 0"),
        (stead.Gamma("income ~ x"), -np.ones((4, 3)), "shape, the last column, is above 0"),
        (stead.NegativeBinomial("kids ~ x"), np.zeros((4, 3)), "shape, the last column, is above 0"),
        (stead.Linear("income ~ x"), np.full((4, 3), np.nan), "4 draws are not finite"),
        (stead.Ordered("health ~ x"), np.array([[0.1, 1.0, 0.5]]), "rise from left to right"),
        (
            stead.Multinomial("region ~ x"),
            np.zeros((4, 3)),
            "4 columns: south: Intercept, south: x, west: Intercept, west: x",
        ),
        (stead.Linear("income ~ xx"), np.zeros((4, 3)), "no column is called xx; did you mean x"),
        (stead.Linear("inkome ~ x"), np.zeros((4, 3)), "no column is called inkome"),
        (stead.Linear("income ~ log(g)"), np.zeros((4, 3)), "is for numbers"),
        (stead.Logistic("region ~ x"), np.zeros((4, 2)), "a column of two"),
        (stead.Linear("owns ~ x"), np.zeros((4, 3)), "is binary, not a number"),
        (stead.Linear("income ~ x"), [["a", "b", "c"]], "draws are numbers"),
        (stead.Linear("income ~ x"), [[1.0, 2.0], [1.0]], "draws are numbers"),
    ],
)
def test_what_does_not_fit_is_refused(model: Regression, draws: Array, match: str) -> None:
    with pytest.raises(stead.UsageError, match=match):
        model.posterior(draws, SURVEY.schema)


@pytest.mark.parametrize("model", [stead.Multinomial("region ~ x"), stead.Ordered("health ~ x")])
def test_levels_come_from_a_schema(model: Regression) -> None:
    with pytest.raises(stead.UsageError, match=r"the levels of .* come from a schema"):
        model.posterior(np.zeros((4, 3)))


def test_given_draws_are_a_copy() -> None:
    draws = np.ones((3, 3))
    posterior = stead.Linear("income ~ x").posterior(draws)
    draws[:] = 9.0
    assert (posterior.draws == 1.0).all()


def test_a_release_can_be_measured_with_them(tmp_path: object) -> None:
    fitted = stead.Linear("log(income) ~ x").fit(SURVEY, draws=DRAWS, rng=1)
    made = fitted.sample(0, SURVEY.without(["income"]), 1)
    given = stead.Linear("log(income) ~ x").posterior(fitted.draws, SURVEY.schema)
    release = stead.Release.from_tables(
        SURVEY, [made], synthesized=["income"], aligned=True, proper=True, posterior=given
    )
    assert isinstance(release.posterior, RegressionPosterior)
    assert release.posterior.describe()[0]["method"] == "draws given by their user"
    loaded = stead.Release.load(release.save(f"{tmp_path}/kept")).posterior
    assert loaded is not None
    np.testing.assert_array_equal(loaded.log_likelihood(SURVEY), given.log_likelihood(SURVEY))
