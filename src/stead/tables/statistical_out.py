"""Records as files of SPSS (.sav, .zsav), Stata (.dta) and SAS transport (.xpt), with their labels and missing codes.

    codes    SPSS declares numbers and short texts missing: three, or a range and one. Stata and SAS have .a to .z
             (and SAS ._) and cannot declare a number: it is written as a value, and a notice says so.
    labels   of columns everywhere; of values in SPSS, and in Stata those of whole numbers and letters. SAS keeps none there.

Where a format would change a value it is refused; where it would lose words a notice says so.
"""

from __future__ import annotations

import errno
import re
import shutil
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import InputRefused, UsageError, shorten
from stead.tables import cells as raw
from stead.tables.arrow import pa
from stead.tables.clocks import DAY, clock_and_format
from stead.tables.dialects import DIALECTS, SAS, SPSS, STATA, Dialect
from stead.tables.transport import put_special_missing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from stead.tables.records import Records, Values
    from stead.tables.schema import Column, Level

LETTER = re.compile(r"^\.[a-z_]$")
INT32 = (-2_147_483_647, 2_147_483_620)
SHORT_TEXT = 8
MEASURES = {"categorical": "nominal", "binary": "nominal", "ordered": "ordinal"}
LOST = {
    "E-CODES-PLAIN": "{package} cannot declare all missing codes here; they are written as values, and the schema tells them apart",
    "E-LABELS-LOST": "{package} cannot hold all labels here; some are left out",
    "E-LABELS-CUT": "some labels are longer than {package} allows and are cut",
    "E-BLANKS-LOST": "{package} fills texts up with blanks, so that those at their end are lost",
}


def write_package(records: Records, path: Path) -> None:
    """Write a file of SPSS, Stata or SAS, by the ending of `path`."""
    try:
        import polars as pl
        import pyreadstat
    except ImportError:
        raise UsageError(
            "E-EXTRA", f"{path.suffix} files need pyreadstat and polars: pip install 'stead[io]'"
        ) from None
    dialect = DIALECTS[path.suffix.lower()]
    dialect.require_names(records.names)
    sheet = Sheet(dialect, path.suffix.lower())
    for name in records.names:
        sheet.add(records.schema[name], records[name])
    frame = pl.DataFrame(
        [
            pl.Series(name, cells.tolist(), pl.Object)
            if isinstance(cells, np.ndarray)
            else pl.Series(name, cells)
            for name, cells in sheet.cells.items()
        ]
    )
    write: dict[str, Callable[..., None]] = {
        SPSS.package: pyreadstat.write_sav,
        STATA.package: pyreadstat.write_dta,
        SAS.package: pyreadstat.write_xport,
    }
    _attempt(lambda: write[dialect.package](frame, str(path), **sheet.settings()), path)
    if dialect is SAS:
        capitals = {
            records.names.index(name): tags - (tags >= ord("a")) * 32 for name, tags in sheet.tags.items()
        }
        put_special_missing(path, capitals)
    for code, names in sheet.lost.items():
        raw.note(
            code,
            f"column {', '.join(map(shorten, names[:10]))}: {LOST[code].format(package=dialect.package)}",
        )


def _attempt(write: Callable[[], None], path: Path) -> None:
    """What the library says of a failure stays here: it may quote a cell."""
    failed = False
    try:
        write()
    except OSError:
        raise
    except Exception:  # noqa: BLE001 - its errors have no common base
        failed = True
    if failed and shutil.disk_usage(path.parent).free < 1 << 20:
        raise OSError(errno.ENOSPC, "")
    if failed:
        raise InputRefused(
            "E-FORMAT",
            f"a {path.suffix} file cannot hold these records, and its writer does not say why; write Parquet",
        )


@dataclass(repr=False)
class Sheet:
    """What is written, by column; `tags` are letters of special missing values, `lost` the columns that lose something."""

    dialect: Dialect
    suffix: str
    cells: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[Any, str]] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    measures: dict[str, str] = field(default_factory=dict)
    missing: dict[str, list[Any]] = field(default_factory=dict)
    tags: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    lost: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def settings(self) -> dict[str, Any]:
        """The arguments of the library's writer."""
        both: dict[str, Any] = {"column_labels": self.labels, "variable_format": self.formats}
        if self.dialect is SAS:
            return both
        both["variable_value_labels"] = self.values
        if self.dialect is STATA:
            return both | {"missing_user_values": {name: list(STATA.letters) for name in self.tags}}
        return both | {
            "missing_ranges": self.missing,
            "variable_measure": self.measures,
            "compress": self.suffix == ".zsav",
        }

    def add(self, column: Column, held: Values) -> None:
        """Take a column."""
        self.measures[column.name] = MEASURES.get(column.kind, "scale")
        if column.label:
            self.labels[column.name] = self._cut(column.name, column.label, self.dialect.label)
        text = column.coded and any(isinstance(level, str) for level in column.levels)
        labels = self._add_texts(column, held) if text else self._add_numbers(column, held)
        if labels and self.dialect.value_label:
            self.values[column.name] = {
                value: self._cut(column.name, words, self.dialect.value_label)
                for value, words in labels.items()
            }
        if len(labels) < len(column.labels):
            self._lose("E-LABELS-LOST", column.name)

    def _cut(self, name: str, text: str, most: int) -> str:
        short = self.dialect.cut(text, most)
        if short != text:
            self._lose("E-LABELS-CUT", name)
        return short

    def _lose(self, code: str, name: str) -> None:
        if name not in self.lost[code]:
            self.lost[code].append(name)

    # ---- text

    def _add_texts(self, column: Column, held: Values) -> dict[Any, str]:
        """The column as text; returns the labels that it can have."""
        name, codes = column.name, [str(code) for code in column.missing]
        texts = [*map(str, column.levels), *codes]
        index = np.where(held.missing > 0, len(column.levels) + held.missing - 1, held.values)
        used = [texts[place] for place in np.unique(index[held.missing >= 0])]
        self.dialect.require_texts(name, texts)
        if self.dialect.pads and any(text.endswith(" ") for text in texts):
            self._lose("E-BLANKS-LOST", name)
        places = pa.array(index, pa.int32(), mask=held.missing < 0)
        self.cells[name] = pa.DictionaryArray.from_arrays(places, pa.array(texts, pa.string())).cast(
            pa.string()
        )
        if (
            self.dialect is SPSS
            and len(codes) <= 3
            and all(len(code.encode()) <= SHORT_TEXT for code in codes)
        ):
            self.missing[name] = list(codes)
        elif codes:
            self._lose("E-CODES-PLAIN", name)
        if self.dialect is not SPSS:
            return {}
        # the library makes a column as many bytes wide as the value of a label has letters
        width = max(
            [len(text.encode()) for text in used] + [len(str(value)) for value, _ in column.labels], default=0
        )
        return {str(value): words for value, words in column.labels if len(str(value).encode()) <= width}

    # ---- numbers

    def _add_numbers(self, column: Column, held: Values) -> dict[Any, str]:
        """The column as numbers; returns the labels that it can have."""
        name, values = column.name, _values(column, held)
        self.dialect.require_numbers(name, values[held.present])
        numbers, tags = self._as_numbers(column, values), np.zeros(len(held), np.uint8)
        declared, homeless = [], 0
        for place, code in enumerate(column.missing, start=1):
            there = held.missing == place
            number = self._number(column, code)
            if self._tag(code):
                tags[there] = self._tag(code)
            elif number is not None:
                numbers[there] = number
                declared.append(number)
            else:
                homeless += int(there.sum())
        if homeless:
            raise InputRefused(
                "E-MISSING-CODES",
                f"column {shorten(name)}: {homeless:,} cells hold missing codes for which {self.dialect.package} has no place; "
                f"give the schema numbers{' or .a to .z' if self.dialect.letters else ''} instead",
            )
        self._declare(name, declared, np.concatenate([numbers[held.present], _level_numbers(column)]))
        labels = self._number_labels(column)
        lettered = tags.any() or any(isinstance(value, str) for value in labels)
        if lettered:
            self.tags[name] = tags
        self.cells[name] = self._cells(
            numbers, (held.missing < 0) | (tags > 0), tags, lettered=bool(lettered)
        )
        self._show(column, numbers[held.missing >= 0])
        return labels

    def _tag(self, code: Level) -> int:
        """The letter of a special missing value, 0 where the code is none that the format has."""
        tag = isinstance(code, str) and LETTER.match(code) and code[1] in self.dialect.letters
        return ord(str(code)[1]) if tag else 0

    def _as_numbers(self, column: Column, values: NDArray[Any]) -> NDArray[np.float64]:
        if column.kind != "date":
            return values.astype(float)
        clock, self.formats[column.name] = clock_and_format(self.suffix, column.unit)
        return clock.numbers(values * (DAY if column.unit == "day" else 1))

    def _number(self, column: Column, value: Level) -> float | None:
        """The number that a code or a labelled value is; that of a date is written as a date."""
        if column.kind != "date":
            return raw.as_number(value)
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            return None
        seconds = np.array([int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp())])
        return float(clock_and_format(self.suffix, column.unit)[0].numbers(seconds)[0])

    def _declare(self, name: str, codes: list[float], others: NDArray[np.float64]) -> None:
        ranges = _ranges(codes, others) if self.dialect is SPSS else None
        if codes and ranges is not None:
            self.missing[name] = ranges
        elif codes:
            self._lose("E-CODES-PLAIN", name)

    def _number_labels(self, column: Column) -> dict[Any, str]:
        labels: dict[Any, str] = {}
        for value, words in column.labels:
            number = self._number(column, value)
            if self.dialect is STATA and self._tag(value):
                labels[chr(self._tag(value))] = words
            elif self.dialect is SPSS and number is not None:
                labels[number] = words
            elif (
                self.dialect is STATA
                and number is not None
                and number.is_integer()
                and INT32[0] <= number <= INT32[1]
            ):
                labels[int(number)] = words
        return labels

    def _cells(
        self,
        numbers: NDArray[np.float64],
        empty: NDArray[np.bool_],
        tags: NDArray[np.uint8],
        *,
        lettered: bool,
    ) -> Any:
        """For the library: doubles; for Stata whole numbers where they are, or numbers and letters in one column."""
        if self.dialect is not STATA:
            return pa.array(numbers, mask=empty)
        if lettered:
            mixed = numbers.astype(object)
            mixed[empty] = np.nan
            for tag in np.unique(tags[tags > 0]):
                mixed[tags == tag] = chr(tag)
            return mixed
        there = numbers[~empty]
        whole = (there == np.rint(there)).all() and ((there >= INT32[0]) & (there <= INT32[1])).all()
        return pa.array(np.where(empty, 0, numbers).astype(np.int32 if whole else np.float64), mask=empty)

    def _show(self, column: Column, numbers: NDArray[np.float64]) -> None:
        """The width and the decimals that SPSS shows, where the schema knows them."""
        places = 0 if column.whole or column.coded else column.decimals
        if self.dialect is SPSS and column.kind != "date" and places is not None and numbers.size:
            fractions = places == 0 and bool((numbers != np.rint(numbers)).any())
            digits = len(f"{np.abs(numbers).max():.0f}")
            self.formats[column.name] = (
                f"F{min(40, max(8, digits + places + 2))}.{2 if fractions else places}"
            )


def _values(column: Column, held: Values) -> NDArray[Any]:
    if not column.coded:
        return held.values
    return _level_numbers(column)[held.values] if column.levels else held.values


def _level_numbers(column: Column) -> NDArray[Any]:
    whole = all(isinstance(level, int) for level in column.levels)
    return np.array(
        [int(level) if whole else float(level) for level in column.levels], np.int64 if whole else float
    )


def _ranges(codes: list[float], others: NDArray[np.float64]) -> list[Any] | None:
    """Codes as SPSS declares them: up to three, or a range that holds no other number, and one beside it."""
    if len(set(codes)) <= 3:
        return list(dict.fromkeys(codes))
    ordered = sorted(set(codes))
    for single in ([], ordered[:1], ordered[-1:]):
        ranged = [code for code in ordered if code not in single]
        if not ((others >= ranged[0]) & (others <= ranged[-1])).any():
            return [{"lo": ranged[0], "hi": ranged[-1]}, *single]
    return None
