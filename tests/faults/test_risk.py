"""What matching refuses: data without a row i, names that are not there, numbers without a radius, files that are broken."""

from __future__ import annotations

import json
import re
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import stead
from stead.cli.main import execute

if TYPE_CHECKING:
    from pathlib import Path

REAL: dict[str, Any] = {
    "sex": [1, 2, 1, 2, 1, 2],
    "age": [31.5, 55.0, 47.0, 62.5, 29.0, 38.0],
    "town": ["a", "b", "a", "c", "b", "a"],
    "income": [1200.5, 3400.0, 0.0, -250.75, 9100.25, 770.0],
}
MADE = REAL | {
    "town": ["a", "a", "a", "c", "b", "b"],
    "income": [1000.5, 3000.25, 10.0, -250.75, 9000.0, 700.5],
}


def _release(
    made: dict[str, Any] | None = None, real: dict[str, Any] | None = None, **change: Any
) -> stead.Release:
    arguments: dict[str, Any] = {"synthesized": ["town", "income"], "aligned": True} | change
    confidential = stead.table(REAL if real is None else real, categorical=["sex"])
    return stead.Release.from_tables(confidential, [MADE if made is None else made], **arguments)


def test_data_that_are_not_aligned_are_refused_with_the_measures_that_apply() -> None:
    release = _release(aligned=False)
    for call in (stead.match_risk, stead.match_sensitivity):
        with pytest.raises(stead.InputRefused, match=r"stead\.uniques, stead\.disco, stead\.dcap") as refused:
            call(release, ["sex"], radius={"income": 1})
        assert refused.value.exit_code == 3
    assert stead.uniques(release, ["sex", "town"]).available
    assert stead.dcap(release, ["sex"], "town").available


@pytest.mark.parametrize(
    ("arguments", "code", "match"),
    [
        ({"known": ["sx"]}, "E-COLUMN", "did you mean sex"),
        ({"known": ["sex"], "synthesized": ["incme"]}, "E-COLUMN", "did you mean income"),
        ({"known": ["sex"], "synthesized": ["age"]}, "E-SYNTHESIZED", "was not synthesized, so that it belongs to known"),
        ({"known": ["sex"], "synthesized": []}, "E-SYNTHESIZED", "at least one synthesized column"),
        ({"known": ["sex"]}, "E-RADIUS", r'column income is continuous.*"20%".*categorical=\["income"\], --categorical income'),
        ({"known": ["age"], "radius": {"income": 1}}, "E-RADIUS", "column age is continuous"),
        ({"known": ["sex"], "radius": {"income": 1, "sex": 1}}, "E-RADIUS", "sex is categorical: its levels agree or do not"),
        ({"known": ["sex"], "radius": {"income": 1, "agee": 1}}, "E-COLUMN", "the radius names agee, which is not among the keys"),
        ({"known": ["sex"], "radius": {"income": "a fifth"}}, "E-RADIUS", "is no radius"),
        ({"known": ["sex"], "radius": {"income": "1e5%%"}}, "E-RADIUS", "is no radius"),
        ({"known": ["sex"], "radius": {"income": -1}}, "E-RADIUS", "finite number from 0"),
        ({"known": ["sex"], "radius": {"income": float("nan")}}, "E-RADIUS", "finite number from 0"),
        ({"known": ["sex"], "radius": 500}, "E-RADIUS", "radius maps a column to a number"),
        ({"known": ["sex"], "radius": {"income": 0}, "closed": False}, "E-RADIUS", "an open interval of radius 0"),
        ({"known": ["sex"], "radius": {"income": 1}, "convention": "summary"}, "E-CONVENTION", "summaries or probabilities"),
        ({"known": ["sex", "age"], "radius": [stead.Ball(["income"], 1), {"income": 1, "age": 1}]}, "E-RADIUS", "one radius or is in the ball"),
    ],
)  # fmt: skip
def test_keys_that_say_nothing_are_refused(arguments: dict[str, Any], code: str, match: str) -> None:
    with pytest.raises(stead.SteadError, match=match) as refused:
        stead.match_risk(_release(), **arguments)
    assert refused.value.code == code


def test_a_ball_needs_columns_units_and_spread() -> None:
    for columns, match in (([], "at least one column"), ({"income": 0}, "units are positive")):
        with pytest.raises(stead.UsageError, match=match):
            stead.Ball(columns, 1)
    flat = {"town": REAL["town"], "income": [5.5] * 6}
    release = stead.Release.from_tables(flat, [flat], synthesized=["income"], aligned=True)
    with pytest.raises(stead.UsageError, match="does not vary"):
        stead.match_risk(release, radius=stead.Ball("income", 1))


def test_different_row_counts_and_shuffled_rows_are_refused() -> None:
    shorter = {name: values[:5] for name, values in MADE.items()}
    with pytest.raises(stead.InputRefused, match="5 rows and the confidential table 6"):
        _release(shorter)
    shuffled = {name: values[::-1] for name, values in MADE.items()}
    with pytest.raises(stead.InputRefused, match="not listed in synthesized"):
        _release(shuffled)


def test_a_level_that_only_one_file_has() -> None:
    """One that is not in the confidential file is refused by the column's name; one that is not in the synthetic file has no match."""
    with pytest.raises(stead.InputRefused, match="column town: 1 cells have a level"):
        _release(MADE | {"town": ["a", "a", "z", "c", "b", "b"]})
    measured = stead.match_risk(
        _release(MADE | {"town": ["a", "a", "a", "a", "b", "b"]}), "sex", radius={"income": 1e9}
    )
    assert measured.per_record["c"].tolist() == [2, 1, 2, 0, 1, 2]
    declared = stead.table(
        REAL,
        stead.Schema(
            [
                stead.Column("town", "categorical", levels=("a", "b", "c", "z")),
                *(stead.table(REAL, categorical=["sex"]).schema[name] for name in ("sex", "age", "income")),
            ]
        ),
    )
    made = MADE | {"town": ["a", "a", "z", "c", "b", "b"]}
    release = stead.Release.from_tables(declared, [made], synthesized=["town", "income"], aligned=True)
    assert stead.match_risk(release, "sex", radius={"income": 1e9}).per_record["c"][0] == 1


def test_missing_equals_missing_of_the_same_code() -> None:
    """An empty cell, NaN and None are one kind of missing; each declared code is another."""
    columns = [
        stead.Column("g", "categorical", levels=("a", "b")),
        stead.Column("x", "continuous", missing=(-7, -8)),
    ]
    real = stead.table({"g": ["a", None, "b", "b"], "x": [float("nan"), -7, -8, 1.5]}, stead.Schema(columns))
    made = {"g": ["a", None, "b", None], "x": np.array([np.nan, -8, -8, -7])}
    release = stead.Release.from_tables(real, [made], synthesized=["g", "x"], aligned=True)
    for closed in (True, False):
        held = stead.match_risk(release, radius={"x": 100}, closed=closed).per_record
        # record 2 (no g, code -7) meets the last row, which has the same codes, and not its own
        assert held["c"].tolist() == [1, 1, 1, 0]
        assert held["T"].tolist() == [True, False, True, False]


def test_zero_and_negative_values_match_themselves() -> None:
    itself = _release(REAL)
    held = stead.match_risk(itself, radius={"income": "20%"}).per_record
    assert held["T"].all()
    assert held["c"].tolist() == [1] * 6


# ---- commands ----------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    real = stead.table(REAL, categorical=["sex"])
    made = stead.table(MADE, categorical=["sex"])
    return [str(stead.write(one, tmp_path / f"{name}.csv")) for name, one in (("real", real), ("made", made))]


OPTIONS = ["--known", "sex", "--synthesized", "town,income", "--radius", "income=20%"]


def test_the_command_answers(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["risk", "match", *files, *OPTIONS, "--chart", str(tmp_path / "risk.svg")]) == 0
    shown = capsys.readouterr().out
    assert "How many of 6 records would an intruder find" in shown
    assert (tmp_path / "risk.svg").exists()
    assert (
        execute(["risk", "match", *files, *OPTIONS, "--holdout", files[0], "--json", "--open-interval"]) == 0
    )
    held = json.loads(capsys.readouterr().out)
    assert held["baselines"]["zero_leak"]["source"] == "a holdout"
    assert held["closed"] is False


@pytest.mark.parametrize(
    ("arguments", "code", "match"),
    [
        (["--known", "sx", "--synthesized", "town"], 2, "did you mean sex"),
        (["--known", "sex", "--synthesized", "income"], 2, "--categorical income"),
        (["--known", "sex"], 2, "--synthesized"),
        (["--known", "town", "--synthesized", "income", "--radius", "income=1"], 3, "row"),
        (["--known", "sex", "--synthesized", "town", "--radius", "income"], 2, "written Income=500"),
        (["--known", "sex", "--synthesized", "town", "--engine", "tables"], 3, "is not a Parquet file"),
    ],
)
def test_the_command_refuses(
    files: list[str], capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, match: str
) -> None:
    for machine in ([], ["--json"]):
        assert execute(["risk", "match", *files, *arguments, *machine]) == code
        told = capsys.readouterr()
        assert re.search(match, told.err)
        assert not machine or json.loads(told.out)["exit_code"] == code


def test_decimal_commas_row_numbers_and_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files as other tools write them: a semicolon, a decimal comma, an unnamed column of row numbers."""
    paths = []
    for name, table in (("real", REAL), ("made", MADE)):
        rows = [";".join(["", *table])]
        for place, cells in enumerate(zip(*table.values(), strict=True), start=1):
            rows.append(";".join([str(place), *(str(cell).replace(".", ",") for cell in cells)]))
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("\n".join(rows) + "\n", encoding="utf-8")
    reading = ["--delimiter", ";", "--decimal", ","]
    assert execute(["risk", "match", *map(str, paths), *OPTIONS, *reading, "--json"]) == 0
    held = json.loads(capsys.readouterr().out)
    expected = stead.match_risk(_release(), "sex", radius={"income": "20%"})
    assert held["value"] == pytest.approx(expected.value, rel=1e-12)
    survey = stead.consumer_survey(80, rng=1)
    there = stead.write(survey, tmp_path / "survey.csv")
    assert execute(["init", str(there)]) == 0
    known = [
        "--known",
        "Race",
        "--synthesized",
        "KidsCount",
        "--plan",
        str(tmp_path / "stead.toml"),
        "--json",
    ]
    capsys.readouterr()
    assert execute(["risk", "match", str(there), str(there), *known]) == 0
    assert json.loads(capsys.readouterr().out)["true_match_rate"] > 0


# ---- files in place ------------------------------------------------------------------------------------


def _parquet(tmp_path: Path, made: dict[str, Any] | None = None) -> stead.ParquetRelease:
    paths = []
    for name, table in (("real", REAL), ("made", MADE if made is None else made)):
        paths.append(stead.write(stead.table(table, categorical=["sex"]), tmp_path / f"{name}.parquet"))
    return stead.ParquetRelease.open(
        paths[0], [paths[1]], synthesized=["town", "income"], categorical=["sex"]
    )


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(stead.InputRefused, match=r"has 5 rows and real\.parquet 6"):
        _parquet(tmp_path, {name: values[:5] for name, values in MADE.items()})
    with pytest.raises(stead.UsageError, match="did you mean income"):
        stead.ParquetRelease.open(
            tmp_path / "real.parquet", [tmp_path / "real.parquet"], synthesized=["incom"]
        )
    with pytest.raises(stead.UsageError, match="no file is called"):
        stead.ParquetRelease.open(tmp_path / "none.parquet", [], synthesized=["income"])
    shuffled = _parquet(tmp_path, {name: values[::-1] for name, values in MADE.items()})
    with pytest.raises(
        stead.InputRefused, match=r"column sex of made\.parquet differs from the confidential one in 6 rows"
    ):
        stead.match_risk(shuffled, "sex", radius={"income": 1})
    unknown = _parquet(tmp_path, MADE | {"town": ["a", "z", "z", "c", "b", "b"]})
    with pytest.raises(stead.InputRefused, match="column town: 1 cells have a level"):
        stead.match_risk(unknown, "sex", radius={"income": 1})
    with pytest.raises(stead.UsageError, match="did you mean sex"):
        stead.match_risk(_parquet(tmp_path), "sx", radius={"income": 1})


def test_a_damaged_file_is_refused_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spill").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spill"))
    release = _parquet(tmp_path)
    assert stead.match_risk(release, "sex", radius={"income": 1}).available
    assert list((tmp_path / "spill").iterdir()) == []
    path = release.synthetic[0].path
    whole = path.read_bytes()
    path.write_bytes(b"PAR1" + bytes(len(whole) - 300) + whole[-296:])
    with pytest.raises(stead.InputRefused, match="truncated, damaged"):
        stead.match_risk(release, "sex", radius={"income": 1})
    assert list((tmp_path / "spill").iterdir()) == []


def test_a_flipped_bit_is_found(tmp_path: Path) -> None:
    """DuckDB alone reads another number from such a page and says nothing."""
    random = np.random.default_rng(0)
    table = {"g": random.integers(0, 5, 4000), "x": random.normal(size=4000)}
    paths = [stead.write(stead.table(table), tmp_path / f"{name}.parquet") for name in ("real", "made")]
    content = bytearray(paths[1].read_bytes())
    content[len(content) // 2] ^= 1
    paths[1].write_bytes(content)
    release = stead.ParquetRelease.open(paths[0], paths[1:], synthesized=["x"])
    with pytest.raises(stead.InputRefused, match="column x cannot be read to its end"):
        stead.match_risk(release, "g", radius={"x": 1})


def test_names_and_types_that_files_have(tmp_path: Path) -> None:
    """A name of the file that is a pattern, columns whose types differ, a level spelled with a blank: as in memory."""
    real = {"a b": ["x", "y", "x ", None], 'quo"te': [1, 2, 3, 1], "n": [1.5, 2.5, 3.5, 4.5]}
    made = {"a b": ["x", "x", "x ", ""], 'quo"te': [1.0, 3.0, 2.0, 1.0], "n": [1.5, 2.5, 3.5, 4.5]}
    tables = [stead.table(one) for one in (real, made)]
    paths = [stead.write(table, tmp_path / f"[{place}]*.parquet") for place, table in enumerate(tables)]
    in_files = stead.ParquetRelease.open(
        paths[0], [paths[1]], synthesized=["a b", 'quo"te'], categorical=['quo"te']
    )
    in_memory = stead.Release.from_tables(
        stead.table(real, categorical=['quo"te']), [made], synthesized=["a b", 'quo"te'], aligned=True
    )
    found, expected = (stead.match_risk(one, "n", radius={"n": 2}) for one in (in_files, in_memory))
    assert found.value == expected.value
    assert stead.uniques(in_files, "a b").value == stead.uniques(in_memory, "a b").value
