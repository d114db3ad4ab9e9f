"""Laws of the pictures of chains: bands that hold uniform ranks, ranks that equal a known routine, nothing of the data's scale."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from stead.sampling.proposals import CHAINS, independence_chain, proposals_needed
from stead.sampling.traces import LEAST_EACH, MOST_BINS, MOST_POINTS, _ranks, worst_traces


def interleaved(chains: np.ndarray) -> np.ndarray:
    """Draws as a posterior holds them, from (chains, draws)."""
    return np.asarray(chains.T.reshape(-1, 1))


def independent(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(CHAINS * 250, 1))


def metropolis(rng: np.random.Generator) -> np.ndarray:
    """The chain that models use, on proposals that are too narrow here and too wide there: two in three are accepted."""
    offered = 1.6 * rng.standard_t(4, proposals_needed(1000))
    log_weight = -0.5 * offered**2 + 2.5 * np.log1p((offered / 1.6) ** 2 / 4)
    index, _ = independence_chain(log_weight, 1000, rng)
    return np.asarray(offered[index][:, None])


@pytest.mark.parametrize("chain", [independent, metropolis])
def test_the_band_holds_all_heights_in_95_of_100_fits(chain: object) -> None:
    """Simulated: 0.04 and 0.05 of the fits leave it; 300 of them tell 0.05 from 0.10 with 99 %."""
    assert callable(chain)
    left = sum(worst_traces(chain(np.random.default_rng(seed)), ["x"])[0].outside > 0 for seed in range(300))
    assert 300 * 0.005 <= left <= 300 * 0.09


@pytest.mark.parametrize("shift", [0.8, -0.8])
def test_a_chain_that_is_elsewhere_leaves_the_band(shift: float) -> None:
    chains = np.random.default_rng(3).normal(size=(CHAINS, 250))
    chains[2] += shift
    (shown,) = worst_traces(interleaved(chains), ["x"])
    low, high = shown.band
    out = [[not low <= height <= high for height in chain] for chain in shown.heights]
    assert any(out[2])
    assert shown.rhat > 1.05


def test_a_chain_whose_spread_differs_leaves_the_band() -> None:
    chains = np.random.default_rng(4).normal(size=(CHAINS, 250))
    chains[0] *= 0.4
    (shown,) = worst_traces(interleaved(chains), ["x"])
    assert shown.outside > 0
    assert max(shown.heights[0]) > shown.band[1]


@given(st.lists(st.integers(-5, 5), min_size=8, max_size=60))
def test_ranks_are_those_of_scipy(values: list[int]) -> None:
    chains = np.array(values[: len(values) // 4 * 4], float).reshape(4, -1)
    assert np.array_equal(_ranks(chains).ravel(), rankdata(chains.ravel()))


@given(st.integers(0, 2**32 - 1), st.integers(LEAST_EACH, 700), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_pictures_do_not_depend_on_where_a_parameter_lies_or_on_its_unit(
    seed: int, each: int, middle: float, unit: float
) -> None:
    plain = np.random.default_rng(seed).normal(size=(CHAINS * each, 2))
    first = worst_traces(plain, ["a", "b"])[0]
    second = worst_traces(middle + unit * plain, ["a", "b"])[0]
    assert first.parameter == second.parameter
    assert np.allclose(first.heights, second.heights)
    assert np.allclose(first.trace, second.trace, atol=0.011)


@given(st.integers(0, 2**32 - 1), st.integers(LEAST_EACH, 3000))
def test_pictures_are_small_and_count_every_draw(seed: int, each: int) -> None:
    draws = np.random.default_rng(seed).normal(size=(CHAINS * each + seed % CHAINS, 3))
    for shown in worst_traces(draws, ["a", "b", "c"]):
        assert len(shown.heights) == len(shown.trace) == CHAINS
        assert len(shown.heights[0]) <= MOST_BINS
        assert len(shown.trace[0]) <= MOST_POINTS
        assert np.mean(shown.heights) == pytest.approx(1.0, abs=0.01)
        assert len(json.dumps(shown.to_dict())) < 8_000


def test_the_worst_parameter_is_shown_and_a_second_one_where_its_chains_disagree() -> None:
    rng = np.random.default_rng(5)
    slow = np.zeros((CHAINS, 250))
    for step in range(1, 250):
        slow[:, step] = 0.95 * slow[:, step - 1] + rng.normal(size=CHAINS)
    apart = rng.normal(size=(CHAINS, 250)) + np.array([0, 0, 0, 9.0])[:, None]
    good = rng.normal(size=(CHAINS, 250))
    names = ["good", "slow", "never moves"]
    draws = np.concatenate([interleaved(good), interleaved(slow), np.ones((1000, 1))], axis=1)
    assert worst_traces(draws, names)[0].parameter == "slow"
    with_apart = np.concatenate([draws, interleaved(apart)], axis=1)
    assert {shown.parameter for shown in worst_traces(with_apart, [*names, "apart"])} >= {"apart"}
    assert [shown.parameter for shown in worst_traces(interleaved(good), ["good"])] == ["good"]


@pytest.mark.parametrize("draws", [np.zeros((0, 2)), np.ones((1000, 2)), np.zeros((1000, 0)), np.eye(100)])
def test_what_cannot_be_pictured_gives_nothing(draws: np.ndarray) -> None:
    assert worst_traces(draws, [str(place) for place in range(draws.shape[1])]) == []


def test_chains_that_stand_still_give_numbers_that_json_has() -> None:
    shown = worst_traces(np.tile([[1.0], [2.0], [3.0], [4.0]], (250, 1)), ["x"])[0]
    assert json.loads(json.dumps(shown.to_dict(), allow_nan=False))["rhat"] >= 100
    assert shown.outside > 0 or shown.band[1] > 4
