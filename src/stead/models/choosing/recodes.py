"""Columns of levels that follow from another column: each level of it has one level, or cut points part them.

Within a pattern of missing cells the records are sorted by each possible source in turn, and all columns are looked at at
once: a column follows from levels where its smallest and largest code agree within every level, and from a number where
it has as many runs as levels.

Evidence: at least 100 records that could have contradicted (those beyond the first of each level of the source), and a
chance below 1e-12 that unrelated columns would agree,

    levels      prod_l sum_k q_k^(n_l)              n_l records at level l of the source, share q_k at level k
    cut points  K! prod_k n_k! / n!                 n_k records at level k, of n
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from stead.errors import SteadError
from stead.language.derivations import Part, Rule
from stead.models.choosing.association import some_rows
from stead.models.choosing.patterns import patterns
from stead.models.choosing.sums import leads_to
from stead.models.derivation import learn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from stead.models.choosing.patterns import Pattern
    from stead.tables.records import Records

    Codes = NDArray[np.int16]

MOST_ROWS, MOST_LEVELS, MOST_TRIED = 1_000, 5_000, 5
CONTRADICTING, DIGITS = 100, 12.0


def recodes(
    records: Records, levels: Sequence[str], numbers: Sequence[str], targets: Sequence[str]
) -> dict[str, tuple[Rule, str]]:
    """The rule of each of `targets` that has one, with the reason."""
    listed = [name for name in levels if 2 <= len(records.schema[name].levels) <= MOST_LEVELS]
    found: dict[str, tuple[Rule, str]] = {}
    for pattern in patterns(records, [*listed, *numbers]):
        coded = [name for name in pattern.names if records.schema[name].coded]
        others = [name for name in pattern.names if not records.schema[name].coded]
        found |= _within(records, pattern, coded, others, set(targets))
    return found


def _within(
    records: Records, pattern: Pattern, coded: Sequence[str], numbers: Sequence[str], targets: set[str]
) -> dict[str, tuple[Rule, str]]:
    """The rules of one pattern: sources of fewest levels first, an earlier column before a later one that says the same."""
    if not targets & set(coded):
        return {}
    rows = np.flatnonzero(pattern.present)
    rows = rows[some_rows(len(rows), MOST_ROWS)]
    codes = np.column_stack([records[name].values[rows] for name in coded]).astype(np.int16)
    used = np.array([len(np.unique(code)) for code in codes.T])
    candidates: dict[str, list[tuple[float, str]]] = {name: [] for name in coded if name in targets}
    for place, name in enumerate(coded):
        follows = _by_level(codes, place) & (used >= 2) & (used <= used[place])
        for at in np.flatnonzero(follows).tolist():
            mutual = used[at] == used[place]
            fixed_first = (coded[at] in targets, at) > (name in targets, place)
            if coded[at] in candidates and at != place and (fixed_first or not mutual):
                candidates[coded[at]].append((float(used[place]), name))
    for name in numbers:
        values = records[name].values[rows]
        runs = 1 + np.count_nonzero(np.diff(codes[np.argsort(values, kind="stable")], axis=0), axis=0)
        for at in np.flatnonzero((runs == used) & (used >= 2)).tolist():
            if coded[at] in candidates:
                candidates[coded[at]].append((float(len(np.unique(values))), name))
    return _confirmed(records, candidates)


def _by_level(codes: Codes, source: int) -> NDArray[np.bool_]:
    """Which columns have one code only within each code of the source."""
    order = np.argsort(codes[:, source], kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.diff(ordered[:, source], prepend=np.int16(-1)))
    low = np.minimum.reduceat(ordered, starts, axis=0)
    return np.asarray((low == np.maximum.reduceat(ordered, starts, axis=0)).all(axis=0))


def _confirmed(
    records: Records, candidates: Mapping[str, list[tuple[float, str]]]
) -> dict[str, tuple[Rule, str]]:
    """The first candidate of each column that holds in every record and could not by chance."""
    found: dict[str, tuple[Rule, str]] = {}
    for target, listed in candidates.items():
        for _, source in sorted(listed, key=lambda one: one[0])[:MOST_TRIED]:
            same = _same(records, target, source)
            rule = Rule(target, (Part(source),), recode=not same)
            why = _evidence(records, rule)
            if why and not leads_to(source, target, found):
                found[target] = (rule, why)
                break
    return found


def _same(records: Records, target: str, source: str) -> bool:
    """Whether two columns have the same levels in every record."""
    one, other = records.schema[target], records.schema[source]
    if not other.coded or list(map(str, one.levels)) != list(map(str, other.levels)):
        return False
    return bool((records[target].values == records[source].values).all())


def _evidence(records: Records, rule: Rule) -> str:
    """The evidence, as a sentence, where it is enough; else nothing."""
    try:
        if not learn(rule, records).holds(records).all():
            return ""
    except SteadError:
        return ""
    source, held = records[rule.parts[0].column], records[rule.target]
    within = held.present
    counts = np.bincount(held.values[within])
    counts = counts[counts > 0].astype(float)
    rows = float(counts.sum())
    if records.schema[rule.parts[0].column].coded:
        each = np.bincount(source.values[within])
        each = each[each > 0].astype(float)
        contradicting = int(rows - len(each))
        sizes, times = np.unique(each, return_counts=True)
        agree = (np.log(counts / rows) * sizes[:, None]).T  # log q_k^n_l
        digits = -float((np.log10(np.maximum(np.exp(agree).sum(axis=0), 1e-300)) * times).sum())
        what = "the same as another column" if rule.copies else "each level of another column has one level"
    else:
        contradicting = int(rows - len(counts))
        log_chance = gammaln(len(counts) + 1) + gammaln(counts + 1).sum() - gammaln(rows + 1)
        digits = -float(log_chance) / float(np.log(10.0))
        what = f"the {len(counts)} levels lie between cut points of a number"
    if contradicting < CONTRADICTING or digits < DIGITS:
        return ""
    return f"{what}, in all {records.rows:,} records, of which {contradicting:,} could have contradicted"
