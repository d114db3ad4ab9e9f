"""Records: a table that cannot print itself.

A column is a read-only array and an int8 array `missing`: 0 where the value is present, k where the
k-th declared missing code stood, -1 where the cell was empty. There is no NaN: a missing cell holds 0 and is
to be read through `missing`. Whole numbers stay int64, categories are int32 codes of the schema's levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from stead.errors import InputRefused, UsageError, nearest, shorten
from stead.tables.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

    from stead.tables.arrow import pa
    from stead.tables.schema import Column


@dataclass(frozen=True, repr=False, eq=False)
class Values:
    """The values of one column and which of them are missing; both read-only."""

    values: NDArray[Any]
    missing: NDArray[np.int8]

    def __post_init__(self) -> None:
        if self.values.shape != self.missing.shape or self.values.ndim != 1:
            raise ValueError("values and missing are two arrays of one length")
        for name in ("values", "missing"):
            array = getattr(self, name).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def complete(cls, values: NDArray[Any]) -> Values:
        """Values of which none is missing."""
        return cls(values, np.zeros(len(values), np.int8))

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where there is a value."""
        return np.equal(self.missing, 0)

    @property
    def gaps(self) -> int:
        """How many are missing."""
        return int(np.count_nonzero(self.missing))

    def take(self, rows: NDArray[Any] | slice) -> Values:
        """Some rows."""
        return Values(self.values[rows], self.missing[rows])

    def equals(self, other: Values) -> NDArray[Any]:
        """Row by row: the same value, or missing for the same reason."""
        same = (self.missing == other.missing) & ((self.values == other.values) | (self.missing != 0))
        return np.asarray(same, np.bool_)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Values({len(self)} of {self.values.dtype}, {self.gaps} missing)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("values of a confidential file are not pickled; save a Release instead")


class Records:
    """A data set under a schema. It has no way to show a row."""

    __slots__ = ("_columns", "rows", "schema")

    def __init__(self, schema: Schema, columns: Mapping[str, Values], rows: int) -> None:
        """Hold `columns`, one for each column that `schema` carries, each of `rows` values."""
        self.schema = schema
        self.rows = rows
        self._columns = {name: columns[name] for name in schema.carried}
        for name, values in self._columns.items():
            if len(values) != rows:
                raise ValueError(f"column {shorten(name)} has {len(values)} rows and the table has {rows}")

    @classmethod
    def empty(cls, rows: int) -> Records:
        """Rows without columns: what a fully synthetic data set is drawn from."""
        return cls(Schema(()), {}, rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns held."""
        return tuple(self._columns)

    def take(self, rows: NDArray[Any] | slice) -> Records:
        """Some rows, by position, slice or mask."""
        taken = {name: values.take(rows) for name, values in self._columns.items()}
        count = (
            len(range(*rows.indices(self.rows)))
            if isinstance(rows, slice)
            else len(np.arange(self.rows)[rows])
        )
        return Records(self.schema.only(self.names), taken, count)

    def only(self, names: Iterable[str]) -> Records:
        """Some columns, in the order of `names`."""
        wanted = tuple(names)
        return Records(self.schema.only(wanted), {name: self[name] for name in wanted}, self.rows)

    def without(self, names: Iterable[str]) -> Records:
        """All columns but some."""
        left_out = set(names)
        return self.only(name for name in self.names if name not in left_out)

    def with_column(self, column: Column, values: Values) -> Records:
        """These records with one column put in place, or added at the end."""
        schema = self.schema.with_columns(column)
        return Records(schema, {**self._columns, column.name: values}, self.rows)

    def redeclared(self, *columns: Column) -> Records:
        """The same values under other declarations of some columns, as to spikes, heaps and bounds."""
        return Records(self.schema.with_columns(*columns), self._columns, self.rows) if columns else self

    def to_arrow(self) -> pa.Table:
        """An Arrow table; missing cells are null, categories are dictionaries."""
        from stead.tables.export import to_arrow

        return to_arrow(self)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame: nullable integers where a whole-number column has gaps, categories as such."""
        from stead.tables.export import to_pandas

        return to_pandas(self)

    def to_polars(self) -> pl.DataFrame:
        """A polars DataFrame."""
        from stead.tables.export import to_polars

        return to_polars(self)

    def __getitem__(self, name: str) -> Values:
        try:
            return self._columns[name]
        except (KeyError, TypeError):
            pass
        if name in self.schema:
            raise UsageError(
                "E-COLUMN",
                f"column {shorten(name)} has the role {self.schema[name].role}: its values are left behind",
            )
        raise UsageError(
            "E-COLUMN", f"no column is called {shorten(str(name))}; {nearest(str(name), self.names)}"
        )

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> NoReturn:
        raise TypeError("records do not list their rows; use names, or to_pandas()")

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        return f"Records({self.rows:,} rows, {len(self._columns)} columns)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("confidential records are not pickled; save a Release instead")


def check_bounds(column: Column, values: Values) -> None:
    """Refuse values beyond the declared bounds, with their count."""
    low, high = column.bounds
    present = values.values[values.present]
    outside = 0
    if low is not None:
        outside += int(np.count_nonzero(present < low))
    if high is not None:
        outside += int(np.count_nonzero(present > high))
    if outside:
        raise InputRefused(
            "E-BOUNDS",
            f"column {shorten(column.name)}: {outside:,} values are beyond the declared bounds; correct them or widen the bounds",
        )
