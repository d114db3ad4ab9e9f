"""Faults of input, by their number: each is refused, or taken and said, and no message holds a cell.

Write a test here for a way in which a file or a dataframe can be wrong. How good files read is in
`tests/contract/test_tables.py`.
"""

from __future__ import annotations

import traceback
import warnings
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from stead.errors import InputRefused, Notice, SteadError, UsageError
from stead.tables.arrow import feather, pa, parquet
from stead.tables.files import read, table, write
from stead.tables.schema import Column, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from stead.tables.records import Records

PLANTED = ("QZX7741", "774199.25", "7741991", "qzx-ÿ")


def refused(
    call: Callable[[], object], code: str, *says: str, values: Iterable[str] = PLANTED, usage: bool = False
) -> SteadError:
    """The call is refused with `code`, says `says`, and neither it nor what it hides holds a planted value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        with pytest.raises(SteadError) as caught:
            call()
    error = caught.value
    assert error.code == code, str(error)
    assert isinstance(error, UsageError if usage else InputRefused)
    assert error.exit_code == (2 if usage else 3)
    for word in says:
        assert word in str(error)
    assert str(error).endswith(f"[{code}]")
    told = [str(error), repr(error), repr(error.to_dict()), *shown_by(error)]
    for value in values:
        assert not any(value in text for text in told), f"{code} shows a value"
    return error


def shown_by(error: BaseException) -> list[str]:
    """All that a traceback could show, save the lines of our own source; the errors suppressed behind it too."""
    texts, behind = [], error.__context__
    for line in traceback.format_exception(error):
        texts += [part for part in line.splitlines() if not part.startswith("    ")]
    while behind is not None:
        texts += [str(behind), repr(behind)]
        behind = behind.__context__
    return texts


def noticed(call: Callable[[], Records], code: str, *says: str) -> Records:
    """The call answers, and tells `code` once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        records = call()
    told = [warning.message for warning in caught if isinstance(warning.message, Notice)]
    (notice,) = [each for each in told if each.code == code]
    for word in says:
        assert word in str(notice)
    assert not any(value in str(each) for each in told for value in PLANTED)
    return records


class Desk:
    """Writes a file and reads it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: str | bytes, name: str = "survey.csv") -> Path:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self, content: str | bytes, *args: Any, **options: Any) -> Records:
        return read(self.put(content), *args, **options)

    def refused(
        self, content: str | bytes, code: str, *says: str, usage: bool = False, **options: Any
    ) -> SteadError:
        return refused(lambda: self.read(content, **options), code, "survey.csv", *says, usage=usage)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def values(records: Records, name: str) -> list[Any]:
    """The column as plain values, None where missing."""
    held, column = records[name], records.schema[name]
    plain = [column.levels[value] for value in held.values] if column.coded else held.values.tolist()
    return [value if ok else None for value, ok in zip(plain, held.present, strict=True)]


# ---- 1 to 5: missing cells --------------------------------------------------------------------------


def test_fault_01_a_column_of_missing_cells_is_carried_and_told(desk: Desk) -> None:
    records = noticed(lambda: desk.read("a,b\n,1\nNA,2\n,3\n"), "E-COL-ALLNA", "column a")
    assert records["a"].missing.tolist() == [-1, -1, -1]
    assert values(records, "b") == [1, 2, 3]


ALL_NULL_TYPES: list[object] = [
    *("Int8", "UInt64", "Float32", "boolean", "string", "float16", "float32", "float64", "object", "str"),
    *("int64[pyarrow]", "string[pyarrow]", "bool[pyarrow]", "float[pyarrow]"),
]


@pytest.mark.parametrize("kind", ALL_NULL_TYPES)
def test_fault_01_all_missing_of_every_pandas_type(kind: str) -> None:
    frame = pd.DataFrame({"a": pd.Series([None, None], dtype=kind), "b": [1, 2]})
    records = noticed(lambda: table(frame), "E-COL-ALLNA", "column a")
    assert records["a"].gaps == 2
    assert values(records, "b") == [1, 2]


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.null(), pa.int8(), pa.uint64(), pa.float16(), pa.float64(), pa.bool_(), pa.string()),
        *(pa.large_string(), pa.string_view(), pa.decimal128(9, 2), pa.dictionary(pa.int8(), pa.string())),
        *(pa.dictionary(pa.int32(), pa.int64()),),
    ],
    ids=str,
)
def test_fault_01_all_missing_of_every_arrow_type(kind: pa.DataType) -> None:
    records = noticed(lambda: table(pa.table({"a": pa.nulls(3, kind)})), "E-COL-ALLNA", "column a")
    assert records["a"].missing.tolist() == [-1, -1, -1]


def test_fault_03_codes_and_na_only(desk: Desk) -> None:
    read_it = lambda: desk.read("a,b\n-7,1\nNA,2\n-7.0,3\n", missing={"a": [-7]})
    records = noticed(read_it, "E-COL-ALLNA", "column a")
    assert records["a"].missing.tolist() == [1, -1, 1]


def test_fault_04_one_kind_of_missing() -> None:
    gaps = [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, Decimal("NaN")]
    frame = pd.DataFrame({"a": pd.Series([*gaps, "x"], dtype=object)})
    records = table(frame)
    assert records["a"].missing.tolist() == [-1] * len(gaps) + [0]
    assert records.schema["a"].levels == ("x",)


def test_fault_04_a_declared_code_stays_apart_from_an_empty_cell(desk: Desk) -> None:
    records = desk.read("income,b\n5,1\n-9,1\n,1\n7,1\n-9.00,1\n-8,1\n", missing={"income": [-9, -8]})
    assert records["income"].missing.tolist() == [0, 1, -1, 0, 1, 2]


@pytest.mark.parametrize("code", [-9, -9.0, "-9", " -9 "])
def test_fault_04_a_code_is_found_however_it_is_spelled(desk: Desk, code: object) -> None:
    from_text = desk.read("a,b\n-9,x\n5,y\n", missing={"a": code})
    from_frame = table({"a": [-9, 5], "b": ["x", "y"]}, missing={"a": code})
    assert from_text["a"].missing.tolist() == from_frame["a"].missing.tolist() == [1, 0]


def test_fault_04_a_code_is_not_found_where_it_only_rounds_the_same() -> None:
    records = table({"a": ["-1e+07", "-9999999", "5"]}, missing=-9999999)
    assert records["a"].missing.tolist() == [0, 1, 0]


def test_fault_05_a_missing_category_has_a_code_of_its_own(desk: Desk) -> None:
    records = desk.read("a,b\nyes,1\nrefused,2\n,3\nno,4\n", missing={"a": "refused"})
    assert records.schema["a"].levels == ("no", "yes")
    assert records["a"].missing.tolist() == [0, 1, -1, 0]


# ---- 6 to 16: cells ---------------------------------------------------------------------------------


def test_fault_06_missing_in_an_integer_column(desk: Desk) -> None:
    records = desk.read("a,b\n9007199254740993,1\n,2\n")
    assert records["a"].values.dtype == np.int64
    assert values(records, "a") == [9007199254740993, None]


def test_fault_07_whole_numbers_up_to_64_bits_are_exact(desk: Desk) -> None:
    records = desk.read("a,b\n9223372036854775807,1\n-9223372036854775808,2\n")
    assert values(records, "a") == [2**63 - 1, -(2**63)]
    mixed = Schema([Column("a", "continuous", decimals=0), Column("b", "count")])
    assert values(desk.read("a,b\n9007199254740993,1\n7.0,2\n", mixed), "a") == [2**53 + 1, 7]
    codes = table({"a": [2**53, 2**53 + 1]}, categorical=["a"])
    assert values(codes, "a") == [2**53, 2**53 + 1]


@pytest.mark.parametrize("cell", ["9223372036854775808", "7741991" * 3, "9" * 5000])
def test_fault_07_beyond_64_bits_is_refused_or_taken_as_a_level(desk: Desk, cell: str) -> None:
    content = f"a,b\n{cell},1\n5,2\n"
    count = Schema([Column("a", "count"), Column("b", "count")])
    desk.refused(content, "E-INTEGER", "column a", "1 cells")
    refused(lambda: desk.read(content, count), "E-INTEGER", "survey.csv", "column a", "1 cells")
    assert values(desk.read(content, categorical=["a"]), "a") == [cell, "5"]


def test_fault_07_unsigned_integers_of_a_dataframe() -> None:
    frame = pd.DataFrame({"a": pd.Series([1, 2**64 - 1], dtype="uint64")})
    refused(lambda: table(frame), "E-INTEGER", "column a", "1 cells")


def test_fault_07_identifiers_beyond_64_bits_are_left_behind(desk: Desk) -> None:
    rows = "".join(f"{10**20 + row},{row}\n" for row in range(60))
    records = noticed(lambda: desk.read(f"a,b\n{rows}"), "E-TEXT-UNIQUE", "column a")
    assert records.schema["a"].role == "id"
    assert "a" not in records


def test_fault_08_leading_zeros_stay_text(desk: Desk) -> None:
    read_it = lambda: desk.read("a,b\n00123,1\n01230,2\n12300,3\n")
    records = noticed(read_it, "E-LEADING-ZERO", "column a", "role id")
    assert values(records, "a") == ["00123", "01230", "12300"]
    read_code = lambda: desk.read("a,b\n-007,1\n-007,2\n", missing=[-7])
    assert values(noticed(read_code, "E-LEADING-ZERO"), "a") == ["-007", "-007"]


def test_fault_09_na_is_a_country_unless_declared(desk: Desk) -> None:
    content = "a,b\nNA,1\nDE,NA\nNone,3\nnull,4\n"
    records = noticed(lambda: desk.read(content), "E-NA-TEXT", "column a", "missing=")
    assert values(records, "a") == ["NA", "DE", "None", "null"]
    assert values(records, "b") == [1, None, 3, 4]
    assert values(desk.read(content, missing={"a": "NA"}), "a") == [None, "DE", "None", "null"]


@pytest.mark.parametrize("cell", ["inf", "-inf", "Infinity", "1e400", "-1e400"])
def test_fault_10_infinite_numbers(desk: Desk, cell: str) -> None:
    content = f"a,b\n{cell},1\n2.5,2\n{cell},3\n"
    desk.refused(content, "E-INFINITE", "column a", "2 cells")
    declared = desk.read(content, missing={"a": [cell]})
    assert declared["a"].missing.tolist() == [1, 0, 1]
    refused(lambda: table({"a": [1.5, float(cell)]}), "E-INFINITE", "column a", "1 cells")


def test_fault_11_semicolons_and_decimal_commas(desk: Desk) -> None:
    content = "a;b\n774199,25;QZX7741\n1,5;QZX7741\n"
    desk.refused(content, "E-DELIMITER", 'delimiter=";"', 'decimal=","')
    desk.refused(content, "E-DECIMAL", "column a", 'decimal=","', delimiter=";")
    assert values(desk.read(content, delimiter=";", decimal=","), "a") == [774199.25, 1.5]
    refused(lambda: desk.read(content, decimal=""), "E-DECIMAL", usage=True)


def test_fault_11_a_thousands_mark_is_no_decimal_mark(desk: Desk) -> None:
    assert values(desk.read('a,b\n"1,234.5",1\n'), "a") == ["1,234.5"]
    assert values(desk.read("a;b\n1.234,5;1\n", delimiter=";", decimal=","), "a") == ["1.234,5"]
    assert values(desk.read("a;b\n1.234;1\n", delimiter=";", decimal=","), "a") == ["1.234"]


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", "\r", "\0", "é", 5, None])
def test_fault_11_delimiters_that_are_none(desk: Desk, delimiter: Any) -> None:
    refused(lambda: desk.read("a,b\n1,2\n", delimiter=delimiter), "E-DELIMITER", usage=True)


def test_fault_12_numbers_and_text(desk: Desk) -> None:
    rows = "".join(f"{row},1\n" for row in range(30)) + "QZX7741,2\nQZX7741,3\n"
    desk.refused(f"a,b\n{rows}", "E-MIXED", "column a", "30 cells are numbers", "2 are text", "missing=")
    records = desk.read(f"a,b\n{rows}", missing={"a": "QZX7741"})
    assert records["a"].missing.tolist() == [0] * 30 + [1, 1]
    assert records["a"].values.dtype == np.int64


def test_fault_12_a_cell_of_blanks_is_missing_among_numbers_and_a_value_among_words(desk: Desk) -> None:
    assert values(desk.read("a,b\n1,1\n  ,2\n"), "a") == [1, None]
    assert values(desk.read("a,b\nx,1\n  ,2\n"), "a") == ["x", "  "]


def test_fault_13_truth_values_with_blanks(desk: Desk) -> None:
    for yes, no in (("TRUE", "FALSE"), ("true", "false")):
        records = desk.read(f"a,b\n{yes},1\n,2\n{no},3\n")
        assert records.schema["a"].kind == "binary"
        assert values(records, "a") == [yes, None, no]
    frame = pd.DataFrame({"a": pd.Series([True, None, False], dtype="boolean")})
    assert values(table(frame), "a") == [True, None, False]
    assert desk.read("a,b\ntrue,1\nTRUE,2\n").schema["a"].kind == "categorical"


ODD_CELLS: list[list[object]] = [
    [{"q": "QZX7741"}, {"q": 2}],
    [["QZX7741"], ["x"]],
    [("QZX7741",), ("x",)],
    [{"q": "QZX7741"}, 3],
    [b"QZX7741", b"x"],
    [b"QZX7741", "x", 1],
    [time(7, 41), time(1)],
    [7741991j, 2j],
    [object(), "x"],
    [np.array([7741991]), np.array([1, 2])],
]


@pytest.mark.parametrize("cells", ODD_CELLS, ids=lambda cells: type(cells[0]).__name__)
def test_fault_14_cells_that_are_no_cells(cells: list[object]) -> None:
    refused(lambda: table(pd.DataFrame({"a": cells})), "E-CELL-TYPE", "column a", "drop or unpack")
    refused(lambda: table({"a": cells}), "E-CELL-TYPE", "column a")


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        (pa.time32("s"), 7741),
        (pa.duration("s"), 7741991),
        (pa.binary(), b"QZX7741"),
        (pa.large_binary(), b"QZX7741"),
        (pa.binary(7), b"QZX7741"),
        (pa.binary_view(), b"QZX7741"),
        (pa.struct([("q", pa.string())]), {"q": "QZX7741"}),
        (pa.map_(pa.string(), pa.int64()), [("QZX7741", 1)]),
        (pa.list_(pa.string()), ["QZX7741"]),
        (pa.month_day_nano_interval(), (1, 2, 7741991)),
        (pa.uuid(), b"QZX7741-QZX7741-"),
    ],
    ids=str,
)
def test_fault_14_arrow_types_that_are_no_cells(kind: pa.DataType, cell: object, desk: Desk) -> None:
    frame = pa.table({"a": pa.array([cell, None], kind), "b": [1, 2]})
    refused(lambda: table(frame), "E-CELL-TYPE", "column a", "drop or unpack")
    dropped = Schema([Column("a", "categorical", role="drop"), Column("b", "count")])
    assert values(table(frame, dropped), "b") == [1, 2]


def test_fault_14_intervals_periods_and_durations_of_pandas() -> None:
    interval = pd.cut(pd.Series([7741991, 1]), 2)
    for column in (
        interval,
        pd.period_range("2020-01-01", periods=2, freq="D"),
        pd.to_timedelta([7741991, 1], unit="s"),
    ):
        refused(partial(table, pd.DataFrame({"a": column})), "E-CELL-TYPE", "column a")


def test_fault_14_mixed_objects_that_are_cells_are_read_as_text() -> None:
    cells = [1, "x", None, 2.5, Decimal("1.50"), True, date(2020, 1, 2), np.int64(7)]
    records = table(pd.DataFrame({"a": pd.Series(cells, dtype=object)}))
    assert values(records, "a") == ["1", "x", None, "2.5", "1.50", "True", "2020-01-02", "7"]


def test_fault_14_text_that_is_no_unicode() -> None:
    refused(lambda: table({"a": ["QZX7741\ud800"]}), "E-ENCODING", "column a")
    refused(lambda: table({"a\ud800": [1]}), "E-NAME-TEXT", "column 1")


def test_fault_14_decimals_are_exact_where_they_are_whole() -> None:
    whole = [Decimal(2**53 + 1), None]
    assert values(table(pa.table({"a": pa.array(whole, pa.decimal128(38, 0))})), "a") == [2**53 + 1, None]
    beyond = pa.array([Decimal(10**30), None], pa.decimal128(38, 0))
    refused(lambda: table(pa.table({"a": beyond})), "E-INTEGER", "column a", "1 cells")


@pytest.mark.parametrize("categories", [["z", "x", "u"], [3, 2, 9], [2.5, 1.5, 0.5]])
@pytest.mark.parametrize("ordered", [True, False])
def test_fault_15_categories_keep_their_order_and_their_unused_levels(
    categories: list[Any], ordered: bool
) -> None:
    cells = [categories[1], None, categories[0]]
    series = pd.Series(pd.Categorical(cells, categories=categories, ordered=ordered))
    records = table(pd.DataFrame({"a": series}))
    assert records.schema["a"].levels == tuple(categories)
    assert records.schema["a"].kind == ("ordered" if ordered else "categorical")
    assert values(records, "a") == cells


def test_fault_15_categories_that_are_empty_missing_or_mixed() -> None:
    empty = table({"a": pd.Categorical([None, None], categories=["x", "y"])})
    assert (empty.schema["a"].levels, empty["a"].gaps) == (("x", "y"), 2)
    blank = table({"a": pd.Categorical(["", "x"])})
    assert (blank.schema["a"].levels, values(blank, "a")) == (("x",), [None, "x"])
    coded = table({"a": pd.Categorical(["gone", "x"])}, missing="gone")
    assert (coded.schema["a"].levels, coded["a"].missing.tolist()) == (("x",), [1, 0])
    truth = table({"a": pd.Categorical([True, None])})
    assert values(truth, "a") == [True, None]
    mixed = pd.DataFrame({"a": pd.Categorical(["QZX7741", 7741991], ordered=True)})
    refused(lambda: table(mixed), "E-CELL-TYPE", "column a", "categories")


def test_fault_15_polars_categories() -> None:
    frame = pl.DataFrame(
        {
            "a": pl.Series(["x", "y", None], dtype=pl.Enum(["y", "u", "x"])),
            "b": pl.Series(["p", "q", "p"], dtype=pl.Categorical),
        }
    )
    records = table(frame)
    assert (records.schema["a"].kind, records.schema["a"].levels) == ("ordered", ("y", "u", "x"))
    assert values(records, "a") == ["x", "y", None]
    assert values(records, "b") == ["p", "q", "p"]
    assert set(records.schema["b"].levels) == {"p", "q"}


def test_fault_15_arrow_dictionaries_in_chunks() -> None:
    chunks = [pa.array(part).dictionary_encode() for part in (["b", "a"], ["c", None], ["a"])]
    records = table(pa.table({"a": pa.chunked_array(chunks)}))
    assert values(records, "a") == ["b", "a", "c", None, "a"]
    nothing = pa.table({"a": pa.chunked_array([], pa.dictionary(pa.int8(), pa.string()))})
    refused(lambda: table(nothing), "E-NO-ROWS")


# ---- 17 to 19: dates --------------------------------------------------------------------------------


def test_fault_17_old_and_late_dates(desk: Desk) -> None:
    records = desk.read("a,b\n1500-01-01,1\n9999-12-31,2\n0001-01-01,3\n")
    days = [date(1500, 1, 1).toordinal(), date(9999, 12, 31).toordinal(), 1]
    assert values(records, "a") == [day - date(1970, 1, 1).toordinal() for day in days]
    assert values(table({"a": pa.array([10**7], pa.date32())}), "a") == [10**7]
    assert values(table(pd.DataFrame({"a": [date(1500, 1, 1)]})), "a") == [-171664]


@pytest.mark.parametrize("cell", ["2020-02-30", "0000-00-00", "2019-02-29", "9999-99-99"])
def test_fault_17_dates_that_do_not_exist(desk: Desk, cell: str) -> None:
    error = desk.refused(f"a,b\n{cell},1\n2020-01-01,2\n{cell},3\n", "E-DATE", "column a", "2 cells")
    assert cell not in str(error)
    declared = desk.read(f"a,b\n{cell},1\n2020-01-01,2\n", missing={"a": cell})
    assert declared["a"].missing.tolist() == [1, 0]


def test_fault_18_mixed_formats_ask_for_one(desk: Desk) -> None:
    rows = "".join(f"2020-01-{day:02},1\n" for day in range(1, 20)) + "31.12.1977,2\n"
    error = desk.refused(f"a,b\n{rows}", "E-DATE-FORMAT", "column a", "1 cells", "format=")
    assert "1977" not in str(error)
    named = Schema([Column("a", "date", format="%d.%m.%Y"), Column("b", "count")])
    refused(lambda: desk.read(f"a,b\n{rows}", named), "E-DATE", "column a", "19 cells", "%d.%m.%Y")
    assert values(desk.read("a,b\n31.12.1970,2\n", named), "a") == [364]


def test_fault_18_na_among_dates_is_to_be_declared(desk: Desk) -> None:
    content = "a,b\n2020-01-01,1\nNA,2\nNA,3\n"
    desk.refused(content, "E-DATE", "column a", "2 cells", "missing=")
    assert desk.read(content, missing={"a": "NA"})["a"].missing.tolist() == [0, 1, 1]


@pytest.mark.parametrize("text", ["%", "%d%d", "%Q", "\ud800%"])
def test_fault_18_formats_that_are_none(text: str) -> None:
    refused(lambda: Column("a", "date", format=text), "E-DATE-FORMAT", "column a", usage=True)


def test_fault_19_moments_are_seconds(desk: Desk) -> None:
    records = desk.read("a,b\n1970-01-02T00:00:01,1\n1969-12-31 23:59:59,2\n")
    assert records.schema["a"].unit == "second"
    assert values(records, "a") == [86_401, -1]
    zoned = Schema([Column("a", "date", unit="second"), Column("b", "count")])
    assert values(desk.read("a,b\n1970-01-01T02:00:00+02:00,1\n1970-01-01T00:00:05Z,2\n", zoned), "a") == [
        0,
        5,
    ]
    days = Schema([Column("a", "date"), Column("b", "count")])
    refused(
        lambda: desk.read("a,b\n1970-01-01T02:00:00,1\n1970-01-02,2\n", days), "E-DATE", "column a", "1 cells"
    )


def test_fault_19_moments_of_a_dataframe() -> None:
    zone = pd.Series(pd.to_datetime(["1970-01-01 01:00", "1970-01-01 01:01"])).dt.tz_localize("Europe/Paris")
    assert values(table(pd.DataFrame({"a": zone})), "a") == [0, 60]
    fraction = pl.DataFrame({"a": [datetime(1969, 12, 31, 23, 59, 59, 500_000), datetime(1970, 1, 1)]})  # noqa: DTZ001
    assert values(noticed(lambda: table(fraction), "E-SECONDS", "column a", "1 moments"), "a") == [-1, 0]
    gap = table(pd.DataFrame({"a": pd.Series([None, None], dtype="datetime64[ns]")}))
    assert (gap.schema["a"].kind, gap["a"].gaps) == ("date", 2)


# ---- 20 to 23: bytes --------------------------------------------------------------------------------


def test_fault_20_latin_1_is_asked_for(desk: Desk) -> None:
    content = "a,b\nx,QZX7741\nqzx-ÿ,QZX7741\n".encode("latin-1")
    desk.refused(content, "E-ENCODING", "line 3", 'encoding="latin-1"')
    assert values(desk.read(content, encoding="latin-1"), "a") == ["x", "qzx-ÿ"]
    refused(lambda: desk.read(b"a\n\x81QZX7741\n", encoding="cp1252"), "E-ENCODING", "survey.csv", "cp1252")


@pytest.mark.parametrize("encoding", ["base64", "hex", "no-such", "a\0b", "", None, 5])
def test_fault_20_encodings_that_are_none(desk: Desk, encoding: Any) -> None:
    refused(lambda: desk.read("a\nQZX7741\n", encoding=encoding), "E-ENCODING", usage=True)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_fault_21_byte_order_marks(desk: Desk, encoding: str, end: str) -> None:
    records = desk.read(f'"a","b"\n1,é{end}'.encode(encoding))
    assert (values(records, "a"), values(records, "b")) == ([1], ["é"])


def test_fault_21_a_mark_outranks_the_encoding_that_is_named(desk: Desk) -> None:
    content = "a,b\né,1\n".encode("utf-8-sig")
    assert values(desk.read(content, encoding="latin-1"), "a") == ["é"]
    desk.refused("a\nQZX7741".encode("utf-16")[:-1], "E-ENCODING", "utf-16")
    desk.refused("a,b\n1,QZX7741".encode("utf-16-le"), "E-NUL", "line 1")


def test_fault_22_nul_bytes(desk: Desk) -> None:
    desk.refused(b"a,b\n1,2\nQZX7741,\0\n", "E-NUL", "line 3")
    desk.refused(b"a,b\r1,2\rQZX7741,\0\r", "E-NUL", "line 3")


@pytest.mark.parametrize("content", ["", "a,b", "a,b\n", "a\n\n\n", "a,b\r\n\r\n", "\n\n", "\ufeff"])
def test_fault_23_no_rows(desk: Desk, content: str) -> None:
    desk.refused(content, "E-NO-ROWS", "no rows")


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame({"a": []}), pd.DataFrame(index=range(3)), pl.DataFrame({"a": []}), pa.table({}), {}],
    ids=["pandas", "no columns", "polars", "arrow", "mapping"],
)
def test_fault_23_empty_dataframes(frame: object) -> None:
    refused(lambda: table(frame), "E-NO-ROWS", "no rows")


def test_fault_23_only_blanks(desk: Desk) -> None:
    desk.refused(" \n \n \n", "E-NAME-EMPTY", "column 1")
    desk.refused("\n\na,b\n1,2\n", "E-HEADER", "first line is blank")


@pytest.mark.parametrize(
    "frame",
    [None, 5, "QZX7741", [1], np.zeros((2, 2)), pd.Series([1]), pl.LazyFrame({"a": [1]})],
    ids=lambda frame: type(frame).__name__,
)
def test_fault_23_no_tables(frame: object) -> None:
    refused(lambda: table(frame), "E-TABLE", usage=True)


@pytest.mark.parametrize(
    "columns",
    [
        {"a": [7741991, 1], "b": [1]},
        {"a": 5},
        {"a": "QZX7741"},
        {"a": None},
        {"a": {1, 2}},
        {"a": {"QZX7741": 1}},
    ],
    ids=["unequal", "number", "text", "none", "set", "mapping"],
)
def test_fault_23_mappings_that_are_no_tables(columns: dict[str, object]) -> None:
    refused(lambda: table(columns), "E-TABLE", usage=True)


# ---- 31 to 38: columns and their names --------------------------------------------------------------


def test_fault_31_free_text_is_left_behind_and_told(desk: Desk) -> None:
    rows = "".join(f"QZX7741 person {row},{row % 3}\n" for row in range(50))
    records = noticed(lambda: desk.read(f"a,b\n{rows}"), "E-TEXT-UNIQUE", "column a", "50 different")
    assert records.schema["a"].role == "drop"
    assert records.names == ("b",)
    refused(lambda: records["a"], "E-COLUMN", "role drop", usage=True)


def test_fault_32_unseen_levels_are_counted(desk: Desk) -> None:
    schema = Schema([Column("a", "categorical", levels=("x", "y")), Column("b", "ordered", levels=(1, 2))])
    refused(
        lambda: desk.read("a,b\nx,1\nQZX7741,2\n", schema), "E-LEVEL", "survey.csv", "column a", "1 cells"
    )
    refused(lambda: desk.read("a,b\nx,7741991\ny,2\n", schema), "E-LEVEL", "column b", "1 cells")
    refused(lambda: desk.read("a,b\nx,1_0\ny,٢\n", schema), "E-LEVEL", "column b", "2 cells")
    refused(lambda: table({"a": ["x"], "b": [7741991]}, schema), "E-LEVEL", "column b", "1 cells")


def test_fault_33_columns_lacking_and_added(desk: Desk) -> None:
    schema = Schema([Column("age", "count"), Column("b", "count"), Column("gone", "count", role="drop")])
    refused(
        lambda: desk.read("agee,b\n1,2\n", schema),
        "E-COLUMN-LACKING",
        "survey.csv",
        "age",
        "did you mean agee",
    )
    refused(
        lambda: desk.read("age,b,QQ\n1,2,7741991\n", schema),
        "E-COLUMN-ADDED",
        "survey.csv",
        "QQ",
        "role drop",
    )
    assert desk.read("b,age\n1,2\n", schema).names == ("age", "b")


def test_fault_33_names_in_arguments_that_do_not_exist(desk: Desk) -> None:
    refused(
        lambda: desk.read("age,b\n1,2\n", categorical=["agee"]), "E-COLUMN", "did you mean age", usage=True
    )
    refused(
        lambda: desk.read("age,b\n1,2\n", missing={"agee": [1]}), "E-COLUMN", "did you mean age", usage=True
    )
    schema = Schema([Column("age", "count"), Column("b", "count")])
    refused(lambda: desk.read("age,b\n1,2\n", schema, missing=[1]), "E-SCHEMA", usage=True)


@pytest.mark.parametrize("header", ["a,a,a.1", "a, a", "a,a ", '"a","a"', "é,e\u0301"])
def test_fault_34_names_that_occur_twice(desk: Desk, header: str) -> None:
    cells = ",".join(["7741991"] * (header.count(",") + 1))
    desk.refused(f"{header}\n{cells}\n", "E-NAME-TWICE", "1 column names", "rename")


def test_fault_34_names_twice_in_a_dataframe() -> None:
    refused(lambda: table(pd.DataFrame([[1, 7741991]], columns=["a", "a"])), "E-NAME-TWICE", ": a;")
    refused(lambda: table(pa.table([[1], [2]], names=["a", "a"])), "E-NAME-TWICE", ": a;")
    refused(lambda: table(pd.DataFrame([[1, 7741991]], columns=[1, "1"])), "E-NAME-TWICE", ": 1;")


def test_fault_35_unnamed_columns(desk: Desk) -> None:
    records = noticed(lambda: desk.read('"",a\n"1",5\n"2",6\n'), "E-ROW-NUMBERS", "survey.csv")
    assert records.names == ("a",)
    desk.refused(",a\n3,5\n2,6\n", "E-NAME-EMPTY", "column 1")
    desk.refused(",a\n1,5\n,6\n3,7\n", "E-NAME-EMPTY", "column 1")
    desk.refused("a,,b\n1,7741991,2\n", "E-NAME-EMPTY", "column 2")
    desk.refused('""\n1\n2\n', "E-NO-COLUMNS", "row numbers")


def test_fault_36_names_that_are_numbers() -> None:
    records = noticed(lambda: table(pd.DataFrame([[1, 2]])), "E-NAME-TEXT", "text")
    assert records.names == ("0", "1")


ODD_NAMES = [
    "a ~ b",
    "x+y",
    "a:b",
    'say "hi"',
    "🧑‍🚀",
    "أهلا",
    "\u202eabc",
    "a\nb",
    "a,b",
    "__proto__",
    "<script>alert(1)</script>",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_fault_37_and_38_odd_names_are_kept(desk: Desk, name: str) -> None:
    quoted = name.replace('"', '""')
    records = desk.read(f'"{quoted}",b\n5,x\n6,y\n')
    assert records.names == (name, "b")
    assert values(records, name) == [5, 6]
    error = refused(lambda: desk.read(f'"{quoted}",b\ninf,x\n6,y\n'), "E-INFINITE")
    assert all(letter.isprintable() for letter in str(error))


@pytest.mark.parametrize("length", [257, 10_000, 200_000])
def test_fault_37_long_names_are_refused(desk: Desk, length: int) -> None:
    error = desk.refused(f"{'n' * length},b\n1,2\n", "E-NAME-LONG")
    assert len(str(error)) < 200


# ---- 39 to 45: the shape of a file ------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_fault_39_longer_rows(desk: Desk, end: str) -> None:
    content = end.join(["a,b", "1,2", "7741991,2,QZX7741", "4,5"])
    desk.refused(content, "E-ROW-LONG", "line 3", "3 and 2", "1 of 3 rows")


def test_fault_40_trailing_separators(desk: Desk) -> None:
    desk.refused("a,b\n1,2,\n7741991,4,\n", "E-TRAILING", "line 2")
    desk.refused("a,b,\n1,2,\n3,4,\n", "E-NAME-EMPTY", "column 3")


def test_fault_41_shorter_rows(desk: Desk) -> None:
    desk.refused("a,b\n1,2\n7741991\n4,5\n", "E-ROW-SHORT", "line 3", "1 and 2", "1 of 3 rows")
    desk.refused("a,b\n1,2\n\n7741991,5\n", "E-BLANK", "line 3", "1 lines")


@pytest.mark.parametrize("open_at", [2, 40])
def test_fault_42_open_quotes(desk: Desk, open_at: int) -> None:
    rows = [f"{row},x" for row in range(60)]
    rows[open_at - 2] = '7741991,"QZX7741'
    desk.refused("a,b\n" + "\n".join(rows), "E-QUOTE-OPEN", f"line {open_at}")


@pytest.mark.parametrize(
    "cell", ['"QZX7741"y', 'QZX"7741', '"QZX"7741"', ' "QZX7741"', '"QZX7741" ', 'QZX""7741']
)
def test_fault_42_stray_quotes(desk: Desk, cell: str) -> None:
    desk.refused(f"a,b\n1,2\n{cell},1\n", "E-QUOTE", "line 3")


def test_fault_42_quotes_that_are_right(desk: Desk) -> None:
    content = 'a,b\r\n"x, y","say ""hi"""\r\n"two\r\nlines",""\r\n"""",z\r\n'
    records = desk.read(content)
    assert values(records, "a") == ["x, y", "two\r\nlines", '"']
    assert values(records, "b") == ['say "hi"', None, "z"]


def test_fault_42_a_cell_of_20_megabytes(desk: Desk) -> None:
    desk.refused(f"a,b\n1,2\n{'QZX7741' * 3_000_000},2\n", "E-ROW-SIZE", "line 3", "at most 16,777,216")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_fault_42_line_ends_and_blank_lines_of_one_column(desk: Desk, end: str) -> None:
    content = end.join(["a", "1", "", "3", "", ""])
    records = noticed(lambda: desk.read(content), "E-BLANK", "survey.csv", "2 lines")
    assert values(records, "a") == [1, None, 3, None]
    two = desk.read(end.join(["a,b", "1,x", "2,y", "", ""]))
    assert (values(two, "a"), values(two, "b")) == ([1, 2], ["x", "y"])


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        *(("-0", 0), ("+5", 5), (" 7 ", 7), ("5.", 5), (".5", 0.5), ("1E+05", 100_000), ("1e-400", 0)),
        *(("1_000", "1_000"), ("0x10", "0x10"), ("٣", "٣"), ("²", "²"), ("+-5", "+-5"), ("--5", "--5")),
        *(("NaN", None), ("1e5x", "1e5x"), ("１", "１"), ("−5", "−5")),
    ],
)
def test_numbers_as_they_are_spelled(desk: Desk, cell: str, value: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        records = desk.read(f"a,b\n{cell},1\n", missing=())
        listed = desk.read(f"a,b\n{cell},1\n", categorical=["a"])
    assert values(records, "a") == [value]
    assert len(values(listed, "a")) == 1


@pytest.mark.parametrize("numbers", [[1e-8, 3e-9], [5 + 1e-9, 2.0], [1e308, 1e-300], [0.1 + 0.2, 1.5]])
def test_small_differences_of_numbers_are_kept(numbers: list[float]) -> None:
    assert values(table({"a": numbers}), "a") == numbers


@pytest.fixture
def stored(tmp_path: Path) -> dict[str, Path]:
    names = [f"QZX7741{chr(97 + row % 7)}" for row in range(300)]
    records = table({"a": names, "b": [row * 0.25 for row in range(300)]})
    return {kind: write(records, tmp_path / f"survey.{kind}") for kind in ("parquet", "arrow")}


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_fault_43_truncated_files(stored: dict[str, Path], kind: str) -> None:
    whole = stored[kind].read_bytes()
    for length in (0, 1, 4, 8, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        stored[kind].write_bytes(whole[:length])
        refused(lambda: read(stored[kind]), "E-FILE-BROKEN", f"survey.{kind}", "truncated")


def test_fault_43_files_that_are_not_what_they_are_called(desk: Desk) -> None:
    for name in ("survey.parquet", "survey.arrow"):
        path = desk.put("a,b\n1,QZX7741\n", name)
        refused(partial(read, path), "E-FILE-BROKEN", path.name)
    refused(lambda: read(desk.put(b"PK", "survey.csv.gz")), "E-FILE-TYPE", "archives", usage=True)
    refused(lambda: read(desk.put(b"PK", "survey.pkl")), "E-FILE-TYPE", ".parquet", usage=True)
    for missing in ("none.csv", "n" * 300 + ".csv", "a\0b.csv", "", "/"):
        refused(partial(read, missing), "E-FILE", "no file is called", usage=True)


def test_fault_43_text_in_arrow_files_that_is_no_unicode(tmp_path: Path) -> None:
    text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"\xff\xfe")]
    )
    parquet.write_table(pa.table({"a": text}), tmp_path / "t.parquet")
    feather.write_feather(pa.table({"a": text}), str(tmp_path / "t.arrow"))
    for name in ("t.parquet", "t.arrow"):
        refused(partial(read, tmp_path / name), "E-FILE-BROKEN", name)


def test_fault_44_a_flipped_bit_in_a_page_is_found(stored: dict[str, Path]) -> None:
    """The pages carry checksums; what is outside of them is covered by the manifest of the folder."""
    whole = bytearray(stored["parquet"].read_bytes())
    metadata = parquet.ParquetFile(stored["parquet"]).metadata
    start, length = metadata.row_group(0).column(1).dictionary_page_offset, 200
    found = 0
    for place in range(start + 60, start + 60 + length):
        whole[place] ^= 4
        stored["parquet"].write_bytes(whole)
        try:
            read(stored["parquet"])
        except InputRefused as error:
            found += error.code == "E-FILE-BROKEN"
        whole[place] ^= 4
    assert found == length


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_fault_44_a_flipped_bit_anywhere_is_never_an_error_of_a_library(
    stored: dict[str, Path], kind: str
) -> None:
    whole = bytearray(stored[kind].read_bytes())
    answers = {"refused": 0, "read": 0}
    for place in range(0, len(whole), max(1, len(whole) // 300)):
        whole[place] ^= 1 << (place % 8)
        stored[kind].write_bytes(whole)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", Notice)
                read(stored[kind])
            answers["read"] += 1
        except SteadError:
            answers["refused"] += 1
        whole[place] ^= 1 << (place % 8)
    assert answers["refused"] > 0


def test_fault_45_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = write(table({"a": [1, 2]}), tmp_path / "t.csv")
    old = target.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "QZX7741")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(SteadError) as caught:
        write(table({"a": [3, 4]}), target)
    assert (caught.value.code, caught.value.exit_code) == ("E-DISK-FULL", 6)
    assert target.read_bytes() == old
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_fault_45_files_that_cannot_be_written(tmp_path: Path) -> None:
    records = table({"a": [1]})
    refused(lambda: write(records, tmp_path / "t.xls"), "E-FILE-TYPE", "t.xls", usage=True)
    refused(lambda: write(records, tmp_path / "no" / "t.csv"), "E-WRITE", usage=True)


# ---- 54 and 58: roles -------------------------------------------------------------------------------


def test_fault_54_weights_are_positive(desk: Desk) -> None:
    schema = Schema([Column("w", "continuous", role="weight"), Column("b", "count")])
    content = "w,b\n0,1\n-7741991,2\n,3\n1.5,4\n"
    refused(lambda: desk.read(content, schema), "E-WEIGHT", "survey.csv", "column w", "3 weights")


def test_fault_58_identifiers_are_there_and_once(desk: Desk) -> None:
    schema = Schema([Column("i", "categorical", role="id"), Column("b", "count")])
    content = "i,b\nQZX7741,1\nQZX7741,2\n,3\nx,4\n"
    refused(lambda: desk.read(content, schema), "E-ID", "column i", "1 empty", "1 repeated")
    assert desk.read("i,b\nQZX7741,1\nx,2\n", schema).names == ("b",)


def test_values_that_do_not_suit_their_column_are_counted(desk: Desk) -> None:
    whole = Schema([Column("a", "count"), Column("b", "count")])
    refused(
        lambda: desk.read("a,b\n774199.25,1\n774199.25,1\n3,2\n", whole), "E-WHOLE", "column a", "2 cells"
    )
    refused(lambda: desk.read("a,b\nQZX7741,1\n3,2\n", whole), "E-NUMBER", "column a", "1 cells")
    narrow = Schema([Column("a", "count", bounds=(0, 10)), Column("b", "count")])
    refused(lambda: desk.read("a,b\n7741991,1\n-3,2\n", narrow), "E-BOUNDS", "column a", "2 values")
    refused(lambda: table({"a": [date(2020, 1, 1)], "b": [1]}, whole), "E-NUMBER", "column a", "1 cells")
    dates = Schema([Column("a", "date")])
    refused(lambda: table({"a": [7741991]}, dates), "E-DATE", "column a", "1 cells")
    moment = [datetime(2020, 1, 1, 7, 41, tzinfo=UTC)]
    refused(lambda: table({"a": moment}, dates), "E-DATE", "column a", "1 cells")
