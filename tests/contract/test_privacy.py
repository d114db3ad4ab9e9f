"""Private models, the ledger, acceptance and their commands as users meet them.

Write a test here for a promise about names, shapes, refusals and files; numbers belong to tests/known and tests/oracle.
"""

from __future__ import annotations

import json
import re
import runpy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stead
from stead.cli.main import execute
from stead.models.epsilon import HasEpsilon
from stead.report.charts import panels
from stead.tables.records import Values

LEVELS = (0, 1)
DECLARED: dict[str, tuple[Any, ...]] = {"A": ("a", "b", "c"), "B": (0, 1, None)}
SCHEMA = stead.Schema(
    [
        stead.Column("Y", "binary", levels=LEVELS),
        stead.Column("A", "categorical", levels=("a", "b", "c")),
        stead.Column("B", "binary", levels=LEVELS),
        stead.Column("w", "continuous"),
    ]
)
BINARY = stead.BinaryDP(2, column="Y", declared=LEVELS)
TABLE = stead.MultinomialDP(
    2, columns=["A", "B"], declared=DECLARED, structural_zeros=[{"A": "c", "B": [1, None]}]
)


def _records(rows: int = 200) -> stead.Records:
    rng = np.random.default_rng(8)
    made = stead.table(
        {
            "Y": (rng.random(rows) < 0.3).astype(int),
            "A": np.array(["a", "b"])[rng.integers(0, 2, rows)],
            "B": rng.integers(0, 2, rows),
            "w": rng.normal(size=rows),
        },
        SCHEMA,
    )
    missing = np.where(np.arange(rows) % 10 == 0, -1, 0).astype(np.int8)
    return made.with_column(SCHEMA["B"], Values(np.where(missing, 0, made["B"].values), missing))


RECORDS = _records()


# ---- models -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [BINARY, TABLE])
def test_a_private_release_holds_the_columns_of_its_model_and_nothing_confidential(
    model: stead.BinaryDP | stead.MultinomialDP,
) -> None:
    release = stead.synthesize(RECORDS, model, m=3, rows=150)
    assert isinstance(model, HasEpsilon)
    assert release.synthesized == model.responses
    assert release.kept == ()
    assert set(release.lacking) == {"Y", "A", "B", "w"} - set(model.responses)
    assert not release.aligned
    assert release.proper is False
    assert [one.rows for one in release.synthetic] == [150] * 3
    assert release.seed is None
    for made in release.synthetic:
        for name in model.responses:
            assert made.schema[name] == SCHEMA[name]
    assert not np.array_equal(
        release.synthetic[0][model.responses[0]].values, release.synthetic[1][model.responses[0]].values
    )


def test_an_impossible_combination_is_never_drawn_and_missing_cells_are_where_none_is_declared() -> None:
    release = stead.synthesize(
        RECORDS,
        stead.MultinomialDP(
            0.01, columns=["A", "B"], declared=DECLARED, structural_zeros=TABLE.structural_zeros
        ),
        m=1,
        rows=3000,
    )
    made = release.synthetic[0]
    c = made["A"].values == 2
    assert c.sum() > 300  # a fifth of the possible cells each, as epsilon is next to nothing
    assert (made["B"].present[c]).all()
    assert (made["B"].values[c] == 0).all()
    assert made["B"].gaps > 600


@pytest.mark.parametrize(
    ("form", "shared", "proper"), [("plug-in", False, False), ("drawn", False, True), ("drawn", True, False)]
)
def test_proper_is_what_the_form_makes_it(form: Any, *, shared: bool, proper: bool) -> None:
    model = stead.BinaryDP(1, column="Y", declared=LEVELS, form=form, shared=shared)
    release = stead.synthesize(RECORDS, model, m=2)
    assert release.proper is proper
    possible = {True: ["exact", "two_posterior", "reweight", "refit"], False: ["exact"]}[proper]
    for strategy in ("exact", "two_posterior", "reweight"):
        if strategy in possible:
            stead.attribute_risk(release, "Y", rows=[0], evidence=strategy, refits=0, rng=1)
        else:
            with pytest.raises(stead.UsageError, match=r"possible: exact( |$)"):
                stead.attribute_risk(release, "Y", evidence=strategy, rng=1)


def test_a_seed_is_refused_everywhere() -> None:
    posterior = BINARY.fit(RECORDS)
    for call in (
        lambda: stead.synthesize(RECORDS, BINARY, rng=1),
        lambda: stead.synthesize(RECORDS, BINARY, rng=np.random.default_rng(1)),
        lambda: BINARY.fit(RECORDS, rng=1),
        lambda: posterior.sample(0, stead.Records.empty(10), 1),
    ):
        with pytest.raises(stead.UsageError, match="entropy of the operating system"):
            call()


def test_a_posterior_does_not_draw_more_rows_than_its_epsilon_is_for() -> None:
    posterior = BINARY.fit(RECORDS)
    assert posterior.sample(0, stead.Records.empty(150)).rows == 150
    with pytest.raises(stead.UsageError, match="at most 200 rows"):
        posterior.sample(0, stead.Records.empty(201))


@pytest.mark.parametrize("form", ["plug-in", "drawn"])
def test_a_private_release_is_kept_and_loaded_again(form: Any, tmp_path: Path) -> None:
    for model in (
        stead.BinaryDP(3, column="Y", declared=LEVELS, form=form, alpha=700.0),
        stead.MultinomialDP(
            3, columns=["A", "B"], declared=DECLARED, structural_zeros=TABLE.structural_zeros, form=form
        ),
    ):
        release = stead.synthesize(RECORDS, model, m=2, draws=20)
        loaded = stead.Release.load(release.save(tmp_path / type(model).__name__))
        target = list(model.responses)
        before, after = (stead.attribute_risk(one, target) for one in (release, loaded))
        assert np.array_equal(before.per_record["probability"], after.per_record["probability"])
        assert loaded.posterior is not None
        assert release.posterior is not None
        assert np.array_equal(
            loaded.posterior.log_likelihood(RECORDS), release.posterior.log_likelihood(RECORDS)
        )
        assert loaded.posterior.describe() == release.posterior.describe()
        assert loaded.provenance["epsilon"] == 3


def test_measures_of_utility_work_on_a_private_release() -> None:
    release = stead.synthesize(RECORDS, TABLE, m=2)
    assert stead.margins(release).available


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: stead.BinaryDP(0, column="Y"), "above 0"),
        (lambda: stead.BinaryDP(float("nan"), column="Y"), "above 0"),
        (lambda: stead.BinaryDP(1, column="Y", form="plugin"), "did you mean plug-in"),  # type: ignore[arg-type]
        (lambda: stead.BinaryDP(1, column="Y", declared=(0, 1, 2)), "two declared levels"),
        (lambda: stead.BinaryDP(1, column="Y", shared=True), "always shared"),
        (lambda: stead.BinaryDP(1, column="Y", alpha=-1), "alpha is a number"),
        (lambda: stead.BinaryDP(1, column="Y", declared=LEVELS, alpha=0.5).fit(RECORDS), "at least"),
        (lambda: stead.MultinomialDP(1, columns=["A", "A"]), "each once"),
        (lambda: stead.MultinomialDP(1, columns=["A"], declared={"a": (1, 2)}), "did you mean A"),
        (lambda: stead.MultinomialDP(1, columns=["A"], declared={"A": "abc"}), "are a list"),
        (
            lambda: stead.MultinomialDP(1, columns=["A"], declared={"A": range(10**6 + 1)}),
            "at most 1,000,000",
        ),
        (
            lambda: stead.MultinomialDP(
                1, columns=["A"], declared={"A": (1, 2)}, structural_zeros=[{"A": 3}]
            ),
            "no such level",
        ),
        (
            lambda: stead.MultinomialDP(
                1, columns=["A"], declared={"A": (1, 2)}, structural_zeros=[{"A": 1}]
            ),
            "at least two",
        ),
        (lambda: stead.BinaryDP(1, column="w", declared=LEVELS).fit(RECORDS), "continuous"),
        (lambda: stead.BinaryDP(1, column="y", declared=LEVELS).fit(RECORDS), "did you mean Y"),
        (lambda: stead.Sequence([BINARY, stead.Linear("w ~ Y")]), "stands alone"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, match: str) -> None:
    with pytest.raises(stead.SteadError, match=match):
        call()


def test_a_ledger_counts_private_models_alone(tmp_path: Path) -> None:
    with pytest.raises(stead.UsageError, match="Linear is not differentially private"):
        stead.synthesize(RECORDS, stead.Linear("w ~ Y"), m=1, ledger=stead.Ledger(tmp_path))


def test_columns_made_together_are_guessed_together_or_known() -> None:
    release = stead.synthesize(RECORDS, TABLE, m=1)
    with pytest.raises(stead.UsageError, match="guess all of them"):
        stead.attribute_risk(release, "A", stead.Intruder.worst_case(synthesized="unknown"))


# ---- the ledger -------------------------------------------------------------------------------------


def test_a_ledger_adds_sets_columns_and_runs_of_one_file_and_keeps_files_apart(tmp_path: Path) -> None:
    ledger = stead.Ledger(tmp_path / "internal")
    stead.synthesize(RECORDS, BINARY, m=5, ledger=ledger)
    assert ledger.spent(RECORDS) == 10
    stead.synthesize(RECORDS, TABLE, m=1, ledger=ledger)
    assert ledger.by_columns(RECORDS) == {("Y",): 10, ("A", "B"): 2}
    again = stead.Ledger(tmp_path / "internal", budget=20)  # another day, another process
    stead.synthesize(_records(), BINARY, m=3, ledger=again)
    assert again.spent(RECORDS) == 18
    other = _records(199)
    assert again.spent(other) == 0
    stead.synthesize(other, BINARY, m=1, ledger=again)
    assert again.spent(RECORDS) == 18
    with pytest.raises(stead.UsageError, match="to epsilon 28, and the budget is 20; nothing was spent"):
        stead.synthesize(RECORDS, BINARY, m=5, ledger=again)
    assert again.spent(RECORDS) == 18
    measured = again.measure(RECORDS).to_dict()
    assert (measured["value"], measured["reference"]) == (18.0, 20.0)
    assert repr(again) == "Ledger(4 uses of 2 files, budget 20 each)"


def test_a_ledger_of_a_file_adds_up_whichever_columns_were_read(tmp_path: Path) -> None:
    path = stead.write(RECORDS, tmp_path / "data.csv")
    one = stead.read_declared(path, {"Y": LEVELS})
    two = stead.read_declared(path, DECLARED)
    apart, together = stead.Ledger(tmp_path / "apart"), stead.Ledger(tmp_path / "together", file=path)
    for ledger in (apart, together):
        stead.synthesize(one, BINARY, m=1, ledger=ledger)
        stead.synthesize(two, TABLE, m=1, ledger=ledger)
    assert apart.spent(one) == 2
    assert together.spent(one) == together.spent(two) == 4
    path.write_text("Y\n1\n")
    assert together.spent(one) == 0
    with pytest.raises(stead.UsageError, match="no file is called"):
        stead.Ledger(tmp_path, file=tmp_path / "none.csv")


def test_sums_are_exact(tmp_path: Path) -> None:
    ledger = stead.Ledger(tmp_path)
    tenth = stead.BinaryDP(0.1, column="Y", declared=LEVELS)
    for _ in range(3):
        stead.synthesize(RECORDS, tenth, m=7, ledger=ledger)
    assert ledger.spent(RECORDS) == 21 * Fraction(0.1)


def test_a_ledger_holds_no_value_and_its_folder_is_its_owner_s(tmp_path: Path) -> None:
    ledger = stead.Ledger(tmp_path / "internal")
    stead.synthesize(RECORDS, BINARY, m=1, ledger=ledger)
    kept = json.loads((tmp_path / "internal" / "ledger.json").read_text())
    (event,) = kept["events"]
    assert set(event) == {
        "file",
        "when",
        "purpose",
        "model",
        "columns",
        "form",
        "epsilon",
        "m",
        "rows",
        "cost",
    }
    assert re.fullmatch(r"[0-9a-f]{64}", event["file"])
    for path in (tmp_path / "internal").iterdir():
        assert path.stat().st_mode & 0o077 == 0
    changed = stead.Ledger(tmp_path / "elsewhere")
    stead.synthesize(RECORDS, BINARY, m=1, ledger=changed)
    assert changed.events[0].file != event["file"]  # another key


def test_a_ledger_that_was_changed_is_refused(tmp_path: Path) -> None:
    ledger = stead.Ledger(tmp_path)
    stead.synthesize(RECORDS, BINARY, m=5, ledger=ledger)
    path = tmp_path / "ledger.json"
    path.write_text(path.read_text().replace('"10"', '"01"'))
    with pytest.raises(stead.InputRefused, match="not those that were written"):
        ledger.spent(RECORDS)


def test_what_fails_before_it_is_declared_costs_nothing_and_what_fails_later_was_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = stead.Ledger(tmp_path)
    with pytest.raises(stead.InputRefused):
        stead.synthesize(RECORDS, stead.BinaryDP(1, column="Y"), m=1, ledger=ledger)
    assert ledger.events == ()
    monkeypatch.setattr("stead.models.mechanism.draw_categories", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        stead.synthesize(RECORDS, BINARY, m=1, ledger=ledger)
    assert ledger.spent(RECORDS) == 2


# ---- acceptance -------------------------------------------------------------------------------------


def test_the_search_takes_the_largest_epsilon_that_is_accepted_and_charges_every_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stead.sampling.exact.token_bytes", np.random.default_rng(5).bytes)
    ledger = stead.Ledger(tmp_path)
    model = stead.BinaryDP(1, column="Y", declared=LEVELS)
    region = stead.Region("RR <= 1.02")
    found = stead.reduce_epsilon(RECORDS, model, [0.005, 5000, 0.019], region, ledger=ledger, m=1)
    assert [epsilon for epsilon, _ in found.tried] == [5000, 0.019]
    assert found.epsilon == 0.019  # e^.019 < 1.02: accepted whatever is drawn
    assert found.release is not None
    assert ledger.spent(RECORDS) == sum(Fraction(epsilon) for epsilon, _ in found.tried)
    assert {event.purpose for event in ledger.events} == {"a try of reduce_epsilon"}
    assert "not differentially private" in found.caveat
    none = stead.reduce_epsilon(RECORDS, model, [1], stead.Region("RR < .0001"), ledger=ledger)
    assert none.release is None
    assert none.epsilon is None
    assert none.to_dict()["tried"] == [{"epsilon": 1.0, "outside": 1.0, "safe": False}]


def test_acceptance_says_which_records_under_which_priors(tmp_path: Path) -> None:
    factor = np.array([0.5, 1.0, 1.0625, 1.0 + 1 / 15, 2.0, np.inf, np.nan])
    risk = stead.Measurement(
        name="risk", value=0.5, per_record={"factor": np.ones(7), "worst_factor": factor}
    )
    found = stead.acceptable(risk)
    assert found.value == 4 / 7
    assert found.per_record["outside"].tolist() == [False, False, False, True, True, True, True]
    assert found.per_record["prior_low"][4] == pytest.approx(1 / 9)
    assert found.per_record["prior_high"][4] == pytest.approx(19 / 21)
    assert found.details["outside_by_split"] == {"worst": 4 / 7, "prior": 0.0}
    assert stead.acceptable(risk, split="prior").details["safe"]
    shown = json.dumps(found.to_dict(), allow_nan=False)
    assert "prior_low" in shown
    for chart in panels(found.to_dict()):
        assert chart.save(tmp_path / "x.svg").stat().st_size > 1000
    with pytest.raises(stead.UsageError, match="single records"):
        stead.acceptable(stead.Measurement(name="other", value=1.0))
    with pytest.raises(stead.UsageError, match="has no prior to sweep"):
        stead.acceptable(
            stead.Measurement(
                name="outsider", value=1.0, details={"others": "none"}, per_record=dict(risk.per_record)
            )
        )
    with pytest.raises(stead.UsageError, match="did you mean worst"):
        stead.acceptable(risk, split="worse")  # type: ignore[arg-type]


def test_a_rounding_error_at_the_bound_is_not_a_failure() -> None:
    near = 1.0625 * (1 + 1e-15)
    risk = stead.Measurement(
        name="risk", value=0.5, per_record={"factor": np.array([near]), "worst_factor": np.array([near])}
    )
    assert stead.acceptable(risk).details["safe"]
    assert not stead.Region().outside(1.0625)
    assert stead.Region().outside(near)


def test_a_sweep_is_an_intruder_whose_factor_is_all_there_is_to_know() -> None:
    release = stead.synthesize(RECORDS, BINARY, m=1)
    swept = stead.attribute_risk(release, "Y", stead.Intruder.sweep(weights=9))
    absolute, relative = stead.Intruder.sweep(weights=9).prior.lines(swept.per_record["factor"])
    assert absolute.shape == (200, 9)
    for place, weight in enumerate((0.1, 0.5, 0.9)):
        column = (0, 4, 8)[place]
        fixed = stead.attribute_risk(release, "Y", stead.Intruder.worst_case(prior=stead.PointMass(weight)))
        assert np.allclose(absolute[:, column], fixed.per_record["probability"])
        assert np.allclose(relative[:, column], fixed.per_record["relative"])
    with pytest.raises(stead.UsageError, match="at least one"):
        stead.Intruder.sweep(weights=0)


# ---- pictures ---------------------------------------------------------------------------------------


def test_the_picture_of_risk_and_utility_draws_every_release() -> None:
    points = [
        {"group": group, "utility": u, "risk": r, "hollow": u > 1}
        for group, u, r in (("1", 0.1, 0.7), ("1", 0.4, 0.6), ("0.1", 1.5, 0.5))
    ]
    chart = stead.Measurement(
        name="study",
        value=0.7,
        reference=0.5,
        reference_name="the prior",
        aggregates={
            "kind": "risk_utility",
            "points": points,
            "groups": ["1", "0.1"],
            "group_name": "epsilon",
            "utility_name": "loss",
            "risk_name": "R",
        },
    ).chart()
    assert chart.title.endswith("?")
    assert "0.700" in chart.svg
    assert "the prior 0.500" in chart.svg
    assert chart.svg.count("<path") >= 3 + 2


def test_the_example_draws_its_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = Path(__file__).resolve().parents[2] / "examples" / "mcclure_reiter.py"
    held = runpy.run_path(str(file))
    study = held["main"].__globals__
    study["REPEATS"], study["SHARES"] = 1, (0.001,)
    held["main"](tmp_path / "figures")
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        "risk-utility-0.001.png",
        "sweep-0.001.png",
    }
    assert "0.125201" in capsys.readouterr().out


# ---- commands ---------------------------------------------------------------------------------------


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = execute(arguments)
    return code, *capsys.readouterr()


def test_risk_binary_gives_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(
        capsys,
        "risk",
        "binary",
        "--p0",
        ".001,.5",
        "--epsilon",
        "1000,100,10,2,.2,.01",
        "--n",
        "1000",
        "--json",
    )
    cells = json.loads(out)["cells"]
    assert code == 0
    assert len(cells) == 12
    assert cells[0] == {"p0": 0.001, "epsilon": 1000.0, "expected_risk": pytest.approx(0.125201, abs=5e-7)}
    assert cells[-1]["expected_risk"] == pytest.approx(3.13843e-5, abs=5e-10)
    code, out, _ = _run(
        capsys,
        "risk",
        "binary",
        "--p0",
        ".5",
        "--epsilon",
        "10",
        "--n",
        "100",
        "--n-s",
        "50",
        "--form",
        "drawn",
    )
    assert code == 0
    assert "p0 = 0.5" in out
    for wrong in ("--p0 2", "--p0 a", "--p0 .5 --form x", "--p0 .5 --prior 0"):
        code, _, err = _run(capsys, *f"risk binary {wrong} --epsilon 1 --n 10".split())
        assert code == 2
        assert err.startswith("stead: ")


def test_audit_ends_with_4_where_a_promise_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(
        capsys, "audit", "--epsilon", "1", "--n", "5", "--n-s", "3", "--levels", "3", "--json"
    )
    assert code == 0
    assert json.loads(out)["kept"]
    code, out, _ = _run(capsys, "audit", "--epsilon", "10", "--n-s", "20", "--prior", ".0454,.0454")
    assert code == 4
    assert "The promise is broken" in out
    code, out, _ = _run(capsys, "audit", "--epsilon", "1", "--form", "drawn", "--sets", "3", "--shared")
    assert code == 0
    assert "1.81723965" in out
    assert _run(capsys, "audit", "--epsilon", "1", "--n", "60", "--levels", "5", "--n-s", "60")[0] == 2


def test_a_cell_that_cannot_be_read_is_missing_under_declared_levels(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("Y,w\n0,1\n1,x\nNaN,1\n1e999,2\n,3\n01,4\n")
    held = stead.read_declared(path, {"Y": (0, 1)})
    assert held.names == ("Y",)
    assert held["Y"].values.tolist() == [0, 1, 0, 0, 0, 1]
    assert held["Y"].missing.tolist() == [0, 0, -1, -1, -1, 0]
    flags = stead.read_declared({"Y": [True, "TRUE", "false", 1]}, {"Y": (False, True)})
    assert flags["Y"].missing.tolist() == [0, 0, 0, -1]
    with pytest.raises(stead.UsageError, match="did you mean Y"):
        stead.read_declared(path, {"y": (0, 1)})
