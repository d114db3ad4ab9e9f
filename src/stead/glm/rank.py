"""Which columns of a design carry information of their own.

A Cholesky factorization of the correlation matrix, column by column: a column whose remaining variance
is below the tolerance is a combination of those before it and is aliased, as in R's lm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOLERANCE = 1e-9


def independent_columns(gram: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the columns of X that are not a combination of earlier ones, from X'X."""
    size = np.sqrt(np.diag(gram))
    left = gram / np.maximum(np.outer(size, size), np.finfo(float).tiny)
    kept = np.zeros(len(gram), bool)
    for column in range(len(gram)):
        remaining = left[column, column]
        if size[column] > 0 and remaining > TOLERANCE:
            kept[column] = True
            row = left[column, column + 1 :]
            left[column + 1 :, column + 1 :] -= np.outer(row, row / remaining)
    return kept
