"""The order in which columns are made: as asked, each after what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stead.errors import UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def visiting_order(wanted: Iterable[str], needs: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """`wanted` with each column moved behind those that it needs; a circle is refused."""
    listed = list(wanted)
    known = set(listed)
    done: dict[str, None] = {}
    for start in listed:
        waiting = [start]  # the path from `start` to what it needs; no recursion, a chain may be long
        while waiting:
            name = waiting[-1]
            open_ = [one for one in needs.get(name, ()) if one in known and one not in done]
            if not open_:
                done[waiting.pop()] = None
            elif open_[0] in waiting:
                circle = ", ".join(map(shorten, waiting[waiting.index(open_[0]) :]))
                raise UsageError(
                    "E-SEQUENCE",
                    f"{circle}: each is needed to make another of them; take one out of a formula",
                )
            else:
                waiting.append(open_[0])
    return tuple(done)
