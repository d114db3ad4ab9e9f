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
from stead.glm.standardized import Standardized
from stead.language.design import Design
from stead.tables.records import Records, Values
from stead.tables.schema import Column, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        modelled = family.sample(design.matrix(self.given) @ coefficients[0], float(sigma), rng)
        values = self.model.response_of(self.column).decode(modelled)
        return np.append(coefficients[0], sigma), self.given.with_column(self.column, Values.complete(values))


@dataclass
class LogisticCase:
    """A logistic regression under its weak prior."""

    model: Regression
    given: Records
    column: Column = Column("y", "binary", levels=(0, 1))  # noqa: RUF009 - a frozen value

    def draw(self, rng: np.random.Generator) -> tuple[Array, Records]:
        """Coefficients from the weak prior, then the response."""
        design, data = _frame(self.model, self.given, self.column)
        standard = 2.5 * rng.standard_normal(len(design.labels))
        standard[0] = 2.5 * rng.standard_t(3)
        coefficients = data.original(standard[None, :])[0]
        eta = design.matrix(self.given) @ coefficients
        values = (rng.random(len(eta)) < 1.0 / (1.0 + np.exp(-eta))).astype(np.int32)
        return coefficients, self.given.with_column(self.column, Values.complete(values))


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

    from stead.models.regression import RegressionPosterior

    assert isinstance(posterior, RegressionPosterior)
    every = np.vstack([truth, kept])
    scaled = posterior.scale is not None
    probe = replace(
        posterior, coefficients=every[:, :-1] if scaled else every, scale=every[:, -1] if scaled else None
    )
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
    "logistic": LogisticCase(stead.Logistic("y ~ x + w + g"), predictors()),
}
