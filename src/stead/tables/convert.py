"""Cells to values under a column of the schema, and records back to Arrow, pandas and polars."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import InputRefused, Notice, UsageError, shorten
from stead.tables import cells as raw
from stead.tables.arrow import pa
from stead.tables.records import Values, check_bounds

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

    from stead.tables.cells import Cells
    from stead.tables.records import Records
    from stead.tables.schema import Column, Level

LARGEST = 2.0**63


def decode(cells: Cells, column: Column, *, decimal: str = ".") -> Values:
    """The values of `cells` as `column` declares them; a cell that does not fit is refused, with their count."""
    values, missing = (
        _from_text(cells, column, decimal) if cells.shape == "text" else _from_numbers(cells, column)
    )
    decoded = Values(values, missing)
    if not column.coded:
        check_bounds(column, decoded)
    return decoded


# ---- text -------------------------------------------------------------------------------------------


def _from_text(cells: Cells, column: Column, decimal: str) -> tuple[NDArray[Any], NDArray[np.int8]]:
    assert cells.index is not None  # noqa: S101 - a text column by construction
    texts, counts = cells.strings, cells.counts()
    code = _codes_of_missing(texts, column)
    words = column.kind == "date" or any(isinstance(level, str) for level in column.levels)
    if not words:  # NA is missing among numbers; among words it is a word
        code[(code == 0) & raw.is_one_of(texts, raw.NOT_A_NUMBER)] = -1
    usable = (code == 0) & (counts > 0)
    values, known = _meaning(texts, usable, column, decimal)
    _refuse_unfit(column, int(counts[usable & ~known].sum()))
    # one more place at the end, which index -1 (an empty cell) reads
    code, values = (
        np.append(code, np.int8(-1)),
        np.append(np.where(code == 0, values, 0).astype(values.dtype), 0),
    )
    return values[cells.index].astype(values.dtype), code[cells.index]


def _meaning(
    texts: pa.Array, usable: NDArray[np.bool_], column: Column, decimal: str
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The value of each distinct text, and which texts have one."""
    if column.coded:
        return _levels_of_text(texts, column)
    if column.kind == "date":
        return _dates_of_text(texts, usable, column)
    return _numbers_of_text(texts, usable, column, decimal)


def _codes_of_missing(texts: pa.Array, column: Column) -> NDArray[np.int8]:
    code = np.zeros(len(texts), np.int8)
    for position, declared in enumerate(column.missing, start=1):
        spellings = {str(declared)}
        if isinstance(declared, (int, float)):
            spellings |= {f"{declared:g}", f"{float(declared)}"}
        code[(code == 0) & raw.is_one_of(texts, tuple(sorted(spellings)))] = position
    return code


def _levels_of_text(texts: pa.Array, column: Column) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    position = {str(level): place for place, level in enumerate(column.levels)}
    if all(isinstance(level, bool) for level in column.levels):
        position |= {str(level).lower(): place for place, level in enumerate(column.levels)}
        position |= {str(level).upper(): place for place, level in enumerate(column.levels)}
    numeric = {
        float(level): place for place, level in enumerate(column.levels) if isinstance(level, (int, float))
    }
    found = np.array([_place(text, position, numeric) for text in texts.to_pylist()], np.int32)
    return np.maximum(found, 0), found >= 0


def _place(text: str, position: dict[str, int], numeric: dict[float, int]) -> int:
    if text in position:
        return position[text]
    if numeric:
        try:
            return numeric.get(float(text), -1)
        except ValueError:
            return -1
    return position.get(text.strip(), -1)


def _numbers_of_text(
    texts: pa.Array, usable: NDArray[np.bool_], column: Column, decimal: str
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    plain = raw.plain_numbers(texts, decimal)
    known = usable & raw.matches(plain, raw.NUMBER)
    _refuse_infinite(column, int(np.count_nonzero(usable & raw.matches(plain, raw.INFINITE))))
    values: NDArray[Any] = np.zeros(len(texts), np.int64 if column.whole else np.float64)
    chosen = plain.filter(pa.array(known))
    if column.whole and not raw.matches(chosen, raw.INTEGER).all():
        values[known] = _to_whole(np.asarray(chosen.cast(pa.float64())), column)
        return values, known
    try:
        values[known] = np.asarray(chosen.cast(pa.int64() if column.whole else pa.float64()))
    except pa.ArrowInvalid:
        known = usable & False
    if not column.whole:
        _refuse_infinite(column, int(np.count_nonzero(np.isinf(values))))
    return values, known


def _dates_of_text(
    texts: pa.Array, usable: NDArray[np.bool_], column: Column
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    values, known = np.zeros(len(texts), np.int64), np.zeros(len(texts), bool)
    for place in np.flatnonzero(usable).tolist():
        text = texts[place].as_py().strip()
        try:
            moment = datetime.strptime(text, column.format) if column.format else datetime.fromisoformat(text)  # noqa: DTZ007 - days, not moments
        except ValueError:
            continue
        day = moment.toordinal() - datetime(1970, 1, 1, tzinfo=UTC).toordinal()
        values[place] = (
            day
            if column.unit == "day"
            else day * 86_400 + moment.hour * 3600 + moment.minute * 60 + moment.second
        )
        known[place] = True
    return values, known


# ---- numbers ----------------------------------------------------------------------------------------


def _from_numbers(cells: Cells, column: Column) -> tuple[NDArray[Any], NDArray[np.int8]]:
    assert cells.numbers is not None and cells.empty is not None  # noqa: S101, PT018 - a column of numbers by construction
    numbers, missing = cells.numbers, np.where(cells.empty, np.int8(-1), np.int8(0)).astype(np.int8)
    for position, declared in enumerate(column.missing, start=1):
        if isinstance(declared, (int, float)):
            missing[(missing == 0) & (numbers == declared)] = position
    present = missing == 0
    if cells.shape in {"day", "second"} and column.kind != "date" and present.any():
        _refuse_unfit(column, int(present.sum()))
    values: NDArray[Any]
    if column.kind == "date":
        values = _date_numbers(cells, numbers, column, present)
    elif column.coded:
        values = _level_numbers(numbers, column, present)
    elif column.whole:
        values = _to_whole(np.where(present, numbers, 0), column)
    else:
        values = np.where(present, numbers, 0).astype(np.float64)
        _refuse_infinite(column, int(np.count_nonzero(np.isinf(values))))
    return np.where(present, values, 0).astype(values.dtype), missing


def _date_numbers(
    cells: Cells, numbers: NDArray[Any], column: Column, present: NDArray[np.bool_]
) -> NDArray[np.int64]:
    if cells.shape not in {"day", "second"} and present.any():
        _refuse_unfit(column, int(present.sum()))
    if cells.shape == "second" and column.unit == "day":
        _refuse_unfit(column, int(np.count_nonzero(numbers[present] % 86_400)))
        return (numbers // 86_400).astype(np.int64)
    return (numbers * (86_400 if cells.shape == "day" and column.unit == "second" else 1)).astype(np.int64)


def _level_numbers(numbers: NDArray[Any], column: Column, present: NDArray[np.bool_]) -> NDArray[np.int32]:
    levels = np.array([_number_of(level) for level in column.levels], float)
    order = np.argsort(levels, kind="stable")
    at = np.minimum(np.searchsorted(levels[order], numbers), len(levels) - 1)
    found = levels[order][at] == numbers
    _refuse_unfit(column, int(np.count_nonzero(present & ~found)))
    return np.where(present, order[at], 0).astype(np.int32)


def _number_of(level: Level) -> float:
    try:
        return float(level)
    except ValueError:
        return float("nan")


def _to_whole(numbers: NDArray[Any], column: Column) -> NDArray[np.int64]:
    if np.issubdtype(numbers.dtype, np.integer):
        return numbers.astype(np.int64)
    _refuse_infinite(column, int(np.count_nonzero(np.isinf(numbers))))
    rounded = np.round(numbers)
    broken = int(np.count_nonzero((rounded != numbers) | (np.abs(rounded) >= LARGEST)))
    if broken:
        raise InputRefused(
            "E-WHOLE",
            f"column {shorten(column.name)}: {broken:,} cells are not whole numbers, and the schema declares whole numbers (decimals 0)",
        )
    return rounded.astype(np.int64)


# ---- refusals ---------------------------------------------------------------------------------------


def _refuse_infinite(column: Column, count: int) -> None:
    if count:
        raise InputRefused(
            "E-INFINITE",
            f"column {shorten(column.name)}: {count:,} different cells are infinite or too large for a number; correct them, or declare their code in missing=",
        )


def _refuse_unfit(column: Column, count: int) -> None:
    if not count:
        return
    if column.coded:
        raise InputRefused(
            "E-LEVEL",
            f"column {shorten(column.name)}: {count:,} cells have a level that the schema does not list; add it to the levels, or declare it missing",
        )
    if column.kind == "date":
        written = f"as {column.format}" if column.format else "as 1999-12-31"
        raise InputRefused(
            "E-DATE",
            f"column {shorten(column.name)}: {count:,} cells are not dates written {written}; declare the format, or their code in missing=",
        )
    raise InputRefused(
        "E-NUMBER",
        f"column {shorten(column.name)}: {count:,} cells are not numbers; declare their codes in missing=, or the column as categorical",
    )


def check_role(column: Column, cells: Cells) -> None:
    """What a role promises: an id is there in every row and once; a weight is positive."""
    if column.role != "id":
        return
    if cells.index is not None:
        empty, distinct = (
            int(np.count_nonzero(cells.index < 0)),
            len(np.unique(cells.index[cells.index >= 0])),
        )
    else:
        present = ~np.asarray(cells.empty, bool)
        empty, distinct = int(np.count_nonzero(~present)), len(np.unique(np.asarray(cells.numbers)[present]))
    repeated = cells.rows - empty - distinct
    if empty or repeated:
        raise InputRefused(
            "E-ID",
            f"column {shorten(column.name)}: an id has {empty:,} empty cells and {repeated:,} repeated ones; correct it, or give it the role drop",
        )


def check_weight(column: Column, values: Values) -> None:
    """A survey weight is a positive number in every row."""
    wrong = values.gaps + int(np.count_nonzero(values.values[values.present] <= 0))
    if wrong:
        raise InputRefused(
            "E-WEIGHT",
            f"column {shorten(column.name)}: {wrong:,} weights are missing, zero or negative; a weight is a positive number",
        )


# ---- and back ---------------------------------------------------------------------------------------


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


def note(code: str, message: str) -> None:
    """Tell the owner of a file what was done with it."""
    warnings.warn(Notice(code, message), stacklevel=3)
