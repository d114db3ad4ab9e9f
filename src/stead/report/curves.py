"""The chart of two cumulative distributions: do they agree, and where do they differ most?

Above, F(x) of the confidential column and of each synthetic set; below, their difference beside what
two samples of this size give by chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.report import look
from stead.report.axes import Axis, axis, linear_choices, vega_axis
from stead.report.placing import Box, place, text_mark
from stead.report.svg import SvgChart, chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from stead.report.placing import Line

    Floats = NDArray[np.float64]

LEFT, RIGHT, TOP, UPPER, SPACE, LOWER, BOTTOM = 72, 24, 28, 166, 34, 64, 48
PIXELS = look.WIDTH - LEFT - RIGHT
POINTS = 140  # of a curve; more than this the eye does not tell apart
STEPS = 60  # up to this many values a curve is drawn as the steps it has


@dataclass(frozen=True)
class Curves:
    """What is drawn, thinned to the points that a picture can show."""

    column: str
    x: Floats
    confidential: Floats
    synthetic: Floats  # (m, points)
    worst: int
    at: int  # the point of the largest difference
    largest: float
    across: Axis
    stepped: bool

    @property
    def m(self) -> int:
        """How many synthetic sets there are."""
        return len(self.synthetic)

    @property
    def name(self) -> str:
        """How the drawn synthetic set is called."""
        return "synthetic" if self.m == 1 else f"synthetic set {self.worst + 1}"

    def pixels(self, heights: Floats) -> tuple[Floats, Floats]:
        """A curve as the renderer puts it, in pixels from the left."""
        x = np.array([self.across.position(value) for value in self.x])
        return (np.repeat(x, 2)[1:], np.repeat(heights, 2)[:-1]) if self.stepped else (x, heights)

    def whole(self) -> Curves:
        """Steps from the left edge of the axis, where F is zero, to the right edge; a curve stays as it is."""
        if not self.stepped:
            return self
        return replace(
            self,
            x=np.array([self.across.low, *self.x, self.across.high]),
            confidential=np.array([0, *self.confidential, self.confidential[-1]]),
            synthetic=np.pad(np.pad(self.synthetic, ((0, 0), (1, 0))), ((0, 0), (0, 1)), mode="edge"),
            at=self.at + 1,
        )


def draw_curves(measurement: Mapping[str, Any], _place: int = 0) -> SvgChart:
    """The picture of one `ecdf` measurement."""
    shown = _read(measurement)
    reference, value = measurement["reference"], measurement["value"]
    column = look.short(shown.column, 220)
    near = f", largest near {look.amount(float(shown.x[shown.at]))}" if shown.largest > 0 else ""
    mean = f" (mean of {look.count(shown.m)} sets)" if shown.m > 1 else ""
    answer = f"U_m = {look.number(value)}{mean}{near}"
    against = measurement["reference_name"] or "two samples of this size"
    if reference is not None:
        answer += f"; {look.clean(against)}: {look.number(reference)}"
    title = f"Does synthetic {column} follow the distribution of the confidential {column}?"
    spec = {
        "padding": {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
        "bounds": "flush",
        "spacing": SPACE,
        "vconcat": [_distributions(shown), _differences(shown, reference, look.clean(against))],
    }
    alternative = (
        f"{answer}. Two cumulative curves of {column}, confidential and {shown.name}; beneath them their "
        f"difference, at most {look.number(shown.largest)}. The numbers are in the table."
    )
    return chart(
        spec,
        height=look.HEIGHT,
        title=title,
        subtitle=f"{answer}.",
        alternative=alternative,
        numbers=_numbers(measurement["aggregates"]),
        caption="Share of rows at or below each value",
    )


def _read(measurement: Mapping[str, Any]) -> Curves:
    """The aggregates as arrays, thinned."""
    held = measurement["aggregates"]
    grid = np.asarray(held["grid"], dtype=float)
    confidential, synthetic = np.asarray(held["confidential"]), np.atleast_2d(np.asarray(held["synthetic"]))
    worst, at = int(held["worst_dataset"]), int(np.argmin(np.abs(grid - held["at"])))
    kept = np.unique([*np.linspace(0, len(grid) - 1, min(len(grid), POINTS)).round().astype(int), at])
    each = measurement["per_dataset"]
    known = each[worst] if worst < len(each) else None
    stepped = len(grid) <= STEPS
    return Curves(
        column=str(held["column"]),
        x=grid[kept],
        confidential=confidential[kept],
        synthetic=synthetic[:, kept],
        worst=worst,
        at=int(np.searchsorted(kept, at)),
        largest=float(known if known is not None else abs(synthetic[worst, at] - confidential[at])),
        across=_across(str(held["scale"]), grid, stepped=stepped),
        stepped=stepped,
    ).whole()


def _across(scale: str, grid: Floats, *, stepped: bool) -> Axis:
    """The horizontal axis: from the smallest to the largest value, a little more where the ends are steps."""
    low, high, sizes = float(grid[0]), float(grid[-1]), np.abs(grid[grid != 0])
    if stepped and scale == "linear":
        low, high = low - 0.04 * (high - low), high + 0.04 * (high - low)
    # A log axis through zero is linear below this; the very smallest value would give zero half the axis.
    unit = float(np.quantile(sizes, 0.25)) if sizes.size else 1.0
    return axis(scale, low, high, PIXELS, unit)


def _numbers(held: Mapping[str, Any]) -> dict[str, list[float]]:
    """The whole table behind the picture."""
    sets = {f"synthetic {i + 1}": list(curve) for i, curve in enumerate(held["synthetic"])}
    return {"value": list(held["grid"]), "confidential": list(held["confidential"]), **sets}


def _line(
    shown: Curves, heights: Floats, colour: str, *, set_: int = 0, dashed: bool = False
) -> dict[str, Any]:
    """One curve as a layer."""
    points = [
        {"x": float(x), "y": round(float(y), 6), "set": set_} for x, y in zip(shown.x, heights, strict=True)
    ]
    pale = colour == "synthetic-pale"
    mark: dict[str, Any] = {"type": "line", "stroke": look.LIGHT[colour], "strokeWidth": 1 if pale else 2}
    mark["interpolate"] = "step-after" if shown.stepped else "linear"
    if dashed:
        mark["strokeDash"] = [6, 4]
    encoding = {
        "x": {"field": "x", "type": "quantitative"},
        "y": {"field": "y", "type": "quantitative"},
    }
    return {"data": {"values": points}, "mark": mark, "encoding": encoding}


def _panel(
    shown: Curves, guide: Box, down: Axis, ticks: list[float], layers: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """A panel with both scales and the guide at the largest difference; the x labels stand under the lower one."""
    height = round(down.pixels)
    last = height == LOWER
    across = shown.across.ticks()
    named = {
        "title": look.short(shown.column, 300) + (", log scale" if shown.across.kind != "linear" else "")
    }
    frame = {
        "mark": {"type": "rule", "stroke": look.LIGHT["reference"], "strokeWidth": 1},
        "encoding": {
            "x": {
                "datum": float(shown.x[shown.at]),
                "type": "quantitative",
                "scale": shown.across.scale(),
                "axis": vega_axis(across, **(named if last else {"labels": False})),
            },
            "y": {"value": guide.top},
            "y2": {"value": guide.bottom},
        },
    }
    vertical = {
        "data": {"values": [{}]},
        "mark": {"type": "point", "opacity": 0},
        "encoding": {
            "y": {
                "datum": 0,
                "type": "quantitative",
                "scale": down.scale(),
                "axis": vega_axis(ticks),
            },
            "x": {"value": 0},
        },
    }
    return {
        "width": PIXELS,
        "height": height,
        "data": {"values": [{}]},
        "layer": [vertical, frame, *layers],
    }


def _distributions(shown: Curves) -> dict[str, Any]:
    """The upper panel: the curves, the largest difference, and their names beside them."""
    others = [i for i in range(shown.m) if i != shown.worst]
    main = shown.synthetic[shown.worst]
    layers = [_line(shown, shown.synthetic[i], "synthetic-pale", set_=i) for i in others]
    layers += [_line(shown, shown.confidential, "confidential"), _line(shown, main, "synthetic", dashed=True)]
    layers.append(_segment(shown, float(shown.confidential[shown.at]), float(main[shown.at])))
    layers.append(text_mark("share of rows at or below the value", Box.starting(0, -14), look.LIGHT["quiet"]))

    def down(heights: Floats) -> Floats:
        return UPPER * (1 - heights)

    drawn = [shown.pixels(down(curve)) for curve in [shown.confidential, *shown.synthetic]]
    own, other = drawn[0], drawn[1 + shown.worst]
    labels: list[tuple[str, str, Line, Line | None]] = [
        ("confidential", "confidential", own, other),
        (shown.name, "synthetic-text", other, own),
    ]
    guide = _guide(shown, 0, UPPER if shown.largest > 0 else 0)
    taken = [guide]
    if shown.largest > 0:
        what = "largest gap " if shown.m > 1 else "U_m = "
        middle = np.array([guide.left + 1]), np.array([UPPER / 2])
        labels.insert(0, (f"{what}{look.number(shown.largest)}", "text", middle, None))
    for words, colour, along, rival in labels:
        box = place(words, along, drawn, taken, Box(4, 4, PIXELS - 4, UPPER - 4), rival)
        taken.append(box)
        layers.append(text_mark(words, box, look.LIGHT[colour]))
    return _panel(shown, guide, axis("linear", 0, 1, UPPER), [0, 0.25, 0.5, 0.75, 1], layers)


def _guide(shown: Curves, top: float, bottom: float) -> Box:
    """The thin vertical line at the largest difference: all of the upper panel, the difference itself in the lower."""
    middle = shown.across.position(float(shown.x[shown.at]))
    return Box(middle - 1, top, middle + 1, bottom)


def _segment(shown: Curves, start: float, end: float) -> dict[str, Any]:
    """The largest difference as a thick vertical piece between the curves."""
    point = {"x": float(shown.x[shown.at]), "y": start, "y2": end}
    return {
        "data": {"values": [point]},
        "mark": {"type": "rule", "stroke": look.LIGHT["text"], "strokeWidth": 4},
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "y", "type": "quantitative"},
            "y2": {"field": "y2"},
        },
    }


def _differences(shown: Curves, reference: float | None, against: str) -> dict[str, Any]:
    """The lower panel: synthetic minus confidential, beside what chance gives."""
    gaps = shown.synthetic - shown.confidential
    # Twice the reference leaves room for its name between its line and the edge.
    bound = max(1.15 * float(np.abs(gaps).max()), 2 * (reference or 0)) or 0.01
    down = axis("linear", -bound, bound, LOWER)
    peak = LOWER / 2 * (1 - float(gaps[shown.worst, shown.at]) / bound)
    guide = _guide(shown, min(peak, LOWER / 2), max(peak, LOWER / 2))
    layers = [_line(shown, gaps[i], "synthetic-pale", set_=i) for i in range(shown.m) if i != shown.worst]
    lines = [shown.pixels(LOWER / 2 * (1 - gap / bound)) for gap in gaps]
    words = f"{look.clean(shown.name)} minus confidential"
    layers.append(text_mark(words, Box.starting(0, -14), look.LIGHT["quiet"]))
    if reference:
        layers += [_reference(reference), _reference(-reference)]
        name = look.short(f"{against}: ±{look.number(reference)}", PIXELS - 40, look.TICK_SIZE)
        edges = [LOWER / 2 * (1 - sign * reference / bound) for sign in (1, -1)]
        box = _beside(name, edges, lines, guide)
        side = "right" if box.right > PIXELS - 1 else "left"
        layers.append(text_mark(name, box, look.LIGHT["quiet"], look.TICK_SIZE, side))
    layers.append(_line(shown, gaps[shown.worst], "synthetic", dashed=True))
    top = linear_choices(0, bound * 0.95)[-1][-1]
    return _panel(shown, guide, down, [-top, 0, top], layers)


def _beside(name: str, edges: list[float], lines: list[tuple[Floats, Floats]], guide: Box) -> Box:
    """Where the name of the reference stands: above the upper line or below the lower, where nothing else runs."""
    wide = look.width(name, look.TICK_SIZE) + 6
    last = PIXELS - wide
    lefts = [last, 0, min(max(guide.right + 2, 0), last), min(max(guide.left - wide - 2, 0), last)]
    boxes = [Box(x, y, x + wide, y + 14) for x in lefts for y in (edges[0] - 15, edges[1] + 1)]
    return min(boxes, key=lambda box: sum(box.meets(line) for line in lines) + 2 * box.overlaps(guide))


def _reference(value: float) -> dict[str, Any]:
    """A dashed grey line."""
    return {
        "mark": {
            "type": "rule",
            "stroke": look.LIGHT["reference"],
            "strokeDash": [3, 3],
            "strokeWidth": 1,
        },
        "encoding": {"y": {"datum": value, "type": "quantitative"}},
    }
