"""The rows that a regression is fitted to: blocks of a design, centred and scaled by constants frozen at the fit.

With an intercept, column j becomes (x_j - mean_j) / s_j and the intercept belongs to a row of means;
without one, columns are scaled only. s_j is the standard deviation, and 1 for an indicator, so that a prior
on the effect of a level is the same for a rare level and a common one (Gelman et al. 2008). Coefficients found here are taken back by

    beta_j = gamma_j / s_j,     beta_0 = alpha - sum_j beta_j mean_j.

A small design is kept; a large one is built again in every pass, so that memory does not grow with rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.glm.cells import Rows, collapsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from stead.language.design import Design
    from stead.tables.records import Records

    Array = NDArray[np.float64]
    Block = tuple[Array, Array, Array | None]

KEEP = 256 << 20
SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Constants:
    """What is frozen at the fit to the confidential rows; a later fit, to a guess or beside synthetic rows, takes it over."""

    means: Array
    scales: Array
    constant: NDArray[np.bool_]  # columns that never vary
    center: tuple[float, float] = (0.0, 1.0)
    """Location and spread of the response, as the prior of the model wants them."""


class Standardized:
    """A design over some rows of some records, beside the response and the weight of those rows."""

    def __init__(
        self,
        design: Design,
        records: Records,
        response: Array,
        used: NDArray[np.bool_],
        weight: Array | None = None,
        frozen: Constants | None = None,
    ) -> None:
        """`used` marks the rows; `response` has a value for every row, read where used. Weights add up to the rows."""
        rows = int(np.count_nonzero(used))
        if weight is not None:
            weight = weight * (rows / weight[used].sum())
        self.frozen = frozen
        self._take(design, collapsed(design, Rows(records, response, used, weight)), rows)

    def _take(self, design: Design, rows: Rows, count: int) -> None:
        self.design, self._rows = design, rows
        self.rows = count
        """How many rows there are, each cell counted by its weight."""
        self.labels, self.sources = design.labels, design.sources
        self.intercept = design.formula.intercept
        self._kept: list[Block] | None = None
        kept = rows.used.sum() * len(self.labels) * 8 <= KEEP
        raw = list(self.raw_blocks()) if kept else None
        constants = self.frozen or self._constants(raw)
        self.means, self.scales, self.constant = constants.means, constants.scales, constants.constant
        if raw is not None:
            self._kept = [(self.standard(matrix), response, weight) for matrix, response, weight in raw]

    @property
    def responses(self) -> Array:
        """The responses of the used rows."""
        return self._rows.response if self._rows.used.all() else self._rows.response[self._rows.used]

    @property
    def weights(self) -> Array | None:
        """The weights of the used rows."""
        weight = self._rows.weight
        return weight if weight is None or self._rows.used.all() else weight[self._rows.used]

    def raw_blocks(self) -> Iterator[Block]:
        """Design, response and weight of the used rows, block by block, on their own scales."""
        every = bool(self._rows.used.all())
        for rows, matrix in self.design.blocks(self._rows.records):
            used = slice(None) if every else self._rows.used[rows]
            weight = None if self._rows.weight is None else self._rows.weight[rows][used]
            yield matrix[used], self._rows.response[rows][used], weight

    def blocks(self) -> Iterator[Block]:
        """Design, centred and scaled, response and weight."""
        if self._kept is not None:
            yield from self._kept
            return
        for matrix, response, weight in self.raw_blocks():
            yield self.standard(matrix), response, weight

    def standard(self, matrix: Array) -> Array:
        """Rows of the design, centred and scaled."""
        fresh: Array = np.subtract(matrix, self.means)
        return np.divide(fresh, self.scales, out=fresh)

    def constants(self, center: tuple[float, float]) -> Constants:
        """What a later fit takes over."""
        return Constants(self.means, self.scales, self.constant, center)

    def gram(self) -> Array:
        """X'WX of the standardized design."""
        width = len(self.labels)
        total = np.zeros((width, width))
        for design, _, weight in self.blocks():
            total += design.T @ (design if weight is None else design * weight[:, None])
        return total

    def _constants(self, kept: list[Block] | None) -> Constants:
        """Means, scales and which columns are constant, in one pass. The scale of a constant column is 1.

        Sums are taken of x less its mean over the first block: the plain formula cancels for large means.
        """
        width = len(self.labels)
        first, sums, squares = np.zeros(width), np.zeros(width), np.zeros(width)
        for place, (matrix, _, weight) in enumerate(self.raw_blocks() if kept is None else kept):
            if place == 0 and len(matrix):
                first = matrix.mean(axis=0)
            away = matrix - first
            if weight is None:
                sums += away.sum(axis=0)
                squares += np.einsum("ij,ij->j", away, away)
            else:
                sums += weight @ away
                squares += weight @ away**2
        count = max(self.rows, 1)
        means = first + sums / count
        spread = np.sqrt(np.maximum(squares / count - (sums / count) ** 2, 0.0))
        size = np.hypot(means, spread)
        constant = spread <= SAME * np.maximum(size, np.finfo(float).tiny)
        scales = np.where(constant | self.design.indicators, 1.0, spread)
        if not self.intercept:
            return Constants(np.zeros(width), scales, constant & (size == 0))
        means[0], constant[0] = 0.0, False
        return Constants(means, scales, constant)

    def center_and_deviation(self, transform: Callable[[Array], Array] | None = None) -> tuple[float, float]:
        """Median of the response and its median absolute deviation; the SD where half of the values are one."""
        response = self.responses if transform is None else transform(self.responses)
        center = _median(response, self.weights)
        deviation = _median(np.abs(response - center), self.weights)
        return center, deviation or float(response.std())

    def original(self, coefficients: Array) -> Array:
        """Coefficients on the scales of the data, of one linear predictor after the other."""  # (H, L p)
        width = len(self.labels)
        slopes: Array = coefficients.reshape(len(coefficients), -1, width) / self.scales
        if self.intercept:
            slopes = slopes.copy()
            slopes[:, :, 0] -= slopes[:, :, 1:] @ self.means[1:]
        return slopes.reshape(len(coefficients), -1)


def _median(values: Array, weight: Array | None) -> float:
    """The median of a column, of rows or of weighted cells."""
    if weight is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    low, high = (np.searchsorted(below, 0.5 * below[-1], side=side) for side in ("left", "right"))
    return float(0.5 * (values[order[min(low, len(order) - 1)]] + values[order[min(high, len(order) - 1)]]))
