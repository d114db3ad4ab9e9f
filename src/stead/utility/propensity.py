"""Propensity scores: can a classifier tell synthetic rows from confidential ones?

The files are stacked, S_i = 1 for synthetic rows, and a classifier is fitted to S. With scores p_i and c = n_s / N

    pMSE = sum_i (p_i - c)^2 / N,

0 where the rows cannot be told apart. What a right synthesis gives is not 0 but the mean of a null, which depends on how
the data were made; see null.py and null_choice.py. Woo, Reiter, Oganian & Karr (2009), Journal of Privacy and
Confidentiality 1; Snoke, Raab, Nowok, Dibben & Slavkovic (2018), JRSS A 181.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import Notice, shorten
from stead.measurement import Measurement, not_available
from stead.utility.classifiers import check_classifier
from stead.utility.null import PLUG_IN, standing
from stead.utility.null_choice import choose_null, kept_columns_agree, null_found
from stead.utility.propensity_fits import Setting, fit_all
from stead.utility.score_space import in_score_space
from stead.utility.scores import histogram
from stead.utility.terms import (
    MOST_COLUMNS,
    NOT_PREDICTORS,
    bound_design,
    classifier_formula,
    columns_of,
)

if TYPE_CHECKING:
    from stead.release import Release
    from stead.utility.null import Null
    from stead.utility.null_choice import NullName
    from stead.utility.propensity_fits import Fits

CITATION = "Woo, Reiter, Oganian & Karr (2009); Snoke et al. (2018)"
NAME = "pMSE"
ROWS_TO_A_TERM = 20


def pmse(
    release: Release,
    formula: str | None = None,
    order: int = 2,
    classifier: Any = "logistic",
    null: NullName | None = None,
) -> Measurement:
    """How well a classifier tells synthetic rows from confidential ones, beside what it tells under the null.

    formula     right-hand side of the classifier; without it, all columns and their products up to `order`
    classifier  "logistic" (unpenalised), "cart", "forest", "boosting", or a classifier object of scikit-learn; all but the
                first take the columns themselves, or the terms of `formula`
    null        "analytic" (logistic alone), "permutation" (within pairs where rows are aligned), "pairs" of synthetic
                sets; None chooses, and the result says why
    """
    kind = check_classifier(classifier)
    parsed = classifier_formula(release, formula, order if kind == "logistic" else 1)
    lacking = [name for name in parsed.predictors if name in release.lacking]
    if lacking:
        return _unavailable(f"the synthetic sets lack {', '.join(map(shorten, lacking))}")
    if not set(parsed.predictors) & set(release.synthesized):
        return _unavailable("no synthesized column is in the formula of the classifier")
    design = bound_design(release, parsed)
    if columns_of(design) > MOST_COLUMNS:
        return _unavailable(
            f"the classifier would have {columns_of(design):,} terms, at most {MOST_COLUMNS:,}; "
            'order=1 or a formula has fewer, classifier="cart" needs no products'
        )
    agree = kept_columns_agree(release, parsed.predictors)
    choice = choose_null(release, kind, null, agree=agree)
    counted = release.synthesized if agree else parsed.predictors
    setting = Setting(release, design, classifier, counted, own_terms=formula is not None)
    fits = fit_all(setting, choice)
    found = null_found(choice, fits, release.proper, setting.share, setting.rows + setting.made)
    between = _between_lines(setting, found)
    if between and release.proper is False:
        warnings.warn(Notice("E-NULL-BETWEEN", f"the null of pMSE: {between}"), stacklevel=2)
    notes = [*_notes(setting, fits, agree=agree), *([between] if between else [])]
    return _measured(setting, fits, found, kind, notes, settled=not between)


def _unavailable(reason: str) -> Measurement:
    return not_available(NAME, reason, citation=CITATION)


def _measured(
    setting: Setting, fits: Fits, null: Null, kind: str, notes: list[str], *, settled: bool
) -> Measurement:
    share, line = setting.share, null.line
    values = [one.pmse for one in fits.own]
    against = {
        name: standing(one, values, share)
        for name, one in null.lines.items()
        if name == null.used or not settled
    }
    used = against.get(null.used, {"ratio": None, "z": None, "sd": None})
    return Measurement(
        name=NAME,
        value=float(np.mean(values)),
        reference=line.mean if line else None,
        reference_name=_reference_name(setting.release, null),
        citation=CITATION,
        per_dataset=tuple(values),
        details={
            "ratio": used["ratio"],
            "z": used["z"],
            "null": null.method,
            "null_line": null.used or None,
            "null_why": null.why,
            "null_reason": null.reason or None,
            "null_sd": used["sd"],
            "nulls": against,
            "k_star": _whole(float(np.mean(fits.ranks))) if fits.ranks else None,
            "per_dataset_ratio": [value / line.mean for value in values] if line else [],
            **_apart(fits, null),
            "classifier": kind,
            "formula": shorten(str(setting.design.formula), 1_000),
            "rows": [setting.rows, setting.made],
            "c": share,
            "proper": setting.release.proper,
            "notes": notes,
        },
        aggregates=_aggregates(setting, fits, null),
    )


def _whole(value: float) -> float | int:
    return int(value) if value == int(value) else value


def _reference_name(release: Release, null: Null) -> str:
    """What the reference is, in words."""
    if null.line is None:
        return ""
    if null.used == "pairs":
        return "null mean, from pairs of synthetic sets"
    if release.proper is None:
        return "null mean if plug-in; it is larger if each set used its own draw"
    return f"null mean, {null.used} synthesis"


def _apart(fits: Fits, null: Null) -> dict[str, Any]:
    """SPECKS, PO50 and AUC, each beside what it is where nothing but chance differs."""
    each: dict[str, Any] = {}
    for key in ("specks", "po50", "auc"):
        values = [getattr(one, key) for one in fits.own]
        reference = getattr(null.apart, key) if null.apart else None
        each[key] = {"value": float(np.mean(values)), "reference": reference, "per_dataset": values}
    between = "pairs of synthetic sets" if null.used == "pairs" else "rows relabelled"
    return {**each, "apart_reference": between if null.apart else None}


def _between_lines(setting: Setting, null: Null) -> str:
    """Say where the reference is only the lower of two bounds; nothing where it is settled."""
    release = setting.release
    if null.used != PLUG_IN:
        return ""
    upper = f"1/(1-c) = {1.0 / (1.0 - setting.share):.3g} times as high"
    if release.proper is None:
        return f"it is not known whether each set used its own posterior draw; then the null mean is {upper}. The lower one is the reference"
    inside = (
        in_score_space(setting.design, release.posterior, release.confidential.schema)
        if setting.classifier == "logistic"
        else False
    )
    if inside:
        return ""
    known = (
        "the classifier goes beyond the score space of the synthesis model"
        if inside is False
        else "it cannot be checked whether the classifier stays in the score space of the synthesis model"
    )
    return f"{known}; beyond it the null mean of plug-in data lies between the plug-in line and the proper one, which is {upper}. The lower one is the reference"


def _notes(setting: Setting, fits: Fits, *, agree: bool) -> list[str]:
    """What a reader of the number should know."""
    release, schema = setting.release, setting.release.confidential.schema
    used = setting.design.formula.predictors
    fewest = min(setting.rows, setting.made)
    left_out = [name for name in release.kept if name not in used and schema[name].role not in NOT_PREDICTORS]
    weights = [column.name for column in schema if column.role == "weight"]
    notes = []
    if not agree:
        notes.append("kept columns differ between the files, so that all terms count as synthesized")
    elif left_out:
        notes.append(
            f"the formula leaves out kept columns ({', '.join(map(shorten, left_out[:12]))}): where they predict a synthesized one the null mean is too high"
        )
    if fits.certain:
        notes.append("some rows are told apart with certainty, and the null is for scores near c")
    if fits.ranks and ROWS_TO_A_TERM * max(fits.ranks) > fewest:
        notes.append(
            f"{max(fits.ranks)} terms are many for {fewest:,} rows: the null is for many rows to a term"
        )
    if weights:
        notes.append(f"rows count alike: the weights in {', '.join(map(shorten, weights))} are not used")
    return notes


def _aggregates(setting: Setting, fits: Fits, null: Null) -> dict[str, Any]:
    """The scores of the set that is told apart best, as a histogram, and what the null says of their spread."""
    cells = histogram(fits.worst, setting.rows)
    if not cells:
        return {}
    return {
        "kind": "propensity",
        "c": setting.share,
        "sets": setting.release.m,
        "worst_dataset": int(np.argmax([one.pmse for one in fits.own])),
        "null_spread": float(np.sqrt(null.line.mean)) if null.line else None,
        **cells,
    }
