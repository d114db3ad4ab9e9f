"""`stead`: the commands, and what a shell is told."""

from __future__ import annotations

import logging
import os
import resource
import signal
import sys
import threading
import warnings
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError

from stead.cli import risk, risk_attribute, risk_binary, start, studies, ui, utility
from stead.errors import Interrupted, Notice, SteadError, UsageError
from stead.tables.addresses import without_credentials

if TYPE_CHECKING:
    from collections.abc import Sequence

HELP = """\
Synthetic microdata to publish in the stead of confidential records.

To begin with a file:
  stead init survey.csv    then    stead check    then    stead run

What a command ends with:
  0 done                          4 done, but a criterion fails
  1 unexpected error (a bug)      5 sampler diagnostics fail
  2 usage or plan                 6 interrupted, run it again
  3 input refused                 7 the leak guard stopped an output
"""


def application() -> App:
    """The commands."""
    import stead

    app = App(name="stead", help=HELP, help_format="plaintext", version=stead.__version__)
    app.command(start.init)
    app.command(start.check)
    app.command(studies.run)
    app.command(studies.demo)
    app.command(utility.utility)
    group = risk.application()
    group.command(risk_attribute.attribute)
    group.command(risk_binary.binary)
    app.command(group)
    app.command(risk_binary.audit)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run a command and leave with its exit code."""
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold the file
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    # what libraries log, and what Python says of errors that it ignores or that end a thread, may quote a cell
    logging.disable(logging.CRITICAL)
    sys.unraisablehook = threading.excepthook = _unheard
    ui.prepare()
    sys.exit(execute(sys.argv[1:] if arguments is None else arguments))


def execute(arguments: Sequence[str]) -> int:
    """Run a command; every way it can end is an exit code."""
    machine = "--json" in arguments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", Notice)
        warnings.showwarning = _show_notice
        try:
            return _ended(_run(arguments), machine=machine)
        except KeyboardInterrupt:
            return Interrupted.exit_code


def _run(arguments: Sequence[str]) -> int | Exception:
    """The exit code of a command, or the error that ended it."""
    try:
        result = application()(
            list(arguments), exit_on_error=False, print_error=False, result_action="return_value"
        )
    except CycloptsError as error:
        said = without_credentials(" ".join(str(error).split()))
        return UsageError("E-USAGE", f"{said} See: stead --help")
    except KeyboardInterrupt:
        return Interrupted("E-INTERRUPTED", "interrupted; what was written is whole. Run the command again")
    except (
        BrokenPipeError,
        SystemExit,
    ):  # the second is what rich makes of the first, while it shows the help
        return ui.unread("is closed")
    except Exception as error:  # noqa: BLE001 - the last line of defence: a traceback would quote values
        return error
    return result if isinstance(result, int) else 0


def _ended(ending: int | Exception, *, machine: bool) -> int:
    if isinstance(ending, int):
        return ending
    try:
        if isinstance(ending, SteadError):
            return ui.show_error(ending, machine=machine and ending.code != "E-STDOUT")
        return ui.show_bug(ending, machine=machine)
    except Interrupted as error:  # nobody reads stdout
        return error.exit_code


def _unheard(_: object) -> None:
    """Say nothing of an error."""


def _show_notice(message: Warning | str, *_: object, **__: object) -> None:
    ui.note(f"note: {message}")
