"""The chart of a sensitivity: the expected matches by how many columns an intruder knows, for each scale of the radii.

A point is one subset of the known columns; lines join the worst subset of each size, since an intruder takes the best that he
can get. The axis is linear below one and logarithmic above.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from stead.report import look
from stead.report.axes import axis, vega_axis
from stead.report.placing import Box, text_mark
from stead.report.svg import SvgChart, chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEFT, RIGHT, TOP, BOTTOM = 64, 156, 34, 48
PIXELS, TALL = look.WIDTH - LEFT - RIGHT, look.HEIGHT - TOP - BOTTOM
APART = 17.0
"""Pixels between the names of two lines."""


def draw_sensitivity(measurement: Mapping[str, Any], _place: int = 0) -> SvgChart:
    """The picture of a `match_sensitivity` measurement."""
    settings = measurement["settings"]
    worst = settings[measurement["worst"]]
    scales = sorted({one["scale"] for one in settings})
    names = ", ".join(look.short(name, 110) for name in worst["known"][:4]) or "no column"
    more = f" and {len(worst['known']) - 4} more" if len(worst["known"]) > 4 else ""
    radius = f", radius × {look.tick(worst['scale'])}" if len(scales) > 1 else ""
    answer = (
        f"At most {look.number(measurement['value'])} expected matches of {look.count(measurement['rows'])} "
        f"(known: {names}{more}{radius}); the real file {look.number(worst['confidential'])}"
    )
    spec = _spec(settings, scales)
    return chart(
        spec,
        height=look.HEIGHT,
        title="How does the risk grow with what an intruder knows?",
        subtitle=f"{answer}.",
        alternative=f"{answer}. Lines of the worst subset by its size, for the release at each scale of the radius, for the real file, and for no leak. The numbers are in the table.",
        numbers=_numbers(settings, scales),
    )


def _numbers(settings: Sequence[Mapping[str, Any]], scales: Sequence[float]) -> dict[str, list[Any]]:
    """The whole table behind the picture."""
    table: dict[str, list[Any]] = {"known": [", ".join(one["known"]) or "nothing else" for one in settings]}
    if len(scales) > 1:
        table["radius ×"] = [one["scale"] for one in settings]
    columns = (("expected_match_risk", "release"), ("confidential", "real file"), ("zero_leak", "no leak"))
    return table | {
        words: [look.DASH if one[key] is None else one[key] for one in settings] for key, words in columns
    }


@dataclass(frozen=True)
class Line:
    """The worst subsets of each size: number of known columns and expected matches."""

    points: list[tuple[int, float]]
    name: str
    colour: str
    text: str
    dash: tuple[int, int] = (1, 0)
    shape: str = ""  # of a mark at each point

    def layers(self, encoding: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The line, and its marks."""
        stroke = {
            "type": "line",
            "stroke": look.LIGHT[self.colour],
            "strokeWidth": 2,
            "strokeDash": self.dash,
        }
        point = {
            "type": "point",
            "shape": self.shape,
            "filled": True,
            "size": 48,
            "opacity": 1,
            "fill": look.LIGHT[self.colour],
        }
        data = {"values": [{"x": x, "y": y} for x, y in self.points]}
        marks = [stroke, *([point] if self.shape else [])]
        return [{"data": data, "mark": mark, "encoding": encoding} for mark in marks]


def _lines(settings: Sequence[Mapping[str, Any]], scales: Sequence[float], own: float) -> list[Line]:
    """The release at each scale of the radii, and both references at one of them."""
    sizes = sorted({len(one["known"]) for one in settings})

    def radius(scale: float) -> str:
        return f", radius × {look.tick(scale)}" if len(scales) > 1 else ""

    lines = [
        Line(
            _worst(settings, sizes, scale, "expected_match_risk"),
            f"{'release' if scale == own else ''}{radius(scale)}".lstrip(", "),
            "synthetic" if scale == own else "synthetic-pale",
            "synthetic-text",
            (6, 4),
        )
        for scale in scales
    ]
    real = _worst(settings, sizes, own, "confidential")
    lines.append(Line(real, "real file", "confidential", "confidential", shape="circle"))
    lines.append(Line(_worst(settings, sizes, own, "zero_leak"), "no leak", "reference", "quiet", (3, 3)))
    return [line for line in lines if line.points]


def _spec(settings: Sequence[Mapping[str, Any]], scales: Sequence[float]) -> dict[str, Any]:
    """Points of all subsets, the lines of the worst, and their names at the right end."""
    own = 1.0 if 1.0 in scales else scales[len(scales) // 2]
    lines = _lines(settings, scales, own)
    sizes = [float(size) for size, _ in lines[0].points]
    most = max(value for line in lines for _, value in line.points)
    across = axis("linear", sizes[0] - 0.2, sizes[-1] + 0.2, PIXELS)
    down = axis("log", 0, 1.15 * most or 1, TALL, 1.0)
    columns = vega_axis(sizes, title="columns known, beside the synthesized ones")
    encoding = {
        "x": {"field": "x", "type": "quantitative", "scale": across.scale(), "axis": columns},
        "y": {"field": "y", "type": "quantitative", "scale": down.scale(), "axis": vega_axis(down.ticks())},
    }
    subsets = [(len(one["known"]), one["expected_match_risk"]) for one in settings if one["scale"] == own]
    drawn = Line(subsets, "", "synthetic", "synthetic-text", shape="square").layers(encoding)[1:]
    layers = [layer for line in lines for layer in line.layers(encoding)] + drawn
    words = "expected matches, log scale above 1"
    layers.append(text_mark(words, Box.starting(-LEFT + 12, -20), look.LIGHT["quiet"]))
    heights = _spread([TALL - down.position(line.points[-1][1]) for line in lines])
    for line, y in zip(lines, heights, strict=True):
        layers.append(text_mark(line.name, Box.starting(PIXELS + 6, y), look.LIGHT[line.text]))
    padding = {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM}
    data: dict[str, Any] = {"values": [{}]}  # for the texts, one row
    return {"width": PIXELS, "height": TALL, "padding": padding, "data": data, "layer": layers}


def _worst(
    settings: Sequence[Mapping[str, Any]], sizes: Sequence[int], scale: float, key: str
) -> list[tuple[int, float]]:
    """For each number of known columns the highest value of its subsets; nothing where one is not available."""
    points = []
    for size in sizes:
        values = [one[key] for one in settings if len(one["known"]) == size and one["scale"] == scale]
        if any(value is None for value in values):
            return []
        points.append((size, max(values)))
    return points


def _spread(heights: Sequence[float]) -> list[float]:
    """Heights of names, moved apart where they are nearer than a line of text, and kept within the panel."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    placed = [heights[place] for place in order]
    for upper, lower in pairwise(range(len(placed))):
        placed[lower] = max(placed[lower], placed[upper] + APART)
    beyond = max(0.0, placed[-1] - TALL)
    placed[-1] -= beyond
    for lower, upper in pairwise(reversed(range(len(placed)))):
        placed[upper] = min(placed[upper], placed[lower] - APART)
    return [height for _, height in sorted(zip(order, placed, strict=True))]
