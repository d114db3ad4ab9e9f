"""The calibration harness: cases, ranks, and how unlikely their unevenness is.

For each replicate, theta ~ prior, y ~ p(y | theta), L draws from the fitted posterior; the rank of theta among them
is uniform on 0..L exactly when the sampler targets the posterior. Talts, Betancourt, Simpson, Vehtari & Gelman (2018).
The log-likelihood of the data is ranked as well, because it sees dependence between parameters (Modrak et al. 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.stats import chi2, kstest

import stead
from stead.glm.priors import prior_of
from stead.glm.standardized import Standardized
from stead.language.design import Design
from stead.models.response import NumericResponse
from stead.tables.records import Records, Values
from stead.tables.schema import Column, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.glm.distributions import Distribution
    from stead.models.regression import Regression

    Array = NDArray[np.float64]

ROWS, BINS = 60, 20
DRAWS, THIN = 400, 4
"""Four chains of 100; every fourth state of each is kept: 100 draws, so ranks run from 0 to 99 after one is dropped."""


def predictors(rows: int = ROWS) -> Records:
    """A number with a far-off mean, a skewed number, a category with a rare level."""
    rng = np.random.default_rng(1)
    schema = Schema(
        [
            Column("x", "continuous"),
            Column("w", "continuous"),
            Column("g", "categorical", levels=("a", "b", "c")),
        ]
    )
    level = np.zeros(rows, np.int32)
    level[rows // 2 :] = 1
    level[-max(2, rows // 20) :] = 2
    columns = {
        "x": Values.complete(100.0 + rng.normal(size=rows)),
        "w": Values.complete(rng.exponential(size=rows)),
        "g": Values.complete(level),
    }
    return Records(schema, columns, rows)


class Case(Protocol):
    """A model with its prior spelled out, and how to draw from both."""

    model: Regression

    def draw(self, rng: np.random.Generator) -> tuple[Array, Records]:
        """Parameters from the prior (as `posterior.draws` has them), and data given them."""
        ...


@dataclass
class LinearCase:
    """A normal regression under a conjugate prior, on an own scale, a log scale, or between bounds."""

    model: Regression
    prior: stead.ConjugatePrior
    column: Column
    given: Records

    def draw(self, rng: np.random.Generator) -> tuple[Array, Records]:
        """Sigma from its prior, coefficients given it, then the response."""
        design, data = _frame(self.model, self.given, self.column)
        prior = self.prior
        sigma = prior.spread * np.sqrt(prior.degrees / rng.chisquare(prior.degrees))
        standard = sigma * prior.width * rng.standard_normal(len(design.labels))
        standard[0] += prior.center
        coefficients = data.original(standard[None, :])
        family = self.model.response_of(self.column).family
        auxiliary = np.array([sigma])
        modelled = family.sample(design.matrix(self.given) @ coefficients[0], auxiliary, rng)
        values = self.model.response_of(self.column).decode(modelled, auxiliary, rng)
        return np.append(coefficients[0], sigma), self.given.with_column(self.column, Values.complete(values))


@dataclass
class PriorCase:
    """Any regression under a proper prior that does not look at the data: `weak` where that is one, else declared."""

    model: Regression
    given: Records
    column: Column

    def draw(self, rng: np.random.Generator) -> tuple[Array, Records]:
        """Coefficients and auxiliary parameters from the prior, then the response."""
        design, data = _frame(self.model, self.given, self.column)
        response = self.model.response_of(self.column)
        if self.column.heaps and isinstance(response, NumericResponse):
            response = response.as_cells()
        family = response.family
        assert not isinstance(self.model.prior, stead.ConjugatePrior)
        prior = prior_of(
            self.model.prior, data, family.auxiliary, predictors=family.count, slope=self.model.weak_slope
        )
        constants = prior.coefficients
        heavy = np.isfinite(constants.degrees)
        standard = rng.standard_normal(len(heavy))
        standard[heavy] = rng.standard_t(constants.degrees[heavy])
        standard = constants.location + constants.scale * standard
        auxiliary = np.array([_from(one, rng) for one in prior.auxiliary])
        if self.column.heaps:
            auxiliary[1:] = rng.dirichlet(np.ones(len(auxiliary)))[1:]
        thresholds = "threshold1" in family.auxiliary
        if thresholds:
            standard[0], auxiliary = 0.0, np.sort(auxiliary)
        coefficients = data.original(standard[None, :])[0]
        if thresholds:  # as `draws` has them: without an intercept, thresholds on the scale of the data
            auxiliary, coefficients[0] = auxiliary - coefficients[0], 0.0
        several = coefficients.reshape(family.count, -1)
        matrix = design.matrix(self.given)
        eta = matrix @ several[0] if family.count == 1 else matrix @ several.T
        values = response.decode(family.sample(eta, auxiliary, rng), auxiliary, rng)
        truth = np.append(coefficients[1:] if thresholds else coefficients, auxiliary)
        return truth, self.given.with_column(self.column, Values.complete(values))


def _from(prior: Distribution, rng: np.random.Generator) -> float:
    """One number; of a positive parameter where the distribution is for those."""
    numbers = prior.numbers
    if prior.name == "gamma":
        return float(rng.gamma(numbers[0], 1.0 / numbers[1]))
    if prior.name == "student_t":
        return float(numbers[1] + numbers[2] * rng.standard_t(numbers[0]))
    if prior.name == "flat":
        return 0.0
    raise ValueError(prior.name)


def _frame(model: Regression, given: Records, column: Column) -> tuple[Design, Standardized]:
    dummy = np.zeros(given.rows, np.int32) if column.coded else np.full(given.rows, 1.0)
    records = given.with_column(column, Values.complete(dummy))
    design = Design.bind(model.parsed, records)
    return design, Standardized(design, records, np.zeros(given.rows), np.ones(given.rows, bool))


def ranks(case: Case, replicates: int, seed: int, *, spoil: float = 1.0) -> NDArray[np.int64]:
    """The rank of every parameter, and of the log-likelihood, in each replicate.

    `spoil` stretches the posterior around its mean: a planted fault that a calibration must find.
    Replicates whose data the model refuses (one level only) are drawn again; the refusal does not
    depend on the parameters given the data, so ranks stay uniform.
    """
    found = []
    for rng in np.random.default_rng(seed).spawn(replicates):
        truth, records = case.draw(rng)
        while True:
            try:
                posterior = case.model.fit(records, draws=DRAWS, rng=rng)
            except stead.InputRefused:
                truth, records = case.draw(rng)
            else:
                break
        kept = posterior.draws.reshape(DRAWS // 4, 4, -1)[::THIN].reshape(-1, posterior.draws.shape[1])[
            : BINS * 5 - 1
        ]
        kept = kept.mean(axis=0) + spoil * (kept - kept.mean(axis=0))
        found.append([*(kept < truth).sum(axis=0), _likelihood_rank(posterior, records, kept, truth)])
    return np.array(found)


def _likelihood_rank(posterior: object, records: Records, kept: Array, truth: Array) -> int:
    from dataclasses import replace

    from stead.models.regression_posterior import RegressionPosterior

    assert isinstance(posterior, RegressionPosterior)
    every = np.vstack([truth, kept])
    size = posterior.auxiliary.shape[1]
    effects, auxiliary = every[:, : every.shape[1] - size], every[:, every.shape[1] - size :]
    if "threshold1" in posterior.response.family.auxiliary:
        effects = np.column_stack([np.zeros(len(every)), effects])
    probe = replace(posterior, coefficients=effects, auxiliary=auxiliary)
    total = probe.log_likelihood(records).sum(axis=1)
    return int((total[1:] < total[0]).sum())


def unevenness(found: NDArray[np.int64]) -> Array:
    """For each ranked quantity the smaller p-value of a chi-square over 20 bins and a Kolmogorov-Smirnov test."""
    p_values = []
    for column in found.T:
        counts = np.bincount(column * BINS // (BINS * 5), minlength=BINS)
        expected = len(column) / BINS
        spread = chi2.sf(((counts - expected) ** 2 / expected).sum(), BINS - 1)
        smooth = (column + np.random.default_rng(0).random(len(column))) / (BINS * 5)
        p_values.append(min(spread, kstest(smooth, "uniform").pvalue))
    return np.array(p_values)


PRIOR = stead.ConjugatePrior(center=9.0, spread=0.8, width=3.0, degrees=6.0)
TIGHT = stead.ConjugatePrior(center=2.0, spread=0.8, width=0.3, degrees=40.0)

NARROW = stead.ConjugatePrior(center=20.0, spread=0.8, width=3.0, degrees=6.0)
LOG_LINK = {"Intercept": "normal(1, 0.5)", "x": "normal(0, 0.4)", "w": "normal(0, 0.4)"}
BINARY = Column("y", "binary", levels=(0, 1))

CASES: dict[str, Case] = {
    "linear": LinearCase(
        stead.Linear("y ~ x + w + g", PRIOR), PRIOR, Column("y", "continuous"), predictors()
    ),
    "linear on a log scale": LinearCase(
        stead.Linear("log(y) ~ x + w*g", PRIOR), PRIOR, Column("y", "continuous"), predictors()
    ),
    "linear, fewer rows than terms": LinearCase(
        stead.Linear("y ~ x*w*g", PRIOR), PRIOR, Column("y", "continuous"), predictors(8)
    ),
    "linear between bounds": LinearCase(
        stead.Linear("y ~ x", TIGHT), TIGHT, Column("y", "continuous", bounds=(0.5, None)), predictors(20)
    ),
    "linear in whole numbers": LinearCase(
        stead.Linear("y ~ x", NARROW), NARROW, Column("y", "continuous", decimals=0), predictors(30)
    ),
    "linear, heaped": PriorCase(
        stead.Linear("y ~ x", {"Intercept": "normal(30, 5)", "x": "normal(0, 3)", "sigma": "gamma(8, 1)"}),
        predictors(20),
        Column("y", "continuous", decimals=0, heaps=(10.0,)),
    ),
    "logistic": PriorCase(stead.Logistic("y ~ x + w + g"), predictors(), BINARY),
    "probit": PriorCase(stead.Probit("y ~ x + g"), predictors(), BINARY),
    "multinomial": PriorCase(
        stead.Multinomial("y ~ x + w"), predictors(), Column("y", "categorical", levels=(1, 2, 3))
    ),
    "ordered": PriorCase(
        stead.Ordered("y ~ x + g"), predictors(), Column("y", "ordered", levels=("low", "middle", "high"))
    ),
    "poisson": PriorCase(stead.Poisson("y ~ x + w", LOG_LINK), predictors(), Column("y", "count")),
    "poisson between bounds": PriorCase(
        stead.Poisson("y ~ x", {"Intercept": "normal(1, 0.5)", "x": "normal(0, 0.4)"}),
        predictors(),
        Column("y", "count", bounds=(0, 4), spikes=(0.0,)),
    ),
    "negative binomial": PriorCase(
        stead.NegativeBinomial("y ~ x + w", {**LOG_LINK, "shape": "gamma(6, 3)"}),
        predictors(),
        Column("y", "count"),
    ),
    "gamma": PriorCase(
        stead.Gamma("y ~ x + w", {**LOG_LINK, "shape": "gamma(6, 3)"}),
        predictors(),
        Column("y", "continuous"),
    ),
}
