"""The formula grammar: text to terms, and nothing more.

    formula   := [[response] "~"] sum
    sum       := product (("+" product) | ("-" "1"))*
    product   := crossing ("*" crossing)*            a * b  =  a + b + a:b
    crossing  := power (":" power)*
    power     := atom ["^" whole]                    (a + b)^2  =  a + b + a:b
    atom      := factor | "1" | "(" sum ")"
    factor    := name | function "(" name ")" | "poly" "(" name "," whole ")"
    name      := letter (letter | digit | "_" | ".")* | "`" anything, a backtick doubled "`"

Wilkinson & Rogers (1973), "Symbolic description of factorial models", Applied Statistics 22. The parser
is a small recursive descent over a token list; there is no eval, no attribute, no index, no arithmetic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn, TypeAlias

from stead.errors import UsageError, nearest, shorten
from stead.language.functions import FUNCTIONS

TOKEN = re.compile(r"\s*(?:(`(?:[^`]|``)*`)|([^\W\d][\w.]*)|(\d+(?:\.\d+)?)|(.))", re.DOTALL)
PLAIN_NAME = re.compile(r"[^\W\d][\w.]*\Z")
CALLABLE = (*FUNCTIONS, "poly")
LONGEST_FORMULA, MOST_TERMS, HIGHEST_POWER, HIGHEST_DEGREE, DEEPEST = 20_000, 5_000, 6, 10, 50


@dataclass(frozen=True, order=True)
class Factor:
    """A column, or a function of one."""

    column: str
    function: str = ""
    degree: int = 1

    def __str__(self) -> str:
        name = self.column if PLAIN_NAME.match(self.column) else f"`{self.column.replace('`', '``')}`"
        if self.function == "poly":
            return f"poly({name}, {self.degree})"
        return f"{self.function}({name})" if self.function else name


Term: TypeAlias = tuple[Factor, ...]
"""Factors that are multiplied, each once, in the order of the formula; () is the intercept."""


@dataclass(frozen=True)
class Formula:
    """A response (where there is one), whether there is an intercept, and the terms: main effects first."""

    response: Factor | None
    intercept: bool
    terms: tuple[Term, ...]

    @property
    def predictors(self) -> tuple[str, ...]:
        """Columns on the right-hand side, each once, in order."""
        return tuple(dict.fromkeys(factor.column for term in self.terms for factor in term))

    def __str__(self) -> str:
        right = [":".join(map(str, term)) for term in self.terms] or ["1"]
        return f"{f'{self.response} ~ ' if self.response else ''}{' + '.join(right)}{'' if self.intercept else ' - 1'}"


def parse(text: str) -> Formula:
    """The formula that `text` says, or an error that points at the place where it stops making sense."""
    if not isinstance(text, str):
        raise UsageError("E-FORMULA", f"a formula is text, not {type(text).__name__}")
    if len(text) > LONGEST_FORMULA:
        raise UsageError(
            "E-FORMULA", f"a formula has at most {LONGEST_FORMULA:,} characters; this one has {len(text):,}"
        )
    return _parsed(text)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Formula:
    """A model asks for its terms over and over; the text is short and the terms are frozen."""
    return _Parser(text).formula()


def tokens_of(text: str) -> list[tuple[str, int]]:
    """The tokens of a text and the place of each; the last is empty."""
    found = [
        (match.group().strip(), match.start(match.lastindex or 0))
        for match in TOKEN.finditer(text)
        if match.lastindex
    ]
    return [*found, ("", len(text))]


def name_of(token: str) -> str:
    """The column that a token names, in backticks or plain; "" where it is no name."""
    if token.startswith("`") and len(token) > 2:
        return token[1:-1].replace("``", "`")
    return token if PLAIN_NAME.match(token) else ""


class _Parser:
    """One pass over the tokens; `self.at` is the place of the next one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.at = 0
        self.depth = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at][0]

    def take(self) -> str:
        token = self.next
        self.at += token != ""
        return token

    def expect(self, token: str, after: str) -> None:
        if self.next != token:
            self.fail(f"{token!r} is expected after {after}")
        self.take()

    def fail(self, why: str) -> NoReturn:
        found = (
            f"{shorten(self.next)!r} at character {self.tokens[self.at][1] + 1}" if self.next else "the end"
        )
        raise UsageError("E-FORMULA", f"formula {shorten(self.text)!r}: at {found}: {why}")

    def formula(self) -> Formula:
        response = None
        if any(token == "~" for token, _ in self.tokens):
            response = self.factor() if self.next != "~" else None
            self.expect("~", "the response")
            if response and response.function == "poly":
                self.fail("poly() has no inverse, so it cannot be a response")
        intercept, terms = self.sum_with_intercept()
        if self.next:
            self.fail(
                "a formula knows + : * ^ -1, parentheses, column names (in backticks where they are not plain) "
                f"and {', '.join(CALLABLE)}"
            )
        if response and any(factor.column == response.column for term in terms for factor in term):
            raise UsageError(
                "E-FORMULA",
                f"formula {shorten(self.text)!r}: {shorten(response.column)} stands on both sides",
            )
        ordered = tuple(sorted((term for term in terms if term), key=len))
        return Formula(response, intercept, ordered)

    def sum_with_intercept(self) -> tuple[bool, list[Term]]:
        terms, intercept = list(self.product()), True
        while self.next in {"+", "-"}:
            if self.take() == "+":
                terms += self.product()
                if len(terms) > 2 * MOST_TERMS:  # not at every "+": the work would grow with its square
                    terms = self.bounded(terms)
            elif self.next == "1":
                self.take()
                intercept = False
            else:
                self.fail("only -1 (no intercept) can be taken away")
        return intercept, self.bounded(terms)

    def product(self) -> list[Term]:
        terms = self.crossing()
        while self.next == "*":
            self.take()
            right = self.crossing()
            terms = self.bounded([*terms, *right, *self.crossed(terms, right)])
        return terms

    def crossing(self) -> list[Term]:
        terms = self.power()
        while self.next == ":":
            self.take()
            terms = self.bounded(self.crossed(terms, self.power()))
        return terms

    def power(self) -> list[Term]:
        base = self.atom()
        terms = base
        if self.next == "^":
            self.take()
            for _ in range(self.whole("a power", HIGHEST_POWER) - 1):
                terms = self.bounded([*terms, *self.crossed(terms, base)])
        return terms

    def atom(self) -> list[Term]:
        if self.next == "(":
            self.depth += 1
            if self.depth > DEEPEST:
                self.fail(f"parentheses are nested at most {DEEPEST} deep")
            self.take()
            intercept, terms = self.sum_with_intercept()
            if not intercept:
                self.fail("-1 stands outside parentheses")
            self.expect(")", "the sum in parentheses")
            self.depth -= 1
            return terms
        if self.next == "1":
            self.take()
            return [()]
        if self.next == "0":
            self.fail("write -1 at the end for a formula without an intercept")
        return [(self.factor(),)]

    def factor(self) -> Factor:
        token = self.next
        name = name_of(token)
        if not name:
            self.fail("a column name is expected")
        self.take()
        if self.next != "(" or token.startswith("`"):
            return Factor(name)
        if token not in CALLABLE:
            self.at -= 1
            self.fail(f"no function is called {shorten(token)}; {nearest(token, CALLABLE)}")
        self.take()
        if self.next in CALLABLE and self.tokens[self.at + 1][0] == "(":
            self.fail("functions take a column, not another function")
        inner = self.factor()
        degree = 1
        if token == "poly":
            self.expect(",", "the column of poly()")
            degree = self.whole("a degree", HIGHEST_DEGREE)
        self.expect(")", f"the arguments of {token}()")
        return Factor(inner.column, token, degree)

    def whole(self, what: str, highest: int) -> int:
        if not self.next.isdecimal() or len(self.next) > 9 or not 1 <= int(self.next) <= highest:
            self.fail(f"{what} is a whole number from 1 to {highest}")
        return int(self.take())

    def crossed(self, left: list[Term], right: list[Term]) -> list[Term]:
        if len(left) * len(right) > 100 * MOST_TERMS:
            self.refuse_many()
        return [tuple(dict.fromkeys((*one, *other))) for one in left for other in right]

    def bounded(self, terms: list[Term]) -> list[Term]:
        unique: dict[frozenset[Factor], Term] = {}
        for term in terms:
            unique.setdefault(frozenset(term), term)
        if len(unique) > MOST_TERMS:
            self.refuse_many()
        return list(unique.values())

    def refuse_many(self) -> NoReturn:
        raise UsageError("E-FORMULA", f"formula {shorten(self.text)!r}: has more than {MOST_TERMS:,} terms")
