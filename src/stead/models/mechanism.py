"""The two differentially private ways to draw synthetic cells from counts x of n records in L possible cells.

    plug-in    n_s draws from (x_l + a_l) / (n + sum a)                         epsilon = n_s log((1 + min a) / min a)
    drawn      theta ~ Dirichlet(x + a), then n_s draws from theta              epsilon = log(1 + n_s / min a)

for neighbours that change one record, n public; both are attained where n_s draws fall in a cell that one record entered.
Solved for a: 1 / (e^(epsilon / n_s) - 1) and n_s / (e^epsilon - 1). The a of the one form is not that of the other: they are
never mixed. m sets cost m epsilon; with one theta for all of them ("drawn", shared) log(1 + m n_s / a).
McClure & Reiter (2012), Transactions on Data Privacy 5, appendix A; Machanavajjhala et al. (2008). Derivation:
docs/derivations/privacy.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from stead.errors import UsageError, nearest
from stead.sampling.exact import draw_categories, draw_urn
from stead.sampling.rational import exp_minus_one_below, log_one_plus_above, rounded_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Whole = NDArray[np.int64]

Form = Literal["plug-in", "drawn"]
FORMS = ("plug-in", "drawn")
MOST_EPSILON = 1e6


def require_epsilon(epsilon: float, form: str) -> Fraction:
    """Epsilon as the number that it is, once both are known to make sense."""
    if form not in FORMS:
        raise UsageError("E-FORM", f"form: {nearest(str(form), FORMS)}")
    number = isinstance(epsilon, (int, float, Fraction)) and not isinstance(epsilon, bool)
    if not number or not 0 < epsilon <= MOST_EPSILON:
        raise UsageError("E-EPSILON", f"epsilon is a number above 0, at most {MOST_EPSILON:,.0f}")
    return Fraction(epsilon)


def prior_count(epsilon: Fraction, rows: int, form: Form) -> Fraction:
    """The least a under which `rows` draws have this epsilon, rounded up."""
    if form == "plug-in":
        return rounded_up(1 / exp_minus_one_below(epsilon / rows))
    return rounded_up(rows / exp_minus_one_below(epsilon))


def epsilon_of(least: Fraction, rows: int, form: Form) -> Fraction:
    """The epsilon of `rows` draws under this least a, rounded up."""
    if form == "plug-in":
        return rows * log_one_plus_above(1 / least)
    return log_one_plus_above(rows / least)


@dataclass(frozen=True)
class Mechanism:
    """How cells are drawn: the form, what is added to each count, the rows of a set."""

    form: Form
    prior: tuple[Fraction, ...]  # a_l, (L,)
    rows: int
    shared: bool = False
    """Whether all sets have one theta; for the drawn form."""

    @property
    def epsilon(self) -> Fraction:
        """Of one set."""
        return epsilon_of(min(self.prior), self.rows, self.form)

    def cost(self, m: int) -> Fraction:
        """Of m sets."""
        if self.shared:
            return epsilon_of(min(self.prior), m * self.rows, self.form)
        return m * self.epsilon

    def weights(self, counts: Sequence[int] | Whole) -> tuple[list[int], int]:
        """(x_l + a_l) D as whole numbers, and D."""
        common = lcm(*{a.denominator for a in self.prior})
        added = {a: a.numerator * (common // a.denominator) for a in set(self.prior)}
        return [int(count) * common + added[a] for count, a in zip(counts, self.prior, strict=True)], common

    def draw(self, counts: Whole, m: int) -> list[Whole]:
        """The cells of m sets."""
        weights, common = self.weights(counts)
        if self.form == "plug-in":
            return [draw_categories(weights, self.rows) for _ in range(m)]
        if not self.shared:
            return [draw_urn(weights, common, self.rows) for _ in range(m)]
        return np.split(draw_urn(weights, common, m * self.rows), m)

    def probability(self, counts: Sequence[int] | Whole, sets: Sequence[Sequence[int] | Whole]) -> int:
        """Of sets with these counts, in one order, as a whole number: up to a factor that is the same for all neighbours."""
        weights, common = self.weights(counts)
        pooled = [map(sum, zip(*sets, strict=True))] if self.shared else sets
        total = 1
        for one in pooled:
            for weight, count in zip(weights, one, strict=True):
                drawn = int(count)
                total *= (
                    weight**drawn
                    if self.form == "plug-in"
                    else prod(range(weight, weight + drawn * common, common))
                )
        return total

    def evidence(self, counts: Whole, sets: Sequence[Whole], here: Whole, there: Whole) -> Array:
        """Log p(sets | one record in `there`) - log p(sets | it is in `here`), where it is counted now.

        plug-in    z_g log((x_g + 1 + a_g) / (x_g + a_g)) + z_k log((x_k - 1 + a_k) / (x_k + a_k))
        drawn      log((x_g + a_g + z_g) / (x_g + a_g)) + log((x_k - 1 + a_k) / (x_k - 1 + a_k + z_k)), set by set
        """  # (n, G) from (n,) and (n, G)
        gained, lost = np.zeros(len(counts)), np.zeros(len(counts))
        added = np.array([float(a) for a in self.prior])
        left = np.maximum(counts - 1, 0) + added  # a cell without records loses none
        full = counts + added
        for drawn in [np.sum(sets, axis=0)] if self.shared or self.form == "plug-in" else sets:
            if self.form == "plug-in":
                gained += drawn * np.log1p(1.0 / full)
                lost -= drawn * np.log1p(1.0 / left)
            else:
                gained += np.log1p(drawn / full)
                lost -= np.log1p(drawn / left)
        return np.where(there == here[:, None], 0.0, gained[there] + lost[here][:, None])
