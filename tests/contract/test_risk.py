"""What the measures of identification risk promise: their keys, their references, their tables, their charts."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numba.core import caching

import stead
from stead.kernels.compiled import compiled

if TYPE_CHECKING:
    from pathlib import Path

    from stead.engine.base import Convention

SURVEY = stead.consumer_survey(400, rng=5)
MODEL = stead.Sequence(
    [stead.Linear("log(Income) ~ Race"), stead.Linear("log(Expenditure) ~ log(Income) + KidsCount")]
)
RELEASE = stead.synthesize(SURVEY, MODEL, m=3, draws=60, rng=1)
RADIUS = {"Income": "20%", "Expenditure": "20%"}
FIGURES = {"expected_match_risk", "true_match_rate", "false_match_rate", "unique_matches"}


def test_match_risk_stands_beside_its_references() -> None:
    measured = stead.match_risk(RELEASE, ["UrbanRural", "Race"], radius=RADIUS)
    held = measured.to_dict()
    assert held.keys() >= FIGURES | {
        "name",
        "value",
        "reference",
        "interval",
        "direction",
        "per_dataset",
        "reason",
    }
    assert held["value"] == held["expected_match_risk"] == pytest.approx(np.mean(held["per_dataset"]))
    assert held["direction"] == "lower is safer"
    assert held["interval"][0] <= held["value"] <= held["interval"][1]
    assert held["known"] == ["UrbanRural", "Race"]
    assert held["synthesized"] == ["Income", "Expenditure"]
    assert held["radius"] == RADIUS
    real, chance = held["baselines"]["confidential"], held["baselines"]["zero_leak"]
    assert held["reference"] == chance["expected_match_risk"]
    assert chance["expected_match_risk"] < real["expected_match_risk"] <= SURVEY.rows
    assert real["false_match_rate"] == 0.0
    assert len(json.dumps(held)) < 3_000, "aggregates alone"


def test_per_record_results_stay_in_their_place() -> None:
    measured = stead.match_risk(RELEASE, "Race", radius=RADIUS)
    assert {name: array.shape for name, array in measured.per_record.items()} == dict.fromkeys(
        "cTKF", (400, 3)
    )
    c, T, K, F = (np.asarray(measured.per_record[name], int) for name in "cTKF")
    assert np.array_equal(K, c * T == 1)
    assert np.array_equal(F, c * (1 - T) == 1)
    assert ((c > 0) >= T).all()
    one = stead.match_risk(RELEASE, "Race", radius=RADIUS, convention="probabilities")
    assert one.per_record["c"].shape == (400,)
    assert one.per_dataset == ()
    assert not set(measured.to_dict()) & {"c", "T", "K", "F", "per_record"}


def test_the_confidential_file_as_a_release_is_found_as_its_reference_says() -> None:
    itself = stead.Release.from_tables(
        SURVEY, [SURVEY, SURVEY], synthesized=["Income", "Expenditure"], aligned=True
    )
    conventions: tuple[Convention, ...] = ("summaries", "probabilities")
    for convention in conventions:
        held = stead.match_risk(itself, "Race", radius=RADIUS, convention=convention).to_dict()
        assert held["value"] == pytest.approx(
            held["baselines"]["confidential"]["expected_match_risk"], rel=1e-12
        )


def test_a_known_column_may_be_synthesized_and_the_synthesized_restricted() -> None:
    alone = stead.match_risk(RELEASE, "Race", synthesized="Income", radius={"Income": "20%"})
    assert alone.details["synthesized"] == ["Income"]
    named = stead.match_risk(RELEASE, ["Race", "Income"], synthesized=["Expenditure"], radius=RADIUS)
    assert named.value == stead.match_risk(RELEASE, "Race", radius=RADIUS).value


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (500, "500"),
        ("500", "500"),
        ("20%", "20%"),
        ("20 %, at least 100", "20%, at least 100"),
        (stead.Radius(100, share=0.2), "20%, at least 100"),
    ],
)
def test_a_radius_is_written_in_words(written: Any, shown: str) -> None:
    measured = stead.match_risk(RELEASE, "Race", synthesized="Income", radius={"Income": written})
    assert measured.details["radius"] == {"Income": shown}


def test_a_ball_takes_the_standard_deviations_of_the_confidential_columns() -> None:
    units = {name: float(SURVEY[name].values.std(ddof=1)) for name in ("Income", "Expenditure")}
    one = stead.match_risk(RELEASE, "Race", radius=stead.Ball({"Income", "Expenditure"}, 0.2))
    other = stead.match_risk(RELEASE, "Race", radius=stead.Ball(units, 0.2))
    box = stead.match_risk(RELEASE, "Race", radius={name: 0.2 * unit for name, unit in units.items()})
    assert np.array_equal(one.per_record["c"], other.per_record["c"])
    assert (np.asarray(one.per_record["c"], int) <= np.asarray(box.per_record["c"], int)).all()
    assert "needs a holdout" in one.details["baselines"]["zero_leak"]["source"]
    assert one.reference_name == "the confidential file itself"
    held = stead.match_risk(
        RELEASE, "Race", radius=stead.Ball(units, 0.2), holdout=stead.consumer_survey(500, rng=8)
    )
    assert held.reference_name == "a holdout"


def test_missing_columns_are_a_reason_and_not_a_number() -> None:
    pandas = SURVEY.to_pandas()
    release = stead.Release.from_tables(
        pandas, [pandas.drop(columns="Income")], synthesized=["Income", "Expenditure"], aligned=True
    )
    for measured in (
        stead.match_risk(release, "Race", radius=RADIUS),
        stead.match_sensitivity(release, "Race", radius=RADIUS),
        stead.uniques(release, ["Race", "Income"]),
        stead.disco(release, "Race", "Income"),
        stead.dcap(release, "Race", "Income"),
        stead.replicated_values(release),
    ):
        assert not measured.available
        assert "lack Income" in measured.reason


# ---- sensitivity -------------------------------------------------------------------------------------


def test_every_subset_and_every_scale_is_a_row_of_the_table() -> None:
    seen: list[tuple[str, int, int]] = []
    measured = stead.match_sensitivity(
        RELEASE,
        ["UrbanRural", "Race", "KidsCount"],
        radius=RADIUS,
        scales=(0.5, 1, 2),
        progress=lambda *step: seen.append(step),
    )
    settings = measured.details["settings"]
    assert len(settings) == 8 * 3 == len(seen)
    for one in settings[::5]:
        alone = stead.match_risk(
            RELEASE, one["known"], radius=dict.fromkeys(RADIUS, f"{20 * one['scale']}%")
        ).to_dict()
        assert {name: one[name] for name in FIGURES} == pytest.approx({name: alone[name] for name in FIGURES})
        assert one["confidential"] == pytest.approx(alone["baselines"]["confidential"]["expected_match_risk"])
        assert one["zero_leak"] == pytest.approx(alone["baselines"]["zero_leak"]["expected_match_risk"])
    assert measured.value == max(one["expected_match_risk"] for one in settings)
    assert measured.reference == settings[measured.details["worst"]]["confidential"]


def test_without_a_radius_there_is_one_scale_and_too_many_settings_are_refused() -> None:
    codes = stead.Release.from_tables(SURVEY, [SURVEY], synthesized=["Race"], aligned=True)
    measured = stead.match_sensitivity(codes, ["UrbanRural", "KidsCount"])
    assert [one["scale"] for one in measured.details["settings"]] == [1.0] * 4
    with pytest.raises(stead.UsageError, match="4 settings, at most 3"):
        stead.match_sensitivity(codes, ["UrbanRural", "KidsCount"], most=3)


def test_the_worst_records_are_a_table_of_their_own() -> None:
    measured = stead.match_risk(RELEASE, "Race", radius=RADIUS)
    risk = (measured.per_record["T"] / np.maximum(measured.per_record["c"], 1)).mean(axis=1)
    worst = stead.worst_records(measured, RELEASE, most=5)
    assert worst.names == ("record", "risk", "Race", "Income", "Expenditure")
    assert worst["risk"].values.tolist() == np.sort(risk)[::-1][:5].tolist()
    rows = worst["record"].values - 1
    assert risk[rows].tolist() == worst["risk"].values.tolist()
    assert worst["Income"].values.tolist() == SURVEY["Income"].values[rows].tolist()
    swept = stead.match_sensitivity(RELEASE, "Race", radius=RADIUS, scales=(0.5, 1))
    assert stead.worst_records(swept, most=3).names == ("record", "risk", "setting")
    assert (swept.per_record["risk"] >= risk - 1e-15).all(), "the highest over settings, this one among them"
    with pytest.raises(stead.UsageError, match="no per-record results"):
        stead.worst_records(stead.uniques(RELEASE, "Race"))


# ---- without alignment --------------------------------------------------------------------------------


def _small() -> stead.Release:
    """Keys q and target t, counted by hand."""
    real = {"q": list("aaabbcd"), "t": list("xxyxxyx")}
    made = {"q": list("aabbbcc"), "t": list("xxxyxyy")}
    return stead.Release.from_tables(real, [made], synthesized=["q", "t"], aligned=False)


def test_uniques_disco_and_dcap_counted_by_hand() -> None:
    release = _small()
    alone = stead.uniques(release, ["q", "t"]).to_dict()
    # confidential cells: ax 2, ay 1, bx 2, cy 1, dx 1; synthetic: ax 2, bx 2, by 1, cy 2
    assert alone["reference"] == alone["unique_in_original"] == pytest.approx(3 / 7)
    assert alone["value"] == alone["replicated_uniques"] == 0.0
    assert alone["unique_found_in_synthetic"] == pytest.approx(1 / 7)
    assert alone["unique_in_synthetic"] == pytest.approx(1 / 7)
    given = stead.disco(release, "q", "t").to_dict()
    # synthetic: a is all x, c all y; confidential ax 2 and cy 1 are what it says, ay is not
    assert given["value"] == given["disco"] == pytest.approx(3 / 7)
    assert given["keys_in_synthetic"] == pytest.approx(6 / 7)
    assert given["disclosive_in_synthetic"] == pytest.approx(4 / 7)
    assert given["disclosive_in_both"] == pytest.approx(1 / 7)
    assert given["reference"] == given["disclosive_in_original"] == pytest.approx(4 / 7)
    assert given["disclosive_in_synthetic_file"] == pytest.approx(4 / 7)
    cap = stead.dcap(release, "q", "t").to_dict()
    assert cap["value"] == cap["dcap"] == pytest.approx((2 + 2 * 2 / 3 + 1) / 7)
    assert cap["reference"] == cap["cap_original"] == pytest.approx((2 * 2 / 3 + 1 / 3 + 2 + 1 + 1) / 7)
    assert cap["tcap"] == pytest.approx(3 / 6)
    assert cap["correct_of_disclosive"] == pytest.approx(3 / 4)
    assert cap["baseline"] == pytest.approx((5 / 7) ** 2 + (2 / 7) ** 2)


def test_values_that_come_back() -> None:
    real = {"x": [1.5, 2.5, 2.5, 3.5, None], "g": list("abcab")}
    made = {"x": [1.5, 2.5, 9.5, None, None], "g": list("abcab")}
    release = stead.Release.from_tables(real, [made], synthesized=["x"], aligned=True)
    found = stead.replicated_values(release).to_dict()
    assert found["value"] == pytest.approx(1 / 4)  # 1.5 alone, of four values that are there
    assert found["reference"] == pytest.approx(2 / 4)
    assert found["columns"]["x"]["synthetic_values_of_a_record"] == pytest.approx(2 / 3)
    with pytest.raises(stead.UsageError, match="meant to come back"):
        stead.replicated_values(release, "g")
    none = stead.Release.from_tables(real, [real], synthesized=["g"], aligned=True)
    assert not stead.replicated_values(none).available


def test_the_confidential_file_has_the_value_of_its_reference() -> None:
    itself = stead.Release.from_tables(SURVEY, [SURVEY], synthesized=["Income"], aligned=True)
    keys = ["UrbanRural", "Race", "KidsCount"]
    for measured in (
        stead.uniques(itself, keys),
        stead.disco(itself, keys, "Income"),
        stead.dcap(itself, keys, "Income"),
        stead.replicated_values(itself),
    ):
        assert measured.value == pytest.approx(measured.reference, rel=1e-12)


# ---- charts and engines -------------------------------------------------------------------------------


def test_charts_are_drawn_from_aggregates(tmp_path: Path) -> None:
    known = ["UrbanRural", "Race"]
    for measured in (
        stead.match_risk(RELEASE, known, radius=RADIUS),
        stead.match_risk(RELEASE, known, radius=stead.Ball(RADIUS.keys(), 0.1)),
        stead.match_sensitivity(RELEASE, known, radius=RADIUS, scales=(0.5, 1)),
        stead.match_sensitivity(RELEASE, known, radius=stead.Ball(RADIUS.keys(), 0.1), scales=(1,)),
    ):
        chart = measured.chart()
        assert chart.title.endswith("?")
        assert chart.save(tmp_path / "chart.svg").read_text(encoding="utf-8").startswith("<svg")


def test_an_engine_is_for_its_kind_of_release() -> None:
    with pytest.raises(stead.UsageError, match="Local engine"):
        stead.match_risk(RELEASE, "Race", radius=RADIUS, engine=stead.Tables())
    with pytest.raises(stead.UsageError, match="memory is a size"):
        stead.Tables("much")


def test_where_nothing_can_be_kept_code_is_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package folder and a home that are read-only: numba has no place for its cache, and says so by an error."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert compiled(_twice)(21) == 42


def _twice(number: int) -> int:
    return 2 * number


def test_codes_need_no_compiler() -> None:
    """Where all columns must agree, neither numba nor a database is loaded."""
    script = (
        "import sys, stead\n"
        "r = stead.Release.from_tables({'a': [1, 2]}, [{'a': [2, 1]}], synthesized=['a'], aligned=True)\n"
        "stead.match_risk(r)\n"
        "print([name for name in ('numba', 'duckdb', 'ibis', 'scipy.stats') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
