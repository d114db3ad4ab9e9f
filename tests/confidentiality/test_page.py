"""A hostile name changes the text of a page, never its structure; a page runs nothing and asks for nothing.

Names of columns, categories and files come from outside. Each payload below is put wherever a page
shows a text, and the page is compared with one that has a harmless name there.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from stead.measurement import Measurement, not_available
from stead.report import look
from stead.report.charts import draw
from stead.report.pages import report
from stead.sampling.verdicts import FIGURES

CHROMIUM = Path("/usr/bin/chromium")
RUN = "document.title='taken'"
PAYLOADS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    f"</svg><script>{RUN}</script>",
    f"</desc></title><script>{RUN}</script>",
    f"</text><script>{RUN}</script>",
    f"</pre></details><script>{RUN}</script>",
    f"--><script>{RUN}</script><!--",
    f"]]><script>{RUN}</script><![CDATA[",
    f"<![CDATA[<script>{RUN}</script>]]>",
    f"<ScRiPt >{RUN}</sCrIpT>",
    f"<scr<script>ipt>{RUN}</script>",
    f"<script\x0c>{RUN}</script>",
    f"\x00<script\x00>{RUN}</script>",
    f'<img src=x onerror="{RUN}">',
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<svg><script href=data:,{RUN} />",
    f"<foreignObject><body onload={RUN}></foreignObject>",
    f"<body onload={RUN}>",
    f"<details open ontoggle={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f'" onload="{RUN}',
    f"' onload='{RUN}",
    f'" autofocus onfocus={RUN} x="',
    f'" style="background:url(javascript:{RUN})',
    f"<iframe src=javascript:{RUN}>",
    f'<a href="javascript:{RUN}">',
    f"<meta http-equiv=refresh content='0;url=javascript:{RUN}'>",
    "<base href=https://example.invalid/>",
    "<link rel=stylesheet href=https://example.invalid/x.css>",
    "<style>@import url(https://example.invalid/x.css)</style>",
    "<!--",
    "&lt;script&gt;",
    "&#x3c;script&#x3e;",
    "{{ 7*7 }}{% raw %}",
    "{{ ''.__class__.__mro__ }}",
    "${7*7}#{7*7}",
    "'+datum.constructor.constructor(\"x\")()+'",
    '"],["',
    "\u202e<script>\u2066",
    "\u2028\u2029\x0b\ufeff\ufffe\ud800",
    "😀 مرحبا שלום 漢字",
    "\\u003cscript\\u003e",
    "a\nb\tc\r\nd",
]


def curves(name: str) -> dict[str, Any]:
    """An ecdf measurement that carries `name` wherever it may carry a text."""
    grid = [float(x) for x in range(1, 31)]
    aggregates = {
        "kind": "ecdf",
        "column": name,
        "scale": "linear",
        "grid": grid,
        "confidential": [x / 30 for x in grid],
        "synthetic": [[(x / 30) ** 1.1 for x in grid], [(x / 30) ** 1.2 for x in grid]],
        "at": 12.0,
        "worst_dataset": 1,
    }
    return Measurement(
        name=name,
        value=0.06,
        reference=0.03,
        reference_name=name,
        per_dataset=(0.03, 0.06),
        citation=name,
        aggregates=aggregates,
    ).to_dict()


def shares(*labels: str) -> dict[str, Any]:
    """A margins measurement with these categories, of a column that is called like the first."""
    each = [1 / len(labels)] * len(labels)
    held = {
        "column": labels[0],
        "labels": list(labels),
        "confidential": each,
        "synthetic": each,
        "low": [0.9 * share for share in each],
        "high": [1.1 * share for share in each],
        "total_variation": 0.01,
        "reference": 0.02,
    }
    return Measurement(
        name=labels[0], value=0.01, aggregates={"kind": "margins", "columns": [held]}
    ).to_dict()


def chains(name: str) -> dict[str, Any]:
    """A sampler check that carries `name` wherever it may carry a text."""
    figures = {key: {"value": 1.0, "mark": "fail", "reason": ""} for key in FIGURES}
    figures["acceptance"] = {"value": None, "mark": "none", "reason": name}
    fit = dict.fromkeys(("fit", "response", "method", "why", "no_picture"), name)
    picture = {
        "fit": name,
        "mark": "warn",
        "parameter": name,
        "ess_bulk": 40.0,
        "ess_tail": 40.0,
        "rhat": 1.02,
        "draws": 100,
        "outside": 1,
        "heights": [[1.0, 0.5, 1.5, 1.0, 2.9]] * 4,
        "band": [0.4, 1.6],
        "every": 5,
        "trace": [[0.1 * k for k in range(20)]] * 4,
    }
    return Measurement(
        name=name,
        value=1.0,
        details={
            "summary": name,
            "limits": dict.fromkeys(FIGURES, name),
            "fits": [{**fit, "draws": 400, "mark": "fail", "figures": figures, "problems": [name]}],
            "no_chart": name,
        },
        aggregates={"kind": "chains", "columns": [picture]},
    ).to_dict()


def predicted(name: str) -> dict[str, Any]:
    """A predictive check that carries `name` wherever it may carry a text: of a number and of a category."""
    column = {
        "column": name,
        "kind": "continuous",
        "unit": "",
        "draws": 59,
        "rows": 300,
        "cells": [name, f"{name} b", "c"],
        "bounds": ["8", "9"],
        "confidential": [0.3, 0.3, 0.4],
        "low": [0.2, 0.2, 0.5],
        "middle": [0.3, 0.3, 0.6],
        "high": [0.4, 0.4, 0.7],
        "outside": [False, False, True],
        "statistics": [
            dict.fromkeys(("value", "low", "middle", "high", "tail"), 0.5)
            | {"name": name, "form": "share", "reason": "", "outside": True},
            dict.fromkeys(("value", "low", "middle", "high", "tail", "outside"))
            | {"name": name, "form": "place", "reason": name},
        ],
    }
    return Measurement(
        name="predictive check",
        value=0.5,
        reference=0.1,
        reference_name=name,
        details={"draws": 59, "rows": 300, "of_rows": 300, "not_compared": [name]},
        aggregates={"kind": "predictive", "columns": [column, column | {"kind": "categorical"}]},
    ).to_dict()


def assessment(name: str, *more: dict[str, Any]) -> dict[str, Any]:
    """An assessment that carries `name` in every text."""
    column = {"name": name, "kind": name, "role": name, "synthesized": True, "why": name}
    model = dict.fromkeys(("response", "formula", "model", "prior", "method"), name)
    diagnostics = dict.fromkeys(("ess_bulk", "ess_tail", "rhat", "pareto_k", "acceptance"))
    return {
        "format": "stead-assessment",
        "version": 2,
        "stead": name,
        "title": name,
        "data": {"file": name, "rows": 3, "columns": [column, column | {"synthesized": False}]},
        "release": {
            "m": 2,
            "rows": 3,
            "synthesized": [name],
            "kept": [name],
            "aligned": False,
            "proper": False,
            "files": [name],
        },
        "models": [{**model, "draws": 10, "diagnostics": diagnostics, "notes": [name]}],
        "samplers": chains(name),
        "measured": [
            curves(name),
            shares(name, "b"),
            predicted(name),
            not_available(name, name, citation=name).to_dict(),
            *more,
        ],
        "declared": {"plan": {name: [name]}, "override": name},
        "notices": [name],
    }


class Structure(HTMLParser):
    """The tags of a page with the names of their attributes, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []
        self.texts: list[str] = []
        self.values: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, *(name for name, _ in attrs)))
        self.values += [value or "" for _, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}",))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def harmless() -> Structure:
    return Structure(report(assessment("Income")))


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One page with every payload in it."""
    more = [shares(*PAYLOADS[:25]), shares(*PAYLOADS[25:]), *(curves(payload) for payload in PAYLOADS[:6])]
    whole = assessment("Survey", *more)
    whole["notices"] = PAYLOADS
    whole["data"]["columns"] += [
        {"name": payload, "kind": payload, "role": "key", "synthesized": False, "why": payload}
        for payload in PAYLOADS
    ]
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(report(whole), encoding="utf-8")
    return path


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_changes_the_text_of_a_page_but_not_its_structure(
    payload: str, harmless: Structure
) -> None:
    page = report(assessment(payload))
    found = Structure(page)
    assert found.tags == harmless.tags
    assert found.tags.count(("h1",)) == 1
    assert escape(look.clean(payload), quote=False).replace("'", "&#39;").replace('"', "&#34;") in page
    assert all(look.clean(text.replace("\n", "")) == text.replace("\n", "") for text in found.texts)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_stays_text_in_a_saved_picture(payload: str) -> None:
    for held in (curves(payload), shares(payload, payload + "b"), chains(payload), predicted(payload)):
        root = ET.fromstring(draw(held).svg)  # noqa: S314  our own output
        tags = {node.tag.rpartition("}")[2] for node in root.iter()}
        assert tags <= {"svg", "title", "desc", "g", "path", "line", "text", "rect"}
        names = {name for node in root.iter() for name in node.attrib}
        assert not {
            name for name in names if name.lower().startswith("on") or name in {"style", "href", "id"}
        }
        assert (root[0].text or "").startswith(
            ("Does synthetic ", "Do the chains for ", "Does the model of ")
        )


def test_a_page_has_no_script_no_handler_and_no_address(everything: Path) -> None:
    page = everything.read_text(encoding="utf-8")
    found = Structure(page)
    names = {name for _, *attributes in found.tags for name in attributes}
    assert not {tag for tag, *_ in found.tags} & {
        "script",
        "iframe",
        "object",
        "embed",
        "link",
        "base",
        "form",
        "img",
    }
    assert not {name for name in names if name.startswith("on")} | names & {
        "style",
        "src",
        "srcset",
        "action",
    }
    addresses = {v for v in found.values if re.search(r"(?i)//|^\s*(data|javascript):", v) and len(v) < 60}
    inside = {"http://www.w3.org/2000/svg"}
    shown = {look.clean(payload) for payload in PAYLOADS}
    assert addresses - inside - shown == set()
    assert "url(" not in page[page.index("<style>") : page.index("</style>")]


def test_the_content_policy_admits_the_style_sheet_and_nothing_else(everything: Path) -> None:
    page = everything.read_text(encoding="utf-8")
    style = page[page.index("<style>") + 7 : page.index("</style>")]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(v for v in Structure(page).values if v.startswith("default-src"))
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def chromium(path: Path, tmp_path: Path) -> tuple[str, str]:
    """The page as a browser holds it after loading, and what the browser said."""
    if not CHROMIUM.exists() or shutil.which(str(CHROMIUM)) is None:
        pytest.skip(f"no browser at {CHROMIUM}")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    done = subprocess.run(
        [str(CHROMIUM), *flags, f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


def test_a_browser_runs_no_payload_and_the_policy_stops_nothing_of_ours(
    everything: Path, tmp_path: Path
) -> None:
    held, said = chromium(everything, tmp_path)
    assert "<title>Survey</title>" in held
    assert ("script",) not in Structure(held).tags
    assert said == ""


def test_escaping_holds_without_the_policy(everything: Path, tmp_path: Path) -> None:
    bare = re.sub(r"<meta http-equiv[^>]*>", "", everything.read_text(encoding="utf-8"))
    path = tmp_path / "bare.html"
    path.write_text(bare, encoding="utf-8")
    held, _ = chromium(path, tmp_path)
    assert "Content-Security-Policy" not in held
    assert "<title>Survey</title>" in held


def test_the_browser_tests_would_notice(everything: Path, tmp_path: Path) -> None:
    open_page = everything.read_text(encoding="utf-8").replace("</main>", f"<script>{RUN}</script></main>")
    path = tmp_path / "open.html"
    path.write_text(open_page, encoding="utf-8")
    assert "Content Security Policy" in chromium(path, tmp_path)[1]
    path.write_text(re.sub(r"<meta http-equiv[^>]*>", "", open_page), encoding="utf-8")
    assert "<title>taken</title>" in chromium(path, tmp_path)[0]
