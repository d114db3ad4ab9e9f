"""The study of McClure & Reiter (2012), with names that stead gives to everybody: table 1 and figures 1 to 4.

    python examples/mcclure_reiter.py [folder]

For each of four shares p0 and six epsilons, ten pairs of files of 1,000 binary values are made, 240 in all. Each is looked at by an
intruder who knows every record but one. The confidential files are simulated; the noise of the synthetic ones comes from the
operating system, so that figures differ a little from run to run, and the table does not.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import stead

SHARES = (0.001, 0.3, 0.5, 0.999)
EPSILONS = (1000, 100, 10, 2, 0.2, 0.01)
ROWS, REPEATS = 1_000, 10
LEVELS = (0, 1)
REGION = stead.Region("R <= .1 or RR <= 1.05 or (RR <= 10 and R <= .2)")
SCHEMA = stead.Schema([stead.Column("Y", "binary", levels=LEVELS)])


def main(folder: Path) -> None:
    """Print the table, draw the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    table = stead.expected_risk(SHARES, EPSILONS, ROWS)
    print("Expected increase in risk, prior 1/2")
    print(f"{'p0':>6}" + "".join(f"{f'eps {epsilon:g}':>13}" for epsilon in EPSILONS))
    for share, row in zip(SHARES, table, strict=True):
        print(f"{share:>6g}" + "".join(f"{value:>13.6g}" for value in row))
    rng = np.random.default_rng(2012)
    for share in SHARES:
        pairs = [pair(share, epsilon, rng) for epsilon in EPSILONS for _ in range(REPEATS)]
        for name, measured in (
            ("risk-utility", against_utility(share, pairs)),
            ("sweep", every_prior(share, pairs)),
        ):
            print(measured.chart().save(folder / f"{name}-{share:g}.png"))


def pair(share: float, epsilon: float, rng: np.random.Generator) -> dict[str, float | bool | str]:
    """One confidential file, one synthetic: the risk of a record with Y = 1 (Y = 0 where there is none) and the utility."""
    values = (rng.random(ROWS) < share).astype(int)
    records = stead.table({"Y": values}, SCHEMA)
    release = stead.synthesize(records, stead.BinaryDP(epsilon, column="Y", declared=LEVELS), m=1)
    row = int(values.argmax())  # the first record with Y = 1, or the first of all
    measured = stead.attribute_risk(release, "Y", stead.Intruder.sweep(), rows=[row])
    drawn = int(release.synthetic[0]["Y"].values.sum())
    return {
        "group": f"{epsilon:g}",
        "risk": float(measured.per_record["probability"][0]),
        "factor": float(measured.per_record["factor"][0]),
        "utility": stead.binary_utility(share, int(values.sum()), drawn, ROWS, epsilon),
        "hollow": not values.any(),
        "outside": bool(REGION.outside(float(measured.per_record["factor"][0]))),
    }


def against_utility(share: float, pairs: list[dict[str, float | bool | str]]) -> stead.Measurement:
    """Figures 1 and 2."""
    return stead.Measurement(
        name=f"risk and utility, p0 = {share:g}",
        value=max(float(one["risk"]) for one in pairs),
        reference=0.5,
        reference_name="the prior",
        direction="lower is safer",
        aggregates={
            "kind": "risk_utility",
            "title": f"Where p0 is {share:g}, what does a smaller epsilon cost?",
            "points": pairs,
            "groups": [f"{epsilon:g}" for epsilon in EPSILONS],
            "group_name": "epsilon",
            "utility_name": "loss of utility, log10 (smaller is better)",
            "risk_name": "R, probability of the true value",
            "hollow_name": "no record has Y = 1, and the risk is that of a Y = 0"
            if any(one["hollow"] for one in pairs)
            else "",
        },
    )


def every_prior(share: float, pairs: list[dict[str, float | bool | str]]) -> stead.Measurement:
    """Figures 3 and 4."""
    return stead.Measurement(
        name=f"every prior, p0 = {share:g}",
        value=float(np.mean([bool(one["outside"]) for one in pairs])),
        reference=0.0,
        reference_name="every file inside under every prior",
        direction="lower is safer",
        aggregates={
            "kind": "sweep",
            "columns": ["lines"],
            "title": f"Where p0 is {share:g}, which files could a prior take out of the acceptance region?",
            "region": REGION.text,
            "lines": [{"factor": one["factor"], "group": one["group"]} for one in pairs],
            "group_name": "epsilon",
            "unit": "files",
        },
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "mcclure-reiter"))
