"""Columns that follow from others: what is found, what is nearly so and is not, and rules against plain loops.

A finding is checked by reading its rule with Python's own arithmetic, row by row; near misses differ in one record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stead
from stead.language.derivations import Part, Rule, parse_rule
from stead.models.choosing.recodes import recodes
from stead.models.choosing.sums import sums
from stead.models.storage import posterior_from_state
from stead.tables.records import Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

N = 400
RNG = np.random.default_rng(26)
A = np.round(np.exp(RNG.normal(8, 1, N)), 2)
B = np.round(np.exp(RNG.normal(6, 1, N)), 2)
C = np.round(np.exp(RNG.normal(5, 1, N)), 2)
AGE = RNG.integers(18, 90, N)
PROVINCE = RNG.integers(0, 12, N)
BAND = np.digitize(AGE, [30, 45, 65])
ITEMS = {f"item{place}": RNG.integers(0, 2, N) for place in range(6)}


def found(columns: dict[str, Any], **options: Any) -> dict[str, str]:
    """The rules of a table, by the column that they make."""
    records = stead.table(columns, **options)
    coded = [name for name in records.names if records.schema[name].coded]
    numbers = [name for name in records.names if name not in coded]
    scores = [name for name in coded if records.schema[name].kind == "binary"]
    rules = sums(records, [*numbers, *scores], numbers) | recodes(records, coded, numbers, coded)
    assert all(records.rows == N for _ in rules)
    return {name: str(rule) for name, (rule, _) in rules.items()}


def changed(values: NDArray[Any], row: int, by: float = 1) -> NDArray[Any]:
    """One record differs."""
    other = values.copy()
    other[row] += by
    return other


# ---- found ------------------------------------------------------------------------------------------

TOTAL = np.round(A + B + C, 2)
NET = np.round(np.exp(RNG.normal(8, 1, N)), 2)


@pytest.mark.parametrize(
    ("columns", "rules"),
    [
        ({"a": A, "again": A}, {"again = a"}),
        ({"euros": A, "cents": np.round(100 * A).astype(int)}, {"cents = 100 * euros"}),
        ({"total": TOTAL, "a": A, "b": B, "c": C}, {"total = a + b + c"}),
        ({"gross": np.round(A + B, 2), "tax": B, "net": A}, {"gross = tax + net"}),
        ({"monthly": np.round(NET / 12, 2), "annual": NET}, {"monthly = annual / 12"}),
        ({"net": NET, "tax": np.round(0.19 * NET, 2)}, {"tax = 0.19 * net"}),
        ({"age": AGE, "born": 2020 - AGE}, {"born = -age + 2020"}),
        ({"a": A, "b": B, "index": np.round(0.3 * A + 0.7 * B, 1)}, {"index = 0.3 * a + 0.7 * b"}),
        (
            {**ITEMS, "score": sum(ITEMS.values())},
            {"score = item0 + item1 + item2 + item3 + item4 + item5"},
        ),
        ({"age": AGE, "band": np.array(["d", "c", "b", "a"])[BAND]}, {"band = recode of age"}),
        ({"age": AGE, "minor": np.where(AGE < 30, "yes", "no")}, {"minor = recode of age"}),
        (
            {"region": np.array(["n", "s", "w"])[PROVINCE % 3], "province": np.char.mod("p%d", PROVINCE)},
            {"region = recode of province"},
        ),
        (
            {"sex": np.where(AGE % 2, "m", "f"), "gender": np.where(AGE % 2, "male", "female")},
            {"gender = recode of sex"},
        ),
        ({"sex": np.where(AGE % 2, "m", "f"), "again": np.where(AGE % 2, "m", "f")}, {"again = sex"}),
        ({"big": 2**55 + 997 * AGE, "same": 2**55 + 997 * AGE}, {"same = big"}),
    ],
)
def test_a_rule_is_found(columns: dict[str, Any], rules: set[str]) -> None:
    assert set(found(columns).values()) == rules


def test_a_rule_of_the_finding_is_true_in_plain_arithmetic() -> None:
    columns = {"total": TOTAL, "a": A, "b": B, "c": C, "tax": np.round(0.19 * A, 2)}
    for text in found(columns).values():
        left, right = text.split(" = ")
        for row in range(N):
            values = {name: float(held[row]) for name, held in columns.items()}
            assert abs(eval(right, {}, values) - values[left]) < 0.0051, text  # noqa: S307 - a rule of the test itself


def test_missing_cells_follow_and_their_codes_too() -> None:
    gone = RNG.random(N) < 0.2
    one, two = np.where(gone, -7.0, A), np.where(gone, -9.0, np.round(2 * A, 2))
    schema = stead.Schema(
        [
            stead.Column("one", "continuous", decimals=2, missing=(-7,)),
            stead.Column("two", "continuous", decimals=2, missing=(-8, -9)),
            stead.Column("three", "continuous", decimals=2),
        ]
    )
    three = [None if out else float(value) for value, out in zip(np.round(A + B, 2), gone, strict=True)]
    records = stead.table({"one": one, "two": two, "three": three, "b": B}, _with(schema, "b"))
    rules = sums(records, records.names, records.names)
    assert {str(rule) for rule, _ in rules.values()} == {"two = 2 * one", "three = one + b"}
    for name, code in (("two", 2), ("three", -1)):
        posterior = stead.Derived(str(rules[name][0])).fit(records, draws=3)
        made = posterior.sample(0, records.without([name]), 1)
        assert made[name].equals(records[name]).all()
        assert set(made[name].missing[gone]) == {code}


def _with(schema: stead.Schema, *names: str) -> stead.Schema:
    return schema.with_columns(*(stead.Column(name, "continuous", decimals=2) for name in names))


# ---- near misses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "columns",
    [
        {"a": A, "again": changed(A, 7)},
        {"total": changed(TOTAL, 3, 0.01), "a": A, "b": B, "c": C},
        {"net": NET, "tax": changed(np.round(0.19 * NET, 2), 5, 0.02)},
        {"age": AGE, "band": np.array(["a", "b", "c", "d"])[changed(BAND, 9) % 4]},
        {"province": np.char.mod("p%d", PROVINCE), "region": np.char.mod("r%d", changed(PROVINCE % 3, 2))},
        {"a": A, "odd": np.round(np.sqrt(2) * A, 6)},  # no coefficient of few digits
        {"a": A, "curved": np.round(np.log(A), 6)},
        {"age": AGE, "high": np.where((AGE > 30) & (AGE < 60), "yes", "no")},  # three runs for two levels
    ],
)
def test_a_near_miss_is_not_found(columns: dict[str, Any]) -> None:
    assert found(columns) == {}


def test_a_level_that_hardly_occurs_is_no_evidence() -> None:
    """Two records of 400 that hold the largest incomes by chance, and identifiers that determine everything."""
    rich = np.where(np.sort(A)[-2] <= A, "yes", "no")
    names = np.char.mod("p%03d", RNG.permutation(N) // 2)  # two records each
    both = np.where(RNG.random(N // 2) < 0.03, "yes", "no")
    pairs = both[np.char.lstrip(names, "p").astype(int)]
    assert found({"a": A, "rich": rich}) == {}
    assert found({"household": names, "rare": pairs}, categorical=["household"]) == {}


def test_too_few_records_are_no_evidence() -> None:
    rows = slice(0, 49)
    columns = {"a": A[rows], "again": A[rows], "age": AGE[rows], "band": np.char.mod("b%d", BAND[rows])}
    records = stead.table(columns)
    assert sums(records, ["a", "again"], ["a", "again"]) == {}
    assert recodes(records, ["band"], ["age"], ["band"]) == {}


def test_missing_cells_that_disagree_break_a_rule() -> None:
    holes = [None if row % 9 == 0 else float(value) for row, value in enumerate(A)]
    assert found({"a": A, "again": holes}) == {}
    assert found({"again": A, "a": holes}) == {}


@pytest.mark.parametrize("seed", range(20))
def test_unrelated_columns_give_no_rule(seed: int) -> None:
    """Small whole numbers, few levels, rare levels: what agrees by chance most often."""
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {f"n{place}": random.integers(0, 3 + place, N) for place in range(6)}
    columns |= {f"y{place}": np.where(random.random(N) < 0.01 * 3**place, "y", "n") for place in range(4)}
    columns |= {f"l{place}": np.char.mod("l%d", random.integers(0, 5**place, N)) for place in (1, 2, 3)}
    columns |= {f"x{place}": random.normal(size=N) for place in range(3)}
    assert found(columns, categorical=[name for name in columns if name[0] == "l"]) == {}


# ---- the model --------------------------------------------------------------------------------------


def _survey() -> stead.Records:
    return stead.table(
        {"a": A, "b": B, "total": np.round(A + B, 2), "age": AGE, "band": np.char.mod("b%d", BAND)}
    )


@pytest.mark.parametrize("rule", ["total = a + b", "band = recode of age"])
def test_density_is_one_where_the_rule_holds_and_none_elsewhere(rule: str) -> None:
    records = _survey()
    posterior = stead.Derived(rule).fit(records, draws=4)
    name = parse_rule(rule).target
    assert (posterior.log_likelihood(records, slice(0, 2)) == 0).all()
    held = records[name].values.copy()
    held[5] = held[5] + 1 if not records.schema[name].coded else (held[5] + 1) % 4
    broken = records.with_column(records.schema[name], Values.complete(held))
    density = posterior.log_likelihood(broken)
    assert density.shape == (4, N)
    assert (density[:, 5] == -np.inf).all()
    assert (np.delete(density, 5, axis=1) == 0).all()


@pytest.mark.parametrize("rule", ["total = a + b", "band = recode of age"])
def test_state_goes_through_json_and_comes_back(rule: str) -> None:
    import json

    records = _survey()
    posterior = stead.Derived(rule).fit(records, draws=4)
    state, arrays = posterior.to_state()
    again = posterior_from_state(json.loads(json.dumps(state)), arrays)
    name = parse_rule(rule).target
    given = records.without([name])
    assert again.sample(0, given, 1)[name].equals(records[name]).all()
    assert again.draws.shape == (4, 0)
    assert again.responses == (name,)


def test_whole_numbers_that_no_float_has_are_exact() -> None:
    big = 2**60 + AGE.astype(np.int64)
    records = stead.table({"big": big, "same": big, "next": big + 1})
    for rule in ("same = big", "next = big + 1"):
        name = parse_rule(rule).target
        made = stead.Derived(rule).fit(records, draws=1).sample(0, records.without([name]), 1)
        assert (made[name].values == records[name].values).all()
    with pytest.raises(stead.InputRefused, match="does not hold in 400 of 400"):
        stead.Derived("next = big").fit(records)


def test_a_sum_stays_inside_the_bounds_of_its_column() -> None:
    records = stead.table({"gross": np.round(A + B, 2), "net": A, "tax": B})
    posterior = stead.Derived("tax = gross - net").fit(records, draws=1)
    swapped = stead.table({"gross": A, "net": np.round(A + B, 2)})
    assert (posterior.sample(0, swapped, 1)["tax"].values == 0).all()


def test_cut_points_are_round_numbers_between_the_levels() -> None:
    records = _survey()
    cuts = stead.Derived("band = recode of age").fit(records, draws=1).derivation.cuts
    for cut, wanted in zip(cuts, (30, 45, 65), strict=True):
        below = AGE[wanted > AGE].max()
        assert below < cut <= AGE[wanted <= AGE].min()


@pytest.mark.parametrize(
    ("rule", "match"),
    [
        ("total = a + age", "does not hold in 400 of 400 rows"),
        ("band = recode of a", "levels overlap"),
        ("total = recode of a", "a recode gives levels"),
        ("total = a + bb", "did you mean b"),
        ("total = a + band", "its levels are no numbers"),
        ("band = age", "is categorical; it is the same as another column of levels, or a recode"),
    ],
)
def test_a_rule_that_does_not_fit_is_refused(rule: str, match: str) -> None:
    with pytest.raises(stead.SteadError, match=match):
        stead.Derived(rule).fit(_survey())


@pytest.mark.parametrize(
    ("rule", "match"),
    [
        ("total", "'=' is expected"),
        ("total = ", "a column name is expected"),
        ("total = 3", "at least one column"),
        ("total = a + a", "stands in it twice"),
        ("total = total + a", "stands in it twice"),
        ("total = a ** b", "a rule knows"),
        ("total = log(a)", "a rule knows"),
        ("total = 0 * a", "above 0"),
        ("total = a; import os", "a rule knows"),
        ("a" * 20_001, "at most 20,000"),
    ],
)
def test_a_rule_that_is_none_is_refused_with_its_place(rule: str, match: str) -> None:
    with pytest.raises(stead.UsageError, match=match) as caught:
        stead.Derived(rule)
    assert caught.value.code == "E-RULE"


NAMES = st.text(min_size=1, max_size=12).filter(lambda name: name.strip() == name and "\x00" not in name)
NUMBERS = st.floats(1e-6, 1e9).filter(lambda number: number > 0)


@given(st.lists(NAMES, min_size=2, max_size=5, unique=True), st.data())
def test_a_rule_and_its_text_are_one(names: list[str], data: st.DataObject) -> None:
    parts = []
    for name in names[1:]:
        sign = data.draw(st.sampled_from([1.0, -1.0]))
        times, divisor = data.draw(st.tuples(NUMBERS, st.just(1.0)) | st.tuples(st.just(1.0), NUMBERS))
        parts.append(Part(name, sign * times, divisor))
    rule = Rule(names[0], tuple(parts), data.draw(st.just(0.0) | NUMBERS))
    assert parse_rule(str(rule)) == rule
    recode = Rule(names[0], (Part(names[1]),), recode=True)
    assert parse_rule(str(recode)) == recode
