"""Simulated survey files to learn and test with; no row of them belongs to anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.randomness import generator
from stead.tables.records import Records, Values
from stead.tables.schema import Column, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.randomness import Rng

CONSUMER_UNITS = 5_133


def consumer_survey(rows: int = CONSUMER_UNITS, rng: Rng = 2019) -> Records:
    """A file like a quarter of a consumer expenditure survey: five columns, two of them skewed amounts.

    log(Expenditure) is normal around a line in log(Income), KidsCount and Race; Income around Race and
    UrbanRural, with a heavier lower tail than a normal distribution has, as incomes do.
    """
    random = generator(rng)
    urban_rural = (random.random(rows) < 0.06).astype(np.int32)
    race = random.choice(6, size=rows, p=[0.80, 0.11, 0.01, 0.05, 0.01, 0.02]).astype(np.int32)
    kids = np.minimum(random.negative_binomial(0.7, 0.5, rows), 9).astype(np.int64)
    race_effect = np.array([0.0, -0.35, -0.25, 0.10, 0.05, -0.05])
    log_income = 10.75 + race_effect[race] - 0.25 * urban_rural + 0.85 * random.standard_t(6, rows)
    log_expenditure = (
        4.9 + 0.38 * log_income + 0.04 * kids + 0.3 * race_effect[race] + 0.5 * random.standard_normal(rows)
    )
    schema = Schema(
        [
            Column("UrbanRural", "categorical", levels=(1, 2)),
            Column("Income", "continuous", decimals=0),
            Column("Race", "categorical", levels=(1, 2, 3, 4, 5, 6)),
            Column("Expenditure", "continuous", decimals=2),
            Column("KidsCount", "count"),
        ]
    )
    columns: dict[str, NDArray[Any]] = {
        "UrbanRural": urban_rural,
        "Income": np.maximum(np.round(np.exp(log_income)), 1).astype(np.int64),
        "Race": race,
        "Expenditure": np.round(np.exp(log_expenditure), 2),
        "KidsCount": kids,
    }
    return Records(schema, {name: Values.complete(values) for name, values in columns.items()}, rows)
