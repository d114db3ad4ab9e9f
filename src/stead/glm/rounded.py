"""The normal family seen through rounding: a response is the interval of all that is rounded to it.

    P(y | eta, sigma, pi) = sum_k pi_k [Phi(b_k) - Phi(a_k)] / mass,     a_k = (low_k - eta)/sigma, b_k = (high_k - eta)/sigma,

k runs over the units that values are rounded to (one, or several where people heap), pi_k over their shares; an
interval with equal ends has no probability. With w_k the share of the k-th addend and M_k = Phi(b_k) - Phi(a_k),

    d log P / d eta   = sum_k w_k (phi(a_k) - phi(b_k)) / (M_k sigma),
    d log P / d sigma = sum_k w_k (a_k phi(a_k) - b_k phi(b_k)) / (M_k sigma),      d log P / d pi_k = w_k/pi_k - w_1/pi_1,

less those of the mass. Heitjan & Rubin (1990), Journal of the American Statistical Association 85.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from stead.glm.gaussian import LOG_2_PI, Gaussian, log_between, product

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Unit: TypeAlias = tuple[Array, Array, Array, Array]


@dataclass(frozen=True)
class Rounded(Gaussian):
    """A response of (n, 2 K): both ends for each of K units. The first unit has what the other shares leave."""

    units: int = 1

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """The standard deviation, and the shares of the units but the first."""
        return ("sigma", *(f"share{place}" for place in range(2, self.units + 1)))

    def log_density(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """The log probability of each interval."""
        sigma = auxiliary[:, :1]
        with np.errstate(divide="ignore"):
            addends = [
                np.log(share) + mass for share, mass, _, _ in self._units(response, predictor, auxiliary)
            ]
        total = np.logaddexp.reduce(addends)
        return np.asarray(total - self.log_mass(predictor, sigma)) if self.bounded else np.asarray(total)

    def score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """The first equation."""
        slope, _, _ = self._slopes(response, predictor, auxiliary)
        return slope

    def curvature(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """The mean over the units of theirs: what a mixture adds is left out, so that it is never negative."""
        sigma = float(auxiliary[0])
        units = self._units(response, predictor[None], auxiliary[None])
        result = np.zeros(len(predictor))
        for (_, mass, low, high), share in zip(units, _responsibilities(units), strict=True):
            at_low, at_high = _at(low, mass)[0], _at(high, mass)[0]
            bend = (at_low - at_high) ** 2 - product(low[0], at_low) + product(high[0], at_high)
            result += share[0] * np.maximum(bend, 0.0)
        if self.bounded:
            low, high, at_low, at_high = self.edges(predictor, sigma)
            result += product(low, at_low) - product(high, at_high) - (at_low - at_high) ** 2
        return np.asarray(np.maximum(result, 1e-9) / sigma**2)

    def auxiliary_score(self, response: Array, predictor: Array, auxiliary: Array) -> Array:
        """The second equation, and the third."""
        _, in_sigma, shares = self._slopes(response, predictor, auxiliary)
        first = shares[0] / self._share(auxiliary, 0)
        others = [
            share / self._share(auxiliary, place) - first for place, share in enumerate(shares[1:], start=1)
        ]
        return np.stack([in_sigma, *others], axis=2)

    def natural(self, free: Array) -> Array:
        """Sigma = exp(u_1); shares are softmax(0, u_2, ...)."""
        highest = np.maximum(free[:, 1:].max(axis=1, initial=0.0), 0.0)[:, None]
        shares = np.exp(free[:, 1:] - highest)
        return np.concatenate(
            [np.exp(free[:, :1]), shares / (shares.sum(axis=1, keepdims=True) + np.exp(-highest))], axis=1
        )

    def chain(self, free: Array, slope: Array) -> Array:
        """pi_k (slope_k - sum_l pi_l slope_l) for the shares."""
        natural = self.natural(free)
        shares = natural[:, 1:]
        mean = (shares * slope[:, 1:]).sum(axis=1, keepdims=True)
        return np.asarray(
            np.concatenate([natural[:, :1] * slope[:, :1], shares * (slope[:, 1:] - mean)], axis=1)
        )

    def log_jacobian(self, free: Array) -> Array:
        """u_1 + the sum of the logs of all shares."""
        shares = self.natural(free)[:, 1:]
        left = np.maximum(1.0 - shares.sum(axis=1), np.finfo(float).tiny)
        total = free[:, 0] + (
            np.log(np.maximum(shares, np.finfo(float).tiny)).sum(axis=1) + np.log(left)
            if self.units > 1
            else 0.0
        )
        return np.asarray(total)

    def jacobian_slope(self, free: Array) -> Array:
        """1, and 1 - K pi_k."""
        shares = self.natural(free)[:, 1:]
        return np.concatenate([np.ones((len(free), 1)), 1.0 - self.units * shares], axis=1)

    def start(self, response: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the middles of the finest intervals; half of the shares on the first unit."""
        middle = middles(response)
        spread = max(float(middle.std()), 1e-12)
        return np.array([middle.mean()]), np.concatenate(
            [[np.log(spread)], np.full(self.units - 1, -np.log(self.units))]
        )

    def _share(self, auxiliary: Array, place: int) -> Array:
        """(H, 1)."""
        if place:
            return auxiliary[:, place : place + 1]
        left: Array = 1.0 - auxiliary[:, 1:].sum(axis=1, keepdims=True)
        return np.maximum(left, np.finfo(float).tiny)

    def _units(self, response: Array, predictor: Array, auxiliary: Array) -> list[Unit]:
        """For each unit its share, the log probability of the interval, and both ends in standard deviations."""
        sigma = auxiliary[:, :1]
        found = []
        for place in range(self.units):
            low, high = ((response[:, 2 * place + side] - predictor) / sigma for side in (0, 1))
            mass = np.full(predictor.shape, -np.inf)
            full = np.flatnonzero(response[:, 2 * place] < response[:, 2 * place + 1])
            mass[:, full] = log_between(low[:, full], high[:, full])
            found.append((self._share(auxiliary, place), mass, low, high))
        return found

    def _slopes(
        self, response: Array, predictor: Array, auxiliary: Array
    ) -> tuple[Array, Array, list[Array]]:
        """In eta, in sigma, and the shares w_k."""
        sigma = auxiliary[:, :1]
        in_eta, in_sigma = np.zeros(predictor.shape), np.zeros(predictor.shape)
        units = self._units(response, predictor, auxiliary)
        shares = _responsibilities(units)
        for (_, mass, low, high), share in zip(units, shares, strict=True):
            at_low, at_high = _at(low, mass), _at(high, mass)
            in_eta += share * (at_low - at_high) / sigma
            in_sigma += share * (product(low, at_low) - product(high, at_high)) / sigma
        if self.bounded:
            low, high, at_low, at_high = self.edges(predictor, sigma)
            in_eta -= (at_low - at_high) / sigma
            in_sigma -= (product(low, at_low) - product(high, at_high)) / sigma
        return in_eta, in_sigma, shares


def _responsibilities(units: list[Unit]) -> list[Array]:
    """The shares w_k of the addends."""
    with np.errstate(divide="ignore"):
        addends = np.stack([np.log(share) + mass for share, mass, _, _ in units])
    return list(np.exp(addends - np.logaddexp.reduce(addends)))


def middles(response: Array) -> Array:
    """The middle of the finest interval of each row; the finite end where the other is not."""
    low, high = response[:, 0], response[:, 1]
    both = np.isfinite(low) & np.isfinite(high)
    with np.errstate(invalid="ignore"):
        return np.where(both, 0.5 * (low + high), np.where(np.isfinite(low), low, high))


def _at(edge: Array, mass: Array) -> Array:
    """phi(edge) / exp(mass), 0 where the interval is empty."""
    with np.errstate(over="ignore", invalid="ignore"):
        density = np.exp(-0.5 * np.square(edge) - 0.5 * LOG_2_PI - mass)
    return np.where(np.isfinite(mass), density, 0.0)
