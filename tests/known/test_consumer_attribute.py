"""Attribute risk of the published extract of 994 consumer units, with its published draws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import stead

KNOWN = Path(__file__).resolve().parents[3] / "shared" / "known"
pytestmark = pytest.mark.skipif(
    not KNOWN.is_dir(), reason="the files with known answers (../shared/known) are not here"
)
RECORD_8 = {
    12.6: 0.09231563,
    12.1: 0.09228750,
    13.1: 0.09204320,
    11.6: 0.09203442,
    11.1: 0.09160126,
    13.6: 0.09136939,
    10.6: 0.09099926,
    10.1: 0.09020571,
    14.1: 0.09017674,
    9.6: 0.08916632,
    9.1: 0.08780057,
}


def _logs(name: str) -> pd.DataFrame:
    frame = pd.read_csv(KNOWN / name)
    return pd.DataFrame(
        {f"Log{column}": np.round(np.log(frame[column]), 1) for column in ("Income", "Expenditure")}
    )


def _release() -> stead.Release:
    draws = np.loadtxt(KNOWN / "ce_994_draws.csv", delimiter=",", skiprows=1)[:, 1:]
    posterior = stead.Linear("LogIncome ~ LogExpenditure").posterior(draws)
    return stead.Release.from_tables(
        _logs("ce_994.csv"),
        [_logs("ce_994_synthetic.csv")],
        synthesized=["LogIncome"],
        aligned=True,
        posterior=posterior,
    )


def test_record_8() -> None:
    """The truth is 11.6, the fourth of eleven guesses."""
    measured = stead.attribute_risk(
        _release(),
        target="LogIncome",
        intruder=stead.Intruder.worst_case(guesses=stead.Grid(2.5, 0.5), prior="uniform"),
    )
    assert measured.details["evidence"] == "reweight"
    assert measured.per_record["probability"][7] == pytest.approx(RECORD_8[11.6], abs=1e-8)
    assert measured.per_record["rank"][7] == 4
    assert len(measured.per_record["probability"]) == 994


@pytest.mark.parametrize("guess", RECORD_8)
def test_every_guess_for_record_8(guess: float) -> None:
    """A prior that leaves the truth and one guess tells their ratio; from those follow all probabilities."""
    places = {value: place for place, value in enumerate(sorted(RECORD_8))}
    if guess == 11.6:
        return
    prior = np.zeros(11)
    prior[[places[guess], places[11.6]]] = 0.5
    measured = stead.attribute_risk(
        _release(),
        "LogIncome",
        stead.Intruder.worst_case(guesses=stead.Grid(2.5, 0.5), prior=prior),
        rows=[7],
    )
    expected = RECORD_8[11.6] / (RECORD_8[11.6] + RECORD_8[guess])
    assert measured.per_record["probability"][0] == pytest.approx(expected, abs=1e-7)
