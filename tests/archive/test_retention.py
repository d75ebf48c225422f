"""Which events rules let go: by age, type, importance and key; any rule suffices."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.archive.retain import (
    EXPIRY_QUEUE,
    Verdict,
    archive_folder,
    bound,
    expiring_ref,
    expiring_write,
    verdict,
)
from recollect.core.event import EventRef, EventType
from recollect.core.items import Due, Item
from recollect.core.time import EARLIEST
from recollect.rules.groups import RetentionRule
from samples.events import event

NOW = datetime(2024, 5, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)


@pytest.mark.spec("A-57")
def test_an_event_of_just_the_age_stays() -> None:
    rule = RetentionRule(older_than_days=30)
    edge = NOW - timedelta(days=30)
    assert verdict([rule], event(timestamp=edge), 0.5, NOW) is None
    assert verdict([rule], event(timestamp=edge - TICK), 0.5, NOW) == Verdict(0, False)
    assert bound([rule], NOW) == edge
    assert bound([RetentionRule(older_than_days=0.5)], NOW) == NOW - timedelta(hours=12)


def test_the_first_fitting_rule_is_named_and_any_of_them_archives() -> None:
    old = event(timestamp=NOW - timedelta(days=100), event_type=EventType.TASK)
    rules = [
        RetentionRule(older_than_days=200, archive=True),
        RetentionRule(older_than_days=50),
        RetentionRule(older_than_days=10, event_types=("task",), archive=True),
    ]
    assert verdict(rules, old, 0.5, NOW) == Verdict(1, True)
    assert verdict(rules[:2], old, 0.5, NOW) == Verdict(1, False)
    assert bound(rules, NOW) == NOW - timedelta(days=10)


def test_importance_is_what_the_caller_says() -> None:
    rule = RetentionRule(older_than_days=1, below_importance=0.6)
    old = event(timestamp=NOW - timedelta(days=2), importance=0.1)
    assert verdict([rule], old, 0.6, NOW) is None
    assert verdict([rule], old, 0.599, NOW) == Verdict(0, False)


@given(st.floats(min_value=0.001, max_value=36_525), st.datetimes(datetime(1900, 1, 1), datetime(2199, 1, 1)))
def test_nothing_at_or_after_the_bound_goes_whatever_the_age(days: float, now: datetime) -> None:
    rules, moment = [RetentionRule(older_than_days=days)], now.replace(tzinfo=UTC)
    until = bound(rules, moment)
    assert until is not None
    assert EARLIEST <= until <= moment
    assert verdict(rules, event(timestamp=until), 0.0, moment) is None


def test_an_expiry_is_noted_where_it_is_found_again() -> None:
    ref = EventRef("e1", NOW)
    write = expiring_write(ref, NOW + TICK, None)
    assert write.due == Due(EXPIRY_QUEUE, NOW + TICK)
    assert write.value is not None
    assert expiring_ref(Item(write.key, write.value, 1, NOW, write.due)) == ref


def test_an_archives_name_tells_nobodys_name() -> None:
    assert "anna" not in archive_folder("anna")
    assert archive_folder("anna") != archive_folder("ben")
    assert archive_folder("\ud800")
