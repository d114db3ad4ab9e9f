"""Releases: made, brought from elsewhere, kept and loaded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import stead

if TYPE_CHECKING:
    from pathlib import Path

SURVEY = stead.consumer_survey(600, rng=5)
MODEL = stead.Sequence(
    [
        stead.Linear("log(Income) ~ UrbanRural + Race"),
        stead.Linear("log(Expenditure) ~ log(Income) + UrbanRural + KidsCount"),
    ]
)


def _same(one: stead.Release, other: stead.Release) -> bool:
    return all(
        np.array_equal(a[name].values, b[name].values) and np.array_equal(a[name].missing, b[name].missing)
        for a, b in zip(one.synthetic, other.synthetic, strict=True)
        for name in a.names
    )


def test_a_release_says_what_is_synthetic_and_what_is_kept() -> None:
    release = stead.synthesize(SURVEY, MODEL, m=3, draws=100, rng=1)
    assert release.m == 3
    assert release.synthesized == ("Income", "Expenditure")
    assert release.kept == ("UrbanRural", "Race", "KidsCount")
    assert release.aligned
    assert release.proper
    first = release.synthetic[0].to_pandas()
    assert list(first.columns) == ["UrbanRural", "Income", "Race", "Expenditure", "KidsCount"]
    assert first["Income"].dtype == np.int64
    assert (first["Race"].to_numpy() == SURVEY.to_pandas()["Race"].to_numpy()).all()
    assert "600" in repr(release)


def test_the_same_seed_gives_the_same_sets_with_any_number_of_workers_and_none_gives_others() -> None:
    one = stead.synthesize(SURVEY, MODEL, draws=100, rng=11)
    assert _same(one, stead.synthesize(SURVEY, MODEL, draws=100, rng=11, workers=2))
    assert not _same(one, stead.synthesize(SURVEY, MODEL, draws=100, rng=12))
    assert not _same(stead.synthesize(SURVEY, MODEL, draws=100), stead.synthesize(SURVEY, MODEL, draws=100))


def test_row_blocks_have_streams_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block's rows depend on the seed and its place, so a file cut at the same places gives the same first block."""
    posterior = MODEL.fit(SURVEY, draws=10, rng=1)
    monkeypatch.setattr("stead.randomness.row_blocks.__defaults__", (256,))
    whole = posterior.sample(0, SURVEY, 3)["Income"].values
    first = posterior.sample(0, SURVEY.take(slice(0, 256)), 3)["Income"].values
    assert np.array_equal(whole[:256], first)
    assert not np.array_equal(whole[256:512], whole[:256])


def test_each_set_has_its_own_posterior_draw() -> None:
    """Proper synthesis: over many sets the means vary by more than the rows of one set allow for."""
    release = stead.synthesize(SURVEY, stead.Linear("log(Income) ~ 1"), m=200, draws=400, rng=2)
    means = np.array([np.log(one["Income"].values).mean() for one in release.synthetic])
    within = np.log(SURVEY["Income"].values).std() / np.sqrt(SURVEY.rows)
    assert means.std() == pytest.approx(np.sqrt(2) * within, rel=0.2)


def test_full_synthesis_is_not_aligned_and_may_have_other_rows() -> None:
    alone = SURVEY.only(["Income"])
    release = stead.synthesize(alone, stead.Linear("log(Income) ~ 1"), m=2, draws=50, rng=1, rows=900)
    assert not release.aligned
    assert release.synthetic[0].rows == 900
    assert release.kept == ()
    with pytest.raises(stead.UsageError, match="not synthesized"):
        stead.synthesize(SURVEY, MODEL, rng=1, rows=900)


def test_later_columns_are_drawn_given_the_synthetic_earlier_ones() -> None:
    """Were Expenditure drawn from the confidential Income, its error around the line in the synthetic one would be wider."""
    release = stead.synthesize(SURVEY, MODEL, m=1, draws=50, rng=4)
    made = release.synthetic[0]
    slope = np.polyfit(np.log(made["Income"].values), np.log(made["Expenditure"].values), 1)[0]
    stale = np.polyfit(np.log(SURVEY["Income"].values), np.log(made["Expenditure"].values), 1)[0]
    assert slope == pytest.approx(0.38, abs=0.08)
    assert abs(stale) < 0.08


def test_a_column_predicted_before_it_is_made_is_refused() -> None:
    with pytest.raises(stead.UsageError, match="put Expenditure first"):
        stead.Sequence([stead.Linear("Income ~ Expenditure"), stead.Linear("Expenditure ~ 1")])
    with pytest.raises(stead.UsageError, match="more than one model"):
        stead.Sequence([stead.Linear("Income ~ 1"), stead.Linear("Income ~ Race")])


def test_a_release_is_kept_with_its_posterior_and_loaded_again(tmp_path: Path) -> None:
    release = stead.synthesize(SURVEY, MODEL, m=2, draws=60, rng=9)
    release.save(tmp_path / "kept")
    loaded = stead.Release.load(tmp_path / "kept")
    assert _same(release, loaded)
    assert loaded.confidential.schema == SURVEY.schema
    assert loaded.seed is not None
    assert loaded.seed.reveal() == 9
    assert loaded.posterior is not None
    assert release.posterior is not None
    assert np.array_equal(loaded.posterior.log_likelihood(SURVEY), release.posterior.log_likelihood(SURVEY))
    again = loaded.posterior.sample(3, SURVEY, 1)["Income"].values
    assert np.array_equal(again, release.posterior.sample(3, SURVEY, 1)["Income"].values)


def test_a_changed_byte_is_found_when_a_release_is_loaded(tmp_path: Path) -> None:
    stead.synthesize(SURVEY, MODEL, m=2, draws=60, rng=9).save(tmp_path / "kept")
    target = tmp_path / "kept" / "synthetic-2.parquet"
    content = bytearray(target.read_bytes())
    content[len(content) // 2] ^= 1
    target.write_bytes(content)
    with pytest.raises(stead.InputRefused, match="not those that were written"):
        stead.Release.load(tmp_path / "kept")


def test_a_release_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    from stead.store.artefacts import Folder

    stead.synthesize(SURVEY, MODEL, m=2, draws=60, rng=9).save(tmp_path / "kept")
    folder = Folder(tmp_path / "kept")
    content = folder.read_json("release.json")
    folder.write_json("release.json", content | {"version": 99})
    with pytest.raises(stead.InputRefused, match="newer"):
        stead.Release.load(tmp_path / "kept")


def test_files_of_any_tool_become_a_release() -> None:
    pandas = SURVEY.to_pandas()
    made = pandas.assign(Income=pandas["Income"] * 1.01)
    release = stead.Release.from_tables(pandas, [made, made], synthesized=["Income"], aligned=True)
    assert release.posterior is None
    assert release.proper is None
    assert release.synthetic[0].schema["Income"].decimals is None
    assert stead.ecdf(release).available


def test_levels_are_matched_by_value_whatever_their_order() -> None:
    real = stead.table({"g": ["a", "b", "c", "a"], "x": [1.5, 2.5, 3.5, 4.5]})
    other = stead.table(
        {"g": ["c", "b", "b", "a"], "x": [1.5, 2.5, 3.5, 4.5]},
        stead.Schema([stead.Column("g", "categorical", levels=("c", "b", "a")), real.schema["x"]]),
    )
    made = stead.Release.from_tables(real, [other], synthesized=["g"], aligned=True).synthetic[0]
    assert made["g"].values.tolist() == [2, 1, 1, 0]
    with pytest.raises(stead.InputRefused, match="1 cells have a level that the schema does not list"):
        stead.Release.from_tables(
            real, [{"g": ["z", "a", "b", "c"], "x": [1.5, 2.5, 3.5, 4.5]}], synthesized=["g"], aligned=True
        )


def test_columns_that_a_set_lacks_or_adds_are_listed() -> None:
    pandas = SURVEY.to_pandas()
    release = stead.Release.from_tables(
        pandas,
        [pandas.drop(columns="Income").assign(more=1)],
        synthesized=["Income", "Expenditure"],
        aligned=True,
    )
    assert release.lacking == ("Income",)
    assert release.added == ("more",)
    measured = stead.ecdf(release, ["Income"])
    assert not measured.available
    assert "lack Income" in measured.reason
    assert stead.ecdf(release, ["Expenditure"]).value == 0.0


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"aligned": 1}, "True .* or False"),
        ({"synthesized": []}, "at least one column"),
        ({"synthesized": ["Incme"]}, "did you mean Income"),
        ({"synthetic": []}, "at least one synthetic set"),
        ({"synthetic": SURVEY}, "as a list"),
        ({"synthetic": [SURVEY.take(slice(0, 50))]}, "50 rows and the confidential table 600"),
        ({"synthetic": [SURVEY, SURVEY.take(slice(0, 50))], "aligned": False}, "different numbers of rows"),
    ],
)
def test_a_release_that_does_not_fit_is_refused(change: dict[str, object], match: str) -> None:
    call = {"synthetic": [SURVEY], "synthesized": ["Income"], "aligned": True} | change
    sets = call.pop("synthetic")
    with pytest.raises(stead.SteadError, match=match):
        stead.Release.from_tables(SURVEY, sets, **call)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"m": 0}, "m is at least 1"),
        ({"m": 5, "draws": 3}, "its own draw"),
        ({"rng": -1}, "whole number from 0"),
        ({"rng": "7"}, "whole number from 0"),
    ],
)
def test_a_synthesis_that_makes_no_sense_is_refused(arguments: dict[str, object], match: str) -> None:
    with pytest.raises(stead.UsageError, match=match):
        stead.synthesize(SURVEY, MODEL, **arguments)  # type: ignore[arg-type]


def test_few_rows_are_refused_with_a_way_out() -> None:
    with pytest.raises(stead.InputRefused, match="at least 50"):
        stead.synthesize(SURVEY.take(slice(0, 1)), MODEL)
    assert stead.synthesize(SURVEY.take(slice(0, 30)), MODEL, draws=50, rng=1, minimum_rows=20).m == 5


def test_bad_diagnostics_stop_a_release_unless_a_reason_is_given() -> None:
    """A flat prior on the effect of a level that never has the outcome: the posterior has no usable tail."""
    rng = np.random.default_rng(3)
    g = np.r_[np.zeros(400, int), np.ones(12, int)]
    records = stead.table(
        {
            "g": np.where(g == 1, "rare", "common"),
            "x": rng.normal(size=412) + 0.5,
            "b": np.where(g == 1, 0, rng.integers(0, 2, 412)),
        }
    )
    model = stead.Logistic("b ~ g + x", prior="flat")
    with pytest.raises((stead.DiagnosticsFailed, stead.InputRefused), match="weak"):
        stead.synthesize(records, model, rng=1)


def test_an_override_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stead.sampling.diagnostics.HIGHEST_R_HAT", 0.0)
    records = stead.table({"x": np.arange(80.0) + 0.5, "b": [0, 1] * 40})
    with pytest.raises(stead.DiagnosticsFailed, match="R-hat") as refused:
        stead.synthesize(records, stead.Logistic("b ~ x"), rng=1)
    assert refused.value.exit_code == 5
    release = stead.synthesize(records, stead.Logistic("b ~ x"), rng=1, override="a classroom example")
    assert release.provenance["override"] == "a classroom example"


def test_measurements_carry_their_reference_and_no_rows(tmp_path: Path) -> None:
    release = stead.synthesize(SURVEY, MODEL, m=3, draws=100, rng=1)
    for measured in (
        stead.ecdf(release, "Income"),
        stead.margins(release),
        stead.ecdf(release, ["Income", "Expenditure"]),
    ):
        content = measured.to_dict()
        assert {"name", "value", "reference", "interval", "direction", "per_dataset", "reason"} <= set(
            content
        )
        assert len(content["per_dataset"]) == 3
        assert (
            content["value"] == pytest.approx(np.mean(content["per_dataset"]), rel=1e-12)
            or measured.name == "margins"
        )
        assert len(json.dumps(content)) < 20_000
    chart = stead.ecdf(release, "Income").chart()
    assert chart.save(tmp_path / "income.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_measurement_has_a_value_or_a_reason() -> None:
    with pytest.raises(ValueError, match="or a reason"):
        stead.Measurement(name="x", value=None)
    with pytest.raises(ValueError, match="not finite"):
        stead.Measurement(name="x", value=float("inf"))
