"""Privacy: the table of expected risk, exact draws of a million rows, the audit, acceptance of many records."""

from __future__ import annotations

from typing import Literal

import numpy as np

import stead
from bench.common import Row, cpu

SHARES, EPSILONS = (0.001, 0.3, 0.5, 0.999), (1000, 100, 10, 2, 0.2, 0.01)
DECLARED = {"A": ("a", "b", "c"), "B": (0, 1)}
MILLION = 1_000_000


def _million(records: stead.Records, form: Literal["plug-in", "drawn"]) -> float:
    model = stead.MultinomialDP(1, columns=["A", "B"], declared=DECLARED, form=form)
    return cpu(lambda: stead.synthesize(records, model, m=1))


def rows() -> list[Row]:
    """The rows of the table."""
    table = cpu(lambda: stead.expected_risk(SHARES, EPSILONS, 1000))
    rng = np.random.default_rng(0)
    schema = stead.Schema(
        [stead.Column("A", "categorical", levels=DECLARED["A"]), stead.Column("B", "binary", levels=(0, 1))]
    )
    records = stead.table({"A": rng.choice(DECLARED["A"], MILLION), "B": rng.integers(0, 2, MILLION)}, schema)
    plug_in, drawn = _million(records, "plug-in"), _million(records, "drawn")
    factor = np.exp(rng.normal(0, 0.1, MILLION))
    risk = stead.Measurement(name="risk", value=0.5, per_record={"factor": factor, "worst_factor": factor})
    accepted = cpu(lambda: stead.acceptable(risk))
    audit = cpu(lambda: stead.audit(1, n=12, n_s=12, levels=3, form="drawn"))
    return [
        Row("expected risk, the 24 cells of McClure & Reiter's table 1", f"{table:.2f} s", "0.5 s"),
        Row("a private set of 10^6 rows x 2 columns, exact, plug-in", f"{plug_in:.2f} s", "3 s"),
        Row("the same, drawn", f"{drawn:.2f} s", "3 s"),
        Row("acceptance of 10^6 records under every prior", f"{accepted:.2f} s", ""),
        Row("audit, n = n_s = 12, 3 levels, 7,098 pairs", f"{audit:.2f} s", ""),
    ]


if __name__ == "__main__":
    for row in rows():
        print(f"| {row.what} | {row.value} | {row.limit or '—'} |")
