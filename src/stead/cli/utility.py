"""`stead utility`: measure files that any tool made against the confidential one."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - cyclopts reads the annotations
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from stead.cli import ui

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stead.release import Release
    from stead.tables.records import Records

Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Names = Annotated[list[str] | None, Parameter(negative="", consume_multiple=False)]


def utility(
    real: Path,
    *synthetic: Path,
    synthesized: Annotated[list[str], Parameter(negative="", consume_multiple=False)],
    aligned: Annotated[bool | None, Parameter(negative="--full", show_default=False)] = None,
    proper: Annotated[bool | None, Parameter(negative="--plug-in", show_default=False)] = None,
    formula: str | None = None,
    order: int = 2,
    classifier: Literal["logistic", "cart", "forest", "boosting"] = "logistic",
    null: Literal["analytic", "permutation", "pairs"] | None = None,
    categorical: Names = None,
    missing: Names = None,
    plan: Path | None = None,
    encoding: str = "utf-8",
    delimiter: str = ",",
    json: Flag = False,
) -> int:
    r"""Measure synthetic files, made by any tool, against the confidential one.

    Examples:
      stead utility survey.csv syn1.csv syn2.csv --synthesized Income,Expenditure
      stead utility survey.csv syn.csv --synthesized Income --full --proper --classifier cart
      stead utility survey.csv syn.csv --synthesized Income --plan stead.toml --json

    Parameters
    ----------
    real
        The confidential file, of any format that stead reads.
    synthetic
        The synthetic files, one for each set.
    synthesized
        Columns that a model made, separated by commas.
    aligned
        Row i of a synthetic file stands for row i of the confidential one, which is checked; --full: it does not. Left out: aligned where columns were kept.
    proper
        Each set used its own posterior draw; --plug-in: one estimate for all. Left out: not known, and both nulls are shown.
    formula
        Terms of the classifier, as in "Income * Race"; all columns and their products up to the order if left out.
    order
        Of the products: 1 for main effects, 2 for all pairs.
    classifier
        What tells the files apart.
    null
        What its score is read against; chosen for the data if left out.
    categorical
        Columns of numbers that are codes, separated by commas.
    missing
        Codes that stand for a missing value in any column, separated by commas.
    plan
        A plan whose columns say what each column is, instead of the two above.
    encoding
        Of text files.
    delimiter
        Of text files.
    json
        Print the measurements as JSON.
    """
    from stead.utility.overview import overview

    records = _read(real, plan, _split(categorical), _split(missing), encoding, delimiter)
    release = _release(
        records, synthetic, _split(synthesized, records.names), aligned, proper, encoding, delimiter
    )
    measured = [one.to_dict() for one in overview(release, formula, order, classifier, null)]
    _show(release, measured, machine=json)
    return 0


def _show(release: Release, measured: list[dict[str, Any]], *, machine: bool) -> None:
    """The measurements, as JSON or as a table and what the scores were read against."""
    rows = [release.confidential.rows, release.synthetic[0].rows]
    if machine:
        shape = {
            "m": release.m,
            "rows": rows,
            "synthesized": list(release.synthesized),
            "kept": list(release.kept),
            "aligned": release.aligned,
            "proper": release.proper,
        }
        ui.as_json({"release": shape, "measured": measured})
        return
    ui.say(
        f"{release.m} synthetic {'file' if release.m == 1 else 'files'} of {rows[1]:,} rows, "
        f"{'aligned with' if release.aligned else 'not aligned with'} {rows[0]:,} confidential ones"
    )
    ui.table(
        "How close are they?",
        ["measure", "value", "reference", "direction"],
        [row for one in measured for row in _rows(one)],
        right=frozenset({1}),
    )
    for line in _read_against(measured[0]):
        ui.say(line)


def _read(
    real: Path,
    plan: Path | None,
    categorical: Sequence[str],
    missing: Sequence[str],
    encoding: str,
    delimiter: str,
) -> Records:
    """The confidential records, under a plan's columns where there is one."""
    from stead.tables.files import read

    if plan is None:
        return read(real, categorical=categorical, missing=missing, encoding=encoding, delimiter=delimiter)
    from stead.studies.plan import load

    declared = load(plan)
    return read(real, declared.schema, encoding=encoding, delimiter=delimiter, decimal=declared.data.decimal)


def _release(
    records: Records,
    synthetic: Sequence[Path],
    made: Sequence[str],
    aligned: bool | None,
    proper: bool | None,
    encoding: str,
    delimiter: str,
) -> Release:
    """The files as a release; levels and codes are those of the confidential one."""
    from stead.release import Release
    from stead.tables.sources import Data

    sets = [Data(str(path), encoding, delimiter).load().table for path in synthetic]
    if aligned is None:
        aligned = any(name not in made for name in records.names)
    return Release.from_tables(records, sets, synthesized=made, aligned=aligned, proper=proper)


def _split(listed: Sequence[str] | None, names: Sequence[str] = ()) -> list[str]:
    """Names separated by commas; one that has a comma in it is taken whole where a column is called so."""
    return [
        name.strip()
        for one in listed or ()
        for name in ([one] if one in names else one.split(","))
        if name.strip()
    ]


def _rows(one: Mapping[str, Any]) -> list[list[str]]:
    """The rows of one measurement: itself, and what else it read off the same scores."""
    from stead.report.look import amount

    if one["value"] is None:
        return [[one["name"], "—", f"not available: {one['reason']}", ""]]
    against = f"{amount(one['reference'])} ({one['reference_name']})" if one["reference"] is not None else "—"
    rows = [[one["name"], amount(one["value"]), against, one["direction"]]]
    for key, name in (("specks", "SPECKS"), ("po50", "PO50"), ("auc", "AUC")):
        if key in one:
            held = one[key]
            beside = (
                f"{amount(held['reference'])} ({one['apart_reference']})"
                if held["reference"] is not None
                else "—"
            )
            rows.append([f"  {name}", amount(held["value"]), beside, one["direction"]])
    return rows


def _read_against(scores: Mapping[str, Any]) -> list[str]:
    """What the propensity score was read against."""
    from stead.report.look import number

    if scores["value"] is None:
        return []
    lines = []
    rank = f", k* = {scores['k_star']:g}" if scores["k_star"] is not None else ""
    for name, line in scores["nulls"].items():
        z = f", z = {number(line['z'])}" if line["z"] is not None else ""
        lines.append(f"pMSE / null mean ({scores['null']}, {name}{rank}) = {number(line['ratio'])}{z}")
    if scores["null_reason"]:
        lines.append(f"null: {scores['null_reason']}")
    return [*lines, *(f"note: {note}" for note in scores["notes"])]
