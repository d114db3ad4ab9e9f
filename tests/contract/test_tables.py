"""What tables promise: ways out lead back in, records show no row, a schema says all that it knows.

Write a test here for what every caller may rely on. Bad input is tested in `tests/faults/test_reading.py`.
"""

from __future__ import annotations

import copy
import json
import pickle
import tomllib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import tomli_w

from stead.errors import Notice, SteadError, UsageError
from stead.tables.arrow import pa
from stead.tables.files import read, table, write
from stead.tables.records import Records, Values
from stead.tables.schema import Column, Schema
from stead.tables.sources import Data

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SCHEMA = Schema(
    [
        Column("age", "count", bounds=(0, 120), missing=(-9, -8)),
        Column("number", "continuous", decimals=0),
        Column("income", "continuous", decimals=2, missing=("refused",)),
        Column("wealth", "continuous", missing=(-1.5,)),
        Column("sex", "binary", levels=("f", "m")),
        Column("flag", "binary", levels=(False, True), missing=("dk",)),
        Column("region", "categorical", levels=(10, 20, 2**53 + 1), missing=(99,)),
        Column("school", "ordered", levels=("low", "none of it", "high"), missing=("dk", "na")),
        Column("grade", "ordered", levels=(3, 1, 2)),
        Column("mixed", "categorical", levels=("a, b", 'say "c"', "two\nlines", "NA", "=1+1")),
        Column("born", "date", missing=("unknown",)),
        Column("when", "date", unit="second"),
        Column("weight", "continuous", decimals=1, role="weight"),
    ]
)
ROWS = [
    "age,number,income,wealth,sex,flag,region,school,grade,mixed,born,when,weight",
    '30,9007199254740993,1234.50,0.1,f,true,10,low,3,"a, b",1950-02-28,1999-12-31T23:59:59,1.5',
    '-9,-9223372036854775808,refused,-1.5,m,FALSE,20,dk,1,"say ""c""",unknown,1969-12-31T23:59:59,2',
    '-8,9223372036854775807,-0.01,1e300,,dk,9007199254740993,na,2,"two\nlines",1500-01-01,,0.1',
    ",,,-0.30000000000000004,m,,99,,,NA,,0001-01-01T00:00:00,3",
    "0,0,0,,f,True,,high,1,=1+1,9999-12-31,9999-12-31T23:59:59,4.0",
]


@pytest.fixture
def records(tmp_path: Path) -> Records:
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(ROWS) + "\n", encoding="utf-8")
    return read(path, SCHEMA)


def assert_equal(one: Records, other: Records, *, codes: bool = True) -> None:
    """The same schema and the same cells; without `codes`, all missing cells are one."""
    assert one.schema == other.schema
    assert (one.names, one.rows) == (other.names, other.rows)
    for name in one.names:
        left, right = one[name], other[name]
        assert left.values.dtype == right.values.dtype, name
        if not codes:
            left, right = (Values(each.values, -np.sign(np.abs(each.missing))) for each in (left, right))
        assert left.equals(right).all(), name


# ---- ways out and back ------------------------------------------------------------------------------


def test_reading_gives_values_and_codes(records: Records) -> None:
    assert records["age"].values.tolist() == [30, 0, 0, 0, 0]
    assert records["age"].missing.tolist() == [0, 1, 2, -1, 0]
    assert records["number"].values.tolist() == [2**53 + 1, -(2**63), 2**63 - 1, 0, 0]
    assert records["wealth"].values.tolist() == [0.1, 0, 1e300, -0.30000000000000004, 0]
    assert records["school"].missing.tolist() == [0, 1, 2, -1, 0]
    assert records["region"].values.tolist()[:3] == [0, 1, 2]
    assert records["mixed"].values.tolist() == [0, 1, 2, 3, 4]
    assert records["when"].values.tolist()[1] == -1


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "feather", "pq"])
def test_files_give_equal_records(records: Records, tmp_path: Path, kind: str) -> None:
    path = write(records, tmp_path / f"again.{kind}")
    assert_equal(read(path, SCHEMA), records)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("name", SCHEMA.names)
def test_files_of_one_column_give_equal_records(
    records: Records, tmp_path: Path, kind: str, name: str
) -> None:
    one = records.only([name])
    path = write(one, tmp_path / f"one.{kind}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)  # of blank lines
        assert_equal(read(path, one.schema), one)


def test_numbers_stay_numbers_in_a_binary_file(records: Records, tmp_path: Path) -> None:
    written = Data(str(write(records, tmp_path / "again.parquet"))).load().table
    assert written.schema.field("age").type == pa.int64()
    assert written.column("age").to_pylist() == [30, -9, -8, None, 0]
    assert written.schema.field("wealth").type == pa.float64()
    assert written.column("income").to_pylist() == ["1234.5", "refused", "-0.01", None, "0"]


WAYS: dict[str, Callable[[Records], object]] = {
    "pandas": Records.to_pandas,
    "polars": Records.to_polars,
    "arrow": Records.to_arrow,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", [slice(None), slice(0, 1), slice(4, 5)], ids=["all", "no gaps", "last"])
def test_dataframes_give_equal_records(records: Records, way: str, rows: slice) -> None:
    some = records.take(rows)
    assert_equal(table(WAYS[way](some), SCHEMA), some, codes=False)


def test_dataframes_have_types_that_suit(records: Records) -> None:
    frame = records.to_pandas()
    assert list(frame.columns) == list(records.names)
    assert str(frame["age"].dtype) == "Int64"
    assert str(frame["flag"].dtype) == "boolean"
    assert isinstance(frame["sex"].dtype, pd.CategoricalDtype)
    assert frame["school"].cat.ordered
    assert frame["school"].cat.categories.tolist() == ["low", "none of it", "high"]
    assert frame["number"].tolist()[:3] == [2**53 + 1, -(2**63), 2**63 - 1]
    assert records.to_polars()["born"].dtype == pl.Date
    whole = records.take(slice(0, 1)).to_pandas()
    assert str(whole["age"].dtype) == "int64"


def test_records_without_columns_and_without_rows(records: Records) -> None:
    empty = Records.empty(3)
    assert (len(empty), empty.names) == (3, ())
    assert empty.to_pandas().shape == (3, 0)
    none = records.take(slice(0, 0))
    assert none.to_arrow().num_rows == none.to_pandas().shape[0] == none.to_polars().height == 0


# ---- records show no row ----------------------------------------------------------------------------


def test_records_do_not_show_a_value() -> None:
    held = table({"a": ["QZX7741", "x"], "b": [7741991, 2]})
    for shown in (held, held["a"], held["b"], held.schema, held.schema["a"]):
        for text in (f"{shown}", f"{shown!r}", str([shown])):
            assert "QZX7741" not in text
            assert "7741991" not in text


def test_records_are_not_pickled_copied_or_iterated(records: Records) -> None:
    ways: list[Callable[[Any], object]] = [pickle.dumps, copy.copy, copy.deepcopy, iter, json.dumps]
    for held in (records, records["age"]):
        for way in ways:
            with pytest.raises(TypeError):
                way(held)
    arrays: list[Callable[[Any], object]] = [np.array, np.asarray, dict]
    for way in arrays:
        with pytest.raises((TypeError, SteadError)):
            way(records)


def test_values_are_read_only(records: Records) -> None:
    for name in records.names:
        for array in (records[name].values, records[name].missing):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
    with pytest.raises(AttributeError):
        records["age"].values = np.zeros(5)  # type: ignore[misc]


# ---- verbs ------------------------------------------------------------------------------------------


def test_take_by_slice_position_and_mask(records: Records) -> None:
    positions = records.take(np.array([4, 0, 0]))
    assert positions["age"].values.tolist() == [0, 30, 30]
    assert len(positions) == 3
    mask = records.take(records["age"].present)
    assert mask["age"].values.tolist() == [30, 0]
    assert mask.rows == 2
    assert records.take(slice(1, None, 2))["age"].missing.tolist() == [1, -1]
    assert Records.empty(5).take(np.array([True, False, True, False, False])).rows == 2


def test_only_without_and_with_column(records: Records) -> None:
    assert records.only(["sex", "age"]).names == ("sex", "age")
    assert records.without(["age", "no such"]).names == records.names[1:]
    new = records.with_column(Column("age", "count"), Values.complete(np.arange(5)))
    assert new.names == records.names
    assert new["age"].values.tolist() == [0, 1, 2, 3, 4]
    assert records["age"].values.tolist()[0] == 30
    added = records.with_column(Column("z", "count"), Values.complete(np.arange(5)))
    assert added.names == (*records.names, "z")
    with pytest.raises(ValueError, match="rows"):
        records.with_column(Column("z", "count"), Values.complete(np.arange(4)))


def test_values_equal_by_value_and_by_reason() -> None:
    one = Values(np.array([1, 2, 0, 0]), np.array([0, 0, 1, -1], np.int8))
    other = Values(np.array([1, 3, 7, 0]), np.array([0, 0, 1, 1], np.int8))
    assert one.equals(other).tolist() == [True, False, True, False]
    with pytest.raises(ValueError, match="length"):
        Values(np.zeros(2), np.zeros(3, np.int8))


def test_unknown_names_are_answered_with_the_nearest_first(records: Records) -> None:
    for call in (records.__getitem__, records.schema.require, lambda name: records.only([name])):
        with pytest.raises(UsageError) as caught:
            call("incme")
        assert caught.value.code == "E-COLUMN"
        text = str(caught.value)
        assert "did you mean income?" in text
        assert text.index("income") < text.index("age")


# ---- schema -----------------------------------------------------------------------------------------


def test_a_schema_survives_json_and_toml() -> None:
    assert Schema.from_dict(SCHEMA.to_dict()) == SCHEMA
    assert Schema.from_dict(json.loads(json.dumps(SCHEMA.to_dict()))) == SCHEMA
    assert Schema.from_dict(tomllib.loads(tomli_w.dumps(SCHEMA.to_dict()))) == SCHEMA
    assert Schema.from_dict(SCHEMA.to_dict()).names == SCHEMA.names


def test_a_schema_is_a_value() -> None:
    changed = SCHEMA.with_role("drop", "age", "sex")
    assert changed != SCHEMA
    assert len({SCHEMA, Schema(SCHEMA), changed}) == 2
    assert changed["age"].role == "drop"
    assert "age" not in changed.carried
    assert SCHEMA["age"].role == "keep"
    assert SCHEMA.only(["sex", "age"]).names == ("sex", "age")
    assert ("age" in SCHEMA, "no" in SCHEMA, len(SCHEMA)) == (True, False, 13)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"kind": "counts"}, "E-SCHEMA"),
    ({"kind": "count", "role": "weigth"}, "E-SCHEMA"),
    ({"kind": "date", "unit": "year"}, "E-SCHEMA"),
    ({"kind": "categorical"}, "E-LEVELS"),
    ({"kind": "categorical", "levels": "abc"}, "E-SCHEMA"),
    ({"kind": "categorical", "levels": 5}, "E-SCHEMA"),
    ({"kind": "categorical", "levels": ["a", "a"]}, "E-LEVELS"),
    ({"kind": "categorical", "levels": [1, 1.0]}, "E-LEVELS"),
    ({"kind": "categorical", "levels": [1, "1"]}, "E-LEVELS"),
    ({"kind": "categorical", "levels": [2**70]}, "E-LEVELS"),
    ({"kind": "categorical", "levels": [float("nan")]}, "E-LEVELS"),
    ({"kind": "categorical", "levels": [None]}, "E-LEVELS"),
    ({"kind": "categorical", "levels": [["a"]]}, "E-LEVELS"),
    ({"kind": "binary", "levels": [0, 1, 2]}, "E-LEVELS"),
    ({"kind": "count", "levels": [0, 1]}, "E-LEVELS"),
    ({"kind": "count", "missing": "NA"}, "E-SCHEMA"),
    ({"kind": "count", "missing": [None]}, "E-MISSING-CODES"),
    ({"kind": "count", "missing": list(range(101))}, "E-MISSING-CODES"),
    ({"kind": "count", "lowest": "a"}, "E-BOUNDS"),
    ({"kind": "count", "lowest": float("nan")}, "E-BOUNDS"),
    ({"kind": "count", "lowest": 2, "highest": 1}, "E-BOUNDS"),
    ({"kind": "continuous", "decimals": 16}, "E-DECIMALS"),
    ({"kind": "continuous", "decimals": -1}, "E-DECIMALS"),
    ({"kind": "continuous", "decimals": 1.5}, "E-DECIMALS"),
    ({"kind": "continuous", "decimals": "2"}, "E-DECIMALS"),
    ({"kind": "date", "format": 5}, "E-DATE-FORMAT"),
    ({"kind": "count", "level": [1]}, "E-PLAN-KEY"),
    ({}, "E-PLAN-KEY"),
]


@pytest.mark.parametrize(("settings", "code"), WRONG, ids=str)
def test_settings_that_make_no_column(settings: dict[str, Any], code: str) -> None:
    with pytest.raises(UsageError) as caught:
        Schema.from_dict({"income": settings})
    assert (caught.value.code, caught.value.exit_code) == (code, 2)
    assert "column income" in str(caught.value)


def test_schemas_that_are_none() -> None:
    not_a_table: Any = {"income": "count"}
    for call in (
        lambda: Schema.from_dict(not_a_table),
        lambda: Schema([Column("a", "count"), Column("a", "count")]),
        lambda: Column("", "count"),
        lambda: Column("n" * 257, "count"),
        lambda: Column("a", "count", bounds=(1, 2, 3)),  # type: ignore[arg-type]
    ):
        with pytest.raises(UsageError) as caught:
            call()
        assert caught.value.exit_code == 2
