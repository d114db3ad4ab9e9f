"""The published answer of the lecture on identification risk: three synthetic versions of an ACS sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import stead
from stead.cli.main import execute

if TYPE_CHECKING:
    from stead.engine.base import Convention

KNOWN = Path(__file__).resolve().parents[3] / "shared" / "known"
FILES = ("ACSdata_syn.csv", "ACSdata_syn2.csv", "ACSdata_syn3.csv")
INTRUDER, MADE = ["SEX", "RACE", "MAR"], ["LANX", "WAOB", "DIS", "HICOV"]
pytestmark = [
    pytest.mark.skipif(
        not KNOWN.is_dir(), reason="the files with known answers (../shared/known) are not here"
    ),
    pytest.mark.filterwarnings("ignore:.*counts rows"),
]


def _release(sets: int = 3, *, categorical: bool = False) -> stead.Release:
    codes = [*INTRUDER, *MADE] if categorical else []
    real = stead.read(KNOWN / "ACSdata_org.csv", categorical=codes)
    made = [stead.read(KNOWN / name, categorical=codes) for name in FILES[:sets]]
    return stead.Release.from_tables(real, made, synthesized=MADE, aligned=True)


@pytest.mark.parametrize("categorical", [False, True], ids=["bare", "declared"])
@pytest.mark.parametrize(
    ("sets", "answer"),
    [
        (1, (41.36863144432361, 0.0005, 0.9743589743589743, 195)),
        (3, (41.46742733967326, 0.0005666666666666667, 0.9638026285218597, 161)),
    ],
)
def test_the_three_summaries(sets: int, answer: tuple[float, ...], categorical: bool) -> None:
    found = stead.match_risk(_release(sets, categorical=categorical), known=INTRUDER).to_dict()
    names = ("expected_match_risk", "true_match_rate", "false_match_rate", "unique_matches")
    assert [found[name] for name in names] == pytest.approx(answer, rel=1e-12)
    assert found["value"] == found["expected_match_risk"]
    assert found["per_dataset"][0] == pytest.approx(41.36863144432361, rel=1e-12)
    assert found["per_dataset_unique_matches"] == [195, 149, 139][:sets]
    assert found["expected_match_share"] == pytest.approx(
        answer[0] / 10_000, rel=1e-12
    )  # the lecture prints .000042


def test_the_command_prints_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(KNOWN / name) for name in ("ACSdata_org.csv", *FILES)]
    arguments = ["--known", "SEX,RACE", "--known", "MAR", "--synthesized", "LANX,WAOB,DIS,HICOV", "--json"]
    conventions: tuple[Convention, ...] = ("summaries", "probabilities")
    for convention in conventions:
        assert execute(["risk", "match", *files, *arguments, "--convention", convention]) == 0
        printed = json.loads(capsys.readouterr().out)
        expected = stead.match_risk(_release(), INTRUDER, convention=convention)
        assert printed == json.loads(json.dumps(expected.to_dict()))


def test_probabilities_averaged_first() -> None:
    """Against the definition, row by row, for the first 2,000 records of each file."""
    release = _release()
    names = [*INTRUDER, *MADE]
    real, *sets = (
        np.column_stack([table[name].values for name in names])[:2000]
        for table in (release.confidential, *release.synthetic)
    )
    some = [table.take(slice(0, 2000)) for table in (release.confidential, *release.synthetic)]
    small = stead.Release.from_tables(some[0], some[1:], synthesized=MADE, aligned=True)
    found = stead.match_risk(small, INTRUDER, convention="probabilities")
    expected, unique = 0.0, 0
    for row, cells in enumerate(real):
        match = np.array([(made == cells).all(axis=1) for made in sets])  # (m, n)
        likely = (match / np.maximum(match.sum(axis=1, keepdims=True), 1)).mean(axis=0)
        top = likely >= likely.max() - 1e-12
        if likely.max() > 0:
            expected += top[row] / top.sum()
            unique += top.sum() == 1
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert found.details["unique_matches"] == unique


def test_the_references_enclose_the_release() -> None:
    """The confidential file itself: every record matches, so that the expected matches are its different key combinations."""
    release = _release()
    held = stead.match_risk(release, INTRUDER).to_dict()["baselines"]
    keys = np.column_stack([release.confidential[name].values for name in (*INTRUDER, *MADE)])
    cells, counts = np.unique(keys, axis=0, return_counts=True)
    assert held["confidential"]["expected_match_risk"] == pytest.approx(len(cells), rel=1e-12)
    assert held["confidential"]["unique_matches"] == (counts == 1).sum()
    assert held["zero_leak"]["expected_match_risk"] == pytest.approx(35.32175531551775, rel=1e-9)


@pytest.mark.parametrize("convention", ["summaries", "probabilities"])
def test_files_in_place_give_the_same(tmp_path: Path, convention: Convention) -> None:
    release = _release()
    paths = [
        stead.write(table, tmp_path / f"{place}.parquet")
        for place, table in enumerate((release.confidential, *release.synthetic))
    ]
    found = stead.match_risk(
        stead.ParquetRelease.open(paths[0], paths[1:], synthesized=MADE), INTRUDER, convention=convention
    ).to_dict()
    expected = stead.match_risk(release, INTRUDER, convention=convention).to_dict()
    assert found["value"] == pytest.approx(expected["value"], rel=1e-12)
    assert found["baselines"]["zero_leak"]["expected_match_risk"] == pytest.approx(
        expected["baselines"]["zero_leak"]["expected_match_risk"], rel=1e-12
    )
    assert found["unique_matches"] == expected["unique_matches"]
