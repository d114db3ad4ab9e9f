"""The map of pairs: for which pairs of columns are the tables of the two files apart?

A cell holds the pMSE of the table of two columns over its null mean, as a number and as a depth of blue; on the
diagonal stand the columns by themselves. Where cells are narrow, columns are named by the number of their row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.report import look
from stead.report.placing import Box, text_mark
from stead.report.svg import SvgChart, chart

if TYPE_CHECKING:
    from collections.abc import Mapping

TOP, RIGHT, BOTTOM, GAP = 12, 24, 62, 2
LABEL = 150
MOST_TALL, LEAST_TALL, WIDEST, NARROW = 40, 26, 110.0, 60.0
STEPS = ((1.25, "depth-0"), (2.0, "depth-1"), (5.0, "depth-2"), (15.0, "depth-3"), (float("inf"), "depth-4"))
"""Up to which ratio each depth of colour goes."""


def draw_pairs(measurement: Mapping[str, Any], _place: int = 0) -> SvgChart:
    """The picture of a `margins` measurement of order 2."""
    held = measurement["aggregates"]
    names, ratios = [str(name) for name in held["columns"]], held["ratio"]
    pairs = [
        (ratios[i][j], names[i], names[j])
        for i in range(len(names))
        for j in range(i + 1)
        if ratios[i][j] is not None
    ]
    tables = [pair for pair in pairs if pair[1] != pair[2]]
    worst, one, other = max(tables or pairs)
    least = min(tables or pairs)[0]
    answer = (
        f"The ratio of pMSE to its null mean is {look.number(least)} to {look.number(worst)} over {look.count(len(tables))} "
        f"pairs; largest for {look.short(one, 160)} and {look.short(other, 160)}"
    )
    if len(names) < held["of"]:
        answer += f". The {len(names)} of {look.count(held['of'])} columns with the largest"
    spec, height = _spec(names, ratios)
    return chart(
        spec,
        height=height,
        title="For which pairs of columns are the two files apart?",
        caption="pMSE over its null mean, for each pair of columns",
        subtitle=f"{answer}.",
        alternative=f"{answer}. A triangle of cells, one for each pair of columns, with its ratio. 1 is what chance gives. The numbers are in the table.",
        numbers={
            "pair": [
                left if left == right else f"{left} × {right}" for _, left, right in sorted(pairs)[::-1]
            ],
            "pMSE ratio": [ratio for ratio, _, _ in sorted(pairs)[::-1]],
        },
    )


def _spec(names: list[str], ratios: list[list[float | None]]) -> tuple[dict[str, Any], int]:
    """The Vega-Lite spec and the height that its rows need."""
    tall = min(MOST_TALL, max(LEAST_TALL, (look.HEIGHT - TOP - BOTTOM) // len(names)))
    labels = [look.short(name, LABEL) for name in names]
    gutter = round(max(map(look.width, labels))) + 46
    across = look.WIDTH - gutter - RIGHT
    wide = min(across / len(names), WIDEST)
    below = [look.short(name, wide - 6, look.TICK_SIZE) for name in names]
    if wide < NARROW:
        below = [str(place) for place in range(1, len(names) + 1)]
        labels = [f"{label}  {place}" for label, place in zip(labels, below, strict=True)]
    layers: list[dict[str, Any]] = []
    for row, label in enumerate(labels):
        middle = tall * (row + 0.5)
        layers.append(_words(label, -10.0, middle, look.LIGHT["text"], "right"))
        for column in range(row + 1):
            ratio = ratios[row][column]
            box = Box(
                wide * column + GAP / 2,
                tall * row + GAP / 2,
                wide * (column + 1) - GAP / 2,
                tall * (row + 1) - GAP / 2,
            )
            layers += _cell(ratio, box)
    bottom = tall * len(names)
    layers += [
        _words(name, wide * (place + 0.5), bottom + 12, look.LIGHT["quiet"], "center", look.TICK_SIZE)
        for place, name in enumerate(below)
    ]
    layers += _key(bottom + 38, gutter)
    spec = {
        "width": across,
        "height": bottom,
        "padding": {"left": gutter, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
        "view": {"stroke": None},
        "data": {"values": [{}]},
        "layer": layers,
    }
    return spec, TOP + bottom + BOTTOM


def _cell(ratio: float | None, box: Box) -> list[dict[str, Any]]:
    """A filled cell and its number; a dash where neither column was synthesized."""
    middle = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    if ratio is None:
        return [_words(look.DASH, *middle, look.LIGHT["quiet"], "center")]
    depth = _depth(ratio)
    ink = look.LIGHT["card" if depth in {"depth-3", "depth-4"} else "text"]
    words = look.number(ratio)
    if look.width(words, look.TICK_SIZE) > box.right - box.left:
        words = f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}" if ratio < 99.5 else "99+"
    return [_filled(box, depth), _words(words, *middle, ink, "center", look.TICK_SIZE)]


def _depth(ratio: float) -> str:
    """The colour of a ratio."""
    return next(name for most, name in STEPS if ratio <= most)


def _key(top: float, gutter: int) -> list[dict[str, Any]]:
    """The depths and up to which ratio each goes; a dash where no column of a pair was synthesized."""
    layers: list[dict[str, Any]] = []
    x = -gutter + 12.0
    layers.append(_words("pMSE ratio", x, top, look.LIGHT["quiet"], "left", look.TICK_SIZE))
    x += look.width("pMSE ratio", look.TICK_SIZE) + 10
    below = 0.0
    for most, name in STEPS:
        words = f"over {look.tick(below)}" if most == float("inf") else f"to {look.tick(most)}"
        layers.append(_filled(Box(x, top - 7, x + 14, top + 7), name))
        layers.append(_words(words, x + 19, top, look.LIGHT["quiet"], "left", look.TICK_SIZE))
        x += 19 + look.width(words, look.TICK_SIZE) + 12
        below = most
    return layers


def _filled(box: Box, name: str) -> dict[str, Any]:
    return {
        "mark": {"type": "rect", "fill": look.LIGHT[name], "opacity": 1},
        "encoding": {
            "x": {"value": box.left},
            "x2": {"value": box.right},
            "y": {"value": box.top},
            "y2": {"value": box.bottom},
        },
    }


def _words(
    words: str, x: float, y: float, colour: str, align: str, size: int = look.TEXT_SIZE
) -> dict[str, Any]:
    return text_mark(words, Box.starting(x, y), colour, size, align)
