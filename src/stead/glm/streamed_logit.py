"""Logistic regression by maximum likelihood over many rows: no prior, aliased terms dropped, memory flat.

    beta <- beta + H^-1 X'(s - p),     p = 1 / (1 + exp(-X beta)),     H = X'WX,  W = p (1 - p),

Newton steps from p = c, the share of ones. There H = c (1 - c) X'X, so the first pass over the rows gives the rank, the
terms that alias others, and a step. McCullagh & Nelder (1989), section 2.5.

Amounts and their products have a few rows so far out that Newton's quadratic overshoots there and ten passes
are needed, while all other rows are bent very little. So between two passes the far rows are kept as they are and the
others replaced by their quadratic expansion; that small problem is solved, and H serves until steps stop shrinking.
Refused: a sample to start from, whose own noise is farther from the end than p = c is.

Where the terms tell some rows apart with certainty the likelihood has no maximum; the probabilities still have a limit,
and steps go on until they are near it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from stead.glm.rank import independent_columns
from stead.glm.stacked import add_gram
from stead.glm.threads import NARROW, threads_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.stacked import Stack

    Array = NDArray[np.float64]

MOST_PASSES, MOST_STEPS, MOST_HALVINGS = 40, 12, 25
TOLERANCE = 1e-20
"""A squared Newton decrement; its root bounds the relative error of pMSE."""
SLOW = 1e-3
"""A decrement that shrinks less than this from pass to pass asks for a new H."""
FAR, MOST_FAR = 0.1, 5_000
"""A row is far where its log-odds have moved by this much; so many of them are kept."""
CERTAIN = 1e-9


@dataclass(frozen=True, repr=False)
class LogitFit:
    """The fitted probabilities, and what the fit says of the design."""

    probabilities: Array  # (N,)
    gram: Array  # (p, p)
    kept: NDArray[np.bool_]
    passes: int
    converged: bool

    def rank_beyond(self, others: NDArray[np.bool_]) -> int:
        """The rank that the columns besides these others add to them: the intercept is among the others."""
        return int(self.kept.sum() - independent_columns(self.gram[np.ix_(others, others)]).sum())

    @property
    def certain(self) -> bool:
        """Whether some rows are told apart with certainty."""
        p = self.probabilities
        return bool(p.min() < CERTAIN or p.max() > 1.0 - CERTAIN)


@dataclass(frozen=True, repr=False)
class _Expansion:
    """Far rows and their labels as they are; H of all other rows."""

    far: Array  # (rows, p)
    labels: Array
    near: Array  # (p, p)


def fit_logit(stack: Stack, labels: Array) -> LogitFit:
    """Fit labels 0 and 1."""
    with threads_for(min(stack.width, NARROW)):  # products are made a tile at a time
        return _fit(stack, labels)


def _fit(stack: Stack, labels: Array) -> LogitFit:
    share = float(labels.mean())
    gram, score = stack.moments(labels - share)
    kept = independent_columns(gram)
    free = np.flatnonzero(kept)
    start = np.zeros(len(free))
    start[0] = np.log(share / (1.0 - share))
    beta, height, before = start, -np.inf, np.inf
    probabilities = np.full(stack.rows, share)
    model = _Expansion(
        np.zeros((0, len(free))), np.zeros(0), share * (1.0 - share) * gram[np.ix_(free, free)]
    )
    score = score[free]
    for passes in range(1, MOST_PASSES + 1):
        move, decrement = _solve(model, beta, score)
        if move is None or decrement < TOLERANCE:
            return LogitFit(probabilities, gram, kept, passes, converged=move is not None)
        renew = passes == 1 or decrement > SLOW * before
        before = decrement
        for _ in range(MOST_HALVINGS):
            reached, fresh, expanded = _pass(stack, labels, beta + move, free, probabilities, renew=renew)
            if reached >= height - 1e-9 * abs(height):
                break
            move, renew = 0.5 * move, True
        beta, height, score, model = beta + move, reached, fresh, expanded or model
    return LogitFit(probabilities, gram, kept, MOST_PASSES, converged=False)


def _solve(model: _Expansion, beta: Array, score: Array) -> tuple[Array | None, float]:
    """The step to the maximum of the expanded likelihood, and the squared decrement at its start."""
    far, labels = model.far, model.labels
    eta = far @ beta
    rest = score - (labels - expit(eta)) @ far  # the score of the rows that are not far
    move, first = np.zeros_like(beta), np.inf
    for step in range(MOST_STEPS):
        p = expit(eta + far @ move)
        slope = rest - model.near @ move + (labels - p) @ far
        curvature = model.near.copy()
        add_gram(curvature, far, p * (1.0 - p))
        try:
            factor = cho_factor(curvature, lower=True)
        except np.linalg.LinAlgError:  # the curvature has died away: some rows are told apart with certainty
            return None, first
        change = np.asarray(cho_solve(factor, slope))
        decrement = float(slope @ change)
        first = decrement if step == 0 else first
        if decrement < max(TOLERANCE, 1e-12 * first):
            break
        move = move + change
    return move, first


def _pass(
    stack: Stack,
    labels: Array,
    beta: Array,
    free: NDArray[np.intp],
    probabilities: Array,
    *,
    renew: bool,
) -> tuple[float, Array, _Expansion | None]:
    """Log-likelihood, score and, where `renew`, the expansion at `beta`; the probabilities are written in place."""
    height, score = 0.0, np.zeros(len(free))
    near = np.zeros((len(free), len(free)))
    far: list[Array] = [np.zeros((0, len(free)))]
    far_labels: list[Array] = [np.zeros(0)]
    room, usual = MOST_FAR, beta[0]
    whole = len(free) == stack.width
    for rows, built in stack.chunks():
        matrix = built if whole else built[:, free]
        eta = matrix @ beta
        p = expit(eta)
        probabilities[rows] = p
        height += float(labels[rows] @ eta - np.logaddexp(0.0, eta).sum())
        score += (labels[rows] - p) @ matrix
        if renew:
            out = np.flatnonzero(np.abs(eta - usual) > FAR)[:room]
            room -= len(out)
            far.append(matrix[out])
            far_labels.append(labels[rows][out])
            weight = p * (1.0 - p)
            weight[out] = 0.0
            add_gram(near, matrix, weight)
    expanded = _Expansion(np.concatenate(far), np.concatenate(far_labels), near) if renew else None
    return height, score, expanded
