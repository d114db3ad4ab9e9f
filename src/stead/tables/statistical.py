"""Files of SPSS, Stata and SAS: what they say of their columns, put into the words of a schema.

labels     a column whose present values all have a label is categorical; so is one that SPSS calls nominal, or
           ordinal (then it is ordered), and that has some labels. Any other keeps its numbers, with their labels.
missing    values and ranges that SPSS declares missing are codes; so are .a to .z of Stata and SAS and ._ of SAS,
           written as text, for they are no numbers. All are kept apart from the plain missing value.
numbers    most of these files know doubles only; where the present values are whole they are integers.
text       in the encoding that the file declares, or that is given; never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import InputRefused, SteadError, UsageError, shorten
from stead.tables import cells as raw
from stead.tables.arrow import compute as pc
from stead.tables.arrow import pa
from stead.tables.cells import Said
from stead.tables.clocks import clock_of
from stead.tables.formats import broken
from stead.tables.letters import Letters
from stead.tables.limits import require_bearable, require_few_cells
from stead.tables.loaded import Loaded
from stead.tables.names import unique_names
from stead.tables.parsing import TAGS, parse
from stead.tables.schema import MOST_MISSING
from stead.tables.transport import special_missing

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from stead.tables.clocks import Clock
    from stead.tables.schema import Level

    Ranges = list[tuple[Any, Any]]

MOST_UNLABELLED = 100
KNOWN_HEADS = (b"<sta", b"$FL2", b"$FL3")


@dataclass(frozen=True, repr=False)
class Facts:
    """What a file says of one column; `tags` are the letters of its special missing values, `tagged` where they stand."""

    label: str
    labels: dict[Level, str]
    clock: Clock | None
    measure: str
    ranges: Ranges
    tags: tuple[str, ...] = ()
    tagged: NDArray[np.int8] | None = None


def read_package(file: Path, encoding: str) -> Loaded:
    """The columns of a file of SPSS, Stata or SAS, and what it says of them."""
    where, suffix = shorten(file.name), file.suffix.lower()
    table, told = parse(file)
    if "refused" in told:
        raise _refusal(told, file)
    letters = Letters(told["encoding"], encoding, where)
    _refuse_twice(sorted(set(letters.all(told["twice"]))), where)
    names = unique_names(letters.all(told["names"]), where)
    for name in letters.all(told["long"]):
        raw.note(
            "E-TEXT-LONG",
            f"column {shorten(name)}: holds long texts (strL), which are free text; it is left behind",
        )
    if told["catalog"]:
        raw.note("E-CATALOG", f"{where}: labels are taken from the catalog of the same name beside it")
    special = special_missing(file, table.num_rows) if suffix == ".xpt" and names else {}
    columns: dict[str, pa.ChunkedArray] = {}
    said: dict[str, Said] = {}
    for place, (name, key) in enumerate(zip(names, told["names"], strict=True)):
        if told["types"][key] == "string":
            columns[name] = letters.column(name, table.column(key))
            said[name] = _of_texts(name, columns[name], _facts(told, key, letters, suffix))
        else:
            tags = tuple(told["tags"].get(key, ()))
            tagged = np.asarray(table.column(f"{TAGS}{key}")) if tags else None
            facts = _facts(told, key, letters, suffix, *special.get(place, (tags, tagged)))
            columns[name], said[name] = _of_numbers(name, table.column(key), facts)
    return Loaded(pa.table(columns), said)


def _facts(
    told: dict[str, Any],
    key: str,
    letters: Letters,
    suffix: str,
    tags: tuple[str, ...] = (),
    tagged: NDArray[np.int8] | None = None,
) -> Facts:
    def value(one: Any) -> Any:
        return letters.plain(one) if isinstance(one, str) else _exact(one)

    labels = {value(one): letters.plain(text) for one, text in told["values"].get(key, ())}
    return Facts(
        letters.plain(told["labels"].get(key, "")),
        {one: text for one, text in labels.items() if text},
        clock_of(told["formats"].get(key, ""), suffix),
        told["measures"].get(key, ""),
        [(value(one["lo"]), value(one["hi"])) for one in told["ranges"].get(key, ())],
        tags,
        tagged,
    )


def _exact(number: float) -> int | float:
    return int(number) if float(number).is_integer() and abs(number) < raw.LARGEST else float(number)


def _refuse_twice(names: list[str], where: str) -> None:
    if names:
        raise InputRefused(
            "E-NAME-TWICE",
            f"{where}: {len(names):,} column names occur more than once: {', '.join(map(shorten, names[:10]))}; rename them",
        )


def _refusal(told: dict[str, Any], file: Path) -> SteadError:
    """What the parser's one word means."""
    where = shorten(file.name)
    match told["refused"]:
        case "extra":
            return UsageError("E-EXTRA", f"{where}: needs pyreadstat: pip install 'stead[io]'")
        case "encoding":
            return InputRefused("E-ENCODING", f"{where}: its text does not fit the encoding that it declares")
        case "version" if _head(file) in KNOWN_HEADS:
            return InputRefused("E-FILE-VERSION", f"{where}: is of a version of its format that is not known")
        case "unnamed":
            return InputRefused("E-NAME-EMPTY", f"{where}: column {told['column']} has no name; name it")
        case "size":
            require_bearable(told["bytes"], file.stat().st_size, where)
        case "cells":
            require_few_cells(told["rows"], told["columns"], where)
        case "unsaid":
            return InputRefused(
                "E-SIZE",
                f"{where}: is compressed and does not say how many rows it has; save it without compression",
            )
        case "memory":
            return InputRefused(
                "E-SIZE", f"{where}: needs more memory than there is; read fewer columns or rows"
            )
    return broken(file)


def _head(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(4)


# ---- text -------------------------------------------------------------------------------------------


def _of_texts(name: str, cells: pa.ChunkedArray, facts: Facts) -> Said:
    codes = _bearable(name, tuple(dict.fromkeys(low for low, high in facts.ranges if low == high)))
    labelled = {value for value in facts.labels if value not in codes}
    present = set(pc.unique(cells).to_pylist()) - {None, "", *codes} if labelled else set()
    levels = tuple(sorted(labelled | present)) if _made_of_levels(labelled, present, facts) else ()
    return Said(levels, facts.measure == "ordinal", facts.label, tuple(facts.labels.items()), codes)


def _made_of_levels(labelled: set[Any], present: set[Any], facts: Facts) -> bool:
    unlabelled = len(present - labelled)
    declared = facts.measure in {"nominal", "ordinal"} and unlabelled <= MOST_UNLABELLED
    return bool(labelled) and (declared or not unlabelled)


# ---- numbers ----------------------------------------------------------------------------------------


def _of_numbers(name: str, column: pa.ChunkedArray, facts: Facts) -> tuple[pa.Array, Said]:
    array = column.combine_chunks()
    empty, numbers = np.asarray(array.is_null()), np.asarray(array.fill_null(0.0))
    distinct = np.unique(numbers[~empty])
    declared = _declared_missing(distinct, facts)
    if facts.clock is not None:
        return _moments(name, numbers, empty, facts, facts.clock, declared)
    codes = _bearable(name, (*declared, *_letter_codes(facts)))
    labels = {_code(value) if isinstance(value, str) else value: text for value, text in facts.labels.items()}
    labelled = {value for value in labels if value not in codes}
    present = {_exact(number) for number in distinct.tolist()} - set(codes) if labelled else set()
    levels = tuple(sorted(labelled | present)) if _made_of_levels(labelled, present, facts) else ()
    said = Said(
        levels, facts.measure == "ordinal", facts.label, tuple(labels.items()), codes, _places(facts, codes)
    )
    whole = distinct.size and np.isfinite(distinct).all() and (distinct == np.rint(distinct)).all()
    exact = whole and bool((np.abs(distinct) < raw.LARGEST).all())
    return pa.array(numbers.astype(np.int64) if exact else numbers, mask=empty), said


def _moments(
    name: str,
    numbers: NDArray[np.float64],
    empty: NDArray[np.bool_],
    facts: Facts,
    clock: Clock,
    declared: tuple[Any, ...],
) -> tuple[pa.Array, Said]:
    """Dates; a date that is declared missing is a code in words, and stands apart."""
    times = clock.milliseconds(np.array(declared, float)).astype("datetime64[ms]")
    words = tuple(str(time).removesuffix(".000").removesuffix("T00:00:00") for time in times)
    codes = _bearable(name, (*words, *_letter_codes(facts)))
    tags = _places(facts, codes)
    if declared:
        tags = np.zeros(len(numbers), np.int8) if tags is None else tags
        for place, number in enumerate(declared, start=1):
            tags[~empty & (numbers == number)] = place
        empty = empty | (tags > 0)
    labels = {_code(value): text for value, text in facts.labels.items() if isinstance(value, str)}
    said = Said(label=facts.label, labels=tuple(labels.items()), missing=codes, tags=tags)
    moments = clock.milliseconds(numbers)
    raw.require_calendar(name, moments[~empty] // (raw.DAY * 1000))
    return pa.array(moments, pa.timestamp("ms"), mask=empty), said


def _declared_missing(distinct: NDArray[np.float64], facts: Facts) -> tuple[Level, ...]:
    """What SPSS declares missing: single values, and of a range the values that occur or have a label."""
    single = [low for low, high in facts.ranges if low == high]
    ranged: set[Level] = set()
    for low, high in facts.ranges:
        if low < high:
            ranged |= {_exact(one) for one in distinct[(distinct >= low) & (distinct <= high)].tolist()}
            ranged |= {one for one in facts.labels if not isinstance(one, str) and low <= one <= high}
    return tuple(dict.fromkeys([*single, *sorted(ranged)]))


def _code(letter: str) -> str:
    """.a of Stata and .A of SAS are written alike, as SAS reads them."""
    return f".{letter.lower()}"


def _letter_codes(facts: Facts) -> tuple[str, ...]:
    """Special missing values that stand in a cell or have a label."""
    return tuple(sorted({_code(one) for one in (*facts.tags, *facts.labels) if isinstance(one, str)}))


def _places(facts: Facts, codes: tuple[Level, ...]) -> NDArray[np.int8] | None:
    """For each row the place of its special missing value among the codes."""
    if facts.tagged is None:
        return None
    places = np.array([0, *(codes.index(_code(tag)) + 1 for tag in facts.tags)], np.int8)
    return places[facts.tagged]


def _bearable(name: str, codes: tuple[Level, ...]) -> tuple[Level, ...]:
    if len(codes) > MOST_MISSING:
        raise InputRefused(
            "E-MISSING-CODES",
            f"column {shorten(name)}: {len(codes):,} different values are declared missing, at most {MOST_MISSING}; make the range narrower",
        )
    return codes
