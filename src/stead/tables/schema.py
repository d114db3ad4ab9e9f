"""The schema: what each column is, which levels it has, how its missing cells are written, what role it plays.

Levels and codes are owned here, never learned again from a file, so that a confidential file and its
synthetic versions share one meaning. A schema prints kinds and counts; it does not print levels,
because a rare level is a fact about a person; nor labels of levels, which say the same in words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from stead.errors import UsageError, nearest, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Kind = Literal["continuous", "count", "binary", "categorical", "ordered", "date"]
Role = Literal["keep", "id", "weight", "group", "drop"]
Level: TypeAlias = str | int | float | bool
Bounds: TypeAlias = tuple[float | None, float | None]
Labels: TypeAlias = tuple[tuple[Level, str], ...]

CODED: frozenset[Kind] = frozenset({"binary", "categorical", "ordered"})
NOT_CARRIED: frozenset[Role] = frozenset({"id", "drop"})
LONGEST_NAME = 256
MOST_MISSING = 100


@dataclass(frozen=True, repr=False)
class Column:
    """One column.

    kind      continuous, count (whole numbers from 0), binary (two levels), categorical, ordered, date
    levels    of a binary, categorical or ordered column, in order
    bounds    lowest and highest value that a number may have; None where there is no bound
    decimals  places that a continuous column is written with; 0 keeps it in whole numbers
    spikes    values that many records share, such as 0 or a top code: whether a cell is one is modelled apart
    heaps     coarser units that some values are rounded to, such as 100 and 1000, each a multiple of the one before
    missing   codes that stand for a missing value, kept apart; an empty cell is missing without being declared
    role      keep: in the release. weight, group: in the release, never synthesized.
              id: checked for being unique, then left behind. drop: left behind.
    unit      of a date: "day" or "second"
    format    of a date in a text file, as in strptime; ISO 8601 where empty
    label     the column in words, as statistical packages keep them
    labels    levels, missing codes and single values in words: pairs, or a mapping
    why       the reason for what was proposed
    """

    name: str
    kind: Kind
    levels: tuple[Level, ...] = ()
    bounds: Bounds = (None, None)
    decimals: int | None = None
    spikes: tuple[float, ...] = ()
    heaps: tuple[float, ...] = ()
    missing: tuple[Level, ...] = ()
    role: Role = "keep"
    unit: Literal["day", "second"] = "day"
    format: str = ""
    label: str = ""
    labels: Labels = ()
    why: str = ""

    def __post_init__(self) -> None:
        named = f"column {shorten(self.name)}" if isinstance(self.name, str) else "a column"
        object.__setattr__(self, "labels", _pairs(named, self.labels))
        for item in ("levels", "missing", "bounds", "spikes", "heaps"):
            object.__setattr__(self, item, _tuple(named, item, getattr(self, item)))
        if not isinstance(self.name, str) or not self.name:
            raise UsageError("E-SCHEMA", f"{named}: a column needs a name, as text")
        if len(self.name) > LONGEST_NAME:
            raise UsageError(
                "E-NAME-LONG", f"{named}: the name has {len(self.name):,} characters, at most {LONGEST_NAME}"
            )
        _one_of(named, "kind", self.kind, get_args(Kind))
        _one_of(named, "role", self.role, get_args(Role))
        _one_of(named, "unit", self.unit, ("day", "second"))
        _check_levels(self, named)
        _check_bounds(self, named)
        if self.decimals is not None and (not _is_whole(self.decimals) or not 0 <= self.decimals <= 15):
            raise UsageError("E-DECIMALS", f"{named}: decimals are a whole number from 0 to 15")
        _check_spikes(self, named)
        _check_heaps(self, named)
        _check_format(self, named)
        _check_cells("E-MISSING-CODES", f"{named}: a missing code", self.missing)
        if len(self.missing) > MOST_MISSING:
            raise UsageError(
                "E-MISSING-CODES", f"{named}: {len(self.missing)} missing codes, at most {MOST_MISSING}"
            )
        _check_labels(self, named)

    @property
    def coded(self) -> bool:
        """Whether values are codes of levels."""
        return self.kind in CODED

    @property
    def carried(self) -> bool:
        """Whether records hold this column at all."""
        return self.role not in NOT_CARRIED

    @property
    def whole(self) -> bool:
        """Whether values are kept as int64."""
        return self.kind in {"count", "date"} or (self.kind == "continuous" and self.decimals == 0)

    def to_dict(self) -> dict[str, Any]:
        """The column as a table of `stead.toml`: what is at its default is left out, and so is None."""
        table: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "bounds":
                table |= {
                    key: bound
                    for key, bound in zip(("lowest", "highest"), value, strict=True)
                    if bound is not None
                }
            elif item.name != "name" and value != item.default:
                table[item.name] = _as_lists(value)
        return table

    @classmethod
    def from_dict(cls, name: str, table: dict[str, Any]) -> Column:
        """The column that `to_dict` wrote; an unknown key is an error with the nearest name."""
        if not isinstance(table, dict):
            raise UsageError(
                "E-PLAN-KEY", f'column {shorten(name)}: settings are a table, as {{ kind = "count" }}'
            )
        allowed = {item.name for item in fields(cls)} - {"name", "bounds"} | {"lowest", "highest"}
        for key in table:
            if key not in allowed:
                raise UsageError(
                    "E-PLAN-KEY",
                    f"column {shorten(name)}: no setting is called {shorten(key)}; {nearest(key, sorted(allowed))}",
                )
        if "kind" not in table:
            raise UsageError("E-PLAN-KEY", f"column {shorten(name)}: kind is missing")
        rest = {key: value for key, value in table.items() if key not in {"lowest", "highest"}}
        return cls(name, bounds=(table.get("lowest"), table.get("highest")), **rest)

    def __repr__(self) -> str:
        levels = f", {len(self.levels)} levels" if self.coded else ""
        return f"Column({self.name!r}, {self.kind}{levels}, role {self.role})"


class Schema:
    """The columns of a data set, in order."""

    __slots__ = ("_by_name",)

    def __init__(self, columns: Iterable[Column]) -> None:
        self._by_name: dict[str, Column] = {}
        for column in columns:
            if column.name in self._by_name:
                raise UsageError("E-SCHEMA", f"column {shorten(column.name)} is declared twice")
            self._by_name[column.name] = column

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in order."""
        return tuple(self._by_name)

    @property
    def carried(self) -> tuple[str, ...]:
        """Names of the columns that records hold."""
        return tuple(column.name for column in self if column.carried)

    def require(self, name: str) -> Column:
        """The column `name`, or an error that lists the names that exist, nearest first."""
        try:
            return self._by_name[name]
        except (KeyError, TypeError):
            raise UsageError(
                "E-COLUMN", f"no column is called {shorten(str(name))}; {nearest(str(name), self.names)}"
            ) from None

    def with_columns(self, *columns: Column) -> Schema:
        """This schema with `columns` put in place of those of the same name, or added at the end."""
        return Schema((self._by_name | {column.name: column for column in columns}).values())

    def only(self, names: Iterable[str]) -> Schema:
        """The schema of some columns, in the order of `names`."""
        return Schema(self.require(name) for name in names)

    def with_role(self, role: Role, *names: str) -> Schema:
        """This schema with the role of some columns changed."""
        return self.with_columns(*(replace(self.require(name), role=role) for name in names))

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """A table per column."""
        return {column.name: column.to_dict() for column in self}

    @classmethod
    def from_dict(cls, tables: dict[str, dict[str, Any]]) -> Schema:
        """The schema that `to_dict` wrote."""
        return cls(Column.from_dict(name, table) for name, table in tables.items())

    def __getitem__(self, name: str) -> Column:
        return self.require(name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Column]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Schema({', '.join(map(repr, self))})"


def _check_levels(column: Column, named: str) -> None:
    if column.coded and column.carried and not column.levels:
        raise UsageError("E-LEVELS", f"{named}: a {column.kind} column needs its levels")
    _check_cells("E-LEVELS", f"{named}: a level", column.levels)
    if len(column.levels) > min(len(set(column.levels)), len(set(map(str, column.levels)))):
        raise UsageError("E-LEVELS", f"{named}: a level is listed twice")
    if column.levels and not column.coded:
        raise UsageError(
            "E-LEVELS",
            f"{named}: levels belong to binary, categorical and ordered columns, not to {column.kind}",
        )
    if column.kind == "binary" and column.carried and len(column.levels) != 2:
        raise UsageError(
            "E-LEVELS",
            f"{named}: binary has two levels, {len(column.levels)} are listed; categorical has any number",
        )


def _check_bounds(column: Column, named: str) -> None:
    if len(column.bounds) != 2:
        raise UsageError(
            "E-BOUNDS", f"{named}: bounds are a pair, lowest and highest, None where there is none"
        )
    low, high = column.bounds
    for bound in (low, high):
        if bound is not None and (not isinstance(bound, (int, float)) or math.isnan(bound)):
            raise UsageError("E-BOUNDS", f"{named}: a bound is a number, or None")
    if low is not None and high is not None and low > high:
        raise UsageError("E-BOUNDS", f"{named}: the lower bound is above the upper one")


def _check_spikes(column: Column, named: str) -> None:
    """Spikes are numbers of a numeric column; those of a count are its lowest values, which its family then leaves out."""
    numbers = all(isinstance(spike, (int, float)) and math.isfinite(spike) for spike in column.spikes)
    if column.spikes and (column.coded or not numbers or len(set(column.spikes)) < len(column.spikes)):
        raise UsageError(
            "E-SPIKES",
            f"{named}: spikes are different numbers, and belong to a continuous, count or date column",
        )
    if column.kind == "count":
        first = int(column.bounds[0] or 0)
        if sorted(column.spikes) != list(range(first, first + len(column.spikes))):
            raise UsageError(
                "E-SPIKES", f"{named}: the spikes of a count are its lowest values, such as 0, or 0 and 1"
            )
    if len(column.spikes) > 20:
        raise UsageError("E-SPIKES", f"{named}: {len(column.spikes)} spikes, at most 20; more are heaps")


def _check_heaps(column: Column, named: str) -> None:
    """Heaps are units, each a whole multiple of the one before and of the column's own."""
    if not column.heaps:
        return
    places = 0 if column.whole else column.decimals
    if column.coded or column.kind == "count" or places is None:
        raise UsageError("E-HEAPS", f"{named}: heaps belong to a continuous column with declared decimals")
    unit = 10.0**-places
    for heap in column.heaps:
        ratio = heap / unit if isinstance(heap, (int, float)) else 0.0
        if not math.isfinite(ratio) or ratio < 1.5 or abs(ratio - round(ratio)) > 1e-6 * ratio:
            raise UsageError(
                "E-HEAPS",
                f"{named}: heaps are numbers, each a whole multiple of the one before and of the last decimal",
            )
        unit = heap


def _check_format(column: Column, named: str) -> None:
    """A format that strptime knows; some that it does not are errors of the regular expressions below it."""
    try:
        datetime.strptime(datetime(1999, 12, 31, tzinfo=UTC).strftime(column.format), column.format)  # noqa: DTZ007 - thrown away
    except (ValueError, TypeError, re.error):
        raise UsageError(
            "E-DATE-FORMAT", f'{named}: format is one that strptime reads, as "%d.%m.%Y"'
        ) from None


def _check_cells(code: str, what: str, cells: tuple[Level, ...]) -> None:
    """Levels and codes are text, truth values, or numbers that a column can hold."""
    for cell in cells:
        number = isinstance(cell, (int, float)) and not math.isnan(cell)
        if not isinstance(cell, str) and not (
            number and (isinstance(cell, float) or -(2**63) <= cell < 2**63)
        ):
            raise UsageError(
                code, f"{what} is text, a truth value or a number of 64 bits; not {type(cell).__name__}"
            )


def _check_labels(column: Column, named: str) -> None:
    if not isinstance(column.label, str):
        raise UsageError("E-LABELS", f"{named}: its label is text")
    labelled = [value for value, _ in column.labels]
    _check_cells("E-LABELS", f"{named}: a labelled value", tuple(labelled))
    if len(labelled) > len(set(labelled)):
        raise UsageError("E-LABELS", f"{named}: a value is labelled twice")
    if column.coded and column.carried:
        known = {*column.levels, *column.missing}
        if stray := sum(value not in known for value in labelled):
            raise UsageError(
                "E-LABELS",
                f"{named}: {stray:,} labels are for values that are neither levels nor missing codes",
            )


def _pairs(named: str, labels: Any) -> Labels:
    """Labels as pairs; a plan has them as lists of two, a program may give a mapping."""
    pairs = list(labels.items()) if isinstance(labels, Mapping) else _tuple(named, "labels", labels)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[1], str):
            raise UsageError("E-LABELS", f'{named}: labels are pairs of a value and a text, as [1, "yes"]')
    return tuple((value, text) for value, text in pairs)


def _as_lists(value: Any) -> Any:
    """Tuples as the lists that TOML and JSON have."""
    return [_as_lists(one) for one in value] if isinstance(value, tuple) else value


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _tuple(named: str, what: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise UsageError("E-SCHEMA", f"{named}: {what} is a list, not a single value")
    return tuple(value)


def _one_of(named: str, what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(
            "E-SCHEMA", f"{named}: no {what} is called {shorten(str(value))}; {nearest(str(value), allowed)}"
        )
