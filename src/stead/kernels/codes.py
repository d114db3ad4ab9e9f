"""Whole numbers of any size to 0, 1, 2, ...: a table that grows with what it meets, so that few values stay in the cache.

The plain twin is `plain.dense`; which number gets which code differs between the two, and nothing may depend on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stead.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Index = NDArray[np.int32]


def dense(numbers: Whole) -> tuple[Whole, int]:
    """For each number a code, the same for the same numbers, and how many codes there are."""
    return _dense(np.ascontiguousarray(numbers, np.int64))


@compiled
def _dense(numbers: Whole) -> tuple[Whole, int]:
    bits, met = 10, 0
    held, code_at = np.zeros(1 << bits, np.int64), np.full(1 << bits, -1, np.int32)
    codes = np.empty(len(numbers), np.int64)
    for row in range(len(numbers)):
        place = _find(numbers[row], held, code_at, bits)
        if code_at[place] < 0:
            held[place], code_at[place] = numbers[row], met
            met += 1
        codes[row] = code_at[place]
        if 2 * met > len(held):
            held, code_at, bits = _wider(held, code_at, bits)
    return codes, met


@compiled
def _find(number: np.int64, held: Whole, code_at: Index, bits: int) -> np.int64:
    """The place of a number, or the free place where it belongs; neighbours are tried in turn."""
    mixed = np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    place = np.int64(
        (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93) >> np.uint64(64 - bits)
    )
    while code_at[place] >= 0 and held[place] != number:
        place = (place + 1) & (len(held) - 1)
    return place


@compiled
def _wider(held: Whole, code_at: Index, bits: int) -> tuple[Whole, Index, int]:
    """The same table with two more bits."""
    bits += 2
    wider, wider_codes = np.zeros(1 << bits, np.int64), np.full(1 << bits, -1, np.int32)
    for place in range(len(held)):
        if code_at[place] >= 0:
            there = _find(held[place], wider, wider_codes, bits)
            wider[there], wider_codes[there] = held[place], code_at[place]
    return wider, wider_codes, bits
