"""Counting as Ibis expressions, the one place where the untyped library enters: the same ones can run on another database.

A missing cell of a number is null or not a number, one of a text null or empty; a group holds those that are missing alike.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import ibis  # type: ignore[import-untyped]
from ibis.backends.sql.datatypes import DuckDBType  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stead.engine.database import Database

Expression: TypeAlias = Any
SAME = 1e-9
"""Numbers of two files are the same when they differ by less than this share."""


def table_of(name: str, types: Mapping[str, str]) -> Expression:
    """A table of the database by its name, with its columns and their types in DuckDB."""
    return ibis.table({column: DuckDBType.from_string(kind) for column, kind in types.items()}, name=name)


def sql(expression: Expression) -> str:
    """What DuckDB is asked."""
    return str(ibis.to_sql(expression, dialect="duckdb"))


def different(table: Expression, name: str, first: int | None = None) -> Expression:
    """The different values of a column, or of its first rows."""
    return table.select(value=_cell(table, name)).limit(first).distinct()


def summed(
    database: Database, real: Expression, synthetic: Expression, kept: Sequence[str], made: Sequence[str]
) -> Expression:
    """Of a confidential file and a synthetic one that is aligned: sum of T/c, number of records with c = 1, and of these with T = 1."""
    names = [f"k{place}" for place in range(len(kept) + len(made))]
    left = real.select(**{key: _cell(real, name) for key, name in zip(names, (*kept, *made), strict=True)})
    right = synthetic.select(
        **{f"made_{key}": _cell(synthetic, name) for key, name in zip(names, (*kept, *made), strict=True)}
    )
    pairs = database.beside(left, right)
    own = _all(pairs[name].identical_to(pairs[f"made_{name}"]) for name in names)
    rows = pairs.select(*names, records=_number(1), matches=_number(0), own=own.cast("int64"))
    others = right.rename({name: f"made_{name}" for name in names})
    others = others.select(*names, records=_number(0), matches=_number(1), own=_number(0))
    cells = _added(rows.union(others), names, ["records", "matches", "own"])
    alone = cells.matches == 1
    return cells.aggregate(
        expected=(cells.own / cells.matches).sum(where=cells.matches > 0),
        unique=cells.records.sum(where=alone),
        true=cells.own.sum(where=alone),
    )


def grouped(
    tables: Sequence[Expression],
    keys: Sequence[str],
    target: Sequence[str],
    missing: Sequence[Sequence[Any]],
) -> Expression:
    """Each cell of keys and target: rows of every table, number of its group of keys, whether all its columns have a value.

    A missing code of its column is no value.
    """
    names = [f"k{place}" for place in range(len(keys) + len(target))]
    counts = [f"n{place}" for place in range(len(tables))]
    parts = []
    for table, own in zip(tables, counts, strict=True):
        cells = {key: _cell(table, name) for key, name in zip(names, (*keys, *target), strict=True)}
        parts.append(table.select(**cells, **{name: _number(int(name == own)) for name in counts}))
    cells = _added(reduce(lambda rows, more: rows.union(more), parts), names, counts)
    number = ibis.dense_rank().over(order_by=[cells[name] for name in names[: len(keys)]])
    present = _all(
        (cells[name].notnull() & ~cells[name].isin(codes)).fill_null(False)
        if codes
        else cells[name].notnull()
        for name, codes in zip(names, missing, strict=True)
    )
    return cells.select(*counts, group=number, present=present.cast("int64"))


def unlike(
    database: Database, real: Expression, other: Expression, names: Sequence[str], near: Sequence[str]
) -> Expression:
    """In how many rows each column of two files differs; numbers that are near may differ by rounding in the last place."""
    left = real.select(**{f"k{place}": _cell(real, name) for place, name in enumerate(names)})
    right = other.select(**{f"made_k{place}": _cell(other, name) for place, name in enumerate(names)})
    pairs = database.beside(left, right)
    counts = {}
    for place, name in enumerate(names):
        one, two = pairs[f"k{place}"], pairs[f"made_k{place}"]
        same = one.identical_to(two)
        if name in near:
            same = same | (
                (one.cast("float64") - two.cast("float64")).abs() <= SAME * two.cast("float64").abs()
            ).fill_null(False)
        counts[f"k{place}"] = (~same).cast("int64").sum()
    return pairs.aggregate(**counts)


def _cell(table: Expression, name: str) -> Expression:
    """A column with one kind of missing."""
    column = table[name]
    if column.type().is_floating():
        return column.isnan().ifelse(ibis.null(), column)
    return column.nullif("") if column.type().is_string() else column


def _added(rows: Expression, names: Sequence[str], counts: Sequence[str]) -> Expression:
    return rows.group_by(names).aggregate(**{name: rows[name].sum() for name in counts})


def _all(flags: Any) -> Expression:
    return reduce(lambda one, other: one & other, flags)


def _number(value: int) -> Expression:
    return ibis.literal(value, "int64")
