"""A column that follows from others by a rule: the same again, a multiple, a sum, a recode.

    y_i = r(x_i)         p(y_i | x_i) = 1 where the rule holds, 0 elsewhere

It has no parameters. The rule is text (language/derivations.py); a recode learns which level belongs to which, or the cut
points, at the fit, and keeps them in its state. A rule that the confidential file breaks is refused. Synthesizing such a
column by a regression would break the rule in the release and show at once which file is synthetic; synthpop calls
rules of this kind "passive synthesis" (Nowok, Raab & Dibben 2016, Journal of Statistical Software 74).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import InputRefused, UsageError, shorten
from stead.language.derivations import Rule, parse_rule
from stead.models.base import Progress, require_given, silent
from stead.models.defaults import PosteriorDefaults
from stead.models.derivation import Derivation, learn
from stead.models.response import require_kept
from stead.sampling.diagnostics import Diagnostics, independent
from stead.tables.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from stead.randomness import Rng
    from stead.tables.records import Records

    Array = NDArray[np.float64]

BY_RULE = "by rule; nothing is drawn"


@dataclass(frozen=True)
class Derived:
    """`stead.Derived("Total = Food + Rent")`, `stead.Derived("Region = recode of Province")`."""

    formula: str

    def __post_init__(self) -> None:
        _ = self.parsed

    @property
    def parsed(self) -> Rule:
        """The rule."""
        return parse_rule(self.formula)

    @property
    def responses(self) -> tuple[str, ...]:
        """The one column that the rule makes."""
        return (self.parsed.target,)

    def check(self, records: Records) -> None:
        """Refuse records in which the rule does not hold."""
        self.learned(records)

    def learned(self, records: Records) -> Derivation:
        """The rule with what it takes from the records, once it holds in every row."""
        rule = self.parsed
        for name in (rule.target, *rule.predictors):
            _ = records[name]
        require_kept(records.schema[rule.target])
        found = learn(rule, records)
        broken = int(np.count_nonzero(~found.holds(records)))
        if broken:
            raise InputRefused(
                "E-RULE-BROKEN",
                f"{shorten(str(rule))}: does not hold in {broken:,} of {records.rows:,} rows; correct them, or model the column instead",
            )
        return found

    def fit(
        self, records: Records, *, draws: int = 1000, rng: Rng = None, progress: Progress = silent
    ) -> DerivedPosterior:
        """The rule, as a posterior without parameters."""
        if draws < 1:
            raise UsageError("E-DRAWS", "draws is a whole number from 1")
        return DerivedPosterior(self, self.learned(records), draws)


@dataclass(frozen=True, repr=False, eq=False)
class DerivedPosterior(PosteriorDefaults):
    """A rule that was learned."""

    model: Derived
    derivation: Derivation
    count: int

    @property
    def draws(self) -> Array:
        """None of any parameter."""  # (H, 0)
        return np.zeros((self.count, 0))

    @property
    def parameters(self) -> tuple[str, ...]:
        """A rule has none."""
        return ()

    @property
    def responses(self) -> tuple[str, ...]:
        """The one column that `sample` makes."""
        return self.model.responses

    @property
    def predictors(self) -> tuple[str, ...]:
        """The columns that it follows from."""
        return tuple(self.derivation.rule.predictors)

    @property
    def refittable(self) -> bool:
        """A rule has nothing to fit."""
        return True

    def refit(self, records: Records, *, draws: int = 1000, rng: Rng = None) -> DerivedPosterior:
        """The same rule."""
        return replace(self, count=draws)

    @property
    def diagnostics(self) -> tuple[Diagnostics, ...]:
        """Nothing can go wrong."""
        return (independent(BY_RULE, self.count),)

    def sample(self, h: int, given: Records, rng: Rng) -> Records:
        """`given` with the column that follows from it."""
        column = self.derivation.column
        require_given(column.name, self.derivation.rule.predictors, given)
        return given.with_column(column, self.derivation.apply(given))

    def log_likelihood(self, records: Records, draws: slice = slice(None)) -> Array:
        """0 where the rule holds, -inf elsewhere, under every draw."""  # (h, n)
        row = np.where(self.derivation.holds(records), 0.0, -np.inf)
        return np.tile(row, (len(range(self.count)[draws]), 1))

    def describe(self) -> list[dict[str, Any]]:
        """For the assessment; what a recode maps to what is not in it."""
        rule = self.derivation.rule
        return [
            {
                "response": rule.target,
                "formula": str(rule),
                "model": type(self.model).__name__,
                "prior": "none",
                "weights": "none",
                "draws": self.count,
                "method": BY_RULE,
                "diagnostics": {},
                "notes": [],
            }
        ]

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """See storage.py."""
        found = self.derivation
        state = {
            "model": type(self.model).__name__,
            "formula": self.model.formula,
            "schema": found.schema.to_dict(),
            "gaps": [list(gap) for gap in found.gaps],
            "positive": found.positive,
            "draws": self.count,
        }
        return state, {"levels": found.levels, "cuts": found.cuts}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> DerivedPosterior:
        """What `to_state` kept."""
        model = Derived(state["formula"])
        gaps = tuple((int(place), int(code), int(own)) for place, code, own in state["gaps"])
        found = Derivation(
            model.parsed,
            Schema.from_dict(state["schema"]),
            arrays["levels"],
            arrays["cuts"],
            gaps,
            bool(state["positive"]),
        )
        return cls(model, found, int(state["draws"]))

    def __repr__(self) -> str:
        return f"Posterior(Derived {shorten(self.model.formula)})"
