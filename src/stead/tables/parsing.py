"""Files of statistical packages, parsed in a process of their own.

The parser is a C library that a single flipped byte can crash (1 of 100 flips in an SPSS file did) and that
believes what a header claims. So a child parses, within limits of memory and time and without a core dump, and hands
over one Arrow stream; a child that dies is a file that is refused. Nothing of the file touches a disk.

Text is read as Latin-1, which maps every byte to one letter and back, and decoded by the parent: the library itself
drops half a letter at the end of a cell without a word.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from contextlib import suppress
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.tables.arrow import pa
from stead.tables.limits import MOST_CELLS, bearable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CATALOG = ".sas7bcat"
TAGS = "\0"
"""Before the name of a column, the name of the one that says which special missing value stands where."""
UNCOMPRESSED = {".dta", ".xpt", ".por"}
BYTES, ZSAV = "ISO8859-1", b"$FL3"
STATA_HEAD, STATA_END = b"<stata_dta>", b"</stata_dta>"
RENAMED = re.compile(r"(?s)^column '(.*)' is duplicated, renamed to ")
START = "import sys; sys.path[:] = sys.argv[1:]; from stead.tables.parsing import main; main()"


# ---- the parent -------------------------------------------------------------------------------------


def parse(file: Path) -> tuple[pa.Table, dict[str, Any]]:
    """The columns of a file and what it says of itself; `refused` among the latter where it could not be parsed."""
    request = json.dumps({"file": str(file.absolute()), "size": file.stat().st_size})
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, this module
            [sys.executable, "-I", "-c", START, *sys.path],
            input=request.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except OSError:  # no memory for another process
        return pa.table({}), {"refused": "memory"}
    try:
        table = pa.ipc.open_stream(done.stdout).read_all()
        said: dict[str, Any] = json.loads(table.schema.metadata[b"said"])
    except (pa.ArrowException, KeyError, TypeError, ValueError):
        return pa.table({}), {"refused": "broken"}
    return table, said


# ---- the child --------------------------------------------------------------------------------------


class Refusal(Exception):
    """Why the child gives up: one word, and numbers."""

    def __init__(self, why: str, **numbers: int) -> None:
        super().__init__(why)
        self.said = {"refused": why, **numbers}


class WithoutPandas(MetaPathFinder):
    """Arrow loads pandas, where it is installed, with its first array: half of the time that a small file takes."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:  # noqa: ARG002 - the protocol
        """Refuse pandas; all else is found by others."""
        if fullname == "pandas":
            raise ImportError(fullname)


def main() -> None:
    """Read a request from stdin, write an Arrow stream to stdout."""
    request = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the library prints is not part of the stream
    sys.meta_path.insert(0, WithoutPandas())
    _limit(request["size"])
    warnings.simplefilter("ignore")
    try:
        table, said = _parsed(request["file"], request["size"])
    except Refusal as refusal:
        table, said = pa.table({}), refusal.said
    except MemoryError:
        table, said = pa.table({}), {"refused": "memory"}
    table = table.replace_schema_metadata({"said": json.dumps(said)})
    with out, pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)


def _limit(size: int) -> None:
    """No core dump, which would hold the file; memory and time in proportion to its size."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for what, most in (
        (resource.RLIMIT_AS, (4 << 30) + 16 * bearable(size)),
        (resource.RLIMIT_CPU, 60 + size // 250_000),
    ):
        with suppress(OSError, ValueError):  # a stricter limit is there already
            resource.setrlimit(what, (most, most))


def _parsed(file: str, size: int) -> tuple[pa.Table, dict[str, Any]]:
    kind = os.path.splitext(file)[1].lower()  # noqa: PTH122 - a text, not a place
    read = _reader(kind)
    _require_end(file, kind)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        meta = _attempt(lambda: read(file, metadataonly=True)[1])
    twice = [found[1] for one in caught if (found := RENAMED.match(str(one.message)))]
    if None in meta.column_names:
        raise Refusal("unnamed", column=meta.column_names.index(None) + 1)
    _require_bearable(meta, kind, file, size)
    long = [name for name, width in meta.variable_storage_width.items() if kind == ".dta" and not width]
    taken = [name for name in meta.column_names if name not in long]
    chosen = {"usecols": taken} if long else {}
    columns, full = _attempt(lambda: read(file, **chosen)) if taken else ({}, meta)
    arrays: dict[str, pa.Array] = {}
    for name in taken:
        tags = full.missing_user_values.get(name, [])
        text = meta.readstat_variable_types[name] == "string"
        arrays |= _arrays(name, columns.pop(name), tags, text=text)
    labels, catalog = _labels(file, kind, full)
    said = {
        "encoding": _encoding(file, kind),
        "types": meta.readstat_variable_types,
        "names": taken,
        "long": long,
        "twice": twice,
        "labels": {name: text for name, text in meta.column_names_to_labels.items() if text},
        "values": {name: list(pairs.items()) for name, pairs in labels.items()},
        "formats": {name: form for name, form in meta.original_variable_types.items() if form},
        "measures": meta.variable_measure,
        "ranges": full.missing_ranges,
        "tags": full.missing_user_values,
        "catalog": catalog,
    }
    return pa.table(arrays), said


def _reader(kind: str) -> Callable[..., tuple[Any, Any]]:
    """The function of the library, its settings filled in."""
    try:
        import pyreadstat
    except ImportError:
        raise Refusal("extra") from None
    readers: dict[str, Callable[..., tuple[Any, Any]]] = {
        **dict.fromkeys((".sav", ".zsav"), pyreadstat.read_sav),
        ".por": pyreadstat.read_por,
        ".dta": pyreadstat.read_dta,
        ".xpt": pyreadstat.read_xport,
        ".sas7bdat": pyreadstat.read_sas7bdat,
        CATALOG: pyreadstat.read_sas7bcat,
    }
    settings: dict[str, Any] = {"output_format": "dict"}
    settings |= {} if kind == ".por" else {"encoding": BYTES}
    settings |= {} if kind == CATALOG else {"disable_datetime_conversion": True}
    settings |= {} if kind in {".por", ".xpt", CATALOG} else {"user_missing": True}
    return lambda file, **more: readers[kind](file, **{**settings, **more})


def _attempt(read: Callable[[], Any]) -> Any:
    """What the library says of a failure stays here: it may quote a cell."""
    try:
        return read()
    except MemoryError:
        raise
    except UnicodeError:
        why = "encoding"
    except Exception as error:  # noqa: BLE001 - a damaged file can make anything go wrong
        why = "version" if "version" in str(error) else "broken"
    raise Refusal(why)


def _require_end(file: str, kind: str) -> None:
    """A file of Stata 13 and later ends in a tag; the library does not miss it, nor the labels before it."""
    with open(file, "rb") as stream:  # noqa: PTH123 - a text, not a place
        tagged = kind == ".dta" and stream.read(len(STATA_HEAD)) == STATA_HEAD
        if tagged:
            stream.seek(-len(STATA_END), os.SEEK_END)
        if tagged and stream.read() != STATA_END:
            raise Refusal("broken")


def _width(meta: Any, kind: str) -> int:
    """Bytes of a row; of a text of Stata the library counts a NUL that need not be there."""
    widths: dict[str, int] = meta.variable_storage_width
    texts = sum(meta.readstat_variable_types[name] == "string" for name, width in widths.items() if width)
    return max(1, sum(widths.values()) - (texts if kind == ".dta" else 0))


def _require_bearable(meta: Any, kind: str, file: str, size: int) -> None:
    """Refuse a header that claims more than the file can hold, or nothing where it could be anything."""
    if meta.number_rows is None:
        with open(file, "rb") as stream:  # noqa: PTH123 - a text, not a place
            if stream.read(4) == ZSAV:
                raise Refusal("unsaid")
        return  # all others are bounded by the size of the file: at least a byte for a cell
    unpacked, columns = meta.number_rows * _width(meta, kind), len(meta.column_names)
    if kind in UNCOMPRESSED and unpacked > size:
        raise Refusal("broken")
    if unpacked > bearable(size):
        raise Refusal("size", bytes=unpacked)
    if meta.number_rows * columns > MOST_CELLS:
        raise Refusal("cells", rows=meta.number_rows, columns=columns)


def _arrays(name: str, cells: list[Any], tags: list[str], *, text: bool) -> dict[str, pa.Array]:
    """The column, and where it has tagged missing values a second one that says which."""
    if text:
        return {name: pa.array(cells, pa.string())}
    if not tags:
        return {name: pa.array(cells, pa.float64())}
    mixed = np.array(cells, dtype=object)
    tagged = np.zeros(len(mixed), np.int8)
    for place, tag in enumerate(tags, start=1):
        there = mixed == tag
        tagged[there], mixed[there] = place, None
    return {name: pa.array(mixed, from_pandas=True).cast(pa.float64()), f"{TAGS}{name}": pa.array(tagged)}


def _labels(file: str, kind: str, meta: Any) -> tuple[dict[str, dict[Any, str]], bool]:
    """Labels of values by column. Those of SAS lie in a catalog: the file of the same name beside the data."""
    catalog = f"{file[: -len(kind)]}{CATALOG}"
    if kind != ".sas7bdat" or not os.path.isfile(catalog):  # noqa: PTH113 - a text, not a place
        return meta.variable_value_labels, False
    sets = _attempt(lambda: _reader(CATALOG)(catalog)[1].value_labels)
    return {name: sets[used] for name, used in meta.variable_to_label.items() if used in sets}, True


def _encoding(file: str, kind: str) -> str | None:
    """The encoding that a file declares; nothing where it declares none, None where the library has decoded it."""
    if kind == ".dta":
        with open(file, "rb") as stream:  # noqa: PTH123 - a text, not a place
            head = stream.read(32)
        return (
            "utf-8"
            if head.startswith((b"<stata_dta><header><release>118", b"<stata_dta><header><release>119"))
            else ""
        )
    if kind in {".por", ".xpt"}:
        return None if kind == ".por" else ""
    with suppress(Refusal):
        return _attempt(lambda: _reader(kind)(file, metadataonly=True, encoding=None)[1].file_encoding) or ""
    return ""
