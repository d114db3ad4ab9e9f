"""What propensity scores say: pMSE, and three measures of how far the two files' scores lie apart.

With scores p_i, S_i = 1 for the n_s synthetic of N rows, and c = n_s / N,

    pMSE    sum_i (p_i - c)^2 / N
    SPECKS  max_t |G_s(t) - G_o(t)|, the distance of the two distribution functions of the scores
    PO50    50 (share of synthetic rows with p > c + share of confidential rows with p <= c) - 50; at c = 1/2 the
            percentage of rows, over 50, that the scores tell right
    AUC     the probability that a synthetic row scores above a confidential one, ties counted half

Woo, Reiter, Oganian & Karr (2009), Journal of Privacy and Confidentiality 1; Bowen & Snoke (2021), the same 11; Raab,
Nowok & Dibben (2021), arXiv 2109.12717.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.utility.grid import spaced_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

DIGITS = 12
"""Rows with the same terms have the same score, but for rounding in the last places, which would undo a tie."""
BARS = 40


@dataclass(frozen=True)
class Apart:
    """The measures of one fit."""

    pmse: float
    specks: float
    po50: float
    auc: float


def measure(scores: Array, labels: Array) -> Apart:
    """The four measures of the scores of a stack whose synthetic rows are labelled 1."""
    rows, made = len(scores), float(labels.sum())
    real, share = rows - made, made / rows
    rounded = np.round(scores, DIGITS)
    order = np.argsort(rounded)
    ordered = rounded[order]
    last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), rows - 1)  # of each group of ties
    made_up_to = np.cumsum(labels[order])[last]
    real_up_to = last + 1.0 - made_up_to
    made_here, real_here = np.diff(made_up_to, prepend=0.0), np.diff(real_up_to, prepend=0.0)
    above = np.searchsorted(ordered[last], round(share, DIGITS), side="right")  # groups up to c
    low_made, low_real = (made_up_to[above - 1], real_up_to[above - 1]) if above else (0.0, 0.0)
    return Apart(
        pmse=float(np.mean((scores - share) ** 2)),
        specks=float(np.abs(made_up_to / made - real_up_to / real).max()),
        po50=float(50.0 * ((made - low_made) / made + low_real / real) - 50.0),
        auc=float((made_here * (real_up_to - 0.5 * real_here)).sum() / (made * real)),
    )


def histogram(scores: Array, rows: int) -> dict[str, Any]:
    """The scores of both files in common cells, each with at least ten confidential rows; the first `rows` are theirs."""
    real, made = scores[:rows], scores[rows:]
    low, high = np.quantile(scores, [0.01, 0.99])
    edges = spaced_edges(real, np.linspace(low, high, BARS + 1)) if high > low else np.zeros(0)
    if len(edges) < 2:
        return {}
    return {
        "edges": np.round(edges, 6).tolist(),
        "confidential": _shares(real, edges),
        "synthetic": _shares(made, edges),
    }


def _shares(scores: Array, edges: Array) -> list[float]:
    """The share of scores below the first edge, between the edges, and from the last on."""
    counts = np.bincount(np.searchsorted(edges, scores, side="right"), minlength=len(edges) + 1)
    return [float(share) for share in np.round(counts / len(scores), 6)]
