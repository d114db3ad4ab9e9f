"""Published extracts with known answers, read where they lie and never copied."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import stead
from stead.glm.stacked import Stack
from stead.glm.streamed_logit import fit_logit
from stead.language.design import Design

KNOWN = Path(__file__).resolve().parents[3] / "shared" / "known"
pytestmark = pytest.mark.skipif(
    not KNOWN.is_dir(), reason="the files with known answers (../shared/known) are not here"
)


def _survey(name: str) -> stead.Records:
    return stead.read(KNOWN / name, categorical=["UrbanRural", "Race"])


def _release() -> stead.Release:
    made = [stead.read(KNOWN / "ce_5133_synthetic.csv")]
    return stead.Release.from_tables(
        _survey("ce_5133.csv"), made, synthesized=["Expenditure"], aligned=True, proper=True
    )


def test_ecdf_of_expenditure() -> None:
    measured = stead.ecdf(_release(), columns=["Expenditure"]).to_dict()
    assert measured["value"] == measured["maximum"] == 127 / 5133
    assert measured["mean_square"] == pytest.approx(0.00016985562695750022, rel=1e-13)


def test_pmse_of_expenditure() -> None:
    """Main effects and all pairs of five columns; one draw was used, so it is a proper synthesis."""
    measured = stead.pmse(_release()).to_dict()
    assert measured["value"] == pytest.approx(0.0012368539613675901, rel=1e-9)
    assert measured["k_star"] == 9
    assert measured["reference"] == pytest.approx(9 * 0.25 / 10_266)
    assert measured["ratio"] == pytest.approx(5.643352340679, rel=1e-9)
    assert measured["z"] == pytest.approx((measured["ratio"] - 1) * np.sqrt(9 / 2))
    plug_in = stead.Release.from_tables(
        _release().confidential, _release().synthetic, synthesized=["Expenditure"], aligned=True, proper=None
    )
    nulls = stead.pmse(plug_in).details["nulls"]
    assert nulls["plug-in"]["ratio"] == pytest.approx(2 * nulls["proper"]["ratio"])


def test_the_design_of_all_pairs_has_rank_34() -> None:
    """35 columns beside the intercept, one of them empty: UrbanRural 2 x Race 5."""
    real, made = _release().confidential, _release().synthetic[0]
    design = Design.bind("(UrbanRural + Income + Race + Expenditure + KidsCount)^2", real)
    fit = fit_logit(Stack(design, (real, made)), np.repeat([0.0, 1.0], [real.rows, made.rows]))
    assert len(design.labels) - 1 == 35
    assert fit.kept.sum() - 1 == 34


def test_the_confidential_file_against_itself_is_at_distance_zero() -> None:
    real = _survey("ce_5133.csv")
    release = stead.Release.from_tables(real, [real, real], synthesized=["Income"], aligned=True)
    assert stead.ecdf(release).value == 0.0
    assert stead.margins(release).value == pytest.approx(0.0, abs=1e-12)


def test_rows_out_of_order_are_not_aligned() -> None:
    real = _survey("ce_5133.csv")
    shuffled = real.take(np.random.default_rng(0).permutation(real.rows))
    with pytest.raises(stead.InputRefused, match="differs from the confidential one in"):
        stead.Release.from_tables(real, [shuffled], synthesized=["Expenditure"], aligned=True)
    assert (
        stead.Release.from_tables(real, [shuffled], synthesized=["Expenditure"], aligned=False).aligned
        is False
    )


def test_the_lecture_s_regression_of_income() -> None:
    """The mean of 50 posterior draws published with the file lies within their own Monte Carlo error of ours."""
    posterior = stead.Linear("log(Income) ~ log(Expenditure)", prior="flat").fit(
        _survey("ce_994.csv"), draws=4000, rng=3
    )
    published = np.loadtxt(KNOWN / "ce_994_draws.csv", delimiter=",", skiprows=1)[:, 1:]
    error = posterior.draws.std(axis=0) / np.sqrt(len(published))
    assert (np.abs(published.mean(axis=0) - posterior.draws.mean(axis=0)) < 4 * error).all()
    assert (np.abs(published.std(axis=0) / posterior.draws.std(axis=0) - 1) < 0.5).all()


def test_four_column_files_with_row_numbers_are_read_alike() -> None:
    with pytest.warns(stead.Notice, match="counts rows"):
        second = stead.read(KNOWN / "ACSdata_syn2.csv", categorical=["SEX", "RACE"])
    real = stead.read(KNOWN / "ACSdata_org.csv", categorical=["SEX", "RACE"])
    assert second.names == real.names
    release = stead.Release.from_tables(
        real, [second], synthesized=["LANX", "WAOB", "DIS", "HICOV"], aligned=True
    )
    assert release.kept == ("SEX", "RACE", "MAR", "MIG", "SCH")


def test_a_registry_with_gaps_is_synthesized_with_its_gaps() -> None:
    with pytest.warns(stead.Notice, match="counts rows"):
        registry = stead.read(KNOWN / "csrg_pseudo.csv")
    model = stead.Sequence(
        [
            stead.Logistic("MoreThanHighSchool ~ Gender + Age_raw"),
            stead.Linear("BaseFVC ~ Age_raw + MoreThanHighSchool"),
        ]
    )
    release = stead.synthesize(registry, model, m=2, rng=1)
    rate = registry["MoreThanHighSchool"].gaps / registry.rows
    for made in release.synthetic:
        assert abs(made["MoreThanHighSchool"].gaps / registry.rows - rate) < 5 * np.sqrt(
            rate * (1 - rate) * 2 / registry.rows
        )
