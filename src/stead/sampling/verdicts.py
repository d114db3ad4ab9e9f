"""The figures of a sampler beside their limits: within, to be looked at, or bad enough to stop a release.

Two limits for each figure. What is recommended: R-hat below 1.01, effective sizes of 400 (Vehtari et al. 2021), Pareto
k up to 0.7 (Vehtari et al. 2024). What stops a release: see diagnostics.py, whose constants are read here, so that a
figure is marked `fail` exactly when it stops one. A figure that does not apply has its reason.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from stead.sampling import diagnostics
from stead.sampling.diagnostics import Diagnostics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Mark = Literal["ok", "warn", "fail", "none"]
ORDER: tuple[Mark, ...] = ("none", "ok", "warn", "fail")

ENOUGH_DRAWS, GOOD_R_HAT = 400, 1.01
FIGURES = {
    "ess_bulk": "Effective draws, bulk",
    "ess_tail": "Effective draws, tail",
    "rhat": "R-hat",
    "pareto_k": "Pareto k",
    "acceptance": "Acceptance",
}
STUCK = "a chain does not move"


@dataclass(frozen=True)
class Verdict:
    """One figure of one fit; `none` where it does not apply, and then `reason` says why."""

    value: float | None
    mark: Mark
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For the assessment."""
        return asdict(self)


def limits() -> dict[str, str]:
    """The limit of each figure, in words."""
    return {
        "ess_bulk": f"{ENOUGH_DRAWS} or more; below {diagnostics.LEAST_SHARE:.0%} of the draws stops a run",
        "ess_tail": f"{ENOUGH_DRAWS} or more",
        "rhat": f"below {GOOD_R_HAT}; above {diagnostics.HIGHEST_R_HAT} stops a run",
        "pareto_k": f"above {diagnostics.HIGHEST_K} stops a run",
        "acceptance": "no limit of its own",
    }


def has_chains(checked: Diagnostics) -> bool:
    """Whether the draws come from chains: independent ones have nothing to mix."""
    figures = (checked.ess_bulk, checked.ess_tail, checked.rhat, checked.acceptance)
    return any(figure is not None for figure in figures)


def judge(checked: Diagnostics, unknown: str = "") -> dict[str, Verdict]:
    """Each figure of one fit beside its limits; `unknown` is why one is not there, where nothing is known of the sampler."""
    return {key: _judge(checked, key, unknown) for key in FIGURES}


def problems_of(checked: Diagnostics) -> tuple[str, ...]:
    """Why draws are not to be relied on: their own problems, and figures that are not finite, since NaN passes every limit."""
    said = checked.problems
    lost = [
        name
        for key, name in FIGURES.items()
        if not math.isfinite(getattr(checked, key) or 0.0)
        and not any(problem.startswith(name) for problem in said)
    ]
    return (*said, *(f"{name} is not a finite number: {STUCK}" for name in lost))


def worst(checked: Diagnostics) -> Mark:
    """The mark of a whole fit: that of its worst figure, and `fail` wherever a release is stopped."""
    if problems_of(checked):
        return "fail"
    marks = (verdict.mark for verdict in judge(checked).values())
    return max((mark for mark in marks if mark != "none"), key=ORDER.index, default="ok")


def summary(marks: Sequence[str]) -> str:
    """How many fits are within their limits, in words."""
    total, bad, warned = len(marks), marks.count("fail"), marks.count("warn")
    said = []
    if bad:
        said.append(f"{bad:,} of {total:,} fits {'has' if bad == 1 else 'have'} draws that stop a run.")
    if warned:
        said.append(f"{warned:,} of {total:,} fits {'deserves' if warned == 1 else 'deserve'} a look.")
    return " ".join(said) or (
        "The fit is within its limits." if total == 1 else f"All {total:,} fits are within their limits."
    )


def from_record(held: Mapping[str, Any]) -> Diagnostics:
    """The diagnostics that a record of a fit holds, whatever else stands in it."""
    figures: dict[str, Any] = {key: held.get(key) for key in FIGURES}
    return Diagnostics(str(held["method"]), int(held["draws"]), why=str(held.get("why", "")), **figures)


def _judge(checked: Diagnostics, key: str, unknown: str) -> Verdict:
    value: float | None = getattr(checked, key)
    if value is None:
        return Verdict(None, "none", unknown or _why_none(checked, key))
    if not math.isfinite(value):
        return Verdict(None, "fail", f"no finite number: {STUCK}")
    good, bad = True, False
    if key in {"ess_bulk", "ess_tail"}:
        good = value >= ENOUGH_DRAWS
        bad = key == "ess_bulk" and value < diagnostics.LEAST_SHARE * checked.draws
    elif key == "rhat":
        good = value < GOOD_R_HAT
        bad = checked.draws >= diagnostics.ENOUGH_FOR_R_HAT and value > diagnostics.HIGHEST_R_HAT
    elif key == "pareto_k":
        bad = value > diagnostics.HIGHEST_K
    return Verdict(value, "fail" if bad else "ok" if good else "warn")


def _why_none(checked: Diagnostics, key: str) -> str:
    if not has_chains(checked):
        return "the draws are independent"
    if key == "pareto_k":
        return "no proposals whose weights vary"
    if key == "acceptance":
        return "no proposal is ever rejected"
    return "too few draws, or no parameter varies"
