"""A model that was fitted elsewhere, by brms, Stan, PyMC or NumPyro: its draws, as a posterior.

    Z_h                          the h-th posterior predictive draw for the confidential rows, in their order
    log p(y_i | x_i, theta_h)    its pointwise log-likelihood

Both are taken as they are. Draws are kept in turn over the chains, as many as are asked for, evenly spread; R-hat and
effective sizes are those of all of them. See external_posterior.py for what the posterior can and cannot say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from stead.errors import UsageError, nearest, shorten
from stead.language.functions import FUNCTIONS
from stead.models.base import Progress, silent
from stead.models.external_posterior import ExternalPosterior, cells_of
from stead.models.inference_data import (
    LOG_LIKELIHOOD,
    POSTERIOR,
    PREDICTIVE,
    Group,
    in_order,
    labels_of,
    require_shape,
)
from stead.models.known_rows import KnownRows, column_key
from stead.models.response import require_kept
from stead.sampling import diagnostics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.randomness import Rng
    from stead.tables.records import Records

    Array = NDArray[np.float64]

MADE_ELSEWHERE = "draws made by another program"
Density: TypeAlias = "Callable[[Records, dict[str, Array]], Array]"
"""Log-likelihood (h, n) of any records, given draws by the names of the parameters, each (h,)."""


@dataclass(frozen=True, eq=False)
class External:
    """`stead.External(idata, {"Income": "y"})` is a model like every other; `fit` binds its draws to the confidential records.

    source          InferenceData or DataTree, or {"posterior": {...}, "posterior_predictive": {...}, ...} of plain arrays
    made            the columns that it makes, each with its variable in posterior_predictive; a list where names are the same
    log_likelihood  None: the group of that name, where there is one. A function that computes it for any records. False: none
    elsewhere       pairs of records and their log-likelihood (chains x draws x rows), beside that of the confidential rows:
                    rows with a guess in place, or synthetic ones
    predictors      columns that it predicts from; where they are named, others may differ from the confidential ones
    scales          functions on whose scale columns are modelled, as {"Income": "log"}: steps of a guess are taken there
    parameters      variables of the posterior to keep; all where it is left out
    first_level     the number that the first level has where words are drawn as numbers: 0, or 1 as in Stan and brms
    what            what the model is, in words, for the assessment
    """

    source: Any = field(repr=False)
    made: Mapping[str, str] | Iterable[str]
    log_likelihood: Density | bool | None = None
    elsewhere: Iterable[tuple[Records, Any]] = field(default=(), repr=False)
    predictors: tuple[str, ...] = ()
    scales: Mapping[str, str] = field(default_factory=dict)
    parameters: tuple[str, ...] | None = None
    first_level: int = 0
    what: str = ""

    def __post_init__(self) -> None:
        names = [self.made] if isinstance(self.made, str) else self.made
        variables = dict(names) if isinstance(names, Mapping) else {name: name for name in names}
        if not variables:
            raise UsageError("E-EXTERNAL", "made lists at least one column")
        if self.first_level not in {0, 1}:
            raise UsageError("E-EXTERNAL", "first_level is 0 or 1")
        for name, function in self.scales.items():
            if name not in variables or function not in FUNCTIONS:
                known = FUNCTIONS if name in variables else variables
                raise UsageError(
                    "E-EXTERNAL", f"scales: {nearest(function if name in variables else name, known)}"
                )
        object.__setattr__(self, "made", variables)
        object.__setattr__(self, "elsewhere", tuple(self.elsewhere))
        for listed in ("predictors", "parameters"):
            value = getattr(self, listed)
            object.__setattr__(self, listed, (value,) if isinstance(value, str) else value and tuple(value))

    @property
    def responses(self) -> tuple[str, ...]:
        """The columns that the model makes."""
        return tuple(self.variables)

    @property
    def variables(self) -> dict[str, str]:
        """The predictive variable of each column."""
        return dict(self.made) if isinstance(self.made, Mapping) else {}

    def fit(
        self, records: Records, *, draws: int = 1000, rng: Rng = None, progress: Progress = silent
    ) -> ExternalPosterior:
        """The draws, at most so many of them, beside the records that they were made for."""
        predictive = self._group(PREDICTIVE)
        variables = {name: predictive[variable] for name, variable in self.variables.items()}
        sizes = next(iter(variables.values())).shape[:2]
        kept = _kept(sizes, draws)
        cells, notes = {}, []
        for name, values in variables.items():
            column = records.schema[name]
            require_kept(column)
            require_shape(values.shape, (*sizes, records.rows), f"{PREDICTIVE} of {shorten(name)}")
            cells[name], beyond = cells_of(_flat(values, kept), column, self.first_level)
            if beyond:
                notes.append(
                    f"{beyond:,} drawn values were beyond the bounds of {shorten(name)} and are put at them"
                )
            if records[name].gaps:
                notes.append(
                    f"cells of {shorten(name)} that are missing in the confidential file are drawn as values"
                )
        names, points = self._points(sizes)
        if lacking := [name for name in self.predictors if name not in records]:
            raise UsageError(
                "E-COLUMN",
                f"predictors: no column is called {shorten(lacking[0])}; {nearest(lacking[0], records.names)}",
            )
        fixed = self.predictors or [name for name in records.names if name not in self.responses]
        return ExternalPosterior(
            columns=tuple(records.schema[name] for name in self.responses),
            cells=cells,
            draws=_flat(points, kept),
            parameters=names,
            rows=records.rows,
            fixed={name: column_key(records[name]) for name in fixed},
            known=self._known(records, sizes, kept),
            function=self.log_likelihood if callable(self.log_likelihood) else None,
            quality=diagnostics.of_given_chains(MADE_ELSEWHERE, np.moveaxis(points, 2, 0)),
            scales=dict(self.scales),
            what=self.what,
            notes=tuple(notes),
        )

    def _group(self, name: str) -> Group:
        group = Group.of(self.source, name)
        if group is None:
            raise UsageError(
                "E-EXTERNAL",
                f"the source has no group {name}; {POSTERIOR} and {PREDICTIVE} are expected, and {LOG_LIKELIHOOD} for attribute risk",
            )
        return group

    def _points(self, sizes: tuple[int, ...]) -> tuple[tuple[str, ...], Array]:
        """Names of the parameters, and their draws."""  # (chains, draws, K)
        group = self._group(POSTERIOR)
        names: list[str] = []
        found = [np.zeros((*sizes, 0))]
        for name in group.names if self.parameters is None else self.parameters:
            values = group[name]
            require_shape(values.shape[:2], sizes, f"{POSTERIOR}, {shorten(name)}")
            names += labels_of(name, values.shape[2:])
            found.append(values.reshape(*sizes, -1).astype(float))
        points = np.concatenate(found, axis=2)
        if not np.isfinite(points).all():
            raise UsageError("E-EXTERNAL", f"{POSTERIOR}: some draws are not finite numbers")
        return tuple(names), points

    def _known(self, records: Records, sizes: tuple[int, ...], kept: NDArray[np.int64]) -> KnownRows | None:
        """The log-likelihoods that are given."""
        group = None if self.log_likelihood is False else Group.of(self.source, LOG_LIKELIHOOD)
        if callable(self.log_likelihood) or group is None:
            return None
        total = np.zeros((*sizes, records.rows))
        for name, variable in self.variables.items():
            own = variable if variable in group.names or len(group.names) > 1 else group.names[0]
            values = group[own]
            require_shape(values.shape, total.shape, f"{LOG_LIKELIHOOD} of {shorten(name)}")
            total = total + values
        pairs = [(records, _flat(total, kept))]
        for place, (other, given) in enumerate(self.elsewhere, start=1):
            values = in_order(given, f"elsewhere, pair {place}")
            require_shape(values.shape, (*sizes, other.rows), f"elsewhere, pair {place}")
            pairs.append((other, _flat(values.astype(float), kept)))
        return KnownRows.of(pairs)


def external(
    source: Any,
    made: Mapping[str, str] | Iterable[str],
    records: Records,
    *,
    draws: int = 1000,
    **settings: Any,
) -> ExternalPosterior:
    """The posterior of a model that was fitted elsewhere to `records`: `External(source, made, **settings)`, bound to them."""
    return External(source, made, **settings).fit(records, draws=draws)


def _kept(sizes: tuple[int, ...], draws: int) -> NDArray[np.int64]:
    """Which draws are kept, of all chains in turn: at most so many, evenly spread."""
    if draws < 1:
        raise UsageError("E-DRAWS", "draws is a whole number from 1")
    every = int(np.prod(sizes))
    count = min(draws, every)
    return ((np.arange(count) + 0.5) * every / count).astype(np.int64)


def _flat(values: NDArray[Any], kept: NDArray[np.int64]) -> NDArray[Any]:
    """Some draws of (chains, draws, ...), the chains taking turns."""
    chains = values.shape[0]
    return np.ascontiguousarray(values[kept % chains, kept // chains])
