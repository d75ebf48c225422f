"""Leaves a provider alone for a while after it failed several times in a row."""

import threading
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerPolicy:
    """Opens after `failures` in a row (≥ 1); after `cool_down_seconds` one call is let through to see."""

    failures: int = 5
    cool_down_seconds: float = 30.0


class CircuitBreaker:
    """Closed: calls pass. Open: none does until the cool-down is over; then one, whose end decides.

    That one begins the cool-down anew, so that a trial that never ends blocks the provider no longer than another
    cool-down. `clock` tells monotonic seconds. Safe to share between threads.
    """

    def __init__(self, policy: BreakerPolicy, clock: Callable[[], float]) -> None:
        self._policy, self._clock = policy, clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_at: float | None = None

    @property
    def seconds_closed_off(self) -> float:
        """How long no call will pass; 0 where one would now."""
        opened_at = self._opened_at
        return 0.0 if opened_at is None else max(0.0, opened_at + self._policy.cool_down_seconds - self._clock())

    @property
    def is_open(self) -> bool:
        """Whether the provider failed so often that only a trial passes, if anything."""
        return self._opened_at is not None

    def admits(self) -> bool:
        """Whether a call may be made now; after the cool-down, the asking takes the one trial."""
        with self._lock:
            if self._opened_at is None:
                return True
            if self.seconds_closed_off > 0:
                return False
            self._opened_at = self._clock()
            return True

    def succeeded(self) -> None:
        """The provider answered."""
        with self._lock:
            self._failures, self._opened_at = 0, None

    def failed(self) -> None:
        """The provider did not answer, or asked to be left alone."""
        with self._lock:
            self._failures += 1
            if self._failures >= self._policy.failures:
                self._opened_at = self._clock()
