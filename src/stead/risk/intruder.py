"""Who is after a record: what is known of the others, which values are considered, and how probable they are beforehand.

    worst_case    knows all other records, and all other values of the record
    outsider      holds the release alone: the synthetic sets and the columns that were not synthesized
    sweep         knows all other records, and holds the truth with any weight between 0 and 1

A prior is a probability over guesses: "uniform"; "margins", the shares among the other records; "fit", what the model says
without the release, p(g | x_i, y_-i); `PointMass(w)`, w on the truth and the rest spread evenly; or an array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from stead.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from stead.risk.guesses import Guessed, Guesses
    from stead.tables.records import Records

    Array = NDArray[np.float64]

PRIORS = ("uniform", "margins", "fit")


@dataclass(frozen=True)
class PointMass:
    """The truth has `weight`; the others share the rest evenly."""

    weight: float

    def __post_init__(self) -> None:
        if not 0 < self.weight < 1:
            raise UsageError("E-PRIOR", "the weight of the truth is between 0 and 1")


@dataclass(frozen=True)
class Sweep:
    """The truth has every weight in turn, the others share the rest evenly; beliefs are those of the even one.

    For a record with B = f_truth / mean f_others all of them lie on one straight line, RR = B - (B - 1) R.
    """

    count: int = 999

    def __post_init__(self) -> None:
        if self.count < 1:
            raise UsageError("E-PRIOR", "a sweep has at least one weight")

    @property
    def weights(self) -> Array:
        """Equally spaced in (0, 1)."""
        return np.arange(1, self.count + 1) / (self.count + 1)

    def lines(self, factor: Any) -> tuple[Array, Array]:
        """R and RR under each weight, of every record, given its `factor` B."""  # (n, w) each, from (n,)
        w, B = self.weights, np.asarray(factor, float)[..., None]
        absolute = w * B / (1.0 - w + w * B)
        return absolute, np.asarray(B - (B - 1.0) * absolute)


PriorBelief: TypeAlias = "str | PointMass | Sweep | Array"


@dataclass(frozen=True, eq=False)
class Intruder:
    """What an intruder knows and considers. `guesses` None: levels of a category, a grid of a number."""

    others: Literal["all", "none"] = "all"
    guesses: Guesses | Mapping[str, Guesses] | None = None
    prior: Any = "uniform"
    synthesized: Literal["known", "unknown"] = "known"
    """Whether the record's own other synthesized values are known."""

    def __post_init__(self) -> None:
        if self.others not in {"all", "none"}:
            raise UsageError("E-INTRUDER", f"others: {nearest(str(self.others), ('all', 'none'))}")
        if self.synthesized not in {"known", "unknown"}:
            raise UsageError(
                "E-INTRUDER", f"synthesized: {nearest(str(self.synthesized), ('known', 'unknown'))}"
            )
        if isinstance(self.prior, str) and self.prior not in PRIORS:
            raise UsageError(
                "E-PRIOR", f"prior: {nearest(self.prior, PRIORS)}; or stead.PointMass, or probabilities"
            )

    @classmethod
    def worst_case(
        cls,
        guesses: Guesses | Mapping[str, Guesses] | None = None,
        prior: Any = "uniform",
        synthesized: Literal["known", "unknown"] = "known",
    ) -> Intruder:
        """Knows every other record."""
        return cls("all", guesses, prior, synthesized)

    @classmethod
    def outsider(cls, guesses: Guesses | Mapping[str, Guesses] | None = None) -> Intruder:
        """Knows the release, and of the record the columns that were not synthesized; believes what these predict."""
        return cls("none", guesses, "fit", "unknown")

    @classmethod
    def sweep(
        cls,
        guesses: Guesses | Mapping[str, Guesses] | None = None,
        synthesized: Literal["known", "unknown"] = "known",
        weights: int = 999,
    ) -> Intruder:
        """Knows every other record, and believes anything of the truth: `intruder.prior.lines(factor)` gives RR against R."""
        return cls("all", guesses, Sweep(weights), synthesized)


def log_prior(prior: PriorBelief, guessed: Guessed, records: Records, from_fit: Array | None) -> Array:
    """The log prior of every guess for every record."""  # (n, G)
    rows, count = len(guessed.truth), guessed.count
    if isinstance(prior, Sweep):
        return np.full((rows, count), -np.log(count))
    if isinstance(prior, PointMass):
        rest = np.log1p(-prior.weight) - np.log(max(count - 1, 1))
        weights = np.full((rows, count), rest)
        weights[np.arange(rows), guessed.truth] = np.log(prior.weight)
        return weights
    if isinstance(prior, str):
        if prior == "uniform":
            return np.full((rows, count), -np.log(count))
        if prior == "fit":
            if from_fit is None:
                raise UsageError("E-PRIOR", 'prior="fit" needs evidence from posterior draws')
            return _normalised(from_fit)
        return _normalised(_log_shares(guessed, records))
    given = np.asarray(prior, float)
    if given.shape not in {(count,), (rows, count)}:
        raise UsageError(
            "E-PRIOR", f"a prior has {count:,} probabilities, or that many for each of {rows:,} records"
        )
    if not (
        np.isfinite(given).all() and (given >= 0).all() and np.allclose(given.sum(axis=-1), 1.0, atol=1e-6)
    ):
        raise UsageError("E-PRIOR", "a prior holds probabilities: not negative, with sum 1")
    with np.errstate(divide="ignore"):
        return np.broadcast_to(np.log(given), (rows, count))


def _log_shares(guessed: Guessed, records: Records) -> Array:
    """How often each guess occurs among the other records, column by column, half a record added to each."""
    rows, count = len(guessed.truth), guessed.count
    total = np.zeros((rows, count))
    for name, values in guessed.values.items():
        held = records[name]
        present = np.sort(held.values[held.present].astype(float))
        numbers = values.astype(float)
        if records.schema[name].coded or records.schema[name].kind == "count":
            reach = np.full(numbers.shape, 0.25)
        else:  # a guess stands for what lies half way to its neighbours
            ordered = np.sort(numbers, axis=0)
            gaps = np.diff(np.unique(ordered[:, :1])) if count > 1 else np.ones(1)
            reach = np.full(numbers.shape, 0.5 * float(np.median(gaps)) if len(gaps) else 0.5)
        near = np.searchsorted(present, numbers + reach, "right") - np.searchsorted(
            present, numbers - reach, "left"
        )
        own = np.abs(numbers - np.take_along_axis(numbers, guessed.truth[None, :], axis=0)) <= reach
        total += np.log(np.maximum(near - own, 0) + 0.5).T
    return total


def _normalised(log_weight: Array) -> Array:
    total: Array = log_weight - np.logaddexp.reduce(log_weight, axis=1, keepdims=True)
    return total
