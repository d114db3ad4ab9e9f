"""What keys give away about another column: DiSCO and correct attribution probabilities.

For keys q and a level t of the target let d_tq and s_tq be the numbers of confidential and of synthetic records, d_q and s_q their
sums over t, N_d the confidential rows. As shares of the confidential records

    DiSCO  sum of d_tq over cells with s_tq = s_q > 0, / N_d     on the confidential file itself  Dorig = sum of d_tq over d_tq = d_q, / N_d
    DCAP   sum of d_tq s_tq / s_q, / N_d                         on the confidential file itself  CAPd = sum of d_tq^2 / d_q, / N_d

Raab, Nowok & Dibben (2024), Practical privacy metrics for synthetic data, section 3.3 and appendices; CAP goes back to Elliot
(2014) and Taub et al. (2018). Rows need not be aligned. A record whose keys are not in the synthetic file counts as not found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.risk.cells import counted, mean, measured, of_keys, without
from stead.risk.keys import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stead.engine.base import Engine
    from stead.measurement import Measurement
    from stead.risk.keys import Aligned

CITATION = "Raab, Nowok & Dibben (2024)"
CAP_CITATION = "Elliot (2014); Taub, Elliot, Pampaka & Smith (2018); Raab, Nowok & Dibben (2024)"


def disco(
    release: Aligned, keys: str | Iterable[str], target: str, *, engine: Engine[Any] | None = None
) -> Measurement:
    """DiSCO: the share of confidential records whose keys have one level of the target in the synthetic file, and it is theirs."""
    names = listed(keys)
    cells = counted(release, names, (target,), engine)
    if isinstance(cells, str):
        return without("disco", cells, CITATION)
    real, sets = cells.counts[0], cells.counts[1:]
    n, all_real = int(real.sum()), of_keys(cells, real)
    given_away = (real > 0) & (real == all_real)
    certain = [(one > 0) & (one == of_keys(cells, one)) for one in sets]
    found = [float(real[flags].sum()) / n for flags in certain]
    original = float(real[given_away].sum()) / n
    details = {
        "disco": mean(found),
        "disclosive_in_original": original,
        "disclosive_in_synthetic_file": mean(
            float(one[flags].sum() / one.sum()) for one, flags in zip(sets, certain, strict=True)
        ),
        "keys_in_synthetic": mean(float(real[of_keys(cells, one) > 0].sum()) / n for one in sets),
        "disclosive_in_synthetic": mean(float(all_real[flags].sum()) / n for flags in certain),
        "disclosive_in_both": mean(float(real[flags & given_away].sum()) / n for flags in certain),
        "keys": list(names),
        "target": target,
        "rows": n,
    }
    return measured("disco", found, original, CITATION, details)


def dcap(
    release: Aligned, keys: str | Iterable[str], target: str, *, engine: Engine[Any] | None = None
) -> Measurement:
    """DCAP: the probability that a synthetic record with the keys of a confidential one, taken at random, has its target.

    `tcap` is DiSCO among the records whose keys are in the synthetic file (Little et al. 2022, as in Raab et al.),
    `correct_of_disclosive` among those whose keys have one level of the target there (Taub et al. 2019), and `baseline`
    what guessing from the margin of the target gives.
    """
    names = listed(keys)
    cells = counted(release, names, (target,), engine)
    levels = counted(release, target, (), engine)
    if isinstance(cells, str) or isinstance(levels, str):
        return without("dcap", str(cells), CAP_CITATION)
    real, sets = cells.counts[0], cells.counts[1:]
    n, all_real = int(real.sum()), of_keys(cells, real)
    all_made = [of_keys(cells, one) for one in sets]
    certain = [(one > 0) & (one == all_of) for one, all_of in zip(sets, all_made, strict=True)]
    found = [
        float((real * one / np.maximum(all_of, 1)).sum()) / n
        for one, all_of in zip(sets, all_made, strict=True)
    ]
    original = float((real * real / np.maximum(all_real, 1)).sum()) / n
    details = {
        "dcap": mean(found),
        "cap_original": original,
        "cap_synthetic": mean(
            float((one * one / np.maximum(all_of, 1)).sum() / one.sum())
            for one, all_of in zip(sets, all_made, strict=True)
        ),
        "tcap": mean(
            _share(real[flags].sum(), real[all_of > 0].sum())
            for flags, all_of in zip(certain, all_made, strict=True)
        ),
        "tcap_original": float(real[(real > 0) & (real == all_real)].sum()) / n,
        "correct_of_disclosive": mean(_share(real[flags].sum(), all_real[flags].sum()) for flags in certain),
        "baseline": float(((levels.counts[0] / n) ** 2).sum()),
        "keys": list(names),
        "target": target,
        "rows": n,
    }
    return measured("dcap", found, original, CAP_CITATION, details)


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None
