"""stead: synthetic microdata to publish in the stead of confidential records.

It shows two things about them: how true they still are, and what an intruder could still learn.

    records = stead.read("survey.csv", categorical=["Race"])
    model = stead.Linear("log(Income) ~ log(Expenditure) + Race")
    release = stead.synthesize(records, model, m=5)
    stead.ecdf(release, columns=["Income"])

Names are loaded when they are first used, so that `import stead` costs little.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stead.engine.duck import Tables
    from stead.engine.files import ParquetRelease
    from stead.engine.local import Local
    from stead.engine.regions import Ball, Radius
    from stead.errors import DiagnosticsFailed, InputRefused, Interrupted, Notice, SteadError, UsageError
    from stead.glm.priors import ConjugatePrior
    from stead.measurement import Measurement
    from stead.models.binary_dp import BinaryDP
    from stead.models.choices import Choice
    from stead.models.counts import NegativeBinomial, Poisson
    from stead.models.derived import Derived
    from stead.models.external import External, external
    from stead.models.gamma import Gamma
    from stead.models.linear import Linear
    from stead.models.logistic import Logistic
    from stead.models.multinomial import Multinomial
    from stead.models.multinomial_dp import MultinomialDP
    from stead.models.ordered import Ordered
    from stead.models.probit import Probit
    from stead.models.samplers import sampler_check
    from stead.models.sequence import Sequence
    from stead.privacy.audit import audit
    from stead.privacy.ledger import Ledger
    from stead.privacy.search import reduce_epsilon
    from stead.release import Release, synthesize
    from stead.risk.acceptance import acceptable
    from stead.risk.attribute import attribute_risk
    from stead.risk.attribution import dcap, disco
    from stead.risk.binary import expected_risk
    from stead.risk.guesses import Grid, Levels, Others, Share
    from stead.risk.intruder import Intruder, PointMass
    from stead.risk.matching import match_risk
    from stead.risk.region import Region
    from stead.risk.sensitivity import match_sensitivity, worst_records
    from stead.risk.uniques import replicated_values, uniques
    from stead.tables.declared import read_declared
    from stead.tables.examples import consumer_survey
    from stead.tables.files import read, table, write
    from stead.tables.records import Records
    from stead.tables.schema import Column, Schema
    from stead.utility.ecdf import ecdf
    from stead.utility.margins import margins
    from stead.utility.predictive import predictive_check
    from stead.utility.propensity import pmse
    from stead.utility.proportion import binary_utility, private_proportion

__version__ = "0.1.0"

_HOMES = {
    "stead.engine.duck": ("Tables",),
    "stead.engine.files": ("ParquetRelease",),
    "stead.engine.local": ("Local",),
    "stead.engine.regions": ("Ball", "Radius"),
    "stead.errors": (
        "DiagnosticsFailed",
        "InputRefused",
        "Interrupted",
        "Notice",
        "SteadError",
        "UsageError",
    ),
    "stead.measurement": ("Measurement",),
    "stead.glm.priors": ("ConjugatePrior",),
    "stead.models.binary_dp": ("BinaryDP",),
    "stead.models.counts": ("NegativeBinomial", "Poisson"),
    "stead.models.external": ("External", "external"),
    "stead.models.choices": ("Choice",),
    "stead.models.derived": ("Derived",),
    "stead.models.gamma": ("Gamma",),
    "stead.models.linear": ("Linear",),
    "stead.models.logistic": ("Logistic",),
    "stead.models.multinomial": ("Multinomial",),
    "stead.models.multinomial_dp": ("MultinomialDP",),
    "stead.models.ordered": ("Ordered",),
    "stead.models.probit": ("Probit",),
    "stead.models.samplers": ("sampler_check",),
    "stead.models.sequence": ("Sequence",),
    "stead.privacy.audit": ("audit",),
    "stead.privacy.ledger": ("Ledger",),
    "stead.privacy.search": ("reduce_epsilon",),
    "stead.release": ("Release", "synthesize"),
    "stead.risk.acceptance": ("acceptable",),
    "stead.risk.attribute": ("attribute_risk",),
    "stead.risk.binary": ("expected_risk",),
    "stead.risk.guesses": ("Grid", "Levels", "Others", "Share"),
    "stead.risk.intruder": ("Intruder", "PointMass"),
    "stead.risk.region": ("Region",),
    "stead.tables.declared": ("read_declared",),
    "stead.risk.attribution": ("dcap", "disco"),
    "stead.risk.matching": ("match_risk",),
    "stead.risk.sensitivity": ("match_sensitivity", "worst_records"),
    "stead.risk.uniques": ("replicated_values", "uniques"),
    "stead.tables.examples": ("consumer_survey",),
    "stead.tables.files": ("read", "table", "write"),
    "stead.tables.records": ("Records",),
    "stead.tables.schema": ("Column", "Schema"),
    "stead.utility.ecdf": ("ecdf",),
    "stead.utility.margins": ("margins",),
    "stead.utility.propensity": ("pmse",),
    "stead.utility.predictive": ("predictive_check",),
    "stead.utility.proportion": ("binary_utility", "private_proportion"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Ball",
    "BinaryDP",
    "Choice",
    "Column",
    "ConjugatePrior",
    "Derived",
    "DiagnosticsFailed",
    "External",
    "Gamma",
    "Grid",
    "InputRefused",
    "Interrupted",
    "Intruder",
    "Ledger",
    "Levels",
    "Linear",
    "Local",
    "Logistic",
    "Measurement",
    "Multinomial",
    "MultinomialDP",
    "NegativeBinomial",
    "Notice",
    "Ordered",
    "Others",
    "ParquetRelease",
    "PointMass",
    "Poisson",
    "Probit",
    "Radius",
    "Records",
    "Region",
    "Release",
    "Schema",
    "Sequence",
    "Share",
    "SteadError",
    "Tables",
    "UsageError",
    "acceptable",
    "attribute_risk",
    "audit",
    "binary_utility",
    "consumer_survey",
    "dcap",
    "disco",
    "ecdf",
    "expected_risk",
    "external",
    "margins",
    "match_risk",
    "match_sensitivity",
    "pmse",
    "predictive_check",
    "private_proportion",
    "read",
    "read_declared",
    "reduce_epsilon",
    "replicated_values",
    "sampler_check",
    "synthesize",
    "table",
    "uniques",
    "worst_records",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"stead has no name {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
