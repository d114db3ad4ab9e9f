"""Posterior predictive checks: would data drawn from the fitted model look like the confidential data?

For D posterior draws a whole data set is drawn from each, y_rep ~ p(y | theta_h), as a release is: kept columns are given,
later columns follow the drawn earlier ones. Each share of a column, and each statistic T, is then compared with its
D predictive ones: with k = max(1, floor(.05 (D + 1))) the range is that of the k-th lowest to the k-th highest, and

    tail = min(1, 2 min(#{T_rep <= T} + 1, #{T_rep >= T} + 1) / (D + 1)).

Were y itself one more draw, a share of 2k / (D + 1) would fall outside the range, and a tail of at most t would come with
probability t. The model has seen y, so that what its parameters are fitted to falls outside less often. Gelman, Meng &
Stern (1996), Statistica Sinica 6; Meng (1994), Annals of Statistics 22. The check is of the fit, not of the release: it
uses draws of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import DiagnosticsFailed, UsageError, nearest, shorten
from stead.measurement import Measurement, not_available
from stead.models.base import silent
from stead.models.external_posterior import ExternalPosterior
from stead.models.private import PrivatePosterior
from stead.randomness import generator
from stead.tables.records import Records
from stead.utility.shown_cells import Cells, cells_of
from stead.utility.shown_statistics import Statistic, statistics_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.models.base import Posterior, Progress
    from stead.randomness import Rng
    from stead.release import Release
    from stead.tables.records import Values

    Array = NDArray[np.float64]

CITATION = "Gelman, Meng & Stern (1996)"
DRAWS = 59
"""With 59 data sets the third lowest and the third highest leave out exactly one in ten."""
MOST_ROWS, MOST_CELLS = 20_000, 20
BEYOND = 0.05


@dataclass(frozen=True)
class Against:
    """Numbers of the confidential file against those of D predictive data sets."""

    low: Array
    middle: Array
    high: Array
    tail: Array

    @classmethod
    def of(cls, own: Array, drawn: Array) -> Against:
        """Compare; shapes are (...) and (D, ...)."""
        ordered, count = np.sort(drawn, axis=0), len(drawn)
        k = beyond(count)
        below, above = (drawn <= own).sum(axis=0) + 1, (drawn >= own).sum(axis=0) + 1
        return cls(
            ordered[k - 1],
            np.median(drawn, axis=0),
            ordered[count - k],
            np.minimum(1.0, 2 * np.minimum(below, above) / (count + 1)),
        )


def beyond(count: int) -> int:
    """How many of `count` predictive data sets lie at or beyond each end of the range."""
    return max(1, int(BEYOND * (count + 1) + 1e-9))


def predictive_check(
    release: Release,
    columns: str | Sequence[str] | None = None,
    *,
    draws: int = DRAWS,
    rng: Rng = 0,
    progress: Progress = silent,
) -> Measurement:
    """The share of cells whose confidential share lies outside its predictive range, over `columns` or all synthesized ones.

    At most 20,000 rows are used, chosen at random where there are more. The default `rng` makes the check the same
    whenever it is computed; nothing that is drawn here is released.
    """
    posterior = release.posterior
    if posterior is None:
        return _none("the release has no posterior: its synthetic sets came from outside")
    names = _columns(release, posterior, columns)
    parts = getattr(posterior, "parts_in_order", (posterior,))
    if any(isinstance(part, PrivatePosterior) for part in parts):
        return _none(
            "each data set of a differentially private model costs epsilon: none is drawn for a check"
        )
    choosing, drawing = generator(rng).spawn(2)
    real, most = release.confidential, MOST_ROWS
    if any(isinstance(part, ExternalPosterior) for part in parts):
        most = real.rows  # its data sets are of all rows
    if real.rows > most:
        real = real.take(np.sort(choosing.choice(real.rows, most, replace=False)))
    try:
        drawn = _draw(posterior, real, names, draws, drawing, progress)
    except DiagnosticsFailed as error:
        return _none(f"a data set could not be drawn: {error.message}")
    checked = {name: _check(real, name, drawn[name]) for name in names}
    compared = {name: one for name, one in checked.items() if one["cells"]}
    if not compared:
        return _none("no column has two cells of ten records: there is nothing to compare")
    count = len(drawn[names[0]])
    outside = {name: float(np.mean(one["outside"])) for name, one in compared.items()}
    worst_first = sorted(compared, key=lambda name: -outside[name])
    return Measurement(
        name="predictive check",
        value=float(np.mean(list(outside.values()))),
        reference=round(2 * beyond(count) / (count + 1), 4),
        reference_name="of the cells by chance",
        citation=CITATION,
        details={
            "draws": count,
            "rows": real.rows,
            "of_rows": release.confidential.rows,
            "worst_column": worst_first[0],
            "columns": {name: {"outside": round(outside[name], 4)} for name in worst_first},
            "not_compared": [name for name in names if name not in compared],
        },
        aggregates={"kind": "predictive", "columns": [compared[name] for name in worst_first]},
    )


def _none(reason: str) -> Measurement:
    return not_available("predictive check", reason, citation=CITATION)


def _columns(release: Release, posterior: Posterior, columns: str | Sequence[str] | None) -> tuple[str, ...]:
    if columns is None:
        return posterior.responses
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    for name in names:
        _ = release.confidential[name]
        if name not in posterior.responses:
            raise UsageError(
                "E-COLUMN",
                f"{shorten(name)} is not synthesized, so that no model predicts it; {nearest(name, posterior.responses)}",
            )
    if not names or len(set(names)) < len(names):
        raise UsageError("E-COLUMN", "name at least one column, and each once")
    return names


def _draw(
    posterior: Posterior,
    real: Records,
    names: Sequence[str],
    draws: int,
    rng: np.random.Generator,
    progress: Progress,
) -> dict[str, list[Values]]:
    """Each column of D predictive data sets."""
    held = len(posterior.draws)
    count = min(draws, held)
    if count < 1:
        raise UsageError("E-DRAWS", "draws is a whole number from 1")
    kept = real.without(posterior.responses)
    given = kept if kept.names else Records.empty(real.rows)
    drawn: dict[str, list[Values]] = {name: [] for name in names}
    chosen = ((np.arange(count) + 0.5) * held / count).astype(int)  # spread over the chains
    for place, (h, stream) in enumerate(zip(chosen, rng.spawn(count), strict=True)):
        progress("check predictions", place, count)
        made = posterior.sample(int(h), given, stream)
        for name in names:
            drawn[name].append(made[name])
    progress("check predictions", count, count)
    return drawn


def _check(real: Records, name: str, drawn: list[Values]) -> dict[str, Any]:
    """The cells and the statistics of one column: aggregates alone."""
    column, held = real.schema[name], real[name]
    cells = cells_of(column, held, MOST_CELLS, drawn)
    shares, predicted = _shares(cells, held), np.array([_shares(cells, one) for one in drawn])
    against = Against.of(shares, predicted)
    outside = (shares < against.low) | (shares > against.high)
    return {
        "column": name,
        "kind": column.kind,
        "unit": column.unit if column.kind == "date" else "",
        "draws": len(drawn),
        "rows": len(held),
        "cells": list(cells.labels) if len(cells.labels) > 1 else [],
        "bounds": list(cells.bounds),
        "confidential": np.round(shares, 5).tolist(),
        "low": np.round(against.low, 5).tolist(),
        "middle": np.round(against.middle, 5).tolist(),
        "high": np.round(against.high, 5).tolist(),
        "outside": outside.tolist(),
        "statistics": [_compared(one) for one in statistics_of(column, held, drawn)],
    }


def _compared(statistic: Statistic) -> dict[str, Any]:
    """A statistic beside its predictive range; withheld, it has a reason instead of numbers."""
    reason = statistic.reason
    if not np.isfinite([statistic.value, *statistic.drawn]).all():
        reason = "the values of a drawn set are too large for it"
    shown: dict[str, Any] = {"name": statistic.name, "form": statistic.form, "reason": reason}
    if reason:
        return shown | dict.fromkeys(("value", "low", "middle", "high", "tail", "outside"))
    against = Against.of(np.array(statistic.value), statistic.drawn)
    numbers = {
        "value": statistic.value,
        "low": float(against.low),
        "middle": float(against.middle),
        "high": float(against.high),
    }
    return (
        shown
        | {key: _rounded(number, statistic.step) for key, number in numbers.items()}
        | {
            "tail": round(float(against.tail), 4),
            "outside": bool(statistic.value < against.low or statistic.value > against.high),
        }
    )


def _rounded(number: float, step: float) -> float:
    """A number to a multiple of a power of ten."""
    return round(round(number / step) * step, max(0, 1 - int(np.floor(np.log10(step)))))


def _shares(cells: Cells, held: Values) -> Array:
    counts = cells.counts(held)
    shares: Array = counts / max(int(counts.sum()), 1)
    return shares
