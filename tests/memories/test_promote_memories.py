"""Promotion: which events become memories, once, whatever runs twice, late or beside itself (A-58 to A-60, P-19)."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from embedded.memory_items import kept_of, patch, save, shown, states, whole
from embedded.setting import ANNA, NOON, Memory
from recollect.core.event import Event, EventType
from recollect.core.scope import Scope
from recollect.memories.memory import MOST_SOURCES, MemoryStatus, Origin
from recollect.timeline.record import EventDraft

LYON = "Anna lives in Lyon"
DAY = timedelta(days=1)


def said(content: str = LYON, *, day: float = 0, importance: float = 0.9, **more: Any) -> EventDraft:
    return EventDraft(content=content, importance=importance, timestamp=NOON + day * DAY, **more)


@pytest.mark.spec("A-58", "A-60", "P-10")
@pytest.mark.parametrize(
    ("draft", "promoted"),
    [
        (said(importance=0.6), True),
        (said("the rain in Lyon", importance=0.59), False),
        (said(event_type=EventType.TASK), True),
        (said("the rain in Lyon", event_type=EventType.EMOTION), False),
        (said(importance=0.0, event_type=EventType.EMOTION, key="city"), True),
        (said(is_private=True), False),
        (said(is_private=True, key="city"), False),
        (said(expires_at=NOON), False),
        (said("\x01" * 65_536), False),
    ],
)
def test_what_both_policies_let_pass_becomes_a_memory(memory: Memory, draft: EventDraft, promoted: bool) -> None:
    memory.add(draft)
    memory.project()
    kept = kept_of(memory)
    assert list(kept) == (memory.ids if promoted else [])
    for one in kept.values():
        assert (one.content, one.importance, one.key) == (draft.content, draft.importance, draft.key)
        assert (one.origin, one.source_event_ids, one.version) == (Origin.EVENT, (one.id,), 1)
        assert one.embedding_id == f"hashing.1/{one.id}"


@pytest.mark.spec("A-21", "A-59")
def test_the_same_words_are_one_memory_that_names_all_events(memory: Memory) -> None:
    for day in range(4):
        memory.add(said(f" {LYON}\n" if day % 2 else LYON, day=day))
        memory.project()
    (kept,) = kept_of(memory).values()
    assert (kept.id, kept.source_event_ids, kept.version) == (memory.ids[0], tuple(memory.ids), 4)
    assert shown(memory, LYON) == [LYON]
    whole(memory)


@pytest.mark.spec("A-21")
def test_other_scopes_and_keys_keep_their_own(memory: Memory) -> None:
    scopes = [ANNA, Scope("acme", "anna", "coach"), Scope("acme", "anna", None, "home"), Scope("acme", "ben")]
    for scope in scopes:
        memory.add(said(), scope=scope)
    memory.add(said(key="city", day=1))
    memory.project()
    assert len(kept_of(memory)) == 4
    assert len(kept_of(memory, Scope("acme", "ben"))) == 1


@pytest.mark.spec("A-59", "P-25")
def test_projecting_again_changes_nothing(memory: Memory) -> None:
    memory.add(said(), said("Lyon", key="city"), said("Oslo", key="city", day=1))
    memory.project()
    before = states(memory)
    refs = [event.ref for event in memory.app.parts.timeline.newest(ANNA, 10)]
    for _ in range(2):
        memory.app.parts.projections.mark(ANNA, refs)
        assert memory.project() == 3
    assert states(memory) == before


@pytest.mark.spec("P-19")
@pytest.mark.parametrize("days", [(1, 2, 3), (3, 2, 1), (2, 3, 1)])
@pytest.mark.parametrize("together", [False, True])
def test_of_a_key_the_newest_is_active_in_any_order(memory: Memory, days: Sequence[int], together: bool) -> None:
    for day in days:
        memory.add(said(f"city {day}", key="city", day=day))
        if not together:
            memory.project()
    memory.project()
    kept = {one.content: one for one in kept_of(memory).values()}
    assert kept["city 3"].status is MemoryStatus.ACTIVE
    for day in (1, 2):
        one, by = kept[f"city {day}"], kept[f"city {day + 1}"]
        assert (one.status, one.superseded_by, one.valid_to) == (MemoryStatus.SUPERSEDED, by.id, by.timestamp)
    assert memory.found("city") == ["city 3"]
    whole(memory)


def test_an_event_does_not_join_what_goes_before_it(memory: Memory) -> None:
    """A memory that expires takes its events along: those said without an end stay."""
    save(memory, LYON, expires_at=NOON + DAY)
    memory.add(said(day=0.1), said(day=0.2, expires_at=NOON + DAY / 2))
    memory.project()
    kept = kept_of(memory)
    assert len(kept) == 2
    assert kept[memory.ids[0]].source_event_ids == (memory.ids[0], memory.ids[1])
    memory.now = NOON + 2 * DAY
    assert memory.found(LYON) == [LYON]
    memory.add(said(day=2))
    memory.project()
    assert kept_of(memory)[memory.ids[0]].source_event_ids == (memory.ids[0], memory.ids[1], memory.ids[2])


def test_an_event_does_not_join_an_expired_memory(memory: Memory) -> None:
    save(memory, LYON, expires_at=NOON + DAY)
    memory.now = NOON + 2 * DAY
    memory.add(said(day=2))
    memory.project()
    assert memory.found(LYON) == [LYON]
    assert kept_of(memory)[memory.ids[0]].origin is Origin.EVENT


def test_words_that_were_edited_away_make_another_memory(memory: Memory) -> None:
    memory.add(said())
    memory.project()
    patch(memory, memory.ids[0], content="Anna moved to Oslo")
    memory.add(said(day=1))
    memory.project()
    assert {one.content for one in kept_of(memory).values()} == {LYON, "Anna moved to Oslo"}
    whole(memory)


def test_a_memory_names_so_many_events_and_no_more(memory: Memory) -> None:
    drafts = [said(day=number / 100) for number in range(MOST_SOURCES + 5)]
    for start in range(0, len(drafts), 50):
        memory.add(*drafts[start : start + 50])
        memory.project()
    first, second = sorted(kept_of(memory).values(), key=lambda one: one.timestamp)
    assert len(first.source_event_ids) == MOST_SOURCES
    assert second.source_event_ids == tuple(memory.ids[MOST_SOURCES:])
    whole(memory)


@pytest.mark.spec("A-21", "A-59")
def test_beside_itself_it_makes_each_memory_once(memory: Memory) -> None:
    memory.add(*(said(day=number) for number in range(4)), said("Oslo"))
    events: list[Event] = memory.app.parts.timeline.newest(ANNA, 10)
    rules = memory.app.rules.resolved("acme")

    def promote(number: int) -> None:
        shuffled = events[number % 5 :] + events[: number % 5]
        memory.app.memories.promotion.promote_batch(ANNA, shuffled, rules, memory.now)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(promote, range(6)))
    by_content = {one.content: one for one in kept_of(memory).values()}
    assert set(by_content) == {LYON, "Oslo"}
    assert set(by_content[LYON].source_event_ids) == set(memory.ids[:4])
    whole(memory)
    memory.project()
    whole(memory)


def test_a_promotion_that_comes_after_the_removal_leaves_nothing(memory: Memory) -> None:
    memory.add(said())
    (event,) = memory.app.parts.timeline.newest(ANNA, 1)
    memory.app.deletion.events.forget(ANNA, event_id=event.id, now=memory.now)
    memory.app.memories.promotion.promote_batch(ANNA, [replace(event)], memory.app.rules.resolved("acme"), memory.now)
    assert kept_of(memory)
    memory.project()
    assert states(memory) == {}
