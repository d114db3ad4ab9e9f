"""Records back to Arrow, pandas and polars, and to what a file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stead.errors import UsageError
from stead.tables.arrow import pa
from stead.tables.cells import as_number

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from stead.tables.records import Records, Values
    from stead.tables.schema import Column


def to_arrow(records: Records) -> pa.Table:
    """An Arrow table: levels as they were (text as dictionaries), dates as dates, missing cells as null."""
    names = records.names
    return pa.Table.from_arrays(
        [_arrow_column(records.schema[name], records[name]) for name in names], list(names)
    )


def _arrow_column(column: Column, held: Values) -> pa.Array:
    mask = held.missing != 0
    if column.kind == "date":
        kind = pa.date32() if column.unit == "day" else pa.timestamp("s")
        return pa.array(held.values.astype(np.int32 if column.unit == "day" else np.int64), mask=mask).cast(
            kind
        )
    if not column.coded:
        return pa.array(held.values, mask=mask)
    levels = (
        pa.array(list(column.levels))
        if len({type(level) for level in column.levels}) == 1
        else pa.array([str(level) for level in column.levels])
    )
    coded = pa.DictionaryArray.from_arrays(
        pa.array(held.values, mask=mask), levels, ordered=column.kind == "ordered"
    )
    return coded if pa.types.is_string(levels.type) else coded.cast(levels.type)


def to_pandas(records: Records) -> pd.DataFrame:
    """A pandas DataFrame; a whole-number column with gaps becomes a nullable Int64."""
    try:
        import pandas as pd
    except ImportError:
        raise UsageError("E-EXTRA", "to_pandas() needs pandas: pip install 'stead[pandas]'") from None
    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    table = to_arrow(records)
    gapless = [name for name in records.names if not records[name].gaps]
    with_gaps = [name for name in records.names if records[name].gaps]
    parts = [
        table.select(gapless).to_pandas(date_as_object=False),
        table.select(with_gaps).to_pandas(types_mapper=nullable.get, date_as_object=False),
    ]
    return (
        pd.concat(parts, axis=1)[list(records.names)]
        if records.names
        else pd.DataFrame(index=range(records.rows))
    )


def to_polars(records: Records) -> pl.DataFrame:
    """A polars DataFrame."""
    try:
        import polars as pl
    except ImportError:
        raise UsageError("E-EXTRA", "to_polars() needs polars: pip install 'stead[polars]'") from None
    frame = pl.from_arrow(to_arrow(records))
    if not isinstance(frame, pl.DataFrame):
        raise TypeError("an Arrow table becomes a polars DataFrame")
    return frame


def with_codes(records: Records) -> pa.Table:
    """The table as a file shows it: each declared missing code where it stood, so that reading finds it again."""
    written = to_arrow(records)
    for place, name in enumerate(records.names):
        if (records[name].missing > 0).any():
            column = _with_codes(records.schema[name], records[name], written.column(name))
            written = written.set_column(place, name, column)
    return written


def _with_codes(column: Column, held: Values, shown: pa.ChunkedArray) -> pa.Array:
    """Numbers keep their type where every code is one of its numbers; all else becomes text."""
    codes = column.missing
    numeric = pa.types.is_integer(shown.type) or pa.types.is_floating(shown.type)
    if numeric and all(_fits(code, shown.type) for code in codes):
        values = held.values.copy() if not column.coded else np.array(column.levels)[held.values]
        for place, code in enumerate(codes, start=1):
            values[held.missing == place] = as_number(code)
        return pa.array(values, shown.type, mask=held.missing < 0)
    texts = np.array(shown.cast(pa.string()).to_pylist(), dtype=object)
    for place, code in enumerate(codes, start=1):
        texts[held.missing == place] = str(code)
    return pa.array(texts, pa.string())


def _fits(code: object, kind: pa.DataType) -> bool:
    number = as_number(code) if isinstance(code, (int, float, str)) else None
    return number is not None and (
        pa.types.is_floating(kind) or (number.is_integer() and abs(number) < 2**53)
    )
