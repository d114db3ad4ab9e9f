"""How much a file may unpack to: a small file that claims to be a huge table is refused before it is one."""

from __future__ import annotations

from stead.errors import InputRefused

MOST_CELLS = 1_000_000_000
EXPANSION, FREE = 50, 64 << 20
"""A file may unpack to 50 times its size; below 64 MiB nobody asks. Wide surveys of mostly empty cells reach 30."""


def bearable(size: int) -> int:
    """How many bytes a file of `size` bytes may unpack to."""
    return max(FREE, EXPANSION * size)


def require_bearable(unpacked: int, size: int, name: str) -> None:
    """Refuse a file that unpacks to more than it may."""
    if unpacked > bearable(size):
        raise InputRefused(
            "E-SIZE",
            f"{name}: has {size:,} bytes and unpacks to {unpacked:,} or more, at most {bearable(size):,} are read; if it is right, save it without compression",
        )


def require_few_cells(rows: int, columns: int, name: str) -> None:
    """Refuse a table that no machine here would hold."""
    if rows * columns > MOST_CELLS:
        raise InputRefused(
            "E-SIZE",
            f"{name}: {rows:,} rows of {columns:,} columns are more than {MOST_CELLS:,} cells; read fewer columns or rows",
        )
