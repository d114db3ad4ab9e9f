"""Cells to values under a column of the schema; what does not fit is refused, with the count of cells."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import InputRefused, shorten
from stead.tables import cells as raw
from stead.tables.arrow import pa
from stead.tables.records import Values, check_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.tables.cells import Cells
    from stead.tables.schema import Column

EPOCH, SECOND, DAY = datetime(1970, 1, 1, tzinfo=UTC), timedelta(seconds=1), 86_400
EXACT_FLOAT = 2**53


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
    code = _codes_of_missing(texts, column, decimal)
    words = column.kind == "date" or any(isinstance(level, str) for level in column.levels)
    if not words:  # NA is missing among numbers; among words it is a word
        code[(code == 0) & raw.is_one_of(texts, raw.NOT_A_NUMBER)] = -1
    usable = np.where(code == 0, counts, 0)
    values, known = _meaning(texts, usable, column, decimal)
    _refuse_unfit(column, int(usable[~known].sum()))
    # one more place at the end, which index -1 (an empty cell) reads
    code = np.append(code, np.int8(-1))
    values = np.append(np.where(code[:-1] == 0, values, 0).astype(values.dtype), values.dtype.type(0))
    return values[cells.index], code[cells.index]


def _meaning(
    texts: pa.Array, usable: NDArray[np.int64], column: Column, decimal: str
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The value of each distinct text, and which texts have one; `usable` counts the cells that need it."""
    if column.coded:
        return _levels_of_text(texts, column, decimal)
    if column.kind == "date":
        return _dates_of_text(texts, usable, column)
    return _numbers_of_text(texts, usable, column, decimal)


def _codes_of_missing(texts: pa.Array, column: Column, decimal: str) -> NDArray[np.int8]:
    code = np.zeros(len(texts), np.int8)
    for position, declared in enumerate(column.missing, start=1):
        code[(code == 0) & raw.stands_for(texts, declared, decimal)] = position
    return code


def _levels_of_text(
    texts: pa.Array, column: Column, decimal: str
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """By spelling, then by spelling without the blanks around it, then as the same number."""
    found = np.full(len(texts), -1, np.int32)
    numbers = {level: place for place, level in enumerate(column.levels) if not isinstance(level, str)}
    if numbers:
        plain = raw.plain_numbers(texts, decimal)
        spelled = raw.matches(plain, raw.NUMBER)
        values = plain.filter(pa.array(spelled)).cast(pa.float64()).to_pylist()
        found[spelled] = [numbers.get(value, -1) if abs(value) < EXACT_FLOAT else -1 for value in values]
    spellings = {str(level): place for place, level in enumerate(column.levels)}
    if all(isinstance(level, bool) for level in column.levels):
        spellings |= {text.lower(): place for text, place in spellings.items()}
        spellings |= {text.upper(): place for text, place in spellings.items()}
    exact = [spellings.get(text, spellings.get(text.strip(), -1)) for text in texts.to_pylist()]
    found = np.where(np.array(exact, np.int32) >= 0, np.array(exact, np.int32), found)
    return np.maximum(found, 0), found >= 0


def _numbers_of_text(
    texts: pa.Array, usable: NDArray[np.int64], column: Column, decimal: str
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    plain = raw.plain_numbers(texts, decimal)
    numeric = raw.matches(plain, raw.NUMBER)
    known = (usable > 0) & numeric
    floats = np.zeros(len(texts))
    floats[known] = np.asarray(plain.filter(pa.array(known)).cast(pa.float64()))
    # beyond 2^53 only a whole number that is spelled as one is exact
    exact = known & raw.matches(plain, raw.INTEGER) if column.whole else np.zeros(len(texts), bool)
    infinite = (np.isinf(floats) & ~exact) | raw.matches(plain, raw.INFINITE)
    _refuse_infinite(column, int(usable[infinite].sum()))
    if not column.whole:
        return floats, known
    try:
        whole = np.asarray(plain.filter(pa.array(exact)).cast(pa.int64()))
    except pa.ArrowInvalid:
        whole = np.zeros(0, np.int64)
    if len(whole) < np.count_nonzero(exact):
        _refuse_beyond(column, int(usable[exact & (np.abs(floats) >= raw.LARGEST)].sum()))
    values = _to_whole(np.where(exact, 0.0, floats), column, usable)
    values[exact] = whole
    return values, known


def _dates_of_text(
    texts: pa.Array, usable: NDArray[np.int64], column: Column
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    values, known = np.zeros(len(texts), np.int64), np.zeros(len(texts), bool)
    for place in np.flatnonzero(usable).tolist():
        text = texts[place].as_py().strip()
        try:
            moment = datetime.strptime(text, column.format) if column.format else datetime.fromisoformat(text)  # noqa: DTZ007 - a time without zone is read as UTC
            seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - EPOCH) // SECOND
        except (ValueError, OverflowError):
            continue
        known[place] = column.unit == "second" or seconds % DAY == 0
        values[place] = seconds if column.unit == "second" else seconds // DAY
    return values, known


# ---- numbers ----------------------------------------------------------------------------------------


def _from_numbers(cells: Cells, column: Column) -> tuple[NDArray[Any], NDArray[np.int8]]:
    assert cells.numbers is not None and cells.empty is not None  # noqa: S101, PT018 - a column of numbers by construction
    numbers, missing = cells.numbers, np.where(cells.empty, np.int8(-1), np.int8(0)).astype(np.int8)
    _place_tags(cells, column, missing)
    for position, declared in enumerate(column.missing, start=1):
        code = declared if isinstance(declared, int) else raw.as_number(declared)
        if code is not None:
            missing[(missing == 0) & (numbers == code)] = position
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


def _place_tags(cells: Cells, column: Column, missing: NDArray[np.int8]) -> None:
    """Missing codes that stand beside the numbers, by the place that the schema gives them."""
    if cells.said.tags is None:
        return
    places = {code: place for place, code in enumerate(column.missing, start=1)}
    for tag, code in enumerate(cells.said.missing, start=1):
        there = cells.said.tags == tag
        if code in places:
            missing[there] = places[code]
        elif there.any():
            raise InputRefused(
                "E-MISSING-CODES",
                f"column {shorten(column.name)}: {np.count_nonzero(there):,} cells hold a missing code that the schema does not list; add it to missing",
            )


def _date_numbers(
    cells: Cells, numbers: NDArray[Any], column: Column, present: NDArray[np.bool_]
) -> NDArray[np.int64]:
    if cells.shape not in {"day", "second"} and present.any():
        _refuse_unfit(column, int(present.sum()))
    if cells.shape == "second" and column.unit == "day":
        _refuse_unfit(column, int(np.count_nonzero(numbers[present] % DAY)))
        return (numbers // DAY).astype(np.int64)
    return (numbers * (DAY if cells.shape == "day" and column.unit == "second" else 1)).astype(np.int64)


def _level_numbers(numbers: NDArray[Any], column: Column, present: NDArray[np.bool_]) -> NDArray[np.int32]:
    whole = all(isinstance(level, int) for level in column.levels) and numbers.dtype == np.int64
    levels: NDArray[Any] = (
        np.array(column.levels, np.int64)
        if whole
        else np.array(
            [raw.as_number(level) for level in column.levels], float
        )  # None becomes NaN, equal to nothing
    )
    order = np.argsort(levels, kind="stable")
    at = np.minimum(np.searchsorted(levels[order], numbers), len(levels) - 1)
    found = levels[order][at] == numbers
    _refuse_unfit(column, int(np.count_nonzero(present & ~found)))
    return np.where(present, order[at], 0).astype(np.int32)


def _to_whole(
    numbers: NDArray[Any], column: Column, counts: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Whole numbers as int64; `counts` is how many cells hold each number, one where it is not given."""
    if np.issubdtype(numbers.dtype, np.integer):
        return numbers.astype(np.int64)
    cells = np.ones(len(numbers), np.int64) if counts is None else counts
    _refuse_infinite(column, int(cells[np.isinf(numbers)].sum()))
    rounded = np.round(numbers)
    broken = int(cells[rounded != numbers].sum())
    if broken:
        raise InputRefused(
            "E-WHOLE",
            f"column {shorten(column.name)}: {broken:,} cells are not whole numbers, and the schema declares whole numbers (decimals 0)",
        )
    _refuse_beyond(column, int(cells[np.abs(rounded) >= raw.LARGEST].sum()))
    return rounded.astype(np.int64)


# ---- refusals ---------------------------------------------------------------------------------------


def _refuse_infinite(column: Column, count: int) -> None:
    if count:
        raise InputRefused(
            "E-INFINITE",
            f"column {shorten(column.name)}: {count:,} cells are infinite or too large for a number; correct them, or declare their code in missing=",
        )


def _refuse_beyond(column: Column, count: int) -> None:
    if count:
        raise InputRefused(
            "E-INTEGER",
            f"column {shorten(column.name)}: {count:,} cells are whole numbers beyond 64 bits; declare the column categorical, id or drop",
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
