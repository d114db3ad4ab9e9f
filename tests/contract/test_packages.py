"""Files of SPSS, Stata and SAS: what they say of their columns is kept, and written again.

The files are made by the library's own writer, or were made by SAS's; what stead writes is read back by the library alone
too. Damaged files are in `tests/faults/test_packages.py`.
"""

from __future__ import annotations

import json
import tomllib
import warnings
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyreadstat
import pytest
import tomli_w
from tests.contract import sas

from stead.errors import InputRefused, Notice, UsageError
from stead.models.linear import Linear
from stead.release import Release, synthesize
from stead.tables.clocks import clock_of
from stead.tables.files import read, table, write
from stead.tables.records import Records, Values
from stead.tables.schema import Column, Schema
from stead.tables.sources import Data

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def told(call: Callable[[], Any]) -> tuple[Any, dict[str, str]]:
    """What the call answers, and the notices it gives, by code."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = call()
    return answer, {one.message.code: str(one.message) for one in caught if isinstance(one.message, Notice)}


def shown(records: Records, name: str) -> list[Any]:
    """Values as they mean, missing codes as ("missing", code), empty cells as None."""
    column, held = records.schema[name], records[name]
    cells: list[Any] = []
    for value, missing in zip(held.values.tolist(), held.missing.tolist(), strict=True):
        present = column.levels[value] if column.coded else value
        cells.append(
            present if not missing else None if missing < 0 else ("missing", column.missing[missing - 1])
        )
    return cells


def days(*listed: str) -> list[int]:
    return [(date.fromisoformat(one) - date(1970, 1, 1)).days for one in listed]


# ---- SPSS -------------------------------------------------------------------------------------------

SURVEY = pl.DataFrame(
    {
        "sex": [1, 2, 1, 9, None, 2],
        "trust": [1.0, 5.0, 3.0, -1.0, -2.0, 5.0],
        "income": [1200.5, -7.0, 300.25, -99.0, 0.0, None],
        "kids": [0, 1, 2, 97, 3, 0],
        "town": ["N", "S", "REF", "Zürich", "", "N"],
        "born": [
            date(1950, 2, 28),
            date(1582, 10, 15),
            None,
            date(2020, 1, 1),
            date(1970, 1, 1),
            date(1900, 1, 1),
        ],
        "seen": [
            datetime.fromisoformat("2020-01-01T10:30:00"),
            None,
            *(datetime.fromisoformat("1999-12-31T23:59:59"),) * 4,
        ],
        "big": [2.0**53, -(2.0**53), 0.0, 1.0, None, 2.0],
        "yes": [0.0, 1.0, 1.0, 0.0, None, 1.0],
    }
)
SAID: dict[str, Any] = {
    "column_labels": {"sex": "Sex of respondent", "trust": "Trust, 1 to 5", "town": "Município"},
    "variable_value_labels": {
        "sex": {1: "female", 2: "male", 3: "other", 9: "no answer"},
        "trust": {1.0: "none at all", 5.0: "a great deal", -1.0: "do not know"},
        "income": {0.0: "no income", -7.0: "refused"},
        "town": {"N": "North", "S": "South", "REF": "refused"},
        "yes": {0.0: "no", 1.0: "yes"},
    },
    "missing_ranges": {
        "sex": [9],
        "trust": [-1, -2],
        "income": [{"lo": -99, "hi": -1}],
        "kids": [97],
        "town": ["REF"],
    },
    "variable_measure": {"sex": "nominal", "trust": "ordinal", "income": "scale"},
}


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    pyreadstat.write_sav(SURVEY, tmp_path / "survey.sav", **SAID)
    return tmp_path / "survey.sav"


def test_spss_labels_measures_and_missing_codes_are_kept(survey: Path) -> None:
    records = read(survey)
    schema = records.schema
    assert schema["sex"] == Column(
        "sex",
        "categorical",
        levels=(1, 2, 3),
        missing=(9,),
        label="Sex of respondent",
        labels={1: "female", 2: "male", 3: "other", 9: "no answer"},  # type: ignore[arg-type]
    )
    assert schema["trust"].kind == "ordered"
    assert schema["trust"].levels == (1, 3, 5)
    assert schema["trust"].missing == (-1, -2)
    assert schema["income"].kind == "continuous"
    assert schema["income"].decimals == 2
    assert schema["income"].missing == (-99, -7)  # the values of a declared range that occur
    assert dict(schema["income"].labels) == {0: "no income", -7: "refused"}
    assert schema["town"].levels == ("N", "S", "Zürich")
    assert schema["town"].label == "Município"
    assert schema["yes"].kind == "binary"
    assert dict(schema["yes"].labels) == {0: "no", 1: "yes"}
    assert shown(records, "sex") == [1, 2, 1, ("missing", 9), None, 2]
    assert shown(records, "trust") == [1, 5, 3, ("missing", -1), ("missing", -2), 5]
    assert shown(records, "income") == [1200.5, ("missing", -7), 300.25, ("missing", -99), 0.0, None]
    assert shown(records, "town") == ["N", "S", ("missing", "REF"), "Zürich", None, "N"]


def test_spss_whole_numbers_are_integers_and_dates_are_dates(survey: Path) -> None:
    records = read(survey)
    assert records["big"].values.dtype == np.int64
    assert shown(records, "big") == [2**53, -(2**53), 0, 1, None, 2]
    assert records.schema["kids"].kind == "count"
    assert shown(records, "kids") == [0, 1, 2, ("missing", 97), 3, 0]
    listed = days("1950-02-28", "1582-10-15", "2020-01-01", "1970-01-01", "1900-01-01")
    assert shown(records, "born") == [*listed[:2], None, *listed[2:]]
    assert records.schema["seen"].unit == "second"
    assert shown(records, "seen")[:3] == [1577874600, None, 946684799]


def test_the_schema_of_one_file_reads_another(survey: Path, tmp_path: Path) -> None:
    """A level that the second file does not have stays a level; one that the schema does not have is refused."""
    schema = read(survey).schema
    pyreadstat.write_sav(SURVEY.head(2), tmp_path / "two.sav", **SAID)
    again = read(tmp_path / "two.sav", schema)
    assert again.schema == schema
    assert shown(again, "sex") == [1, 2]
    other = SURVEY.with_columns(pl.lit(4).alias("sex"))
    pyreadstat.write_sav(other, tmp_path / "other.sav", **SAID)
    with pytest.raises(InputRefused, match=r"column sex: 6 cells .* \[E-LEVEL\]"):
        read(tmp_path / "other.sav", schema)


def test_a_link_is_read_by_its_own_name(survey: Path, tmp_path: Path) -> None:
    blob = tmp_path / "store" / "blob"
    blob.parent.mkdir()
    survey.rename(blob)
    survey.symlink_to(blob)
    assert read(survey).rows == 6
    assert Data(str(survey)).beside(tmp_path) == Data("survey.sav")
    assert Data(str(survey)).beside(blob.parent) == Data(str(tmp_path.resolve() / "survey.sav"))


def test_a_date_that_is_declared_missing_is_a_code_in_words(tmp_path: Path) -> None:
    frame = pl.DataFrame({"born": [date(1950, 2, 28), date(1911, 11, 11), None], "n": [1, 2, 3]})
    code = (date(1911, 11, 11) - date(1582, 10, 14)).days * 86_400
    pyreadstat.write_sav(frame, tmp_path / "a.sav", missing_ranges={"born": [code]})
    records = read(tmp_path / "a.sav")
    assert shown(records, "born") == [*days("1950-02-28"), ("missing", "1911-11-11"), None]
    assert shown(read(write(records, tmp_path / "b.sav")), "born") == shown(records, "born")
    assert shown(read(write(records, tmp_path / "b.csv"), records.schema), "born") == shown(records, "born")


def test_labels_without_a_measure_make_levels_only_where_all_values_have_one(tmp_path: Path) -> None:
    frame = pl.DataFrame({"all": [1.0, 2.0, 1.0], "some": [1.0, 2.0, 7.0]})
    labels = {"all": {1.0: "a", 2.0: "b", 3.0: "c"}, "some": {1.0: "a", 2.0: "b"}}
    pyreadstat.write_sav(frame, tmp_path / "a.sav", variable_value_labels=labels)
    schema = read(tmp_path / "a.sav").schema
    assert (schema["all"].kind, schema["all"].levels) == ("categorical", (1, 2, 3))
    assert (schema["some"].kind, dict(schema["some"].labels)) == ("count", {1: "a", 2: "b"})
    listed = read(tmp_path / "a.sav", categorical=["some"]).schema["some"]
    assert (listed.levels, dict(listed.labels)) == ((1, 2, 7), {1: "a", 2: "b"})


def test_spss_portable_files_are_read(tmp_path: Path) -> None:
    pyreadstat.write_por(
        pl.DataFrame({"A": [1.0, 2.5, None], "T": ["x", "", "y"]}),
        tmp_path / "a.por",
        column_labels={"A": "Letter"},
    )
    records = read(tmp_path / "a.por")
    assert shown(records, "A") == [1.0, 2.5, None]
    assert records.schema["A"].label == "Letter"
    assert shown(records, "T") == ["x", None, "y"]


# ---- Stata and SAS ----------------------------------------------------------------------------------


def stata(path: Path) -> Path:
    nothing = float("nan")
    frame = pl.DataFrame(
        [
            pl.Series("income", [1.0, "a", "b", nothing, 2.5], pl.Object),
            pl.Series("kids", [0.0, 1.0, "z", nothing, 2.0], pl.Object),
            pl.Series("sex", [1, 2, 2, 1, 2], pl.Int32),
            pl.Series(
                "born", [date(1950, 2, 28), None, date(1960, 1, 1), date(1850, 1, 1), date(2020, 2, 29)]
            ),
            pl.Series(
                "seen",
                [
                    datetime.fromisoformat("2020-01-01T10:30:00"),
                    None,
                    *(datetime.fromisoformat("1950-12-31T23:59:59"),) * 3,
                ],
            ),
            pl.Series("town", ["Ørvland", " b", "", "d", "d"]),
        ]
    )
    labels: dict[str, Any] = {"income": {"a": "refused", "c": "not asked"}, "sex": {1: "female", 2: "male"}}
    pyreadstat.write_dta(
        frame,
        path,
        column_labels={"income": "Household income"},
        variable_value_labels=labels,
        missing_user_values={"income": ["a", "b", "c"], "kids": ["z"]},
    )
    return path


def test_stata_special_missing_values_are_codes_of_their_own(tmp_path: Path) -> None:
    records = read(stata(tmp_path / "a.dta"))
    assert records.schema["income"].missing == (".a", ".b", ".c")
    assert dict(records.schema["income"].labels) == {".a": "refused", ".c": "not asked"}
    assert shown(records, "income") == [1.0, ("missing", ".a"), ("missing", ".b"), None, 2.5]
    assert records["kids"].values.dtype == np.int64
    assert shown(records, "kids") == [0, 1, ("missing", ".z"), None, 2]
    assert shown(records, "sex") == [1, 2, 2, 1, 2]
    assert dict(records.schema["sex"].labels) == {1: "female", 2: "male"}
    assert shown(records, "born")[:3] == [*days("1950-02-28"), None, *days("1960-01-01")]
    assert shown(records, "seen")[:2] == [1577874600, None]
    assert shown(records, "town") == ["Ørvland", " b", None, "d", "d"]


def test_a_special_missing_value_that_the_schema_does_not_list_is_refused(tmp_path: Path) -> None:
    path = stata(tmp_path / "a.dta")
    schema = read(path).schema
    fewer = schema.with_columns(Column("income", "continuous", missing=(".b",)))
    with pytest.raises(
        InputRefused, match=r"column income: 1 cells hold a missing code that the schema does not list"
    ):
        read(path, fewer)


def test_sas_table_with_its_catalog(tmp_path: Path) -> None:
    records, notices = told(lambda: read(sas.put(tmp_path)))
    assert list(notices) == ["E-CATALOG"]
    schema = records.schema
    assert (schema["region"].kind, schema["region"].levels, schema["region"].missing) == (
        "categorical",
        (1, 2, 3, 4),
        (".z",),
    )
    assert dict(schema["region"].labels) == {1: "lowland", 2: "hills", 3: "mountains", 4: "sea"}
    assert schema["region"].label == "Region of residence"
    assert schema["income"].missing == ("._", ".a")
    assert shown(records, "income")[:6] == [
        1000.5,
        1001.5,
        1002.5,
        None,
        ("missing", "._"),
        ("missing", ".a"),
    ]
    assert shown(records, "town")[:4] == ["North", "South", "Zürich", None]
    assert shown(records, "born")[:2] == days("1951-10-15", "1951-10-16")
    assert shown(records, "seen")[0] == 1184380800
    bare = read(sas.put(tmp_path / "..", catalog=False)).schema
    assert (bare["region"].kind, bare["region"].labels) == ("count", ())


def test_labels_and_codes_reach_the_synthetic_file(tmp_path: Path) -> None:
    """Read, synthesize, write: what SPSS is told of a synthetic column is what it said of the confidential one."""
    random = np.random.default_rng(3)
    income = np.exp(random.normal(7, 1, 200))
    income[:20], income[20:30] = -7, -8
    frame = pl.DataFrame({"income": income, "sex": random.integers(1, 3, 200)})
    said: dict[str, Any] = {
        "column_labels": {"income": "Household income"},
        "variable_value_labels": {"income": {-7.0: "refused"}, "sex": {1: "female", 2: "male"}},
        "missing_ranges": {"income": [-7, -8]},
    }
    pyreadstat.write_sav(frame, tmp_path / "a.sav", **said)
    records = read(tmp_path / "a.sav")
    release = synthesize(records, Linear("log(income) ~ sex"), m=1, rng=5)
    synthetic = release.synthetic[0]
    assert synthetic.schema == records.schema
    again = Release.load(release.save(tmp_path / "kept"))
    assert again.confidential.schema == records.schema
    path = write(again.synthetic[0], tmp_path / "b.sav")
    meta = pyreadstat.read_sav(path, user_missing=True, output_format="dict")[1]
    assert meta.column_names_to_labels["income"] == "Household income"
    assert meta.variable_value_labels == said["variable_value_labels"]
    assert meta.missing_ranges["income"] == [{"lo": -7, "hi": -7}, {"lo": -8, "hi": -8}]
    assert set(synthetic["income"].missing.tolist()) == {0, 1, 2}


@pytest.mark.parametrize(
    ("suffix", "form", "number", "moment"),
    [
        (".sav", "DATE11", 86_400.0, "1582-10-15"),
        (".por", "ADATE10", 12_219_379_200.0, "1970-01-01"),
        (".zsav", "DATETIME20.2", 12_219_379_200.5, "1970-01-01T00:00:00.500"),
        (".sav", "MOYR8", 12_219_379_200.0, "1970-01-01"),
        (".dta", "%td", 0.0, "1960-01-01"),
        (".dta", "%-tdD_m_Y", 3653.0, "1970-01-01"),
        (".dta", "%tc", 315_619_200_000.0, "1970-01-01"),
        (".dta", "%tCHH:MM", 1.0, "1960-01-01T00:00:00.001"),
        (".xpt", "DATE9", -1.0, "1959-12-31"),
        (".sas7bdat", "YYMMDDD10", 3653.0, "1970-01-01"),
        (".sas7bdat", "E8601DA10.", 3653.0, "1970-01-01"),
        (".sas7bdat", "E8601DT19", 315_619_200.0, "1970-01-01"),
        (".sas7bdat", "DTDATE9", 315_619_200.0, "1970-01-01"),
        (".sas7bdat", "DATETIME20", 315_619_200.0, "1970-01-01"),
        *((".sav", form, 1.0, "") for form in ("TIME8", "DTIME10", "F8.2", "WKDAY3", "MONTH3", "A8", "")),
        *((".dta", form, 1.0, "") for form in ("%tw", "%tm", "%tq", "%th", "%ty", "%9.0g", "%10s")),
        *(
            (".xpt", form, 1.0, "")
            for form in ("TIME8", "HHMM", "BEST12", "DAY2", "DOLLAR8", "DATES", "REGION")
        ),
    ],
)
def test_which_formats_are_dates_and_when(suffix: str, form: str, number: float, moment: str) -> None:
    """Origins as the packages document them: 14 October 1582, 1 January 1960."""
    clock = clock_of(form, suffix)
    assert (clock is None) == (moment == "")
    if clock is not None:
        assert clock.milliseconds(np.array([number]))[0] == np.datetime64(moment, "ms").astype(int)


# ---- writing ----------------------------------------------------------------------------------------

KEPT = Schema(
    [
        Column(
            "sex",
            "categorical",
            levels=(1, 2, 3),
            missing=(8, 9),
            label="Sex",
            labels=((1, "female"), (3, "other"), (9, "no answer")),
        ),
        Column("trust", "ordered", levels=(1, 2, 3), labels=((1, "low"), (2, "mid"), (3, "high"))),
        Column("flag", "binary", levels=(0, 1), labels=((0, "no"), (1, "yes"))),
        Column("income", "continuous", decimals=2, label="Household income, € per month"),
        Column("exact", "continuous"),
        Column("number", "continuous", decimals=0),
        Column("town", "categorical", levels=(" b", "Zürich", "d"), label="Town"),
        Column("born", "date"),
        Column("seen", "date", unit="second"),
    ]
)


def kept() -> Records:
    """Records that every package can hold, under `KEPT`."""
    random = np.random.default_rng(7)
    rows = 40
    gaps = np.where(random.random(rows) < 0.2, np.int8(-1), np.int8(0)).astype(np.int8)
    codes = np.where(random.random(rows) < 0.2, random.integers(1, 3, rows), 0).astype(np.int8)
    columns: dict[str, tuple[Any, Any]] = {
        "sex": (random.integers(0, 3, rows).astype(np.int32), codes),
        "trust": (random.integers(0, 3, rows).astype(np.int32), gaps),
        "flag": (random.integers(0, 2, rows).astype(np.int32), gaps),
        "income": (np.round(random.normal(2000, 900, rows), 2), gaps),
        "exact": (np.append(random.normal(size=rows - 3), [0.1 + 0.2, 1e-70, -1e70]), gaps * 0),
        "number": (np.append(random.integers(-(2**40), 2**40, rows - 2), [2**53, -(2**53)]), gaps * 0),
        "town": (random.integers(0, 3, rows).astype(np.int32), gaps),
        "born": (random.integers(-100_000, 100_000, rows), gaps),
        "seen": (random.integers(-(10**10), 10**10, rows), gaps),
    }
    return Records(
        KEPT,
        {
            name: Values(np.where(missing == 0, values, 0).astype(values.dtype), missing)
            for name, (values, missing) in columns.items()
        },
        rows,
    )


@pytest.mark.parametrize("ending", ["sav", "zsav", "dta", "xpt"])
def test_what_is_written_is_read_back_under_its_schema(tmp_path: Path, ending: str) -> None:
    records = kept()
    path, _ = told(lambda: write(records, tmp_path / f"a.{ending}"))
    again = read(path, KEPT)
    assert again.schema == KEPT
    for name in records.names:
        assert records[name].equals(again[name]).all(), name
        assert again[name].values.dtype == records[name].values.dtype


@pytest.mark.parametrize("ending", ["sav", "zsav"])
def test_spss_keeps_the_schema_itself(tmp_path: Path, ending: str) -> None:
    """All but what SPSS has no word for: that an unlabelled level exists."""
    path, notices = told(lambda: write(kept(), tmp_path / f"a.{ending}"))
    assert notices == {}
    assert read(path).schema == KEPT


def test_the_library_reads_what_was_written(tmp_path: Path) -> None:
    """The other side of the round trip, without stead: values, labels, missing codes, measures and formats."""
    path, _ = told(lambda: write(kept(), tmp_path / "a.sav"))
    cells, meta = pyreadstat.read_sav(path, output_format="dict", user_missing=True)
    assert meta.column_names_to_labels["income"] == "Household income, € per month"
    assert meta.variable_value_labels["sex"] == {1: "female", 3: "other", 9: "no answer"}
    assert meta.missing_ranges["sex"] == [{"lo": 8, "hi": 8}, {"lo": 9, "hi": 9}]
    assert [meta.variable_measure[name] for name in ("sex", "trust", "income")] == [
        "nominal",
        "ordinal",
        "scale",
    ]
    assert [meta.original_variable_types[name] for name in ("income", "born", "seen")] == [
        "F8.2",
        "DATE11",
        "DATETIME20",
    ]
    seen = shown(kept(), "sex")
    assert cells["sex"] == [value if not isinstance(value, tuple) else value[1] for value in seen]
    born = [value if value is None else (value - date(1970, 1, 1)).days for value in cells["born"]]
    assert born == shown(kept(), "born")


def test_special_missing_values_are_written_for_stata_and_sas(tmp_path: Path) -> None:
    records = read(stata(tmp_path / "a.dta"))
    for ending in ("dta", "xpt"):
        path, _ = told(lambda ending=ending: write(records, tmp_path / f"b.{ending}"))  # type: ignore[misc]
        again = read(path)
        for name in ("income", "kids", "born", "seen", "town"):
            assert shown(again, name) == shown(records, name), (ending, name)
    assert read(tmp_path / "b.dta").schema["income"] == records.schema["income"]
    cells = pyreadstat.read_xport(tmp_path / "b.xpt", output_format="dict")[0]["income"]
    assert cells == [1.0, None, None, None, 2.5]  # missing for who does not look at the letters
    with pytest.raises(
        InputRefused, match=r"column income: 2 cells hold missing codes for which SPSS has no place"
    ):
        write(records, tmp_path / "b.sav")
    numbered = records.schema["income"]
    numbered = replace(numbered, missing=(-1, -2, -3), labels=())
    path = write(records.with_column(numbered, records["income"]).only(["income", "sex"]), tmp_path / "b.sav")
    assert shown(read(path), "income") == [1.0, ("missing", -1), ("missing", -2), None, 2.5]


@pytest.mark.parametrize(
    ("codes", "others", "declared"),
    [
        ((-1, -2, -3), [0, 5], [-1, -2, -3]),
        ((-9, -8, -7, -1), [0, 5], [{"lo": -9, "hi": -1}]),
        ((-9, -8, -7, 99), [0, 5], [{"lo": -9, "hi": -7}, 99]),
        ((-99, 7, 8, 9), [0, 5], [{"lo": 7, "hi": 9}, -99]),
        ((-9, -3, 7, 9), [0, 5, 8], None),
    ],
)
def test_spss_declares_three_codes_or_a_range_without_other_values(
    tmp_path: Path, codes: tuple[int, ...], others: list[int], declared: list[Any] | None
) -> None:
    column = Column("x", "continuous", decimals=0, missing=codes)
    values = np.array([*others, *(0 for _ in codes)], np.int64)
    missing = np.array([*(0 for _ in others), *range(1, len(codes) + 1)], np.int8)
    records = Records(Schema([column]), {"x": Values(values, missing)}, len(values))
    path, notices = told(lambda: write(records, tmp_path / "a.sav"))
    ranges = pyreadstat.read_sav(path, output_format="dict", user_missing=True)[1].missing_ranges.get("x", [])
    wanted = [one if isinstance(one, dict) else {"lo": one, "hi": one} for one in declared or []]
    assert sorted(map(str, ranges)) == sorted(
        str({key: float(one) for key, one in each.items()}) for each in wanted
    )
    assert list(notices) == ([] if declared else ["E-CODES-PLAIN"])
    assert records["x"].equals(read(path, records.schema)["x"]).all()


def test_what_a_format_cannot_say_is_told(tmp_path: Path) -> None:
    records = kept()
    _, notices = told(lambda: write(records, tmp_path / "a.dta"))
    assert set(notices) == {"E-CODES-PLAIN"}
    assert "sex" in notices["E-CODES-PLAIN"]
    _, notices = told(lambda: write(records, tmp_path / "a.xpt"))
    assert set(notices) == {"E-CODES-PLAIN", "E-LABELS-LOST"}
    assert "sex, trust, flag" in notices["E-LABELS-LOST"]
    assert not any(word in text for text in notices.values() for word in ("female", "no answer", "high"))
    long = Column("x", "categorical", levels=(1, 2), label="é" * 200, labels=((1, "ü" * 100),))
    one = Records(Schema([long]), {"x": Values.complete(np.array([0, 1], np.int32))}, 2)
    path, notices = told(lambda: write(one, tmp_path / "b.sav"))
    assert list(notices) == ["E-LABELS-CUT"]
    assert read(path).schema["x"].label == "é" * 128
    assert dict(read(path, categorical=["x"]).schema["x"].labels) == {1: "ü" * 60}
    padded = table({"x": ["a ", "b", "a "]})
    _, notices = told(lambda: write(padded, tmp_path / "c.sav"))
    assert list(notices) == ["E-BLANKS-LOST"]
    _, notices = told(lambda: write(padded, tmp_path / "c.dta"))
    assert notices == {}
    assert shown(read(tmp_path / "c.dta"), "x") == ["a ", "b", "a "]


@pytest.mark.parametrize(
    ("ending", "cells", "code"),
    [
        ("sav", {"two words": [1, 2]}, "E-NAME-FORMAT"),
        ("sav", {"ab": [1, 2], "AB": [1, 2]}, "E-NAME-TWICE"),
        ("sav", {"all": [1, 2]}, "E-NAME-FORMAT"),
        ("dta", {"n" * 33: [1, 2]}, "E-NAME-FORMAT"),
        ("xpt", {"née": [1, 2]}, "E-NAME-FORMAT"),
        ("sav", {"x": [2**53 + 1, 2]}, "E-INTEGER"),
        ("dta", {"x": [1.2e308, 2.5]}, "E-NUMBER"),
        ("xpt", {"x": [1e75, 2.5]}, "E-NUMBER"),
        ("dta", {"x": ["a" * 2045, "b"]}, "E-TEXT-SIZE"),
    ],
)
def test_what_would_change_is_refused(tmp_path: Path, ending: str, cells: dict[str, Any], code: str) -> None:
    records = table(cells, categorical=[name for name in cells if isinstance(cells[name][0], str)])
    with pytest.raises(InputRefused, match=code):
        write(records, tmp_path / f"a.{ending}")
    assert list(tmp_path.iterdir()) == []


def test_labels_travel_in_toml_and_json() -> None:
    tables = KEPT.to_dict()
    assert tables["sex"]["labels"] == [[1, "female"], [3, "other"], [9, "no answer"]]
    assert Schema.from_dict(tomllib.loads(tomli_w.dumps(tables))) == KEPT
    assert Schema.from_dict(json.loads(json.dumps(tables))) == KEPT
    assert hash(KEPT) == hash(Schema.from_dict(tables))
    assert "female" not in repr(KEPT)


@pytest.mark.parametrize(
    "labels", [[1, "a"], [[1, 2]], [[1, "a", "b"]], "ab", [[1, "a"], [1, "b"]], [[7, "a"]], [[[1], "a"]]]
)
def test_labels_are_pairs_of_a_value_that_is_there_and_a_text(labels: Any) -> None:
    with pytest.raises(UsageError, match="column x") as caught:
        Column("x", "categorical", levels=(1, 2), labels=labels)
    assert caught.value.code in {"E-LABELS", "E-SCHEMA"}
