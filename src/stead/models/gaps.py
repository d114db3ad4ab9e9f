"""Missing cells of a synthesized column: which cells are missing, and with which code, is drawn like everything else.

For each code k that occurs, in order, a logistic regression on the terms of the column's own formula,

    P(code = k | no earlier code, x) = 1 / (1 + exp(-x'gamma_k)),

so that codes stay apart and the rate of each is kept given the predictors. Copying the confidential pattern
was refused: who did not answer is itself confidential. The prior is weak whatever the model's own is,
because a code that occurs once separates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.glm.families import Bernoulli
from stead.glm.standardized import Standardized
from stead.models.logit_draws import draw_logit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.language.design import Design
    from stead.sampling.diagnostics import Diagnostics
    from stead.tables.records import Records
    from stead.tables.schema import Column

    Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class Gaps:
    """Draws of the missingness of one column, code by code."""

    codes: tuple[int, ...]
    coefficients: tuple[Array, ...]  # each (H, p)
    quality: tuple[Diagnostics, ...] = ()

    @property
    def note(self) -> str:
        """What is said of it in the assessment."""
        return f"missing cells are drawn by a logistic regression for each of {len(self.codes)} codes"

    def sample(self, h: int, matrix: Array, rng: np.random.Generator) -> NDArray[np.int8]:
        """The missing code of each row, 0 where present."""
        missing = np.zeros(len(matrix), np.int8)
        for code, coefficients in zip(self.codes, self.coefficients, strict=True):
            drawn = Bernoulli().sample(matrix @ coefficients[h], 1.0, rng) == 1.0
            missing[drawn & (missing == 0)] = code
        return missing

    def log_probability(self, matrix: Array, missing: NDArray[np.int8], draws: slice) -> Array:
        """Log P(each row's code, or its presence | x, gamma_h)."""  # (h, n)
        total = np.zeros((len(self.coefficients[0][draws]), len(matrix)))
        undecided = np.ones(len(matrix), bool)
        for code, coefficients in zip(self.codes, self.coefficients, strict=True):
            has = missing == code
            total += np.where(
                undecided,
                Bernoulli().log_density(has.astype(float), coefficients[draws] @ matrix.T, None),
                0.0,
            )
            undecided &= ~has
        unknown = undecided & (missing != 0)  # a code that the confidential column does not have
        total[:, unknown] = -np.inf
        return total


def fit_gaps(
    design: Design, records: Records, column: Column, draws: int, rng: np.random.Generator
) -> Gaps | None:
    """The missingness of a column, or None where nothing is missing."""
    missing = records[column.name].missing
    codes = tuple(int(code) for code in np.unique(missing[missing != 0]))
    if not codes:
        return None
    coefficients, quality = [], []
    undecided = np.ones(records.rows, bool)
    for code, stream in zip(codes, rng.spawn(len(codes)), strict=True):
        has = missing == code
        fitted, checked, _ = draw_logit(
            Standardized(design, records, has.astype(float), undecided), "weak", draws, stream
        )
        coefficients.append(fitted)
        quality.append(checked)
        undecided = undecided & ~has
    return Gaps(codes, tuple(coefficients), tuple(quality))
