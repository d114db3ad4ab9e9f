"""Measurement: a number beside its reference, with its uncertainty, its direction and its source.

Everything in stead that measures returns one, everything that renders takes one. It is a value: no
row of a file is in it except the per-record arrays, which never leave through `to_dict`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

Direction = Literal["lower is closer", "higher is closer", "lower is safer", "higher is safer"]


class Chart(Protocol):
    """What `Measurement.chart` gives: a picture that shows itself in a notebook and can be saved."""

    @property
    def title(self) -> str:
        """The question it answers."""
        ...

    @property
    def svg(self) -> str:
        """The picture."""
        ...

    def save(self, path: str | Path) -> Path:
        """Write an SVG or a PNG, by the ending of `path`."""
        ...


@dataclass(frozen=True, kw_only=True, repr=False)
class Measurement:
    """One measure of one release.

    `reference` is what the number is to be read against (the mean under a null, the same measure on
    the confidential file, 1/G), and `reference_name` says in words which of these it is. `value` is
    None exactly when the measure is not available, and `reason` then says why. `details` holds the
    keys that belong to this measure alone, `aggregates` what its chart draws.
    """

    name: str
    value: float | None
    reference: float | None = None
    reference_name: str = ""
    interval: tuple[float, float] | None = None
    direction: Direction = "lower is closer"
    citation: str = ""
    per_dataset: tuple[float | None, ...] = ()
    per_record: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    aggregates: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.reason):
            raise ValueError("a measurement has a value, or a reason why it has none")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError("a measurement that is not finite is 'not available', with a reason")
        object.__setattr__(self, "per_record", MappingProxyType(dict(self.per_record)))
        object.__setattr__(self, "details", MappingProxyType(dict(self.details)))
        object.__setattr__(self, "aggregates", MappingProxyType(dict(self.aggregates)))

    @property
    def available(self) -> bool:
        """Whether there is a number."""
        return self.value is not None

    def to_dict(self) -> dict[str, Any]:
        """The measurement as JSON holds it: never a per-record value."""
        return {
            "name": self.name,
            "value": self.value,
            "reference": self.reference,
            "reference_name": self.reference_name,
            "interval": list(self.interval) if self.interval else None,
            "direction": self.direction,
            "citation": self.citation,
            "per_dataset": list(self.per_dataset),
            "reason": self.reason or None,
            **self.details,
            "aggregates": dict(self.aggregates),
        }

    def chart(self) -> Chart:
        """The picture of this measurement, drawn from its aggregates.

        `report` stands above this module and is found by name, late: measuring needs no renderer.
        """
        renderer = import_module("stead.report.charts")
        return cast("Chart", renderer.draw(self.to_dict()))

    def __repr__(self) -> str:
        if self.value is None:
            return f"{self.name}: not available, {self.reason}"
        against = f", {self.reference_name} {self.reference:.3g}" if self.reference is not None else ""
        return f"{self.name}: {self.value:.3g}{against} ({self.direction})"


def not_available(
    name: str, reason: str, *, citation: str = "", direction: Direction = "lower is closer"
) -> Measurement:
    """A measurement without a number, and the reason."""
    return Measurement(name=name, value=None, reason=reason, citation=citation, direction=direction)
