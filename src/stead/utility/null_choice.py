"""Which null belongs to which data, and why.

    logistic classifier                                     analytic
    any other, all columns synthesized                      labels permuted
    any other, rows aligned                                 labels swapped within pairs
    any other, columns kept and rows not aligned            pairs of synthetic sets, from two sets on

Refused as a default where several sets are there and labels can be permuted: pairs. Two synthetic sets do not have the
sampling noise of the confidential file, and a tree sees it: with a right model its pMSE was 1.97 times the line of pairs
at c = 1/2, 4.1 times at c = .8, and .99 to 1.00 times that of permuted labels (docs/derivations/propensity.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from stead.errors import UsageError, nearest, shorten
from stead.utility import null as lines
from stead.utility.null import NOTHING, Line, Null
from stead.utility.relabelling import How, line_of, mean_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from stead.release import Release
    from stead.tables.records import Records
    from stead.utility.propensity_fits import Fits
    from stead.utility.scores import Apart

NullName: TypeAlias = Literal["analytic", "permutation", "pairs"]
NAMES = ("analytic", "permutation", "pairs")


@dataclass(frozen=True)
class Choice:
    """A null to be found, how labels are exchanged for it, why it is the one; or the reason why there is none."""

    method: NullName
    how: How
    why: str
    mixed: bool = False
    """Columns were kept and rows are not aligned, so that no exchange of labels is like the data."""
    reason: str = ""

    @property
    def shown(self) -> str:
        """Its name in a result."""
        return "swap within pairs" if self.method == "permutation" and self.how == "swap" else self.method


def choose_null(release: Release, classifier: str, asked: str | None, *, agree: bool) -> Choice:
    """The null that was asked for, or the one that belongs to these data; one that cannot be is refused."""
    if asked is not None and asked not in NAMES:
        raise UsageError("E-NULL", f"no null is called {shorten(str(asked))}; {nearest(str(asked), NAMES)}")
    logistic = classifier == "logistic"
    if asked == "analytic" and not logistic:
        raise UsageError("E-NULL", 'only the logistic classifier has an analytic null; null="permutation"')
    if asked == "pairs" and release.m < 2:
        raise UsageError("E-NULL", "pairs of synthetic sets need two sets, and there is one")
    kept = agree and bool(release.kept)
    how: How = "swap" if kept and release.aligned else "permute"
    mixed = kept and not release.aligned
    method = asked or ("analytic" if logistic else "pairs" if mixed and release.m > 1 else "permutation")
    if method == "analytic":
        return Choice("analytic", how, "a logistic classifier has a null in closed form", mixed)
    if method == "pairs":
        why = (
            "two synthetic sets differ as a synthetic and the confidential file would; outside the score space of the "
            "model this null is too small, by up to 1/(1-c)"
        )
        return Choice("pairs", how, why, mixed)
    if mixed:
        return Choice(
            "permutation",
            how,
            "none fits one set",
            mixed,
            "not available, because columns were kept and the rows are not aligned: permuted labels would let kept columns differ; "
            "give aligned rows, or two sets or more",
        )
    if how == "swap":
        return Choice(
            "permutation", how, "rows are aligned and columns were kept: labels are swapped within pairs"
        )
    return Choice("permutation", how, "all columns differ between the files: labels are permuted")


def kept_columns_agree(release: Release, names: Iterable[str]) -> bool:
    """Whether columns that were not synthesized have the same values in both files, in whatever order.

    Where they have not (a sample of another size, other people), their terms differ by chance as well, and count.
    """
    if release.aligned:
        return True
    made = release.synthetic[0]
    kept = [name for name in names if name not in release.synthesized]
    return made.rows == release.confidential.rows and (
        not kept or bool((_sorted_rows(release.confidential, kept) == _sorted_rows(made, kept)).all())
    )


def _sorted_rows(records: Records, names: Sequence[str]) -> NDArray[np.float64]:
    """The rows of some columns in lexicographic order, gaps as they are."""  # (2 columns, rows)
    held = [records[name] for name in names]
    stacked = np.array(
        [part for one in held for part in (np.where(one.present, one.values, 0).astype(float), one.missing)]
    )
    ordered: NDArray[np.float64] = stacked[:, np.lexsort(stacked)]
    return ordered


def null_found(choice: Choice, fits: Fits, proper: bool | None, share: float, rows: int) -> Null:
    """The null with its lines, from the ranks of the fits or from the fits to other labels."""
    if choice.method == "analytic":
        rank = float(np.mean(fits.ranks))
        if rank == 0:
            reason = (
                "not available, because the terms with a synthesized column are combinations of the others"
            )
            return Null(choice.shown, choice.why, reason=reason)
        return Null(
            choice.shown,
            choice.why,
            lines.analytic_lines(rank, share, rows),
            lines.used_line(proper),
            apart=fits.reference,
        )
    if not fits.under_null:
        return Null(choice.shown, choice.why, reason=choice.reason)
    line, apart = line_of(fits.under_null), mean_of(fits.under_null)
    if line.mean < NOTHING:
        reason = "not available, because its mean is 0: under it the classifier tells nothing"
        return Null(choice.shown, choice.why, reason=reason, apart=apart)
    return _from_fits(choice, line, apart, proper, share)


def _from_fits(choice: Choice, line: Line, apart: Apart, proper: bool | None, share: float) -> Null:
    spread = line.deviation is not None and line.deviation > NOTHING
    reason = "" if spread else "z is not available, because the null has no spread"
    if choice.method == "pairs":
        target = line.times(8.0 * share**2 * (1.0 - share) ** 2)
        return Null(choice.shown, choice.why, {"pairs": target}, "pairs", reason, apart)
    return Null(
        choice.shown, choice.why, lines.both_lines(line, share), lines.used_line(proper), reason, apart
    )
