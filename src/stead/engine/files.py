"""A release in Parquet files that stay where they are: for tables that are larger than memory.

Row i of each synthetic file stands for row i of the confidential one; the columns that an intruder knows are compared row by row
when the files are first matched, as `Release.from_tables` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stead.errors import InputRefused, UsageError, nearest, shorten
from stead.randomness import BLOCK
from stead.tables.arrow import pa, parquet
from stead.tables.names import unique_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stead.tables.schema import Level, Schema


@dataclass(frozen=True, repr=False, eq=False)
class ParquetTable:
    """One file: its columns with their Arrow types, its rows, and what its owner says about its columns.

    A schema says all; without one, numbers are numbers unless listed in `categorical`, and `missing` lists codes by column.
    What the columns of a synthetic file mean is said by the confidential one, `like`.
    """

    path: Path
    types: Mapping[str, Any]
    rows: int
    schema: Schema | None = None
    categorical: frozenset[str] = frozenset()
    missing: Mapping[str, tuple[Level, ...]] | None = None
    like: ParquetTable | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.types)

    def verify(self, name: str) -> None:
        """Read a column once with the checksums of its pages, where the file has them: DuckDB takes a flipped byte for a value."""
        try:
            opened = parquet.ParquetFile(self.path, page_checksum_verification=True)
            for _ in opened.iter_batches(BLOCK, columns=[name], use_threads=False):
                pass
        except (pa.ArrowException, OSError, ValueError):
            opened = None
        if opened is None:
            raise InputRefused(
                "E-FILE-BROKEN",
                f"{shorten(self.path.name)}: column {shorten(name)} cannot be read to its end: truncated, damaged, or changed",
            )

    def require(self, name: str) -> None:
        """Refuse a name that is not a column."""
        if name not in self.types:
            raise UsageError(
                "E-COLUMN", f"no column is called {shorten(str(name))}; {nearest(str(name), self.names)}"
            )

    def __repr__(self) -> str:
        return f"ParquetTable({shorten(self.path.name)}: {self.rows:,} rows, {len(self.types)} columns)"


def parquet_table(
    path: str | Path,
    *,
    schema: Schema | None = None,
    categorical: Iterable[str] = (),
    missing: Mapping[str, tuple[Level, ...]] | None = None,
    like: ParquetTable | None = None,
) -> ParquetTable:
    """A Parquet file as it lies there: only its footer is read."""
    file = Path(path)
    if not file.is_file():
        raise UsageError("E-FILE", f"no file is called {shorten(str(path), 200)}")
    try:
        footer = parquet.read_metadata(file)
        types = footer.schema.to_arrow_schema()
    except (pa.ArrowException, OSError):
        raise InputRefused(
            "E-FILE-BROKEN", f"{shorten(file.name)}: is not a Parquet file, or is damaged"
        ) from None
    if not footer.num_rows:
        raise InputRefused("E-NO-ROWS", f"{shorten(file.name)}: no rows")
    names = unique_names(types.names, shorten(file.name))
    table = ParquetTable(
        path=file,
        types=dict(zip(names, types.types, strict=True)),
        rows=footer.num_rows,
        schema=schema,
        categorical=frozenset((categorical,) if isinstance(categorical, str) else categorical),
        missing=missing,
        like=like,
    )
    for name in (*table.categorical, *(missing or ())):
        table.require(name)
    return table


@dataclass(frozen=True, repr=False, eq=False)
class ParquetRelease:
    """A confidential file and m synthetic ones, aligned, with the columns that were synthesized."""

    confidential: ParquetTable
    synthetic: tuple[ParquetTable, ...]
    synthesized: tuple[str, ...]
    aligned: bool = True

    @classmethod
    def open(
        cls,
        confidential: str | Path,
        synthetic: Iterable[str | Path],
        *,
        synthesized: Iterable[str],
        schema: Schema | None = None,
        categorical: Iterable[str] = (),
        missing: Mapping[str, tuple[Level, ...]] | None = None,
    ) -> ParquetRelease:
        """Name the files; nothing but their footers is read."""
        real = parquet_table(confidential, schema=schema, categorical=categorical, missing=missing)
        paths = [synthetic] if isinstance(synthetic, (str, Path)) else list(synthetic)
        sets = tuple(parquet_table(path, like=real) for path in paths)
        made = (synthesized,) if isinstance(synthesized, str) else tuple(synthesized)
        for name in made:
            real.require(name)
        if not sets or not made:
            raise UsageError("E-SETS", "a release has at least one synthetic file and one synthesized column")
        for one in sets:
            if one.rows != real.rows:
                raise InputRefused(
                    "E-ALIGNED",
                    f"{shorten(one.path.name)} has {one.rows:,} rows and {shorten(real.path.name)} {real.rows:,}; matching needs row i to stand for record i",
                )
        return cls(real, sets, made)

    @property
    def m(self) -> int:
        """How many synthetic files there are."""
        return len(self.synthetic)

    @property
    def lacking(self) -> tuple[str, ...]:
        """Columns that a synthetic file does not have."""
        return tuple(
            name for name in self.confidential.names if any(name not in one.types for one in self.synthetic)
        )

    def __repr__(self) -> str:
        return f"ParquetRelease({self.confidential.rows:,} rows, {self.m} synthetic; synthesized: {', '.join(map(shorten, self.synthesized))})"
