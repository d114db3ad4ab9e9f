"""Global utility at a glance: scores, distribution functions, tables of one and of two columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.utility.ecdf import ecdf
from stead.utility.margins import margins
from stead.utility.propensity import pmse

if TYPE_CHECKING:
    from stead.measurement import Measurement
    from stead.release import Release
    from stead.utility.null_choice import NullName


def overview(
    release: Release,
    formula: str | None = None,
    order: int = 2,
    classifier: Any = "logistic",
    null: NullName | None = None,
) -> list[Measurement]:
    """PMSE, the distribution function of each synthesized column with an order, and margins of order 1 and 2."""
    schema = release.confidential.schema
    ordered = [name for name in release.synthesized if schema[name].kind != "categorical"]
    measured = [pmse(release, formula, order, classifier, null)]
    measured += [ecdf(release, [name]) for name in ordered]
    measured.append(margins(release))
    if len(release.synthetic[0].names) > 1:
        measured.append(margins(release, order=2))
    return measured
