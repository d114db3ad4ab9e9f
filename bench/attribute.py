"""Attribute risk: one pass over a posterior beside one exponential for each cell, and a whole call."""

from __future__ import annotations

import time

import numpy as np

import stead
from bench.common import Row, cpu

RNG = np.random.default_rng(0)


def _release(rows: int, draws: int) -> stead.Release:
    x = RNG.normal(size=rows)
    records = stead.table({"x": x, "y": 0.5 * x + RNG.normal(size=rows)})
    return stead.synthesize(records, stead.Linear("y ~ x"), m=1, draws=draws, rng=1)


def _exponentials(cells: int) -> float:
    """CPU seconds of numpy's exp() on blocks that stay in cache."""
    block = RNG.normal(size=4096)
    out = np.empty_like(block)
    began = time.process_time()
    for _ in range(cells // len(block)):
        np.exp(block, out=out)
    return time.process_time() - began


class _Unequal(stead.Grid):
    """A grid whose steps widen."""

    @property
    def offsets(self) -> np.ndarray:
        even = super().offsets
        return np.sign(even) * np.abs(even) ** 1.1


def _pass(release: stead.Release, guesses: stead.Grid) -> float:
    from stead.risk.averages import Bases
    from stead.risk.evidence import Source, averaged
    from stead.risk.guesses import guessed

    posterior = release.posterior
    if posterior is None:
        raise ValueError("made with one")
    sources = [Source(posterior, Bases.of(np.zeros((1, len(posterior.draws)))))]
    rows = np.arange(release.confidential.rows)
    table = guessed(release.confidential, {"y": guesses}, {"y": posterior.scale("y")}, RNG)

    def work() -> object:
        return averaged(
            release, sources, np.ones(1), table, rows, ("y",), known=True, tails=False, report=lambda *_: None
        )

    return cpu(work)


def rows() -> list[Row]:
    """The rows of the table."""
    small, large = _release(994, 50), _release(5133, 1000)
    grid = stead.Grid(2.5, 0.5)
    who = stead.Intruder.worst_case(guesses=grid)
    stead.attribute_risk(small, "y", who, evidence="reweight", refits=0)  # compiles
    whole = cpu(lambda: stead.attribute_risk(small, "y", who, evidence="reweight", refits=0))
    cells = 5133 * 11 * 1000
    exponential = min(_exponentials(cells) for _ in range(3))
    equal, unequal = _pass(large, grid), _pass(large, _Unequal(2.5, 0.5))
    many = _release(100_000, 200)
    call = cpu(lambda: stead.attribute_risk(many, "y", who, evidence="two_posterior", refits=0), 1)
    return [
        Row(
            "attribute risk, 994 records x 11 guesses x 50 draws, the whole call", f"{whole:.4f} s", "0.017 s"
        ),
        Row("one exp() for each of 5,133 x 11 x 1,000 cells, in cache", f"{exponential:.3f} s", ""),
        Row(
            "a pass of as many cells, equal steps", f"{equal:.3f} s, {equal / exponential:.2f} of that", "1.5"
        ),
        Row(
            "a pass of as many cells, unequal steps",
            f"{unequal:.3f} s, {unequal / exponential:.2f} of that",
            "5",
        ),
        Row("attribute risk, 100,000 records x 11 x 200, two_posterior, tails included", f"{call:.2f} s", ""),
    ]
