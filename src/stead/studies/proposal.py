"""The plan that `stead init` proposes: a schema, and what `Sequence.auto` makes of it, each proposal with its reason."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from stead.errors import Notice, UsageError
from stead.models.sequence import Sequence
from stead.studies.plan import Measures, ModelSpec, Plan
from stead.tables.scan import scan

if TYPE_CHECKING:
    from stead.models.base import Model
    from stead.models.choices import Choice
    from stead.tables.scan import Scan
    from stead.tables.schema import Schema
    from stead.tables.sources import Data


def propose(data: Data, method: str = "regression") -> tuple[Plan, Scan]:
    """A plan for a data set, and what was seen in it; an empty delimiter or decimal mark is found out."""
    if data.decimal not in {"", ".", ","}:
        raise UsageError("E-DECIMAL", 'decimal is "." or ","')
    data.require_no_password()
    seen = scan(data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", Notice)
        chosen = Sequence.auto(seen.records, method)
    said = tuple(str(one.message) for one in caught if isinstance(one.message, Notice))
    plan = Plan(
        title=data.title,
        data=seen.data.beside(data.folder),
        schema=_shaped(seen.schema, chosen),
        models=specs_of(chosen),
        measures=Measures(),
        home=data.folder,
    )
    return plan, replace(seen, notices=(*seen.notices, *said))


def specs_of(chosen: Sequence) -> tuple[ModelSpec, ...]:
    """The models of a sequence as a plan lists them."""
    why = {choice.column: choice for choice in chosen.choices}
    return tuple(_spec(model, why[model.responses[0]]) for model in chosen.models)


def _spec(model: Model, choice: Choice) -> ModelSpec:
    weights = str(getattr(model, "weights", ""))
    return ModelSpec(choice.model, choice.formula, why=choice.why, weights=weights)


def _shaped(schema: Schema, chosen: Sequence) -> Schema:
    """The schema with the spikes, heaps and lowest values that were found, and why a column is not made."""
    changed = {shape.column: shape.of(schema[shape.column]) for shape in chosen.shapes}
    for shape in chosen.shapes:
        column = changed[shape.column]
        changed[shape.column] = replace(column, why="; ".join([column.why, *shape.why]))
    for choice in chosen.choices:
        if not choice.model and choice.why not in schema[choice.column].why:
            column = schema[choice.column]
            changed[choice.column] = replace(column, why="; ".join(filter(None, [column.why, choice.why])))
    return schema.with_columns(*changed.values())
