"""Orders of floats and of small whole numbers, by counting digits: stable, and linear in the rows also beyond the cache.

numpy sorts values about as fast, but an order of 10^7 values takes it eighteen times as long as one of 10^6,
since every comparison fetches a value from far away; passes over digits read and write in sequence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stead.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Index = NDArray[np.int32]
    Keys = NDArray[np.uint64]

DIGIT = 8
FEW = 4096
"""Up to so many rows numpy's own sort stays in the nearest cache."""


def order_of(values: NDArray[np.float64]) -> Index:
    """The rows in ascending order of their values; equal values stay in order."""
    if len(values) <= FEW:
        return np.argsort(values, kind="stable").astype(np.int32)
    return _by_digits(np.ascontiguousarray(values).view(np.uint64))


@compiled
def _ascending(bits: np.uint64) -> np.uint64:
    """A whole number that ascends with the float of these bits: a negative one turns around, both zeros are one."""
    sign = np.uint64(1) << np.uint64(63)
    if bits == sign:
        return sign
    return ~bits if bits & sign else bits | sign


@compiled
def _by_digits(bits: Keys) -> Index:
    """Sort by one digit after another, the lowest first; a digit that all keys share is passed over."""
    keys, rows = np.empty_like(bits), np.arange(len(bits)).astype(np.int32)
    counts = np.zeros((8, 256), np.int64)
    for row in range(len(bits)):
        key = _ascending(bits[row])
        keys[row] = key
        for digit in range(8):
            counts[digit, (key >> np.uint64(8 * digit)) & np.uint64(255)] += 1
    other_keys, other_rows = np.empty_like(keys), np.empty_like(rows)
    for digit in range(8):
        shift = np.uint64(8 * digit)
        at = counts[digit]
        if at.max() == len(keys):
            continue
        total = np.int64(0)
        for value in range(256):
            total, at[value] = total + at[value], total
        for place in range(len(keys)):
            key = keys[place]
            value = (key >> shift) & np.uint64(255)
            other_keys[at[value]] = key
            other_rows[at[value]] = rows[place]
            at[value] += 1
        keys, other_keys = other_keys, keys
        rows, other_rows = other_rows, rows
    return rows


@compiled
def grouped(order: Index, group: Index, begin: NDArray[np.int64]) -> Index:
    """An order kept within groups, one group after another; group g begins at begin[g]."""
    at = begin.copy()
    result = np.empty_like(order)
    for row in order:
        result[at[group[row]]] = row
        at[group[row]] += 1
    return result
