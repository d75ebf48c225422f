"""Slots: the newest event of a key is its value, in whatever order events arrive."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.event import OPEN_ENDED, EventRef, Role, Source
from recollect.timeline.slots import (
    SlotEntry,
    bound_of,
    current_at,
    entry_of,
    named_slot,
    newest_of_slots,
    slot_of,
    successor,
    superseded_in,
    with_told,
)
from samples.events import NOON, event

ENTRIES = st.lists(
    st.builds(
        lambda minute, late, number: SlotEntry(
            EventRef(f"{number:04d}", NOON + timedelta(minutes=minute)), NOON + timedelta(hours=late)
        ),
        st.integers(0, 5),
        st.integers(0, 5),
        st.integers(0, 9999),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda entry: entry.ref.id,
)


def test_without_a_key_there_is_no_slot() -> None:
    assert slot_of(event()) is None
    assert slot_of(event(key="city", persona_id="coach")) == ("coach", "", "city")
    assert slot_of(event(key="city", household_id="home")) == ("", "home", "city")


def test_an_events_entry_is_its_place_and_when_it_was_recorded() -> None:
    late = event(id="e7", recorded_at=NOON + timedelta(hours=1))
    assert entry_of(late) == SlotEntry(EventRef("e7", NOON), NOON + timedelta(hours=1))


@given(ENTRIES)
def test_successors_form_one_chain_that_ends_at_the_current_value(history: list[SlotEntry]) -> None:
    entry = min(history, key=lambda e: e.order)
    visited = [entry]
    while (following := successor(visited[-1], history)) is not None:
        visited.append(following)
    assert [e.order for e in visited] == sorted(e.order for e in history)
    assert visited[-1] == current_at(history, None, None)


@given(ENTRIES, st.integers(-1, 6))
def test_what_was_current_at_an_instant_is_the_newest_up_to_it(history: list[SlotEntry], minute: int) -> None:
    as_of = NOON + timedelta(minutes=minute)
    known = [entry for entry in history if entry.ref.timestamp <= as_of]
    assert current_at(history, as_of, None) == max(known, key=lambda e: e.order, default=None)


def test_what_was_recorded_later_was_not_known() -> None:
    old = SlotEntry(EventRef("1", NOON), NOON)
    late = SlotEntry(EventRef("2", NOON + timedelta(minutes=1)), NOON + timedelta(days=1))
    assert current_at([old, late], None, NOON) == old
    assert current_at([old, late], None, None) == late


@pytest.mark.spec("P-22")
def test_a_removed_value_leaves_its_slot_empty_for_all_that_is_not_newer() -> None:
    rome, lyon = entry("1", 0), entry("2", 2)
    emptied = replace(lyon, emptied=True)
    assert successor(rome, [rome, emptied]) == emptied
    for late in (entry("3", 1), entry("4", 2)):
        assert successor(late, [rome, emptied, late]) == emptied
        assert current_at([rome, emptied, late], None, None) == emptied
    newer = entry("5", 3)
    assert successor(newer, [rome, emptied, newer]) is None
    assert current_at([rome, emptied, newer], None, None) == newer


@pytest.mark.spec("P-22")
def test_a_removed_older_value_keeps_its_place_and_no_more() -> None:
    rome, lyon, bonn = entry("1", 0), entry("2", 2), entry("3", 2)
    history = [rome, replace(lyon, emptied=False), bonn]
    assert successor(bonn, history) is None
    assert successor(rome, history) == history[1]
    assert current_at(history, None, None) == bonn


def entry(event_id: str, minutes: int) -> SlotEntry:
    """A value, recorded when it was said."""
    moment = NOON + timedelta(minutes=minutes)
    return SlotEntry(EventRef(event_id, moment), moment)


@pytest.mark.spec("P-19")
def test_readers_apply_the_rule_to_events_not_yet_projected() -> None:
    paris = event(id="1", key="city")
    lyon = event(id="2", key="city", timestamp=NOON + timedelta(days=1))
    other = event(id="3", key="city", persona_id="coach", timestamp=NOON + timedelta(days=2))
    newest = newest_of_slots([lyon, paris, other, event(id="4")])
    assert superseded_in(paris, newest)
    assert not superseded_in(lyon, newest)
    assert not superseded_in(other, newest)


def test_what_an_event_says_superseded_it_stands_in_its_history() -> None:
    later = NOON + timedelta(minutes=3)
    told = event(id="e1", key="city", superseded_by="e9", superseded_at=later)
    history = [entry_of(told)]
    place = SlotEntry(EventRef("e9", later), later, True)
    assert with_told(history, [told, told]) == [*history, place]
    assert successor(history[0], with_told(history, [told])) == place
    there = SlotEntry(EventRef("e9", later), NOON, None)
    assert with_told([*history, there], [told]) == [*history, there]
    assert with_told(history, [event(id="e1", key="city")]) == history


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("content", "days"),
    [
        ("I'm in Berlin until Friday", 3),
        ("I'm up at 4:30 this week", 5),
        ("for the next two weeks I'm in Munich", 15),
        ("doc says no coffee for ten days", 10),
        ("I live in Paris", None),
        ("The report is due before Friday", None),
        ("I've worked at Acme for three years", None),
        ("I served in the navy for eight years", None),
        ("My goal this year is to run", None),
        ("Paris. " + "word " * 100 + "until Friday", None),
    ],
)
def test_a_keyed_value_with_a_bound_of_its_own_fills_no_slot(content: str, days: int | None) -> None:
    """NOON is a Wednesday."""
    value = event(content=content, key="city")
    until = bound_of(value)
    assert (until is None) == (days is None)
    assert until is None or abs((until - NOON).days - (days or 0)) <= 1
    assert (slot_of(value) is None) == (days is not None)
    assert named_slot(value) == ("", "", "city")


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    "changes", [{"key": None}, {"role": Role.BOT}, {"source": Source.INFERRED}, {"is_private": True}]
)
def test_only_a_persons_own_keyed_words_set_a_bound(changes: dict[str, object]) -> None:
    assert bound_of(event(**{"content": "Berlin until Friday", "key": "city", **changes})) is None


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(("stored", "found"), [(OPEN_ENDED, None), (NOON, NOON)])
def test_where_the_end_is_stored_the_words_are_not_read(stored: datetime, found: datetime | None) -> None:
    assert bound_of(event(content="Berlin until Friday", key="city", holds_until=stored)) == found


@pytest.mark.spec("P-24")
def test_a_bounded_value_is_the_newest_of_its_slot_while_it_holds() -> None:
    minutes = [NOON + timedelta(minutes=n) for n in range(3)]
    paris = event(id="a", content="Paris", key="city", timestamp=minutes[0])
    berlin = event(id="b", content="Berlin until Friday", key="city", timestamp=minutes[1])
    rome = event(id="c", content="Rome", key="city", timestamp=minutes[2])
    week = timedelta(days=7)
    assert newest_of_slots([paris, berlin]) == {("", "", "city"): paris}
    assert newest_of_slots([paris, berlin], NOON + week) == {("", "", "city"): paris}
    assert newest_of_slots([paris, berlin], NOON) == {("", "", "city"): berlin}
    assert newest_of_slots([paris, berlin, rome], NOON) == {("", "", "city"): rome}
    assert superseded_in(paris, newest_of_slots([berlin], NOON))
    assert superseded_in(berlin, newest_of_slots([rome], NOON))
    assert not superseded_in(rome, newest_of_slots([berlin], NOON))
