"""Implementations of the port `Concurrency`: in the caller's thread for SQLite, on threads for a network."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Generic, TypeVar

from recollect.ports import Pending

T = TypeVar("T")


class Done(Generic[T]):
    """A call that was made when it was submitted: its result, or what it raised."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._value: T | None = None
        self._error: Exception | None = None
        try:
            self._value = call()
        except Exception as error:  # noqa: BLE001 - raised again where the result is asked for
            self._error = error

    def result(self) -> T:
        """The result. Raises what the call raised."""
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]


_ENCODINGS = 4


class Inline:
    """Runs each call at submit: SQLite answers in this process, so a thread would only cost.

    An encoding has a thread: it computes outside the interpreter, for as long as many reads take.
    """

    side_by_side = False

    def __init__(self) -> None:
        self._encodings = ThreadPoolExecutor(max_workers=_ENCODINGS, thread_name_prefix="recollect-encoding")

    def submit(self, call: Callable[[], T]) -> Done[T]:
        """Makes the call now."""
        return Done(call)

    def beside(self, call: Callable[[], T]) -> Pending[T]:
        """Begins the call on a thread; it sees the caller's context variables."""
        return self._encodings.submit(copy_context().run, call)


class Threads:
    """A pool of threads, at most `workers` calls at once; they see the caller's context variables.

    A call that itself submits calls runs them at once in its own thread: were it to wait for places in the pool that
    it fills itself, it could wait for ever.
    """

    side_by_side = True

    def __init__(self, workers: int = 12) -> None:
        self._pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="recollect")
        self._inside = threading.local()

    def submit(self, call: Callable[[], T]) -> Pending[T]:
        """Begins a call."""
        if getattr(self._inside, "pool", False):
            return Done(call)
        return self._pool.submit(copy_context().run, self._marked, call)

    def beside(self, call: Callable[[], T]) -> Pending[T]:
        """Makes the call now."""
        return Done(call)

    def _marked(self, call: Callable[[], T]) -> T:
        self._inside.pool = True
        return call()
