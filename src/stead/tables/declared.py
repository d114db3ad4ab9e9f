"""Records under declared levels, whatever the file holds: reading that no single cell can stop.

`read` refuses a file with the count of cells that do not fit, and where a file is private already that tells something of it.
Here a cell becomes the level that it spells, and anything else (nothing, NaN, infinity, a number of a thousand digits) is
missing. What may be refused is what does not hang on one person: no such file, no such column.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, nearest, shorten
from stead.tables.records import Records, Values
from stead.tables.schema import Column, Level, Schema
from stead.tables.sources import Data

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LONGEST = 200
"""Characters of a cell that are looked at; a level has fewer."""


def read_declared(
    source: Any,
    declared: Mapping[str, Sequence[Level | None]],
    *,
    encoding: str = "utf-8",
    delimiter: str = ",",
    table: str = "",
    query: str = "",
) -> Records:
    """The declared columns of what `read` reads, of a dataframe or a mapping of lists; None among levels is left aside."""
    schema = Schema(_column(name, levels) for name, levels in declared.items())
    held = source
    if isinstance(source, (str, Path)):
        held = Data(str(source), encoding, delimiter, table=table, query=query).load().table
    columns = {name: _values(_cells(held, name), schema[name].levels) for name in declared}
    return Records(schema, columns, len(next(iter(columns.values()))))


def _column(name: str, levels: Sequence[Level | None]) -> Column:
    listed = tuple(level for level in levels if level is not None)
    return Column(name, "binary" if len(listed) == 2 else "categorical", levels=listed)


def _cells(held: Any, name: str) -> Iterable[Any]:
    names = getattr(held, "column_names", None) or list(getattr(held, "columns", held))
    if name not in names:
        raise UsageError("E-COLUMN", f"no column is called {shorten(name)}; {nearest(name, map(str, names))}")
    column = held[name]
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, way):
            return list(getattr(column, way)())
    return list(column)


def _values(cells: Iterable[Any], levels: tuple[Level, ...]) -> Values:
    known: dict[str, int] = {}
    codes = []
    for cell in cells:
        text = "" if cell is None else _text(cell)
        if text not in known:
            known[text] = _code(text, levels)
        codes.append(known[text])
    code = np.array(codes, np.int32)
    return Values(np.maximum(code, 0).astype(np.int32), np.where(code < 0, -1, 0).astype(np.int8))


def _text(cell: Any) -> str:
    """Of any object; a whole number too long to be written out is no level."""
    if isinstance(cell, int) and abs(cell) >= 2**63:
        return ""
    return str(cell)[:LONGEST].strip()


def _code(text: str, levels: tuple[Level, ...]) -> int:
    """By spelling, then as the same number; -1 where it is none of them."""
    for place, level in enumerate(levels):
        if text == str(level) or (isinstance(level, bool) and text.lower() == str(level).lower()):
            return place
    try:
        number = float(text)
    except (ValueError, OverflowError):
        return -1
    return next(
        (
            place
            for place, level in enumerate(levels)
            if not isinstance(level, (str, bool)) and level == number
        ),
        -1,
    )
