"""DuckDB: Parquet files in, a few numbers or a stream of rows out.

Ibis turns an expression into SQL and DuckDB runs it directly: going through `to_pyarrow()` would load pandas. What does not fit in
memory is spilled into a folder for its owner only, which goes with the database. What DuckDB says of an error may quote a cell,
and is not passed on.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import duckdb

from stead.engine.expressions import sql, table_of
from stead.errors import InputRefused, UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from stead.engine.expressions import Expression
    from stead.tables.arrow import pa


class Database:
    """One connection, opened when it is first needed."""

    def __init__(self, memory: str) -> None:
        """Take a bound for the memory of the database."""
        if not re.fullmatch(r"\d+(\.\d+)?\s*[kKmMgGtT]i?[bB]", str(memory)):
            raise UsageError("E-MEMORY", 'memory is a size such as "1GB" or "500MB"')
        self.memory = memory
        self._tables: dict[Path, Expression] = {}

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        spill = tempfile.mkdtemp(prefix=".stead-")  # 0700
        connection = duckdb.connect(config={"memory_limit": self.memory, "temp_directory": spill})
        connection.execute("SET enable_progress_bar = false")  # an interactive Python would find it on stdout
        weakref.finalize(self, _close, connection, spill)
        return connection

    def table(self, path: Path) -> Expression:
        """A file as a table of expressions; its rows stay where they are."""
        if path not in self._tables:
            with self._told():
                rows = self._connection.read_parquet(_literal(path))
                self._tables[path] = self._view(f"file_{len(self._tables)}", rows)
        return self._tables[path]

    def beside(self, left: Expression, right: Expression) -> Expression:
        """Row i of two tables as one row, until the next two; the names of their columns differ."""
        with self._told():
            self._view("left_rows", self._run(left))
            self._view("right_rows", self._run(right))
            both = self._connection.sql("SELECT * FROM left_rows POSITIONAL JOIN right_rows")
            return self._view("pairs", both)

    def arrow(self, expression: Expression) -> pa.Table:
        """The rows of an expression."""
        with self._told():
            return self._run(expression).to_arrow_table()

    def arrays(self, expression: Expression) -> list[NDArray[Any]]:
        """Its columns, which hold numbers only."""
        return [column.to_numpy() for column in self.arrow(expression).columns]

    def numbers(self, expression: Expression) -> list[float]:
        """The one row of an aggregate; a sum of nothing is 0."""
        return [column[0].as_py() or 0 for column in self.arrow(expression).columns]

    def batches(self, expression: Expression, rows: int) -> Iterator[pa.RecordBatch]:
        """The rows of an expression in their order, some at a time."""
        with self._told():
            yield from self._run(expression).to_arrow_reader(rows)

    def _run(self, expression: Expression) -> duckdb.DuckDBPyRelation:
        return self._connection.sql(sql(expression))

    def _view(self, name: str, rows: duckdb.DuckDBPyRelation) -> Expression:
        rows.create_view(name, replace=True)
        return table_of(name, dict(zip(rows.columns, map(str, rows.types), strict=True)))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """An error of DuckDB as one of ours."""
        out_of_memory: bool | None = None
        try:
            yield
        except duckdb.Error as error:
            out_of_memory = isinstance(error, duckdb.OutOfMemoryException)
        if out_of_memory:
            raise UsageError(
                "E-MEMORY", f"DuckDB needs more than {self.memory} for this; give the engine more memory"
            )
        if out_of_memory is not None:
            names = ", ".join(shorten(path.name) for path in self._tables) or "the file"
            raise InputRefused(
                "E-FILE-BROKEN",
                f"{names}: cannot be read to the end: truncated, damaged, or changed meanwhile",
            )


def _close(connection: duckdb.DuckDBPyConnection, spill: str) -> None:
    """At the end of a database, or of the process."""
    connection.close()
    shutil.rmtree(spill, ignore_errors=True)


def _literal(path: Path) -> str:
    """A path that DuckDB takes for one file, whatever characters it has."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
