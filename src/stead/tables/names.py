"""Column names as a file or a dataframe gives them: each there, each once, each of bearable length."""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused, shorten
from stead.tables.arrow import pa
from stead.tables.cells import note
from stead.tables.schema import LONGEST_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable


def unique_names(names: Iterable[str], where: str) -> tuple[str, ...]:
    """The names, or a refusal; names that differ only by blanks around them or by how an accent is composed are one."""
    listed = tuple(names)
    plain = [unicodedata.normalize("NFC", name).strip() for name in listed]
    for position, name in enumerate(plain, start=1):
        if len(listed[position - 1]) > LONGEST_NAME:
            raise InputRefused(
                "E-NAME-LONG",
                f"{where}: the name of column {position} has {len(listed[position - 1]):,} characters, at most {LONGEST_NAME}",
            )
        if not name and position > 1:
            raise InputRefused(
                "E-NAME-EMPTY",
                f"{where}: column {position} has no name; only a first column of row numbers may go without",
            )
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise InputRefused(
                "E-NAME-TEXT", f"{where}: the name of column {position} is not valid Unicode text"
            )
    twice = sorted(shorten(name) for name, times in Counter(plain).items() if times > 1)
    if twice:
        raise InputRefused(
            "E-NAME-TWICE",
            f"{where}: {len(twice):,} column names occur more than once: {', '.join(twice[:10])}; rename them",
        )
    return listed


def drop_row_numbers(loaded: pa.Table, where: str) -> pa.Table:
    """An unnamed first column that counts rows is what R's write.csv adds."""
    if not loaded.column_names or loaded.column_names[0].strip():
        return loaded
    try:
        numbers = np.asarray(loaded.column(0).drop_null().cast(pa.int64()))
    except (pa.ArrowException, ValueError, TypeError):
        numbers = np.zeros(0, np.int64)
    if len(numbers) != loaded.num_rows or (np.diff(numbers) < 1).any():
        raise InputRefused("E-NAME-EMPTY", f"{where}: column 1 has no name and does not count rows; name it")
    note("E-ROW-NUMBERS", f"{where}: the unnamed first column counts rows; it is left out")
    return loaded.remove_column(0)
