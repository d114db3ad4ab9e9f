"""Which model a count is for: how its variance compares with its mean, and whether it has too many zeros.

    variance = that of a Poisson count          Poisson
    variance > that of a Poisson count          negative binomial
    variance < that of a Poisson count, by 20 % linear, rounded to whole numbers
    zeros beyond what the negative binomial of this mean and variance has, by four standard errors and 3 %: a spike

A Poisson count from s on (above its spikes, or above a bound) of the same mean has a variance below its mean; s = 0 gives the
mean. (n - 1) times the ratio is nearly chi-squared with n - 1 degrees of freedom under Poisson. Böhning, Dietz & Schlattmann
(1999), Journal of the Royal Statistical Society A 162, on zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from stead.models.choices import Shape
from stead.models.choosing.numbers import FEWEST_ROWS

if TYPE_CHECKING:
    from stead.tables.records import Values
    from stead.tables.schema import Column

POISSON, OVER, ROUNDED = "Poisson", "NegativeBinomial", "Linear"
ERRORS, CLEARLY_BELOW, ZERO_SHARE = 4.0, 0.8, 0.03


def model_of_count(column: Column, held: Values) -> tuple[str, Shape, str]:
    """The model, what the column shows beyond what it declares, and why this model."""
    present = held.values[held.present].astype(float)
    if len(present) < FEWEST_ROWS:
        return OVER, Shape(column.name), "too few records to tell how it varies"
    low = float(column.bounds[0] or 0.0)
    shape = Shape(column.name)
    if not column.spikes and low == 0 and too_many_zeros(present):
        zeros = int((present == 0).sum())
        why = f"{zeros:,} of {len(present):,} records have none, more than a count of this mean would: a spike at the lowest value, modelled apart"
        shape = Shape(column.name, spikes=(0,), why=(why,))
    elif column.bounds[0] is None and present.min() == 1:
        shape = Shape(column.name, lowest=1.0, why=("no count is below 1, and none will be",))
    start = (shape.lowest or low) + len(column.spikes or shape.spikes)
    body = present[present >= start]
    if len(body) < FEWEST_ROWS:
        return OVER, shape, "too few records beside its spikes to tell how it varies"
    ratio = float(body.var(ddof=1)) / poisson_variance(float(body.mean()), start, float(body.max()))
    error = ERRORS * np.sqrt(2.0 / (len(body) - 1))
    if ratio < min(CLEARLY_BELOW, 1.0 - error):
        return ROUNDED, shape, f"its variance is {ratio:.2g} of that of a Poisson count"
    if ratio > 1.0 + error:
        return OVER, shape, f"its variance is {ratio:.2g} times that of a Poisson count"
    return POISSON, shape, "its variance is that of a Poisson count"


def poisson_variance(mean: float, start: float, highest: float) -> float:
    """Of a Poisson count from `start` on that has this mean."""
    if start <= 0:
        return mean
    counts = np.arange(start, 2.0 * highest + 50.0)
    low, high = 1e-9, mean
    for _ in range(60):  # the mean rises with the rate
        rate = 0.5 * (low + high)
        log_share = counts * np.log(rate) - gammaln(counts + 1.0)
        share = np.exp(log_share - log_share.max())
        share /= share.sum()
        low, high = (rate, high) if share @ counts < mean else (low, rate)
    return max(float(share @ (counts - mean) ** 2), 1e-9)


def too_many_zeros(present: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    """Whether zeros are beyond what the negative binomial (or the Poisson) of the same moments gives."""
    count, zeros = len(present), float((present == 0).sum())
    mean, variance = float(present.mean()), float(present.var(ddof=1))
    if not zeros or zeros == count or np.unique(present).size < 3:
        return False
    shape = mean**2 / (variance - mean) if variance > mean else np.inf
    expected = (shape / (shape + mean)) ** shape if np.isfinite(shape) else float(np.exp(-mean))
    error = np.sqrt(count * expected * (1.0 - expected))
    return bool(zeros - count * expected > max(ERRORS * error, ZERO_SHARE * count))
