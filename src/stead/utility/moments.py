"""Moments and correlations of numbers, confidential beside synthetic, each difference beside what chance gives.

All are functions of sums over rows, of powers z, z^2, z^3 of a column put on a common scale, or of products z_1 z_2. The
reference is the mean absolute difference when labels are exchanged, within pairs where rows are aligned and columns were
kept: from 40 exchanges on a thinned stack, taken to the size of the files by the root of the numbers of rows. Refused: standard
errors from influence functions, which for the skewness of an amount were a fifth too small at 500 rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.randomness import thin_rows
from stead.utility.relabelling import How, relabelled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stead.release import Release
    from stead.tables.records import Records

    Array = NDArray[np.float64]

MOST_ROWS, TIMES, FEWEST, NO_SPREAD = 10_000, 40, 3, 1e-12


@dataclass(frozen=True, repr=False)
class Exchange:
    """A thinned stack of the confidential and the first synthetic file, and its labels as they might have been."""

    files: tuple[Records, Records]
    labels: Array  # (R, N)
    smaller: float
    """The root of how much less chance there is in the whole files."""

    @classmethod
    def of(cls, release: Release) -> Exchange:
        """The exchange that belongs to these data."""
        whole = release.confidential, release.synthetic[0]
        real, made = (one.take(thin_rows(one.rows, MOST_ROWS)) for one in whole)
        how: How = "swap" if release.aligned and release.kept else "permute"
        rng = np.random.default_rng(0)  # the reference of a measure is the same whenever it is computed
        labels = np.array([relabelled(how, real.rows, made.rows, rng) for _ in range(TIMES)])
        noise, thinned = (1.0 / one.rows + 1.0 / other.rows for one, other in (whole, (real, made)))
        return cls((real, made), labels, float(np.sqrt(noise / thinned)))


def moments(release: Release, name: str, exchange: Exchange) -> dict[str, Any] | None:
    """Mean, standard deviation and skewness of one column; None where a file has no spread."""
    scales = _scales(release, [name])
    if scales is None:
        return None
    centre, spread = scales[0]

    def statistics(sums: Array) -> Array:
        """Of sums of 1, z, z^2, z^3."""  # (..., 4) -> (..., 3)
        first, second, third = (sums[..., place] / sums[..., 0] for place in (1, 2, 3))
        variance = _positive(second - first**2)
        skewness = (third - 3.0 * first * second + 2.0 * first**3) / variance**1.5
        return np.stack([centre + spread * first, spread * np.sqrt(variance), skewness], axis=-1)

    def powers(records: Records) -> Array:
        (z,), present = _standard(records, [name], scales)
        return np.stack([present, present * z, present * z**2, present * z**3], axis=1)

    found = _compared(release, exchange, powers, statistics)
    return dict(zip(("mean", "sd", "skewness"), found, strict=True)) if found else None


def correlation(release: Release, names: Sequence[str], exchange: Exchange) -> dict[str, Any] | None:
    """The correlation of two columns, over rows that have both; None where a file has no spread."""
    scales = _scales(release, names)
    if scales is None:
        return None

    def statistics(sums: Array) -> Array:
        """Of sums of 1, x, y, x^2, y^2, x y."""  # (..., 6) -> (..., 1)
        x, y, xx, yy, xy = (sums[..., place] / sums[..., 0] for place in range(1, 6))
        rho = (xy - x * y) / np.sqrt(_positive(xx - x**2) * _positive(yy - y**2))
        return np.asarray(rho)[..., None]

    def products(records: Records) -> Array:
        (x, y), present = _standard(records, names, scales)
        return np.stack(
            [present, present * x, present * y, x * x * present, y * y * present, x * y * present], axis=1
        )

    found = _compared(release, exchange, products, statistics)
    return {"columns": list(names), **found[0]} if found else None


def _compared(
    release: Release,
    exchange: Exchange,
    terms: Callable[[Records], Array],
    statistics: Callable[[Array], Array],
) -> list[dict[str, float | None]]:
    """Each statistic in both files, its mean absolute difference over the sets, and what exchanged labels give; nothing where a set has no spread to speak of."""
    own = statistics(terms(release.confidential).sum(axis=0))
    made = np.array([statistics(terms(one).sum(axis=0)) for one in release.synthetic])  # (m, k)
    if not np.isfinite(made).all():
        return []
    stacked = np.concatenate([terms(one) for one in exchange.files])
    swapped = statistics(exchange.labels @ stacked) - statistics((1.0 - exchange.labels) @ stacked)
    usable = np.isfinite(swapped).all(axis=1)  # an exchange may leave a file without spread
    half = np.count_nonzero(usable) >= TIMES / 2
    reference = np.abs(swapped[usable]).mean(axis=0) * exchange.smaller if half else [None] * len(own)
    return [
        {
            "confidential": one,
            "synthetic": mean,
            "difference": difference,
            "reference": None if chance is None else float(chance),
        }
        for one, mean, difference, chance in zip(
            own.tolist(),
            made.mean(axis=0).tolist(),
            np.abs(made - own).mean(axis=0).tolist(),
            list(reference),
            strict=True,
        )
    ]


def _positive(variance: Array) -> Array:
    """A variance on the common scale, nan where nothing but rounding is left of it."""
    kept: Array = np.where(variance > NO_SPREAD, variance, np.nan)
    return kept


def _scales(release: Release, names: Sequence[str]) -> list[tuple[float, float]] | None:
    """Centre and scale of each confidential column; None where some file has too few rows or no spread in one."""
    for records in (release.confidential, *release.synthetic):
        present = _present(records, names)
        if any(present.sum() < FEWEST or np.ptp(records[name].values[present]) == 0 for name in names):
            return None
    present = _present(release.confidential, names)
    held = [release.confidential[name].values[present].astype(float) for name in names]
    return [(float(one.mean()), float(one.std())) for one in held]


def _standard(
    records: Records, names: Sequence[str], scales: Sequence[tuple[float, float]]
) -> tuple[list[Array], Array]:
    """The columns on a common scale, and where all of them are present."""
    columns = [
        (records[name].values.astype(float) - centre) / spread
        for name, (centre, spread) in zip(names, scales, strict=True)
    ]
    return columns, _present(records, names).astype(float)


def _present(records: Records, names: Sequence[str]) -> NDArray[np.bool_]:
    present: NDArray[np.bool_] = np.logical_and.reduce([records[name].present for name in names])
    return present
