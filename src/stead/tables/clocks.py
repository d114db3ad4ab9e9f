"""Dates of statistical packages: numbers that a format calls a date, each package with its own origin and unit.

    SPSS    seconds from 14 October 1582
    Stata   days (%td) or milliseconds (%tc) from 1 January 1960; %tC counts leap seconds too, at most 27, left aside
    SAS     days (DATE9.) or seconds (DATETIME20.) from 1 January 1960

Times of day, durations, weeks, months and quarters stay numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DAY = 86_400
SPSS_ORIGIN, ORIGIN = -141_428 * DAY, -3_653 * DAY
SPSS = re.compile(r"^(DATE|ADATE|EDATE|JDATE|SDATE|MOYR|QYR|WKYR|DATETIME|YMDHMS)\d")
STATA_DAY, STATA_MOMENT = re.compile(r"^%-?td|^%-?d"), re.compile(r"^%-?t[cC]")
SAS_MOMENT = re.compile(
    r"^(DATETIME|DATEAMPM|MDYAMPM|NLDATM|DT(DATE|MONYY|WKDATX|YEAR|YYQC)|[BE]8601D[NTXZ]|IS8601D[NTZ])"
)
SAS_DAY = re.compile(
    r"^(DATE|WEEKDAT[EX]|WORDDAT[EX]|NLDATE|JULIAN|MONYY|YYMON|[BE]8601DA|IS8601DA"
    r"|(DDMMYY|MMDDYY|YYMMDD|MMYY|YYMM|YYQ)[BCDNPS]?)\d*(\.|$)"
)
LARGEST = 1e15


@dataclass(frozen=True)
class Clock:
    """How numbers are moments: `unit` seconds each, from `origin` seconds before or after 1970."""

    unit: float
    origin: int

    def milliseconds(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """Moments in milliseconds from 1970; absurd numbers stay absurd, and are refused as dates."""
        ticks = np.clip(numbers * (self.unit * 1000), -LARGEST, LARGEST)
        return np.round(ticks).astype(np.int64) + self.origin * 1000

    def numbers(self, seconds: NDArray[np.int64]) -> NDArray[np.float64]:
        """Seconds from 1970 as the package counts them."""
        return (seconds - self.origin) / self.unit


SPSS_CLOCK, DAYS, SECONDS, MILLISECONDS = (
    Clock(1, SPSS_ORIGIN),
    Clock(DAY, ORIGIN),
    Clock(1, ORIGIN),
    Clock(1e-3, ORIGIN),
)


def clock_of(form: str, suffix: str) -> Clock | None:
    """The clock of a column by its format, or None where its numbers are not dates."""
    if suffix in {".sav", ".zsav", ".por"}:
        return SPSS_CLOCK if SPSS.match(form) else None
    if suffix == ".dta":
        return MILLISECONDS if STATA_MOMENT.match(form) else DAYS if STATA_DAY.match(form) else None
    return SECONDS if SAS_MOMENT.match(form) else DAYS if SAS_DAY.match(form) else None


def clock_and_format(suffix: str, unit: Literal["day", "second"]) -> tuple[Clock, str]:
    """The clock and the format of a date in a file that is written."""
    if suffix == ".dta":
        return (DAYS, "%td") if unit == "day" else (MILLISECONDS, "%tc")
    if suffix == ".xpt":
        return (DAYS, "DATE9.") if unit == "day" else (SECONDS, "DATETIME20.")
    return SPSS_CLOCK, "DATE11" if unit == "day" else "DATETIME20"
