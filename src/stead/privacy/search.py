"""The largest epsilon whose files lie in an acceptance region: the loop of McClure & Reiter (2012), section 4.

    for epsilon from large to small: make the files, measure every record under every prior, stop at the first that is accepted

Whether a file is accepted is decided on the confidential records. The search is therefore *not* differentially private,
whatever the ledger says; the ledger shows what its tries would cost if all of them were published.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from stead.errors import UsageError
from stead.models.base import silent
from stead.models.private import PrivateModel
from stead.release import FEWEST_ROWS, synthesize
from stead.risk.acceptance import acceptable
from stead.risk.attribute import attribute_risk
from stead.risk.intruder import Intruder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stead.measurement import Measurement
    from stead.models.base import Progress
    from stead.models.epsilon import Spending
    from stead.privacy.ledger import Ledger
    from stead.release import Release
    from stead.risk.region import Region
    from stead.tables.records import Records

CAVEAT = "the choice of epsilon looked at the confidential records, and is not differentially private"


@dataclass(frozen=True, repr=False, eq=False)
class Reduced:
    """What the search found: the accepted release, or none, and every epsilon that was tried."""

    release: Release | None
    epsilon: float | None
    tried: tuple[tuple[float, Measurement], ...]
    caveat: str = CAVEAT

    def to_dict(self) -> dict[str, Any]:
        """For the holder: the tries, with the share of records outside."""
        return {
            "epsilon": self.epsilon,
            "tried": [
                {"epsilon": epsilon, "outside": found.value, "safe": found.details["safe"]}
                for epsilon, found in self.tried
            ],
            "caveat": self.caveat,
        }

    def __repr__(self) -> str:
        end = "none is accepted" if self.epsilon is None else f"epsilon {self.epsilon:g} is accepted"
        return f"Reduced({len(self.tried)} tried, {end}; {self.caveat})"


@dataclass(frozen=True)
class _Tries:
    """A ledger that says what its charges are for."""

    ledger: Ledger

    def charge(self, records: Records, spending: Spending) -> object:
        """As a try."""
        return self.ledger.charge(records, spending, "a try of reduce_epsilon")


def reduce_epsilon(
    records: Records,
    model: PrivateModel,
    epsilons: Sequence[float],
    region: Region | None = None,
    *,
    ledger: Ledger,
    m: int = 1,
    rows: int | None = None,
    tolerated: float = 0.0,
    minimum_rows: int = FEWEST_ROWS,
    progress: Progress = silent,
) -> Reduced:
    """Try `epsilons` from the largest down until at most a share `tolerated` of the records can be taken out of `region`.

    Each try is charged to `ledger` before it is made.
    """
    if not isinstance(model, PrivateModel):
        raise UsageError("E-MODEL", "reduce_epsilon takes stead.BinaryDP or stead.MultinomialDP")
    ordered = sorted({float(one) for one in epsilons}, reverse=True)
    if not ordered:
        raise UsageError("E-EPSILON", "epsilons lists at least one")
    models = [replace(model, epsilon=epsilon) for epsilon in ordered]
    tried: list[tuple[float, Measurement]] = []
    for place, (epsilon, one) in enumerate(zip(ordered, models, strict=True)):
        progress(f"epsilon {epsilon:g}", place, len(ordered))
        release = synthesize(records, one, m=m, rows=rows, minimum_rows=minimum_rows, ledger=_Tries(ledger))
        found = acceptable(attribute_risk(release, list(model.responses), Intruder.sweep()), region)
        tried.append((epsilon, found))
        if found.value is not None and found.value <= tolerated:
            return Reduced(release, epsilon, tuple(tried))
    return Reduced(None, None, tuple(tried))
