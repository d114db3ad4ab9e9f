"""The plan of a study, `stead.toml`: what the data are, what is made of them, what is measured.

    version, title
    [data]      file (relative to the plan), encoding, delimiter, decimal
    [columns.X] kind, levels, lowest, highest, decimals, missing, role, unit, format, why
    [synthesis] m, draws, workers, minimum_rows, override
    [[models]]  model, formula, prior, why          in the order in which columns are made
    [measures]  ecdf, margins                       columns each
    [output]    folder (relative to the plan)

An unknown key is an error with the nearest name.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from stead.errors import UsageError, nearest, shorten
from stead.models.sequence import Sequence
from stead.models.storage import REGRESSIONS
from stead.release import FEWEST_ROWS
from stead.store.artefacts import replacing
from stead.tables.schema import Schema

if TYPE_CHECKING:
    from stead.models.base import Model

VERSION = 1
HEADER = """\
# A plan for stead. Correct what is proposed here, then:  stead check   and   stead run
# It holds levels and codes of the confidential file: keep it where the file is kept.
"""


@dataclass(frozen=True)
class Data:
    """Where the confidential file is and how it is read."""

    file: str
    encoding: str = "utf-8"
    delimiter: str = ","
    decimal: str = "."


@dataclass(frozen=True)
class Synthesis:
    """How many sets, from how many posterior draws."""

    m: int = 5
    draws: int = 1000
    workers: int = 1
    minimum_rows: int = FEWEST_ROWS
    override: str = ""


@dataclass(frozen=True)
class ModelSpec:
    """One model of the sequence."""

    model: str
    formula: str
    prior: str = "weak"
    why: str = ""


@dataclass(frozen=True)
class Measures:
    """Columns to compare; an empty list means all that were synthesized and fit the measure."""

    ecdf: tuple[str, ...] = ()
    margins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Output:
    """Where the results go."""

    folder: str = "stead-output"


@dataclass(frozen=True)
class Plan:
    """A plan; `home` is the folder that relative paths start from."""

    data: Data
    schema: Schema
    models: tuple[ModelSpec, ...]
    title: str = ""
    synthesis: Synthesis = field(default_factory=Synthesis)
    measures: Measures = field(default_factory=Measures)
    output: Output = field(default_factory=Output)
    home: Path = field(default_factory=Path)

    @property
    def file(self) -> Path:
        """The confidential file."""
        return self.home / self.data.file

    @property
    def folder(self) -> Path:
        """The output folder."""
        return self.home / self.output.folder

    def sequence(self) -> Model:
        """The models, as one."""
        if not self.models:
            raise UsageError("E-PLAN", "the plan has no [[models]]: nothing would be synthesized")
        built = []
        for spec in self.models:
            if spec.model not in REGRESSIONS:
                raise UsageError(
                    "E-PLAN-MODEL",
                    f"no model is called {shorten(spec.model)}; {nearest(spec.model, REGRESSIONS)}",
                )
            built.append(REGRESSIONS[spec.model](spec.formula, spec.prior))
        return Sequence(built)

    def to_dict(self) -> dict[str, Any]:
        """The plan as TOML holds it."""
        return {
            "version": VERSION,
            "title": self.title,
            "data": asdict(self.data),
            "synthesis": asdict(self.synthesis),
            "models": [asdict(spec) for spec in self.models],
            "measures": {key: list(value) for key, value in asdict(self.measures).items()},
            "output": asdict(self.output),
            "columns": self.schema.to_dict(),
        }

    def declared(self) -> dict[str, Any]:
        """The plan as an assessment shows it: without levels, codes and bounds, which are values of the file."""
        hidden = {"levels", "missing", "lowest", "highest"}
        shown = self.to_dict()
        shown["columns"] = {
            name: {key: value for key, value in column.items() if key not in hidden}
            for name, column in shown["columns"].items()
        }
        return shown

    def save(self, path: Path) -> None:
        """Write the plan, for its owner only."""
        import tomli_w

        with replacing(path) as temporary:
            temporary.write_text(HEADER + tomli_w.dumps(self.to_dict()), encoding="utf-8")


def load(path: str | Path) -> Plan:
    """Read a plan; every key is checked."""
    file = Path(path)
    if not file.is_file():
        raise UsageError("E-PLAN", f"no plan is called {shorten(str(path), 200)}; stead init DATA writes one")
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        place = (
            f"line {error.lineno}"
            if isinstance(error, tomllib.TOMLDecodeError) and hasattr(error, "lineno")
            else "it"
        )
        tables = None
    if tables is None:
        raise UsageError("E-PLAN", f"{shorten(file.name)}: {place} is not TOML")
    known = {"version", "title", "data", "columns", "synthesis", "models", "measures", "output"}
    _known_keys(tables, known, "the plan")
    if tables.get("version", VERSION) != VERSION:
        raise UsageError(
            "E-VERSION",
            f"{shorten(file.name)}: is for version {shorten(str(tables['version']))} of the plan format, and this stead reads version {VERSION}",
        )
    for key in ("data", "columns", "models"):
        if key not in tables:
            raise UsageError("E-PLAN", f"{shorten(file.name)}: [{key}] is missing")
    return Plan(
        title=str(tables.get("title", "")),
        data=_section(Data, tables["data"], "data"),
        schema=Schema.from_dict(tables["columns"]),
        models=tuple(_section(ModelSpec, table, "models") for table in tables["models"]),
        synthesis=_section(Synthesis, tables.get("synthesis", {}), "synthesis"),
        measures=_section(Measures, tables.get("measures", {}), "measures"),
        output=_section(Output, tables.get("output", {}), "output"),
        home=file.parent,
    )


T = TypeVar("T", Data, Synthesis, ModelSpec, Measures, Output)


def _section(kind: type[T], table: Any, where: str) -> T:
    """A section as its dataclass: known keys, each of the type of its default."""
    if not isinstance(table, dict):
        raise UsageError("E-PLAN", f"[{where}] is a table of settings")
    allowed = {item.name: str(item.type) for item in fields(kind)}
    _known_keys(table, set(allowed), f"[{where}]")
    values: dict[str, Any] = {}
    for key, value in table.items():
        wanted = allowed[key]
        ok = (
            isinstance(value, list) and all(isinstance(one, str) for one in value)
            if wanted.startswith("tuple")
            else isinstance(value, {"int": int, "str": str}[wanted]) and not isinstance(value, bool)
        )
        if not ok:
            words = {"int": "a whole number", "str": "text"}.get(wanted, "a list of column names")
            raise UsageError("E-PLAN-VALUE", f"[{where}] {key}: is {words}")
        values[key] = tuple(value) if isinstance(value, list) else value
    lacking = [
        item.name
        for item in fields(kind)
        if item.name in {"file", "model", "formula"} and item.name not in values
    ]
    if lacking:
        raise UsageError("E-PLAN", f"[{where}] {lacking[0]} is missing")
    return kind(**values)


def _known_keys(table: dict[str, Any], known: set[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(
                "E-PLAN-KEY", f"{where}: no setting is called {shorten(key)}; {nearest(key, sorted(known))}"
            )
