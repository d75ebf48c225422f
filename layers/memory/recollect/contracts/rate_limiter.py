"""The contract of `RateLimiter` (A-39). A subclass gives the fixture `limiter`."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from recollect.contracts.examples import HARD_IDS, NOW
from recollect.core.limited import Limited
from recollect.ports import RateLimiter

SECOND, TENTH, NONE = timedelta(seconds=1), timedelta(milliseconds=100), timedelta(0)
NINE_TENTHS = SECOND - TENTH


def a_tenant() -> str:
    """A tenant that nothing else uses."""
    return f"tenant-{uuid.uuid4().hex}"


class RateLimiterContract:
    """Hold an adapter to it by a subclass that gives the fixture `limiter`."""

    def admitted(self, limiter: RateLimiter, tenant: str, now: datetime, most: int = 13) -> int:
        """How many of ten a second pass at that moment."""
        return sum(limiter.admit(tenant, Limited.WRITES, TENTH, NINE_TENTHS, now) == NONE for _ in range(most))

    def test_a_bucket_s_worth_passes_and_then_what_time_pays_for(self, limiter: RateLimiter) -> None:
        tenant = a_tenant()
        assert self.admitted(limiter, tenant, NOW) == 10
        assert limiter.admit(tenant, Limited.WRITES, TENTH, NINE_TENTHS, NOW) == TENTH
        assert self.admitted(limiter, tenant, NOW + 3 * TENTH) == 3

    def test_who_is_refused_owes_nothing_for_it(self, limiter: RateLimiter) -> None:
        tenant = a_tenant()
        self.admitted(limiter, tenant, NOW)
        for _ in range(5):
            assert limiter.admit(tenant, Limited.WRITES, 9 * SECOND, NINE_TENTHS, NOW) == TENTH
        assert limiter.admit(tenant, Limited.WRITES, TENTH, NINE_TENTHS, NOW + TENTH) == NONE

    def test_what_was_not_used_is_not_saved_up(self, limiter: RateLimiter) -> None:
        tenant = a_tenant()
        assert self.admitted(limiter, tenant, NOW) == 10
        assert self.admitted(limiter, tenant, NOW + timedelta(days=3)) == 10

    def test_a_large_cost_passes_and_is_paid_for_by_the_next(self, limiter: RateLimiter) -> None:
        tenant = a_tenant()
        assert limiter.admit(tenant, Limited.WRITES, 10 * SECOND, NINE_TENTHS, NOW) == NONE
        assert limiter.admit(tenant, Limited.WRITES, TENTH, NINE_TENTHS, NOW) == 10 * SECOND - NINE_TENTHS
        assert limiter.admit(tenant, Limited.WRITES, TENTH, NINE_TENTHS, NOW + 10 * SECOND - NINE_TENTHS) == NONE

    def test_without_tolerance_the_debt_must_be_paid_off(self, limiter: RateLimiter) -> None:
        tenant = a_tenant()
        assert limiter.admit(tenant, Limited.WRITES, SECOND, NONE, NOW) == NONE
        assert limiter.admit(tenant, Limited.WRITES, SECOND, NONE, NOW + TENTH) == NINE_TENTHS
        assert limiter.admit(tenant, Limited.WRITES, SECOND, NONE, NOW + SECOND) == NONE

    def test_a_clock_that_is_behind_lets_nothing_more_through(self, limiter: RateLimiter) -> None:
        tenant = a_tenant()
        assert self.admitted(limiter, tenant, NOW) == 10
        assert self.admitted(limiter, tenant, NOW - SECOND) == 0

    @pytest.mark.parametrize("name", HARD_IDS)
    def test_each_tenant_has_a_count_of_its_own(self, limiter: RateLimiter, name: str) -> None:
        mark = uuid.uuid4().hex[:8]
        first, other = f"{mark}{name}"[:128], f"{name}{mark}"[-128:]
        assert self.admitted(limiter, first, NOW) == 10
        assert self.admitted(limiter, other, NOW) == (10 if first != other else 0)

    def test_each_kind_has_a_count_of_its_own(self, limiter: RateLimiter) -> None:
        tenant = a_tenant()
        assert self.admitted(limiter, tenant, NOW) == 10
        assert limiter.admit(tenant, Limited.TURNS, SECOND, NONE, NOW) == NONE
        assert limiter.admit(tenant, Limited.TURNS, SECOND, NONE, NOW + TENTH) == NINE_TENTHS
        assert limiter.admit(tenant, Limited.WRITES, TENTH, NINE_TENTHS, NOW + TENTH) == NONE

    def test_all_who_ask_at_once_are_counted(self, limiter: RateLimiter) -> None:
        tenant = a_tenant()
        with ThreadPoolExecutor(4) as threads:
            passed = sum(threads.map(lambda _: self.admitted(limiter, tenant, NOW, most=1), range(24)))
        assert passed == 10
