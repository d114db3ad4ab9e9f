"""Release: the confidential records, the m synthetic ones, and how they were made.

It comes from `synthesize`, or from files of any tool by `Release.from_tables`; then it has no posterior,
and measures that need one say so. Alignment (row i of a synthetic set stands for record i) is verified:
the columns that were not synthesized must agree row by row.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import DiagnosticsFailed, InputRefused, UsageError, shorten
from stead.models.base import silent
from stead.models.epsilon import HasEpsilon, unseeded
from stead.models.fits import fits_of
from stead.models.samplers import fit_table, worst_first
from stead.models.storage import posterior_from_state
from stead.randomness import generator, seed_of
from stead.store.artefacts import Folder
from stead.store.secret import Secret
from stead.tables.conform import conform, differing_rows
from stead.tables.files import table
from stead.tables.records import Records
from stead.tables.schema import Schema
from stead.tables.stored import read_stored, write_stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from stead.models.base import Model, Posterior, Progress
    from stead.models.epsilon import Account
    from stead.randomness import Rng

FORMAT, VERSION = "stead-release", 2
FEWEST_ROWS = 50
MOST_NAMED = 3
"""Problems of fits that a message names; the table that comes with it has all."""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Release:
    """Confidential and synthetic records of one shape.

    synthesized   columns that were made by a model
    aligned       whether row i of each synthetic set stands for confidential record i
    proper        whether each set used its own posterior draw; None where that is not known
    lacking, added   columns that the synthetic sets do not have, or have beyond the confidential ones
    """

    confidential: Records
    synthetic: tuple[Records, ...]
    synthesized: tuple[str, ...]
    aligned: bool
    proper: bool | None
    posterior: Posterior | None = None
    lacking: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    seed: Secret[int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "provenance", MappingProxyType(dict(self.provenance)))

    @property
    def m(self) -> int:
        """How many synthetic sets there are."""
        return len(self.synthetic)

    @property
    def kept(self) -> tuple[str, ...]:
        """Columns of the synthetic sets that are confidential values as they are."""
        return tuple(name for name in self.synthetic[0].names if name not in self.synthesized)

    @classmethod
    def from_tables(
        cls,
        confidential: Any,
        synthetic: Iterable[Any],
        *,
        synthesized: Sequence[str],
        aligned: bool,
        proper: bool | None = None,
        posterior: Posterior | None = None,
    ) -> Release:
        """A release from tables made by any tool: dataframes or records, the confidential one first.

        Levels are matched by value to those of the confidential table; a level that it does not have is
        refused. `aligned=True` is checked row by row on the columns that were not synthesized.
        """
        if not isinstance(aligned, bool):
            raise UsageError("E-ALIGNED", "aligned is True (row i stands for record i) or False")
        real = confidential if isinstance(confidential, Records) else table(confidential)
        made = (synthesized,) if isinstance(synthesized, str) else tuple(synthesized)
        for name in made:
            _ = real[name]
        if not made:
            raise UsageError("E-SYNTHESIZED", "synthesized lists at least one column")
        sets, added = [], dict[str, None]()
        for place, one in enumerate(_listed(synthetic), start=1):
            records, more = conform(one, real.schema, f"synthetic set {place}")
            sets.append(records)
            added |= dict.fromkeys(more)
        if not sets:
            raise UsageError("E-SETS", "a release has at least one synthetic set")
        lacking = tuple(name for name in real.names if any(name not in one for one in sets))
        shared = [name for name in real.names if name not in lacking]
        sets = [one.only(shared) for one in sets]
        _require_one_length(sets)
        if aligned:
            _require_aligned(real, sets, made)
        return cls(
            confidential=real,
            synthetic=tuple(sets),
            synthesized=made,
            aligned=aligned,
            proper=proper,
            posterior=posterior,
            lacking=lacking,
            added=tuple(added),
        )

    def save(self, folder: str | Path) -> Path:
        """Keep the release in a folder for its owner only: it holds the confidential records."""
        home = Folder(Path(folder)).create()
        home.write("confidential.parquet", partial(write_stored, self.confidential))
        for place, records in enumerate(self.synthetic, start=1):
            home.write(f"synthetic-{place}.parquet", partial(write_stored, records))
        state, arrays = self.posterior.to_state() if self.posterior else (None, {})
        home.write("posterior.npz", partial(_write_arrays, arrays))
        if self.seed:
            home.write_json("seed.json", {"seed": str(self.seed.reveal())})
        home.write_json(
            "release.json",
            {
                "format": FORMAT,
                "version": VERSION,
                "schema": self.confidential.schema.to_dict(),
                "synthetic_schemas": [one.schema.to_dict() for one in self.synthetic],
                "synthesized": list(self.synthesized),
                "aligned": self.aligned,
                "proper": self.proper,
                "lacking": list(self.lacking),
                "added": list(self.added),
                "posterior": state,
                "provenance": dict(self.provenance),
            },
        )
        return home.path

    @classmethod
    def load(cls, folder: str | Path) -> Release:
        """The release that `save` kept; every file's hash is checked."""
        home = Folder(Path(folder))
        kept = home.read_json("release.json")
        if kept.get("format") != FORMAT or kept.get("version", 0) > VERSION:
            raise InputRefused(
                "E-VERSION", f"{home.path}: was written by a newer stead, or is not a release; update stead"
            )
        if kept["version"] < VERSION:
            raise InputRefused(
                "E-VERSION",
                f"{home.path}: was written by an older stead, which kept its draws otherwise; run the plan again",
            )
        arrays: dict[str, Any] = {}
        if kept["posterior"] is not None:
            with np.load(home.verified("posterior.npz"), allow_pickle=False) as held:
                arrays = {name: held[name] for name in held.files}
        schemas = [Schema.from_dict(one) for one in kept["synthetic_schemas"]]
        seed = Secret(int(home.read_json("seed.json")["seed"])) if "seed.json" in home.hashes() else None
        return cls(
            confidential=read_stored(home.verified("confidential.parquet"), Schema.from_dict(kept["schema"])),
            synthetic=tuple(
                read_stored(home.verified(f"synthetic-{place}.parquet"), schema)
                for place, schema in enumerate(schemas, start=1)
            ),
            synthesized=tuple(kept["synthesized"]),
            aligned=kept["aligned"],
            proper=kept["proper"],
            posterior=posterior_from_state(kept["posterior"], arrays) if kept["posterior"] else None,
            lacking=tuple(kept["lacking"]),
            added=tuple(kept["added"]),
            provenance=kept["provenance"],
            seed=seed,
        )

    def __repr__(self) -> str:
        rows = (
            f"{self.confidential.rows:,} confidential rows, {self.m} x {self.synthetic[0].rows:,} synthetic"
        )
        return f"Release({rows}; synthesized: {', '.join(map(shorten, self.synthesized))}; {'aligned' if self.aligned else 'not aligned'})"


def synthesize(
    records: Records,
    model: Model | HasEpsilon,
    m: int = 5,
    draws: int = 1000,
    rng: Rng = None,
    *,
    rows: int | None = None,
    workers: int = 1,
    minimum_rows: int = FEWEST_ROWS,
    override: str = "",
    ledger: Account | None = None,
    progress: Progress = silent,
) -> Release:
    """Fit `model` and make m synthetic sets, each from its own posterior draw (proper synthesis).

    Columns that the model does not make are released as they are. Where it makes all of them, `rows`
    may differ from the confidential number. `rng=None` takes a secret seed, kept in the release. Draws
    whose diagnostics are bad stop it, unless `override` gives a reason, which is recorded.

    A differentially private model makes sets of its own columns alone, takes no `rng`, and is charged to `ledger`.
    """
    if isinstance(model, HasEpsilon):
        return _synthesize_privately(records, model, m, draws, rng, rows, minimum_rows, ledger, progress)
    if ledger is not None:
        raise UsageError(
            "E-LEDGER", f"a ledger adds up epsilon, and {type(model).__name__} is not differentially private"
        )
    made = model.responses
    _check_request(records, made, m=m, draws=draws, rows=rows, minimum_rows=minimum_rows)
    seed = seed_of(rng)
    fit_stream, *set_streams = generator(rng if seed is None else seed).spawn(m + 1)
    posterior = model.fit(records, draws=draws, rng=fit_stream, progress=progress)
    problems = _problems(posterior, refuse=not override)
    kept = records.without(made)
    given = kept if kept.names else Records.empty(rows or records.rows)
    made_draws = len(posterior.draws)  # a model fitted elsewhere may have fewer than were asked for
    if made_draws < m:
        raise UsageError(
            "E-DRAWS", f"the model has {made_draws} draws, and each of {m} sets takes one of its own"
        )
    chosen = ((np.arange(m) + 0.5) * made_draws / m).astype(int)  # spread over the chain

    def one(place: int) -> Records:
        drawn = posterior.sample(int(chosen[place]), given, set_streams[place])
        progress("synthesize", place + 1, m)
        return drawn.only(name for name in records.names if name in drawn)

    if workers > 1:
        with ThreadPoolExecutor(workers) as pool:
            sets = tuple(pool.map(one, range(m)))
    else:
        sets = tuple(one(place) for place in range(m))
    return Release(
        confidential=records,
        synthetic=sets,
        synthesized=made,
        aligned=bool(kept.names),
        proper=True,
        posterior=posterior,
        provenance={"override": override} if problems else {},
        seed=None if seed is None else Secret(seed),
    )


def _synthesize_privately(
    records: Records,
    model: HasEpsilon,
    m: int,
    draws: int,
    rng: Rng,
    rows: int | None,
    minimum_rows: int,
    ledger: Account | None,
    progress: Progress,
) -> Release:
    """What is declared is checked before a value is read, and the cost is written down before it is spent."""
    if rng is not None:
        raise unseeded()
    model.require_declared(records.schema)
    made = model.responses
    _check_request(records.only(made), made, m=m, draws=max(m, draws), rows=rows, minimum_rows=minimum_rows)
    model = model.with_rows(rows or model.rows or records.rows)
    spending = model.spending(m, records.rows)
    if ledger is not None:
        ledger.charge(records, spending)
    posterior, sets = model.private_sets(records, m, draws)
    progress("synthesize", m, m)
    return Release(
        confidential=records,
        synthetic=sets,
        synthesized=made,
        aligned=False,
        proper=model.proper(m),
        posterior=posterior,
        lacking=tuple(name for name in records.names if name not in made),
        provenance={"epsilon": spending.epsilon, "cost": float(spending.cost), "form": spending.form},
    )


def _problems(posterior: Posterior, *, refuse: bool) -> list[str]:
    """What is wrong with the draws of any fit, a refusal where there is anything and no reason to go on."""
    fits = worst_first(fits_of(posterior))
    problems = [problem for fit in fits for problem in fit.problems]
    if problems and refuse:
        more = f"; and {len(problems) - MOST_NAMED} more" if len(problems) > MOST_NAMED else ""
        raise DiagnosticsFailed(
            "E-DIAGNOSTICS",
            f"{'; '.join(problems[:MOST_NAMED])}{more}. "
            'Try prior="weak" or fewer terms; override="a reason" goes on and records it',
            fit_table(fits),
        )
    return problems


def _write_arrays(arrays: dict[str, NDArray[Any]], path: Path) -> None:
    np.savez(path, allow_pickle=False, **arrays)


def _check_request(
    records: Records, made: tuple[str, ...], *, m: int, draws: int, rows: int | None, minimum_rows: int
) -> None:
    for name in made:
        _ = records[name]
    if m < 1 or draws < m:
        raise UsageError(
            "E-DRAWS",
            f"m is at least 1 and draws at least m, so that each set has its own draw; m is {m}, draws {draws}",
        )
    if records.rows < minimum_rows:
        raise InputRefused(
            "E-FEW-ROWS",
            f"{records.rows:,} rows are too few to hide anyone among them: at least {minimum_rows} are needed; minimum_rows= changes that, for teaching",
        )
    left = [name for name in records.names if name not in made]
    if rows is not None and left:
        raise UsageError(
            "E-ROWS",
            f"rows is for full synthesis; {', '.join(map(shorten, left[:5]))} are not synthesized, so there are {records.rows:,} rows",
        )
    if rows is not None and rows < 1:
        raise UsageError("E-ROWS", "rows is at least 1")


def _listed(synthetic: Iterable[Any]) -> list[Any]:
    if isinstance(synthetic, Records) or hasattr(synthetic, "columns"):
        raise UsageError("E-SETS", "give the synthetic sets as a list: [z1, z2, ...]")
    return list(synthetic)


def _require_one_length(sets: list[Records]) -> None:
    lengths = sorted({one.rows for one in sets})
    if len(lengths) > 1:
        raise InputRefused(
            "E-ROWS",
            f"the synthetic sets have different numbers of rows ({lengths[0]:,} to {lengths[-1]:,}); give sets of one length",
        )


def _require_aligned(real: Records, sets: list[Records], made: tuple[str, ...]) -> None:
    for place, one in enumerate(sets, start=1):
        if one.rows != real.rows:
            raise InputRefused(
                "E-ALIGNED",
                f"synthetic set {place} has {one.rows:,} rows and the confidential table {real.rows:,}; such sets are not aligned: aligned=False",
            )
        for name in one.names:
            if name not in made and (count := differing_rows(real, one, name)):
                raise InputRefused(
                    "E-ALIGNED",
                    f"column {shorten(name)} of synthetic set {place} differs from the confidential one in {count:,} rows, and it is not listed in synthesized; "
                    "list it, or say aligned=False",
                )
