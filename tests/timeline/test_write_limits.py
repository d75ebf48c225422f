"""Throttling by the tenant's rules (A-39)."""

import pytest

from recollect.core.errors import Throttled
from recollect.rules.groups import Rules
from recollect.rules.reading import read_rules
from recollect.timeline.ingest import WriteLimits

pytestmark = pytest.mark.spec("A-39")


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def _rules(rate: float | None) -> Rules:
    return read_rules({"limits": {"writes_per_second": rate}}, Rules()).rules


def _retry_after(limits: WriteLimits, tenant: str, writes: int, rules: Rules) -> float | None:
    with pytest.raises(Throttled) as refused:
        limits.take(tenant, writes, rules)
    return refused.value.retry_after_seconds


def test_without_a_limit_nothing_is_throttled() -> None:
    limits = WriteLimits(_Clock())
    for _ in range(1000):
        limits.take("acme", 100, _rules(None))


def test_a_second_s_worth_goes_through_and_then_so_many_a_second() -> None:
    clock = _Clock()
    limits, rules = WriteLimits(clock), _rules(10)
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


def test_a_large_batch_goes_through_and_is_paid_for_by_the_next() -> None:
    clock = _Clock()
    limits, rules = WriteLimits(clock), _rules(10)
    limits.take("acme", 100, rules)
    assert _retry_after(limits, "acme", 1, rules) == pytest.approx(9.1)
    clock.now += 9.1
    limits.take("acme", 1, rules)


def test_less_than_one_a_second_still_lets_one_through() -> None:
    clock = _Clock()
    limits, rules = WriteLimits(clock), _rules(0.1)
    limits.take("acme", 1, rules)
    assert _retry_after(limits, "acme", 1, rules) == pytest.approx(10.0)
    limits.take("acme", 0, rules)


def test_a_tenant_is_not_throttled_for_another() -> None:
    limits, rules = WriteLimits(_Clock()), _rules(1)
    limits.take("acme", 5, rules)
    limits.take("other", 5, rules)
    assert _retry_after(limits, "acme", 1, rules) is not None
