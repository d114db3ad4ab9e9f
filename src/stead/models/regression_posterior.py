"""The posterior of a regression: draws, the sampler and the density that they imply.

log p(cell | x, theta_h) = log P(part of the cell | x, gamma_h) + [the part is a value] (log p(y | eta_h, auxiliary_h) + log |g'(y)|)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.glm.families import predictors
from stead.language.functions import IDENTITY
from stead.models.base import require_given
from stead.models.parts import VALUE, Parts
from stead.models.response import NumericResponse
from stead.randomness import generator, streamed_blocks
from stead.tables.records import Values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from stead.glm.standardized import Constants
    from stead.language.design import Design
    from stead.language.functions import Function
    from stead.models.regression import Regression
    from stead.models.response import Response
    from stead.randomness import Rng
    from stead.sampling.diagnostics import Diagnostics
    from stead.tables.records import Records
    from stead.tables.schema import Column

    Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class RegressionPosterior:
    """Draws of a regression: coefficients of one linear predictor after the other, and the auxiliary parameters of its family."""

    model: Regression
    design: Design
    response: Response
    coefficients: Array  # (H, L p)
    auxiliary: Array  # (H, A)
    quality: Diagnostics
    notes: tuple[str, ...] = ()
    parts: Parts = field(default_factory=Parts)
    constants: Constants | None = None
    """What was frozen at the fit; None where the draws came from elsewhere."""

    @property
    def column(self) -> Column:
        """The column that is made."""
        return self.response.column

    @property
    def responses(self) -> tuple[str, ...]:
        """The one column that `sample` makes."""
        return (self.column.name,)

    @property
    def predictors(self) -> tuple[str, ...]:
        """The columns that it is predicted from."""
        return tuple(self.design.formula.predictors)

    @property
    def refittable(self) -> bool:
        """Whether `refit` is possible: not for draws that came from elsewhere, whose prior is not known."""
        return self.constants is not None

    def has_exact_evidence(self, targets: tuple[str, ...], *, known: bool) -> bool:
        """See conjugate_evidence.py."""
        from stead.models.conjugate_evidence import has_exact_evidence

        return targets == self.responses and has_exact_evidence(self)

    def exact_evidence(
        self,
        confidential: Records,
        synthetic: Sequence[Records],
        values: Mapping[str, NDArray[Any]],
        rows: NDArray[np.int64],
    ) -> Array | None:
        """See conjugate_evidence.py."""
        from stead.models.conjugate_evidence import exact_evidence

        return exact_evidence(self, confidential, synthetic, values, rows)

    def scale(self, name: str) -> Function:
        """The function on whose scale a column is modelled."""
        return (
            self.response.function
            if isinstance(self.response, NumericResponse) and name == self.column.name
            else IDENTITY
        )

    @property
    def draws(self) -> Array:
        """Coefficients, and the auxiliary parameters last; an intercept that thresholds replace is left out."""  # (H, K)
        start = 1 if self._thresholds and self.design.formula.intercept else 0
        return np.column_stack([self.coefficients[:, start:], self.auxiliary])

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the columns of `draws`."""
        labels = list(self.design.labels)
        if self._thresholds and self.design.formula.intercept:
            labels = labels[1:]
        if self.response.family.count > 1:
            labels = [f"{level}: {label}" for level in self.column.levels[1:] for label in labels]
        return (*labels, *self.response.family.auxiliary)

    @property
    def diagnostics(self) -> tuple[Diagnostics, ...]:
        """Of the values, then of each missing code and spike."""
        return (self.quality, *self.parts.quality)

    def sample(self, h: int, given: Records, rng: Rng) -> Records:
        """`given` with the response drawn under draw `h`, block by block, each with the stream of its place."""
        require_given(self.column.name, self.design.formula.predictors, given)
        family, response = self.response.family, self.response
        coefficients = self.coefficients[h].reshape(family.count, -1)  # (L, p)
        kind = np.int32 if self.column.coded else np.int64 if self.column.whole else float
        values: NDArray[Any] = np.zeros(given.rows, kind)
        missing = np.zeros(given.rows, np.int8)
        for rows, stream in streamed_blocks(given.rows, generator(rng)):
            matrix = self.design.matrix(given, rows)
            eta = matrix @ coefficients[0] if family.count == 1 else matrix @ coefficients.T
            drawn = family.sample(eta, self.auxiliary[h], stream)
            values[rows] = response.decode(drawn, self.auxiliary[h], stream)
            if self.parts.coefficients:
                part = self.parts.sample(h, matrix, stream)
                self.parts.fill(part, values[rows], missing[rows])
        return given.with_column(self.column, Values(values, missing))

    def log_likelihood(self, records: Records, draws: slice = slice(None)) -> Array:
        """Log p(response of each record | predictors, theta_h), with the Jacobian of its transformation and its parts."""  # (h, n)
        held = records[self.column.name]
        encoded = self.response.encode(held.values, held.present)
        usable = ~np.isnan(encoded if encoded.ndim == 1 else encoded[:, 0])
        some = encoded[np.argmax(usable)] if usable.any() else np.zeros(encoded.shape[1:])
        jacobian = self.response.log_jacobian(held.values, usable)
        part = self.parts.of(held)
        family = self.response.family
        coefficients, auxiliary = self.coefficients[draws], self.auxiliary[draws]
        several = coefficients.reshape(len(coefficients), family.count, -1)
        result = np.empty((len(coefficients), records.rows))
        for rows, matrix in self.design.blocks(records):
            safe = encoded[rows].copy()
            safe[~usable[rows]] = some if usable.any() else 1.0
            density = family.log_density(safe, predictors(matrix, several, family.count), auxiliary)
            result[:, rows] = np.where(part[rows] == VALUE, density + jacobian[rows], 0.0)
            result[:, rows] += self.parts.log_probability(matrix, part[rows], draws)
        return result

    def residuals(self, records: Records) -> tuple[Array, Array] | None:
        """(g(y) - x'beta_h) / sigma_h^2 and 1 / (2 sigma_h^2), for a normal density without rounding and spikes; else None."""  # (n, H), (H,)
        response = self.response
        if not isinstance(response, NumericResponse) or response.rounded or self.parts.spikes:
            return None
        held = records[self.column.name]
        encoded = response.encode(held.values, held.present)
        precision = 1.0 / self.auxiliary[:, 0] ** 2
        away = encoded[:, None] - self.design.matrix(records) @ self.coefficients.T
        return np.multiply(away, precision, out=away), 0.5 * precision

    def refit(self, records: Records, *, draws: int = 1000, rng: Rng = None) -> RegressionPosterior:
        """The posterior of the same model given other records, with the same constants."""
        return self.model.refit(self, records, draws=draws, rng=rng)

    def describe(self) -> list[dict[str, Any]]:
        """For the assessment."""
        figures = self.quality.to_dict()
        return [
            {
                "response": str(self.model.target),
                "formula": str(self.model.parsed),
                "model": type(self.model).__name__,
                "prior": self.model.prior if isinstance(self.model.prior, str) else "declared",
                "weights": self.model.weights or "none",
                "draws": len(self.coefficients),
                "method": self.quality.method,
                "diagnostics": {
                    key: value for key, value in figures.items() if key not in {"method", "draws"}
                },
                "notes": list(self.notes),
            }
        ]

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """See storage.py."""
        from stead.models.storage import regression_state

        return regression_state(self)

    @property
    def _thresholds(self) -> bool:
        return "threshold1" in self.response.family.auxiliary

    def __repr__(self) -> str:
        return f"Posterior({type(self.model).__name__} {self.model.parsed}, {len(self.coefficients)} draws)"
