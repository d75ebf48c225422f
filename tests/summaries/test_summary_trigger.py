"""When a summary is due, and what it covers."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.event import EventRef
from recollect.rules.groups import SummaryRules
from recollect.summaries.summary import Backlog, Reason, trigger

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
RULES = SummaryRules()


def refs(count: int) -> tuple[EventRef, ...]:
    """So many places, a minute apart."""
    return tuple(EventRef(f"e{n:04}", NOW - timedelta(minutes=count - n)) for n in range(count))


def backlog(uncovered: int, since: int | None = None, days: float = 0.0) -> Backlog:
    """A backlog; `since` counts the messages that are new to the trigger."""
    return Backlog(refs(uncovered), uncovered if since is None else since, NOW - timedelta(days=days))


@pytest.mark.spec("H-04", "H-05", "H-06", "H-07", "H-09", "P-5")
@pytest.mark.parametrize(
    ("found", "force", "reason", "covered"),
    [
        (backlog(49), False, None, 0),
        (backlog(50), False, Reason.MESSAGES, 40),
        (backlog(51), False, Reason.MESSAGES, 41),
        # A quiet stretch of 50 after a summary that left ten raw: these count to what is covered, not to the trigger.
        (backlog(59, since=49), False, None, 0),
        (backlog(60, since=50), False, Reason.MESSAGES, 50),
        (backlog(1, days=20.999999), False, None, 0),
        (backlog(1, days=21), False, Reason.AGE, 1),
        (backlog(10, days=21), False, Reason.AGE, 10),
        (backlog(11, days=21), False, Reason.AGE, 1),
        (backlog(10, since=0, days=90), False, None, 0),
        (backlog(0, days=90), False, None, 0),
        (backlog(50, days=21), False, Reason.MESSAGES, 40),
        (backlog(3), True, Reason.FORCED, 3),
        (backlog(10, since=0), True, Reason.FORCED, 10),
        (backlog(12), True, Reason.FORCED, 2),
        (backlog(0), True, None, 0),
        (backlog(50), True, Reason.MESSAGES, 40),
    ],
)
def test_the_table_of_triggers(found: Backlog, force: bool, reason: Reason | None, covered: int) -> None:
    due = trigger(found, RULES, NOW, force=force)
    assert (due.reason if due else None) == reason
    assert (due.covers if due else ()) == found.uncovered[:covered]


@pytest.mark.spec("H-11")
def test_every_threshold_is_a_rule() -> None:
    rules = SummaryRules(messages=5, days=2, raw_window=3)
    assert trigger(backlog(4), rules, NOW) is None
    due = trigger(backlog(5), rules, NOW)
    assert due is not None
    assert len(due.covers) == 2
    aged = trigger(backlog(1, days=2), rules, NOW)
    assert aged is not None
    assert aged.reason is Reason.AGE


def test_without_a_raw_window_everything_is_covered() -> None:
    due = trigger(backlog(50), SummaryRules(raw_window=0), NOW)
    assert due is not None
    assert len(due.covers) == 50


def test_a_raw_window_as_large_as_the_count_leaves_nothing_to_cover_by_count() -> None:
    rules = SummaryRules(messages=5, raw_window=8)
    assert trigger(backlog(8), rules, NOW) is None
    assert trigger(backlog(9), rules, NOW) is not None
    assert trigger(backlog(8, days=21), rules, NOW) is not None


@pytest.mark.spec("H-15", "P-5")
@given(
    count=st.integers(0, 90),
    since=st.integers(0, 90),
    days=st.floats(0, 40),
    force=st.booleans(),
    messages=st.integers(1, 60),
    raw=st.integers(0, 30),
)
def test_what_is_covered_is_the_oldest_and_never_nothing(
    count: int, since: int, days: float, force: bool, messages: int, raw: int
) -> None:
    found = backlog(count, min(since, count), days)
    due = trigger(found, SummaryRules(messages=messages, raw_window=raw), NOW, force=force)
    if due is None:
        assert not (force and count)
        return
    assert due.covers
    assert due.covers == found.uncovered[: len(due.covers)]
    left = count - len(due.covers)
    assert left == min(raw, count) or (left == 0 and due.reason is not Reason.MESSAGES)


@pytest.mark.spec("H-07")
def test_days_are_of_24_hours_and_never_negative() -> None:
    assert backlog(1, days=1.5).days_since(NOW) == pytest.approx(1.5)
    assert backlog(1, days=-3).days_since(NOW) == 0.0
    assert Backlog((), 0, None).days_since(NOW) == 0.0
