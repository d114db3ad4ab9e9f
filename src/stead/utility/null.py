"""What pMSE is when the synthesis model is right: the line to read it against.

For a logistic classifier whose terms involving a synthesized column have rank k*,

    plug-in synthesis                                mean k* c (1-c)^2 / N     SD sqrt(2 k*) c (1-c)^2 / N
    proper synthesis, or an independent sample       mean k* c (1-c)   / N     SD sqrt(2 k*) c (1-c)   / N

The second holds for any terms. The first holds where every term lies in the score space of the synthesis model; where
one does not, the mean lies between the two. The m values of several sets share the confidential file:

    SD of their mean = SD sqrt((1 + (m-1) r^2) / m),     r = 0 in that space, r = c for independent samples;

r = c is used, an upper bound. Snoke, Raab, Nowok, Dibben & Slavkovic (2018), JRSS A 181, for the first line; the second
and r are derived in docs/derivations/propensity.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stead.utility.scores import Apart

PLUG_IN, PROPER = "plug-in", "proper"
NOTHING = 1e-20
"""What rounding leaves of a pMSE of 0."""


@dataclass(frozen=True)
class Line:
    """Mean and standard deviation of the pMSE of one set; the deviation is None where it is not known."""

    mean: float
    deviation: float | None

    def times(self, factor: float) -> Line:
        """The line of data that vary less, or more."""
        return Line(self.mean * factor, None if self.deviation is None else self.deviation * factor)


@dataclass(frozen=True)
class Null:
    """The null of a measure: how it was found, why so, its lines, and which of them is the reference."""

    method: str
    why: str
    lines: Mapping[str, Line] = field(default_factory=dict)
    used: str = ""
    reason: str = ""
    apart: Apart | None = None
    """SPECKS, PO50 and AUC under the null."""

    @property
    def line(self) -> Line | None:
        """The reference."""
        return self.lines.get(self.used)


def analytic_lines(rank: float, share: float, rows: int) -> dict[str, Line]:
    """Both lines for a logistic classifier, or a table, with k* = rank."""
    independent = Line(
        rank * share * (1.0 - share) / rows, float(np.sqrt(2.0 * rank)) * share * (1.0 - share) / rows
    )
    return both_lines(independent, share)


def both_lines(independent: Line, share: float) -> dict[str, Line]:
    """The line of a proper synthesis or an independent sample, and that of a plug-in one."""
    return {PROPER: independent, PLUG_IN: independent.times(1.0 - share)}


def used_line(proper: bool | None) -> str:
    """The line that is the reference; where nobody knows, the lower one, which flatters least."""
    return PROPER if proper else PLUG_IN


def standing(line: Line, values: Sequence[float], share: float) -> dict[str, float | None]:
    """Ratio and z of the mean of several values against a line."""
    m, mean = len(values), float(np.mean(values))
    ratio = mean / line.mean if line.mean > NOTHING else None
    z = None
    if line.deviation is not None and line.deviation > NOTHING:
        z = (mean - line.mean) / (line.deviation * float(np.sqrt((1.0 + (m - 1) * share**2) / m)))
    return {"mean": line.mean, "sd": line.deviation, "ratio": ratio, "z": z}
