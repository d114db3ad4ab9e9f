"""Cells of keys and a target, counted in the confidential file and in each synthetic one: what the measures without alignment share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, shorten
from stead.measurement import Measurement, not_available
from stead.risk.keys import listed
from stead.risk.matching import engine_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from stead.engine.base import Engine, Groups
    from stead.risk.keys import Aligned

    Whole = NDArray[np.int64]

ITSELF = "the confidential file itself"


def counted(
    release: Aligned, keys: str | Iterable[str], target: tuple[str, ...], engine: Engine[Any] | None
) -> Groups | str:
    """The cells, or the reason why there are none; names that are not there are refused."""
    engine = engine_for(release, engine)
    names = listed(keys)
    if not names:
        raise UsageError("E-COLUMN", "name at least one key")
    for name in (*names, *target):
        engine.column(release.confidential, name)
    if both := [name for name in target if name in names]:
        raise UsageError(
            "E-COLUMN", f"{shorten(both[0])} is a key and the target; who knows it has nothing to learn"
        )
    if lacking := [name for name in (*names, *target) if name in release.lacking]:
        return f"the synthetic sets lack {', '.join(map(shorten, lacking))}"
    return engine.group_counts([release.confidential, *release.synthetic], names, target)


def of_keys(cells: Groups, counts: Whole) -> Whole:
    """For each cell how many rows have its keys."""
    return np.bincount(cells.group, weights=counts).astype(np.int64)[cells.group]


def measured(
    name: str, per_set: Sequence[float], original: float, citation: str, details: Mapping[str, Any]
) -> Measurement:
    """The mean over the synthetic sets, beside the same measure on the confidential file."""
    return Measurement(
        name=name,
        value=float(np.mean(per_set)),
        reference=original,
        reference_name=ITSELF,
        direction="lower is safer",
        citation=citation,
        per_dataset=tuple(float(one) for one in per_set),
        details=details,
    )


def without(name: str, reason: str, citation: str) -> Measurement:
    """Not available, and why."""
    return not_available(name, reason, citation=citation, direction="lower is safer")


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of those that are there."""
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there else None
