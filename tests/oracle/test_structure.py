"""The parser of structure against Python's csv module in strict mode: it agrees, or it refuses.

Write a test here when two parsers of text are to be compared on generated files.
"""

from __future__ import annotations

import csv
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stead.errors import Notice, SteadError
from stead.tables import structure
from stead.tables.sources import Data

if TYPE_CHECKING:
    from stead.tables.structure import Structure

FILES = st.text(st.sampled_from('ab1é,;" \n\r'), max_size=30) | st.lists(
    st.sampled_from(["a", ",", '"', '""', "\n", "\r\n", "\r", ";", '"b"', "a,b\n", " "]), max_size=14
).map("".join)
CELLS = st.text(st.sampled_from('ab1é,;" \n\r\t'), max_size=6)
NAMES = ["a", "b c", 'say "d"', "two\nlines"]


def examined(text: str, delimiter: str = ",") -> Structure:
    data = np.frombuffer(text.encode(), np.uint8)
    return structure.examine(data, Path("t.csv"), delimiter)


def strictly(text: str, delimiter: str = ",") -> list[list[str]] | None:
    """The rows that the csv module reads, or None where it refuses."""
    try:
        return list(csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter))
    except csv.Error:
        return None


def expected_rows(rows: list[list[str]]) -> list[list[str]]:
    """A blank line is a missing cell in a file of one column, and nothing at the end of another."""
    if len(rows[0]) == 1:
        return [row or [""] for row in rows[1:]]
    while not rows[-1]:
        rows = rows[:-1]
    return rows[1:]


@given(text=FILES, delimiter=st.sampled_from(",;"))
@settings(max_examples=1500)
@example(text='a,b\n"x"\r\n', delimiter=",")
@example(text="a,b\r\r\n1,2", delimiter=",")
@example(text="a\n\n1\r\r\n\r", delimiter=",")
def test_it_refuses_or_agrees(text: str, delimiter: str) -> None:
    try:
        found = examined(text, delimiter)
    except SteadError:
        return
    rows = strictly(text, delimiter)
    assert rows is not None, "accepted what the csv module refuses"
    assert list(found.header) == rows[0]
    assert found.rows == len(expected_rows(rows))
    assert {len(row) for row in expected_rows(rows)} == {len(rows[0])}


@given(text=FILES)
@settings(max_examples=500)
def test_reading_agrees_cell_by_cell(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        try:
            table = Data(str(path)).load().table
            refusal = ""
        except SteadError as error:
            refusal = error.code
    assert refusal != "E-ROW-COUNT", "two parsers that should agree do not"
    if refusal:
        return
    rows = strictly(text)
    assert rows is not None
    if table.num_columns < len(rows[0]):  # row numbers are left out
        rows = [row[1:] for row in rows]
    assert [list(row.values()) for row in table.to_pylist()] == missing_as_none(expected_rows(rows))


@given(
    columns=st.integers(1, 4),
    cells=st.lists(CELLS, min_size=4, max_size=24),
    end=st.sampled_from(["\n", "\r\n", "\r", "only where needed"]),
    delimiter=st.sampled_from([",", ";", "\t"]),
    last_end=st.booleans(),
)
@settings(max_examples=500)
def test_what_the_csv_module_writes_is_read_back(
    tmp_path: Path, columns: int, cells: list[str], end: str, delimiter: str, last_end: bool
) -> None:
    # older csv modules leave a CR without quotes where only LF ends a line
    end, style = ("\r\n", csv.QUOTE_MINIMAL) if end == "only where needed" else (end, csv.QUOTE_ALL)
    rows = [cells[start : start + columns] for start in range(0, len(cells) - columns + 1, columns)]
    stream = io.StringIO(newline="")
    quoting: Any = style
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([NAMES[:columns], *rows])
    path = tmp_path / "t.csv"
    path.write_bytes((stream.getvalue() if last_end else stream.getvalue().removesuffix(end)).encode())
    table = Data(str(path), delimiter=delimiter).load().table
    assert table.column_names == NAMES[:columns]
    assert [list(row.values()) for row in table.to_pylist()] == missing_as_none(rows)


@given(text=FILES, chunk=st.integers(1, 7))
@settings(max_examples=700)
@example(text='a,b\r\n"x\r\n""y",1\r\n', chunk=1)
@example(text='a,b\n1,"x', chunk=3)
def test_the_answer_does_not_depend_on_the_chunks(text: str, chunk: int) -> None:
    whole = answer(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structure, "CHUNK", chunk)
        assert answer(text) == whole


@given(text=st.binary(max_size=12) | st.text(st.sampled_from("aé€🧑"), max_size=6).map(str.encode))
@settings(max_examples=300)
def test_utf8_is_recognised_whatever_the_chunks(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\n" + text)
    try:
        text.decode("utf-8")
        valid = True
    except UnicodeDecodeError:
        valid = False
    for chunk in (1, 2, 3, 5, 1 << 24):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(structure, "CHUNK", chunk)
            try:
                structure.load(path, "utf-8")
                accepted = True
            except SteadError:
                accepted = False
            assert accepted == valid


@pytest.mark.parametrize("chunk", [1, 2, 3, 4, 5, 7, 1 << 24])
def test_the_line_of_a_broken_letter_does_not_depend_on_the_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(structure, "CHUNK", chunk)
    path = tmp_path / "t.csv"
    for lines in range(4):
        path.write_bytes("€".encode() * 3 + b"\r\n" * lines + "€".encode() + b"\xff\n\n\n")
        with pytest.raises(SteadError, match=f"from line {lines + 1} on"):
            structure.load(path, "utf-8")


def answer(text: str) -> object:
    """What `examine` says, its bytes included, or its refusal word by word."""
    try:
        found = examined(text)
    except SteadError as error:
        return str(error)
    return (found.header, found.start, found.rows, found.blank, found.quoted_newlines, found.data.tobytes())


def missing_as_none(rows: list[list[str]]) -> list[list[str | None]]:
    return [[cell or None for cell in row] for row in rows]
