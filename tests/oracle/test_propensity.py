"""Propensity scores against slow plain twins: Newton steps on a dense design, scores counted pair by pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

import stead
from stead.glm import stacked
from stead.glm.stacked import Stack
from stead.glm.streamed_logit import fit_logit
from stead.language.design import Design
from stead.utility.scores import histogram, measure


def newton(matrix: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Fitted probabilities of a dense design, by damped Newton steps with a pseudo-inverse."""
    spread = matrix.std(axis=0)
    scaled = np.where(spread > 0, (matrix - matrix.mean(axis=0)) / np.where(spread > 0, spread, 1.0), matrix)

    def height(beta: np.ndarray) -> float:
        eta = scaled @ beta
        return float(labels @ eta - np.logaddexp(0, eta).sum())

    beta = np.zeros(matrix.shape[1])
    for _ in range(200):
        p = 1 / (1 + np.exp(-scaled @ beta))
        score = scaled.T @ (labels - p)
        step = np.linalg.pinv((scaled * (p * (1 - p))[:, None]).T @ scaled, rcond=1e-11) @ score
        while height(beta + step) < height(beta) - 1e-9:
            step = step / 2
        beta = beta + step
        if score @ step < 1e-22:
            break
    return np.asarray(1 / (1 + np.exp(-scaled @ beta)))


def survey(rows: int, seed: int, *, gaps: bool = False) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1])
    income = np.round(np.exp(10 + rng.normal(size=rows) + 0.3 * (group == "b")), 2)
    kids = rng.poisson(1.2, rows)
    columns: dict[str, list[Any]] = {
        "group": group.tolist(),
        "income": income.tolist(),
        "twice": (2 * income).tolist(),
        "kids": kids.tolist(),
    }
    if gaps:
        for name in ("group", "income"):
            columns[name] = [
                None if gone else cell
                for gone, cell in zip(rng.random(rows) < 0.15, columns[name], strict=True)
            ]
    return columns


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kept", [True, False])
def test_the_fit_is_the_maximum_of_the_likelihood(
    gaps: bool, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With heavy tails, an aliased column, and a design that is built again in every pass."""
    if not kept:
        monkeypatch.setattr(stacked, "KEEP", 0)
        monkeypatch.setattr(stacked, "CHUNK", 100)
    real = stead.table(survey(400, 1, gaps=gaps))
    made = stead.table(survey(700, 2, gaps=gaps), real.schema)
    design = Design.bind("(group + income + twice + kids)^2", real)
    labels = np.repeat([0.0, 1.0], [400, 700])
    fit = fit_logit(Stack(design, (real, made)), labels)
    matrix = np.concatenate([design.matrix(one) for one in (real, made)])
    assert fit.converged
    assert np.abs(fit.probabilities - newton(matrix, labels)).max() < 1e-8
    centred = (matrix - matrix.mean(axis=0)) / np.maximum(matrix.std(axis=0), 1e-300)
    assert fit.kept.sum() - 1 == np.linalg.matrix_rank(centred[:, 1:], tol=1e-6 * len(matrix) ** 0.5)


def test_rows_told_apart_with_certainty_have_the_limit_of_their_scores() -> None:
    """A level that one file alone has: its likelihood has no maximum, its scores have a limit."""
    real = stead.table({"g": ["a"] * 60 + ["b"] * 40})
    made = stead.table({"g": ["a"] * 100}, real.schema)
    release = stead.Release.from_tables(real, [made], synthesized=["g"], aligned=False, proper=True)
    measured = stead.pmse(release)
    p = 100 / 160  # among the rows with level a
    assert measured.value == pytest.approx((160 * (p - 0.5) ** 2 + 40 * 0.25) / 200, rel=1e-6)
    assert any("certainty" in note for note in measured.details["notes"])


def pairs(scores: np.ndarray, labels: np.ndarray) -> tuple[float, float, float]:
    """SPECKS, PO50 and AUC by comparing every row with every row."""
    real, made = scores[labels == 0], scores[labels == 1]
    c = labels.mean()
    specks = max(abs((made <= t).mean() - (real <= t).mean()) for t in scores)
    above = np.mean([(m > real).mean() + 0.5 * (m == real).mean() for m in made])
    return float(specks), float(50 * ((made > c).mean() + (real <= c).mean()) - 50), float(above)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=30))
def test_scores_are_measured_as_defined(rows: list[tuple[int, bool]]) -> None:
    scores, labels = np.array([row[0] for row in rows]) / 6, np.array([float(row[1]) for row in rows])
    if not 0 < labels.sum() < len(labels):
        return
    found = measure(scores, labels)
    assert (found.specks, found.po50, found.auc) == pytest.approx(pairs(scores, labels), abs=1e-12)
    assert found.pmse == pytest.approx(((scores - labels.mean()) ** 2).mean())
    assert found.auc == pytest.approx(roc_auc_score(labels, scores))
    assert found.specks == pytest.approx(ks_2samp(scores[labels == 0], scores[labels == 1]).statistic)


def test_equal_sizes_give_the_percentage_told_right() -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.random(400), np.repeat([0.0, 1.0], 200)
    assert measure(scores, labels).po50 == pytest.approx(100 * ((scores > 0.5) == labels).mean() - 50)


def test_a_tie_is_a_tie_though_its_scores_differ_in_the_last_place() -> None:
    labels = np.tile([0.0, 1.0], 50)
    found = measure(0.5 + 1e-16 * np.arange(100) * (labels - 0.5), labels)
    assert (found.specks, found.po50, found.auc) == (0.0, 0.0, 0.5)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(5, 300), st.integers(0, 9_999), st.sampled_from(["spread", "apart", "few", "one"]))
def test_a_histogram_has_no_cell_with_fewer_than_ten_confidential_rows(
    rows: int, seed: int, shape: str
) -> None:
    rng = np.random.default_rng(seed)
    scores = {
        "spread": rng.beta(20, 20, 2 * rows),
        "apart": np.concatenate([rng.beta(2, 9, rows), rng.beta(9, 2, rows)]),
        "few": rng.choice([0.4, 0.5, 0.7], 2 * rows),
        "one": np.full(2 * rows, 0.5),
    }[shape]
    held = histogram(scores, rows)
    if held:
        counts = np.array(held["confidential"]) * rows
        assert counts.min() >= 10 - 1e-3
        assert sum(held["confidential"]) == pytest.approx(1, abs=1e-4)
        assert sum(held["synthetic"]) == pytest.approx(1, abs=1e-4)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.integers(0, 9_999), st.floats(1e-3, 1e3), st.floats(-100, 100))
def test_the_unit_of_a_column_does_not_matter(seed: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    real, made = ({"x": rng.normal(size=80), "y": rng.normal(size=80)} for _ in range(2))

    def value(scale: float, shift: float) -> float:
        sets = [stead.table({"x": scale * (one["x"] + shift), "y": one["y"]}) for one in (real, made)]
        release = stead.Release.from_tables(sets[0], sets[1:], synthesized=["x", "y"], aligned=False)
        return stead.pmse(release).value or 0.0

    assert value(scale, shift) == pytest.approx(value(1.0, 0.0), rel=1e-6)


def test_missing_cells_are_a_level_and_a_zero_beside_an_indicator() -> None:
    real, made = survey(300, 3, gaps=True), survey(300, 4, gaps=False)
    one = stead.table(real)
    release = stead.Release.from_tables(
        one, [stead.table(made, one.schema)], synthesized=["group", "income", "kids"], aligned=False
    )
    group, income, kids = ([*real[name], *made[name]] for name in ("group", "income", "kids"))
    matrix = np.array(
        [
            [1, g == "b", g == "c", g is None, x or 0, x is None, k]
            for g, x, k in zip(group, income, kids, strict=True)
        ],
        dtype=float,
    )
    expected = ((newton(matrix, np.repeat([0.0, 1.0], 300)) - 0.5) ** 2).mean()
    measured = stead.pmse(release, "group + income + kids")
    assert measured.value == pytest.approx(expected, rel=1e-8)
    assert measured.details["k_star"] == 6
