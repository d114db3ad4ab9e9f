"""Laws of tables on generated data: a value that goes in comes out, whatever dataframe it came in.

Write a test here for what must hold for every table.
"""

from __future__ import annotations

import math
import warnings
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stead.errors import Notice
from stead.tables.arrow import pa
from stead.tables.files import read, table, write
from stead.tables.records import Records, Values
from stead.tables.schema import Column, Schema

if TYPE_CHECKING:
    from pathlib import Path

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
WORDS = st.text(LETTERS, max_size=5).map(lambda text: f"w{text}")
"""No numbers, no dates: text that is spelled like one is read as one, in a dataframe as in a file."""
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "whole": st.integers(-(2**63), 2**63 - 1),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "truth": st.booleans(),
    "word": st.sampled_from(["red", "N/A", "a,b", 'say "c"', "two\nlines", "é", " x "]),
    "day": st.dates(),
}


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    rows = draw(st.integers(1, 15))
    names = draw(st.lists(st.sampled_from([*KINDS, "any word"]), min_size=1, max_size=5))
    columns = {}
    for place, kind in enumerate(names):
        cells = KINDS.get(kind, WORDS)
        columns[f"{kind} {place}"] = draw(st.lists(st.none() | cells, min_size=rows, max_size=rows))
    return columns


@st.composite
def kept(draw: st.DrawFn) -> Records:
    """Records that every statistical package can hold, with labels and with gaps."""
    rows = draw(st.integers(1, 12))
    names = draw(
        st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,12}x", fullmatch=True), min_size=5, max_size=5, unique=True)
    )
    words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)
    levels = draw(st.lists(words, min_size=2, max_size=4, unique=True))
    numbers = draw(st.lists(st.integers(-1000, 1000), min_size=2, max_size=5, unique=True))
    said = tuple((number, draw(words)) for number in numbers)
    columns = [
        Column(names[0], "categorical", levels=tuple(levels), label=draw(words)),
        Column(names[1], "ordered", levels=tuple(sorted(numbers)), labels=tuple(sorted(said))),
        Column(names[2], "continuous"),
        Column(names[3], "continuous", decimals=0, label=draw(words)),
        Column(names[4], "date", unit=draw(st.sampled_from(["day", "second"]))),
    ]
    far = 700_000 if columns[4].unit == "day" else 60_000_000_000
    drawn = [
        (st.integers(0, len(levels) - 1), np.int32),
        (st.integers(0, len(numbers) - 1), np.int32),
        (
            st.floats(-1e70, 1e70, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-70),
            np.float64,
        ),
        (st.integers(-(2**53), 2**53), np.int64),
        (st.integers(-far, far), np.int64),
    ]
    held = {}
    for column, (cells, kind) in zip(columns, drawn, strict=True):
        values = np.array(draw(st.lists(cells, min_size=rows, max_size=rows)), kind)
        missing = np.array(draw(st.lists(st.sampled_from([0, 0, -1]), min_size=rows, max_size=rows)), np.int8)
        held[column.name] = Values(np.where(missing == 0, values, 0).astype(kind), missing)
    return Records(Schema(columns), held, rows)


@settings(max_examples=8)
@given(kept(), st.sampled_from(["sav", "zsav", "dta", "xpt"]))
def test_packages_give_back_what_they_were_given(tmp_path: Path, records: Records, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    quietly(write, records, path)
    again = quietly(read, path, records.schema)
    for name in records.names:
        assert records[name].equals(again[name]).all()
        assert again[name].values.dtype == records[name].values.dtype
    plain = quietly(read, path).schema
    assert [plain[column.name].label for column in records.schema] == [
        column.label for column in records.schema
    ]
    named = records.names[1]
    if ending != "xpt" and plain[named].coded:
        assert plain[named].labels == records.schema[named].labels


def quietly(call: Any, *args: Any) -> Records:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        records: Records = call(*args)
    return records


def same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=0, abs_tol=0)
    return bool(left == right)


def assert_kept(records: Records, columns: dict[str, list[Any]]) -> None:
    """Every column that is not left behind holds what it was given, and nothing is missing that was there."""
    for name, cells in records.to_arrow().to_pydict().items():
        assert records[name].gaps == sum(cell is None for cell in columns[name])
        for left, right in zip(cells, columns[name], strict=True):
            assert same(left, right), name
    for name in set(columns) - set(records.names):
        assert len(set(columns[name])) > 20, "a column was left behind that is no free text"


@given(columns=tables())
@settings(max_examples=200)
def test_what_goes_in_comes_out(columns: dict[str, list[Any]]) -> None:
    assert_kept(quietly(table, columns), columns)


@given(columns=tables())
@settings(max_examples=150)
def test_every_make_of_dataframe_gives_the_same_records(columns: dict[str, list[Any]]) -> None:
    from_arrow = quietly(table, pa.table({name: pa.array(cells) for name, cells in columns.items()}))
    from_polars = quietly(table, pl.DataFrame(columns, strict=False))
    objects = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    for records in (from_polars, quietly(table, objects)):
        assert records.names == from_arrow.names
        for name in records.names:
            assert records[name].equals(from_arrow[name]).all(), name


@given(columns=tables(), kind=st.sampled_from(["csv", "parquet", "arrow"]))
@settings(max_examples=150)
def test_files_keep_every_cell(tmp_path: Path, columns: dict[str, list[Any]], kind: str) -> None:
    records = quietly(table, columns)
    # lines that are all blank are no rows
    assume(kind != "csv" or len(columns) > 1 or any(cell is not None for cell in columns.popitem()[1]))
    again = quietly(read, quietly(lambda: write(records, tmp_path / f"t.{kind}")), records.schema)
    for name in records.names:
        assert again[name].equals(records[name]).all(), name


@given(
    gaps=st.lists(st.sampled_from([None, float("nan"), np.nan, pd.NA, pd.NaT]), min_size=1, max_size=6),
    cells=st.lists(st.integers(0, 5) | st.sampled_from(["x", "y"]), min_size=1, max_size=6),
    data=st.data(),
)
@settings(max_examples=200)
def test_all_ways_of_missing_are_one(gaps: list[Any], cells: list[Any], data: st.DataObject) -> None:
    mixed = data.draw(st.permutations([*gaps, *cells]))
    present = [not any(cell is gap for gap in gaps) for cell in mixed]
    records = quietly(table, pd.DataFrame({"a": pd.Series(mixed, dtype=object)}))
    plain = quietly(table, {"a": [cell if ok else None for cell, ok in zip(mixed, present, strict=True)]})
    assert records["a"].present.tolist() == present
    assert records["a"].equals(plain["a"]).all()


@given(days=st.lists(st.none() | st.dates(date(1, 1, 1), date(9999, 12, 31)), min_size=1, max_size=10))
def test_days_are_counted_from_1970(days: list[date | None]) -> None:
    records = quietly(table, {"a": pa.array(days, pa.date32())})
    for value, ok, day in zip(records["a"].values, records["a"].present, days, strict=True):
        assert bool(ok) == (day is not None)
        assert day is None or value == day.toordinal() - date(1970, 1, 1).toordinal()
