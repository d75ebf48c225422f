"""The bridge's policies, the lag, the routing while suspended (A-60, A-61, A-67, P-10, P-19)."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.event import Event, EventRef, EventType
from recollect.memories.promotion import (
    BridgeState,
    Deferral,
    deferral_in,
    deferral_write,
    lag_ms,
    needs_state,
    passes,
    route,
    state_document,
    state_in,
)
from recollect.rules.groups import BridgeRules
from samples.events import NOON, event

DEFAULT = BridgeRules()


def arrived(number: int, lag: timedelta = timedelta(minutes=1), **changes: Any) -> Event:
    """An event that came so late; `number` orders arrivals."""
    event_id = f"018f0000-0000-7000-8000-{number:012d}"
    return event(id=event_id, **{"timestamp": NOON - lag, "recorded_at": NOON, **changes})


@pytest.mark.spec("A-60", "P-10")
@given(st.floats(0, 1), st.sampled_from(EventType), st.floats(0, 1), st.sets(st.sampled_from(EventType)), st.booleans())
def test_an_event_without_a_key_needs_both_policies(
    importance: float, kind: EventType, least: float, kinds: set[EventType], enabled: bool
) -> None:
    rules = BridgeRules(enabled=enabled, min_importance=least, event_types=tuple(kinds))
    expected = enabled and importance >= least and kind in kinds
    assert passes(event(importance=importance, event_type=kind), rules) is expected


@pytest.mark.spec("A-60", "P-10")
def test_the_defaults_are_the_documents() -> None:
    assert (DEFAULT.min_importance, DEFAULT.event_types) == (0.6, ("task", "reminder", "conversation"))
    assert passes(event(importance=0.6), DEFAULT)
    assert not passes(event(importance=0.599), DEFAULT)
    assert not passes(event(importance=1.0, event_type=EventType.CUSTOM), DEFAULT)


@pytest.mark.spec("P-19")
@given(st.floats(0, 1), st.sampled_from(EventType), st.booleans(), st.booleans())
def test_a_key_needs_neither_and_waits_for_nothing(
    importance: float, kind: EventType, enabled: bool, suspended: bool
) -> None:
    keyed = arrived(1, importance=importance, event_type=kind, key="city")
    routing = route([keyed], BridgeRules(enabled=enabled, event_types=()), suspended=suspended)
    assert (routing.promote, routing.deferred, routing.recovered) == ([keyed], [], False)


@pytest.mark.spec("A-61", "A-67")
@pytest.mark.parametrize(
    ("lag", "milliseconds"),
    [
        (timedelta(0), 0),
        (timedelta(microseconds=999), 0),
        (timedelta(milliseconds=1), 1),
        (timedelta(seconds=10), 10_000),
        (timedelta(seconds=-5), 0),
        (timedelta(days=400), 34_560_000_000),
    ],
)
def test_the_lag_is_from_the_events_time_to_its_arrival(lag: timedelta, milliseconds: int) -> None:
    assert lag_ms(arrived(1, lag)) == milliseconds


@pytest.mark.spec("A-67", "P-10")
def test_ten_seconds_are_healthy_and_a_millisecond_more_is_not() -> None:
    healthy, late = arrived(1, timedelta(seconds=10)), arrived(1, timedelta(seconds=10, milliseconds=1))
    assert route([healthy], DEFAULT, suspended=True).recovered
    assert route([healthy], DEFAULT, suspended=True).promote == [healthy]
    assert not route([late], DEFAULT, suspended=True).recovered
    assert route([late], DEFAULT, suspended=True).deferred == [late]
    assert not route([healthy], DEFAULT, suspended=False).recovered


@pytest.mark.spec("A-67", "P-10")
def test_what_came_before_the_healthy_one_waits_and_what_comes_after_does_not() -> None:
    before, dull = arrived(1), arrived(2, timedelta(0), importance=0.1)
    after, never = arrived(3), arrived(4, importance=0.2)
    routing = route([never, after, dull, before], DEFAULT, suspended=True)
    assert (routing.deferred, routing.promote, routing.recovered) == ([before], [after], True)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Where do I live?", False),
        ("Wo wohne ich? Und seit wann?", False),
        ("I live in Lyon.", True),
        ("I moved to Lyon last week and started at Bosch, where do I register my car there?", True),
    ],
)
def test_a_mere_question_is_no_memory_unless_it_has_a_key(content: str, expected: bool) -> None:
    assert passes(event(content=content, importance=0.9), DEFAULT) is expected
    assert passes(event(content=content, importance=0.9, key="home"), DEFAULT)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), st.booleans()), max_size=8), st.booleans())
def test_each_event_that_passes_goes_one_way_and_no_other_does(
    drawn: list[tuple[float, int, bool]], suspended: bool
) -> None:
    events = [
        arrived(n, timedelta(seconds=lag), importance=importance, key="k" if keyed else None)
        for n, (importance, lag, keyed) in enumerate(drawn)
    ]
    routing = route(events, DEFAULT, suspended=suspended)
    went = [*routing.promote, *routing.deferred]
    assert sorted(one.id for one in went) == [one.id for one in events if passes(one, DEFAULT)]
    if not needs_state(events, DEFAULT):
        assert routing == route(events, DEFAULT, suspended=not suspended)


def test_state_and_deferral_are_read_as_they_were_written() -> None:
    for state in (BridgeState(), BridgeState(True, "monitor", "high", "latency", NOON)):
        assert state_in(state_document(state)) == state
    for deferral in (Deferral(EventRef("e", NOON), NOON), Deferral(EventRef("e", NOON), NOON, "Throttled")):
        write = deferral_write(deferral, 3)
        assert write.value is not None
        assert deferral_in(write.key, write.value) == deferral
        assert (write.expected, write.due is not None) == (3, True)
