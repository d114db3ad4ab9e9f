"""Speed of matching: CPU seconds of one call of `match_risk`, its two references included.

Columns lie in memory and kernels are compiled; n is the number of rows in each file. Each large case has a process of its own, so that
it pays for the memory that it takes. Data: seven codes with 3,360 combinations; incomes and their like, lognormal, synthesized with a
relative error of 30 %, all rows in one group, radius 20 %.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import stead
from stead.tables.records import Records, Values
from stead.tables.schema import Column, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVELS = (2, 6, 5, 2, 7, 2, 2)
KNOWN = 3
MILLION = 10**6


def tables(n: int, codes: int, numbers: int, sets: int) -> list[Records]:
    """A confidential table and synthetic ones: codes of which three are kept, and numbers."""
    random = np.random.default_rng(0)
    schema = Schema(
        [
            *(
                Column(f"k{place}", "categorical", levels=tuple(range(LEVELS[place])))
                for place in range(codes)
            ),
            *(Column(f"x{place}", "continuous") for place in range(numbers)),
        ]
    )
    kept = {
        f"k{place}": Values.complete(random.integers(0, LEVELS[place], n).astype(np.int32))
        for place in range(min(codes, KNOWN))
    }
    truth = [random.lognormal(10, 1, n) for _ in range(numbers)]
    made = []
    for one in range(sets + 1):
        columns = dict(kept)
        for place in range(KNOWN, codes):
            drawn = random.integers(0, LEVELS[place], n).astype(np.int32)
            columns[f"k{place}"] = Values.complete(drawn)
        for place, values in enumerate(truth):
            noise = np.exp(0.3 * random.normal(size=n)) if one else 1.0
            columns[f"x{place}"] = Values.complete(values * noise)
        made.append(Records(schema, columns, n))
    return made


def release(n: int, codes: int, numbers: int, sets: int) -> tuple[stead.Release, dict[str, Any]]:
    """The release, and how it is matched."""
    real, *made = tables(n, codes, numbers, sets)
    names = [name for name in real.names if name not in ("k0", "k1", "k2")]
    whole = stead.Release(
        confidential=real, synthetic=tuple(made), synthesized=tuple(names), aligned=True, proper=None
    )
    known = [name for name in real.names if name not in names]
    return whole, {"known": known, "radius": dict.fromkeys((f"x{place}" for place in range(numbers)), "20%")}


def once(n: int, codes: int, numbers: int, sets: int, repeats: int = 1) -> float:
    """The least CPU seconds of some calls, after one on a small table that compiles."""
    small, how = release(5000, codes, numbers, sets)
    stead.match_risk(small, **how)
    whole, how = release(n, codes, numbers, sets)
    spent = []
    for _ in range(repeats):
        began = time.process_time()
        stead.match_risk(whole, **how)
        spent.append(time.process_time() - began)
    return min(spent)


def in_files(n: int, numbers: int) -> tuple[float, float]:
    """CPU seconds, and peak memory in GiB, of a match in Parquet files; to be run in a process of its own."""
    both = tables(n, len(LEVELS), numbers, 1)
    names = both[0].names
    codes, made = [name for name in names if name[0] == "k"], names[KNOWN:]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{place}.parquet" for place in range(2)]
        for path, one in zip(paths, both, strict=True):
            stead.write(one, path)
        del both, one
        code = (
            "import json, resource, stead, sys, time\n"
            "real, syn, made, codes, known, radius = json.loads(sys.argv[1])\n"
            "release = stead.ParquetRelease.open(real, [syn], synthesized=made, categorical=codes)\n"
            "began = time.process_time()\n"
            "stead.match_risk(release, known, radius=radius)\n"
            "print(time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)"
        )
        radius = {name: "20%" for name in names if name[0] == "x"}
        asked = [*map(str, paths), made, codes, names[:KNOWN], radius]
        return _told(code, json.dumps(asked))


def _told(code: str, *arguments: str) -> tuple[float, float]:
    """The two numbers that a fresh interpreter prints."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own interpreter
    first, second = map(float, done.stdout.split())
    return first, second


def _alone(n: int, codes: int, numbers: int, sets: int = 1) -> float:
    """`once` in a process of its own."""
    call = f"from bench.matching import once; print(once({n}, {codes}, {numbers}, {sets}), 0)"
    return _told(call)[0]


def matching() -> Iterator[tuple[str, str, str]]:
    """What, measured, at most."""
    yield "match_risk, 7 keys, n = 10^4, m = 3", f"{once(10**4, 7, 0, 3, repeats=5):.4f} s", "0.025 s"
    yield "match_risk, 7 keys, n = 10^7", f"{_alone(10 * MILLION, 7, 0):.2f} s", "1.5 s"
    limits = {1: "1.2 s", 2: "4 s", 3: "20 s"}
    for numbers, limit in limits.items():
        words = f"match_risk, {numbers} continuous, n = "
        yield f"{words}10^6", f"{_alone(MILLION, 0, numbers):.2f} s", limit
    for n, limit in ((3 * MILLION, "13 s"), (10 * MILLION, "47 s")):
        yield f"match_risk, 2 continuous, n = {n:.0e}", f"{_alone(n, 0, 2):.2f} s", f"{limit} (n log n)"
    yield "match_risk, 3 continuous, n = 3e+06", f"{_alone(3 * MILLION, 0, 3):.1f} s", "70 s (n log² n)"
    for numbers in (0, 1, 3):
        seconds, memory = in_files(10 * MILLION, numbers)
        words = f"match_risk in Parquet files, n = 10^7, 7 keys and {numbers} continuous"
        yield words, f"{seconds:.1f} s, {memory:.2f} GiB", "3 GiB"


if __name__ == "__main__":
    for row in matching():
        print(" | ".join(row), flush=True)
