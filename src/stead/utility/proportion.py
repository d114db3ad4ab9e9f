"""What an analyst learns of a proportion p from differentially private synthetic values.

    p(p | D*) = sum over X of p(X | X*) Beta(p; X + a, n - X + b),    p(X | X*) proportional to p(X* | X) BetaBin(X; n, a, b)

with the analyst's own prior Beta(a, b), flat by default, and p(X* | X) the published law of the generator. The sum is done as it
stands, where McClure & Reiter (2012, appendix B, after Charest 2010) sample it. Their utility of a pair of files is

    U = log10( E((p0 - p)^2 | D*) / E((p0 - p)^2 | D) ),      smaller is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log10
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc, betaln

from stead.errors import UsageError
from stead.models.binary_law import BinaryLaw, log_choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.models.mechanism import Form

    Array = NDArray[np.float64]

NEGLIGIBLE = 1e-18
HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Proportion:
    """A mixture of beta distributions, one for each confidential count that there may be."""

    weight: Array
    one: Array
    zero: Array

    @cached_property
    def mean(self) -> float:
        """E(p | D*)."""
        return float(self.weight @ (self.one / (self.one + self.zero)))

    @cached_property
    def sd(self) -> float:
        """The posterior standard deviation."""
        return float(np.sqrt(self.expected_square(self.mean)))

    def expected_square(self, p0: float) -> float:
        """E((p0 - p)^2 | D*)."""
        size = self.one + self.zero
        mean = self.one / size
        return float(self.weight @ ((mean - p0) ** 2 + mean * (1.0 - mean) / (size + 1.0)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The same probability left out on both sides."""
        if not 0 < level < 1:
            raise UsageError("E-INTERVAL", "the level of an interval is between 0 and 1")
        return self.quantile((1.0 - level) / 2.0), self.quantile((1.0 + level) / 2.0)

    def quantile(self, share: float) -> float:
        """By halving: the distribution function is a sum of incomplete beta functions."""
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            below = float(self.weight @ betainc(self.one, self.zero, middle)) < share
            low, high = (middle, high) if below else (low, middle)
        return 0.5 * (low + high)

    def __repr__(self) -> str:
        low, high = self.interval()
        return f"Proportion({self.mean:.4g}, 95 % interval {low:.4g} to {high:.4g})"


def private_proportion(
    synthetic_ones: int | Sequence[int],
    n: int,
    epsilon: float,
    n_s: int | None = None,
    *,
    alpha: float | None = None,
    beta: float | None = None,
    form: Form = "plug-in",
    shared: bool = False,
    prior: tuple[float, float] = (1.0, 1.0),
) -> Proportion:
    """The posterior of p given how many ones each synthetic set has; n, epsilon and the form are published."""
    law = BinaryLaw.of(epsilon, n, n_s, alpha=alpha, beta=beta, form=form)
    counts = np.asarray([synthetic_ones] if isinstance(synthetic_ones, (int, np.integer)) else synthetic_ones)
    if not len(counts) or counts.min() < 0 or counts.max() > law.rows:
        raise UsageError("E-COUNT", f"a synthetic set has from 0 to {law.rows:,} ones")
    if shared:
        law = BinaryLaw(law.n, law.rows * len(counts), law.alpha, law.beta, form)
        counts = counts.sum(keepdims=True)
    a, b = prior
    ones = np.arange(law.n + 1)
    log_weight = log_choose(law.n, ones) + betaln(ones + a, law.n - ones + b)
    log_weight += sum(law.log_kernel(int(count), ones) for count in counts)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    kept = weight > NEGLIGIBLE
    return Proportion(weight[kept] / weight[kept].sum(), ones[kept] + a, law.n - ones[kept] + b)


def binary_utility(
    p0: float | None,
    ones: int,
    synthetic_ones: int | Sequence[int],
    n: int,
    epsilon: float,
    n_s: int | None = None,
    *,
    alpha: float | None = None,
    beta: float | None = None,
    form: Form = "plug-in",
    shared: bool = False,
    prior: tuple[float, float] = (1.0, 1.0),
) -> float:
    """U of one pair of files; where p0 is not known, None stands for the confidential share of ones, and U is about that."""
    if not 0 <= ones <= n:
        raise UsageError("E-COUNT", f"the confidential file has from 0 to {n:,} ones")
    true = ones / n if p0 is None else p0
    released = private_proportion(
        synthetic_ones, n, epsilon, n_s, alpha=alpha, beta=beta, form=form, shared=shared, prior=prior
    )
    a, b = prior
    held = Proportion(np.ones(1), np.array([ones + a]), np.array([n - ones + b]))
    return log10(released.expected_square(true) / held.expected_square(true))
