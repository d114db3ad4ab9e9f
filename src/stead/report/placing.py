"""Where a label can stand in a chart: beside its curve, on no other curve, on no other label."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.report import look

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Line = tuple[NDArray[np.float64], NDArray[np.float64]]  # pixels from the left, pixels from the top

TALL = 18.0
BEYOND = 40.0  # pixels by which a name on the wrong side of another curve counts as farther


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels of a panel."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def starting(cls, x: float, y: float) -> Box:
        """The box of a line of text that begins at x and has its middle at y."""
        return cls(x, y - TALL / 2, x, y + TALL / 2)

    def overlaps(self, other: Box) -> bool:
        """Whether two boxes share a point."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)

    def inside(self, frame: Box) -> bool:
        """Whether the box lies within the frame."""
        wide = frame.left <= self.left and self.right <= frame.right
        return wide and frame.top <= self.top and self.bottom <= frame.bottom

    def meets(self, line: Line) -> bool:
        """Whether a line runs through: over these columns it takes every height between its extremes."""
        x, y = line
        if self.right < x[0] or self.left > x[-1]:
            return False
        ends = np.interp([self.left, self.right], x, y)
        heights = np.concatenate([ends, y[(x >= self.left) & (x <= self.right)]])
        return bool(heights.min() <= self.bottom and heights.max() >= self.top)


def place(
    words: str,
    along: Line,
    lines: Sequence[Line],
    taken: Sequence[Box],
    frame: Box,
    rival: Line | None = None,
) -> Box:
    """The free box nearest to the line `along`; if none is free, the one that meets the fewest lines.

    Two curves can be so close that a name beyond the `rival` is still near its own; it would be read
    as the name of the other, and counts as far away.
    """
    wide = look.width(words) + 6
    lefts = np.linspace(frame.left, frame.right - wide, 48)
    tops = np.linspace(frame.top, frame.bottom - TALL, 28)
    boxes = [Box(x, y, x + wide, y + TALL) for x, y in product(lefts, tops)]
    apart = [box for box in boxes if not any(box.overlaps(other) for other in taken)]
    free = [box for box in apart if not any(box.meets(line) for line in lines)]

    def cost(box: Box) -> float:
        own = _distance(box, along)
        return own + (BEYOND if rival is not None and _distance(box, rival) < own else 0.0)

    if free:
        return min(free, key=cost)
    return min(apart or boxes, key=lambda box: sum(box.meets(line) for line in lines))


def _distance(box: Box, line: Line) -> float:
    """From the box to the nearest point of a line, and a little for points near the ends, where curves meet."""
    x, y = line
    steps = np.linspace(0, len(x) - 1, 200)
    x, y = np.interp(steps, np.arange(len(x)), x), np.interp(steps, np.arange(len(y)), y)
    across = np.maximum(np.maximum(box.left - x, x - box.right), 0)
    down = np.maximum(np.maximum(box.top - y, y - box.bottom), 0)
    crowded = 0.15 * np.abs(y - y.mean()) if len(x) > 1 else 0
    return float((np.hypot(across, down) + crowded).min())


def text_mark(
    words: str, box: Box, colour: str, size: int = look.TEXT_SIZE, align: str = "left"
) -> dict[str, Any]:
    """A line of text as a layer, in pixels of its panel; a box is wider than most fonts need."""
    margin = 3 if box.right > box.left else 0
    return {
        "mark": {"type": "text", "align": align, "fill": colour, "fontSize": size},
        "encoding": {
            "x": {"value": box.left + margin if align == "left" else box.right - margin},
            "y": {"value": (box.top + box.bottom) / 2},
            "text": {"value": look.clean(words)},
        },
    }
