"""A text read token by token: what the small grammars of formulas, rules and derivations share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from stead.errors import UsageError, shorten

if TYPE_CHECKING:
    import re

Token = tuple[str, int]


def tokens_by(pattern: re.Pattern[str], text: str) -> list[Token]:
    """The tokens of a text and the place of each; a token is the last group that matched, and the last token is empty."""
    found = [
        (match[match.lastindex].strip(), match.start(match.lastindex))
        for match in pattern.finditer(text)
        if match.lastindex
    ]
    return [*found, ("", len(text))]


class Tokens:
    """One pass over the tokens; `at` is the place of the next one."""

    code, what = "E-RULE", "rule"

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text, self.tokens, self.at, self.depth = text, tokens, 0, 0

    @property
    def next(self) -> str:
        """The next token, "" at the end."""
        return self.tokens[self.at][0]

    def take(self) -> str:
        """The next token, which is then behind."""
        token = self.next
        self.at += token != ""
        return token

    def fail(self, why: str) -> NoReturn:
        """Refuse the text, with the place at which it stops making sense."""
        place = self.tokens[self.at][1] + 1
        found = f"{shorten(self.next)!r} at character {place}" if self.next else "the end"
        raise UsageError(self.code, f"{self.what} {shorten(self.text)!r}: at {found}: {why}")
