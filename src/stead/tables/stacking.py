"""Records on top of each other: the confidential ones and the synthetic ones, or several synthetic sets."""

from __future__ import annotations

import numpy as np

from stead.tables.records import Records, Values


def stacked(*several: Records) -> Records:
    """All rows under the schema of the first; columns that a later table does not have are left out."""
    first = several[0]
    names = [name for name in first.names if all(name in one for one in several)]
    columns = {
        name: Values(
            np.concatenate([one[name].values for one in several]),
            np.concatenate([one[name].missing for one in several]),
        )
        for name in names
    }
    return Records(first.schema.only(names), columns, sum(one.rows for one in several))
