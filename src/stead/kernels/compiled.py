"""One way to compile: numba, one thread, kept on disk wherever a place can be written.

numba keeps compiled code beside the source, or in the cache folder of the user, or in NUMBA_CACHE_DIR. Where none
of them can be written (a package folder and a home that are read-only) it refuses to compile at all; then the code
is compiled anew in each process, a few seconds, and nothing else changes. What is kept depends on the source and on the
processor, never on data. Several threads were refused: they save no CPU seconds, and sessions share a machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """The function, compiled when it is first called."""
    try:
        return cast("Function", njit(cache=True)(function))
    except RuntimeError:  # no place to keep it
        return cast("Function", njit(function))
