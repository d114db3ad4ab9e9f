"""Posteriors as JSON and plain arrays, and back. Nothing that is loaded can run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from stead.errors import InputRefused, nearest, shorten
from stead.language.design import Design
from stead.language.grammar import parse
from stead.models.gaps import Gaps
from stead.models.linear import ConjugatePrior, Linear
from stead.models.logistic import Logistic
from stead.models.regression import Regression, RegressionPosterior
from stead.models.sequence import SequencePosterior
from stead.sampling.diagnostics import Diagnostics
from stead.tables.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from stead.models.base import Posterior

REGRESSIONS: dict[str, type[Regression]] = {"Linear": Linear, "Logistic": Logistic}
"""By the name that a state and a plan use."""


def regression_state(posterior: RegressionPosterior) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The state of a regression's posterior."""
    prior = posterior.model.prior
    state: dict[str, Any] = {
        "model": type(posterior.model).__name__,
        "formula": posterior.model.formula,
        "prior": prior if isinstance(prior, str) else asdict(prior),
        "schema": posterior.design.schema.to_dict(),
        "gaps": list(posterior.design.gaps),
        "column": posterior.column.name,
        "quality": posterior.quality.to_dict(),
        "notes": list(posterior.notes),
        "codes": list(posterior.gaps.codes) if posterior.gaps else [],
        "gap_quality": [checked.to_dict() for checked in posterior.gaps.quality] if posterior.gaps else [],
    }
    arrays: dict[str, NDArray[Any]] = {"coefficients": posterior.coefficients}
    if posterior.scale is not None:
        arrays["scale"] = posterior.scale
    if posterior.gaps:
        arrays |= {f"gap{place}": array for place, array in enumerate(posterior.gaps.coefficients)}
    return state, arrays


def posterior_from_state(state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Posterior:
    """The posterior that `to_state` described."""
    name = state.get("model")
    if name == "Sequence":
        parts = []
        for place, part in enumerate(state["parts"]):
            prefix = f"{place}."
            held = {
                key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)
            }
            parts.append(posterior_from_state(part, held))
        return SequencePosterior(tuple(parts))
    if name not in REGRESSIONS:
        raise InputRefused(
            "E-MODEL", f"no model is called {shorten(str(name))}; {nearest(str(name), REGRESSIONS)}"
        )
    prior = state["prior"] if isinstance(state["prior"], str) else ConjugatePrior(**state["prior"])
    schema = Schema.from_dict(state["schema"])
    gaps = None
    if state["codes"]:
        quality = tuple(Diagnostics(**checked) for checked in state["gap_quality"])
        gaps = Gaps(
            tuple(state["codes"]),
            tuple(arrays[f"gap{place}"] for place in range(len(state["codes"]))),
            quality,
        )
    return RegressionPosterior(
        model=REGRESSIONS[name](state["formula"], prior),
        design=Design(parse(state["formula"]), schema, tuple(state["gaps"])),
        column=schema[state["column"]],
        coefficients=arrays["coefficients"],
        scale=arrays.get("scale"),
        quality=Diagnostics(**state["quality"]),
        notes=tuple(state["notes"]),
        gaps=gaps,
    )
