"""Exact draws, evidence, audit and utility against enumeration, plain loops and a sampler.

Write a test here where something fast has a slow twin. The system's entropy is replaced by a fixed stream.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, exp, lgamma, log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import stead
from stead.models.binary_law import BinaryLaw
from stead.models.mechanism import Mechanism, epsilon_of, prior_count
from stead.privacy.audit import counts, worst_ratio
from stead.sampling import exact
from stead.sampling.rational import exp_minus_one_below, log_one_plus_above, rounded_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.models.mechanism import Form

FORMS: tuple[Form, ...] = ("plug-in", "drawn")


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "token_bytes", np.random.default_rng(77).bytes)


# ---- numbers on the safe side -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "t", ["1/1000000000000000000000000000000000000", "1/10000000", "1/3", "1", "20", "999"]
)
def test_bounds_of_exp_and_log_lie_on_their_side_and_near(t: str) -> None:
    from decimal import Context, Decimal

    value = Fraction(t)
    fine = Context(prec=400)
    argument = fine.divide(Decimal(value.numerator), Decimal(value.denominator))
    power = Fraction(argument.exp(fine)) - 1
    assert power * (1 - Fraction(1, 10**28)) < exp_minus_one_below(value) <= power
    logarithm = Fraction(fine.add(argument, 1).ln(fine))
    assert (
        logarithm <= log_one_plus_above(value) < logarithm * (1 + Fraction(1, 10**28)) + Fraction(1, 10**390)
    )


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(10) ** 40 / 7, Fraction(1, 10**50), Fraction(5)])
def test_rounding_up_is_up_and_little(value: Fraction) -> None:
    assert value <= rounded_up(value) <= value * (1 + Fraction(1, 2**62))
    assert rounded_up(Fraction(1, 10**500)) == Fraction(1, 2**256)


# ---- draws ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [(1, 2), (3, 0, 5, 1), (0, 7), (7, 0), (10, 1, 1, 1, 30)])
def test_a_draw_is_exact_to_the_last_bit(weights: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """With words of four bits every first and second word is tried: what is decided is decided rightly, and hardly anything is not."""
    monkeypatch.setattr(exact, "WORD", 4)
    total = sum(weights)
    mass = dict.fromkeys(range(len(weights)), Fraction(0))
    undecided = Fraction(0)
    for first, second in product(range(16), range(16)):
        given = iter([second])
        monkeypatch.setattr(exact, "_words", lambda count, first=first: np.full(count, first, np.uint64))
        monkeypatch.setattr(exact, "_word", given.__next__)
        try:
            mass[int(exact.draw_categories(weights, 1)[0])] += Fraction(1, 256)
        except StopIteration:  # a third word is asked for
            undecided += Fraction(1, 256)
    assert undecided <= Fraction(len(weights) - 1, 256)
    for place, weight in enumerate(weights):
        assert mass[place] <= Fraction(weight, total) <= mass[place] + undecided


@pytest.mark.usefixtures("fixed")
def test_an_urn_has_the_beta_binomial_law_and_forgets_the_order() -> None:
    drawn = np.array([exact.draw_urn([3, 5], 2, 6) for _ in range(6_000)])
    law = [
        comb(6, k)
        * exp(lgamma(2.5 + k) + lgamma(1.5 + 6 - k) - lgamma(10) - (lgamma(2.5) + lgamma(1.5) - lgamma(4)))
        for k in range(7)
    ]
    found = np.bincount(drawn.sum(axis=1), minlength=7) / len(drawn)
    error = np.sqrt(np.array(law) * (1 - np.array(law)) / len(drawn))
    assert (np.abs(found - law) < 4 * error).all()
    assert np.abs(drawn.mean(axis=0) - 5 / 8).max() < 0.03


@pytest.mark.usefixtures("fixed")
def test_shared_sets_come_from_one_theta() -> None:
    """With a small a two sets of one theta are alike, and two with their own are not more so than chance."""
    together: list[tuple[float, float]] = []
    apart: list[tuple[float, float]] = []
    for shared, found in ((True, together), (False, apart)):
        mechanism = Mechanism("drawn", (Fraction(1, 2),) * 2, 40, shared)
        for _ in range(400):
            one, two = mechanism.draw(np.array([1, 1]), 2)
            found.append((one.mean(), two.mean()))
    assert np.corrcoef(np.array(together).T)[0, 1] > 0.8
    assert abs(np.corrcoef(np.array(apart).T)[0, 1]) < 0.15


# ---- evidence ---------------------------------------------------------------------------------------


def _log_probability(form: str, a: Sequence[float], x: Any, sets: Any) -> float:
    """From the definitions, set by set."""
    total = 0.0
    for drawn in sets:
        if form == "plug-in":
            total += sum(
                z * log((held + added) / (sum(x) + sum(a)))
                for z, held, added in zip(drawn, x, a, strict=True)
            )
        else:
            total += lgamma(sum(x) + sum(a)) - lgamma(sum(x) + sum(a) + sum(drawn))
            total += sum(
                lgamma(held + added + z) - lgamma(held + added)
                for z, held, added in zip(drawn, x, a, strict=True)
            )
    return total


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shared", [False, True])
def test_evidence_is_the_difference_of_log_probabilities(form: Form, *, shared: bool) -> None:
    if shared and form == "plug-in":
        return
    prior = (Fraction(1, 3), Fraction(2), Fraction(5, 4))
    mechanism = Mechanism(form, prior, 7, shared)
    x, sets = np.array([4, 1, 6]), [np.array([3, 0, 4]), np.array([1, 5, 1])]
    pooled = [np.sum(sets, axis=0)] if shared else sets
    here = np.array([0, 1, 2])
    there = np.tile(np.arange(3), (3, 1))
    found = mechanism.evidence(x, sets, here, there)
    for row, cell in product(range(3), range(3)):
        moved = x.copy()
        moved[here[row]] -= 1
        moved[cell] += 1
        added = [float(a) for a in prior]
        expected = _log_probability(form, added, moved, pooled) - _log_probability(form, added, x, pooled)
        assert found[row, cell] == pytest.approx(expected, abs=1e-12)
        ratio = Fraction(mechanism.probability(moved, sets), mechanism.probability(x, sets))
        assert log(ratio) == pytest.approx(expected, abs=1e-12)


def test_attribute_risk_of_a_table_equals_bayes_by_hand() -> None:
    """Two columns, one impossible cell, two sets: the belief of every record from the definitions."""
    declared: dict[str, tuple[Any, ...]] = {"A": ("a", "b", "c"), "B": (0, 1)}
    rng = np.random.default_rng(3)
    cells = rng.choice([0, 1, 2, 3, 5], 60)  # (c, 0) cannot be
    schema = stead.Schema(
        [stead.Column("A", "categorical", levels=("a", "b", "c")), stead.Column("B", "binary", levels=(0, 1))]
    )

    def table(places: NDArray[Any]) -> stead.Records:
        return stead.table({"A": np.array(["a", "b", "c"])[places // 2], "B": places % 2}, schema)

    made = [rng.choice([0, 1, 2, 3, 5], 40) for _ in range(2)]
    for form in FORMS:
        model = stead.MultinomialDP(
            2,
            columns=["A", "B"],
            declared=declared,
            form=form,
            rows=40,
            structural_zeros=[{"A": "c", "B": 0}],
        )
        posterior = model.fit(table(cells))
        release = stead.Release.from_tables(
            table(cells),
            [table(one) for one in made],
            synthesized=["A", "B"],
            aligned=False,
            proper=None,
            posterior=posterior,
        )
        measured = stead.attribute_risk(release, ["A", "B"], evidence="exact")
        single = stead.attribute_risk(release, "B", evidence="exact")
        a = float(posterior.mechanism.prior[0])
        possible = [0, 1, 2, 3, 5]
        for row in range(0, 60, 7):
            log_p = {}
            for guess in possible:
                changed = cells.copy()
                changed[row] = guess
                x = [int((changed == cell).sum()) for cell in possible]
                sets = [[int((one == cell).sum()) for cell in possible] for one in made]
                log_p[guess] = _log_probability(form, [a] * 5, x, sets)
            weight = {guess: exp(value - max(log_p.values())) for guess, value in log_p.items()}
            own = weight[cells[row]]
            assert measured.per_record["probability"][row] == pytest.approx(
                own / sum(weight.values()), rel=1e-9
            )
            others = [value for guess, value in weight.items() if guess != cells[row]]
            assert measured.per_record["worst_factor"][row] == pytest.approx(own / min(others), rel=1e-9)
            beside = weight.get(int(cells[row]) ^ 1, 0.0)
            assert single.per_record["probability"][row] == pytest.approx(own / (own + beside), rel=1e-9)


def test_the_drawn_form_agrees_with_two_posteriors() -> None:
    """The closed form and the estimate from draws, which knows nothing of it."""
    schema = stead.Schema([stead.Column("Y", "binary", levels=(0, 1))])
    records = stead.table({"Y": np.repeat([1, 0], [12, 68])}, schema)
    made = [stead.table({"Y": np.repeat([1, 0], [20, 60])}, schema) for _ in range(2)]
    posterior = stead.BinaryDP(40, column="Y", declared=(0, 1), form="drawn").fit(records)
    posterior = posterior.refit(records, draws=4000, rng=1)
    release = stead.Release.from_tables(
        records, made, synthesized=["Y"], aligned=False, proper=True, posterior=posterior
    )
    closed = stead.attribute_risk(release, "Y", rows=[0, 79], evidence="exact")
    drawn = stead.attribute_risk(release, "Y", rows=[0, 79], evidence="two_posterior", refits=0, rng=5)
    gap = np.asarray(closed.per_record["probability"]) - np.asarray(drawn.per_record["probability"])
    assert np.abs(gap).max() < 0.01


# ---- the bound --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_the_bound_holds_for_every_file_of_twelve_and_is_attained(
    form: Form, levels: int, epsilon: float
) -> None:
    for n, n_s in ((12, 4), (5, 7), (1, 3)):
        measured = stead.audit(epsilon, n=n, n_s=n_s, levels=levels, form=form)
        assert measured.details["kept"]
        assert measured.value == pytest.approx(epsilon, abs=1e-9)
        assert float(measured.value or 0) <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_m_sets_cost_m_times_as_much(form: Form, m: int) -> None:
    assert stead.audit(0.7, n=4, n_s=2, m=m, form=form).value == pytest.approx(m * 0.7, abs=1e-9)
    spent = stead.BinaryDP(0.7, column="Y", declared=(0, 1), form=form, rows=2).spending(m, 4).cost
    assert spent == m * Fraction(0.7)


@pytest.mark.parametrize("m", [1, 3, 5])
def test_one_theta_for_all_sets_costs_less(m: int) -> None:
    a = 2 / (exp(0.7) - 1)
    found = stead.audit(0.7, n=4, n_s=2, m=m, form="drawn", shared=True)
    assert found.value == pytest.approx(log1p(m * 2 / a), abs=1e-9)
    model = stead.BinaryDP(0.7, column="Y", declared=(0, 1), form="drawn", shared=True, rows=2)
    assert float(model.spending(m, 4).cost) == pytest.approx(log1p(m * 2 / a), abs=1e-12)
    assert m == 1 or model.spending(m, 4).cost < m * Fraction(0.7)


@pytest.mark.parametrize(("alpha", "beta"), [("1/2", "3"), ("4", "1/5"), ("1", "1")])
def test_alpha_and_beta_may_differ_and_the_smaller_one_counts(alpha: str, beta: str) -> None:
    prior = (Fraction(beta), Fraction(alpha))
    worst, _ = worst_ratio(Mechanism("plug-in", prior, 4), 6)
    assert worst == ((1 + min(prior)) / min(prior)) ** 4
    assert log(worst) <= float(epsilon_of(min(prior), 4, "plug-in")) * (1 + 1e-12)


def test_the_audit_finds_the_a_of_the_other_form() -> None:
    """Where a = n_s / (e^epsilon - 1) in the plug-in form: at n_s = 1000 a nominal 10 is 3,137."""
    wrong = float(prior_count(Fraction(10), 1000, "drawn"))
    assert float(epsilon_of(Fraction(wrong), 1000, "plug-in")) == pytest.approx(3136.6, abs=0.05)
    measured = stead.audit(10, n=3, n_s=20, prior=[wrong, wrong])
    assert not measured.details["kept"]
    assert measured.value == pytest.approx(20 * log((1 + wrong) / wrong))
    model = stead.BinaryDP(10, column="Y", declared=(0, 1), alpha=wrong, beta=wrong)
    with pytest.raises(stead.UsageError, match=r"gives epsilon 3,136\.6"):
        model.prior(2, 1000)


def test_every_way_to_fill_cells_is_there_once() -> None:
    found = list(counts(5, 3))
    assert len(found) == len(set(found)) == comb(7, 2)
    assert all(sum(one) == 5 for one in found)


# ---- expectations -----------------------------------------------------------------------------------


def _risk_by_loops(p0: float, law: BinaryLaw, w: float) -> float:
    """Equations (5) to (7) as they stand."""
    total = 0.0
    for ones in range(law.n + 1):
        share = comb(law.n, ones) * p0**ones * (1 - p0) ** (law.n - ones)
        for drawn in range(law.rows + 1):
            others = max(ones - 1, 0)
            f1, f0 = (exp(float(law.log_probability(drawn, others + y))) for y in (1, 0))
            one = w * f1 / (w * f1 + (1 - w) * f0)
            gain, made = (one - w, f1) if ones else ((1 - one) - (1 - w), f0)
            total += max(gain, 0.0) * share * made
    return total


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("p0", "epsilon", "n", "n_s", "prior"), [(0.1, 3, 9, 9, 0.5), (0.5, 20, 12, 7, 0.2), (0.9, 1, 6, 15, 0.8)]
)
def test_expected_risk_equals_two_loops(
    form: Form, p0: float, epsilon: float, n: int, n_s: int, prior: float
) -> None:
    law = BinaryLaw.of(epsilon, n, n_s, form=form)
    assert sum(exp(float(law.log_probability(k, 3))) for k in range(n_s + 1)) == pytest.approx(1.0)
    found = stead.expected_risk(p0, epsilon, n, n_s, prior, form=form)
    assert found == pytest.approx(_risk_by_loops(p0, law, prior), rel=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_what_an_analyst_learns_equals_quadrature(form: Form) -> None:
    n, rows, epsilon, sets = 20, 15, 6.0, (9, 12)
    law = BinaryLaw.of(epsilon, n, rows, form=form)
    grid = (np.arange(4000) + 0.5) / 4000
    ones = np.arange(n + 1)
    binomial = (
        np.array([comb(n, k) for k in ones])[:, None]
        * grid ** ones[:, None]
        * (1 - grid) ** (n - ones)[:, None]
    )
    released = np.exp(sum(law.log_probability(drawn, ones) for drawn in sets))
    density = released @ binomial
    density /= density.sum()
    found = stead.private_proportion(sets, n, epsilon, rows, form=form)
    assert found.mean == pytest.approx(float(density @ grid), rel=1e-6)
    assert found.sd == pytest.approx(float(np.sqrt(density @ (grid - found.mean) ** 2)), rel=1e-5)
    low, high = found.interval(0.9)
    inside = density[(grid > low) & (grid < high)].sum()
    assert inside == pytest.approx(0.9, abs=2e-3)
    assert density[grid < low].sum() == pytest.approx(0.05, abs=2e-3)


def test_an_unequal_prior_and_one_theta_enter_the_posterior() -> None:
    equal = stead.private_proportion(5, 20, 6, alpha=4, beta=4)
    unequal = stead.private_proportion(5, 20, 6, alpha=4, beta=40)
    assert unequal.mean > equal.mean  # the ones that were added are fewer than the zeros
    apart = stead.private_proportion([3, 12], 20, 6, form="drawn")
    together = stead.private_proportion([3, 12], 20, 6, form="drawn", shared=True)
    assert together.sd > apart.sd


def _metropolis(p0: float, x_star: int, n: int, a: float, burn: int, steps: int, seed: int) -> float:
    """E((p0 - p)^2 | D*) as in appendix B: a step of one in X by Metropolis, then p from its beta."""
    rng = np.random.default_rng(seed)
    ones = np.arange(n + 1)
    log_count = np.array([lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) for k in ones])
    q = (ones + a) / (n + 2 * a)
    log_made = x_star * np.log(q) + (n - x_star) * np.log1p(-q)
    x, p, total = int(rng.integers(0, n + 1)), float(rng.random()), 0.0
    for step in range(steps):
        other = 1 if x == 0 else n - 1 if x == n else x + (1 if rng.random() < 0.5 else -1)
        ratio = log_made[other] - log_made[x] + log_count[other] - log_count[x]
        ratio += (other - x) * (log(p) - log1p(-p))
        ratio += (log(0.5) if 0 < other < n else 0.0) - (log(0.5) if 0 < x < n else 0.0)
        if log(rng.random()) < ratio:
            x = other
        p = min(max(float(rng.beta(x + 1, n - x + 1)), 1e-300), 1 - 1e-16)
        if step >= burn:
            total += (p - p0) ** 2
    return total / (steps - burn)


def _exact_square(p0: float, x_star: int, n: int, epsilon: float) -> float:
    return stead.private_proportion(x_star, n, epsilon).expected_square(p0)


def test_the_exact_sum_agrees_with_the_sampler_of_the_paper() -> None:
    a = float(prior_count(Fraction(60), 60, "plug-in"))
    sampled = _metropolis(0.3, 20, 60, a, burn=10_000, steps=60_000, seed=4)
    assert _exact_square(0.3, 20, 60, 60) == pytest.approx(sampled, rel=0.05)


def test_the_burn_in_of_the_paper_is_too_short() -> None:
    """X = X* = 0, n = 1000: the walk begins anywhere and goes one step at a time; 1,000 steps do not bring it down."""
    a = float(prior_count(Fraction(1000), 1000, "plug-in"))
    right = _exact_square(0.001, 0, 1000, 1000)
    short = [_metropolis(0.001, 0, 1000, a, 1_000, 16_000, seed) / right for seed in range(4)]
    long = [_metropolis(0.001, 0, 1000, a, 10_000, 16_000, seed) / right for seed in range(4)]
    assert sum(ratio > 10 for ratio in short) >= 2
    assert all(0.5 < ratio < 2 for ratio in long)


def test_utility_is_the_log_of_two_mean_squares() -> None:
    n, ones, drawn, p0 = 30, 9, 14, 0.25
    posterior = stead.private_proportion(drawn, n, 8)
    mean, size = (ones + 1) / (n + 2), n + 2
    held = (mean - p0) ** 2 + mean * (1 - mean) / (size + 1)
    found = stead.binary_utility(p0, ones, drawn, n, 8)
    assert found == pytest.approx(log(posterior.expected_square(p0) / held) / log(10))
    assert stead.binary_utility(None, ones, drawn, n, 8) == stead.binary_utility(0.3, ones, drawn, n, 8)
