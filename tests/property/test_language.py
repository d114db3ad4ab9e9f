"""Laws of the formula grammar on any text: it answers with a formula or with one of our errors, and runs nothing.

Write a test here for what must hold for every formula. What single formulas mean is in
`tests/contract/test_language.py`.
"""

from __future__ import annotations

import builtins

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stead.errors import SteadError
from stead.language.grammar import CALLABLE, MOST_TERMS, Factor, Formula, parse
from stead.tables.schema import LONGEST_NAME

SNIPPETS = [
    *(
        "a",
        "b.c",
        "_d",
        "`e f`",
        "`~`",
        "log",
        "log(",
        "poly(",
        "1",
        "0",
        "2",
        "-1",
        "- 1",
        "²",
        "٣",
        "9" * 30,
    ),
    *(
        *"~+-*:^(),`\\'\" \t\n.#;=@%!{}[]",
        "import os",
        "__import__('os')",
        "a.__class__",
        "lambda: 0",
        "é",
        "🧑‍🚀",
    ),
]
NAMES = st.text(min_size=1, max_size=12).filter(lambda name: len(name) <= LONGEST_NAME)


def parsed(text: str) -> Formula | None:
    """The formula, or None where it is refused in the documented way; Python runs and compiles nothing meanwhile."""

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a formula was run as Python")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("eval", "exec", "compile", "__import__"):
            patch.setattr(builtins, name, forbidden)
        try:
            return parse(text)
        except SteadError as error:
            refusal = (error.code, error.exit_code)
    assert refusal == ("E-FORMULA", 2)
    return None


def assert_stable(formula: Formula) -> None:
    assert parse(str(formula)) == formula
    assert str(parse(str(formula))) == str(formula)


@given(text=st.text(max_size=60))
@settings(max_examples=500)
@example(text="(" * 5_000)
@example(text="log(" * 4_000)
@example(text="a^" + "9" * 10_000)
@example(text="a^²")
@example(text="a" * 20_001)
@example(text="`" * 9)
@example(text="")
@example(text="\ud800 + `\ud800`")
def test_any_text_is_parsed_or_refused(text: str) -> None:
    formula = parsed(text)
    if formula is not None:
        assert_stable(formula)


@given(text=st.lists(st.sampled_from(SNIPPETS), max_size=12).map("".join))
@settings(max_examples=2000)
def test_any_heap_of_tokens_is_parsed_or_refused(text: str) -> None:
    formula = parsed(text)
    if formula is not None:
        assert_stable(formula)
        assert all(factor.function in {"", *CALLABLE} for term in formula.terms for factor in term)


FACTORS = st.builds(
    lambda name, function, degree: Factor(name, function, degree if function == "poly" else 1),
    NAMES,
    st.sampled_from(["", "", "", *CALLABLE]),
    st.integers(1, 10),
)


def joined(response: Factor | None, terms: list[list[Factor]], intercept: bool) -> str:
    right = " + ".join(":".join(map(str, term)) for term in terms)
    return f"{'' if response is None else f'{response} ~ '}{right}{'' if intercept else ' - 1'}"


@given(
    response=st.none() | FACTORS.filter(lambda factor: factor.function != "poly"),
    terms=st.lists(st.lists(FACTORS, min_size=1, max_size=3), min_size=1, max_size=4),
    intercept=st.booleans(),
)
@settings(max_examples=400)
def test_formulas_of_any_names_come_back(
    response: Factor | None, terms: list[list[Factor]], intercept: bool
) -> None:
    if response and any(factor.column == response.column for term in terms for factor in term):
        assert parsed(joined(response, terms, intercept)) is None
        return
    formula = parse(joined(response, terms, intercept))
    assert formula.response == response
    assert formula.intercept is intercept
    assert {frozenset(term) for term in formula.terms} == {frozenset(term) for term in terms}
    assert [len(term) for term in formula.terms] == sorted(len(term) for term in formula.terms)
    assert_stable(formula)


@given(name=NAMES)
@settings(max_examples=300)
@example(name="a ~ b + c:d")
@example(name='say "hi"')
@example(name="it's")
@example(name="`")
@example(name="a`b``c")
@example(name="🧑‍🚀")
@example(name="أهلا وسهلا")
@example(name="\u202eabc")
@example(name="log")
@example(name="1")
@example(name="two\nlines")
@example(name="__import__('os')")
def test_any_name_can_be_written_in_backticks(name: str) -> None:
    quoted = f"`{name.replace('`', '``')}`"
    assert parse(f"{quoted} + {quoted}:x").predictors == tuple(dict.fromkeys((name, "x")))
    assert parse(str(Factor(name))) == Formula(None, intercept=True, terms=((Factor(name),),))


@given(names=st.integers(1, 7), power=st.integers(1, 6))
def test_a_power_is_all_crossings_up_to_it(names: int, power: int) -> None:
    from math import comb

    letters = "abcdefg"[:names]
    terms = parse(f"({' + '.join(letters)})^{power}").terms
    assert len(terms) == sum(comb(names, size) for size in range(1, min(power, names) + 1))
    assert len({frozenset(term) for term in terms}) == len(terms)


@pytest.mark.parametrize(
    "text",
    [
        "+".join(f"c{number}" for number in range(3_000)),
        f"({'+'.join(f'c{number}' for number in range(1_400))}):({'+'.join(f'd{number}' for number in range(1_400))})",
        f"({'+'.join(f'c{number}' for number in range(200))})^3",
    ],
    ids=["sum", "product", "power"],
)
def test_long_formulas_end(text: str) -> None:
    formula = parsed(text)
    assert formula is None or len(formula.terms) <= MOST_TERMS
