"""What a fit would take, estimated before it begins, and a refusal with a proposal where that is too much.

    memory   (L p)^2 numbers for the curvature, H (L p) for the draws
    time     n (L p)^2 for each step to the mode, H n L p for the draws, (L p)^3 to solve

for L linear predictors of p columns each, n rows (cells), H draws.
"""

from __future__ import annotations

from stead.errors import UsageError, shorten

MOST_BYTES, MOST_SECONDS = 4 << 30, 1800.0
PER_SECOND = 2e9
"""Multiplications and additions that a core does in a second where memory is in the way."""
STEPS = 12.0


def require_budget(what: str, predictors: int, width: int, rows: int, draws: int) -> None:
    """Refuse a fit that would freeze."""
    size = predictors * width
    memory = 8.0 * (3.0 * size**2 + 3.0 * draws * size)
    work = STEPS * (rows * size**2 + size**3) + 1.2 * draws * rows * (size + 20.0 * predictors)
    seconds = work / PER_SECOND
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
