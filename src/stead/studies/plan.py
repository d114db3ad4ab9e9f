"""The plan of a study, `stead.toml`: what the data are, what is made of them, what is measured.

    version, title
    [data]      file (relative to the plan, or an address), encoding, delimiter, decimal, table, query
    [columns.X] kind, levels, lowest, highest, decimals, spikes, heaps, missing, role, unit, format, label, labels, why
    [synthesis] m, draws, workers, minimum_rows, override
    [[models]]  model, formula (a rule for Derived), prior, weights, why        in the order in which columns are made
    [measures]  ecdf, margins, predictive           columns each
    [output]    folder (relative to the plan)

An unknown key is an error with the nearest name.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from stead.errors import UsageError, nearest, shorten
from stead.models.derived import Derived
from stead.models.sequence import Sequence
from stead.models.storage import model_named
from stead.release import FEWEST_ROWS
from stead.store.artefacts import replacing
from stead.tables.addresses import without_credentials
from stead.tables.schema import Schema
from stead.tables.sources import Data

if TYPE_CHECKING:
    from collections.abc import Callable

    from stead.models.base import Model
    from stead.models.regression import Weights

VERSION, MOST = 1, 1_000_000
PARTS = ("version", "title", "data", "columns", "synthesis", "models", "measures", "output")
HEADER = """\
# A plan for stead. Correct what is proposed here, then:  stead check   and   stead run
# It holds levels and codes of the confidential file: keep it where the file is kept.
"""


@dataclass(frozen=True)
class Synthesis:
    """How many sets, from how many posterior draws."""

    m: int = 5
    draws: int = 1000
    workers: int = 1
    minimum_rows: int = FEWEST_ROWS
    override: str = ""

    def __post_init__(self) -> None:
        for key in ("m", "draws", "workers", "minimum_rows"):
            if not 1 <= getattr(self, key) <= MOST:
                raise UsageError("E-PLAN-VALUE", f"[synthesis] {key}: is a whole number from 1 to {MOST:,}")
        if self.draws < self.m:
            raise UsageError(
                "E-DRAWS",
                f"[synthesis] draws: is at least m, so that each set has its own draw; m is {self.m:,}, draws {self.draws:,}",
            )


@dataclass(frozen=True)
class ModelSpec:
    """One model of the sequence."""

    model: str
    formula: str
    prior: str | dict[str, str] = "weak"
    why: str = ""
    weights: str = ""

    def build(self) -> Model:
        """The model."""
        weights: Weights = "pseudo" if self.weights == "pseudo" else "ignore" if self.weights else ""
        if self.weights != weights:
            raise UsageError(
                "E-WEIGHTS", f"[[models]] weights: {nearest(self.weights, ('ignore', 'pseudo'))}"
            )
        return model_named(self.model, self.formula, self.prior, weights)


@dataclass(frozen=True)
class Measures:
    """Columns to compare; an empty list means all that were synthesized and fit the measure."""

    ecdf: tuple[str, ...] = ()
    margins: tuple[str, ...] = ()
    predictive: tuple[str, ...] = ()


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

    def __post_init__(self) -> None:
        self.data.require_no_password()

    @property
    def source(self) -> Data:
        """The confidential data, wherever the program was started."""
        return self.data.located(self.home)

    @property
    def folder(self) -> Path:
        """The output folder."""
        return self.home / self.output.folder

    def sequence(self) -> Model:
        """The models, as one."""
        if not self.models:
            raise UsageError("E-PLAN", "the plan has no [[models]]: nothing would be synthesized")
        return Sequence(spec.build() for spec in self.models)

    def to_dict(self) -> dict[str, Any]:
        """The plan as TOML holds it."""
        return {
            "version": VERSION,
            "title": self.title,
            "data": self.data.to_dict(),
            "synthesis": asdict(self.synthesis),
            "models": [_without_defaults(spec) for spec in self.models],
            "measures": {key: list(value) for key, value in asdict(self.measures).items()},
            "output": asdict(self.output),
            "columns": self.schema.to_dict(),
        }

    def declared(self) -> dict[str, Any]:
        """The plan as an assessment shows it: without levels, their labels, codes, bounds and a query, which hold values."""
        hidden = {"levels", "labels", "missing", "lowest", "highest", "spikes"}
        shown = self.to_dict()
        shown["data"] = {key: value for key, value in shown["data"].items() if key != "query"}
        shown["data"]["file"] = without_credentials(self.data.file)
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


def _without_defaults(spec: ModelSpec) -> dict[str, Any]:
    """A model as a table; a rule has no prior, and weights that are not spoken of are left out."""
    table = asdict(spec)
    left_out = {"weights"} if not spec.weights else set()
    left_out |= {"prior"} if spec.model == Derived.__name__ else set()
    return {key: value for key, value in table.items() if key not in left_out}


def load(path: str | Path) -> Plan:
    """Read a plan; every key is checked, and the type of its value."""
    file = Path(path)
    tables = _tables(file)
    name = shorten(file.name)
    _known_keys(tables, set(PARTS), "the plan")
    version = tables.get("version", VERSION)
    if version != VERSION or not _whole(version):
        raise UsageError(
            "E-VERSION",
            f"{name}: is for version {shorten(str(version))} of the plan format, and this stead reads version {VERSION}",
        )
    for key in ("data", "columns", "models"):
        if key not in tables:
            raise UsageError("E-PLAN", f"{name}: [{key}] is missing")
    if not isinstance(tables["models"], list):
        raise UsageError("E-PLAN", f"{name}: models are a list, each begun by [[models]]")
    if not isinstance(tables.get("title", ""), str):
        raise UsageError("E-PLAN-VALUE", "title: is text")
    return Plan(
        title=tables.get("title", ""),
        data=_section(Data, tables["data"], "data"),
        schema=_schema(tables["columns"]),
        models=tuple(_section(ModelSpec, table, "models") for table in tables["models"]),
        synthesis=_section(Synthesis, tables.get("synthesis", {}), "synthesis"),
        measures=_section(Measures, tables.get("measures", {}), "measures"),
        output=_section(Output, tables.get("output", {}), "output"),
        home=file.parent,
    )


def _tables(file: Path) -> dict[str, Any]:
    """The file as TOML."""
    if not os.path.isfile(file):  # noqa: PTH113 - Path.is_file raises for a name that is too long
        raise UsageError("E-PLAN", f"no plan is called {shorten(str(file), 200)}; stead init DATA writes one")
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        place = f"line {error.lineno}" if hasattr(error, "lineno") else ""
        place = place or next(iter(re.findall(r"at (line \d+)", str(error))), "it")
        why = f"{place} is not TOML"
    except (
        ValueError,
        RecursionError,
    ):  # bytes that are not UTF-8, a number of thousands of digits, a deep list
        why = "it is not TOML"
    except OSError as error:
        why = f"cannot be opened ({error.strerror or 'the system refused'})"
    raise UsageError("E-PLAN", f"{shorten(file.name)}: {why}")


def _schema(tables: Any) -> Schema:
    """The columns; what each setting may be is the schema's to say, its type is checked here."""
    if not isinstance(tables, dict):
        raise UsageError("E-PLAN", "[columns] holds a table for each column, as [columns.Income]")
    for name, table in tables.items():
        for key, value in table.items() if isinstance(table, dict) else ():
            if key in TYPES and not TYPES[key][0](value):
                raise UsageError("E-PLAN-VALUE", f"column {shorten(name)}: {key} is {TYPES[key][1]}")
    return Schema.from_dict(tables)


def _text(value: object) -> bool:
    return isinstance(value, str)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _bound(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) < 2**63 if isinstance(value, int) else math.isfinite(value)


TYPES: dict[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(("kind", "role", "unit", "format", "label", "why"), (_text, "text")),
    **dict.fromkeys(("lowest", "highest"), (_bound, "a number; leave it out where there is no bound")),
    **dict.fromkeys(
        ("levels", "labels", "missing", "spikes", "heaps"), (lambda value: isinstance(value, list), "a list")
    ),
    "decimals": (_whole, "a whole number"),
}
"""Settings of a column: whether a value has the right type, and which that is."""


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _texts(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and all(map(_text, value.values())))


SETTINGS: dict[str, tuple[Callable[[object], bool], str]] = {
    "int": (_whole, "a whole number"),
    "str": (_text, "text"),
    "tuple[str, ...]": (_names, "a list of column names"),
    "str | dict[str, str]": (_texts, 'text, or a table of texts, as { "log(Income)" = "normal(0, 1)" }'),
}
"""Settings of a section, by the type of their default."""


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
        fits, words = SETTINGS[wanted]
        if not fits(value):
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
