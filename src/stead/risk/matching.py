"""Identification risk: how many records an intruder would find again who matches what he knows with the synthetic data.

The matches of confidential record i are the rows of a synthetic set that agree with it on the known and on the synthesized columns
(numbers: lie within a radius). With c_i matches, T_i = 1 where row i is one of them, K_i = [c_i T_i = 1], F_i = [c_i (1 - T_i) = 1]
and s = #{c_i = 1},

    expected match risk  sum over c_i > 0 of T_i / c_i,  the number of records expected to be found
    true match rate      sum K_i / n                     false match rate  sum F_i / s

Reiter & Mitra (2009), Journal of Privacy and Confidentiality 1, 99-110; Hu, Reiter & Wang (2014). Over m sets these are averaged
(`summaries`), or the probability of each row is averaged first and the likeliest rows are the matches (`probabilities`). Beside the
figures stand those of the confidential file itself, released as it is, and those of a release without any leak (`chance`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stead.engine.files import ParquetRelease, parquet_table
from stead.engine.local import Local
from stead.errors import UsageError, shorten
from stead.measurement import Measurement, not_available
from stead.risk.chance import Figures, by_chance, false_rates
from stead.risk.keys import keys_of
from stead.tables.conform import conform

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stead.engine.base import Convention, Engine, Matches
    from stead.engine.regions import Keys, Radii
    from stead.risk.keys import Aligned

NAME = "match_risk"
CITATION = "Reiter & Mitra (2009); Hu, Reiter & Wang (2014)"
CONVENTIONS = ("summaries", "probabilities")


def match_risk(
    release: Aligned,
    known: str | Iterable[str] = (),
    *,
    radius: Radii | None = None,
    synthesized: str | Iterable[str] | None = None,
    closed: bool = True,
    convention: Convention = "summaries",
    holdout: Any = None,
    engine: Engine[Any] | None = None,
) -> Measurement:
    """The expected match risk (the value), match rates and unique matches of an intruder who knows some columns.

    `known` are un-synthesized columns that the intruder knows of his target; he knows the synthesized ones too (all of them, or those
    listed in `synthesized`). `radius` says what is near: {"Income": 500}, {"Income": "20%"}, {"Income": "20%, at least 100"} or a
    `stead.Ball`; the bound belongs to it unless closed=False. `holdout` is a table of people of the same kind whom the
    synthesis never saw: then the zero-leak reference is made of them instead of the margins.
    """
    if convention not in CONVENTIONS:
        raise UsageError("E-CONVENTION", f"convention is {' or '.join(CONVENTIONS)}")
    engine = engine_for(release, engine)
    keys = keys_of(release, engine, known, synthesized, radius, closed=closed)
    if reason := lacking(release, keys):
        return not_available(NAME, reason, citation=CITATION, direction="lower is safer")
    matches = engine.match_counts(release.confidential, release.synthetic, keys, convention)
    figures = Figures.of(matches)
    real = Figures.of(engine.match_counts(release.confidential, [release.confidential], keys, "summaries"))
    other = None if holdout is None else beside(release, holdout)
    chance, source = zero_leak(release, keys, convention, other, engine)
    return Measurement(
        name=NAME,
        value=figures.expected_match_risk,
        reference=chance.expected_match_risk if chance else real.expected_match_risk,
        reference_name=source if chance else "the confidential file itself",
        interval=_interval(matches.expected),
        direction="lower is safer",
        citation=CITATION,
        per_dataset=matches.expected if convention == "summaries" else (),
        per_record=_per_record(matches),
        details={
            **figures.to_dict(),
            "expected_match_share": matches.rows and (figures.expected_match_risk or 0.0) / matches.rows,
            **_by_set(matches, convention),
            "rows": matches.rows,
            "sets": len(release.synthetic),
            "convention": convention,
            "closed": closed,
            "known": list(keys.kept),
            "synthesized": list(keys.made),
            "radius": written(keys),
            "baselines": {
                "confidential": real.to_dict(),
                "zero_leak": {**(chance or Figures(None)).to_dict(), "source": source},
            },
        },
        aggregates={"kind": NAME},
    )


def engine_for(release: Aligned, engine: Engine[Any] | None) -> Engine[Any]:
    """The engine that is asked for, or the one that suits the release; refused where it cannot read the release."""
    in_files = isinstance(release, ParquetRelease)
    if engine is None and in_files:
        from stead.engine.duck import Tables

        return Tables()
    if engine is not None and in_files == isinstance(engine, Local):
        raise UsageError(
            "E-ENGINE",
            "the Local engine counts a release in memory (stead.Release), the Tables engine one in files (stead.ParquetRelease)",
        )
    return engine or Local()


def lacking(release: Aligned, keys: Keys) -> str:
    """Why there is nothing to match: columns that the synthetic sets do not have."""
    names = [name for name in keys.kept + keys.made if name in release.lacking]
    return f"the synthetic sets lack {', '.join(map(shorten, names))}" if names else ""


def zero_leak(
    release: Aligned, keys: Keys, convention: Convention, holdout: Any, engine: Engine[Any]
) -> tuple[Figures | None, str]:
    """What a release that leaks nothing would give, and where it comes from; or None, and why not."""
    if keys.ball is not None and (holdout is None or any(name in keys.ball.units for name in keys.kept)):
        needs = "of synthesized columns alone" if holdout is not None else "needs a holdout"
        return None, f"not available: with a ball the zero-leak reference {needs}"
    chances = engine.chances(release.confidential, keys, holdout)
    source = "margins alone" if holdout is None else "a holdout"
    return by_chance(chances, convention, len(release.synthetic)), source


def written(keys: Keys) -> dict[str, str]:
    """The radius of each column, as a user writes it."""
    radii = {name: str(radius) for name, radius in keys.radius.items()}
    return radii | ({name: str(keys.ball) for name in keys.ball.units} if keys.ball else {})


def beside(release: Aligned, holdout: Any) -> Any:
    """A holdout under the schema of the confidential table."""
    if isinstance(release, ParquetRelease):
        return parquet_table(holdout, like=release.confidential)
    return conform(holdout, release.confidential.schema, "the holdout")[0]


def _by_set(matches: Matches, convention: Convention) -> dict[str, list[float | int | None]]:
    """The figures of each set; under `probabilities` the sets have none of their own."""
    if convention != "summaries":
        return {}
    return {
        "per_dataset_true_match_rate": [true / matches.rows for true in matches.true],
        "per_dataset_false_match_rate": list(false_rates(matches)),
        "per_dataset_unique_matches": list(matches.unique),
    }


def _interval(expected: tuple[float, ...]) -> tuple[float, float] | None:
    """Where the mean over more synthetic sets would lie, at 95 %: Student's interval of the values of the sets."""
    if len(expected) < 2:
        return None
    from scipy.special import stdtrit

    reach = float(stdtrit(len(expected) - 1, 0.975)) * float(np.std(expected, ddof=1)) / len(expected) ** 0.5
    mean = float(np.mean(expected))
    return max(0.0, mean - reach), mean + reach


def _per_record(matches: Matches) -> Mapping[str, Any]:
    """c, T, K and F of each record: (n, m), or (n,) where there is one column."""
    if not matches.records:
        return {}
    counts, own = matches.records["c"], matches.records["T"]
    alone = counts == 1
    found = {"c": counts, "T": own, "K": alone & own, "F": alone & ~own}
    return {name: array[:, 0] if array.shape[1] == 1 else array for name, array in found.items()}
