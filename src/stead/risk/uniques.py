"""Who stands alone: keys that nobody shares, and values of one person that come back.

For a combination q of key values let d_q and s_q be the numbers of confidential and of synthetic records, N_d the confidential rows:

    replicated uniques  repU = #{q: d_q = 1, s_q = 1} / N_d    on the confidential file itself  UiO = #{q: d_q = 1} / N_d

Raab, Nowok & Dibben (2024), Practical privacy metrics for synthetic data, section 3.2. Rows need not be aligned. Numbers are compared
as they are; missing is a value like another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, shorten
from stead.risk.cells import counted, mean, measured, without
from stead.risk.keys import listed
from stead.risk.matching import engine_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stead.engine.base import Engine, Groups
    from stead.measurement import Measurement
    from stead.risk.keys import Aligned

CITATION = "Raab, Nowok & Dibben (2024)"
NUMBERS = ("continuous", "date", "count")


def uniques(release: Aligned, keys: str | Iterable[str], *, engine: Engine[Any] | None = None) -> Measurement:
    """Replicated uniques: the share of confidential records whose keys are unique in their file and in the synthetic one."""
    names = listed(keys)
    cells = counted(release, names, (), engine)
    if isinstance(cells, str):
        return without("uniques", cells, CITATION)
    real, sets = cells.counts[0], cells.counts[1:]
    n, alone = int(real.sum()), real == 1
    replicated = [float((alone & (one == 1)).sum()) / n for one in sets]
    original = float(alone.sum()) / n
    details = {
        "replicated_uniques": mean(replicated),
        "unique_in_original": original,
        "unique_in_synthetic": mean(float((one == 1).sum() / one.sum()) for one in sets),
        "unique_found_in_synthetic": mean(float((alone & (one > 0)).sum()) / n for one in sets),
        "replicated_of_uniques": float(np.mean(replicated)) / original if original else None,
        "keys": list(names),
        "rows": n,
    }
    return measured("uniques", replicated, original, CITATION, details)


def replicated_values(
    release: Aligned, columns: str | Iterable[str] | None = None, *, engine: Engine[Any] | None = None
) -> Measurement:
    """Values of one person that come back: the share of confidential records whose value nobody else has, and a synthetic row does.

    It is found for each synthesized continuous column, or each of `columns`; the value is the largest share.
    `synthetic_values_of_a_record` is the share of synthetic values that are some record's value. Missing cells are left out.
    """
    engine = engine_for(release, engine)
    asked = release.synthesized if columns is None else listed(columns)
    kinds = {name: engine.column(release.confidential, name).kind for name in asked}
    for name in asked if columns is not None else ():
        if kinds[name] not in NUMBERS:
            raise UsageError(
                "E-COLUMN",
                f"{shorten(name)} is {kinds[name]}: its levels are meant to come back; stead.uniques looks at combinations of them",
            )
    names = [name for name in asked if columns is not None or kinds[name] in {"continuous", "date"}]
    if not names:
        return without("replicated_values", "no continuous column was synthesized", CITATION)
    found = {}
    for name in names:
        cells = counted(release, name, (), engine)
        if isinstance(cells, str):
            return without("replicated_values", cells, CITATION)
        found[name] = _returning(cells)
    worst = max(names, key=lambda name: float(np.mean(found[name]["replicated"])))
    details = {
        "worst_column": worst,
        "columns": {
            name: {
                "replicated_unique_values": mean(one["replicated"]),
                "unique_values": one["unique"][0],
                "synthetic_values_of_a_record": mean(one["synthetic"]),
            }
            for name, one in found.items()
        },
    }
    return measured(
        "replicated_values", found[worst]["replicated"], found[worst]["unique"][0], CITATION, details
    )


def _returning(cells: Groups) -> dict[str, list[float]]:
    """Of one column: unique values that come back, in each set; unique values; synthetic values that are some record's."""
    real, *sets = cells.counts[:, cells.present]
    n = max(int(real.sum()), 1)
    alone = real == 1
    return {
        "replicated": [float((alone & (one > 0)).sum()) / n for one in sets],
        "unique": [float(alone.sum()) / n],
        "synthetic": [float(one[real > 0].sum() / max(int(one.sum()), 1)) for one in sets],
    }
