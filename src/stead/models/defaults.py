"""What a posterior answers that cannot be fitted again and has no closed form; one that can overrides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.errors import UsageError
from stead.language.functions import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from stead.language.functions import Function
    from stead.models.base import Posterior
    from stead.randomness import Rng
    from stead.tables.records import Records

    Array = NDArray[np.float64]


class PosteriorDefaults:
    """To be inherited; see the protocol in base.py."""

    @property
    def refittable(self) -> bool:
        """It is not."""
        return False

    def refit(self, records: Records, *, draws: int = 1000, rng: Rng = None) -> Posterior:
        """Refused."""
        raise UsageError(
            "E-REFIT",
            "this model cannot be fitted again: its draws were made elsewhere, or its prior is not known",
        )

    def has_exact_evidence(self, targets: tuple[str, ...], *, known: bool) -> bool:
        """None has a closed form."""
        return False

    def exact_evidence(
        self,
        confidential: Records,
        synthetic: Sequence[Records],
        values: Mapping[str, NDArray[Any]],
        rows: NDArray[np.int64],
    ) -> Array | None:
        """There is none."""
        return None

    def scale(self, name: str) -> Function:
        """Every column is on its own scale."""
        return IDENTITY
