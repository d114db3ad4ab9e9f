"""A PostgreSQL server of the tests' own: made, started, stopped and removed by them; nothing else on the machine is touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORD = "Xk7qvbn-Quorzel"


@dataclass(frozen=True)
class Server:
    """Where the server listens, and how to talk to it."""

    folder: Path
    binaries: Path

    @property
    def options(self) -> str:
        """A socket in a folder of ours: no port is taken, nobody else reaches it."""
        return f"host={self.folder}&port=5432"

    def address(self, user: str = "owner", database: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?{self.options}"

    def run(self, statements: str) -> None:
        """Run statements as the owner."""
        program = [str(self.binaries / "psql"), "-q", "-v", "ON_ERROR_STOP=1"]
        subprocess.run(
            [*program, "-h", str(self.folder), "-p", "5432", "-U", "owner", "postgres"],
            input=statements,
            env={**os.environ, "PGPASSWORD": PASSWORD},
            text=True,
            check=True,
            capture_output=True,
        )


def binaries() -> Path | None:
    """The folder with the programs of the newest PostgreSQL that is here."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda one: float(one.parent.name), reverse=True
    )
    whole = [
        place
        for place in places
        if all((place / name).is_file() for name in ("initdb", "pg_ctl", "psql", "postgres"))
    ]
    return whole[0] if whole else None


def unprivileged() -> list[str] | None:
    """What to put before a command so that it does not run as root; None where that cannot be done."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv"):
        return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    return ["runuser", "-u", "nobody", "--"] if shutil.which("runuser") else None


@contextmanager
def postgresql() -> Iterator[Server]:
    """A server with a password for its owner; skipped with the reason where there can be none."""
    programs, before = binaries(), unprivileged()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed (initdb and pg_ctl, in PATH or /usr/lib/postgresql)")
    if before is None:
        pytest.skip("a PostgreSQL server does not run as root, and neither setpriv nor runuser is here")
    folder = Path(tempfile.mkdtemp(prefix="stead-pg-", dir="/tmp"))  # a socket's path is short
    try:
        data, secret = folder / "data", folder / "secret"
        secret.write_text(PASSWORD, encoding="utf-8")
        if before:
            for place in (folder, secret):
                shutil.chown(place, "nobody")
        control = [*before, str(programs / "pg_ctl"), "-D", str(data), "-w", "-s"]
        _quiet(
            [
                *before,
                str(programs / "initdb"),
                "-D",
                str(data),
                "-U",
                "owner",
                "-A",
                "scram-sha-256",
                "-N",
                "-E",
                "UTF8",
                "--locale=C",
                f"--pwfile={secret}",
            ]
        )
        _quiet([*control, "-l", str(folder / "log"), "-o", f"-k {folder} -c listen_addresses='' -F", "start"])
        try:
            yield Server(folder, programs)
        finally:
            _quiet([*control, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _quiet(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
