"""Nulls by fitting again: labels permuted, swapped within pairs, or synthetic sets set against each other.

    permute   all labels of the stack: what two samples of one population give, the line of independent and of proper
              data; full synthesis
    swap      the labels of row i and of the synthetic row that stands for it: the same where columns were kept, which
              then agree on both sides; permuting would let them differ by chance, and is 1.3 to 1.65 too large
    pairs     two synthetic sets; target = their mean pMSE x 8 c^2 (1-c)^2, since the difference of two sets has
              twice the variance of one, and c = 1/2. Their mean lacks the sampling noise of the confidential file,
              which no data need outside the score space of the model: there it is up to 1/(1-c) too small

Snoke, Raab, Nowok, Dibben & Slavkovic (2018), JRSS A 181; derivations and the simulation in docs/derivations/propensity.md.
"""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from stead.utility.null import Line
from stead.utility.scores import Apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

How: TypeAlias = Literal["permute", "swap"]
TIMES = 50
"""Relabellings in all, the sets in turn."""


def own_labels(rows: int, made: int) -> Array:
    """0 for the confidential rows, then 1 for the synthetic ones."""
    return np.repeat([0.0, 1.0], [rows, made])


def relabelled(how: How, rows: int, made: int, rng: np.random.Generator) -> Array:
    """Labels as they might have been."""  # (N,)
    if how == "permute":
        return rng.permutation(own_labels(rows, made))
    swapped = (rng.random(rows) < 0.5).astype(float)
    return np.concatenate([swapped, 1.0 - swapped])


def line_of(fits: Sequence[Apart]) -> Line:
    """Mean and standard deviation of pMSE; no deviation from one fit."""
    values = [one.pmse for one in fits]
    return Line(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None)


def mean_of(fits: Sequence[Apart]) -> Apart:
    """The mean of each measure."""
    return Apart(*np.mean([astuple(one) for one in fits], axis=0).tolist())
