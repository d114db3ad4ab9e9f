"""How stead looks, in one place: colours, fonts, sizes, and the way a number is written.

Charts and pages read everything from here. The same names are the custom properties of the style
sheet, so that a page can give a chart its dark colours.
"""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING, Any
from unicodedata import category, east_asian_width

if TYPE_CHECKING:
    from collections.abc import Iterator

FONT = 'system-ui, "Segoe UI", "DejaVu Sans", sans-serif'
WIDTH, HEIGHT = 560, 340
TEXT_SIZE, TICK_SIZE, TITLE_SIZE = 14, 13, 17  # a phone shows a chart at two thirds of this

LIGHT = {
    "page": "#f5f6f8",
    "card": "#ffffff",
    "text": "#1b2530",
    "quiet": "#55606c",
    "grid": "#e4e7eb",
    "band": "#e9ecf0",
    "reference": "#69737f",
    "accent": "#1f4e79",
    "confidential": "#1f4e79",
    "synthetic": "#c4611a",
    "synthetic-text": "#a94f0f",  # the orange of the marks is too light for small letters
    "synthetic-pale": "#edc9ae",
    "warn": "#7a5200",
    "depth-0": "#eaf0f6",  # of a map, from nothing to much; the last two carry the colour of the card as ink
    "depth-1": "#c7d7e8",
    "depth-2": "#93b3d3",
    "depth-3": "#40709f",
    "depth-4": "#1b3f63",
    "accept": "#e4f1e6",  # a region where risk is accepted, and its hatching
    "accept-line": "#b5d3bb",
    "fail": "#93291e",
}
DARK = {
    "page": "#14181d",
    "card": "#1d232a",
    "text": "#e8ebef",
    "quiet": "#aab3bd",
    "grid": "#353d47",
    "band": "#28303a",
    "reference": "#98a2ad",
    "accent": "#9cc4ec",
    "confidential": "#8fbdeb",
    "synthetic": "#f0954f",
    "synthetic-text": "#f2a468",
    "synthetic-pale": "#6e4a30",
    "warn": "#e8b84a",
    "depth-0": "#232b34",
    "depth-1": "#2c3f52",
    "depth-2": "#3a5f84",
    "depth-3": "#8db6de",
    "depth-4": "#c9def3",
    "accept": "#22362a",
    "accept-line": "#3f5f49",
    "fail": "#f28b7d",
}

MARKS = {"ok": "✓ within", "warn": "▲ look", "fail": "✕ bad", "none": "–"}
"""How a verdict is written: a sign and a word, so that it needs no colour."""

DASH = "–"
EPOCH = date(1970, 1, 1).toordinal()
_JOINERS = "\u200c\u200d"  # hold an emoji or a Persian word together; every other format character goes
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float | None) -> str:
    """A measured number: three significant digits, thousands separated, never a bare 0.000."""
    if value is None or not math.isfinite(value):
        return DASH
    sign, size = ("−" if value < 0 else ""), abs(value)
    if size >= 1e15:
        return amount(value)
    if 0 < size < 0.001:
        return "> −0.001" if sign else "< 0.001"
    if size < 1000 and size == int(size):
        return f"{sign}{int(size)}"
    size = float(f"{size:.3g}")
    decimals = max(0, 2 - math.floor(math.log10(size)))
    return f"{sign}{size:,.{decimals}f}"


def count(n: int) -> str:
    """How many there are: every digit, thousands separated."""
    return f"{n:,}"


def percent(share: float) -> str:
    """A share in percent, three significant digits at most."""
    return f"{100 * share:.3g} %"


def tenths(value: float) -> str:
    """A number that is only meant roughly."""
    return tick(round(value, 1))


def amount(value: float) -> str:
    """A place on the axis of a column, which may be tiny: like `number`, but a power of ten, not "< 0.001"."""
    if value == 0 or 0.001 <= abs(value) < 1e15 or not math.isfinite(value):
        return number(value)
    digits, power = f"{value:.2e}".split("e")
    digits = digits.rstrip("0").rstrip(".").replace("-", "−")
    return f"{digits}×10{str(int(power)).translate(_SUPERSCRIPT)}"


def moment(value: float | None, unit: str = "") -> str:
    """A place on the scale of a column: a date where its unit is day or second, else an amount."""
    if value is None or unit not in {"day", "second"}:
        return DASH if value is None else amount(value)
    days = math.floor(value if unit == "day" else value / 86_400)
    first = date.min.toordinal() - EPOCH
    return date.fromordinal(min(max(days, first), date.max.toordinal() - EPOCH) + EPOCH).isoformat()


def tick(value: float) -> str:
    """The label of a tick: round already, so no zeros are added behind it."""
    if value != 0 and not 1e-4 <= abs(value) < 1e15:
        return amount(value)
    text = f"{value:,.10f}".rstrip("0").rstrip(".").replace("-", "−")
    return text if text != "−0" else "0"


def clean(text: str) -> str:
    """A name as it may be shown: without characters that break XML or turn the direction of what follows."""
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    """The character, or the replacement mark where it is control, format, surrogate or separator."""
    refused = category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and character not in _JOINERS
    return "\ufffd" if refused or ord(character) & 0xFFFE == 0xFFFE else character


def width(text: str, size: float = TEXT_SIZE, *, bold: bool = False) -> float:
    """About how many pixels a line takes, from the widest of our fonts: too much rather than too little."""
    units = sum(_units(character) for character in text)
    return units * size * (1.1 if bold else 1.0)


def _units(character: str) -> float:
    """The advance of one character in parts of the font size."""
    if east_asian_width(character) in "WF":
        return 1.35
    if character in "mwMW@%—–":
        return 0.95
    return 0.72 if character.isupper() else 0.36 if character in " .,:;'!|ijl" else 0.63


def short(text: str, pixels: float, size: float = TEXT_SIZE) -> str:
    """A name cut in its middle to fit: long labels of one column differ at their ends as often as at their heads."""
    text = clean(text)
    if width(text, size) <= pixels:
        return text
    keep = len(text) - 1
    while keep > 2 and width(_cut(text, keep), size) > pixels:
        keep -= 1
    return _cut(text, keep)


def _cut(text: str, keep: int) -> str:
    """The head and the tail of a text, `keep` characters together."""
    tail = keep * 2 // 5
    return f"{text[: keep - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"


def lines(text: str, pixels: float, size: float, *, bold: bool = False) -> list[str]:
    """Break a text into lines; a single word is never wider, since names come here shortened."""
    return list(_broken(text.split(), pixels, size, bold=bold))


def _broken(words: list[str], pixels: float, size: float, *, bold: bool) -> Iterator[str]:
    line = ""
    for word in words:
        longer = f"{line} {word}".strip()
        if line and width(longer, size, bold=bold) > pixels:
            yield line
            line = word
        else:
            line = longer
    if line:
        yield line


def vega_config() -> dict[str, Any]:
    """The Vega-Lite config of every chart."""
    return {
        "aria": False,  # the picture is one image with a title and a description of its own
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "text": {"fontSize": TEXT_SIZE, "fill": LIGHT["text"], "baseline": "middle"},
        "axis": {
            "domain": False,
            "ticks": False,
            "grid": True,
            "labelFlush": False,
            "gridColor": LIGHT["grid"],
            "labelColor": LIGHT["quiet"],
            "labelFontSize": TICK_SIZE,
            "labelPadding": 6,
            "labelOverlap": False,  # the ticks are chosen so that they fit
            "labelBound": False,
            "titleColor": LIGHT["text"],
            "titleFontSize": TEXT_SIZE,
            "titleFontWeight": "normal",
            "titlePadding": 8,
        },
    }
