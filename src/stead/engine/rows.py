"""An engine made of two things that it is told: how columns become digits, and how to go through the rows of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from stead.engine.base import Chances, Groups, Matches
from stead.engine.chances import alike, by_holdout, by_margins
from stead.engine.coding import coded, compact, decoded, joined, mixed
from stead.engine.counting import Coded, count, probabilities, summaries
from stead.engine.regions import Regions
from stead.kernels import choose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stead.engine.base import Convention
    from stead.engine.coding import Digit
    from stead.engine.regions import Keys
    from stead.tables.records import Records

    Arrays = tuple[NDArray[Any], ...]
    Floats = NDArray[np.float64]

Table = TypeVar("Table")


class RowEngine(ABC, Generic[Table]):
    """Matching in memory, from rows that a subclass hands over block by block.

    What is kept of them is one whole number for the columns that must agree, and a float for each that must be near.
    """

    def __init__(self, *, compiled: bool = True) -> None:
        """Count with compiled kernels, or with their plain twins."""
        self.kernels = choose(compiled=compiled)

    @abstractmethod
    def digits(self, names: Sequence[str], near: Sequence[str], tables: Sequence[Table]) -> tuple[Digit, ...]:
        """How columns become digits, the same for some tables; of those that must be near only what is missing counts."""

    @abstractmethod
    def map_rows(self, function: Callable[[Records], Arrays], table: Table, names: Sequence[str]) -> Arrays:
        """Apply a function to blocks of rows, in order; its arrays are joined along their last axis."""

    def match_counts(
        self, confidential: Table, synthetic: Sequence[Table], keys: Keys, convention: Convention
    ) -> Matches:
        """Count matches; row i of each set stands for confidential row i."""
        near_kept, near_made = keys.near(keys.kept), keys.near(keys.made)
        kept = self.digits(keys.kept, near_kept, [confidential])
        made = self.digits(keys.made, near_made, [confidential, *synthetic])
        words, points, real_words, real_points = self.map_rows(
            lambda rows: (*coded(kept, near_kept, rows), *coded(made, near_made, rows)),
            confidential,
            keys.kept + keys.made,
        )
        sets = [self.map_rows(lambda rows: coded(made, near_made, rows), one, keys.made) for one in synthetic]
        (kept_code,), kept_codes = joined([words], kept, self.kernels.dense)
        (real, *codes), made_codes = joined([real_words, *(one for one, _ in sets)], made, self.kernels.dense)
        regions = Regions.around(_stacked(points, real_points), near_kept + near_made, keys)
        held = Coded(
            kept=kept_code,
            kept_codes=kept_codes,
            real=real,
            made=codes,
            made_codes=made_codes,
            regions=regions,
            points=[_stacked(_zeroed(points), _zeroed(one)) for _, one in sets],
        )
        if convention == "summaries":
            return Matches.of(*summaries(held, self.kernels))
        counts, own = probabilities(held, self.kernels)
        return Matches.of(counts[None], own[None])

    def chances(self, confidential: Table, keys: Keys, holdout: Table | None = None) -> Chances:
        """What a release without any leak would give each record, or each group of records that are alike."""
        tables = [confidential] if holdout is None else [confidential, holdout]
        near_kept, near_made = keys.near(keys.kept), keys.near(keys.made)
        kept, made = self.digits(keys.kept, near_kept, tables), self.digits(keys.made, near_made, tables)
        coding = [
            self.map_rows(
                lambda rows: (*coded(kept, near_kept, rows), *coded(made, near_made, rows)),
                table,
                keys.kept + keys.made,
            )
            for table in tables
        ]
        codes, size = joined([one[0] for one in coding], kept, self.kernels.dense)
        made_codes, made_size = joined([one[2] for one in coding], made, self.kernels.dense)
        both, both_size = mixed(codes, size, made_codes, made_size, self.kernels.dense)
        split = len(near_kept)
        regions = Regions.around(_stacked(coding[0][1], coding[0][3]), near_kept + near_made, keys)
        around = regions.along(slice(split, None))
        if near_kept + near_made:
            rows, weight = np.arange(len(both[0])), np.ones(len(both[0]), np.int64)
        else:
            rows, weight = alike(both[0], both_size)
        if holdout is None:
            digits = decoded(made, coding[0][2][:, rows])
            share = by_margins(digits, weight, near_made, regions.centre[split:], around, self.kernels)
        else:
            share = by_holdout(
                (codes[0], codes[1], size),
                (made_codes[0], made_codes[1], made_size),
                (both[0], both[1], both_size),
                _zeroed(coding[1][3]),
                around,
                self.kernels,
            )[rows]
        own = regions.along(slice(split))
        known = count(own, codes[0], codes[0], own.centre, size, self.kernels)[rows]
        return Chances(weight, known.astype(np.int64), share)

    def group_counts(
        self, tables: Sequence[Table], keys: Sequence[str], target: Sequence[str] = ()
    ) -> Groups:
        """Count rows by keys, and within these by target; every column must agree, numbers among them."""
        by_keys, by_target = self.digits(keys, (), tables), self.digits(target, (), tables)
        coding = [
            self.map_rows(
                lambda rows: (*coded(by_keys, (), rows), *coded(by_target, (), rows), _present(rows)),
                table,
                (*keys, *target),
            )
            for table in tables
        ]
        codes, keys_size = joined([one[0] for one in coding], by_keys, self.kernels.dense)
        targets, size = joined([one[2] for one in coding], by_target, self.kernels.dense)
        cells, total = mixed(codes, keys_size, targets, size, self.kernels.dense)
        cells, total = compact(cells, self.kernels.dense)
        group: NDArray[Any] = np.empty(total, np.int32)
        present = np.empty(total, np.bool_)
        for cell, code, one in zip(cells, codes, coding, strict=True):
            group[cell], present[cell] = code, one[4]
        (group,), _ = compact([group], self.kernels.dense)
        counts = np.array([np.bincount(cell, minlength=total) for cell in cells])
        return Groups(counts, group.astype(np.int64), present)


def _present(records: Records) -> NDArray[np.bool_]:
    """Which rows have a value in every column."""
    present = np.ones(records.rows, np.bool_)
    for name in records.names:
        present &= records[name].present
    return present


def _zeroed(points: Floats) -> Floats:
    """Missing coordinates at zero, in place: their rows meet only rows that miss them too."""
    points[np.isnan(points)] = 0.0
    return points


def _stacked(first: Floats, second: Floats) -> Floats:
    """Coordinates of kept columns above those of synthesized ones."""
    return np.vstack([first, second]) if len(first) and len(second) else first if len(first) else second
