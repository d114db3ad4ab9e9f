"""What `Sequence.auto` costs, and a synthetic set of columns of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import stead
from bench.common import MILLION, Row, cpu
from stead.tables.records import Records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

COLUMNS, ROWS = 842, 2_000


def rows() -> Iterator[Row]:
    """A set of mixed columns; the choice of models for a wide file."""
    mixed = stead.consumer_survey(20_000)
    posterior = stead.Sequence.auto(mixed).fit(mixed, draws=200, rng=1)
    nothing = Records.empty(MILLION)
    yield Row(
        "one synthetic set of 10^6 rows x 5 mixed columns from fixed draws",
        f"{cpu(lambda: posterior.sample(0, nothing, 1)):.2f} s",
        "6 s",
    )
    wide = wide_file()
    yield Row(
        f"choose models for {COLUMNS} columns x {ROWS:,} rows",
        f"{cpu(lambda: stead.Sequence.auto(wide), 1):.1f} s",
        "30 s",
    )


def wide_file() -> stead.Records:
    """Columns of four kinds that share 25 factors."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(ROWS, 25))
    scores = 0.7 * factors[:, np.arange(COLUMNS) % 25] + 0.7 * rng.normal(size=(ROWS, COLUMNS))
    kinds: tuple[Callable[[NDArray[Any]], NDArray[Any]], ...] = (
        lambda score: np.round(score, 3),
        lambda score: np.round(np.exp(9 + score)),
        lambda score: (score > 0).astype(int),
        lambda score: np.digitize(score, [-1, 0, 1]),
    )
    made = {f"c{place}": kinds[place % 4](score) for place, score in enumerate(scores.T)}
    return stead.table(made, categorical=[name for place, name in enumerate(made) if place % 4 == 3])
