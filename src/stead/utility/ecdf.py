"""Empirical distribution functions of the confidential and the synthetic values, compared where the data are.

With F_o and F_s evaluated at every row t_i of the two stacked files (N rows, with multiplicity),

    U_m = max_i |F_o(t_i) - F_s(t_i)|,     U_a = (1/N) sum_i (F_o(t_i) - F_s(t_i))^2.

For several columns see joint.py. Woo, Reiter, Oganian & Karr (2009), Journal of Privacy and Confidentiality 1,
equations for U_m and U_a.

The reference is what two independent samples of these sizes from one distribution give: for U_m of one
continuous column the mean of Kolmogorov's distribution, sqrt(pi/2) log 2 = .8687, times
sqrt(1/n + 1/n_s); for U_a the mean of F (1 - F), times 1/n + 1/n_s, with F pooled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, nearest, shorten
from stead.measurement import Measurement, not_available
from stead.utility.grid import evaluate, grid_for
from stead.utility.joint import (
    MOST_COORDINATES,
    MOST_ROWS,
    countable,
    joint_distance,
    joint_reference,
    orientations,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.release import Release
    from stead.tables.records import Records

    Array = NDArray[np.float64]

CITATION = "Woo, Reiter, Oganian & Karr (2009)"
KOLMOGOROV_MEAN = float(np.sqrt(np.pi / 2.0) * np.log(2.0))
TWO_SAMPLES = "two samples of this size"


def ecdf(
    release: Release, columns: str | Sequence[str] | None = None, *, every_orientation: bool = False
) -> Measurement:
    """U_m (`maximum`, the value) and U_a (`mean_square`) of one column, or jointly of several.

    Without `columns`, of the one numeric column that was synthesized. Rows with a missing cell are left
    out on both sides. `every_orientation` takes the maximum over the 2^(d-1) ways to turn the axes of 2 to 4 columns.
    """
    names = _columns(release, columns)
    name = f"ecdf({', '.join(map(shorten, names))})"
    if every_orientation and not 2 <= len(names) <= MOST_COORDINATES:
        raise UsageError(
            "E-ORIENTATION", f"axes are turned for 2 to {MOST_COORDINATES} columns, not for {len(names)}"
        )
    lacking = [column for column in names if column in release.lacking]
    if lacking:
        return not_available(
            name, f"the synthetic sets lack {', '.join(map(shorten, lacking))}", citation=CITATION
        )
    real = _complete(release.confidential, names)
    sets = [_complete(one, names) for one in release.synthetic]
    if not len(real) or any(not len(one) for one in sets):
        return not_available(name, "every row has a missing cell in these columns", citation=CITATION)
    if len(names) > 1:
        return _joint(release, names, name, real, sets, every=every_orientation)
    compared = [_compare_one(real[:, 0], one[:, 0]) for one in sets]
    largest, squares, null_largest, null_squares = (
        np.array(values) for values in zip(*compared, strict=True)
    )
    return Measurement(
        name=name,
        value=float(largest.mean()),
        reference=float(null_largest.mean()),
        reference_name=TWO_SAMPLES,
        citation=CITATION,
        per_dataset=tuple(largest.tolist()),
        details=_details(names, largest, squares, float(null_squares.mean()), real, sets),
        aggregates=_aggregates(names[0], real[:, 0], [one[:, 0] for one in sets], largest),
    )


def _joint(
    release: Release, names: tuple[str, ...], name: str, real: Array, sets: list[Array], *, every: bool
) -> Measurement:
    """The measurement of several columns."""
    if not countable(len(real) + max(map(len, sets)), len(names)):
        return not_available(
            name,
            f"a joint distribution function of more than {MOST_COORDINATES} columns is compared for at most {MOST_ROWS:,} merged rows",
            citation=CITATION,
        )
    axes = orientations(len(names), every=every)
    found = [joint_distance(real, one, axes) for one in sets]
    largest = np.array([one.maximum for one in found])
    squares = np.array([one.mean_square for one in found])
    pairs = _pairs(release, names)
    paired = release.aligned and any(column in release.kept for column in names) and len(pairs[0]) > 1
    one, other = pairs if paired else (real, sets[0])
    reference, square_reference = joint_reference(one, other, axes, "swap" if paired else "permute")
    worst = found[int(np.argmax(largest))]
    details = _details(names, largest, squares, square_reference, real, sets)
    return Measurement(
        name=name,
        value=float(largest.mean()),
        reference=reference,
        reference_name="labels swapped within pairs" if paired else TWO_SAMPLES,
        citation=CITATION,
        per_dataset=tuple(largest.tolist()),
        details={
            **details,
            "orientations": len(axes),
            "largest_at": ["up" if sign > 0 else "down" for sign in worst.orientation],
        },
    )


def _details(
    names: Sequence[str],
    largest: Array,
    squares: Array,
    square_reference: float,
    real: Array,
    sets: list[Array],
) -> dict[str, Any]:
    """The keys that belong to this measure alone."""
    return {
        "columns": list(names),
        "maximum": float(largest.mean()),
        "mean_square": float(squares.mean()),
        "mean_square_reference": square_reference,
        "per_dataset_mean_square": squares.tolist(),
        "rows_compared": [len(real), *map(len, sets)],
    }


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
    return _matrix(records, names)[_present(records, names)]


def _pairs(release: Release, names: Sequence[str]) -> tuple[Array, Array]:
    """The pairs of the first set of which both rows are complete; none where rows are not aligned."""
    real, made = release.confidential, release.synthetic[0]
    if not release.aligned:
        return np.zeros((0, len(names))), np.zeros((0, len(names)))
    both = _present(real, names) & _present(made, names)
    return _matrix(real, names)[both], _matrix(made, names)[both]


def _matrix(records: Records, names: Sequence[str]) -> Array:
    return np.column_stack([records[name].values.astype(float) for name in names])


def _present(records: Records, names: Sequence[str]) -> NDArray[np.bool_]:
    present: NDArray[np.bool_] = np.logical_and.reduce([records[name].present for name in names])
    return present


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
