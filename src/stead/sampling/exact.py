"""Exact draws from rational weights, with bits from the operating system.

    categories    P(k) = w_k / sum_l w_l                                       for whole weights of any size
    urn           theta ~ Dirichlet(w / D), then draws from theta, theta integrated out (Blackwell & MacQueen 1973):
                  draw j is new, from w, with probability W / (W + j D), W = sum_l w_l; else a copy of one of the j before it

A uniform number is known by its first 64 bits; these decide all draws but one in 2^64 or so, whose further bits are drawn
when they are asked for. No float takes part, and there is no seed: noise that can be replayed protects nobody.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from secrets import token_bytes
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

WORD = 64
BLOCK = 1 << 20


def draw_categories(weights: Sequence[int], count: int) -> Whole:
    """`count` independent draws with probabilities proportional to whole `weights`."""
    ends = list(accumulate(weights))
    total = ends[-1]
    if total <= 0 or min(weights) < 0:
        raise ValueError("weights are not negative, and one is above 0")
    shifted = [divmod(end << WORD, total) for end in ends[:-1]]
    thresholds = np.array([min(whole, 2**WORD - 1) for whole, _ in shifted], np.uint64)
    unsure = np.unique(np.array([whole for whole, rest in shifted if rest], np.uint64))
    drawn = np.empty(count, np.int64)
    for start in range(0, count, BLOCK):
        words = _words(min(BLOCK, count - start))
        found = np.searchsorted(thresholds, words, side="right").astype(np.int64)
        last = words == np.uint64(2**WORD - 1)  # a threshold of 2^64 does not fit into a word
        for place in np.flatnonzero(np.isin(words, unsure) | last):
            found[place] = _settled(int(words[place]), ends)
        drawn[start : start + len(words)] = found
    return drawn


def draw_urn(weights: Sequence[int], copy: int, count: int) -> Whole:
    """`count` draws that share one theta ~ Dirichlet(weights / copy)."""
    new = _are_new(sum(weights), copy, count)
    source = np.where(new, np.arange(count), 0)
    later = np.flatnonzero(~new)
    source[later] = _below(later)
    while not new[source].all():  # a copy of a copy is a copy of what that was copied from
        source = source[source]
    first = np.zeros(count, np.int64)
    first[new] = draw_categories(weights, int(np.count_nonzero(new)))
    return first[source]


def _are_new(total: int, copy: int, count: int) -> NDArray[np.bool_]:
    """True with probability total / (total + place copy), each by itself."""
    exact = ((total << WORD) // (total + place * copy) for place in range(count))
    thresholds = np.fromiter((min(whole, 2**WORD - 1) for whole in exact), np.uint64, count)
    words = _words(count)
    new = words < thresholds
    for place in np.flatnonzero(words == thresholds).tolist():
        new[place] = _settled(int(words[place]), [total, total + place * copy]) == 0
    return new


def _below(bounds: Whole) -> Whole:
    """A whole number from 0 to each bound - 1, all alike: what is too large is drawn again."""
    drawn = np.zeros(len(bounds), np.int64)
    open_ = np.arange(len(bounds))
    bits = np.array([WORD - int(bound - 1).bit_length() for bound in bounds.tolist()], np.uint64)
    while len(open_):
        short = np.minimum(bits[open_], np.uint64(WORD - 1))  # a bound of 1 leaves no bit: its number is 0
        tried = (_words(len(open_)) >> short).astype(np.int64) * (bits[open_] < WORD)
        drawn[open_] = tried
        open_ = open_[tried >= bounds[open_]]
    return drawn


def _settled(word: int, ends: Sequence[int]) -> int:
    """The category of a uniform number whose first bits are `word`, more of them drawn until there is no doubt."""
    total, bits = ends[-1], WORD
    while True:
        low, high = word * total >> bits, ((word + 1) * total - 1) >> bits
        found = bisect_right(ends, low)
        if found == bisect_right(ends, high):
            return found
        word, bits = word << WORD | _word(), bits + WORD


def _words(count: int) -> NDArray[np.uint64]:
    return np.frombuffer(token_bytes(count * WORD // 8), np.uint64)


def _word() -> int:
    return int.from_bytes(token_bytes(WORD // 8), "little")
