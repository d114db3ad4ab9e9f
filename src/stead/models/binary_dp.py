"""Differentially private synthesis of one column with two levels.

    plug-in    n_s draws from Bernoulli((X + alpha) / (n + alpha + beta)),     epsilon = n_s log((1 + min) / min)
    drawn      p ~ Beta(X + alpha, n - X + beta), then n_s draws from p,       epsilon = log(1 + n_s / min)

X counts the second level, min = min(alpha, beta). By default both are the least a that epsilon allows, 1 / (e^(epsilon/n_s) - 1)
or n_s / (e^epsilon - 1). McClure & Reiter (2012), Transactions on Data Privacy 5, equations (3) and (9).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from stead.errors import UsageError
from stead.models.combinations import DeclaredCells, declared_levels
from stead.models.mechanism import epsilon_of, prior_count
from stead.models.private import PrivateModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stead.tables.schema import Level


@dataclass(frozen=True)
class BinaryDP(PrivateModel):
    """`stead.BinaryDP(epsilon=1, column="Insured", declared=("no", "yes"))`."""

    _: KW_ONLY
    column: str
    declared: Sequence[Level] | None = None
    """The two levels, public; the second is what X counts."""
    alpha: float | None = None
    beta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.declared is not None:
            object.__setattr__(self, "declared", declared_levels(self.column, self.declared))
            if len(self.declared) != 2 or None in self.declared:
                raise UsageError(
                    "E-DECLARED",
                    "a binary column has two declared levels; stead.MultinomialDP takes more, None among them",
                )
        for name in ("alpha", "beta"):
            given = getattr(self, name)
            if given is not None and not 0 < given < float("inf"):
                raise UsageError("E-PRIOR", f"{name} is a number above 0")

    @property
    def responses(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    def cells(self) -> DeclaredCells:
        """Two."""
        return DeclaredCells.of({self.column: declared_levels(self.column, self.declared)})

    def prior(self, cells: int, rows: int) -> tuple[Fraction, ...]:
        """Beta for the first level, alpha for the second; neither may be below what epsilon allows."""
        least = prior_count(Fraction(self.epsilon), rows, self.form)
        chosen = tuple(least if a is None else Fraction(a) for a in (self.beta, self.alpha))
        spent = epsilon_of(min(chosen), rows, self.form)
        if spent > Fraction(self.epsilon) * (1 + Fraction(1, 10**9)):
            raise UsageError(
                "E-EPSILON",
                f"alpha or beta of {float(min(chosen)):.6g} gives epsilon {float(spent):,.6g} for {rows:,} rows in the {self.form} form, and {float(self.epsilon):g} is declared; at least {float(least):.6g} is needed",
            )
        return chosen

    def to_state(self) -> dict[str, Any]:
        """The model as JSON."""
        return {
            "model": "BinaryDP",
            "epsilon": float(self.epsilon),
            "column": self.column,
            "declared": list(self.declared or ()),
            "alpha": self.alpha,
            "beta": self.beta,
            "form": self.form,
            "rows": self.rows,
            "shared": self.shared,
        }
