"""The terms of a classifier: which formula, bound to which files, and which columns of its design were synthesized.

Without a formula, all columns that both files have and all their products up to `order`: 2 means main effects and all
pairwise interactions. A category with gaps in any of the files gets a level "missing", a number 0 beside an indicator.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused, Notice, UsageError, nearest, shorten
from stead.language.design import MISSING, Design, require_domain
from stead.language.functions import FUNCTIONS
from stead.language.grammar import Factor, Formula, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from stead.language.grammar import Term
    from stead.release import Release
    from stead.tables.records import Records
    from stead.tables.schema import Role

MOST_COLUMNS = 1_000
MOST_DIGITS = 140
NOT_PREDICTORS: frozenset[Role] = frozenset({"weight", "group"})


def classifier_formula(release: Release, formula: str | None, order: int) -> Formula:
    """The formula as given, or all columns and their products; a synthesized column that it leaves out is told."""
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= 4:
        raise UsageError("E-ORDER", "order is 1 (main effects), 2 (and all pairs), 3 or 4")
    if formula is None:
        schema = release.confidential.schema
        names = [name for name in release.synthetic[0].names if schema[name].role not in NOT_PREDICTORS]
        terms = (
            tuple(map(Factor, chosen)) for size in range(1, order + 1) for chosen in combinations(names, size)
        )
        parsed = Formula(None, intercept=True, terms=tuple(terms))
    else:
        parsed = parse(formula)
        if parsed.response is not None:
            raise UsageError(
                "E-FORMULA",
                "the classifier predicts which file a row is from: its formula has no response, as in ~ Income * Race",
            )
        for name in parsed.predictors:
            if name not in release.confidential:
                raise UsageError(
                    "E-COLUMN",
                    f"no column is called {shorten(name)}; {nearest(name, release.confidential.names)}",
                )
    left_out = [name for name in release.synthesized if name not in parsed.predictors]
    if left_out:
        warnings.warn(
            Notice(
                "E-NOT-IN-FORMULA",
                f"the classifier does not see {', '.join(map(shorten, left_out))}, which was synthesized: "
                "the measure says nothing about it; put every synthesized column into the formula",
            ),
            stacklevel=3,
        )
    return parsed


def bound_design(release: Release, formula: Formula) -> Design:
    """The formula bound to the schema, with the gaps of all files."""
    files = (release.confidential, *release.synthetic)
    design = Design.bind(formula, release.confidential)
    gaps = tuple(name for name in formula.predictors if any(one[name].gaps for one in files))
    for factor in {factor for term in formula.terms for factor in term}:
        if factor.function in FUNCTIONS:
            for one in release.synthetic:
                require_domain(factor, one)
    for term in formula.terms:
        _require_room(term, files, design)
    return replace(design, gaps=gaps)


def _require_room(term: Term, files: Sequence[Records], design: Design) -> None:
    """Refuse a product of numbers whose square is beyond double precision."""
    digits = 0.0
    for factor in term:
        if design.schema[factor.column].coded or factor.function in FUNCTIONS:
            continue
        values = [one[factor.column].values for one in files]
        largest = max((float(np.abs(one.astype(float)).max()) for one in values if len(one)), default=0.0)
        digits += factor.degree * math.log10(max(largest, 1.0))
    if digits > MOST_DIGITS:
        raise InputRefused(
            "E-OVERFLOW",
            f"{':'.join(map(str, term))}: reaches 10^{digits:.0f}, and a term may reach 10^{MOST_DIGITS}; "
            "write a formula with asinh() of its columns",
        )


def columns_of(design: Design) -> int:
    """How many columns the design has at most; counted without building it, since levels multiply."""
    return 1 + sum(math.prod(_size(design, factor) for factor in term) for term in design.formula.terms)


def _size(design: Design, factor: Factor) -> int:
    column = design.schema[factor.column]
    return len(column.levels) + (factor.column in design.gaps) if column.coded else factor.degree


def involving(design: Design, names: Iterable[str]) -> NDArray[np.bool_]:
    """Mark the columns of the design that some of these columns of the file are in."""
    wanted = set(names)
    inside = {
        ":".join(map(str, term)): any(factor.column in wanted for factor in term)
        for term in design.formula.terms
    }
    inside |= {f"{MISSING}({name})": name in wanted for name in design.gaps}
    return np.array([inside.get(source, False) for source in design.sources])
