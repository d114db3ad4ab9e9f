"""A sequence of models from a schema, or from records: which model, in which order, predicted from what, and why.

    1. what is a function of other columns, is made by that rule            choosing/sums.py, recodes.py
    2. columns are visited in the order of the file, each after what it needs; those of many levels last
    3. a model for each, by its kind and by what its values show            choosing/methods.py, numbers.py, counts.py
    4. predictors: what is known by then, all or the most useful            choosing/predictors.py, association.py

With a schema alone there are no values to look at, and steps 1, 3 and 4 go by kinds and places.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import Notice, UsageError, nearest, shorten
from stead.language.grammar import Factor, parse
from stead.models.choices import Choice, Shape
from stead.models.choosing.association import associations
from stead.models.choosing.methods import METHODS, Draft, Room, inside
from stead.models.choosing.numbers import scale_of
from stead.models.choosing.predictors import MOST_LEVELS, Predictor, choose
from stead.models.choosing.recodes import recodes
from stead.models.choosing.sums import sums
from stead.models.choosing.visit import visiting_order
from stead.models.derived import Derived
from stead.models.regression import FEWEST_ROWS
from stead.models.sequence import Sequence, predictors_of
from stead.models.storage import model_named
from stead.tables.records import Records
from stead.tables.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from stead.language.derivations import Rule
    from stead.models.base import Model
    from stead.models.regression import Weights
    from stead.tables.schema import Column

MOST_PREDICTORS = 30
SECONDS, MOST_FOR_ONE, LEAST_FOR_ONE = 600.0, 10.0, 1.0
"""What all fits may take, shared among the columns, and what one may take."""


def auto(
    source: Schema | Records,
    method: str = "regression",
    *,
    columns: Iterable[str] | None = None,
    order: Iterable[str] = (),
    formulas: Mapping[str, str | Model] | None = None,
    predictors: int = MOST_PREDICTORS,
    weights: Weights = "",
    rules: bool = True,
) -> Sequence:
    """See `Sequence.auto`."""
    if method not in METHODS:
        raise UsageError(
            "E-METHOD", f"no method is called {shorten(str(method))}; {nearest(str(method), METHODS)}"
        )
    if not isinstance(source, (Schema, Records)):
        raise UsageError("E-AUTO", f"a schema or records are needed, not {type(source).__name__}")
    if predictors < 0:
        raise UsageError("E-AUTO", "predictors is how many a column may have at most, from 0")
    records = source if isinstance(source, Records) else None
    schema = source.schema if isinstance(source, Records) else source
    made = _asked(schema, columns)
    given = dict(formulas or {})
    wanted = tuple(order)
    _known("formulas", given, made)
    _known("order", wanted, made)
    for name, one in given.items():
        _require_response(name, one)
    idle = {} if records is None else _idle(records)
    if columns is not None and (refused := [name for name in made if name in idle]):
        raise UsageError("E-AUTO", f"{shorten(refused[0])}: {idle[refused[0]]}; leave it out of columns")
    work = _Work(schema, records, method, [name for name in made if name not in idle], given, idle)
    work.room = _room(work, weights)
    if rules and records is not None:
        work.find_rules(records)
    work.most = predictors
    for name in work.visit(wanted):
        work.add(name)
    if not work.models:
        raise UsageError("E-AUTO", "no column can be made: each is constant, empty or has a role of its own")
    kept = [Choice(name, why=idle[name]) for name in made if name in idle]
    return Sequence(work.models, choices=(*work.choices, *kept), shapes=tuple(work.shapes))


def _asked(schema: Schema, columns: Iterable[str] | None) -> tuple[str, ...]:
    """The columns to make, in the order of the schema."""
    every = tuple(column.name for column in schema if column.role == "keep")
    if columns is None:
        return every
    listed = (columns,) if isinstance(columns, str) else tuple(columns)
    for name in listed:
        if schema[name].role != "keep":
            raise UsageError(
                "E-ROLE",
                f"{shorten(name)} has the role {schema[name].role}, and such a column is never synthesized",
            )
    return tuple(name for name in every if name in listed)


def _known(what: str, listed: Iterable[str], made: tuple[str, ...]) -> None:
    for name in listed:
        if name not in made:
            raise UsageError(
                "E-COLUMN",
                f"{what}: {shorten(str(name))} is none of the columns to make; {nearest(str(name), made)}",
            )


def _require_response(name: str, given: str | Model) -> None:
    """Refuse a formula or a model that makes another column than the one it is given for."""
    if isinstance(given, str):
        response = parse(given).response
        made: tuple[str, ...] = (response.column,) if response else ()
    else:
        made = given.responses
    if made != (name,):
        raise UsageError(
            "E-FORMULA",
            f"formulas: what is given for {shorten(name)} makes {', '.join(map(shorten, made)) or 'nothing: it has no response'}",
        )


def _idle(records: Records) -> dict[str, str]:
    """Columns with nothing to model, and why."""
    found = {}
    for name in records.names:
        column, held = records.schema[name], records[name]
        present = held.values[held.present]
        if column.spikes:
            present = present[~np.isin(present, column.spikes)]
        if not len(present):
            found[name] = "every cell is missing; it is kept as it is"
        elif len(present) < FEWEST_ROWS:
            found[name] = f"{len(present)} values are too few for a model; it is kept as it is"
        elif (present == present[0]).all():
            found[name] = "is constant; it is kept as it is, and predicts nothing"
    return found


def _room(work: _Work, weights: Weights) -> Room:
    """Records, seconds and weights for each column; a survey weight that weighs nothing is said once."""
    named = [column.name for column in work.schema if column.role == "weight"]
    if named and not weights:
        warnings.warn(
            Notice(
                "E-WEIGHT",
                f'{shorten(named[0])} is a survey weight: it may predict, but no fit is weighed by it (weights="ignore"); weights="pseudo" weighs them',
            ),
            stacklevel=4,
        )
        weights = "ignore"
    rows = 0 if work.records is None else work.records.rows
    share = SECONDS / max(len(work.made), 1)
    return Room(rows, min(max(share, LEAST_FOR_ONE), MOST_FOR_ONE), weights)


@dataclass(eq=False)
class _Work:
    """What is known while columns are visited."""

    schema: Schema
    records: Records | None
    method: str
    made: list[str]
    given: dict[str, str | Model]
    idle: dict[str, str]
    room: Room = field(default_factory=lambda: Room(0, MOST_FOR_ONE, ""))
    most: int = MOST_PREDICTORS
    rules: dict[str, tuple[Rule, str]] = field(default_factory=dict)
    disclosed: dict[str, Rule] = field(default_factory=dict)
    models: list[Model] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    known: list[Predictor] = field(default_factory=list)
    strength: NDArray[np.float32] | None = None
    places: dict[str, int] = field(default_factory=dict)

    def find_rules(self, records: Records) -> None:
        """Which columns follow from others; one whose sources are all released as they are is modelled all the same."""
        usable = [name for name in records.names if name not in self.idle]
        coded = [name for name in usable if records.schema[name].coded]
        numbers = [name for name in usable if name not in coded]
        scores = [name for name in coded if records.schema[name].kind in {"binary", "ordered"}]
        targets = [name for name in self.made if name not in self.given]
        found = sums(records, [name for name in usable if name in numbers or name in scores], targets)
        found |= recodes(records, coded, numbers, [name for name in targets if name in coded])
        for name, (rule, why) in found.items():
            if any(source in self.made for source in rule.predictors):
                self.rules[name] = rule, why
            else:
                self.disclosed[name] = rule

    def visit(self, order: tuple[str, ...]) -> tuple[str, ...]:
        """The visiting order; with it come the predictors that are known from the beginning."""
        names = [column.name for column in self.schema if column.carried]
        self.places = {name: place for place, name in enumerate(names)}
        if self.records is not None:
            self.strength = np.sqrt(associations(self.records, names))
        for column in self.schema:
            kept = column.role in {"keep", "weight"} and column.name not in self.made
            if kept and column.name not in self.idle:
                self._knows(column, self._scale(column))
        sources = {source for rule, _ in self.rules.values() for source in rule.predictors}
        late = [
            name for name in self.made if len(self.schema[name].levels) > MOST_LEVELS and name not in sources
        ]
        first = [*order, *(name for name in self.made if name not in order and name not in late)]
        needs = {name: self._needed(name) for name in self.made}
        return visiting_order([*first, *(name for name in late if name not in order)], needs)

    def _needed(self, name: str) -> tuple[str, ...]:
        given = self.given.get(name)
        if given is not None:
            return parse(given).predictors if isinstance(given, str) else predictors_of(given)
        return self.rules[name][0].predictors if name in self.rules else ()

    def add(self, name: str) -> None:
        """Choose for one column."""
        column = self.schema[name]
        if name in self.rules:
            rule, why = self.rules[name]
            self._keep(Derived(str(rule)), name, why)
            if self._informs(rule):
                self._knows(column, self._scale(column))
            return
        held = None if self.records is None else self.records[name]
        draft = METHODS[self.method](column, held, self.room)
        if name in self.given:
            self._add_given(column, draft)
            return
        if not draft.possible:
            self.choices.append(
                Choice(
                    name,
                    why=f"{draft.why[0]}: too many for a model; it is kept as it is, with confidential values; merge levels, or drop it",
                )
            )
            return
        chosen = choose(self.places[name], self.known, self.strength, self.most, draft.fits)
        self._shape(draft.shape)
        said = [*draft.why, _predicted(len(chosen), len(self.known))]
        if name in self.disclosed:
            said.append(
                f"{shorten(str(self.disclosed[name]), 200)}, of columns that are released as they are, so that whoever has them can compute it"
            )
        self._keep(draft.build([one.factor for one in chosen]), name, "; ".join(said))
        self._knows(column, draft.scale)

    def _add_given(self, column: Column, draft: Draft) -> None:
        """The model that the caller wants; spikes and heaps are still taken account of where a formula is given."""
        given = self.given[column.name]
        if isinstance(given, str):
            response = parse(given).response
            name = "Linear" if response and response.function else type(draft.build(())).__name__
            given = model_named(name, given, weights=self.room.weights)
            self._shape(Shape(column.name, draft.shape.spikes, draft.shape.heaps))
        self._keep(given, column.name, "as asked for")
        target = getattr(given, "target", None)
        spikes = (*column.spikes, *draft.shape.spikes)
        self._knows(column, inside(target.function, spikes) if target else "")

    def _keep(self, model: Model, name: str, why: str) -> None:
        self.models.append(model)
        self.choices.append(Choice(name, type(model).__name__, str(getattr(model, "formula", "")), why))

    def _shape(self, shape: Shape) -> None:
        if shape:
            self.shapes.append(shape)

    def _knows(self, column: Column, function: str) -> None:
        """From now on the column can predict, where its levels are few enough."""
        width = max(len(column.levels) - 1, 1) if column.coded else 1
        gaps = 0 if self.records is None or not self.records[column.name].gaps else 1
        if len(column.levels) <= MOST_LEVELS:
            self.known.append(
                Predictor(Factor(column.name, function), self.places[column.name], width + gaps)
            )

    def _informs(self, rule: Rule) -> bool:
        """Whether a derived column says more than its sources do as predictors: levels of a number, or of very many levels."""
        source = self.schema[rule.predictors[0]]
        return rule.recode and (not source.coded or len(source.levels) > MOST_LEVELS)

    def _scale(self, column: Column) -> str:
        """The function of a predictor that is released as it is, or that follows from others."""
        if self.records is None or column.kind not in {"continuous", "count"}:
            return ""
        held = self.records[column.name]
        present = held.values[held.present].astype(float)
        wanted = scale_of(present[present != 0])
        return inside(wanted, (0.0,)) if (present == 0).any() else wanted


def _predicted(chosen: int, known: int) -> str:
    if not known:
        return "no column is known by then"
    if chosen == known:
        return f"predicted from {'the column' if known == 1 else f'all {known} columns'} known by then"
    if not chosen:
        return (
            f"predicted from none of the {known} columns known by then: none that fits is associated with it"
        )
    return f"predicted from the {chosen} most useful of the {known} columns known by then"
