"""`Sequence.auto` as users meet it: which model for what, why, in which order, what a caller may decide, what is refused."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest

import stead
from stead.models.choosing.methods import METHODS
from stead.models.choosing.predictors import MOST_LEVELS
from stead.models.regression import Regression
from stead.tables.records import Values

N = 1_500


def _survey() -> stead.Records:
    """Every kind of column, each with a shape that a person would recognise."""
    random = np.random.default_rng(842)
    effect = random.normal(size=N)
    amount = np.exp(9 + 0.5 * effect + 0.5 * random.normal(size=N))
    rent = np.where(random.random(N) < 0.3, 0.0, np.round(np.exp(6 + 0.3 * effect), 2))
    hours = np.where(random.random(N) < 0.3, 40, np.round(random.normal(32, 9, N).clip(0, 80)))
    heaped = np.where(random.random(N) < 0.5, np.round(amount / 1000) * 1000, np.round(amount))
    columns: dict[str, Any] = {
        "sex": np.where(random.random(N) < 0.5, "m", "f"),
        "height": np.round(random.normal(170, 9, N), 1),
        "amount": np.round(amount, 2),
        "rent": rent,
        "hours": hours.astype(int),
        "heaped": heaped.astype(int),
        "visits": random.poisson(np.exp(0.3 * effect)),
        "children": random.negative_binomial(0.7, 0.4, N),
        "calls": random.poisson(3, N) * (random.random(N) < 0.6),
        "rooms": np.round(random.normal(5, 1, N)).clip(1).astype(int),
        "region": random.choice(["n", "s", "e", "w"], N),
        "school": np.digitize(effect + random.logistic(size=N), [-1, 0, 1]),
        "day": np.datetime64("2019-07-01") + random.normal(0, 60, N).astype(int),
        "flat": np.full(N, 7),
    }
    records = stead.table(columns, categorical=["region"])
    declared = [
        stead.Column("school", "ordered", levels=(0, 1, 2, 3)),
        *(stead.Column(name, "count") for name in ("visits", "children", "calls", "rooms")),
    ]
    held = {name: records[name] for name in records.names}
    held["school"] = Values.complete(records["school"].values.astype(np.int32))
    return stead.Records(records.schema.with_columns(*declared), held, N)


SURVEY = _survey()


def chosen(sequence: stead.Sequence) -> dict[str, stead.Choice]:
    return {choice.column: choice for choice in sequence.choices}


def shape(sequence: stead.Sequence, name: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return next(((one.spikes, one.heaps) for one in sequence.shapes if one.column == name), ((), ()))


# ---- what is chosen ---------------------------------------------------------------------------------


def test_each_kind_has_its_model_and_each_column_its_reason() -> None:
    sequence = stead.Sequence.auto(SURVEY)
    choices = chosen(sequence)
    assert {name: choice.model for name, choice in choices.items()} == {
        "sex": "Logistic",
        "height": "Linear",
        "amount": "Linear",
        "rent": "Linear",
        "hours": "Linear",
        "heaped": "Linear",
        "visits": "Poisson",
        "children": "NegativeBinomial",
        "calls": "Poisson",
        "rooms": "Linear",
        "region": "Multinomial",
        "school": "Ordered",
        "day": "Linear",
        "flat": "",
    }
    assert all(choice.why for choice in choices.values())
    assert choices["amount"].formula.startswith("log(amount) ~ ")
    assert choices["height"].formula.startswith("height ~ ")
    assert "log()" in choices["amount"].why
    assert "constant" in choices["flat"].why
    assert [type(model).__name__ for model in sequence.models] == [
        choices[name].model for name in sequence.responses
    ]


def test_spikes_and_heaps_are_found_and_their_reasons_count_and_do_not_quote() -> None:
    sequence = stead.Sequence.auto(SURVEY)
    choices = chosen(sequence)
    assert shape(sequence, "rent") == ((0.0,), ())
    assert shape(sequence, "hours") == ((40,), ())
    assert shape(sequence, "heaped")[1] == (1000,)
    assert shape(sequence, "calls") == ((0,), ())
    assert shape(sequence, "amount") == shape(sequence, "height") == ((), ())
    forties = int((SURVEY["hours"].values == 40).sum())
    assert f"{forties:,} of {N:,} records share one value" in choices["hours"].why
    assert "40" not in choices["hours"].why.replace(f"{forties:,}", "")
    assert "rounding is part of the model" in choices["heaped"].why
    assert "40" not in repr(sequence) + repr(sequence.shapes)


def test_a_release_made_by_it_keeps_spikes_heaps_and_margins() -> None:
    release = stead.synthesize(SURVEY, stead.Sequence.auto(SURVEY), m=2, draws=400, rng=5)
    made = release.synthetic[0]
    assert set(release.synthesized) == set(SURVEY.names) - {"flat"}
    assert release.kept == ("flat",)
    for name, value in (("rent", 0.0), ("hours", 40)):
        real = (SURVEY[name].values == value).mean()
        assert abs((made[name].values == value).mean() - real) < 4 * np.sqrt(2 * real * (1 - real) / N)
    real = (SURVEY["heaped"].values % 1000 == 0).mean()
    assert abs((made["heaped"].values % 1000 == 0).mean() - real) < 4 * np.sqrt(2 * real * (1 - real) / N)
    assert made["rent"].values.min() == 0
    for name, one in stead.margins(release).to_dict()["columns"].items():
        assert one["total_variation"] < 3 * one["reference"], name


def test_a_schema_alone_is_enough_and_goes_by_kinds() -> None:
    choices = chosen(stead.Sequence.auto(SURVEY.schema, method="regression"))
    assert choices["children"].model == choices["visits"].model == "NegativeBinomial"
    assert choices["amount"].formula == "amount ~ sex + height"
    assert all(choice.why for choice in choices.values())


def test_columns_that_follow_from_others_are_made_by_rule_behind_their_sources() -> None:
    money = SURVEY.to_pandas()[["amount", "rent", "region"]]
    money.insert(0, "total", np.round(money["amount"] + money["rent"], 2))
    money["half"] = money["region"].isin(["n", "s"]).map({True: "upper", False: "lower"})
    records = stead.table(money)
    sequence = stead.Sequence.auto(records)
    choices = chosen(sequence)
    assert choices["total"].formula == "total = amount + rent"
    assert choices["half"].formula == "half = recode of region"
    assert choices["half"].model == choices["total"].model == "Derived"
    assert "1,500 records" in choices["half"].why
    assert sequence.responses.index("total") > sequence.responses.index("rent")
    assert not any("total" in choice.formula for name, choice in choices.items() if name != "total")
    made = stead.synthesize(records, sequence, m=1, draws=50, rng=3).synthetic[0].to_pandas()
    assert np.allclose(made["total"], made["amount"] + made["rent"])
    assert (made["half"].astype(str) == np.where(made["region"].isin(["n", "s"]), "upper", "lower")).all()
    alone = stead.Sequence.auto(records, rules=False)
    assert "Derived" not in {choice.model for choice in alone.choices}


def test_a_column_whose_sources_are_released_is_modelled_all_the_same_and_this_is_said() -> None:
    frame = SURVEY.to_pandas()[["amount", "rent"]]
    frame["total"] = np.round(frame["amount"] + frame["rent"], 2)
    (choice,) = stead.Sequence.auto(stead.table(frame), columns=["total"]).choices
    assert choice.model == "Linear"
    assert "total = amount + rent, of columns that are released as they are" in choice.why


def test_a_predictor_stands_on_a_scale_that_all_its_synthetic_values_have() -> None:
    """The rent has zeros, so that log(rent) would fail on synthetic records."""
    frame = SURVEY.to_pandas()[["rent", "amount", "height"]]
    formulas = {choice.column: choice.formula for choice in stead.Sequence.auto(stead.table(frame)).choices}
    assert formulas["rent"] == "rent ~ 1" or formulas["rent"].startswith(("log(rent)", "cbrt(rent)"))
    assert "log(rent)" not in formulas["amount"]
    assert "log(amount)" in formulas["height"]


def test_many_levels_come_last_with_as_few_predictors_as_fit() -> None:
    random = np.random.default_rng(30)
    rows = 2_000
    columns = {
        "place": np.char.mod("place%03d", random.integers(0, 300, rows)),
        "x": random.normal(size=rows),
        "y": random.normal(size=rows),
        "two": random.integers(0, 2, rows),
    }
    sequence = stead.Sequence.auto(stead.table(columns, categorical=["place"]))
    assert sequence.responses == ("x", "y", "two", "place")
    choices = chosen(sequence)
    assert choices["place"].formula == "place ~ 1"
    assert "300 levels" in choices["place"].why
    assert "fewer than 10 records" in choices["place"].why
    assert not any("place" in choices[name].formula for name in ("x", "y", "two"))
    assert MOST_LEVELS < 300


def test_predictors_are_the_associated_ones_where_not_all_fit() -> None:
    """60 columns, five of them useful; at most 30 are taken by default, fewer where asked."""
    random = np.random.default_rng(7)
    rows = 1_000
    x = random.normal(size=(rows, 60))
    y = x[:, [3, 17, 29, 41, 58]].sum(axis=1) + random.normal(size=rows)
    records = stead.table({**{f"x{place}": x[:, place] for place in range(60)}, "y": y})
    for most, wanted in ((30, 5), (3, 3), (0, 0)):
        (choice,) = stead.Sequence.auto(records, columns=["y"], predictors=most).choices
        model = stead.Linear(choice.formula)
        useful = {f"x{place}" for place in (3, 17, 29, 41, 58)}
        assert set(model.parsed.predictors) <= useful
        assert len(model.parsed.predictors) == wanted
    all_of_them = stead.Sequence.auto(records)
    assert max(len(stead.Linear(one.formula).parsed.predictors) for one in all_of_them.choices) == 30


def test_few_records_carry_few_predictors() -> None:
    random = np.random.default_rng(8)
    x = random.normal(size=(60, 20))
    records = stead.table({**{f"x{place}": x[:, place] for place in range(20)}, "y": x.sum(axis=1)})
    (choice,) = stead.Sequence.auto(records, columns=["y"]).choices
    assert (
        len(stead.Linear(choice.formula).parsed.predictors) <= 5
    )  # 60 records, ten for each column of the design


# ---- what a caller decides --------------------------------------------------------------------------


def test_columns_order_formulas_and_models_are_taken() -> None:
    sequence = stead.Sequence.auto(
        SURVEY,
        columns=["amount", "sex", "children", "height"],
        order=["children", "height"],
        formulas={"amount": "log(amount) ~ sex + region", "height": stead.Gamma("height ~ children")},
    )
    assert sequence.responses == ("children", "height", "sex", "amount")
    choices = chosen(sequence)
    assert choices["amount"].formula == "log(amount) ~ sex + region"
    assert choices["amount"].why == choices["height"].why == "as asked for"
    assert choices["height"].model == "Gamma"
    assert "log(amount)" not in choices["sex"].formula


def test_a_formula_moves_a_column_behind_what_it_needs() -> None:
    sequence = stead.Sequence.auto(
        SURVEY, columns=["sex", "height", "amount"], formulas={"sex": "sex ~ log(amount)"}
    )
    assert sequence.responses == ("amount", "sex", "height")
    with pytest.raises(stead.UsageError, match="each is needed to make another"):
        stead.Sequence.auto(
            SURVEY,
            columns=["sex", "height"],
            formulas={"sex": "sex ~ height", "height": "height ~ sex"},
        )


def test_a_survey_weight_is_ignored_openly_once() -> None:
    frame = SURVEY.to_pandas()[["sex", "height", "amount"]]
    frame["w"] = np.random.default_rng(1).uniform(1, 3, N)
    plain = stead.table(frame)
    records = stead.Records(
        plain.schema.with_role("weight", "w"), {name: plain[name] for name in plain.names}, N
    )
    with pytest.warns(stead.Notice, match="w is a survey weight") as caught:
        sequence = stead.Sequence.auto(records)
    assert len(caught) == 1
    assert {model.weights for model in sequence.models if isinstance(model, Regression)} == {"ignore"}
    assert "w" not in sequence.responses
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sequence.fit(records, draws=20, rng=1)
        weighed = stead.Sequence.auto(records, weights="pseudo")
    assert {model.weights for model in weighed.models if isinstance(model, Regression)} == {"pseudo"}


# ---- refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"method": "regresion"}, "did you mean regression"),
        ({"method": "cart"}, "there are: regression"),
        ({"columns": ["amuont"]}, "did you mean amount"),
        ({"columns": ["flat"]}, "flat: is constant"),
        ({"order": ["heigth"]}, "did you mean height"),
        ({"formulas": {"hight": "height ~ sex"}}, "did you mean height"),
        ({"formulas": {"height": "sex ~ height"}}, "given for height makes sex"),
        ({"formulas": {"height": "height ~ log(("}}, "a column name is expected"),
        ({"formulas": {"height": stead.Linear("amount ~ sex")}}, "makes amount"),
        ({"columns": ["sex"], "formulas": {"height": "height ~ sex"}}, "none of the columns to make"),
        ({"predictors": -1}, "at most, from 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(stead.UsageError, match=match):
        stead.Sequence.auto(SURVEY, **options)


def test_a_role_is_respected_and_a_table_of_nothing_is_refused() -> None:
    grouped = stead.Records(
        SURVEY.schema.with_role("group", "region"), {name: SURVEY[name] for name in SURVEY.names}, N
    )
    assert "region" not in stead.Sequence.auto(grouped).responses
    with pytest.raises(stead.UsageError, match="role group"):
        stead.Sequence.auto(grouped, columns=["region"])
    with pytest.raises(stead.UsageError, match="no column can be made"):
        stead.Sequence.auto(SURVEY.only(["flat"]))
    with pytest.raises(stead.UsageError, match="a schema or records"):
        stead.Sequence.auto({"a": [1]})  # type: ignore[arg-type]


def test_the_methods_are_a_table() -> None:
    assert "regression" in METHODS


def test_choices_are_json() -> None:
    from dataclasses import asdict

    told = [asdict(choice) for choice in stead.Sequence.auto(SURVEY).choices]
    assert json.loads(json.dumps(told)) == told
    assert list(told[0]) == ["column", "model", "formula", "why"]
