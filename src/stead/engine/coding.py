"""Rows as an engine counts them: a whole number for all columns that must agree, a point for those that must be near.

A column that must agree becomes a digit: the code of its level, a whole number from its smallest on, or the place among its
values; each missing code is a digit of its own, so that missing equals missing of the same code. Digits are then
one number in mixed radix, or several (words) where one would not hold them. A column that must be near gives a coordinate, NaN
where it is missing, and its missing codes as a digit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.randomness import BLOCK, row_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stead.tables.records import Records, Values
    from stead.tables.schema import Column

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Dense = Callable[[Whole], tuple[Whole, int]]

LARGEST, SHORT = 2**62, 2**31
SPAN = 1 << 16
"""Whole numbers that span no more than this are digits as they are."""


@dataclass(frozen=True)
class Digit:
    """How a column becomes a whole number: `present` codes for values, and behind them `gaps` codes for missing ones."""

    name: str
    present: int
    gaps: int
    least: int = 0
    values: NDArray[Any] | None = None  # sorted; a value is coded by its place

    @property
    def size(self) -> int:
        """How many codes there are."""
        return self.present + self.gaps

    def of(self, held: Values) -> NDArray[Any]:
        """The codes of some values."""
        codes: NDArray[Any]
        if self.present == 1:
            codes = np.zeros(len(held), np.int32)
        elif self.values is not None:
            codes = np.searchsorted(self.values, held.values)
        else:
            codes = held.values - self.least if self.least else held.values
        if self.gaps:
            gap = self.present + np.maximum(held.missing, 0).astype(np.int32)
            codes = np.where(held.missing == 0, codes, gap)
        return codes


def digit(column: Column, held: Sequence[Values], *, near: bool) -> Digit:
    """The digit of a column with these values in the tables; of one that must be near, the digit of its missing codes."""
    codes = max((int(one.missing.max(initial=0)) for one in held), default=0)
    gaps = codes + 1 if any(one.gaps for one in held) else 0
    if near:
        return Digit(column.name, 1, gaps)
    if column.coded:
        return Digit(column.name, len(column.levels), gaps)
    if all(np.issubdtype(one.values.dtype, np.integer) for one in held):
        least = min(int(one.values.min(initial=0)) for one in held)
        span = max(int(one.values.max(initial=0)) for one in held) - least + 1
        if span <= SPAN:
            return Digit(column.name, span, gaps, least)
    values = np.unique(np.concatenate([np.unique(one.values) for one in held]))
    return Digit(column.name, len(values), gaps, values=values)


def words_of(digits: Sequence[Digit]) -> list[list[Digit]]:
    """Digits gathered into words, each of which a number of 64 bits holds."""
    words: list[list[Digit]] = []
    size = LARGEST
    for one in digits:
        if one.size > 1:
            size *= one.size
            if size >= LARGEST:
                words.append([])
                size = one.size
            words[-1].append(one)
    return words


def coded(digits: Sequence[Digit], near: Sequence[str], records: Records) -> tuple[NDArray[Any], ...]:
    """A block of rows: the words of its digits, (words, n), and its coordinates, (d, n)."""
    words = words_of(digits)
    longest = max((_radix(word) for word in words), default=1)
    numbers = np.zeros((len(words), records.rows), np.int32 if longest < SHORT else np.int64)
    for place, word in enumerate(words):
        for one in word:
            numbers[place] *= one.size
            numbers[place] += one.of(records[one.name])
    points = np.empty((len(near), records.rows))
    for point, name in zip(points, near, strict=True):
        point[:] = records[name].values
        if records[name].gaps:
            point[records[name].missing != 0] = np.nan
    return numbers, points


def singly(digits: Sequence[Digit], records: Records) -> Whole:
    """A block of rows, each column by itself, (columns, n)."""
    return np.array([one.of(records[one.name]) for one in digits], np.int64).reshape(
        len(digits), records.rows
    )


def decoded(digits: Sequence[Digit], numbers: NDArray[Any]) -> dict[str, Whole]:
    """The digits of each column again, from the words of some rows."""
    found = {one.name: np.zeros(numbers.shape[1], np.int64) for one in digits}
    for number, word in zip(numbers, words_of(digits), strict=True):
        rest = number.astype(np.int64)
        for one in reversed(word):
            rest, found[one.name] = np.divmod(rest, one.size)
    return found


def _radix(word: Sequence[Digit]) -> int:
    """How many numbers a word can be."""
    return math.prod(one.size for one in word)


def joined(
    tables: Sequence[NDArray[Any]], digits: Sequence[Digit], dense: Dense
) -> tuple[list[NDArray[Any]], int]:
    """The words of some tables as one number each, the same for the same cells in every table; and how many there can be.

    Where there can be many more than there are rows, the numbers are replaced by codes in the order in which they are met.
    """
    words = words_of(digits)
    if not words:
        return [np.zeros(table.shape[1], np.int32) for table in tables], 1
    numbers, size = [table[0] for table in tables], _radix(words[0])
    for place, word in enumerate(words[1:], start=1):
        numbers, size = mixed(numbers, size, [table[place] for table in tables], _radix(word), dense)
    return fitted(numbers, size, dense)


def mixed(
    first: Sequence[NDArray[Any]], size: int, second: Sequence[NDArray[Any]], radix: int, dense: Dense
) -> tuple[list[NDArray[Any]], int]:
    """Two codes of the rows of some tables as one, small enough for a table of counts."""
    if radix == 1:
        return list(first), size
    if size == 1:
        return list(second), radix
    if size * radix >= LARGEST:
        first, size = compact(first, dense)
        second, radix = compact(second, dense)
    kind = np.dtype(np.int32 if size * radix < SHORT else np.int64)
    codes: list[NDArray[Any]] = []
    for one, other in zip(first, second, strict=True):
        code: Whole = one.astype(kind)
        code *= radix
        code += other.astype(kind, copy=False)
        codes.append(code)
    return fitted(codes, size * radix, dense)


def fitted(codes: list[NDArray[Any]], size: int, dense: Dense) -> tuple[list[NDArray[Any]], int]:
    """The codes as they are, or compact where a table of counts would be much longer than the rows."""
    return compact(codes, dense) if size > 4 * sum(map(len, codes)) + SPAN else (codes, size)


def compact(codes: Sequence[NDArray[Any]], dense: Dense) -> tuple[list[NDArray[Any]], int]:
    """Codes 0, 1, 2, ... of the numbers in some tables, the same number in all of them."""
    found, size = dense(np.concatenate(codes).astype(np.int64, copy=False))
    ends = np.cumsum([len(one) for one in codes])
    return [one.astype(np.int32) for one in np.split(found, ends[:-1])], size


def tally(codes: NDArray[Any], size: int) -> Whole:
    """How many rows have each code, in blocks: numpy copies what it counts."""
    if size > BLOCK:
        return np.bincount(codes, minlength=size)
    counts = np.zeros(size, np.int64)
    for rows in row_blocks(len(codes)):
        counts += np.bincount(codes[rows], minlength=size)
    return counts


def looked_up(table: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """The entry of each row's code, in blocks: numpy copies what it looks up by."""
    found = np.empty(len(codes), table.dtype)
    for rows in row_blocks(len(codes)):
        found[rows] = table[codes[rows]]
    return found
