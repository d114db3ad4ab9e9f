"""What a fit would take, estimated before it begins, and a refusal with a proposal where that is too much.

    memory   (L p)^2 numbers for the curvature, H (L p) for the draws
    time     n (L p)^2 for each step to the mode, (L p)^3 to solve, and n (L p + c L) for each look at the likelihood, c = 20:
             about one for each draw, ten where there are so many parameters that draws come from Hamiltonian paths

for L linear predictors of p columns each, n rows (cells), H draws. Where the likelihood has distribution functions (rounding,
heaps) c is 300 for each unit.
"""

from __future__ import annotations

from stead.errors import UsageError, shorten

MOST_BYTES, MOST_SECONDS = 4 << 30, 1800.0
PER_SECOND = 2e9
"""Multiplications and additions that a core does in a second where memory is in the way."""
STEPS = 12.0
LOOKS, LOOKS_ON_PATHS = 1.2, 10.0
PLAIN, WITH_DISTRIBUTION = 20.0, 300.0
MANY, MANY_ROUNDED = 50, 20
"""Parameters beyond which proposals at the mode are often not enough."""


def estimate(predictors: int, width: int, rows: int, draws: int, units: int = 0) -> tuple[float, float]:
    """Bytes and seconds; `units` are those of rounding, where they are part of the likelihood."""
    size = predictors * width
    memory = 8.0 * (3.0 * size**2 + 3.0 * draws * size)
    many, each = (MANY_ROUNDED, WITH_DISTRIBUTION * units) if units else (MANY, PLAIN)
    looks = draws * (LOOKS if size <= many else LOOKS_ON_PATHS)
    work = STEPS * (rows * size**2 + size**3) + looks * rows * (size + each * predictors)
    return memory, work / PER_SECOND


def require_budget(what: str, predictors: int, width: int, rows: int, draws: int) -> None:
    """Refuse a fit that would freeze."""
    size = predictors * width
    memory, seconds = estimate(predictors, width, rows, draws)
    if memory <= MOST_BYTES and seconds <= MOST_SECONDS:
        return
    amount = f"{seconds / 60:,.0f} minutes" if seconds > MOST_SECONDS else f"{memory / 2**30:,.1f} GiB"
    limit = f"{MOST_SECONDS / 60:.0f} minutes" if seconds > MOST_SECONDS else f"{MOST_BYTES >> 30} GiB"
    how = (
        "merge rare levels, or predict it from fewer columns"
        if predictors > 1
        else "take fewer terms into the formula, or fewer draws"
    )
    raise UsageError(
        "E-BUDGET",
        f"{shorten(what)}: {size:,} coefficients over {rows:,} rows would take about {amount} (limit {limit}); {how}",
    )
