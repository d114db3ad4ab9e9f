"""Artefacts: a file is written under a temporary name, synced, renamed, and hashed; its hash is checked on read.

`manifest.json` in a folder lists the SHA-256 values that each of its files may have. A replacement is
a small journal: the manifest first admits the old and the new hash, then the file is renamed into
place, then the manifest keeps the new hash alone. Whenever the power fails in between, the reader
finds the old file or the new one, and a hash that fits it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stead.errors import InputRefused, Interrupted, UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MANIFEST = "manifest.json"
TEMPORARY = ".stead-"
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


def sha256(path: Path) -> str:
    """The hash of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def private_folder(path: Path) -> None:
    """Make a folder for its owner only, unless it is there."""
    try:
        path.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(path, error) from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path`; on success it is synced and takes the name `path`.

    A disk that is full, or a folder that may not be written, becomes one of our errors, and `path`
    is as it was before.
    """
    temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}{path.suffix}")
    try:
        temporary.touch(mode=PRIVATE_FILE)
        yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


def _refused(path: Path, error: OSError) -> Interrupted | UsageError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return Interrupted(
            "E-DISK-FULL",
            f"{shorten(path.name)}: the disk is full; the file is as it was. Free space and run again",
        )
    reason = os.strerror(error.errno) if error.errno else "the system refused"
    return UsageError("E-WRITE", f"{shorten(str(path))}: could not be written ({reason})")


class Folder:
    """A folder of artefacts with its manifest."""

    def __init__(self, path: Path, manifest: str = MANIFEST) -> None:
        self.path = path
        self.manifest = path / manifest

    def create(self) -> Folder:
        """Make the folder, for its owner only, and clear what an interrupted write left behind."""
        for place in (self.path, self.manifest.parent):
            private_folder(place)
        for leftover in self.path.rglob(f"{TEMPORARY}*"):
            leftover.unlink(missing_ok=True)
        return self

    def hashes(self) -> dict[str, list[str]]:
        """The hashes that each file may have."""
        if not self.manifest.exists():
            return {}
        try:
            listed = json.loads(self.manifest.read_text(encoding="utf-8"))["sha256"]
            return {str(name): [str(one) for one in several] for name, several in listed.items()}
        except (ValueError, KeyError, AttributeError, TypeError):
            raise InputRefused(
                "E-MANIFEST", f"{self.manifest}: is damaged; the folder must be made again"
            ) from None

    def write(self, name: str, writer: Callable[[Path], object]) -> Path:
        """Let `writer` fill the file `name`; the reader sees the old content or the new one, never half."""
        target = self.path / name
        private_folder(target.parent)
        before = self.hashes()
        with replacing(target) as temporary:
            writer(temporary)
            new = sha256(temporary)
            self._record(before | {name: [*before.get(name, ()), new]})
        self._record(before | {name: [new]})
        return target

    def write_text(self, name: str, text: str) -> Path:
        """Write a text file in UTF-8."""
        return self.write(name, lambda temporary: temporary.write_text(text, encoding="utf-8", newline="\n"))

    def write_json(self, name: str, content: object) -> Path:
        """Write JSON; NaN and infinity are errors, because JSON has no such numbers."""
        return self.write_text(
            name, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        )

    def remove(self, name: str) -> None:
        """Take a file away, then its hashes."""
        (self.path / name).unlink(missing_ok=True)
        self._record({other: kept for other, kept in self.hashes().items() if other != name})

    def verified(self, name: str) -> Path:
        """The path of `name` once its bytes are known to be those that were written."""
        target = self.path / name
        if not target.exists():
            raise InputRefused("E-ARTEFACT-MISSING", f"{target}: is missing")
        allowed = self.hashes().get(name)
        if allowed is None:
            raise InputRefused(
                "E-ARTEFACT-UNLISTED", f"{target}: is not in {self.manifest.name}, so it cannot be trusted"
            )
        if sha256(target) not in allowed:
            raise InputRefused(
                "E-ARTEFACT-CHANGED", f"{target}: its bytes are not those that were written (SHA-256 differs)"
            )
        return target

    def read_json(self, name: str) -> Any:
        """Read JSON whose hash fits."""
        return json.loads(self.verified(name).read_text(encoding="utf-8"))

    def _record(self, listed: dict[str, list[str]]) -> None:
        manifest = {"sha256": {name: listed[name] for name in sorted(listed)}}
        with replacing(self.manifest) as temporary:
            temporary.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
