"""How many of n_s synthetic values are ones, given that X of n confidential ones are: the law of the binary generators.

    plug-in    X* | X ~ Binomial(n_s, (X + alpha) / (n + alpha + beta))
    drawn      X* | X ~ Beta-binomial(n_s, X + alpha, n - X + beta)

McClure & Reiter (2012), equations (3), (5) and (7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betaln, gammaln

from stead.errors import UsageError
from stead.models.binary_dp import BinaryDP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.models.mechanism import Form

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class BinaryLaw:
    """What is published of a generator: n, n_s, alpha, beta and the form."""

    n: int
    rows: int
    alpha: float
    beta: float
    form: Form = "plug-in"

    @classmethod
    def of(
        cls,
        epsilon: float,
        n: int,
        rows: int | None = None,
        *,
        alpha: float | None = None,
        beta: float | None = None,
        form: Form = "plug-in",
    ) -> BinaryLaw:
        """The law that `BinaryDP` has under these settings."""
        made = n if rows is None else rows
        for name, value in (("n", n), ("n_s", made)):
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise UsageError("E-ROWS", f"{name} is a whole number from 1")
        model = BinaryDP(epsilon, column="Y", alpha=alpha, beta=beta, form=form)
        second, first = model.prior(2, int(made))
        return cls(int(n), int(made), float(first), float(second), form)

    def log_probability(self, drawn: Any, ones: Any) -> Array:
        """Log p(X* = drawn | X = ones)."""
        return self.log_kernel(drawn, ones) + log_choose(self.rows, drawn)

    def log_kernel(self, drawn: Any, ones: Any) -> Array:
        """The same without the binomial coefficient, which does not depend on X."""
        one, zero = np.asarray(ones) + self.alpha, self.n - np.asarray(ones) + self.beta
        if self.form == "drawn":
            return np.asarray(betaln(one + drawn, zero + self.rows - drawn) - betaln(one, zero))
        total = self.n + self.alpha + self.beta
        return np.asarray(drawn * np.log(one / total) + (self.rows - drawn) * np.log(zero / total))


def log_choose(n: int, k: Any) -> Array:
    """Log of the binomial coefficient."""
    return np.asarray(gammaln(n + 1.0) - gammaln(np.asarray(k) + 1.0) - gammaln(n - np.asarray(k) + 1.0))
