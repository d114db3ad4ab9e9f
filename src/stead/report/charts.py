"""Charts: aggregates of a measurement in, a static SVG out.

`draw` gives the one picture of a measurement, `panels` all of them for a page. A kind of chart is a
module with one function that turns aggregates into a Vega-Lite spec; it never sees a row of a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.errors import UsageError, nearest
from stead.report.curves import draw_curves
from stead.report.matches import draw_matches
from stead.report.sensitivity import draw_sensitivity
from stead.report.shares import draw_shares
from stead.report.svg import SvgChart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["KINDS", "SvgChart", "draw", "panels"]

KINDS = {
    "ecdf": draw_curves,
    "margins": draw_shares,
    "match_risk": draw_matches,
    "match_sensitivity": draw_sensitivity,
}


def draw(measurement: Mapping[str, Any]) -> SvgChart:
    """The picture of a measurement, which is given as `Measurement.to_dict()`; the first, if it has several."""
    return _drawer(measurement)(measurement, 0)


def panels(measurement: Mapping[str, Any]) -> list[SvgChart]:
    """Every picture of a measurement: the margins have one for each column."""
    drawer = _drawer(measurement)
    several = measurement["aggregates"].get("columns")
    return [drawer(measurement, place) for place in range(1 if several is None else len(several))]


def has_chart(measurement: Mapping[str, Any]) -> bool:
    """Whether there is something to draw."""
    return measurement["value"] is not None and measurement["aggregates"].get("kind") in KINDS


def _drawer(measurement: Mapping[str, Any]) -> Callable[[Mapping[str, Any], int], SvgChart]:
    """The function for this kind of measurement, or the reason why there is none."""
    if measurement["value"] is None:
        raise UsageError(
            "E-NOT-AVAILABLE", f"{measurement['name']} is not available: {measurement['reason']}"
        )
    kind = measurement["aggregates"].get("kind")
    if kind is None:
        raise UsageError(
            "E-CHART-KIND", f"{measurement['name']} has no chart: it holds no aggregates to draw"
        )
    if kind not in KINDS:
        raise UsageError("E-CHART-KIND", f"no chart of kind {kind}; {nearest(str(kind), KINDS)}")
    return KINDS[kind]
