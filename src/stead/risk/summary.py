"""The measurement of attribute risk: per record inside, distributions outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError
from stead.measurement import Measurement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.models.base import Posterior
    from stead.release import Release
    from stead.risk.attribute import Answer
    from stead.risk.intruder import Intruder

    Array = NDArray[np.float64]

BINS = 20
CITATION = "Reiter & Mitra 2009; McClure & Reiter 2012"
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SMALLEST_CELL = 10


def summarized(
    release: Release,
    posterior: Posterior,
    targets: tuple[str, ...],
    who: Intruder,
    answer: Answer,
    limit: float,
) -> Measurement:
    """Value: the mean probability of the truth; reference: what no information gives, 1/G or the mean prior of the truth."""
    belief = answer.belief
    probability = belief.probability
    reliable = (answer.k <= limit) | answer.recomputed
    distances = {} if len(targets) > 1 else _distances(release, targets[0], answer)
    marginal = {} if len(targets) == 1 else _marginals(targets, answer)
    uniform = isinstance(who.prior, str) and who.prior == "uniform" and who.others == "all"
    error = float(probability.std(ddof=1) / np.sqrt(len(probability))) if len(probability) > 1 else 0.0
    mean, guesses = float(probability.mean()), answer.guessed.count
    factor, worst = _factors(answer)
    return Measurement(
        name=f"attribute_risk({', '.join(targets)})",
        value=mean,
        reference=1.0 / guesses if uniform else float(belief.prior.mean()),
        reference_name=f"no information, one of {guesses} guesses" if uniform else "the prior alone",
        interval=(max(0.0, mean - 1.96 * error), min(1.0, mean + 1.96 * error)),
        direction="lower is safer",
        citation=CITATION,
        per_record={
            "row": answer.rows,
            "probability": probability,
            "rank": belief.rank,
            "prior": belief.prior,
            "posterior": np.exp(belief.log_posterior),
            "relative": belief.relative,
            "factor": factor,
            "worst_factor": worst,
            "ess": answer.size,
            "k": answer.k,
            "reliable": reliable,
            "recomputed": answer.recomputed,
            **{f"distance_{name}": values for name, values in distances.items()},
            **{f"probability({name})": values for name, values in marginal.items()},
        },
        details={
            "target": list(targets),
            **_asked(who, answer),
            "records": len(probability),
            "left_out": release.confidential.rows - len(probability),
            "most_probable": float((belief.rank == 1).mean()),
            "relative_mean": float(belief.relative.mean()),
            "k_limit": limit,
            "unreliable": int((~reliable).sum()),
            "recomputed": int(answer.recomputed.sum()),
            "distance": {name: float(np.median(values)) for name, values in distances.items()},
            "marginal": {name: float(values.mean()) for name, values in marginal.items()},
        },
        aggregates=_aggregates(release, posterior, answer, factor),
    )


def _asked(who: Intruder, answer: Answer) -> dict[str, Any]:
    """What was declared of the intruder, and how the evidence was come by."""
    return {
        "evidence": answer.strategy,
        "others": who.others,
        "synthesized": who.synthesized,
        "prior": who.prior if isinstance(who.prior, str) else "declared",
        "guesses": answer.guessed.count,
        "draws": answer.draws,
    }


def _aggregates(release: Release, posterior: Posterior, answer: Answer, factor: Array) -> dict[str, Any]:
    """What the charts draw: counts and quantiles."""
    belief, guesses = answer.belief, answer.guessed.count
    return {
        "kind": "attribute",
        "columns": ["probability", "rank", "outlying"],
        "probability": _histogram(belief.probability),
        "rank": _counts(belief.rank, guesses),
        "quantiles": _quantiles(belief.probability),
        "relative_quantiles": _quantiles(belief.relative),
        "factor_quantiles": _quantiles(factor),
        "outlying": _by_outlyingness(release, posterior, answer),
        "no_information": 1.0 / guesses,
    }


def _quantiles(values: Array) -> dict[str, float]:
    found = np.quantile(np.nan_to_num(values, posinf=1e300), QUANTILES)
    return {str(share): float(f"{value:.4g}") for share, value in zip(QUANTILES, found, strict=True)}


def _factors(answer: Answer) -> tuple[Array, Array]:
    """B with the alternatives as the prior splits them, and with the worst of them."""
    belief = answer.belief
    rows = np.arange(len(answer.rows))
    evidence = belief.evidence.copy()
    truth = evidence[rows, answer.guessed.truth]
    split = belief.log_prior.copy()
    split[rows, answer.guessed.truth] = -np.inf
    evidence[rows, answer.guessed.truth] = np.inf
    total = np.logaddexp.reduce(split, axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        others = (
            np.logaddexp.reduce(split + np.where(np.isfinite(evidence), evidence, -np.inf), axis=1) - total
        )
        possible = np.where(
            np.isfinite(evidence), evidence, np.inf
        )  # a value that cannot be is no alternative
        return np.exp(truth - others), np.exp(truth - possible.min(axis=1))


def _distances(release: Release, name: str, answer: Answer) -> dict[str, Array]:
    """Of the posterior mean and mode from the truth, and of the prior mean, for a number."""
    if release.confidential.schema[name].coded:
        return {}
    values = answer.guessed.values[name].astype(float).T  # (n, G)
    truth = values[np.arange(len(values)), answer.guessed.truth]
    posterior, prior = np.exp(answer.belief.log_posterior), np.exp(answer.belief.log_prior)
    mode = values[np.arange(len(values)), posterior.argmax(axis=1)]
    return {
        "mean": np.abs((posterior * values).sum(axis=1) - truth),
        "mode": np.abs(mode - truth),
        "prior_mean": np.abs((prior * values).sum(axis=1) - truth),
    }


def _marginals(targets: tuple[str, ...], answer: Answer) -> dict[str, Array]:
    """The probability of the true value of each column, whatever the others are."""
    posterior = np.exp(answer.belief.log_posterior)
    found = {}
    for name in targets:
        values = answer.guessed.values[name].T
        truth = values[np.arange(len(values)), answer.guessed.truth]
        found[name] = np.where(values == truth[:, None], posterior, 0.0).sum(axis=1)
    return found


def _histogram(values: Array) -> dict[str, Any]:
    """Bins with round edges over the middle 99 %; the first and the last hold all that lies beyond."""
    low, high = np.quantile(values, [0.005, 0.995])
    step = max((high - low) / BINS, 1e-4)
    power = 10.0 ** np.floor(np.log10(step))
    step = power * min(
        (factor for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= step * (1 - 1e-9)), default=10.0
    )
    edges = np.arange(np.floor(low / step), np.ceil(high / step + 1e-9) + 1) * step
    if len(edges) < 2:
        edges = np.array([edges[0], edges[0] + step])
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    return {"counts": counts.tolist(), "edges": edges.round(6).tolist()}


def _counts(rank: NDArray[np.int64], guesses: int) -> list[int]:
    return [int(count) for count in np.bincount(rank, minlength=guesses + 1)[1 : guesses + 1][:200]]


def _by_outlyingness(release: Release, posterior: Posterior, answer: Answer) -> list[dict[str, float]]:
    """Probability of the truth by how improbable the record is under the model: tenths of the records, quantiles within each."""
    records = release.confidential.take(answer.rows)
    few = slice(0, len(posterior.draws), max(1, len(posterior.draws) // 16))
    try:
        density = posterior.log_likelihood(records, few).mean(axis=0)
    except (UsageError, ValueError):
        return []
    order = np.argsort(-density, kind="stable")
    groups = [group for group in np.array_split(order, 10) if len(group) >= SMALLEST_CELL]
    probability = answer.belief.probability
    return [
        {
            "group": float(place + 1),
            "low": round(float(np.quantile(probability[group], 0.1)), 4),
            "median": round(float(np.median(probability[group])), 4),
            "high": round(float(np.quantile(probability[group], 0.9)), 4),
        }
        for place, group in enumerate(groups)
    ]
