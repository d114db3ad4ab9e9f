"""The charts of chains: do they agree (ranks), and does each of them move (trace)?

A rank chart has a panel for each chain, with the number of its draws in each bin of ranks; the grey band holds all of
them where the ranks are uniform. A trace chart has a strip for each chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.report import look
from stead.report.axes import axis
from stead.report.layers import band, centred, outside_marks, polyline, rule, words
from stead.report.svg import SvgChart, chart

if TYPE_CHECKING:
    from collections.abc import Mapping

LEFT, RIGHT = 56, 16
PIXELS = look.WIDTH - LEFT - RIGHT
TOP, PANEL, BETWEEN, BOTTOM = 34, 132, 14, 62
STRIP, STRIPS_TOP, STRIPS_BOTTOM = 52, 10, 52


def draw_chains(measurement: Mapping[str, Any], place: int = 0) -> SvgChart:
    """The pictures of a sampler check: ranks and trace of each parameter in turn."""
    held = measurement["aggregates"]["columns"][place // 2]
    return _trace(held) if place % 2 else _ranks(held)


def _named(held: Mapping[str, Any]) -> str:
    """The fit, as a title has room for it."""
    return look.short(str(held["fit"]), 200)


def _figures(held: Mapping[str, Any]) -> str:
    total = len(held["heights"]) * held["draws"]
    return f"{look.count(round(held['ess_bulk']))} of {look.count(total)} draws are effective"


def _ranks(held: Mapping[str, Any]) -> SvgChart:
    heights, (low, high) = held["heights"], held["band"]
    chains, bins = len(heights), len(heights[0])
    parameter = look.short(str(held["parameter"]), 200)
    answer = (
        f"{parameter}: R-hat {held['rhat']:.3f}; {held['outside']} of {chains * bins} heights outside the band "
        "of uniform ranks"
    )
    top = max(high, *(max(chain) for chain in heights)) * 1.06
    down = axis("linear", 0, top, PANEL)
    wide = (PIXELS - BETWEEN * (chains - 1)) / chains
    layers: list[dict[str, Any]] = [
        words("draws in a bin; 1 is as many as expected", -LEFT + 12, -18, "quiet")
    ]
    for tick in down.ticks()[:4]:
        y = PANEL - down.position(tick)
        layers += [rule(0, PIXELS, y, "grid"), _left(look.tick(tick), y)]
    for place, chain in enumerate(heights):
        layers += _panel(chain, place, wide, [PANEL - down.position(value) for value in (low, 1, high)], down)
    layers.append(
        centred("rank among all draws, low to high", PIXELS / 2, PANEL + 42, "text", look.TEXT_SIZE)
    )
    numbers: dict[str, list[Any]] = {"ranks": [f"part {k + 1} of {bins}" for k in range(bins)]}
    numbers |= {f"chain {k + 1}": list(chain) for k, chain in enumerate(heights)}
    return chart(
        _spec(layers, TOP, PANEL, BOTTOM),
        kind="ranks",
        height=TOP + PANEL + BOTTOM,
        title=f"Do the chains for {_named(held)} agree?",
        subtitle=f"{answer}.",
        alternative=f"{answer}. A panel for each chain: the number of its draws in each of {bins} bins of ranks, against a "
        f"band from {look.number(low)} to {look.number(high)} of what is expected. The numbers are in the table.",
        caption="Draws of each chain in each part of the ranks, as a multiple of what is expected",
        numbers=numbers,
    )


def _panel(
    chain: list[float], place: int, wide: float, band_at: list[float], down: Any
) -> list[dict[str, Any]]:
    """One chain: its band, the expected height, its heights as steps; those outside with a triangle."""
    left = place * (wide + BETWEEN)
    low, one, high = band_at
    each = wide / len(chain)
    edges = [left + each * k for k in range(len(chain) + 1)]
    tops = [PANEL - down.position(value) for value in chain]
    steps = [point for k, y in enumerate(tops) for point in ((edges[k], y), (edges[k + 1], y))]
    beyond = [(left + each * (k + 0.5), y - 9) for k, y in enumerate(tops) if not high <= y <= low]
    layers = [
        band([(left, high), (left + wide, high)], [low, low], "grid"),
        rule(left, left + wide, one, "reference", dash=(3, 3)),
        polyline(steps, "text", width=1.5),
        centred(f"chain {place + 1}", left + wide / 2, PANEL + 18),
    ]
    return [*layers, outside_marks(beyond)] if beyond else layers


def _trace(held: Mapping[str, Any]) -> SvgChart:
    trace, every = held["trace"], int(held["every"])
    chains, count = len(trace), len(trace[0])
    parameter = look.short(str(held["parameter"]), 200)
    answer = f"{parameter}: {_figures(held)}"
    reach = max(3.0, *(abs(value) for chain in trace for value in chain))
    across = axis("linear", 1, 1 + every * (count - 1), PIXELS)
    bottom = STRIP * chains
    layers = [centred(look.tick(tick), across.position(tick), bottom + 14) for tick in across.ticks()]
    for place, chain in enumerate(trace):
        middle = STRIP * (place + 0.5)
        steps = [
            (across.position(1 + every * k), middle - value / reach * (STRIP / 2 - 3))
            for k, value in enumerate(chain)
        ]
        layers += [
            rule(0, PIXELS, middle, "reference", dash=(3, 3)),
            rule(0, PIXELS, middle + STRIP / 2, "grid"),
            polyline(steps, "text", width=1),
            _left(str(place + 1), middle),
        ]
    shown = "" if every == 1 else f" (every {_nth(every)} shown)"
    layers.append(centred(f"draw of the chain{shown}", PIXELS / 2, bottom + 36, "text", look.TEXT_SIZE))
    numbers: dict[str, list[Any]] = {"draw": [float(1 + every * k) for k in range(count)]}
    numbers |= {f"chain {k + 1}": list(chain) for k, chain in enumerate(trace)}
    return chart(
        _spec(layers, STRIPS_TOP, bottom, STRIPS_BOTTOM),
        kind="trace",
        height=STRIPS_TOP + bottom + STRIPS_BOTTOM,
        title=f"Does each chain for {_named(held)} move?",
        subtitle=f"{answer}. The edges of a strip are {look.number(reach)} standard deviations from the mean.",
        alternative=f"{answer}. A line for each of {chains} chains, around the mean of all draws. Numbers are in the table.",
        caption="Draws in standard deviations from the mean of all",
        numbers=numbers,
    )


def _nth(number: int) -> str:
    """2nd, 3rd, 4th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in {11, 12, 13} else "th"
    return f"{number}{ending}"


def _left(text: str, y: float) -> dict[str, Any]:
    """A label left of the panels."""
    layer = centred(text, -8, y)
    layer["mark"]["align"] = "right"
    return layer


def _spec(layers: list[dict[str, Any]], top: int, height: float, bottom: int) -> dict[str, Any]:
    padding = {"left": LEFT, "right": RIGHT, "top": top, "bottom": bottom}
    return {"width": PIXELS, "height": height, "padding": padding, "layer": layers}
