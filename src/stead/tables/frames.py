"""Dataframes of any make to Arrow: pandas and polars through narwhals, Arrow itself, and mappings of columns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

from stead.errors import InputRefused, UsageError, shorten
from stead.tables.arrow import pa
from stead.tables.cells import note
from stead.tables.names import drop_row_numbers, unique_names
from stead.tables.records import Records

WHERE = "the table"
PLAIN = (str, int, float, Decimal, date, np.integer, np.floating, np.bool_)
"""Types of a cell in a column of mixed objects; their texts are what a file would hold."""


def arrow_of(dataframe: Any) -> pa.Table:
    """Any dataframe, mapping of columns, or records as an Arrow table."""
    if isinstance(dataframe, Records):
        return dataframe.to_arrow()
    if isinstance(dataframe, pa.RecordBatch):
        dataframe = pa.Table.from_batches([dataframe])
    if isinstance(dataframe, pa.Table):
        named = dataframe.rename_columns(list(unique_names(dataframe.column_names, WHERE)))
        return drop_row_numbers(named, WHERE)
    names, columns = _native_columns(dataframe)
    if any(not isinstance(name, str) for name in names):
        note("E-NAME-TEXT", "column names that are not text are turned into text")
    unique = unique_names(map(str, names), WHERE)
    arrays = [_arrow_column(*pair) for pair in zip(unique, columns, strict=True)]
    if len(lengths := {len(array) for array in arrays}) > 1:
        raise UsageError(
            "E-TABLE",
            f"the columns of a table have one length; these have from {min(lengths):,} to {max(lengths):,} cells",
        )
    return drop_row_numbers(pa.Table.from_arrays(arrays, list(unique)), WHERE)


def _native_columns(dataframe: Any) -> tuple[list[Any], list[Any]]:
    """The names of a dataframe as its owner gave them, and its columns; names that occur twice are refused."""
    if isinstance(dataframe, Mapping):
        return list(dataframe), list(dataframe.values())
    import narwhals as nw

    lazy = hasattr(dataframe, "collect")  # has no rows yet, and warns when it is asked for its names
    try:
        names = [] if lazy else list(getattr(dataframe, "columns", ()))
        unique_names(map(str, names), WHERE)  # before narwhals, whose own refusal is another one
        frame = nw.from_native(dataframe, eager_only=True)
    except (TypeError, ValueError):
        frame = None
    if frame is None:
        raise UsageError(
            "E-TABLE",
            f"a {type(dataframe).__name__} is not a table; give a pandas, polars or Arrow table, or a mapping of columns",
        )
    return names or list(frame.columns), list(frame.iter_columns())


def _arrow_column(name: str, column: Any) -> pa.ChunkedArray:
    """One column of a dataframe; a column of mixed objects is read as text, cell by cell."""
    if isinstance(column, (str, bytes, Mapping, set, frozenset)) or not hasattr(column, "__iter__"):
        raise UsageError(
            "E-TABLE", f"column {shorten(name)}: a {type(column).__name__} is not a sequence of cells"
        )
    column = column if hasattr(column, "__len__") else list(column)
    try:
        array = column.to_arrow() if hasattr(column, "to_arrow") else pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        array = None
    if array is None:
        array = _texts(name, column)
    return pa.chunked_array([array]) if isinstance(array, pa.Array) else array


def _texts(name: str, column: Any) -> pa.Array:
    native = column.to_native() if hasattr(column, "to_native") else column
    if str(getattr(native, "dtype", "")) == "category":
        raise InputRefused(
            "E-CELL-TYPE",
            f"column {shorten(name)}: its categories are of more than one type; turn them into text",
        )
    cells = [None if _absent(cell) else cell for cell in column]
    odd = sum(cell is not None and not isinstance(cell, PLAIN) for cell in cells)
    if odd:
        raise InputRefused(
            "E-CELL-TYPE",
            f"column {shorten(name)}: {odd:,} cells hold lists, records, bytes or other objects, and a cell is a number, a text or a date; drop or unpack it",
        )
    try:
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
    except UnicodeError:  # it holds the cell
        pass
    raise InputRefused("E-ENCODING", f"column {shorten(name)}: holds text that is not valid Unicode")


def _absent(cell: Any) -> bool:
    if isinstance(cell, Decimal):
        return cell.is_nan()
    if isinstance(cell, (float, np.floating)):
        return bool(np.isnan(cell))
    return cell is None or type(cell).__name__ in {"NAType", "NaTType"}  # of pandas, which need not be here
