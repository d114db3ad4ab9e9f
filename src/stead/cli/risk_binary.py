"""`stead risk binary` and `stead audit`: what a differentially private design would let an intruder learn, before any data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from stead.cli import ui
from stead.errors import UsageError

if TYPE_CHECKING:
    from stead.measurement import Measurement

A_CRITERION_FAILS = 4


def binary(
    *,
    p0: str,
    epsilon: str,
    n: int,
    n_s: int | None = None,
    prior: float = 0.5,
    form: str = "plug-in",
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> int:
    """By how much a binary synthetic file is expected to raise what an intruder believes of a true value.

    Examples:
      stead risk binary --p0 .001,.5 --epsilon 1000,100,10,2,.2,.01 --n 1000
      stead risk binary --p0 .3 --epsilon 1 --n 5000 --form drawn --json

    Parameters
    ----------
    p0
        Share of ones in the population; several with commas between them.
    epsilon
        Of one synthetic set; several with commas between them.
    n
        Rows of the confidential file.
    n_s
        Rows of the synthetic set; as many if left out.
    prior
        What the intruder gives a one beforehand.
    form
        plug-in or drawn.
    json
        Print the cells as JSON.
    """
    from stead.risk.binary import expected_risk

    shares, levels = _numbers(p0, "--p0"), _numbers(epsilon, "--epsilon")
    cells = expected_risk(shares, levels, n, n_s, prior, form=form)  # type: ignore[arg-type]
    if json:
        ui.as_json(
            {
                "name": "expected_risk",
                "n": n,
                "n_s": n_s or n,
                "prior": prior,
                "form": form,
                "direction": "lower is safer",
                "citation": "McClure & Reiter 2012, table 1",
                "cells": [
                    {"p0": share, "epsilon": level, "expected_risk": float(cell)}
                    for share, row in zip(shares, cells, strict=True)
                    for level, cell in zip(levels, row, strict=True)
                ],
            }
        )
        return 0
    ui.say("By how much is a file expected to raise the probability of a true value?")
    ui.table(
        f"n = {n:,}, n_s = {n_s or n:,}, prior {prior:g}, {form} form; 0 is nothing learned, lower is safer",
        ["epsilon", *(f"p0 = {share:g}" for share in shares)],
        [
            [f"{level:g}", *(f"{cell:.6g}" for cell in column)]
            for level, column in zip(levels, cells.T, strict=True)
        ],
        right=frozenset(range(len(shares) + 1)),
    )
    return 0


def audit(
    *,
    epsilon: float,
    n: int = 6,
    n_s: int = 4,
    levels: int = 2,
    sets: int = 1,
    form: str = "plug-in",
    shared: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    prior: Annotated[str, Parameter(show_default=False)] = "",
    json: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> int:
    """Enumerate a differentially private mechanism on a small file: every neighbour, every output, in rational numbers.

    Ends with 0 where the promise is kept and with 4 where it is not.

    Examples:
      stead audit --epsilon 1 --n 12 --n-s 6 --levels 3
      stead audit --epsilon 1 --form drawn --sets 3
      stead audit --epsilon 10 --n-s 20 --prior .0454,.0454

    Parameters
    ----------
    epsilon
        What is promised of one set.
    n
        Records of the file.
    n_s
        Rows of a set.
    levels
        Cells that a record may be in.
    sets
        Synthetic sets; together they cost this many times epsilon.
    form
        plug-in or drawn.
    shared
        One theta for all sets, in the drawn form.
    prior
        What is added to the count of each cell, where it is not what epsilon asks for.
    json
        Print the measurement as JSON.
    """
    from stead.privacy import audit as audits

    measured = audits.audit(
        epsilon,
        n=n,
        n_s=n_s,
        levels=levels,
        m=sets,
        form=form,  # type: ignore[arg-type]
        shared=shared,
        prior=_numbers(prior, "--prior") if prior else None,
    )
    if json:
        ui.as_json(measured.to_dict())
    else:
        _say(measured)
    return 0 if measured.details["kept"] else A_CRITERION_FAILS


def _say(measured: Measurement) -> None:
    shown: dict[str, Any] = measured.to_dict()
    ui.say("Does the mechanism keep what it promises, on every file and every output?")
    ui.table(
        f"{shown['form']} form, {shown['n']} records in {shown['levels']} cells, {shown['m']} x {shown['n_s']} rows",
        ["measure", "value", "reference", "direction"],
        [
            [
                "largest log ratio",
                f"{shown['value']:.10g}",
                f"{shown['reference']:.10g} (what is promised)",
                shown["direction"],
            ]
        ],
        right=frozenset({1}),
    )
    ui.say(f"{shown['ratios']:,} pairs of a file and its sets were enumerated.")
    ui.say(
        "The promise is kept."
        if shown["kept"]
        else "The promise is broken: the mechanism costs more than it says."
    )


def _numbers(text: str, option: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError("E-NUMBER", f"{option}: numbers with commas between them, as .001,.5") from None
