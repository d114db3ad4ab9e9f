"""The charts of a posterior predictive check: would data drawn from the model look like the confidential column?

A number has its cells side by side: the pale band is the range of the predictive shares, the dashed line their median,
circles are the confidential shares. A category has a row for each level. Triangles mark what lies outside its range.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from stead.report import look
from stead.report.axes import GAP, axis, vega_axis
from stead.report.layers import band, centred, key, outside_marks, points, polyline
from stead.report.shares import LABEL, MOST, share_rows
from stead.report.svg import SvgChart, chart

if TYPE_CHECKING:
    from collections.abc import Mapping

LEFT, RIGHT, TOP, BOTTOM = 72, 24, 34, 58
PIXELS, PANEL = look.WIDTH - LEFT - RIGHT, look.HEIGHT - TOP - BOTTOM


def draw_predicted(measurement: Mapping[str, Any], place: int = 0) -> SvgChart:
    """The picture of one column of a predictive check."""
    held = measurement["aggregates"]["columns"][place]
    column = look.short(str(held["column"]), 220)
    answer = _answer(held, measurement["reference"])
    numeric = held["kind"] in {"continuous", "date"}
    spec, height = _cells(held, column) if numeric else _levels(held, column)
    numbers: dict[str, list[Any]] = {
        "cell" if numeric else "category": [str(label) for label in held["cells"]],
        "confidential": list(held["confidential"]),
        "predicted, median": list(held["middle"]),
        "lowest of the range": list(held["low"]),
        "highest of the range": list(held["high"]),
        "": ["▲ outside" if out else "" for out in held["outside"]],
    }
    return chart(
        spec,
        height=height,
        title=f"Does the model of {column} fit?",
        subtitle=answer,
        alternative=f"{answer} The share of rows in each of {len(held['cells'])} cells of {column}, and the range of the "
        "shares in data drawn from the model. The numbers are in the table.",
        numbers=numbers,
        caption="Share of rows in each cell" if numeric else "Share of rows in each category",
    )


def _answer(held: Mapping[str, Any], chance: float) -> str:
    """How many cells lie outside, beside chance; then which statistics do."""
    cells, out = len(held["cells"]), sum(held["outside"])
    middle = f"the middle {1 - chance:.0%} of {look.count(held['draws'])} predictive sets"
    verb = "is" if out == 1 else "are"
    answer = f"{out} of {cells} cells {verb} outside {middle}; by chance about {look.tenths(chance * cells)}."
    names = [look.clean(str(one["name"])) for one in held["statistics"] if one["outside"]]
    return f"{answer} Outside as well: {', '.join(names)}." if names else answer


def _names(*, wide: bool) -> list[tuple[str, str, str]]:
    drawn = (
        ("dash", "synthetic", "predicted, median") if wide else ("square", "synthetic", "predicted, median")
    )
    spread = ("bar", "synthetic-pale", "range") if wide else ("line", "synthetic", "range")
    return [("circle", "confidential", "confidential"), drawn, spread, ("triangle-up", "warn", "outside")]


def _cells(held: Mapping[str, Any], column: str) -> tuple[dict[str, Any], int]:
    """Cells of equal width, with the places where they are cut."""
    count = len(held["cells"])
    most = max(*held["high"], *held["confidential"]) * 1.12 or 1.0
    down = axis("linear", 0, most, PANEL)
    edges = [PIXELS * k / count for k in range(count + 1)]
    middles = [(edges[k] + edges[k + 1]) / 2 for k in range(count)]

    def steps(name: str) -> list[tuple[float, float]]:
        heights = [PANEL - down.position(share) for share in held[name]]
        return [point for k, y in enumerate(heights) for point in ((edges[k], y), (edges[k + 1], y))]

    own = [PANEL - down.position(share) for share in held["confidential"]]
    tops = [PANEL - down.position(share) for share in held["high"]]
    ticks = vega_axis(down.ticks()[:6])
    frame = {
        "data": {"values": [{}]},
        "mark": {"type": "point", "opacity": 0},
        "encoding": {"y": {"datum": 0, "type": "quantitative", "scale": down.scale(), "axis": ticks}},
    }
    layers = [
        frame,
        band(steps("high"), [y for _, y in steps("low")], "synthetic-pale"),
        polyline(steps("middle"), "synthetic", dash=(6, 4)),
        points(zip(middles, own, strict=True), "confidential", "circle", 50),
        *key(_names(wide=True), 12 - LEFT),
        *_bounds(held["bounds"], edges[1:-1]),
        centred(f"{column}, cut into cells", PIXELS / 2, PANEL + 42, "text", look.TEXT_SIZE),
    ]
    out = [
        (x, min(y, top) - 11)
        for x, y, top, is_out in zip(middles, own, tops, held["outside"], strict=True)
        if is_out
    ]
    if out:
        layers.append(outside_marks(out))
    padding = {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM}
    spec = {"width": PIXELS, "height": PANEL, "padding": padding, "layer": layers}
    return spec, look.HEIGHT


def _bounds(bounds: list[str], places: list[float]) -> list[dict[str, Any]]:
    """As many of the places of the cuts as have room, evenly."""
    widths = [look.width(text, look.TICK_SIZE) for text in bounds]
    for step in range(1, len(bounds) + 1):
        shown = range((len(bounds) - 1) % step // 2, len(bounds), step)
        ends = [(places[k] - widths[k] / 2, places[k] + widths[k] / 2) for k in shown]
        if all(right + GAP <= left for (_, right), (left, _) in pairwise(ends)):
            return [centred(bounds[k], places[k], PANEL + 16) for k in shown]
    return []


def _levels(held: Mapping[str, Any], column: str) -> tuple[dict[str, Any], int]:
    """A row for each level; of very many, those that are furthest out."""
    keys = ("cells", "confidential", "middle", "low", "high", "outside")
    rows = [
        {
            "label": look.short(str(label), LABEL),
            "confidential": own,
            "synthetic": mid,
            "low": low,
            "high": high,
            "out": out,
        }
        for label, own, mid, low, high, out in zip(*(held[name] for name in keys), strict=True)
    ]
    far = sorted(
        range(len(rows)),
        key=lambda k: (not rows[k]["out"], -abs(rows[k]["confidential"] - rows[k]["synthetic"])),
    )
    rows = [rows[k] for k in sorted(far[:MOST])]
    flagged = [k for k, row in enumerate(rows) if row["out"]]
    return share_rows(rows, f"share of rows, by {column}", _names(wide=False), flagged=flagged)
