"""A data set as it came, whatever it came from: Arrow columns, and what their owner says of them.

Every reader ends here. What a column means is for `infer` and `convert`, the same for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from stead.tables import cells as raw

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stead.tables.arrow import pa
    from stead.tables.cells import Cells, Said


@dataclass(frozen=True, repr=False)
class Loaded:
    """Columns, and what is said of some of them."""

    table: pa.Table
    said: Mapping[str, Said] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self.table.column_names)

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return int(self.table.num_rows)

    def cells(self, name: str) -> Cells:
        """One column."""
        cells = raw.from_arrow(name, self.table.column(name))
        return replace(cells, said=self.said.get(name, cells.said))
