"""Loops that numpy cannot say: the only importers of numba, each with a numpy twin that says the same slowly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stead.kernels import plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Index = NDArray[np.int32]
    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Kernels:
    """The kernels of matching, compiled or plain; numba is loaded by the first that needs it."""

    compiled: bool

    def within(
        self, group: Index, low: Floats, high: Floats, point_group: Index, points: Floats, groups: int
    ) -> Index:
        """How many points of its group lie in the box of each query; one to three coordinates."""
        if self.compiled:
            from stead.kernels import boxes

            return boxes.within(group, low, high, point_group, points, groups)
        return plain.within(group, low, high, point_group, points)

    def likeliest(
        self,
        group: Index,
        low: Floats,
        high: Floats,
        centre: Floats,
        limit: Floats,
        point_group: Index,
        points: Floats,
        scale: Floats,
        groups: int,
    ) -> tuple[Whole, Floats, Whole]:
        """How many points are in each region, and which are the likeliest over several sets; any number of coordinates."""
        region = group, low, high, centre, limit, point_group, points, scale
        if self.compiled:
            from stead.kernels import bits

            return bits.likeliest(*region, groups)
        return plain.likeliest(*region)

    def dense(self, numbers: Whole) -> tuple[Whole, int]:
        """Codes 0, 1, 2, ... of whole numbers, and how many there are."""
        if self.compiled:
            from stead.kernels import codes

            return codes.dense(numbers)
        return plain.dense(numbers)


def choose(*, compiled: bool) -> Kernels:
    """Compiled kernels where they are wanted and numba is there."""
    if compiled:
        from importlib.util import find_spec

        compiled = find_spec("numba") is not None
    return Kernels(compiled)
