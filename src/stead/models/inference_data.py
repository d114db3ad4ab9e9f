"""Draws that another program made, read by their groups: ArviZ's InferenceData, its DataTree, or plain arrays.

A source has groups (`posterior`, `posterior_predictive`, `log_likelihood`), a group has variables, and a variable is an
array over chains, draws and what is drawn. ArviZ is not imported: what has these attributes, or these keys, will do.

    {"posterior": {"b": (chains, draws)}, "posterior_predictive": {"y": (chains, draws, rows)}}

Named dimensions may stand in any order; plain arrays begin with chains and draws. Kumar, Carroll, Hartikainen & Martin (2019),
Journal of Open Source Software 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, nearest, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

CHAIN, DRAW = "chain", "draw"
POSTERIOR, PREDICTIVE, LOG_LIKELIHOOD = "posterior", "posterior_predictive", "log_likelihood"


@dataclass(frozen=True)
class Group:
    """The variables of one group."""

    name: str
    variables: Mapping[str, Any]

    @classmethod
    def of(cls, source: Any, name: str) -> Group | None:
        """A group of a source; None where it has none of that name."""
        held = source.get(name) if isinstance(source, dict) else getattr(source, name, None)
        if held is None:
            return None
        variables: Any = getattr(held, "data_vars", held)
        if not hasattr(variables, "keys"):
            raise UsageError(
                "E-EXTERNAL", f"{name}: is a {type(held).__name__}, not a mapping of names to arrays"
            )
        return cls(name, variables)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(str(name) for name in self.variables)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A variable as an array that begins with chains and draws."""
        if name not in self.variables:
            raise UsageError(
                "E-EXTERNAL",
                f"{self.name}: no variable is called {shorten(name)}; {nearest(name, self.names)}",
            )
        return in_order(self.variables[name], f"{self.name}, {shorten(name)}")


def in_order(variable: Any, where: str) -> NDArray[Any]:
    """An array over (chains, draws, ...), whatever order its named dimensions have."""
    values = np.asarray(getattr(variable, "values", variable))
    dims = getattr(variable, "dims", None)
    if dims is not None:
        named = [str(dim) for dim in dims]
        if CHAIN not in named or DRAW not in named:
            raise UsageError(
                "E-EXTERNAL",
                f"{where}: has the dimensions {', '.join(map(shorten, named)) or 'of a single number'}; chain and draw are among those that are expected",
            )
        values = np.moveaxis(values, (named.index(CHAIN), named.index(DRAW)), (0, 1))
    if values.ndim < 2:
        raise UsageError(
            "E-EXTERNAL",
            f"{where}: has {values.ndim} dimensions; chains x draws, then what is drawn, are expected",
        )
    return values


def require_shape(found: tuple[int, ...], wanted: tuple[int, ...], where: str) -> None:
    """Refuse an array that does not begin with so many chains and draws, and end with so many rows."""
    if found != wanted:
        names = ("chains", "draws", "rows")
        text = " x ".join(f"{size:,} {name}" for size, name in zip(wanted, names, strict=False))
        shape = " x ".join(f"{size:,}" for size in found)
        raise UsageError(
            "E-EXTERNAL", f"{where}: is {shape}; {text} are expected, the rows in the order of the records"
        )


def labels_of(name: str, shape: tuple[int, ...]) -> list[str]:
    """`b`, or `b[0]`, `b[1]`, ...: places, because labels may be values of the file."""
    return [name + (f"[{','.join(map(str, place))}]" if place else "") for place in np.ndindex(*shape)]
