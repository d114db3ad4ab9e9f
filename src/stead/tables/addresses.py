"""Addresses of databases: sqlite:///people.db and postgresql://user@host:port/database, shown without credentials.

An address that does not parse is never shown: what looks like a host may be half of a password.
"""

from __future__ import annotations

import re
from pathlib import Path

from stead.errors import UsageError, shorten

SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+)://")
SERVER = re.compile(
    r"^(?i:postgres(?:ql)?)://"
    r"(?:[^@/:]*(?P<password>:[^@/]*)?@)?"  # a user, and a password that has no business here
    r"(?P<place>(?:[\w.%-]*|\[[0-9a-fA-F:.]+\])(?::\d*)?(?:,[\w.%-]+(?::\d*)?)*(?:/[\w.%-]*)?)"
    r"(?P<options>\?.*)?$"
)
SECRET_OPTION = re.compile(r"(?i)[?&][^=&]*passw[^=&]*=")
CREDENTIALS = re.compile(r"(?i)\b(postgres(?:ql)?:/*|[a-z][a-z0-9+.-]*://)\S*@")
OPTIONS = re.compile(r"(?i)\b(postgres(?:ql)?:[^\s?]*)\?\S*")
SQLITE, POSTGRESQL = "sqlite", ("postgresql", "postgres")


def scheme_of(text: str) -> str:
    """What stands before :// in an address; nothing for a path."""
    found = SCHEME.match(text)
    return found[1].lower() if found else ""


def shown(address: str) -> str:
    """The address of a server without user, password and options."""
    found = SERVER.match(address)
    return f"postgresql://{found['place']}" if found else "postgresql"


def require_server(address: str) -> None:
    """Refuse an address that does not say where the server is in one way."""
    if not SERVER.match(address):
        raise UsageError(
            "E-ADDRESS",
            "the address of the database is not one; it is written postgresql://user@host:port/database, "
            "and special characters in it as %40 for @, %2F for a slash",
        )


def holds_password(address: str) -> bool:
    """Whether a password stands in the address, before the host or among the options."""
    found = SERVER.match(address)
    return bool(found and (found["password"] or SECRET_OPTION.search(found["options"] or "")))


def without_credentials(text: str) -> str:
    """A message of another tool, in which addresses are cut down to server and database."""
    return OPTIONS.sub(r"\1", CREDENTIALS.sub(r"\1", text))


def sqlite_path(address: str, home: Path) -> Path:
    """The file of sqlite:///people.db: from `home`, or from the root where only that one is there; //// is always the root."""
    rest = address.split("://", 1)[1].split("?", 1)[0]
    if not rest.startswith("/"):
        raise UsageError(
            "E-ADDRESS",
            "an SQLite file is written sqlite:///people.db, or sqlite:////folder/people.db from the root",
        )
    below, above = home / rest.lstrip("/"), Path("/" + rest.lstrip("/"))
    if rest.startswith("//"):
        return above
    if below.exists() and above.exists() and below.resolve() != above.resolve():
        raise UsageError(
            "E-ADDRESS",
            f"{shorten(below.name)}: is there twice, from here and from the root; write the one from the root as sqlite:////",
        )
    return above if above.exists() else below
