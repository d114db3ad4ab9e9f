"""`stead run` and `stead demo`: synthesize, measure, write, say where the result lies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from stead.cli import ui
from stead.cli.start import PLAN
from stead.errors import DiagnosticsFailed

if TYPE_CHECKING:
    from stead.studies.plan import Plan


def run(
    plan: Path = PLAN,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    repro_seed: Annotated[int | None, Parameter(validator=Number(gte=0))] = None,
    workers: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> int:
    """Synthesize as the plan says, measure, and write synthetic files, assessment and report.

    Examples:
      stead run
      stead run other/stead.toml --output results --workers 2
      stead run --json > assessment.json

    Parameters
    ----------
    plan
        The plan.
    output
        The folder for the results; the plan names it if left out.
    repro_seed
        A seed of your own, to make the same files again. Whoever knows it can make them too: it is kept in internal/ only, and belongs to nobody outside.
    workers
        How many sets are made at once; the files are the same for any number.
    json
        Print the assessment as JSON.
    """
    from stead.studies.plan import load

    return _run(load(plan), output, repro_seed, workers, machine=json)


def demo(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("demo"),
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> int:
    """Simulate a survey of 5,133 consumer units, synthesize three of its five columns, measure, write a report.

    Example:
      stead demo --output demo

    Parameters
    ----------
    output
        The folder for the results.
    json
        Print the assessment as JSON.
    """
    from stead.studies.demo import prepare

    return _run(prepare(output), output, None, 2, machine=json)


def _run(plan: Plan, output: Path | None, seed: int | None, workers: int | None, *, machine: bool) -> int:
    from stead.report.pages import report
    from stead.studies.run import ASSESSMENT, FAILURE, REPORT
    from stead.studies.run import run as run_plan

    try:
        with ui.watching(quiet=machine) as progress:
            done = run_plan(plan, folder=output, seed=seed, workers=workers, render=report, progress=progress)
    except DiagnosticsFailed:
        ui.note(f"every fit with its figures: {(output or plan.folder) / FAILURE}")
        raise
    if machine:
        ui.as_json(done.assessment)
        return 0
    release = done.release
    ui.say(
        f"{release.m} synthetic files of {release.synthetic[0].rows:,} rows; synthesized: {', '.join(release.synthesized)}"
    )
    if release.kept:
        ui.say(f"Released as they are, confidential values and not synthetic ones: {', '.join(release.kept)}")
    ui.table(
        "How close are they?",
        ["measure", "value", "reference", "direction"],
        ui.measured_rows(done.assessment["measured"]),
        right=frozenset({1}),
    )
    ui.say(f"Samplers: {done.assessment['samplers']['summary']}")
    if done.assessment["declared"]["override"]:
        ui.say(f"Released all the same, with the reason: {done.assessment['declared']['override']}")
    ui.say(f"synthetic files  {done.folder / 'public'}")
    ui.say(f"assessment       {done.folder / ASSESSMENT}")
    ui.say(f"Open the report: {done.folder / REPORT}")
    return 0
