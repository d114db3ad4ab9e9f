"""How the command line speaks: results on stdout, progress and errors on stderr, JSON where asked for.

A terminal gets lines of at most 80 columns and a bar with the time left; anything else gets plain lines without
colour. Names come from files, so that control characters are shown escaped and never sent to a terminal. An
unexpected error shows where it happened and not what it said: what libraries say may quote a cell.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import traceback
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from stead.errors import Interrupted, SteadError
from stead.models.base import silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stead.models.base import Progress

WIDTH, NARROWEST = 80, 40
SECONDS_BETWEEN_LINES = 15.0


def prepare() -> None:
    """Streams that are there, and that take any character: a closed one is empty, an ASCII one gets escapes."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - as long as the process
        with suppress(AttributeError):
            getattr(sys, name).reconfigure(errors="backslashreplace")


def say(text: str = "") -> None:
    """A line of the result."""
    _print(_fitted(text, sys.stdout))


def note(text: str) -> None:
    """A line beside the result; nobody needs to listen."""
    with suppress(OSError):
        print(_fitted(text, sys.stderr), file=sys.stderr, flush=True)


def as_json(content: Any) -> None:
    """The result, for machines: one line of ASCII, which every encoding has."""
    _print(json.dumps(content, allow_nan=False))


def table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()
) -> None:
    """A table of the result; columns in `right` are numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    shown = Table(
        title=Text(escaped(title), style="bold"),
        box=box.SIMPLE_HEAD if unicode else box.ASCII,
        title_justify="left",
        pad_edge=False,
    )
    for place, name in enumerate(head):
        shown.add_column(name, justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(escaped(cell)) for cell in row))
    text = StringIO()
    Console(file=text, force_terminal=sys.stdout.isatty(), width=_width()).print(shown)
    _print("\n".join(line.rstrip() for line in text.getvalue().splitlines()))


@contextmanager
def watching(*, quiet: bool) -> Iterator[Progress]:
    """A progress callback: a bar on a terminal, a line for each finished step elsewhere, nothing where quiet."""
    if quiet:
        yield silent
        return
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<28}"),
        BarColumn(24),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True, width=_width()), transient=True) as bar:
        task = bar.add_task("", total=1)

        def progress(what: str, done: int, total: int) -> None:
            bar.update(task, description=escape(what[:28]), completed=done, total=total)

        yield progress


class _Lines:
    """Progress without a terminal: a line for each step that is done, and now and then one with the time that is left."""

    def __init__(self) -> None:
        self._step, self._began, self._said = "", 0.0, 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = monotonic()
        step = what.partition(" ")[0]
        if step != self._step:
            self._step, self._began, self._said = step, now, now
        if done == total:
            note(f"  {what}: done")
        elif done and now - self._said >= SECONDS_BETWEEN_LINES:
            self._said = now
            note(
                f"  {what}: {done:,} of {total:,}, {_left((now - self._began) / done * (total - done))} left"
            )


def _left(seconds: float) -> str:
    return f"about {seconds / 60:.0f} minutes" if seconds >= 90 else f"about {max(seconds, 1):.0f} seconds"


def show_error(error: SteadError, *, machine: bool) -> int:
    """Say what was refused; returns the exit code."""
    note(f"stead: {error}")
    if machine:
        as_json(error.to_dict())
    return error.exit_code


def show_bug(error: BaseException, *, machine: bool) -> int:
    """Say where an unexpected error happened, without its message."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "stead" in Path(frame.filename).parts
    ]
    where = (
        f"{Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}"
        if frames
        else "unknown place"
    )
    return show_error(
        SteadError(
            "E-BUG",
            f"unexpected error, a bug: {type(error).__name__} at {where}. Its message is withheld, because it may quote a value of a file",
        ),
        machine=machine,
    )


def measured_rows(measured: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """A row for each measurement: name, value, reference, direction; or a dash and the reason."""
    from stead.report.look import number

    rows = []
    for one in measured:
        if one["value"] is None:
            rows.append([one["name"], "—", one["reason"], ""])
        else:
            rows.append(
                [
                    one["name"],
                    number(one["value"]),
                    f"{number(one['reference'])} ({one['reference_name']})",
                    one["direction"],
                ]
            )
    return rows


def escaped(text: str) -> str:
    """One line that cannot steer a terminal: control characters, line ends and turns of direction spelled out."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def _width() -> int:
    return max(NARROWEST, min(shutil.get_terminal_size().columns, WIDTH))


def _fitted(text: str, stream: TextIO) -> str:
    """Broken between words for a terminal; in one line for a file, where it can be searched."""
    plain = escaped(text)
    if not stream.isatty():
        return plain
    return "\n".join(
        textwrap.wrap(plain, _width(), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    )


def _print(text: str) -> None:
    """On stdout; where nobody reads it any more, or its disk is full, the command ends as interrupted."""
    try:
        print(text, flush=True)
    except OSError as error:
        closed = isinstance(error, BrokenPipeError)
        raise unread("is closed" if closed else f"failed ({os.strerror(error.errno or 0)})") from None


def unread(why: str) -> Interrupted:
    """The error for a stdout that takes no more; what is left in its buffer goes nowhere, or the end of the process would trip over it."""
    with suppress(OSError):
        handle = os.open(os.devnull, os.O_WRONLY)
        os.dup2(handle, sys.stdout.fileno())
        os.close(handle)
    return Interrupted("E-STDOUT", f"standard output {why}; files that were written are whole")
