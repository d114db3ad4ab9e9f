"""Attribute risk: how probable an intruder finds the true value of a record, for every record.

    R_j = p(Y_j = truth | Z, A, S),   RR_j = R_j / prior,   B_j = f_truth / sum_g q_g f_g,   f_g = exp(evidence_g)

q is the prior of the alternatives, so that for a prior weight w of the truth R = wB / (1 - w + wB) and RR = B - (B - 1) R.
Reiter & Mitra (2009); Hu, Savitsky & Williams (2021) compute the same by `reweight`; McClure & Reiter (2012) for
binary data. What a small number promises is bounded by the intruder it was computed for.
"""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stead.errors import UsageError, nearest, shorten
from stead.models.base import silent
from stead.randomness import generator
from stead.risk.belief import Belief
from stead.risk.evidence import Evidence, averaged, by_reweighting, by_two_posteriors, require_draws
from stead.risk.guesses import Grid, Levels, guessed
from stead.risk.intruder import Intruder, log_prior
from stead.risk.outsider import predicted
from stead.risk.refit import evidence_by_refits
from stead.risk.summary import summarized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from stead.measurement import Measurement
    from stead.models.base import Posterior, Progress
    from stead.randomness import Rng
    from stead.release import Release
    from stead.risk.guesses import Guessed, Guesses

    Array = NDArray[np.float64]

STRATEGIES = ("exact", "two_posterior", "reweight", "refit")
Strategy = Literal["exact", "two_posterior", "reweight", "refit"]
REFIT_DRAWS = 2000
STEPS, STEP = 5, 0.5
"""A number without declared guesses: this many steps of half a standard deviation on each side."""


@dataclass(frozen=True, eq=False)
class Answer:
    """The beliefs about some records, and how they were come by."""

    belief: Belief
    guessed: Guessed
    rows: NDArray[np.int64]
    strategy: str
    size: Array
    k: Array
    recomputed: NDArray[np.bool_]
    draws: int


def attribute_risk(
    release: Release,
    target: str | Sequence[str],
    intruder: Intruder | None = None,
    evidence: Strategy | None = None,
    rows: Any = None,
    *,
    refits: int = 5,
    draws: int | None = None,
    rng: Rng = None,
    progress: Progress = silent,
) -> Measurement:
    """What `intruder` (by default one who knows all other records) believes of the true values of `target`.

    `evidence=None` takes the best strategy that the posterior allows, and says which. Records whose weights are not to be
    relied on are marked; the worst `refits` of them are computed again by refitting. `rows` are positions; all by default.
    """
    targets = (target,) if isinstance(target, str) else tuple(target)
    posterior = require_draws(release)
    _require_targets(release, targets)
    who = intruder or Intruder.worst_case()
    source = generator(rng)
    for_guesses, for_fits, for_refits = source.spawn(3)
    chosen = _rules(who, release, posterior, targets)
    scales = {name: posterior.scale(name) for name in targets}
    every = guessed(release.confidential, chosen, scales, for_guesses)
    picked = _picked(release, rows, every)
    some = every.take(picked)
    count = draws or len(posterior.draws)
    if who.others == "none":
        found, strategy = predicted(release, posterior, some, picked, targets, count, for_fits), "predictive"
    else:
        strategy = _strategy(release, posterior, targets, who, evidence)
        found = _evidence(release, posterior, strategy, some, picked, targets, who, count, for_fits, progress)
    limit = k_limit(len(posterior.draws))
    recomputed = np.zeros(len(picked), bool)
    if strategy in {"reweight", "two_posterior"} and refits and posterior.refittable:
        bad = np.flatnonzero(found.k > limit)
        worst = bad[np.argsort(-found.k[bad], kind="stable")][:refits]
        if len(worst):
            again = evidence_by_refits(
                release,
                some.take(worst),
                picked[worst],
                targets,
                max(count, REFIT_DRAWS),
                for_refits,
                known=_known(who),
            )
            found = _replaced(found, worst, again)
            recomputed[worst] = True
    prior = log_prior(who.prior, some, release.confidential, found.from_fit)
    belief = Belief(prior, found.values, some.truth)
    answer = Answer(belief, some, picked, strategy, found.size, found.k, recomputed, len(posterior.draws))
    return summarized(release, posterior, targets, who, answer, limit)


def k_limit(draws: int) -> float:
    """Pareto k above which an average of weights is not to be relied on: min(1 - 1/log10 H, .7)."""
    return float(min(1.0 - 1.0 / np.log10(max(draws, 11)), 0.7))


def _evidence(
    release: Release,
    posterior: Posterior,
    strategy: str,
    some: Guessed,
    picked: NDArray[np.int64],
    targets: tuple[str, ...],
    who: Intruder,
    draws: int,
    rng: np.random.Generator,
    progress: Progress,
) -> Evidence:
    rows = len(picked)
    if strategy == "exact":
        values = posterior.exact_evidence(release.confidential, release.synthetic, some.values, picked)
        if values is None:
            raise ValueError("asked for before")
        return Evidence(values, None, np.ones(rows), np.zeros(rows))
    if strategy == "refit":
        values = evidence_by_refits(release, some, picked, targets, draws, rng, known=_known(who))
        return Evidence(values, None, np.ones(rows), np.zeros(rows))
    if strategy == "reweight":
        sources, signs = by_reweighting(release, posterior)
    else:
        progress("fit beside the synthetic sets", 0, 1)
        sources, signs = by_two_posteriors(release, posterior, draws, rng)
        progress("fit beside the synthetic sets", 1, 1)

    def report(done: int, total: int) -> None:
        progress("attribute risk", done, total)

    return averaged(release, sources, signs, some, picked, targets, known=_known(who), report=report)


def _strategy(
    release: Release, posterior: Posterior, targets: tuple[str, ...], who: Intruder, asked: str | None
) -> str:
    """The strategy asked for, or the best there is; a refusal says what is possible."""
    direct = getattr(posterior, "depends_on_record", "")
    if direct:
        raise UsageError(
            "E-DIRECT",
            f"each synthetic record depends on its confidential one directly ({direct}); its likelihood is not supplied, and without it the belief would be wrong",
        )
    exact = posterior.has_exact_evidence(targets, known=_known(who))
    possible = [
        name
        for name, open_ in (
            ("exact", exact),
            ("two_posterior", posterior.refittable and release.proper is not False),
            ("reweight", release.proper is not False),
            ("refit", posterior.refittable),
        )
        if open_
    ]
    if asked is None:
        if not possible:
            raise UsageError(
                "E-EVIDENCE",
                "this release was made from one point estimate, and its model cannot be fitted again: no strategy applies",
            )
        return possible[0]
    if asked not in STRATEGIES:
        raise UsageError("E-EVIDENCE", f"evidence: {nearest(asked, STRATEGIES)}")
    if asked not in possible:
        why = (
            "the sets were made from one point estimate, which has no posterior draws"
            if release.proper is False and asked in {"reweight", "two_posterior"}
            else "the model has no closed form for these guesses"
            if asked == "exact"
            else "the model cannot be fitted again"
        )
        raise UsageError(
            "E-EVIDENCE", f"evidence={asked!r}: {why}; possible: {', '.join(possible) or 'none'}"
        )
    return asked


def _known(who: Intruder) -> bool:
    return who.synthesized == "known"


def _require_targets(release: Release, targets: tuple[str, ...]) -> None:
    if not targets:
        raise UsageError("E-COLUMN", "target names at least one column")
    for name in targets:
        _ = release.confidential[name]
        if name not in release.synthesized:
            raise UsageError(
                "E-COLUMN",
                f"{shorten(name)} is not synthesized: it is released as it is, and there is nothing to guess; synthesized: {', '.join(map(shorten, release.synthesized[:12]))}",
            )


def _rules(
    who: Intruder, release: Release, posterior: Posterior, targets: tuple[str, ...]
) -> Mapping[str, Guesses]:
    given = who.guesses
    if isinstance(given, MappingType):
        for name in given:
            if name not in targets:
                raise UsageError(
                    "E-GUESSES",
                    f"guesses for {shorten(str(name))}, which is no target; {nearest(str(name), targets)}",
                )
    rules: dict[str, Guesses] = {}
    for name in targets:
        own = given.get(name) if isinstance(given, MappingType) else given
        rules[name] = own if own is not None else _usual(release, posterior, name)
    return rules


def _usual(release: Release, posterior: Posterior, name: str) -> Guesses:
    column, held = release.confidential.schema[name], release.confidential[name]
    if column.coded:
        return Levels()
    if column.kind == "count":
        return Grid(STEPS, 1)
    present = held.values[held.present].astype(float)
    scale = posterior.scale(name)
    spread = float(scale.forward(present[present > scale.lowest]).std())
    return Grid(STEPS * STEP * spread, STEP * spread)


def _picked(release: Release, rows: Any, every: Guessed) -> NDArray[np.int64]:
    count = release.confidential.rows
    if rows is None:
        picked = np.arange(count)
    else:
        asked = np.asarray(rows)
        picked = np.flatnonzero(asked) if asked.dtype == bool else np.atleast_1d(asked).astype(np.int64)
        if len(picked) and (picked.min() < -count or picked.max() >= count):
            raise UsageError("E-ROWS", f"rows are positions from 0 to {count - 1:,}")
        picked = picked % count
    picked = picked[every.usable[picked]]
    if not len(picked):
        raise UsageError("E-ROWS", "no record has a value of its own in the target to be guessed")
    return np.asarray(picked, np.int64)


def _replaced(found: Evidence, places: NDArray[np.int64], again: Array) -> Evidence:
    values = found.values.copy()
    values[places] = again
    return replace(found, values=values)
