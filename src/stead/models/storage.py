"""Posteriors as JSON and plain arrays, and back. Nothing that is loaded can run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import InputRefused, UsageError, nearest, shorten
from stead.glm.priors import ConjugatePrior
from stead.glm.standardized import Constants
from stead.language.design import Design
from stead.language.grammar import parse
from stead.models.binary_dp import BinaryDP
from stead.models.counts import NegativeBinomial, Poisson
from stead.models.derived import Derived, DerivedPosterior
from stead.models.external_posterior import ExternalPosterior
from stead.models.gamma import Gamma
from stead.models.linear import Linear
from stead.models.logistic import Logistic
from stead.models.multinomial import Multinomial
from stead.models.multinomial_dp import MultinomialDP
from stead.models.ordered import Ordered
from stead.models.parts import Parts
from stead.models.private import PrivateModel, posterior_of
from stead.models.probit import Probit
from stead.models.regression_posterior import RegressionPosterior
from stead.models.response import NumericResponse
from stead.models.sequence import SequencePosterior
from stead.sampling.diagnostics import Diagnostics
from stead.tables.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from stead.glm.priors import PriorChoice
    from stead.models.base import Model, Posterior
    from stead.models.regression import Regression, Weights

REGRESSIONS: dict[str, type[Regression]] = {
    model.__name__: model
    for model in (Linear, Logistic, Probit, Multinomial, Ordered, Poisson, NegativeBinomial, Gamma)
}
"""By the name that a state and a plan use."""
PRIVATE: dict[str, type[PrivateModel]] = {model.__name__: model for model in (BinaryDP, MultinomialDP)}
MODELS = (*REGRESSIONS, Derived.__name__)


def model_named(name: str, formula: str, prior: PriorChoice = "weak", weights: Weights = "") -> Model:
    """The model that a plan names, or an error with the nearest name; a rule has no prior."""
    if name == Derived.__name__:
        return Derived(formula)
    if name not in REGRESSIONS:
        raise UsageError("E-PLAN-MODEL", f"no model is called {shorten(name)}; {nearest(name, MODELS)}")
    return REGRESSIONS[name](formula, prior, weights)


def regression_state(posterior: RegressionPosterior) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The state of a regression's posterior."""
    model, parts = posterior.model, posterior.parts
    prior = asdict(model.prior) if isinstance(model.prior, ConjugatePrior) else model.prior
    state: dict[str, Any] = {
        "model": type(model).__name__,
        "formula": model.formula,
        "prior": prior if isinstance(prior, str) else dict(prior),
        "weights": model.weights,
        "schema": posterior.design.schema.to_dict(),
        "gaps": list(posterior.design.gaps),
        "column": posterior.column.name,
        "rounded": isinstance(posterior.response, NumericResponse) and posterior.response.rounded,
        "quality": posterior.quality.to_dict(),
        "notes": list(posterior.notes),
        "codes": list(parts.codes),
        "spikes": list(parts.spikes),
        "part_quality": [checked.to_dict() for checked in parts.quality],
    }
    arrays: dict[str, NDArray[Any]] = {
        "coefficients": posterior.coefficients,
        "auxiliary": posterior.auxiliary,
        **{f"part{place}": array for place, array in enumerate(parts.coefficients)},
    }
    if posterior.constants:
        arrays |= _constants_state("constants", posterior.constants)
    for place, constants in enumerate(parts.constants):
        arrays |= _constants_state(f"part{place}.constants", constants)
    return state, arrays


def posterior_from_state(state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Posterior:
    """The posterior that `to_state` described."""
    name = state.get("model")
    if name == "Sequence":
        return SequencePosterior(
            tuple(
                posterior_from_state(part, _named(arrays, f"{place}."))
                for place, part in enumerate(state["parts"])
            )
        )
    if name in PRIVATE:
        settings = {key: value for key, value in state.items() if key not in {"model", "schema"}}
        schema = Schema.from_dict(state["schema"])
        return posterior_of(PRIVATE[name](**settings), schema, arrays["counts"], arrays["draws"])
    if name == "External":
        return ExternalPosterior.from_state(state, arrays)
    if name == Derived.__name__:
        return DerivedPosterior.from_state(state, arrays)
    if name not in REGRESSIONS:
        raise InputRefused(
            "E-MODEL",
            f"no model is called {shorten(str(name))}; {nearest(str(name), [*MODELS, *PRIVATE])}",
        )
    model = REGRESSIONS[name](state["formula"], _prior(state["prior"]), state["weights"])
    schema = Schema.from_dict(state["schema"])
    response = model.response_of(schema[state["column"]])
    if state["rounded"] and isinstance(response, NumericResponse):
        response = response.as_cells()
    parts = Parts(
        tuple(state["codes"]),
        tuple(state["spikes"]),
        tuple(arrays[f"part{place}"] for place in range(len(state["part_quality"]))),
        tuple(Diagnostics(**checked) for checked in state["part_quality"]),
        tuple(_constants_of(f"part{place}.constants", arrays) for place in range(len(state["part_quality"]))),
    )
    return RegressionPosterior(
        model=model,
        design=Design(parse(state["formula"]), schema, tuple(state["gaps"])),
        response=response,
        coefficients=arrays["coefficients"],
        auxiliary=arrays["auxiliary"],
        quality=Diagnostics(**state["quality"]),
        notes=tuple(state["notes"]),
        parts=parts,
        constants=_constants_of("constants", arrays) if "constants.means" in arrays else None,
    )


def _constants_state(name: str, constants: Constants) -> dict[str, NDArray[Any]]:
    return {
        f"{name}.means": constants.means,
        f"{name}.scales": constants.scales,
        f"{name}.constant": constants.constant,
        f"{name}.center": np.array(constants.center),
    }


def _constants_of(name: str, arrays: Mapping[str, NDArray[Any]]) -> Constants:
    means, scales, constant, center = (
        arrays[f"{name}.{part}"] for part in ("means", "scales", "constant", "center")
    )
    return Constants(means, scales, constant, (float(center[0]), float(center[1])))


def _named(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[np.generic]]:
    """The arrays of one part of a sequence."""
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}


def _prior(kept: Any) -> Any:
    """A name, distributions by term, or the constants of a conjugate prior."""
    return ConjugatePrior(**kept) if isinstance(kept, dict) and "degrees" in kept else kept
