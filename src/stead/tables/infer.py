"""From the cells of a column to its place in a schema: the literal reading that `read` and `table` use.

Text is categorical, numbers are numeric, unless listed. What cannot be read in one way only is refused
with the declaration that settles it. `scan` proposes more; this module never guesses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused, shorten
from stead.tables import cells as raw
from stead.tables.arrow import compute, pa
from stead.tables.schema import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.tables.cells import Cells
    from stead.tables.schema import Level

MOST_COUNT_VALUES = 30
UNIQUE_TEXT = 20
MOST_SPECIAL_TEXTS = 5
MOST_DECIMALS = 9
EXACT_FLOAT = 2**53
ISO_DAY, ISO_MOMENT = r"^\d{4}-\d{2}-\d{2}$", r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?Z?$"
DATE_LIKE = r"^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}$"


def infer(cells: Cells, *, categorical: bool, missing: tuple[Level, ...], decimal: str = ".") -> Column:
    """The column that the cells show themselves to be."""
    codes = (*cells.said.missing, *(code for code in missing if code not in cells.said.missing))
    return labelled(_shown(cells, categorical, codes, decimal), cells)


def labelled(column: Column, cells: Cells) -> Column:
    """The column with the labels that its owner gave it; those of levels that it does not have are left out."""
    labels = cells.said.labels
    if column.coded:
        known = {*column.levels, *column.missing}
        labels = tuple(pair for pair in labels if pair[0] in known)
    return replace(column, label=cells.said.label, labels=labels)


def _shown(cells: Cells, categorical: bool, missing: tuple[Level, ...], decimal: str) -> Column:
    if cells.said.levels:
        return _declared_levels(cells, missing)
    if cells.shape == "text":
        return _infer_text(cells, categorical, missing, decimal)
    return _infer_numbers(cells, categorical, missing)


def _declared_levels(cells: Cells, missing: tuple[Level, ...]) -> Column:
    """Categories of a dataframe or of labels: the order is the owner's, and unused levels are levels."""
    codes = {str(code) for code in missing} | {raw.as_number(code) for code in missing}
    levels = tuple(level for level in cells.said.levels if level not in codes)
    if not levels:
        return _all_missing(cells.name, missing)
    indicator = bool(cells.said.labels) and levels == (0, 1)  # as numbers without labels would be
    return _coded(cells.name, levels, missing, binary=indicator, ordered=cells.said.ordered)


def _infer_numbers(cells: Cells, categorical: bool, missing: tuple[Level, ...]) -> Column:
    assert cells.numbers is not None and cells.empty is not None  # noqa: S101, PT018 - a column of numbers by construction
    codes = [number for code in missing if (number := raw.as_number(code)) is not None]
    present = cells.numbers[~cells.empty & ~np.isin(cells.numbers, codes)]
    if cells.shape in {"day", "second"}:
        return Column(cells.name, "date", missing=missing, unit="day" if cells.shape == "day" else "second")
    if not present.size:
        return _all_missing(cells.name, missing)
    if cells.shape == "bool":
        return Column(cells.name, "binary", levels=(False, True), missing=missing)
    distinct = np.unique(present)
    if categorical:
        return _coded(cells.name, tuple(distinct.tolist()), missing)
    return number_column(cells.name, distinct, missing)


def number_column(
    name: str, distinct: NDArray[np.generic], missing: tuple[Level, ...], decimals: int | None = -1
) -> Column:
    """A numeric column from its distinct values: 0 and 1 alone are binary, few whole numbers from 0 a count.

    `decimals` is -1 where the places are to be found from the values themselves.
    """
    if np.array_equal(distinct, (0, 1)):
        return Column(name, "binary", levels=(0, 1), missing=missing)
    places = _decimals(distinct) if decimals == -1 else decimals
    if places == 0 and distinct[0] >= 0 and len(distinct) <= MOST_COUNT_VALUES:
        return Column(name, "count", missing=missing)
    return Column(name, "continuous", decimals=places, missing=missing)


def _decimals(distinct: NDArray[np.generic]) -> int | None:
    if np.issubdtype(distinct.dtype, np.integer):
        return 0
    values = distinct.astype(float)
    largest = float(np.abs(values).max())
    for places in range(MOST_DECIMALS + 1):
        if largest * 10.0**places >= EXACT_FLOAT:
            break
        scaled = values * 10.0**places
        # whole numbers are exact; a decimal fraction in binary is off by its last bits
        if np.allclose(scaled, np.round(scaled), rtol=1e-12 if places else 0.0, atol=0.0):
            return places
    return None


def _infer_text(cells: Cells, categorical: bool, missing: tuple[Level, ...], decimal: str) -> Column:
    name, texts, counts = cells.name, cells.strings, cells.counts()
    used = counts > 0
    for code in missing:
        used &= ~raw.stands_for(texts, code, decimal)
    if not used.any():
        return _all_missing(name, missing)
    numeric, unknown = _numeric(texts, decimal), raw.is_one_of(texts, raw.NOT_A_NUMBER)
    zeros = raw.matches(texts, raw.LEADING_ZERO)
    if categorical:
        return _text_levels(cells, used, numeric, zeros, missing)
    if numeric[used].all() and not zeros[used].any():
        return _text_numbers(cells, used, missing, decimal)
    words = used & ~numeric & ~unknown
    if not words.any() and not zeros[used].any():
        if not numeric[used].any():  # NA alone
            return _all_missing(name, missing)
        return _text_numbers(cells, used & numeric, missing, decimal)
    if not numeric[used].any() and raw.matches(texts, r"^(?i:true|false)$")[used].all():
        listed = sorted(_listed(texts, used))
        return _coded(
            name, tuple(listed), missing, binary=len({text.strip().lower() for text in listed}) == 2
        )
    dates = _dates(cells, used & ~unknown, missing)
    if dates is not None:
        return dates
    _refuse_comma(cells, used, decimal)
    _refuse_mixed(cells, words, used & numeric & ~zeros, counts)
    return _text_levels(cells, used, numeric, zeros, missing)


def _numeric(texts: pa.Array, decimal: str) -> NDArray[np.bool_]:
    plain = raw.plain_numbers(texts, decimal)
    return raw.matches(plain, raw.NUMBER) | raw.matches(plain, raw.INFINITE)


def _text_numbers(cells: Cells, used: NDArray[np.bool_], missing: tuple[Level, ...], decimal: str) -> Column:
    plain = raw.plain_numbers(cells.strings.filter(pa.array(used)), decimal)
    if raw.matches(plain, raw.INTEGER).all():
        try:
            distinct = np.unique(np.asarray(plain.cast(pa.int64())))
        except pa.ArrowInvalid:
            distinct = None
        if distinct is None:
            if len(plain) > UNIQUE_TEXT and len(plain) * 2 > cells.rows:
                return _left_behind(
                    cells.name,
                    "holds whole numbers beyond 64 bits, nearly all different: identifiers",
                    missing,
                    role="id",
                )
            beyond = np.abs(np.asarray(plain.cast(pa.float64()))) >= raw.LARGEST
            raise InputRefused(
                "E-INTEGER",
                f"column {shorten(cells.name)}: {int(cells.counts()[used][beyond].sum()):,} cells are whole numbers beyond 64 bits; list it in categorical=, or drop it",
            )
        return number_column(cells.name, distinct, missing)
    values = np.asarray(plain.cast(pa.float64()))
    exponent = raw.matches(plain, r"[eE]").any()
    places = np.asarray(compute.utf8_length(compute.replace_substring_regex(plain, r"^[^.]*\.?", "")))
    most = int(places.max())
    finite = np.unique(values[np.isfinite(values)])
    decimals = (
        None
        if exponent or most > MOST_DECIMALS or not finite.size or np.abs(finite).max() >= EXACT_FLOAT
        else most
    )
    return number_column(cells.name, finite if finite.size else np.array([0.0]), missing, decimals)


def _text_levels(
    cells: Cells,
    used: NDArray[np.bool_],
    numeric: NDArray[np.bool_],
    zeros: NDArray[np.bool_],
    missing: tuple[Level, ...],
) -> Column:
    name, distinct = cells.name, int(used.sum())
    if distinct > UNIQUE_TEXT and distinct * 2 > cells.rows:
        return _left_behind(
            name,
            f"has {distinct:,} different texts in {cells.rows:,} rows: names, identifiers or free text",
            missing,
        )
    listed = _listed(cells.strings, used)
    whole = _whole_levels(
        cells.strings.filter(pa.array(used & ~raw.is_one_of(cells.strings, raw.NOT_A_NUMBER)))
    )
    if whole and not zeros[used].any():
        return _coded(name, whole, missing)
    if zeros[used].any() and numeric[used].all():
        raw.note(
            "E-LEADING-ZERO",
            f"column {shorten(name)}: whole numbers with leading zeros are read as text; give it the role id if it identifies people",
        )
    elif "NA" in listed:
        raw.note(
            "E-NA-TEXT",
            f"column {shorten(name)}: NA is read as a value, as in a country code; list it in missing= if it means missing",
        )
    return _coded(name, tuple(sorted(listed)), missing)


def _whole_levels(texts: pa.Array) -> tuple[int, ...]:
    """The levels where all are whole numbers of 64 bits; "7", "+7" and " 7" are one."""
    plain = raw.plain_numbers(texts, ".")
    if not len(plain) or not raw.matches(plain, raw.INTEGER).all():
        return ()
    try:
        return tuple(np.unique(np.asarray(plain.cast(pa.int64()))).tolist())
    except pa.ArrowInvalid:
        return ()


def _dates(cells: Cells, used: NDArray[np.bool_], missing: tuple[Level, ...]) -> Column | None:
    texts, counts = cells.strings, cells.counts()
    if raw.matches(texts, ISO_DAY)[used].all():
        return Column(cells.name, "date", missing=missing)
    if raw.matches(texts, ISO_MOMENT)[used].all():
        return Column(cells.name, "date", unit="second", missing=missing)
    alike = raw.matches(texts, DATE_LIKE) & used
    if counts[alike].sum() * 10 < counts[used].sum() * 9:
        return None
    other = int(counts[used & ~raw.matches(texts, ISO_DAY)].sum())
    raise InputRefused(
        "E-DATE-FORMAT",
        f"column {shorten(cells.name)}: looks like dates, and {other:,} cells are not written as 1999-12-31; "
        'declare Column(..., kind="date", format="%d.%m.%Y") in the schema, or list it in categorical=',
    )


def _refuse_comma(cells: Cells, used: NDArray[np.bool_], decimal: str) -> None:
    if decimal == "," or not raw.matches(cells.strings, r"^[-+]?\d+,\d+$")[used].any():
        return
    with_comma = _numeric(cells.strings, ",")
    if with_comma[used].all():
        raise InputRefused(
            "E-DECIMAL",
            f'column {shorten(cells.name)}: holds numbers with a decimal comma; read the file with decimal=","',
        )


def _refuse_mixed(
    cells: Cells, words: NDArray[np.bool_], numbers: NDArray[np.bool_], counts: NDArray[np.int64]
) -> None:
    if 0 < int(words.sum()) <= MOST_SPECIAL_TEXTS and int(numbers.sum()) > UNIQUE_TEXT:
        raise InputRefused(
            "E-MIXED",
            f"column {shorten(cells.name)}: {int(counts[numbers].sum()):,} cells are numbers and {int(counts[words].sum()):,} are text "
            f"({int(words.sum())} different); list the texts that stand for a missing number in missing=, or the column in categorical=",
        )


def _coded(
    name: str,
    levels: tuple[Level, ...],
    missing: tuple[Level, ...],
    *,
    binary: bool = False,
    ordered: bool = False,
) -> Column:
    whole = tuple(
        int(level) if isinstance(level, float) and level.is_integer() else level for level in levels
    )
    if ordered:
        return Column(name, "ordered", levels=whole, missing=missing)
    return Column(
        name, "binary" if binary and len(whole) == 2 else "categorical", levels=whole, missing=missing
    )


def _all_missing(name: str, missing: tuple[Level, ...]) -> Column:
    raw.note("E-COL-ALLNA", f"column {shorten(name)}: every cell is missing; it is carried as it is")
    return Column(name, "continuous", missing=missing)


def _left_behind(name: str, what: str, missing: tuple[Level, ...], role: str = "drop") -> Column:
    raw.note(
        "E-TEXT-UNIQUE",
        f"column {shorten(name)}: {what}; it is left behind (role {role}). List it in categorical= to keep it",
    )
    return Column(name, "categorical", role="id" if role == "id" else "drop", missing=missing)


def _listed(texts: pa.Array, used: NDArray[np.bool_]) -> list[str]:
    return list(texts.filter(pa.array(used)).to_pylist())
