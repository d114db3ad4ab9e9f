"""One-way tables of the confidential and the synthetic file, side by side.

For shares p_k (confidential) and q_k (synthetic) of the cells of one column

    total variation  1/2 sum |p_k - q_k|          Hellinger  sqrt(1 - sum sqrt(p_k q_k))
    Jensen-Shannon   sqrt(1/2 KL(p, r) + 1/2 KL(q, r)) with r = (p + q)/2 and logarithms to base 2

The cells of a number are cut at round places near its deciles, not in equal widths, which would put
nearly every income in one cell. The reference is the mean total variation of two independent samples of
these sizes, 1/2 sum_k sqrt(2/pi r_k (1 - r_k) (1/n + 1/n_s)). A level with fewer than ten confidential
records is counted under "other".
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, shorten
from stead.measurement import Measurement, not_available
from stead.utility.grid import SMALLEST_CELL, cell_edges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.release import Release
    from stead.tables.records import Values
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

CITATION = "Voas & Williamson (2001); Raab, Nowok & Dibben (2021)"
CELLS = 10
OTHER, MISSING = "other", "missing"


@dataclass(frozen=True)
class _Table:
    """The cells of one column and the rule that puts a value into one."""

    column: Column
    labels: tuple[str, ...]
    edges: Array  # of a number
    cell_of_level: NDArray[np.int64]  # of a category

    def shares(self, held: Values) -> Array:
        """The share of rows in each cell; the last cell is for missing values."""
        if self.column.coded:
            cells = self.cell_of_level[held.values]
        else:
            cells = np.searchsorted(self.edges, held.values.astype(float), side="right")
        cells = np.where(held.present, cells, len(self.labels) - 1)
        return np.bincount(cells, minlength=len(self.labels)) / max(len(held), 1)


def margins(release: Release, columns: str | Sequence[str] | None = None) -> Measurement:
    """One-way tables; without `columns`, of every synthesized column. The value is the largest total variation."""
    names = _columns(release, columns)
    usable = [name for name in names if name not in release.lacking]
    if not usable:
        return not_available(
            "margins", f"the synthetic sets lack {', '.join(map(shorten, names))}", citation=CITATION
        )
    compared = sorted(
        (_compare(release, name) for name in usable),
        key=lambda one: -one["total_variation"] / max(one["reference"], 1e-12),
    )
    per_dataset = np.array([one["per_dataset"] for one in compared])  # (columns, m)
    worst = max(compared, key=lambda one: one["total_variation"])
    largest = per_dataset.max(axis=0)
    return Measurement(
        name="margins",
        value=worst["total_variation"],
        reference=worst["reference"],
        reference_name="two samples of this size",
        citation=CITATION,
        per_dataset=tuple(largest.tolist()),
        details={
            "worst_column": worst["column"],
            "columns": {
                one["column"]: {
                    key: one[key] for key in ("total_variation", "reference", "hellinger", "jensen_shannon")
                }
                for one in compared
            },
            "not_compared": [name for name in names if name not in usable],
        },
        aggregates={
            "kind": "margins",
            "columns": [
                {
                    key: one[key]
                    for key in (
                        "column",
                        "labels",
                        "confidential",
                        "synthetic",
                        "low",
                        "high",
                        "total_variation",
                        "reference",
                    )
                }
                for one in compared
            ],
        },
    )


def _columns(release: Release, columns: str | Sequence[str] | None) -> tuple[str, ...]:
    names = (
        release.synthesized if columns is None else (columns,) if isinstance(columns, str) else tuple(columns)
    )
    if not names:
        raise UsageError("E-COLUMN", "name at least one column")
    for name in names:
        _ = release.confidential[name]
    return tuple(names)


def _compare(release: Release, name: str) -> dict[str, Any]:
    held = release.confidential[name]
    cells = _cells(release.confidential.schema[name], held)
    p = cells.shares(held)
    each = np.array([cells.shares(one[name]) for one in release.synthetic])  # (m, cells)
    shown = (p > 0) | (each > 0).any(axis=0)
    p, each = p[shown], each[:, shown]
    variation = 0.5 * np.abs(each - p).sum(axis=1)
    r = 0.5 * (p + each.mean(axis=0))
    noise = 1.0 / len(held) + 1.0 / release.synthetic[0].rows
    q = each.mean(axis=0)
    return {
        "column": name,
        "labels": [label for label, keep in zip(cells.labels, shown, strict=True) if keep],
        "confidential": np.round(p, 4).tolist(),
        "synthetic": np.round(q, 4).tolist(),
        "low": np.round(each.min(axis=0), 4).tolist(),
        "high": np.round(each.max(axis=0), 4).tolist(),
        "total_variation": float(variation.mean()),
        "reference": float(0.5 * np.sqrt(2.0 / np.pi * r * (1.0 - r) * noise).sum()),
        "hellinger": float(np.mean([np.sqrt(max(0.0, 1.0 - np.sqrt(p * one).sum())) for one in each])),
        "jensen_shannon": float(np.mean([_jensen_shannon(p, one) for one in each])),
        "per_dataset": variation.tolist(),
    }


def _jensen_shannon(p: Array, q: Array) -> float:
    middle = 0.5 * (p + q)
    divergence = 0.5 * _relative_entropy(p, middle) + 0.5 * _relative_entropy(q, middle)
    return float(np.sqrt(max(0.0, divergence)))


def _relative_entropy(p: Array, r: Array) -> float:
    positive = p > 0
    return float((p[positive] * np.log2(p[positive] / r[positive])).sum())


def _cells(column: Column, held: Values) -> _Table:
    if not column.coded:
        edges = (
            _count_edges(held)
            if column.kind == "count"
            else cell_edges(held.values[held.present].astype(float), CELLS)
        )
        return _Table(column, (*_edge_labels(edges, column), MISSING), edges, np.zeros(0, np.int64))
    counts = np.bincount(held.values[held.present], minlength=len(column.levels))
    large = np.flatnonzero(counts >= SMALLEST_CELL)
    cell_of_level = np.full(len(column.levels), len(large))
    cell_of_level[large] = np.arange(len(large))
    labels = (*(str(column.levels[level]) for level in large), OTHER, MISSING)
    return _Table(column, labels, np.zeros(0), cell_of_level)


def _count_edges(held: Values) -> Array:
    """Each whole number is a cell while at least ten records have it and ten are beyond."""
    present = held.values[held.present]
    edges: list[float] = []
    before = 0
    for number in range(1, 2 * CELLS):
        below = int(np.count_nonzero(present < number))
        if below - before >= SMALLEST_CELL and len(present) - below >= SMALLEST_CELL:
            edges.append(float(number))
            before = below
    return np.array(edges)


def _edge_labels(edges: Array, column: Column) -> tuple[str, ...]:
    if not len(edges):
        return ("all",)
    shown = [_date(edge, column) if column.kind == "date" else f"{edge:,.12g}" for edge in edges]
    if column.kind == "count":
        lows = [0, *(int(edge) for edge in edges)]
        tops = [*(int(edge) - 1 for edge in edges), None]
        return tuple(
            f"{low} or more" if top is None else str(low) if low == top else f"{low}–{top}"
            for low, top in zip(lows, tops, strict=True)
        )
    return (
        f"< {shown[0]}",
        *(f"{low} to {high}" for low, high in pairwise(shown)),
        f"≥ {shown[-1]}",
    )


def _date(number: float, column: Column) -> str:
    days = int(number) if column.unit == "day" else int(number) // 86_400
    return str(np.datetime64(days, "D"))
