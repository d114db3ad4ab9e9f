"""Ways in and out: files of every known format, tables of databases, and any dataframe.

`read` and `table` end in one place, `_records`: each column gets its place in the schema (given or
inferred), and its cells become values.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from stead.errors import InputRefused, SteadError, UsageError, nearest, shorten
from stead.tables.convert import check_role, check_weight, decode
from stead.tables.formats import writer_of
from stead.tables.frames import arrow_of
from stead.tables.infer import infer
from stead.tables.loaded import Loaded
from stead.tables.records import Records, Values
from stead.tables.schema import Column, Schema
from stead.tables.sources import Data

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stead.tables import cells as raw
    from stead.tables.schema import Level

    Codes: TypeAlias = Level | Iterable[Level]
    MissingCodes: TypeAlias = Codes | Mapping[str, Codes]


def read(
    path: str | Path,
    schema: Schema | None = None,
    *,
    categorical: Iterable[str] = (),
    missing: MissingCodes = (),
    encoding: str = "utf-8",
    delimiter: str = ",",
    decimal: str = ".",
    table: str = "",
    query: str = "",
) -> Records:
    """Read a data file by its ending, or a table of a database by its address.

    Text, Parquet and Arrow; .sav, .zsav and .por of SPSS, .dta of Stata, .sas7bdat and .xpt of SAS, with their
    labels and missing codes; SQLite and PostgreSQL: "sqlite:///people.db" or "postgresql://host/database" with
    `table` or with `query`, a SELECT.

    Without a schema, text is categorical and numbers are numeric unless listed in `categorical`. An
    empty cell is missing; so is NA in a numeric column, and whatever `missing` lists (for all columns,
    or a mapping from a column to its codes).
    """
    data = Data(os.fspath(path), encoding, delimiter, decimal, table, query)
    return read_data(data, schema, categorical=categorical, missing=missing)


def read_data(
    data: Data, schema: Schema | None = None, *, categorical: Iterable[str] = (), missing: MissingCodes = ()
) -> Records:
    """Read what `data` says, as `read` does."""
    if data.decimal not in {".", ","}:
        raise UsageError("E-DECIMAL", 'decimal is "." or ","')
    return _records(data.load(), schema, categorical, missing, where=f"{data.name}: ", decimal=data.decimal)


def table(
    dataframe: Any,
    schema: Schema | None = None,
    *,
    categorical: Iterable[str] = (),
    missing: MissingCodes = (),
) -> Records:
    """Take a dataframe (pandas, polars, Arrow, or a mapping of columns); the same rules as `read`."""
    return _records(Loaded(arrow_of(dataframe)), schema, categorical, missing, where="", decimal=".")


def _records(
    loaded: Loaded,
    schema: Schema | None,
    categorical: Iterable[str],
    missing: MissingCodes,
    *,
    where: str,
    decimal: str,
) -> Records:
    names = loaded.names
    if not loaded.rows:
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
            cells = loaded.cells(name)
            column = (
                schema[name]
                if schema is not None
                else infer(cells, categorical=name in listed, missing=codes[name], decimal=decimal)
            )
            declared.append(column)
            _take(cells, column, columns, decimal)
        except SteadError as error:
            raise type(error)(error.code, f"{where}{error.message}") from None
    return Records(Schema(declared), columns, loaded.rows)


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
    """Write records by the ending of `path`: CSV, Parquet, Arrow, or .sav, .dta, .xpt with their labels; whole or not at all."""
    from stead.store.artefacts import replacing

    target = Path(os.fspath(path))
    writer = writer_of(target)
    with replacing(target) as temporary:
        writer(records, temporary)
    return target


def write_plain(records: Records, path: Path) -> None:
    """Write to `path` at once; `Folder.write` and `write` make it safe."""
    writer_of(path)(records, path)


__all__ = ["Column", "arrow_of", "read", "read_data", "table", "write", "write_plain"]
