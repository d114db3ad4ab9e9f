"""The folder of a run: internal/ for its owner, public/ for what may be shown, one run at a time.

    OUTPUT/report.html          the page about the run (confidential workspace)
    OUTPUT/internal/            assessment, seed, fitted models, the confidential file of the release
    OUTPUT/public/              the synthetic files

Everything is made for its owner alone (0700, 0600). The lock is the kernel's, so a killed run
leaves none behind.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from stead.errors import UsageError
from stead.store.artefacts import MANIFEST, PRIVATE_FILE, PRIVATE_FOLDER, TEMPORARY, Folder, private_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCK = ".lock"
INTERNAL, PUBLIC, REPORT = "internal", "public", "report.html"


class Workdir:
    """The places that a run writes to; one manifest, kept inside, has the hashes of all of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = Folder(path, manifest=f"{INTERNAL}/{MANIFEST}")

    def create(self) -> Workdir:
        """Make the folders; refuse one that holds something else, so that nothing of the user's is overwritten."""
        ours = {LOCK, INTERNAL, PUBLIC, REPORT}
        if self.path.exists() and not self.path.is_dir():
            raise UsageError("E-OUTPUT", f"{self.path}: is a file, and the output is a folder")
        if self.path.is_dir() and any(
            entry.name not in ours and not entry.name.startswith(TEMPORARY) for entry in self.path.iterdir()
        ):
            raise UsageError(
                "E-OUTPUT", f"{self.path}: holds files that stead did not write; name an empty folder"
            )
        self.folder.create()
        for name in (INTERNAL, PUBLIC):
            private_folder(self.path / name)
        for place in (self.path, self.path / INTERNAL, self.path / PUBLIC):
            place.chmod(PRIVATE_FOLDER)
        return self

    @contextmanager
    def locked(self) -> Iterator[Workdir]:
        """Hold the folder for one run; a second run is refused with the number of the first process."""
        private_folder(self.path)
        try:
            handle = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE_FILE)
        except OSError as error:
            why = error.strerror or "the system refused"
            raise UsageError(
                "E-OUTPUT", f"{self.path}: cannot be used as the folder of a run ({why})"
            ) from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = os.read(handle, 32).decode("ascii", "replace").strip() or "unknown"
                raise UsageError(
                    "E-LOCKED", f"{self.path}: another run (process {owner}) is writing here"
                ) from None
            with suppress(OSError):  # the number is a courtesy; on a full disk the lock holds without it
                os.ftruncate(handle, 0)
                os.pwrite(handle, str(os.getpid()).encode("ascii"), 0)
            yield self
        finally:
            os.close(handle)
