"""Ways in and out: delimited text, Parquet, Arrow, and any dataframe.

`read` and `table` end in one place, `_records`: names are checked, each column gets its place in the
schema (given or inferred), and its cells become values.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from stead.errors import InputRefused, SteadError, UsageError, nearest, shorten
from stead.tables import cells as raw
from stead.tables.arrow import csv, feather, pa, parquet
from stead.tables.convert import check_role, check_weight, decode, note
from stead.tables.infer import infer
from stead.tables.records import Records, Values
from stead.tables.schema import LONGEST_NAME, Column, Schema
from stead.tables.structure import examine, load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stead.tables.schema import Level

    MissingCodes: TypeAlias = Iterable[Level] | Mapping[str, Iterable[Level]]

TEXT, PARQUET, ARROW = {".csv", ".txt", ".tsv", ".dat"}, {".parquet", ".pq"}, {".arrow", ".feather", ".ipc"}
CELL_LIMIT = 16 << 20


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
    return _records(_from_dataframe(dataframe), schema, categorical, missing, where="", decimal=".")


def arrow_table(path: str | Path, *, encoding: str = "utf-8", delimiter: str = ",") -> pa.Table:
    """The file as an Arrow table; the columns of a text file are all text."""
    file = Path(path)
    if not file.is_file():
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
    names = _unique_names(found.header, shorten(file.name))
    places = [f"c{position}" for position in range(len(names))]
    body = pa.py_buffer(np.ascontiguousarray(found.data[found.start :]))
    try:
        parsed = csv.read_csv(
            pa.BufferReader(body),
            read_options=csv.ReadOptions(column_names=places, block_size=CELL_LIMIT),
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
    return _drop_row_numbers(parsed.rename_columns(list(names)), shorten(file.name))


def _read_binary(file: Path, *, is_parquet: bool) -> pa.Table:
    try:
        loaded = (
            parquet.read_table(file, page_checksum_verification=True)
            if is_parquet
            else feather.read_table(file)
        )
    except (pa.ArrowException, OSError):
        loaded = None
    if loaded is None:
        raise InputRefused(
            "E-FILE-BROKEN",
            f"{shorten(file.name)}: cannot be read to its end: it is truncated, damaged, or not what its ending says",
        )
    return _drop_row_numbers(
        loaded.rename_columns(list(_unique_names(loaded.column_names, shorten(file.name)))),
        shorten(file.name),
    )


def _from_dataframe(dataframe: Any) -> pa.Table:
    if isinstance(dataframe, Records):
        raise UsageError("E-TABLE", "these are records already; no table() is needed")
    if isinstance(dataframe, pa.Table):
        return _drop_row_numbers(
            dataframe.rename_columns(list(_unique_names(dataframe.column_names, "the table"))), "the table"
        )
    names, columns = _native_columns(dataframe)
    texts = [name if isinstance(name, str) else str(name) for name in names]
    if any(not isinstance(name, str) for name in names):
        note("E-NAME-TEXT", "column names that are not text are turned into text")
    unique = _unique_names(texts, "the table")
    return _drop_row_numbers(
        pa.Table.from_arrays(
            [_arrow_column(*pair) for pair in zip(unique, columns, strict=True)], list(unique)
        ),
        "the table",
    )


def _native_columns(dataframe: Any) -> tuple[list[Any], list[Any]]:
    """The names of a dataframe as its owner gave them, and its columns; names that occur twice are refused."""
    if isinstance(dataframe, dict):
        return list(dataframe), list(dataframe.values())
    import narwhals as nw

    names = list(getattr(dataframe, "columns", ()))
    _unique_names([str(name) for name in names], "the table")
    try:
        frame = nw.from_native(dataframe, eager_only=True)
    except TypeError:
        frame = None
    if frame is None:
        raise UsageError(
            "E-TABLE",
            f"a {type(dataframe).__name__} is not a table; give a pandas, polars or Arrow table, or a mapping of columns",
        )
    return names or list(frame.columns), list(frame.iter_columns())


def _arrow_column(name: str, column: Any) -> pa.ChunkedArray:
    """One column of a dataframe; a column of mixed objects is read as text, cell by cell."""
    try:
        array = column.to_arrow() if hasattr(column, "to_arrow") else pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        array = None
    if array is None:
        objects = column.to_list() if hasattr(column, "to_list") else list(column)
        plain = [
            None if cell is None or (isinstance(cell, float) and math.isnan(cell)) else cell
            for cell in objects
            if not isinstance(cell, (list, dict, set, tuple))
        ]
        if len(plain) != len(objects):
            raise InputRefused(
                "E-CELL-TYPE",
                f"column {shorten(name)}: {len(objects) - len(plain):,} cells hold lists or records, and a cell is a number, a text or a date; drop or unpack it",
            )
        array = pa.array([None if cell is None else str(cell) for cell in plain], pa.string())
    return pa.chunked_array([array]) if isinstance(array, pa.Array) else array


def _unique_names(names: Iterable[str], where: str) -> tuple[str, ...]:
    listed = tuple(names)
    for position, name in enumerate(listed, start=1):
        if len(name) > LONGEST_NAME:
            raise InputRefused(
                "E-NAME-LONG",
                f"{where}: the name of column {position} has {len(name):,} characters, at most {LONGEST_NAME}",
            )
        if not name and position > 1:
            raise InputRefused(
                "E-NAME-EMPTY",
                f"{where}: column {position} has no name; only a first column of row numbers may go without",
            )
    twice = sorted({shorten(name) for name in listed if listed.count(name) > 1})
    if twice:
        raise InputRefused(
            "E-NAME-TWICE",
            f"{where}: column names that occur more than once: {', '.join(twice[:10])}; rename them",
        )
    return listed


def _drop_row_numbers(loaded: pa.Table, where: str) -> pa.Table:
    """An unnamed first column that counts rows is what R's write.csv adds."""
    if not loaded.column_names or loaded.column_names[0]:
        return loaded
    first = loaded.column(0)
    try:
        numbers = np.asarray(first.cast(pa.int64()))
    except (pa.ArrowException, ValueError, TypeError):
        numbers = np.zeros(0, np.int64)
    if (
        len(numbers) != loaded.num_rows
        or len(np.unique(numbers)) != len(numbers)
        or (np.diff(numbers) < 1).any()
    ):
        raise InputRefused("E-NAME-EMPTY", f"{where}: column 1 has no name and does not count rows; name it")
    note("E-ROW-NUMBERS", f"{where}: the unnamed first column counts rows; it is left out")
    return loaded.remove_column(0)


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
    if isinstance(missing, str):
        missing = (missing,)
    if not isinstance(missing, Mapping):
        return dict.fromkeys(names, tuple(missing))
    for name in missing:
        if name not in names:
            raise UsageError(
                "E-COLUMN",
                f"missing= names {shorten(str(name))}, which is not a column; {nearest(str(name), names)}",
            )
    return {name: tuple(missing.get(name, ())) for name in names}


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
    with replacing(target) as temporary:
        write_plain(records, temporary)
    return target


def write_plain(records: Records, path: Path) -> None:
    """Write to `path` at once; `Folder.write` and `write` make it safe."""
    suffix = path.suffix.lower()
    if suffix in PARQUET:
        parquet.write_table(records.to_arrow(), path, write_page_checksum=True)
    elif suffix in ARROW:
        feather.write_feather(records.to_arrow(), str(path), compression="uncompressed")
    elif suffix == ".csv":
        csv.write_csv(_with_codes(records), path, csv.WriteOptions(quoting_style="needed"))
    else:
        raise UsageError(
            "E-FILE-TYPE",
            f"{shorten(path.name)}: cannot be written; the endings are .csv, .parquet and .arrow",
        )


def _with_codes(records: Records) -> pa.Table:
    """The table as text shows it: each declared missing code where it stood."""
    written = records.to_arrow()
    for position, name in enumerate(records.names):
        column, held = records.schema[name], records[name]
        if (held.missing > 0).any():
            texts = np.array(written.column(name).cast(pa.string()).to_pylist(), dtype=object)
            for code, declared in enumerate(column.missing, start=1):
                texts[held.missing == code] = str(declared)
            written = written.set_column(position, name, pa.array(texts, pa.string()))
    return written


__all__ = ["Column", "arrow_table", "read", "table", "write", "write_plain"]
