"""What is said of samplers: figures beside their limits, fits named without levels, a refusal with its table, pictures of chains."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stead
from stead.models.fits import fits_of
from stead.sampling.diagnostics import Diagnostics, independent
from stead.sampling.verdicts import FIGURES, from_record, has_chains, judge, problems_of, summary, worst
from stead.tables.records import Values

if TYPE_CHECKING:
    from stead.models.regression_posterior import RegressionPosterior
    from stead.models.sequence import SequencePosterior

FIGURE = st.none() | st.floats(0, 3) | st.floats(0, 5000) | st.sampled_from([float("inf"), float("nan")])
GOOD = Diagnostics("a chain", 1000, 700.0, 650.0, 1.002, 0.2, 0.8)


@given(st.integers(1, 4000), st.lists(FIGURE, min_size=5, max_size=5))
def test_a_fit_is_marked_bad_exactly_when_it_stops_a_release(draws: int, figures: list[float | None]) -> None:
    held: dict[str, Any] = dict(zip(FIGURES, figures, strict=True))
    checked = Diagnostics("a method", draws, **held)
    verdicts = judge(checked)
    stops = bool(problems_of(checked))
    assert set(checked.problems) <= set(problems_of(checked))
    assert stops == (worst(checked) == "fail") == any(v.mark == "fail" for v in verdicts.values())
    for verdict in verdicts.values():
        assert bool(verdict.reason) == (verdict.value is None)
    json.dumps({key: verdict.to_dict() for key, verdict in verdicts.items()}, allow_nan=False)


@pytest.mark.parametrize(
    ("change", "mark"),
    [
        ({}, "ok"),
        ({"ess_bulk": 399.0}, "warn"),
        ({"ess_bulk": 99.0}, "fail"),
        ({"ess_tail": 399.0}, "warn"),
        ({"ess_tail": 10.0}, "warn"),
        ({"rhat": 1.01}, "warn"),
        ({"rhat": 1.06}, "fail"),
        ({"rhat": 1.06, "draws": 300, "ess_bulk": 200.0}, "warn"),
        ({"rhat": float("inf")}, "fail"),
        ({"rhat": float("nan")}, "fail"),
        ({"pareto_k": 0.71}, "fail"),
        ({"acceptance": 0.01}, "ok"),
    ],
)
def test_a_fit_has_the_mark_of_its_worst_figure(change: dict[str, float], mark: str) -> None:
    assert worst(replace(GOOD, **change)) == mark  # type: ignore[arg-type]


def test_what_does_not_apply_has_its_reason() -> None:
    closed = judge(independent("closed form", 500))
    assert {verdict.reason for verdict in closed.values()} == {"the draws are independent"}
    assert not has_chains(independent("closed form", 500))
    assert worst(independent("closed form", 500)) == "ok"
    assert judge(replace(GOOD, pareto_k=None))["pareto_k"].reason == "no proposals whose weights vary"
    assert "too few draws" in judge(Diagnostics("a chain", 8, acceptance=0.5))["rhat"].reason


def test_a_summary_counts_fits() -> None:
    assert summary(["ok"]) == "The fit is within its limits."
    assert summary(["ok", "ok"]) == "All 2 fits are within their limits."
    assert (
        summary(["fail", "warn", "warn"])
        == "1 of 3 fits has draws that stop a run. 2 of 3 fits deserve a look."
    )


def test_a_record_of_a_fit_is_read_whatever_else_it_holds() -> None:
    held = {**GOOD.to_dict(), "why": "the proposals missed a tail", "more": 3}
    assert from_record(held) == replace(GOOD, why="the proposals missed a tail")


def survey(rows: int = 600) -> stead.Records:
    """Two categories with levels that nothing may show, gaps in a response."""
    rng = np.random.default_rng(9)
    x = rng.normal(size=rows)
    job = rng.integers(0, 3, rows)
    y = np.exp(1 + 0.4 * x + 0.2 * job + 0.5 * rng.normal(size=rows))
    records = stead.table(
        {
            "x": x,
            "job": np.array(["quartz[miner]", "glazier: night", "]pilot"])[job],
            "y": y,
            "b": np.where(rng.random(rows) < 1 / (1 + np.exp(-x)), "yes", "no"),
        }
    )
    gaps = np.where(rng.random(rows) < 0.1, -1, 0).astype(np.int8)
    column = records.schema["y"]
    return records.with_column(column, Values(np.where(gaps == 0, y, 0.0), gaps))


def test_parts_of_a_column_and_levels_of_a_response_are_fits_without_a_level() -> None:
    """A response of several levels, one with thresholds, one with a spike: as many names as draws, none with a level."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=500)
    group = np.array(["quartz", "miner", "pilot"])[
        np.clip(np.round(x + rng.normal(size=500)) + 1, 0, 2).astype(int)
    ]
    paid = np.where(rng.random(500) < 0.3, 0.0, np.exp(2 + 0.3 * x + 0.5 * rng.normal(size=500)))
    plain = stead.table({"x": x, "g": group, "o": group, "paid": paid})
    schema = plain.schema.with_columns(
        replace(plain.schema["o"], kind="ordered"), replace(plain.schema["paid"], spikes=(0.0,))
    )
    records = stead.table(plain.to_pandas(), schema)
    model = stead.Sequence(
        [stead.Multinomial("g ~ x"), stead.Ordered("o ~ x + g"), stead.Linear("paid ~ x + g")]
    )
    fits = fits_of(model.fit(records, draws=400, rng=1))
    assert [fit.name for fit in fits] == ["g", "o", "paid", "paid, spike"]
    for fit in fits:
        assert fit.draws.shape == (400, len(fit.parameters)), fit.name
        assert len(set(fit.parameters)) == len(fit.parameters)
        assert not [name for name in fit.parameters if any(level in name for level in set(group))]
    assert fits[0].parameters[0] == "Intercept, equation 1"
    assert fits[1].parameters[0] == "x"


MODEL = stead.Sequence(
    [stead.Linear("x ~ job"), stead.Linear("log(y) ~ x + job", prior="flat"), stead.Logistic("b ~ x*job")]
)


@pytest.fixture(scope="module")
def posterior() -> SequencePosterior:
    return MODEL.fit(survey(), draws=1000, rng=1)


def test_every_sampler_that_ran_is_a_fit(posterior: SequencePosterior) -> None:
    fits = fits_of(posterior)
    assert [fit.name for fit in fits] == ["x", "y", "y, missing code", "b"]
    assert [has_chains(fit.diagnostics) for fit in fits] == [False, True, True, True]
    for fit in fits:
        assert fit.draws.shape == (1000, len(fit.parameters))
        assert len(set(fit.parameters)) == len(fit.parameters)
    assert fits[1].parameters == ("Intercept", "x", "job, 1 of 2", "job, 2 of 2", "sigma")


def test_a_check_of_samplers_has_a_table_and_pictures_and_no_level(posterior: SequencePosterior) -> None:
    checked = stead.sampler_check(posterior)
    content = checked.to_dict()
    written = json.dumps(content, allow_nan=False, ensure_ascii=False)
    assert not [word for word in ("quartz", "miner", "glazier", "night", "pilot", "yes") if word in written]
    assert checked.value == 0.0
    rows = {row["fit"]: row for row in content["fits"]}
    assert set(rows) == {"y", "y, missing code", "b", "x"}
    assert all(set(row["figures"]) == set(FIGURES) for row in rows.values())
    assert rows["x"]["no_picture"] == "the draws are independent: there is no chain to look at"
    assert rows["x"]["figures"]["rhat"]["reason"] == "the draws are independent"
    pictured = {picture["fit"] for picture in content["aggregates"]["columns"]}
    assert pictured == {"y", "y, missing code", "b"}
    assert checked.chart().title.startswith("Do the chains for ")


def test_independent_draws_have_nothing_to_show_and_say_so() -> None:
    closed = stead.Linear("log(Income) ~ Race").fit(stead.consumer_survey(200), draws=50, rng=1)
    checked = stead.sampler_check(closed)
    assert checked.value == 0.0
    assert checked.aggregates == {}
    with pytest.raises(stead.UsageError, match="the draws are independent: there is no chain"):
        checked.chart()
    short = stead.Logistic("b ~ x").fit(survey(), draws=40, rng=1)
    with pytest.raises(stead.UsageError, match="fewer than 40 draws"):
        stead.sampler_check(short).chart()
    assert "came from outside" in stead.sampler_check(None).reason


class Joint:
    """A posterior of a kind that nothing here knows: one chain for two columns, names that hold a level."""

    responses = ("a", "b")
    draws = np.random.default_rng(0).normal(size=(4000, 2))
    parameters = ("psi[quartz]", "psi[miner]")
    diagnostics = (Diagnostics("Gibbs", 4000, 3000.0, 3000.0, 1.0),)


def test_a_posterior_of_another_kind_is_shown_by_the_places_of_its_parameters() -> None:
    joint: Any = Joint()
    (fit,) = fits_of(joint)
    assert fit.name == "a, b"
    assert fit.parameters == ("parameter 1", "parameter 2")
    content = stead.sampler_check(joint).to_dict()
    assert "quartz" not in json.dumps(content)
    assert content["fits"][0]["figures"]["acceptance"]["reason"] == "no proposal is ever rejected"
    assert len(content["aggregates"]["columns"]) == 1


def test_draws_of_another_program_have_figures_and_no_pictures() -> None:
    """Two chains of 300 draws: the figures are theirs, and which draw is of which chain is not known any more."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=80)
    b = 0.5 + 0.05 * rng.normal(size=(2, 300))
    drawn = b[:, :, None] * x + rng.normal(size=(2, 300, 80))
    records = stead.table({"x": x, "y": 0.5 * x + rng.normal(size=80)})
    source = {"posterior": {"b": b}, "posterior_predictive": {"y": drawn}}
    release = stead.synthesize(records, stead.External(source, ["y"]), m=2, draws=200, rng=1)
    content = stead.sampler_check(release.posterior).to_dict()
    (row,) = content["fits"]
    assert row["figures"]["rhat"]["value"] < 1.05
    assert row["figures"]["pareto_k"]["reason"] == "the draws were made elsewhere"
    assert row["no_picture"].startswith("the draws were made elsewhere: which chain")
    assert content["aggregates"] == {}
    checked = stead.predictive_check(release)
    assert checked.details["draws"] == 59
    assert checked.available


def test_draws_that_were_given_are_not_called_independent() -> None:
    fitted = stead.Linear("y ~ x").fit(survey(), draws=50, rng=1)
    assert isinstance(fitted.draws, np.ndarray)
    given = stead.Linear("y ~ x").posterior(fitted.draws, survey().schema)
    (fit,) = fits_of(given)
    assert fit.elsewhere
    reasons = {
        figure["reason"] for figure in stead.sampler_check(given).details["fits"][0]["figures"].values()
    }
    assert reasons == {"the draws were made elsewhere"}


def test_a_private_model_is_not_asked_for_more_data_sets() -> None:
    levels = stead.Schema([stead.Column("b", "binary", levels=(0, 1))])
    records = stead.table({"b": [0, 1] * 60}, levels)
    release = stead.synthesize(records, stead.BinaryDP(2, column="b", declared=(0, 1)), m=1)
    assert "costs epsilon" in stead.predictive_check(release).reason
    assert stead.sampler_check(release.posterior).value == 0.0


def stuck(posterior: RegressionPosterior, quality: Diagnostics) -> RegressionPosterior:
    return replace(posterior, quality=quality)


def test_bad_draws_refuse_a_release_with_the_table_of_all_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    true = stead.Logistic.fit
    bad = Diagnostics("a chain", 200, 4.0, 4.0, float("inf"), 0.2, 0.0)

    def failing(*arguments: Any, **options: Any) -> RegressionPosterior:
        return stuck(true(*arguments, **options), bad)

    monkeypatch.setattr(stead.Logistic, "fit", failing)
    model = stead.Sequence([stead.Linear("log(y) ~ x"), stead.Logistic("b ~ x")])
    with pytest.raises(stead.DiagnosticsFailed) as refused:
        stead.synthesize(survey(), model, draws=200, rng=1)
    content = json.loads(json.dumps(refused.value.to_dict(), allow_nan=False))
    assert content["message"].startswith("b: 4 of 200 draws are effective")
    assert [row["fit"] for row in content["fits"]] == ["b", "y, missing code", "y"]
    assert content["fits"][0]["mark"] == "fail"
    assert content["fits"][0]["figures"]["rhat"] == {
        "value": None,
        "mark": "fail",
        "reason": "no finite number: a chain does not move",
    }
    release = stead.synthesize(survey(), model, draws=200, rng=1, override="to see what it gives")
    assert release.provenance["override"] == "to see what it gives"
    assert stead.sampler_check(release.posterior).value == 1.0


def test_missing_codes_whose_chains_are_bad_refuse_a_release_too(monkeypatch: pytest.MonkeyPatch) -> None:
    true = stead.Linear.fit

    def failing(*arguments: Any, **options: Any) -> RegressionPosterior:
        fitted = true(*arguments, **options)
        return replace(fitted, parts=replace(fitted.parts, quality=(replace(GOOD, pareto_k=3.0),)))

    monkeypatch.setattr(stead.Linear, "fit", failing)
    with pytest.raises(stead.DiagnosticsFailed, match="y, missing code: Pareto k is 3"):
        stead.synthesize(survey(), stead.Linear("log(y) ~ x"), draws=200, rng=1)


def test_a_refusal_goes_through_a_process() -> None:
    error = stead.DiagnosticsFailed("E-DIAGNOSTICS", "bad", [{"fit": "y"}])
    kind, arguments = error.__reduce__()
    again: Any = kind
    assert again(*arguments).to_dict() == error.to_dict()
    assert error.to_dict()["fits"] == [{"fit": "y"}]
    assert "fits" not in stead.DiagnosticsFailed("E-OVERFLOW", "too large").to_dict()


def test_a_release_that_was_saved_has_the_same_check(tmp_path: Any) -> None:
    release = stead.synthesize(survey(), MODEL, m=1, draws=200, rng=1)
    again = stead.Release.load(release.save(tmp_path / "kept"))
    assert stead.sampler_check(again.posterior).to_dict() == stead.sampler_check(release.posterior).to_dict()
