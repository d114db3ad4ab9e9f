"""Evidence by fitting again with each guess in the truth's place: slow, and right where weights are not to be relied on.

Between neighbouring guesses g and g',

    log p(Z | g') - log p(Z | g) = log E[w | y_-i, g, Z] - log E[w | y_-i, g],        w = p(g' | theta) / p(g | theta),

and the same read backwards from g'; the mean of both is taken, and steps are chained from one end of the guesses to the
other. A step is short, so that its weights hardly vary. Bennett (1976), Journal of Computational Physics 22, on two-sided
estimates. A plug-in generator has p(Z | theta-hat(y_-i, g)) itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stead.risk.averages import Bases
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
    evidence = np.zeros(guessed.count)
    streams = rng.spawn(guessed.count)
    before: list[Posterior] = []
    for step, guess in enumerate(order):
        here = _with_row(release.confidential, row, with_guess(record, guessed, int(guess)), targets)
        fits = _fits(release, here, draws, streams[step])
        if step:
            last = int(order[step - 1])
            forward = _step(before, record, guessed, last, int(guess), targets, known=known)
            backward = _step(fits, record, guessed, int(guess), last, targets, known=known)
            evidence[guess] = evidence[last] + 0.5 * (forward - backward)
        before = fits
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
    fits: Sequence[Posterior],
    record: Records,
    guessed: Guessed,
    here: int,
    there: int,
    targets: Sequence[str],
    *,
    known: bool,
) -> float:
    """Log p(Z | there) - log p(Z | here), from fits in which `here` is true."""
    base = with_guess(record, guessed, here)
    logs = []
    for fit in fits:
        weight = Weigher(fit, base, targets, known=known).log_weight(guessed, there)
        log, _ = Bases.of(np.zeros((1, len(fit.draws)))).average(weight)
        logs.append(float(log[0, 0]))
    return sum(logs[1:]) - (len(fits) - 1) * logs[0]


def _with_row(records: Records, row: int, changed: Records, targets: Sequence[str]) -> Records:
    """The records with the targets of one row taken from `changed`."""
    result = records
    for name in targets:
        held, new = records[name], changed[name].values
        values = held.values.astype(np.result_type(held.values.dtype, new.dtype))
        values[row] = new[0]
        result = result.with_column(records.schema[name], Values(values, held.missing))
    return result
