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
    from stead.measurement import Measurement
    from stead.models.linear import ConjugatePrior, Linear
    from stead.models.logistic import Logistic
    from stead.models.sequence import Sequence
    from stead.release import Release, synthesize
    from stead.risk.attribution import dcap, disco
    from stead.risk.matching import match_risk
    from stead.risk.sensitivity import match_sensitivity, worst_records
    from stead.risk.uniques import replicated_values, uniques
    from stead.tables.examples import consumer_survey
    from stead.tables.files import read, table, write
    from stead.tables.records import Records
    from stead.tables.schema import Column, Schema
    from stead.utility.ecdf import ecdf
    from stead.utility.margins import margins

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
    "stead.models.linear": ("ConjugatePrior", "Linear"),
    "stead.models.logistic": ("Logistic",),
    "stead.models.sequence": ("Sequence",),
    "stead.release": ("Release", "synthesize"),
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
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Ball",
    "Column",
    "ConjugatePrior",
    "DiagnosticsFailed",
    "InputRefused",
    "Interrupted",
    "Linear",
    "Local",
    "Logistic",
    "Measurement",
    "Notice",
    "ParquetRelease",
    "Radius",
    "Records",
    "Release",
    "Schema",
    "Sequence",
    "SteadError",
    "Tables",
    "UsageError",
    "consumer_survey",
    "dcap",
    "disco",
    "ecdf",
    "margins",
    "match_risk",
    "match_sensitivity",
    "read",
    "replicated_values",
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
