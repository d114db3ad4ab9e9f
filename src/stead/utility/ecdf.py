"""Empirical distribution functions of the confidential and the synthetic values, compared where the data are.

With F_o and F_s evaluated at every row t_i of the two stacked files (N rows, with multiplicity),

    U_m = max_i |F_o(t_i) - F_s(t_i)|,     U_a = (1/N) sum_i (F_o(t_i) - F_s(t_i))^2.

For d columns F(t) is the share of rows that are at most t in every coordinate; the maximum is then over the
merged rows, and it depends on the orientation of the axes. Woo, Reiter, Oganian & Karr (2009), Journal of
Privacy and Confidentiality 1, equations for U_m and U_a.

The reference is what two independent samples of these sizes from one distribution give: for U_m of one
continuous column the mean of Kolmogorov's distribution, sqrt(pi/2) log 2 = .8687, times
sqrt(1/n + 1/n_s); for several columns the mean over relabellings; for U_a the mean of F (1 - F), times
1/n + 1/n_s, with F pooled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, nearest, shorten
from stead.measurement import Measurement, not_available
from stead.utility.grid import evaluate, grid_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.release import Release
    from stead.tables.records import Records

    Array = NDArray[np.float64]

CITATION = "Woo, Reiter, Oganian & Karr (2009)"
KOLMOGOROV_MEAN = float(np.sqrt(np.pi / 2.0) * np.log(2.0))
MOST_ROWS_JOINT = 60_000
RELABELLINGS = 40
TILE = 512


def ecdf(release: Release, columns: str | Sequence[str] | None = None) -> Measurement:
    """U_m (`maximum`, the value) and U_a (`mean_square`) of one column, or jointly of several.

    Without `columns`, of the one numeric column that was synthesized. Rows with a missing cell are left
    out on both sides.
    """
    names = _columns(release, columns)
    name = f"ecdf({', '.join(map(shorten, names))})"
    lacking = [column for column in names if column in release.lacking]
    if lacking:
        return not_available(
            name, f"the synthetic sets lack {', '.join(map(shorten, lacking))}", citation=CITATION
        )
    real = _complete(release.confidential, names)
    sets = [_complete(one, names) for one in release.synthetic]
    if not len(real) or any(not len(one) for one in sets):
        return not_available(name, "every row has a missing cell in these columns", citation=CITATION)
    if len(names) > 1 and len(real) + max(map(len, sets)) > MOST_ROWS_JOINT:
        return not_available(
            name,
            f"a joint distribution function is compared for at most {MOST_ROWS_JOINT:,} merged rows",
            citation=CITATION,
        )
    compared = [
        _compare_one(real[:, 0], one[:, 0]) if len(names) == 1 else _compare_joint(real, one) for one in sets
    ]
    largest, squares, null_largest, null_squares = (
        np.array(values) for values in zip(*compared, strict=True)
    )
    details: dict[str, Any] = {
        "columns": list(names),
        "maximum": float(largest.mean()),
        "mean_square": float(squares.mean()),
        "mean_square_reference": float(null_squares.mean()),
        "per_dataset_mean_square": squares.tolist(),
        "rows_compared": [len(real), *map(len, sets)],
    }
    return Measurement(
        name=name,
        value=float(largest.mean()),
        reference=float(null_largest.mean()),
        reference_name="two samples of this size",
        citation=CITATION,
        per_dataset=tuple(largest.tolist()),
        details=details,
        aggregates=_aggregates(names[0], real[:, 0], [one[:, 0] for one in sets], largest)
        if len(names) == 1
        else {},
    )


def _columns(release: Release, columns: str | Sequence[str] | None) -> tuple[str, ...]:
    schema = release.confidential.schema
    fitting = tuple(name for name in release.synthesized if _has_order(release, name))
    if columns is None:
        if len(fitting) == 1:
            return fitting
        raise UsageError(
            "E-COLUMN",
            f"name the columns to compare; synthesized and with an order are: {', '.join(map(shorten, fitting)) or 'none'}",
        )
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if not names or len(set(names)) < len(names):
        raise UsageError("E-COLUMN", "name at least one column, and each once")
    for name in names:
        _ = release.confidential[name]
        if not _has_order(release, name):
            raise UsageError(
                "E-COLUMN",
                f"{shorten(name)} is {schema[name].kind}, and a distribution function needs an order; stead.margins compares levels; {nearest(name, fitting)}",
            )
    return names


def _has_order(release: Release, name: str) -> bool:
    return release.confidential.schema[name].kind != "categorical"


def _complete(records: Records, names: Sequence[str]) -> Array:
    """The rows that have a value in every column."""  # (n, d)
    held = [records[name] for name in names]
    present = np.logical_and.reduce([one.present for one in held])
    return np.column_stack([one.values[present].astype(float) for one in held])


def _compare_one(real: Array, synthetic: Array) -> tuple[float, float, float, float]:
    """U_m, U_a and their references, for one column: two sorts, exact."""
    merged = np.concatenate([real, synthetic])
    n, n_s = len(real), len(synthetic)
    at_most = np.searchsorted(np.sort(real), merged, side="right")
    at_most_synthetic = np.searchsorted(np.sort(synthetic), merged, side="right")
    difference = np.abs(at_most * n_s - at_most_synthetic * n)  # in whole numbers of 1 / (n n_s): exact
    share = (at_most + at_most_synthetic) / (n + n_s)
    noise = 1.0 / n + 1.0 / n_s
    return (
        float(difference.max() / (n * n_s)),
        float(np.mean((difference / (n * n_s)) ** 2)),
        KOLMOGOROV_MEAN * float(np.sqrt(noise)),
        float(np.mean(share * (1.0 - share))) * noise,
    )


def _compare_joint(real: Array, synthetic: Array) -> tuple[float, float, float, float]:
    """The same for several columns, by comparing every merged row with every other, a tile at a time."""
    merged = np.concatenate([real, synthetic])
    rows, n = len(merged), len(real)
    labels = np.zeros((rows, 1 + RELABELLINGS), np.float32)
    labels[:n, 0] = 1.0
    shuffle = np.random.default_rng(0)  # the reference of a measure is the same whenever it is computed
    for column in range(1, 1 + RELABELLINGS):
        labels[shuffle.permutation(rows)[:n], column] = 1.0
    largest, squares = np.zeros(1 + RELABELLINGS), np.zeros(1 + RELABELLINGS)
    for start in range(0, rows, TILE):
        tile = merged[start : start + TILE]
        below = np.ones((len(tile), rows), bool)  # (tile, N)
        for axis in range(merged.shape[1]):
            below &= merged[:, axis] <= tile[:, axis, None]
        in_real = below.astype(np.float32) @ labels  # whole numbers below 2^24: exact
        both = below.sum(axis=1)[:, None]
        difference = in_real.astype(float) / n - (both - in_real.astype(float)) / (rows - n)
        largest = np.maximum(largest, np.abs(difference).max(axis=0))
        squares += (difference**2).sum(axis=0)
    squares /= rows
    return float(largest[0]), float(squares[0]), float(largest[1:].mean()), float(squares[1:].mean())


def _aggregates(name: str, real: Array, sets: list[Array], largest: Array) -> dict[str, Any]:
    """The curves on a grid of round numbers: nothing of them is a value of a row."""
    grid, scale = grid_for(np.concatenate([real, *sets]), min(len(real), *map(len, sets)))
    curves = [np.round(evaluate(one, grid), 4) for one in sets]
    own = np.round(evaluate(real, grid), 4)
    worst = int(np.argmax(largest))
    at = float(grid[int(np.argmax(np.abs(curves[worst] - own)))])
    return {
        "kind": "ecdf",
        "column": name,
        "scale": scale,
        "grid": grid.tolist(),
        "confidential": own.tolist(),
        "synthetic": [curve.tolist() for curve in curves],
        "at": at,
        "worst_dataset": worst,
    }
