"""Pages: one self-contained HTML page, rendered from the JSON of an assessment and from nothing else.

A page holds no script. Its content policy admits one style sheet, by its hash, and nothing from any
address; the charts stand in it as inline SVG, which carries no style attributes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from stead.errors import UsageError, shorten
from stead.report import look
from stead.report.charts import has_chart, panels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import jinja2

    from stead.report.svg import SvgChart

FORMAT, VERSION = "stead-assessment", 1
PARTS = (
    "format",
    "version",
    "stead",
    "title",
    "data",
    "release",
    "models",
    "measured",
    "declared",
    "notices",
)
ROWS = 24  # of a table behind a chart; the assessment file holds all

# What a kind of chart means, and what it does not promise.
MEANING = {
    "ecdf": (
        "U_m is the largest vertical distance between the two cumulative curves. A value near the reference is what chance alone gives between two samples of this size.",
        "It looks at one column by itself. It says nothing about the relations between columns, and nothing about the risk of a single person.",
    ),
    "margins": (
        "Total variation is the share of rows that would have to change category for the two files to agree. A value near the reference is what chance alone gives.",
        "It looks at one column at a time. Equal shares do not mean that combinations of columns agree, and rare categories can still point to a person.",
    ),
    "match_risk": (
        'The expected matches are the records that an intruder with this knowledge is expected to find again. Without any leak he finds as many as "no leak" says; in the real file itself, as many as "real file".',
        "It is the risk under this knowledge, this radius and this way of matching. Another intruder may know more, and a small number is no proof of safety.",
    ),
    "match_sensitivity": (
        'Each point is one choice of known columns, each line the worst choice of its size. Where the lines of the release stay near "no leak", the choice matters little.',
        "It covers the columns and radii that were named, and no others.",
    ),
}

# Diagnostics of a sampler: key, name, the bound in words, whether a value is within the bound.
DIAGNOSTICS = (
    ("ess_bulk", "Effective draws, bulk", "400 or more", lambda value: value >= 400),
    ("ess_tail", "Effective draws, tail", "400 or more", lambda value: value >= 400),
    ("rhat", "R-hat", "below 1.01", lambda value: value < 1.01),
    ("pareto_k", "Pareto k", "below 0.7", lambda value: value < 0.7),
    ("acceptance", "Acceptance rate", "", lambda _: True),
)


def report(assessment: Mapping[str, Any]) -> str:
    """The page of one assessment."""
    import jinja2

    _check(assessment)
    style = style_sheet()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    measured = assessment["measured"]
    try:
        return _template().render(
            a=assessment,
            style=style,
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
            cards=[card for m in measured if has_chart(m) for card in _cards(m)],
            diagnostics=[_diagnostics(model["diagnostics"]) for model in assessment["models"]],
            risk_measured=any(m["value"] is not None and m["direction"].endswith("safer") for m in measured),
            plan=json.dumps(assessment["declared"], indent=2, ensure_ascii=False).split("\n"),
        )
    except jinja2.UndefinedError as error:
        raise UsageError(
            "E-ASSESSMENT", f"the assessment is not complete: {shorten(str(error), 200)}"
        ) from None


def style_sheet() -> str:
    """The style sheet: the colours of `look` as custom properties, then the one file of rules."""
    rules = files("stead.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    light, dark = (
        "".join(f"--{name}:{colour};" for name, colour in colours.items())
        for colours in (look.LIGHT, look.DARK)
    )
    # A chart is drawn in the light colours; a rule outranks its attributes and gives it those of the scheme.
    chart = "".join(
        f'svg [{part}="{colour}"]{{{part}:var(--{name})}}'
        for name, colour in look.LIGHT.items()
        for part in ("fill", "stroke")
        if name != "accent"  # the same navy as confidential
    )
    scheme = f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}color-scheme:dark}}}}"
    return f":root{{{light}--font:{look.FONT}}}\n{scheme}\n{chart}\n{rules}"


def _check(assessment: Mapping[str, Any]) -> None:
    """Refuse what this version cannot show in full."""
    if assessment.get("format") != FORMAT:
        raise UsageError("E-FORMAT", f"this is no assessment: its format is not '{FORMAT}'")
    version = assessment.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise UsageError(
            "E-VERSION",
            f"the assessment has version {shorten(str(version))}; this stead reads versions up to {VERSION}. "
            "Use the stead that wrote it, or a newer one",
        )
    if missing := [part for part in PARTS if part not in assessment]:
        raise UsageError("E-ASSESSMENT", f"the assessment lacks {', '.join(missing)}")


@cache
def _template() -> jinja2.Template:
    """The template: everything is escaped, and a name that is not there is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("stead.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: look.clean(value) if type(value) is str else value,
    )
    environment.filters |= {"number": look.number, "count": look.count}
    return environment.get_template("page.html")


def _cards(measurement: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The charts of one measurement, each with what it means and the table behind it."""
    means, promises_not = MEANING[measurement["aggregates"]["kind"]]
    return [
        {"chart": chart, "table": _table(chart), "means": means, "promises_not": promises_not}
        for chart in panels(measurement)
    ]


def _table(chart: SvgChart) -> dict[str, Any]:
    """The numbers behind a chart, evenly thinned to what a page can hold."""
    heads = list(chart.numbers)
    rows = list(zip(*chart.numbers.values(), strict=True))
    step = max(1, -(-len(rows) // ROWS))
    kept = (
        [rows[i] for i in sorted({*range(0, len(rows), step), len(rows) - 1})] if "value" in heads else rows
    )
    shown = [[_first(row[0]), *(look.number(cell) for cell in row[1:])] for row in kept]
    return {"heads": heads, "rows": shown, "of": len(rows)}


def _first(cell: str | float) -> str:
    """The head of a row: a category, or a place on the axis."""
    return cell if isinstance(cell, str) else look.amount(cell)


def _diagnostics(held: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
    """The diagnostics that were computed, each beside its bound."""
    return [
        {
            "name": name,
            # Three significant digits of R-hat would hide on which side of its bound it lies.
            "value": f"{held[key]:.3f}" if key == "rhat" else look.number(held[key]),
            "bound": bound,
            "good": good(held[key]),
        }
        for key, name, bound, good in DIAGNOSTICS
        if held.get(key) is not None
    ]
