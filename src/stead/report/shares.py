"""The chart of one margin: the share of each category, confidential beside synthetic.

Two marks to a row, one above the other, so that equal shares do not hide each other; the thin line is
the range over the synthetic sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.report import look
from stead.report.axes import axis, vega_axis
from stead.report.layers import dot, key, outside_marks, pixel
from stead.report.svg import SvgChart, chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST = 30  # rows in one picture; the table has all
LABEL = 230  # pixels for the longest label
TOP, BOTTOM, RIGHT = 34, 46, 24


def draw_shares(measurement: Mapping[str, Any], place: int = 0) -> SvgChart:
    """The picture of one column of a `margins` measurement."""
    margin = measurement["aggregates"]["columns"][place]
    rows = _rows(margin)
    column = look.short(str(margin["column"]), 220)
    answer = f"Total variation {look.number(margin['total_variation'])}"
    if margin["reference"] is not None:
        against = measurement["reference_name"] or "two samples of this size"
        answer += f"; {look.clean(against)}: {look.number(margin['reference'])}"
    if len(rows) < len(margin["labels"]):
        answer += f". The {len(rows)} of {look.count(len(margin['labels']))} categories that differ most"
    widest = max(rows, key=lambda row: abs(row["confidential"] - row["synthetic"]))
    alternative = (
        f"{answer}. Two marks for each category of {column}. They differ most for {widest['label']}: "
        f"{look.number(widest['confidential'])} confidential, {look.number(widest['synthetic'])} synthetic. "
        "The numbers are in the table."
    )
    ranged = any(row["low"] != row["high"] for row in rows)
    spec, height = share_rows(rows, f"share of rows, by {column}", _names(ranged=ranged))
    return chart(
        spec,
        height=height,
        title=f"Does synthetic {column} have the same shares as the confidential {column}?",
        subtitle=f"{answer}.",
        alternative=alternative,
        numbers=_numbers(margin),
        caption="Share of rows in each category",
    )


def _numbers(margin: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The whole table behind the picture."""
    table = {"category": [str(label) for label in margin["labels"]]}
    table |= {name: list(margin[name]) for name in ("confidential", "synthetic")}
    if margin["low"] != margin["high"]:
        table |= {"lowest set": list(margin["low"]), "highest set": list(margin["high"])}
    return table


def _rows(margin: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each category, in the order given; of very many, those that differ most."""
    keys = ("confidential", "synthetic", "low", "high")
    rows = [
        {"label": look.short(str(label), LABEL), **dict(zip(keys, values, strict=True))}
        for label, *values in zip(margin["labels"], *(margin[key] for key in keys), strict=True)
    ]
    far = sorted(range(len(rows)), key=lambda i: -abs(rows[i]["confidential"] - rows[i]["synthetic"]))
    return [rows[i] for i in sorted(far[:MOST])]


def share_rows(
    rows: list[dict[str, Any]],
    across_name: str,
    names: Sequence[tuple[str, str, str]],
    *,
    flagged: Sequence[int] = (),
) -> tuple[dict[str, Any], int]:
    """The Vega-Lite spec and the height that its rows need; `flagged` rows get a triangle."""
    tall = min(44, max(24, (look.HEIGHT - TOP - BOTTOM) // len(rows)))
    gutter = round(max(look.width(row["label"]) for row in rows)) + 24
    across = look.WIDTH - gutter - RIGHT
    most = max(max(row["confidential"], row["high"], row["synthetic"]) for row in rows)
    shares = axis("linear", 0, 1.04 * most or 1, across)
    for i, row in enumerate(rows):
        row |= {"middle": tall * (i + 0.5), "upper": tall * (i + 0.5) - 5, "lower": tall * (i + 0.5) + 5}
    bottom = tall * len(rows)
    ticks = vega_axis(shares.ticks(), title=across_name)
    layers = [
        _bands(rows, tall, across),
        {
            "mark": {"type": "text", "align": "right"},
            "encoding": {
                "x": {"value": -10},
                "y": pixel("middle"),
                "text": {"field": "label", "type": "nominal"},
            },
        },
        {
            "mark": {"type": "rule", "stroke": look.LIGHT["synthetic"], "strokeWidth": 2},
            "encoding": {"x": _share("low"), "x2": {"field": "high"}, "y": pixel("lower")},
        },
        _marks(
            "confidential",
            "upper",
            "circle",
            {**_share("confidential"), "scale": shares.scale(), "axis": ticks},
        ),
        _marks("synthetic", "lower", "square", _share("synthetic")),
        *key(names, 12 - gutter),
    ]
    if flagged:
        layers.append(outside_marks([(across + 12, tall * (i + 0.5)) for i in flagged]))
    padding = {"left": gutter, "right": RIGHT, "top": TOP, "bottom": BOTTOM}
    spec = {"width": across, "height": bottom, "padding": padding, "data": {"values": rows}, "layer": layers}
    return spec, TOP + bottom + BOTTOM


def _share(name: str) -> dict[str, Any]:
    return {"field": name, "type": "quantitative"}


def _marks(name: str, height: str, shape: str, x: dict[str, Any]) -> dict[str, Any]:
    """The marks of one of the two files."""
    return {"mark": dot(name, shape), "encoding": {"x": x, "y": pixel(height)}}


def _bands(rows: list[dict[str, Any]], tall: int, across: int) -> dict[str, Any]:
    """Thin lines between the rows lead the eye from a label to its marks."""
    edges = [{"edge": tall * i} for i in range(len(rows) + 1)]
    return {
        "data": {"values": edges},
        "mark": {"type": "rule", "stroke": look.LIGHT["grid"]},
        "encoding": {"x": {"value": 0}, "x2": {"value": across}, "y": pixel("edge")},
    }


def _names(*, ranged: bool) -> list[tuple[str, str, str]]:
    """What the marks are called, above the rows: beside the first row, names would lie on its marks."""
    mean = "synthetic, mean of the sets" if ranged else "synthetic"
    named = [("circle", "confidential", "confidential"), ("square", "synthetic", mean)]
    return [*named, ("line", "synthetic", "range of the sets")] if ranged else named
