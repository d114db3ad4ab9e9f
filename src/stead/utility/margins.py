"""Margins: tables of one, two or three columns of the confidential and the synthetic file, and the moments of numbers.

Cells are those of cells.py, measures and their references those of crosstabs.py. Order 1 adds the moments of each number,
order 2 the correlations of pairs of numbers, see moments.py.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, shorten
from stead.measurement import Measurement, not_available
from stead.utility.cells import cells_of
from stead.utility.crosstabs import Coded, compare
from stead.utility.moments import Exchange, correlation, moments
from stead.utility.null import used_line
from stead.utility.null_choice import kept_columns_agree
from stead.utility.terms import NOT_PREDICTORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stead.release import Release

CITATION = "Voas & Williamson (2001); Raab, Nowok & Dibben (2021)"
MOST_TABLES = 2_000
MOST_IN_MAP = 10
SHOWN = ("column", "labels", "confidential", "synthetic", "low", "high", "total_variation", "reference")


def margins(release: Release, columns: str | Sequence[str] | None = None, *, order: int = 1) -> Measurement:
    """Tables of `order` columns, at least one of them synthesized; the value is the largest total variation.

    Without `columns`: of every synthesized column for order 1, of all columns for orders 2 and 3. Numbers in
    `details`: each table with its measures and their references, `moments` (order 1), `correlations` (order 2).
    """
    if isinstance(order, bool) or order not in {1, 2, 3}:
        raise UsageError("E-ORDER", "order is 1, 2 or 3: how many columns a table has")
    names = _columns(release, columns, order)
    usable = [name for name in names if name not in release.lacking]
    name = "margins" if order == 1 else f"margins of order {order}"
    if not usable:
        return not_available(
            name, f"the synthetic sets lack {', '.join(map(shorten, names))}", citation=CITATION
        )
    chosen = _chosen(release, usable, order, every=columns is not None)
    if not chosen:
        return not_available(name, f"no table of {order} columns has a synthesized one", citation=CITATION)
    coded = {one: _coded(release, one) for one in dict.fromkeys(one for table in chosen for one in table)}
    kept = tuple(one for one in coded if one not in release.synthesized)
    if not kept_columns_agree(release, kept):
        kept = ()
    compared = sorted(
        (compare({one: coded[one] for one in table}, kept, release.proper) for table in chosen),
        key=lambda one: -(one["ratio"] or 0.0),
    )
    worst = max(compared, key=lambda one: float(one["total_variation"]))
    made = [one for one in coded if one in release.synthesized]
    alone = [compare({one: coded[one]}, kept, release.proper) for one in made] if order == 2 else []
    return Measurement(
        name=name,
        value=worst["total_variation"],
        reference=worst["reference"],
        reference_name="two samples of this size",
        citation=CITATION,
        per_dataset=tuple(np.max([one["per_dataset"] for one in compared], axis=0).tolist()),
        details={
            "order": order,
            "worst_columns": worst["columns"],
            "null_line": used_line(release.proper),
            "proper": release.proper,
            "not_compared": [one for one in names if one not in usable],
            **_details(release, compared, order),
        },
        aggregates=_aggregates(release, compared, alone, order),
    )


def _columns(release: Release, columns: str | Sequence[str] | None, order: int) -> tuple[str, ...]:
    """The columns that were named, or those that fit."""
    if columns is None:
        if order == 1:
            return release.synthesized
        schema = release.confidential.schema
        return tuple(name for name in release.synthetic[0].names if schema[name].role not in NOT_PREDICTORS)
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if len(set(names)) < max(len(names), order):
        raise UsageError("E-COLUMN", f"name at least {order} columns, and each once")
    for name in names:
        _ = release.confidential[name]
    return names


def _chosen(release: Release, names: Sequence[str], order: int, *, every: bool) -> list[tuple[str, ...]]:
    """The tables: all sets of columns with a synthesized one; of one column, those that were named."""
    if comb(len(names), order) > MOST_TABLES:
        raise UsageError(
            "E-TABLES",
            f"{len(names)} columns have {comb(len(names), order):,} tables of {order}, at most {MOST_TABLES:,}; name fewer columns",
        )
    made = set(release.synthesized)
    return [table for table in combinations(names, order) if made & set(table) or (order == 1 and every)]


def _coded(release: Release, name: str) -> Coded:
    """A column of all files as cells."""
    held = release.confidential[name]
    cells = cells_of(release.confidential.schema[name], held)
    return Coded(len(cells.labels), cells.of(held), tuple(cells.of(one[name]) for one in release.synthetic))


def _details(release: Release, compared: list[dict[str, Any]], order: int) -> dict[str, Any]:
    """Each table, and for orders 1 and 2 what the numbers among them say."""
    schema = release.confidential.schema
    tables = [{key: value for key, value in one.items() if key != "per_dataset"} for one in compared]
    numeric = [one["columns"] for one in tables if not any(schema[name].coded for name in one["columns"])]
    exchange = Exchange.of(release)
    if order == 1:
        found = {names[0]: moments(release, names[0], exchange) for names in numeric}
        return {
            "worst_column": max(tables, key=lambda one: float(one["total_variation"]))["columns"][0],
            "columns": {one["columns"][0]: _without(one, "columns") for one in tables},
            "moments": {name: one for name, one in found.items() if one},
        }
    if order == 2:
        correlations = [one for one in (correlation(release, names, exchange) for names in numeric) if one]
        return {"tables": tables, "correlations": correlations}
    return {"tables": tables}


def _without(table: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != key}


def _aggregates(
    release: Release, compared: list[dict[str, Any]], alone: list[dict[str, Any]], order: int
) -> dict[str, Any]:
    """What is drawn: the shares of each column; the map of pairs; nothing for three columns."""
    if order == 1:
        ordered = sorted(
            compared, key=lambda one: -float(one["total_variation"]) / max(float(one["reference"]), 1e-12)
        )
        return {"kind": "margins", "columns": [_shares(release, one) for one in ordered]}
    if order == 2:
        return _map([*compared, *alone], {name for one in compared for name in one["columns"]})
    return {}


def _shares(release: Release, compared: dict[str, Any]) -> dict[str, Any]:
    """The shares of the cells of one column, those that are empty in all files left out."""
    name = compared["columns"][0]
    held = release.confidential[name]
    cells = cells_of(release.confidential.schema[name], held)
    width = len(cells.labels)
    p = np.bincount(cells.of(held), minlength=width) / len(held)
    each = np.array(
        [np.bincount(cells.of(one[name]), minlength=width) / one.rows for one in release.synthetic]
    )
    shown = (p > 0) | (each > 0).any(axis=0)
    p, each = p[shown], each[:, shown]
    return {
        "column": name,
        "labels": [label for label, keep in zip(cells.labels, shown, strict=True) if keep],
        "confidential": np.round(p, 4).tolist(),
        "synthetic": np.round(each.mean(axis=0), 4).tolist(),
        "low": np.round(each.min(axis=0), 4).tolist(),
        "high": np.round(each.max(axis=0), 4).tolist(),
        "total_variation": compared["total_variation"],
        "reference": compared["reference"],
    }


def _map(compared: list[dict[str, Any]], names: Iterable[str]) -> dict[str, Any]:
    """The pMSE ratio of each pair and of each column alone, the columns with the largest ratios first."""
    ratios = {frozenset(one["columns"]): one["ratio"] for one in compared if one["ratio"] is not None}
    if not ratios:
        return {}
    largest = {
        name: max((value for chosen, value in ratios.items() if name in chosen), default=0.0)
        for name in names
    }
    shown = sorted(largest, key=lambda name: (-largest[name], name))[:MOST_IN_MAP]
    return {
        "kind": "pairs",
        "columns": shown,
        "of": len(largest),
        "ratio": [[ratios.get(frozenset((row, column))) for column in shown] for row in shown],
    }
