"""Tables of databases, through ADBC: SQLite files and PostgreSQL servers. Nothing is ever written to them.

An SQLite file is opened read-only, a transaction of PostgreSQL is read-only, and a query stands inside a SELECT of
ours, so that it can be nothing else. A table is taken from the list of those that exist, and quoted. What a driver says
of an error stays here: it may quote a cell, a password or the query.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import numpy as np

from stead.errors import InputRefused, SteadError, UsageError, nearest, shorten
from stead.tables import cells as raw
from stead.tables.arrow import compute as pc
from stead.tables.arrow import pa
from stead.tables.formats import broken
from stead.tables.limits import MOST_CELLS, bearable, require_few_cells
from stead.tables.loaded import Loaded
from stead.tables.names import unique_names

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    T = TypeVar("T")

SQLITE_HEAD = b"SQLite format 3\0"
AT_ONCE = 200
"""Columns in one survey of an SQLite table; a result has at most 2,000, and a column takes four."""
SQLITE_TABLES = r"""
SELECT '', name, 1 FROM main.sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY name"""
POSTGRESQL_TABLES = """
SELECT n.nspname::text, c.relname::text, pg_catalog.pg_table_is_visible(c.oid)::int
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^(pg_|information_schema$)'
ORDER BY 3 DESC, 1, 2"""
NUMBER_AS_TEXT = (
    "CASE typeof({0}) WHEN 'real' THEN CASE WHEN CAST(printf('%!.15g', {0}) AS REAL) = {0} "
    "THEN printf('%!.15g', {0}) ELSE printf('%!.17g', {0}) END ELSE CAST({0} AS TEXT) END"
)
"""A cell of a column that holds numbers and text; the driver itself would write six digits."""


def read_sqlite(file: Path, table: str, query: str, name: str) -> Loaded:
    """A table of an SQLite file, or what a query of it gives."""

    def work(cursor: Any) -> Loaded:
        cursor.execute("PRAGMA temp_store = MEMORY")
        source = _source(cursor, table, query, SQLITE_TABLES, name)
        names = _columns(cursor, source, name)[0]
        _refuse_renamed(names, name)
        most = min(bearable(file.stat().st_size) // 8, MOST_CELLS) // len(names)
        bounded = f"({_select('*', source, most + 1)})"
        rows, taken = _survey(cursor, bounded, names)
        if rows > most:
            raise InputRefused(
                "E-SIZE",
                f"{name}: has more than {most:,} rows, which is more than a file of this size should hold",
            )
        # the driver takes the type of a column from its first batch, so all rows are one
        cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(rows + 1)})
        return Loaded(_fetched(cursor, taken, bounded, names, name))

    _require_whole(file)
    try:
        import adbc_driver_sqlite.dbapi as driver
    except ImportError:
        raise _lacking(name, "adbc-driver-sqlite") from None
    return _asked(
        driver,
        f"file:{quote(str(file.resolve()))}?mode=ro",
        work,
        lambda error, _: _sqlite_error(error, file, name),
    )


def read_postgresql(address: str, table: str, query: str, name: str) -> Loaded:
    """A table of a PostgreSQL database, or what a query of it gives."""

    def work(cursor: Any) -> Loaded:
        cursor.execute("SET TRANSACTION READ ONLY")
        source = _source(cursor, table, query, POSTGRESQL_TABLES, name)
        names, fields = _columns(cursor, source, name)
        return Loaded(_fetched(cursor, [_postgresql_cell(field) for field in fields], source, names, name))

    try:
        import adbc_driver_postgresql.dbapi as driver  # type: ignore[import-untyped]
    except ImportError:
        raise _lacking(name, "adbc-driver-postgresql") from None
    return _asked(
        driver, address, work, lambda error, reached: _postgresql_error(error, name, reached=reached)
    )


def _asked(
    driver: Any, uri: str, work: Callable[[Any], T], explain: Callable[[Exception, bool], SteadError]
) -> T:
    """The answer of a database; an error of its driver is replaced by one of ours, not chained to it."""
    reached = False
    try:
        with driver.connect(uri) as connection, connection.cursor() as cursor:
            reached = True
            return work(cursor)  # never committed
    except SteadError:
        raise
    except Exception as error:  # noqa: BLE001 - drivers raise their own, those of Arrow and of the system
        refusal = explain(error, reached)
    raise refusal


def _lacking(name: str, package: str) -> UsageError:
    return UsageError("E-EXTRA", f"{name}: needs {package}: pip install 'stead[io]'")


# ---- what is asked for ------------------------------------------------------------------------------


def _source(cursor: Any, table: str, query: str, listing: str, name: str) -> str:
    """What stands behind FROM: a table that exists, quoted, or the query in parentheses."""
    if query and not table:
        return f"(\n{query.rstrip().rstrip(';')}\n) AS asked"
    cursor.execute(listing)
    exist: dict[str, str] = {}
    for schema, relation, visible in cursor.fetchall():
        known = [relation] if visible else []
        for called in [*known, f"{schema}.{relation}"] if schema else known:
            exist.setdefault(called, ".".join(map(_quoted, (schema, relation) if schema else (relation,))))
    if table in exist and not query:
        return f"{exist[table]} AS asked"
    if table and query:
        raise UsageError("E-TABLE-NAME", f"{name}: give table or query, not both")
    listed = [called for called in exist if "." not in called] or list(exist)
    if not table:
        raise UsageError(
            "E-TABLE-NAME", f"{name}: is a database; name a table, or give a query; {nearest('', listed)}"
        )
    raise UsageError("E-TABLE-NAME", f"{name}: is not there; {nearest(table, [*listed, *exist])}")


def _select(what: str, source: str, most: int | None = None) -> str:
    """The one place where a statement is put together: from quoted names, and a query that is its owner's."""
    return f"SELECT {what} FROM {source}" + ("" if most is None else f" LIMIT {most}")  # noqa: S608


def _quoted(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def _columns(cursor: Any, source: str, name: str) -> tuple[tuple[str, ...], list[pa.Field]]:
    cursor.execute(_select("*", source, 0))
    schema = cursor.fetch_arrow_table().schema
    if not schema.names:
        raise InputRefused("E-NO-COLUMNS", f"{name}: no columns")
    return unique_names(schema.names, name), list(schema)


def _fetched(cursor: Any, cells: list[str], source: str, names: tuple[str, ...], name: str) -> pa.Table:
    """All rows; text is UTF-8 and holds no NUL."""
    listed = ", ".join(f"{cell} AS c{place}" for place, cell in enumerate(cells))
    cursor.execute(_select(listed, source))
    batches, rows = [], 0
    with cursor.fetch_record_batch() as stream:
        shape = stream.schema
        for batch in stream:
            batches.append(batch)
            rows += batch.num_rows
            require_few_cells(rows, len(names), name)
    table = pa.Table.from_batches(batches, shape).rename_columns(list(names))
    for column, held in zip(names, table.columns, strict=True):
        if pa.types.is_string(held.type):
            _require_text(column, held)
        elif pa.types.is_date(held.type) or pa.types.is_timestamp(held.type):
            ticks = held.drop_null().cast(pa.int32() if pa.types.is_date(held.type) else pa.int64())
            a_day = 1 if pa.types.is_date(held.type) else raw.DAY * raw.TICKS[held.type.unit]
            raw.require_calendar(column, np.asarray(ticks).astype(np.int64) // a_day)
    return table


def _require_text(name: str, held: pa.ChunkedArray) -> None:
    try:
        held.validate(full=True)
        valid = True
    except pa.ArrowInvalid:
        valid = False
    if not valid:
        raise InputRefused("E-ENCODING", f"column {shorten(name)}: holds text that is not UTF-8; correct it")
    nul = pc.sum(pc.match_substring(held, "\0")).as_py() or 0
    if nul:
        raise InputRefused("E-NUL", f"column {shorten(name)}: {nul:,} cells hold a NUL byte; correct them")


# ---- SQLite -----------------------------------------------------------------------------------------


def _require_whole(file: Path) -> None:
    """The header says how many pages there are (SQLite, Database File Format, 1.3); SQLite itself reads until one is missing."""
    with file.open("rb") as stream:
        head = stream.read(100)
    size, pages = int.from_bytes(head[16:18]), int.from_bytes(head[28:32])
    if not head.startswith(SQLITE_HEAD) or file.stat().st_size < pages * (65_536 if size == 1 else size):
        raise broken(file)


def _survey(cursor: Any, source: str, names: tuple[str, ...]) -> tuple[int, list[str]]:
    """The number of rows, and how to ask for each column: a column of SQLite may hold cells of any type."""
    rows, taken = 0, []
    for start in range(0, len(names), AT_ONCE):
        cells = [_quoted(name) for name in names[start : start + AT_ONCE]]
        counts = [
            f"sum(typeof({cell}) = '{kind}')"
            for cell in cells
            for kind in ("integer", "real", "text", "blob")
        ]
        cursor.execute(_select(", ".join(["count(*)", *counts]), source))
        rows, *found = cursor.fetchone()
        taken += [_sqlite_cell(cell, *found[4 * place : 4 * place + 4]) for place, cell in enumerate(cells)]
    return rows, taken


def _sqlite_cell(
    cell: str, integers: int | None, reals: int | None, texts: int | None, blobs: int | None
) -> str:
    if blobs:
        return f"CAST({cell} AS BLOB)"
    if texts and (integers or reals):
        return NUMBER_AS_TEXT.format(cell)
    return f"CAST({cell} AS REAL)" if integers and reals else cell


def _refuse_renamed(names: tuple[str, ...], where: str) -> None:
    """Of two columns of one name in a query SQLite calls the second name:1."""
    bare = [re.sub(r":\d+$", "", name) for name in names]
    twice = sorted({name for name in bare if name in names and bare.count(name) > 1})
    if twice:
        raise InputRefused(
            "E-NAME-TWICE",
            f"{where}: {len(twice):,} column names occur more than once: {', '.join(map(shorten, twice[:10]))}; rename them with AS",
        )


def _sqlite_error(error: Exception, file: Path, name: str) -> SteadError:
    said = str(error)
    if any(word in said for word in ("not a database", "malformed", "unsupported file format")):
        return broken(file)
    if "locked" in said or "busy" in said:
        return UsageError("E-DATABASE", f"{name}: is locked by another program; try again when it is done")
    return UsageError(
        "E-QUERY",
        f"{name}: SQLite refused; a query is one SELECT of tables and columns that exist, and it only reads",
    )


# ---- PostgreSQL -------------------------------------------------------------------------------------


def _postgresql_cell(field: pa.Field) -> str:
    """The column as it is where a cell can hold it, and as the server writes it where not: numeric, uuid, time, json."""
    kind, cell = field.type, f"asked.{_quoted(field.name)}"
    is_, padded = pa.types, (field.metadata or {}).get(b"POSTGRESQL:type") == b"bpchar"
    held = (is_.is_integer, is_.is_floating, is_.is_boolean, is_.is_string, is_.is_date, is_.is_timestamp)
    refused = (is_.is_nested, is_.is_binary, is_.is_large_binary)
    return cell if not padded and any(one(kind) for one in (*held, *refused)) else f"CAST({cell} AS text)"


def _postgresql_error(error: Exception, name: str, *, reached: bool) -> SteadError:
    if not reached:
        return UsageError(
            "E-DATABASE",
            f"{name}: cannot be reached, or does not let you in; check host, port, database and user, "
            "and keep the password in ~/.pgpass, in a file that PGPASSFILE names, or in PGPASSWORD",
        )
    state = getattr(error, "sqlstate", None)
    shown = f" (SQLSTATE {state})" if state else ""
    if state == "42501":
        return UsageError("E-DATABASE", f"{name}: the user may not read it{shown}; ask for SELECT")
    return UsageError(
        "E-QUERY",
        f"{name}: PostgreSQL refused{shown}; a query is one SELECT of tables and columns that exist, and it only reads",
    )
