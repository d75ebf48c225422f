"""The values of a key: the newest stands for the older ones, one with a bound holds over it (P-19, P-22, P-24)."""

import pytest

from embedded.setting import ANNA, NOON, Memory
from embedded.timing import DAY, HOUR, by_words, found, items, kept
from recollect.timeline.record import EventDraft


@pytest.mark.spec("P-19", "P-24")
@pytest.mark.parametrize("followed", [False, True])
def test_an_old_value_of_a_key_is_represented_by_the_newest(memory: Memory, followed: bool) -> None:
    for number in range(12):
        memory.add(EventDraft(content=f"walrus alpha{number}", timestamp=NOON + number * HOUR, key="place"))
    memory.now = NOON + DAY
    if followed:
        memory.project()
    assert by_words(memory, "alpha0") == ["walrus alpha11"]
    assert by_words(memory, "alpha5 alpha7") == ["walrus alpha11"]
    assert found(memory, "walrus") == ["walrus alpha11"]
    if followed:
        assert by_words(memory, "alpha5", as_of=NOON + 7 * HOUR) == ["walrus alpha7"]
        assert found(memory, "walrus", as_of=NOON + 7 * HOUR) == ["walrus alpha7"]
        assert list(items(memory, "walrus", as_of=NOON + 7 * HOUR)) == ["walrus alpha7"]
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[-1], now=memory.now)
    assert found(memory, "walrus") == []
    memory.project()
    assert by_words(memory, "alpha0") == []


@pytest.mark.spec("P-19", "P-24")
def test_what_was_recorded_of_a_key_by_then(memory: Memory) -> None:
    memory.add(EventDraft(content="walrus chapel", timestamp=NOON, key="place"))
    memory.project()
    memory.now = NOON + 2 * DAY
    memory.add(EventDraft(content="walrus lighthouse", timestamp=NOON + HOUR, key="place"))
    memory.project()
    assert found(memory, "walrus", recorded_as_of=NOON + DAY) == ["walrus chapel"]
    assert list(items(memory, "walrus", recorded_as_of=NOON + DAY)) == ["walrus chapel"]
    (one,) = memory.search("walrus", recorded_as_of=NOON + DAY).results
    assert one.event.superseded_by is None
    assert found(memory, "walrus", as_of=NOON + DAY) == ["walrus lighthouse"]
    assert found(memory, "walrus") == ["walrus lighthouse"]


@pytest.mark.spec("P-19", "P-24")
def test_a_pending_bounded_value_holds_at_once_and_ends_at_its_bound(memory: Memory) -> None:
    memory.add(EventDraft(content="walrus chapel", timestamp=NOON, key="place"))
    memory.project()
    memory.now = NOON + HOUR
    memory.add(EventDraft(content="walrus lighthouse until Friday", timestamp=memory.now, key="place"))
    assert found(memory, "walrus") == ["walrus lighthouse until Friday"]
    assert by_words(memory, "chapel") == ["walrus lighthouse until Friday"]
    assert list(items(memory, "walrus")) == ["walrus lighthouse until Friday"]
    assert found(memory, "walrus", as_of=NOON) == ["walrus chapel"]
    memory.now = NOON + 5 * DAY
    assert found(memory, "walrus") == ["walrus chapel"]
    assert list(items(memory, "walrus")) == ["walrus chapel"]


@pytest.mark.spec("P-22", "P-24")
@pytest.mark.parametrize("projected", [False, True])
def test_deleting_a_key_deletes_its_bounded_values_too(memory: Memory, projected: bool) -> None:
    for number, content in enumerate(("walrus chapel", "walrus pier", "walrus lighthouse until Friday")):
        memory.add(EventDraft(content=content, timestamp=NOON + number * HOUR, key="place"))
    memory.now = NOON + DAY
    if projected:
        memory.project()
    gone = memory.app.deletion.events.forget(ANNA, key="place", now=memory.now)
    assert set(gone.event_ids) == set(memory.ids)
    memory.project()
    assert found(memory, "walrus", include_superseded=True) == []
    memory.add(EventDraft(content="walrus tower", timestamp=NOON - HOUR, key="place"))
    assert found(memory, "walrus") == []


@pytest.mark.spec("P-24")
def test_the_crowd_of_old_values_takes_no_places_from_others(memory: Memory) -> None:
    for number in range(150):
        memory.add(EventDraft(content=f"walrus mood number{number}", timestamp=NOON + number * HOUR, key="mood"))
    kept(memory, "The walrus has a brother", 1)
    memory.now = NOON + 30 * DAY
    memory.project()
    assert set(found(memory, "walrus mood")) == {"walrus mood number149", "The walrus has a brother"}


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("projected", [False, True])
def test_a_newer_open_ended_value_ends_a_bounded_one(memory: Memory, projected: bool) -> None:
    for number, content in enumerate(("walrus chapel", "walrus lighthouse until Friday", "walrus pier")):
        memory.add(EventDraft(content=content, timestamp=NOON + number * HOUR, key="place"))
        memory.now = NOON + number * HOUR
        if projected:
            memory.project()
    assert found(memory, "walrus") == ["walrus pier"]
    assert by_words(memory, "lighthouse") == ["walrus pier"]
    assert list(items(memory, "walrus")) == ["walrus pier"]
    assert found(memory, "walrus", as_of=NOON + 1.5 * HOUR) == ["walrus lighthouse until Friday"]
