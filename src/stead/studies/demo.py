"""The demonstration: a simulated survey and a plan for it, ready to run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from stead.models.sequence import Sequence
from stead.store.workdir import Workdir
from stead.studies.plan import Output, Plan
from stead.studies.proposal import specs_of
from stead.tables.examples import consumer_survey
from stead.tables.files import write_plain
from stead.tables.sources import Data

if TYPE_CHECKING:
    from pathlib import Path

MADE = ("Income", "Expenditure", "KidsCount")


def prepare(folder: Path) -> Plan:
    """Write the simulated survey and its plan into `folder`/internal, and return the plan."""
    records = consumer_survey()
    workdir = Workdir(folder)
    with workdir.locked():
        workdir.create()
        workdir.folder.write("internal/survey.csv", partial(write_plain, records))
        home = folder / "internal"
        schema = records.schema.with_columns(
            *(
                replace(column, why="simulated like a quarter of a consumer expenditure survey")
                for column in records.schema
            )
        )
        plan = Plan(
            title="Simulated consumer survey",
            data=Data("survey.csv"),
            schema=schema,
            models=specs_of(Sequence.auto(records, columns=MADE)),
            output=Output(".."),
            home=home,
        )
        plan.save(home / "stead.toml")
    return plan
