"""Faults seen from the command line, by their number in the list of faults: exit code, message, what is left on disk.

Write a test here for a fault that a run meets after its file was read, or that a crash leaves. Faults of
reading are in `test_reading.py`, good runs in `tests/contract/test_commands.py`.
"""

from __future__ import annotations

import csv
import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from stead.cli.main import execute
from stead.errors import SteadError
from stead.release import Release
from stead.report import pages
from stead.sampling.diagnostics import Diagnostics
from stead.store import artefacts
from stead.store.artefacts import Folder
from stead.store.workdir import Workdir
from stead.tables.examples import consumer_survey
from stead.tables.files import read, table, write
from stead.tables.schema import Column, Schema
from stead.utility.ecdf import ecdf
from stead.utility.margins import margins

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from stead.measurement import Measurement


class Study:
    """A folder with a data file and a plan, and the commands on it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        self.output = folder / "stead-output"
        self.plan = folder / "stead.toml"

    def data(self, columns: Mapping[str, Iterable[object]]) -> Study:
        with (self.folder / "data.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        return self

    def init(self) -> Study:
        code, out, err = self("init", str(self.folder / "data.csv"), "--force")
        assert code == 0, out + err
        return self

    def edit(self, *changes: tuple[str, str]) -> Study:
        text = self.plan.read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        self.plan.write_text(text, encoding="utf-8")
        return self

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = execute(arguments)
        return code, *self.capsys.readouterr()

    def check(self) -> dict[str, Any]:
        code, out, _ = self("check", str(self.plan), "--json")
        answer: dict[str, Any] = json.loads(out)
        assert answer["exit_code"] == code
        return answer

    def run(self, *, seed: int = 11, code: int = 0) -> dict[str, Any]:
        got, out, err = self("run", str(self.plan), "--repro-seed", str(seed), "--json")
        assert got == code, err
        answer: dict[str, Any] = json.loads(out)
        return answer

    def public(self) -> list[dict[str, list[str]]]:
        """The synthetic files, by column."""
        sets = []
        for path in sorted((self.output / "public").iterdir()):
            with path.open(encoding="utf-8", newline="") as stream:
                head, *rows = csv.reader(stream)
            sets.append({name: [row[place] for row in rows] for place, name in enumerate(head)})
        return sets


@pytest.fixture
def pictured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Study:
    """A study with its real page."""
    return Study(tmp_path, capsys)


@pytest.fixture
def study(pictured: Study, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study whose page has no charts, which take most of the time of a run."""
    monkeypatch.setattr(pages, "report", lambda content: f"<p>{content['title']}")
    return pictured


def codes(answer: Mapping[str, Any], level: str = "") -> set[str]:
    return {one["code"] for one in answer["findings"] if one["level"].startswith(level)}


def about(answer: Mapping[str, Any], code: str) -> str:
    return " ".join(one["message"] for one in answer["findings"] if one["code"] == code)


def numbers(rows: int = 300, seed: int = 1) -> dict[str, list[Any]]:
    """Two correlated amounts and a category."""
    random = np.random.default_rng(seed)
    x = random.normal(50, 10, rows)
    y = 2 * x + random.normal(0, 5, rows)
    group = random.choice(["north", "south", "west"], rows)
    return {"x": np.round(x, 3).tolist(), "y": np.round(y, 3).tolist(), "group": group.tolist()}


def verified(output: Path) -> dict[str, Any]:
    """Every file of a run has the bytes that were written; its assessment."""
    folder = Workdir(output).folder
    names = folder.hashes()
    assert {"report.html", "internal/assessment.json"} <= set(names)
    for name in names:
        folder.verified(name)
    Release.load(output / "internal" / "release")
    found: dict[str, Any] = folder.read_json("internal/assessment.json")
    assert set(found["release"]["files"]) == {name for name in names if name.startswith("public/")}
    listed = {path.relative_to(output).as_posix() for path in (output / "public").iterdir()}
    assert listed == set(found["release"]["files"])
    return found


# ---- columns ----------------------------------------------------------------------------------------


def test_1_a_column_without_a_value_is_carried_and_said(study: Study) -> None:
    answer = study.data(numbers() | {"nothing": [""] * 300}).init().check()
    assert answer["ok"]
    assert "nothing" in about(answer, "E-COL-ALLNA")
    study.run()
    assert all(one["nothing"] == [""] * 300 for one in study.public())


def test_2_a_constant_column_is_kept_and_is_no_predictor(study: Study) -> None:
    study.data(numbers() | {"wave": [7] * 300, "level": ["all"] * 300}).init()
    answer = study.check()
    assert answer["ok"]
    for name in ("wave", "level"):
        assert f"column {name}: is constant" in about(answer, "E-COL-CONST")
    done = study.run()
    assert all(one["wave"] == ["7"] * 300 and one["level"] == ["all"] * 300 for one in study.public())
    assert {"wave", "level"} <= set(done["release"]["kept"])
    assert not any("wave" in one["formula"] or "level" in one["formula"] for one in done["models"])


@pytest.mark.parametrize("model", ["y ~ x + wave", "y ~ x + log(wave)"])
def test_2_a_constant_predictor_is_dropped_and_the_assessment_says_so(study: Study, model: str) -> None:
    study.data(numbers() | {"wave": [7] * 300}).init()
    formula = next(line for line in study.plan.read_text().splitlines() if line.startswith('formula = "y '))
    done = study.edit((formula, f'formula = "{model}"')).run()
    notes = " ".join(note for one in done["models"] for note in one["notes"])
    assert "left out, in" in notes
    assert "wave" in notes


def test_2_a_constant_column_is_not_modelled(study: Study) -> None:
    study.data(numbers() | {"wave": [7] * 300}).init()
    formula = next(line for line in study.plan.read_text().splitlines() if line.startswith('formula = "y '))
    answer = study.edit((formula, 'formula = "wave ~ x"')).check()
    assert answer["exit_code"] == 3
    assert "wave" in about(answer, "E-COL-CONST")
    assert study.run(code=3)["error"] == "E-COL-CONST"
    assert study.public() == []


def test_3_codes_and_na_alone_are_found_before_the_run(study: Study) -> None:
    cells = ["-7", "NA", "-7", ""] * 75
    study.data(numbers() | {"asked": cells})
    assert "asked" in study.init().plan.read_text(encoding="utf-8")
    plan = read(
        study.folder / "data.csv", Schema([Column("asked", "continuous"), *others("x", "y", "group")])
    )
    assert plan["asked"].gaps == 150
    answer = study.check()
    assert "column asked: every cell is missing" in about(answer, "E-COL-ALLNA")
    study.edit(("missing = [\n    -7,\n]\n", ""))
    answer = study.check()
    assert "column asked: every value is one of a few negative whole numbers" in about(answer, "E-SPECIAL")
    assert "-7" not in json.dumps(answer)


def others(*names: str) -> list[Column]:
    """Columns that are left behind."""
    return [Column(name, "categorical", role="drop") for name in names]


def test_3_a_model_of_codes_alone_stops_before_the_run(study: Study) -> None:
    study.data(numbers() | {"asked": ["-7", "NA", ""] * 100}).init()
    formula = next(line for line in study.plan.read_text().splitlines() if line.startswith('formula = "y '))
    answer = study.edit((formula, 'formula = "asked ~ x"')).check()
    assert answer["exit_code"] == 3
    assert "0 values are present" in about(answer, "E-COL-EMPTY")
    study.run(code=3)
    assert study.public() == []


def test_5_the_rate_of_missing_cells_is_kept_and_codes_stay_apart(study: Study) -> None:
    """The share of each code in m sets of n cells has a sampling error of at most .5 sqrt(1/n + 1/(n m))."""
    rows, random = 1200, np.random.default_rng(5)
    columns = numbers(rows)
    kind = random.choice(["there", "-7", "-8", ""], rows, p=[0.55, 0.25, 0.12, 0.08])
    columns["y"] = [
        value if which == "there" else which for value, which in zip(columns["y"], kind, strict=True)
    ]
    done = study.data(columns).init().edit(("m = 5", "m = 8")).run()
    sets = study.public()
    assert len(sets) == 8
    for code in ("-7", "-8", ""):
        true = float(np.mean(kind == code))
        made = np.mean([[cell in {code, f"{code}.0"} for cell in one["y"]] for one in sets])
        error = np.sqrt(true * (1 - true) * (1 / rows + 1 / (rows * len(sets))))
        assert abs(made - true) < 4 * error, code
    patterns = {tuple(cell in {"-7", "-8", ""} for cell in one["y"]) for one in sets}
    assert len(patterns) == len(sets), "who did not answer is drawn, not copied"
    assert "missing" in json.dumps(done["models"])


def test_5_gaps_that_depend_on_a_predictor_still_do(study: Study) -> None:
    rows = 1500
    columns = numbers(rows)
    where = np.array(columns["group"])
    chance = np.where(where == "north", 0.6, 0.1)
    gone = np.random.default_rng(6).random(rows) < chance
    columns["y"] = [-9 if out else value for value, out in zip(columns["y"], gone, strict=True)]
    study.data(columns).init().run()
    for one in study.public():
        out, there = np.array([cell.startswith("-9") for cell in one["y"]]), np.array(one["group"])
        assert 0.5 < out[there == "north"].mean() < 0.7
        assert out[there != "north"].mean() < 0.16


def test_6_a_whole_number_column_with_gaps_stays_whole(study: Study) -> None:
    rows = 400
    columns = numbers(rows)
    random = np.random.default_rng(7)
    big = 2**53 + 1
    columns["income"] = [
        "" if random.random() < 0.2 else int(random.normal(40_000, 9_000)) for _ in range(rows)
    ]
    columns["number"] = [big + 2 * int(random.integers(0, 10**15)) for _ in range(rows)]
    done = study.data(columns).init().run()
    assert "income" in done["release"]["synthesized"]
    for one in study.public():
        assert all(cell == "" or cell.lstrip("-").isdigit() for cell in one["income"] + one["number"])
        assert 0.1 < np.mean([cell == "" for cell in one["income"]]) < 0.3


# ---- rows -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 49])
def test_24_too_few_rows_are_refused_until_the_plan_allows_them(study: Study, rows: int) -> None:
    study.data(numbers())
    study.init()
    study.data(numbers(rows))
    answer = study.check()
    assert answer["exit_code"] == 3
    assert f"{rows} rows are too few" in about(answer, "E-FEW-ROWS") or codes(answer, "stop") == {"E-LEVEL"}
    refused = study.run(code=3)
    assert refused["error"] == "E-FEW-ROWS"
    assert "minimum_rows" in refused["message"]
    assert study.public() == []
    study.edit(("minimum_rows = 50", "minimum_rows = 1"))
    if rows > 2:
        assert study.check()["ok"]
        study.run()
        assert all(len(one["x"]) == rows for one in study.public())
    else:
        assert study.check()["exit_code"] == study.run(code=3)["exit_code"] == 3


def test_24_one_row_is_refused_by_init_or_by_check(study: Study) -> None:
    study.data(numbers(1))
    code, _, err = study("init", str(study.folder / "data.csv"))
    assert code in {0, 2, 3}
    assert "bug" not in err
    if code == 0:
        assert study.check()["exit_code"] == 3


# ---- models -----------------------------------------------------------------------------------------


def wide(rows: int, width: int) -> dict[str, list[Any]]:
    random = np.random.default_rng(25)
    x = np.round(random.normal(size=(rows, width)), 4)
    y = np.round(x[:, 0] + random.normal(size=rows), 4)
    return {f"x{place}": x[:, place].tolist() for place in range(width)} | {"y": y.tolist()}


def model(formula: str, prior: str = "weak", name: str = "Linear") -> str:
    return f'[[models]]\nmodel = "{name}"\nformula = "{formula}"\nprior = "{prior}"\n'


def with_models(study: Study, *models: str) -> Study:
    """The plan with other models."""
    text = study.plan.read_text(encoding="utf-8")
    head, rest = text[: text.index("[[models]]")], text[text.index("[measures]") :]
    study.plan.write_text(head + "\n".join(models) + "\n" + rest, encoding="utf-8")
    return study


def test_25_fewer_rows_than_columns(study: Study) -> None:
    study.data(wide(60, 80)).init()
    formula = "y ~ " + " + ".join(f"x{place}" for place in range(80))
    with_models(study, model(formula)).run()
    assert all(np.isfinite(np.array(one["y"], float)).all() for one in study.public())
    refused = with_models(study, model(formula, "flat")).run(code=3)
    assert "prior" in refused["message"]
    assert "weak" in refused["message"]


@pytest.mark.parametrize("prior", ["weak", "flat"])
def test_25_and_26_aliased_terms_are_reported(study: Study, prior: str) -> None:
    columns = numbers()
    columns["twice"] = [2 * value for value in columns["x"]]
    columns["sum"] = [round(value + 1, 3) for value in columns["x"]]
    done = with_models(study.data(columns).init(), model("y ~ x + twice + sum + group", prior)).run()
    notes = " ".join(done["models"][0]["notes"])
    if prior == "flat":
        assert "2 columns of the design are determined by others and are left out" in notes
    made = np.array(study.public()[0]["y"], float)
    assert np.corrcoef(made, columns["x"])[0, 1] == pytest.approx(0.97, abs=0.02)


def test_26_what_follows_from_other_columns_is_found_and_made_by_rule(study: Study) -> None:
    columns = numbers()
    columns["twice"] = [round(2 * value, 3) for value in columns["x"]]
    columns["total"] = [round(x + y, 3) for x, y in zip(columns["x"], columns["y"], strict=True)]
    columns["side"] = ["coast" if place == "north" else "inland" for place in columns["group"]]
    columns["tall"] = ["yes" if value > 50 else "no" for value in columns["x"]]
    done = study.data(columns).init().run()
    rules = {one["formula"] for one in done["models"] if one["model"] == "Derived"}
    assert rules == {
        "twice = 2 * x",
        "total = x + y",
        "side = recode of group",
        "tall = recode of x",
    }
    for one in study.public():
        x, y, total = (np.array(one[name], float) for name in ("x", "y", "total"))
        assert np.allclose(total, x + y, atol=5e-4)
        assert np.allclose(np.array(one["twice"], float), 2 * x, atol=5e-4)
        assert [place == "north" for place in one["group"]] == [side == "coast" for side in one["side"]]
        assert max(x[np.array(one["tall"]) == "no"]) <= min(x[np.array(one["tall"]) == "yes"])
    assert "50" not in " ".join(one["formula"] for one in done["models"]), "cut points are not shown"


def test_26_a_rule_that_the_file_breaks_stops_before_the_run(study: Study) -> None:
    columns = numbers()
    columns["total"] = [round(x + y, 3) for x, y in zip(columns["x"], columns["y"], strict=True)]
    study.data(columns).init()
    columns["total"][7] += 1.0
    answer = study.data(columns).check()
    assert answer["exit_code"] == 3
    assert "does not hold in 1 of 300 rows" in about(answer, "E-RULE-BROKEN")
    assert study.run(code=3)["error"] == "E-RULE-BROKEN"
    study.edit(('formula = "total = x + y"', 'formula = "total = x + z"'))
    assert study.check()["exit_code"] == 2


def test_30_three_hundred_levels_stay_within_the_budget(study: Study) -> None:
    random = np.random.default_rng(30)
    rows = 900
    columns = numbers(rows) | {"place": [f"place {code:03d}" for code in random.integers(0, 300, rows)]}
    study.data(columns).init().edit(("draws = 1000", "draws = 60"), ("m = 5", "m = 1"))
    plan = study.plan.read_text(encoding="utf-8")
    assert 'formula = "place ~ 1"' in plan
    assert study.check()["ok"]
    refused = with_models(study, model("place ~ x + y + group", name="Multinomial"))
    assert refused.edit(("draws = 60", "draws = 1000000")).run(code=2)["error"] == "E-BUDGET"
    assert "Derived" not in plan


def separating() -> dict[str, list[Any]]:
    columns = numbers()
    columns["high"] = ["yes" if value > 50 else "no" for value in columns["x"]]
    return columns


def test_27_the_weak_prior_goes_on_under_separation_and_says_so(study: Study) -> None:
    study.data(separating()).init().edit(
        ('kind = "categorical"\nlevels = [\n    "no"', 'kind = "binary"\nlevels = [\n    "no"')
    )
    done = with_models(study, model("high ~ x", name="Logistic")).run()
    assert "separate the levels" in " ".join(done["models"][0]["notes"])
    for one in study.public():
        assert np.mean(np.array(one["high"]) == np.array(separating()["high"])) > 0.9


def test_27_a_flat_prior_refuses_separation(study: Study) -> None:
    study.data(separating()).init()
    refused = with_models(study, model("high ~ x", "flat", "Logistic")).run(code=3)
    assert refused["error"] == "E-SEPARATION"
    assert 'prior="weak"' in refused["message"]
    assert study.public() == []


BAD = "R-hat is 2.000 (limit 1.05): the chains do not agree"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Diagnostics, "problems", property(lambda _: (BAD,)))


def test_28_bad_diagnostics_release_nothing(study: Study, failing: None) -> None:
    study.data(numbers()).init()
    refused = study.run(code=5)
    assert refused["error"] == "E-DIAGNOSTICS"
    assert BAD in refused["message"]
    assert "override" in refused["message"]
    assert study.public() == []
    assert not (study.output / "report.html").exists()
    recorded = Workdir(study.output).folder.read_json("internal/failure.json")
    assert recorded == refused
    assert [row["fit"] for row in recorded["fits"]] == ["x", "y", "group"]
    for row in recorded["fits"]:
        assert row["problems"] == [BAD]
        assert row["mark"] == "fail"
        assert set(row["figures"]) == {"ess_bulk", "ess_tail", "rhat", "pareto_k", "acceptance"}


def test_28_the_refusal_says_where_the_figures_of_all_fits_are(study: Study, failing: None) -> None:
    study.data(numbers()).init()
    code, _, err = study("run", str(study.plan))
    assert code == 5
    where = study.output / "internal" / "failure.json"
    assert f"every fit with its figures: {where}" in err
    assert where.exists()


def test_28_an_override_goes_on_and_its_reason_is_recorded(pictured: Study, failing: None) -> None:
    pictured.data(numbers()).init()
    pictured.run(code=5)
    pictured.edit(('override = ""', 'override = "for a lesson on chains"'))
    done = pictured.run()
    assert done["declared"]["override"] == "for a lesson on chains"
    assert len(pictured.public()) == 5
    assert verified(pictured.output) == done
    assert not (pictured.output / "internal" / "failure.json").exists(), "the failure is over"
    page = (pictured.output / "report.html").read_text(encoding="utf-8")
    assert "Released although draws are bad" in page
    assert "<q><bdi>for a lesson on chains</bdi></q>" in page
    assert f"<li><bdi>x</bdi>: {BAD}</li>" in page
    assert [row["problems"] for row in done["samplers"]["fits"]] == [[BAD]] * 3
    assert done["samplers"]["value"] == 3.0


def test_28_chains_that_never_move_are_shown_as_such_after_an_override(
    pictured: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-hat of four chains that each stay where they began, as it is computed."""
    monkeypatch.setattr(
        "stead.models.linear.diagnostics.independent",
        lambda method, draws: Diagnostics(method, draws, 4.1, 4.1, 4.8e15, None, 0.0),
    )
    pictured.data(numbers()).init()
    assert "4 of 1000 draws are effective" in pictured.run(code=5)["message"]
    done = pictured.edit(('override = ""', 'override = "a look"')).run()
    assert done["samplers"]["fits"][0]["figures"]["ess_bulk"]["mark"] == "fail"
    assert verified(pictured.output) == done
    assert "&gt; 100 <span" in (pictured.output / "report.html").read_text(encoding="utf-8")


def test_28_an_override_that_was_not_needed_is_not_recorded_as_used(study: Study) -> None:
    study.data(numbers()).init().edit(('override = ""', 'override = "just in case"'))
    done = study.run()
    assert done["declared"]["override"] == ""
    assert done["samplers"]["value"] == 0.0


def test_28_the_terminal_says_that_bad_draws_were_released(study: Study, failing: None) -> None:
    study.data(numbers()).init().edit(('override = ""', 'override = "for a lesson"'))
    code, out, _ = study("run", str(study.plan))
    assert code == 0
    assert "Samplers: 3 of 3 fits have draws that stop a run." in out
    assert "Released all the same, with the reason: for a lesson" in out


def test_a_column_that_is_not_made_cannot_be_predicted(study: Study) -> None:
    study.data(numbers()).init().edit(("predictive = []", 'predictive = ["y", "group"]'))
    with_models(study, model("y ~ x"))
    answer = study.check()
    assert answer["exit_code"] == 2
    assert "[measures] predictive: group is not synthesized" in about(answer, "E-COLUMN")
    study.edit(('predictive = ["y", "group"]', 'predictive = ["y"]'))
    checked = next(one for one in study.run()["measured"] if one["name"] == "predictive check")
    assert list(checked["columns"]) == ["y"]


# ---- shapes of columns ------------------------------------------------------------------------------


def test_53_a_survey_weight_is_kept_and_its_choice_is_in_the_plan(study: Study) -> None:
    random = np.random.default_rng(53)
    columns = numbers() | {"weight": np.round(random.uniform(0.5, 4, 300), 4).tolist()}
    code, _, err = study.data(columns)("init", str(study.folder / "data.csv"))
    assert code == 0
    assert "weight is a survey weight" in err
    plan = study.plan.read_text(encoding="utf-8")
    assert plan.count('weights = "ignore"') == plan.count("[[models]]") == 3
    done = study.run()
    assert done["notices"] == []
    assert {one["weights"] for one in done["models"]} == {"ignore"}
    assert all(one["weight"] == [str(value) for value in columns["weight"]] for one in study.public())
    study.edit(('weights = "ignore"', 'weights = "pseudo"'))
    assert {one["weights"] for one in study.run()["models"]} == {"pseudo"}
    refused = study.edit(('weights = "pseudo"', 'weights = "psuedo"')).run(code=2)
    assert "did you mean pseudo" in refused["message"]


def test_59_and_60_spikes_heaps_and_decimals_are_proposed_and_kept(study: Study) -> None:
    random = np.random.default_rng(59)
    rows = 900
    income = np.exp(random.normal(9, 1, rows))
    income = np.where(random.random(rows) < 0.4, np.round(income, -3), np.round(income, 2))
    income = np.where(random.random(rows) < 0.15, 0.0, income)
    columns = numbers(rows) | {"income": income.tolist()}
    plan = study.data(columns).init().plan.read_text(encoding="utf-8")
    assert "spikes = [\n    0.0,\n]" in plan
    assert "heaps = [\n    1000.0,\n]" in plan
    said = next(line for line in plan.splitlines() if "rounding is part of the model" in line)
    assert "1000" not in said
    study.run()
    for one in study.public():
        made = np.array(one["income"], float)
        assert np.allclose(made, np.round(made, 2))
        assert abs((made == 0).mean() - (income == 0).mean()) < 0.07
        on, truly = (np.mean(values[values > 0] % 1000 == 0) for values in (made, income))
        assert abs(on - truly) < 0.09


def test_62_a_wide_file_is_chosen_for_in_one_pass(study: Study) -> None:
    """60 columns of two kinds that share four factors: no design is wider than the records carry."""
    random = np.random.default_rng(62)
    rows, width = 200, 60
    factors = random.normal(size=(rows, 4))
    scores = factors[:, np.arange(width) % 4] + 0.7 * random.normal(size=(rows, width))
    columns: dict[str, list[Any]] = {
        f"c{place}": (np.round(score, 2) if place % 3 else np.where(score > 0, "yes", "no")).tolist()
        for place, score in enumerate(scores.T)
    }
    study.data(columns).init().edit(("draws = 1000", "draws = 60"), ("m = 5", "m = 1"))
    done = study.run()
    assert len(done["models"]) == width
    assert max(one["formula"].count("+") + 1 for one in done["models"]) <= rows // 10
    numeric = [place for place in range(width) if place % 3]
    real, made = (
        np.corrcoef(np.array([held[f"c{place}"] for place in numeric], float))
        for held in (columns, study.public()[0])
    )
    together = np.equal.outer(np.array(numeric) % 4, np.array(numeric) % 4) & ~np.eye(
        len(numeric), dtype=bool
    )
    assert made[together].mean() > 0.7 * real[together].mean() > 0.3
    assert abs(made[~together & ~np.eye(len(numeric), dtype=bool)].mean()) < 0.1


# ---- synthetic files of other tools -----------------------------------------------------------------


def real_and_made(rows: int = 200) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    columns = {name: np.array(values) for name, values in numbers(rows).items()}
    return columns, dict(columns) | {"y": np.round(columns["y"] + 1.0, 3)}


def test_32_an_unseen_level_names_the_column_and_not_the_level() -> None:
    real, made = real_and_made()
    made["group"] = np.where(made["group"] == "west", "Quxland", made["group"])
    with pytest.raises(SteadError) as caught:
        Release.from_tables(table(real), [table(made)], synthesized=["y", "group"], aligned=False)
    assert caught.value.code == "E-LEVEL"
    assert "column group" in str(caught.value)
    assert "synthetic set 1" in str(caught.value)
    assert "Quxland" not in str(caught.value)


def test_32_levels_that_the_schema_declares_are_a_union() -> None:
    real, made = real_and_made()
    made["group"] = np.where(made["group"] == "west", "Quxland", made["group"])
    schema = table(real).schema
    declared = schema.with_columns(
        Column("group", "categorical", levels=("north", "south", "west", "Quxland"))
    )
    release = Release.from_tables(
        table(real, declared), [table(made)], synthesized=["y", "group"], aligned=False
    )
    margin = margins(release, "group")
    assert margin.value is not None
    assert margin.value > 0.2


def test_33_a_column_that_lacks_is_listed_and_its_measures_say_why() -> None:
    real, made = real_and_made()
    del made["y"]
    made["extra"] = np.zeros(200)
    release = Release.from_tables(real, [made], synthesized=["x", "y"], aligned=False)
    assert release.lacking == ("y",)
    assert release.added == ("extra",)
    assert release.kept == ("group",)
    for measured in (ecdf(release, "y"), ecdf(release, ["x", "y"]), margins(release, "y")):
        unavailable(measured, "the synthetic sets lack y")
    assert ecdf(release, "x").value == 0.0
    both = margins(release)
    assert both.value == 0.0
    assert both.to_dict()["not_compared"] == ["y"]


def unavailable(measured: Measurement, reason: str) -> None:
    told = measured.to_dict()
    assert measured.value is None
    assert told["value"] is None
    assert told["reason"] == reason


# ---- names ------------------------------------------------------------------------------------------

NAMES = (
    "__proto__", "constructor", "<script>alert(1)</script>", "back`tick", "two\nlines", "🦒 height", "a~b+c:d",
    'quo"te', "it's", " spaced ", "שלום", "\x1b[31mred", "log(x)", "[bold]", "{{ 7*7 }}", "%s", "../../etc", "1",
    "columns.x", "x" * 256, "a=b", "tab\there", "e\u0301t\u00e9", "ﬁ", "NA", "'; drop", "\u202egnp", "0", "$ref",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_37_and_38_odd_names_go_through_the_whole_flow(pictured: Study, name: str) -> None:
    columns = numbers(120, 3)
    random = np.random.default_rng(4)
    two = random.choice(["no", "yes"], 120).tolist()
    odd = {name: columns["y"], f"{name}?"[-256:]: two, "x": columns["x"], "group": columns["group"]}
    pictured.data(odd).init()
    assert pictured.check()["ok"]
    code, out, err = pictured("run", str(pictured.plan), "--repro-seed", "3")
    assert code == 0, err
    assert "\x1b" not in out + err
    assert "\u202e" not in out + err
    done = verified(pictured.output)
    assert name in done["release"]["synthesized"]
    assert {one["name"] for one in done["data"]["columns"]} == set(odd)
    assert all(set(one) == set(odd) and len(one[name]) == 120 for one in pictured.public())
    page = (pictured.output / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "49" not in page.split("<title>")[1].split("</title>")[0]
    assert pictured.public()[0][name] != [str(value) for value in columns["y"]]


def test_37_a_name_that_is_too_long_is_refused_with_its_place(study: Study) -> None:
    study.data(numbers() | {"n" * 10_000: [1.5] * 300})
    code, _, err = study("init", str(study.folder / "data.csv"))
    assert code == 3
    assert "the name of column 4 has 10,000 characters" in err


# ---- crashes ----------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from stead.cli.main import main
from stead.report import pages

pages.report = lambda content: content["title"]
left = int(sys.argv.pop(1))
true = {name: getattr(os, name) for name in ("fsync", "replace", "rename")}

def counted(name):
    def step(*arguments, **settings):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return true[name](*arguments, **settings)
    return step

for name in true:
    setattr(os, name, counted(name))
main(sys.argv[1:])
"""


def killed(study: Study, steps: int, *arguments: str) -> int:
    """A run in a process of its own, ended by signal 9 at one of the steps by which files become durable."""
    command = [sys.executable, "-c", KILLED, str(steps), "run", str(study.plan), *arguments]
    return subprocess.run(command, capture_output=True, check=False).returncode


@pytest.mark.parametrize("step", [0, 3, 11, 24, 36, 47])
def test_45_a_killed_run_leaves_files_that_are_whole_and_can_be_repeated(study: Study, step: int) -> None:
    study.data(numbers(80)).init().edit(("m = 5", "m = 2"), ("draws = 1000", "draws = 40"))
    study.run()
    before = verified(study.output)
    assert killed(study, step, "--repro-seed", "12") == -signal.SIGKILL
    whole(study.output)
    done = study.run()
    assert verified(study.output) == done == before
    assert not list(study.output.rglob(f"{artefacts.TEMPORARY}*"))


def whole(output: Path) -> None:
    """Each file is an old one or a new one: its hash is among those it may have."""
    for folder in (Workdir(output).folder, Folder(output / "internal" / "release")):
        for name in folder.hashes():
            if (folder.path / name).exists():
                folder.verified(name)


def test_45_the_first_run_killed_at_any_step_can_be_repeated(study: Study) -> None:
    study.data(numbers(60)).init().edit(("m = 5", "m = 1"), ("draws = 1000", "draws = 20"))
    for step in (0, 5, 13, 22, 31):
        assert killed(study, step) == -signal.SIGKILL
        whole(study.output)
    study.run()
    verified(study.output)


def test_45_a_run_killed_while_it_computes_can_be_repeated(study: Study) -> None:
    write(consumer_survey(2000), study.folder / "data.csv")
    study.init()
    command = [sys.executable, "-c", "from stead.cli.main import main; main()", "run", str(study.plan)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"  read: done\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    whole(study.output)
    study.run()
    verified(study.output)


# ---- a full disk ------------------------------------------------------------------------------------


class Disk:
    """A disk that is full from the n-th file on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        self.room, true = room, os.fsync

        def sync(handle: int) -> None:
            self.room -= 1
            if self.room < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            true(handle)

        monkeypatch.setattr(os, "fsync", sync)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def test_46_a_full_disk_leaves_the_old_files(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    study.data(numbers(80)).init().edit(("m = 5", "m = 2"), ("draws = 1000", "draws = 40"))
    study.run()
    before = contents(study.output)
    with monkeypatch.context() as patched:
        Disk(patched, 0)
        refused = study.run(code=6)
    assert refused["error"] == "E-DISK-FULL"
    assert "Free space" in refused["message"]
    assert contents(study.output) == before


def test_46_a_disk_that_fills_at_any_write_is_exit_6_and_the_run_can_be_repeated(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.data(numbers(60)).init().edit(("m = 5", "m = 1"), ("draws = 1000", "draws = 20"))
    room, refusals = 0, 0
    while True:
        with monkeypatch.context() as patched:
            Disk(patched, room)
            code, _, err = study("run", str(study.plan), "--repro-seed", "11")
        if code == 0:
            break
        assert code == 6, err
        assert "disk is full" in err
        whole(study.output)
        refusals, room = refusals + 1, room + 3
    assert refusals >= 8
    verified(study.output)


def test_46_a_full_disk_during_init_leaves_the_old_plan(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.data(numbers()).init()
    before = study.plan.read_bytes()
    with monkeypatch.context() as patched:
        Disk(patched, 0)
        code, _, err = study("init", str(study.folder / "data.csv"), "--force")
    assert code == 6
    assert "E-DISK-FULL" in err
    assert study.plan.read_bytes() == before
    assert {path.name for path in study.folder.iterdir()} == {"data.csv", "stead.toml"}


@pytest.mark.parametrize("failing", ["write_text", "savez", "write_csv"])
def test_46_a_write_that_fails_within_a_library_is_exit_6(
    study: Study, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """Libraries raise OSError with the number of the system, wherever they were."""
    study.data(numbers(60)).init().edit(("m = 5", "m = 1"), ("draws = 1000", "draws = 20"))
    study.run()
    before = contents(study.output)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device, while writing QXZ7741")

    from stead.tables.arrow import csv as arrow_csv

    places: dict[str, tuple[object, str]] = {
        "write_text": (Path, "write_text"),
        "savez": (np, "savez"),
        "write_csv": (arrow_csv, "write_csv"),
    }
    with monkeypatch.context() as patched:
        patched.setattr(*places[failing], full)
        refused = study.run(seed=12, code=6)
    assert refused["error"] == "E-DISK-FULL"
    assert "QXZ7741" not in json.dumps(refused)
    whole(study.output)
    if failing == "write_csv":
        assert contents(study.output) == before
    study.run()
    verified(study.output)
