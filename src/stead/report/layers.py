"""The layers that charts are put together from, in pixels of their panel: lines, bands, points, words.

Vega's own scales are used where an axis needs them; a layer whose place is worked out here says so by a scale of None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.report import look
from stead.report.placing import Box, text_mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Points = Iterable[tuple[float, float]]


def pixel(name: str) -> dict[str, Any]:
    """A place that is in pixels already."""
    return {"field": name, "type": "quantitative", "scale": None, "axis": None}


def polyline(points: Points, colour: str, *, width: float = 2, dash: Sequence[int] = ()) -> dict[str, Any]:
    """A line through points."""
    mark: dict[str, Any] = {"type": "line", "stroke": look.LIGHT[colour], "strokeWidth": width}
    if dash:
        mark["strokeDash"] = list(dash)
    return {
        "data": {"values": [{"x": x, "y": y, "at": place} for place, (x, y) in enumerate(points)]},
        "mark": mark,
        "encoding": {"x": pixel("x"), "y": pixel("y"), "order": {"field": "at", "type": "quantitative"}},
    }


def band(tops: Points, bottoms: Iterable[float], colour: str) -> dict[str, Any]:
    """The area between two lines."""
    values = [{"x": x, "y": y, "y2": y2} for (x, y), y2 in zip(tops, bottoms, strict=True)]
    return {
        "data": {"values": values},
        "mark": {"type": "area", "fill": look.LIGHT[colour], "opacity": 1},
        "encoding": {"x": pixel("x"), "y": pixel("y"), "y2": {"field": "y2"}},
    }


def rule(left: float, right: float, y: float, colour: str, *, dash: Sequence[int] = ()) -> dict[str, Any]:
    """A horizontal line."""
    mark: dict[str, Any] = {"type": "rule", "stroke": look.LIGHT[colour]}
    if dash:
        mark["strokeDash"] = list(dash)
    return {
        "data": {"values": [{}]},
        "mark": mark,
        "encoding": {"x": {"value": left}, "x2": {"value": right}, "y": {"value": y}},
    }


def points(places: Points, colour: str, shape: str, size: int = 64) -> dict[str, Any]:
    """Filled marks."""
    return {
        "data": {"values": [{"x": x, "y": y} for x, y in places]},
        "mark": dot(colour, shape, size),
        "encoding": {"x": pixel("x"), "y": pixel("y")},
    }


def dot(colour: str, shape: str, size: int = 64) -> dict[str, Any]:
    """The mark of a point."""
    return {
        "type": "point",
        "shape": shape,
        "filled": True,
        "size": size,
        "opacity": 1,
        "fill": look.LIGHT[colour],
    }


def words(text: str, x: float, y: float, colour: str = "text", size: int = look.TEXT_SIZE) -> dict[str, Any]:
    """A line of text that begins at x and has its middle at y."""
    return {"data": {"values": [{}]}, **text_mark(text, Box.starting(x, y), look.LIGHT[colour], size)}


def centred(
    text: str, x: float, y: float, colour: str = "quiet", size: int = look.TICK_SIZE
) -> dict[str, Any]:
    """A line of text around x."""
    mark = {"type": "text", "align": "center", "fill": look.LIGHT[colour], "fontSize": size}
    return {
        "data": {"values": [{}]},
        "mark": mark,
        "encoding": {"x": {"value": x}, "y": {"value": y}, "text": {"value": look.clean(text)}},
    }


def outside_marks(places: Points) -> dict[str, Any]:
    """Triangles for what lies outside a limit: told by shape as well as by colour."""
    return points(places, "warn", "triangle-up", 60)


def key(entries: Sequence[tuple[str, str, str]], left: float, y: float = -18) -> list[dict[str, Any]]:
    """A line above a chart that names its marks: each entry is a shape (or bar, line, dash), a colour, words."""
    layers: list[dict[str, Any]] = []
    x = left
    for shape, colour, text in entries:
        if shape in {"line", "dash"}:
            layers.append(rule(x, x + 20, y, colour, dash=(6, 4) if shape == "dash" else ()))
            layers[-1]["mark"]["strokeWidth"] = 2
            wide = 20
        elif shape == "bar":
            layers.append(band([(x, y - 5), (x + 20, y - 5)], [y + 5, y + 5], colour))
            wide = 20
        else:
            layers.append(points([(x + 6, y)], colour, shape))
            wide = 12
        layers.append(words(text, x + wide + 4, y))
        x += wide + look.width(text) + 16
    return layers
