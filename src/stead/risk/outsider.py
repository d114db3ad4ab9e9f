"""What the release alone says: belief is the predictive distribution of one fit to all synthetic sets, stacked.

    p(Y_i = g | x_i, Z) proportional to E[p(g | x_i, theta) | Z]

It is a posterior already: no prior is multiplied in, and nothing is summed over sets. The record's own synthesized values that
the guess is predicted from are not known, and are drawn from the same fit, one for each draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stead.errors import UsageError
from stead.risk.averages import Bases
from stead.risk.evidence import CELLS, Evidence
from stead.risk.weights import parts_of, with_guess
from stead.tables.stacking import stacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.models.base import Posterior
    from stead.release import Release
    from stead.risk.guesses import Guessed
    from stead.tables.records import Records

    Array = NDArray[np.float64]


def predicted(
    release: Release,
    posterior: Posterior,
    guessed: Guessed,
    rows: NDArray[np.int64],
    targets: tuple[str, ...],
    draws: int,
    rng: np.random.Generator,
) -> Evidence:
    """The log of the predictive density of every guess; the prior is left to it."""
    if not posterior.refittable:
        raise UsageError(
            "E-EVIDENCE",
            "an outsider fits the model to the synthetic sets, and this one cannot be fitted again",
        )
    for_fit, for_others = rng.spawn(2)
    fit = posterior.refit(stacked(*release.synthetic), draws=draws, rng=for_fit)
    parts = [part for part in parts_of(fit) if set(part.responses) & set(targets)]
    unknown = [
        name
        for part in parts
        for name in part.predictors
        if name in release.synthesized and name not in targets
    ]
    flat = Bases.of(np.zeros((1, len(fit.draws))))
    block = max(1, CELLS // len(fit.draws))
    values, size = np.empty((len(rows), guessed.count)), np.ones(len(rows))
    for start in range(0, len(rows), block):
        some = slice(start, start + block)
        records = release.confidential.take(rows[some])
        worlds = _worlds(fit, records, release, unknown, for_others)
        own = guessed.take(some)
        for guess in range(guessed.count):
            logs = np.concatenate(
                [
                    sum(part.log_likelihood(with_guess(world, own, guess), draw) for part in parts)
                    for world, draw in worlds
                ]
            )
            log, least = flat.average(logs)
            values[some, guess] = log[0]
            size[some] = np.minimum(size[some], least[0] / len(fit.draws))
    return Evidence(np.zeros_like(values), values, size, np.zeros(len(rows)))


def _worlds(
    fit: Posterior, records: Records, release: Release, unknown: list[str], rng: np.random.Generator
) -> list[tuple[Records, slice]]:
    """The records as the intruder may imagine them, each beside the draws that it goes with."""
    if not unknown:
        return [(records, slice(None))]
    given = records.without(release.synthesized)
    worlds = []
    for h, stream in enumerate(rng.spawn(len(fit.draws))):
        drawn = fit.sample(h, given, stream)
        world = records
        for name in dict.fromkeys(unknown):
            world = world.with_column(records.schema[name], drawn[name])
        worlds.append((world, slice(h, h + 1)))
    return worlds
