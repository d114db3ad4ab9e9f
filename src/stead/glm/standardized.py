"""The rows that a regression is fitted to: blocks of a design, centred and scaled by constants frozen at the fit.

With an intercept, column j becomes (x_j - mean_j) / s_j and the intercept belongs to a row of means;
without one, columns are scaled only. s_j is the standard deviation, and 1 for an indicator, so that a prior
on the effect of a level is the same for a rare level and a common one (Gelman et al. 2008). Coefficients found here are taken back by

    beta_j = gamma_j / s_j,     beta_0 = alpha - sum_j beta_j mean_j.

A small design is kept; a large one is built again in every pass, so that memory does not grow with rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stead.language.design import Design
    from stead.tables.records import Records

    Array = NDArray[np.float64]

KEEP = 64 << 20
SAME = 1e-12


class Standardized:
    """A design over some rows of some records, beside the response of those rows."""

    def __init__(self, design: Design, records: Records, response: Array, used: NDArray[np.bool_]) -> None:
        """`used` marks the rows; `response` has a value for every row, read where used."""
        self._design, self._records, self._response, self._used = design, records, response, used
        self.rows = int(np.count_nonzero(used))
        self.labels, self.sources = design.labels, design.sources
        self.intercept = design.formula.intercept
        self._kept: list[tuple[Array, Array]] | None = None
        self.means, self.scales, self.constant = self._constants()
        if self.rows * len(self.labels) * 8 <= KEEP:
            self._kept = list(self.blocks())

    def raw_blocks(self) -> Iterator[tuple[Array, Array]]:
        """Design and response of the used rows, block by block, on their own scales."""
        for rows, matrix in self._design.blocks(self._records):
            used = self._used[rows]
            yield (matrix, self._response[rows]) if used.all() else (matrix[used], self._response[rows][used])

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """Design, centred and scaled, and response."""
        if self._kept is not None:
            yield from self._kept
            return
        for matrix, response in self.raw_blocks():
            yield (matrix - self.means) / self.scales, response

    def _constants(self) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Means, scales and which columns are constant. The scale of a constant column is 1."""
        width = len(self.labels)
        means, squares, largest, indicator = (
            np.zeros(width),
            np.zeros(width),
            np.zeros(width),
            np.ones(width, bool),
        )
        for matrix, _ in self.raw_blocks():
            means += matrix.sum(axis=0)
            largest = np.maximum(largest, np.abs(matrix).max(axis=0, initial=0.0))
            indicator &= ((matrix == 0) | (matrix == 1)).all(axis=0)
        means /= max(self.rows, 1)
        for matrix, _ in self.raw_blocks():  # a second pass: the one-pass formula cancels for large means
            squares += ((matrix - means) ** 2).sum(axis=0)
        spread = np.sqrt(squares / max(self.rows, 1))
        constant = spread <= SAME * np.maximum(largest, np.finfo(float).tiny)
        scales = np.where(constant | indicator, 1.0, spread)
        if not self.intercept:
            return np.zeros(width), scales, constant & (largest == 0)
        means[0], constant[0] = 0.0, False
        return means, scales, constant

    def original(self, coefficients: Array) -> Array:
        """Coefficients on the scales of the data."""  # (H, p)
        slopes: Array = coefficients / self.scales
        if self.intercept:
            slopes = slopes.copy()
            slopes[:, 0] -= slopes[:, 1:] @ self.means[1:]
        return slopes
