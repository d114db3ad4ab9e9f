"""No value of a file leaves through `stead risk`: not by a result, a chart, an error, a note, a name of a file left behind."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import stead
from stead.cli.main import execute

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOWNS = ["Qzarvik Minor", "Xelqo-on-Sea", "Zbruzhne", "Jaxqel Heights"]
AMOUNTS = [91347.113, 77215.271, 60113.937, 83591.331]
PLANTED = [*TOWNS, *(f"{amount}" for amount in AMOUNTS), *(f"{amount:,.3f}" for amount in AMOUNTS)]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A confidential and a synthetic file in which eight values appear that appear nowhere else."""
    random = np.random.default_rng(0)
    town = np.array([*TOWNS, *(f"town {level}" for level in random.integers(0, 4, 56))])
    amount = np.array([*AMOUNTS, *np.round(random.lognormal(8, 1, 56), 3)])
    table = {"sex": random.integers(1, 3, 60), "town": town, "amount": amount}
    for name, rows in (("real", np.arange(60)), ("made", random.permutation(60))):
        one = {key: values if key == "sex" else values[rows] for key, values in table.items()}
        for ending in ("csv", "parquet"):
            stead.write(stead.table(one), tmp_path / f"{name}.{ending}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _found(text: str) -> set[str]:
    """What shows, as it is or in base64."""
    plain = [
        text,
        *(
            base64.b64decode(run + b"==").decode("latin-1")
            for run in re.findall(rb"[A-Za-z0-9+/]{12,}", text.encode())
            if len(run) % 4 != 1
        ),
    ]
    return {value for value in PLANTED if any(value in one for one in plain)}


GOOD = ["--known", "sex", "--synthesized", "town,amount", "--radius", "amount=10%"]
BAD = {
    "no radius": ["--known", "sex", "--synthesized", "town,amount"],
    "a name that is not there": ["--known", "sexx", "--synthesized", "town"],
    "a column that differs": ["--known", "town", "--synthesized", "amount", "--radius", "amount=1"],
    "a radius for levels": ["--known", "sex", "--synthesized", "town", "--radius", "town=1"],
    "codes of a number": ["--known", "sex", "--synthesized", "amount", "--categorical", "amount"],
}


@pytest.mark.parametrize(
    "files", [["real.csv", "made.csv"], ["real.parquet", "made.parquet", "--engine", "tables"]]
)
@pytest.mark.parametrize("machine", [[], ["--json"]])
def test_no_planted_value_leaves(
    place: Path, capsys: pytest.CaptureFixture[str], files: list[str], machine: list[str]
) -> None:
    before = set(place.iterdir())
    assert execute(["risk", "match", *files, *GOOD, *machine, "--chart", "risk.svg"]) == 0
    for arguments in BAD.values():
        assert execute(["risk", "match", *files, *arguments, *machine]) in {0, 2, 3}
    told = capsys.readouterr()
    assert _found(told.out + told.err) == set()
    left = set(place.iterdir()) - before
    assert {path.name for path in left} == {"risk.svg"}
    assert _found((place / "risk.svg").read_text(encoding="utf-8")) == set()


def _level(text: str) -> str:
    return text.replace("town 1", "Wexqarn Unlisted", 1)


def _broken(text: str) -> str:
    return text.replace("town 1", f'"{TOWNS[0]}', 1)


@pytest.mark.parametrize("change", [_level, _broken], ids=["a level that only one file has", "an open quote"])
def test_no_fault_of_a_file_quotes_a_cell(
    place: Path, capsys: pytest.CaptureFixture[str], change: Callable[[str], str]
) -> None:
    made = place / "made.csv"
    made.write_text(change(made.read_text(encoding="utf-8")), encoding="utf-8")
    assert execute(["risk", "match", "real.csv", "made.csv", *GOOD]) == 3
    told = capsys.readouterr()
    assert _found(told.out + told.err) == set()
    assert "Wexqarn" not in told.err


def test_no_measurement_holds_a_row(place: Path) -> None:
    """Aggregates of sixty records; the per-record arrays stay outside of to_dict, and the worst records are a table that cannot print itself."""
    real, made = (stead.read(place / f"{name}.csv") for name in ("real", "made"))
    release = stead.Release.from_tables(real, [made], synthesized=["town", "amount"], aligned=True)
    radius = {"amount": "10%"}
    measured = [
        stead.match_risk(release, "sex", radius=radius),
        stead.match_sensitivity(release, "sex", radius=radius),
        stead.uniques(release, ["sex", "town"]),
        stead.disco(release, "sex", "town"),
        stead.dcap(release, "town", "sex"),
        stead.replicated_values(release),
    ]
    for one in measured:
        shown = json.dumps(one.to_dict()) + repr(one)
        assert _found(shown) == set()
        assert not any(isinstance(value, list) and len(value) >= 60 for value in one.to_dict().values())
    worst = stead.worst_records(measured[0], release)
    assert _found(repr(worst) + str(worst)) == set()
