"""What the differentially private models share: declared cells, counts, one of two mechanisms, the system's entropy.

    x_l = number of confidential records in cell l;   sets are drawn from x by mechanism.py

All columns of the model are made together and rows are not aligned. Draws of theta, for measures of the holder, are
theta_h ~ Dirichlet(x + a) in the drawn form and the one estimate (x + a) / (n + sum a) in the plug-in form. What is released
comes from whole numbers alone and cannot be made again: an `rng` is refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stead.errors import UsageError
from stead.language.functions import IDENTITY
from stead.models.base import silent
from stead.models.epsilon import Spending, unseeded
from stead.models.mechanism import Mechanism, prior_count, require_epsilon
from stead.randomness import generator
from stead.sampling.diagnostics import independent
from stead.tables.records import Records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from stead.language.functions import Function
    from stead.models.base import Posterior, Progress
    from stead.models.combinations import DeclaredCells
    from stead.models.mechanism import Form
    from stead.randomness import Rng
    from stead.sampling.diagnostics import Diagnostics
    from stead.tables.schema import Schema

    Array = NDArray[np.float64]
    Whole = NDArray[np.int64]

NOTES = (
    "a cell without a declared level is counted as None where that is declared, else as the first level",
    "the number of records is public; measures of utility and of risk look at the confidential records, and are not differentially private",
)
MOST_NUMBERS = 1 << 24
METHOD = {
    "plug-in": "exact draws from one estimate, whole numbers and the system's entropy",
    "drawn": "exact draws with theta integrated out (urn), whole numbers and the system's entropy",
}


@dataclass(frozen=True)
class PrivateModel(ABC):
    """Epsilon of one synthetic set, and the form; `rows` of a set, as many as the confidential file has where None."""

    epsilon: float
    _: KW_ONLY
    form: Form = "plug-in"
    rows: int | None = None
    shared: bool = False
    """One theta for all sets; for the drawn form, where m sets then cost less than m epsilon."""

    def __post_init__(self) -> None:
        require_epsilon(self.epsilon, self.form)
        if self.rows is not None and (not isinstance(self.rows, int) or self.rows < 1):
            raise UsageError("E-ROWS", "rows is a whole number from 1")
        if self.shared and self.form != "drawn":
            raise UsageError("E-FORM", 'shared=True is for form="drawn": a plug-in estimate is always shared')

    @property
    @abstractmethod
    def responses(self) -> tuple[str, ...]:
        """The columns that the model makes."""

    @abstractmethod
    def cells(self) -> DeclaredCells:
        """The declared cells, or a refusal."""

    @abstractmethod
    def to_state(self) -> dict[str, Any]:
        """The model as JSON."""

    def prior(self, cells: int, rows: int) -> tuple[Fraction, ...]:
        """What is added to the count of each possible cell."""
        return (prior_count(Fraction(self.epsilon), rows, self.form),) * cells

    def with_rows(self, rows: int) -> Self:
        """The same model for sets of this many rows."""
        return replace(self, rows=rows)

    def require_declared(self, schema: Schema) -> None:
        """Refuse levels that are not declared as public, before any value is read."""
        self.cells().require_schema(schema)

    def spending(self, m: int, rows: int) -> Spending:
        """What m sets cost: m epsilon; with one theta for all, what that costs."""
        made = self.rows or rows
        cost = m * Fraction(self.epsilon)
        if self.shared:
            cost = min(cost, Mechanism(self.form, self.prior(1, made), made, shared=True).cost(m))
        return Spending(type(self).__name__, self.responses, self.form, float(self.epsilon), m, made, cost)

    def proper(self, m: int) -> bool:
        """Whether each of m sets has its own theta."""
        return self.form == "drawn" and (m == 1 or not self.shared)

    def private_sets(self, records: Records, m: int, draws: int) -> tuple[Posterior, tuple[Records, ...]]:
        """M sets, and the posterior that they came from."""
        posterior = self.fit(records, draws=draws)
        return posterior, posterior.sets(m)

    def fit(
        self, records: Records, *, draws: int = 1000, rng: Rng = None, progress: Progress = silent
    ) -> PrivatePosterior:
        """Counts of the declared cells."""
        if rng is not None:
            raise unseeded()
        self.require_declared(records.schema)
        cells = self.cells()
        rows = self.rows or records.rows
        counts = np.bincount(cells.encode(records), minlength=cells.count)
        mechanism = Mechanism(self.form, self.prior(cells.count, rows), rows, self.shared)
        return PrivatePosterior(
            self,
            cells,
            mechanism,
            records.schema.only(self.responses),
            counts,
            _draws(mechanism, counts, draws, None),
        )


@dataclass(frozen=True, repr=False, eq=False)
class PrivatePosterior:
    """Counts under a mechanism; `sample` and `sets` need nothing else."""

    model: PrivateModel
    cells: DeclaredCells
    mechanism: Mechanism
    schema: Schema
    counts: Whole  # (L,)
    draws: Array  # (H, L)

    @property
    def parameters(self) -> tuple[str, ...]:
        """A probability for each possible cell."""
        return tuple(f"p{place + 1}" for place in range(self.cells.count))

    @property
    def responses(self) -> tuple[str, ...]:
        """The columns that are made."""
        return self.model.responses

    @property
    def predictors(self) -> tuple[str, ...]:
        """None: the columns are made together."""
        return ()

    @property
    def refittable(self) -> bool:
        """Whether theta has a posterior; with one theta for all sets evidence does not add up, so that it is left to the closed form."""
        return self.model.form == "drawn" and not self.model.shared

    @property
    def diagnostics(self) -> tuple[Diagnostics, ...]:
        """Independent by construction."""
        return (independent(METHOD[self.model.form], len(self.draws)),)

    def has_exact_evidence(self, targets: tuple[str, ...], *, known: bool) -> bool:
        """Always; where the record's other columns are unknown they are guessed as well, or the question is another one."""
        if not known and set(targets) != set(self.responses):
            raise UsageError(
                "E-GUESSES",
                f"the columns are made together: guess all of them, target={list(self.responses)}, or take the others of the record as known",
            )
        return True

    def exact_evidence(
        self,
        confidential: Records,
        synthetic: Sequence[Records],
        values: Mapping[str, NDArray[Any]],
        rows: NDArray[np.int64],
    ) -> Array:
        """See mechanism.py; an impossible combination has none."""  # (n, G)
        counts = self._counted(confidential)
        sets = [self._counted(made) for made in synthetic]
        some = confidential.take(rows)
        there, possible = self.cells.places(some, {name: codes.T for name, codes in values.items()})
        found = self.mechanism.evidence(counts, sets, self.cells.encode(some), there)
        return np.where(possible, found, -np.inf)

    def scale(self, name: str) -> Function:
        """Levels are modelled as they are."""
        return IDENTITY

    def sample(self, h: int, given: Records, rng: Rng = None) -> Records:
        """`given` with the columns drawn; theta is drawn afresh each time, so that `h` chooses nothing."""
        if rng is not None:
            raise unseeded()
        if given.rows > self.mechanism.rows:
            raise UsageError(
                "E-EPSILON",
                f"{given.rows:,} rows; this epsilon is that of sets of at most {self.mechanism.rows:,} rows: fit again with rows={given.rows}",
            )
        return self._with_columns(given, self.mechanism.draw(self.counts, 1)[0][: given.rows])

    def sets(self, m: int) -> tuple[Records, ...]:
        """M synthetic sets of the columns of the model."""
        rows = Records.empty(self.mechanism.rows)
        return tuple(self._with_columns(rows, cells) for cells in self.mechanism.draw(self.counts, m))

    def log_likelihood(self, records: Records, draws: slice = slice(None)) -> Array:
        """Log theta_h of the cell of each record."""  # (h, n)
        with np.errstate(divide="ignore"):
            return np.log(self.draws[draws])[:, self.cells.encode(records)]

    def refit(self, records: Records, *, draws: int = 1000, rng: Rng = None) -> PrivatePosterior:
        """The posterior given other records and the same a: for measures of the holder, never for a release."""
        counts = self._counted(records)
        return replace(self, counts=counts, draws=_draws(self.mechanism, counts, draws, rng))

    def describe(self) -> list[dict[str, Any]]:
        """For the assessment."""
        quality = self.diagnostics[0].to_dict()
        return [
            {
                "response": ", ".join(self.responses),
                "formula": " x ".join(self.responses),
                "model": type(self.model).__name__,
                "prior": f"a = {float(min(self.mechanism.prior)):.10g}",
                "weights": "none",
                "epsilon": float(self.model.epsilon),
                "form": self.model.form,
                "cells": self.cells.count,
                "draws": len(self.draws),
                "method": quality.pop("method"),
                "diagnostics": {key: value for key, value in quality.items() if key != "draws"},
                "notes": list(NOTES),
            }
        ]

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The model, the schema of its columns, the counts, the draws."""
        state = self.model.with_rows(self.mechanism.rows).to_state() | {"schema": self.schema.to_dict()}
        return state, {"counts": self.counts, "draws": self.draws}

    def _counted(self, records: Records) -> Whole:
        return np.bincount(self.cells.encode(records), minlength=self.cells.count)

    def _with_columns(self, given: Records, cells: Whole) -> Records:
        made = given
        for name, values in self.cells.decode(cells).items():
            made = made.with_column(self.schema[name], values)
        return made

    def __repr__(self) -> str:
        return f"Posterior({type(self.model).__name__}, epsilon {float(self.model.epsilon):g}, {self.cells.count} cells)"


def posterior_of(
    model: PrivateModel, schema: Schema, counts: NDArray[Any], draws: NDArray[Any]
) -> PrivatePosterior:
    """The posterior that `to_state` described."""
    cells = model.cells()
    rows = model.rows or int(counts.sum())
    mechanism = Mechanism(model.form, model.prior(cells.count, rows), rows, model.shared)
    return PrivatePosterior(model, cells, mechanism, schema, counts.astype(np.int64), draws)


def _draws(mechanism: Mechanism, counts: Whole, draws: int, rng: Rng) -> Array:
    """Fewer than asked for where there are so many cells that they would not fit."""
    weights = counts + np.array([float(a) for a in mechanism.prior])
    if mechanism.form == "plug-in":
        return np.asarray(weights / weights.sum())[None, :]
    return np.asarray(generator(rng).dirichlet(weights, min(draws, max(1, MOST_NUMBERS // len(weights)))))
