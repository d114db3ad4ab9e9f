"""Posteriors: CPU seconds to 1,000 effective draws, which is time x 1,000 / the bulk effective size of the worst parameter.

NumPyro's NUTS runs beside it where `pip install stead[nuts]` was done: the same data, model and prior, without the time that its
compilation takes.
"""

from __future__ import annotations

import time
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

import stead
from bench.common import MILLION, Row, cpu
from stead.models.regression_posterior import RegressionPosterior
from stead.sampling.mixing import mixing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stead.models.regression import Regression

    Array = NDArray[np.float64]

DRAWS, P = 1_000, 10
LEAST_RATIO = 30


def rows() -> Iterator[Row]:
    """Every figure that a posterior is held to."""
    spent, plain = {}, {}
    for count, limit in ((5_000, "0.020 s"), (10_000, ""), (100_000, "0.5 s"), (MILLION, "3 s")):
        records, right = _simulated(count)
        repeats = 7 if count < MILLION else 2
        spent[count], plain[count], said = _to_a_thousand(
            stead.Logistic(f"level ~ {right}"), records, repeats
        )
        yield Row(f"logistic, n = {count:,}, p = {P}", said, limit)
    growth = [plain[large] / plain[large // 10] for large in (100_000, MILLION)]
    yield Row(
        "the cost of ten times the rows, from 10,000 and from 100,000",
        " and ".join(f"{one:.1f} times" for one in growth),
        "10 times: linear",
    )
    yield from _nuts(spent[5_000])
    records, right = _simulated(MILLION)
    *_, said = _to_a_thousand(stead.Linear(f"value ~ {right}"), records, repeats=3)
    yield Row(f"linear, n = {MILLION:,}, p = {P}", said, "0.2 s")
    survey = stead.consumer_survey(5_133)
    *_, said = _to_a_thousand(stead.Multinomial("Race ~ log(Income)"), survey)
    yield Row("multinomial of six levels, n = 5,133, one predictor", said, "1 s")
    *_, said = _to_a_thousand(stead.Poisson("KidsCount ~ log(Income) + UrbanRural + Race"), survey)
    yield Row("Poisson, n = 5,133, three predictors", said, "0.050 s")
    chains = np.random.default_rng(0).normal(size=(P + 1, 4, DRAWS // 4))
    seconds = cpu(lambda: mixing(chains), 9)
    yield Row(f"diagnostics of a fit: {P + 1} parameters, {DRAWS:,} draws", f"{1e3 * seconds:.1f} ms", "")


def _simulated(count: int) -> tuple[stead.Records, str]:
    """Ten standard normal predictors, a binary and a normal response; and the right-hand side of a formula."""
    rng = np.random.default_rng(0)
    names = [f"x{place}" for place in range(P)]
    design = rng.normal(size=(count, P))
    signal = design @ rng.normal(size=P) / 3.0
    level = (rng.random(count) < 1.0 / (1.0 + np.exp(-signal))).astype(int)
    columns = dict(zip(names, design.T, strict=True))
    return stead.table({**columns, "value": signal + rng.normal(size=count), "level": level}), " + ".join(
        names
    )


def _to_a_thousand(model: Regression, records: stead.Records, repeats: int = 5) -> tuple[float, float, str]:
    """CPU seconds to 1,000 effective draws, those of the fit, and all of it in words."""
    seconds = cpu(lambda: model.fit(records, draws=DRAWS, rng=1), repeats)
    fitted = model.fit(records, draws=DRAWS, rng=1)
    assert isinstance(fitted, RegressionPosterior)  # noqa: S101 - what a regression gives
    effective = fitted.quality.ess_bulk or float(DRAWS)
    total = seconds * 1_000.0 / effective
    return total, seconds, f"{total:.3f} s ({seconds:.3f} s, {effective:.0f} effective of {DRAWS:,})"


def _nuts(ours: float) -> Iterator[Row]:
    what = f"NumPyro NUTS, logistic, n = 5,000, p = {P}, without compilation"
    if not all(find_spec(name) for name in ("jax", "numpyro")):
        yield Row(what, "not measured: jax and numpyro are not installed (`pip install stead[nuts]`)", "—")
        return
    seconds, compiled, effective = _nuts_seconds(*_simulated(5_000))
    total = seconds * 1_000.0 / effective
    yield Row(
        what,
        f"{total:.2f} s ({seconds:.2f} s, {effective:.0f} effective of {DRAWS:,} after 500 of warm-up; compilation {compiled:.1f} s)",
        "—",
    )
    yield Row(
        "the same, beside stead in the same run", f"{total / ours:.0f} times", f"at least {LEAST_RATIO} times"
    )


def _nuts_seconds(records: stead.Records, right: str) -> tuple[float, float, float]:
    """CPU seconds of a warm run, of what the first run took beyond that, and the effective size of the worst parameter."""
    jax, numpyro = import_module("jax"), import_module("numpyro")
    distributions, inference = import_module("numpyro.distributions"), import_module("numpyro.infer")
    numpyro.enable_x64()
    design = np.column_stack([records[name].values for name in right.split(" + ")])
    design = (design - design.mean(axis=0)) / design.std(axis=0)

    def model(x: Any, y: Any) -> None:
        alpha = numpyro.sample("alpha", distributions.StudentT(3.0, 0.0, 2.5))
        slopes = numpyro.sample("slopes", distributions.Normal(0.0, 2.5).expand([P]).to_event(1))
        numpyro.sample("y", distributions.Bernoulli(logits=alpha + x @ slopes), obs=y)

    sampler = inference.MCMC(inference.NUTS(model), num_warmup=500, num_samples=DRAWS, progress_bar=False)
    spent = []
    for key in (0, 1):
        began = time.process_time()
        sampler.run(jax.random.PRNGKey(key), design, records["level"].values.astype(float))
        drawn = sampler.get_samples(group_by_chain=True)
        points = np.concatenate([np.asarray(drawn["alpha"])[:, :, None], np.asarray(drawn["slopes"])], axis=2)
        spent.append(time.process_time() - began)
    _, bulk, _ = mixing(np.moveaxis(points, 2, 0))
    return spent[1], spent[0] - spent[1], float(bulk.min())
