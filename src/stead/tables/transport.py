"""SAS transport files (.xpt): where their numbers lie, to read and to write special missing values, ._ and .A to .Z.

A special missing number has the letter as its first byte and zeros behind it, as the plain one has a point (SAS
technical support note TS-140, "The record layout of a data set in SAS transport format"). The library knows the plain
one only. A file holds records of 80 bytes: headers, a description of 140 bytes for each variable, then the rows,
end to end, and blanks up to the next multiple of 80.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused, shorten
from stead.tables.formats import broken

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

RECORD, BLANK = 80, 0x20
LETTERS = frozenset(b"_ABCDEFGHIJKLMNOPQRSTUVWXYZ")
HEADER = b"HEADER RECORD*******"
DESCRIPTION = np.dtype(
    {
        "names": ["kind", "length", "place"],
        "formats": [">i2", ">i2", ">i4"],
        "offsets": [0, 4, 84],
        "itemsize": 140,
    }
)


@dataclass(frozen=True)
class Layout:
    """Where the rows begin, how long one is, how many are claimed (0 where it is not said); each variable's place in a row."""

    start: int
    width: int
    rows: int
    places: tuple[int, ...]
    lengths: tuple[int, ...]
    numeric: tuple[bool, ...]


def special_missing(file: Path, rows: int) -> dict[int, tuple[tuple[str, ...], NDArray[np.int8]]]:
    """For each numeric variable that has special missing values: their letters, and which of them stands in each row, from 1."""
    data = np.memmap(file, np.uint8, "r")
    layout = _layout(data, file)
    body = data[layout.start :]
    end = rows * layout.width
    cut = end > len(body) or bool((np.asarray(body[end:]) != BLANK).any())
    if cut or len(data) % RECORD or rows < layout.rows:
        raise broken(file)  # in a row, in the blanks behind the last one, or between two
    cells = body[:end].reshape(rows, layout.width)
    found = {}
    for variable, (place, length, numeric) in enumerate(
        zip(layout.places, layout.lengths, layout.numeric, strict=True)
    ):
        if not numeric:
            continue
        first = np.asarray(cells[:, place])
        bare = (cells[:, place + 1 : place + length] == 0).all(axis=1)  # other numbers have digits behind it
        letters = [letter for letter in np.unique(first[bare]).tolist() if letter in LETTERS]
        tags = np.zeros(rows, np.int8)
        for tag, letter in enumerate(letters, start=1):
            tags[bare & (first == letter)] = tag
        if letters:
            found[variable] = (tuple(map(chr, letters)), tags)
    return found


def put_special_missing(file: Path, letters: Mapping[int, NDArray[np.uint8]]) -> None:
    """Write letters (0 where there is none) over the points of plain missing numbers, variable by variable."""
    if not letters:
        return
    data = np.memmap(file, np.uint8, "r+")
    layout = _layout(data, file)
    rows = len(next(iter(letters.values())))
    cells = data[layout.start : layout.start + rows * layout.width].reshape(rows, layout.width)
    for variable, column in letters.items():
        there = np.flatnonzero(column)
        cells[there, layout.places[variable]] = column[there]
    data.flush()


def _layout(data: NDArray[np.uint8], file: Path) -> Layout:
    heads = data[: len(data) // RECORD * RECORD].reshape(-1, RECORD)
    begun = np.flatnonzero((heads[:, : len(HEADER)] == np.frombuffer(HEADER, np.uint8)).all(axis=1))
    headers = {int(place): bytes(heads[place]) for place in begun}
    tables, variables, rows = (
        [place for place, text in headers.items() if text[len(HEADER) :].startswith(name)]
        for name in (b"MEMB", b"NAM", b"OBS")
    )
    if len(tables) > 1:
        raise InputRefused(
            "E-TABLES",
            f"{shorten(file.name)}: holds {len(tables)} tables; save the one that is meant in a file of its own",
        )
    if not (variables and rows):
        raise broken(file)
    first, start = (variables[0] + 1) * RECORD, (rows[0] + 1) * RECORD
    count, claimed = _number(headers[variables[0]][48:58]), _number(headers[rows[0]][48:63])
    if not count or first + count * DESCRIPTION.itemsize > start:
        raise broken(file)
    described = np.frombuffer(data[first : first + count * DESCRIPTION.itemsize].tobytes(), DESCRIPTION)
    lengths, places = described["length"].astype(int), described["place"].astype(int)
    if (lengths < 1).any() or (places != np.cumsum(lengths) - lengths).any():
        raise broken(file)
    numeric = (described["kind"] == 1).tolist()
    return Layout(
        start, int(lengths.sum()), claimed, tuple(places.tolist()), tuple(lengths.tolist()), tuple(numeric)
    )


def _number(text: bytes) -> int:
    return int(text) if text.strip().isdigit() else 0
