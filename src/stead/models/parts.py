"""The parts of a column that is not all values: missing codes and spikes, which are drawn before the value is.

For each missing code and each spike k, in order, a logistic regression on the terms of the column's own formula,

    P(part = k | no earlier part, x) = 1 / (1 + exp(-x'gamma_k)),

so that codes stay apart and the rate of each is kept given the predictors; where an indicator of the design says exactly
which cells are k (a question that is skipped whenever another one is), gamma_k is that certainty. What is left is a value, drawn from the
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
from stead.glm.standardized import Constants, Standardized
from stead.models.drawing import Fitted, draw_regression
from stead.sampling.diagnostics import independent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.language.design import Design
    from stead.sampling.diagnostics import Diagnostics
    from stead.tables.records import Records, Values
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

FOLLOWS = "follows from a predictor; nothing is drawn"
FEWEST_CERTAIN, SURE = 20, 40.0
"""Records on either side that show a certainty, and its log-odds: exp(-40) is 4e-18."""
NOTHING_FROZEN = Constants(np.zeros(0), np.zeros(0), np.zeros(0, bool))
"""Of a part that follows from a predictor."""
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
        drawn = tuple(
            f"whether a cell is one of {len(parts)} {what} is drawn first, by a logistic regression each"
            for parts, what in said
            if parts
        )
        sure = sum(checked.method == FOLLOWS for checked in self.quality)
        return (
            (*drawn, f"{sure} of them follow from a level or a gap of a predictor, in every record")
            if sure
            else drawn
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
            sure = certain(design, records, is_this, undecided)
            if sure is not None:
                every = np.tile(sure, (draws, 1))
                fitted.append(
                    Fitted(every, np.zeros((draws, 0)), independent(FOLLOWS, draws), NOTHING_FROZEN)
                )
            else:
                frozen = self.constants[place - 1] if self.constants else NOTHING_FROZEN
                data = Standardized(
                    design,
                    records,
                    is_this.astype(float),
                    undecided,
                    weight,
                    frozen if len(frozen.means) else None,
                )
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


def certain(
    design: Design, records: Records, is_this: NDArray[np.bool_], undecided: NDArray[np.bool_]
) -> Array | None:
    """Coefficients of the first indicator that is 1 exactly where the part is, or exactly where it is not; None if none is."""
    ones, rows = int(is_this[undecided].sum()), int(undecided.sum())
    indicators = design.indicators
    if not design.formula.intercept or min(ones, rows - ones) < FEWEST_CERTAIN or not indicators.any():
        return None
    agrees, differs = indicators.copy(), indicators.copy()
    for block, matrix in design.blocks(records):
        among = undecided[block]
        same = matrix[among] == is_this[block][among, None]
        agrees &= same.all(axis=0)
        differs &= ~same.any(axis=0)
        if not (agrees | differs).any():
            return None
    place = int(np.flatnonzero(agrees | differs)[0])
    sure = np.zeros(len(indicators))
    sure[0], sure[place] = (-SURE, 2.0 * SURE) if agrees[place] else (SURE, -2.0 * SURE)
    return sure
