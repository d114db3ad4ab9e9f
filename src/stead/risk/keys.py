"""What an intruder matches on: the names that a user gives, checked against a release, as the keys of an engine.

Categories and counts must agree. A number that takes many values needs a radius, because two files rarely hold the same one: it is
refused without, with the ways to settle it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from stead.engine.regions import Ball, Keys, Radius
from stead.errors import InputRefused, UsageError, nearest, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stead.engine.base import Engine
    from stead.engine.regions import Radii

UNALIGNED = (
    "row i of such a set does not stand for record i, so that no match is the right one; these apply: "
    "stead.uniques, stead.disco, stead.dcap, stead.replicated_values"
)


class Aligned(Protocol):
    """What matching needs of a release: in memory (`Release`) or in files (`ParquetRelease`)."""

    @property
    def confidential(self) -> Any:
        """The confidential table."""
        ...

    @property
    def synthetic(self) -> tuple[Any, ...]:
        """The synthetic ones."""
        ...

    @property
    def synthesized(self) -> tuple[str, ...]:
        """Columns that were synthesized."""
        ...

    @property
    def lacking(self) -> tuple[str, ...]:
        """Columns that a synthetic table does not have."""
        ...

    @property
    def aligned(self) -> bool:
        """Whether row i of each synthetic table stands for confidential row i."""
        ...


def listed(names: str | Iterable[str]) -> tuple[str, ...]:
    """Names as a tuple, each once."""
    return (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))


def keys_of(
    release: Aligned,
    engine: Engine[Any],
    known: str | Iterable[str],
    synthesized: str | Iterable[str] | None,
    radius: Radii | None,
    *,
    closed: bool,
) -> Keys:
    """The keys of a match; a name that is not there, or a number that nobody said how near it must be, is refused."""
    if not release.aligned:
        raise InputRefused("E-NOT-ALIGNED", f"the release is not aligned: {UNALIGNED}")
    names = listed(known)
    chosen = release.synthesized if synthesized is None else listed(synthesized)
    for name in (*names, *chosen):
        engine.column(release.confidential, name)
    for name in chosen:
        if name not in release.synthesized:
            raise UsageError(
                "E-SYNTHESIZED",
                f"{shorten(name)} was not synthesized, so that it belongs to known; {nearest(name, release.synthesized)}",
            )
    made = tuple(dict.fromkeys((*(name for name in names if name in release.synthesized), *chosen)))
    if not made:
        raise UsageError(
            "E-SYNTHESIZED", "name at least one synthesized column: without one every record matches itself"
        )
    kept = tuple(name for name in names if name not in made)
    radii, ball = _radii(radius)
    for name in (*radii, *(ball.units if ball else ())):
        if name not in kept + made:
            raise UsageError(
                "E-COLUMN",
                f"the radius names {shorten(str(name))}, which is not among the keys; {nearest(str(name), kept + made)}",
            )
    keys = Keys(kept, made, radii, ball, closed=closed)
    near = keys.near(kept + made)
    for name in kept + made:
        _require_radius(name, engine.column(release.confidential, name).kind, near=name in near)
    if not closed and any(not (one.at_least or one.share) for one in radii.values()):
        raise UsageError(
            "E-RADIUS", "an open interval of radius 0 holds nothing; say closed=True, or give a radius"
        )
    return keys


def _radii(radius: Radii | Sequence[Radii] | None) -> tuple[dict[str, Radius], Ball | None]:
    """A mapping, a ball, or a list of both."""
    radii: dict[str, Radius] = {}
    balls = []
    for part in radius if isinstance(radius, (list, tuple)) else [] if radius is None else [radius]:
        if isinstance(part, Ball):
            balls.append(part)
        elif isinstance(part, Mapping):
            radii |= {name: Radius.of(written) for name, written in part.items()}
        else:
            raise UsageError(
                "E-RADIUS",
                'radius maps a column to a number or a share, {"Income": "20%"}, or is a stead.Ball',
            )
    ball = balls[0] if balls else None
    if len(balls) > 1 or (ball and any(name in ball.units for name in radii)):
        raise UsageError("E-RADIUS", "one ball at most, and a column has one radius or is in the ball")
    return radii, ball


def _require_radius(name: str, kind: str, *, near: bool) -> None:
    if kind in {"binary", "categorical", "ordered"} and near:
        raise UsageError(
            "E-RADIUS",
            f"column {shorten(name)} is {kind}: its levels agree or do not, and have no distance; leave it out of radius",
        )
    if kind in {"continuous", "date"} and not near:
        raise UsageError(
            "E-RADIUS",
            f'column {shorten(name)} is {kind}, and nothing says how near is near: give radius={{"{shorten(name)}": 500}} or "20%", '
            f'0 for equal values alone; if its numbers are codes, declare it: categorical=["{shorten(name)}"], --categorical {shorten(name)}',
        )
