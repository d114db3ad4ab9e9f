"""What a differentially private model is to the rest of stead: it can be asked what it spends, and something keeps account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from stead.errors import UsageError

if TYPE_CHECKING:
    from fractions import Fraction

    from stead.models.base import Posterior
    from stead.tables.records import Records
    from stead.tables.schema import Schema


@dataclass(frozen=True)
class Spending:
    """One use of a confidential file: m sets of some columns, and what they cost together."""

    model: str
    columns: tuple[str, ...]
    form: str
    epsilon: float
    """Of one set."""
    m: int
    rows: int
    cost: Fraction


@runtime_checkable
class HasEpsilon(Protocol):
    """A model whose sets are differentially private: levels are declared, noise cannot be made again, cost is known."""

    @property
    def responses(self) -> tuple[str, ...]:
        """The columns that the model makes; its sets have no others."""
        ...

    @property
    def rows(self) -> int | None:
        """Of a set; as many as the confidential file has where None."""
        ...

    def proper(self, m: int) -> bool:
        """Whether each of m sets has its own draw of the parameters."""
        ...

    def with_rows(self, rows: int) -> HasEpsilon:
        """The same model for sets of this many rows."""
        ...

    def require_declared(self, schema: Schema) -> None:
        """Refuse what is not declared as public, before any value is read."""
        ...

    def spending(self, m: int, rows: int) -> Spending:
        """What m sets made from this many records cost."""
        ...

    def private_sets(self, records: Records, m: int, draws: int) -> tuple[Posterior, tuple[Records, ...]]:
        """M sets, and the posterior that they came from."""
        ...


def unseeded() -> UsageError:
    """Why such a model takes no `rng`."""
    return UsageError(
        "E-RNG",
        "differentially private noise takes the entropy of the operating system and cannot be made again: leave rng out",
    )


class Account(Protocol):
    """Where spendings are written down before they are made."""

    def charge(self, records: Records, spending: Spending) -> object:
        """Write it down, or refuse it."""
        ...
