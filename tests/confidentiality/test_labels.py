"""Canaries in files of statistical packages and in databases: labels of values are values, and no command lets one out.

The scanner, and what may hold confidential values, are those of `test_canary.py`. Levels of columns that are kept are
released as they are; their labels are not written to the public files, which are text.
"""

from __future__ import annotations

import sqlite3
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyreadstat
import pytest
from tests.confidentiality.test_canary import IDS, LEVELS, NUMBERS, TEXTS, WORDS, Shell, found, leaks

from stead.errors import Notice
from stead.tables.files import read, write

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 320
LABELS: dict[str, Any] = {
    "job": {float(code): text for code, text in enumerate((*TEXTS[:7], IDS[0]), start=1)},
    "income": {-7.0: IDS[1], -8.0: IDS[2], 0.0: IDS[3]},
    "town": {"N": IDS[4]},
}
HIDDEN = {*TEXTS[:7], *IDS}


def survey() -> pl.DataFrame:
    random = np.random.default_rng(51)
    income = np.exp(random.normal(10.3, 0.9, ROWS))
    income[: len(NUMBERS)] = NUMBERS
    income[100:110], income[110:115] = -7, -8
    return pl.DataFrame(
        {
            "job": random.integers(1, 9, ROWS).astype(float),
            "income": income,
            "spent": np.exp(random.normal(8, 0.5, ROWS)),
            "town": [("N", "S", *LEVELS)[k % 6] for k in range(ROWS)],
        }
    )


def put(folder: Path, ending: str) -> list[str]:
    """The file, and how a command names it."""
    path, frame = folder / f"survey.{ending}", survey()
    if ending == "sav":
        ranges: dict[str, Any] = {"income": [-7, -8]}
        pyreadstat.write_sav(frame, path, variable_value_labels=LABELS, missing_ranges=ranges)
    elif ending == "dta":
        labels = {
            "job": {int(code): text for code, text in LABELS["job"].items()},
            "income": {-7: IDS[1], -8: IDS[2], 0: IDS[3]},
        }
        pyreadstat.write_dta(frame, path, variable_value_labels=labels)  # type: ignore[arg-type]
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE people (job INTEGER, income REAL, spent REAL, town TEXT)")
            connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", frame.rows())
        connection.close()
    return [path.name] if ending != "db" else [f"sqlite:///{path.name}", "--table", "people"]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return Shell(capsys)


@pytest.mark.parametrize(("ending", "machine"), [("sav", ()), ("dta", ("--json",)), ("db", ())])
def test_no_label_and_no_value_leaves_a_good_run(
    tmp_path: Path, shell: Shell, ending: str, machine: tuple[str, ...]
) -> None:
    named = put(tmp_path, ending)
    assert ending == "db" or found((tmp_path / f"survey.{ending}").read_bytes()) >= {*TEXTS[:7], IDS[1]}
    assert shell("init", *named) == 0
    plan = (tmp_path / "stead.toml").read_text(encoding="utf-8")
    assert ending == "db" or found(plan) >= HIDDEN - {IDS[4]}, "the plan holds them, beside the levels"
    assert shell("init", *named, "--json", "--force") == 0
    assert shell("check") == 0
    assert shell("run", "--repro-seed", "5", *machine) == 0
    assert leaks(tmp_path, *shell.printed) == {}
    public = b"".join(path.read_bytes() for path in (tmp_path / "stead-output" / "public").iterdir())
    assert not found(public) & HIDDEN
    assert found(public) >= set(LEVELS), "the scanner sees the levels that are released"


def test_no_fault_quotes_a_label_or_a_code(tmp_path: Path, shell: Shell) -> None:
    put(tmp_path, "sav")
    assert shell("init", "survey.sav") == 0
    path = tmp_path / "survey.sav"
    whole = path.read_bytes()
    changed = survey().with_columns(pl.lit(9.5).alias("job"), pl.lit(IDS[0]).alias("town"))
    faults = [whole[: len(whole) // 2], whole.replace(IDS[0].encode()[:6], b"\xff" * 6), b"", whole[:40]]
    for content in faults:
        path.write_bytes(content)
        assert shell("check") == 3
        assert shell("run") == 3
        assert shell("init", "survey.sav", "--force") == 3
    pyreadstat.write_sav(changed, path, variable_value_labels={"job": LABELS["job"]})
    assert shell("check", "--json") == 3
    assert leaks(tmp_path, *shell.printed) == {}


def test_no_notice_of_reading_or_writing_quotes_one(tmp_path: Path) -> None:
    put(tmp_path, "sav")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        records = read(tmp_path / "survey.sav")
        for ending in ("sav", "dta", "xpt"):
            write(records, tmp_path / f"again.{ending}")
    texts = [str(one.message) for one in told if isinstance(one.message, Notice)]
    assert len(texts) >= 3
    assert found("\n".join([*texts, repr(records), repr(records.schema)])) == set()
    assert set(WORDS).isdisjoint(texts)
