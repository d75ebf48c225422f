"""A limit on the time of a call that holds whatever the call waits for: name resolution, headers, a trickling body."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from recollect.core.errors import OutOfTime

T = TypeVar("T")


def within(seconds: float, service: str, call: Callable[[], T]) -> T:
    """What the call gives or raises. Raises OutOfTime, naming the service, where it takes longer than `seconds`.

    A call that is given up goes on in a thread of its own until its own time-outs end it; nobody sees its result.
    """
    running = _Running(call)
    if seconds > 0:
        threading.Thread(target=running.run, name=f"call to {service}", daemon=True).start()
        running.ended.wait(seconds)
    if not running.ended.is_set():
        raise OutOfTime(f"{service} did not answer in time")
    return running.result()


class Deadline:
    """An instant of the monotonic clock after which nothing more is waited for."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """Seconds until then; negative afterwards."""
        return self._until - time.monotonic()


class _Running(Generic[T]):
    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._results: list[T] = []
        self._error: BaseException | None = None
        self.ended = threading.Event()

    def run(self) -> None:
        try:
            self._results.append(self._call())
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the call is waited for
            self._error = error
        self.ended.set()

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._results[0]
