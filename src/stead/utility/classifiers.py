"""The classifiers of propensity scores: a logistic regression of our own, or any of scikit-learn.

A classifier is prepared once for two files and then fitted to any labels of their stacked rows, its own or permuted
ones. Trees, forests and boosting get the columns themselves, since splitting finds products: a number, 0 beside an
indicator where it is missing, and an indicator for each level of a category. scikit-learn has no types and takes
seconds to import; it enters here, late.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve

from stead.errors import UsageError, nearest, shorten
from stead.glm.rank import independent_columns
from stead.glm.stacked import Stack
from stead.glm.streamed_logit import LogitFit, fit_logit
from stead.language.grammar import Factor, Formula

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stead.language.design import Design
    from stead.tables.records import Records

    Array = NDArray[np.float64]

NAMED = ("logistic", "cart", "forest", "boosting")
SMALLEST_LEAF, MOST_LEAVES = 5, 200
TREES = 100


@dataclass(frozen=True)
class Logit:
    """Our own logistic regression: unpenalised, aliased terms dropped, in flat memory."""

    stack: Stack

    @classmethod
    def prepare(cls, design: Design, files: Sequence[Records]) -> Logit:
        """The design over the stacked files."""
        return cls(Stack(design, files))

    def fit(self, labels: Array) -> LogitFit:
        """The fit."""
        return fit_logit(self.stack, labels)

    def scores(self, labels: Array) -> Array:
        """Fitted probabilities."""
        return self.fit(labels).probabilities

    def linear_scores(self, labels: Array) -> Array:
        """Scores of many labels at once, to first order at p = c: what least squares fits."""  # (N, R)
        gram, crossed = self.stack.moments(labels - labels.mean(axis=0))
        free = np.flatnonzero(independent_columns(gram))
        coefficients = np.zeros_like(crossed)
        coefficients[free] = solve(gram[np.ix_(free, free)], crossed[free], assume_a="pos")
        scores: Array = self.stack.times(coefficients) + labels.mean(axis=0)
        return scores


@dataclass(frozen=True)
class Foreign:
    """A classifier of scikit-learn, cloned for every fit."""

    estimator: Any
    features: Array  # (N, p)

    @classmethod
    def prepare(
        cls, classifier: Any, design: Design, files: Sequence[Records], *, own_terms: bool
    ) -> Foreign:
        """The features of the stacked files: the terms of a formula, or the columns themselves."""
        build = _terms if own_terms else _columns
        features = np.concatenate([build(design, one) for one in files])
        estimator = _named(classifier, len(features)) if isinstance(classifier, str) else classifier
        return cls(estimator, features)

    def scores(self, labels: Array) -> Array:
        """Fitted probabilities; what an estimator says when it fails may quote a value, and is withheld."""
        from sklearn.base import clone  # type: ignore[import-untyped]
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        try:  # fits are small and many: threads that wait for each other cost up to eighty times the work
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                fitted = clone(self.estimator).fit(self.features, labels.astype(np.int64))
                return np.asarray(fitted.predict_proba(self.features)[:, 1], np.float64)
        except Exception as error:  # noqa: BLE001 - any classifier may be given
            failed = type(error).__name__
        raise UsageError(
            "E-CLASSIFIER",
            f"the classifier {shorten(type(self.estimator).__name__)} ended with {failed}, whose message is withheld; "
            f"it needs fit and predict_proba, or is one of {', '.join(NAMED)}",
        )


def check_classifier(classifier: Any) -> str:
    """The name of a classifier; something that is none is refused."""
    if isinstance(classifier, str):
        if classifier not in NAMED:
            raise UsageError(
                "E-CLASSIFIER",
                f"no classifier is called {shorten(classifier)}; {nearest(classifier, NAMED)}; or a classifier object of scikit-learn",
            )
        return classifier
    if (
        isinstance(classifier, type)
        or not hasattr(classifier, "fit")
        or not hasattr(classifier, "predict_proba")
    ):
        raise UsageError(
            "E-CLASSIFIER",
            f"a classifier is one of {', '.join(NAMED)}, or an object of scikit-learn with fit and predict_proba",
        )
    return type(classifier).__name__


def _named(name: str, rows: int) -> Any:
    """The classifiers that have a name here; a leaf holds at least five rows, and a tree has at most 200."""
    leaf = max(SMALLEST_LEAF, rows // MOST_LEAVES)
    if name == "cart":
        from sklearn.tree import DecisionTreeClassifier  # type: ignore[import-untyped]

        return DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0)
    if name == "forest":
        from sklearn.ensemble import RandomForestClassifier  # type: ignore[import-untyped]

        return RandomForestClassifier(TREES, min_samples_leaf=leaf, random_state=0)
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(min_samples_leaf=leaf, early_stopping=False, random_state=0)


def _terms(design: Design, records: Records) -> Array:
    """The terms of a formula, without the intercept."""
    return design.matrix(records)[:, 1 if design.formula.intercept else 0 :]


def _columns(design: Design, records: Records) -> Array:
    """The columns of a formula themselves, each category in full."""
    alone = [
        replace(design, formula=Formula(None, intercept=False, terms=((Factor(name),),)))
        for name in design.formula.predictors
    ]
    gaps = [(name,) if name in design.gaps else () for name in design.formula.predictors]
    built = [
        replace(one, gaps=some).matrix(records.only(one.formula.predictors))
        for one, some in zip(alone, gaps, strict=True)
    ]
    return np.concatenate(built, axis=1)
