"""Cells: one column as it came, before a schema gives it meaning.

Two shapes: text (the distinct strings and, for each row, which one) and numbers (an array). Work on text
is done once per distinct string.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from stead.errors import InputRefused, Notice, shorten
from stead.tables.arrow import compute as pc
from stead.tables.arrow import pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.tables.schema import Labels, Level

Shape = Literal["text", "number", "bool", "day", "second"]
NUMBER = r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"
INTEGER = r"^[-+]?[0-9]+$"
LEADING_ZERO = r"^[-+]?0[0-9]"
INFINITE = r"^(?i:[-+]?inf(inity)?)$"
NOT_A_NUMBER = ("", "NA", "NaN", "nan", "<NA>")
"""Blanks, and what pandas, R and polars write for a missing number; in a text column they are values."""


TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
LARGEST = 2.0**63
DAY = 86_400
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""The years 1 to 9999, in days from 1970: what a date can be in Python, pandas and SQL."""


@dataclass(frozen=True, repr=False)
class Said:
    """What the owner of a column says of it beside its cells: a category type does, a file of SPSS, SAS or Stata.

    levels    in the order of the owner, used or not; `ordered` where that order means something
    missing   codes that stand for a missing value
    tags      for each row which of `missing` stood there, from 1, where a cell of this type cannot hold the code;
              such a cell counts as empty
    """

    levels: tuple[Level, ...] = ()
    ordered: bool = False
    label: str = ""
    labels: Labels = ()
    missing: tuple[Level, ...] = ()
    tags: NDArray[np.int8] | None = None


NOTHING = Said()


@dataclass(frozen=True, repr=False)
class Cells:
    """One column: `texts` and `index` (-1 where empty), or `numbers` and `empty`; and what is said of it."""

    name: str
    shape: Shape
    rows: int
    texts: pa.Array | None = None
    index: NDArray[np.int64] | None = None
    numbers: NDArray[np.generic] | None = None
    empty: NDArray[np.bool_] | None = None
    said: Said = NOTHING

    @property
    def strings(self) -> pa.Array:
        """The distinct texts."""
        assert self.texts is not None  # noqa: S101 - a text column by construction
        return self.texts

    def counts(self) -> NDArray[np.int64]:
        """How many rows have each distinct text."""
        assert self.index is not None  # noqa: S101 - a text column by construction
        return np.bincount(self.index[self.index >= 0], minlength=len(self.strings))


def from_arrow(name: str, column: pa.ChunkedArray) -> Cells:
    """The cells of an Arrow column; nested and binary types are refused by name."""
    kind = column.type
    rows = len(column)
    if pa.types.is_null(kind):
        return Cells(name, "number", rows, numbers=np.zeros(rows), empty=np.ones(rows, bool))
    if pa.types.is_dictionary(kind):
        return _categories(name, column)
    if _is_text(kind):
        return _encoded(name, column.cast(pa.string()).dictionary_encode())
    empty = _numpy(column.is_null()).astype(bool)
    if pa.types.is_boolean(kind):
        return Cells(
            name, "bool", rows, numbers=_numpy(column.fill_null(False)).astype(np.int64), empty=empty
        )
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale <= 0):
        return Cells(name, "number", rows, numbers=_whole(name, column), empty=empty)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = _numpy(column.cast(pa.float64(), safe=False).fill_null(0.0)).astype(float)
        nan = np.isnan(numbers)
        return Cells(name, "number", rows, numbers=np.where(nan, 0.0, numbers), empty=empty | nan)
    if pa.types.is_date(kind):
        days = column.cast(pa.date32()).cast(pa.int32()).fill_null(0)
        return Cells(name, "day", rows, numbers=_numpy(days).astype(np.int64), empty=empty)
    if pa.types.is_timestamp(kind):
        return _moments(name, column, empty)
    raise InputRefused(
        "E-CELL-TYPE",
        f"column {shorten(name)}: holds {_describe(kind)}, and a cell is a number, a text or a date; drop or unpack it",
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _encoded(name: str, column: pa.ChunkedArray) -> Cells:
    whole = _one_dictionary(column)
    index = _numpy(whole.indices.cast(pa.int64()).fill_null(-1)).astype(np.int64)
    texts = whole.dictionary.cast(pa.string())
    hollow = _numpy(pc.or_kleene(texts.is_null(), pc.equal(texts, "")).fill_null(True)).astype(bool)
    if hollow.any():
        index[np.isin(index, np.flatnonzero(hollow))] = -1
        texts = texts.fill_null("")
    return Cells(name, "text", len(index), texts=texts, index=index)


def _categories(name: str, column: pa.ChunkedArray) -> Cells:
    """Categories of text or of numbers; truth values and dates are what they are, with or without a dictionary."""
    kind = column.type.value_type
    if _is_text(kind):
        cells = _encoded(name, column)
    else:
        from_arrow(name, pa.chunked_array([], kind))  # refuses what is not a cell, as the intervals of pandas
        cells = from_arrow(name, column.cast(kind))
        if cells.shape != "number":
            return cells
    listed = _one_dictionary(column).dictionary.to_pylist()
    levels = tuple(level for level in listed if level is not None and level != "" and level == level)  # noqa: PLR0124 - NaN
    return replace(cells, said=Said(levels, bool(column.type.ordered)))


def _one_dictionary(column: pa.ChunkedArray) -> pa.DictionaryArray:
    whole = column.unify_dictionaries().combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole


def _whole(name: str, column: pa.ChunkedArray) -> NDArray[np.int64]:
    try:
        return _numpy(column.cast(pa.int64()).fill_null(0)).astype(np.int64)
    except pa.ArrowInvalid:
        pass
    beyond = np.abs(_numpy(column.cast(pa.float64(), safe=False).fill_null(0.0)).astype(float)) >= LARGEST
    raise InputRefused(
        "E-INTEGER",
        f"column {shorten(name)}: {np.count_nonzero(beyond):,} cells are whole numbers beyond 64 bits; give them as text if they are identifiers",
    )


def _moments(name: str, column: pa.ChunkedArray, empty: NDArray[np.bool_]) -> Cells:
    """Moments as whole seconds, of UTC where the column has a time zone."""
    ticks = _numpy(column.cast(pa.int64()).fill_null(0)).astype(np.int64)
    seconds, rest = np.divmod(ticks, TICKS[column.type.unit])
    if rest.any():
        note(
            "E-SECONDS",
            f"column {shorten(name)}: {np.count_nonzero(rest):,} moments have fractions of a second, which are cut off",
        )
    if (seconds % 86_400 == 0).all():
        return Cells(name, "day", len(seconds), numbers=seconds // 86_400, empty=empty)
    return Cells(name, "second", len(seconds), numbers=seconds, empty=empty)


def require_calendar(name: str, days: NDArray[np.int64]) -> None:
    """Refuse days that no calendar has: databases have infinite dates, and the numbers of a damaged file may be any."""
    beyond = int(np.count_nonzero((days < FIRST_DAY) | (days > LAST_DAY)))
    if beyond:
        raise InputRefused(
            "E-DATE",
            f"column {shorten(name)}: {beyond:,} dates are infinite or not within the years 1 to 9999; correct them",
        )


def _numpy(column: pa.ChunkedArray | pa.Array) -> NDArray[np.generic]:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        return np.asarray(array.to_numpy())
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _describe(kind: pa.DataType) -> str:
    if pa.types.is_nested(kind):
        return "lists or records"
    if "binary" in str(kind):
        return "bytes"
    return f"values of type {kind}"


def note(code: str, message: str) -> None:
    """Tell the owner of a file what was done with it."""
    warnings.warn(Notice(code, message), stacklevel=3)


def matches(texts: pa.Array, pattern: str) -> NDArray[np.bool_]:
    """Which texts match a pattern, blanks around them left aside."""
    return _numpy(pc.match_substring_regex(pc.utf8_trim_whitespace(texts), pattern)).astype(bool)


def is_one_of(texts: pa.Array, values: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which texts are one of some values, blanks around both left aside."""
    trimmed = pa.array([value.strip() for value in values], pa.string())
    return _numpy(pc.is_in(pc.utf8_trim_whitespace(texts), trimmed)).astype(bool)


def stands_for(texts: pa.Array, code: Level, decimal: str) -> NDArray[np.bool_]:
    """Which texts are a declared missing code: as it is spelled, or as the same number spelled otherwise."""
    same = is_one_of(texts, (str(code),))
    number = as_number(code)
    if number is not None and not same.all():
        plain = plain_numbers(texts, decimal)
        spelled = matches(plain, NUMBER) & ~matches(plain, LEADING_ZERO)
        same[spelled] |= _numpy(plain.filter(pa.array(spelled)).cast(pa.float64())) == number
    return same


def as_number(code: Level) -> float | None:
    """The number that a level or a missing code is, if it is one."""
    try:
        return float(code)
    except (ValueError, OverflowError):
        return None


def plain_numbers(texts: pa.Array, decimal: str) -> pa.Array:
    """Texts with the decimal mark of the file turned into a point and a leading plus taken off."""
    trimmed = pc.utf8_trim_whitespace(texts)
    if decimal == ",":
        trimmed = pc.replace_substring(pc.replace_substring(trimmed, ".", "·"), ",", ".")
    return pc.replace_substring_regex(trimmed, r"^\+([0-9.])", r"\1")


def mask(chosen: NDArray[np.bool_]) -> pa.Array:
    """A mask for `filter`."""
    return pa.array(chosen)
