"""Models as users meet them: gaps, decimals, bounds, kinds of response, what a posterior promises."""

from __future__ import annotations

import numpy as np
import pytest

import stead
from stead.models.regression_posterior import RegressionPosterior
from stead.tables.records import Values

RNG = np.random.default_rng(0)
N = 4_000


def _with_gaps() -> stead.Records:
    """A column with two codes and empty cells: the first depends on x, the others do not."""
    x = RNG.normal(size=N)
    y = np.round(np.exp(2 + 0.5 * x + 0.3 * RNG.normal(size=N)), 1)
    code = np.where(RNG.random(N) < 1 / (1 + np.exp(2 - 1.5 * x)), 1, 0)
    code = np.where((code == 0) & (RNG.random(N) < 0.1), 2, code)
    code = np.where((code == 0) & (RNG.random(N) < 0.05), -1, code).astype(np.int8)
    schema = stead.Schema(
        [
            stead.Column("x", "continuous"),
            stead.Column("y", "continuous", decimals=1, missing=(-7, "refused")),
        ]
    )
    return stead.Records(schema, {"x": Values.complete(x), "y": Values(np.where(code == 0, y, 0.0), code)}, N)


def test_missing_codes_keep_their_rates_apart_and_their_dependence() -> None:
    records = _with_gaps()
    release = stead.synthesize(records, stead.Linear("log(y) ~ x"), m=2, draws=200, rng=1)
    for made in release.synthetic:
        for code in (-1, 1, 2):
            real = (records["y"].missing == code).mean()
            drawn = (made["y"].missing == code).mean()
            assert abs(drawn - real) < 4 * np.sqrt(2 * real * (1 - real) / N), code
        x = made["x"].values
        assert x[made["y"].missing == 1].mean() > x[made["y"].missing == 0].mean() + 0.5
        assert abs(x[made["y"].missing == 2].mean() - x[made["y"].missing == 0].mean()) < 0.4
        assert (made["y"].missing != records["y"].missing).mean() > 0.1  # the pattern is drawn, not copied
        assert (made["y"].values[made["y"].missing != 0] == 0).all()


def test_the_density_of_a_column_with_gaps_is_that_of_its_code_or_its_value() -> None:
    records = _with_gaps()
    posterior = stead.Linear("log(y) ~ x").fit(records, draws=40, rng=2)
    assert isinstance(posterior, RegressionPosterior)
    density = posterior.log_likelihood(records, slice(0, 5))
    assert density.shape == (5, N)
    assert np.isfinite(density).all()
    matrix = posterior.design.matrix(records)
    for row in np.flatnonzero(records["y"].missing == 1)[:5]:
        codes = list(posterior.parts.codes)  # -1 is asked first, then 1
        eta = [posterior.parts.coefficients[codes.index(code)][0] @ matrix[row] for code in (-1, 1)]
        expected = -np.logaddexp(0, eta[0]) + eta[1] - np.logaddexp(0, eta[1])
        assert density[0, row] == pytest.approx(expected)


def test_decimals_and_the_domain_of_the_scale_are_kept() -> None:
    tiny = stead.table(
        {
            "y": np.maximum(np.round(np.exp(RNG.normal(0.0, 1.5, 500))), 1).astype(int) * 7 % 41 + 1,
            "x": RNG.normal(size=500),
        }
    )
    tiny = stead.table(
        tiny.to_pandas(), stead.Schema([stead.Column("y", "continuous", decimals=0), tiny.schema["x"]])
    )
    made = stead.synthesize(tiny, stead.Linear("log(y) ~ x"), m=3, draws=50, rng=1)
    for one in made.synthetic:
        assert one["y"].values.dtype == np.int64
        assert one["y"].values.min() >= 1
    money = stead.consumer_survey(500)
    cents = (
        stead.synthesize(money, stead.Linear("log(Expenditure) ~ Race"), m=1, draws=50, rng=1)
        .synthetic[0]["Expenditure"]
        .values
    )
    assert np.allclose(cents * 100, np.round(cents * 100), atol=1e-6)


def test_bounds_and_counts_hold_in_every_row() -> None:
    y = np.clip(RNG.normal(1.0, 1.0, 800), 0.0, 2.0)
    schema = stead.Schema([stead.Column("y", "continuous", bounds=(0.0, 2.0)), stead.Column("k", "count")])
    records = stead.Records(schema, {"y": Values.complete(y), "k": Values.complete(RNG.poisson(2, 800))}, 800)
    model = stead.Sequence([stead.Linear("k ~ 1"), stead.Linear("y ~ k")])
    release = stead.synthesize(
        records, model, m=2, draws=200, rng=1, override="the bounds pile up at both ends"
    )
    for one in release.synthetic:
        assert one["y"].values.min() >= 0.0
        assert one["y"].values.max() <= 2.0
        assert one["k"].values.min() >= 0
        assert one["k"].values.dtype == np.int64


def test_two_levels_of_any_kind_are_a_logistic_response() -> None:
    x = RNG.normal(size=300)
    for values, options in (
        (np.where(x > 0, "yes", "no"), {}),
        (np.where(x > 0, 1, 0), {}),
        (x > 0, {}),
        (np.where(x > 0, 2, 1), {"categorical": ["y"]}),
    ):
        noisy = np.where(RNG.random(300) < 0.2, np.roll(values, 7), values)
        records = stead.table({"x": x, "y": noisy}, **options)  # type: ignore[arg-type]
        release = stead.synthesize(records, stead.Logistic("y ~ x"), m=1, draws=400, rng=1)
        made = release.synthetic[0]["y"].values
        assert set(np.unique(made)) == {0, 1}
        assert np.corrcoef(made, x)[0, 1] > 0.3


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (stead.Logistic("Income ~ Race"), "a column of two"),
        (stead.Logistic("Race ~ Income"), "6 levels"),
        (stead.Linear("UrbanRural ~ Income"), "stead.Logistic is for two levels"),
        (stead.Linear("log(Incme) ~ Race"), "did you mean Income"),
        (stead.Linear("Income ~ log(Race)"), "is for numbers"),
        (stead.Linear("log(Income) ~ log(KidsCount)"), "at or below 0"),
    ],
)
def test_a_model_that_does_not_fit_the_column_is_refused(
    model: stead.Linear | stead.Logistic, match: str
) -> None:
    with pytest.raises(stead.SteadError, match=match):
        model.fit(stead.consumer_survey(200), rng=1)


def test_a_formula_without_a_response_or_an_unknown_prior_is_refused_when_the_model_is_made() -> None:
    with pytest.raises(stead.UsageError, match="no response"):
        stead.Linear("Race + Income")
    with pytest.raises(stead.UsageError, match="there are: weak, flat"):
        stead.Linear("Income ~ Race", prior="strong")


def test_constant_and_empty_responses_are_refused_and_constant_predictors_left_out() -> None:
    records = stead.table({"y": RNG.normal(size=60), "c": np.full(60, 3.5), "x": RNG.normal(size=60)})
    with pytest.raises(stead.InputRefused, match="is constant"):
        stead.Linear("c ~ x").fit(records)
    posterior = stead.Linear("y ~ x + c").fit(records, draws=10, rng=1)
    assert any(
        "never vary" in note and "c" in note for entry in posterior.describe() for note in entry["notes"]
    )
    with pytest.warns(stead.Notice, match="every cell is missing"):
        empty = stead.table({"y": [None] * 60, "x": RNG.normal(size=60)})
    with pytest.raises(stead.InputRefused, match="0 values are present"):
        stead.Linear("y ~ x").fit(empty)


def test_a_weight_is_never_synthesized() -> None:
    records = stead.table({"w": RNG.random(60) + 1.5, "x": RNG.normal(size=60)})
    weighted = stead.table(records.to_pandas(), records.schema.with_role("weight", "w"))
    with pytest.raises(stead.UsageError, match="role weight"):
        stead.Linear("w ~ x").fit(weighted)


def test_draws_are_named_and_the_scale_is_last() -> None:
    posterior = stead.Sequence(
        [stead.Linear("log(Income) ~ Race"), stead.Linear("log(Expenditure) ~ log(Income)")]
    ).fit(stead.consumer_survey(300), draws=20, rng=1)
    assert posterior.draws.shape == (20, len(posterior.parameters))
    assert posterior.parameters[0] == "Income: Intercept"
    assert posterior.parameters[-1] == "Expenditure: sigma"
    total = posterior.log_likelihood(stead.consumer_survey(300), slice(3, 5))
    parts = sum(part.log_likelihood(stead.consumer_survey(300), slice(3, 5)) for part in posterior.parts)
    assert np.allclose(total, parts)


def test_a_value_outside_the_domain_has_no_density() -> None:
    survey = stead.consumer_survey(300)
    posterior = stead.Linear("log(Income) ~ 1").fit(survey, draws=5, rng=1)
    zero = survey.with_column(survey.schema["Income"], Values.complete(np.zeros(300, np.int64)))
    assert (posterior.log_likelihood(zero) == -np.inf).all()
