"""The demonstration: a simulated survey and a plan for it, ready to run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from stead.store.workdir import Workdir
from stead.studies.plan import ModelSpec, Output, Plan
from stead.tables.examples import consumer_survey
from stead.tables.files import write_plain
from stead.tables.sources import Data

if TYPE_CHECKING:
    from pathlib import Path

MODELS = (
    ModelSpec("Linear", "log(Income) ~ UrbanRural + Race + KidsCount", "weak", "skewed, so on a log scale"),
    ModelSpec(
        "Linear",
        "log(Expenditure) ~ log(Income) + UrbanRural + Race + KidsCount",
        "weak",
        "skewed; given the income made before it",
    ),
)


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
            models=MODELS,
            output=Output(".."),
            home=home,
        )
        plan.save(home / "stead.toml")
    return plan
