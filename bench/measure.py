"""One measurement, and how CPU seconds are taken."""

from __future__ import annotations

import subprocess
import sys
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


def cold(code: str, repeats: int = 7) -> float:
    """The least CPU seconds of a fresh interpreter that runs `code`."""
    wrapped = f"import time; import resource; {code}; u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime)"
    command = [sys.executable, "-c", wrapped]
    runs = (subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(repeats))  # noqa: S603 - our own interpreter
    return min(float(run.stdout) for run in runs)
