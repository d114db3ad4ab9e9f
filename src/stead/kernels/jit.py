"""The one door to numba: `compiled` turns a function of arrays and numbers into machine code at its first call.

Compiled code is kept for the next process: beside the source where that folder can be written, else in the
user's own cache, as Python does with its byte code; where neither can be written it is compiled once for each
process. Import a module of kernels late: the import loads numba.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

njit: Callable[..., Any] | None = None
with suppress(ImportError):  # without it the numpy twins give the same answers, slower
    from numba import njit

Loop = TypeVar("Loop", bound="Callable[..., Any]")

AVAILABLE = njit is not None
"""Whether loops are compiled here; where they are not, callers take the twin."""


def compiled(loop: Loop) -> Loop:
    """The loop as machine code that releases the interpreter's lock; the loop itself where there is no numba."""
    if njit is None:
        return loop
    try:
        return cast("Loop", njit(cache=True, nogil=True)(loop))
    except RuntimeError:  # numba found no folder for its cache that it may write to
        return cast("Loop", njit(nogil=True)(loop))
