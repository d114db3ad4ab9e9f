"""Where a data set lies and how it is read: a file by its ending, a table of a database by the scheme of its address.

The same settings are arguments of `read` and the section [data] of a plan. An address may hold a password while
a program runs; it is shown without, and a plan that holds one is refused.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stead.errors import UsageError, shorten
from stead.tables.addresses import (
    POSTGRESQL,
    SQLITE,
    holds_password,
    require_server,
    scheme_of,
    shown,
    sqlite_path,
    without_credentials,
)
from stead.tables.formats import FORMATS, format_of

if TYPE_CHECKING:
    from stead.tables.formats import Format
    from stead.tables.loaded import Loaded

IN_DATABASE = ("table", "query")


@dataclass(frozen=True, repr=False)
class Data:
    """A data set: `file` is a path or an address; a database needs `table` too, or a `query`."""

    file: str
    encoding: str = "utf-8"
    delimiter: str = ","
    decimal: str = "."
    table: str = ""
    query: str = ""

    @property
    def on_server(self) -> bool:
        """Whether the data lie in a database that is reached over a connection."""
        return scheme_of(self.file) in POSTGRESQL

    @property
    def path(self) -> Path:
        """The file; a database on a server has none."""
        return sqlite_path(self.file, Path()) if scheme_of(self.file) == SQLITE else Path(self.file)

    @property
    def name(self) -> str:
        """What messages and pages call it: no folder, no user, no password, no text of a query."""
        place = shown(self.file) if self.on_server else self.path.name
        part = f", table {shorten(self.table)}" if self.table else ", a query" if self.query else ""
        return f"{shorten(place)}{part}"

    @property
    def title(self) -> str:
        """What a study of it may be called."""
        return self.table or (self.name if self.on_server else self.path.stem)

    @property
    def folder(self) -> Path:
        """Where a plan for it belongs: beside the file."""
        return Path() if self.on_server else self.path.parent

    def load(self) -> Loaded:
        """All columns, as they come."""
        scheme = scheme_of(self.file)
        if scheme and scheme not in (SQLITE, *POSTGRESQL):
            raise UsageError(
                "E-FILE-TYPE",
                f"{shorten(scheme)}:// cannot be read; the addresses known are sqlite:// and postgresql://",
            )
        if self.on_server:
            from stead.tables.sql import read_postgresql

            require_server(self.file)
            return read_postgresql(self.file, self.table, self.query, self.name)
        self._require_file()
        kind = self._format()
        if not set(IN_DATABASE) <= set(kind.settings) and (self.table or self.query):
            raise UsageError(
                "E-TABLE-NAME", f"{self.name}: table and query are for databases, and this file is one table"
            )
        return kind.read(self.path, self)

    def located(self, home: Path) -> Data:
        """The data that a plan in `home` means: paths start from there."""
        scheme = scheme_of(self.file)
        if scheme == SQLITE:
            return replace(self, file=f"sqlite:///{sqlite_path(self.file, home).absolute()}")
        return self if scheme else replace(self, file=str(home / self.file))

    def beside(self, home: Path) -> Data:
        """The data as a plan in `home` names them: by name what lies there, by its full path what lies elsewhere."""
        if self.on_server:
            return self
        folder = self.path.parent.resolve()  # the file itself may be a link, and is meant by its name
        name = self.path.name if folder == home.resolve() else str(folder / self.path.name)
        return replace(self, file=f"sqlite:///{name}" if scheme_of(self.file) else name)

    def require_no_password(self) -> None:
        """Refuse a password: a plan is kept, and the arguments of a command are seen by others."""
        if self.on_server and holds_password(self.file):
            raise UsageError(
                "E-PASSWORD",
                f"{self.name}: the address holds a password, which belongs neither in a plan nor in a command; leave it out "
                "and keep it in ~/.pgpass, in a file that PGPASSFILE names, or in PGPASSWORD",
            )

    def to_dict(self) -> dict[str, str]:
        """The section [data] of a plan: the file, the settings that reading it takes, and others that were changed."""
        usual = {item.name: item.default for item in fields(self)}
        taken = IN_DATABASE if self.on_server else self._format().settings
        return {
            name: value
            for name, value in asdict(self).items()
            if value != usual[name] or (value and name in taken)
        }

    def _format(self) -> Format:
        return FORMATS[".sqlite"] if scheme_of(self.file) == SQLITE else format_of(self.path)

    def _require_file(self) -> None:
        path = self.path
        try:
            found = path.is_file()
        except OSError:  # a name that is too long, a folder that is closed
            found = False
        if not found:
            raise UsageError("E-FILE", f"no file is called {shorten(without_credentials(str(path)), 200)}")

    def __repr__(self) -> str:
        return f"Data({self.name!r})"
