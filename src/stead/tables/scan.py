"""What `stead init` proposes for each column of a file, each with its reason.

`read` takes a column literally or refuses it; a proposal goes further and is for a person to correct:
codes such as -7 are proposed as missing, whole numbers 1 to k as categories, row numbers as identifiers.
Reasons are counts and kinds; levels and codes go into the plan and nowhere else.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused, Notice
from stead.tables import cells as raw
from stead.tables.convert import decode
from stead.tables.infer import DATE_LIKE, MOST_SPECIAL_TEXTS, infer, labelled
from stead.tables.records import Records
from stead.tables.schema import Column, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.tables.cells import Cells
    from stead.tables.loaded import Loaded
    from stead.tables.records import Values
    from stead.tables.sources import Data

SPECIAL = frozenset({-1, -2, -3, -4, -5, -6, -7, -8, -9, -77, -88, -97, -98, -99, -777, -888, -999, -9999})
MOST_CODES = 12
FORMATS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y.%m.%d", "%d-%m-%Y", "%m-%d-%Y")
WEIGHT_NAME = re.compile(r"(?i)(^|_)(weight|weights|wgt|wt|finlwt\w*|pw)\d*$")
ID_NAME = re.compile(r"(?i)(^|_)(id|key|uuid|serial|person|pid|hid|record)(_?(no|nr|number))?$")


@dataclass(frozen=True)
class Scan:
    """The records under a proposed schema, and how the data are to be read."""

    records: Records
    data: Data
    notices: tuple[str, ...]

    @property
    def schema(self) -> Schema:
        """The proposed schema."""
        return self.records.schema

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.records.rows


def scan(data: Data) -> Scan:
    """Read data as they come and propose their schema; an empty delimiter or decimal mark is found out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", Notice)
        data, loaded = _load(data)
        columns = {name: _cells(loaded, name) for name in loaded.names}
        readable = [cells for cells in columns.values() if not isinstance(cells, Column)]
        if not data.decimal:
            comma = data.delimiter != "," and any(_decimal_comma(cells) for cells in readable)
            data = replace(data, decimal="," if comma else ".")
        proposed = [
            cells if isinstance(cells, Column) else labelled(_propose(cells, data.decimal), cells)
            for cells in columns.values()
        ]
    notices = tuple(str(one.message) for one in caught if isinstance(one.message, Notice))
    held = {
        column.name: decode(cells, column, decimal=data.decimal)
        for cells, column in zip(columns.values(), proposed, strict=True)
        if column.carried and not isinstance(cells, Column)
    }
    return Scan(Records(Schema(proposed), held, loaded.rows), data, notices)


def _cells(loaded: Loaded, name: str) -> Cells | Column:
    """A column, or what becomes of it where it holds no cells: lists, bytes, numbers beyond 64 bits."""
    try:
        return loaded.cells(name)
    except InputRefused as error:
        return _unread(name, error)


def _unread(name: str, error: InputRefused) -> Column:
    why = f"cannot be read in one way only ({error.code}); left behind until it is declared"
    return Column(name, "categorical", role="drop", why=why)


def _load(data: Data) -> tuple[Data, Loaded]:
    """The columns, and the data with a delimiter that fits."""
    for candidate in (data.delimiter,) if data.delimiter else (",", ";", "\t", "|"):
        tried = replace(data, delimiter=candidate)
        try:
            return tried, tried.load()
        except InputRefused as error:
            if error.code != "E-DELIMITER" or data.delimiter:
                raise
    usual = replace(data, delimiter=",")
    return usual, usual.load()


def _decimal_comma(cells: Cells) -> bool:
    return (
        cells.shape == "text"
        and bool(len(cells.strings))
        and bool(raw.matches(cells.strings, r"^[-+]?\d+,\d+$").any())
    )


def _propose(cells: Cells, decimal: str) -> Column:
    """The column, with the reason for it."""
    missing = _special_texts(cells, decimal) if cells.shape == "text" else ()
    try:
        column = infer(cells, categorical=False, missing=missing, decimal=decimal)
    except InputRefused as error:
        if error.code == "E-DATE-FORMAT":
            return _date(cells)
        return _unread(cells.name, error)
    if not column.carried:
        return replace(column, why="names, identifiers or free text: nearly every row differs; left behind")
    held = decode(cells, column, decimal=decimal)
    if not held.present.any():
        return replace(column, why="every cell is missing; kept as it is")
    if column.coded:
        gaps = f", {held.gaps:,} cells missing" if held.gaps else ""
        named = " with labels" if column.labels else ""
        return replace(column, why=f"{len(column.levels)} levels{named}{gaps}")
    return _propose_number(column, held, cells.rows)


def _propose_number(column: Column, held: Values, rows: int) -> Column:
    present = held.values[held.present]
    distinct = np.unique(present)
    codes = tuple(int(value) for value in distinct[distinct < 0] if value in SPECIAL)
    if codes and len(codes) <= MOST_SPECIAL_TEXTS and len(codes) == int((distinct < 0).sum()):
        count = int(np.isin(present, codes).sum())
        others = distinct[distinct >= 0]
        inner = Column(
            column.name,
            "count" if column.whole and len(others) <= MOST_CODES else column.kind,
            decimals=column.decimals if column.kind == "continuous" else None,
        )
        inner = replace(inner, missing=(*column.missing, *codes))
        what = "all of them" if not len(others) else "no other value is negative"
        return replace(
            inner,
            why=f"{count:,} cells hold one of {len(codes)} negative whole numbers, {what}: codes for missing",
        )
    gaps = f", {held.gaps:,} cells missing" if held.gaps else ""
    if WEIGHT_NAME.search(column.name) and not held.gaps and distinct[0] > 0:
        return replace(column, role="weight", why="positive numbers in a column named like a survey weight")
    if column.kind == "date":
        return replace(column, why=f"dates{gaps}")
    if _identifies(column, held, distinct, rows):
        return replace(
            column,
            role="id",
            why="every row has a value of its own that orders or names it: an identifier; checked, then left behind",
        )
    if (
        column.whole
        and 2 <= len(distinct) <= MOST_CODES
        and np.array_equal(distinct, np.arange(1, len(distinct) + 1))
    ):
        return Column(
            column.name,
            "categorical",
            levels=tuple(distinct.tolist()),
            missing=column.missing,
            why=f"whole numbers from 1 to the number of levels ({len(distinct)}): codes{gaps}",
        )
    if column.kind == "count":
        return replace(column, why=f"whole numbers from 0 with {len(distinct)} different values{gaps}")
    places = "any number of" if column.decimals is None else f"at most {column.decimals}"
    return replace(column, why=f"numbers with {places} decimals, {len(distinct):,} different{gaps}")


def _identifies(column: Column, held: Values, distinct: NDArray[np.generic], rows: int) -> bool:
    if not column.whole or len(distinct) != rows or rows < 2:
        return False
    return bool((np.diff(held.values) > 0).all()) or bool(ID_NAME.search(column.name))


def _special_texts(cells: Cells, decimal: str) -> tuple[str, ...]:
    """A few words in a column of numbers, such as "refused"."""
    counts = cells.counts()
    plain = raw.plain_numbers(cells.strings, decimal)
    numeric = raw.matches(plain, raw.NUMBER) & (counts > 0)
    words = (
        ~numeric
        & (counts > 0)
        & ~raw.is_one_of(cells.strings, raw.NOT_A_NUMBER)
        & ~raw.matches(plain, raw.INFINITE)
    )
    few = 0 < int(words.sum()) <= MOST_SPECIAL_TEXTS
    if few and int(counts[numeric].sum()) > int(counts[words].sum()) and int(numeric.sum()) > MOST_CODES:
        return tuple(str(cells.strings[place].as_py()) for place in np.flatnonzero(words))
    return ()


def _date(cells: Cells) -> Column:
    texts = [
        str(text)
        for text in cells.strings.filter(raw.mask(raw.matches(cells.strings, DATE_LIKE))).to_pylist()
    ]
    fitting = [form for form in FORMATS if all(_parses(text, form) for text in texts)]
    if len(fitting) == 1 and len(texts) == len(cells.strings):
        return Column(
            cells.name,
            "date",
            format=fitting[0],
            why=f"dates written {fitting[0]}; no other order of day and month fits all of them",
        )
    ways = "in more than one way" if fitting else "in no single way"
    return Column(
        cells.name,
        "categorical",
        role="drop",
        why=f"looks like dates that can be read {ways}; left behind until kind and format are declared",
    )


def _parses(text: str, form: str) -> bool:
    try:
        datetime.strptime(text.strip(), form)  # noqa: DTZ007 - days, not moments
    except ValueError:
        return False
    return True
