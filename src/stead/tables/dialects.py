"""What files of SPSS, Stata and SAS can hold: names, numbers, texts, labels; checked before anything is written.

From SPSS Statistics' and Stata's help on limits, and SAS technical support note TS-140; SAS numbers are IBM's, of base 16.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import InputRefused, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

EXACT = 2**53


@dataclass(frozen=True)
class Dialect:
    """Limits of a format.

    case      whether names that differ by capitals only are different
    letters   special missing values
    pads      whether blanks at the end of a text are lost
    label, value_label   the longest ones, in letters (Stata) or bytes; 0 where it holds none
    """

    package: str
    name: re.Pattern[str]
    longest_name: int
    case: bool
    reserved: frozenset[str]
    letters: str
    longest_text: int
    pads: bool
    label: int
    value_label: int
    smallest: float
    largest: float

    def cut(self, text: str, most: int) -> str:
        """The beginning of a label that is too long, of whole letters."""
        if self.package == "Stata":
            return text[:most]
        return text.encode()[:most].decode(errors="ignore")

    def require_names(self, names: tuple[str, ...]) -> None:
        """Refuse names that the package does not take; they are not changed behind their owner's back."""
        odd = [
            name
            for name in names
            if not self.name.match(name)
            or len(name.encode()) > self.longest_name
            or (name if self.case else name.upper()) in self.reserved
        ]
        if odd:
            raise InputRefused(
                "E-NAME-FORMAT",
                f"{len(odd):,} column names cannot be written for {self.package}: {', '.join(map(shorten, odd[:10]))}; "
                f"a name is of letters, digits and _, begins with a letter, has at most {self.longest_name} bytes and is no command",
            )
        seen: dict[str, str] = {}
        same = [name for name in names if seen.setdefault(name.upper(), name) != name]
        if same and not self.case:
            raise InputRefused(
                "E-NAME-TWICE",
                f"for {self.package} {len(same):,} column names differ from others by capitals only: {', '.join(map(shorten, same[:10]))}; rename them",
            )

    def require_numbers(self, name: str, numbers: NDArray[Any]) -> None:
        """Refuse numbers that would come back as others: all are doubles there."""
        size, whole = np.abs(numbers.astype(float)), np.issubdtype(numbers.dtype, np.integer)
        inexact = int(np.count_nonzero((numbers > EXACT) | (numbers < -EXACT))) if whole else 0
        if inexact:
            raise InputRefused(
                "E-INTEGER",
                f"column {shorten(name)}: {inexact:,} whole numbers are beyond 2^53, and {self.package} holds doubles; write Parquet, or text",
            )
        beyond = int(np.count_nonzero((size > self.largest) | ((size > 0) & (size < self.smallest))))
        if beyond:
            raise InputRefused(
                "E-NUMBER",
                f"column {shorten(name)}: {beyond:,} numbers are too large or too near to zero for {self.package}; write Parquet, or text",
            )

    def require_texts(self, name: str, texts: Iterable[str]) -> None:
        """Refuse texts that would be cut."""
        wrong = sum("\0" in text or len(text.encode()) > self.longest_text for text in texts)
        if wrong:
            raise InputRefused(
                "E-TEXT-SIZE",
                f"column {shorten(name)}: {wrong:,} texts have more than {self.longest_text:,} bytes, or a NUL byte, which {self.package} cannot hold",
            )


SPSS = Dialect(
    package="SPSS",
    name=re.compile(r"^[^\W\d_][\w.$#@]*(?<!\.)$"),
    longest_name=64,
    case=False,
    reserved=frozenset({"ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"}),
    letters="",
    longest_text=32_767,
    pads=True,
    label=256,
    value_label=120,
    smallest=0.0,
    largest=1.7e308,
)
STATA = Dialect(
    package="Stata",
    name=re.compile(r"^(?!str\d+$)[^\W\d]\w*$"),
    longest_name=32,
    case=True,
    reserved=frozenset(
        [
            "_all",
            "_b",
            "_coef",
            "_cons",
            "_n",
            "_N",
            "_pi",
            "_pred",
            "_rc",
            "_skip",
            "byte",
            "double",
            "float",
            "if",
            "in",
            "int",
            "long",
            "strL",
            "using",
            "with",
        ]
    ),
    letters="abcdefghijklmnopqrstuvwxyz",
    longest_text=2_044,
    pads=False,
    label=80,
    value_label=8_000,
    smallest=0.0,
    largest=8.9e307,
)
SAS = Dialect(
    package="SAS",
    name=re.compile(r"^[A-Za-z_]\w*$", re.ASCII),
    longest_name=32,
    case=False,
    reserved=frozenset(),
    letters="_abcdefghijklmnopqrstuvwxyz",
    longest_text=32_767,
    pads=True,
    label=256,
    value_label=0,
    smallest=1e-77,
    largest=4e74,
)
DIALECTS = {".sav": SPSS, ".zsav": SPSS, ".dta": STATA, ".xpt": SAS}
