"""What a fit says about the terms it could not use; in names of terms and counts, never in levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.standardized import Standardized


def left_out(data: Standardized, free: NDArray[np.bool_]) -> tuple[str, ...]:
    """One sentence for the columns that never vary, one for those that others determine."""
    notes = []
    for marked, why in ((data.constant, "never vary"), (~free & ~data.constant, "are determined by others")):
        if marked.any():
            terms = dict.fromkeys(data.sources[place] for place in np.flatnonzero(marked))
            notes.append(
                f"{int(marked.sum())} columns of the design {why} and are left out, in {', '.join(terms)}"
            )
    return tuple(notes)
