"""The fits inside a posterior, one for each sampler that ran: what its draws are called and what it says of them.

A sequence has one for each column, and a column one more for each of its missing codes and spikes. Parameters are named by
their terms: the label of a coefficient holds a level, which is a value of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import shorten
from stead.models.external_posterior import ExternalPosterior
from stead.models.regression_posterior import RegressionPosterior
from stead.models.sequence import SequencePosterior
from stead.sampling.verdicts import problems_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stead.models.base import Posterior
    from stead.sampling.diagnostics import Diagnostics

    Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class Fit:
    """One fit of one sampler. Row h of `draws` belongs to chain h % 4, unless they were made `elsewhere`."""

    name: str
    response: str
    diagnostics: Diagnostics
    draws: Array  # (H, K)
    parameters: tuple[str, ...]
    elsewhere: bool = False

    @property
    def problems(self) -> tuple[str, ...]:
        """Why its draws are not to be relied on; empty where they are."""
        return tuple(f"{shorten(self.name)}: {problem}" for problem in problems_of(self.diagnostics))


def fits_of(posterior: Posterior) -> tuple[Fit, ...]:
    """All fits, in the order in which the columns are made."""
    if isinstance(posterior, SequencePosterior):
        return tuple(fit for part in posterior.parts for fit in fits_of(part))
    if isinstance(posterior, RegressionPosterior):
        return tuple(_of_regression(posterior))
    return tuple(_of_any(posterior))


def _of_regression(posterior: RegressionPosterior) -> Iterator[Fit]:
    """The values of the column, then which of its cells are missing or a spike."""
    response, draws, family = posterior.responses[0], posterior.draws, posterior.response.family
    left_out = posterior.coefficients.shape[1] + posterior.auxiliary.shape[1] - draws.shape[1]
    sources = posterior.design.sources
    named = _named(sources[left_out:], family.count)  # thresholds take the place of an intercept
    names = (*named, *family.auxiliary)
    yield Fit(response, response, posterior.quality, draws, names, elsewhere=posterior.constants is None)
    parts = posterior.parts
    kinds = [("missing code", len(parts.codes)), ("spike", len(parts.spikes))]
    titles = [
        f"{response}, {kind} {place} of {count}" if count > 1 else f"{response}, {kind}"
        for kind, count in kinds
        for place in range(1, count + 1)
    ]
    for title, coefficients, checked in zip(
        titles, parts.coefficients, parts.quality, strict=False
    ):  # those made elsewhere have none
        yield Fit(title, response, checked, coefficients, _named(sources))


def _named(sources: tuple[str, ...], equations: int = 1) -> tuple[str, ...]:
    """A name for each coefficient: its term, and its place where the term has several columns."""
    names = []
    for equation in range(equations):
        for place, source in enumerate(sources):
            several = sources.count(source)
            nth = f", {sources[: place + 1].count(source)} of {several}" if several > 1 else ""
            names.append(f"{source}{nth}" + (f", equation {equation + 1}" if equations > 1 else ""))
    return tuple(names)


def _of_any(posterior: Posterior) -> Iterator[Fit]:
    """A posterior of another kind: its parameters by place, since nothing is known of what their names hold."""
    checks, responses = posterior.diagnostics, posterior.responses
    elsewhere = isinstance(posterior, ExternalPosterior)
    if len(checks) == 1:
        names = tuple(f"parameter {place + 1}" for place in range(posterior.draws.shape[1]))
        name = ", ".join(responses[:3]) + (" and more" if len(responses) > 3 else "")
        yield Fit(name, responses[0], checks[0], posterior.draws, names, elsewhere)
        return
    for place, checked in enumerate(checks):
        name = responses[place] if place < len(responses) else f"fit {place + 1}"
        yield Fit(name, name, checked, np.zeros((checked.draws, 0)), (), elsewhere)
