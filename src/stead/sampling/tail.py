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
    shape = float(pareto_shapes(log_weight[None])[0])
    return None if np.isnan(shape) else shape


def pareto_shapes(log_weight: Array) -> Array:
    """The shapes of many tails, a row each; NaN where there is none to fit."""  # (r,), from (r, H)
    rows, count = log_weight.shape
    taken = int(min(0.2 * count, 3.0 * np.sqrt(count)))
    shapes = np.full(rows, np.nan)
    if taken < FEWEST:
        return shapes
    highest = log_weight.max(axis=1, keepdims=True)
    top = np.partition(log_weight - highest, count - taken - 1, axis=1)[:, count - taken - 1 :]
    top.sort(axis=1)
    varying = (highest[:, 0] - log_weight.min(axis=1) > SPREAD) & (top[:, 0] < top[:, -1])
    threshold = np.maximum(top[:, :1], np.log(np.finfo(float).tiny))
    whole = varying & (top[:, 1] > threshold[:, 0])
    block = max(1, (1 << 20) // (taken * 60))
    for start in range(0, rows, block):
        some = np.flatnonzero(whole[start : start + block]) + start
        if len(some):
            shapes[some] = _shapes(np.exp(top[some, 1:]) - np.exp(threshold[some]))
    for row in np.flatnonzero(varying & ~whole):  # ties at the threshold: fewer lie above it
        above = top[row][top[row] > threshold[row]]
        if len(above) >= FEWEST:
            shapes[row] = _shapes((np.exp(above) - np.exp(threshold[row]))[None])[0]
    return shapes


def _shapes(excess: Array) -> Array:
    """K of generalized Pareto distributions fitted to rows of ordered, positive numbers."""  # (r, M)
    count = excess.shape[1]
    quartile = excess[:, int(count / 4 + 0.5) - 1]
    grid = 30 + int(np.sqrt(count))
    safe = np.where(quartile > 0, quartile, 1.0)
    b = (1.0 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5)))[None] / (3.0 * safe[:, None])
    b = b + 1.0 / excess[:, -1:]  # (r, grid)
    k = np.log1p(-b[:, :, None] * excess[:, None, :]).mean(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        profile = count * (np.log(-b / k) - k - 1.0)
        weight = np.exp(profile - np.nanmax(profile, axis=1, keepdims=True))
    weight = np.where(np.isfinite(weight) & (weight >= 10.0 * np.finfo(float).eps), weight, 0.0)
    center = (b * weight).sum(axis=1) / weight.sum(axis=1)
    shape = np.log1p(-center[:, None] * excess).mean(axis=1)
    return np.where(quartile > 0, (count * shape + 0.5 * 10.0) / (count + 10.0), np.nan)
