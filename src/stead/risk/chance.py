"""The zero-leak reference: what matching would give if the synthesized columns knew nothing of the record.

With n_i rows that agree with record i on the kept columns and a probability pi_i that a drawn row matches it, the number of
matches is Binomial(n_i, pi_i), and any of the n_i rows is as likely to be among them as row i. Hence, for one set,

    E[T_i / c_i] = (1 - (1 - pi_i)^n_i) / n_i
    P(c_i = 1) = n_i pi_i (1 - pi_i)^(n_i - 1),    P(c_i = 1, T_i = 1) = P(c_i = 1) / n_i

Over m sets and the convention `probabilities` the first holds with m n_i in the exponent, since some row is the likeliest as soon as one
matches in any set; the other two have no closed form. Derived in docs/derivations/matching.md, and simulated in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from stead.engine.base import Chances, Convention, Matches


@dataclass(frozen=True)
class Figures:
    """The measures of matching; each None where it is not available."""

    expected_match_risk: float | None
    true_match_rate: float | None = None
    false_match_rate: float | None = None
    unique_matches: float | None = None

    @classmethod
    def of(cls, matches: Matches) -> Figures:
        """The means over the synthetic sets; of the false match rate, over those that have one."""
        false = [rate for rate in false_rates(matches) if rate is not None]
        return cls(
            expected_match_risk=float(np.mean(matches.expected)),
            true_match_rate=float(np.mean([true / matches.rows for true in matches.true])),
            false_match_rate=float(np.mean(false)) if false else None,
            unique_matches=float(np.mean(matches.unique)),
        )

    def to_dict(self) -> dict[str, Any]:
        """By name."""
        return dict(vars(self))


def false_rates(matches: Matches) -> list[float | None]:
    """Of each set, the share of unique matches that are wrong; None where there is none."""
    return [
        (unique - true) / unique if unique else None
        for unique, true in zip(matches.unique, matches.true, strict=True)
    ]


def by_chance(chances: Chances, convention: Convention, m: int) -> Figures:
    """The expected figures of a release that leaks nothing."""
    n, share, weight = chances.known.astype(float), chances.share, chances.weight
    sets = m if convention == "probabilities" else 1
    with np.errstate(divide="ignore"):  # a share of one: every row matches
        some = -np.expm1(sets * n * np.log1p(-share))
    expected = float((weight * some / n).sum())
    if sets > 1:
        return Figures(expected)
    single = weight * share * (1.0 - share) ** (n - 1.0)
    unique, true = float((n * single).sum()), float(single.sum())
    return Figures(
        expected_match_risk=expected,
        true_match_rate=true / float(weight.sum()),
        false_match_rate=(unique - true) / unique if unique > 0 else None,
        unique_matches=unique,
    )
