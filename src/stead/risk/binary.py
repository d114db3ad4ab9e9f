"""How much an intruder is expected to learn of a binary value, before anything is drawn.

    ER_j = sum over X, X* of max(R_j - prior_j, 0) p(X* | X) p(X | p0),      X ~ Binomial(n, p0)

The intruder knows all other records, and gives Y_j = 1 the prior w. R_j is of a record with Y_j = 1, so that X_-j = X - 1; where
X = 0 it is of a record with Y_j = 0, whose prior is 1 - w. McClure & Reiter (2012), Transactions on Data Privacy 5, equations
(5) to (7) and table 1. The rule is that of belief.py. Counts so far out that all of them together have a probability below
`TAIL` (Chernoff's bound, exp(-n KL)) are left out: they add at most as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlog1py, xlogy

from stead.errors import UsageError
from stead.models.binary_law import BinaryLaw, log_choose
from stead.risk.belief import Belief

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.models.mechanism import Form

    Array = NDArray[np.float64]

TAIL = 1e-13
CELLS = 1 << 18


def expected_risk(
    p0: Any,
    epsilon: Any,
    n: int,
    n_s: int | None = None,
    prior: float = 0.5,
    *,
    alpha: float | None = None,
    beta: float | None = None,
    form: Form = "plug-in",
) -> Any:
    """ER_j; a number, or an array (p0, epsilon) where one of the two is a list."""
    if not 0 < prior < 1:
        raise UsageError("E-PRIOR", "the prior of a one is between 0 and 1")
    shares, levels = _listed(p0), _listed(epsilon)
    if any(not 0 <= share <= 1 for share in shares):
        raise UsageError("E-SHARE", "p0 is a probability: from 0 to 1")
    laws = [BinaryLaw.of(level, n, n_s, alpha=alpha, beta=beta, form=form) for level in levels]
    cells = np.array([[_expected(float(share), law, prior) for law in laws] for share in shares])
    return (
        cells
        if isinstance(p0, (Sequence, np.ndarray)) or isinstance(epsilon, (Sequence, np.ndarray))
        else float(cells[0, 0])
    )


def _expected(p0: float, law: BinaryLaw, prior: float) -> float:
    ones = _likely(law.n, p0, p0)
    log_share = log_choose(law.n, ones) + xlogy(ones, p0) + xlog1py(law.n - ones, -p0)
    drawn = _drawn(law, ones)
    log_count = log_choose(law.rows, drawn)
    total = 0.0
    for start in range(0, len(ones), max(1, CELLS // len(drawn))):
        some = slice(start, start + max(1, CELLS // len(drawn)))
        zero = ones[some] == 0
        true = law.log_kernel(drawn, ones[some, None])  # (X, X*)
        other = law.log_kernel(drawn, np.where(zero, 1, ones[some] - 1)[:, None])
        before = np.where(zero, 1.0 - prior, prior)[:, None]
        belief = Belief(
            np.log(np.stack([before, 1.0 - before], axis=-1)).repeat(len(drawn), axis=1).reshape(-1, 2),
            np.stack([true, other], axis=-1).reshape(-1, 2),
            np.zeros(true.size, np.int64),
        )
        gain = np.maximum(belief.probability.reshape(true.shape) - before, 0.0)
        total += float((gain * np.exp(true + log_count + log_share[some, None])).sum())
    return total


def _drawn(law: BinaryLaw, ones: NDArray[np.int64]) -> NDArray[np.int64]:
    """Synthetic counts that are likely for any of these confidential ones."""
    if law.form == "drawn":
        return np.arange(law.rows + 1)
    total = law.n + law.alpha + law.beta
    return _likely(law.rows, (ones[0] + law.alpha) / total, (ones[-1] + law.alpha) / total)


def _likely(n: int, low: float, high: float) -> NDArray[np.int64]:
    """Counts of n trials that are not far below what probability `low` leads to, nor far above what `high` does."""
    counts = np.arange(n + 1)
    share = counts / n
    limit = np.log(4.0 / TAIL)
    far = ((share < low) & (n * _divergence(share, low) > limit)) | (
        (share > high) & (n * _divergence(share, high) > limit)
    )
    return np.asarray(counts[~far])


def _divergence(share: Array, p: float) -> Array:
    """Kullback-Leibler, of a share from a probability."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(
            xlogy(share, share) - xlogy(share, p) + xlog1py(1 - share, -share) - xlog1py(1 - share, -p)
        )


def _listed(given: Any) -> list[float]:
    return [float(one) for one in given] if isinstance(given, (Sequence, np.ndarray)) else [float(given)]
