"""The audit of a mechanism: on a small file, every neighbour and every output, in rational arithmetic.

    max over y_-i, Z of ( max_g evidence_g - min_g evidence_g )  <=  m epsilon,     evidence_g = log p(Z | Y_i = g, y_-i)

It is the array that an intruder's belief is made of: the largest RR_j that any intruder reaches is e to this power. The weights
are the whole numbers that the sampler draws from, and no probability is rounded before the last logarithm.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb
from typing import TYPE_CHECKING

from stead.errors import UsageError
from stead.measurement import Measurement
from stead.models.mechanism import Mechanism, prior_count, require_epsilon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stead.models.mechanism import Form

MOST = 4_000_000
SLACK = 1e-9
CITATION = "McClure & Reiter 2012, appendix A"


def audit(
    epsilon: float,
    *,
    n: int = 6,
    n_s: int = 4,
    levels: int = 2,
    m: int = 1,
    form: Form = "plug-in",
    shared: bool = False,
    prior: Sequence[float] | None = None,
) -> Measurement:
    """The worst log ratio of a mechanism beside what it promises, by enumeration.

    `prior` is what is added to the counts, where it is not what epsilon asks for: to see what that costs.
    """
    claimed = require_epsilon(epsilon, form)
    _check(n, n_s, levels, m, prior)
    right = (prior_count(claimed, n_s, form),) * levels
    added = right if prior is None else tuple(Fraction(one) for one in prior)
    promised = float(Mechanism(form, right, n_s, shared).cost(m) if shared else m * claimed)
    worst, looked = worst_ratio(Mechanism(form, added, n_s, shared), n, m)
    found = _log(worst)
    return Measurement(
        name="privacy_audit",
        value=found,
        reference=promised,
        reference_name="what is promised",
        direction="lower is safer",
        citation=CITATION,
        details={
            "kept": found <= promised * (1 + SLACK),
            "gap": promised - found,
            "epsilon": float(claimed),
            "form": form,
            "shared": shared,
            "n": n,
            "n_s": n_s,
            "levels": levels,
            "m": m,
            "prior": [float(one) for one in added],
            "ratios": looked,
        },
    )


def worst_ratio(mechanism: Mechanism, n: int, m: int = 1) -> tuple[Fraction, int]:
    """The largest p(Z | Y_i = g) / p(Z | Y_i = g') over all files of n records, all g, g' and all Z; and how many (y_-i, Z) there are."""
    levels = len(mechanism.prior)
    sets = list(counts(mechanism.rows, levels))
    best, least, looked = 1, 1, 0
    for others in counts(n - 1, levels):
        files = [[held + (place == cell) for place, held in enumerate(others)] for cell in range(levels)]
        for released in product(sets, repeat=m):
            found = [mechanism.probability(file, released) for file in files]
            high, low = max(found), min(found)
            if high * least > best * low:
                best, least = high, low
            looked += 1
    return Fraction(best, least), looked


def counts(rows: int, levels: int) -> Iterator[tuple[int, ...]]:
    """Every way to put rows into cells."""
    for bars in combinations(range(rows + levels - 1), levels - 1):
        yield tuple(high - low - 1 for low, high in pairwise((-1, *bars, rows + levels - 1)))


def _check(n: int, n_s: int, levels: int, m: int, prior: Sequence[float] | None) -> None:
    for name, value, least in (("n", n, 1), ("n_s", n_s, 1), ("levels", levels, 2), ("m", m, 1)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise UsageError("E-AUDIT", f"{name} is a whole number from {least}")
    if prior is not None and (len(prior) != levels or min(prior) <= 0):
        raise UsageError("E-PRIOR", f"prior has a number above 0 for each of {levels} levels")
    ratios = comb(n + levels - 2, levels - 1) * comb(n_s + levels - 1, levels - 1) ** m
    if ratios > MOST:
        raise UsageError(
            "E-AUDIT",
            f"{ratios:,} pairs of a file and its sets, at most {MOST:,} are enumerated; take smaller n, n_s, levels or m",
        )


def _log(ratio: Fraction) -> float:
    """Of a ratio of numbers too large for a float."""
    context = Context(prec=50)
    return float(context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)).ln(context))
