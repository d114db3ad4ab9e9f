"""Every refusal of stead: what, where, the bound, what to do; never a value of a file.

One family, so that a caller catches `SteadError` and a shell sees a documented exit code:

    0  done                      4  done, but a criterion fails
    1  unexpected error (a bug)  5  sampler diagnostics fail
    2  usage or configuration    6  interrupted, can be resumed
    3  input refused             7  the leak guard stopped an output

Messages name files, columns, counts and line numbers. They are written by hand at the place that
refuses, and the exceptions of libraries are never chained to them: those quote cells.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class SteadError(Exception):
    """A refusal with a stable code (`E-...`) for machines and a sentence for people."""

    exit_code: ClassVar[int] = 1

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[SteadError], tuple[object, ...]]:
        return type(self), (self.code, self.message)  # a worker process hands its refusal over

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"

    def to_dict(self) -> dict[str, object]:
        """What a machine reads instead of the sentence."""
        return {"error": self.code, "message": self.message, "exit_code": self.exit_code}


class UsageError(SteadError):
    """The call or the plan is off: an unknown name, a formula that does not parse."""

    exit_code = 2


class InputRefused(SteadError):
    """A file cannot be taken as it is; the message says what would make it acceptable."""

    exit_code = 3


class DiagnosticsFailed(SteadError):
    """A sampler's own checks say that its draws are not to be relied on; `fits` is the table of all of them."""

    exit_code = 5

    def __init__(self, code: str, message: str, fits: Sequence[Mapping[str, object]] = ()) -> None:
        super().__init__(code, message)
        self.fits = tuple(fits)

    def __reduce__(self) -> tuple[type[SteadError], tuple[object, ...]]:
        return type(self), (self.code, self.message, self.fits)

    def to_dict(self) -> dict[str, object]:
        """The refusal, and every fit with its figures where the fits were made."""
        return super().to_dict() | ({"fits": list(self.fits)} if self.fits else {})


class Interrupted(SteadError):
    """Stopped before the end (a full disk, a signal); what was written is whole."""

    exit_code = 6


class Notice(UserWarning):
    """Something was done that its owner should know; carries a code like an error does."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} [{code}]")
        self.code = code
        self.message = message


def nearest(name: str, names: Iterable[str]) -> str:
    """Say which names exist, those most like `name` first, for the end of a message."""
    known = [str(other) for other in names]
    if not known:
        return "there are none"
    lowered = {other.lower(): other for other in reversed(known)}
    close = [lowered[match] for match in get_close_matches(name.lower(), list(lowered), n=3, cutoff=0.5)]
    ordered = close + [other for other in known if other not in close]
    shown = ", ".join(shorten(other) for other in ordered[:12])
    more = f" and {len(ordered) - 12} more" if len(ordered) > 12 else ""
    hint = f"did you mean {shorten(close[0])}? " if close else ""
    return f"{hint}there are: {shown}{more}"


def shorten(name: str, most: int = 60) -> str:
    """A name as a message shows it: control characters escaped, long ones cut."""
    plain = name.encode("unicode_escape").decode("ascii") if not name.isprintable() else name
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
