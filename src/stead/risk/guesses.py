"""What an intruder takes into consideration: the values that a confidential cell might have, the truth among them.

    Grid(h, s)     truth - h, ..., truth - s, truth, truth + s, ..., truth + h     on the scale of the model
    Share(h, s)    truth (1 - h), ..., truth, ..., truth (1 + h)
    Levels()       all levels of a category, or 0 .. most of a count
    Others(k)      the truth, and the values of k other records

A grid around the truth is the lecture's: it asks how well values near the truth are told apart. Several columns are
guessed together, every combination of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from stead.errors import UsageError, shorten
from stead.language.functions import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from stead.language.functions import Function
    from stead.tables.records import Records, Values
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

MOST = 100_000


@dataclass(frozen=True)
class Guessed:
    """Guesses for some records: the value of each column under each guess, and which guess is true."""

    values: Mapping[str, NDArray[Any]]  # (G, n) each
    truth: NDArray[np.int64]  # (n,)
    usable: NDArray[np.bool_]  # (n,), False where the confidential cell is missing

    @property
    def count(self) -> int:
        """How many guesses there are."""
        return len(next(iter(self.values.values())))

    def take(self, rows: NDArray[Any] | slice) -> Guessed:
        """Some records."""
        return Guessed(
            {name: values[:, rows] for name, values in self.values.items()},
            self.truth[rows],
            self.usable[rows],
        )


class Guesses(Protocol):
    """A rule that makes guesses for one column."""

    def of(
        self, column: Column, held: Values, scale: Function, rng: np.random.Generator
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The values, (G, n), and the place of the truth, (n,)."""
        ...


@dataclass(frozen=True)
class Grid:
    """Steps on both sides of the truth, on the scale on which the model has the column."""

    half_width: float
    step: float

    def __post_init__(self) -> None:
        _require_steps(self.half_width, self.step)

    @property
    def offsets(self) -> Array:
        """-half_width, ..., 0, ..., half_width."""  # (G,)
        half = int(np.floor(self.half_width / self.step + 1e-9))
        return np.asarray(np.arange(-half, half + 1) * self.step, float)

    def of(
        self, column: Column, held: Values, scale: Function, rng: np.random.Generator
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """g^-1(g(truth) + offset); in whole steps for a count."""
        _require_number(column, "Grid")
        offsets = self.offsets
        if column.kind == "count" and bool((offsets != np.round(offsets)).any()):
            raise UsageError(
                "E-GUESSES",
                f"{shorten(column.name)} is a count, and its guesses are whole numbers: Grid(3, 1)",
            )
        numbers = held.values.astype(float)
        if scale is IDENTITY:
            values = numbers + offsets[:, None]
        else:
            safe = np.where(held.present, numbers, 1.0)
            values = scale.inverse(scale.forward(safe) + offsets[:, None])
        middle = len(offsets) // 2
        values[middle] = numbers
        return values, np.full(len(numbers), middle)


@dataclass(frozen=True)
class Share:
    """Steps of a share of the truth on both sides of it; a truth of 0 has itself alone, many times."""

    half_width: float
    step: float

    def __post_init__(self) -> None:
        _require_steps(self.half_width, self.step)

    def of(
        self, column: Column, held: Values, scale: Function, rng: np.random.Generator
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Truth (1 + offset), rounded for a column of whole numbers."""
        _require_number(column, "Share")
        offsets = Grid(self.half_width, self.step).offsets
        numbers = held.values.astype(float)
        values = numbers * (1.0 + offsets[:, None])
        middle = len(offsets) // 2
        values = np.round(values) if column.kind == "count" else values
        values[middle] = numbers
        return values, np.full(len(numbers), middle)


@dataclass(frozen=True)
class Levels:
    """All levels of a category; of a count, 0 to `most`."""

    most: int = 0

    def of(
        self, column: Column, held: Values, scale: Function, rng: np.random.Generator
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Codes, each the same for every record."""
        if column.coded:
            codes: NDArray[Any] = np.arange(len(column.levels), dtype=np.int32)
        elif column.kind == "count":
            highest = int(max(self.most, held.values[held.present].max(initial=0)))
            codes = np.arange(highest + 1, dtype=np.int64)
        else:
            raise UsageError(
                "E-GUESSES", f"{shorten(column.name)} is {column.kind} and has no levels; guess on a Grid"
            )
        values = np.repeat(codes[:, None], len(held.values), axis=1)
        return values, held.values.astype(np.int64)


@dataclass(frozen=True)
class Others:
    """The truth, and the values of `count` other records: what a holder of the other records has at hand."""

    count: int = 20

    def of(
        self, column: Column, held: Values, scale: Function, rng: np.random.Generator
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Values of other records that differ from the truth, from evenly spaced places of their order."""
        distinct = np.unique(held.values[held.present])
        if len(distinct) < 2:
            raise UsageError(
                "E-GUESSES",
                f"{shorten(column.name)}: all records have one value, so there is nothing to guess",
            )
        count = min(self.count, len(distinct) - 1)
        place = np.searchsorted(distinct, held.values)
        start = rng.integers(0, len(distinct) - 1, len(held.values))
        spaced = np.floor(np.arange(count) * (len(distinct) - 1) / count).astype(np.int64)
        other = (start[None, :] + spaced[:, None]) % (len(distinct) - 1)
        other += other >= place  # skip the truth itself
        values = np.concatenate([held.values[None, :], distinct[np.minimum(other, len(distinct) - 1)]])
        return values, np.zeros(len(held.values), np.int64)


def guessed(
    records: Records, chosen: Mapping[str, Guesses], scales: Mapping[str, Function], rng: np.random.Generator
) -> Guessed:
    """The guesses of one or several columns, every combination."""
    each = {
        name: rule.of(records.schema[name], records[name], scales[name], rng) for name, rule in chosen.items()
    }
    usable = np.ones(records.rows, bool)
    for name in chosen:
        usable &= records[name].present
    sizes = [len(values) for values, _ in each.values()]
    total = int(np.prod(sizes))
    if total > MOST:
        raise UsageError(
            "E-GUESSES", f"{total:,} joint guesses, at most {MOST:,}; take fewer for each column"
        )
    places = np.array(list(product(*(range(size) for size in sizes))))  # (G, columns)
    truth = np.zeros(records.rows, np.int64)
    for (_, own), size in zip(each.values(), sizes, strict=True):
        truth = truth * size + own
    joint = {name: values[places[:, place]] for place, (name, (values, _)) in enumerate(each.items())}
    return Guessed(joint, truth, usable)


def _require_steps(half_width: float, step: float) -> None:
    if not (step > 0 and half_width >= step and half_width / step <= 1000):
        raise UsageError("E-GUESSES", "half_width is at least one step, and at most 1,000")


def _require_number(column: Column, name: str) -> None:
    if column.coded:
        raise UsageError(
            "E-GUESSES",
            f"{shorten(column.name)} is {column.kind}; {name} is for numbers, stead.Levels() for levels",
        )
