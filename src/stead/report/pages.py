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
from stead.report.charts import panel
from stead.report.choosing import about, choose
from stead.report.versions import current
from stead.sampling.verdicts import FIGURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import jinja2

    from stead.report.svg import SvgChart

LARGEST_R_HAT = 100  # beyond which its digits say nothing
MOST_PICTURES = 12  # of a section
ROWS = 24  # of a table behind a chart; the assessment file holds all

# What a kind of chart means, and what it does not promise.
MEANING = {
    "attribute": (
        "The probability that the stated intruder gives to the true value, record by record. Near the line of no information, the release says next to nothing of it.",
        "It is the risk under this intruder, these guesses and this prior. A grid around the truth asks how well near values are told apart, and a small number is no proof of safety.",
    ),
    "ecdf": (
        "U_m is the largest vertical distance between the two cumulative curves. A value near the reference is what chance alone gives between two samples of this size.",
        "It looks at one column by itself. It says nothing about the relations between columns, and nothing about the risk of a single person.",
    ),
    "sweep": (
        "Each line is a record under every prior at once, from a prior near 0 at the left to one near 1 at the right. A record is safe where its whole line is accepted.",
        "It holds for the stated intruder, guesses and region. The region belongs to the holder: it is not published with the files.",
    ),
    "risk_utility": (
        "Each mark is one release. Risk is the probability of a true value given the release, utility what an analyst loses by using it.",
        "Both are of the files that were made. Another file of the same design may lie elsewhere.",
    ),
    "margins": (
        "Total variation is the share of rows that would have to change category for the two files to agree. A value near the reference is what chance alone gives.",
        "It looks at one column at a time. Equal shares do not mean that combinations of columns agree, and rare categories can still point to a person.",
    ),
    "pairs": (
        "A ratio near 1 is what chance alone gives; a large one names two columns whose table differs. The diagonal holds the columns by themselves.",
        "It looks at two columns at a time, in cells of ten or so for each. A relation of three columns, or one within a cell, is not seen.",
    ),
    "propensity": (
        "pMSE is the mean squared distance of the scores from c. A right synthesis does not give 0 but the null mean, so that a ratio near 1 is what chance alone gives.",
        "It sees what its classifier can see, and no more: another classifier may tell the files apart. It says nothing about the risk of a single person.",
    ),
    "predictive": (
        "Data are drawn anew from the fitted model, many times. A triangle marks a share of the confidential file that hardly any of them has: there the model misses something that the synthetic data will lack.",
        "It looks at one column at a time, with data that the model has seen. A model that passes may still miss how columns depend on each other.",
    ),
    "ranks": (
        "Chains that draw from the same distribution have ranks that are spread evenly: each line stays in its grey band in 95 of 100 such fits.",
        "It is the parameter of this fit with the fewest effective draws, or the highest R-hat. Chains that agree may all miss the same part of the posterior.",
    ),
    "trace": (
        "A line that swings about its middle draws from the whole distribution. A long flat piece, a drift, or chains at different heights do not.",
        "The scale is that of the draws, not of the data: where the parameter lies is not shown.",
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


def report(assessment: Mapping[str, Any]) -> str:
    """The page of one assessment."""
    import jinja2

    assessment = current(assessment)
    style = style_sheet()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    measured = assessment["measured"]
    try:
        samplers = _written(assessment["samplers"])
        chains = _cards([samplers])
        return _template().render(
            a=assessment | {"samplers": samplers},
            style=style,
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
            cards=_cards(one for one in measured if not _is_check(one)),
            checks=[(one, _cards([one])) for one in measured if _is_check(one)],
            chains=chains,
            figure_names=FIGURES,
            meaning=MEANING,
            looks=sum(card["mark"] != "ok" for card in chains["items"]),
            risk_measured=any(m["value"] is not None and m["direction"].endswith("safer") for m in measured),
            plan=json.dumps(assessment["declared"], indent=2, ensure_ascii=False).split("\n"),
        )
    except jinja2.UndefinedError as error:
        raise UsageError(
            "E-ASSESSMENT", f"the assessment is not complete: {shorten(str(error), 200)}"
        ) from None


def _is_check(measurement: Mapping[str, Any]) -> bool:
    """Whether a measurement is of the model, not of the synthetic sets."""
    return bool(measurement["name"] == "predictive check")


def _written(samplers: Mapping[str, Any]) -> dict[str, Any]:
    """The sampler check with its figures as they are shown: three digits of R-hat would hide on which side of its limit it lies."""
    shown = dict(samplers)
    shown["fits"] = [
        row
        | {
            "figures": {
                key: figure | {"written": _figure(key, figure["value"])}
                for key, figure in row["figures"].items()
            }
        }
        for row in samplers.get("fits", ())
    ]
    return shown


def _figure(key: str, value: float | None) -> str:
    if value is None:
        return look.DASH
    if key == "rhat":
        return f"{value:.3f}" if value < LARGEST_R_HAT else f"> {LARGEST_R_HAT}"
    return look.count(round(value)) if key.startswith("ess") else look.number(value)


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
    environment.filters |= {
        "number": look.number,
        "count": look.count,
        "percent": look.percent,
        "tenths": look.tenths,
    }
    environment.globals["marks"] = look.MARKS
    return environment.get_template("page.html")


def _cards(measured: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The charts of some measurements, each with what it means and the table behind it; how many are not drawn."""
    chosen = choose(measured, MOST_PICTURES)
    return {"items": [_card(one, place) for one, place in chosen.pictures], "left_out": chosen.left_out}


def _card(measurement: Mapping[str, Any], place: int) -> dict[str, Any]:
    held, chart = about(measurement, place), panel(measurement, place)
    means, promises_not = MEANING[chart.kind or measurement["aggregates"]["kind"]]
    return {
        "chart": chart,
        "table": _table(chart),
        "means": means,
        "promises_not": promises_not,
        "statistics": [_statistic(one, held) for one in held.get("statistics", ())],
        "mark": held.get("mark", "ok"),
    }


def _table(chart: SvgChart) -> dict[str, Any]:
    """The numbers behind a chart; those along an axis evenly thinned to what a page can hold."""
    heads = list(chart.numbers)
    rows = list(zip(*chart.numbers.values(), strict=True))
    along = bool(rows) and not isinstance(rows[0][0], str)
    step = max(1, -(-len(rows) // ROWS)) if along else 1
    kept = [rows[i] for i in sorted({*range(0, len(rows), step), len(rows) - 1})] if rows else []
    shown = [[_first(row[0]), *map(_cell, row[1:])] for row in kept]
    return {"heads": heads, "rows": shown, "of": len(rows), "along": along}


def _first(cell: str | float) -> str:
    """The head of a row: a category, or a place on the axis."""
    return cell if isinstance(cell, str) else look.amount(cell)


def _cell(cell: str | float) -> str:
    return cell if isinstance(cell, str) else look.number(cell)


def _statistic(held: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """A statistic of a predictive check, written in the unit of its column."""
    unit = about["unit"] if held["form"] == "place" else ""
    written = {key: look.moment(held[key], unit) for key in ("value", "low", "middle", "high")}
    return {
        "name": held["name"],
        "reason": held["reason"],
        "tail": held["tail"],
        "outside": held["outside"],
        **written,
    }
