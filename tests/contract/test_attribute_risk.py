"""Attribute risk as its users meet it: what is refused and why, what a measurement holds, what it never shows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import stead

SURVEY = stead.consumer_survey(300)
MODEL = stead.Sequence(
    [
        stead.Linear("log(Income) ~ Race"),
        stead.Logistic("UrbanRural ~ log(Income)"),
        stead.Poisson("KidsCount ~ UrbanRural"),
    ]
)
RELEASE = stead.synthesize(SURVEY, MODEL, m=2, draws=400, rng=1)


@pytest.mark.parametrize(
    ("target", "options", "match"),
    [
        ("Incme", {}, "did you mean Income"),
        ("Race", {}, "is not synthesized"),
        ("Income", {"evidence": "exact"}, "no closed form.*possible: two_posterior, reweight, refit"),
        ("Income", {"evidence": "two_posteriors"}, "did you mean two_posterior"),
        ("Income", {"intruder": stead.Intruder.worst_case(stead.Levels())}, "guess on a Grid"),
        ("UrbanRural", {"intruder": stead.Intruder.worst_case(stead.Grid(1, 0.5))}, "stead.Levels"),
        ("KidsCount", {"intruder": stead.Intruder.worst_case(stead.Grid(1, 0.5))}, "whole numbers"),
        ("Income", {"intruder": stead.Intruder.worst_case({"Race": stead.Levels()})}, "which is no target"),
        ("Income", {"intruder": stead.Intruder.worst_case(prior=np.ones(3) / 3)}, "11 probabilities"),
        ("UrbanRural", {"intruder": stead.Intruder.worst_case(prior=np.array([2.0, -1.0]))}, "not negative"),
        ("Income", {"rows": [300]}, "0 to 299"),
    ],
)
def test_what_cannot_be_asked_is_refused(target: str, options: dict[str, Any], match: str) -> None:
    with pytest.raises(stead.UsageError, match=match):
        stead.attribute_risk(RELEASE, target, **options)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: stead.Grid(1, 2), "at least one step"),
        (lambda: stead.PointMass(1.0), "between 0 and 1"),
        (lambda: stead.Intruder(others="some"), "there are: none, all"),  # type: ignore[arg-type]
        (lambda: stead.Intruder.worst_case(prior="unifrom"), "did you mean uniform"),
    ],
)
def test_an_intruder_that_makes_no_sense_is_refused(make: Any, match: str) -> None:
    with pytest.raises(stead.UsageError, match=match):
        make()


def test_a_release_without_a_posterior_says_what_is_needed() -> None:
    files = stead.Release.from_tables(
        SURVEY, RELEASE.synthetic, synthesized=RELEASE.synthesized, aligned=True
    )
    with pytest.raises(stead.UsageError, match=r"posterior= to Release\.from_tables"):
        stead.attribute_risk(files, "Income")


@pytest.mark.parametrize("evidence", ["reweight", "two_posterior"])
def test_point_estimates_have_no_draws_to_weigh(evidence: Any) -> None:
    plug_in = stead.Release.from_tables(
        SURVEY,
        RELEASE.synthetic,
        synthesized=RELEASE.synthesized,
        aligned=True,
        proper=False,
        posterior=RELEASE.posterior,
    )
    with pytest.raises(stead.UsageError, match="one point estimate"):
        stead.attribute_risk(plug_in, "Income", evidence=evidence)


def test_a_measurement_holds_records_inside_and_distributions_outside() -> None:
    measured = stead.attribute_risk(RELEASE, "Income", rng=1)
    assert {"probability", "rank", "prior", "relative", "ess", "k"} <= set(measured.per_record)
    assert all(len(values) == 300 for values in measured.per_record.values())
    np.testing.assert_allclose(measured.per_record["posterior"].astype(float).sum(axis=1), 1.0)
    content = measured.to_dict()
    assert content["value"] == pytest.approx(measured.per_record["probability"].astype(float).mean())
    assert content["reference"] == pytest.approx(1 / 11)
    assert content["evidence"] == "two_posterior"
    text = json.dumps(content)
    incomes = {str(value) for value in SURVEY["Income"].values.tolist() if value > 999}
    assert not incomes & set(text.replace(",", " ").replace("]", " ").split())
    assert len(text) < 10_000
    assert sum(content["aggregates"]["probability"]["counts"]) == 300
    assert measured.chart().svg.startswith("<svg")


def test_rows_are_a_choice_and_missing_truths_are_left_out() -> None:
    frame = SURVEY.to_pandas()
    frame["Income"] = frame["Income"].astype("Int64")
    frame.loc[:9, "Income"] = None
    gaps = stead.table(frame, SURVEY.schema)
    release = stead.synthesize(gaps, stead.Linear("log(Income) ~ Race"), m=1, draws=100, rng=1)
    measured = stead.attribute_risk(release, "Income", evidence="reweight", refits=0)
    assert measured.details["left_out"] == 10
    assert measured.per_record["row"][0] == 10
    assert len(stead.attribute_risk(release, "Income", rows=[12, 20], refits=0).per_record["row"]) == 2


def test_a_joint_guess_has_marginals() -> None:
    measured = stead.attribute_risk(
        RELEASE,
        ["Income", "UrbanRural"],
        stead.Intruder.worst_case({"Income": stead.Grid(1.0, 0.5)}),
        rows=range(20),
        refits=0,
        rng=1,
    )
    assert measured.details["guesses"] == 10
    joint = measured.per_record["probability"].astype(float)
    for name in ("Income", "UrbanRural"):
        assert (measured.per_record[f"probability({name})"].astype(float) >= joint - 1e-12).all()


def test_an_outsider_needs_no_other_record_and_gains_from_predictors() -> None:
    """A column that its predictor tells almost alone is found by an outsider too."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    records = stead.table({"x": x, "b": (x + 0.1 * rng.normal(size=200) > 0).astype(int)})
    release = stead.synthesize(records, stead.Logistic("b ~ x"), m=2, draws=200, rng=1)
    measured = stead.attribute_risk(release, "b", stead.Intruder.outsider(), rng=1)
    assert measured.details["others"] == "none"
    assert measured.value is not None
    assert measured.value > 0.9
    fit = stead.attribute_risk(
        release, "b", stead.Intruder.worst_case(prior="fit"), evidence="two_posterior", rng=1
    )
    assert fit.value == pytest.approx(measured.value, abs=0.03)


def test_priors_are_read_as_they_are_called() -> None:
    found = {
        str(prior): stead.attribute_risk(
            RELEASE, "UrbanRural", stead.Intruder.worst_case(prior=prior), rng=1, refits=0
        ).per_record["prior"]
        for prior in ("uniform", "margins", stead.PointMass(0.9))
    }
    assert (found["uniform"].astype(float) == 0.5).all()
    assert np.allclose(found["PointMass(weight=0.9)"].astype(float), 0.9)
    shares = np.bincount(SURVEY["UrbanRural"].values) / 300
    np.testing.assert_allclose(found["margins"].astype(float), shares[SURVEY["UrbanRural"].values], atol=0.01)


def test_values_of_other_records_and_shares_are_guesses() -> None:
    for guesses in (stead.Others(7), stead.Share(0.2, 0.1)):
        measured = stead.attribute_risk(
            RELEASE, "Income", stead.Intruder.worst_case(guesses), rows=range(30), refits=0, rng=1
        )
        posterior = measured.per_record["posterior"].astype(float)
        assert posterior.shape[1] == {True: 8, False: 5}[isinstance(guesses, stead.Others)]
        np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
