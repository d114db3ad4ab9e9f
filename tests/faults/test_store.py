"""Faults 44 to 47 and 50 in the store: a crash at every step, a flipped bit, a full disk, a second run.

Write a test here for a way in which a folder of a run can be damaged. What a run writes into it is
tested with the studies.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from stead.errors import InputRefused, Interrupted, SteadError, UsageError
from stead.store.artefacts import MANIFEST, TEMPORARY, Folder
from stead.store.secret import Secret
from stead.store.workdir import Workdir
from stead.tables.files import table, write_plain

if TYPE_CHECKING:
    from collections.abc import Callable

OLD, NEW, OTHER = "old\n" * 40, "new, and longer\n" * 40, "other\n"
STEPS = ((os, "fsync"), (os, "open"), *((Path, name) for name in ("replace", "touch", "write_text", "mkdir")))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "run").create()
    made.write_text("a.txt", OLD)
    made.write_text("other.txt", OTHER)
    return made


def failing_at(monkeypatch: pytest.MonkeyPatch, failing: int, failure: BaseException | None) -> list[int]:
    """Let the `failing`-th step of those that touch the disk fail; the list holds how many there were."""
    steps = [0]

    def wrapped(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **options: Any) -> Any:
            steps[0] += 1
            if steps[0] == failing and failure is not None:
                raise failure
            return real(*args, **options)

        return step

    for owner, name in STEPS:
        monkeypatch.setattr(owner, name, wrapped(getattr(owner, name)))
    return steps


def steps_of_a_write(folder: Folder) -> int:
    with pytest.MonkeyPatch.context() as patch:
        steps = failing_at(patch, 0, None)
        folder.write_text("a.txt", OLD)
    return steps[0]


def held(folder: Folder) -> str:
    return folder.verified("a.txt").read_text(encoding="utf-8")


def leftovers(folder: Folder) -> list[Path]:
    return list(folder.path.rglob(f"{TEMPORARY}*"))


# ---- 45 and 46: crashes and full disks --------------------------------------------------------------


def test_fault_46_a_full_disk_at_every_step(folder: Folder) -> None:
    steps = steps_of_a_write(folder)
    assert steps > 10
    seen = set()
    for failing in range(1, steps + 1):
        folder.write_text("a.txt", OLD)
        with pytest.MonkeyPatch.context() as patch:
            failing_at(patch, failing, OSError(errno.ENOSPC, "no space"))
            with pytest.raises(Interrupted) as caught:
                folder.write_text("a.txt", NEW)
        assert (caught.value.code, caught.value.exit_code) == ("E-DISK-FULL", 6)
        assert "disk is full" in str(caught.value)
        seen.add(held(folder))
        assert folder.verified("other.txt").read_text(encoding="utf-8") == OTHER
        assert not leftovers(folder)
    assert seen == {OLD, NEW}


@pytest.mark.parametrize("failure", [SystemExit(1), KeyboardInterrupt(), MemoryError()], ids=repr)
def test_fault_45_an_exit_at_every_step(folder: Folder, failure: BaseException) -> None:
    for failing in range(1, steps_of_a_write(folder) + 1):
        folder.write_text("a.txt", OLD)
        with pytest.MonkeyPatch.context() as patch:
            failing_at(patch, failing, failure)
            with pytest.raises(type(failure)):
                folder.write_text("a.txt", NEW)
        assert held(folder) in {OLD, NEW}
        assert not leftovers(folder)


KILLED = """
import os, sys
from pathlib import Path
from stead.store.artefacts import Folder

def run(place, failing):
    steps = 0
    def wrapped(real):
        def step(*args, **options):
            nonlocal steps
            steps += 1
            if steps == failing:
                os._exit(137)
            return real(*args, **options)
        return step
    for owner, names in ((os, ("fsync", "open")), (Path, ("replace", "touch", "write_text", "mkdir"))):
        for name in names:
            setattr(owner, name, wrapped(getattr(owner, name)))
    Folder(place).write_text("a.txt", sys.argv[3])
    os._exit(0)

root, failing = Path(sys.argv[1]), 0
while True:
    failing += 1
    place = root / str(failing)
    Folder(place).create().write_text("a.txt", sys.argv[2])
    child = os.fork()
    if not child:
        run(place, failing)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
print(failing)
"""


def test_fault_47_a_kill_at_every_step(tmp_path: Path) -> None:
    """A kill runs no handler: what it leaves behind is cleared when the folder is opened again."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), OLD, NEW], capture_output=True, text=True, check=True
    )
    places = [Folder(tmp_path / str(failing)) for failing in range(1, int(done.stdout) + 1)]
    assert any(leftovers(place) for place in places)
    assert {held(place) for place in places} == {OLD, NEW}
    for place in places:
        assert not leftovers(place.create())
        place.write_text("a.txt", "again")
        assert held(place) == "again"


def test_fault_45_a_file_is_on_the_disk_before_it_takes_its_name(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a cut of the power does cannot be tried here, so the order of the calls is what is held."""
    told: list[tuple[str, int]] = []
    sync, rename = os.fsync, Path.replace

    def syncing(handle: int) -> None:
        told.append(("sync", os.fstat(handle).st_ino))
        sync(handle)

    def renaming(path: Path, target: Path) -> Path:
        told.append(("rename", path.stat().st_ino))
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(Path, "replace", renaming)
    folder.write_text("a.txt", NEW)
    home = ("sync", folder.path.stat().st_ino)
    renames = [place for place, (what, _) in enumerate(told) if what == "rename"]
    assert len(renames) == 3  # the manifest that admits both, the file, the manifest that keeps one
    for place in renames:
        assert ("sync", told[place][1]) in told[:place]
        assert home in told[place:]
    assert told[-1] == home


def test_fault_45_a_writer_that_fails_half_way(folder: Folder) -> None:
    def half(path: Path) -> None:
        path.write_text("half", encoding="utf-8")
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        folder.write("a.txt", half)
    assert held(folder) == OLD
    assert not leftovers(folder)
    with pytest.raises(ValueError, match="JSON"):
        folder.write_json("a.txt", {"x": float("nan")})
    assert held(folder) == OLD


def test_fault_46_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        Folder(tmp_path / "file" / "run").create()
    assert caught.value.code == "E-WRITE"


# ---- 44: damage -------------------------------------------------------------------------------------


def test_fault_44_every_flipped_bit_of_an_artefact_is_found(folder: Folder) -> None:
    path = folder.path / "a.txt"
    content = bytearray(path.read_bytes())
    for place in range(len(content)):
        for bit in range(8):
            content[place] ^= 1 << bit
            path.write_bytes(content)
            with pytest.raises(InputRefused) as caught:
                folder.verified("a.txt")
            assert (caught.value.code, caught.value.exit_code) == ("E-ARTEFACT-CHANGED", 3)
            content[place] ^= 1 << bit
    path.write_bytes(content)
    assert held(folder) == OLD


def test_fault_44_a_flipped_bit_of_the_manifest_is_found(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "run").create()
    folder.write_text("a.txt", OLD)
    content = bytearray(folder.manifest.read_bytes())
    codes = set()
    for place in range(len(content) - 1):  # the last byte is a line end
        for bit in range(place % 2, 8, 2):
            content[place] ^= 1 << bit
            folder.manifest.write_bytes(content)
            with pytest.raises(InputRefused) as caught:
                folder.verified("a.txt")
            codes.add(caught.value.code)
            content[place] ^= 1 << bit
    assert codes == {"E-MANIFEST", "E-ARTEFACT-CHANGED", "E-ARTEFACT-UNLISTED"}


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"5", b"\xff", b"{}", b'{"sha256": 5}', b'{"sha256": {"a": 5}}']
)
def test_fault_44_a_damaged_manifest(folder: Folder, content: bytes) -> None:
    folder.manifest.write_bytes(content)
    calls = (partial(folder.verified, "a.txt"), partial(folder.write_text, "a.txt", NEW))
    for call in calls:
        with pytest.raises(InputRefused) as caught:
            call()
        assert caught.value.code == "E-MANIFEST"
        assert MANIFEST in str(caught.value)
    assert (folder.path / "a.txt").read_text(encoding="utf-8") == OLD


def test_fault_44_files_that_are_missing_or_not_listed(folder: Folder) -> None:
    (folder.path / "b.txt").write_text("slipped in", encoding="utf-8")
    (folder.path / "a.txt").unlink()
    for name, code in (("a.txt", "E-ARTEFACT-MISSING"), ("b.txt", "E-ARTEFACT-UNLISTED")):
        with pytest.raises(InputRefused) as caught:
            folder.verified(name)
        assert caught.value.code == code
        assert name in str(caught.value)


def test_the_manifest_keeps_one_hash_of_each_file(folder: Folder) -> None:
    for text in ("1", "2", "3"):
        folder.write_text("a.txt", text)
    listed = json.loads(folder.manifest.read_text(encoding="utf-8"))["sha256"]
    assert {name: len(hashes) for name, hashes in listed.items()} == {"a.txt": 1, "other.txt": 1}
    folder.write_json("b.json", {"ü": [1, 2.5, None]})
    assert folder.read_json("b.json") == {"ü": [1, 2.5, None]}


# ---- permissions and the folder of a run ------------------------------------------------------------


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_threat_18_everything_is_for_its_owner(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        work = Workdir(tmp_path / "deep" / "run").create()
        records = table({"a": [1, 2], "b": ["x", "y"]})
        for kind in ("csv", "parquet", "arrow"):
            work.folder.write(f"public/d.{kind}", lambda path: write_plain(records, path))
        work.folder.write_text("internal/more/x.txt", "x")
        with work.locked():
            paths = list(work.path.rglob("*"))
    finally:
        os.umask(before)
    assert {mode(path) for path in paths if path.is_file()} == {0o600}
    assert {mode(path) for path in [work.path, *paths] if path.is_dir()} == {0o700}
    assert sum(path.is_file() for path in paths) == 6


def test_fault_45_a_run_starts_again_where_a_killed_one_left_its_parts(tmp_path: Path) -> None:
    work = Workdir(tmp_path / "run").create()
    parts = [work.path / f"{TEMPORARY}01.html", work.path / "internal" / f"{TEMPORARY}02.json"]
    for part in parts:
        part.write_text("QZX7741", encoding="utf-8")
    work.create()
    assert not any(part.exists() for part in parts)


def test_a_folder_with_files_of_another_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        Workdir(tmp_path).create()
    assert (caught.value.code, caught.value.exit_code) == ("E-OUTPUT", 2)
    with pytest.raises(UsageError) as caught:
        Workdir(tmp_path / "thesis.tex").create()
    assert caught.value.code == "E-OUTPUT"
    with pytest.raises(UsageError), Workdir(tmp_path / "thesis.tex").locked():
        pytest.fail("a file was locked as a folder")


# ---- 50: two runs -----------------------------------------------------------------------------------

HOLDER = """
import sys, time
from pathlib import Path
from stead.errors import SteadError
from stead.store.workdir import Workdir

try:
    with Workdir(Path(sys.argv[1])).locked():
        print("ready", flush=True)
        if sys.argv[2] == "stay":
            time.sleep(600)
except SteadError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""


def test_fault_50_a_second_run_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    place = tmp_path / "run"
    second = [sys.executable, "-c", HOLDER, str(place), "go"]
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(place), "stay"], stdout=subprocess.PIPE
    ) as first:
        assert first.stdout is not None
        try:
            assert first.stdout.readline() == b"ready\n"
            with pytest.raises(UsageError) as caught, Workdir(place).locked():
                pytest.fail("the lock was given twice")
            assert (caught.value.code, caught.value.exit_code) == ("E-LOCKED", 2)
            assert str(first.pid) in str(caught.value)
            assert subprocess.run(second, capture_output=True, check=False).returncode == 2
        finally:
            first.send_signal(signal.SIGKILL)
    assert subprocess.run(second, capture_output=True, check=False).returncode == 0
    with Workdir(place).locked():
        pass


def test_fault_46_a_lock_needs_no_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "pwrite", full)
    with Workdir(tmp_path / "run").locked() as work, pytest.raises(SteadError), work.locked():
        pytest.fail("the lock was given twice")


def test_a_secret_does_not_show_itself() -> None:
    secret = Secret("QZX7741")
    assert "QZX7741" not in f"{secret} {secret!r} {[secret]}"
    assert secret.reveal() == "QZX7741"
    with pytest.raises(TypeError):
        secret.__reduce__()
