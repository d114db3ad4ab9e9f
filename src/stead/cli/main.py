"""`stead`: the commands, and what a shell is told."""

from __future__ import annotations

import os
import resource
import signal
import sys
import warnings

from cyclopts import App, CycloptsError

from stead.cli import start, studies, ui
from stead.errors import Interrupted, Notice, SteadError, UsageError

HELP = """\
Synthetic microdata to publish in the stead of confidential records.

Start with a file:  stead init survey.csv   then   stead check   and   stead run

Exit codes: 0 done, 1 unexpected error, 2 usage or plan, 3 input refused, 4 a criterion fails,
5 sampler diagnostics fail, 6 interrupted, 7 the leak guard stopped an output.
"""


def application() -> App:
    """The commands."""
    import stead

    app = App(name="stead", help=HELP, help_format="plaintext", version=stead.__version__)
    app.command(start.init)
    app.command(start.check)
    app.command(studies.run)
    app.command(studies.demo)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run a command and leave with its exit code."""
    sys.exit(execute(sys.argv[1:] if arguments is None else arguments))


def execute(arguments: list[str]) -> int:
    """Run a command; every way it can end is an exit code."""
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold the file
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    machine = "--json" in arguments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", Notice)
        warnings.showwarning = _show_notice
        try:
            result = application()(
                arguments, exit_on_error=False, print_error=False, result_action="return_value"
            )
        except CycloptsError as error:
            return ui.show_error(
                UsageError("E-USAGE", f"{str(error).strip()} See: stead --help"), machine=machine
            )
        except SteadError as error:
            return ui.show_error(error, machine=machine)
        except KeyboardInterrupt:
            return ui.show_error(
                Interrupted("E-INTERRUPTED", "interrupted; what was written is whole. Run the command again"),
                machine=machine,
            )
        except Exception as error:  # noqa: BLE001 - the last line of defence: a traceback would quote values
            return ui.show_bug(error)
    return result if isinstance(result, int) else 0


def _show_notice(message: Warning | str, *_: object, **__: object) -> None:
    ui.note(f"note: {message}")
