"""From a plan to a release, its measurements and its assessment, written to a folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from stead.errors import DiagnosticsFailed, shorten
from stead.models.base import silent
from stead.randomness import fresh_entropy
from stead.release import synthesize
from stead.store.workdir import Workdir
from stead.studies.assessment import assessment
from stead.studies.checks import read_confidential, require
from stead.tables.files import write_plain
from stead.utility.ecdf import ecdf
from stead.utility.margins import margins
from stead.utility.predictive import predictive_check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stead.measurement import Measurement
    from stead.models.base import Progress
    from stead.release import Release
    from stead.studies.plan import Plan

ASSESSMENT, FAILURE, REPORT = "internal/assessment.json", "internal/failure.json", "report.html"


@dataclass(frozen=True, repr=False)
class Run:
    """What a run made."""

    folder: Path
    release: Release
    measured: tuple[Measurement, ...]
    assessment: dict[str, Any]
    files: tuple[str, ...]


def run(
    plan: Plan,
    *,
    folder: Path | None = None,
    seed: int | None = None,
    workers: int | None = None,
    render: Callable[[dict[str, Any]], str] | None = None,
    progress: Progress = silent,
) -> Run:
    """Read, fit, synthesize, measure, write. `render` makes the page from the assessment.

    Without `seed` a secret one is taken from the system; either is kept in internal/ alone.
    """
    place = Workdir(folder or plan.folder)
    with place.locked() as workdir:
        workdir.create()
        progress("read", 0, 1)
        records, notices = read_confidential(plan)
        require(plan, records)
        progress("read", 1, 1)
        settings = plan.synthesis
        try:
            release = synthesize(
                records,
                plan.sequence(),
                m=settings.m,
                draws=settings.draws,
                rng=fresh_entropy() if seed is None else seed,
                workers=workers or settings.workers,
                minimum_rows=settings.minimum_rows,
                override=settings.override,
                progress=progress,
            )
        except DiagnosticsFailed as error:
            workdir.folder.write_json(FAILURE, error.to_dict())
            raise
        measured = measure(plan, release, progress)
        files = _write_sets(workdir, release, progress)
        release.save(workdir.path / "internal" / "release")
        content = assessment(plan, release, measured, files, tuple(map(str, notices)))
        workdir.folder.write_json(ASSESSMENT, content)
        if render:
            workdir.folder.write_text(REPORT, render(content))
        _clear(workdir, files)
        progress("write", 1, 1)
    return Run(workdir.path, release, tuple(measured), content, tuple(files))


def measure(plan: Plan, release: Release, progress: Progress = silent) -> list[Measurement]:
    """The measures that the plan asks for; of all fitting columns where it names none."""
    ordered = [
        name for name in release.synthesized if release.confidential.schema[name].kind != "categorical"
    ]
    columns = plan.measures.ecdf or tuple(ordered)
    total = len(columns) + 1
    measured = []
    for place, name in enumerate(columns):
        progress(f"measure {shorten(name)}", place, total)
        measured.append(ecdf(release, [name]))
    progress("measure margins", total - 1, total)
    measured.append(margins(release, plan.measures.margins or None))
    measured.append(predictive_check(release, plan.measures.predictive or None, progress=progress))
    progress("measure", total, total)
    return measured


def _write_sets(workdir: Workdir, release: Release, progress: Progress) -> list[str]:
    files = []
    for place, records in enumerate(release.synthetic, start=1):
        name = f"public/synthetic-{place}.csv"
        workdir.folder.write(name, partial(write_plain, records))
        files.append(name)
        progress("write", place, release.m + 1)
    return files


def _clear(workdir: Workdir, files: list[str]) -> None:
    """Take away what an earlier run left and this one did not replace: more sets, a failure."""
    for name in workdir.folder.hashes():
        if name == FAILURE or (name.startswith("public/") and name not in files):
            workdir.folder.remove(name)
