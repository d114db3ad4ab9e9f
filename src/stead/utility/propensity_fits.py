"""The fits of one pMSE: each synthetic set against the confidential file, and what its null needs.

A set at a time, so that no more than two files are held as a design, however many sets there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.glm.threads import NARROW, threads_for
from stead.randomness import thin_rows
from stead.utility.classifiers import Foreign, Logit
from stead.utility.relabelling import TIMES, mean_of, own_labels, relabelled
from stead.utility.scores import Apart, measure
from stead.utility.terms import involving

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.language.design import Design
    from stead.release import Release
    from stead.tables.records import Records
    from stead.utility.null_choice import Choice

    Array = NDArray[np.float64]

THIN, THIN_PER_TERM, THIN_TIMES = 2_000, 40, 20


@dataclass(frozen=True, repr=False)
class Setting:
    """What is fitted: files, classifier, terms, and the columns whose terms count for k*."""

    release: Release
    design: Design
    classifier: Any
    counted: tuple[str, ...]
    own_terms: bool

    @property
    def rows(self) -> int:
        """Confidential rows."""
        return self.release.confidential.rows

    @property
    def made(self) -> int:
        """Rows of a synthetic set."""
        return self.release.synthetic[0].rows

    @property
    def share(self) -> float:
        """The share of synthetic rows in a stack, c."""
        return self.made / (self.rows + self.made)

    def prepare(self, files: Sequence[Records]) -> Logit | Foreign:
        """The classifier and the stacked rows of two files."""
        if self.classifier == "logistic":
            return Logit.prepare(self.design, files)
        return Foreign.prepare(self.classifier, self.design, files, own_terms=self.own_terms)


@dataclass(repr=False)
class Fits:
    """What the fits gave."""

    own: list[Apart] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    under_null: list[Apart] = field(default_factory=list)
    reference: Apart | None = None
    """SPECKS, PO50 and AUC under relabelling, where the null is analytic."""
    worst: Array = field(default_factory=lambda: np.zeros(0))
    """The scores of the set with the largest pMSE."""
    certain: bool = False


def fit_all(setting: Setting, choice: Choice) -> Fits:
    """Fit each set, and what the null needs of it."""
    release, fits = setting.release, Fits()
    labels, between = own_labels(setting.rows, setting.made), own_labels(setting.made, setting.made)
    rng = np.random.default_rng(0)  # the reference of a measure is the same whenever it is computed
    for place, made in enumerate(release.synthetic):
        prepared = setting.prepare((release.confidential, made))
        scores = _fit(setting, prepared, labels, fits)
        fits.own.append(measure(scores, labels))
        if fits.own[-1].pmse >= max(one.pmse for one in fits.own):
            fits.worst = scores
        if choice.method == "permutation" and not choice.reason:
            for _ in range(place, TIMES, release.m):
                other = relabelled(choice.how, setting.rows, setting.made, rng)
                fits.under_null.append(measure(prepared.scores(other), other))
    if choice.method == "pairs":
        for pair in combinations(release.synthetic, 2):
            fits.under_null.append(measure(setting.prepare(pair).scores(between), between))
    if choice.method == "analytic" and not choice.mixed:
        fits.reference = _relabelled_apart(setting, choice, max(fits.ranks))
    return fits


def _fit(setting: Setting, prepared: Logit | Foreign, labels: Array, fits: Fits) -> Array:
    """The scores; of a logistic fit also the rank k*."""
    if isinstance(prepared, Foreign):
        return prepared.scores(labels)
    fit = prepared.fit(labels)
    fits.ranks.append(fit.rank_beyond(~involving(setting.design, setting.counted)))
    fits.certain |= fit.certain or not fit.converged
    return fit.probabilities


def _relabelled_apart(setting: Setting, choice: Choice, rank: int) -> Apart:
    """All measures under relabelling, by least squares on a thinned stack, taken to its full size.

    Under the null they exceed 0 (AUC 1/2) by an amount that shrinks with the root of the number of rows.
    """
    most = max(THIN, THIN_PER_TERM * rank)
    few = thinned((setting.release.confidential, setting.release.synthetic[0]), most)
    rows, made = few[0].rows, few[1].rows
    rng = np.random.default_rng(0)
    labels = np.column_stack([relabelled(choice.how, rows, made, rng) for _ in range(THIN_TIMES)])
    with threads_for(NARROW):
        scores = Logit.prepare(setting.design, few).linear_scores(labels)
    mean = mean_of([measure(scores[:, one], labels[:, one]) for one in range(THIN_TIMES)])
    smaller = float(np.sqrt((rows + made) / (setting.rows + setting.made)))
    return Apart(
        pmse=mean.pmse * smaller**2,
        specks=mean.specks * smaller,
        po50=mean.po50 * smaller,
        auc=0.5 + (mean.auc - 0.5) * smaller,
    )


def thinned(files: Sequence[Records], most: int) -> list[Records]:
    """At most `most` rows of each file; the same places in files of one length, so that pairs stay pairs."""
    return [one.take(thin_rows(one.rows, most)) for one in files]
