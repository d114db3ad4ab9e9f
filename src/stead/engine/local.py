"""The engine for tables in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.engine.coding import digit
from stead.engine.rows import RowEngine
from stead.randomness import row_blocks
from stead.tables.records import Records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stead.engine.coding import Digit
    from stead.tables.schema import Column


class Local(RowEngine[Records]):
    """Counts in memory, by kernels that numba compiles when they are first used; `compiled=False` does without numba."""

    def column(self, table: Records, name: str) -> Column:
        """What a column of a table is."""
        _ = table[name]  # refuses what is not there, or was left behind
        return table.schema[name]

    def digits(
        self, names: Sequence[str], near: Sequence[str], tables: Sequence[Records]
    ) -> tuple[Digit, ...]:
        """How columns become digits, the same for some tables; of those that must be near only what is missing counts."""
        schema = tables[0].schema
        return tuple(digit(schema[name], [one[name] for one in tables], near=name in near) for name in names)

    def map_rows(
        self, function: Callable[[Records], tuple[NDArray[Any], ...]], table: Records, names: Sequence[str]
    ) -> tuple[NDArray[Any], ...]:
        """Apply a function to blocks of rows, in order; its arrays are joined along their last axis."""
        columns = table.only(names)
        joined: list[NDArray[Any]] = []
        for block in row_blocks(table.rows):
            arrays = function(columns.take(block))
            if not joined:
                joined = [np.empty((*one.shape[:-1], table.rows), one.dtype) for one in arrays]
            for whole, one in zip(joined, arrays, strict=True):
                whole[..., block] = one
        return tuple(joined)
