"""What formulas mean, and where they are refused: with the place, the reason and the nearest name.

Write a test here for the meaning of one construct.
"""

from __future__ import annotations

import numpy as np
import pytest

from stead.errors import InputRefused, Notice, SteadError, UsageError
from stead.language.design import Design
from stead.language.functions import FUNCTIONS
from stead.language.grammar import Factor, parse
from stead.tables.files import table
from stead.tables.records import Records, Values
from stead.tables.schema import Column


@pytest.fixture
def records() -> Records:
    return table(
        {
            "income": [1.5, 2.5, 3.5, 4.25],
            "age": [40, 30, None, 20],
            "sex": ["f", "m", "m", None],
            "race": ["x", "y", "z", "x"],
            "zero": [0.0, 1.5, 2.5, 3.5],
            "full name": [1.25, 2.0, 3.0, 4.0],
        }
    )


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("y ~ a * b", "y ~ a + b + a:b"),
        ("y ~ (a + b + c)^2", "y ~ a + b + c + a:b + a:c + b:c"),
        ("(a + b):c", "a:c + b:c"),
        ("a + a + a:a", "a"),
        ("a:b + b:a", "a:b"),
        ("y~1", "y ~ 1"),
        ("1 + a", "a"),
        ("a:b + a", "a + a:b"),
        ("(a)", "a"),
        ("a - 1", "a -1"),
        ("`a`", "a"),
    ],
)
def test_formulas_that_mean_the_same(text: str, same: str) -> None:
    assert parse(text) == parse(same)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("y ~ a +", "the end"),
        ("y ~ a b", "character 7"),
        ("y ~ lgo(a)", "did you mean log?"),
        ("y ~ log(log(a))", "not another function"),
        ("y ~ a - b", "only -1"),
        ("y ~ 0 + a", "-1 at the end"),
        ("y ~ a + y", "both sides"),
        ("poly(y, 2) ~ a", "no inverse"),
        ("y ~ poly(a, 11)", "from 1 to 10"),
        ("y ~ a^7", "from 1 to 6"),
        ("y ~ (a - 1)", "outside parentheses"),
        ("y ~ (a", "')' is expected"),
        ("y ~ a ~ b", "character 7"),
        ("y ~ a.b()", "no function"),
        ("y ~ a[0]", "character 6"),
        ("y ~ ``", "column name"),
    ],
)
def test_formulas_that_make_no_sense(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert caught.value.code == "E-FORMULA"
    assert says in str(caught.value)


def test_labels_and_sources(records: Records) -> None:
    design = Design.bind("income ~ sex + age + race:sex + poly(zero, 2) + `full name`", records)
    assert design.labels == (
        *("Intercept", "sex[m]", "sex[missing]", "age", "poly(zero, 2)1", "poly(zero, 2)2", "`full name`"),
        *("race[x]:sex[f]", "race[y]:sex[f]", "race[z]:sex[f]")[:0],
        *design.labels[7:-1],
        "missing(age)",
    )
    assert len(design.labels) == len(design.sources) == design.matrix(records).shape[1]
    assert not any("[" in source for source in design.sources)


def test_missing_predictors_have_a_place_of_their_own(records: Records) -> None:
    matrix = Design.bind("income ~ age + sex", records).matrix(records)
    labels = Design.bind("income ~ age + sex", records).labels
    assert labels == ("Intercept", "age", "sex[m]", "sex[missing]", "missing(age)")
    assert matrix.tolist() == [[1, 40, 0, 0, 0], [1, 30, 1, 0, 0], [1, 0, 1, 0, 1], [1, 20, 0, 1, 0]]


@pytest.mark.parametrize("name", ["age", "sex"])
def test_gaps_that_the_fit_did_not_see_are_counted(records: Records, name: str) -> None:
    whole = records.take(records[name].present)
    design = Design.bind(f"income ~ {name}", whole)
    with pytest.raises(InputRefused) as caught:
        design.matrix(records)
    assert caught.value.code == "E-GAPS"
    assert f"column {name}: 1 cells" in str(caught.value)


def test_rows_and_blocks_are_rows_of_the_matrix(records: Records) -> None:
    design = Design.bind("income ~ race * age", records)
    whole = design.matrix(records)
    assert np.array_equal(design.matrix(records, slice(1, 3)), whole[1:3])
    assert np.array_equal(np.concatenate([part for _, part in design.blocks(records)]), whole)


def test_levels_come_from_the_schema_and_not_from_the_rows(records: Records) -> None:
    design = Design.bind("income ~ race", records)
    assert design.matrix(records.take(slice(1, 2))).tolist() == [[1, 1, 0]]


def test_a_formula_that_does_not_suit_the_records(records: Records) -> None:
    with pytest.raises(UsageError, match="did you mean income"):
        Design.bind("incme ~ age", records)
    with pytest.raises(UsageError, match="is for numbers"):
        Design.bind("income ~ log(sex)", records)
    with pytest.raises(InputRefused) as caught:
        Design.bind("income ~ log(zero)", records)
    assert (caught.value.code, caught.value.exit_code) == ("E-DOMAIN", 3)
    assert "1 values" in str(caught.value)
    with pytest.warns(Notice):
        held = table({"a": [f"t{row}" for row in range(30)], "b": [1.5] * 30})
    with pytest.raises(UsageError, match="role drop"):
        Design.bind("b ~ a", held)


def test_a_function_that_meets_a_value_outside_its_domain_later(records: Records) -> None:
    design = Design.bind("income ~ sqrt(zero)", records)
    below = records.with_column(Column("zero", "continuous"), Values.complete(np.array([-1.0, 0, 1, 4])))
    assert design.matrix(records)[0].tolist() == [1, 0]
    with pytest.raises(SteadError) as caught:
        design.matrix(below)
    assert caught.value.code == "E-DOMAIN"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_their_inverse_and_their_slope(name: str) -> None:
    function = FUNCTIONS[name]
    values = np.array([0.01, 0.5, 1.0, 2.0, 30.0])
    assert np.allclose(function.inverse(function.forward(values)), values)
    step = 1e-6 * values
    slope = (function.forward(values + step) - function.forward(values - step)) / (2 * step)
    assert np.allclose(function.log_slope(values), np.log(slope), atol=1e-6)
    assert str(Factor("a b", name)) == f"{name}(`a b`)"
