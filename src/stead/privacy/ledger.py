"""The ledger: what was spent on each confidential file, by all runs together.

    m sets cost m epsilon (with one theta for all: log(1 + m n_s / a));   uses of one file add up, over columns and over re-runs

A file is known by its HMAC, or that of its records, under a key that stays in the folder of the ledger, so that the ledger alone
tells nothing of it. Sums are of rational numbers, and a cost is written down before it is spent: a run that fails has spent it.
The folder belongs to the holder: it is a part of internal/. Composition: Dwork & Roth (2014), section 3.5.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, shorten
from stead.measurement import Measurement
from stead.models.epsilon import Spending
from stead.store.artefacts import PRIVATE_FILE, Folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stead.tables.records import Records

EVENTS, KEY, LOCK = "ledger.json", "ledger-key.json", ".ledger-lock"
FORMAT, VERSION = "stead-ledger", 1
CITATION = "Dwork & Roth 2014, section 3.5"


@dataclass(frozen=True)
class Event:
    """One spending, on one file, at one time."""

    file: str
    """HMAC of the records."""
    spending: Spending
    when: str
    purpose: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The event as JSON; the cost as a fraction."""
        spent = self.spending
        return {
            "file": self.file,
            "when": self.when,
            "purpose": self.purpose,
            "model": spent.model,
            "columns": list(spent.columns),
            "form": spent.form,
            "epsilon": spent.epsilon,
            "m": spent.m,
            "rows": spent.rows,
            "cost": str(spent.cost),
        }

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Event:
        """The event that `to_dict` wrote."""
        spending = Spending(
            kept["model"],
            tuple(kept["columns"]),
            kept["form"],
            kept["epsilon"],
            kept["m"],
            kept["rows"],
            Fraction(kept["cost"]),
        )
        return cls(kept["file"], spending, kept["when"], kept["purpose"])


class Ledger:
    """`stead.Ledger("study/internal/privacy", budget=5, file="survey.csv")`; give it to `stead.synthesize(..., ledger=ledger)`."""

    def __init__(
        self, folder: str | Path, budget: float | None = None, *, file: str | Path | None = None
    ) -> None:
        """`budget` is the most that may be spent on any one file; None for no bound.

        `file` is the confidential file: then all that is charged is charged to it, whichever of its columns were read. Without
        it a file is known by the records that are given, and other columns are another file.
        """
        if budget is not None and not 0 < budget < float("inf"):
            raise UsageError("E-PRIVACY-BUDGET", "a budget is a number above 0")
        self._folder = Folder(Path(folder)).create()
        self.budget = None if budget is None else Fraction(budget)
        self._file = None if file is None else Path(file)
        if self._file is not None and not self._file.is_file():
            raise UsageError("E-FILE", f"no file is called {shorten(str(file), 200)}")

    @property
    def events(self) -> tuple[Event, ...]:
        """All that was spent, in order."""
        if EVENTS not in self._folder.hashes():
            return ()
        return tuple(Event.from_dict(kept) for kept in self._folder.read_json(EVENTS)["events"])

    def charge(self, records: Records, spending: Spending, purpose: str = "") -> Event:
        """Write a spending down; refuse it where it would go beyond the budget."""
        with self._locked():
            event = Event(self._identity(records), spending, datetime.now(UTC).isoformat(), purpose)
            before = self.events
            total = _total(before, event.file) + spending.cost
            if self.budget is not None and total > self.budget:
                raise UsageError(
                    "E-PRIVACY-BUDGET",
                    f"this would bring what is spent on the file to epsilon {_shown(total)}, and the budget is {_shown(self.budget)}; nothing was spent",
                )
            events = [one.to_dict() for one in (*before, event)]
            self._folder.write_json(EVENTS, {"format": FORMAT, "version": VERSION, "events": events})
        return event

    def spent(self, records: Records) -> Fraction:
        """On this file, over all runs."""
        return sum(self.by_columns(records).values(), Fraction(0))

    def by_columns(self, records: Records) -> dict[tuple[str, ...], Fraction]:
        """On this file, for each set of columns that were made together."""
        with self._locked():
            file, events = self._identity(records), self.events
        found: dict[tuple[str, ...], Fraction] = {}
        for event in events:
            if event.file == file:
                key = event.spending.columns
                found[key] = found.get(key, Fraction(0)) + event.spending.cost
        return found

    def measure(self, records: Records) -> Measurement:
        """What is spent on this file, beside the budget."""
        each = self.by_columns(records)
        return Measurement(
            name="privacy_spent",
            value=float(sum(each.values(), Fraction(0))),
            reference=None if self.budget is None else float(self.budget),
            reference_name="" if self.budget is None else "the budget",
            direction="lower is safer",
            citation=CITATION,
            details={
                "columns": [
                    {"columns": list(columns), "spent": float(spent)} for columns, spent in each.items()
                ]
            },
        )

    def _identity(self, records: Records) -> str:
        """HMAC-SHA256 of the file; without one, of names, kinds, values and gaps, column by column."""
        digest = hmac.new(self._key(), digestmod=hashlib.sha256)
        if self._file is not None:
            with self._file.open("rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
            return digest.hexdigest()
        for name in records.names:
            held = records[name]
            digest.update(repr((name, records.schema[name].kind, len(held), held.values.dtype.str)).encode())
            digest.update(np.ascontiguousarray(held.values).tobytes())
            digest.update(held.missing.tobytes())
        return digest.hexdigest()

    def _key(self) -> bytes:
        if KEY not in self._folder.hashes():
            self._folder.write_json(KEY, {"key": secrets.token_hex(32)})
        return bytes.fromhex(self._folder.read_json(KEY)["key"])

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One at a time: two runs at once must not both find the budget free."""
        handle = os.open(self._folder.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE_FILE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def __repr__(self) -> str:
        limit = "" if self.budget is None else f", budget {_shown(self.budget)} each"
        events = self.events
        return f"Ledger({len(events)} uses of {len({event.file for event in events})} files{limit})"


def _total(events: tuple[Event, ...], file: str) -> Fraction:
    return sum((event.spending.cost for event in events if event.file == file), Fraction(0))


def _shown(cost: Fraction) -> str:
    return f"{float(cost):.10g}"
