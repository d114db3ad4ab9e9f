"""Differentially private synthesis of the joint table of several columns with levels.

    plug-in    n_s draws of a cell, cell l with probability (x_l + a) / (n + L a),   a = 1 / (e^(epsilon/n_s) - 1)
    drawn      theta ~ Dirichlet(x + a), then n_s draws from theta,                  a = n_s / (e^epsilon - 1)

L counts the possible cells: combinations declared impossible (structural zeros) have no count and are never drawn. The
binary generator of McClure & Reiter (2012) with more cells; Machanavajjhala et al. (2008), ICDE 24, for the drawn form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from stead.errors import UsageError, nearest, shorten
from stead.models.combinations import DeclaredCells, declared_levels
from stead.models.private import PrivateModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stead.tables.schema import Level


@dataclass(frozen=True)
class MultinomialDP(PrivateModel):
    """`stead.MultinomialDP(1, columns=["Age", "Married"], declared={"Age": ("child", "adult"), "Married": ("no", "yes")})`.

    None among the levels of a column stands for its missing cells.
    """

    _: KW_ONLY
    columns: Sequence[str]
    declared: Mapping[str, Sequence[Level | None]] | None = None
    """The levels of each column, public, in the order of the schema."""
    structural_zeros: Sequence[Mapping[str, Any]] = ()
    """Impossible combinations, also declared: {"Age": "child", "Married": "yes"}; a list of levels stands for each of them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        columns = (self.columns,) if isinstance(self.columns, str) else tuple(self.columns)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "structural_zeros", tuple(self.structural_zeros))
        if not columns or len(set(columns)) < len(columns):
            raise UsageError("E-COLUMN", "columns names at least one column, each once")
        if self.declared is not None:
            if not isinstance(self.declared, Mapping):
                raise UsageError("E-DECLARED", "declared is a mapping from each column to its levels")
            for name in self.declared:
                if name not in columns:
                    raise UsageError("E-DECLARED", f"declared: {nearest(str(name), columns)}")
            self.cells()

    @property
    def responses(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(self.columns)

    def cells(self) -> DeclaredCells:
        """Every possible combination."""
        given = self.declared or {}
        return DeclaredCells.of(
            {name: declared_levels(name, given.get(name)) for name in self.responses}, self.structural_zeros
        )

    def to_state(self) -> dict[str, Any]:
        """The model as JSON."""
        return {
            "model": "MultinomialDP",
            "epsilon": float(self.epsilon),
            "columns": list(self.columns),
            "declared": {name: list(levels) for name, levels in (self.declared or {}).items()},
            "structural_zeros": [
                {
                    name: list(level) if isinstance(level, (list, tuple, set, frozenset)) else level
                    for name, level in zero.items()
                }
                for zero in self.structural_zeros
            ],
            "form": self.form,
            "rows": self.rows,
            "shared": self.shared,
        }

    def __repr__(self) -> str:
        return f"MultinomialDP({float(self.epsilon):g}, columns={list(map(shorten, self.columns))}, form={self.form!r})"
