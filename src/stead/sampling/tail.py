"""Pareto k: how heavy the tail of importance weights is, and so how far their average can be relied on.

The largest weights, less the threshold below them, are fitted by a generalized Pareto distribution; k is its shape. The fit
averages a profile likelihood over a grid of b = k / scale and shrinks k towards .5 as if ten more weights had said so.
Zhang & Stephens (2009), Technometrics 51; Vehtari, Simpson, Gelman, Yao & Gabry (2024), JMLR 25, algorithm 1. arviz-stats
computes the same and takes a second to import: it is the oracle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FEWEST = 5
SPREAD = 1e-9
"""Log weights that differ by less are all alike and have no tail."""


def pareto_k(log_weight: Array) -> float | None:
    """The shape of the tail; None where there is no tail to fit."""
    count = len(log_weight)
    taken = int(min(0.2 * count, 3.0 * np.sqrt(count)))
    if taken < FEWEST or np.ptp(log_weight) <= SPREAD:
        return None
    ordered = np.sort(log_weight - log_weight.max())
    threshold = max(float(ordered[-taken - 1]), float(np.log(np.finfo(float).tiny)))
    above = ordered[ordered > threshold]
    if len(above) < FEWEST:
        return None
    return _shape(np.exp(above) - np.exp(threshold))


def _shape(excess: Array) -> float | None:
    """K of a generalized Pareto distribution fitted to ordered, positive numbers."""
    count = len(excess)
    quartile = excess[int(count / 4 + 0.5) - 1]
    if not quartile > 0:
        return None
    grid = 30 + int(np.sqrt(count))
    b = 1.0 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))
    b = b / (3.0 * quartile) + 1.0 / excess[-1]
    k = np.log1p(-b[:, None] * excess).mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        profile = count * (np.log(-b / k) - k - 1.0)
    weight = np.exp(profile - np.nanmax(profile))
    weight = np.where(np.isfinite(weight) & (weight >= 10.0 * np.finfo(float).eps), weight, 0.0)
    center = float((b * weight).sum() / weight.sum())
    shape = float(np.log1p(-center * excess).mean())
    return (count * shape + 0.5 * 10.0) / (count + 10.0)
