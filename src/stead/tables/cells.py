"""Cells: one column as it came, before a schema gives it meaning.

Two shapes: text (the distinct strings and, for each row, which one) and numbers (an array). Work on text
is done once per distinct string.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from stead.errors import InputRefused, shorten
from stead.tables.arrow import compute as pc
from stead.tables.arrow import pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

Shape = Literal["text", "number", "bool", "day", "second"]
NUMBER = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"
INTEGER = r"^[-+]?\d+$"
LEADING_ZERO = r"^[-+]?0\d"
INFINITE = r"^(?i:[-+]?inf(inity)?)$"
NOT_A_NUMBER = ("NA", "NaN", "nan", "<NA>")
"""Texts that pandas, R and polars write for a missing number; in a text column they are values."""


@dataclass(frozen=True, repr=False)
class Cells:
    """One column: `texts` and `index` (-1 where empty), or `numbers` and `empty`."""

    name: str
    shape: Shape
    rows: int
    texts: pa.Array | None = None
    index: NDArray[np.int64] | None = None
    numbers: NDArray[np.generic] | None = None
    empty: NDArray[np.bool_] | None = None
    category: bool = False
    ordered: bool = False

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
        if not _is_text(kind.value_type):
            return from_arrow(name, column.cast(kind.value_type))
        return _encoded(name, column, category=True, ordered=bool(kind.ordered))
    if _is_text(kind):
        return _encoded(name, column.cast(pa.string()).dictionary_encode())
    empty = _numpy(column.is_null()).astype(bool)
    if pa.types.is_boolean(kind):
        return Cells(
            name, "bool", rows, numbers=_numpy(column.fill_null(False)).astype(np.int64), empty=empty
        )
    if pa.types.is_integer(kind):
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


def _encoded(name: str, column: pa.ChunkedArray, *, category: bool = False, ordered: bool = False) -> Cells:
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    index = _numpy(whole.indices.cast(pa.int64()).fill_null(-1)).astype(np.int64)
    texts = whole.dictionary.cast(pa.string())
    hollow = _numpy(pc.or_kleene(texts.is_null(), pc.equal(texts, "")).fill_null(True)).astype(bool)
    if hollow.any():
        index[np.isin(index, np.flatnonzero(hollow))] = -1
        texts = texts.fill_null("")
    return Cells(name, "text", len(index), texts=texts, index=index, category=category, ordered=ordered)


def _whole(name: str, column: pa.ChunkedArray) -> NDArray[np.int64]:
    try:
        return _numpy(column.cast(pa.int64()).fill_null(0)).astype(np.int64)
    except pa.ArrowInvalid:
        pass
    raise InputRefused(
        "E-INTEGER",
        f"column {shorten(name)}: holds whole numbers beyond 64 bits; give them as text if they are identifiers",
    )


def _moments(name: str, column: pa.ChunkedArray, empty: NDArray[np.bool_]) -> Cells:
    seconds = _numpy(
        column.cast(pa.timestamp("s", column.type.tz), safe=False).cast(pa.int64()).fill_null(0)
    ).astype(np.int64)
    if (seconds % 86_400 == 0).all():
        return Cells(name, "day", len(seconds), numbers=seconds // 86_400, empty=empty)
    return Cells(name, "second", len(seconds), numbers=seconds, empty=empty)


def _numpy(column: pa.ChunkedArray | pa.Array) -> NDArray[np.generic]:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        return np.asarray(array.to_numpy())
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _describe(kind: pa.DataType) -> str:
    if pa.types.is_nested(kind):
        return "lists or records"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return "bytes"
    return f"values of type {kind}"


def matches(texts: pa.Array, pattern: str) -> NDArray[np.bool_]:
    """Which texts match a pattern, blanks around them left aside."""
    return _numpy(pc.match_substring_regex(pc.utf8_trim_whitespace(texts), pattern)).astype(bool)


def is_one_of(texts: pa.Array, values: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which texts are one of some values."""
    return _numpy(pc.is_in(pc.utf8_trim_whitespace(texts), pa.array(values, pa.string()))).astype(bool)


def plain_numbers(texts: pa.Array, decimal: str) -> pa.Array:
    """Texts with the decimal mark of the file turned into a point and a leading plus taken off."""
    trimmed = pc.utf8_trim_whitespace(texts)
    if decimal != ".":
        trimmed = pc.replace_substring(trimmed, ".", "·") if decimal == "," else trimmed
        trimmed = pc.replace_substring(trimmed, decimal, ".")
    return pc.replace_substring_regex(trimmed, r"^\+", "")
