"""One line above a plot that names its marks or lines, for groups too close together to be named where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.report import look
from stead.report.placing import Box, text_mark

if TYPE_CHECKING:
    from collections.abc import Sequence

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES: tuple[list[int], ...] = ([1, 0], [8, 3], [4, 3], [8, 3, 2, 3], [2, 3], [1, 2])
STRENGTHS = (1.0, 0.85, 0.75, 0.65, 0.6, 0.55)
ABOVE, GAP, SAMPLE = -18.0, 15.0, 24.0


def key_of_marks(names: Sequence[str], title: str) -> list[dict[str, Any]]:
    """A mark and a name for each group."""
    layers, x = _title(title)
    for place, name in enumerate(names):
        layers.append(
            {
                "data": {"values": [{}]},
                "mark": mark_of(place),
                "encoding": {"x": {"value": x + 5}, "y": {"value": ABOVE}},
            }
        )
        layers.append(_words(name, x + 14))
        x += 14 + look.width(name) + GAP
    return layers


def key_of_lines(names: Sequence[str], title: str) -> list[dict[str, Any]]:
    """A piece of line and a name for each group."""
    layers, x = _title(title)
    for place, name in enumerate(names):
        layers.append(
            {
                "data": {"values": [{}]},
                "mark": line_of(place),
                "encoding": {"x": {"value": x}, "x2": {"value": x + SAMPLE}, "y": {"value": ABOVE}},
            }
        )
        layers.append(_words(name, x + SAMPLE + 4))
        x += SAMPLE + 4 + look.width(name) + GAP
    return layers


def mark_of(place: int, *, hollow: bool = False) -> dict[str, Any]:
    """The mark of a group; hollow for what is of another kind."""
    colour, strength = look.LIGHT["confidential"], STRENGTHS[place % len(STRENGTHS)]
    return {
        "type": "point",
        "shape": SHAPES[place % len(SHAPES)],
        "filled": not hollow,
        "size": 60,
        "opacity": strength,
        **({"stroke": colour, "strokeWidth": 1.5} if hollow else {"fill": colour}),
    }


def line_of(place: int) -> dict[str, Any]:
    """The line of a group."""
    return {
        "type": "rule",
        "stroke": look.LIGHT["confidential"],
        "strokeWidth": 1.5,
        "strokeDash": DASHES[place % len(DASHES)],
        "opacity": STRENGTHS[place % len(STRENGTHS)],
    }


def _title(title: str) -> tuple[list[dict[str, Any]], float]:
    return ([_words(title, 0)], look.width(title) + 10) if title else ([], 0.0)


def _words(words: str, x: float) -> dict[str, Any]:
    return {"data": {"values": [{}]}, **text_mark(words, Box.starting(x, ABOVE), look.LIGHT["text"])}
