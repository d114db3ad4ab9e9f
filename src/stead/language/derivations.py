"""How a column follows from others, as text: a small grammar, and nothing that runs.

    rule    := name "=" (recode | sum)
    recode  := "recode" "of" name
    sum     := ["-"] part (("+" | "-") part)*
    part    := number ["*" name] | name ["/" number]

    Total = A + B        Copy = A        Cents = 100 * Euros        Monthly = Annual / 12        Region = recode of Province

Names are those of formulas: plain, or in backticks. A recode says that each level of one column has one level of
another, or that levels lie between cut points of a number; which, is found in the data, and no text shows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from stead.errors import UsageError, shorten
from stead.language.grammar import Factor, name_of, tokens_of

LONGEST_RULE, MOST_PARTS = 20_000, 1_000
RECODE, OF = "recode", "of"


@dataclass(frozen=True)
class Part:
    """One source of a sum: times x / divisor."""

    column: str
    times: float = 1.0
    divisor: float = 1.0

    def __str__(self) -> str:
        name = str(Factor(self.column))
        over = "" if self.divisor == 1 else f" / {plain_number(self.divisor)}"
        size = abs(self.times)
        return f"{'' if size == 1 else f'{plain_number(size)} * '}{name}{over}"


@dataclass(frozen=True)
class Rule:
    """A column as a sum of others, or, where `recode`, as a recode of one."""

    target: str
    parts: tuple[Part, ...]
    constant: float = 0.0
    recode: bool = False

    @property
    def predictors(self) -> tuple[str, ...]:
        """The columns that the rule reads, in order."""
        return tuple(part.column for part in self.parts)

    @property
    def copies(self) -> bool:
        """Whether the column is another one again."""
        return not self.recode and not self.constant and self.parts == (Part(self.parts[0].column),)

    def __str__(self) -> str:
        left = f"{Factor(self.target)} ="
        if self.recode:
            return f"{left} {RECODE} {OF} {Factor(self.parts[0].column)}"
        text = left
        for place, part in enumerate(self.parts):
            sign = "-" if part.times < 0 else "+" if place else ""
            text += f" {sign}{' ' if place else ''}{part}" if sign else f" {part}"
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {plain_number(abs(self.constant))}"
        return text


def plain_number(number: float) -> str:
    """A number in digits, without an exponent, as the grammar reads it."""
    return np.format_float_positional(number, trim="-")


def parse_rule(text: str) -> Rule:
    """The rule that `text` says, or an error that points at the place where it stops making sense."""
    if not isinstance(text, str):
        raise UsageError("E-RULE", f"a rule is text, not {type(text).__name__}")
    if len(text) > LONGEST_RULE:
        raise UsageError(
            "E-RULE", f"a rule has at most {LONGEST_RULE:,} characters; this one has {len(text):,}"
        )
    return _Parser(text).rule()


class _Parser:
    """One pass over the tokens; `self.at` is the place of the next one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.at = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at][0]

    def take(self) -> str:
        token = self.next
        self.at += token != ""
        return token

    def fail(self, why: str) -> NoReturn:
        found = (
            f"{shorten(self.next)!r} at character {self.tokens[self.at][1] + 1}" if self.next else "the end"
        )
        raise UsageError("E-RULE", f"rule {shorten(self.text)!r}: at {found}: {why}")

    def rule(self) -> Rule:
        target = self.name()
        if self.next != "=":
            self.fail("'=' is expected after the column that the rule makes")
        self.take()
        if self.next == RECODE and self.tokens[self.at + 1][0] == OF:
            self.at += 2
            rule = Rule(target, (Part(self.name()),), recode=True)
        else:
            rule = self.sum(target)
        if self.next:
            self.fail("a rule knows column names, numbers, + - * / and 'recode of'")
        names = rule.predictors
        if not names:
            self.fail("a rule reads at least one column")
        if target in names or len(set(names)) < len(names):
            raise UsageError("E-RULE", f"rule {shorten(self.text)!r}: a column stands in it twice")
        return rule

    def sum(self, target: str) -> Rule:
        parts: list[Part] = []
        constant, sign = 0.0, 1.0
        if self.next == "-":
            self.take()
            sign = -1.0
        while True:
            part, number = self.part(sign)
            constant += number
            parts += [part] if part else []
            if len(parts) > MOST_PARTS:
                self.fail(f"a rule has at most {MOST_PARTS:,} parts")
            if self.next not in {"+", "-"}:
                return Rule(target, tuple(parts), constant)
            sign = 1.0 if self.take() == "+" else -1.0

    def part(self, sign: float) -> tuple[Part | None, float]:
        """A part, or a constant."""
        if self.next[:1].isdecimal():
            number = self.number()
            if self.next != "*":
                return None, sign * number
            self.take()
            return Part(self.name(), sign * number), 0.0
        name = self.name()
        if self.next != "/":
            return Part(name, sign), 0.0
        self.take()
        return Part(name, sign, self.number()), 0.0

    def name(self) -> str:
        name = name_of(self.next)
        if not name:
            self.fail("a column name is expected")
        self.take()
        return name

    def number(self) -> float:
        if not self.next[:1].isdecimal():
            self.fail("a number is expected")
        number = float(self.next)
        if not number or not math.isfinite(number):
            self.fail("a number of a rule is above 0 and finite")
        self.take()
        return number
