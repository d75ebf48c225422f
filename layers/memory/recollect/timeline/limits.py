"""What a tenant may do a second (A-39): writes, and turns with a language model, counted over all processes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil, floor

from recollect.core.errors import Throttled
from recollect.core.limited import Limited
from recollect.core.time import utc_now
from recollect.ports import RateLimiter
from recollect.rules.groups import Rules

WRITES_OF_A_TURN = 2
"""The input and the answer; what a model's tools save besides is part of an admitted turn."""

_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Buckets of one second's worth, at least one, that all processes share; those of writes and of turns are two.

    A request passes while one is left, whatever its size, and the next one waits for the excess: a batch above one
    second's writes is slow, not impossible. Without a limit nothing is asked of the store.
    """

    _limiter: RateLimiter
    _clock: Callable[[], datetime] = field(default=utc_now)

    def take(self, tenant: str, writes: int, rules: Rules) -> None:
        """Counts records about to be written. Raises Throttled, with the seconds until the next request may come.

        Raises as `RateLimiter.admit`.
        """
        self._take(tenant, Limited.WRITES, writes, rules.limits.writes_per_second)

    def take_turn(self, tenant: str, rules: Rules) -> None:
        """Counts a turn about to be taken, and what it writes. Raises as `take`; then nothing of it is stored.

        A turn that the limit of writes refuses has been counted as a turn.
        """
        self._take(tenant, Limited.TURNS, 1, rules.limits.turns_per_second)
        self.take(tenant, WRITES_OF_A_TURN, rules)

    def _take(self, tenant: str, kind: Limited, number: int, rate: float | None) -> None:
        if rate is None or number <= 0:
            return
        cost = timedelta(microseconds=max(1, floor(number / rate * _MICROSECONDS)))
        tolerance = timedelta(microseconds=ceil((max(1.0, rate) - 1) / rate * _MICROSECONDS))
        wait = self._limiter.admit(tenant, kind, cost, tolerance, self._clock())
        if wait:
            raise Throttled(f"too many {kind.value} for this tenant's limit", wait.total_seconds())
