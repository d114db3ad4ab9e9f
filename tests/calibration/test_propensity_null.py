"""Is the ratio of pMSE to its null mean 1 where the synthesis model is right? Simulated for each way to make data.

Write a test here when a null is claimed for a kind of data: the data are made by plain numpy from a correct model, so that
nothing of the library but the measure is at work.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import invwishart

import stead

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Maker = Callable[[np.random.Generator, int, int, int], tuple[Array, list[Array]]]

NAMES = ("a", "b", "c", "d")
COVARIANCE = 0.5 + 0.5 * np.eye(4)
REPEATS, SETS = 60, 4


def population(rng: np.random.Generator, rows: int) -> Array:
    return rng.multivariate_normal(np.zeros(4), COVARIANCE, rows)


def plug_in(rng: np.random.Generator, rows: int, made: int, sets: int) -> tuple[Array, list[Array]]:
    """A normal model at its estimate; means, squares and products are its scores."""
    real = population(rng, rows)
    centred = real - real.mean(axis=0)
    return real, [
        rng.multivariate_normal(real.mean(axis=0), centred.T @ centred / rows, made) for _ in range(sets)
    ]


def proper(rng: np.random.Generator, rows: int, made: int, sets: int) -> tuple[Array, list[Array]]:
    """The same, each set from its own draw of the posterior under Jeffreys' prior."""
    real = population(rng, rows)
    centred = real - real.mean(axis=0)
    out = []
    for _ in range(sets):
        covariance = invwishart.rvs(rows - 1, centred.T @ centred, random_state=rng)
        mean = rng.multivariate_normal(real.mean(axis=0), covariance / rows)
        out.append(rng.multivariate_normal(mean, covariance, made))
    return real, out


def independent(rng: np.random.Generator, rows: int, made: int, sets: int) -> tuple[Array, list[Array]]:
    """Further samples of the population."""
    return population(rng, rows), [population(rng, made) for _ in range(sets)]


def partial(kind: str) -> Maker:
    """D given two binary columns and their product, all of which the classifier has; a and b are kept, c is left out."""

    def make(rng: np.random.Generator, rows: int, _made: int, sets: int) -> tuple[Array, list[Array]]:
        kept = (rng.random((rows, 2)) < (0.4, 0.6)).astype(float)
        design = np.column_stack([np.ones(rows), kept, kept[:, 0] * kept[:, 1]])
        y = design @ (1.0, 0.5, -0.5, 0.3) + rng.normal(size=rows)
        inverse = np.linalg.inv(design.T @ design)
        estimate = inverse @ design.T @ y
        left = float(((y - design @ estimate) ** 2).sum())
        out = []
        for _ in range(sets):
            variance = left / (rng.chisquare(rows - 4) if kind == "proper" else rows)
            beta = rng.multivariate_normal(estimate, inverse * variance) if kind == "proper" else estimate
            out.append(np.column_stack([kept, design @ beta + np.sqrt(variance) * rng.normal(size=rows)]))
        return np.column_stack([kept, y]), out

    return make


def release_of(real: Array, sets: list[Array], *, proper: bool, kept: int = 0) -> stead.Release:
    """The arrays as a release; columns that are kept are codes, and rows are then aligned."""
    names = NAMES[: real.shape[1]]

    def table(values: Array) -> stead.Records:
        columns = {
            name: column.astype(int) if place < kept else column
            for place, (name, column) in enumerate(zip(names, values.T, strict=True))
        }
        return stead.table(columns, categorical=names[:kept])

    return stead.Release.from_tables(
        table(real), [table(one) for one in sets], synthesized=names[kept:], aligned=kept > 0, proper=proper
    )


def study(
    maker: Maker,
    seed: int,
    rows: int,
    made: int,
    *,
    proper: bool,
    kept: int = 0,
    repeats: int = REPEATS,
    **more: object,
) -> list[stead.Measurement]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        real, sets = maker(rng, rows, made, SETS)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", stead.Notice
            )  # that it cannot be checked where plug-in data come from
            found.append(stead.pmse(release_of(real, sets, proper=proper, kept=kept), **more))  # type: ignore[arg-type]
    return found


def mean_and_error(found: list[stead.Measurement], key: str = "ratio") -> tuple[float, float]:
    values = np.array([one.details[key] for one in found])
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


SCENARIOS: dict[str, tuple[Maker, bool, int, int]] = {
    "plug-in, full": (plug_in, False, 0, 10),
    "proper, full": (proper, True, 0, 10),
    "independent": (independent, True, 0, 10),
    "plug-in, partial": (partial("plug-in"), False, 2, 3),
    "proper, partial": (partial("proper"), True, 2, 3),
}


@pytest.mark.parametrize(
    ("name", "made_share"),
    [(name, share) for name, held in SCENARIOS.items() for share in ((0.5,) if held[2] else (0.5, 0.8))],
)  # aligned files have one length
def test_the_mean_ratio_is_one_under_the_analytic_null(name: str, made_share: float) -> None:
    maker, is_proper, kept, rank = SCENARIOS[name]
    rows, made = (600, 600) if made_share == 0.5 else (400, 1600)
    found = study(maker, 7, rows, made, proper=is_proper, kept=kept)
    assert {(one.details["null"], one.details["k_star"], one.details["c"]) for one in found} == {
        ("analytic", rank, made_share)
    }
    mean, error = mean_and_error(found)
    assert abs(mean - 1) < 3.5 * error + 0.02, (mean, error)  # .02 for terms of order k / n
    assert error < 0.08
    # the SD of the mean of m sets: r = 0 where the model's scores hold the terms, r = c for independent samples
    r = made_share if name == "independent" else 0.0
    expected = np.sqrt((1 + (SETS - 1) * r**2) / (1 + (SETS - 1) * made_share**2))
    spread = float(np.std([one.details["z"] for one in found], ddof=1))
    assert spread == pytest.approx(expected, rel=0.35)


def test_a_perfect_bayesian_synthesis_has_ratio_two_against_the_plug_in_line() -> None:
    """Which is what a line that does not ask how the data were made says of them; five at c = .8."""
    for rows, made, factor in ((600, 600, 2.0), (400, 1600, 5.0)):
        mean, error = mean_and_error(study(proper, 8, rows, made, proper=False, repeats=16))
        assert mean == pytest.approx(factor, abs=4 * error + 0.1)


def test_plug_in_data_beyond_the_score_space_lie_between_the_lines_and_the_result_says_so() -> None:
    """A log-normal column, modelled on its log scale and judged on its own."""
    rng = np.random.default_rng(9)
    ratios = []
    for _ in range(40):
        logs = rng.normal(size=800)
        model = np.exp(rng.normal(logs.mean(), logs.std(), 800))
        release = stead.Release.from_tables(
            stead.table({"y": np.exp(logs)}), [stead.table({"y": model})], synthesized=["y"], aligned=False, proper=False,
            posterior=stead.Linear("log(y) ~ 1").fit(stead.table({"y": np.exp(logs)}), draws=20, rng=1),
        )  # fmt: skip
        with pytest.warns(stead.Notice, match="beyond the score space"):
            measured = stead.pmse(release, "y + sqrt(y) + cbrt(y) + log1p(y)")
        assert set(measured.details["nulls"]) == {"plug-in", "proper"}
        assert any("lies between" in note for note in measured.details["notes"])
        ratios.append((measured.details["ratio"], measured.details["nulls"]["proper"]["ratio"]))
    lower, upper = np.mean(ratios, axis=0)
    assert lower > 1.15
    assert upper < 0.9


@pytest.mark.parametrize("kind", ["proper", "plug-in"])
def test_swapping_labels_within_pairs_is_right_for_aligned_data_and_permuting_them_is_not(kind: str) -> None:
    found = study(
        partial(kind), 10, 500, 500, proper=kind == "proper", kept=2, repeats=16, null="permutation"
    )
    assert {one.details["null"] for one in found} == {"swap within pairs"}
    mean, error = mean_and_error(found)
    assert abs(mean - 1) < 3.5 * error + 0.03
    if kind == "proper":
        permuted = []
        rng = np.random.default_rng(11)
        for _ in range(8):
            real, sets = partial("proper")(rng, 500, 500, SETS)
            full = release_of(real, sets, proper=True)  # not aligned, all columns as if synthesized
            permuted.append(stead.pmse(full, "(a + b + c)^2", null="permutation").reference or 0.0)
        swapped = np.mean([one.reference or 0.0 for one in found])
        assert np.mean(permuted) / swapped > 1.3


def test_a_tree_has_the_permutation_line_and_pairs_of_sets_are_too_near_each_other() -> None:
    """Two synthetic sets lack the sampling noise of the confidential file, and a tree sees that noise."""
    by_labels = study(proper, 12, 250, 250, proper=True, repeats=4, classifier="cart")
    mean, error = mean_and_error(by_labels)
    assert {one.details["null"] for one in by_labels} == {"permutation"}
    assert abs(mean - 1) < 3.5 * error + 0.03
    by_pairs = study(proper, 12, 250, 250, proper=True, repeats=4, classifier="cart", null="pairs")
    assert 1.7 < mean_and_error(by_pairs)[0] < 2.2


def test_pairs_of_sets_are_right_where_the_classifier_stays_in_the_score_space() -> None:
    for maker, is_proper in ((plug_in, False), (proper, True)):
        for rows, made in ((600, 600), (400, 1600)):
            found = study(maker, 13, rows, made, proper=is_proper, repeats=16, null="pairs")
            mean, error = mean_and_error(found)
            assert abs(mean - 1) < 3.5 * error + 0.05, (mean, error)
