"""Which assessments a page can be made from: those of this version, and older ones once they are brought up to it.

1   the first
2   adds `samplers`: every fit beside the limits of its sampler, and pictures of its chains
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, shorten
from stead.models.fits import Fit
from stead.models.samplers import fit_table, worst_first
from stead.sampling.verdicts import from_record, limits, summary

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT, VERSION = "stead-assessment", 2
PARTS = {
    **dict.fromkeys(("format", "version", "stead", "title", "data", "release"), 1),
    **dict.fromkeys(("models", "measured", "declared", "notices"), 1),
    "samplers": 2,
}
"""The parts of an assessment and the version that each came with."""
NO_PICTURE = "an assessment of version 1 holds no pictures of chains"


def current(assessment: Mapping[str, Any]) -> dict[str, Any]:
    """The assessment as this version writes it; refused where it cannot be shown in full."""
    if assessment.get("format") != FORMAT:
        raise UsageError("E-FORMAT", f"this is no assessment: its format is not '{FORMAT}'")
    version = assessment.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise UsageError(
            "E-VERSION",
            f"the assessment has version {shorten(str(version))}; this stead reads versions up to {VERSION}. "
            "Use the stead that wrote it, or a newer one",
        )
    if missing := [part for part, since in PARTS.items() if since <= version and part not in assessment]:
        raise UsageError("E-ASSESSMENT", f"the assessment lacks {', '.join(missing)}")
    return dict(assessment) if version >= 2 else {**assessment, "samplers": _samplers(assessment["models"])}


def _samplers(models: list[dict[str, Any]]) -> dict[str, Any]:
    """The table of fits from what version 1 says of its models."""
    fits = [
        Fit(
            model["response"],
            model["response"],
            from_record({**model["diagnostics"], "method": model["method"], "draws": model["draws"]}),
            np.zeros((0, 0)),
            (),
        )
        for model in models
    ]
    table = [row | {"no_picture": NO_PICTURE} for row in fit_table(worst_first(fits))]
    return {
        "name": "samplers",
        "value": float(sum(row["mark"] == "fail" for row in table)),
        "reason": None,
        "summary": summary([row["mark"] for row in table]),
        "limits": limits(),
        "fits": table,
        "no_chart": NO_PICTURE,
        "aggregates": {},
    }
