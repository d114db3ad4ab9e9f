"""Tables of databases: a real SQLite file, and a real PostgreSQL server that these tests start.

Write a test here for what a database gives; what it must never give away is at the end.
"""

from __future__ import annotations

import sqlite3
import tomllib
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.servers import PASSWORD, Server, postgresql

from stead.cli.main import execute
from stead.errors import SteadError, UsageError
from stead.studies.plan import load
from stead.tables.addresses import holds_password, shown, without_credentials
from stead.tables.files import read
from stead.tables.sources import Data

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stead.tables.records import Records

pytestmark = pytest.mark.filterwarnings("ignore::stead.errors.Notice")
PLANTED = ("Qorvenbach", "918273.645", "8123456789012347")


def cells(records: Records, name: str) -> list[Any]:
    column, held = records.schema[name], records[name]
    plain = [column.levels[value] for value in held.values] if column.coded else held.values.tolist()
    return [value if present else None for value, present in zip(plain, held.present, strict=True)]


def refused(call: Any, code: str, *says: str) -> SteadError:
    with pytest.raises(SteadError) as caught:
        call()
    error = caught.value
    assert error.code == code, str(error)
    for word in says:
        assert word in str(error)
    behind: BaseException | None = error
    told = ["".join(line for line in traceback.format_exception(error) if not line.startswith("  "))]
    while behind is not None:
        told += [str(behind), repr(behind)]
        behind = behind.__context__
    assert not any(value in text for text in told for value in (*PLANTED, PASSWORD)), code
    return error


# ---- SQLite -----------------------------------------------------------------------------------------

AWKWARD = 'we"ird; DROP TABLE people; --'


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "survey data.db"
    quoted = '"' + AWKWARD.replace('"', '""') + '"'
    with sqlite3.connect(path) as connection:
        connection.execute(
            'CREATE TABLE people (id INTEGER PRIMARY KEY, income, kids INTEGER, share REAL, "home town" TEXT, born DATE, answer, photo BLOB)'
        )
        rows = [
            (i, i * 1.5 if i % 2 else i, i % 4, None if i < 1100 else i / 8, ("North", "Süd")[i % 2], f"19{50 + i % 40}-02-1{i % 10}",
             "refused" if i % 50 == 0 else i / 3, None)
            for i in range(1, 1501)
        ]  # fmt: skip
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute(f'CREATE TABLE {quoted} ("se""lect" INTEGER, "b;c" TEXT)')
        connection.executemany(f"INSERT INTO {quoted} VALUES (?, ?)", [(1, "x"), (2, "y")])  # noqa: S608 - ours
        connection.execute("CREATE VIEW grown AS SELECT id, kids FROM people WHERE id > 10")
    connection.close()
    return path


def test_a_table_of_sqlite(database: Path) -> None:
    """A column may change its type below the first batch of a driver, and numbers among texts keep all their digits."""
    before = database.read_bytes()
    records = read(
        f"sqlite:///{database}", table="people", missing={"answer": "refused"}, categorical=["home town"]
    )
    assert records.rows == 1500
    assert records["id"].values.dtype == np.int64
    assert cells(records, "income")[:4] == [1.5, 2.0, 4.5, 4.0]
    assert records["share"].gaps == 1099
    assert cells(records, "share")[1499] == 187.5
    assert records.schema["home town"].levels == ("North", "Süd")
    assert records.schema["born"].kind == "date"
    answers = [None if i % 50 == 0 else i / 3 for i in range(1, 1501)]
    assert cells(records, "answer") == answers  # to the last bit
    assert (records["answer"].missing == 1).sum() == 30
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == [database.name]


def test_a_database_is_named_by_its_ending_too_and_needs_a_table(database: Path) -> None:
    assert read(database, table="grown").rows == 1490
    error = refused(lambda: read(database), "E-TABLE-NAME", "name a table", "grown", "people")
    assert isinstance(error, UsageError)
    refused(lambda: read(database, table="peple"), "E-TABLE-NAME", "did you mean people?")
    refused(lambda: read(database, table="people", query="SELECT 1"), "E-TABLE-NAME", "not both")


def test_names_are_quoted(database: Path) -> None:
    records = read(database, table=AWKWARD)
    assert records.names == ('se"lect', "b;c")
    assert cells(records, "b;c") == ["x", "y"]
    assert read(database, table="grown").rows == 1490
    for wrong in ("people; DROP TABLE people", 'people" --', "people WHERE 0", "sqlite_master"):
        refused(lambda wrong=wrong: read(database, table=wrong), "E-TABLE-NAME")


def test_a_query_is_a_select_and_nothing_else(database: Path, tmp_path: Path) -> None:
    found = read(
        database,
        query="SELECT kids AS children, count(*) AS n FROM people GROUP BY 1 ORDER BY 1 -- in order\n;",
    )
    assert cells(found, "children") == [0, 1, 2, 3]
    assert cells(found, "n") == [375] * 4
    for query in (
        "DELETE FROM people", "DROP TABLE people", "SELECT 1; DROP TABLE people", f"ATTACH '{tmp_path / 'x.db'}' AS x",
        f"VACUUM INTO '{tmp_path / 'x.db'}'", "PRAGMA writable_schema = 1", "SELECT Qorvenbach FROM people", "",
        "SELECT load_extension('x')", "INSERT INTO people (id) VALUES (9999) RETURNING id",
    ):  # fmt: skip
        refused(lambda query=query: read(database, query=query), "E-QUERY" if query else "E-TABLE-NAME")
    assert read(database, table="grown").rows == 1490
    assert [path.name for path in tmp_path.iterdir()] == [database.name]


def test_two_columns_of_one_name_are_refused(database: Path) -> None:
    refused(lambda: read(database, query="SELECT id, kids, id FROM people"), "E-NAME-TWICE", "id", "AS")
    assert read(database, query='SELECT id AS "a", kids AS "b:1" FROM people').names == ("a", "b:1")


def test_the_three_slashes_of_an_address(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for address in (f"sqlite:///{database}", f"sqlite:///{database.name}", f"sqlite://{database}"):
        assert read(address, table="grown").rows == 1490
    refused(lambda: read("sqlite:///none.db", table="grown"), "E-FILE", "none.db")
    refused(lambda: read(f"sqlite://{database.name}", table="people"), "E-ADDRESS")
    assert not (tmp_path / "none.db").exists()
    nested = tmp_path / str(database).lstrip("/")
    nested.parent.mkdir(parents=True)
    nested.write_bytes(database.read_bytes())
    refused(lambda: read(f"sqlite://{database}", table="people"), "E-ADDRESS", "twice")


def test_a_plan_of_a_database_runs(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"sqlite:///{database}"
    query = "SELECT id, share + 1 AS share, kids FROM people WHERE share IS NOT NULL"
    assert execute(["init", address, "--query", query]) == 0
    plan = tomllib.loads((tmp_path / "stead.toml").read_text(encoding="utf-8"))
    assert plan["data"] == {"file": f"sqlite:///{database.name}", "query": query}
    assert execute(["init", str(database), "--table", "people", "--force"]) == 0
    plan = tomllib.loads((tmp_path / "stead.toml").read_text(encoding="utf-8"))
    assert plan["data"] == {"file": database.name, "table": "people"}
    assert load(tmp_path / "stead.toml").source.load().rows == 1500
    assert execute(["init", address, "--query", query, "--force"]) == 0
    assert execute(["check", str(tmp_path / "stead.toml")]) == 0
    assert execute(["run", str(tmp_path / "stead.toml"), "--workers", "1"]) == 0
    written = (tmp_path / "stead-output" / "internal" / "assessment.json").read_text(encoding="utf-8")
    assert "a query" in written
    assert "IS NOT NULL" not in written
    assert read(tmp_path / "stead-output" / "public" / "synthetic-1.csv").rows == 401
    capsys.readouterr()


def test_table_is_for_databases(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    refused(lambda: read(tmp_path / "a.csv", table="people"), "E-TABLE-NAME", "a.csv")
    refused(
        lambda: read("mysql://someone:secret@host/db", table="people"), "E-FILE-TYPE", "mysql", "postgresql"
    )


# ---- PostgreSQL -------------------------------------------------------------------------------------

PEOPLE = 'Peo"ple'
MAKE = """
CREATE SCHEMA survey;
CREATE TYPE size AS ENUM ('small', 'medium', 'large');
CREATE TABLE survey."Peo""ple" (
    small smallint, whole bigint, price numeric(12,2), share double precision, town text, code char(4), ok boolean, born date,
    seen timestamp, met timestamptz, at time, id uuid, more jsonb, size size, photo bytea);
INSERT INTO survey."Peo""ple" SELECT
    i % 3, 9007199254740993 + i, i + 0.25, i / 8.0, 'Süd', 'ab', i % 2 = 0, date '1950-02-28' + i,
    timestamp '2020-01-01 10:00' + i * interval '1 hour', '2020-01-01 10:00+02', '10:00', gen_random_uuid(), '{}', 'large', '\\x00'
    FROM generate_series(1, 60) AS i;
INSERT INTO survey."Peo""ple" DEFAULT VALUES;
CREATE TABLE public.people AS SELECT i AS number, i * 1.5 AS share FROM generate_series(1, 100) AS i;
CREATE VIEW survey.some AS SELECT number FROM people WHERE number > 50;
CREATE TABLE public.dates AS SELECT date 'infinity' AS d, 1 AS i;
CREATE TABLE public.texts AS SELECT 'Qorvenbach'::text AS t;
CREATE ROLE guest LOGIN PASSWORD 'other-Grumpf';
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgresql() as started:
        started.run(MAKE)
        yield started


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


@pytest.mark.usefixtures("password")
def test_a_table_of_postgresql(server: Server) -> None:
    refused(lambda: read(server.address(), table=f"survey.{PEOPLE}"), "E-CELL-TYPE", "column photo", "bytes")
    listed = "small, whole, price, share, town, code, ok, born, seen, met, at, id, more, size"
    query = f'SELECT {listed} FROM survey."Peo""ple"'  # noqa: S608 - ours
    records = read(server.address(), query=query, categorical=["town", "at"])
    assert records.rows == 61
    assert cells(records, "whole")[0] == 9007199254740994
    assert records.schema["price"].decimals == 2
    assert cells(records, "price")[:2] == [1.25, 2.25]
    assert (records.schema["ok"].levels, records.schema["size"].levels) == ((False, True), ("large",))
    assert (records.schema["code"].levels, records.schema["at"].levels) == (("ab",), ("10:00:00",))
    assert cells(records, "born")[0] == np.datetime64("1950-03-01").astype(int)
    assert (records.schema["seen"].unit, cells(records, "met")[0]) == ("second", 1577865600)
    assert records.schema["id"].role == "drop"
    assert all(records[name].missing[60] == -1 for name in records.names)


@pytest.mark.usefixtures("password")
def test_tables_of_postgresql_by_name(server: Server) -> None:
    address = server.address()
    assert read(address, table="people").rows == 100
    assert read(address, table="public.people").rows == 100
    assert read(address, table="survey.some").rows == 50
    refused(lambda: read(address, table="some"), "E-TABLE-NAME", "survey.some")
    refused(lambda: read(address), "E-TABLE-NAME", "people")
    for wrong in ("people; DROP TABLE people", "people, texts", "pg_catalog.pg_authid"):
        refused(lambda wrong=wrong: read(address, table=wrong), "E-TABLE-NAME")
    refused(lambda: read(address, table="dates"), "E-DATE", "column d", "1 dates are infinite")


@pytest.mark.usefixtures("password")
def test_postgresql_is_only_read(server: Server, tmp_path: Path) -> None:
    address = server.address()
    for query in (
        "DELETE FROM people", "SELECT 1; DELETE FROM people", "WITH x AS (DELETE FROM people RETURNING 1) SELECT * FROM x",
        "SET TRANSACTION READ WRITE", "COMMIT", f"COPY people TO '{server.folder / 'stolen'}'", "SELECT nextval('none')",
        "SELECT set_config('transaction_read_only', 'off', false)", "SELECT 'Qorvenbach'::text::int", "SELECT Qorvenbach",
        "SELECT number FROM people) AS a; DELETE FROM people; SELECT * FROM (SELECT 1",
    ):  # fmt: skip
        refused(lambda query=query: read(address, query=query), "E-QUERY", "PostgreSQL refused")
    assert read(address, table="people").rows == 100
    assert not (server.folder / "stolen").exists()
    assert (
        read(address, query="SELECT lo_create(77)::int AS a").rows == 1
    )  # a function with an effect: it is never committed
    assert cells(read(address, query="SELECT count(*) AS n FROM pg_largeobject_metadata"), "n") == [0]
    refused(lambda: read(address, query="SELECT 1 AS a, 2 AS a"), "E-NAME-TWICE")
    refused(lambda: read(address, query="SELECT 1 AS a WHERE false"), "E-NO-ROWS")


def test_passwords_come_from_libpq_and_go_nowhere(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("PGPASSWORD", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    refused(lambda: read(server.address(), table="people"), "E-DATABASE", "PGPASSFILE")
    inside = server.address().replace("owner@", f"owner:{PASSWORD}@")
    option = f"{server.address()}&password={PASSWORD}"
    for address in (inside, option):
        assert read(address, table="people").rows == 100
        assert PASSWORD not in repr(Data(address, table="people"))
        refused(
            lambda address=address: read(address, table="peple"),
            "E-TABLE-NAME",
            "postgresql:///postgres, table peple",
        )
        assert execute(["init", address, "--table", "people"]) == 2
        assert execute(["init", address, "--tabel", "people"]) == 2
        assert execute(["run", "a", "b", address]) == 2
    wrong = inside.replace(PASSWORD, PASSWORD[::-1])
    assert PASSWORD[::-1] not in str(refused(lambda: read(wrong, table="people"), "E-DATABASE"))
    assert not (tmp_path / "stead.toml").exists()
    told = "".join(capfd.readouterr())
    assert PASSWORD not in told
    assert "E-PASSWORD" in told
    keys = tmp_path / "keys"
    keys.write_text(f"*:*:*:owner:{PASSWORD}\n", encoding="utf-8")
    keys.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(keys))
    assert read(server.address(), table="people").rows == 100
    monkeypatch.setenv("PGPASSWORD", "other-Grumpf")
    refused(lambda: read(server.address("guest"), table="people"), "E-DATABASE", "42501")


@pytest.mark.usefixtures("password")
def test_a_plan_of_a_server_runs_and_holds_no_password(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert execute(["init", server.address(), "--table", "people"]) == 0
    written = (tmp_path / "stead.toml").read_text(encoding="utf-8")
    assert tomllib.loads(written)["data"] == {"file": server.address(), "table": "people"}
    assert execute(["check"]) == 0
    assert execute(["run", "--workers", "1"]) == 0
    assessed = (tmp_path / "stead-output" / "internal" / "assessment.json").read_text(encoding="utf-8")
    assert "postgresql:///postgres, table people" in assessed
    assert str(server.folder) not in assessed
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes(), path
    with_password = written.replace("owner@", f"owner:{PASSWORD}@")
    (tmp_path / "stead.toml").write_text(with_password, encoding="utf-8")
    refused(lambda: load(tmp_path / "stead.toml"), "E-PASSWORD", "PGPASSFILE")
    assert execute(["check"]) == 2
    assert PASSWORD not in "".join(capfd.readouterr())


# ---- addresses, without any server ------------------------------------------------------------------

SECRET = "s3cr3t"


@pytest.mark.parametrize(
    ("address", "place"),
    [
        (f"postgresql://u:{SECRET}@host:5432/db?sslmode=require", "postgresql://host:5432/db"),
        (f"postgres://u:{SECRET}@host", "postgresql://host"),
        (f"POSTGRESQL://u:{SECRET}%2Fx@[::1]:5432/db", "postgresql://[::1]:5432/db"),
        (f"postgresql://u@host/db?a=1&PassWord={SECRET}@x/y?z", "postgresql://host/db"),
        (f"postgresql:///db?host=/tmp&user=u&sslpassword={SECRET}", "postgresql:///db"),
        (f"postgresql://u:{SECRET}?x@host/db", "postgresql://host/db"),
        (f"postgresql://u:{SECRET}@one:1,two:2/db", "postgresql://one:1,two:2/db"),
    ],
)
def test_an_address_is_shown_without_credentials(address: str, place: str) -> None:
    assert shown(address) == place
    assert holds_password(address)
    data = Data(address, table="people")
    assert SECRET not in f"{data} {data!r} {data.name} {data.title}"
    assert SECRET not in str(refused(data.require_no_password, "E-PASSWORD"))


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://u:{SECRET}/x@host/db", f"postgresql://u:p@{SECRET}@host/db", f"postgresql://u:{SECRET}",
        f"postgresql://u:{SECRET} x@host/db b@", f"postgresql://host/{SECRET}@x/y",
    ],
)  # fmt: skip
def test_an_address_that_does_not_parse_is_not_shown(address: str) -> None:
    assert shown(address) == "postgresql"
    error = refused(lambda: read(address, table="people"), "E-ADDRESS", "%40")
    assert SECRET not in str(error)
    assert SECRET not in repr(Data(address))


@pytest.mark.parametrize(
    "path", [f"postgresql:/u:{SECRET}@host/db", f"postgresql:u:{SECRET}@host", f"mysql://u:{SECRET}@host/db"]
)
def test_a_mistyped_address_is_not_shown_either(
    path: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        read(path, table="people")
    assert SECRET not in str(caught.value)
    assert SECRET not in without_credentials(f"Unknown: {path} and more")
    assert execute(["init", path, "--table", "people", "--output", str(tmp_path / "stead.toml")]) == 2
    assert SECRET not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    "address", ["postgresql://u@host/db", "postgresql:///db?host=/tmp", "postgresql://u:@host/db?passfile=/x"]
)
def test_addresses_without_a_password(address: str) -> None:
    assert not holds_password(address.replace("u:@", "u@").split("?passfile")[0])


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "5")
    refused(
        lambda: read(f"postgresql://u:{SECRET}@127.0.0.1:1/db", table="t"),
        "E-DATABASE",
        "postgresql://127.0.0.1:1/db",
        "port",
    )


def test_without_a_driver_the_extra_is_named(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for module in (
        "adbc_driver_sqlite",
        "adbc_driver_sqlite.dbapi",
        "adbc_driver_postgresql",
        "adbc_driver_postgresql.dbapi",
    ):
        monkeypatch.setitem(sys.modules, module, None)
    refused(lambda: read(database, table="people"), "E-EXTRA", "stead[io]")
    refused(lambda: read("postgresql://host/db", table="people"), "E-EXTRA", "stead[io]")
