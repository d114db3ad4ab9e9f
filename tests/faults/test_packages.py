"""Faults of files of SPSS, Stata, SAS and SQLite, by their number: each is refused, and no message holds a cell or a label.

Write a test here for a way in which such a file can be wrong. Text, Parquet and dataframes are in `test_reading.py`.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING, Any

import polars as pl
import pyreadstat
import pytest
from tests.contract import sas
from tests.faults.test_reading import refused as refused_without

from stead.errors import InputRefused, SteadError
from stead.tables.files import read, table, write
from stead.tables.limits import EXPANSION, FREE, bearable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::stead.errors.Notice")
PLANTED = ("Qorvenbach", "Zwolfkrug", "918273.645", "7741991", "Xantippe", "Yttrix")
FRAME = pl.DataFrame(
    {
        "income": [918273.645, 7741991.0, *(float(k) for k in range(58))],
        "town": ["Qorvenbach", "Zwolfkrug", *("NS"[k % 2] for k in range(58))],
        "kids": [k % 4 for k in range(60)],
    }
)
LABELS: dict[str, Any] = {
    "column_labels": {"kids": "Children"},
    "variable_value_labels": {"kids": {0: "Xantippe", 1: "Yttrix"}},
}
ENDINGS = ("sav", "zsav", "dta", "xpt", "por", "sas7bdat", "db")


def refused(call: Callable[[], object], code: str, *says: str, usage: bool = False) -> SteadError:
    return refused_without(call, code, *says, values=PLANTED, usage=usage)


def put(folder: Path, ending: str) -> Path:
    """A good file of each kind."""
    path = folder / f"survey.{ending}"
    if ending in {"sav", "zsav"}:
        pyreadstat.write_sav(FRAME, path, compress=ending == "zsav", **LABELS)
    elif ending == "dta":
        pyreadstat.write_dta(FRAME, path, **LABELS)
    elif ending == "xpt":
        pyreadstat.write_xport(FRAME, path)
    elif ending == "por":
        pyreadstat.write_por(FRAME, path)
    elif ending == "sas7bdat":
        path = sas.put(folder, catalog=False)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE t (income REAL, town TEXT, kids INTEGER)")
            connection.executemany("INSERT INTO t VALUES (?, ?, ?)", FRAME.rows())
        connection.close()
    return path


def take(path: Path, **settings: Any) -> Any:
    return read(path, table="t" if path.suffix == ".db" else "", **settings)


def patched(path: Path, before: bytes, after: bytes) -> Path:
    data = path.read_bytes()
    assert before in data
    assert len(before) == len(after)
    path.write_bytes(data.replace(before, after))
    return path


# ---- 43: truncated, damaged, of another kind --------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_fault_43_a_truncated_file_is_refused(tmp_path: Path, ending: str) -> None:
    path = put(tmp_path, ending)
    assert take(path).rows == 60
    whole = path.read_bytes()
    for length in (len(whole) - 90, len(whole) // 2):
        path.write_bytes(whole[:length])
        refused(lambda: take(path), "E-FILE-BROKEN", path.name, "truncated")


def test_fault_43_a_transport_file_that_ends_between_two_rows_is_refused(tmp_path: Path) -> None:
    """Version 8 says how many rows it has; the header of version 5 does not."""
    path = tmp_path / "a.xpt"
    pyreadstat.write_xport(pl.DataFrame({f"x{k}": [float(j) for j in range(20)] for k in range(10)}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-400])  # five rows of 80 bytes
    refused(lambda: read(path), "E-FILE-BROKEN")


@pytest.mark.parametrize("ending", ENDINGS)
def test_fault_43_a_file_of_another_kind_is_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"survey.{ending}"
    path.write_bytes(b"town,income\nQorvenbach,918273.645\n" * 100)
    refused(lambda: take(path), "E-FILE-BROKEN", path.name)


@pytest.mark.parametrize("ending", ENDINGS)
def test_fault_23_an_empty_file_has_no_rows(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"survey.{ending}"
    path.write_bytes(b"")
    refused(lambda: take(path), "E-NO-ROWS", path.name)


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_fault_23_a_table_without_rows(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"survey.{ending}"
    writers: dict[str, Callable[..., None]] = {
        "sav": pyreadstat.write_sav,
        "dta": pyreadstat.write_dta,
        "xpt": pyreadstat.write_xport,
    }
    writers[ending](FRAME.head(0), path)
    refused(lambda: read(path), "E-NO-ROWS", path.name)


@pytest.mark.parametrize("ending", ["sav", "zsav", "dta", "xpt", "por", "sas7bdat"])
def test_flipped_bytes_end_in_a_refusal_or_in_records(tmp_path: Path, ending: str) -> None:
    """The parser crashes on some; here that is a file that is refused, and no other error is."""
    path = put(tmp_path, ending)
    whole = path.read_bytes()
    chance = random.Random(ending)  # noqa: S311 - not a secret
    for _ in range(2):
        broken = bytearray(whole)
        for _ in range(3):
            broken[chance.randrange(min(len(whole), 3000))] = chance.randrange(256)
        path.write_bytes(broken)
        told = ""
        try:
            read(path)
        except InputRefused as error:
            told = str(error)
        assert not any(value in told for value in PLANTED)


# ---- the process that parses ------------------------------------------------------------------------


def parser(folder: Path, body: str) -> None:
    """A library that takes the place of the real one in the child."""
    functions = "\n".join(
        f"def {name}(*a, **k):\n    {body}"
        for name in ("read_sav", "read_por", "read_dta", "read_xport", "read_sas7bdat", "read_sas7bcat")
    )
    (folder / "pyreadstat.py").write_text(f"import os, sys, warnings\n{functions}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("os.kill(os.getpid(), 11)", "E-FILE-BROKEN"),
        ("os._exit(0)", "E-FILE-BROKEN"),
        ("raise MemoryError", "E-SIZE"),
        ("x = bytearray(1 << 38)", "E-SIZE"),
        ("raise ValueError('Qorvenbach')", "E-FILE-BROKEN"),
        (
            "print('Qorvenbach'); os.write(1, b'Qorvenbach'); os.write(2, b'Qorvenbach'); raise KeyError('Qorvenbach')",
            "E-FILE-BROKEN",
        ),
        ("raise UnicodeDecodeError('utf-8', b'Qorvenbach', 0, 1, 'Qorvenbach')", "E-ENCODING"),
    ],
)
def test_a_parser_that_dies_or_talks_is_a_file_that_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], body: str, code: str
) -> None:
    path = put(tmp_path, "sav")
    parser(tmp_path, body)
    monkeypatch.syspath_prepend(str(tmp_path))
    refused(lambda: read(path), code, "survey.sav")
    assert "Qorvenbach" not in "".join(capfd.readouterr())


def test_without_the_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "sav")
    (tmp_path / "pyreadstat.py").write_text("raise ImportError('Qorvenbach')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    refused(lambda: read(path), "E-EXTRA", "survey.sav", "pip install 'stead[io]'", usage=True)
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    refused(lambda: write(table({"x": [1, 2]}), tmp_path / "a.dta"), "E-EXTRA", "stead[io]", usage=True)
    assert not (tmp_path / "a.dta").exists()


# ---- T13: bombs -------------------------------------------------------------------------------------


def claiming(data: bytes, rows: int) -> bytes:
    """An SPSS file whose header, and the extension for long files, claim some number of rows."""
    data = data[:80] + struct.pack("<i", rows) + data[84:]
    place = data.find(struct.pack("<iiii", 7, 16, 8, 2))
    return data if place < 0 else data[: place + 24] + struct.pack("<q", rows) + data[place + 32 :]


def bomb(folder: Path, rows: int, claimed: int) -> Path:
    """A .zsav of one column of ones: a byte a cell, packed a thousand times; written by the format's description."""
    path = folder / "bomb.zsav"
    pyreadstat.write_sav(pl.DataFrame({"x": [1.0]}), path, compress=True)
    data = path.read_bytes()
    start = data.index(struct.pack("<ii", 999, 0)) + 8  # the end of the dictionary
    head = claiming(data, claimed)[:start]
    size = 0x3FF000
    lengths = [min(size, rows - done) for done in range(0, rows, size)]
    blocks = {length: zlib.compress(bytes([101]) * length) for length in set(lengths)}
    places, unpacked, entries = start + 24, start, b""
    for length in lengths:
        entries += struct.pack("<qqii", unpacked, places, length, len(blocks[length]))
        unpacked, places = unpacked + length, places + len(blocks[length])
    trailer = struct.pack("<qqii", -100, 0, size, len(lengths)) + entries
    middle = struct.pack("<qqq", start, places, len(trailer))
    path.write_bytes(head + middle + b"".join(blocks[length] for length in lengths) + trailer)
    return path


MEMORY = """
import resource, sys
from pathlib import Path
from stead.errors import SteadError
from stead.tables.files import read
try:
    print(read(sys.argv[1]).rows)
except SteadError as error:
    print(error.code)
status = Path("/proc/self/status").read_text()  # what getrusage says of this process began in the one that started it
own = int(status.split("VmHWM:")[1].split()[0])
print(max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) // 1024)
"""


@pytest.mark.parametrize(
    ("claimed", "answer"), [(100_000, "100000"), (130_000_000, "E-SIZE"), (-1, "E-SIZE")]
)
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_threat_13_a_packed_gigabyte_is_refused_in_little_memory(
    tmp_path: Path, claimed: int, answer: str
) -> None:
    """130 million numbers are 1.04 GB and pack to some hundred kB; what a header claims, or does not, decides before any is read."""
    rows = max(claimed, 100_000) if claimed > 0 else 20_000_000
    path = bomb(tmp_path, rows, claimed)
    assert path.stat().st_size < 1_000_000
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=True
    )
    said, megabytes = done.stdout.split()
    assert said == answer
    assert int(megabytes) < 200


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_threat_13_a_header_that_claims_rows_that_are_not_there(tmp_path: Path, ending: str) -> None:
    path = put(tmp_path, ending)
    data = path.read_bytes()
    if ending == "dta":
        place = data.index(b"<N>") + 3
        path.write_bytes(data[:place] + struct.pack("<q", 2**31 - 2) + data[place + 8 :])
        refused(lambda: read(path), "E-FILE-BROKEN")
    else:
        path.write_bytes(claiming(data, 10**8))
        refused(lambda: read(path), "E-SIZE", "survey.sav", "without compression")


def test_threat_13_a_view_of_sqlite_that_never_ends(tmp_path: Path) -> None:
    path = put(tmp_path, "db")
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT * FROM n, (SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d, 5 AS e, 6 AS f, 7 AS g, 8 AS h, 9 AS i, 10 AS j, 11 AS k)"
        )
    connection.close()
    refused(lambda: read(path, table="endless"), "E-SIZE", "survey.db")


def test_what_is_bearable() -> None:
    assert bearable(0) == bearable(1_000_000) == FREE
    assert bearable(10_000_000) == 10_000_000 * EXPANSION < 1 << 30


# ---- 34, 35, 37: names ------------------------------------------------------------------------------


def test_fault_34_a_name_twice(tmp_path: Path) -> None:
    frame = pl.DataFrame({"first": [1, 2], "third": [3, 4], "second_duplicated1": [5, 6]})
    pyreadstat.write_dta(frame, tmp_path / "a.dta")
    assert read(tmp_path / "a.dta").names == tuple(frame.columns)
    path = patched(tmp_path / "a.dta", b"third\0", b"first\0")
    refused(lambda: read(path), "E-NAME-TWICE", "a.dta", "first", "1 column names")


def test_fault_35_an_empty_name(tmp_path: Path) -> None:
    pyreadstat.write_dta(pl.DataFrame({"first": [1, 2], "third": [3, 4]}), tmp_path / "a.dta")
    refused(lambda: read(patched(tmp_path / "a.dta", b"third\0", bytes(6))), "E-NAME-EMPTY", "column 2")


@pytest.mark.parametrize("name", ["~ + :", "<b>x</b>", "a'b\"c", "🦒é"])
def test_fault_37_names_are_taken_as_they_are(tmp_path: Path, name: str) -> None:
    pyreadstat.write_dta(
        pl.DataFrame({"first": [1, 2], "n" * len(name.encode()): [3, 4]}), tmp_path / "a.dta"
    )
    path = patched(tmp_path / "a.dta", b"n" * len(name.encode()) + b"\0", name.encode() + b"\0")
    assert read(path).names == ("first", name)
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute(f'CREATE TABLE t ("{name.replace(chr(34), chr(34) * 2)}" INTEGER)')
        connection.execute("INSERT INTO t VALUES (7)")
    connection.close()
    assert read(tmp_path / "a.db", table="t").names == (name,)


# ---- 10, 17: numbers and dates ----------------------------------------------------------------------


def test_fault_10_an_infinite_number_is_refused(tmp_path: Path) -> None:
    pyreadstat.write_sav(pl.DataFrame({"x": [1.5, float("inf"), 2.5]}), tmp_path / "a.sav")
    refused(lambda: read(tmp_path / "a.sav"), "E-INFINITE", "column x", "1 cells")


@pytest.mark.parametrize("number", [1e300, -1e15, 4e11])
def test_fault_17_a_number_that_is_no_date_is_refused(tmp_path: Path, number: float) -> None:
    pyreadstat.write_sav(
        pl.DataFrame({"d": [1e10, number]}), tmp_path / "a.sav", variable_format={"d": "DATE11"}
    )
    refused(lambda: read(tmp_path / "a.sav"), "E-DATE", "column d", "1 dates")


# ---- 20, 22: text -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["dta", "xpt"])
def test_fault_20_an_encoding_that_is_not_declared_is_asked_for(tmp_path: Path, ending: str) -> None:
    path, frame = tmp_path / f"a.{ending}", pl.DataFrame({"s": ["caf#", "tea", "caf#"], "n": [1, 2, 3]})
    if ending == "dta":
        pyreadstat.write_dta(frame, path, version=12)
    else:
        pyreadstat.write_xport(frame, path)
    patched(path, b"caf#", b"caf\xe9")
    refused(lambda: read(path), "E-ENCODING", "column s", "2 cells", 'encoding="latin-1"')
    assert read(path, encoding="latin-1").schema["s"].levels == ("café", "tea")
    refused(lambda: read(path, encoding="klingon"), "E-ENCODING", "klingon", usage=True)


def test_fault_20_half_a_letter_is_refused_and_not_dropped(tmp_path: Path) -> None:
    """The library itself reads "caf" here."""
    pyreadstat.write_sav(pl.DataFrame({"s": ["caf#", "tea"], "n": [1, 2]}), tmp_path / "a.sav")
    path = patched(tmp_path / "a.sav", b"caf#", b"caf\xc3")
    refused(lambda: read(path), "E-ENCODING", "column s", "1 cells")


def test_fault_22_a_nul_in_a_database_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE t (s TEXT)")
        connection.executemany("INSERT INTO t VALUES (?)", [("a",), ("Qorven\0bach",)])
    connection.close()
    refused(lambda: read(tmp_path / "a.db", table="t"), "E-NUL", "column s", "1 cells")


# ---- other ------------------------------------------------------------------------------------------


def test_fault_14_bytes_are_no_cells_and_the_column_is_named(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE t (s, n)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [("a", 1), (b"Qorvenbach", 2)])
    connection.close()
    refused(lambda: read(tmp_path / "a.db", table="t"), "E-CELL-TYPE", "column s", "bytes")
    assert read(tmp_path / "a.db", query="SELECT n FROM t").rows == 2


def test_a_missing_range_that_holds_too_much_is_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": [float(-k) for k in range(200)]})
    pyreadstat.write_sav(frame, tmp_path / "a.sav", missing_ranges={"x": [{"lo": -1000, "hi": -1}]})
    refused(lambda: read(tmp_path / "a.sav"), "E-MISSING-CODES", "column x", "199", "at most 100")


def test_long_texts_of_stata_are_left_behind(tmp_path: Path) -> None:
    """They are references into a heap, so that a small file could ask for endless memory; and they are free text."""
    frame = pl.DataFrame({"note": ["Qorvenbach " * 300, "x"], "n": [1, 2]})
    pyreadstat.write_dta(frame, tmp_path / "a.dta")
    assert read(tmp_path / "a.dta").names == ("n",)


def test_several_tables_in_a_transport_file_are_refused(tmp_path: Path) -> None:
    first = put(tmp_path, "xpt").read_bytes()
    (tmp_path / "two.xpt").write_bytes(first + first[240:])
    refused(lambda: read(tmp_path / "two.xpt"), "E-TABLES", "two.xpt", "2 tables")


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise pyreadstat.ReadstatError("Unable to write data")

    monkeypatch.setattr(pyreadstat, "write_sav", full)
    records = table({"x": [1, 2]})
    refused(lambda: write(records, tmp_path / "a.sav"), "E-FORMAT")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": 0}))
    with pytest.raises(SteadError, match="E-DISK-FULL"):
        write(records, tmp_path / "a.sav")
    assert list(tmp_path.iterdir()) == []
