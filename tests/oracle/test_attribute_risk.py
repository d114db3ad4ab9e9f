"""Beliefs against enumeration, closed forms and each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import stead
from stead.kernels.belief import stepped_sums, stepped_sums_plain
from stead.risk.averages import Bases

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.models.base import Model

    Array = NDArray[np.float64]

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=N)
Y = 1.0 + 0.5 * X + RNG.normal(size=N)
Y[0] = 7.0  # 5 standard deviations out
DATA = stead.table(
    {
        "x": X,
        "y": Y,
        "b": (RNG.random(N) < 1 / (1 + np.exp(-X))).astype(int),
        "k": RNG.poisson(np.exp(0.3 + 0.3 * X)),
        "g": np.array(["a", "b", "c"])[RNG.integers(0, 3, N)],
    }
)
DRAWS = 4000


def _release(model: Model, m: int = 2, draws: int = DRAWS) -> stead.Release:
    return stead.synthesize(DATA, model, m=m, draws=draws, rng=1)


def _probability(
    release: stead.Release, target: Any, guesses: Any, strategy: Any, rows: range, **known: Any
) -> Array:
    who = stead.Intruder.worst_case(guesses=guesses, **known)
    measured = stead.attribute_risk(
        release, target, who, evidence=strategy, rows=list(rows), refits=0, rng=2, draws=DRAWS
    )
    return _of(measured, "probability")


def _of(measured: stead.Measurement, name: str) -> Array:
    found: Array = measured.per_record[name].astype(float)
    return found


CASES: dict[str, tuple[Model, Any, Any, dict[str, str]]] = {
    "linear": (stead.Linear("y ~ x"), "y", stead.Grid(2, 1), {}),
    "logistic": (stead.Logistic("b ~ x"), "b", stead.Levels(), {}),
    "poisson": (stead.Poisson("k ~ x"), "k", stead.Grid(2, 1), {}),
    "multinomial": (stead.Multinomial("g ~ x"), "g", stead.Levels(), {}),
    "sequence, later value known": (
        stead.Sequence([stead.Linear("y ~ x"), stead.Logistic("b ~ y")]),
        "y",
        stead.Grid(2, 1),
        {},
    ),
    "sequence, later value unknown": (
        stead.Sequence([stead.Linear("y ~ x"), stead.Logistic("b ~ y")]),
        "y",
        stead.Grid(2, 1),
        {"synthesized": "unknown"},
    ),
    "sequence, both": (
        stead.Sequence([stead.Linear("y ~ x"), stead.Logistic("b ~ y")]),
        ["y", "b"],
        {"y": stead.Grid(1, 1)},
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_two_posteriors_and_reweighting_agree_with_refits(name: str) -> None:
    """Ordinary records: each within a few Monte Carlo errors, which are about 1/sqrt(effective draws) of a probability."""
    model, target, guesses, known = CASES[name]
    release = _release(model)
    rows = range(1, 9)
    refitted = _probability(release, target, guesses, "refit", rows, **known)
    doubled = _probability(release, target, guesses, "two_posterior", rows, **known)
    np.testing.assert_allclose(doubled, refitted, atol=0.015)
    if "sequence" not in name:  # p_h degenerates with parameters: a sequence has twice as many
        reweighted = _probability(release, target, guesses, "reweight", rows, **known)
        np.testing.assert_allclose(reweighted, refitted, atol=0.02)


ERROR_CASES = ("linear", "logistic", "poisson", "multinomial", "sequence, later value known")


@pytest.mark.parametrize("name", ERROR_CASES)
def test_differences_from_refits_are_monte_carlo_errors(name: str) -> None:
    """Over records with good k: within 3 combined errors for 97 %, within 5 for 99.5 %; errors are those of repeated fits."""
    model, target, guesses, known = CASES[name]
    rows, few, repeats = range(1, 25), 12, 5
    who = stead.Intruder.worst_case(guesses=guesses, **known)  # type: ignore[arg-type]
    runs: dict[Any, list[Array]] = {"two_posterior": [], "refit": []}
    good = np.ones(len(rows), bool)
    for seed in range(repeats):
        release = stead.synthesize(DATA, model, m=1, draws=1000, rng=1)
        fresh = release.posterior.refit(DATA, draws=1000, rng=100 + seed) if release.posterior else None
        again = replace(release, posterior=fresh)
        for strategy, found in runs.items():
            some = list(rows) if strategy == "two_posterior" else list(rows)[:few]
            measured = stead.attribute_risk(
                again,
                target,
                who,
                evidence=strategy,
                rows=some,
                refits=0,
                rng=seed,
                draws=1000,
            )
            found.append(_of(measured, "probability"))
            if strategy == "two_posterior":
                good &= _of(measured, "k") <= 0.7
    doubled, refitted = np.array(runs["two_posterior"])[:, :few], np.array(runs["refit"])
    error = np.sqrt((doubled.var(axis=0, ddof=1) + refitted.var(axis=0, ddof=1)).mean() / repeats)
    distance = np.abs(doubled.mean(axis=0) - refitted.mean(axis=0))[good[:few]] / error
    assert (distance <= 3.0).mean() >= 0.97 or (distance > 3.0).sum() <= 1
    assert (distance <= 5.0).all()


def test_the_closed_form_is_what_refits_approach() -> None:
    release = _release(stead.Linear("y ~ x"))
    exact = _probability(release, "y", stead.Grid(2, 1), "exact", range(12))
    refitted = _probability(release, "y", stead.Grid(2, 1), "refit", range(12))
    np.testing.assert_allclose(refitted[1:], exact[1:], atol=0.003)
    assert refitted[0] == pytest.approx(exact[0], abs=0.015)  # the outlier: about .004 of Monte Carlo error


def test_the_closed_form_against_the_marginal_likelihood_itself() -> None:
    """p(y, Z) under the conjugate prior is a multivariate t; two of them give p(Z | y_-i, g)."""
    from scipy.stats import multivariate_t

    release = _release(
        stead.Linear("y ~ x", stead.ConjugatePrior(center=0.5, spread=0.9, width=3.0, degrees=4.0)), m=1
    )
    measured = stead.attribute_risk(
        release, "y", stead.Intruder.worst_case(guesses=stead.Grid(1, 1)), rows=[3, 0]
    )
    standard = (X - X.mean()) / X.std()

    def log_marginal(values: Array, predictors: Array) -> float:
        design = np.column_stack([np.ones(len(predictors)), (predictors - X.mean()) / X.std()])
        shape = 0.81 * (np.eye(len(values)) + 9.0 * design @ design.T)
        return float(multivariate_t(np.full(len(values), 0.5), shape, 4).logpdf(values))

    assert standard.std() == pytest.approx(1.0)
    z = release.synthetic[0]["y"].values
    for place, row in enumerate((3, 0)):
        logs = []
        for offset in (-1.0, 0.0, 1.0):
            changed = Y.copy()
            changed[row] += offset
            logs.append(
                log_marginal(np.concatenate([changed, z]), np.concatenate([X, X])) - log_marginal(changed, X)
            )
        expected = np.exp(logs[1] - np.logaddexp.reduce(logs))
        assert measured.per_record["probability"][place] == pytest.approx(expected, abs=1e-9)


def test_a_guess_of_a_predictor_changes_the_later_likelihood() -> None:
    """Two binary columns with known parameters: the belief by enumeration, and what leaving the later term out gives."""
    schema = stead.Schema(
        [stead.Column("a", "binary", levels=(0, 1)), stead.Column("b", "binary", levels=(0, 1))]
    )
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 80)
    records = stead.table({"a": a, "b": np.where(rng.random(80) < 0.8, a, 1 - a)}, schema)
    release = stead.synthesize(
        records, stead.Sequence([stead.Logistic("a ~ 1"), stead.Logistic("b ~ a")]), m=1, draws=DRAWS, rng=1
    )
    parts = getattr(release.posterior, "parts")  # noqa: B009 - the protocol does not promise it
    theta = [parts[0].draws, parts[1].draws]

    def log_p(a: int, b: int) -> Array:
        eta_a, eta_b = theta[0][:, 0], theta[1][:, 0] + theta[1][:, 1] * a
        return np.asarray(a * eta_a - np.logaddexp(0, eta_a) + b * eta_b - np.logaddexp(0, eta_b))

    p_z = (
        release.posterior.log_likelihood(release.synthetic[0]).sum(axis=1)
        if release.posterior
        else np.zeros(1)
    )
    for row in range(6):
        truth_a, truth_b = int(records["a"].values[row]), int(records["b"].values[row])
        logs = []
        for guess in (0, 1):
            weight = log_p(guess, truth_b) - log_p(truth_a, truth_b)
            logs.append(np.logaddexp.reduce(p_z + weight) - np.logaddexp.reduce(weight))
        expected = np.exp(logs[truth_a] - np.logaddexp(*logs))
        found = stead.attribute_risk(release, "a", evidence="reweight", rows=[row], refits=0).per_record
        assert found["probability"][0] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("parameters", [30, 100])
def test_with_many_parameters_reweighting_degenerates_and_two_posteriors_do_not(parameters: int) -> None:
    rng = np.random.default_rng(parameters)
    rows = 6 * parameters
    design = rng.normal(size=(rows, parameters))
    frame = {f"x{place}": design[:, place] for place in range(parameters)}
    frame["y"] = design @ rng.normal(size=parameters) * 0.2 + rng.normal(size=rows)
    formula = "y ~ " + " + ".join(name for name in frame if name != "y")
    release = stead.synthesize(stead.table(frame), stead.Linear(formula), m=1, draws=2000, rng=1)
    away = np.abs(frame["y"] - frame["y"].mean()) / frame["y"].std()
    ordinary = np.flatnonzero(away < 1.5)[:100]
    who = stead.Intruder.worst_case(guesses=stead.Grid(1.5, 0.5))
    exact, doubled, reweighted = (
        stead.attribute_risk(release, "y", who, evidence=strategy, rows=ordinary, refits=0, rng=4, draws=8000)
        for strategy in ("exact", "two_posterior", "reweight")
    )
    near, far = (
        0.5 * np.abs(_of(one, "posterior") - _of(exact, "posterior")).sum(axis=1)
        for one in (doubled, reweighted)
    )
    assert near.max() < 0.02  # total variation
    assert np.median(far) > 0.02
    assert reweighted.details["unreliable"] > 0.9 * len(ordinary)  # and the report says so
    assert doubled.details["unreliable"] == 0


def test_an_outlier_is_marked_and_recomputed() -> None:
    """The record 5 standard deviations out: its weights have a heavy tail, and refits come nearer to the closed form."""
    release = _release(stead.Linear("y ~ x"), draws=1000)
    who = stead.Intruder.worst_case(guesses=stead.Grid(4, 1))
    exact = _of(stead.attribute_risk(release, "y", who), "probability")
    marked = stead.attribute_risk(release, "y", who, evidence="reweight", refits=0)
    assert _of(marked, "k")[0] > marked.details["k_limit"]
    assert not marked.per_record["reliable"][0]
    mended = stead.attribute_risk(release, "y", who, evidence="reweight", refits=1, rng=1)
    assert mended.per_record["recomputed"].tolist() == [True] + [False] * (N - 1)
    off = [abs(_of(one, "probability")[0] - exact[0]) for one in (marked, mended)]
    assert off[1] < 0.01
    assert off[1] < off[0]


def test_a_prior_of_ten_to_one_on_equal_evidence_gives_ten_to_one() -> None:
    """A coin that the release says nothing of: two levels with equal evidence keep the odds of the prior."""
    from stead.risk.belief import Belief

    belief = Belief(np.log([[10 / 11, 1 / 11]]), np.zeros((1, 2)), np.array([0]))
    assert belief.probability[0] == pytest.approx(10 / 11)
    assert belief.relative[0] == pytest.approx(1.0)


def test_the_line_of_relative_against_absolute_risk() -> None:
    """RR = B - (B - 1) R for every prior weight of the truth."""
    release = _release(stead.Multinomial("g ~ x"), m=1)
    for weight in (0.05, 0.4, 0.9):
        who = stead.Intruder.worst_case(prior=stead.PointMass(weight))
        found = stead.attribute_risk(release, "g", who, rows=range(10), rng=2)
        again = _of(stead.attribute_risk(release, "g", rows=range(10), rng=2), "factor")
        np.testing.assert_allclose(
            _of(found, "relative"), again - (again - 1.0) * _of(found, "probability"), rtol=1e-9
        )
        np.testing.assert_allclose(
            _of(found, "probability"), again * weight / (1 - weight + again * weight), rtol=1e-9
        )


def test_compiled_sums_are_the_plain_ones() -> None:
    rng = np.random.default_rng(0)
    base, curve = np.exp(0.3 * rng.normal(size=(7, 40))), np.exp(-rng.random((4, 40)))
    curve[0] = 1.0
    shares = rng.dirichlet(np.ones(40), 3)
    answers = []
    for sums in (stepped_sums, stepped_sums_plain):
        first, second = np.empty((3, 7, 7)), np.empty((3, 7, 7))
        sums(base, curve, shares, first, second)
        answers.append((first, second))
    np.testing.assert_allclose(answers[0], answers[1], rtol=1e-12)


def test_steps_and_logs_give_one_belief() -> None:
    """Equal steps go through products of weights, joint guesses of one column and nothing else through logs."""
    release = _release(stead.Linear("y ~ x"), draws=500)
    stepped = _probability(release, "y", stead.Grid(2, 0.5), "reweight", range(20))
    general = _probability(release, "y", _Slow(2, 0.5), "reweight", range(20))
    np.testing.assert_allclose(stepped, general, rtol=1e-9)


class _Slow(stead.Grid):
    """The same grid in another order, which is not one of equal steps."""

    def of(self, *given: Any) -> Any:
        values, truth = super().of(*given)
        return values[::-1][[1, 0, *range(2, len(values))]], truth


def test_an_average_is_the_plain_one() -> None:
    rng = np.random.default_rng(1)
    log_base, log_weight = rng.normal(size=(2, 30)), rng.normal(size=(30, 5))
    log, size = Bases.of(log_base).average(log_weight)
    for place in range(2):
        p = np.exp(log_base[place])
        weight = p[:, None] * np.exp(log_weight)
        np.testing.assert_allclose(log[place], np.log(weight.sum(axis=0) / p.sum()), rtol=1e-12)
        np.testing.assert_allclose(size[place], weight.sum(axis=0) ** 2 / (weight**2).sum(axis=0), rtol=1e-12)
