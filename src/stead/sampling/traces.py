"""What pictures of chains show, as aggregates: the ranks of the draws of each chain, and a thinned trace.

Draws of one parameter are ranked among all S draws of C chains; the ranks of each chain are counted in B bins and divided
by the n / B that are expected. Chains that agree have uniform ranks, and each of the C B heights then has mean 1 and

    sd = sqrt((1 - 1/B) (1 - 1/C) tau B / n),

the hypergeometric one for n / tau independent draws a chain. tau is the autocorrelation time within chains, the larger of
that of the ranks and of their distances from the middle: between chains it would grow with the very disagreement that is
looked for. The band holds all C B heights in 95 of 100 fits (Bonferroni). Vehtari, Gelman, Simpson, Carpenter & Bürkner
(2021), Bayesian Analysis 16, section 4; Säilynoja, Bürkner & Vehtari (2022), Statistics and Computing 32.

A trace is in standard deviations from the mean of all draws, so that it tells how chains move and not where the
parameter is.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.sampling.mixing import mixing
from stead.sampling.proposals import CHAINS
from stead.sampling.verdicts import GOOD_R_HAT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LEAST_EACH = 40
"""Draws of a chain; with fewer, bins of ranks hold too few to be looked at."""
PER_BIN, FEWEST_BINS, MOST_BINS, MOST_POINTS = 25, 5, 20, 100
OUTSIDE, LARGEST = 0.05, 1e6


@dataclass(frozen=True)
class Trace:
    """The pictures of one parameter."""

    parameter: str
    ess_bulk: float
    ess_tail: float
    rhat: float
    draws: int  # of each chain
    heights: list[list[float]]  # (C, B), 1 is as many as expected
    band: list[float]
    every: int
    trace: list[list[float]]  # (C, points), in standard deviations

    @property
    def outside(self) -> int:
        """How many heights lie outside the band."""
        low, high = self.band
        return sum(not low <= height <= high for chain in self.heights for height in chain)

    def to_dict(self) -> dict[str, Any]:
        """For the assessment."""
        return asdict(self) | {"outside": self.outside}


def worst_traces(draws: Array, names: Sequence[str]) -> list[Trace]:
    """The parameter with the fewest effective draws; and that of the highest R-hat, where it is another and too high.

    Row h of `draws` belongs to chain h % 4. Empty where the chains are too short or nothing varies.
    """  # draws (H, K)
    each = len(draws) // CHAINS
    varying = np.flatnonzero(np.ptp(draws, axis=0) > 0) if len(draws) else np.zeros(0, int)
    if each < LEAST_EACH or not len(varying):
        return []
    chains = draws[: each * CHAINS, varying].reshape(each, CHAINS, -1).transpose(2, 1, 0)  # (K, C, n)
    with np.errstate(all="ignore"):  # of chains that never move R-hat is infinite, or no number
        rhat, bulk, tail = mixing(chains)
    rhat = np.minimum(np.nan_to_num(rhat, nan=LARGEST, posinf=LARGEST), LARGEST)
    fewest, highest = int(np.argmin(bulk)), int(np.argmax(rhat))
    shown = [fewest, highest] if highest != fewest and rhat[highest] >= GOOD_R_HAT else [fewest]
    return [
        _trace(chains[k], names[varying[k]], (float(bulk[k]), float(tail[k]), float(rhat[k]))) for k in shown
    ]


def _trace(chains: Array, name: str, figures: tuple[float, float, float]) -> Trace:
    each = chains.shape[1]
    ranks = _ranks(chains)
    bins = int(np.clip(each // PER_BIN, FEWEST_BINS, MOST_BINS))
    place = np.minimum(((ranks - 0.5) * bins / ranks.size).astype(int), bins - 1)
    heights = np.array([np.bincount(row, minlength=bins) for row in place]) * bins / each
    effective = each / max(_time(ranks), _time(np.abs(ranks - ranks.mean())))
    spread = np.sqrt((1 - 1 / bins) * (1 - 1 / CHAINS) * bins / effective)
    reach = NormalDist().inv_cdf(1 - OUTSIDE / (2 * bins * CHAINS)) * spread
    every = -(-each // MOST_POINTS)
    standard = (chains - chains.mean()) / chains.std()
    bulk, tail, rhat = figures
    return Trace(
        parameter=name,
        ess_bulk=round(bulk, 1),
        ess_tail=round(tail, 1),
        rhat=round(rhat, 4),
        draws=each,
        heights=np.round(heights, 3).tolist(),
        band=[round(max(0.0, 1 - reach), 3), round(1 + reach, 3)],
        every=every,
        trace=np.round(standard[:, ::every], 2).tolist(),
    )


def _ranks(chains: Array) -> Array:
    """Ranks among all draws, from 1; those of ties are averaged."""
    _, place, count = np.unique(chains, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count - 1) / 2
    ranks: Array = middle[place].reshape(chains.shape)
    return ranks


def _time(chains: Array) -> float:
    """The autocorrelation time within chains, by Geyer's initial monotone sequence; at least 1."""
    each = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * each, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :each].mean(axis=0)
    if covariance[0] <= 0:  # no chain moves
        return float(each)
    paired = (covariance / covariance[0])[: each // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(paired < 0)
    kept = paired[: negative[0]] if len(negative) else paired
    return max(1.0, float(2 * np.minimum.accumulate(kept).sum() - 1)) if len(kept) else 1.0
