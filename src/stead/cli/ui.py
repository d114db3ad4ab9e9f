"""How the command line speaks: results on stdout, progress and errors on stderr, JSON where asked for.

A terminal gets tables of at most 80 columns and a bar with the time left; anything else gets plain lines
without colour. An unexpected error shows where it happened and not what it said: what libraries say may quote a cell.
"""

from __future__ import annotations

import json
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stead.errors import SteadError
from stead.models.base import silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stead.models.base import Progress

WIDTH = 80


def say(text: str = "") -> None:
    """A line of the result."""
    print(text)


def note(text: str) -> None:
    """A line beside the result."""
    print(text, file=sys.stderr)


def as_json(content: Any) -> None:
    """The result, for machines."""
    print(json.dumps(content, ensure_ascii=False, allow_nan=False))


def table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()
) -> None:
    """A table of the result; columns in `right` are numbers."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    shown = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    for place, name in enumerate(head):
        shown.add_column(name, justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(escape(cell) for cell in row))
    console = Console(file=sys.stdout, no_color=not sys.stdout.isatty(), highlight=False)
    console.width = min(console.width, WIDTH)
    console.print(shown)


@contextmanager
def watching(*, quiet: bool) -> Iterator[Progress]:
    """A progress callback: a bar on a terminal, a line for each finished step elsewhere, nothing where quiet."""
    if quiet:
        yield silent
        return
    if not sys.stderr.isatty():
        yield _step
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<28}"),
        BarColumn(24),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True, width=WIDTH), transient=True) as bar:
        task = bar.add_task("", total=1)

        def progress(what: str, done: int, total: int) -> None:
            bar.update(task, description=what[:28].replace("[", "("), completed=done, total=total)

        yield progress


def _step(what: str, done: int, total: int) -> None:
    if done == total:
        note(f"  {what}: done")


def show_error(error: SteadError, *, machine: bool) -> int:
    """Say what was refused; returns the exit code."""
    note(f"stead: {error.message} [{error.code}]")
    if machine:
        as_json(error.to_dict())
    return error.exit_code


def show_bug(error: BaseException) -> int:
    """Say where an unexpected error happened, without its message."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "stead" in Path(frame.filename).parts
    ]
    where = (
        f"{Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}"
        if frames
        else "unknown place"
    )
    note(
        f"stead: unexpected error, a bug: {type(error).__name__} at {where}. Its message is withheld, because it may quote a value of a file"
    )
    return SteadError.exit_code


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
