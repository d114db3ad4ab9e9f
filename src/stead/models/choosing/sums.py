"""Columns that are multiples or sums of others, found by linear algebra and confirmed record by record.

    y = a + sum_j b_j x_j    in every record, with a and b_j that have few digits

Within a pattern of missing cells, first pairs whose correlation leaves next to nothing are tried, then each column is
regressed on those before it: a Cholesky factor of the correlation matrix, grown a column at a time, finest decimals first
and then in order of size, so that a total comes after its parts. Where next to nothing is left, coefficients are rounded to
few digits and the rule is tried on every record.

Evidence: at least 50 records, three different values, and enough records beside the commonest value that unrelated
columns would agree in all of them with probability below 1e-12, and 1e-4 for each further part.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular

from stead.errors import SteadError
from stead.language.derivations import Part, Rule
from stead.models.choosing.association import some_rows
from stead.models.choosing.patterns import FEWEST_RECORDS, chance_of, patterns
from stead.models.derivation import NEARLY, learn, numbers_of
from stead.models.rounding import unit_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from stead.models.choosing.patterns import Pattern
    from stead.tables.records import Records
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

MOST_ROWS, MOST_COLUMNS, MOST_PATTERNS = 4_000, 1_500, 20
MOST_PARTS, MOST_TURNS, MOST_PAIRS = 60, 10, 3
LEFT, NOTHING = 1e-4, 1e-9
"""The share of variance that a sum of rounded numbers may leave, and what arithmetic alone leaves."""
DIGITS, DIGITS_FOR_EACH_PART = 12.0, 4.0
MOST_DECIMALS, LARGEST_DIVISOR = 6, 10_000


def sums(records: Records, numbers: Sequence[str], targets: Sequence[str]) -> dict[str, tuple[Rule, str]]:
    """The rule of each of `targets` that has one, with the reason; `numbers` are all columns that may be its parts."""
    usable = [name for name in numbers if _varies(records, name)][:MOST_COLUMNS]
    found: dict[str, tuple[Rule, str]] = {}
    every = patterns(records, usable)
    for one in every[:MOST_PATTERNS]:
        sought = set(one.names) & set(targets)
        if sought:
            basis = [
                name for other in every if one.covers(other) for name in other.names if name not in found
            ]
            search = _Search(records, basis, one, sought)
            search.pairs()
            search.sums()
            found |= search.found
    return found


@dataclass(eq=False)
class _Search:
    """The search within one pattern: columns of `basis` have values wherever those of the pattern have."""

    records: Records
    basis: Sequence[str]
    pattern: Pattern
    sought: set[str]
    found: dict[str, tuple[Rule, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows = np.flatnonzero(self.pattern.present)
        rows = rows[some_rows(len(rows), MOST_ROWS)]
        names = list(dict.fromkeys(self.basis))
        values = np.column_stack([_floats(self.records, name, rows) for name in names])
        units = np.array([unit_of(self.records.schema[name]) for name in names])
        sizes = np.abs(values).mean(axis=0)
        fixed = np.array([name not in self.sought for name in names])
        order = np.lexsort([sizes, units, ~fixed])
        self.listed = names
        self.names, self.values = [names[place] for place in order], values[:, order]
        self.spreads = self.values.std(axis=0)
        away = self.values - self.values.mean(axis=0)
        standard = np.divide(away, self.spreads, out=np.zeros_like(away), where=self.spreads > 0)
        self.correlation = standard.T @ standard / len(rows)

    def pairs(self) -> None:
        """Multiples: each column with the earlier ones of the file, that one from this where it is the finer."""
        place = {name: at for at, name in enumerate(self.names)}
        within = [name for name in self.listed if name in self.pattern.names]
        close = self.correlation**2 > 1.0 - LEFT
        for at, name in enumerate(within):
            near = [
                other for other in within[:at] if close[place[name], place[other]] and other not in self.found
            ]
            for other in near[:MOST_PAIRS]:
                if self._try([place[name], place[other]]):
                    break

    def sums(self) -> None:
        """Each column from those before it that are not sums themselves."""
        count = len(self.names)
        factor, free = np.zeros((count, count)), list[int]()
        for place, name in enumerate(self.names):
            if name in self.found or not self.spreads[place]:
                continue
            half = self.correlation[place, free]
            if free:
                half = solve_triangular(factor[: len(free), : len(free)], half, lower=True)
            left = max(float(self.correlation[place, place] - half @ half), 0.0)
            if left <= LEFT and free:
                slopes = solve_triangular(factor[: len(free), : len(free)].T, half, lower=False)
                if self._try([place, *self._parts(place, free, slopes, left)]) and name in self.found:
                    continue
            if left > NOTHING and len(free) < len(self.values) // 2:
                factor[len(free), : len(free)] = half
                factor[len(free), len(free)] = np.sqrt(left)
                free.append(place)

    def _parts(self, place: int, free: Sequence[int], slopes: Array, left: float) -> list[int]:
        """The columns that contribute more than rounding does."""
        noise = 5.0 * np.sqrt(left / len(self.values)) * self.spreads[place]
        unit = unit_of(self.records.schema[self.names[place]])
        small = max(0.05 * unit, 1e-7 * self.spreads[place], noise)
        return [at for at, one in zip(free, slopes, strict=True) if abs(one) * self.spreads[place] > small]

    def _try(self, related: list[int]) -> bool:
        """Keep a rule among columns that are linearly related: for the first of them, or, where it is rounded, for another."""
        if not 2 <= len(related) <= MOST_PARTS:
            return False
        for target in related if len(related) <= MOST_TURNS else related[:1]:
            name = self.names[target]
            if name not in self.sought or name in self.found:
                continue
            parts = sorted((place for place in related if place != target), key=self._filed)
            if any(leads_to(self.names[place], name, self.found) for place in parts):
                continue
            y, x = self.values[:, target], self.values[:, parts]
            slopes = np.linalg.lstsq(np.column_stack([x, np.ones(len(y))]), y, rcond=None)[0][:-1]
            for rounded in _simpler(slopes):
                both = zip(parts, rounded, strict=True)
                listed = [Part(self.names[place], times, over) for place, (times, over) in both]
                rule = _agreeing(self.records.schema[name], listed, x, y)
                why = confirmed(self.records, rule) if rule else ""
                if rule and why:
                    self.found[name] = rule, why
                    return True
        return False

    def _filed(self, place: int) -> int:
        return self.listed.index(self.names[place])


def leads_to(source: str, target: str, found: Mapping[str, tuple[Rule, str]]) -> bool:
    """Whether `source` itself follows from `target` by the rules that were found."""
    if source == target:
        return True
    parts = found[source][0].predictors if source in found else ()
    return any(leads_to(part, target, found) for part in parts)


def _agreeing(column: Column, parts: Sequence[Part], x: Array, y: Array) -> Rule | None:
    """The rule with its constant, where it holds among the records that are looked at."""
    terms = x * np.array([part.times / part.divisor for part in parts])
    digits = MOST_DECIMALS if column.decimals is None and not column.whole else column.decimals or 0
    constant = round(float(np.median(y - terms.sum(axis=1))), digits) + 0.0
    size = np.abs(terms).sum(axis=1) + abs(constant)
    away = np.abs(y - terms.sum(axis=1) - constant)
    close = away <= 0.5 * unit_of(column) + NEARLY * size
    return Rule(column.name, tuple(parts), constant) if close.all() else None


def _simpler(slopes: NDArray[np.floating[Any]]) -> list[list[tuple[float, float]]]:
    """Coefficients as times / divisor: whole numbers, then a few decimals, then whole parts, then more decimals."""
    if not np.isfinite(slopes).all() or (slopes == 0).any():
        return []
    tried = [
        [(float(np.round(one, digits)) + 0.0, 1.0) for one in slopes] for digits in range(MOST_DECIMALS + 1)
    ]
    over = np.round(1.0 / np.abs(slopes))
    if len(slopes) == 1 and 2 <= over[0] <= LARGEST_DIVISOR:
        tried.insert(3, [(float(np.sign(slopes[0])), float(over[0]))])
    return [one for one in tried if all(times for times, _ in one)]


def confirmed(records: Records, rule: Rule) -> str:
    """The evidence, as a sentence, where a rule holds in every record and could not by chance; else nothing."""
    try:
        if not learn(rule, records).holds(records).all():
            return ""
    except SteadError:
        return ""
    held = records[rule.target]
    present = held.values[held.present]
    distinct, counts = np.unique(present, return_counts=True)
    beside = int(len(present) - counts.max()) if len(counts) else 0
    needed = DIGITS + DIGITS_FOR_EACH_PART * (len(rule.parts) - 1)
    if len(distinct) < 3 or len(present) < FEWEST_RECORDS or beside * chance_of(counts) < needed:
        return ""
    what = (
        "the same as another column"
        if rule.copies
        else "a multiple of another column"
        if len(rule.parts) == 1 and not rule.constant
        else "a multiple of another column, and a constant"
        if len(rule.parts) == 1
        else f"a sum of {len(rule.parts)} columns"
    )
    return f"{what} in all {records.rows:,} records, {beside:,} of them beside its commonest value"


def _varies(records: Records, name: str) -> bool:
    column, held = records.schema[name], records[name]
    if column.coded and any(isinstance(level, str) for level in column.levels):
        return False
    present = held.values[held.present]
    return len(present) >= FEWEST_RECORDS and bool((present != present[0]).any())


def _floats(records: Records, name: str, rows: NDArray[np.int64]) -> Array:
    return numbers_of(records.schema[name], records[name].take(rows)).astype(float)
