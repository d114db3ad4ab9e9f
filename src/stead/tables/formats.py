"""Formats of files, by their endings: who reads them, who writes them, which settings reading takes.

Text, Parquet and Arrow are read here; statistical packages and SQLite have modules of their own, which are
loaded when a file of theirs is met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused, UsageError, shorten
from stead.tables import cells as raw
from stead.tables.arrow import csv, feather, pa, parquet
from stead.tables.export import with_codes
from stead.tables.loaded import Loaded
from stead.tables.names import drop_row_numbers, unique_names
from stead.tables.structure import LONGEST_ROW, examine, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stead.tables.records import Records
    from stead.tables.sources import Data

    Reader = Callable[[Path, Data], Loaded]
    Writer = Callable[[Records, Path], None]


@dataclass(frozen=True)
class Format:
    """How files of some endings are read and written; `settings` of `Data` are those that reading takes."""

    read: Reader
    write: Writer | None = None
    settings: tuple[str, ...] = ()


def format_of(path: Path) -> Format:
    """The format of a file that is to be read."""
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        raise UsageError(
            "E-FILE-TYPE",
            f"{shorten(path.name)}: cannot be read; the endings known are {', '.join(sorted(FORMATS))}, and archives are not opened",
        )
    return found


def writer_of(path: Path) -> Writer:
    """What writes a file of this ending."""
    found = FORMATS.get(path.suffix.lower())
    if found is None or found.write is None:
        written = sorted(ending for ending, one in FORMATS.items() if one.write)
        raise UsageError(
            "E-FILE-TYPE", f"{shorten(path.name)}: cannot be written; the endings are {', '.join(written)}"
        )
    return found.write


# ---- delimited text ---------------------------------------------------------------------------------


def _read_text(file: Path, data: Data) -> Loaded:
    name = shorten(file.name)
    found = examine(load(file, data.encoding), file, data.delimiter)
    names = unique_names(found.header, name)
    places = [f"c{position}" for position in range(len(names))]
    body = pa.py_buffer(np.ascontiguousarray(found.data[found.start :]))
    try:
        parsed = csv.read_csv(
            pa.BufferReader(body),
            read_options=csv.ReadOptions(column_names=places, block_size=LONGEST_ROW),
            parse_options=csv.ParseOptions(
                delimiter=data.delimiter, newlines_in_values=found.quoted_newlines, ignore_empty_lines=False
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()), null_values=[""], strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid:
        parsed = None
    if parsed is None or parsed.num_rows != found.rows:
        read_rows = "none" if parsed is None else f"{parsed.num_rows:,}"
        raise InputRefused(
            "E-ROW-COUNT",
            f"{name}: two parsers do not agree on the number of rows ({found.rows:,} and {read_rows}); look for quotes that are not closed",
        )
    if found.blank:
        raw.note(
            "E-BLANK",
            f"{name}: {found.blank:,} lines are blank; in a file of one column they are missing cells",
        )
    return Loaded(drop_row_numbers(parsed.rename_columns(list(names)), name))


def _write_text(records: Records, path: Path) -> None:
    csv.write_csv(with_codes(records), path, csv.WriteOptions(quoting_style="needed"))


# ---- Parquet and Arrow ------------------------------------------------------------------------------


def _read_parquet(file: Path, _: Data) -> Loaded:
    return _validated(file, lambda: parquet.read_table(file, page_checksum_verification=True))


def _read_arrow(file: Path, _: Data) -> Loaded:
    return _validated(file, lambda: feather.read_table(file))


def _validated(file: Path, read: Callable[[], pa.Table]) -> Loaded:
    name = shorten(file.name)
    try:
        table = read()
        table.validate(full=True)  # offsets within the file, texts in UTF-8
    except (pa.ArrowException, OSError, ValueError):
        table = None
    if table is None:
        raise broken(file)
    return Loaded(drop_row_numbers(table.rename_columns(list(unique_names(table.column_names, name))), name))


def broken(file: Path) -> InputRefused:
    """The refusal of a file that its reader could not make sense of."""
    return InputRefused(
        "E-FILE-BROKEN",
        f"{shorten(file.name)}: cannot be read to its end: it is truncated, damaged, or not what its ending says",
    )


def _write_parquet(records: Records, path: Path) -> None:
    parquet.write_table(with_codes(records), path, write_page_checksum=True)


def _write_arrow(records: Records, path: Path) -> None:
    feather.write_feather(with_codes(records), str(path), compression="uncompressed")


# ---- statistical packages and SQLite ----------------------------------------------------------------


def _require_content(file: Path) -> None:
    if not file.stat().st_size:
        raise InputRefused("E-NO-ROWS", f"{shorten(file.name)}: no rows: the file is empty")


def _read_package(file: Path, data: Data) -> Loaded:
    from stead.tables.statistical import read_package

    _require_content(file)
    return read_package(file, data.encoding)


def _write_package(records: Records, path: Path) -> None:
    from stead.tables.statistical_out import write_package

    write_package(records, path)


def _read_sqlite(file: Path, data: Data) -> Loaded:
    from stead.tables.sql import read_sqlite

    _require_content(file)
    return read_sqlite(file, data.table, data.query, data.name)


TEXT = Format(_read_text, None, ("encoding", "delimiter", "decimal"))
PARQUET, ARROW = Format(_read_parquet, _write_parquet), Format(_read_arrow, _write_arrow)
PACKAGE, READ_ONLY = (
    Format(_read_package, _write_package, ("encoding",)),
    Format(_read_package, None, ("encoding",)),
)
SQLITE = Format(_read_sqlite, None, ("table", "query"))
FORMATS = {
    ".csv": Format(_read_text, _write_text, TEXT.settings),
    **dict.fromkeys((".txt", ".tsv", ".dat"), TEXT),
    **dict.fromkeys((".parquet", ".pq"), PARQUET),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), ARROW),
    **dict.fromkeys((".sav", ".zsav", ".dta", ".xpt"), PACKAGE),
    **dict.fromkeys((".por", ".sas7bdat"), READ_ONLY),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3"), SQLITE),
}
