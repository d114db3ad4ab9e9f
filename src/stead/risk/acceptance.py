"""Acceptance: which records leave a region of the (R, RR) plane under some prior, and under which.

A record is safe where *every* prior weight w in (0, 1) of its true value keeps it inside. B is the whole sweep (region.py); with
`split="worst"` it is that of the worst split of the alternatives too, f_truth / min_g f_g, so that nothing is left to the prior.
The region stays with its holder: published together with epsilon it could be tried against guesses until one satisfies it.
McClure & Reiter (2012), Transactions on Data Privacy 5, section 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stead.errors import UsageError, nearest
from stead.language.rules import Comparison
from stead.measurement import Measurement
from stead.risk.region import RELATIVE, Region

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.risk.region import Stretch

    Array = NDArray[np.float64]

CITATION = "McClure & Reiter 2012, section 4"
COLUMNS = {"worst": "worst_factor", "prior": "factor"}
QUANTILES = (0.5, 0.75, 0.95, 0.99)
WEIGHTS = 99
BORDER = 1e-12
"""A float that is this near to a bound of B may have been on either side of it before it was rounded."""


def acceptable(
    measurement: Measurement, region: Region | None = None, *, split: Literal["worst", "prior"] = "worst"
) -> Measurement:
    """The share of records that some prior takes out of `region`; per record, which ones, and the span of these priors."""
    where = region or Region()
    if split not in COLUMNS:
        raise UsageError("E-SPLIT", f"split: {nearest(str(split), COLUMNS)}")
    held = {name: measurement.per_record.get(key) for name, key in COLUMNS.items()}
    if held["worst"] is None or held["prior"] is None:
        raise UsageError(
            "E-FACTOR",
            f"{measurement.name} holds no risks of single records; take one of stead.attribute_risk",
        )
    if measurement.details.get("others") == "none":
        raise UsageError(
            "E-FACTOR",
            f"{measurement.name} is of an intruder who holds the release alone: such a belief is a posterior already, and has no prior to sweep",
        )
    factors = {name: _exact(array, where) for name, array in held.items()}
    each = {name: _failing(array, where) for name, array in factors.items()}
    factor, outside = factors[split], each[split]
    low, high = _spans(factor, where)
    count = int(outside.sum())
    return Measurement(
        name=f"acceptance of {measurement.name}",
        value=float(outside.mean()),
        reference=0.0,
        reference_name="every record inside under every prior",
        direction="lower is safer",
        citation=CITATION,
        per_record={
            "row": measurement.per_record.get("row", np.arange(len(outside))),
            "outside": outside,
            "prior_low": low,
            "prior_high": high,
        },
        details={
            "safe": count == 0,
            "unreliable": int(measurement.details.get("unreliable", 0)),
            "records": len(outside),
            "outside": count,
            "outside_by_split": {name: float(found.mean()) for name, found in each.items()},
            "split": split,
            "region": where.text,
            "safe_factors": [str(one) for one in where.safe_factors],
            "prior_low": float(np.nanmin(low)) if count else None,
            "prior_high": float(np.nanmax(high)) if count else None,
        },
        aggregates={
            "kind": "sweep",
            "columns": ["lines", "shares"],
            "region": where.text,
            "lines": _lines(factor),
            "group_name": "records below",
            "share_by_prior": _shares(factor, where),
        },
    )


def _exact(held: Any, region: Region) -> Array:
    """B as floats; one that lies at a bound but for its rounding is taken to lie there."""
    factor = np.asarray(held, float).copy()
    for stretch in region.stretches:
        bound = float(stretch.factors.low)
        if bound > 0:
            factor[np.abs(factor - bound) <= BORDER * bound] = bound
    return factor


def _failing(factor: Array, region: Region) -> NDArray[np.bool_]:
    """What is not a number was not shown to be safe."""
    safe = np.array([not stretch.outside for stretch in region.stretches])
    return np.asarray(np.isnan(factor) | ~safe[region.places(np.nan_to_num(factor, nan=1.0))])


def _spans(factor: Array, region: Region) -> tuple[Array, Array]:
    """From the least to the largest prior weight that leads out, of every record; not a number where none does."""
    low, high = np.full(len(factor), np.nan), np.full(len(factor), np.nan)
    usable = ~np.isnan(factor)
    low[~usable], high[~usable] = 0.0, 1.0
    places = region.places(np.nan_to_num(factor, nan=1.0))
    for place, stretch in enumerate(region.stretches):
        here = usable & (places == place)
        if stretch.outside and here.any():
            low[here] = _weight(stretch.outside[0][0], factor[here])
            high[here] = _weight(stretch.outside[-1][1], factor[here])
    return low, high


def _weight(cut: Comparison | int, factor: Array) -> Array:
    """The prior weight at which R or RR has the value of a bound."""
    if not isinstance(cut, Comparison):
        return np.full(len(factor), float(cut))
    bound = float(cut.bound)
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = (
            (factor / bound - 1.0) / (factor - 1.0)
            if cut.name == RELATIVE
            else bound / (factor - bound * (factor - 1.0))
        )
    return np.nan_to_num(
        weight, nan=1.0 / bound if cut.name == RELATIVE else 0.0
    )  # the limit for an infinite B


def _lines(factor: Array) -> list[dict[str, Any]]:
    """The lines of some quantiles of B."""
    finite = factor[np.isfinite(factor)]
    if not len(finite):
        return []
    values = [float(f"{value:.4g}") for value in np.quantile(finite, QUANTILES)]
    names = {value: f"{share * 100:g} %" for value, share in zip(values, QUANTILES, strict=True)}
    return [{"factor": value, "group": name} for value, name in names.items()]


def _shares(factor: Array, region: Region) -> list[dict[str, float]]:
    """The share of records outside under each of some prior weights: the union of intervals, stretch by stretch."""
    weights = np.arange(1, WEIGHTS + 1) / (WEIGHTS + 1)
    places = region.places(np.nan_to_num(factor, nan=1.0))
    outside = np.zeros(len(weights))
    outside += int(np.isnan(factor).sum())
    for place, stretch in enumerate(region.stretches):
        here = factor[(places == place) & ~np.isnan(factor)]
        if stretch.outside and len(here):
            outside += _inside_any(stretch, here, weights)
    return [
        {"prior": float(weight), "share": float(count / len(factor))}
        for weight, count in zip(weights, outside, strict=True)
    ]


def _inside_any(stretch: Stretch, factor: Array, weights: Array) -> Array:
    """How many of these records each weight leads out; the intervals of one record do not overlap."""
    total = np.zeros(len(weights))
    for low, high in stretch.outside:
        start, end = np.sort(_weight(low, factor)), np.sort(_weight(high, factor))
        total += np.searchsorted(start, weights, side="left") - np.searchsorted(end, weights, side="left")
    return total
