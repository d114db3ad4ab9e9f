"""One question to DuckDB: Parquet files in, a few numbers or a stream of rows out.

Ibis turns an expression into SQL and DuckDB runs it directly: going through `to_pyarrow()` would load pandas. What does not fit in
memory is spilled into a folder for its owner only, which is gone when the question is answered.
"""

from __future__ import annotations

import re
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb

from stead.engine.expressions import sql, table_of
from stead.errors import InputRefused, UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from stead.engine.expressions import Expression
    from stead.tables.arrow import pa


class Database:
    """Some files as tables of Ibis expressions, in their order."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> None:
        """Name the files to a connection; their rows stay where they are."""
        self._connection = connection
        self.tables = [
            self._view(f"file_{place}", connection.read_parquet(_literal(path)))
            for place, path in enumerate(paths)
        ]

    def beside(self, left: Expression, right: Expression) -> Expression:
        """Row i of two tables as one row; the names of their columns differ."""
        self._view("left_rows", self._run(left))
        self._view("right_rows", self._run(right))
        return self._view("pairs", self._connection.sql("SELECT * FROM left_rows POSITIONAL JOIN right_rows"))

    def arrow(self, expression: Expression) -> pa.Table:
        """The rows of an expression."""
        return self._run(expression).to_arrow_table()

    def arrays(self, expression: Expression) -> list[NDArray[Any]]:
        """Its columns, which hold numbers only."""
        return [column.to_numpy() for column in self.arrow(expression).columns]

    def numbers(self, expression: Expression) -> list[float]:
        """The one row of an aggregate; a sum of nothing is 0."""
        return [column[0].as_py() or 0 for column in self.arrow(expression).columns]

    def batches(self, expression: Expression, rows: int) -> Iterator[pa.RecordBatch]:
        """The rows of an expression in their order, some at a time."""
        yield from self._run(expression).to_arrow_reader(rows)

    def _run(self, expression: Expression) -> duckdb.DuckDBPyRelation:
        return self._connection.sql(sql(expression))

    def _view(self, name: str, rows: duckdb.DuckDBPyRelation) -> Expression:
        rows.create_view(name)
        return table_of(name, dict(zip(rows.columns, map(str, rows.types), strict=True)))


@contextmanager
def database(paths: Sequence[Path], memory: str) -> Iterator[Database]:
    """Files for as long as the block lasts. What DuckDB says of an error may quote a cell, and is not passed on."""
    failed: type[duckdb.Error] | None = None
    with tempfile.TemporaryDirectory(prefix=".stead-") as spill:
        try:
            with duckdb.connect(config={"memory_limit": memory, "temp_directory": spill}) as connection:
                yield Database(connection, paths)
        except duckdb.Error as error:
            failed = type(error)
    if failed is None:
        return
    if issubclass(
        failed, (duckdb.ParserException, duckdb.InvalidInputException, duckdb.CatalogException)
    ) and not _sized(memory):
        raise UsageError("E-MEMORY", 'memory is a size such as "1GB" or "500MB"')
    if issubclass(failed, duckdb.OutOfMemoryException):
        raise UsageError(
            "E-MEMORY", f"DuckDB needs more than {shorten(memory)} for this; give the engine more memory"
        )
    names = ", ".join(shorten(path.name) for path in paths)
    raise InputRefused(
        "E-FILE-BROKEN", f"{names}: cannot be read to the end: truncated, damaged, or changed meanwhile"
    )


def _sized(memory: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?\s*[kKmMgGtT]i?[bB]", memory) is not None


def _literal(path: Path) -> str:
    """A path that DuckDB takes for one file, whatever characters it has."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
