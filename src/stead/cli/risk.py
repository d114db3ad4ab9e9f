"""`stead risk ...`: measures of risk for files of any tool; each command reads files and prints a measurement."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - cyclopts reads the annotations
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import App, Parameter

from stead.cli import ui
from stead.errors import UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stead.measurement import Measurement
    from stead.tables.schema import Schema

HELP = "Measure what an intruder could learn from synthetic files, whatever tool made them."

Names: TypeAlias = Annotated[list[str] | None, Parameter(negative="", show_default=False)]
Quiet: TypeAlias = Annotated[bool, Parameter(negative="", show_default=False)]


@Parameter(name="*")
@dataclass(frozen=True)
class Reading:
    """How the files are read.

    Parameters
    ----------
    categorical
        Columns whose numbers are codes; text always is.
    missing
        Codes that stand for a missing value, in every column.
    encoding
        Of text files.
    delimiter
        Of text files.
    decimal
        The decimal mark of text files.
    plan
        A plan, stead.toml, whose columns are taken instead: their kinds, levels and missing codes.
    engine
        local: in memory. tables: Parquet files larger than memory.
    """

    categorical: Names = None
    missing: Names = None
    encoding: str = "utf-8"
    delimiter: str = ","
    decimal: str = "."
    plan: Annotated[Path | None, Parameter(show_default=False)] = None
    engine: Literal["local", "tables"] = "local"


@Parameter(name="*")
@dataclass(frozen=True)
class Intruder:
    """What is supposed of the intruder.

    Parameters
    ----------
    known
        Un-synthesized columns that the intruder knows of his target.
    synthesized
        Synthesized columns that he knows too.
    radius
        How near is near, of each column of numbers: Income=500, Income=20%, "Income=20%, at least 100".
    open_interval
        Leave the bounds of the radius out.
    convention
        summaries: the figures of each file, averaged. probabilities: of each row, averaged over the files first.
    holdout
        People of the same kind whom the synthesis never saw, for the zero-leak reference.
    """

    known: Names = None
    synthesized: Names = None
    radius: Names = None
    open_interval: Quiet = False
    convention: Literal["summaries", "probabilities"] = "summaries"
    holdout: Annotated[Path | None, Parameter(show_default=False)] = None


def application() -> App:
    """The group of commands."""
    app = App(name="risk", help=HELP, help_format="plaintext")
    app.command(match)
    return app


def match(
    confidential: Path,
    *synthetic: Path,
    intruder: Intruder | None = None,
    reading: Reading | None = None,
    chart: Annotated[Path | None, Parameter(show_default=False)] = None,
    json: Quiet = False,
) -> int:
    """How many records would an intruder find again who matches what he knows with the synthetic files?

    Row i of each synthetic file stands for record i. Lists are written A,B or by repeating the option.

    Examples:
      stead risk match real.csv syn1.csv syn2.csv --known SEX,RACE --synthesized DIS
      stead risk match real.csv syn.csv --known AGE --radius AGE=2 --synthesized Income --radius Income=20%
      stead risk match real.parquet syn.parquet --known SEX --synthesized DIS --engine tables --json

    Parameters
    ----------
    confidential
        The confidential file.
    synthetic
        The synthetic files, one or more.
    chart
        Save the picture here, as .svg or .png.
    json
        Print the measurement as JSON.
    """
    from stead.risk.matching import match_risk

    intruder, reading = intruder or Intruder(), reading or Reading()
    knows, made = _listed(intruder.known), _listed(intruder.synthesized)
    if not synthetic or not made:
        raise UsageError(
            "E-USAGE", "name the confidential file, at least one synthetic one, and the columns --synthesized"
        )
    load = _in_files if reading.engine == "tables" else _in_memory
    release, holdout = load(confidential, synthetic, intruder.holdout, (*knows, *made), made, reading)
    measured = match_risk(
        release,
        knows,
        radius=_radii(intruder.radius or ()),
        closed=not intruder.open_interval,
        convention=intruder.convention,
        holdout=holdout,
    )
    if chart is not None and measured.available:
        measured.chart().save(chart)
    if json:
        ui.as_json(measured.to_dict())
    else:
        _show_match(measured)
    return 0


def _in_memory(
    confidential: Path,
    synthetic: Sequence[Path],
    holdout: Path | None,
    names: Sequence[str],
    made: Sequence[str],
    reading: Reading,
) -> tuple[Any, Any]:
    """A release of the columns that are named, and the holdout under the same schema."""
    from stead.release import Release
    from stead.tables.files import read
    from stead.tables.sources import Data

    text: dict[str, Any] = {"encoding": reading.encoding, "delimiter": reading.delimiter}
    meant: dict[str, Any] = (
        {"schema": _schema(reading.plan)}
        if reading.plan
        else {"categorical": _listed(reading.categorical), "missing": _listed(reading.missing)}
    )
    real = read(confidential, **meant, **text, decimal=reading.decimal).only(dict.fromkeys(names))

    def other(path: Path) -> Any:
        if reading.decimal == ".":
            return Data(str(path), **text).load().table  # to be read as the confidential file was
        return read(path, **meant, **text, decimal=reading.decimal)

    release = Release.from_tables(real, [other(path) for path in synthetic], synthesized=made, aligned=True)
    return release, None if holdout is None else other(holdout)


def _in_files(
    confidential: Path,
    synthetic: Sequence[Path],
    holdout: Path | None,
    names: Sequence[str],
    made: Sequence[str],
    reading: Reading,
) -> tuple[Any, Any]:
    """The files as they lie there."""
    from stead.engine.files import ParquetRelease

    codes = _listed(reading.missing)
    release = ParquetRelease.open(
        confidential,
        synthetic,
        synthesized=made,
        schema=_schema(reading.plan) if reading.plan else None,
        categorical=_listed(reading.categorical),
        missing=dict.fromkeys(names, codes) if codes else None,
    )
    return release, holdout


def _schema(plan: Path) -> Schema:
    """The columns as a plan declares them."""
    from stead.studies.plan import load

    return load(plan).schema


def _listed(values: Iterable[str] | None) -> tuple[str, ...]:
    """Names written A,B or one by one; a name that has a comma is put in quotes, as in a text file."""
    return tuple(name for row in csv.reader(values or ()) for name in row)


def _radii(written: Iterable[str]) -> dict[str, str]:
    """Radii written Income=20%; a name may have equal signs, a radius has none."""
    radii = {}
    for one in written:
        name, mark, amount = one.rpartition("=")
        if not mark:
            raise UsageError("E-RADIUS", f"{shorten(one)}: a radius is written Income=500 or Income=20%")
        radii[name] = amount
    return radii


def _show_match(measured: Measurement) -> None:
    """The question, the answer beside its references, what was known."""
    from stead.report.look import count, number

    if not measured.available:
        ui.say(f"{measured.name}: not available, {measured.reason}")
        return
    held = measured.to_dict()
    real, chance = held["baselines"]["confidential"], held["baselines"]["zero_leak"]
    rows = [
        [words, *(number(_percent(one[key]) if "rate" in key else one[key]) for one in (held, real, chance))]
        for words, key in (
            ("expected matches", "expected_match_risk"),
            ("unique matches", "unique_matches"),
            ("true match rate, %", "true_match_rate"),
            ("false match rate, %", "false_match_rate"),
        )
    ]
    ui.table(
        f"How many of {count(held['rows'])} records would an intruder find again?",
        ["measure", "release", "real file", "no leak"],
        rows,
        right=frozenset({1, 2, 3}),
    )
    ui.say(f"expected matches: {number(100 * held['expected_match_share'])} % of the records; lower is safer")
    if held["interval"]:
        ui.say(f"with more synthetic files, 95 %: {' to '.join(number(end) for end in held['interval'])}")
    radius = ", ".join(f"{name} within {amount}" for name, amount in held["radius"].items())
    ui.say(
        f"known: {', '.join(held['known']) or 'nothing else'}; synthesized: {', '.join(held['synthesized'])}"
    )
    ui.say(
        f"{radius + '; ' if radius else ''}{held['sets']} files, convention {held['convention']}; no leak: {chance['source']}"
    )


def _percent(rate: float | None) -> float | None:
    return None if rate is None else 100 * rate
