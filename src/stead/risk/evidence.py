"""What the release says of each guess: evidence_g = log p(Z | Y_i = g, y_-i), up to a constant of the record.

    exact           closed form, where the model has one
    reweight        logsumexp_h(log p_h + log w_hg) - logsumexp_h(log w_hg),    theta_h ~ p(theta | y), p_h = p(Z | theta_h)
    two_posterior   log E[w_g | y, Z] - log E[w_g | y]
    refit           steps between neighbouring guesses, each from fits in which the guess has taken the truth's place: refit.py

The second is the lecture's; its weights p_h degenerate with parameters. The third needs a fit to y stacked with Z, and no
product over rows: p(Z | y_-i, g) = E[p(Z | theta) w_g | y] / E[w_g | y], and its numerator is p(Z | y) E[w_g | y, Z]. Sets that
were each made from their own draw are independent given y, and their evidence is added. See docs/derivations/evidence.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import UsageError
from stead.risk.averages import IMPOSSIBLE, Bases
from stead.risk.weights import SAFE, Weigher
from stead.tables.stacking import stacked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stead.models.base import Posterior
    from stead.release import Release
    from stead.risk.guesses import Guessed

    Array = NDArray[np.float64]
    Report = Callable[[int, int], None]

CELLS = 1 << 17
"""Draws x records that are looked at together: 1 MiB, which stays in the cache of one core."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence, what the fit alone says of the guesses, and how far the averages can be relied on."""

    values: Array  # (n, G)
    from_fit: Array | None  # (n, G), log E[w_g | y]
    size: Array  # (n,), the least effective share of the draws
    k: Array  # (n,), the largest Pareto k


@dataclass(frozen=True, eq=False)
class Source:
    """Draws, and the shares under which their weights are averaged."""

    posterior: Posterior
    bases: Bases


def by_reweighting(release: Release, posterior: Posterior) -> tuple[list[Source], Array]:
    """One set of draws; averages under 1 and under p(Z^l | theta_h) for each set."""
    logs = [np.zeros(len(posterior.draws))]
    logs += [posterior.log_likelihood(made).sum(axis=1) for made in release.synthetic]
    return [Source(posterior, Bases.of(np.stack(logs)))], np.array([-release.m, *np.ones(release.m)], float)


def by_two_posteriors(
    release: Release, posterior: Posterior, draws: int, rng: np.random.Generator
) -> tuple[list[Source], Array]:
    """The draws given y, and draws given y and each set."""
    plain = Bases.of(np.zeros((1, len(posterior.draws))))
    sources = [Source(posterior, plain)]
    for made, stream in zip(release.synthetic, rng.spawn(release.m), strict=True):
        both = posterior.refit(stacked(release.confidential, made), draws=draws, rng=stream)
        sources.append(Source(both, Bases.of(np.zeros((1, len(both.draws))))))
    return sources, np.array([-release.m, *np.ones(release.m)], float)


def averaged(
    release: Release,
    sources: Sequence[Source],
    signs: Array,
    guessed: Guessed,
    rows: NDArray[np.int64],
    targets: Sequence[str],
    *,
    known: bool,
    report: Report,
    tails: bool = True,
) -> Evidence:
    """The evidence from averages of weights, block by block of records; `signs` say how they add up, and Pareto k is left out without `tails`."""
    longest = max(len(source.posterior.draws) for source in sources)
    block = max(1, CELLS // longest)
    values, fits = np.empty((len(rows), guessed.count)), np.empty((len(rows), guessed.count))
    size, k = np.empty(len(rows)), np.empty(len(rows))
    for start in range(0, len(rows), block):
        some = slice(start, start + block)
        one = _block(
            release, sources, signs, guessed.take(some), rows[some], targets, known=known, tails=tails
        )
        values[some], fits[some], size[some], k[some] = one.values, one.from_fit, one.size, one.k
        report(min(start + block, len(rows)), len(rows))
    return Evidence(values, fits, size, k)


def _block(
    release: Release,
    sources: Sequence[Source],
    signs: Array,
    guessed: Guessed,
    rows: NDArray[np.int64],
    targets: Sequence[str],
    *,
    known: bool,
    tails: bool,
) -> Evidence:
    records = release.confidential.take(rows)
    logs, size, k = [], np.ones(len(rows)), np.full(len(rows), -np.inf)
    for source in sources:
        log, least, hardest = _averages(
            source, Weigher(source.posterior, records, targets, known=known), guessed
        )
        logs.append(log)
        size = np.minimum(size, least.min(axis=1))
        if tails:
            k = np.maximum(k, source.bases.worst_k(hardest()))
    every = np.concatenate(logs)  # (J, r, G)
    with np.errstate(invalid="ignore"):
        values = np.einsum("j,jrg->rg", signs, np.where(np.isfinite(every), every, IMPOSSIBLE))
    values = np.where(np.isfinite(every[0]), values, -np.inf)  # the model rules the guess out
    return Evidence(values, every[0], size, k)


def _averages(source: Source, weigher: Weigher, guessed: Guessed) -> tuple[Array, Array, Callable[[], Array]]:
    """Log E[w] (J, r, G), the least effective share (r, G), and log w of each record's guess where that is least (r, H)."""
    draws = len(source.posterior.draws)
    parabola = weigher.quadratic(guessed)
    if parabola and parabola.largest < SAFE:
        step = parabola.step()
        if step:
            steps = step * np.arange(parabola.moved.shape[1] // 2 + 1)
            curve = np.exp(-(steps**2)[:, None] * parabola.curve)
            base = np.multiply(parabola.slope, -step)
            logs, sizes = source.bases.stepped(np.exp(base, out=base), curve)
        else:
            logs, sizes = source.bases.curved(parabola.slope, parabola.curve, parabola.moved)
        least = sizes.min(axis=0) / draws
        return logs + parabola.jacobian, least, lambda: parabola.log_weight(least.argmin(axis=1))
    found = [source.bases.average(weigher.log_weight(guessed, guess)) for guess in range(guessed.count)]
    logs = np.stack([log for log, _ in found], axis=2)
    least = np.stack([size.min(axis=0) for _, size in found], axis=1) / draws
    return logs, least, lambda: weigher.log_weight(guessed, least.argmin(axis=1)).T


def require_draws(release: Release) -> Posterior:
    """The posterior of a release, or a refusal that says what needs it."""
    if release.posterior is None:
        raise UsageError(
            "E-POSTERIOR",
            "attribute risk needs the posterior of the synthesis model, and this release has none: "
            "pass posterior= to Release.from_tables, from stead.external or model.posterior(draws)",
        )
    return release.posterior
