"""Rules: numbers by name, compared with bounds, joined by and / or. Nothing more is understood, and nothing is run.

    rule        := part ("or" part)*
    part        := test ("and" test)*
    test        := "(" rule ")" | name sign number
    sign        := "<=" | "<" | ">=" | ">"

A number is read as the rational number that is written, so that .2 is one fifth.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from stead.errors import UsageError, nearest, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TOKEN = re.compile(r"\s*(?:([^\W\d]\w*)|(\d+\.?\d*|\.\d+)|(<=|>=|<|>)|(\S))")
LONGEST, DEEPEST, MOST = 2_000, 20, 100
SIGNS = ("<=", "<", ">=", ">")


@dataclass(frozen=True)
class Comparison:
    """`name sign bound`."""

    name: str
    sign: str
    bound: Fraction

    def __str__(self) -> str:
        return f"{self.name} {self.sign} {float(self.bound):g}"


@dataclass(frozen=True)
class Joined:
    """Rules joined by one word, "and" or "or"."""

    word: str
    parts: tuple[Rule, ...]

    def __str__(self) -> str:
        return f" {self.word} ".join(
            f"({part})" if isinstance(part, Joined) else str(part) for part in self.parts
        )


Rule: TypeAlias = "Comparison | Joined"


def comparisons(rule: Rule) -> tuple[Comparison, ...]:
    """Every comparison, each once, in order."""
    if isinstance(rule, Comparison):
        return (rule,)
    return tuple(dict.fromkeys(one for part in rule.parts for one in comparisons(part)))


def holds(rule: Rule, test: Callable[[Comparison], bool]) -> bool:
    """Whether the rule holds where `test` says it of each comparison."""
    if isinstance(rule, Comparison):
        return test(rule)
    return (all if rule.word == "and" else any)(holds(part, test) for part in rule.parts)


def compared(value: Fraction, sign: str, bound: Fraction) -> bool:
    """`value sign bound`."""
    if value == bound:
        return "=" in sign
    return (value < bound) == ("<" in sign)


def parse_rule(text: str, names: Sequence[str]) -> Rule:
    """The rule that `text` says about `names`, or an error that points at the place where it stops making sense."""
    if not isinstance(text, str):
        raise UsageError("E-RULE", f"a rule is text, not {type(text).__name__}")
    if len(text) > LONGEST:
        raise UsageError("E-RULE", f"a rule has at most {LONGEST:,} characters; this one has {len(text):,}")
    return _Parser(text, names).whole()


class _Parser:
    """One pass over the tokens."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text, self.names = text, names
        self.tokens = [
            (match[match.lastindex], match.start(match.lastindex))
            for match in TOKEN.finditer(text)
            if match.lastindex
        ]
        self.tokens.append(("", len(text)))
        self.at = self.depth = self.count = 0

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

    def whole(self) -> Rule:
        rule = self.joined("or")
        if self.next:
            self.fail("a rule knows and, or, parentheses, <= < >= >, numbers")
        return rule

    def joined(self, word: str) -> Rule:
        parts = [self.part(word)]
        while self.next == word:
            self.take()
            parts.append(self.part(word))
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def part(self, word: str) -> Rule:
        return self.joined("and") if word == "or" else self.test()

    def test(self) -> Rule:
        if self.next == "(":
            self.depth += 1
            if self.depth > DEEPEST:
                self.fail(f"parentheses are nested at most {DEEPEST} deep")
            self.take()
            rule = self.joined("or")
            if self.next != ")":
                self.fail("a closing parenthesis is expected")
            self.take()
            self.depth -= 1
            return rule
        return self.comparison()

    def comparison(self) -> Comparison:
        if self.next not in self.names:
            self.fail(f"a name is expected; {nearest(self.next, self.names)}")
        name = self.take()
        if self.next not in SIGNS:
            self.fail("<=, <, >= or > is expected")
        sign = self.take()
        if not re.fullmatch(r"\d+\.?\d*|\.\d+", self.next) or len(self.next) > 30:
            self.fail("a number is expected, such as .05 or 10")
        self.count += 1
        if self.count > MOST:
            self.fail(f"a rule has at most {MOST} comparisons")
        return Comparison(name, sign, Fraction(self.take()))
