"""Laws of privacy and acceptance on generated cases.

Write a test here for what holds of every region, every mechanism, every file.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stead
from stead.language.rules import parse_rule
from stead.measurement import Measurement
from stead.models.mechanism import Mechanism, prior_count
from stead.risk.belief import Belief

FACTORS = st.one_of(
    st.fractions(Fraction(1, 20), 30, max_denominator=400),
    st.sampled_from([Fraction(1), Fraction(17, 16), Fraction(1, 2), Fraction(10)]),
)
BOUNDS = {"R": ("0", ".1", ".2", ".5", "1"), "RR": (".5", "1", "1.05", "2", "10")}


@st.composite
def _comparisons(draw: Any) -> str:
    name = draw(st.sampled_from(["R", "RR"]))
    return f"{name} {draw(st.sampled_from(['<=', '<', '>', '>=']))} {draw(st.sampled_from(BOUNDS[name]))}"


RULES = st.recursive(
    _comparisons(),
    lambda parts: st.tuples(parts, st.sampled_from([" and ", " or "]), parts).map(
        lambda three: f"({three[0]}){three[1]}{three[2]}"
    ),
    max_leaves=5,
)


def _point(factor: Fraction, weight: Fraction) -> tuple[Fraction, Fraction]:
    absolute = weight * factor / (1 - weight + weight * factor)
    return absolute, absolute / weight


@given(RULES, FACTORS)
def test_the_priors_that_lead_out_are_those_of_the_region_itself(text: str, factor: Fraction) -> None:
    region = stead.Region(text)
    outside = region.outside(factor)
    ends = [end for one in outside for end in (one.low, one.high) if end is not None and 0 < end < 1]
    for weight in {*ends, *(Fraction(k, 37) for k in range(1, 37)), Fraction(1, 1000), Fraction(999, 1000)}:
        out = not region.contains(*_point(factor, weight))
        assert out == any(weight in one for one in outside), (text, weight)
    assert (outside == ()) == any(factor in one for one in region.safe_factors)


@given(RULES, st.lists(FACTORS, min_size=1, max_size=8))
def test_acceptance_of_many_records_is_that_of_each(text: str, factors: list[Fraction]) -> None:
    region = stead.Region(text)
    floats = np.array([float(one) for one in factors])
    measured = Measurement(name="risk", value=0.5, per_record={"factor": floats, "worst_factor": floats})
    found = stead.acceptable(measured, region)
    shares = {row["prior"]: row["share"] for row in found.aggregates["share_by_prior"]}
    near = [one for one in factors if Fraction(float(one)) != one]  # a bound that a float cannot hold
    for place, factor in enumerate(Fraction(one) for one in floats):
        outside = region.outside(factor)
        if not near:
            assert bool(found.per_record["outside"][place]) == bool(outside)
        if outside and found.per_record["outside"][place]:
            assert np.isclose(float(found.per_record["prior_low"][place]), float(outside[0].low), atol=1e-9)
            assert np.isclose(
                float(found.per_record["prior_high"][place]), float(outside[-1].high or 1), atol=1e-9
            )
    for weight in (0.07, 0.33, 0.81):
        out = [not region.contains(*_point(Fraction(one), Fraction(weight))) for one in floats]
        assert np.isclose(shares[weight], np.mean(out))


@given(
    st.sampled_from(["plug-in", "drawn"]),
    st.floats(0.01, 50),
    st.lists(st.integers(0, 30), min_size=2, max_size=5),
    st.integers(1, 12),
    st.integers(1, 3),
    st.data(),
)
def test_no_intruder_multiplies_a_belief_by_more_than_e_to_the_epsilon(
    form: Any, epsilon: float, others: list[int], rows: int, m: int, data: st.DataObject
) -> None:
    levels = len(others)
    mechanism = Mechanism(form, (prior_count(Fraction(epsilon), rows, form),) * levels, rows)
    sets = []
    for _ in range(m):
        cells = data.draw(st.lists(st.integers(0, levels - 1), min_size=rows, max_size=rows))
        sets.append(np.bincount(cells, minlength=levels))
    truth = data.draw(st.integers(0, levels - 1))
    counts = np.array(others)
    counts[truth] += 1
    evidence = mechanism.evidence(counts, sets, np.array([truth]), np.arange(levels)[None, :])
    weights = np.array(data.draw(st.lists(st.floats(1e-6, 1), min_size=levels, max_size=levels)))
    belief = Belief(np.log(weights / weights.sum())[None, :], evidence, np.array([truth]))
    assert evidence.max() - evidence.min() <= m * epsilon * (1 + 1e-9)
    assert np.log(belief.relative[0]) <= m * epsilon * (1 + 1e-9)


@given(st.floats(1e-3, 1e3), st.floats(0.001, 0.999))
def test_every_prior_lies_on_one_line(factor: float, weight: float) -> None:
    absolute, relative = stead.Intruder.sweep().prior.lines(np.array([factor]))
    assert absolute.shape == relative.shape == (1, 999)
    weights = stead.Intruder.sweep().prior.weights
    assert np.allclose(relative * weights, absolute)
    belief = Belief(np.log([[weight, 1 - weight]]), np.array([[np.log(factor), 0.0]]), np.array([0]))
    assert np.isclose(belief.relative[0], factor - (factor - 1) * belief.probability[0])


@given(st.text("R<>=.() andor019é\0", max_size=40))
@settings(max_examples=200)
def test_a_rule_is_understood_or_refused(text: str) -> None:
    with suppress(stead.UsageError):
        rule = parse_rule(text, ("R", "RR"))
        assert parse_rule(str(rule), ("R", "RR")) == rule


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from([0, 1, "0", "1", " 1 ", "1.0", "yes", 10**400, "1e999", float("inf"), {}, [1], b"\xff"]),
)


@given(st.lists(CELLS, min_size=1, max_size=5))
@settings(max_examples=40)
def test_whatever_stands_in_a_cell_ends_in_a_release_of_the_same_form(strange: list[Any]) -> None:
    cells = [*strange, *["0"] * 60]
    for levels in ((0, 1), ("no", "yes", None)):
        records = stead.read_declared({"Y": cells}, {"Y": levels})
        model = stead.MultinomialDP(1, columns=["Y"], declared={"Y": levels})
        release = stead.synthesize(records, model, m=1)
        made = release.synthetic[0]
        assert made.rows == len(cells)
        assert made["Y"].values.dtype == np.int32
        assert set(np.unique(made["Y"].values)) <= {0, 1}
        assert bool(made["Y"].gaps) <= (None in levels)
