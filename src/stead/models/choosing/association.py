"""How strongly each pair of columns is associated, from codes: Cramér's V squared, corrected for chance.

    phi^2 = sum_kl p_kl^2 / (p_k p_l) - 1,      V~^2 = max(0, phi^2 - (K-1)(L-1)/(n-1)) / (min(K~, L~) - 1),
    K~ = K - (K-1)^2/(n-1)

(Bergsma 2013, Journal of the Korean Statistical Society 42). Numbers are cut at their quintiles, the levels beyond the
eleven commonest are one, and missing cells are a level. All cross-tables are one product X'X of indicators, a block of
columns at a time, on at most 4,000 records. What chi-squared with (K-1)(L-1) degrees of freedom reaches with probability
1e-4 or more counts as none (by the cube root of Wilson & Hilferty 1931).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.tables.records import Records, Values
    from stead.tables.schema import Column

    Matrix = NDArray[np.float32]

MOST_ROWS, PARTS, COMMONEST, BLOCK = 4_000, 5, 11, 128
NORMAL_AT_CHANCE = 3.719
"""The normal quantile of 1 - 1e-4."""


def associations(records: Records, names: Sequence[str]) -> Matrix:
    """The square of V for each pair of columns; 0 where chance would do, and on the diagonal."""
    rows = some_rows(records.rows, MOST_ROWS)
    codes = [codes_of(records.schema[name], records[name].take(rows)) for name in names]
    sizes = np.array([int(code.max(initial=0)) + 1 for code in codes])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int)
    indicator = np.zeros((len(rows), int(sizes.sum())), np.float32)
    for code, start in zip(codes, starts, strict=True):
        indicator[np.arange(len(rows)), start + code] = 1.0
    share = np.maximum(indicator.mean(axis=0), np.finfo(np.float32).tiny)
    result = np.zeros((len(names), len(names)), np.float32)
    for first in range(0, len(names), BLOCK):
        last = min(first + BLOCK, len(names))
        left = slice(starts[first], starts[last - 1] + sizes[last - 1])
        both = (indicator[:, left].T @ indicator) / len(rows)
        both *= both
        both /= share[left, None]
        both /= share
        within = np.add.reduceat(both, starts, axis=1)
        phi = np.add.reduceat(within, starts[first:last] - starts[first], axis=0) - 1.0
        result[first:last] = _corrected(phi, sizes[first:last, None], sizes, len(rows))
    np.fill_diagonal(result, 0.0)
    return result


def codes_of(column: Column, held: Values) -> NDArray[np.int64]:
    """A few codes, from 0 on without a gap."""
    if column.coded:
        counts = np.bincount(held.values[held.present], minlength=len(column.levels))
        order = np.argsort(-counts, kind="stable")
        code = np.full(len(column.levels), COMMONEST)
        code[order[:COMMONEST]] = np.arange(min(COMMONEST, len(order)))
        cells = code[held.values]
    else:
        present = held.values[held.present].astype(float)
        inner = np.arange(1, PARTS) / PARTS
        edges = np.unique(np.quantile(present, inner, method="nearest")) if len(present) else np.zeros(0)
        cells = np.searchsorted(edges, held.values.astype(float), side="left")
    cells = np.where(held.present, cells, COMMONEST + 1 + PARTS)
    return np.unique(cells, return_inverse=True)[1].astype(np.int64)


def some_rows(rows: int, most: int) -> NDArray[np.int64]:
    """At most so many places, evenly spread."""
    return np.linspace(0, rows - 1, min(rows, most)).astype(np.int64)


def _corrected(phi: NDArray[Any], left: NDArray[np.int64], right: NDArray[np.int64], rows: int) -> Matrix:
    """The square of V, less what chance gives; 0 where chance would do."""
    degrees = np.maximum((left - 1.0) * (right - 1.0), 1.0)
    spread = 2.0 / (9.0 * degrees)
    reached = degrees * (1.0 - spread + NORMAL_AT_CHANCE * np.sqrt(spread)) ** 3
    fewest = np.minimum(*(size - (size - 1.0) ** 2 / max(rows - 1, 1) for size in (left, right))) - 1.0
    beyond = phi - degrees / max(rows - 1, 1)
    squared = np.clip(beyond / np.maximum(fewest, 1e-9), 0.0, 1.0)
    return np.where(rows * phi > reached, squared, 0.0).astype(np.float32)
