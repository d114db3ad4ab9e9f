"""The engine for Parquet files larger than memory: Ibis expressions, run by DuckDB.

Where all columns must agree, counting is one expression: the rows of both files by their keys, with a zero or a one for each of what is
counted, summed in groups. Row i of two files is brought together by DuckDB's positional join, which holds neither of them.
Where columns must be near, rows come in batches, and what is kept of them is one code and a float for each such column.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.engine.base import Groups, Matches
from stead.engine.coding import Digit, coded, digit, singly
from stead.engine.database import Database
from stead.engine.expressions import SAME, different, grouped, summed, unlike
from stead.engine.files import ParquetTable
from stead.engine.rows import RowEngine
from stead.errors import InputRefused, shorten
from stead.randomness import BLOCK
from stead.tables import cells as raw
from stead.tables.arrow import pa
from stead.tables.conform import conform
from stead.tables.infer import infer
from stead.tables.schema import Column, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stead.engine.base import Convention
    from stead.engine.expressions import Expression
    from stead.engine.regions import Keys
    from stead.tables.records import Records

FIRST_ROWS, MOST_DIFFERENT = 100_000, 1_000
"""A number with more different values than this in its first rows is continuous; otherwise all its values are looked at."""


class Tables(RowEngine[ParquetTable]):
    """Counts in files, with at most `memory` for DuckDB's own work."""

    def __init__(self, memory: str = "1GB", *, compiled: bool = True) -> None:
        """Take a bound for memory, as DuckDB writes it."""
        super().__init__(compiled=compiled)
        self._database = Database(memory)
        self._verified: set[tuple[ParquetTable, str]] = set()
        self._found: dict[tuple[ParquetTable, str, int | None], pa.ChunkedArray] = {}

    def column(self, table: ParquetTable, name: str) -> Column:
        """What a column is: as the schema says, or as its values show."""
        meant = table.like or table
        meant.require(name)
        if meant.schema is not None:
            return meant.schema.require(name)
        codes = (meant.missing or {}).get(name, ())
        kind = meant.types[name]
        number = (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and name not in meant.categorical
        if number and len(self._different(meant, name, FIRST_ROWS)) > MOST_DIFFERENT:
            decimals = 0 if pa.types.is_integer(kind) else None
            return Column(name, "continuous", decimals=decimals, missing=codes)
        cells = replace(raw.from_arrow(name, self._different(meant, name)), rows=meant.rows)
        return infer(cells, categorical=not number, missing=codes)

    def digits(
        self, names: Sequence[str], near: Sequence[str], tables: Sequence[ParquetTable]
    ) -> tuple[Digit, ...]:
        """How columns become digits, the same for some tables; of those that must be near only what is missing counts."""
        found = []
        for column in (self.column(tables[0], name) for name in names):
            if column.name in near:
                found.append(Digit(column.name, 1, 1 + len(column.missing)))
            else:
                held = [self._levels(one, column)[column.name] for one in tables]
                found.append(digit(column, held, near=False))
        return tuple(found)

    def map_rows(
        self,
        function: Callable[[Records], tuple[NDArray[Any], ...]],
        table: ParquetTable,
        names: Sequence[str],
    ) -> tuple[NDArray[Any], ...]:
        """Apply a function to blocks of rows, in order; its arrays are joined along their last axis."""
        columns = [self.column(table, name) for name in names]
        whole: list[NDArray[Any]] = []
        at = 0
        for batch in self._database.batches(self._here(table, names).select(*names), BLOCK):
            rows = slice(at, at + batch.num_rows)
            arrays = function(_records(pa.Table.from_batches([batch]), columns, table))
            whole = whole or [np.empty((*one.shape[:-1], table.rows), one.dtype) for one in arrays]
            for joined, one in zip(whole, arrays, strict=True):
                joined[..., rows] = one
            at = rows.stop
        return tuple(whole)

    def match_counts(
        self,
        confidential: ParquetTable,
        synthetic: Sequence[ParquetTable],
        keys: Keys,
        convention: Convention,
    ) -> Matches:
        """Count matches; row i of each set stands for confidential row i, which is verified on the kept columns."""
        near = keys.near(keys.kept + keys.made)
        plain = self._spelled_alike(keys.kept + keys.made, near, [confidential, *synthetic])
        for one in synthetic:
            if one is not confidential:
                self._require_alike(confidential, one, keys, plain=plain)
        if convention == "probabilities" or near or not plain:
            return super().match_counts(confidential, synthetic, keys, convention)
        counted = []
        for one in synthetic:
            real, made = (self._here(table, keys.kept + keys.made) for table in (confidential, one))
            counted.append(self._database.numbers(summed(self._database, real, made, keys.kept, keys.made)))
        expected, unique, true = zip(*counted, strict=True)
        return Matches(confidential.rows, expected, tuple(map(int, unique)), tuple(map(int, true)))

    def group_counts(
        self, tables: Sequence[ParquetTable], keys: Sequence[str], target: Sequence[str] = ()
    ) -> Groups:
        """Count rows by keys, and within these by target; every column must agree, numbers among them."""
        if not self._spelled_alike((*keys, *target), (), tables):
            return super().group_counts(tables, keys, target)
        missing = [self.column(tables[0], name).missing for name in (*keys, *target)]
        here = [self._here(table, (*keys, *target)) for table in tables]
        *counts, group, present = self._database.arrays(grouped(here, keys, target, missing))
        return Groups(np.array(counts, np.int64), group.astype(np.int64), present.astype(np.bool_))

    def _require_alike(
        self, confidential: ParquetTable, made: ParquetTable, keys: Keys, *, plain: bool
    ) -> None:
        """Refuse a file whose kept columns differ from the confidential ones."""
        near = keys.near(keys.kept)
        if not keys.kept:
            return
        if plain:
            real, other = (self._here(table, keys.kept) for table in (confidential, made))
            differ = self._database.numbers(unlike(self._database, real, other, keys.kept, near))
        else:
            digits = self.digits(keys.kept, near, [confidential, made])
            (codes, points), (other_codes, other_points) = (
                self.map_rows(lambda rows: (singly(digits, rows), coded((), near, rows)[1]), one, keys.kept)
                for one in (confidential, made)
            )
            unequal = codes != other_codes
            unequal[[keys.kept.index(name) for name in near]] |= ~np.isclose(
                points, other_points, SAME, 0.0, equal_nan=True
            )
            differ = unequal.sum(axis=1).tolist()
        for name, count in zip(keys.kept, differ, strict=True):
            if count:
                raise InputRefused(
                    "E-ALIGNED",
                    f"column {shorten(name)} of {shorten(made.path.name)} differs from the confidential one in {count:,} rows, so that row i does not stand for record i; "
                    "list it in synthesized, or see that the rows are in one order",
                )

    def _spelled_alike(
        self, names: Sequence[str], near: Sequence[str], tables: Sequence[ParquetTable]
    ) -> bool:
        """Whether cells are equal exactly when their values in the files are.

        They are not where files differ in type, or spell a level in two ways. Levels that only one file has are refused here.
        """
        for name in names:
            if len({str(table.types[name]) for table in tables if name in table.types}) > 1:
                return False
        for one in self.digits([name for name in names if name not in near], (), tables):
            found = [self._different(table, one.name) for table in tables]
            column = self.column(tables[0], one.name)
            levels = [self._levels(table, column)[one.name] for table in tables]
            codes = np.unique(np.concatenate([one.of(held) for held in levels]))
            spelled = pa.chunked_array([part for values in found for part in values.chunks]).unique()
            if len(spelled) != len(codes):
                return False
        return True

    def _different(self, table: ParquetTable, name: str, first: int | None = None) -> pa.ChunkedArray:
        """The different values of a column, or of its first rows."""
        if (table, name, first) not in self._found:
            found = self._database.arrow(different(self._here(table, [name]), name, first))
            self._found[table, name, first] = found.column("value")
        return self._found[table, name, first]

    def _here(self, table: ParquetTable, names: Sequence[str]) -> Expression:
        """A file as a table of expressions, once these columns have been found to be whole."""
        for name in names:
            if name not in table.types:
                raise InputRefused("E-COLUMN-LACKING", f"{shorten(table.path.name)}: lacks {shorten(name)}")
            if (table, name) not in self._verified:
                table.verify(name)
                self._verified.add((table, name))
        return self._database.table(table.path)

    def _levels(self, table: ParquetTable, column: Column) -> Records:
        return _records(pa.table({column.name: self._different(table, column.name)}), [column], table)


def _records(rows: pa.Table, columns: Sequence[Column], table: ParquetTable) -> Records:
    """A batch under the meaning that the confidential file gives its columns."""
    return conform(rows, Schema(columns), shorten(table.path.name))[0]
