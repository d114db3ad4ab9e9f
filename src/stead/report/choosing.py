"""Which pictures a page draws: those that show most, so that thirty columns do not make a page that nobody can load.

What is left out is counted on the page; its numbers are in the assessment file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stead.report.charts import PICTURES, count_of, has_chart
from stead.sampling.verdicts import ORDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class Chosen:
    """Pictures, each as its measurement and its place there, and how many were left out."""

    pictures: list[tuple[Mapping[str, Any], int]]
    left_out: int


def choose(measured: Iterable[Mapping[str, Any]], most: int) -> Chosen:
    """At most `most` pictures of some measurements: those furthest from their reference, in the order given."""
    every = [(one, place) for one in measured if has_chart(one) for place in range(count_of(one))]
    far = sorted(range(len(every)), key=lambda k: -_distance(*every[k]))  # stable: of equals the first
    kept = sorted(far[:most])
    return Chosen([every[k] for k in kept], len(every) - len(kept))


def about(measurement: Mapping[str, Any], place: int) -> Mapping[str, Any]:
    """The column that a picture is of, where its measurement has several; else nothing."""
    held = measurement["aggregates"]
    each = PICTURES.get(held["kind"])
    found: Mapping[str, Any] = held["columns"][place // each] if each else {}
    return found


def _distance(measurement: Mapping[str, Any], place: int) -> float:
    """How far a picture is from what it should show: a multiple of its reference, a share, the mark of a sampler."""
    held = about(measurement, place)
    if "mark" in held:
        return float(ORDER.index(held["mark"]))
    outside: list[bool] = held.get("outside", [])
    if outside:
        return sum(outside) / len(outside)
    value: float = held.get("total_variation", measurement["value"])
    reference: float | None = held.get("reference", measurement["reference"])
    return abs(value) / reference if reference else abs(value)
