"""`stead risk attribute`: what an intruder believes of the true values of a release that stead made."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - the command line reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from stead.cli import ui
from stead.errors import UsageError, nearest

if TYPE_CHECKING:
    from stead.measurement import Measurement
    from stead.risk.guesses import Guesses


def attribute(
    release: Path,
    *,
    target: str,
    guesses: Annotated[str, Parameter(show_default=False)] = "",
    prior: str = "uniform",
    outsider: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    unknown: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    evidence: Annotated[str, Parameter(show_default=False)] = "",
    refits: int = 5,
    repro_seed: int | None = None,
    chart: Annotated[Path | None, Parameter(show_default=False)] = None,
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> int:
    """How probable an intruder finds the true value of each record, given the release.

    Examples:
      stead risk attribute stead-output/internal/release --target Income
      stead risk attribute demo/internal/release --target Income --guesses grid:2.5,0.5 --prior margins --json
      stead risk attribute demo/internal/release --target Income,KidsCount --evidence two_posterior

    Parameters
    ----------
    release
        The folder of a release with its posterior, as `stead run` and Release.save write it.
    target
        The synthesized column that is guessed; several, with commas between them, are guessed together.
    guesses
        grid:HALF,STEP on the scale of the model, share:HALF,STEP of the truth, levels, or others:COUNT; left out: the levels of a category, a grid of half standard deviations of a number.
    prior
        uniform, margins, fit, or truth:WEIGHT.
    outsider
        The intruder holds the release alone, not the other confidential records.
    unknown
        The record's own other synthesized values are not known.
    evidence
        exact, two_posterior, reweight or refit; left out: the best that the posterior allows.
    refits
        How many of the worst unreliable records are computed again by refitting.
    repro_seed
        A seed of your own for the draws of the measure.
    chart
        Save the picture here, as .svg or .png.
    json
        Print the measurement as JSON.
    """
    from stead.release import Release
    from stead.risk.attribute import STRATEGIES, attribute_risk
    from stead.risk.intruder import Intruder

    if evidence and evidence not in STRATEGIES:
        raise UsageError("E-EVIDENCE", f"--evidence: {nearest(evidence, STRATEGIES)}")
    rule = _guesses(guesses)
    who = (
        Intruder.outsider(rule)
        if outsider
        else Intruder.worst_case(rule, _prior(prior), "unknown" if unknown else "known")
    )
    names = [name.strip() for name in target.split(",")]
    with ui.watching(quiet=json) as progress:
        measured = attribute_risk(
            Release.load(release),
            names,
            who,
            evidence=evidence or None,  # type: ignore[arg-type]
            refits=refits,
            rng=repro_seed,
            progress=progress,
        )
    return _shown(measured, chart, machine=json)


def _shown(measured: Measurement, chart: Path | None, *, machine: bool) -> int:
    if chart:
        measured.chart().save(chart)
    if machine:
        ui.as_json(measured.to_dict())
        return 0
    _say(measured.to_dict())
    if chart:
        ui.say(f"picture  {chart}")
    return 0


def _say(shown: dict[str, Any]) -> None:
    """The question, the answer, the reference."""
    ui.say(f"How probable does an intruder find the true {', '.join(shown['target'])}?")
    ui.table(
        f"{shown['records']:,} records, {shown['guesses']} guesses each, evidence: {shown['evidence']}",
        ["measure", "value", "reference", "direction"],
        ui.measured_rows([shown]),
        right=frozenset({1}),
    )
    ui.say(f"The truth is the most probable guess for {shown['most_probable']:.1%} of the records.")
    if shown["unreliable"]:
        ui.say(
            f"{shown['unreliable']:,} records have weights that are not to be relied on (Pareto k above {shown['k_limit']:.2f}); --refits computes more of them again"
        )


def _guesses(text: str) -> Guesses | None:
    """The rule that a short text stands for."""
    from stead.risk.guesses import Grid, Levels, Others, Share

    name, _, rest = text.partition(":")
    try:
        numbers = [float(part) for part in rest.split(",")] if rest else []
    except ValueError:
        numbers = [float("nan")]
    rules: dict[str, tuple[int, Any]] = {
        "grid": (2, Grid),
        "share": (2, Share),
        "levels": (0, Levels),
        "others": (1, lambda count: Others(int(count))),
    }
    if not text:
        return None
    if name not in rules or len(numbers) != rules[name][0] or any(number != number for number in numbers):  # noqa: PLR0124 - a NaN
        raise UsageError(
            "E-GUESSES",
            f"--guesses: {nearest(name, rules)}; write grid:2.5,0.5 or share:0.2,0.05 or levels or others:20",
        )
    rule: Guesses = rules[name][1](*numbers)
    return rule


def _prior(text: str) -> Any:
    from stead.risk.intruder import PointMass

    name, _, weight = text.partition(":")
    if name != "truth":
        return text
    try:
        return PointMass(float(weight))
    except ValueError:
        raise UsageError("E-PRIOR", "--prior truth:WEIGHT wants a number between 0 and 1") from None
