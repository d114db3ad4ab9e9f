"""What a model is to the rest of stead: two protocols.

A model is a frozen value (formula, prior); `fit` gives a posterior. A posterior has draws, makes the
synthesized columns from one draw, and says how probable records are under each. With these two methods
a model has attribute risk without a line of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from stead.errors import UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from stead.language.functions import Function
    from stead.randomness import Rng
    from stead.sampling.diagnostics import Diagnostics
    from stead.tables.records import Records

    Array = NDArray[np.float64]

Progress: TypeAlias = Callable[[str, int, int], None]
"""Told what is done, how many steps of how many: progress("fit Income", 1, 2)."""


def silent(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def require_given(column: str, predictors: Iterable[str], given: Records) -> None:
    """Refuse to make a column without those that it is made from."""
    lacking = [name for name in predictors if name not in given]
    if lacking:
        raise UsageError(
            "E-PREDICTOR",
            f"{shorten(column)}: {', '.join(map(shorten, lacking))} is needed to draw it, and is not given",
        )


class Posterior(Protocol):
    """Draws of a model's parameters, and what they imply for records."""

    @property
    def draws(self) -> Array:
        """Posterior draws, one row each; `parameters` names the columns."""  # (H, K)
        ...

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the columns of `draws`."""
        ...

    @property
    def responses(self) -> tuple[str, ...]:
        """The columns that `sample` makes, in order."""
        ...

    @property
    def predictors(self) -> tuple[str, ...]:
        """The columns that these are predicted from."""
        ...

    @property
    def refittable(self) -> bool:
        """Whether `refit` is possible."""
        ...

    def has_exact_evidence(self, targets: tuple[str, ...], *, known: bool) -> bool:
        """Whether `exact_evidence` has an answer for guesses of these columns."""
        ...

    def exact_evidence(
        self,
        confidential: Records,
        synthetic: Sequence[Records],
        values: Mapping[str, NDArray[Any]],
        rows: NDArray[np.int64],
    ) -> Array | None:
        """Log p(synthetic sets | guess, all other records) of some rows, up to a constant of the row; None where there is no closed form."""  # (n, G)
        ...

    def scale(self, name: str) -> Function:
        """The function on whose scale a column is modelled; the identity where that is its own."""
        ...

    @property
    def diagnostics(self) -> tuple[Diagnostics, ...]:
        """What the sampler says of the draws, one for each response."""
        ...

    def sample(self, h: int, given: Records, rng: Rng) -> Records:
        """`given` with the synthesized columns drawn under draw `h`."""
        ...

    def log_likelihood(self, records: Records, draws: slice = ...) -> Array:
        """Log p(synthesized columns of each record | the others, theta_h)."""  # (h, n)
        ...

    def refit(self, records: Records, *, draws: int = 1000, rng: Rng = None) -> Posterior:
        """The posterior of the same model given other records, with the constants of its priors as they were frozen."""
        ...

    def describe(self) -> list[dict[str, Any]]:
        """For the assessment: model, formula, prior, method, diagnostics, notes; no value of a file."""
        ...

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All that `stead.models.storage` needs to make this posterior again: JSON, and arrays."""
        ...


class Model(Protocol):
    """A synthesis model."""

    @property
    def responses(self) -> tuple[str, ...]:
        """The columns that the model makes."""
        ...

    def fit(
        self, records: Records, *, draws: int = 1000, rng: Rng = None, progress: Progress = silent
    ) -> Posterior:
        """The posterior given `records`."""
        ...


@runtime_checkable
class Checked(Protocol):
    """A model that can say, before any work is done, that records do not fit it."""

    def check(self, records: Records) -> None:
        """Refuse records that the model cannot be fitted to."""
        ...
