"""Canaries: fifty values that occur nowhere else are planted in a file; no command may let one out.

Write a test here for a way out: a stream, a file, an encoding, a fault whose message could quote a cell.
What may hold confidential values is listed once, in `ALLOWED`; all else that a command leaves is searched.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct
import subprocess
import sys
import zlib
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pytest

from stead.cli.main import execute
from stead.models.linear import Linear
from stead.sampling.diagnostics import Diagnostics
from stead.studies import run as running
from stead.tables.files import read
from stead.tables.scan import scan
from stead.tables.sources import Data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ROWS = 320
IDS = tuple(f"ÜQ-{k}-zyxa" for k in (71_993, 71_994, 82_377, 93_119, 10_477))
TEXTS = (
    "Called at nine, dog named Quixzette",
    "moved to Ørvlandsby in spring",
    "refuses <b>everything</b> & says 'qzzk'",
    '=HYPERLINK("http://qqvx.example")',
    "sister of Zebulonka, see her form",
    "lives above the Xyzzlemarkt",
    "🦒 keeper at the Qwolf zoo",
    "line one\nline two Vuxhall",
)
LEVELS = ("Quarvik harbour pilot", "Zwölfkrug glazier", "a|b;c Yttrix smith", "Xantippe's aide")
WORDS = ("not told: wuxbl", "refused (vyq)")
TOWNS = ("Grzmotowo Dolne", "Ųžkalniai-Q", "São Xopoto", "Qaanaaqqi", "Blåvrkjd", "Zzyzxville")
NUMBERS = (
    918273.645, 827364.519, 736451.928, 645192.837, 519283.746, 192837.465, 283746.591,
    374659.182, 465918.273, 591827.364, 918.273645, 827.364519, 736.451928,
)  # fmt: skip
WHOLE = tuple(8_123_456_789_012_347 + 10_000_019 * k for k in range(6)) + tuple(
    73_519_284_601_937 + 918_273_641 * k for k in range(6)
)
PLANTED: tuple[str | int | float, ...] = (*IDS, *TEXTS, *LEVELS, *WORDS, *TOWNS, *NUMBERS, *WHOLE)
SYNTHESIZED = {*NUMBERS, *WHOLE}
RELEASED = {*LEVELS, *TOWNS, *WORDS}
"""Levels of columns that are kept are released by design, and so is a code for missing that the plan declares."""
ALLOWED = re.compile(r"(^|/)(survey[^/]*|[^/]*\.toml|internal/release/[^/]+)$")


# ---- the planted file -------------------------------------------------------------------------------


def survey() -> list[list[str]]:
    """The header and 320 rows, the planted values among them."""
    random = np.random.default_rng(50)
    income = [f"{value:.6f}" for value in np.exp(random.normal(10.3, 0.9, ROWS))]
    assets = [str(int(value)) for value in np.exp(random.normal(33.5, 1.5, ROWS))]
    spent = [f"{value:.2f}" for value in np.exp(random.normal(8.0, 0.5, ROWS))]
    job = [["clerk", "nurse", "driver", "teacher"][code] for code in random.integers(0, 4, ROWS)]
    town = [["North", "South"][code] for code in random.integers(0, 2, ROWS)]
    person = [f"P{place:05d}" for place in range(ROWS)]
    remark = [f"spoke for {place} minutes, then rang off" for place in range(ROWS)]
    born = [f"19{random.integers(30, 99)}-0{random.integers(1, 9)}-1{random.integers(0, 9)}" for _ in job]
    plant = iter(random.permutation(ROWS))
    for column, values in (
        (income, [f"{value:.6f}" for value in NUMBERS]),
        (assets, map(str, WHOLE)),
        (job, LEVELS),
        (town, TOWNS),
        (person, IDS),
        (remark, TEXTS),
        (income, WORDS * 3),
    ):
        for value in values:
            column[next(plant)] = value
    names = ["person", "remark", "born", "job", "town", "income", "assets", "spent"]
    rows = zip(person, remark, born, job, town, income, assets, spent, strict=True)
    return [names, *(list(row) for row in rows)]


def text_of(rows: list[list[str]]) -> str:
    return "".join(
        ",".join('"' + cell.replace('"', '""') + '"' if re.search(r'[",\n]', cell) else cell for cell in row)
        + "\n"
        for row in rows
    )


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the planted file, which is the working directory and the place of temporary files."""
    (tmp_path / "survey.csv").write_text(text_of(survey()), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


# ---- the scanner ------------------------------------------------------------------------------------


def shapes(value: str | float) -> set[bytes]:
    """The bytes that would show a value: as text, as JSON, as HTML, as UTF-16, a number as a float and as an int too."""
    if isinstance(value, str):
        texts = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
        texts |= {value.encode("unicode_escape").decode(), repr(value)[1:-1], value.replace('"', '""')}
        texts |= {escape(value), escape(value).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")}
        texts |= {word for word in value.split() if len(word) > 4 and set(word.lower()) & set("qxz")}
        packed = set()
    else:
        texts = {f"{value}", f"{value:,}", f"{value:.8g}", f"{value:.6f}", f"{value:,.2f}", f"{value:,.3f}"}
        packed = {struct.pack(order + "d", value) for order in "<>"}
        packed |= {struct.pack(order + "q", value) for order in "<>" if isinstance(value, int)}
    return packed | {text.encode(code) for text in texts for code in ("utf-8", "utf-16-le", "utf-16-be")}


SHAPES = {value: shapes(value) for value in PLANTED}


def layers(data: bytes, deeper: int = 2) -> Iterator[bytes]:
    """The bytes, and what they hold in base64 (begun at any of its four places), gzip or zlib."""
    yield data
    if not deeper:
        return
    for run in re.findall(rb"[A-Za-z0-9+/_-]{12,}", data):
        plain = run.translate(bytes.maketrans(b"-_", b"+/"))
        for start in range(4):
            part = plain[start:]
            yield from layers(base64.b64decode(part[: len(part) // 4 * 4] + b""), 0)
            if start == 0:
                yield from layers(
                    base64.b64decode(part + b"=" * (-len(part) % 4)) if len(part) % 4 != 1 else b"",
                    deeper - 1,
                )
    for head, window in ((b"\x1f\x8b\x08", 31), (b"x\x9c", 15), (b"x\xda", 15)):
        for found in re.finditer(re.escape(head), data):
            with suppress(zlib.error):
                yield from layers(zlib.decompressobj(window).decompress(data[found.start() :]), deeper - 1)


def found(data: bytes | str) -> set[str | int | float]:
    """The planted values that show in some bytes."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    whole = b"\n|\n".join(layers(raw))
    return {value for value, some in SHAPES.items() if any(shape in whole for shape in some)}


def leaks(folder: Path, *streams: str) -> dict[str, set[str | int | float]]:
    """What shows where it may not: streams, and every file below a folder but those that are allowed to hold it."""
    seen = {f"stream {number}": found(text) for number, text in enumerate(streams)}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        seen[f"name {name}"] = found(name)
        if path.is_file() and not ALLOWED.search(name):
            seen[name] = found(path.read_bytes()) - (RELEASED if "/public/" in f"/{name}" else set())
    return {where: values for where, values in seen.items() if values}


class Shell:
    """Runs commands and keeps all that they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys, self.printed = capsys, list[str]()

    def __call__(self, *arguments: str) -> int:
        code = execute(arguments)
        out, err = self.capsys.readouterr()
        assert "Traceback" not in err
        if "--json" in arguments:
            json.loads(out)  # one document and nothing else
        self.printed += [out, err]
        return code


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


# ---- the scanner is not blind -----------------------------------------------------------------------


def test_fifty_different_values_are_planted_and_the_file_holds_them(place: Path) -> None:
    assert len(PLANTED) == len({str(value) for value in PLANTED}) == 50
    assert found((place / "survey.csv").read_bytes()) == set(PLANTED)


@pytest.mark.parametrize("value", PLANTED, ids=range(50))
def test_the_scanner_finds_each_value_in_each_encoding(value: str | float) -> None:
    text = value if isinstance(value, str) else f"{value}"
    codes = ["utf-8", "utf-16-le", "utf-16-be", "utf-16"]
    whole = [text.encode(code) for code in codes]
    if not isinstance(value, str):
        whole += [struct.pack("<d", value), struct.pack(">d", value), np.array([1.5, value, 2.5]).tobytes()]
        whole += [f"{value:,}".encode()]
    for plain in whole:
        for before in (b"", b"x", b"ab", b"#?!"):
            data = before + plain + b"tail"
            assert value in found(b" " + data)
            assert value in found(b'{"bdata": "' + base64.b64encode(data) + b'"}')
            assert value in found(b"<p>" + base64.urlsafe_b64encode(data) + b"</p>")
        assert value in found(b"head" + gzip.compress(plain * 2))
        assert value in found(b'"' + base64.b64encode(gzip.compress(plain * 2)) + b'"')
    assert value in found(json.dumps({"text": value}))
    assert value in found(f"ValueError: bad cell {value!r} in row 7")


def test_the_scanner_is_silent_where_nothing_is_planted() -> None:
    random = np.random.default_rng(1)
    assert found(base64.b64encode(random.bytes(100_000))) == set()
    assert found(random.bytes(100_000)) == set()
    assert found(json.dumps(np.round(random.normal(1e5, 1e5, 5000), 3).tolist())) == set()


# ---- the commands -----------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", [(), ("--json",)], ids=["text", "json"])
def test_no_planted_value_leaves_a_good_run(place: Path, shell: Shell, machine: tuple[str, ...]) -> None:
    assert shell("init", "survey.csv", *machine) == 0
    assert shell("check", *machine) == 0
    assert shell("run", "--repro-seed", "5", *machine) == 0
    assert leaks(place, *shell.printed) == {}
    release = place / "stead-output" / "internal" / "release"
    assert found(b"".join(path.read_bytes() for path in release.iterdir())) >= set(LEVELS)
    public = b"".join(path.read_bytes() for path in (place / "stead-output" / "public").iterdir())
    assert found(public) & set(PLANTED) <= RELEASED
    assert set(LEVELS) | set(TOWNS) <= found(public), "levels of kept columns are released as they are"
    plan = (place / "stead.toml").read_text(encoding="utf-8")
    assert "income" in plan
    assert {"person", "remark"}.isdisjoint(scan(Data("survey.csv", delimiter="", decimal="")).schema.carried)


def test_a_second_run_and_a_run_elsewhere_leave_nothing_either(place: Path, shell: Shell) -> None:
    shell("init", "survey.csv")
    for arguments in (
        ("--repro-seed", "5"),
        ("--repro-seed", "6", "--workers", "2"),
        ("-o", "else where", "--repro-seed", "7"),
    ):
        assert shell("run", *arguments) == 0
    assert leaks(place, *shell.printed) == {}


@pytest.mark.parametrize("machine", [(), ("--json",)], ids=["text", "json"])
def test_no_planted_value_leaves_the_measures_of_foreign_files(
    place: Path, shell: Shell, machine: tuple[str, ...]
) -> None:
    assert shell("init", "survey.csv") == 0
    assert shell("run", "--repro-seed", "5") == 0
    files = [str(path) for path in sorted((place / "stead-output" / "public").iterdir())]
    run = json.loads((place / "stead-output" / "internal" / "assessment.json").read_text(encoding="utf-8"))
    made = ("--synthesized", ",".join(run["release"]["synthesized"]))
    for more in (("--proper",), ("--plug-in", "--classifier", "cart")):
        assert shell("utility", "survey.csv", *files, *made, "--plan", "stead.toml", *more, *machine) == 0
    for wrong in (("--synthesized", "incom"), (*made, "--formula", "income ~ 1"), (*made, "--null", "nil")):
        assert shell("utility", "survey.csv", *files, "--plan", "stead.toml", *wrong, *machine) == 2
    assert leaks(place, *shell.printed) == {}


def put(column: int, value: str, row: int = 40) -> Callable[[list[list[str]]], str]:
    """The file with one cell changed."""

    def change(rows: list[list[str]]) -> str:
        rows[row][column] = value
        return text_of(rows)

    return change


def longer(rows: list[list[str]]) -> str:
    rows[9] = [*rows[9], TEXTS[0]]
    return text_of(rows)


def shorter(rows: list[list[str]]) -> str:
    rows[9] = [*rows[9][:3], LEVELS[0]]
    return text_of(rows)


def open_quote(rows: list[list[str]]) -> str:
    return text_of(rows[:100]) + f'"{IDS[0]} never closed\n' + text_of(rows[100:])


def ragged_to_the_end(rows: list[list[str]]) -> str:
    return text_of(rows[:1]) + text_of([[*row, WORDS[0]] for row in rows[1:]])


def every(column: int, values: Callable[[int], str]) -> Callable[[list[list[str]]], str]:
    """The file with a whole column changed."""

    def change(rows: list[list[str]]) -> str:
        for place, row in enumerate(rows[1:]):
            row[column] = values(place)
        return text_of(rows)

    return change


FAULTS: dict[str, tuple[Callable[[list[list[str]]], str], int]] = {
    "a longer row": (longer, 3),
    "a shorter row": (shorter, 3),
    "an open quote": (open_quote, 3),
    "a separator at the end of all rows": (ragged_to_the_end, 3),
    "a stray quote": (lambda rows: text_of(rows).replace("clerk", f'cl"{LEVELS[1]}', 1), 3),
    "a NUL": (lambda rows: text_of(rows).replace("clerk", f"{LEVELS[1]}\0", 1), 3),
    "text among numbers": (put(5, f"about {TEXTS[3]}"), 3),
    "text among whole numbers": (put(6, TEXTS[5]), 3),
    "a level that the plan does not list": (put(3, TEXTS[4]), 3),
    "a date in words": (put(2, f"born {NUMBERS[0]}"), 3),
    "a fraction among whole numbers": (put(6, f"{NUMBERS[2]}"), 3),
    "a whole number beyond 64 bits": (put(6, f"{WHOLE[0]}{WHOLE[1]}"), 3),
    "an infinite number": (put(5, f"{WHOLE[2]}e400"), 3),
    "a number that log() does not take": (put(5, f"-{NUMBERS[3]}"), 3),
    "no rows": (lambda rows: text_of(rows[:1]), 3),
    "few rows": (lambda rows: text_of(rows[:20]), 3),
    "a name twice": (lambda rows: text_of([[*rows[0][:-1], "income"], *rows[1:]]), 3),
    "a name that is a cell": (lambda rows: text_of([[*rows[0][:-1], "another"], *rows[1:]]), 3),
    "a constant column to model": (every(5, lambda _: f"{NUMBERS[1]}"), 3),
    "an empty column to model": (every(5, lambda _: ""), 3),
    "numbers written with words": (every(7, lambda place: f"{place}.5" if place % 2 else WORDS[0]), 3),
    "days and months in both orders": (every(2, lambda place: f"{place % 28 + 1}/{place % 12 + 1}/1971"), 3),
}


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_no_fault_of_the_file_quotes_a_cell(place: Path, shell: Shell, fault: str) -> None:
    assert shell("init", "survey.csv") == 0
    change, code = FAULTS[fault]
    (place / "survey.csv").write_text(change(survey()), encoding="utf-8")
    for machine in ((), ("--json",)):
        assert shell("check", *machine) == code
        assert shell("run", *machine) == code
        assert shell("init", "survey.csv", "--output", "again.toml", "--force", *machine) in {0, 2, 3}
    if (place / "again.toml").exists():
        assert shell("check", "again.toml") != 1
    assert leaks(place, *shell.printed) == {}


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le"])
def test_a_file_in_another_encoding_quotes_nothing(place: Path, shell: Shell, encoding: str) -> None:
    assert shell("init", "survey.csv") == 0
    (place / "survey.csv").write_bytes(text_of(survey()).encode(encoding, "replace"))
    assert shell("check") == shell("run") == 3
    assert shell("init", "survey.csv", "--force") == 3
    assert leaks(place, *shell.printed) == {}


PLANS: dict[str, tuple[str, str, int]] = {
    "a bound that values cross": ("[columns.income]", "[columns.income]\nhighest = 1000", 3),
    "a level left out": ('    "Grzmotowo Dolne",\n', "", 3),
    "an id that repeats": ("[columns.job]", '[columns.job]\nrole = "id"', 3),
    "a weight that is missing": ("[columns.income]", '[columns.income]\nrole = "weight"', 3),
    "a column that is not there": ("[columns.spent]", "[columns.spend]", 3),
    "a kind that does not fit": ("[columns.remark]", '[columns.why]\nkind = "count"\n[columns.remark]', 3),
    "a model of a column left behind": ("~ ", "~ remark + ", 2),
    "a formula that is none": ("~ ", "~ log(((", 2),
    "a setting that is none": ("[columns.town]", '[columns.town]\nlevel = ["Grzmotowo Dolne"]', 2),
    "a plan that is no TOML": ("[columns.town]", '[columns.town]\nlevels = ["Grzmotowo Dolne"', 2),
}


@pytest.mark.parametrize("fault", PLANS, ids=str)
def test_no_fault_of_the_plan_quotes_a_cell(place: Path, shell: Shell, fault: str) -> None:
    assert shell("init", "survey.csv") == 0
    old, new, code = PLANS[fault]
    plan = (place / "stead.toml").read_text(encoding="utf-8")
    assert old in plan
    (place / "stead.toml").write_text(plan.replace(old, new, 1), encoding="utf-8")
    for machine in ((), ("--json",)):
        assert shell("check", *machine) == code
        assert shell("run", *machine) == code
    assert leaks(place, *shell.printed) == {}


# ---- errors that nobody expected --------------------------------------------------------------------


def quoting(*_: object, **__: object) -> object:
    """An error as libraries raise it: with the cell in its message, in its notes and in its cause."""
    error = ValueError(f"could not convert string to float: {LEVELS[0]!r}, {NUMBERS[0]}")
    error.add_note(f"row: {IDS[0]}")
    raise error from KeyError(TEXTS[1])


@pytest.mark.parametrize("machine", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("name", ["synthesize", "read_confidential", "ecdf", "assessment", "write_plain"])
def test_an_unexpected_error_never_shows_its_message(
    place: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch, name: str, machine: tuple[str, ...]
) -> None:
    assert shell("init", "survey.csv") == 0
    monkeypatch.setattr(running, name, quoting)
    assert shell("run", *machine) == 1
    assert "a bug: ValueError at " in shell.printed[-1]
    assert leaks(place, *shell.printed) == {}


def test_a_failure_of_the_sampler_is_recorded_without_a_value(
    place: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shell("init", "survey.csv") == 0
    monkeypatch.setattr(Diagnostics, "problems", property(lambda _: ("R-hat is 2",)))
    assert shell("run") == shell("run", "--json") == 5
    assert (place / "stead-output/internal/failure.json").exists()
    assert leaks(place, *shell.printed) == {}


def with_chains(plan: Path) -> None:
    """A plan whose models have chains, on categories with planted levels and a response with planted codes."""
    text = plan.read_text(encoding="utf-8")
    models = (
        ("Logistic", "town2 ~ job"),
        ("Linear", "log(income) ~ job + town2"),
        ("Linear", "spent ~ job*town2"),
    )
    written = "".join(
        f'[[models]]\nmodel = "{name}"\nformula = "{formula}"\nprior = "flat"\n\n' for name, formula in models
    )
    written = written.replace('"town2 ~ job"\nprior = "flat"', '"town2 ~ job"\nprior = "weak"')
    start, end = text.index("[[models]]"), text.index("[measures]")
    plan.write_text(text[:start] + written + text[end:], encoding="utf-8")


def test_pictures_of_chains_and_checks_of_models_show_no_planted_value(
    place: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels of coefficients hold levels, cells of a check have bounds, a refusal has a table: none shows a value."""
    rows = survey()
    rows[0].append("town2")
    for number, row in enumerate(rows[1:]):
        row.append("north" if number % 3 else TOWNS[0])
    (place / "survey.csv").write_text(text_of(rows), encoding="utf-8")
    assert shell("init", "survey.csv") == 0
    with_chains(place / "stead.toml")
    assert shell("run", "--json") == 0, shell.printed
    content = json.loads(shell.printed[-2])
    pictured = {one["fit"] for one in content["samplers"]["aggregates"]["columns"]}
    assert {"town2", "income", "spent"} <= pictured
    checked = next(one for one in content["measured"] if one["name"] == "predictive check")
    assert set(checked["columns"]) == {"town2", "income", "spent"}
    seen = {
        where: values for where, values in leaks(place, *shell.printed).items() if "/public/" not in where
    }
    assert all(values <= {TOWNS[0]} for values in seen.values()), (
        "a level of a third of the rows has its share"
    )
    monkeypatch.setattr(Diagnostics, "problems", property(lambda _: ("R-hat is 2",)))
    assert shell("run") == shell("run", "--json") == 5
    failure = place / "stead-output" / "internal" / "failure.json"
    assert len(json.loads(failure.read_text(encoding="utf-8"))["fits"]) >= 4
    assert not found(failure.read_bytes())


NOISY = """
import logging, threading, warnings
from stead.cli.main import main
from stead.studies import run as running

cell = open("survey.csv", encoding="utf-8").read()
true = running.measure

class Loud:
    def __del__(self):
        raise ValueError(cell)

def fail():
    raise ValueError(cell)

def noisy(*arguments):
    warnings.warn(cell)
    logging.getLogger("some.library").error("cell %s", cell)
    logging.critical(cell)
    Loud()
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    return true(*arguments)

running.measure = noisy
main(["run", "--repro-seed", "3"])
"""


def test_what_libraries_warn_log_and_ignore_is_not_heard(place: Path) -> None:
    assert execute(["init", "survey.csv"]) == 0
    done = subprocess.run([sys.executable, "-c", NOISY], capture_output=True, check=False)
    assert done.returncode == 0
    assert b"measure: done" in done.stderr
    assert leaks(place, done.stdout.decode(), done.stderr.decode()) == {}


def test_no_object_shows_a_value(place: Path) -> None:
    seen = scan(Data("survey.csv", delimiter="", decimal=""))
    records = read(place / "survey.csv", seen.schema)
    posterior = Linear("log(income) ~ log(spent)").fit(records, draws=20, rng=1)
    shown = [
        repr(one) for one in (records, records.schema, posterior, posterior.draws.shape, records["income"])
    ]
    shown += [str(one) for one in (records, records.schema, posterior)]
    assert found("".join(shown)) == set()
