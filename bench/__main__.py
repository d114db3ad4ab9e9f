"""Run every measurement and write the table."""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import stead
from bench import attribute, choosing, posterior, privacy, utility
from bench.common import MILLION, Row, cpu
from bench.matching import matching

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "benchmarks.md"


def cold(code: str, repeats: int = 7) -> float:
    """The least CPU seconds of a fresh interpreter that runs `code`."""
    wrapped = f"import time; import resource; {code}; u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime)"
    command = [sys.executable, "-c", wrapped]
    runs = (subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(repeats))  # noqa: S603 - our own interpreter
    return min(float(run.stdout) for run in runs)


def start_up() -> Iterator[Row]:
    """Imports and help."""
    numpy_alone = cold("import numpy")
    yield Row(
        "`import stead`, beyond `import numpy`",
        f"{max(0.0, cold('import numpy, stead') - numpy_alone):.3f} s",
        "0.2 s",
    )
    help_page = "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    from stead.cli.main import execute\n    execute(['--help'])\n"
    yield Row("`stead --help`, interpreter included", f"{cold(f'exec({help_page!r})'):.2f} s", "0.5 s")


def tables() -> Iterator[Row]:
    """Reading and checking text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey.csv"
        stead.write(stead.consumer_survey(200_000), path)
        seconds = cpu(lambda: stead.read(path, categorical=["UrbanRural", "Race"]))
        yield Row("read and type a text file, per million cells (200,000 x 5)", f"{seconds:.2f} s", "2 s")


def synthesis() -> Iterator[Row]:
    """Drawing sets from fixed posterior draws, and what it takes in memory."""
    model = stead.Sequence(
        [
            stead.Linear("log(Income) ~ UrbanRural + Race + KidsCount"),
            stead.Linear("log(Expenditure) ~ log(Income) + UrbanRural + Race + KidsCount"),
        ]
    )
    small = stead.consumer_survey(20_000)
    given = stead.consumer_survey(MILLION).without(["Income", "Expenditure"])
    posterior = model.fit(small, draws=1000, rng=1)
    yield Row(
        "one synthetic set of 10^6 rows x 2 columns from fixed draws",
        f"{cpu(lambda: posterior.sample(0, given, 1)):.2f} s",
        "3 s",
    )
    peaks = []
    for draws in (100, 4000):
        fitted = model.fit(small, draws=draws, rng=1)
        tracemalloc.start()
        fitted.sample(0, given, 1)
        peaks.append(tracemalloc.get_traced_memory()[1] / 2**20)
        tracemalloc.stop()
    yield Row(
        "its peak memory with 100 and with 4,000 draws",
        f"{peaks[0]:.0f} and {peaks[1]:.0f} MiB",
        "no growth with draws",
    )


def main() -> None:
    """Measure, and write the table."""
    sections = (
        start_up,
        tables,
        synthesis,
        choosing.rows,
        posterior.rows,
        attribute.rows,
        privacy.rows,
        utility.rows,
    )
    rows = [row for section in sections for row in section()]
    rows += [Row(*row) for row in matching()]
    lines = [f"| {row.what} | {row.value} | {row.limit or '—'} |" for row in rows]
    TARGET.write_text(
        "# Benchmarks\n\n"
        f"`make bench`. CPU seconds on two cores, Python {platform.python_version()}, numpy {np.__version__}: the least of a few runs, warm unless it says otherwise.\n"
        "Of a posterior: those to 1,000 effective draws (time x 1,000 / effective), then those of the fit beside its effective draws.\n"
        "The third column is the figure that the project holds itself to.\n\n"
        "| what | measured | at most |\n|---|---|---|\n" + "\n".join(lines) + "\n",
        encoding="utf-8",
    )
    print(TARGET.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
