"""Throttling by the tenant's rules (A-39)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.adapters.local.database import Database
from recollect.adapters.local.rate_limiter import SqliteRateLimiter
from recollect.core.errors import Throttled
from recollect.core.limited import Limited
from recollect.rules.groups import Rules
from recollect.rules.reading import read_rules
from recollect.timeline.limits import RateLimits

pytestmark = pytest.mark.spec("A-39")


class _Clock:
    now = 0.0

    def __call__(self) -> datetime:
        return datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=self.now)


Process = Callable[[_Clock], RateLimits]


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    """A process that shares the file with those made before it."""
    with ExitStack() as stack:

        def start(clock: _Clock) -> RateLimits:
            database = stack.enter_context(closing(Database(tmp_path / "recollect.db")))
            return RateLimits(SqliteRateLimiter(database), clock)

        yield start


def _rules(rate: float | None, turns: float | None = None) -> Rules:
    return read_rules({"limits": {"writes_per_second": rate, "turns_per_second": turns}}, Rules()).rules


def _retry_after(limits: RateLimits, tenant: str, writes: int, rules: Rules) -> float | None:
    with pytest.raises(Throttled) as refused:
        limits.take(tenant, writes, rules)
    return refused.value.retry_after_seconds


def test_without_a_limit_nothing_is_throttled_or_asked() -> None:
    limits = RateLimits(cast(Any, None), _Clock())
    for _ in range(1000):
        limits.take("acme", 100, _rules(None))
        limits.take_turn("acme", _rules(None))


def test_a_second_s_worth_goes_through_and_then_so_many_a_second(process: Process) -> None:
    clock = _Clock()
    limits, rules = process(clock), _rules(10)
    for _ in range(10):
        limits.take("acme", 1, rules)
    assert _retry_after(limits, "acme", 1, rules) == pytest.approx(0.1)
    clock.now += 0.1
    limits.take("acme", 1, rules)
    assert _retry_after(limits, "acme", 1, rules) is not None
    clock.now += 1000
    for _ in range(10):
        limits.take("acme", 1, rules)
    assert _retry_after(limits, "acme", 1, rules) is not None, "what was not used for long is not saved up"


def test_a_large_batch_goes_through_and_is_paid_for_by_the_next(process: Process) -> None:
    clock = _Clock()
    limits, rules = process(clock), _rules(10)
    limits.take("acme", 100, rules)
    assert _retry_after(limits, "acme", 1, rules) == pytest.approx(9.1)
    clock.now += 9.1
    limits.take("acme", 1, rules)


def test_less_than_one_a_second_still_lets_one_through(process: Process) -> None:
    clock = _Clock()
    limits, rules = process(clock), _rules(0.1)
    limits.take("acme", 1, rules)
    assert _retry_after(limits, "acme", 1, rules) == pytest.approx(10.0)
    limits.take("acme", 0, rules)


def test_a_tenant_is_not_throttled_for_another(process: Process) -> None:
    limits, rules = process(_Clock()), _rules(1)
    limits.take("acme", 5, rules)
    limits.take("other", 5, rules)
    assert _retry_after(limits, "acme", 1, rules) is not None


def test_processes_share_the_limit(process: Process) -> None:
    """Of as many processes as there are, so many writes a second pass as of one."""
    clock, rules = _Clock(), _rules(10)
    several = [process(clock) for _ in range(4)]
    passed = 0
    for number in range(40):
        try:
            several[number % 4].take("acme", 1, rules)
            passed += 1
        except Throttled:
            continue
    assert passed == 10
    clock.now += 0.5
    several[3].take("acme", 5, rules)
    assert _retry_after(several[0], "acme", 1, rules) == pytest.approx(0.1)


def test_turns_have_a_limit_of_their_own(process: Process) -> None:
    clock = _Clock()
    one, other, rules = process(clock), process(clock), _rules(None, turns=0.5)
    one.take_turn("acme", rules)
    with pytest.raises(Throttled) as refused:
        other.take_turn("acme", rules)
    assert refused.value.retry_after_seconds == pytest.approx(2.0)
    other.take("acme", 1000, rules)
    other.take_turn("globex", rules)
    clock.now += 2.0
    other.take_turn("acme", rules)


def test_a_turn_writes_two_records(process: Process) -> None:
    limits, rules = process(_Clock()), _rules(10)
    for _ in range(5):
        limits.take_turn("acme", rules)
    assert _retry_after(limits, "acme", 1, rules) == pytest.approx(0.1)
    with pytest.raises(Throttled):
        limits.take_turn("acme", rules)


class _Free:
    """Admits by the port's own words, in memory: what the arithmetic of `take` is tried on."""

    def __init__(self) -> None:
        self.debt = timedelta(0)

    def admit(self, _tenant: str, _kind: Limited, cost: timedelta, tolerance: timedelta, _now: datetime) -> timedelta:
        if self.debt > tolerance:
            return self.debt - tolerance
        self.debt += cost
        return timedelta(0)


@given(rate=st.integers(1, 100_000))
def test_a_whole_rate_lets_exactly_so_many_through_at_once(rate: int) -> None:
    """Whatever a microsecond cuts off: nine in ten of them one by one would take long, so all but the last at once."""
    limits, rules = RateLimits(_Free(), _Clock()), _rules(rate)
    limits.take("acme", rate - 1, rules)
    limits.take("acme", 1, rules)
    assert _retry_after(limits, "acme", 1, rules) == pytest.approx(1 / rate, abs=2e-6)


@given(rate=st.integers(2, 40))
def test_one_by_one_too(rate: int) -> None:
    limits, rules = RateLimits(_Free(), _Clock()), _rules(rate)
    for _ in range(rate):
        limits.take("acme", 1, rules)
    assert _retry_after(limits, "acme", 1, rules) == pytest.approx(1 / rate, abs=1e-4)
