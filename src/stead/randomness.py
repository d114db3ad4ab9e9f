"""Where random numbers come from: one source, split by name of place, never by order of work.

A `rng` argument is a numpy Generator, an int, or None. None takes 256 bits from the system: a seed
that is known lets an intruder who knows the model make the release again, or test a guess, so the
default is a secret that stays in the internal folder.

Work is split into row blocks of fixed size, each with its own spawned stream. A block's numbers
therefore depend on the seed and on the block's position alone: one worker and many give the same
bytes, and a block can be drawn on another machine.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from stead.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

Rng: TypeAlias = np.random.Generator | int | None

BLOCK = 65_536
"""Rows per block: 512 KiB a float column, so a design of 30 columns stays under 16 MiB."""


def fresh_entropy() -> int:
    """256 bits from the operating system."""
    return secrets.randbits(256)


def seed_of(rng: Rng) -> int | None:
    """The seed that `rng` stands for, a fresh one for None; None for a Generator, which does not tell its own."""
    if isinstance(rng, np.random.Generator):
        return None
    if rng is None:
        return fresh_entropy()
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    raise UsageError(
        "E-RNG", f"rng is a numpy Generator, a whole number from 0, or None; not {type(rng).__name__}"
    )


def generator(rng: Rng) -> np.random.Generator:
    """The Generator that `rng` stands for; an int or None makes a new one."""
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(seed_of(rng))


def row_blocks(rows: int, block: int = BLOCK) -> list[slice]:
    """The fixed partition of `rows` rows."""
    return [slice(start, min(start + block, rows)) for start in range(0, rows, block)]


def thin_rows(rows: int, most: int) -> NDArray[np.int64]:
    """Places of at most `most` rows, spread evenly over all: a sample that is the same every time."""
    return np.unique(np.linspace(0, rows - 1, min(rows, most)).astype(np.int64))


def streamed_blocks(rows: int, rng: np.random.Generator) -> Iterator[tuple[slice, np.random.Generator]]:
    """Each row block beside the stream that belongs to its position."""
    blocks = row_blocks(rows)
    yield from zip(blocks, rng.spawn(len(blocks)), strict=True)
