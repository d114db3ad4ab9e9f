"""Charts: aggregates of a measurement in, a static SVG out.

`draw` gives the one picture of a measurement, `panels` all of them for a page. A kind of chart is a
module with one function that turns aggregates into a Vega-Lite spec; it never sees a row of a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.errors import UsageError, nearest
from stead.report.beliefs import draw_beliefs
from stead.report.chains import draw_chains
from stead.report.curves import draw_curves
from stead.report.matches import draw_matches
from stead.report.pairs import draw_pairs
from stead.report.predicted import draw_predicted
from stead.report.scores import draw_scores
from stead.report.sensitivity import draw_sensitivity
from stead.report.shares import draw_shares
from stead.report.svg import SvgChart
from stead.report.sweeps import draw_sweep
from stead.report.tradeoff import draw_tradeoff

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["KINDS", "SvgChart", "draw", "panel", "panels"]

KINDS = {
    "attribute": draw_beliefs,
    "chains": draw_chains,
    "ecdf": draw_curves,
    "margins": draw_shares,
    "match_risk": draw_matches,
    "match_sensitivity": draw_sensitivity,
    "pairs": draw_pairs,
    "predictive": draw_predicted,
    "propensity": draw_scores,
    "risk_utility": draw_tradeoff,
    "sweep": draw_sweep,
}
PICTURES = {"attribute": 1, "chains": 2, "margins": 1, "predictive": 1, "sweep": 1}
"""How many pictures a kind has for each of its `columns`; a kind that is not here has one in all."""


def draw(measurement: Mapping[str, Any]) -> SvgChart:
    """The picture of a measurement, which is given as `Measurement.to_dict()`; the first, if it has several."""
    return panel(measurement, 0)


def panels(measurement: Mapping[str, Any]) -> list[SvgChart]:
    """Every picture of a measurement: the margins have one for each column, a chain its ranks and its trace."""
    drawer = _drawer(measurement)
    return [drawer(measurement, place) for place in range(count_of(measurement))]


def panel(measurement: Mapping[str, Any], place: int) -> SvgChart:
    """One of the pictures of a measurement."""
    return _drawer(measurement)(measurement, place)


def count_of(measurement: Mapping[str, Any]) -> int:
    """How many pictures a measurement has."""
    held = measurement["aggregates"]
    each = PICTURES.get(held["kind"])
    return len(held["columns"]) * each if each else 1


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
            "E-CHART-KIND",
            f"{measurement['name']} has no chart: {measurement.get('no_chart') or 'it holds no aggregates to draw'}",
        )
    if kind not in KINDS:
        raise UsageError("E-CHART-KIND", f"no chart of kind {kind}; {nearest(str(kind), KINDS)}")
    return KINDS[kind]
