"""What `stead check` finds before a run: what would stop it, and what its owner should know."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stead.errors import InputRefused, Notice, SteadError, UsageError, nearest, shorten
from stead.models.base import Checked
from stead.tables.files import read_data
from stead.tables.scan import SPECIAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stead.studies.plan import Plan
    from stead.tables.records import Records
    from stead.tables.schema import Column


@dataclass(frozen=True)
class Finding:
    """One finding; `stop` ends a run before it begins."""

    level: Literal["stop", "note"]
    code: str
    message: str
    exit_code: int = 0

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def read_confidential(plan: Plan) -> tuple[Records, tuple[Notice, ...]]:
    """The confidential records of a plan, and the notices that reading them gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", Notice)
        records = read_data(plan.source, plan.schema)
    return records, tuple(one.message for one in caught if isinstance(one.message, Notice))


def check(plan: Plan) -> tuple[Finding, ...]:
    """All findings; reading stops at the first refusal of the file, the rest is looked through to the end."""
    try:
        records, notices = read_confidential(plan)
    except SteadError as error:
        return (_stop(error),)
    read = (Finding("note", notice.code, notice.message) for notice in notices)
    return (*read, *findings(plan, records))


def findings(plan: Plan, records: Records) -> Iterator[Finding]:
    """What is found in records that were read."""
    yield from _of_size(plan, records)
    for name in records.names:
        yield from _of_column(records, records.schema[name])
    yield from _of_models(plan, records)


def require(plan: Plan, records: Records) -> None:
    """Raise the first finding that stops a run, before any work is done."""
    for finding in findings(plan, records):
        if finding.level == "stop":
            refusal = InputRefused if finding.exit_code == InputRefused.exit_code else UsageError
            raise refusal(finding.code, finding.message)


def _stop(error: SteadError) -> Finding:
    return Finding("stop", error.code, error.message, error.exit_code)


def _of_size(plan: Plan, records: Records) -> Iterator[Finding]:
    if records.rows < plan.synthesis.minimum_rows:
        yield _stop(
            InputRefused(
                "E-FEW-ROWS",
                f"{plan.data.name}: {records.rows:,} rows are too few to hide anyone among them: at least {plan.synthesis.minimum_rows} are needed; "
                "minimum_rows in [synthesis] changes that, for teaching",
            )
        )


def _of_column(records: Records, column: Column) -> Iterator[Finding]:
    held = records[column.name]
    present = held.values[held.present]
    name = f"column {shorten(column.name)}"
    if not len(present):
        yield Finding("note", "E-COL-ALLNA", f"{name}: every cell is missing; it is carried as it is")
    elif (present == present[0]).all():
        yield Finding(
            "note",
            "E-COL-CONST",
            f"{name}: is constant; it is kept as it is, and left out of models as a predictor",
        )
    if not column.coded and column.kind != "date" and len(present):
        special = np.isin(present, list(SPECIAL))
        negative = present < 0
        if special.any() and bool((special == negative).all()) and len(np.unique(present[special])) <= 5:
            what = "every value is" if special.all() else f"{int(special.sum()):,} values are"
            yield Finding(
                "note",
                "E-SPECIAL",
                f"{name}: {what} one of a few negative whole numbers, as codes for missing are; list them in missing if they are",
            )


def _of_models(plan: Plan, records: Records) -> Iterator[Finding]:
    try:
        model = plan.sequence()
    except SteadError as error:
        yield _stop(error)
        return
    for one in getattr(model, "models", ()):
        if isinstance(one, Checked):
            try:
                one.check(records)
            except SteadError as error:
                yield _stop(error)
    yield from _of_measures(plan, records, model.responses)
    kept = [name for name in records.names if name not in model.responses]
    if kept:
        yield Finding(
            "note",
            "E-KEPT",
            f"released as they are: {', '.join(map(shorten, kept[:20]))}{' and more' if len(kept) > 20 else ''}; confidential values, not synthetic ones",
        )


def _of_measures(plan: Plan, records: Records, made: tuple[str, ...]) -> Iterator[Finding]:
    ordered = [name for name in records.names if records.schema[name].kind != "categorical"]
    for measure, listed, fitting in (
        ("ecdf", plan.measures.ecdf, ordered),
        ("margins", plan.measures.margins, list(records.names)),
        ("predictive", plan.measures.predictive, list(records.names)),
    ):
        for name in listed:
            if name not in records:
                yield _stop(
                    UsageError(
                        "E-COLUMN",
                        f"[measures] {measure}: no column is called {shorten(name)}; {nearest(name, records.names)}",
                    )
                )
            elif name not in fitting:
                yield _stop(
                    UsageError(
                        "E-COLUMN",
                        f"[measures] {measure}: {shorten(name)} is categorical, and a distribution function needs an order; list it in margins",
                    )
                )
            elif name not in made and measure == "predictive":
                yield _stop(
                    UsageError(
                        "E-COLUMN",
                        f"[measures] predictive: {shorten(name)} is not synthesized, so that no model predicts it; {nearest(name, made)}",
                    )
                )
            elif name not in made:
                yield Finding(
                    "note",
                    "E-NOT-MADE",
                    f"[measures] {measure}: {shorten(name)} is not synthesized, so that there is nothing to compare",
                )
