"""The parts of a column that is not all values: missing codes and spikes, which are drawn before the value is.

For each missing code and each spike k, in order, a logistic regression on the terms of the column's own formula,

    P(part = k | no earlier part, x) = 1 / (1 + exp(-x'gamma_k)),

so that codes stay apart and the rate of each is kept given the predictors; what is left is a value, drawn from the
model (Duan, Manning, Morris & Newhouse 1983, Journal of Business & Economic Statistics 1, for a spike at zero). Copying
the confidential pattern was refused: who did not answer, and who has nothing, is itself confidential. The prior is weak
whatever the model's own is, because a code that occurs once separates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.glm.binary import Bernoulli
from stead.glm.priors import prior_of
from stead.glm.standardized import Standardized
from stead.models.drawing import draw_regression

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.standardized import Constants
    from stead.language.design import Design
    from stead.sampling.diagnostics import Diagnostics
    from stead.tables.records import Records, Values
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

VALUE = 0
"""The part of a row that has a value of the model; missing codes and spikes count from 1."""


@dataclass(frozen=True, repr=False, eq=False)
class Parts:
    """Draws of which part a cell belongs to. There is nothing to draw where `coefficients` is empty."""

    codes: tuple[int, ...] = ()
    spikes: tuple[float, ...] = ()
    coefficients: tuple[Array, ...] = ()  # each (H, p)
    quality: tuple[Diagnostics, ...] = ()
    constants: tuple[Constants, ...] = ()

    @classmethod
    def occurring(cls, column: Column, held: Values) -> Parts:
        """The codes and spikes that a column has, not fitted yet."""
        codes = tuple(int(code) for code in np.unique(held.missing[held.missing != 0]))
        here = held.values[held.present]
        return cls(codes, tuple(float(spike) for spike in column.spikes if bool((here == spike).any())))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is said of them in the assessment."""
        said = ((self.codes, "missing codes"), (self.spikes, "spikes"))
        return tuple(
            f"whether a cell is one of {len(parts)} {what} is drawn first, by a logistic regression each"
            for parts, what in said
            if parts
        )

    def of(self, held: Values) -> NDArray[np.int64]:
        """The part of each cell; -1 for a missing code that the confidential column does not have."""
        part = np.where(held.present, VALUE, -1)
        for place, code in enumerate(self.codes, start=1):
            part[held.missing == code] = place
        for place, spike in enumerate(self.spikes, start=len(self.codes) + 1):
            part[held.present & (held.values == spike)] = place
        return part

    def sample(self, h: int, matrix: Array, rng: np.random.Generator) -> NDArray[np.int64]:
        """The part of each row."""
        part = np.full(len(matrix), VALUE)
        for place, coefficients in enumerate(self.coefficients, start=1):
            drawn = Bernoulli().sample(matrix @ coefficients[h], coefficients[h], rng) == 1.0
            part[drawn & (part == VALUE)] = place
        return part

    def fill(self, part: NDArray[np.int64], values: NDArray[Any], missing: NDArray[np.int8]) -> None:
        """Put codes and spikes where they were drawn."""
        for place, code in enumerate(self.codes, start=1):
            missing[part == place] = code
            values[part == place] = 0
        for place, spike in enumerate(self.spikes, start=len(self.codes) + 1):
            values[part == place] = spike

    def log_probability(self, matrix: Array, part: NDArray[np.int64], draws: slice) -> Array | float:
        """Log P(the part of each row | x, gamma_h)."""  # (h, n)
        total: Array | float = 0.0
        undecided = np.ones(len(matrix), bool)
        none = np.zeros((1, 0))
        for place, coefficients in enumerate(self.coefficients, start=1):
            is_this = part == place
            density = Bernoulli().log_density(is_this.astype(float), coefficients[draws] @ matrix.T, none)
            total = total + np.where(undecided, density, 0.0)
            undecided &= ~is_this
        return total + np.where(part == -1, -np.inf, 0.0)

    def fit(
        self,
        design: Design,
        records: Records,
        held: Values,
        weight: Array | None,
        draws: int,
        rng: np.random.Generator,
    ) -> Parts:
        """These parts with draws given some records; constants of an earlier fit are taken over."""
        part = self.of(held)
        fitted = []
        undecided = np.ones(records.rows, bool)
        for place, stream in enumerate(rng.spawn(len(self.codes) + len(self.spikes)), start=1):
            is_this = part == place
            frozen = self.constants[place - 1] if self.constants else None
            data = Standardized(design, records, is_this.astype(float), undecided, weight, frozen)
            fitted.append(
                draw_regression(data, Bernoulli(), prior_of("weak", data), (0.0, 2.5), draws, stream)
            )
            undecided = undecided & ~is_this
        return replace(
            self,
            coefficients=tuple(one.coefficients for one in fitted),
            quality=tuple(one.diagnostics for one in fitted),
            constants=tuple(one.constants for one in fitted),
        )
