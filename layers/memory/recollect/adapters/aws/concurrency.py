"""Calls of one wave side by side, on threads: what a network wants."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from recollect.ports import Pending

T = TypeVar("T")


class Threads:
    """A pool of threads, at most `workers` calls at once. They see the caller's context variables.

    A call that itself submits calls gets them done at once, in its own thread: waiting for places in the pool that
    it fills itself could wait for ever.
    """

    side_by_side = True

    def __init__(self, workers: int = 12) -> None:
        self._pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="recollect")
        self._inside = threading.local()

    def submit(self, call: Callable[[], T]) -> Pending[T]:
        """Begins a call."""
        if getattr(self._inside, "pool", False):
            return _done(call)
        return self._pool.submit(copy_context().run, self._marked, call)

    def _marked(self, call: Callable[[], T]) -> T:
        self._inside.pool = True
        return call()


def _done(call: Callable[[], T]) -> "Future[T]":
    future: Future[T] = Future()
    try:
        future.set_result(call())
    except Exception as error:  # noqa: BLE001 - raised again where the result is asked for
        future.set_exception(error)
    return future
