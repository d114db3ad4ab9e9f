"""The functions that a formula may use, each with what a density needs: inverse, derivative, domain.

A response g(y) is modelled on its transformed scale; the density of y itself carries the Jacobian,

    log p(y) = log p(g(y)) + log |g'(y)|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Map = Callable[[NDArray[Any]], NDArray[np.float64]]


@dataclass(frozen=True)
class Function:
    """A strictly increasing function g on values above `lowest` (or from it on, where `closed`)."""

    name: str
    forward: Map
    inverse: Map
    log_slope: Map
    lowest: float = -np.inf
    closed: bool = False

    def outside(self, values: NDArray[Any]) -> int:
        """How many values g is not defined for."""
        return int(np.count_nonzero(values < self.lowest if self.closed else values <= self.lowest))


def _float(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(values, np.float64)


def _cbrt_log_slope(values: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        result: NDArray[np.float64] = -np.log(3.0) - (2.0 / 3.0) * np.log(np.abs(_float(values)))
    return result


def _sqrt_log_slope(values: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        result: NDArray[np.float64] = -np.log(2.0) - 0.5 * np.log(_float(values))
    return result


IDENTITY = Function("", _float, _float, lambda y: np.zeros(np.shape(y)))

FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("log", np.log, np.exp, lambda y: -np.log(y), lowest=0.0),
        Function("log1p", np.log1p, np.expm1, lambda y: -np.log1p(y), lowest=-1.0),
        Function("sqrt", np.sqrt, np.square, _sqrt_log_slope, lowest=0.0, closed=True),
        Function("cbrt", np.cbrt, lambda z: z**3, _cbrt_log_slope),
        Function("asinh", np.arcsinh, np.sinh, lambda y: -0.5 * np.log1p(_float(y) ** 2)),
    )
}
"""By name. `poly` is not among them: it makes several columns, and has no inverse."""
