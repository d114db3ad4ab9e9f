"""The posterior of a model that was fitted elsewhere.

`sample` gives the posterior predictive draw as it is, for the confidential rows in their order, and for no others. stead has
no density of its own for such a model: `log_likelihood` finds the given one again by what is in a row, or asks a function.
So attribute risk by reweighting needs the log-likelihood of rows with guesses in place and of the synthetic rows; by
refitting there is none, because only the program that made the draws can fit the model again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, shorten
from stead.language.functions import FUNCTIONS, IDENTITY
from stead.models.defaults import PosteriorDefaults
from stead.models.known_rows import KnownRows, column_key
from stead.models.rounding import Grid
from stead.sampling.diagnostics import Diagnostics
from stead.tables.records import Values
from stead.tables.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from stead.language.functions import Function
    from stead.models.external import Density
    from stead.randomness import Rng
    from stead.tables.records import Records
    from stead.tables.schema import Column

    Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class ExternalPosterior(PosteriorDefaults):
    """Draws, predictive draws, and the log-likelihoods that are known."""

    columns: tuple[Column, ...]
    cells: Mapping[str, NDArray[Any]]  # of each column (H, n)
    draws: Array  # (H, K)
    parameters: tuple[str, ...]
    rows: int
    fixed: Mapping[str, int]
    """Keys of the columns that must be as they were: the predictive draws were made given them."""
    known: KnownRows | None
    function: Density | None
    quality: Diagnostics
    scales: Mapping[str, str] = field(default_factory=dict)
    what: str = ""
    notes: tuple[str, ...] = ()

    @property
    def responses(self) -> tuple[str, ...]:
        """The columns that `sample` makes."""
        return tuple(column.name for column in self.columns)

    @property
    def predictors(self) -> tuple[str, ...]:
        """The columns that the predictive draws were made given."""
        return tuple(self.fixed)

    @property
    def diagnostics(self) -> tuple[Diagnostics, ...]:
        """Of all draws that were given, the worst over the parameters."""
        return (self.quality,)

    def sample(self, h: int, given: Records, rng: Rng) -> Records:
        """`given`, the confidential rows in their order, with the h-th predictive draw; there is nothing random left."""
        if given.rows != self.rows:
            raise UsageError(
                "E-EXTERNAL",
                f"{given.rows:,} rows are given, and the predictive draws are for the {self.rows:,} confidential ones",
            )
        for name, key in self.fixed.items():
            if name in given and column_key(given[name]) != key:
                raise UsageError(
                    "E-EXTERNAL",
                    f"{shorten(name)} is not as it is in the confidential records, and the predictive draws were made given those; keep their order, and in a sequence put stead.External first or name its predictors=",
                )
        made = given
        for column in self.columns:
            made = made.with_column(column, Values.complete(self.cells[column.name][h]))
        return made

    def log_likelihood(self, records: Records, draws: slice = slice(None)) -> Array:
        """Of rows whose log-likelihood was given, or by the function that computes it."""  # (h, n)
        if self.function is not None:
            some = self.draws[draws]
            found = np.asarray(self.function(records, dict(zip(self.parameters, some.T, strict=True))), float)
            if found.shape != (len(some), records.rows) or np.isnan(found).any():
                raise UsageError(
                    "E-EXTERNAL",
                    f"log_likelihood= gave {' x '.join(map(str, found.shape))} values{', some of them not numbers' if np.isnan(found).any() else ''}; {len(some):,} draws x {records.rows:,} rows are expected",
                )
            return found
        if self.known is None:
            raise UsageError(
                "E-EXTERNAL",
                "this model was fitted elsewhere and came without a log-likelihood; stead.External takes a group log_likelihood, or a function",
            )
        return self.known.look_up(records, draws)

    def scale(self, name: str) -> Function:
        """The function on whose scale a column is said to be modelled."""
        return FUNCTIONS[self.scales[name]] if name in self.scales else IDENTITY

    def describe(self) -> list[dict[str, Any]]:
        """For the assessment."""
        figures = self.quality.to_dict()
        return [
            {
                "response": name,
                "formula": self.what,
                "model": "External",
                "prior": "of the program that fitted it",
                "weights": "of the program that fitted it",
                "draws": len(self.draws),
                "method": self.quality.method,
                "diagnostics": {
                    key: value for key, value in figures.items() if key not in {"method", "draws"}
                },
                "notes": list(self.notes),
            }
            for name in self.responses
        ]

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """See storage.py. A function is not kept: nothing that is loaded can run."""
        state = {
            "model": "External",
            "schema": Schema(self.columns).to_dict(),
            "parameters": list(self.parameters),
            "rows": self.rows,
            "fixed": dict(self.fixed),
            "known": None if self.known is None else list(self.known.names),
            "quality": self.quality.to_dict(),
            "scales": dict(self.scales),
            "what": self.what,
            "notes": list(self.notes),
        }
        arrays: dict[str, NDArray[Any]] = {"draws": self.draws}
        arrays |= {f"cells{place}": self.cells[name] for place, name in enumerate(self.responses)}
        if self.known is not None:
            arrays |= {"keys": self.known.keys, "density": self.known.density}
        return state, arrays

    @classmethod
    def from_state(cls, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> ExternalPosterior:
        """What `to_state` kept."""
        columns = tuple(Schema.from_dict(state["schema"]))
        names = state["known"]
        return cls(
            columns=columns,
            cells={column.name: arrays[f"cells{place}"] for place, column in enumerate(columns)},
            draws=arrays["draws"],
            parameters=tuple(state["parameters"]),
            rows=state["rows"],
            fixed=state["fixed"],
            known=None if names is None else KnownRows(tuple(names), arrays["keys"], arrays["density"]),
            function=None,
            quality=Diagnostics(**state["quality"]),
            scales=state["scales"],
            what=state["what"],
            notes=tuple(state["notes"]),
        )

    def __repr__(self) -> str:
        return f"Posterior(External of {', '.join(map(shorten, self.responses))}, {len(self.draws)} draws)"


def cells_of(drawn: NDArray[Any], column: Column, first_level: int) -> tuple[NDArray[Any], int]:
    """Predictive draws as the column holds them, and how many were beyond its bounds."""
    where = f"posterior_predictive of {shorten(column.name)}"
    if column.coded:
        return _codes(drawn, column, first_level, where), 0
    if not np.issubdtype(drawn.dtype, np.number) or not np.isfinite(drawn).all():
        raise UsageError("E-EXTERNAL", f"{where}: some values are missing or not finite numbers")
    numbers = drawn.astype(float)
    if column.kind == "count" and bool((numbers != np.round(numbers)).any()):
        raise UsageError("E-EXTERNAL", f"{where}: some values are not whole, and the column is a count")
    grid = Grid.of(column, -np.inf)
    held = grid.nearest(numbers)
    beyond = int(
        np.count_nonzero((numbers < grid.low - 0.5 * grid.unit) | (numbers > grid.high + 0.5 * grid.unit))
    )
    return (held.astype(np.int64) if column.whole else held), beyond


def _codes(drawn: NDArray[Any], column: Column, first_level: int, where: str) -> NDArray[np.int32]:
    """Codes of the levels: by value, or by number where levels are words and numbers were drawn."""
    distinct, place = np.unique(drawn, return_inverse=True)
    known: dict[Any, int] = {level: code for code, level in enumerate(column.levels)}
    words = all(isinstance(level, str) for level in column.levels)
    if words and np.issubdtype(distinct.dtype, np.number):
        known = {code + first_level: code for code in range(len(column.levels))}
    codes = np.array([known.get(value, -1) for value in distinct.tolist()], np.int32)
    if (codes < 0).any():
        expected = (
            f"numbers from {first_level} to {len(column.levels) - 1 + first_level}, or the levels"
            if words
            else "the levels"
        )
        raise UsageError(
            "E-EXTERNAL",
            f"{where}: {int((codes < 0).sum()):,} different values are not levels of the schema; {expected} are expected",
        )
    return codes[place].reshape(drawn.shape)
