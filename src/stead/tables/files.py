"""Ways in and out: delimited text, Parquet, Arrow, and any dataframe.

`read` and `table` end in one place, `_records`: names are checked, each column gets its place in the
schema (given or inferred), and its cells become values.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from stead.errors import InputRefused, SteadError, UsageError, nearest, shorten
from stead.tables import cells as raw
from stead.tables.arrow import csv, feather, pa, parquet
from stead.tables.convert import check_role, check_weight, decode
from stead.tables.export import with_codes
from stead.tables.frames import arrow_of
from stead.tables.infer import infer
from stead.tables.names import drop_row_numbers, unique_names
from stead.tables.records import Records, Values
from stead.tables.schema import Column, Schema
from stead.tables.structure import LONGEST_ROW, examine, load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stead.tables.schema import Level

    Codes: TypeAlias = Level | Iterable[Level]
    MissingCodes: TypeAlias = Codes | Mapping[str, Codes]

TEXT, PARQUET, ARROW = {".csv", ".txt", ".tsv", ".dat"}, {".parquet", ".pq"}, {".arrow", ".feather", ".ipc"}
WRITTEN = {".csv"} | PARQUET | ARROW


def read(
    path: str | Path,
    schema: Schema | None = None,
    *,
    categorical: Iterable[str] = (),
    missing: MissingCodes = (),
    encoding: str = "utf-8",
    delimiter: str = ",",
    decimal: str = ".",
) -> Records:
    """Read a data file: delimited text, Parquet or Arrow, by its ending.

    Without a schema, text is categorical and numbers are numeric unless listed in `categorical`. An
    empty cell is missing; so is NA in a numeric column, and whatever `missing` lists (for all columns,
    or a mapping from a column to its codes).
    """
    if decimal not in {".", ","}:
        raise UsageError("E-DECIMAL", 'decimal is "." or ","')
    table = arrow_table(path, encoding=encoding, delimiter=delimiter)
    return _records(
        table, schema, categorical, missing, where=f"{shorten(Path(path).name)}: ", decimal=decimal
    )


def table(
    dataframe: Any,
    schema: Schema | None = None,
    *,
    categorical: Iterable[str] = (),
    missing: MissingCodes = (),
) -> Records:
    """Take a dataframe (pandas, polars, Arrow, or a mapping of columns); the same rules as `read`."""
    return _records(arrow_of(dataframe), schema, categorical, missing, where="", decimal=".")


def arrow_table(path: str | Path, *, encoding: str = "utf-8", delimiter: str = ",") -> pa.Table:
    """The file as an Arrow table; the columns of a text file are all text."""
    file = Path(path)
    try:
        found = file.is_file()
    except OSError:  # a name that is too long, a folder that is closed
        found = False
    if not found:
        raise UsageError("E-FILE", f"no file is called {shorten(str(path), 200)}")
    suffix = file.suffix.lower()
    if suffix in TEXT:
        return _read_text(file, encoding, delimiter)
    if suffix in PARQUET | ARROW:
        return _read_binary(file, is_parquet=suffix in PARQUET)
    raise UsageError(
        "E-FILE-TYPE",
        f"{shorten(file.name)}: cannot be read; the endings known are {', '.join(sorted(TEXT | PARQUET | ARROW))}, and archives are not opened",
    )


def _read_text(file: Path, encoding: str, delimiter: str) -> pa.Table:
    found = examine(load(file, encoding), file, delimiter)
    names = unique_names(found.header, shorten(file.name))
    places = [f"c{position}" for position in range(len(names))]
    body = pa.py_buffer(np.ascontiguousarray(found.data[found.start :]))
    try:
        parsed = csv.read_csv(
            pa.BufferReader(body),
            read_options=csv.ReadOptions(column_names=places, block_size=LONGEST_ROW),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=found.quoted_newlines, ignore_empty_lines=False
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
            f"{shorten(file.name)}: two parsers do not agree on the number of rows ({found.rows:,} and {read_rows}); look for quotes that are not closed",
        )
    if found.blank:
        raw.note(
            "E-BLANK",
            f"{shorten(file.name)}: {found.blank:,} lines are blank; in a file of one column they are missing cells",
        )
    return drop_row_numbers(parsed.rename_columns(list(names)), shorten(file.name))


def _read_binary(file: Path, *, is_parquet: bool) -> pa.Table:
    try:
        loaded = (
            parquet.read_table(file, page_checksum_verification=True)
            if is_parquet
            else feather.read_table(file)
        )
        loaded.validate(full=True)  # offsets within the file, texts in UTF-8
    except (pa.ArrowException, OSError, ValueError):
        loaded = None
    if loaded is None:
        raise InputRefused(
            "E-FILE-BROKEN",
            f"{shorten(file.name)}: cannot be read to its end: it is truncated, damaged, or not what its ending says",
        )
    return drop_row_numbers(
        loaded.rename_columns(list(unique_names(loaded.column_names, shorten(file.name)))),
        shorten(file.name),
    )


def _records(
    loaded: pa.Table,
    schema: Schema | None,
    categorical: Iterable[str],
    missing: MissingCodes,
    *,
    where: str,
    decimal: str,
) -> Records:
    names = tuple(loaded.column_names)
    if not loaded.num_rows:
        raise InputRefused("E-NO-ROWS", f"{where}no rows")
    if not names:
        raise InputRefused("E-NO-COLUMNS", f"{where}no columns beside the row numbers")
    listed = (categorical,) if isinstance(categorical, str) else tuple(categorical)
    codes = _missing_by_column(missing, names)
    for name in listed:
        if name not in names:
            raise UsageError(
                "E-COLUMN",
                f"{where}categorical= lists {shorten(str(name))}, which is not a column; {nearest(str(name), names)}",
            )
    if schema is not None:
        if listed or any(codes.values()):
            raise UsageError(
                "E-SCHEMA", "the schema says what is categorical and what is missing; give it alone"
            )
        _same_columns(schema, names, where)
    declared: list[Column] = []
    columns: dict[str, Values] = {}
    for name in names if schema is None else (name for name in schema.names if name in names):
        if schema is not None and schema[name].role == "drop":
            declared.append(schema[name])
            continue
        try:
            cells = raw.from_arrow(name, loaded.column(name))
            column = (
                schema[name]
                if schema is not None
                else infer(cells, categorical=name in listed, missing=codes[name], decimal=decimal)
            )
            declared.append(column)
            _take(cells, column, columns, decimal)
        except SteadError as error:
            raise type(error)(error.code, f"{where}{error.message}") from None
    return Records(Schema(declared), columns, loaded.num_rows)


def _take(cells: raw.Cells, column: Column, columns: dict[str, Values], decimal: str) -> None:
    """Check what the role promises, and keep the values where the role carries them."""
    check_role(column, cells)
    if column.carried:
        columns[column.name] = decode(cells, column, decimal=decimal)
    if column.role == "weight":
        check_weight(column, columns[column.name])


def _missing_by_column(missing: MissingCodes, names: tuple[str, ...]) -> dict[str, tuple[Level, ...]]:
    if not isinstance(missing, Mapping):
        return dict.fromkeys(names, _listed(missing))
    for name in missing:
        if name not in names:
            raise UsageError(
                "E-COLUMN",
                f"missing= names {shorten(str(name))}, which is not a column; {nearest(str(name), names)}",
            )
    return {name: _listed(missing.get(name, ())) for name in names}


def _listed(codes: Codes) -> tuple[Level, ...]:
    return (codes,) if isinstance(codes, (str, int, float)) else tuple(codes)


def _same_columns(schema: Schema, names: tuple[str, ...], where: str) -> None:
    lacking = [name for name in schema.carried if name not in names]
    added = [name for name in names if name not in schema]
    if lacking:
        raise InputRefused(
            "E-COLUMN-LACKING",
            f"{where}lacks {', '.join(map(shorten, lacking[:10]))}; {nearest(lacking[0], names)}",
        )
    if added:
        raise InputRefused(
            "E-COLUMN-ADDED",
            f"{where}has columns that the schema does not declare: {', '.join(map(shorten, added[:10]))}; declare them, with the role drop if they are not wanted",
        )


def write(records: Records, path: str | Path) -> Path:
    """Write records as CSV, Parquet or Arrow, by the ending of `path`; whole or not at all."""
    from stead.store.artefacts import replacing

    target = Path(os.fspath(path))
    _require_written(target)
    with replacing(target) as temporary:
        write_plain(records, temporary)
    return target


def write_plain(records: Records, path: Path) -> None:
    """Write to `path` at once; `Folder.write` and `write` make it safe."""
    _require_written(path)
    suffix, table = path.suffix.lower(), with_codes(records)
    if suffix in PARQUET:
        parquet.write_table(table, path, write_page_checksum=True)
    elif suffix == ".csv":
        csv.write_csv(table, path, csv.WriteOptions(quoting_style="needed"))
    else:
        feather.write_feather(table, str(path), compression="uncompressed")


def _require_written(path: Path) -> None:
    if path.suffix.lower() not in WRITTEN:
        raise UsageError(
            "E-FILE-TYPE",
            f"{shorten(path.name)}: cannot be written; the endings are .csv, .parquet and .arrow",
        )


__all__ = ["Column", "arrow_of", "arrow_table", "read", "table", "write", "write_plain"]
