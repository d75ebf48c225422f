"""Calls of one wave, one after another: SQLite answers in this process, so a thread would only cost."""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Done(Generic[T]):
    """A call that was made when it was submitted: its result, or what it raised."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._value: T | None = None
        self._error: Exception | None = None
        try:
            self._value = call()
        except Exception as error:  # noqa: BLE001  it is raised again where the result is asked for
            self._error = error

    def result(self) -> T:
        """What the call gave. Raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]


class Inline:
    """Runs each call at submit."""

    side_by_side = False

    def submit(self, call: Callable[[], T]) -> Done[T]:
        """Makes the call now."""
        return Done(call)
