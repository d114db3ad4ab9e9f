"""What the samplers of a posterior say of their draws: every figure beside its limit, and pictures of the worst chains.

The value is the number of fits whose draws are not to be relied on; such a fit stops a release unless a reason is given.
See sampling/diagnostics.py for the figures, verdicts.py for their limits, traces.py for the pictures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stead.measurement import Measurement, not_available
from stead.models.fits import fits_of
from stead.sampling.traces import LEAST_EACH, worst_traces
from stead.sampling.verdicts import ORDER, has_chains, judge, limits, problems_of, summary, worst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stead.models.base import Posterior
    from stead.models.fits import Fit

CITATION = "Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021)"
INDEPENDENT = "the draws are independent: there is no chain to look at"
ELSEWHERE = "the draws were made elsewhere"
UNKNOWN = f"{ELSEWHERE}: which chain each belongs to is not known here"
SHORT = f"the chains have fewer than {LEAST_EACH} draws each, or nothing varies: too little to picture"


def sampler_check(posterior: Posterior | None) -> Measurement:
    """How many fits of a posterior have bad draws; the table of all fits is in `details`, the worst chains in `chart()`.

    Of a release: `stead.sampler_check(release.posterior)`.
    """
    if posterior is None:
        return not_available(
            "samplers", "no model is recorded: the synthetic sets came from outside", citation=CITATION
        )
    fits = worst_first(fits_of(posterior))
    table = fit_table(fits)
    pictures: list[dict[str, Any]] = []
    for fit, row in zip(fits, table, strict=True):
        if has_chains(fit.diagnostics) and not fit.elsewhere:
            traces = worst_traces(fit.draws, fit.parameters)
            pictures += [{"fit": fit.name, "mark": row["mark"], **one.to_dict()} for one in traces]
            row["no_picture"] = "" if traces else SHORT
    return Measurement(
        name="samplers",
        value=float(sum(row["mark"] == "fail" for row in table)),
        reference=0.0,
        reference_name="allowed in a release",
        citation=CITATION,
        details={
            "summary": summary([row["mark"] for row in table]),
            "limits": limits(),
            "fits": table,
            "no_chart": "" if pictures else "; ".join(dict.fromkeys(row["no_picture"] for row in table)),
        },
        aggregates={"kind": "chains", "columns": pictures} if pictures else {},
    )


def fit_table(fits: Sequence[Fit]) -> list[dict[str, Any]]:
    """A row for each fit: its sampler, its figures beside their limits, its problems."""
    return [
        {
            "fit": fit.name,
            "response": fit.response,
            "method": fit.diagnostics.method,
            "why": fit.diagnostics.to_dict().get("why", ""),
            "draws": fit.diagnostics.draws,
            "mark": worst(fit.diagnostics),
            "figures": {
                key: verdict.to_dict()
                for key, verdict in judge(fit.diagnostics, ELSEWHERE if fit.elsewhere else "").items()
            },
            "problems": list(problems_of(fit.diagnostics)),
            "no_picture": UNKNOWN if fit.elsewhere else INDEPENDENT,
        }
        for fit in fits
    ]


def worst_first(fits: Sequence[Fit]) -> list[Fit]:
    """The fits that need a look before those that do not; otherwise in their order."""
    return sorted(fits, key=lambda fit: -ORDER.index(worst(fit.diagnostics)))
