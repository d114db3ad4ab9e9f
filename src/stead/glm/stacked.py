"""The design of several files, one under another, in chunks: what a fit to many rows reads, pass after pass.

Columns are centred and scaled by constants from a thin sample of the rows. Any constants leave the span of the
columns as it is, and so the fitted probabilities; these keep sums of squares of amounts and of their products
from cancelling. A small design is kept, a large one is built again in every pass, so that memory stays flat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stead.errors import UsageError
from stead.randomness import thin_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from stead.language.design import Design
    from stead.tables.records import Records

    Array = NDArray[np.float64]

CHUNK = 8_192
"""Rows built at once: 36 columns of them are 2 MB, which stays in the cache of a core."""
TILE = 256
"""Rows multiplied at once: few enough that a matrix product starts no threads, which cost more than they give."""
KEEP = 64 << 20
SAMPLE = 4_096


class Stack:
    """The design over some files, its first column the intercept."""

    def __init__(self, design: Design, files: Sequence[Records]) -> None:
        if not design.formula.intercept:
            raise UsageError("E-FORMULA", "the classifier needs its intercept: take -1 out of the formula")
        self._design, self._files = design, tuple(files)
        self.rows = sum(one.rows for one in files)
        sample = np.concatenate([design.matrix(one.take(thin_rows(one.rows, SAMPLE))) for one in files])
        self.width = sample.shape[1]
        self._centre, spread = sample.mean(axis=0), sample.std(axis=0)
        self._centre[0] = 0.0
        self._scale = 1.0 / np.where(spread > 0, spread, 1.0)
        self._kept: list[tuple[slice, Array]] | None = None
        if self.rows * self.width * 8 <= KEEP:
            self._kept = list(self.chunks())

    def chunks(self) -> Iterator[tuple[slice, Array]]:
        """Places in the stack and their part of the design."""  # (rows, p)
        if self._kept is not None:
            yield from self._kept
            return
        before = 0
        for one in self._files:
            for start in range(0, one.rows, CHUNK):
                stop = min(start + CHUNK, one.rows)
                matrix = self._design.matrix(one, slice(start, stop))
                matrix -= self._centre
                matrix *= self._scale
                yield slice(before + start, before + stop), matrix
            before += one.rows

    def moments(self, values: Array) -> tuple[Array, Array]:
        """X'X and X'v in one pass; v has one or several columns."""  # (p, p), (p,) or (p, R)
        gram, crossed = np.zeros((self.width, self.width)), np.zeros((self.width, *values.shape[1:]))
        for rows, matrix in self.chunks():
            add_gram(gram, matrix)
            crossed += matrix.T @ values[rows]
        return gram, crossed

    def times(self, coefficients: Array) -> Array:
        """X b of one or several columns."""  # (N,) or (N, R)
        result = np.empty((self.rows, *coefficients.shape[1:]))
        for rows, matrix in self.chunks():
            for start in range(0, len(matrix), TILE):
                stop = min(start + TILE, len(matrix))
                result[rows.start + start : rows.start + stop] = matrix[start:stop] @ coefficients
        return result


def add_gram(total: Array, matrix: Array, weights: Array | None = None) -> None:
    """Add X'WX of a chunk, a tile at a time."""
    for start in range(0, len(matrix), TILE):
        tile = matrix[start : start + TILE]
        weighted = tile if weights is None else tile * weights[start : start + TILE, None]
        total += weighted.T @ tile
