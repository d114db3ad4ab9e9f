"""The chart of identification risk: how many records are found again, beside the real file and beside chance.

Counts of records on an axis that is linear below one and logarithmic above: the real file is often a hundred times as far
as chance, and a count may be zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.report import look
from stead.report.axes import axis, vega_axis
from stead.report.placing import Box, text_mark
from stead.report.svg import SvgChart, chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MEASURES = (
    ("expected_match_risk", "expected matches"),
    ("unique_matches", "unique matches"),
    ("true_match_rate", "of them right"),
)
FILES = (
    ("confidential", "real file", "confidential", "circle"),
    ("release", "release", "synthetic", "square"),
    ("zero_leak", "no leak", "reference", "diamond"),
)
GUTTER, RIGHT, TOP, BOTTOM, ROW, LINE = 158, 66, 34, 46, 76, 20


def draw_matches(measurement: Mapping[str, Any], _place: int = 0) -> SvgChart:
    """The picture of a `match_risk` measurement."""
    rows = measurement["rows"]
    held = {**measurement["baselines"], "release": measurement}
    values = {file: [_count(held[file], key, rows) for key, _ in MEASURES] for file, *_ in FILES}
    wrong, chance = measurement["false_match_rate"], values["zero_leak"][0]
    answer = f"{look.number(measurement['value'])} expected matches; the real file {look.number(values['confidential'][0])}"
    answer += "" if chance is None else f", no leak {look.number(chance)}"
    answer += "" if wrong is None else f". Of unique matches {look.number(100 * wrong)} % are wrong"
    spec, height = _spec(values)
    return chart(
        spec,
        height=height,
        title=f"How many of {look.count(rows)} records would an intruder find again?",
        subtitle=f"{answer}.",
        alternative=f"{answer}. Three rows of three marks each: the real file, the release, and a release without any leak. The numbers are in the table.",
        numbers={
            "measure": [words for _, words in MEASURES],
            **{
                words: [look.DASH if one is None else one for one in values[file]]
                for file, words, *_ in FILES
            },
        },
    )


def _count(figures: Mapping[str, Any], key: str, rows: int) -> float | None:
    """A figure as a number of records."""
    value = figures.get(key)
    return None if value is None else float(value) * (rows if key.endswith("rate") else 1)


def _spec(values: Mapping[str, Sequence[float | None]]) -> tuple[dict[str, Any], int]:
    """A row for each measure, in it a line for each file: the mark, and its number beside it."""
    across, bottom = look.WIDTH - GUTTER - RIGHT, ROW * len(MEASURES)
    most = max(one for row in values.values() for one in row if one is not None)
    scale = axis("log", 0, 1.1 * most or 1, across, 1.0)
    ticks = vega_axis(scale.ticks(), title="records, log scale above 1")
    points: list[dict[str, Any]] = []
    layers: list[dict[str, Any]] = []
    for place, (_, words) in enumerate(MEASURES):
        middle = ROW * (place + 0.5)
        layers.append(
            text_mark(words, Box(-GUTTER, middle - 9, -12, middle + 9), look.LIGHT["text"], align="right")
        )
        for line, (file, *_) in enumerate(FILES):
            value, y = values[file][place], middle + LINE * (line - 1)
            if value is not None:
                points.append({"file": file, "x": value, "y": y})
                beside = Box.starting(scale.position(value) + 10, y)
                layers.append(text_mark(look.number(value), beside, look.LIGHT["text"], look.TICK_SIZE))
    edges = {
        "data": {"values": [{"edge": ROW * place} for place in range(len(MEASURES) + 1)]},
        "mark": {"type": "rule", "stroke": look.LIGHT["grid"]},
        "encoding": {"x": {"value": 0}, "x2": {"value": across}, "y": _pixel("edge")},
    }
    marks = [
        {
            "data": {"values": [point for point in points if point["file"] == file]},
            "mark": _mark(colour, shape),
            "encoding": {
                "x": {"field": "x", "type": "quantitative", "scale": scale.scale(), "axis": ticks},
                "y": _pixel("y"),
            },
        }
        for file, _, colour, shape in FILES
    ]
    padding = {"left": GUTTER, "right": RIGHT, "top": TOP, "bottom": BOTTOM}
    layers = [edges, *marks, *layers, *_key({point["file"] for point in points})]
    data: dict[str, Any] = {"values": [{}]}  # for the texts, one row
    spec = {"width": across, "height": bottom, "padding": padding, "data": data, "layer": layers}
    return spec, TOP + bottom + BOTTOM


def _key(drawn: set[str]) -> list[dict[str, Any]]:
    """One line above the rows that names the marks that are there."""
    layers: list[dict[str, Any]] = []
    x, y = 0.0, -18
    for _, words, colour, shape in (file for file in FILES if file[0] in drawn):
        places = {"x": {"value": x + 6}, "y": {"value": y}}
        layers.append({"mark": _mark(colour, shape), "encoding": places})
        layers.append(text_mark(words, Box.starting(x + 16, y), look.LIGHT["text"]))
        x += look.width(words) + 40
    return layers


def _mark(colour: str, shape: str) -> dict[str, Any]:
    return {
        "type": "point",
        "shape": shape,
        "filled": True,
        "size": 64,
        "opacity": 1,
        "fill": look.LIGHT[colour],
    }


def _pixel(name: str) -> dict[str, Any]:
    """A height that is in pixels already."""
    return {"field": name, "type": "quantitative", "scale": None, "axis": None}
