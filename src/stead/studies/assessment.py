"""The assessment: all that was measured and declared, as versioned JSON that a page is rendered from.

Nothing in it is a row: measurements leave their per-record arrays behind, the plan its levels and codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import stead
from stead.models.samplers import sampler_check

if TYPE_CHECKING:
    from stead.measurement import Measurement
    from stead.release import Release
    from stead.studies.plan import Plan

FORMAT, VERSION = "stead-assessment", 2


def assessment(
    plan: Plan, release: Release, measured: list[Measurement], files: list[str], notices: tuple[str, ...]
) -> dict[str, Any]:
    """The assessment of one release."""
    schema = plan.schema
    return {
        "format": FORMAT,
        "version": VERSION,
        "stead": stead.__version__,
        "title": plan.title or plan.data.title,
        "data": {
            "file": plan.data.name,
            "rows": release.confidential.rows,
            "columns": [
                {
                    "name": column.name,
                    "kind": column.kind,
                    "role": column.role,
                    "synthesized": column.name in release.synthesized,
                    "why": column.why,
                }
                for column in schema
            ],
        },
        "release": {
            "m": release.m,
            "rows": release.synthetic[0].rows,
            "synthesized": list(release.synthesized),
            "kept": list(release.kept),
            "aligned": release.aligned,
            "proper": release.proper,
            "files": files,
        },
        "models": release.posterior.describe() if release.posterior else [],
        "samplers": sampler_check(release.posterior).to_dict(),
        "measured": [one.to_dict() for one in measured],
        "declared": {"plan": plan.declared(), "override": release.provenance.get("override", "")},
        "notices": list(notices),
    }
