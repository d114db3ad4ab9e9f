"""`stead utility`: files of any tool in, numbers with their references out, refusals with their codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import stead
from stead.cli.main import execute

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A confidential file, two partially synthetic ones, one of other people."""
    place = tmp_path_factory.mktemp("files")
    real = stead.consumer_survey(400)
    release = stead.synthesize(real, stead.Linear("log(Income) ~ log(Expenditure)"), m=2, rng=1)
    stead.write(real, place / "real.csv")
    for number, one in enumerate(release.synthetic, start=1):
        stead.write(one, place / f"syn{number}.csv")
    stead.write(stead.consumer_survey(300, rng=5), place / "other.parquet")
    return place


class Shell:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def __call__(self, *arguments: str, made: str = "Income") -> tuple[int, str, str]:
        files = [str(self.folder / one) if "." in one else one for one in arguments]
        codes = ("--categorical", "UrbanRural,Race")
        code = execute(["utility", *files, "--synthesized", made, *codes])
        return code, *self.capsys.readouterr()

    def json(self, *arguments: str, made: str = "Income") -> dict[str, Any]:
        code, out, err = self(*arguments, "--json", made=made)
        assert code == 0, err
        answer: dict[str, Any] = json.loads(out)
        return answer


@pytest.fixture
def shell(folder: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(folder, capsys)


def test_json_holds_every_measure_and_the_shape_of_the_release(shell: Shell) -> None:
    answer = shell.json("real.csv", "syn1.csv", "syn2.csv", "--proper")
    assert answer["release"] == {
        "m": 2,
        "rows": [400, 400],
        "synthesized": ["Income"],
        "kept": ["UrbanRural", "Race", "Expenditure", "KidsCount"],
        "aligned": True,
        "proper": True,
    }
    assert [one["name"] for one in answer["measured"]] == [
        "pMSE",
        "ecdf(Income)",
        "margins",
        "margins of order 2",
    ]
    scores = answer["measured"][0]
    assert scores["k_star"] == 9
    assert list(scores["nulls"]) == ["proper"]


def test_the_table_names_the_null_and_both_lines_where_it_is_not_known(shell: Shell) -> None:
    code, out, _ = shell("real.csv", "syn1.csv")
    assert code == 0
    assert "1 synthetic file of 400 rows, aligned with 400 confidential ones" in out
    assert "(analytic, plug-in, k* = 9)" in out
    assert "(analytic, proper, k* = 9)" in out
    for word in ("SPECKS", "PO50", "AUC", "lower is closer"):
        assert word in out


def test_other_people_are_not_aligned_and_all_terms_count(shell: Shell) -> None:
    made = "Income,Expenditure,KidsCount,UrbanRural,Race"
    answer = shell.json("real.csv", "other.parquet", "--proper", made=made)
    assert answer["release"]["aligned"] is False
    assert answer["release"]["kept"] == []
    full = shell.json("real.csv", "other.parquet", "--full", "--proper", "--classifier", "cart")
    assert full["measured"][0]["null"] == "permutation"
    assert any("kept columns differ" in note for note in full["measured"][0]["notes"])


def test_plug_in_data_get_a_note(shell: Shell) -> None:
    code, out, err = shell("real.csv", "syn1.csv", "--plug-in", "--order", "1")
    assert code == 0
    assert "[E-NULL-BETWEEN]" in err
    assert "(analytic, plug-in, k* = 1)" in out


@pytest.mark.parametrize(
    ("arguments", "made", "code", "words"),
    [
        (("real.csv",), "Income", 2, "at least one synthetic set"),
        (("real.csv", "syn1.csv"), "Incom", 2, "did you mean Income"),
        (("real.csv", "other.parquet"), "Income", 3, "such sets are not aligned"),
        (("real.csv", "syn1.csv", "--null", "pairs"), "Income", 2, "need two sets"),
        (("real.csv", "syn1.csv", "--classifier", "oracle"), "Income", 2, "classifier"),
        (("real.csv", "nothing.csv"), "Income", 2, "no file is called"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    shell: Shell, arguments: tuple[str, ...], made: str, code: int, words: str
) -> None:
    got, out, err = shell(*arguments, made=made)
    assert got == code
    assert words in " ".join(err.split())
    assert out == ""


def test_a_plan_says_what_the_columns_are(shell: Shell, folder: Path, tmp_path: Path) -> None:
    plan = tmp_path / "stead.toml"
    assert execute(["init", str(folder / "real.csv"), "--output", str(plan)]) == 0
    shell.capsys.readouterr()
    arguments = [
        str(folder / "real.csv"),
        str(folder / "syn1.csv"),
        "--synthesized",
        "Income",
        "--plan",
        str(plan),
        "--json",
    ]
    assert execute(["utility", *arguments]) == 0
    answer = json.loads(shell.capsys.readouterr().out)
    assert answer["measured"][0]["value"] > 0
