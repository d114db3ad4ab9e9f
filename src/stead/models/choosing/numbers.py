"""What the values of a numeric column show: spikes, heaps, a lowest value, the scale on which they are nearly normal.

spike   a value that at least 2 % of the records share at either end of the column, 5 % elsewhere: five times as many as
        the values beside it have and, where values are rounded, as the rounder ones beside it, and three times as many as
        the commonest others. Zero at the lower end needs .5 %, because a logarithm stops there.
heap    a multiple u of the last decimal, from 5, 10, 50, 100, ...; among the multiples of the next finer unit those of u
        are more frequent than their share by six standard errors, and by 3 % of the records.
scale   the function whose values lie closest to a straight line against normal quantiles (Shapiro & Francia 1972,
        Journal of the American Statistical Association 67); the column's own scale unless another halves the distance.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from stead.language.functions import FUNCTIONS, IDENTITY
from stead.models.choices import Shape
from stead.models.rounding import unit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stead.tables.records import Values
    from stead.tables.schema import Column

    Array = NDArray[np.float64]

FEWEST_ROWS, FEWEST_VALUES = 50, 20
SPIKE_RECORDS, SHARE_AT_ZERO, SHARE_AT_END, SHARE_INSIDE = 10, 0.005, 0.02, 0.05
OVER_NEIGHBOURS, OVER_COMMONEST, MOST_SPIKES = 5.0, 3.0, 3
HEAP_ERRORS, HEAP_SHARE, MOST_HEAPS, COARSE = 6.0, 0.03, 3, 1e-3
LOOKED_AT = 5_000
NEARLY_NORMAL, BETTER = 0.01, 0.5
EXACT_FLOAT = 2.0**53
LADDER = (1, *(digit * 10**power for power in range(9) for digit in (5, 10)))


def shape_of(column: Column, held: Values) -> Shape:
    """What a continuous column shows beyond what it declares."""
    present = held.values[held.present].astype(float)
    if column.kind != "continuous" or len(present) < FEWEST_ROWS:
        return Shape(column.name)
    why = []
    unit = unit_of(column)
    spikes = () if column.spikes else spikes_in(present, heaps_in(present[present != 0], unit))
    if spikes:
        records = int(np.isin(present, spikes).sum())
        which = "one value: a spike" if len(spikes) == 1 else f"{len(spikes)} values: spikes"
        why.append(f"{records:,} of {len(present):,} records share {which}, modelled apart")
    body = present[~np.isin(present, column.spikes or spikes)]
    heaps = () if column.heaps else heaps_in(body, unit)
    if heaps:
        records = int(_multiple(np.round(body / unit), round(heaps[0] / unit)).sum())
        units = "a rounder unit" if len(heaps) == 1 else f"{len(heaps)} rounder units"
        why.append(
            f"{records:,} of {len(body):,} values are multiples of {units}, more than chance gives: rounding is part of the model"
        )
    lowest = None
    if column.bounds[0] is None and present.min() >= 0 and scale_of(body) != "log":
        lowest = 0.0
        why.append("no value is below 0, and none will be")
    if column.whole:
        spikes, heaps = tuple(map(int, spikes)), tuple(map(int, heaps))
    return Shape(column.name, spikes, heaps, lowest, tuple(why))


def spikes_in(present: Array, heaps: tuple[float, ...] = ()) -> tuple[float, ...]:
    """Values that many records share, in order; `heaps` are the units that values are rounded to."""
    distinct, counts = np.unique(present, return_counts=True)
    last = len(distinct) - 1
    if last + 1 < FEWEST_VALUES:
        return ()
    commonest = np.median(np.sort(counts[distinct != 0][1:-1])[-10:])
    found: list[float] = []
    for place in [*np.argsort(-counts, kind="stable")[: 4 * MOST_SPIKES].tolist(), 0, last]:
        value = float(distinct[place])
        floor = value == 0 and place == 0
        share = SHARE_AT_ZERO if floor else SHARE_AT_END if place in {0, last} else SHARE_INSIDE
        near = [float(np.median(np.delete(counts[max(0, place - 5) : place + 6], min(place, 5))))]
        near += [] if floor else [_beside(distinct, counts, value, heap) for heap in heaps]
        needed = max(SPIKE_RECORDS, share * len(present), OVER_NEIGHBOURS * max(near))
        if not floor:
            needed = max(needed, OVER_COMMONEST * commonest)
        if counts[place] >= needed and value not in found:
            found.append(value)
    found = found[:MOST_SPIKES]
    left = len(present) - int(np.isin(present, found).sum())
    return tuple(sorted(found)) if left >= 2 * SPIKE_RECORDS else ()


def _beside(distinct: Array, counts: NDArray[np.int64], value: float, heap: float) -> float:
    """How often, in the median, the multiples of a unit beside one occur; 0 where the value is none."""
    steps = np.round(value / heap)
    if abs(value / heap - steps) > 1e-6:
        return 0.0
    wanted = (steps + np.array([-2.0, -1.0, 1.0, 2.0])) * heap
    place = np.searchsorted(distinct, wanted - 1e-6 * heap)
    inside = place < len(distinct)
    inside[inside] = np.abs(distinct[place[inside]] - wanted[inside]) < 1e-6 * heap
    return float(np.median(counts[place[inside]])) if inside.any() else 0.0


def heaps_in(body: Array, unit: float) -> tuple[float, ...]:
    """Units that values are rounded to, finest first; looked for from the coarsest on, because a finer one divides it."""
    if not unit or len(body) < FEWEST_ROWS or np.abs(body).max() / unit >= EXACT_FLOAT:
        return ()
    steps = np.round(body / unit)
    spread = float(np.subtract(*np.quantile(steps, [0.75, 0.25])))
    most = np.abs(steps).max() / 2
    ladder = [ratio for ratio in LADDER if ratio == 1 or COARSE * spread <= ratio <= most]
    excesses: dict[int, float] = {}
    coarser = 0
    for finer, ratio in reversed(list(pairwise(ladder))):
        pool = steps[(np.abs(steps) >= 2 * ratio) & _multiple(steps, finer)]
        beyond = 1.0 / coarser if coarser else 0.0
        if coarser:
            pool = pool[~_multiple(pool, coarser)]
        chance = (1.0 / ratio - beyond) / (1.0 / finer - beyond)
        excess = float(_multiple(pool, ratio).sum()) - len(pool) * chance
        error = np.sqrt(max(len(pool), 1) * chance * (1.0 - chance))
        if excess > HEAP_ERRORS * error and excess >= HEAP_SHARE * len(body):
            excesses[ratio] = excess
            coarser = ratio
    kept = sorted(excesses, key=lambda ratio: -excesses[ratio])[:MOST_HEAPS]
    return tuple(float(np.round(ratio * unit, 12)) for ratio in sorted(kept))


def _multiple(steps: Array, ratio: int) -> NDArray[np.bool_]:
    return np.asarray(np.mod(steps, ratio) == 0)


def scale_of(values: Array) -> str:
    """The function on whose scale the values are most nearly normal; "" for their own."""
    if len(values) < 3 or values.min() == values.max():
        return ""
    lowest, zeros = float(values.min()), bool((values == 0).any())
    allowed = ["asinh"] if lowest < 0 else ["log"] if lowest > 0 else ["log1p"]
    allowed += [] if zeros else ["cbrt"]  # its slope at 0 is infinite
    ordered = np.quantile(values, np.linspace(0, 1, min(len(values), LOOKED_AT)), method="nearest")
    far = {name: _distance(FUNCTIONS[name].forward(ordered)) for name in allowed}
    own = _distance(IDENTITY.forward(ordered))
    best = min(far, key=far.__getitem__)
    return best if own > NEARLY_NORMAL and far[best] < BETTER * own else ""


def _distance(ordered: Array) -> float:
    """1 - r^2 between ordered values and normal quantiles: one less the Shapiro-Francia statistic."""
    count = len(ordered)
    normal = ndtri((np.arange(1, count + 1) - 0.375) / (count + 0.25))
    away = ordered - ordered.mean()
    size = float(away @ away) * float(normal @ normal)
    return 1.0 - float(away @ normal) ** 2 / size if size > 0 else 1.0
