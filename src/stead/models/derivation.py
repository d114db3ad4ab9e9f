"""What a rule gives for given sources, and what of it has to be learned from the confidential file.

A sum is rounded to the decimals of its column and kept inside its bounds; a column that has no negative value gets none.
A recode is a level for each level of its source, or for each interval between cut points of it. A cell is missing where
one of the sources is; which code it has, follows from the code of the first source that is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import DiagnosticsFailed, InputRefused, UsageError, shorten
from stead.models.response import LARGEST_WHOLE
from stead.models.rounding import Grid
from stead.tables.records import Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.language.derivations import Rule
    from stead.tables.records import Records
    from stead.tables.schema import Column, Schema

    Array = NDArray[np.float64]
    Codes = NDArray[np.int32]

NEARLY = 1e-9
EMPTY = -1


@dataclass(frozen=True, repr=False, eq=False)
class Derivation:
    """A rule with what was learned: levels by level or interval of the source, cut points, codes of missing cells."""

    rule: Rule
    schema: Schema
    levels: Codes
    cuts: Array
    gaps: tuple[tuple[int, int, int], ...] = ()
    """The place of the first source that is missing, its code, and the code of the column."""
    positive: bool = False

    @property
    def column(self) -> Column:
        """The column that the rule makes."""
        return self.schema[self.rule.target]

    def apply(self, given: Records) -> Values:
        """The column, from its sources."""
        sources = [given[name] for name in self.rule.predictors]
        missing = np.zeros(given.rows, np.int8)
        for place in range(
            len(sources) - 1, -1, -1
        ):  # the first source that is missing is the last to be written
            gone = ~sources[place].present
            missing[gone] = EMPTY
            for at, code, own in self.gaps:
                if at == place:
                    missing[sources[place].missing == code] = own
        if self.column.coded:
            values: NDArray[Any] = self._levels(sources[0])
        else:
            values = self._rounded(self._numbers(sources), missing == 0)
        return Values(np.where(missing == 0, values, 0).astype(values.dtype), missing)

    def holds(self, records: Records) -> NDArray[np.bool_]:
        """In which rows the rule holds; a sum may be rounded in either direction."""
        held, made = records[self.column.name], self.apply(records)
        same = held.equals(made)
        if self.column.coded or same.all():
            return same
        exact = self._numbers([records[name] for name in self.rule.predictors])
        if np.issubdtype(exact.dtype, np.integer):
            return same
        grid = self._grid
        sources = [records[name] for name in self.rule.predictors]
        size = sum((np.abs(term) for term in self._terms(sources)), abs(self.rule.constant))
        slack = 0.5 * grid.unit + NEARLY * size
        near = np.abs(np.clip(exact, grid.low, grid.high) - held.values) <= slack
        return np.asarray(same | (near & held.present & made.present))

    @property
    def _grid(self) -> Grid:
        grid = Grid.of(self.column, -np.inf)
        return replace(grid, low=max(grid.low, 0.0)) if self.positive else grid

    def _levels(self, source: Values) -> Codes:
        """The level of each row; that of a missing cell is not looked at."""
        place = np.searchsorted(self.cuts, source.values, side="right") if len(self.cuts) else source.values
        if self.schema[self.rule.predictors[0]].coded or len(self.cuts):
            return np.asarray(self.levels[place], np.int32)
        return np.full(len(source), self.levels[0], np.int32)

    def _held(self, sources: list[Values]) -> list[NDArray[Any]]:
        """The numbers of the sources."""
        names = self.rule.predictors
        return [numbers_of(self.schema[name], one) for name, one in zip(names, sources, strict=True)]

    def _terms(self, sources: list[Values]) -> list[Array]:
        """What is added up."""
        both = zip(self.rule.parts, self._held(sources), strict=True)
        return [part.times * one.astype(float) / part.divisor for part, one in both]

    def _numbers(self, sources: list[Values]) -> NDArray[Any]:
        """The sum, in whole numbers where all of it is whole: those beyond 2^53 have no float of their own."""
        rule, held = self.rule, self._held(sources)
        total: Array = sum(self._terms(sources), np.full(len(sources[0]), rule.constant))
        factors = [rule.constant, *(part.times for part in rule.parts)]
        whole = self.column.whole and all(float(factor).is_integer() for factor in factors)
        whole &= all(part.divisor == 1 for part in rule.parts)
        whole &= all(np.issubdtype(one.dtype, np.integer) for one in held)
        if not whole or np.abs(total).max(initial=0.0) > LARGEST_WHOLE:
            return total
        exact = np.full(len(total), int(rule.constant), np.int64)
        for part, one in zip(rule.parts, held, strict=True):
            exact += int(part.times) * one.astype(np.int64)
        return exact

    def _rounded(self, numbers: NDArray[Any], present: NDArray[np.bool_]) -> NDArray[Any]:
        """As a cell holds them."""
        grid = self._grid
        lost = int(np.count_nonzero(np.abs(numbers[present].astype(float)) > LARGEST_WHOLE))
        if lost and self.column.whole:
            raise DiagnosticsFailed(
                "E-OVERFLOW",
                f"{shorten(self.column.name)}: {lost:,} values by the rule are too large for a number; declare bounds for the columns it reads",
            )
        if np.issubdtype(numbers.dtype, np.integer):
            low = None if np.isneginf(grid.low) else int(grid.low)
            high = None if np.isposinf(grid.high) else int(grid.high)
            return numbers if low is None and high is None else np.clip(numbers, low, high)
        held = grid.nearest(np.where(present, numbers, 0.0))
        return held.astype(np.int64) if self.column.whole else held


def learn(rule: Rule, records: Records) -> Derivation:
    """The rule for these records; whether it holds in every row is for `holds` to say."""
    column = records.schema[rule.target]
    schema = records.schema.only((rule.target, *rule.predictors))
    levels, cuts = np.zeros(0, np.int32), np.zeros(0)
    first = records.schema[rule.predictors[0]]
    if column.coded and not rule.recode:
        levels = _same_levels(rule, column, first)
    elif rule.recode:
        if not column.coded:
            raise UsageError(
                "E-RULE",
                f"{shorten(str(rule))}: {shorten(column.name)} is {column.kind}, and a recode gives levels",
            )
        levels, cuts = _by_level(records, rule) if first.coded else _by_cut(records, rule)
    else:
        for name in rule.predictors:
            _ = numbers_of(records.schema[name], records[name])
    held = records[column.name]
    amount = column.kind in {"continuous", "count"}
    positive = amount and not bool((held.values[held.present] < 0).any())
    return Derivation(rule, schema, levels, cuts, _gaps(rule, records), positive)


def numbers_of(column: Column, held: Values) -> NDArray[Any]:
    """The numbers of a column; levels that are numbers stand for themselves."""
    if not column.coded:
        return held.values
    if any(isinstance(level, str) for level in column.levels):
        raise UsageError(
            "E-RULE",
            f"{shorten(column.name)} is {column.kind}, and its levels are no numbers; a rule can recode it",
        )
    return np.array([*column.levels, 0])[np.where(held.present, held.values, len(column.levels))]


def _same_levels(rule: Rule, column: Column, source: Column) -> Codes:
    """Levels by what they are called, for a column that is another one again."""
    if not rule.copies or not source.coded:
        raise UsageError(
            "E-RULE",
            f"{shorten(str(rule))}: {shorten(column.name)} is {column.kind}; it is the same as another column of levels, or a recode of one",
        )
    place = {str(level): code for code, level in enumerate(column.levels)}
    codes = [place.get(str(level), -1) for level in source.levels]
    if -1 in codes:
        raise UsageError(
            "E-RULE",
            f"{shorten(str(rule))}: {codes.count(-1)} levels of {shorten(source.name)} are not among those of {shorten(column.name)}; it may be a recode",
        )
    return np.array(codes, np.int32)


def _by_level(records: Records, rule: Rule) -> tuple[Codes, Array]:
    """The commonest level for each level of the source; for one that never occurs, the commonest of all."""
    source, held = records[rule.predictors[0]], records[rule.target]
    both = source.present & held.present
    inner = len(records.schema[rule.target].levels)
    outer = len(records.schema[rule.predictors[0]].levels)
    pair = source.values[both].astype(np.int64) * inner + held.values[both]
    counts = np.bincount(pair, minlength=outer * inner).reshape(outer, inner)
    levels = np.where(counts.any(axis=1), counts.argmax(axis=1), counts.sum(axis=0).argmax())
    return levels.astype(np.int32), np.zeros(0)


def _by_cut(records: Records, rule: Rule) -> tuple[Codes, Array]:
    """Levels in the order of the number, and round cut points between their neighbours; refused where levels overlap."""
    source, held = records[rule.predictors[0]], records[rule.target]
    both = source.present & held.present
    numbers, codes = source.values[both].astype(float), held.values[both]
    if not len(codes):
        return np.zeros(1, np.int32), np.zeros(0)
    used = np.unique(codes)
    ends = [(numbers[codes == code].min(), numbers[codes == code].max(), code) for code in used]
    ends.sort()
    overlap = sum(
        int(np.count_nonzero(numbers[codes == above] <= top)) for (_, top, _), (_, _, above) in pairwise(ends)
    )
    if overlap:
        raise InputRefused(
            "E-RULE-BROKEN",
            f"{shorten(str(rule))}: levels overlap in {overlap:,} of {records.rows:,} rows, so that no cut points part them; model the column instead",
        )
    cuts = [_roundest(low[1], high[0]) for low, high in pairwise(ends)]
    return np.array([code for _, _, code in ends], np.int32), np.array(cuts)


def _roundest(low: float, high: float) -> float:
    """The number in (low, high] with the fewest digits."""
    power = int(np.ceil(np.log10(max(abs(low), abs(high), 1e-300)))) + 1
    for digits in range(-power, 18 - power):
        cut = round(np.floor(high * 10.0**digits) / 10.0**digits, digits)
        if low < cut <= high:
            return float(cut)
    return high


def _gaps(rule: Rule, records: Records) -> tuple[tuple[int, int, int], ...]:
    """The commonest code of the column for each code of the first source that is missing."""
    target = records[rule.target].missing
    waiting = np.ones(records.rows, bool)
    found = []
    for place, name in enumerate(rule.predictors):
        missing = records[name].missing
        for code in np.unique(missing[waiting & (missing != 0)]):
            codes, counts = np.unique(target[waiting & (missing == code)], return_counts=True)
            own = int(codes[counts.argmax()])
            if own:
                found.append((place, int(code), own))
        waiting &= missing == 0
    return tuple(found)
