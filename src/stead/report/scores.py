"""The chart of propensity scores: can a classifier tell synthetic rows from confidential ones?

Two outlines over the same cells, confidential solid and synthetic dashed; the line at c, where all scores would lie if
nothing told the files apart, and the band in which the scores of a right synthesis mostly lie: c plus and minus twice the
root of the null mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.report import look
from stead.report.axes import Axis, axis, linear_choices, vega_axis
from stead.report.placing import Box, place, text_mark
from stead.report.svg import SvgChart, chart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEFT, RIGHT, TOP, BOTTOM = 64, 24, 50, 50
WIDE, TALL = look.WIDTH - LEFT - RIGHT, look.HEIGHT - TOP - BOTTOM


@dataclass(frozen=True)
class Outlines:
    """Cells with a left and a right end each, and the share of rows in them for every `unit` of score."""

    left: Floats
    right: Floats
    confidential: Floats
    synthetic: Floats
    unit: float
    across: Axis
    down: Axis


def draw_scores(measurement: Mapping[str, Any], _place: int = 0) -> SvgChart:
    """The picture of one `pmse` measurement."""
    held = measurement["aggregates"]
    shown = _read(held)
    which = "synthetic" if held["sets"] == 1 else f"synthetic set {held['worst_dataset'] + 1}"
    answer = _answer(measurement)
    if held["sets"] > 1:
        answer += f" Drawn is set {held['worst_dataset'] + 1}, which is told apart best."
    alternative = (
        f"{answer} Two outlines of the propensity scores, confidential and {which}, around c = {held['c']:.3g}. "
        "The numbers are in the table."
    )
    spec = {
        "width": WIDE,
        "height": TALL,
        "padding": {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
        "data": {"values": [{}]},
        "layer": _layers(shown, held, which),
    }
    return chart(
        spec,
        height=look.HEIGHT,
        title="Can a classifier tell synthetic rows from confidential ones?",
        caption="Share of rows in each cell of propensity scores",
        subtitle=answer,
        alternative=alternative,
        numbers=_numbers(held),
    )


def _answer(measurement: Mapping[str, Any]) -> str:
    """The measure beside its null."""
    sets = measurement["aggregates"]["sets"]
    answer = f"pMSE = {look.amount(measurement['value'])}"
    answer += f" (mean of {look.count(sets)} sets)" if sets > 1 else ""
    if measurement["ratio"] is None:
        return f"{answer}; its null is not available."
    answer += f", {look.number(measurement['ratio'])} times its {look.clean(measurement['reference_name'])}"
    z = measurement["z"]
    return f"{answer}; z = {look.number(z)}." if z is not None else f"{answer}."


def _read(held: Mapping[str, Any]) -> Outlines:
    """The aggregates as outlines; the outer cells, which hold all beyond, are drawn as wide as a usual one."""
    edges = np.asarray(held["edges"], float)
    usual = float(np.median(np.diff(edges)))
    ends = np.concatenate([[max(0.0, edges[0] - usual)], edges, [min(1.0, edges[-1] + usual)]])
    unit = 10.0 ** math.floor(math.log10((ends[-1] - ends[0]) / 20.0))
    widths = np.maximum(np.diff(ends), 1e-12) / unit
    confidential = np.asarray(held["confidential"]) / widths
    synthetic = np.asarray(held["synthetic"]) / widths
    band = 2.0 * (held["null_spread"] or 0.0)
    low, high = min(ends[0], held["c"] - band), max(ends[-1], held["c"] + band)
    margin = 0.02 * (high - low)
    most = 1.08 * float(max(confidential.max(), synthetic.max()))
    return Outlines(
        left=ends[:-1],
        right=ends[1:],
        confidential=confidential,
        synthetic=synthetic,
        unit=unit,
        across=axis("linear", low - margin, high + margin, WIDE),
        down=axis("linear", 0.0, most, TALL),
    )


def _numbers(held: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The whole table behind the picture."""
    edges = [look.tick(edge) for edge in held["edges"]]
    cells = [
        f"< {edges[0]}",
        *(f"{low} to {high}" for low, high in pairwise(edges)),
        f"≥ {edges[-1]}",
    ]
    return {
        "score": cells,
        "confidential": list(held["confidential"]),
        "synthetic": list(held["synthetic"]),
    }


def _layers(shown: Outlines, held: Mapping[str, Any], which: str) -> list[dict[str, Any]]:
    """The band, the line at c, both outlines, and their names where nothing else is."""
    c = float(held["c"])
    middle = shown.across.position(c)
    share = f"share of rows, for each {look.tick(shown.unit)} of score"
    layers = [_frame(shown), text_mark(share, Box.starting(0, -33), look.LIGHT["quiet"])]
    words = f"c = {c:.3g}"
    if held["null_spread"]:
        start, end = (shown.across.position(c + sign * 2.0 * held["null_spread"]) for sign in (-1, 1))
        layers.append(_band(start, end))
        words += "; grey: most scores of a right synthesis"
    layers.append(_rule(middle))
    layers.append(text_mark(words, *_above(words, middle)))
    lines = [_pixels(shown, shown.confidential), _pixels(shown, shown.synthetic)]
    layers += [_outline(shown, shown.confidential, "confidential", dashed=False)]
    layers += [_outline(shown, shown.synthetic, "synthetic", dashed=True)]
    taken = [Box(middle - 1, 0, middle + 1, TALL)]
    for name, colour, own, other in (
        ("confidential", "confidential", lines[0], lines[1]),
        (which, "synthetic-text", lines[1], lines[0]),
    ):
        box = place(name, own, lines, taken, Box(4, 2, WIDE - 4, TALL - 4), other)
        taken.append(box)
        layers.append(text_mark(name, box, look.LIGHT[colour]))
    return layers


def _above(words: str, middle: float) -> tuple[Box, str]:
    """Where the name of the line at c stands: above the panel, within the picture."""
    wide = look.width(words)
    left = min(max(0.0, middle - wide / 2), WIDE - wide)
    return Box.starting(left, -12), look.LIGHT["quiet"]


def _frame(shown: Outlines) -> dict[str, Any]:
    """Both scales, on a mark that is not seen."""
    ticks = linear_choices(0.0, shown.down.high)[0]
    heights = [tick for tick in ticks if tick <= shown.down.high]
    half = [look.width(look.tick(tick), look.TICK_SIZE) / 2 for tick in shown.across.ticks()]
    places = [  # a label that stands out on the left would lie on that of the other axis
        tick
        for tick, wide in zip(shown.across.ticks(), half, strict=True)
        if shown.across.position(tick) >= wide
    ]
    return {
        "mark": {"type": "point", "opacity": 0},
        "encoding": {
            "x": {
                "datum": shown.across.low,
                "type": "quantitative",
                "scale": shown.across.scale(),
                "axis": vega_axis(places, title="propensity score; the outer cells hold all beyond"),
            },
            "y": {
                "datum": 0,
                "type": "quantitative",
                "scale": shown.down.scale(),
                "axis": vega_axis(heights),
            },
        },
    }


def _band(start: float, end: float) -> dict[str, Any]:
    """The band of the null."""
    return {
        "mark": {"type": "rect", "fill": look.LIGHT["band"], "opacity": 1},
        "encoding": {
            "x": {"value": max(0.0, start)},
            "x2": {"value": min(float(WIDE), end)},
            "y": {"value": 0},
            "y2": {"value": TALL},
        },
    }


def _rule(at: float) -> dict[str, Any]:
    """The dashed grey line at c."""
    return {
        "mark": {
            "type": "rule",
            "stroke": look.LIGHT["reference"],
            "strokeDash": [3, 3],
            "strokeWidth": 1.5,
        },
        "encoding": {"x": {"value": at}, "y": {"value": 0}, "y2": {"value": TALL}},
    }


def _outline(shown: Outlines, heights: Floats, colour: str, *, dashed: bool) -> dict[str, Any]:
    """One outline: up at the first cell, along its top, down after the last."""
    ends = np.concatenate([shown.left[:1], shown.left, shown.right[-1:], shown.right[-1:]])
    tops = np.concatenate([[0.0], heights, heights[-1:], [0.0]])
    points = [
        {"x": float(x), "y": round(float(y), 6), "at": at}
        for at, (x, y) in enumerate(zip(ends, tops, strict=True))
    ]
    mark: dict[str, Any] = {
        "type": "line",
        "interpolate": "step-after",
        "stroke": look.LIGHT[colour],
        "strokeWidth": 2,
    }
    if dashed:
        mark["strokeDash"] = [6, 4]
    return {
        "data": {"values": points},
        "mark": mark,
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "y", "type": "quantitative"},
            "order": {"field": "at", "type": "quantitative"},
        },
    }


def _pixels(shown: Outlines, heights: Floats) -> tuple[Floats, Floats]:
    """An outline as the renderer puts it."""
    ends = np.concatenate([shown.left, shown.right[-1:]])
    x = np.array([shown.across.position(float(end)) for end in ends])
    y = TALL * (1.0 - heights / shown.down.high)
    return np.repeat(x, 2)[1:-1], np.repeat(y, 2)
