"""Sums over draws of the weights of guesses in a normal regression, for every record and guess.

    log w_hg = -(2 r_h delta_g + delta_g^2) / (2 sigma_h^2),   r_h = y - x'beta_h,   delta_g = guess - truth
    first_jg = sum_h p_jh w_hg,     second_jg = sum_h (p_jh w_hg)^2

With equal steps s the weights are products: u_h = exp(-s r_h / sigma_h^2) is one exponential for each record and draw, and
w_h,k = u_h^k c_hk with c_hk = exp(-(k s)^2 / (2 sigma_h^2)), which no record changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stead.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@compiled
def stepped_sums(base: Array, curve: Array, shares: Array, first: Array, second: Array) -> None:
    """Fill `first` and `second`, (J, n, 2 K + 1), from base u (n, H), curve c (K + 1, H) and shares p (J, H)."""
    rows, draws = base.shape
    half = curve.shape[0] - 1
    sets = shares.shape[0]
    up = np.empty(draws)
    down = np.empty(draws)
    inverse = np.empty(draws)
    for i in range(rows):
        for h in range(draws):
            up[h] = 1.0
            down[h] = 1.0
            inverse[h] = 1.0 / base[i, h]
        for j in range(sets):
            total, square = 0.0, 0.0
            for h in range(draws):
                total += shares[j, h]
                square += shares[j, h] * shares[j, h]
            first[j, i, half] = total
            second[j, i, half] = square
        for k in range(1, half + 1):
            for h in range(draws):
                up[h] *= base[i, h]
                down[h] *= inverse[h]
            for j in range(sets):
                above, above_square, below, below_square = 0.0, 0.0, 0.0, 0.0
                for h in range(draws):
                    weight = shares[j, h] * curve[k, h]
                    one = weight * up[h]
                    other = weight * down[h]
                    above += one
                    above_square += one * one
                    below += other
                    below_square += other * other
                first[j, i, half + k] = above
                second[j, i, half + k] = above_square
                first[j, i, half - k] = below
                second[j, i, half - k] = below_square


def stepped_sums_plain(base: Array, curve: Array, shares: Array, first: Array, second: Array) -> None:
    """The same, guess by guess."""
    half = len(curve) - 1
    for k in range(-half, half + 1):
        weight = base**k * curve[abs(k)]  # (n, H)
        first[:, :, half + k] = shares @ weight.T
        second[:, :, half + k] = np.square(shares) @ np.square(weight).T
