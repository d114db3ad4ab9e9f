"""Rational numbers on the safe side of exp and log.

A privacy guarantee that rests on a float may be broken by its last bit (Mironov 2012). What is added to counts is therefore a
rational number that is never below the one of the equation, and what is charged is never below what is spent.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import floor, log2

PLACES = 60
SIGNIFICANT, FINEST = 64, 256
"""Bits that are kept, and the place of the last bit there is: nothing is smaller than 2^-256."""
TINY, HUGE = Fraction(1, 10**30), Fraction(1000)


def exp_minus_one_below(t: Fraction) -> Fraction:
    """At most e^t - 1, and for t up to 1,000 at least (1 - 10^-29) of it."""
    if t < TINY:
        return t
    down = Context(prec=2 * PLACES, rounding=ROUND_FLOOR)
    power = _decimal(min(t, HUGE), down).exp(
        down
    )  # correctly rounded to nearest, so the number below it is a bound
    return Fraction(power.next_minus(down)) - 1


def log_one_plus_above(x: Fraction) -> Fraction:
    """At least log(1 + x), and at most 1 + 10^-29 times it."""
    if x < TINY:
        return x
    up = Context(prec=2 * PLACES, rounding=ROUND_CEILING)
    return Fraction(_decimal(1 + x, up).ln(up).next_plus(up))


def rounded_up(value: Fraction) -> Fraction:
    """The next number of 64 significant bits, at least 2^-256."""
    if value <= 0:
        raise ValueError("only what is positive is rounded up")
    exponent = floor(log2(value.numerator) - log2(value.denominator))
    shift = max(0, min(FINEST, SIGNIFICANT - exponent))
    return Fraction(-(-(value.numerator << shift) // value.denominator), 1 << shift)


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))
