"""`stead init` and `stead check`: from a file to a plan that can be run."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from stead.cli import ui
from stead.errors import UsageError

if TYPE_CHECKING:
    from stead.studies.plan import Plan
    from stead.tables.scan import Scan

PLAN = Path("stead.toml")


def init(
    data: str,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    encoding: str = "utf-8",
    delimiter: Annotated[str, Parameter(show_default=False)] = "",
    decimal: Annotated[str, Parameter(show_default=False)] = "",
    table: Annotated[str, Parameter(show_default=False)] = "",
    query: Annotated[str, Parameter(show_default=False)] = "",
    force: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> int:
    r"""Scan a data set and propose a plan, stead.toml, beside it: each proposal with its reason.

    Examples:
      stead init survey.csv
      stead init survey.csv --encoding latin-1 --delimiter ";" --decimal ","
      stead init data/survey.sav --output plans/stead.toml
      stead init postgresql://analyst@db.example/survey --table people

    Parameters
    ----------
    data
        The confidential file, or the address of a database, without its password: libpq reads that from ~/.pgpass, PGPASSFILE or PGPASSWORD.
    output
        Where the plan goes; stead.toml in the folder of the data if left out.
    encoding
        Of a text file.
    delimiter
        Of a text file; found out if left out.
    decimal
        The decimal mark; found out if left out.
    table
        The table of a database, as people or survey.people.
    query
        A SELECT, in the place of a table.
    force
        Replace a plan that is there.
    json
        Print the proposal as JSON.
    """
    from stead.studies.proposal import propose
    from stead.tables.sources import Data

    source = Data(data, encoding, delimiter.replace("\\t", "\t"), decimal, table, query)
    target = output or source.folder / PLAN
    if os.path.lexists(target) and not force:
        raise UsageError(
            "E-EXISTS", f"{target} is there already; --force replaces it, --output names another"
        )
    plan, seen = propose(source)
    plan = replace(plan, data=seen.data.beside(target.parent), home=target.parent)
    plan.save(target)
    if json:
        ui.as_json({"plan": str(target), "rows": seen.rows, "notices": list(seen.notices), **plan.declared()})
        return 0
    _show(plan, seen, source.name)
    ui.say(f"The plan is in {target}. Correct it, then: stead check{_argument(target)}")
    return 0


def _show(plan: Plan, seen: Scan, name: str) -> None:
    """The proposal, in two tables."""
    for notice in seen.notices:
        ui.note(f"note: {notice}")
    rows = [
        [column.name, column.kind if column.carried else "—", column.role, column.why]
        for column in plan.schema
    ]
    ui.table(
        f"{name}: {seen.rows:,} rows, {len(plan.schema)} columns", ["column", "kind", "role", "why"], rows
    )
    ui.table(
        "models, in visiting order",
        ["formula", "model", "why"],
        [[spec.formula, spec.model, spec.why] for spec in plan.models],
    )


def check(
    plan: Path = PLAN, *, json: Annotated[bool, Parameter(negative="", show_default=False)] = False
) -> int:
    """Read the plan and its file, and say what would stop a run.

    Examples:
      stead check
      stead check other/stead.toml --json

    Parameters
    ----------
    plan
        The plan.
    json
        Print the findings as JSON.
    """
    from stead.studies.checks import check as findings_of
    from stead.studies.plan import load

    findings = findings_of(load(plan))
    stops = [finding for finding in findings if finding.level == "stop"]
    code = max((finding.exit_code for finding in stops), default=0)
    if json:
        ui.as_json(
            {"ok": not stops, "exit_code": code, "findings": [finding.to_dict() for finding in findings]}
        )
        return code
    for finding in findings:
        ui.say(f"{'STOP' if finding.level == 'stop' else 'note'}  {finding.message} [{finding.code}]")
    ui.say(
        f"{len(stops)} findings stop a run."
        if stops
        else f"Nothing stops a run. Next: stead run{_argument(plan)}"
    )
    return code


def _argument(plan: Path) -> str:
    return "" if plan == PLAN else f" {plan}"
