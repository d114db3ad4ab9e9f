"""Acceptance regions in the plane of absolute and relative risk, solved exactly for every prior.

For a prior weight w of the truth, R = wB / (1 - w + wB) and RR = B / (1 + w (B - 1)) = B - (B - 1) R: as w goes from 0 to 1 a
record runs along a straight line from (0, B) to (1, 1), and B is all that there is to know of it. On that line RR compares with c
as R compares with (B - c) / (B - 1), turned round where B > 1. A rule is therefore a set of intervals of R, hence of w. Their order
changes only where two of these bounds meet, at finitely many B: between them a region is safe for every prior or for none
of the records. All of it is done in rational numbers, since the question is often asked at a bound itself.
McClure & Reiter (2012), Transactions on Data Privacy 5, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from stead.language.rules import Comparison, compared, comparisons, holds, parse_rule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.language.rules import Rule

    Array = NDArray[np.float64]

DEFAULT = "R <= .1 or RR <= 1.05 or (RR <= 10 and R <= .2)"
ABSOLUTE, RELATIVE = "R", "RR"
TURNED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}


@dataclass(frozen=True)
class Interval:
    """Numbers between two, each of which belongs to it or not."""

    low: Fraction
    high: Fraction | None
    """None is no bound."""
    with_low: bool
    with_high: bool

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, (int, float, Fraction)):
            return False
        above = value > self.low or (self.with_low and value == self.low)
        return above and (self.high is None or value < self.high or (self.with_high and value == self.high))

    def __str__(self) -> str:
        end = "infinity" if self.high is None else f"{float(self.high):.6g}"
        return f"{'[' if self.with_low else '('}{float(self.low):.6g}, {end}{']' if self.with_high else ')'}"


@dataclass(frozen=True)
class Stretch:
    """A set of B over which the bounds keep their order: one number, or what lies between two."""

    factors: Interval
    outside: tuple[tuple[Comparison | int, Comparison | int], ...]
    """What bounds the prior weights that lead out: a comparison, or 0 or 1."""


@dataclass(frozen=True)
class Region:
    """Where a record may lie: `stead.Region("R <= .1 or RR <= 1.05 or (RR <= 10 and R <= .2)")`."""

    text: str = DEFAULT

    def __post_init__(self) -> None:
        _ = self.rule

    @cached_property
    def rule(self) -> Rule:
        """The text, understood."""
        return parse_rule(self.text, (ABSOLUTE, RELATIVE))

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every comparison of the rule."""
        return comparisons(self.rule)

    def contains(self, absolute: float | Fraction, relative: float | Fraction) -> bool:
        """Whether a point lies in it."""
        at = {ABSOLUTE: Fraction(absolute), RELATIVE: Fraction(relative)}
        return holds(self.rule, lambda one: compared(at[one.name], one.sign, one.bound))

    def outside(self, factor: float | Fraction) -> tuple[Interval, ...]:
        """The prior weights under which a record with this B leaves the region."""
        exact = Fraction(factor)
        return tuple(
            Interval(
                _weight(one.low, exact), _weight(one.high or Fraction(1), exact), one.with_low, one.with_high
            )
            for one, _ in self._outside(exact)
        )

    @cached_property
    def safe_factors(self) -> tuple[Interval, ...]:
        """Every B for which no prior weight leads out of the region."""
        return _merged([one.factors for one in self.stretches if not one.outside])

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The half line of B above 0, cut where the order of the bounds changes."""
        meeting = self._meetings()
        found = []
        for low, high in zip([Fraction(0), *meeting], [*meeting, None], strict=True):
            middle = low + 1 if high is None else (low + high) / 2
            found.append(self._stretch(Interval(low, high, with_low=False, with_high=False), middle))
            if high is not None:
                found.append(self._stretch(Interval(high, high, with_low=True, with_high=True), high))
        return tuple(found)

    def places(self, factors: Array) -> NDArray[np.int64]:
        """The stretch that each B lies in, exactly."""
        place = np.zeros(len(factors), np.int64)
        for bound in self._meetings():
            near = float(bound)
            above = factors > near if Fraction(near) <= bound else factors >= near
            place += 2 * above
            if Fraction(near) == bound:
                place += factors == near
        return place

    def _meetings(self) -> list[Fraction]:
        bounds = self.comparisons
        relative = {one.bound for one in bounds if one.name == RELATIVE}
        absolute = {one.bound for one in bounds if one.name == ABSOLUTE} | {Fraction(0)}
        meeting = {Fraction(1)} | {(c - r) / (1 - r) for c in relative for r in absolute if r != 1}
        return sorted(one for one in meeting if one > 0)

    def _stretch(self, factors: Interval, inside: Fraction) -> Stretch:
        return Stretch(factors, tuple(ends for _, ends in self._outside(inside)))

    def _outside(self, factor: Fraction) -> list[tuple[Interval, tuple[Comparison | int, Comparison | int]]]:
        """Intervals of R beyond the region, and what bounds each."""
        at = {one: _place(one, factor) for one in self.comparisons}
        cuts: dict[Fraction, Comparison | int] = {Fraction(0): 0, Fraction(1): 1}
        cuts |= {place: one for one, (place, _) in at.items() if place is not None and 0 < place < 1}
        ends = sorted(cuts)

        def out(absolute: Fraction) -> bool:
            return not holds(self.rule, lambda one: _test(at[one], absolute, one, factor))

        pieces = []
        for low, high in pairwise(ends):
            if out((low + high) / 2):
                pieces.append(
                    Interval(low, high, with_low=low > 0 and out(low), with_high=high < 1 and out(high))
                )
            if high < 1 and out(high):
                pieces.append(Interval(high, high, with_low=True, with_high=True))
        return [(one, (cuts[one.low], cuts[one.high or Fraction(1)])) for one in _merged(pieces)]


def _place(one: Comparison, factor: Fraction) -> tuple[Fraction | None, str]:
    """The bound and the sign of a comparison, as one of R; no bound where it is the same for all R."""
    if one.name == ABSOLUTE:
        return one.bound, one.sign
    if factor == 1:
        return None, one.sign
    return (factor - one.bound) / (factor - 1), TURNED[one.sign] if factor > 1 else one.sign


def _test(at: tuple[Fraction | None, str], absolute: Fraction, one: Comparison, factor: Fraction) -> bool:
    place, sign = at
    return compared(factor, one.sign, one.bound) if place is None else compared(absolute, sign, place)


def _weight(absolute: Fraction, factor: Fraction) -> Fraction:
    """W = R / (B - (B - 1) R)."""
    return absolute / (factor - (factor - 1) * absolute)


def _merged(pieces: list[Interval]) -> tuple[Interval, ...]:
    """Neighbours that share a point become one."""
    merged: list[Interval] = []
    for one in pieces:
        last = merged[-1] if merged else None
        if last is not None and last.high == one.low and (last.with_high or one.with_low):
            merged[-1] = Interval(last.low, one.high, last.with_low, one.with_high)
        else:
            merged.append(one)
    return tuple(merged)
