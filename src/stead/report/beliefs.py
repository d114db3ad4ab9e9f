"""The charts of attribute risk: how probable the truth is, which rank it has, and what becomes of unusual records.

Each stands beside the line of no information, 1/G. Counts of records only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.report import look
from stead.report.axes import axis, vega_axis
from stead.report.placing import Box, text_mark
from stead.report.svg import SvgChart, chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEFT, RIGHT, TOP, BOTTOM = 72, 24, 34, 48
ACROSS, DOWN = look.WIDTH - LEFT - RIGHT, look.HEIGHT - TOP - BOTTOM
MOST_RANKS = 24


def draw_beliefs(measurement: Mapping[str, Any], place: int = 0) -> SvgChart:
    """One of the three pictures."""
    return (_probabilities, _ranks, _unusual)[place](measurement)


def _target(measurement: Mapping[str, Any]) -> str:
    return look.short(", ".join(map(str, measurement["target"])), 220)


def _probabilities(measurement: Mapping[str, Any]) -> SvgChart:
    held = measurement["aggregates"]
    counts, edges = held["probability"]["counts"], held["probability"]["edges"]
    no_information = float(held["no_information"])
    total = sum(counts)
    answer = (
        f"Mean {look.number(measurement['value'])} over {look.count(total)} records; "
        f"no information: {look.number(no_information)}"
    )
    rows = [
        {"low": low, "high": high, "share": count / total}
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    ends = min(edges[0], no_information), max(edges[-1], no_information)
    margin = 0.03 * (ends[1] - ends[0])
    across = axis("linear", max(0.0, ends[0] - margin), min(1.0, ends[1] + margin), ACROSS)
    up = axis("linear", 0.0, 1.08 * max(row["share"] for row in rows), DOWN)
    layers = [
        _bars("low", "high", across, up, "probability of the true value", "share of records"),
        *_reference(across.position(no_information), f"no information {look.number(no_information)}"),
    ]
    return _picture(
        layers,
        {"values": rows},
        title=f"How probable does the intruder find the true {_target(measurement)}?",
        answer=answer,
        numbers={
            "from": [row["low"] for row in rows],
            "to": [row["high"] for row in rows],
            "records": list(counts),
        },
    )


def _ranks(measurement: Mapping[str, Any]) -> SvgChart:
    counts = list(measurement["aggregates"]["rank"])
    guesses, total = len(counts), sum(counts)
    shown = counts[:MOST_RANKS]
    rows = [
        {"low": place + 0.6, "high": place + 1.4, "share": count / total} for place, count in enumerate(shown)
    ]
    even = 1.0 / guesses
    across = axis("linear", 0.4, len(shown) + 0.6, ACROSS)
    up = axis("linear", 0.0, 1.08 * max(even, *(row["share"] for row in rows)), DOWN)
    answer = f"The truth is the most probable guess for {look.number(counts[0] / total)} of {look.count(total)} records; by chance: {look.number(even)}"
    height = DOWN - DOWN * even / up.high
    layers = [
        _bars(
            "low",
            "high",
            across,
            up,
            "rank of the true value, 1 is the most probable",
            "share of records",
        ),
        {
            "data": {"values": [{}]},
            "mark": {
                "type": "rule",
                "stroke": look.LIGHT["reference"],
                "strokeDash": [4, 3],
                "strokeWidth": 1.5,
            },
            "encoding": {"x": {"value": 0}, "x2": {"value": ACROSS}, "y": {"value": height}},
        },
    ]
    return _picture(
        layers,
        {"values": rows},
        title=f"Which rank has the true {_target(measurement)} among the guesses?",
        answer=answer,
        numbers={"rank": list(range(1, guesses + 1)), "records": counts},
        key=f"dashed: by chance, {look.number(even)} each",
    )


def _unusual(measurement: Mapping[str, Any]) -> SvgChart:
    held = measurement["aggregates"]
    groups, no_information = held["outlying"], float(held["no_information"])
    if not groups:
        groups = [{"group": 1.0, **dict.fromkeys(("low", "median", "high"), measurement["value"])}]
    rows = [dict(group) for group in groups]
    across = axis("linear", 0.5, len(rows) + 0.5, ACROSS)
    up = axis("linear", 0.0, min(1.0, 1.1 * max(no_information, *(row["high"] for row in rows))), DOWN)
    last = rows[-1]
    answer = (
        f"Median {look.number(rows[0]['median'])} among the most usual tenth, {look.number(last['median'])} among the most unusual; "
        f"no information: {look.number(no_information)}"
    )
    x = {
        "field": "group",
        "type": "quantitative",
        "scale": across.scale(),
        "axis": vega_axis(
            [1.0, float(len(rows))] if len(rows) > 1 else [1.0],
            title="tenths of the records, from the most usual to the most unusual",
        ),
    }
    y = {
        "type": "quantitative",
        "scale": up.scale(),
        "axis": vega_axis(up.ticks(), title="probability of the true value"),
    }
    height = DOWN - DOWN * no_information / up.high
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "rule", "stroke": look.LIGHT["confidential"], "strokeWidth": 2},
            "encoding": {"x": x, "y": {"field": "low", **y}, "y2": {"field": "high"}},
        },
        {
            "mark": {
                "type": "point",
                "shape": "circle",
                "filled": True,
                "size": 64,
                "opacity": 1,
                "fill": look.LIGHT["confidential"],
            },
            "encoding": {"x": x, "y": {"field": "median", **y}},
        },
        {
            "data": {"values": [{}]},
            "mark": {
                "type": "rule",
                "stroke": look.LIGHT["reference"],
                "strokeDash": [4, 3],
                "strokeWidth": 1.5,
            },
            "encoding": {"x": {"value": 0}, "x2": {"value": ACROSS}, "y": {"value": height}},
        },
        _label(f"no information {look.number(no_information)}", 4, height - 10, "left"),
    ]
    return _picture(
        layers,
        {"values": rows},
        title=f"Are unusual records easier to guess in {_target(measurement)}?",
        answer=answer,
        numbers={key: [row[key] for row in rows] for key in ("group", "low", "median", "high")},
        key="point: median; line: from the 10 % to the 90 % quantile",
    )


def _bars(low: str, high: str, across: Any, up: Any, below: str, beside: str) -> dict[str, Any]:
    return {
        "mark": {
            "type": "bar",
            "fill": look.LIGHT["confidential"],
            "stroke": look.LIGHT["card"],
            "strokeWidth": 1,
        },
        "encoding": {
            "x": {
                "field": low,
                "type": "quantitative",
                "scale": across.scale(),
                "axis": vega_axis(across.ticks(), title=below, grid=False),
            },
            "x2": {"field": high},
            "y": {
                "field": "share",
                "type": "quantitative",
                "scale": up.scale(),
                "axis": vega_axis(up.ticks(), title=beside),
            },
            "y2": {"value": DOWN},
        },
    }


def _reference(x: float, words: str) -> list[dict[str, Any]]:
    """A dashed line from top to bottom, named above the plot."""
    right = x + look.width(words) > ACROSS
    return [
        {
            "data": {"values": [{}]},
            "mark": {
                "type": "rule",
                "stroke": look.LIGHT["reference"],
                "strokeDash": [4, 3],
                "strokeWidth": 1.5,
            },
            "encoding": {"x": {"value": x}, "y": {"value": -8}, "y2": {"value": DOWN}},
        },
        _label(words, min(x, ACROSS), -18, "right" if right else "left"),
    ]


def _label(words: str, x: float, y: float, align: str) -> dict[str, Any]:
    return {
        "data": {"values": [{}]},
        **text_mark(words, Box(x, y - 9, x, y + 9), look.LIGHT["quiet"], align=align),
    }


def _picture(
    layers: Sequence[Mapping[str, Any]],
    data: dict[str, Any],
    *,
    title: str,
    answer: str,
    numbers: Mapping[str, Sequence[Any]],
    key: str = "",
) -> SvgChart:
    if key:
        layers = [*layers, _label(key, 0, -18, "left")]
    padding = {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM}
    spec = {"width": ACROSS, "height": DOWN, "padding": padding, "data": data, "layer": layers}
    return chart(
        spec,
        height=look.HEIGHT,
        title=title,
        subtitle=f"{answer}.",
        alternative=f"{answer}. The numbers are in the table.",
        numbers={name: list(values) for name, values in numbers.items()},
    )
