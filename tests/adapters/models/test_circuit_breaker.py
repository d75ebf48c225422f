"""The circuit breaker, by a clock that the test sets."""

import pytest

from recollect.adapters.models.resilient import BreakerPolicy, CircuitBreaker


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(BreakerPolicy(failures=3, cool_down_seconds=10), clock)


def fail(breaker: CircuitBreaker, times: int) -> None:
    for _ in range(times):
        breaker.failed()


def test_it_opens_after_failures_in_a_row(breaker: CircuitBreaker) -> None:
    fail(breaker, 2)
    breaker.succeeded()
    fail(breaker, 2)
    assert breaker.admits()
    assert not breaker.is_open
    fail(breaker, 1)
    assert not breaker.admits()
    assert breaker.is_open


def test_after_the_cool_down_one_call_passes(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 9.9
    assert not breaker.admits()
    assert breaker.seconds_closed_off == pytest.approx(0.1)
    clock.now += 0.1
    assert breaker.seconds_closed_off == 0
    assert [breaker.admits() for _ in range(3)] == [True, False, False]


def test_a_good_trial_closes_it(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 10
    assert breaker.admits()
    breaker.succeeded()
    assert breaker.admits()
    assert not breaker.is_open
    fail(breaker, 2)
    assert breaker.admits()


@pytest.mark.parametrize("ends", [True, False], ids=["a bad trial", "a trial that never ends"])
def test_after_a_trial_it_is_open_for_another_cool_down(breaker: CircuitBreaker, clock: Clock, ends: bool) -> None:
    fail(breaker, 3)
    clock.now += 10
    assert breaker.admits()
    if ends:
        clock.now += 5
        breaker.failed()
    clock.now += 9
    assert not breaker.admits()
    clock.now += 1
    assert breaker.admits()
