"""Throttling: a tenant that writes faster than its rules allow is asked to slow down (A-39).

The count is each process's own: a deployment of several lets through as many times the rate at most. What bounds a
whole deployment is the throttling of the HTTP API before it.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from recollect.domain.errors import Throttled
from recollect.domain.rules import Rules

_ROUNDING = 1e-9


@dataclass(slots=True)
class _Bucket:
    """What may be written now, in writes; below zero after a request that was larger than what was left."""

    tokens: float
    at: float


class WriteLimits:
    """A token bucket for each tenant that holds a second's worth, one write at least.

    A request is let through while one write is left, whatever its size, and what it took too much is waited for by the
    next one: so a batch that is larger than a second's worth is slow, not impossible.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def take(self, tenant: str, writes: int, rules: Rules) -> None:
        """Counts so many records about to be written. Raises Throttled, with the seconds until the next may come."""
        rate = rules.limits.writes_per_second
        if rate is None or writes <= 0:
            return
        with self._lock:
            bucket = self._filled(tenant, rate)
            if bucket.tokens < 1.0 - _ROUNDING:
                raise Throttled("too many writes for this tenant's limit", (1.0 - bucket.tokens) / rate)
            bucket.tokens -= writes

    def _filled(self, tenant: str, rate: float) -> _Bucket:
        now, most = self._clock(), max(1.0, rate)
        bucket = self._buckets.setdefault(tenant, _Bucket(most, now))
        bucket.tokens = min(most, bucket.tokens + (now - bucket.at) * rate)
        bucket.at = now
        return bucket
