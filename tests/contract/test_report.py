"""What charts and pages promise: numbers as written, labels apart, an SVG that stands alone, refusals with a reason."""

from __future__ import annotations

import math
import re
from itertools import combinations
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from stead.errors import UsageError
from stead.measurement import Measurement, not_available
from stead.models.fits import Fit
from stead.models.samplers import fit_table, worst_first
from stead.report import look
from stead.report.axes import axis
from stead.report.charts import draw, has_chart, panels
from stead.report.pages import report, style_sheet
from stead.report.placing import Box
from stead.sampling.diagnostics import Diagnostics, independent
from stead.sampling.proposals import CHAINS
from stead.sampling.traces import worst_traces
from stead.sampling.verdicts import limits, summary
from stead.utility.scores import histogram

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from stead.report.charts import SvgChart

SVG = "{http://www.w3.org/2000/svg}"
CHANCE = "two samples of this size"


def ecdf(
    files: NDArray[np.float64],
    *,
    column: str = "Income",
    scale: str = "linear",
    reference: float | None = 0.019,
) -> dict[str, Any]:
    """A measurement of the curves of `files`: the first row confidential, the others synthetic."""
    grid = np.unique(np.quantile(files, np.linspace(0, 1, 200), method="nearest"))
    curves = np.array([np.searchsorted(np.sort(row), grid, side="right") / len(row) for row in files])
    gaps = np.abs(curves[1:] - curves[0])
    each, worst = gaps.max(1), int(gaps.max(1).argmax())
    return Measurement(
        name=f"U_m of {column}",
        value=float(each.mean()),
        reference=reference,
        reference_name=CHANCE,
        per_dataset=tuple(float(value) for value in each),
        aggregates={
            "kind": "ecdf",
            "column": column,
            "scale": scale,
            "grid": grid.tolist(),
            "confidential": curves[0].tolist(),
            "synthetic": curves[1:].tolist(),
            "at": float(grid[gaps[worst].argmax()]),
            "worst_dataset": worst,
        },
    ).to_dict()


def margins(columns: dict[str, list[str]], *, m: int = 5) -> dict[str, Any]:
    """A measurement of margins with made-up shares."""
    rng = np.random.default_rng(11)
    held = []
    for column, labels in columns.items():
        shares = rng.dirichlet(np.ones(len(labels)))
        sets = rng.dirichlet(200 * shares + 1, size=m)
        held.append(
            {
                "column": column,
                "labels": labels,
                "confidential": shares.tolist(),
                "synthetic": sets.mean(0).tolist(),
                "low": sets.min(0).tolist(),
                "high": sets.max(0).tolist(),
                "total_variation": float(np.abs(sets.mean(0) - shares).sum() / 2),
                "reference": 0.018,
            }
        )
    aggregates = {"kind": "margins", "columns": held}
    return Measurement(
        name="total variation", value=0.02, reference=0.018, reference_name=CHANCE, aggregates=aggregates
    ).to_dict()


def scores(kind: str, *, m: int = 1, c: float = 0.5, known: bool = True) -> dict[str, Any]:
    """A measurement of propensity scores of one shape."""
    rng = np.random.default_rng(5)
    rows, made = 900, int(900 * c / (1 - c))
    values = {
        "near": c + 0.01 * rng.normal(size=rows + made),
        "apart": np.concatenate([rng.beta(2, 8, rows), rng.beta(8, 2, made)]),
        "skewed": np.clip(c - 0.02 + 0.02 * rng.exponential(size=rows + made), 0, 1),
        "tiny": c + 1e-5 * rng.normal(size=rows + made),
        "few": rng.choice([0.4, 0.5, 0.52, 0.7], rows + made),
    }[kind]
    spread = {"near": 0.01, "tiny": 1e-5}.get(kind, 0.03) if known else None
    return {
        **Measurement(
            name="pMSE",
            value=float(np.mean((values - c) ** 2)),
            reference=spread**2 if spread else None,
            reference_name="null mean, proper synthesis" if known else "",
            aggregates={
                "kind": "propensity",
                "c": c,
                "sets": m,
                "worst_dataset": m - 1,
                "null_spread": spread,
                **histogram(values, rows),
            },
        ).to_dict(),
        "ratio": float(np.mean((values - c) ** 2)) / spread**2 if spread else None,
        "z": 9.85 if known else None,
    }


def pairs(names: list[str], *, kept: int = 2) -> dict[str, Any]:
    """A measurement of pairs; the last columns were kept."""
    rng = np.random.default_rng(6)
    made = len(names) - kept
    ratio = np.exp(rng.normal(0.5, 1.5, (len(names), len(names))))
    held = [
        [float(ratio[i, j]) if i < made or j < made else None for j in range(len(names))]
        for i in range(len(names))
    ]
    return Measurement(
        name="margins of order 2",
        value=0.02,
        reference=0.018,
        reference_name=CHANCE,
        aggregates={"kind": "pairs", "columns": names, "of": len(names) + 3, "ratio": held},
    ).to_dict()


def posterior(pace: float, *, columns: int = 1, each: int = 250) -> list[dict[str, Any]]:
    """Pictures of chains that move at some pace; at 0 they are independent."""
    rng = np.random.default_rng(7)
    noise = rng.normal(size=(CHAINS, each + 200, columns))
    for step in range(1, each + 200):
        noise[:, step] = pace * noise[:, step - 1] + noise[:, step]
    draws = noise[:, 200:].transpose(1, 0, 2).reshape(-1, columns)
    return [one.to_dict() for one in worst_traces(draws, [f"term {k}" for k in range(columns)])]


def samplers(*fits: tuple[str, Diagnostics], pace: float = 0.0) -> dict[str, Any]:
    """A sampler check of some fits, with pictures of those that have chains."""
    listed = [Fit(name, name, checked, np.zeros((0, 0)), ()) for name, checked in fits]
    table = fit_table(worst_first(listed))
    pictures = [
        {"fit": row["fit"], "mark": row["mark"], **picture}
        for row in table
        if row["figures"]["rhat"]["value"] is not None
        for picture in posterior(pace)
    ]
    return Measurement(
        name="samplers",
        value=float(sum(row["mark"] == "fail" for row in table)),
        reference=0.0,
        details={
            "summary": summary([row["mark"] for row in table]),
            "limits": limits(),
            "fits": table,
            "no_chart": "" if pictures else "the draws are independent",
        },
        aggregates={"kind": "chains", "columns": pictures} if pictures else {},
    ).to_dict()


CLOSED = ("Income", independent("independent draws from the closed form", 1000))
GOOD = ("Insured", Diagnostics("a chain", 1000, 700.0, 650.0, 1.002, 0.2, 0.81))
SLOW = ("Smokes", Diagnostics("a chain", 1000, 300.0, 250.0, 1.02, 0.2, 0.4))
STUCK = ("Drinks", Diagnostics("a chain", 1000, 6.0, 5.0, 2.4, 0.9, 0.01))


def predictive(*columns: str, cells: int = 20, labels: list[str] | None = None) -> dict[str, Any]:
    """A predictive check of some columns with made-up shares, the second cell of each outside."""
    rng = np.random.default_rng(3)
    held = []
    for column in columns:
        names = labels or [f"{1000 * k:,} to {1000 * (k + 1):,}" for k in range(cells)]
        shares = rng.dirichlet(np.full(len(names), 30.0))
        low, high = 0.9 * shares, 1.1 * shares
        own = shares.copy()
        own[1] *= 1.3
        statistic = {"name": "mean", "form": "place", "reason": "", "value": 52_300.0, "low": 51_000.0}
        held.append(
            {
                "column": column,
                "kind": "categorical" if labels else "continuous",
                "unit": "",
                "draws": 59,
                "rows": 4962,
                "cells": names,
                "bounds": [] if labels else [f"{1000 * k:,}" for k in range(1, len(names))],
                "confidential": own.tolist(),
                "low": low.tolist(),
                "middle": shares.tolist(),
                "high": high.tolist(),
                "outside": [k == 1 for k in range(len(names))],
                "statistics": [
                    {**statistic, "middle": 52_000.0, "high": 53_000.0, "tail": 0.3, "outside": False},
                    dict.fromkeys(("value", "low", "middle", "high", "tail", "outside"))
                    | {"name": "share of zeros", "form": "share", "reason": "a group of fewer than ten rows"},
                ],
            }
        )
    return Measurement(
        name="predictive check",
        value=0.05,
        reference=0.1,
        reference_name="of the cells by chance",
        details={"draws": 59, "rows": 4962, "of_rows": 9000, "not_compared": ["Rare"]},
        aggregates={"kind": "predictive", "columns": held},
    ).to_dict()


def assessment(
    measured: list[dict[str, Any]], *fits: tuple[str, Diagnostics], override: str = "", pace: float = 0.0
) -> dict[str, Any]:
    """A whole assessment around some measurements and fits."""
    return first_version(measured) | {
        "version": 2,
        "samplers": samplers(*(fits or (CLOSED,)), pace=pace),
        "declared": {"plan": {"m": 5}, "override": override},
    }


def first_version(measured: list[dict[str, Any]]) -> dict[str, Any]:
    """An assessment as the first version of the format had it."""
    column = {"kind": "continuous", "role": "outcome", "why": "named in the plan"}
    model = {
        "response": "log(Income)",
        "formula": "log(Income) ~ Race",
        "model": "Linear",
        "prior": "weak",
        "draws": 1000,
        "method": "independent draws from the closed form",
        "diagnostics": {
            "ess_bulk": 120.0,
            "ess_tail": None,
            "rhat": 1.002,
            "pareto_k": None,
            "acceptance": None,
        },
        "notes": ["One note."],
    }
    return {
        "format": "stead-assessment",
        "version": 1,
        "stead": "0.1.0",
        "title": "Survey",
        "data": {
            "file": "survey.csv",
            "rows": 4962,
            "columns": [
                {"name": "Income", "synthesized": True, **column},
                {"name": "Race", "synthesized": False, **column},
            ],
        },
        "release": {
            "m": 5,
            "rows": 4962,
            "synthesized": ["Income"],
            "kept": ["Race"],
            "aligned": True,
            "proper": None,
            "files": ["public/synthetic-1.csv"],
        },
        "models": [model],
        "measured": measured,
        "declared": {"plan": {"m": 5}},
        "notices": ["2 rows were kept as missing."],
    }


def files(kind: str, m: int, n: int = 800) -> NDArray[np.float64]:
    """One confidential and m synthetic files of one shape."""
    rng = np.random.default_rng(3)
    shift = np.linspace(0, 0.4, m + 1)[:, None]
    normal = rng.normal(size=(m + 1, n))
    shapes: dict[str, Callable[[], NDArray[np.float64]]] = {
        "lognormal": lambda: np.exp(10 + normal + shift),
        "zeros": lambda: np.where(rng.random((m + 1, n)) < 0.6, 0.0, np.exp(8 + normal + shift)),
        "both signs": lambda: 1000 * rng.standard_t(2, (m + 1, n)) + 500 * shift,
        "counts": lambda: rng.poisson(2 + shift, (m + 1, n)).astype(float),
        "constant": lambda: np.full((m + 1, n), 7.0),
        "same": lambda: np.repeat(normal[:1], m + 1, axis=0),
        "huge": lambda: 5e8 + 2e8 * normal + 1e8 * shift,
        "tiny": lambda: 1e-7 * (5 + normal + shift),
        "far": lambda: 45 + 12 * normal + 300 * shift,
    }
    return shapes[kind]()


CURVES = {
    f"{kind}, m={m}, {scale}": (kind, m, scale)
    for kind in ("lognormal", "zeros", "both signs", "counts", "constant", "same", "huge", "tiny", "far")
    for m, scale in ((1, "linear"), (5, "log"), (20, "linear"))
}
LABELS = {
    "two": ["male", "female"],
    "twelve long": [
        f"Persons in a household of a kind that takes long to name, region {i}" for i in range(12)
    ],
    "forty": [f"M{i:02d}" for i in range(40)],
    "odd": ["<script>", "\"quotes' &amp;", "😀👩‍👩‍👧", "مرحبا بالعالم", "\u202eturned", "nul\x00", ""],
}


def texts(svg: str) -> list[tuple[str, Box]]:
    """Every label of a picture and the box it takes, from its position and the widths of the widest font."""
    found: list[tuple[str, Box]] = []

    def walk(node: ET.Element, x: float, y: float) -> None:
        move = re.match(r"translate\(([-\d.]+),([-\d.]+)\)", node.get("transform", ""))
        x, y = (x + float(move[1]), y + float(move[2])) if move else (x, y)
        if node.tag == f"{SVG}text" and node.text:
            size = float(node.get("font-size", "0").removesuffix("px"))
            wide = look.width(node.text, size)
            left = x - wide * {"end": 1.0, "middle": 0.5}.get(node.get("text-anchor", ""), 0.0)
            found.append((node.text, Box(left, y - 0.75 * size, left + wide, y + 0.2 * size)))
        for child in node:
            walk(child, x, y)

    walk(ET.fromstring(svg), 0, 0)  # noqa: S314  our own output
    return found


def assert_apart(svg: str) -> None:
    labels = texts(svg)
    assert len(labels) > 3
    for (first, a), (second, b) in combinations(labels, 2):
        assert not a.overlaps(b), f"{first!r} lies on {second!r}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "–"),
        (0.0, "0"),
        (0.0009, "< 0.001"),
        (-0.0009, "> −0.001"),
        (0.001, "0.00100"),
        (0.0254, "0.0254"),
        (0.025, "0.0250"),
        (0.5, "0.500"),
        (0.9996, "1.00"),
        (1.0, "1"),
        (38.0, "38"),
        (41.44, "41.4"),
        (999.6, "1,000"),
        (2310.0, "2,310"),
        (18432.7, "18,400"),
        (-12.345, "−12.3"),
        (1.5e9, "1,500,000,000"),
        (2e15, "2×10¹⁵"),
    ],
)
def test_a_number_is_written_with_three_significant_digits(value: float | None, text: str) -> None:
    assert look.number(value) == text


@pytest.mark.parametrize("value", 10.0 ** np.arange(-12, 14, 0.7))
def test_no_number_is_a_bare_zero(value: float) -> None:
    assert re.fullmatch(r"0(\.0*)?", look.number(value)) is None


def test_counts_keep_every_digit_and_places_keep_their_power() -> None:
    assert look.count(1234567) == "1,234,567"
    assert look.amount(3.14e-7) == "3.14×10⁻⁷"
    assert look.amount(-2e-5) == "−2×10⁻⁵"
    assert [look.tick(value) for value in (0.25, -0.02, 1e9, -0.0)] == ["0.25", "−0.02", "1,000,000,000", "0"]


def test_long_names_are_cut_in_the_middle_and_stay_different() -> None:
    cut = {look.short(label, 200) for label in LABELS["twelve long"]}
    assert len(cut) == 12
    assert max(look.width(label) for label in cut) <= 200


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [look.LIGHT, look.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["page", "card"])
def test_every_text_colour_has_enough_contrast(scheme: dict[str, str], ground: str) -> None:
    for name in ("text", "quiet", "accent", "confidential", "synthetic-text", "warn", "fail"):
        assert contrast(scheme[name], scheme[ground]) >= 4.5, name


@pytest.mark.parametrize(("kind", "m", "scale"), CURVES.values(), ids=CURVES.keys())
def test_labels_of_curves_lie_apart_and_inside(kind: str, m: int, scale: str) -> None:
    picture = draw(ecdf(files(kind, m), scale=scale)).picture
    assert_apart(picture)
    assert all(box.left >= 0 and box.right <= look.WIDTH for _, box in texts(picture))


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS.keys())
@pytest.mark.parametrize("m", [1, 5])
def test_labels_of_shares_lie_apart(labels: list[str], m: int) -> None:
    picture = draw(margins({"Region": labels}, m=m)).picture
    assert_apart(picture)
    assert sum(text == "confidential" for text, _ in texts(picture)) == 1


@pytest.mark.parametrize("kind", ["near", "apart", "skewed", "tiny", "few"])
@pytest.mark.parametrize(("m", "c", "known"), [(1, 0.5, True), (5, 0.8, True), (12, 0.5, False)])
def test_labels_of_scores_lie_apart_and_inside(kind: str, m: int, c: float, known: bool) -> None:
    drawn = draw(scores(kind, m=m, c=c, known=known))
    assert_apart(drawn.picture)
    assert all(box.left >= 0 and box.right <= look.WIDTH for _, box in texts(drawn.picture))
    assert ("not available" in drawn.subtitle) is not known
    assert ("Drawn is set" in drawn.subtitle) is (m > 1)
    assert sum(drawn.numbers["confidential"]) == pytest.approx(1, abs=1e-3)  # type: ignore[arg-type]
    assert any(words.startswith(f"c = {c:g}") for words, _ in texts(drawn.picture))


@pytest.mark.parametrize(
    "names",
    [
        ["Income", "Expenditure"],
        ["Income", "Expenditure", "UrbanRural", "Race", "KidsCount"],
        [f"A column with a long name, of which there are many, {place}" for place in range(10)],
        LABELS["odd"],
    ],
    ids=["two", "five", "ten long", "odd"],
)
@pytest.mark.parametrize("kept", [0, 1])
def test_labels_of_pairs_lie_apart_and_every_pair_has_its_number(names: list[str], kept: int) -> None:
    measured = pairs(names, kept=kept)
    drawn = draw(measured)
    assert_apart(drawn.picture)
    assert all(box.left >= 0 and box.right <= look.WIDTH for _, box in texts(drawn.picture))
    cells = [cell for i, row in enumerate(measured["aggregates"]["ratio"]) for cell in row[: i + 1]]
    assert len(drawn.numbers["pMSE ratio"]) == sum(cell is not None for cell in cells)
    assert drawn.numbers["pMSE ratio"] == sorted(drawn.numbers["pMSE ratio"], reverse=True)


def test_what_stands_on_a_depth_of_colour_has_enough_contrast() -> None:
    for scheme in (look.LIGHT, look.DARK):
        for depth in range(5):
            assert contrast(scheme[f"depth-{depth}"], scheme["card" if depth > 2 else "text"]) >= 4.5
        for name in ("text", "confidential", "synthetic-text"):
            assert contrast(scheme["band"], scheme[name]) >= 4.5


def test_a_page_shows_scores_and_pairs_with_what_they_mean() -> None:
    page = report(assessment([scores("near", m=5), pairs(["Income", "Race", "Kids"])]))
    assert page.count("<figure") == 2
    assert "another classifier may tell the files apart" in page


def test_ticks_are_round_within_the_axis_and_have_room() -> None:
    for kind, low, high in [
        ("linear", -3.0, 1e9),
        ("log", 1e-9, 1e9),
        ("symlog", -500.0, 1e6),
        ("log", 105, 115),
    ]:
        across = axis(kind, low, high, 460)
        ticks = across.ticks()
        assert len(ticks) >= 2
        assert all(low <= value <= high for value in ticks)
        places = [across.position(value) for value in ticks]
        wide = max(look.width(look.tick(value), look.TICK_SIZE) for value in ticks)
        assert places == sorted(places)
        assert min(np.diff(places)) > wide / 2


def test_a_chart_gives_question_answer_reference_and_numbers() -> None:
    chart = draw(ecdf(files("lognormal", 5), scale="log"))
    assert chart.title == "Does synthetic Income follow the distribution of the confidential Income?"
    assert re.fullmatch(
        rf"U_m = 0\.\d{{3,4}} \(mean of 5 sets\), largest near [\d,]+; {CHANCE}: 0\.0190\.", chart.subtitle
    )
    assert list(chart.numbers) == ["value", "confidential", *(f"synthetic {i}" for i in range(1, 6))]
    assert len({len(column) for column in chart.numbers.values()}) == 1


def test_the_marked_gap_is_that_of_the_worst_set_not_the_mean() -> None:
    held = ecdf(files("lognormal", 5))
    worst = held["per_dataset"][held["aggregates"]["worst_dataset"]]
    labels = [text for text, _ in texts(draw(held).picture)]
    assert f"largest gap {look.number(worst)}" in labels
    assert look.number(worst) != look.number(held["value"])
    assert f"synthetic set {held['aggregates']['worst_dataset'] + 1}" in labels


def test_equal_files_have_no_largest_gap_and_no_reference_is_no_line() -> None:
    chart = draw(ecdf(files("same", 1), reference=None))
    assert chart.subtitle == "U_m = 0."
    assert not any("±" in text or "gap" in text for text, _ in texts(chart.picture))


def test_every_svg_is_an_image_with_title_description_and_view_box() -> None:
    for chart in [draw(ecdf(files("counts", 5))), *panels(margins({"Race": ["a", "b"], "Sex": ["f", "m"]}))]:
        for svg in (chart.svg, chart.picture):
            root = ET.fromstring(svg)  # noqa: S314  our own output
            assert root.get("role") == "img"
            assert root.get("viewBox")
            assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
            assert root[0].text == chart.title
            assert root[1].text == chart.alternative
        heading = " ".join(text for text, _ in texts(chart.svg))
        assert heading.startswith(f"{chart.title} {chart.subtitle}")
        assert chart._repr_mimebundle_()["image/svg+xml"] == chart._repr_svg_() == chart.svg


def test_margins_have_one_panel_for_each_column_worst_first() -> None:
    held = margins({"Race": ["a", "b"], "Sex": ["f", "m"], "Region": LABELS["forty"]})
    assert [chart.title.split()[2] for chart in panels(held)] == ["Race", "Sex", "Region"]
    assert draw(held).svg == panels(held)[0].svg
    forty = panels(held)[2]
    assert "The 30 of 40 categories that differ most" in forty.subtitle
    assert len(forty.numbers["category"]) == 40


def test_a_chart_is_saved_as_svg_or_png(tmp_path: Path) -> None:
    chart = draw(margins({"Sex": ["female", "male"]}))
    assert chart.save(tmp_path / "sex.svg").read_text(encoding="utf-8") == chart.svg
    png = chart.save(tmp_path / "sex.PNG").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(png[16:20], "big") == 2 * look.WIDTH
    for name in ("sex.pdf", "sex"):
        with pytest.raises(UsageError, match=r"\.svg or \.png"):
            chart.save(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sex.PNG", "sex.svg"]


def test_a_measurement_draws_itself() -> None:
    held = margins({"Sex": ["female", "male"]})
    measurement = Measurement(name="margins", value=0.02, aggregates=held["aggregates"])
    assert "synthetic Sex" in measurement.chart().title


def test_what_cannot_be_drawn_says_why() -> None:
    absent = not_available("pMSE", "the release has one row").to_dict()
    with pytest.raises(UsageError, match="the release has one row") as refusal:
        draw(absent)
    assert refusal.value.code == "E-NOT-AVAILABLE"
    with pytest.raises(UsageError, match="no aggregates"):
        panels(Measurement(name="overlap", value=0.9).to_dict())
    with pytest.raises(UsageError, match="did you mean ecdf"):
        draw(Measurement(name="U", value=0.9, aggregates={"kind": "ecdff"}).to_dict())
    assert not has_chart(absent)


def test_a_page_shows_each_number_with_reference_range_and_direction() -> None:
    page = report(assessment([ecdf(files("lognormal", 5))]))
    row = re.search(r"<bdi>U_m of Income</bdi>.*?</tr>", page, re.DOTALL)
    assert row
    words = " ".join(re.sub(r"<[^>]+>", " ", row[0]).split())
    assert re.fullmatch(rf"U_m of Income lower is closer 0\.\d+ 0\.0190 {CHANCE} 0\.\d+ to 0\.\d+", words)


def test_a_page_says_what_is_real_and_what_is_not_promised() -> None:
    page = report(assessment([]))
    assert "<bdi>Race</bdi>. <strong>These are real values of real records.</strong>" in page
    assert "A small number is not a proof of safety." in page
    assert "No disclosure risk is measured here yet." in page
    assert "nothing was measured" in page
    assert "CONFIDENTIAL WORKSPACE" in page
    risk = Measurement(name="risk", value=0.1, direction="lower is safer").to_dict()
    assert "No disclosure risk is measured" not in report(assessment([risk]))


def test_a_page_shows_a_dash_and_the_reason_for_what_is_not_available() -> None:
    page = report(assessment([not_available("pMSE", "the release has one row").to_dict()]))
    assert re.search(r"<td colspan=\"3\">– <span[^>]*>not available: the release has one row<", page)


def words_of(page: str) -> str:
    """What a page says, without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", page[page.index("<body>") :]).split())


def test_a_page_has_every_fit_beside_its_limits_the_worst_first() -> None:
    words = words_of(report(assessment([], CLOSED, GOOD, SLOW, STUCK)))
    assert "1 of 4 fits has draws that stop a run. 1 of 4 fits deserves a look." in words
    assert "Effective draws, bulk 400 or more; below 10% of the draws stops a run" in words
    assert "R-hat below 1.01; above 1.05 stops a run" in words
    places = [words.index(text) for text in ("Drinks ✕ bad", "Smokes ▲ look", "Income ✓ within")]
    assert places == sorted(places)
    assert "1,000 6 ✕ bad 5 ▲ look 2.400 ✕ bad 0.900 ✕ bad 0.0100" in words
    assert "1,000 300 ▲ look 250 ▲ look 1.020 ▲ look 0.200 0.400" in words
    assert "1,000 – not applicable: the draws are independent" in words


def test_a_page_shows_the_chains_that_need_a_look_and_folds_the_others() -> None:
    page = report(assessment([], GOOD, SLOW, STUCK, pace=0.5))
    folded = page.index("Pictures of the chains that are within their limits (2)")
    for name, hidden in (("Drinks", False), ("Smokes", False), ("Insured", True)):
        for question in (f"Do the chains for {name} agree?", f"Does each chain for {name} move?"):
            assert (page.index(f"<h3>{question}") > folded) == hidden
    assert page.index("<details") < folded
    words = words_of(report(assessment([], CLOSED)))
    assert "No pictures of chains: the draws are independent." in words


def test_a_page_with_an_override_begins_with_it_and_its_reason() -> None:
    page = report(assessment([], STUCK, GOOD, override="for a <b>lesson</b> on chains"))
    words = words_of(page)
    assert "✕ Released although draws are bad" in words
    assert "for a &lt;b&gt;lesson&lt;/b&gt; on chains" in words
    assert "Drinks : R-hat is 2.400 (limit 1.05): the chains do not agree" in words
    assert page.index("Released although draws are bad") < page.index('id="measures"')
    assert "Released although" not in report(assessment([], GOOD))


def test_a_page_asks_whether_the_model_fits() -> None:
    words = words_of(report(assessment([predictive("Income", "Wealth")])))
    assert "5 % of the cells lie outside their range; by chance about 10 %." in words
    assert "59 data sets were drawn" in words
    assert "4,962 rows taken at random from the 9,000 stand for the file" in words
    assert "Income 1 of 20 2 none" in words
    assert "mean 52,300 52,000 51,000 to 53,000 0.300" in words
    assert "share of zeros – withheld: a group of fewer than ten rows" in words
    assert "two cells of ten records cannot be made: Rare" in words
    absent = not_available("predictive check", "the release has no posterior").to_dict()
    assert "– not available: the release has no posterior" in words_of(report(assessment([absent])))


def test_an_assessment_of_the_first_version_is_still_shown() -> None:
    words = words_of(report(first_version([ecdf(files("lognormal", 5))])))
    assert "log(Income) ▲ look independent draws from the closed form 1,000 120 ▲ look" in words
    assert "1.002" in words
    assert "No pictures of chains: an assessment of version 1 holds no pictures of chains." in words
    assert "One note." in words
    assert "Does the model fit?" not in words


PICTURES = {
    "chains": lambda: panels(samplers(GOOD, SLOW, STUCK)),
    "slow chains": lambda: panels(samplers(SLOW, pace=0.97)),
    "long names": lambda: panels(samplers((LABELS["twelve long"][0] * 2, STUCK[1]), pace=0.9)),
    "cells": lambda: panels(predictive("Income", LABELS["twelve long"][0])),
    "few cells": lambda: panels(predictive("Income", cells=2)),
    "levels": lambda: panels(predictive("Region", labels=LABELS["forty"])),
    "long levels": lambda: panels(predictive("Region", labels=LABELS["twelve long"])),
    "odd levels": lambda: panels(predictive("<script>", labels=LABELS["odd"])),
}


@pytest.mark.parametrize("draw_all", PICTURES.values(), ids=PICTURES.keys())
def test_labels_of_chains_and_checks_lie_apart_and_inside(draw_all: Callable[[], list[SvgChart]]) -> None:
    for chart in draw_all():
        assert_apart(chart.picture)
        assert all(box.left >= 0 and box.right <= look.WIDTH for _, box in texts(chart.picture))
        root = ET.fromstring(chart.svg)  # noqa: S314  our own output
        assert root[0].text == chart.title
        assert root[1].text == chart.alternative
        assert len({len(column) for column in chart.numbers.values()}) == 1


def test_a_chart_of_chains_gives_question_answer_and_numbers() -> None:
    ranks, trace = panels(samplers(SLOW))
    assert ranks.title == "Do the chains for Smokes agree?"
    assert re.fullmatch(
        r"term 0: R-hat 1\.\d{3}; 0 of 40 heights outside the band of uniform ranks\.", ranks.subtitle
    )
    assert list(ranks.numbers) == ["ranks", *(f"chain {k}" for k in range(1, 5))]
    assert len(ranks.numbers["ranks"]) == 10
    assert trace.title == "Does each chain for Smokes move?"
    assert "of 1,000 draws are effective" in trace.subtitle
    assert trace.numbers["draw"][:3] == [1.0, 4.0, 7.0]
    assert "every 3rd shown" in trace.picture


def test_a_mark_stands_where_something_is_outside_and_nowhere_else() -> None:
    apart = samplers(STUCK)
    for picture in apart["aggregates"]["columns"]:
        picture["heights"][2][0] = picture["band"][1] + 1
        picture["outside"] = 1
    marked, plain = draw(apart).picture, draw(samplers(GOOD)).picture
    assert f'fill="{look.LIGHT["warn"]}"' in marked
    assert f'fill="{look.LIGHT["warn"]}"' not in plain
    checked = draw(predictive("Income"))
    assert checked.picture.count(f'fill="{look.LIGHT["warn"]}"') == 2  # one in the key
    assert (
        checked.subtitle
        == "1 of 20 cells is outside the middle 90% of 59 predictive sets; by chance about 2."
    )
    assert checked.numbers[""][1] == "▲ outside"


def test_a_moment_is_a_date_where_its_unit_is_one() -> None:
    assert look.moment(10_957.0, "day") == "2000-01-01"
    assert look.moment(86_400.0 * 10_957 + 5, "second") == "2000-01-01"
    assert look.moment(-1e12, "day") == "0001-01-01"
    assert look.moment(1e12, "day") == "9999-12-31"
    assert look.moment(3.14e-7) == "3.14×10⁻⁷"
    assert look.moment(None, "day") == "–"


def test_a_page_is_small() -> None:
    curves = [ecdf(files("lognormal", 5), column=f"Column {i}", scale="log") for i in range(5)]
    shares = margins({f"Column {i}": LABELS["twelve long"] for i in range(5)})
    assert len(report(assessment([*curves, shares])).encode()) <= 300_000


def test_a_page_of_thirty_columns_draws_what_shows_most_and_counts_the_rest() -> None:
    names = [f"Column {i}" for i in range(30)]
    curves = [
        ecdf(files("lognormal", 2 if i % 3 else 1), column=name, scale="log") for i, name in enumerate(names)
    ]
    curves[25]["value"] = 0.9  # the worst by far
    fits = [(name, (SLOW if i == 29 else GOOD)[1]) for i, name in enumerate(names)]
    whole = [*curves, margins(dict.fromkeys(names, LABELS["twelve long"])), predictive(*names)]
    page = report(assessment(whole, *fits))
    assert len(page.encode()) <= 600_000
    words = words_of(page)
    assert "48 pictures are not drawn, those that show least" in words
    assert "18 pictures are not drawn" in words
    assert "Does synthetic Column 25 follow the distribution" in words
    assert "Do the chains for Column 29 agree?" in words
    assert "The other fits (18)" in words
    assert words.count("✓ within") == 29


def test_a_page_refuses_what_it_does_not_know() -> None:
    whole = assessment([])
    with pytest.raises(UsageError, match="version 3") as refusal:
        report(whole | {"version": 3})
    assert refusal.value.code == "E-VERSION"
    with pytest.raises(UsageError, match="no assessment"):
        report(whole | {"format": "something else"})
    with pytest.raises(UsageError, match="lacks release, notices"):
        report({key: part for key, part in whole.items() if key not in {"release", "notices"}})
    with pytest.raises(UsageError, match="lacks samplers"):
        report({key: part for key, part in whole.items() if key != "samplers"})
    with pytest.raises(UsageError, match="kept") as incomplete:
        report(whole | {"release": {key: v for key, v in whole["release"].items() if key != "kept"}})
    assert incomplete.value.code == "E-ASSESSMENT"


def test_the_style_sheet_takes_its_colours_from_one_place() -> None:
    style = style_sheet()
    rules = style[style.index("/* The rules") :]
    assert re.findall(r"#[0-9a-fA-F]{3,6}\b", rules) == []
    named = set(re.findall(r"var\(--([a-z-]+)\)", rules))
    assert named <= {*look.LIGHT, "font"}
    assert set(look.LIGHT) == set(look.DARK)
