"""R-hat and effective sample sizes of all parameters at once.

    split each chain in two, replace draws by normal scores of their ranks, then
    R-hat = sqrt(between-and-within variance / within variance),
    ESS   = chains x draws / (-1 + 2 sum of paired autocorrelations, cut where a pair turns negative, made monotone).

Bulk is that of the draws, tail the lesser of those of the indicators of the 5 % and 95 % quantiles; R-hat is the larger of
that of the draws and of their distances from the median. Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian
Analysis 16; Geyer (1992). arviz-stats computes the same one parameter at a time, in twenty times the time: it is the oracle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TAILS = (0.05, 0.95)


def mixing(chains: Array) -> tuple[Array, Array, Array]:
    """R-hat, bulk and tail effective size of every parameter; chains are (parameters, chains, draws)."""
    halves = _split(chains)
    flat = halves.reshape(len(halves), -1)
    order = np.argsort(flat, axis=1, kind="stable")
    ordered = np.take_along_axis(flat, order, axis=1)
    scores = _normal_scores(order, ordered).reshape(halves.shape)
    away = np.abs(flat - _median(ordered))
    order_away = np.argsort(away, axis=1, kind="stable")
    folded = _normal_scores(order_away, np.take_along_axis(away, order_away, axis=1)).reshape(halves.shape)
    edges = np.quantile(
        chains, TAILS, axis=(1, 2)
    )  # of all draws: a split leaves out the middle one of an odd number
    tails = [(halves <= edge[:, None, None]).astype(float) for edge in edges]
    sizes = effective(np.concatenate([scores, *tails])).reshape(3, -1)
    return np.maximum(_r_hat(scores), _r_hat(folded)), sizes[0], sizes[1:].min(axis=0)


def _split(chains: Array) -> Array:
    """Each chain as two."""
    half = chains.shape[2] // 2
    return np.concatenate([chains[:, :, :half], chains[:, :, -half:]], axis=1)


def _median(ordered: Array) -> Array:
    """Of ordered rows of even length."""  # (parameters, 1)
    half = ordered.shape[1] // 2
    return 0.5 * (ordered[:, [half - 1]] + ordered[:, [half]])


def _normal_scores(order: NDArray[np.intp], ordered: Array) -> Array:
    """Normal scores of the ranks over all chains, those of ties averaged (Blom 1958)."""
    count = order.shape[1]
    place = np.arange(count)
    new = np.concatenate([np.ones((len(order), 1), bool), ordered[:, 1:] != ordered[:, :-1]], axis=1)
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    ends = np.concatenate([new[:, 1:], np.ones((len(order), 1), bool)], axis=1)
    last = np.minimum.accumulate(np.where(ends, place, count)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty_like(ordered)
    np.put_along_axis(ranks, order, 0.5 * (first + last) + 1.0, axis=1)
    return np.asarray(ndtri((ranks - 0.375) / (count + 0.25)))


def _r_hat(chains: Array) -> Array:
    count = chains.shape[2]
    within = chains.var(axis=2, ddof=1).mean(axis=1)
    between = count * chains.mean(axis=2).var(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt((between / within + count - 1.0) / count))


def effective(chains: Array) -> Array:
    """The effective size of every parameter from chains that are split already."""  # (parameters,)
    number, count = chains.shape[1], chains.shape[2]
    centred = chains - chains.mean(axis=2, keepdims=True)
    padded = next_fast_len(2 * count, real=True)
    spectrum = rfft(centred, padded, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)  # of the chains together
    covariance = irfft(power, padded, axis=1)[:, :count] / count
    within = covariance[:, 0] * count / (count - 1.0)
    together = within * (count - 1.0) / count
    if number > 1:
        together = together + chains.mean(axis=2).var(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = 1.0 - (within[:, None] - covariance) / together[:, None]
    correlation[:, 0] = 1.0
    return _sizes(correlation, number * count)


def _sizes(correlation: Array, total: int) -> Array:
    """Geyer's initial monotone sequence, of every parameter; a constant has as many effective draws as draws."""
    whole = len(correlation[0]) // 2
    paired = correlation[:, : 2 * whole].reshape(len(correlation), whole, 2).sum(axis=2)
    negative = paired < 0.0
    negative[:, -1] = True  # the last pair ends the sequence, whatever it is
    stop = negative.argmax(axis=1)
    before = np.arange(whole) < stop[:, None]
    kept = np.where(before, np.minimum.accumulate(paired, axis=1), 0.0).sum(axis=1)
    next_one = np.take_along_axis(correlation, 2 * stop[:, None], axis=1)[:, 0]
    time = -1.0 + 2.0 * kept + np.maximum(next_one, 0.0)
    sizes = total / np.maximum(time, 1.0 / np.log10(total))
    return np.where(np.isfinite(correlation).all(axis=1), sizes, float(total))
