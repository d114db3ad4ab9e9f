"""What utility costs: propensity scores, joint distribution functions, and the start of compiled loops."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np

import stead
from bench.common import Row, cpu

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST = """
import time, numpy as np
began = time.process_time()
from stead.kernels.dominance import weight_at_most
for columns in (2, 3, 4):
    weight_at_most(np.random.default_rng(0).normal(size=(100, columns)), np.ones((1, 100), np.int64))
print(time.process_time() - began)
"""


def rows() -> Iterator[Row]:
    """Scores, joint distribution functions, tables; in CPU seconds of warm calls."""
    for size, limit in ((5_133, ""), (100_000, "0.25 s"), (1_000_000, "4 s")):
        release = samples(size)
        seconds = cpu(lambda release=release: stead.pmse(release), 3)  # type: ignore[misc]
        yield Row(f"pMSE, five columns and all pairs, n = n_s = {size:,}", f"{seconds:.2f} s", limit)
    yield Row(
        "its memory beyond the data, n = n_s = 1,000,000", f"{_peak(samples(1_000_000)):.0f} MiB", "400 MB"
    )
    seconds = cpu(lambda: stead.pmse(samples(5_133), classifier="cart"), 1)
    yield Row("pMSE by CART with 50 permutations, n = n_s = 5,133", f"{seconds:.2f} s", "3 s")
    for columns, size, limit in ((2, 100_000, "1 s"), (3, 100_000, "10 s"), (4, 100_000, "")):
        release = normal(size, columns)
        seconds = cpu(lambda release=release: stead.ecdf(release, release.synthesized), 1)  # type: ignore[misc]
        yield Row(
            f"joint distribution functions, d = {columns}, n = n_s = {size:,}", f"{seconds:.2f} s", limit
        )
    seconds = cpu(lambda: stead.margins(samples(100_000), order=3), 1)
    yield Row("tables of three of five columns, n = n_s = 100,000", f"{seconds:.2f} s", "")
    with tempfile.TemporaryDirectory() as empty:
        cold, warm = (_run(FIRST, NUMBA_CACHE_DIR=empty) for _ in range(2))
    yield Row("compiled loops, import and first calls: nothing kept, kept", f"{cold:.1f} s, {warm:.2f} s", "")


def samples(rows: int) -> stead.Release:
    """Two independent samples of one population."""
    real, made = stead.consumer_survey(rows), stead.consumer_survey(rows, 7)
    return stead.Release.from_tables(real, [made], synthesized=real.names, aligned=False, proper=True)


def normal(rows: int, columns: int) -> stead.Release:
    """Two samples of correlated normal columns."""
    rng = np.random.default_rng(0)
    names = [f"c{place}" for place in range(columns)]
    covariance = 0.5 + 0.5 * np.eye(columns)
    real, made = (
        stead.table(
            dict(zip(names, rng.multivariate_normal(np.zeros(columns), covariance, rows).T, strict=True))
        )
        for _ in range(2)
    )
    return stead.Release.from_tables(real, [made], synthesized=names, aligned=False, proper=True)


def _peak(release: stead.Release) -> float:
    """The most that one measurement holds at a time, in MiB."""
    tracemalloc.start()
    stead.pmse(release)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return peak


def _run(code: str, **environment: str) -> float:
    """What a fresh interpreter prints last."""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return float(done.stdout.split()[-1])
