"""Survey weights in a fit: a choice that is made openly.

    pseudo-likelihood   sum_i w_i log p(y_i | x_i, theta),   w scaled to add up to the rows

Draws from a pseudo-posterior are centred where the weighted estimate is; that they are as wide as those of the design is not
promised. Savitsky & Toth (2016), Electronic Journal of Statistics 10.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused, Notice, UsageError, shorten

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.language.design import Design
    from stead.tables.records import Records

    Array = NDArray[np.float64]


def weights_of(records: Records, design: Design, choice: str) -> Array | None:
    """The weight of each row, or None; a weight that is neither used nor declared to be ignored gets a notice."""
    names = [column.name for column in records.schema if column.role == "weight"]
    if choice != "pseudo":
        if names and not choice and names[0] not in design.formula.predictors:
            warnings.warn(
                Notice(
                    "E-WEIGHT",
                    f"{shorten(names[0])} is a survey weight, and {shorten(str(design.formula.response))} is modelled without it; "
                    'weights="pseudo" weighs the fit, weights="ignore" says that this is meant',
                ),
                stacklevel=3,
            )
        return None
    if not names:
        raise UsageError(
            "E-WEIGHT", 'weights="pseudo" needs a column with the role weight, and there is none'
        )
    held = records[names[0]]
    weight = held.values.astype(float)
    bad = int(np.count_nonzero((held.missing != 0) | ~(weight > 0)))
    if bad:
        raise InputRefused(
            "E-WEIGHT", f"column {shorten(names[0])}: {bad:,} weights are missing or not above 0"
        )
    return weight
