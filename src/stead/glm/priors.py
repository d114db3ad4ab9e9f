"""Priors of a regression: coefficients on the standardized scale, and its auxiliary parameters.

    weak   slopes N(0, 2.5^2), intercept Student-t(3) at the centre of the response
    flat   slopes flat, intercept Student-t(3): what brms uses by default
    or a distribution for each term, on the scale of the data, as {"log(Income)": "normal(0, 1)"}

The intercept belongs to centred predictors. Gelman, Jakulin, Pittau & Su (2008), Annals of Applied
Statistics 2; Bürkner (2017), Journal of Statistical Software 80.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import numpy as np

from stead.errors import UsageError, nearest, shorten
from stead.glm.distributions import REAL, Distribution

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from stead.glm.standardized import Standardized

    Array = NDArray[np.float64]

PriorName = Literal["weak", "flat"]
SLOPE_SCALE = 2.5
INTERCEPT_DEGREES = 3.0
DIGITS = "0123456789"
AUXILIARY = {
    "sigma": "student_t(3, 0, {spread:g})",
    "shape": "inv_gamma(0.4, 0.3)",
    "threshold": "student_t(3, 0, {spread:g})",
    "share": "flat",
}
"""By name less its number. `spread` is that of the intercept's prior."""


@dataclass(frozen=True)
class CoefficientPrior:
    """Location, scale (inf: flat) and degrees of freedom (inf: normal) of each coefficient."""

    location: Array
    scale: Array
    degrees: Array

    @classmethod
    def named(
        cls,
        name: PriorName,
        width: int,
        *,
        intercept: bool,
        location: float = 0.0,
        scale: float = 2.5,
        slope: float = SLOPE_SCALE,
    ) -> CoefficientPrior:
        """The prior `weak` or `flat`; `location` and `scale` are those of the intercept, `slope` that of weak slopes."""
        locations, degrees = np.zeros(width), np.full(width, np.inf)
        scales = np.full(width, slope if name == "weak" else np.inf)
        if intercept:
            locations[0], scales[0], degrees[0] = location, scale, INTERCEPT_DEGREES
        return cls(locations, scales, degrees)

    def repeated(self, count: int) -> CoefficientPrior:
        """The same for each of several linear predictors."""
        return CoefficientPrior(*(np.tile(one, count) for one in (self.location, self.scale, self.degrees)))

    def log_density(self, coefficients: Array) -> Array:
        """Log prior of every draw, up to a constant."""  # (H,)
        squared = self._squared(coefficients)
        heavy = np.isfinite(self.degrees)
        nu = self.degrees[heavy]
        density: Array = -0.5 * squared[:, ~heavy].sum(axis=1)
        density -= (0.5 * (nu + 1) * np.log1p(squared[:, heavy] / nu)).sum(axis=1)
        return density

    def gradient(self, coefficients: Array) -> Array:
        """D log prior / d coefficient."""  # like coefficients
        return -self.precision(coefficients) * (coefficients - self.location)

    def precision(self, coefficients: Array) -> Array:
        """A positive precision: (nu + 1) / (nu s^2 + d^2), the weight of the t as a scale mixture of normals."""
        away = coefficients - self.location
        with np.errstate(divide="ignore", invalid="ignore"):
            heavy = (self.degrees + 1.0) / (self.degrees * self.scale**2 + away**2)
            normal = np.broadcast_to(1.0 / self.scale**2, away.shape)
        result: Array = np.where(np.isfinite(self.degrees) & np.isfinite(self.scale), heavy, normal)
        return result

    def _squared(self, coefficients: Array) -> Array:
        difference = coefficients - self.location  # (H, p)
        return np.where(np.isfinite(self.scale), (difference / self.scale) ** 2, 0.0)


class Prior(Protocol):
    """The prior of all parameters of one regression; coefficients are (H, L p), auxiliary parameters natural (H, A)."""

    def log_density(self, coefficients: Array, auxiliary: Array) -> Array:
        """Of every draw, up to a constant."""  # (H,)
        ...

    def gradient(self, coefficients: Array, auxiliary: Array) -> tuple[Array, Array]:
        """D / d coefficients and d / d auxiliary."""
        ...

    def precision(self, coefficients: Array, auxiliary: Array) -> Array:
        """A positive number for each coefficient, for the curvature of the posterior."""  # (H, L p)
        ...


@dataclass(frozen=True)
class IndependentPrior:
    """Coefficients and auxiliary parameters that know nothing of each other."""

    coefficients: CoefficientPrior
    auxiliary: tuple[Distribution, ...] = ()

    def log_density(self, coefficients: Array, auxiliary: Array) -> Array:
        """The sum over parameters."""
        total = self.coefficients.log_density(coefficients)
        for place, prior in enumerate(self.auxiliary):
            total = total + prior.log_density(auxiliary[:, place])
        return total

    def gradient(self, coefficients: Array, auxiliary: Array) -> tuple[Array, Array]:
        """Parameter by parameter."""
        slopes = [prior.slope(auxiliary[:, place]) for place, prior in enumerate(self.auxiliary)]
        own = np.stack(slopes, axis=1) if slopes else np.zeros((len(auxiliary), 0))
        return self.coefficients.gradient(coefficients), own

    def precision(self, coefficients: Array, auxiliary: Array) -> Array:
        """Of the coefficients."""
        return self.coefficients.precision(coefficients)


@dataclass(frozen=True)
class ConjugatePrior:
    """The normal-inverse-gamma prior with its constants spelled out, on centred and scaled predictors.

    coefficients | sigma ~ N((center, 0, ...), (width sigma)^2), sigma^2 ~ Inv-Gamma(degrees / 2, degrees spread^2 / 2)
    """

    center: float
    spread: float
    width: float = 10.0
    degrees: float = 1.0


PriorChoice: TypeAlias = "str | Mapping[str, str] | ConjugatePrior"
"""A name, a distribution for each term, or, for a linear regression, the constants of its conjugate prior."""


@dataclass(frozen=True)
class NormalInverseGamma:
    """A conjugate prior as a density, over the coefficients that are free; the first auxiliary parameter is sigma, others are flat."""

    constants: ConjugatePrior
    free: NDArray[np.bool_]
    intercept: bool

    def log_density(self, coefficients: Array, auxiliary: Array) -> Array:
        """-sum (beta_j - b_j)^2 / (2 w^2 sigma^2) - p log sigma - (nu + 1) log sigma - nu s^2 / (2 sigma^2)."""
        sigma, prior = auxiliary[:, 0], self.constants
        squared = ((coefficients - self._location)[:, self.free] ** 2).sum(axis=1)
        powers = self.free.sum() + prior.degrees + 1.0
        scaled = squared / prior.width**2 + prior.degrees * prior.spread**2
        return np.asarray(-powers * np.log(sigma) - 0.5 * scaled / sigma**2)

    def gradient(self, coefficients: Array, auxiliary: Array) -> tuple[Array, Array]:
        """D / d coefficients and d / d auxiliary."""
        sigma, prior = auxiliary[:, 0], self.constants
        away = np.where(self.free, coefficients - self._location, 0.0)
        powers = self.free.sum() + prior.degrees + 1.0
        scaled = (away**2).sum(axis=1) / prior.width**2 + prior.degrees * prior.spread**2
        slope = np.zeros_like(auxiliary)
        slope[:, 0] = -powers / sigma + scaled / sigma**3
        return -away / (prior.width * sigma[:, None]) ** 2, slope

    def precision(self, coefficients: Array, auxiliary: Array) -> Array:
        """1 / (width sigma)^2."""
        one = 1.0 / (self.constants.width * auxiliary[:, :1]) ** 2
        return np.broadcast_to(one, coefficients.shape)

    @property
    def _location(self) -> Array:
        location = np.zeros(len(self.free))
        location[0] = self.constants.center if self.intercept else 0.0
        return location


def prior_of(
    chosen: str | Mapping[str, str],
    data: Standardized,
    auxiliary: tuple[str, ...] = (),
    *,
    predictors: int = 1,
    location: float = 0.0,
    spread: float = 2.5,
    slope: float = SLOPE_SCALE,
) -> IndependentPrior:
    """The prior that `chosen` stands for; `location` and `spread` are those of the intercept, `slope` that of weak slopes."""
    named: PriorName = "flat" if chosen == "flat" else "weak"
    declared = {} if isinstance(chosen, str) else dict(chosen)
    coefficients = CoefficientPrior.named(
        named, len(data.labels), intercept=data.intercept, location=location, scale=spread, slope=slope
    )
    defaults = {name: AUXILIARY[name.rstrip(DIGITS)].format(spread=spread) for name in auxiliary}
    if declared:
        known = [*dict.fromkeys(data.sources), *auxiliary]
        for term in declared:
            if term not in known:
                raise UsageError(
                    "E-PRIOR", f"prior: no term is called {shorten(term)}; {nearest(term, known)}"
                )
        coefficients = _declared(coefficients, declared, data)
    chosen_auxiliary = tuple(Distribution.parse(declared.get(name, defaults[name])) for name in auxiliary)
    return IndependentPrior(coefficients.repeated(predictors), chosen_auxiliary)


def _declared(prior: CoefficientPrior, declared: Mapping[str, str], data: Standardized) -> CoefficientPrior:
    """Put the declared distributions in place, taken from the scale of the data to the standardized one."""
    location, scale, degrees = prior.location.copy(), prior.scale.copy(), prior.degrees.copy()
    for place, term in enumerate(data.sources):
        if term not in declared:
            continue
        distribution = Distribution.parse(declared[term])
        if distribution.name not in REAL:
            raise UsageError("E-PRIOR", f"prior of {shorten(term)}: a coefficient may have {', '.join(REAL)}")
        numbers = distribution.numbers
        unit = 1.0 if term == "Intercept" else float(data.scales[place])
        degrees[place] = numbers[0] if distribution.name == "student_t" else np.inf
        location[place] = numbers[-2] * unit if numbers else 0.0
        scale[place] = numbers[-1] * unit if numbers else np.inf
    return CoefficientPrior(location, scale, degrees)
