"""The Bayes rule of every intruder.

    log p(Y_i = g | Z, A, S) = log prior_g + evidence_g - logsumexp_g(log prior_g + evidence_g)

evidence_g = log p(Z | Y_i = g, A, S) up to a constant: see evidence.py. Reiter & Mitra (2009), Journal of Privacy and
Confidentiality 1; McClure & Reiter (2012), Transactions on Data Privacy 5, equation (2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TIE = 1e-12


@dataclass(frozen=True, eq=False)
class Belief:
    """What is believed of some records. All arrays are (records, guesses), `truth` the place of each record's own value."""

    log_prior: Array
    evidence: Array
    truth: NDArray[np.int64]

    @property
    def log_posterior(self) -> Array:
        """The rule."""
        joint = self.log_prior + self.evidence
        return np.asarray(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))

    @property
    def probability(self) -> Array:
        """R_j: of the truth."""  # (n,)
        return np.exp(self._at_truth(self.log_posterior))

    @property
    def prior(self) -> Array:
        """Of the truth, before."""  # (n,)
        return np.exp(self._at_truth(self.log_prior))

    @property
    def relative(self) -> Array:
        """RR_j = R_j / prior."""  # (n,)
        return np.asarray(np.exp(self._at_truth(self.log_posterior) - self._at_truth(self.log_prior)))

    @property
    def rank(self) -> NDArray[np.int64]:
        """Of the truth; 1 is the most probable, and ties count for it."""  # (n,)
        posterior = self.log_posterior
        return np.asarray(1 + (posterior > self._at_truth(posterior)[:, None] + TIE).sum(axis=1))

    def _at_truth(self, values: Array) -> Array:
        return np.asarray(values[np.arange(len(values)), self.truth])
