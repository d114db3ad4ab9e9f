"""The chart of risk against utility: one mark for each release, in groups such as the epsilon it was made with.

Hollow marks are of releases whose risk is that of another value than the others'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.report import look
from stead.report.axes import Axis, axis, vega_axis
from stead.report.keys import key_of_marks, mark_of
from stead.report.placing import Box, text_mark
from stead.report.svg import SvgChart, chart

if TYPE_CHECKING:
    from collections.abc import Mapping

LEFT, RIGHT, TOP, BOTTOM = 72, 24, 34, 48
ACROSS, DOWN = look.WIDTH - LEFT - RIGHT, look.HEIGHT - TOP - BOTTOM
MARGIN = 0.06


def draw_tradeoff(measurement: Mapping[str, Any], _place: int = 0) -> SvgChart:
    """`aggregates`: points (utility, risk, group, hollow), groups, and the names of the axes and of the groups."""
    held = measurement["aggregates"]
    points, groups = held["points"], [str(group) for group in held["groups"]]
    reference = measurement["reference"]
    risks = [point["risk"] for point in points] + ([] if reference is None else [reference])
    across = _axis([point["utility"] for point in points], ACROSS)
    up = _axis(risks, DOWN)
    layers = [_group(points, group, place, across, up, held) for place, group in enumerate(groups)]
    if any(point.get("hollow") for point in points):
        layers += [
            _group(points, group, place, across, up, held, hollow=True) for place, group in enumerate(groups)
        ]
    layers += key_of_marks(groups, str(held.get("group_name", "")))
    answer = f"The largest risk is {look.number(measurement['value'])}"
    if reference is not None:
        words = f"{look.clean(measurement['reference_name'])} {look.number(reference)}"
        answer += f"; {words}"
        layers += _reference(DOWN - up.position(reference), words, _taken(points, across, up))
    if note := held.get("hollow_name"):
        answer += f". Hollow: {look.clean(str(note))}"
    return chart(
        {
            "width": ACROSS,
            "height": DOWN,
            "padding": {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
            "data": {"values": [{}]},
            "layer": layers,
        },
        height=look.HEIGHT,
        title=str(held.get("title", "What does it cost to lower the risk?")),
        subtitle=f"{answer}.",
        alternative=f"{answer}. A mark for each of {look.count(len(points))} releases. The numbers are in the table.",
        numbers={
            str(held.get("group_name", "group")): [str(point["group"]) for point in points],
            "utility": [point["utility"] for point in points],
            "risk": [point["risk"] for point in points],
        },
    )


def _axis(values: list[float], pixels: float) -> Axis:
    low, high = min(values), max(values)
    margin = MARGIN * (high - low) or 0.05
    return axis("linear", low - margin, high + margin, pixels)


def _group(
    points: list[dict[str, Any]],
    group: str,
    place: int,
    across: Axis,
    up: Axis,
    held: Mapping[str, Any],
    *,
    hollow: bool = False,
) -> dict[str, Any]:
    own = [
        {"utility": point["utility"], "risk": point["risk"]}
        for point in points
        if str(point["group"]) == group and bool(point.get("hollow")) == hollow
    ]
    return {
        "data": {"values": own},
        "mark": mark_of(place, hollow=hollow),
        "encoding": {
            "x": {
                "field": "utility",
                "type": "quantitative",
                "scale": across.scale(),
                "axis": vega_axis(across.ticks(), title=look.clean(str(held["utility_name"]))),
            },
            "y": {
                "field": "risk",
                "type": "quantitative",
                "scale": up.scale(),
                "axis": vega_axis(up.ticks(), title=look.clean(str(held["risk_name"]))),
            },
        },
    }


def _taken(points: list[dict[str, Any]], across: Axis, up: Axis) -> list[Box]:
    """Where the marks are."""
    return [
        Box(x - 6, y - 6, x + 6, y + 6)
        for x, y in (
            (across.position(point["utility"]), DOWN - up.position(point["risk"])) for point in points
        )
    ]


def _reference(height: float, words: str, taken: list[Box]) -> list[dict[str, Any]]:
    """A dashed line, named where no mark is: above or below it, as far to the right as that goes."""
    wide = look.width(words) + 6
    boxes = [
        Box(left, top, left + wide, top + 18)
        for left in range(int(ACROSS - wide), 0, -20)
        for top in (height - 27, height + 9)
    ]
    frame = Box(0, 0, ACROSS, DOWN)
    free = [box for box in boxes if box.inside(frame)] or boxes
    box = min(free, key=lambda one: sum(one.overlaps(other) for other in taken))
    rule = {"type": "rule", "stroke": look.LIGHT["reference"], "strokeDash": [4, 3], "strokeWidth": 1.5}
    places = {"x": {"value": 0}, "x2": {"value": ACROSS}, "y": {"value": height}}
    return [
        {"data": {"values": [{}]}, "mark": rule, "encoding": places},
        {"data": {"values": [{}]}, **text_mark(words, box, look.LIGHT["quiet"])},
    ]
