"""The three verbs of an engine, and what they give.

    match_counts   for each confidential row: how many synthetic rows match it, and whether its own does
    group_counts   for each combination of some columns: how many rows of each table have it
    map_rows       a function applied to blocks of rows, its results in the order of the rows

`Local` does them in memory, `Tables` in files of any size by DuckDB; both give the same numbers. An engine is passed as an
argument, so that two can be compared in one session.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np

from stead.randomness import row_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from stead.engine.regions import Keys
    from stead.tables.records import Records
    from stead.tables.schema import Column

Convention: TypeAlias = Literal["summaries", "probabilities"]
Table_contra = TypeVar("Table_contra", contravariant=True)


@dataclass(frozen=True)
class Matches:
    """What matching gives, one entry for each synthetic set (one alone under the convention `probabilities`).

    expected   sum over records of T / c, the expected number of correct matches
    unique     s, the number of records with one match
    true       how many of these are the right one
    records    c and T, (n,) or (n, m), where the engine has the rows at hand
    """

    rows: int
    expected: tuple[float, ...]
    unique: tuple[int, ...]
    true: tuple[int, ...]
    records: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, counts: NDArray[np.int64], own: NDArray[np.bool_]) -> Matches:
        """From c and T of each record, (m, n)."""
        alone = counts == 1
        return cls(
            rows=counts.shape[1],
            expected=tuple(_expected(one, flags) for one, flags in zip(counts, own, strict=True)),
            unique=tuple(int(np.count_nonzero(one)) for one in alone),
            true=tuple(int(np.count_nonzero(one & flags)) for one, flags in zip(alone, own, strict=True)),
            records={"c": counts.T, "T": own.T},
        )


def _expected(counts: NDArray[np.int64], own: NDArray[np.bool_]) -> float:
    """The sum of T / c, in blocks that stay in the cache."""
    return math.fsum((1.0 / counts[rows][own[rows]]).sum() for rows in row_blocks(len(counts)))


@dataclass(frozen=True)
class Chances:
    """What a release without any leak would give, by record or by group of records that are alike.

    weight    how many records
    known     how many rows agree with a record on the kept columns
    share     the probability that the synthesized columns of a row, drawn by chance, match the record
    """

    weight: NDArray[np.int64]
    known: NDArray[np.int64]
    share: NDArray[np.float64]


@dataclass(frozen=True)
class Groups:
    """The cells of some columns.

    counts    how many rows of each table are in each cell, (tables, cells)
    group     the number of the combination of keys of which the cell is a part
    present   whether all its columns have a value
    """

    counts: NDArray[np.int64]
    group: NDArray[np.int64]
    present: NDArray[np.bool_]


class Engine(Protocol[Table_contra]):
    """What an engine can do with tables of one kind."""

    def match_counts(
        self,
        confidential: Table_contra,
        synthetic: Sequence[Table_contra],
        keys: Keys,
        convention: Convention,
    ) -> Matches:
        """Count matches; row i of each set stands for confidential row i."""
        ...

    def group_counts(
        self, tables: Sequence[Table_contra], keys: Sequence[str], target: Sequence[str] = ()
    ) -> Groups:
        """Count rows by keys, and within these by target."""
        ...

    def chances(self, confidential: Table_contra, keys: Keys, holdout: Table_contra | None = None) -> Chances:
        """What a release without any leak would give each record, or each group of records that are alike."""
        ...

    def column(self, table: Table_contra, name: str) -> Column:
        """What a column of a table is; refused with the names that exist where there is none."""
        ...

    def map_rows(
        self,
        function: Callable[[Records], tuple[NDArray[Any], ...]],
        table: Table_contra,
        names: Sequence[str],
    ) -> tuple[NDArray[Any], ...]:
        """Apply a function to blocks of rows, in order; its arrays are joined along their last axis."""
        ...
