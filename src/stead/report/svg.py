"""SvgChart: a picture with its question, its answer and the numbers behind it; and the one call to the renderer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stead.errors import UsageError
from stead.report import look
from stead.store.artefacts import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
VEGA_LITE = "6.4"
LINE = 1.35  # line height of the heading

TAG = re.compile(r"<[a-z]+[^<>]*>")
NEEDLESS = re.compile(r' (?:class|role|aria-[a-z]+|font-family)="[^"]*"')
"""What Vega writes and no picture needs: names of layers, roles inside an image, the font once for each text."""
EMPTY = re.compile(r"<g(?: transform=\"translate\(0,0\)\")?></g>")
PATH = re.compile(r' d="([^"]*)"')


@dataclass(frozen=True, kw_only=True)
class SvgChart:
    """One question (`title`), its answer (`subtitle`), the picture, and the table behind it.

    `picture` has no heading, for a page that sets the heading in its own type; `svg` has one and
    stands alone. `alternative` is what a reader hears who does not see the picture. `caption` says what the
    numbers of the table are; `kind` tells pictures of one measurement apart, where it has several kinds.
    """

    title: str
    subtitle: str
    picture: str
    alternative: str
    svg: str = field(repr=False)
    numbers: Mapping[str, Sequence[str | float]]
    caption: str = "Share of rows"
    kind: str = ""

    def __repr__(self) -> str:
        return f"{self.title} {self.subtitle}"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def save(self, path: str | Path) -> Path:
        """Write an SVG, or a PNG of twice its size, by the ending of `path`."""
        path = Path(path)
        ending = path.suffix.lower()
        if ending not in {".svg", ".png"}:
            raise UsageError(
                "E-CHART-ENDING", f"a chart is saved as .svg or .png, not as {ending or 'no ending'}"
            )
        content = self.svg.encode() if ending == ".svg" else _png(self.svg)
        with replacing(path) as temporary:
            temporary.write_bytes(content)
        return path


def chart(
    spec: Mapping[str, Any],
    *,
    height: int,
    title: str,
    subtitle: str,
    alternative: str,
    numbers: Mapping[str, Sequence[str | float]],
    caption: str = "Share of rows",
    kind: str = "",
) -> SvgChart:
    """Render a Vega-Lite spec whose layout is fixed (`autosize: none`), once, and give it its heading."""
    body = _body(spec)
    words = f"<title>{escape(title)}</title><desc>{escape(alternative)}</desc>"
    heading, top = _heading(title, subtitle)
    paper = (
        f'<rect x="0" y="{-top}" width="{look.WIDTH}" height="{height + top}" fill="{look.LIGHT["card"]}"/>'
    )
    return SvgChart(
        title=title,
        subtitle=subtitle,
        alternative=alternative,
        numbers=numbers,
        caption=caption,
        kind=kind,
        picture=_root(0, height, words + body),
        svg=_root(-top, height + top, words + paper + heading + body),
    )


def _body(spec: Mapping[str, Any]) -> str:
    """What Vega draws, without its root element; no address is ever fetched."""
    import vl_convert

    whole = {"$schema": SCHEMA, "autosize": {"type": "none"}, "config": look.vega_config(), **spec}
    drawn = vl_convert.vegalite_to_svg(whole, vl_version=VEGA_LITE, allowed_base_urls=[])
    body = TAG.sub(_lean, drawn[drawn.index(">") + 1 : drawn.rindex("</svg>")])
    while (smaller := EMPTY.sub("", body)) != body:
        body = smaller
    return body


def _lean(tag: re.Match[str]) -> str:
    """A tag without what is needless, its coordinates to a tenth of a pixel. Texts are not touched."""
    if 'class="background"' in tag[0] or ' d=""' in tag[0]:
        return ""
    lean = NEEDLESS.sub("", tag[0])
    return PATH.sub(_shortened, re.sub(r' transform="[^"]*"', _rounded, lean))


def _rounded(attribute: re.Match[str]) -> str:
    """Coordinates to a tenth of a pixel."""
    return re.sub(r"-?\d+\.\d{2,}", lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), attribute[0])


def _shortened(path: re.Match[str]) -> str:
    """A path to a tenth of a pixel; one of straight lines goes by steps, which are shorter than places."""
    places = re.findall(r"([ML])(-?[\d.]+),(-?[\d.]+)", path[1])
    if "".join(f"{command}{x},{y}" for command, x, y in places) != path[1]:
        return _rounded(path)
    written, last = "", (0, 0)
    for command, *place in places:
        x, y = (round(10 * float(one)) for one in place)
        step = (x, y) if command == "M" else (x - last[0], y - last[1])
        written += command.lower() if command == "L" else command
        written += f"{_tenths(step[0])},{_tenths(step[1])}".replace(",-", "-")
        last = (x, y)
    return f' d="{written}"'


def _tenths(number: int) -> str:
    """A whole number of tenths as a decimal, as short as it goes."""
    sign, size = ("-" if number < 0 else ""), abs(number)
    fraction = f".{size % 10}" if size % 10 else ""
    return f"{sign}{size // 10 or ''}{fraction}" if size else "0"


def _root(top: int, height: int, inside: str) -> str:
    """The root element; the view box lets a page scale it down."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" font-family="{escape(look.FONT)}" width="{look.WIDTH}" height="{height}" '
        f'viewBox="0 {top} {look.WIDTH} {height}">{inside}</svg>'
    )


def _heading(title: str, subtitle: str) -> tuple[str, int]:
    """Title and subtitle as lines of text above the picture, and the height they take."""
    room = look.WIDTH - 24
    rows = [(line, look.TITLE_SIZE, "bold") for line in look.lines(title, room, look.TITLE_SIZE, bold=True)]
    titles = len(rows)
    rows += [(line, look.TEXT_SIZE, "normal") for line in look.lines(subtitle, room, look.TEXT_SIZE)]
    top = round(sum(size * LINE for _, size, _ in rows)) + 20
    drawn, below = [], 8.0 - top
    for place, (line, size, weight) in enumerate(rows):
        below += size * LINE + (4 if place == titles else 0)
        drawn.append(
            f'<text x="12" y="{below - 4:.0f}" font-size="{size}px" '
            f'font-weight="{weight}" fill="{look.LIGHT["text"]}">{escape(line)}</text>'
        )
    return "".join(drawn), top


def _png(svg: str) -> bytes:
    """The picture at twice its size."""
    import vl_convert

    return vl_convert.svg_to_png(svg, scale=2)
