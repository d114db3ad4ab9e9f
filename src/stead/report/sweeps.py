"""Charts of every prior: relative against absolute risk with the acceptance region, and the share outside under each prior.

For a record with B the line is RR = B - (B - 1) R; a prior near 0 is its left end and one near 1 its right end.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from stead.report import look
from stead.report.axes import Axis, axis, vega_axis
from stead.report.keys import key_of_lines, line_of
from stead.report.placing import Box, text_mark
from stead.report.svg import SvgChart, chart
from stead.risk.region import Region

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEFT, RIGHT, TOP, BOTTOM = 72, 24, 34, 48
ACROSS, DOWN = look.WIDTH - LEFT - RIGHT, look.HEIGHT - TOP - BOTTOM
HATCH = 12
TITLE = "Which records could a prior take out of the acceptance region?"


def draw_sweep(measurement: Mapping[str, Any], place: int = 0) -> SvgChart:
    """`aggregates`: lines (factor, group), the region; and, where there are records, the share outside under each prior."""
    return _shares(measurement) if place else _lines(measurement)


def _lines(measurement: Mapping[str, Any]) -> SvgChart:
    held = measurement["aggregates"]
    lines = held["lines"]
    groups = list(dict.fromkeys(str(line["group"]) for line in lines))
    across = axis("linear", 0.0, 1.0, ACROSS)
    up = _relative([float(line["factor"]) for line in lines])
    layers: list[dict[str, Any]] = []
    if held.get("region"):
        layers += _region(Region(held["region"]), across, up)
    layers.append(_frame(across, up))
    layers += [_group(lines, group, place, up) for place, group in enumerate(groups)]
    layers += key_of_lines(groups, str(held.get("group_name", "")))
    answer = f"{look.number(100 * measurement['value'])} % of the {held.get('unit', 'records')} leave it under some prior"
    if held.get("region"):
        answer += "; the accepted region is hatched"
    return chart(
        {
            "width": ACROSS,
            "height": DOWN,
            "padding": {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
            "data": {"values": [{}]},
            "layer": layers,
        },
        height=look.HEIGHT,
        title=str(held.get("title", TITLE)),
        subtitle=f"{answer}.",
        alternative=f"{answer}. Straight lines from the relative risk under a prior near 0 to 1 at the right. The numbers are in the table.",
        numbers={
            "line": [str(line["group"]) for line in lines],
            "B, relative risk at a prior near 0": [float(line["factor"]) for line in lines],
        },
    )


def _shares(measurement: Mapping[str, Any]) -> SvgChart:
    rows = measurement["aggregates"]["share_by_prior"]
    across = axis("linear", 0.0, 1.0, ACROSS)
    up = axis("linear", 0.0, 1.08 * max(row["share"] for row in rows) or 1.0, DOWN)
    worst = max(rows, key=lambda row: row["share"])
    answer = f"At most {look.number(100 * worst['share'])} % of the records, under a prior of {look.number(worst['prior'])}"
    encoding = {
        "x": {
            "field": "prior",
            "type": "quantitative",
            "scale": across.scale(),
            "axis": vega_axis(across.ticks(), title="prior probability of the true value"),
        },
        "y": {
            "field": "share",
            "type": "quantitative",
            "scale": up.scale(),
            "axis": vega_axis(up.ticks(), title="share of records outside the region"),
        },
    }
    mark = {"type": "line", "stroke": look.LIGHT["confidential"], "strokeWidth": 2}
    return chart(
        {
            "width": ACROSS,
            "height": DOWN,
            "padding": {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
            "data": {"values": rows},
            "layer": [{"mark": mark, "encoding": encoding}],
        },
        height=look.HEIGHT,
        title="Under which priors do records leave the acceptance region?",
        subtitle=f"{answer}.",
        alternative=f"{answer}. The numbers are in the table.",
        numbers={key: [row[key] for row in rows] for key in ("prior", "share")},
    )


def _relative(factors: Sequence[float]) -> Axis:
    """From a little under the lowest line to a little over the highest."""
    low, high = min(1.0, *factors, 1.0), max(1.0, *factors, 1.0)
    margin = 0.06 * (high - low) or 0.05
    return axis("linear", max(0.0, low - margin), high + margin, DOWN)


def _frame(across: Axis, up: Axis) -> dict[str, Any]:
    """Both axes, on a point that is not seen."""
    return {
        "mark": {"type": "point", "opacity": 0},
        "encoding": {
            "x": {
                "datum": 0,
                "type": "quantitative",
                "scale": across.scale(),
                "axis": vega_axis(across.ticks(), title="R, probability of the true value"),
            },
            "y": {
                "datum": up.low,
                "type": "quantitative",
                "scale": up.scale(),
                "axis": vega_axis(up.ticks(), title="RR, beside the prior probability"),
            },
        },
    }


def _group(lines: Sequence[Mapping[str, Any]], group: str, place: int, up: Axis) -> dict[str, Any]:
    rows = [
        {
            "x": 0.0,
            "x2": float(ACROSS),
            "y": DOWN - up.position(float(line["factor"])),
            "y2": DOWN - up.position(1.0),
        }
        for line in lines
        if str(line["group"]) == group
    ]
    return {"data": {"values": rows}, "mark": line_of(place), "encoding": _pixels("x", "y", "x2", "y2")}


def _region(region: Region, across: Axis, up: Axis) -> list[dict[str, Any]]:
    """The accepted part of the plane: the rectangles between the bounds of the rule, pale and hatched."""
    bounds = {
        name: [float(one.bound) for one in region.comparisons if one.name == name] for name in ("R", "RR")
    }
    columns = [across.low, *sorted(b for b in set(bounds["R"]) if across.low < b < across.high), across.high]
    heights = [up.low, *sorted(b for b in set(bounds["RR"]) if up.low < b < up.high), up.high]
    boxes = [
        Box(across.position(left), DOWN - up.position(high), across.position(right), DOWN - up.position(low))
        for left, right in pairwise(columns)
        for low, high in pairwise(heights)
        if region.contains((left + right) / 2, (low + high) / 2)
    ]
    areas = [{"x": box.left, "x2": box.right, "y": box.top, "y2": box.bottom} for box in boxes]
    strokes = [stroke for box in boxes for stroke in _hatched(box)]
    pale = {"type": "rect", "fill": look.LIGHT["accept"], "strokeWidth": 0}
    hatch = {"type": "rule", "stroke": look.LIGHT["accept-line"], "strokeWidth": 1}
    layers = [
        {"data": {"values": areas}, "mark": pale, "encoding": _pixels("x", "y", "x2", "y2")},
        {"data": {"values": strokes}, "mark": hatch, "encoding": _pixels("x", "y", "x2", "y2")},
    ]
    if boxes:
        largest = max(boxes, key=lambda box: (box.right - box.left) * (box.bottom - box.top))
        layers.append(_named("accepted", largest))
    return layers


def _named(words: str, inside: Box) -> dict[str, Any]:
    """A word in the corner of a rectangle that is least likely to meet a line: its lower left where it is tall."""
    wide = look.width(words) + 6
    left = (
        inside.left + 4 if inside.right - inside.left < 2 * wide else (inside.left + inside.right - wide) / 2
    )
    box = Box(left, inside.bottom - 20, left + wide, inside.bottom - 2)
    return {"data": {"values": [{}]}, **text_mark(words, box, look.LIGHT["quiet"])}


def _hatched(box: Box) -> list[dict[str, float]]:
    """Parallel strokes at 45 degrees, on one grid for all rectangles, cut at the edges of this one."""
    strokes = []
    first, last = int((box.left + box.top) // HATCH), int((box.right + box.bottom) // HATCH) + 1
    for step in range(first, last + 1):
        total = step * HATCH  # x + y
        left, right = max(box.left, total - box.bottom), min(box.right, total - box.top)
        if right > left:
            strokes.append({"x": left, "y": total - left, "x2": right, "y2": total - right})
    return strokes


def _pixels(*names: str) -> dict[str, Any]:
    """Places that are in pixels already."""
    return {
        name: {"field": name}
        if name.endswith("2")
        else {"field": name, "type": "quantitative", "scale": None, "axis": None}
        for name in names
    }
