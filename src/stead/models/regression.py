"""What every regression of one column shares: binding a formula, gaps in the response, sampling by row blocks, densities.

A model adds its response, its family and how its coefficients are drawn; see linear.py and logistic.py.
Missing cells of a response are part of the model: see gaps.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stead.errors import InputRefused, UsageError, shorten
from stead.glm.standardized import Standardized
from stead.language.design import Design
from stead.language.grammar import Formula, parse
from stead.models.base import Progress, silent
from stead.models.gaps import Gaps, fit_gaps
from stead.randomness import generator, streamed_blocks
from stead.tables.records import Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.families import Family
    from stead.language.grammar import Factor
    from stead.models.response import BinaryResponse, NumericResponse
    from stead.randomness import Rng
    from stead.sampling.diagnostics import Diagnostics
    from stead.tables.records import Records
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

FEWEST_ROWS = 3


@dataclass(frozen=True)
class Fitted:
    """What a model's own sampler returns: draws on the scales of the data, and what is to be said of them."""

    coefficients: Array  # (H, p)
    scale: Array | None  # (H,)
    diagnostics: Diagnostics
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Regression(ABC):
    """A regression of one column on others, by formula."""

    formula: str
    prior: Any = "weak"

    priors: ClassVar[tuple[str, ...]] = ("weak", "flat")

    def __post_init__(self) -> None:
        if self.parsed.response is None:
            raise UsageError(
                "E-FORMULA",
                f"formula {shorten(self.formula)!r}: has no response; write one before ~, as in Income ~ Age",
            )
        if isinstance(self.prior, str) and self.prior not in self.priors:
            raise UsageError(
                "E-PRIOR", f"no prior is called {shorten(self.prior)}; there are: {', '.join(self.priors)}"
            )

    @property
    def parsed(self) -> Formula:
        """The formula as terms."""
        return parse(self.formula)

    @property
    def target(self) -> Factor:
        """The left-hand side."""
        response = self.parsed.response
        if response is None:
            raise ValueError("checked when the model was made")
        return response

    @property
    def responses(self) -> tuple[str, ...]:
        """The one column that the model makes."""
        return (self.target.column,)

    def fit(
        self, records: Records, *, draws: int = 1000, rng: Rng = None, progress: Progress = silent
    ) -> RegressionPosterior:
        """The posterior given `records`."""
        if draws < 1:
            raise UsageError("E-DRAWS", "draws is a whole number from 1")
        for_values, for_gaps = generator(rng).spawn(2)
        design = Design.bind(self.parsed, records)
        column, held = records.schema[self.target.column], records[self.target.column]
        response = self.response_of(column)
        _require_values(held, column)
        progress(f"fit {shorten(column.name)}", 0, 1)
        data = Standardized(design, records, response.encode(held.values, held.present), held.present)
        fitted = self.draw(data, response.family, draws, for_values)
        gaps = fit_gaps(design, records, column, draws, for_gaps)
        notes = (*fitted.notes, *((gaps.note,) if gaps else ()))
        progress(f"fit {shorten(column.name)}", 1, 1)
        return RegressionPosterior(
            self, design, column, fitted.coefficients, fitted.scale, fitted.diagnostics, notes, gaps
        )

    @abstractmethod
    def response_of(self, column: Column) -> NumericResponse | BinaryResponse:
        """The response, or a refusal of its kind."""

    @abstractmethod
    def draw(
        self,
        data: Standardized,
        family: Family,
        draws: int,
        rng: np.random.Generator,
    ) -> Fitted:
        """Draws from the posterior of the coefficients."""


@dataclass(frozen=True, repr=False, eq=False)
class RegressionPosterior:
    """Draws of a regression, and the density and the sampler they imply."""

    model: Regression
    design: Design
    column: Column
    coefficients: Array  # (H, p)
    scale: Array | None  # (H,)
    quality: Diagnostics
    notes: tuple[str, ...] = ()
    gaps: Gaps | None = field(default=None)

    @property
    def response(self) -> NumericResponse | BinaryResponse:
        """How the column is modelled."""
        return self.model.response_of(self.column)

    @property
    def responses(self) -> tuple[str, ...]:
        """The one column that `sample` makes."""
        return (self.column.name,)

    @property
    def draws(self) -> Array:
        """Coefficients, and the scale last."""  # (H, K)
        return self.coefficients if self.scale is None else np.column_stack([self.coefficients, self.scale])

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the columns of `draws`."""
        return self.design.labels if self.scale is None else (*self.design.labels, "sigma")

    @property
    def diagnostics(self) -> tuple[Diagnostics, ...]:
        """Of this fit."""
        return (self.quality,)

    def sample(self, h: int, given: Records, rng: Rng) -> Records:
        """`given` with the response drawn under draw `h`, block by block, each with the stream of its place."""
        missing_predictors = [name for name in self.design.formula.predictors if name not in given]
        if missing_predictors:
            raise UsageError(
                "E-PREDICTOR",
                f"{shorten(self.column.name)}: {', '.join(map(shorten, missing_predictors))} is needed to draw it, and is not given",
            )
        family, response = self.response.family, self.response
        scale = 1.0 if self.scale is None else float(self.scale[h])
        values: NDArray[Any] = np.zeros(
            given.rows, np.int32 if self.column.coded else np.int64 if self.column.whole else float
        )
        missing = np.zeros(given.rows, np.int8)
        for rows, stream in streamed_blocks(given.rows, generator(rng)):
            matrix = self.design.matrix(given, rows)
            values[rows] = response.decode(family.sample(matrix @ self.coefficients[h], scale, stream))
            if self.gaps:
                missing[rows] = self.gaps.sample(h, matrix, stream)
        values[missing != 0] = 0
        return given.with_column(self.column, Values(values, missing))

    def log_likelihood(self, records: Records, draws: slice = slice(None)) -> Array:
        """Log p(response of each record | predictors, theta_h), with the Jacobian of its transformation and its gaps."""  # (h, n)
        held = records[self.column.name]
        encoded = self.response.encode(held.values, held.present)
        usable = np.isfinite(encoded)
        jacobian = self.response.log_jacobian(held.values, usable)
        coefficients, scale = self.coefficients[draws], None if self.scale is None else self.scale[draws]
        result = np.empty((len(coefficients), records.rows))
        for rows, matrix in self.design.blocks(records):
            density = self.response.family.log_density(
                np.where(usable[rows], encoded[rows], 0.0), coefficients @ matrix.T, scale
            )
            result[:, rows] = np.where(held.present[rows], density + jacobian[rows], 0.0)
            if self.gaps:
                result[:, rows] += self.gaps.log_probability(matrix, held.missing[rows], draws)
            else:
                result[:, rows] = np.where(held.present[rows], result[:, rows], -np.inf)
        return result

    def describe(self) -> list[dict[str, Any]]:
        """For the assessment."""
        return [
            {
                "response": str(self.model.target),
                "formula": str(self.model.parsed),
                "model": type(self.model).__name__,
                "prior": self.model.prior if isinstance(self.model.prior, str) else "declared",
                "draws": len(self.coefficients),
                "method": self.quality.method,
                "diagnostics": {
                    key: value
                    for key, value in self.quality.to_dict().items()
                    if key not in {"method", "draws"}
                },
                "notes": list(self.notes),
            }
        ]

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """See storage.py."""
        from stead.models.storage import regression_state

        return regression_state(self)

    def __repr__(self) -> str:
        return f"Posterior({type(self.model).__name__} {self.model.parsed}, {len(self.coefficients)} draws)"


def _require_values(held: Values, column: Column) -> None:
    present = held.values[held.present]
    if len(present) < FEWEST_ROWS:
        raise InputRefused(
            "E-COL-EMPTY",
            f"column {shorten(column.name)}: {len(present)} values are present, and a model needs at least {FEWEST_ROWS}; leave the column out of the model",
        )
    if (present == present[0]).all():
        raise InputRefused(
            "E-COL-CONST",
            f"column {shorten(column.name)}: is constant, so there is nothing to model; leave it out of the model, and it is kept as it is",
        )
