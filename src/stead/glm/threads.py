"""One thread where matrices are narrow.

A matrix library starts every core for a product of a few thousand rows and a dozen columns, and the cores then wait for
each other: a logistic regression of 100,000 rows and ten predictors took 1.9 CPU seconds on two busy cores, .15 on
one. Wide designs keep all cores, because there the products are the work.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

NARROW = 64
"""Coefficients up to which one thread is faster."""


@contextmanager
def threads_for(width: int) -> Iterator[None]:
    """Hold matrix libraries to one thread while a regression of `width` coefficients is fitted."""
    if width > NARROW:
        yield
        return
    hold = _hold()
    hold.begin()
    try:
        yield
    finally:
        hold.end()


class _Hold:
    """The limit is of the process: the first of several fits at a time sets it, and the last one lifts it."""

    def __init__(self, controller: Any) -> None:
        self.controller, self.lock, self.fits = controller, Lock(), 0

    def begin(self) -> None:
        with self.lock:
            self.fits += 1
            if self.fits == 1:
                self.limit = self.controller.limit(limits=1, user_api="blas")

    def end(self) -> None:
        with self.lock:
            self.fits -= 1
            if self.fits == 0:
                self.limit.restore_original_limits()


@cache
def _hold() -> _Hold:
    """Made when it is first needed: by then numpy and scipy have loaded their libraries."""
    import scipy.linalg  # noqa: F401 - so that its library is among those that are found
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return _Hold(ThreadpoolController())
