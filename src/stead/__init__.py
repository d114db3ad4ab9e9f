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
    from stead.errors import DiagnosticsFailed, InputRefused, Interrupted, Notice, SteadError, UsageError
    from stead.glm.priors import ConjugatePrior
    from stead.measurement import Measurement
    from stead.models.choices import Choice
    from stead.models.counts import NegativeBinomial, Poisson
    from stead.models.derived import Derived
    from stead.models.gamma import Gamma
    from stead.models.linear import Linear
    from stead.models.logistic import Logistic
    from stead.models.multinomial import Multinomial
    from stead.models.ordered import Ordered
    from stead.models.probit import Probit
    from stead.models.sequence import Sequence
    from stead.release import Release, synthesize
    from stead.tables.examples import consumer_survey
    from stead.tables.files import read, table, write
    from stead.tables.records import Records
    from stead.tables.schema import Column, Schema
    from stead.utility.ecdf import ecdf
    from stead.utility.margins import margins

__version__ = "0.1.0"

_HOMES = {
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
    "stead.models.counts": ("NegativeBinomial", "Poisson"),
    "stead.models.choices": ("Choice",),
    "stead.models.derived": ("Derived",),
    "stead.models.gamma": ("Gamma",),
    "stead.models.linear": ("Linear",),
    "stead.models.logistic": ("Logistic",),
    "stead.models.multinomial": ("Multinomial",),
    "stead.models.ordered": ("Ordered",),
    "stead.models.probit": ("Probit",),
    "stead.models.sequence": ("Sequence",),
    "stead.release": ("Release", "synthesize"),
    "stead.tables.examples": ("consumer_survey",),
    "stead.tables.files": ("read", "table", "write"),
    "stead.tables.records": ("Records",),
    "stead.tables.schema": ("Column", "Schema"),
    "stead.utility.ecdf": ("ecdf",),
    "stead.utility.margins": ("margins",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Choice",
    "Column",
    "ConjugatePrior",
    "Derived",
    "DiagnosticsFailed",
    "Gamma",
    "InputRefused",
    "Interrupted",
    "Linear",
    "Logistic",
    "Measurement",
    "Multinomial",
    "NegativeBinomial",
    "Notice",
    "Ordered",
    "Poisson",
    "Probit",
    "Records",
    "Release",
    "Schema",
    "Sequence",
    "SteadError",
    "UsageError",
    "consumer_survey",
    "ecdf",
    "margins",
    "read",
    "synthesize",
    "table",
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
