"""A row of the table, and how seconds are taken."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MILLION = 1_000_000


@dataclass(frozen=True)
class Row:
    """One measurement beside the figure it is held to."""

    what: str
    value: str
    limit: str


def cpu(call: Callable[[], object], repeats: int = 3) -> float:
    """The least CPU seconds of a few warm calls."""
    call()
    spent = []
    for _ in range(repeats):
        began = time.process_time()
        call()
        spent.append(time.process_time() - began)
    return min(spent)
