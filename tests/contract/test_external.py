"""Models that were fitted elsewhere: what is read, what is given back as it is, what is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

import stead
from stead.models.external_posterior import ExternalPosterior
from stead.models.regression_posterior import RegressionPosterior
from stead.tables.records import Values

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

CHAINS, DRAWS, ROWS = 4, 30, 80
RNG = np.random.default_rng(8)


@dataclass
class Variable:
    """Shaped like an xarray.DataArray."""

    values: NDArray[Any]
    dims: tuple[str, ...]


@dataclass
class Dataset:
    """Shaped like an xarray.Dataset."""

    data_vars: dict[str, Variable]


@dataclass
class Inference:
    """Shaped like an arviz.InferenceData."""

    posterior: Dataset | None = None
    posterior_predictive: Dataset | None = None
    log_likelihood: Dataset | None = None
    attrs: dict[str, str] = field(default_factory=dict)


def _survey() -> stead.Records:
    x = RNG.normal(size=ROWS)
    y = np.round(np.exp(3.0 + 0.4 * x + 0.5 * RNG.normal(size=ROWS)), 2)
    g = RNG.choice(["no", "maybe", "yes"], ROWS)
    schema = stead.Schema(
        [
            stead.Column("x", "continuous"),
            stead.Column("y", "continuous", decimals=2),
            stead.Column("g", "categorical", levels=("no", "maybe", "yes")),
            stead.Column("k", "count"),
        ]
    )
    return stead.table({"x": x, "y": y, "g": g, "k": RNG.poisson(2.0, ROWS)}, schema)


SURVEY = _survey()


def _in_turn(values: Array) -> Array:
    """(H, ...), the chains taking turns, as (chains, draws, ...)."""
    return values.reshape(DRAWS, CHAINS, *values.shape[1:]).swapaxes(0, 1)


def _fitted() -> tuple[RegressionPosterior, Array, Array]:
    """A regression of our own, its predictive draws and its log-likelihood: what another program would hand over."""
    posterior = stead.Linear("log(y) ~ x").fit(SURVEY, draws=CHAINS * DRAWS, rng=1)
    assert isinstance(posterior, RegressionPosterior)
    given = SURVEY.without(["y"])
    drawn = np.stack([posterior.sample(h, given, h)["y"].values for h in range(CHAINS * DRAWS)])
    return posterior, drawn, posterior.log_likelihood(SURVEY)


OWN, PREDICTED, DENSITY = _fitted()


def _inference(**changes: Any) -> Inference:
    dims = ("chain", "draw", "obs")
    parts: dict[str, Any] = {
        "posterior": Dataset(
            {
                "b": Variable(_in_turn(OWN.draws[:, :2]), ("chain", "draw", "term")),
                "sigma": Variable(_in_turn(OWN.draws[:, 2]), ("chain", "draw")),
            }
        ),
        "posterior_predictive": Dataset({"y": Variable(_in_turn(PREDICTED), dims)}),
        "log_likelihood": Dataset({"y": Variable(_in_turn(DENSITY), dims)}),
    }
    return Inference(**(parts | changes))


def _arrays(**changes: Any) -> dict[str, dict[str, Any]]:
    parts: dict[str, dict[str, Any]] = {
        "posterior": {"b": _in_turn(OWN.draws[:, :2]), "sigma": _in_turn(OWN.draws[:, 2])},
        "posterior_predictive": {"y": _in_turn(PREDICTED)},
        "log_likelihood": {"y": _in_turn(DENSITY)},
    }
    return parts | changes


@pytest.mark.parametrize("source", [_inference(), _arrays()], ids=["inference data", "arrays"])
def test_draws_are_given_back_as_they_are(source: Any) -> None:
    posterior = stead.External(source, "y", what="log(y) ~ x, brms").fit(SURVEY)
    assert posterior.parameters == ("b[0]", "b[1]", "sigma")
    np.testing.assert_array_equal(posterior.draws, OWN.draws)
    np.testing.assert_array_equal(posterior.log_likelihood(SURVEY), DENSITY)
    np.testing.assert_array_equal(posterior.log_likelihood(SURVEY, slice(3, 9)), DENSITY[3:9])
    given = SURVEY.without(["y"])
    for h in (0, 7, CHAINS * DRAWS - 1):
        np.testing.assert_array_equal(posterior.sample(h, given, 1)["y"].values, PREDICTED[h])
    assert posterior.describe()[0]["formula"] == "log(y) ~ x, brms"


def test_named_dimensions_stand_in_any_order() -> None:
    turned = _inference(
        posterior_predictive=Dataset(
            {"pred": Variable(_in_turn(PREDICTED).transpose(2, 1, 0), ("obs", "draw", "chain"))}
        ),
        log_likelihood=Dataset(
            {"ll": Variable(_in_turn(DENSITY).transpose(1, 2, 0), ("draw", "obs", "chain"))}
        ),
    )
    posterior = stead.External(turned, {"y": "pred"}).fit(SURVEY)
    np.testing.assert_array_equal(posterior.cells["y"], PREDICTED)
    np.testing.assert_array_equal(posterior.log_likelihood(SURVEY), DENSITY)


def test_a_release_is_made_kept_and_loaded(tmp_path: Path) -> None:
    release = stead.synthesize(SURVEY, stead.External(_inference(), ["y"]), m=3)
    assert release.aligned
    assert release.synthesized == ("y",)
    for place, made in enumerate(release.synthetic):
        h = int((place + 0.5) * CHAINS * DRAWS / 3)
        np.testing.assert_array_equal(made["y"].values, PREDICTED[h])
        assert made.names == SURVEY.names
    loaded = stead.Release.load(release.save(tmp_path / "kept")).posterior
    assert isinstance(loaded, ExternalPosterior)
    np.testing.assert_array_equal(loaded.draws, OWN.draws)
    np.testing.assert_array_equal(loaded.log_likelihood(SURVEY), DENSITY)
    np.testing.assert_array_equal(loaded.sample(5, SURVEY.without(["y"]), 0)["y"].values, PREDICTED[5])
    assert loaded.diagnostics == release.posterior.diagnostics if release.posterior else False
    with pytest.raises(stead.UsageError, match="cannot be fitted again"):
        loaded.refit(SURVEY)


def test_fewer_draws_are_spread_over_all_of_them_and_diagnosed_together() -> None:
    model = stead.External(_arrays(), "y")
    every, some = model.fit(SURVEY), model.fit(SURVEY, draws=40)
    assert len(some.draws) == 40
    np.testing.assert_array_equal(some.draws, OWN.draws[1::3])
    np.testing.assert_array_equal(some.log_likelihood(SURVEY), DENSITY[1::3])
    assert some.diagnostics == every.diagnostics
    assert some.quality.draws == CHAINS * DRAWS
    with pytest.raises(stead.UsageError, match="each of 200 sets"):
        stead.synthesize(SURVEY, model, m=200)


def test_chains_that_do_not_agree_stop_a_release() -> None:
    apart = np.random.default_rng(0).normal(size=(CHAINS, 150)) + 3.0 * np.arange(CHAINS)[:, None]
    drawn = np.exp(np.random.default_rng(1).normal(size=(CHAINS, 150, ROWS)))
    source = {"posterior": {"b": apart}, "posterior_predictive": {"y": drawn}}
    with pytest.raises(stead.DiagnosticsFailed, match="the chains do not agree"):
        stead.synthesize(SURVEY, stead.External(source, "y"), m=2)
    assert stead.External(source, "y").fit(SURVEY).quality.rhat == pytest.approx(
        float(pytest.importorskip("arviz_stats.base").array_stats.rhat(apart)), rel=1e-9
    )


def test_rows_are_known_in_any_order_and_block_and_others_are_refused() -> None:
    posterior = stead.External(_inference(), "y").fit(SURVEY)
    rows = np.array([5, 2, 70, 2])
    np.testing.assert_array_equal(posterior.log_likelihood(SURVEY.take(rows)), DENSITY[:, rows])
    values = SURVEY["y"].values.copy()
    values[[0, 4]] += 1.0
    guess = SURVEY.with_column(SURVEY.schema["y"], Values.complete(values))
    with pytest.raises(stead.UsageError, match="2 of 80 rows have no log-likelihood"):
        posterior.log_likelihood(guess)
    with pytest.raises(stead.UsageError, match="y is not among the columns"):
        posterior.log_likelihood(SURVEY.without(["y"]))


def test_guesses_and_synthetic_rows_that_come_with_a_log_likelihood_are_known_too() -> None:
    values = SURVEY["y"].values + 2.5
    guess = SURVEY.with_column(SURVEY.schema["y"], Values.complete(values))
    own = OWN.log_likelihood(guess)
    model = stead.External(_inference(), "y", elsewhere=[(guess, _in_turn(own))])
    np.testing.assert_array_equal(model.fit(SURVEY).log_likelihood(guess), own)
    np.testing.assert_array_equal(
        model.fit(SURVEY, draws=40).log_likelihood(guess.take(slice(9))), own[1::3, :9]
    )
    with pytest.raises(
        stead.UsageError, match="elsewhere, pair 1: is 4 x 30 x 9; 4 chains x 30 draws x 80 rows"
    ):
        stead.External(_inference(), "y", elsewhere=[(guess, _in_turn(own)[:, :, :9])]).fit(SURVEY)


def test_a_function_computes_the_log_likelihood_of_any_record() -> None:
    def density(records: stead.Records, draws: dict[str, Array]) -> Array:
        x, y = records["x"].values, records["y"].values
        mean = draws["b[0]"][:, None] + draws["b[1]"][:, None] * x
        return np.asarray(stats.norm.logpdf(np.log(y), mean, draws["sigma"][:, None]) - np.log(y))

    posterior = stead.External(_inference(), "y", log_likelihood=density).fit(SURVEY)
    np.testing.assert_allclose(posterior.log_likelihood(SURVEY), DENSITY, rtol=1e-9)
    guess = SURVEY.with_column(SURVEY.schema["y"], Values.complete(SURVEY["y"].values + 1.0))
    np.testing.assert_allclose(
        posterior.log_likelihood(guess, slice(2, 5)), OWN.log_likelihood(guess, slice(2, 5)), rtol=1e-9
    )
    wrong = stead.External(_inference(), "y", log_likelihood=lambda records, draws: np.zeros(3)).fit(SURVEY)
    with pytest.raises(stead.UsageError, match="120 draws x 80 rows are expected"):
        wrong.log_likelihood(SURVEY)


def _belief(posterior: Any, synthetic: list[stead.Records]) -> float:
    release = stead.Release.from_tables(
        SURVEY, synthetic, synthesized=["y"], aligned=True, proper=True, posterior=posterior
    )
    who = stead.Intruder.worst_case(guesses=stead.Grid(1.0, 0.5))
    measured = stead.attribute_risk(release, "y", who, evidence="reweight", refits=0).value
    assert measured is not None
    return measured


def test_attribute_risk_is_that_of_the_model_itself() -> None:
    """By a function, and by the log-likelihoods of the guesses and of the synthetic rows: no other step knows the model."""

    def density(records: stead.Records, draws: dict[str, Array]) -> Array:
        x, y = records["x"].values, records["y"].values
        mean = draws["b[0]"][:, None] + draws["b[1]"][:, None] * x
        return np.asarray(stats.norm.logpdf(np.log(y), mean, draws["sigma"][:, None]) - np.log(y))

    synthetic = [OWN.sample(h, SURVEY.without(["y"]), h) for h in (5, 50)]
    steps = [np.exp(np.log(SURVEY["y"].values) + step) for step in (-1.0, -0.5, 0.5, 1.0)]
    known = [SURVEY.with_column(SURVEY.schema["y"], Values.complete(step)) for step in steps] + synthetic
    elsewhere = [(records, _in_turn(OWN.log_likelihood(records))) for records in known]
    own = _belief(OWN, synthetic)
    for settings in ({"log_likelihood": density}, {"elsewhere": elsewhere}):
        model = stead.External(_inference(), "y", scales={"y": "log"}, **settings)
        assert _belief(model.fit(SURVEY), synthetic) == pytest.approx(own, rel=1e-9)
    with pytest.raises(stead.UsageError, match="have no log-likelihood"):
        _belief(stead.External(_inference(), "y").fit(SURVEY), synthetic)


def test_without_a_log_likelihood_there_is_none() -> None:
    for model in (
        stead.External(_inference(log_likelihood=None), "y"),
        stead.External(_inference(), "y", log_likelihood=False),
    ):
        with pytest.raises(stead.UsageError, match="came without a log-likelihood"):
            model.fit(SURVEY).log_likelihood(SURVEY)


def test_the_log_likelihoods_of_several_columns_are_added() -> None:
    counts = RNG.poisson(2.0, (CHAINS, DRAWS, ROWS))
    source = _arrays(
        posterior_predictive={"y": _in_turn(PREDICTED), "k": counts},
        log_likelihood={"y": _in_turn(DENSITY), "k": np.full((CHAINS, DRAWS, ROWS), -0.5)},
    )
    posterior = stead.External(source, ["k", "y"]).fit(SURVEY)
    np.testing.assert_allclose(posterior.log_likelihood(SURVEY), DENSITY - 0.5)
    made = posterior.sample(3, SURVEY.without(["k", "y"]), 0)
    assert made["k"].values.dtype == np.int64
    assert made.names == ("x", "g", "k", "y")


@pytest.mark.parametrize(
    ("drawn", "first"),
    [
        (np.array(["no", "maybe", "yes"]), 0),
        (np.array(["no", "maybe", "yes"], object), 0),
        (np.array([0, 1, 2]), 0),
        (np.array([1.0, 2.0, 3.0]), 1),
    ],
)
def test_categories_are_coded_by_the_levels_of_the_schema(drawn: NDArray[Any], first: int) -> None:
    code = RNG.integers(0, 3, (CHAINS, DRAWS, ROWS))
    source = _arrays(posterior_predictive={"g": drawn[code]}, log_likelihood={})
    posterior = stead.External(source, "g", log_likelihood=False, first_level=first).fit(SURVEY)
    np.testing.assert_array_equal(posterior.cells["g"], code.swapaxes(0, 1).reshape(-1, ROWS))


def test_levels_that_are_numbers_are_drawn_as_they_are() -> None:
    schema = stead.Schema(
        [stead.Column("g", "categorical", levels=(1, 2, 6)), stead.Column("x", "continuous")]
    )
    records = stead.table({"g": RNG.choice([1, 2, 6], ROWS), "x": np.zeros(ROWS)}, schema)
    drawn = RNG.choice([1, 2, 6], (CHAINS, DRAWS, ROWS))
    source = {"posterior": {}, "posterior_predictive": {"g": drawn}}
    posterior = stead.External(source, "g").fit(records)
    np.testing.assert_array_equal(
        np.array([1, 2, 6])[posterior.cells["g"]], drawn.swapaxes(0, 1).reshape(-1, ROWS)
    )
    with pytest.raises(stead.UsageError, match="1 different values are not levels"):
        stead.External(
            {"posterior": {}, "posterior_predictive": {"g": np.where(drawn == 6, 3, drawn)}}, "g"
        ).fit(records)


def _refused(
    match: str, source: Any, made: Any = "y", records: stead.Records = SURVEY, **options: Any
) -> None:
    with pytest.raises(stead.SteadError, match=match):
        stead.External(source, made, **options).fit(records)


def test_what_does_not_fit_is_refused_with_what_is_expected() -> None:
    drawn = _in_turn(PREDICTED)
    _refused("the source has no group posterior_predictive", {"posterior": {}})
    _refused("the source has no group posterior;", {"posterior_predictive": {"y": drawn}})
    _refused("is a ndarray, not a mapping", _arrays(posterior_predictive=drawn))
    _refused("no variable is called income; there are: y", _arrays(), {"y": "income"})
    _refused(
        "4 x 30 x 79; 4 chains x 30 draws x 80 rows", _arrays(posterior_predictive={"y": drawn[:, :, 1:]})
    )
    _refused("is 4 x 29; 4 chains x 30 draws", _arrays(posterior={"b": np.zeros((4, 29))}))
    _refused(
        "has the dimensions sample, obs; chain and draw",
        _inference(posterior_predictive=Dataset({"y": Variable(PREDICTED, ("sample", "obs"))})),
    )
    _refused("has 1 dimensions; chains x draws", _arrays(posterior={"b": np.zeros(120)}))
    _refused(
        "missing or not finite", _arrays(posterior_predictive={"y": np.where(drawn > 30, np.nan, drawn)})
    )
    _refused("some draws are not finite", _arrays(posterior={"b": np.full((4, 30), np.inf)}))
    _refused("not whole, and the column is a count", _arrays(posterior_predictive={"k": drawn}), "k")
    _refused(
        "levels of the schema; numbers from 0 to 2",
        _arrays(posterior_predictive={"g": np.full((4, 30, 80), 3)}),
        "g",
    )
    _refused("no column is called income", _arrays(posterior_predictive={"income": drawn}), "income")
    _refused("at least one column", _arrays(), [])
    _refused("first_level is 0 or 1", _arrays(), first_level=2)
    _refused("predictors: no column is called z", _arrays(), predictors=("z",))
    _refused("scales: did you mean log", _arrays(), scales={"y": "logg"})
    _refused("scales: there are: y", _arrays(), scales={"income": "log"})
    _refused(
        "1 rows are not numbers",
        _arrays(log_likelihood={"y": np.where(np.arange(80) == 3, np.nan, _in_turn(DENSITY))}),
    )


def test_rows_that_differ_only_in_what_the_records_do_not_say() -> None:
    twice = SURVEY.take(np.r_[0:40, 0:40])
    density = np.concatenate([DENSITY[:, :40], DENSITY[:, :40] - 1.0], axis=1)
    source = _arrays(log_likelihood={"y": _in_turn(density)})
    _refused("40 rows have another one than a row that is the same", source, records=twice)
    assert stead.External(source, "y", log_likelihood=False).fit(twice).known is None
    same = _arrays(log_likelihood={"y": _in_turn(np.tile(DENSITY[:, :40], 2))})
    assert stead.External(same, "y").fit(twice).log_likelihood(twice).shape == (120, 80)


def test_predictive_draws_are_for_the_confidential_rows_in_their_order() -> None:
    posterior = stead.External(_arrays(), "y").fit(SURVEY)
    given = SURVEY.without(["y"])
    with pytest.raises(stead.UsageError, match="79 rows are given"):
        posterior.sample(0, given.take(slice(79)), 0)
    with pytest.raises(stead.UsageError, match="x is not as it is in the confidential records"):
        posterior.sample(0, given.take(np.arange(ROWS)[::-1]), 0)


def test_in_a_sequence_it_comes_first_or_names_its_predictors() -> None:
    external = stead.External(_arrays(), "y", predictors=("x",))
    counts = stead.Poisson("k ~ log(y)")
    release = stead.synthesize(SURVEY, stead.Sequence([external, counts]), m=2, draws=60, rng=1)
    assert release.synthesized == ("y", "k")
    stead.synthesize(SURVEY, stead.Sequence([stead.Poisson("k ~ x"), external]), m=2, draws=60, rng=1)
    with pytest.raises(stead.UsageError, match="k is not as it is"):
        stead.synthesize(
            SURVEY,
            stead.Sequence([stead.Poisson("k ~ x"), stead.External(_arrays(), "y")]),
            m=2,
            draws=60,
            rng=1,
        )
    with pytest.raises(stead.UsageError, match="y is predicted from x, which a later model makes"):
        stead.Sequence([external, stead.Linear("x ~ 1")])


def test_draws_beyond_the_bounds_are_put_at_them_and_counted() -> None:
    bounded = SURVEY.schema.with_columns(stead.Column("y", "continuous", decimals=2, bounds=(0.0, 300.0)))
    records = stead.table(SURVEY.to_pandas(), bounded)
    drawn = _in_turn(PREDICTED).copy()
    drawn[0, :2, 0] = (301.0, -4.0)
    posterior = stead.External(_arrays(posterior_predictive={"y": drawn}), "y").fit(records)
    assert any(note.startswith("2 drawn values were beyond the bounds of y") for note in posterior.notes)
    assert posterior.cells["y"].max() <= 300.0
    assert posterior.cells["y"].min() >= 0.0


def test_no_value_is_shown() -> None:
    posterior = stead.External(_arrays(), "y").fit(SURVEY)
    shown = repr(posterior) + repr(stead.External(_arrays(), "y")) + str(posterior.describe())
    assert not any(f"{value}" in shown for value in SURVEY["y"].values)


@pytest.mark.parametrize("kind", ["InferenceData", "DataTree"])
def test_the_objects_of_arviz_and_xarray(kind: str) -> None:
    xarray = pytest.importorskip("xarray")
    parts = {
        name: xarray.Dataset(
            {
                key: xarray.DataArray(value, dims=("chain", "draw", f"{name}_{key}")[: value.ndim])
                for key, value in group.items()
            }
        )
        for name, group in _arrays().items()
    }
    if kind == "InferenceData":
        source = pytest.importorskip("arviz").InferenceData(**parts)
    else:
        source = xarray.DataTree.from_dict({f"/{name}": group for name, group in parts.items()})
    posterior = stead.External(source, "y").fit(SURVEY)
    np.testing.assert_array_equal(posterior.draws, OWN.draws)
    np.testing.assert_array_equal(posterior.cells["y"], PREDICTED)
    np.testing.assert_array_equal(posterior.log_likelihood(SURVEY), DENSITY)


def test_external_is_the_posterior_bound_to_its_records() -> None:
    """`stead.external(...)` and `stead.External(...).fit(...)` are the same draws; neither can be fitted again."""
    records = stead.table({"x": np.arange(60.0), "y": np.arange(60.0) % 7})
    rng = np.random.default_rng(1)
    source = {
        "posterior": {"mu": rng.normal(size=(2, 30))},
        "posterior_predictive": {"y": rng.poisson(3.0, size=(2, 30, 60))},
    }
    bound = stead.external(source, ["y"], records, draws=20)
    fitted = stead.External(source, ["y"]).fit(records, draws=20)
    np.testing.assert_array_equal(bound.draws, fitted.draws)
    assert bound.responses == ("y",)
    assert not bound.refittable
    with pytest.raises(stead.UsageError, match="cannot be fitted again"):
        bound.refit(records)
