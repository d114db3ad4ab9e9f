"""Cells of declared columns: every combination of their levels, but those declared impossible.

What is private must not be told by what is allowed. Levels are therefore declared by the holder as public and compared with
the schema, never learned from the file; and every cell of a file becomes a declared level, whatever stands in it: a missing
or unlisted one becomes None where that is among the levels, else the first level; an impossible combination becomes the
first possible one. No value of one person decides whether a fit ends well.
"""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from collections.abc import Sequence as SequenceType
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from stead.errors import InputRefused, UsageError, nearest, shorten
from stead.tables.records import Records, Values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from stead.tables.schema import Level, Schema

    Whole = NDArray[np.int64]

MOST_CELLS = 1_000_000
Listed: TypeAlias = "tuple[Level | None, ...]"


@dataclass(frozen=True, eq=False)
class DeclaredCells:
    """Columns, their declared levels, and which combinations are possible."""

    columns: tuple[str, ...]
    levels: tuple[Listed, ...]
    possible: Whole  # places among all combinations
    place: Whole  # of each combination among the possible ones; 0 for those that are not

    @classmethod
    def of(
        cls, levels: Mapping[str, Listed], structural_zeros: Iterable[Mapping[str, Any]] = ()
    ) -> DeclaredCells:
        """From the levels of each column, and combinations that cannot be: {"Age": "child", "Married": "yes"}."""
        sizes = [len(one) for one in levels.values()]
        if prod(sizes) > MOST_CELLS:
            raise UsageError(
                "E-CELLS",
                f"{', '.join(map(shorten, levels))}: {prod(sizes):,} combinations, at most {MOST_CELLS:,}; take fewer columns together",
            )
        allowed = np.ones(sizes, bool)
        for zero in structural_zeros:
            allowed[np.ix_(*_marked(zero, levels))] = False
        possible = np.flatnonzero(allowed.ravel())
        if len(possible) < 2:
            raise UsageError(
                "E-ZEROS", f"structural_zeros leave {len(possible)} combinations; at least two are possible"
            )
        place = np.zeros(allowed.size, np.int64)
        place[possible] = np.arange(len(possible))
        return cls(tuple(levels), tuple(levels.values()), possible, place)

    @property
    def count(self) -> int:
        """How many cells are possible."""
        return len(self.possible)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many levels each column has."""
        return tuple(len(one) for one in self.levels)

    def require_schema(self, schema: Schema) -> None:
        """Refuse a schema whose levels are not the declared ones; no value is looked at."""
        for name, declared in zip(self.columns, self.levels, strict=True):
            column = schema.require(name)
            if not column.coded:
                raise UsageError(
                    "E-KIND",
                    f"{shorten(name)} is {column.kind}; differentially private models are for levels",
                )
            if column.levels != tuple(level for level in declared if level is not None):
                raise InputRefused(
                    "E-DECLARED",
                    f"column {shorten(name)}: the declared levels are not those of the schema, or not in their order; read the file under a schema that lists what is declared",
                )

    def encode(self, records: Records) -> Whole:
        """The cell of every record; total."""
        codes = [
            _codes(records[name], declared) for name, declared in zip(self.columns, self.levels, strict=True)
        ]
        return np.asarray(self.place[np.ravel_multi_index(codes, self.sizes)], np.int64)

    def places(self, records: Records, values: Mapping[str, NDArray[Any]]) -> tuple[Whole, NDArray[np.bool_]]:
        """The cells that records would be in with other codes (records, guesses), and which of these could be."""
        held = {
            name: _codes(records[name], declared)
            for name, declared in zip(self.columns, self.levels, strict=True)
        }
        moved = [
            np.array(_listed(declared), np.int64)[np.asarray(values[name], np.int64)]
            if name in values
            else held[name][:, None]
            for name, declared in zip(self.columns, self.levels, strict=True)
        ]
        whole = np.ravel_multi_index(np.broadcast_arrays(*moved), self.sizes)
        own = np.ravel_multi_index(list(held.values()), self.sizes)
        return self.place[whole], np.isin(whole, self.possible) | (whole == own[:, None])

    def decode(self, cells: Whole) -> dict[str, Values]:
        """The values of each column."""
        codes = np.unravel_index(self.possible[cells], self.sizes)
        return {
            name: _values(code, declared)
            for name, declared, code in zip(self.columns, self.levels, codes, strict=True)
        }


def declared_levels(name: str, given: Any) -> Listed:
    """The levels of one column, or a refusal."""
    if given is None:
        raise InputRefused(
            "E-UNDECLARED",
            f"column {shorten(name)}: its levels are not declared. Those of a schema may have been read from the file, and then they say who is in it; list in declared= those that are public",
        )
    if isinstance(given, str) or not isinstance(given, SequenceType):
        raise UsageError("E-DECLARED", f"column {shorten(name)}: declared levels are a list")
    levels = tuple(given)
    if len(set(levels)) < max(len(levels), 2):
        raise UsageError("E-DECLARED", f"column {shorten(name)}: at least two levels are declared, each once")
    return levels


def _marked(zero: Mapping[str, Any], levels: Mapping[str, Listed]) -> list[list[int]]:
    """The codes of each column that an impossible combination is made of; all where it does not name the column."""
    if not isinstance(zero, MappingType) or not zero:
        raise UsageError("E-ZEROS", 'a structural zero is a mapping: {"Age": "child", "Married": "yes"}')
    for name in zero:
        if name not in levels:
            raise UsageError("E-ZEROS", f"structural_zeros: {nearest(str(name), levels)}")
    marked = []
    for name, listed in levels.items():
        wanted = zero.get(name, list(listed))
        several = list(wanted) if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
        if any(level not in listed for level in several):
            raise UsageError(
                "E-ZEROS", f"structural_zeros: column {shorten(name)} has no such level among those declared"
            )
        marked.append([listed.index(level) for level in several])
    return marked


def _listed(declared: Listed) -> list[int]:
    """The places of the levels that are values."""
    return [place for place, level in enumerate(declared) if level is not None]


def _codes(held: Values, declared: Listed) -> Whole:
    """Codes among the declared levels, whatever the values are."""
    listed = np.array(_listed(declared), np.int64)
    other = declared.index(None) if None in declared else 0
    with np.errstate(invalid="ignore"):
        known = held.present & (held.values >= 0) & (held.values < len(listed))
        whole = np.where(known, held.values, 0).astype(np.int64)
        known &= whole == held.values
    return np.where(known, listed[whole], other)


def _values(codes: NDArray[np.intp], declared: Listed) -> Values:
    """Codes as a column holds them; None is an empty cell."""
    values, missing = np.zeros(len(declared), np.int32), np.zeros(len(declared), np.int8)
    for code, place in enumerate(_listed(declared)):
        values[place] = code
    if None in declared:
        missing[declared.index(None)] = -1
    return Values(values[codes], missing[codes])
