"""Evidence by fitting again with each guess in the truth's place: slow, and right where weights are not to be relied on.

With C(g) = p(y_-i, g) and C(g, Z) = p(y_-i, g, Z), log p(Z | y_-i, g) = log C(g, Z) - log C(g). Each of the two is followed from one
guess to its neighbour g' by draws from both ends (Bennett 1976, Journal of Computational Physics 22): d = log C(g')/C(g) solves

    sum_h s(log w_h - d) = sum_h s(d - log w'_h),      w = p(g' | theta) / p(g | theta),  s(t) = 1 / (1 + exp(-t)),

theta_h from the fit to g on the left and from that to g' on the right. A step is short, so that its weights hardly vary. A
guess that the model rules out has no evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from stead.risk.weights import Weigher, with_guess
from stead.tables.records import Records, Values
from stead.tables.stacking import stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.models.base import Posterior
    from stead.release import Release
    from stead.risk.guesses import Guessed

    Array = NDArray[np.float64]


def evidence_by_refits(
    release: Release,
    guessed: Guessed,
    rows: NDArray[np.int64],
    targets: Sequence[str],
    draws: int,
    rng: np.random.Generator,
    *,
    known: bool,
) -> Array:
    """The evidence of some records, one after the other."""  # (n, G)
    return np.stack(
        [
            _of_record(
                release, guessed.take(slice(place, place + 1)), int(row), targets, draws, stream, known=known
            )
            for place, (row, stream) in enumerate(zip(rows, rng.spawn(len(rows)), strict=True))
        ]
    )


def _of_record(
    release: Release,
    guessed: Guessed,
    row: int,
    targets: Sequence[str],
    draws: int,
    rng: np.random.Generator,
    *,
    known: bool,
) -> Array:
    if release.posterior is None:
        raise ValueError("asked for before")
    record = release.confidential.take(np.array([row]))
    order = np.lexsort([guessed.values[name][:, 0] for name in reversed(targets)])
    few = slice(0, len(release.posterior.draws), max(1, len(release.posterior.draws) // 8))
    evidence = np.full(guessed.count, -np.inf)
    streams = rng.spawn(guessed.count)
    before: list[Posterior] = []
    last = -1
    for guess, stream in zip(map(int, order), streams, strict=True):
        changed = with_guess(record, guessed, guess)
        if not np.isfinite(release.posterior.log_likelihood(changed, few)).any():
            continue
        fits = _fits(release, _with_row(release.confidential, row, changed, targets), draws, stream)
        evidence[guess] = 0.0
        if last >= 0:
            steps = [
                _step(one, other, record, guessed, (last, guess), targets, known=known)
                for one, other in zip(before, fits, strict=True)
            ]
            evidence[guess] = evidence[last] + sum(steps[1:]) - release.m * steps[0]
        before, last = fits, guess
    return evidence


def _fits(release: Release, records: Records, draws: int, rng: np.random.Generator) -> list[Posterior]:
    """Given these records, and given them with each synthetic set."""
    if release.posterior is None:
        raise ValueError("asked for before")
    streams = rng.spawn(release.m + 1)
    fits = [release.posterior.refit(records, draws=draws, rng=streams[0])]
    for made, stream in zip(release.synthetic, streams[1:], strict=True):
        fits.append(release.posterior.refit(stacked(records, made), draws=draws, rng=stream))
    return fits


def _step(
    before: Posterior,
    after: Posterior,
    record: Records,
    guessed: Guessed,
    guesses: tuple[int, int],
    targets: Sequence[str],
    *,
    known: bool,
) -> float:
    """Log C(second guess) - log C(first guess), from a fit to each."""
    first, second = guesses
    ahead = Weigher(before, with_guess(record, guessed, first), targets, known=known).log_weight(
        guessed, second
    )[:, 0]
    back = Weigher(after, with_guess(record, guessed, second), targets, known=known).log_weight(
        guessed, first
    )[:, 0]
    return log_ratio(ahead, -back)


def log_ratio(ahead: Array, behind: Array) -> float:
    """D of the equation above: log w under draws from the near end, and under draws from the far end."""
    low, high = min(ahead.min(), behind.min()), max(ahead.max(), behind.max())
    if not np.isfinite(low) or not np.isfinite(high):
        return float(np.logaddexp.reduce(ahead) - np.log(len(ahead)))
    if high - low < 1e-12:
        return float(low)
    return float(brentq(lambda d: expit(ahead - d).mean() - expit(d - behind).mean(), low, high))


def _with_row(records: Records, row: int, changed: Records, targets: Sequence[str]) -> Records:
    """The records with the targets of one row taken from `changed`."""
    result = records
    for name in targets:
        held, new = records[name], changed[name].values
        values = held.values.astype(np.result_type(held.values.dtype, new.dtype))
        values[row] = new[0]
        result = result.with_column(records.schema[name], Values(values, held.missing))
    return result
