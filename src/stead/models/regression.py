"""What every regression of one column shares: binding a formula, the parts of a column, sampling by row blocks, densities.

A model adds its response and, where they differ from the common ones, its prior and how its values are drawn.
Missing cells and spikes are part of the model: see parts.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from stead.errors import InputRefused, UsageError, nearest, shorten
from stead.glm.distributions import Distribution
from stead.glm.priors import SLOPE_SCALE, ConjugatePrior, PriorChoice, prior_of
from stead.glm.standardized import Standardized
from stead.glm.threads import threads_for
from stead.language.design import Design
from stead.language.grammar import Formula, parse
from stead.models.base import Progress, silent
from stead.models.budget import require_budget
from stead.models.drawing import Fitted, draw_regression
from stead.models.parts import VALUE, Parts
from stead.models.regression_posterior import RegressionPosterior
from stead.models.weighting import weights_of
from stead.randomness import generator

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from stead.glm.priors import Prior
    from stead.glm.standardized import Constants
    from stead.language.grammar import Factor
    from stead.models.response import Response
    from stead.randomness import Rng
    from stead.tables.records import Records, Values
    from stead.tables.schema import Column, Schema

    Array = NDArray[np.float64]

FEWEST_ROWS = 3
Weights = Literal["", "ignore", "pseudo"]


@dataclass(frozen=True)
class Frame:
    """The rows that the values of a column are modelled on: which, and with which weights."""

    design: Design
    records: Records
    held: Values
    used: NDArray[np.bool_]
    weight: Array | None
    frozen: Constants | None = None
    """Those of an earlier fit; None at the fit to the confidential rows, which freezes them."""

    def data(self, response: Response) -> Standardized:
        """Design and response, centred and scaled."""
        encoded = response.encode(self.held.values, self.held.present)
        return Standardized(self.design, self.records, encoded, self.used, self.weight, self.frozen)


@dataclass(frozen=True)
class Regression(ABC):
    """A regression of one column on others, by formula.

    `prior` is "weak", "flat", or a distribution for each term, as {"log(Income)": "normal(0, 1)"}. `weights` says what a
    column with the role weight is for: "pseudo" weighs the likelihood with it, "ignore" does not; where it is left
    out, nothing is weighed, and a notice says so.
    """

    formula: str
    prior: PriorChoice = "weak"
    weights: Weights = ""

    priors: ClassVar[tuple[str, ...]] = ("weak", "flat")
    weak_slope: ClassVar[float] = SLOPE_SCALE
    conjugate: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.parsed.response is None:
            raise UsageError(
                "E-FORMULA",
                f"formula {shorten(self.formula)!r}: has no response; write one before ~, as in Income ~ Age",
            )
        if isinstance(self.prior, str) and self.prior not in self.priors:
            raise UsageError(
                "E-PRIOR",
                f"no prior is called {shorten(self.prior)}; there are: {', '.join(self.priors)}, or a distribution for each term",
            )
        if isinstance(self.prior, ConjugatePrior) and not self.conjugate:
            raise UsageError("E-PRIOR", f"{type(self).__name__}: a conjugate prior is for stead.Linear")
        if isinstance(self.prior, dict):
            for distribution in self.prior.values():
                Distribution.parse(distribution)
        if self.weights not in {"", "ignore", "pseudo"}:
            raise UsageError("E-WEIGHTS", f"weights: {nearest(str(self.weights), ('ignore', 'pseudo'))}")

    @cached_property
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

    def check(self, records: Records) -> None:
        """Refuse a column of another kind, a name or a function that does not fit, a column with nothing to model."""
        self._bound(records)

    def _bound(self, records: Records) -> tuple[Design, Response, Parts]:
        """Design, response, and the missing codes and spikes that occur."""
        design = Design.bind(self.parsed, records)
        column, held = records.schema[self.target.column], records[self.target.column]
        response = self.response_of(column)
        parts = Parts.occurring(column, held)
        require_values(column, held, parts.of(held) == VALUE)
        return design, response, parts

    def fit(
        self, records: Records, *, draws: int = 1000, rng: Rng = None, progress: Progress = silent
    ) -> RegressionPosterior:
        """The posterior given `records`."""
        if draws < 1:
            raise UsageError("E-DRAWS", "draws is a whole number from 1")
        design, response, parts = self._bound(records)
        column, held = response.column, records[self.target.column]
        used = parts.of(held) == VALUE
        weight = weights_of(records, design, self.weights)
        require_budget(str(self.target), response.family.count, len(design.labels), int(used.sum()), draws)
        progress(f"fit {shorten(column.name)}", 0, 1)
        frame = Frame(design, records, held, used, weight)
        posterior = self._given(frame, response, parts, draws, rng)
        progress(f"fit {shorten(column.name)}", 1, 1)
        return posterior

    def refit(
        self, earlier: RegressionPosterior, records: Records, *, draws: int = 1000, rng: Rng = None
    ) -> RegressionPosterior:
        """The posterior given other records, with what `earlier` froze: design, constants of the priors, parts, rounding."""
        design, response, parts = earlier.design, earlier.response, earlier.parts
        held = records[response.column.name]
        weight = weights_of(records, design, self.weights or "ignore")
        frame = Frame(design, records, held, parts.of(held) == VALUE, weight, earlier.constants)
        return self._given(frame, response, parts, draws, rng)

    def _given(
        self, frame: Frame, response: Response, parts: Parts, draws: int, rng: Rng
    ) -> RegressionPosterior:
        """Draws for the values, and for the missing codes and spikes."""
        for_values, for_parts = generator(rng).spawn(2)
        design = frame.design
        with threads_for(response.family.count * len(design.labels)):
            fitted, response = self.draw(frame, response, draws, for_values)
            parts = parts.fit(design, frame.records, frame.held, frame.weight, draws, for_parts)
        return RegressionPosterior(
            model=self,
            design=design,
            response=response,
            coefficients=fitted.coefficients,
            auxiliary=fitted.auxiliary,
            quality=fitted.diagnostics,
            notes=(*fitted.notes, *parts.notes),
            parts=parts,
            constants=fitted.constants,
        )

    def posterior(self, draws: Any, schema: Schema | None = None) -> RegressionPosterior:
        """A posterior from draws that were made elsewhere, one row each: see given.py."""
        from stead.models.given import posterior_of

        return posterior_of(self, draws, schema)

    @abstractmethod
    def response_of(self, column: Column) -> Response:
        """The response, or a refusal of its kind."""

    def prior_for(self, data: Standardized, response: Response, center: tuple[float, float]) -> Prior:
        """What `prior` stands for, with the intercept at `center`."""
        if isinstance(self.prior, ConjugatePrior):
            raise TypeError("refused when the model was made")
        location, spread = center
        family = response.family
        return prior_of(
            self.prior,
            data,
            family.auxiliary,
            predictors=family.count,
            location=location,
            spread=spread,
            slope=self.weak_slope,
        )

    def center(self, data: Standardized) -> tuple[float, float]:
        """Location and scale of the intercept's prior."""
        return 0.0, 2.5

    def draw(
        self, frame: Frame, response: Response, draws: int, rng: np.random.Generator
    ) -> tuple[Fitted, Response]:
        """Draws of the parameters of the values, and the response as it was modelled."""
        data = frame.data(response)
        center = data.frozen.center if data.frozen else self.center(data)
        prior = self.prior_for(data, response, center)
        return draw_regression(data, response.family, prior, center, draws, rng), response


def require_values(column: Column, held: Values, used: NDArray[np.bool_]) -> None:
    """Refuse a column that leaves nothing to model."""
    values = held.values[used]
    if len(values) < FEWEST_ROWS:
        raise InputRefused(
            "E-COL-EMPTY",
            f"column {shorten(column.name)}: {len(values)} values are present{' beside its spikes' if column.spikes else ''}, and a model needs at least {FEWEST_ROWS}; leave the column out of the model",
        )
    if (values == values[0]).all():
        raise InputRefused(
            "E-COL-CONST",
            f"column {shorten(column.name)}: is constant, so there is nothing to model; leave it out of the model, and it is kept as it is",
        )
