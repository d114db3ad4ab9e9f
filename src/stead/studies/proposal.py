"""The plan that `stead init` proposes: a schema, and a model for each column that one can make, in visiting order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stead.errors import UsageError
from stead.language.grammar import Factor
from stead.studies.plan import Measures, ModelSpec, Plan
from stead.tables.scan import scan

if TYPE_CHECKING:
    from stead.tables.scan import Scan
    from stead.tables.schema import Column
    from stead.tables.sources import Data

MOST_LEVELS, MOST_PREDICTORS = 50, 30


def propose(data: Data) -> tuple[Plan, Scan]:
    """A plan for a data set, and what was seen in it; an empty delimiter or decimal mark is found out."""
    if data.decimal not in {"", ".", ","}:
        raise UsageError("E-DECIMAL", 'decimal is "." or ","')
    data.require_no_password()
    seen = scan(data)
    models = _models(seen)
    if not models:
        raise UsageError(
            "E-PLAN",
            f"{data.name}: no column is a number with decimals or has two levels, so none of the models can make one",
        )
    plan = Plan(
        title=data.title,
        data=seen.data.beside(data.folder),
        schema=seen.schema,
        models=models,
        measures=Measures(),
        home=data.folder,
    )
    return plan, seen


def _models(seen: Scan) -> tuple[ModelSpec, ...]:
    """Columns are visited in the order of the file; each is predicted from the kept ones and those made before it."""
    usable = [column for column in seen.schema if column.role == "keep" and column.name not in seen.idle]
    made = [column for column in usable if _model_of(column)]
    known = [
        column
        for column in usable
        if column not in made and not (column.coded and len(column.levels) > MOST_LEVELS)
    ]
    models = []
    for column in made:
        predictors = known[-MOST_PREDICTORS:]
        right = " + ".join(str(_factor(one, seen)) for one in predictors) or "1"
        model = _model_of(column)
        response = _factor(column, seen) if model == "Linear" else Factor(column.name)
        scale = f", on the scale of {response.function}() because it is skewed" if response.function else ""
        models.append(
            ModelSpec(
                model,
                f"{response} ~ {right}",
                "weak",
                f"{column.kind}{scale}; predicted from the {len(predictors)} columns known by then",
            )
        )
        known.append(column)
    return tuple(models)


def _model_of(column: Column) -> str:
    if column.kind == "continuous":
        return "Linear"
    return "Logistic" if column.kind == "binary" else ""


def _factor(column: Column, seen: Scan) -> Factor:
    return Factor(column.name, seen.skewed.get(column.name, ""))
