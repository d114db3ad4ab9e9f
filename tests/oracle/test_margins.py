"""Margins against counts by hand, and what their cells promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

import stead


def test_a_hand_counted_table() -> None:
    real = stead.table({"g": ["a"] * 60 + ["b"] * 30 + ["c"] * 10})
    made = stead.table({"g": ["a"] * 50 + ["b"] * 30 + ["c"] * 20}, real.schema)
    measured = stead.margins(stead.Release.from_tables(real, [made], synthesized=["g"], aligned=False))
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.5, 0.3, 0.2])
    assert measured.value == pytest.approx(0.1)
    column = measured.details["columns"]["g"]
    assert column["hellinger"] == pytest.approx(np.sqrt(1 - np.sqrt(p * q).sum()))
    assert column["jensen_shannon"] == pytest.approx(jensenshannon(p, q, base=2))


def test_the_reference_is_what_two_samples_of_one_distribution_give() -> None:
    rng = np.random.default_rng(2)
    values, references = [], []
    for _ in range(120):
        one, other = (stead.table({"x": rng.lognormal(9, 1, 800)}) for _ in range(2))
        measured = stead.margins(stead.Release.from_tables(one, [other], synthesized=["x"], aligned=False))
        values.append(measured.value or 0.0)
        references.append(measured.reference or 0.0)
    assert np.mean(values) == pytest.approx(np.mean(references), rel=0.05)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.integers(20, 400),
    st.integers(0, 10_000),
    st.sampled_from(["lognormal", "heaped", "few", "spike", "levels"]),
)
def test_no_cell_of_the_confidential_file_is_small_and_no_edge_is_finer_than_two_digits(
    rows: int, seed: int, shape: str
) -> None:
    rng = np.random.default_rng(seed)
    values: object = {
        "lognormal": rng.lognormal(10, 1.5, rows),
        "heaped": np.round(rng.lognormal(10, 1, rows), -3) + 0.5,
        "few": rng.poisson(1.5, rows),
        "spike": np.where(rng.random(rows) < 0.8, 0.0, rng.normal(50, 9, rows)),
        "levels": rng.choice(["a", "b", "c", "d", "e"], rows, p=[0.6, 0.3, 0.06, 0.03, 0.01]),
    }[shape]
    real = stead.table({"x": values})
    release = stead.Release.from_tables(real, [real], synthesized=["x"], aligned=True)
    column = stead.margins(release).aggregates["columns"][0]
    counts = np.array(column["confidential"]) * rows
    cells = [
        count
        for count, label in zip(counts, column["labels"], strict=True)
        if label not in {"other", "missing"}
    ]
    assert min(cells) >= 10 - 1e-3 * rows  # shares are rounded to four digits
    if shape == "lognormal":
        for label in column["labels"]:
            digits = label.replace(",", "").split(" ")[-1].strip("0.")
            assert len(digits.replace(".", "")) <= 2, label
