"""A set of ranks that grows, and how many of its members are below a rank: prefix counts over words of bits.

Each rank enters once. A word holds 64 ranks as bits; above it stand exact prefix counts, of words within a span of 256 words
and of spans. Entering adds one to the counts behind it (numbers in a row, which the processor does many at a time), and
counting reads two numbers and one word, without a branch. For 10^7 ranks all of it is 1.6 MB and stays near, where a
Fenwick tree is 40 MB and misses the cache at most of its 24 steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stead.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bits = NDArray[np.uint64]
    Words = NDArray[np.int16]
    Spans = NDArray[np.int32]


@compiled
def empty_set(ranks: int) -> tuple[Bits, Words, Spans]:
    """An empty set over ranks 0, 1, ..., `ranks`."""
    spans = (ranks >> 14) + 1
    return np.zeros(spans << 8, np.uint64), np.zeros(spans << 8, np.int16), np.zeros(spans, np.int32)


@compiled
def enter(rank: int, bits: Bits, words: Words, spans: Spans) -> None:
    """Put a rank into the set. Unsigned places cannot count from the end, so that the loops become vector instructions."""
    place = np.uint64(rank)
    word, span = place >> np.uint64(6), place >> np.uint64(14)
    bits[word] |= np.uint64(1) << (place & np.uint64(63))
    for later in range(word + np.uint64(1), (span + np.uint64(1)) << np.uint64(8)):
        words[later] += np.int16(1)
    for later in range(span + np.uint64(1), np.uint64(len(spans))):
        spans[later] += np.int32(1)


@compiled
def below(rank: int, bits: Bits, words: Words, spans: Spans) -> np.int64:
    """How many members are smaller than a rank."""
    place = np.uint64(rank)
    word = place >> np.uint64(6)
    before = bits[word] & ((np.uint64(1) << (place & np.uint64(63))) - np.uint64(1))
    return np.int64(spans[place >> np.uint64(14)]) + np.int64(words[word]) + ones(before)


@compiled
def ones(word: np.uint64) -> np.int64:
    """How many bits are set; the compiler knows this form and makes one instruction of it."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
