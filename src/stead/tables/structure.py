"""The structure of a delimited text file, found before any cell is read.

A reader of CSV that meets a stray separator or an open quote shifts columns or swallows rows and says
nothing. This is a second, independent parser that knows separators, quotes and line ends only, in
whole-array steps: it counts rows and the fields of each, and refuses with a line number.
"""

from __future__ import annotations

import codecs
import csv
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused, UsageError, shorten

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

QUOTE, NEWLINE, RETURN = 34, 10, 13
CHUNK = 16 << 20
LONGEST_ROW = 16 << 20
BYTE_ORDER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Structure:
    """The bytes of a file as UTF-8, where its data start, and how many rows it has, blank ones among them."""

    data: NDArray[np.uint8]
    header: tuple[str, ...]
    start: int
    rows: int
    blank: int
    quoted_newlines: bool


def load(path: Path, encoding: str) -> NDArray[np.uint8]:
    """The file as UTF-8 bytes without a byte order mark; refused where the encoding does not fit."""
    data = _bytes_of(path)
    mark = data[:3].tobytes()
    if mark.startswith(BYTE_ORDER_MARKS):
        encoding = "utf-16"
    elif mark == codecs.BOM_UTF8:
        data, encoding = data[3:], "utf-8"
    name = codec_of(encoding)
    if name in {"utf-8", "utf-8-sig", "ascii"}:
        _require_utf8(data, path)
        return data
    try:
        recoded = data.tobytes().decode(name).encode("utf-8")
    except UnicodeError:
        recoded = None
    if recoded is None:  # outside of the handler: a UnicodeError holds the bytes of the file
        raise InputRefused(
            "E-ENCODING", f"{shorten(path.name)}: is not {name}; name the right one with encoding="
        )
    return np.frombuffer(recoded, np.uint8)


def _bytes_of(path: Path) -> NDArray[np.uint8]:
    try:
        empty = path.stat().st_size == 0  # which cannot be mapped
        return np.zeros(0, np.uint8) if empty else np.memmap(path, np.uint8, "r")
    except OSError as error:
        why = error.strerror or "the system refused"
        raise UsageError("E-FILE", f"{shorten(path.name)}: cannot be opened ({why})") from None


def codec_of(encoding: str) -> str:
    """The name Python has for a text encoding; "base64" and its like are codecs, but not of text."""
    try:
        name = codecs.lookup(encoding).name
        TextIOWrapper(BytesIO(), encoding=name).close()
    except (LookupError, ValueError, TypeError):
        name = ""
    if not name:
        raise UsageError(
            "E-ENCODING",
            f"no text encoding is called {shorten(str(encoding))}; utf-8, latin-1, cp1252 and utf-16 are common",
        )
    return name


def _require_utf8(data: NDArray[np.uint8], path: Path) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    broken = None
    for start in range(0, len(data), CHUNK):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(data[start : start + CHUNK].tobytes(), final=start + CHUNK >= len(data))
        except UnicodeDecodeError as error:
            broken = start - pending + error.start
            break
    if broken is not None:
        raise InputRefused(
            "E-ENCODING",
            f'{shorten(path.name)}: is not UTF-8 from line {_line_of(data, broken):,} on; name its encoding, encoding="latin-1" or "cp1252" for example',
        )


def examine(data: NDArray[np.uint8], path: Path, delimiter: str) -> Structure:
    """Count rows and fields; refuse NUL bytes, open or stray quotes, rows that are longer or shorter than the header."""
    name = shorten(path.name)
    separator = _single_byte(delimiter)
    if not len(data):
        raise InputRefused("E-NO-ROWS", f"{name}: no rows: the file is empty")
    _refuse_nul(data, name)
    ends, fields, quoted_newlines = _records(data, separator, name)
    starts = np.concatenate([[0], ends[:-1] + 1])
    length = ends - starts
    blank = (length == 0) | ((length == 1) & (data[np.minimum(starts, len(data) - 1)] == RETURN))
    if fields[0] == 1:
        _suggest_delimiter(data[: int(ends[0])], delimiter, name)
    _refuse_long(data, name, starts, length)
    filled = np.flatnonzero(~blank)
    if not filled.size or filled[-1] == 0:
        raise InputRefused("E-NO-ROWS", f"{name}: no rows: the file has a header only")
    if blank[0]:
        raise InputRefused("E-HEADER", f"{name}: the first line is blank; it must hold the column names")
    # a blank line is a missing cell where there is one column, and at the end of others it is nothing
    last = int(filled[-1]) if fields[0] > 1 else len(ends) - 1
    _refuse_ragged(data, name, ends[: last + 1], fields[: last + 1], blank[: last + 1])
    header = _split(data[: int(ends[0])].tobytes().decode("utf-8"), delimiter, name)
    body = data[: min(int(ends[last]) + 1, len(data))]
    return Structure(body, header, int(ends[0]) + 1, last, int(blank[: last + 1].sum()), quoted_newlines)


def _single_byte(delimiter: str) -> int:
    if (
        not isinstance(delimiter, str)
        or len(delimiter) != 1
        or not delimiter.isascii()
        or delimiter in '"\n\r\0'
    ):
        raise UsageError("E-DELIMITER", "the delimiter is one ASCII character, as ',' or ';' or a tab")
    return ord(delimiter)


def _line_ends(data: NDArray[np.uint8], start: int) -> NDArray[np.bool_]:
    """Where a chunk ends a line: at LF, and at a CR that no LF follows."""
    block = np.asarray(data[start : start + CHUNK])
    following = data[start + CHUNK] if start + CHUNK < len(data) else QUOTE
    after = np.append(block[1:], following)
    ends: NDArray[np.bool_] = (block == NEWLINE) | ((block == RETURN) & (after != NEWLINE))
    return ends


def _line_of(data: NDArray[np.uint8], position: int) -> int:
    before = data[:position]
    return 1 + sum(int(np.count_nonzero(_line_ends(before, start))) for start in range(0, position, CHUNK))


def _refuse_nul(data: NDArray[np.uint8], name: str) -> None:
    for start in range(0, len(data), CHUNK):
        found = np.flatnonzero(data[start : start + CHUNK] == 0)
        if found.size:
            line = _line_of(data, start + int(found[0]))
            raise InputRefused(
                "E-NUL", f"{name}: line {line:,} holds a NUL byte; the file is damaged or is not text"
            )


def _records(
    data: NDArray[np.uint8], separator: int, name: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """Where each record ends and how many fields it has; quotes switch separators and line ends off."""
    ends: list[NDArray[np.int64]] = []
    separators: list[NDArray[np.int64]] = []
    parity, seen, quoted_newlines, opened = 0, 0, False, 0
    for start in range(0, len(data), CHUNK):
        block = np.asarray(data[start : start + CHUNK])
        quotes = block == QUOTE
        line_end = _line_ends(data, start)
        is_separator = block == separator
        if quotes.any() or parity:
            depth = (np.cumsum(quotes) + parity) & 1  # 1 from an opening quote up to its closing one
            opening = np.flatnonzero(quotes & (depth == 1)) + start
            closing = np.flatnonzero(quotes & (depth == 0)) + start
            _refuse_stray(data, opening, closing, separator, name)
            quoted_newlines = quoted_newlines or bool((line_end & (depth == 1)).any())
            line_end &= depth == 0
            is_separator &= depth == 0
            parity = int(depth[-1])
            opened = int(opening[-1]) if opening.size else opened
        at = np.flatnonzero(line_end)
        counted = np.cumsum(is_separator)
        ends.append(at + start)
        separators.append(counted[at] + seen)
        seen += int(counted[-1])
    if parity:
        raise InputRefused(
            "E-QUOTE-OPEN", f"{name}: a quote opened at line {_line_of(data, opened):,} is never closed"
        )
    all_ends, all_separators = np.concatenate(ends), np.concatenate(separators)
    if not all_ends.size or all_ends[-1] != len(data) - 1:
        all_ends, all_separators = np.append(all_ends, len(data)), np.append(all_separators, seen)
    return all_ends, np.diff(all_separators, prepend=0) + 1, quoted_newlines


def _refuse_stray(
    data: NDArray[np.uint8],
    opening: NDArray[np.int64],
    closing: NDArray[np.int64],
    separator: int,
    name: str,
) -> None:
    """Before an opening quote and after a closing one is a border of the cell, or the other half of a doubled quote."""
    beside = np.concatenate([opening - 1, closing + 1])
    inside = (beside >= 0) & (beside < len(data))
    stray = beside[inside][~np.isin(data[beside[inside]], (separator, NEWLINE, RETURN, QUOTE))]
    if stray.size:
        raise InputRefused(
            "E-QUOTE",
            f"{name}: line {_line_of(data, int(stray.min())):,} has a quote inside a cell that is not a doubled one; put the cell in quotes and double the quote",
        )


def _refuse_long(
    data: NDArray[np.uint8], name: str, starts: NDArray[np.int64], length: NDArray[np.int64]
) -> None:
    longest = int(length.argmax())
    if length[longest] > LONGEST_ROW:
        raise InputRefused(
            "E-ROW-SIZE",
            f"{name}: the row at line {_line_of(data, int(starts[longest])):,} has {int(length[longest]):,} bytes, at most {LONGEST_ROW:,}; is a quote left open, or is this not a table?",
        )


def _refuse_ragged(
    data: NDArray[np.uint8],
    name: str,
    ends: NDArray[np.int64],
    fields: NDArray[np.int64],
    blank: NDArray[np.bool_],
) -> None:
    expected = int(fields[0])
    if expected > 1 and blank[1:].any():
        line = _line_of(data, int(ends[1 + int(np.flatnonzero(blank[1:])[0])]))
        raise InputRefused(
            "E-BLANK", f"{name}: line {line:,} is blank, {int(blank[1:].sum()):,} lines in all; remove them"
        )
    wrong = np.flatnonzero(fields != expected)
    if not wrong.size:
        return
    first = int(wrong[0])
    line = _line_of(data, int(ends[first - 1]) + 1)
    count = f"{len(wrong):,} of {len(fields) - 1:,} rows"
    if len(wrong) == len(fields) - 1 and (fields[1:] == expected + 1).all():
        raise InputRefused(
            "E-TRAILING",
            f"{name}: every row has one field more than the header, from line {line:,} on: a separator at the end of the rows, or a name missing in the header",
        )
    kind, code = ("more", "E-ROW-LONG") if fields[first] > expected else ("fewer", "E-ROW-SHORT")
    raise InputRefused(
        code,
        f"{name}: line {line:,} has {kind} fields than the header ({int(fields[first])} and {expected}); {count} differ from the header",
    )


def _suggest_delimiter(header: NDArray[np.uint8], delimiter: str, name: str) -> None:
    quoted = np.cumsum(header == QUOTE) & 1
    for other in ";\t|,":
        if other != delimiter and (times := int(np.count_nonzero((header == ord(other)) & (quoted == 0)))):
            shown = 'a tab (delimiter="\\t")' if other == "\t" else f'delimiter="{other}"'
            hint = ', and perhaps decimal=","' if other == ";" else ""
            raise InputRefused(
                "E-DELIMITER",
                f"{name}: has one column when read with {delimiter!r}, and its header has {times} times {other!r}; try {shown}{hint}, or put the name in quotes",
            )


def _split(line: str, delimiter: str, name: str) -> tuple[str, ...]:
    try:
        return tuple(next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), ()))
    except csv.Error:  # its limit for one field
        pass
    raise InputRefused(
        "E-NAME-LONG", f"{name}: a name in the header has more than {csv.field_size_limit():,} characters"
    )
