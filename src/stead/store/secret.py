"""A value that must not be printed: it shows itself as redacted and is read by asking for it."""

from __future__ import annotations

from typing import Generic, NoReturn, TypeVar

T = TypeVar("T")


class Secret(Generic[T]):
    """Holds a value that no message, log or traceback may show."""

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def reveal(self) -> T:
        """The value itself."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(redacted)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled")
