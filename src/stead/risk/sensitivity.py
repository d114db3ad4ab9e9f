"""How the identification risk depends on what the intruder is supposed to know, and on how near is near.

Nobody knows what an intruder knows. One call therefore measures every subset of the known columns and every multiple of the radii,
each beside the confidential file and beside chance; a release is judged by the worst of what is plausible, not by one choice.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.engine.regions import Ball, Keys
from stead.errors import UsageError, shorten
from stead.measurement import Measurement, not_available
from stead.models.base import silent
from stead.risk.chance import Figures
from stead.risk.keys import keys_of
from stead.risk.matching import CITATION, beside, engine_for, lacking, written, zero_leak
from stead.tables.records import Records, Values
from stead.tables.schema import Column, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from stead.engine.base import Convention, Engine, Matches
    from stead.engine.regions import Radii
    from stead.models.base import Progress
    from stead.risk.keys import Aligned

NAME = "match_sensitivity"
SCALES = (0.25, 0.5, 1.0, 2.0, 4.0)


def match_sensitivity(
    release: Aligned,
    known: str | Iterable[str],
    *,
    radius: Radii | None = None,
    scales: Sequence[float] = SCALES,
    synthesized: str | Iterable[str] | None = None,
    closed: bool = True,
    convention: Convention = "summaries",
    holdout: Any = None,
    most: int = 256,
    engine: Engine[Any] | None = None,
    progress: Progress = silent,
) -> Measurement:
    """The expected match risk for every subset of the known columns and every multiple of the radii; the value is the highest.

    `scales` are factors of every radius; without a radius there is one. `settings` of the result is the table. More than `most`
    settings are refused: know fewer columns, or give fewer scales.
    """
    engine = engine_for(release, engine)
    whole = keys_of(release, engine, known, synthesized, radius, closed=closed)
    if reason := lacking(release, whole):
        return not_available(NAME, reason, citation=CITATION, direction="lower is safer")
    factors = _scales(scales) if whole.near(whole.kept + whole.made) else (1.0,)
    plan = [
        (_narrowed(whole, subset, factor), factor)
        for size in range(len(whole.kept) + 1)
        for subset in combinations(whole.kept, size)
        for factor in factors
    ]
    if len(plan) > most:
        raise UsageError(
            "E-SETTINGS",
            f"{len(whole.kept)} known columns and {len(factors)} scales are {len(plan):,} settings, at most {most:,}; name fewer of them, or raise most=",
        )
    other = None if holdout is None else beside(release, holdout)
    settings, likely = [], _Highest()
    for place, (keys, factor) in enumerate(plan):
        matches = engine.match_counts(release.confidential, release.synthetic, keys, convention)
        likely.take(matches, place)
        against = _references(release, keys, convention, other, engine)
        settings.append(
            {"known": list(keys.kept), "scale": factor, **Figures.of(matches).to_dict(), **against}
        )
        progress("settings", place + 1, len(plan))
    worst = max(range(len(settings)), key=lambda place: settings[place]["expected_match_risk"])
    return Measurement(
        name=NAME,
        value=settings[worst]["expected_match_risk"],
        reference=settings[worst]["confidential"],
        reference_name="the confidential file in the same setting",
        direction="lower is safer",
        citation=CITATION,
        per_record=likely.records,
        details={
            "worst": worst,
            "settings": settings,
            "rows": release.confidential.rows,
            "sets": len(release.synthetic),
            "convention": convention,
            "closed": closed,
            "known": list(whole.kept),
            "synthesized": list(whole.made),
            "radius": written(whole),
        },
        aggregates={"kind": NAME},
    )


def _references(
    release: Aligned, keys: Keys, convention: Convention, holdout: Any, engine: Engine[Any]
) -> dict[str, float | None]:
    """The expected match risk of the confidential file itself, and of a release that leaks nothing."""
    real = engine.match_counts(release.confidential, [release.confidential], keys, "summaries")
    chance, _ = zero_leak(release, keys, convention, holdout, engine)
    return {
        "confidential": Figures.of(real).expected_match_risk,
        "zero_leak": chance.expected_match_risk if chance else None,
    }


class _Highest:
    """The highest probability of each record over the settings seen, and the setting that has it."""

    def __init__(self) -> None:
        self.records: dict[str, NDArray[Any]] = {}
        self.whole = True

    def take(self, matches: Matches, place: int) -> None:
        """One more setting; where one of them has no records, there is no highest."""
        self.whole = self.whole and bool(matches.records)
        if not self.whole:
            self.records = {}
            return
        risk = probability(matches.records["c"], matches.records["T"])
        if not self.records:
            self.records = {"risk": risk, "setting": np.zeros(len(risk), np.int32)}
        higher = risk > self.records["risk"]
        self.records["risk"][higher] = risk[higher]
        self.records["setting"][higher] = place


def probability(counts: NDArray[Any], own: NDArray[Any]) -> NDArray[np.float64]:
    """T / c of each record, the mean over the sets."""
    likely = own / np.maximum(counts, 1)
    return np.asarray(likely if likely.ndim == 1 else likely.mean(axis=1), float)


def worst_records(measured: Measurement, release: Any = None, most: int = 20) -> Records:
    """The records that are likeliest to be found, as a table for the internal folder.

    It has their row number, their probability and, where a release in memory is given, the values of the keys. It is made of
    per-record results, which no report and no JSON holds: who writes it out has a list of people at risk.
    """
    held = measured.per_record
    if "risk" not in held and "T" not in held:
        raise UsageError(
            "E-PER-RECORD",
            f"{shorten(measured.name)} has no per-record results; match_risk and match_sensitivity have, for a release in memory",
        )
    risk = np.asarray(held["risk"] if "risk" in held else probability(held["c"], held["T"]), float)
    order = np.argsort(-risk, kind="stable")[:most]
    order = order[risk[order] > 0]
    columns: dict[str, NDArray[Any]] = {"record": order + 1, "risk": risk[order]}
    schema = Schema([Column("record", "count"), Column("risk", "continuous")])
    if "setting" in held:
        columns["setting"] = held["setting"][order].astype(np.int64)
        schema = schema.with_columns(Column("setting", "count"))
    table = Records(schema, {name: Values.complete(array) for name, array in columns.items()}, len(order))
    keys = (*measured.details["known"], *measured.details["synthesized"])
    for name in keys if release is not None else ():
        if name not in table:
            table = table.with_column(
                release.confidential.schema[name], release.confidential[name].take(order)
            )
    return table


def _scales(scales: Sequence[float]) -> tuple[float, ...]:
    factors = tuple(dict.fromkeys(float(one) for one in scales))
    if not factors or not all(0 < one < float("inf") for one in factors):
        raise UsageError(
            "E-RADIUS", "scales are positive numbers, as 0.5, 1 and 2; each radius is multiplied by them"
        )
    return factors


def _narrowed(whole: Keys, kept: tuple[str, ...], scale: float) -> Keys:
    """The keys of an intruder who knows some of the columns, with every radius so many times as large."""
    names = kept + whole.made
    radius = {name: one.times(scale) for name, one in whole.radius.items() if name in names}
    units = {name: unit for name, unit in whole.ball.units.items() if name in names} if whole.ball else {}
    ball = Ball(units, whole.ball.radius * scale) if whole.ball and units else None
    return Keys(kept, whole.made, radius, ball, closed=whole.closed)
