"""Bring a data set under another's schema: what a file made by any tool needs before it can be compared.

Levels are matched by value, never by position. What a synthetic file may do and a confidential one may not,
have decimals in a whole-number column or leave the bounds, is let through and measured: its column is
relaxed, its values are not changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stead.errors import InputRefused
from stead.tables import cells as raw
from stead.tables.convert import decode
from stead.tables.files import arrow_of
from stead.tables.records import Records
from stead.tables.schema import Schema

if TYPE_CHECKING:
    from stead.tables.cells import Cells
    from stead.tables.records import Values
    from stead.tables.schema import Column


def conform(table: Any, schema: Schema, where: str) -> tuple[Records, tuple[str, ...]]:
    """Records of `table` under `schema`, and the names of columns that the schema does not have."""
    own = table if isinstance(table, Records) else None
    loaded = None if own is not None and all(_same(own, column) for column in schema) else arrow_of(table)
    names = own.names if own is not None else tuple(loaded.column_names if loaded is not None else ())
    columns: dict[str, Values] = {}
    declared: list[Column] = []
    for column in schema:
        if column.name not in names or not column.carried:
            continue
        if own is not None and _same(own, column):
            taken, values = column, own[column.name]
        else:
            taken, values = _decode_relaxed(
                raw.from_arrow(column.name, arrow_of(table).column(column.name)), column, where
            )
        declared.append(taken)
        columns[column.name] = values
    rows = own.rows if own is not None else loaded.num_rows if loaded is not None else 0
    added = tuple(name for name in names if name not in schema)
    return Records(Schema(declared), columns, rows), added


def _same(own: Records, column: Column) -> bool:
    return column.name in own and own.schema[column.name] == column


def _decode_relaxed(cells: Cells, column: Column, where: str) -> tuple[Column, Values]:
    if column.coded or column.kind == "date":
        try:
            return column, decode(cells, column)
        except InputRefused as error:
            raise InputRefused(error.code, f"{where}: {error.message}") from None
    unbounded = replace(column, bounds=(None, None))
    try:
        return unbounded, decode(cells, unbounded)
    except InputRefused as error:
        if error.code != "E-WHOLE":
            raise InputRefused(error.code, f"{where}: {error.message}") from None
    fractional = replace(unbounded, kind="continuous", decimals=None)
    return fractional, decode(cells, fractional)


def differing_rows(confidential: Records, synthetic: Records, name: str) -> int:
    """In how many rows a column that was not synthesized differs; numbers may differ by rounding in the last place."""
    import numpy as np

    one, other = confidential[name], synthetic[name]
    gone = (one.missing != 0) != (other.missing != 0)
    both = one.present & other.present
    if confidential.schema[name].coded:
        unequal = one.values != other.values
    else:
        unequal = ~np.isclose(one.values.astype(float), other.values.astype(float), rtol=1e-9, atol=0.0)
    return int(np.count_nonzero(gone | (both & unequal)))
