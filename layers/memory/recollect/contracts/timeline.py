"""The contract of `Timeline`: appends, reads, and the pages of a window.

A subclass gives `timeline`, `projections` and `spoil`, which makes the record of a scope's event unreadable.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

import pytest

from recollect.contracts.examples import (
    HARD_IDS,
    NOW,
    OwnUser,
    a_scope,
    a_seed,
    a_vector,
    a_write,
    an_event,
    append_event,
    append_events,
    some_events,
    writes_of,
)
from recollect.core.errors import StoredDataError
from recollect.core.event import ContentType, Event, EventType, Role, Source
from recollect.core.scope import Scope
from recollect.core.vectors import pack_vector
from recollect.ports import Projections, Timeline
from recollect.retrieval.filters import DropReason, TimeWindow
from recollect.timeline.timeline import TAIL_EVENTS, AppendStatus, Projection, Tail, WindowPage, WindowQuery

SECOND = timedelta(seconds=1)
Spoil = Callable[[Scope, Event], None]


def a_query(**changes: Any) -> WindowQuery:
    """Everything, 50 a page, as of NOW."""
    return WindowQuery(**{"now": NOW, "window": TimeWindow(), "limit": 50, **changes})


def project(timeline: Timeline, projections: Projections, scope: Scope, events: Sequence[Event]) -> None:
    """What projection does to the timeline, without vectors."""
    projections.save(scope, [Projection(event.ref, None, None) for event in events])
    for event in events:
        projections.enter_conversation(scope, event.conversation_id, event.recorded_at)
    projections.settle(scope, [event.ref for event in events])


def walk(timeline: Timeline, scope: Scope, query: WindowQuery) -> list[WindowPage]:
    """All pages of a walk."""
    pages = [timeline.window(scope, query)]
    while pages[-1].more is not None:
        pages.append(timeline.window(scope, replace(query, after=pages[-1].more)))
    return pages


def shown(pages: Sequence[WindowPage]) -> list[str]:
    """The ids of the pages' events, in order."""
    return [event.id for page in pages for event in page.events]


class TimelineWindowContract(OwnUser):
    """Pages of a window; part of `TimelineContract`."""

    @pytest.mark.spec("A-46")
    def test_a_page_is_newest_first(self, timeline: Timeline, scope: Scope) -> None:
        events = some_events(scope, 5)
        timeline.append(scope, writes_of(scope, [events[2], events[0], events[4], events[1], events[3]]))
        page = timeline.window(scope, a_query())
        assert page.events == tuple(reversed(events))
        assert page.more is None

    @pytest.mark.spec("A-50")
    def test_both_ends_are_inclusive(self, timeline: Timeline, scope: Scope) -> None:
        events = append_events(timeline, scope, 5)
        window = TimeWindow(events[1].timestamp, events[3].timestamp)
        assert shown([timeline.window(scope, a_query(window=window))]) == [events[n].id for n in (3, 2, 1)]
        microsecond = timedelta(microseconds=1)
        narrower = TimeWindow(events[1].timestamp + microsecond, events[3].timestamp - microsecond)
        assert shown([timeline.window(scope, a_query(window=narrower))]) == [events[2].id]

    def test_the_first_and_the_last_year_are_in_order(self, timeline: Timeline, scope: Scope) -> None:
        moments = (
            datetime(1900, 1, 1, tzinfo=UTC),
            datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
            datetime(1970, 1, 1, tzinfo=UTC),
            datetime(2199, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        )
        events = [an_event(scope, timestamp=moment) for moment in moments]
        timeline.append(scope, writes_of(scope, events))
        assert shown(walk(timeline, scope, a_query(limit=1))) == [event.id for event in reversed(events)]
        window = TimeWindow(moments[0], moments[1])
        assert shown([timeline.window(scope, a_query(window=window))]) == [events[1].id, events[0].id]

    @pytest.mark.spec("A-48", "A-51")
    def test_expired_events_are_dropped_and_counted_private_ones_shown(self, timeline: Timeline, scope: Scope) -> None:
        events = [
            an_event(scope, content="expired", expires_at=NOW),
            an_event(scope, content="soon", expires_at=NOW + timedelta(microseconds=1)),
            an_event(scope, content="private", is_private=True),
        ]
        timeline.append(scope, writes_of(scope, events))
        page = timeline.window(scope, a_query())
        assert {event.content for event in page.events} == {"soon", "private"}
        assert page.dropped.get(DropReason.EXPIRED) == 1
        assert page.scanned == 3

    def test_a_conversation_and_a_type_narrow_a_page(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        kinds = (EventType.TASK, EventType.CONVERSATION, EventType.TASK)
        events = [
            replace(event, conversation_id="ab"[n % 2], event_type=kinds[n % 3])
            for n, event in enumerate(some_events(scope, 12))
        ]
        timeline.append(scope, writes_of(scope, events))
        project(timeline, projections, scope, events)
        for conversation, kind in (("a", None), (None, "task"), ("b", "task"), ("c", None), (None, "emotion")):
            query = a_query(limit=2, conversation_id=conversation, event_type=kind)
            expected = [
                event.id
                for event in reversed(events)
                if conversation in (None, event.conversation_id) and kind in (None, event.event_type)
            ]
            assert shown(walk(timeline, scope, query)) == expected

    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            ({"agent_id": "coach"}, "ab"),
            ({"agent_id": "coach", "app_id": "web"}, "b"),
            ({"namespace": ("org",)}, "c"),
            ({"namespace_prefix": ("org",)}, "acd"),
            ({"namespace_prefix": ("or",)}, ""),
            ({"namespace": ("org", "team"), "app_id": "none"}, ""),
            ({}, "abcde"),
        ],
    )
    def test_labels_narrow_a_page(self, timeline: Timeline, asked: dict[str, Any], expected: str) -> None:
        scope = a_scope()
        labels: list[dict[str, Any]] = [
            {"agent_id": "coach", "namespace": ("org", "team")},
            {"agent_id": "coach", "app_id": "web", "namespace": ("orga",)},
            {"namespace": ("org",)},
            {"namespace": ("org", "b"), "agent_id": "other"},
            {},
        ]
        events = [
            replace(event, content=name, **one)
            for event, name, one in zip(some_events(scope, 5), "abcde", labels, strict=True)
        ]
        timeline.append(scope, writes_of(scope, events))
        pages = walk(timeline, scope, a_query(limit=2, **asked))
        assert sorted(event.content for page in pages for event in page.events) == list(expected)
        assert sum(page.scanned for page in pages) == 5

    @pytest.mark.spec("R-71")
    @pytest.mark.parametrize("limit", [1, 2, 3, 50])
    def test_what_cannot_be_read_fails_a_page_unless_its_reader_goes_on_around_it(
        self, timeline: Timeline, spoil: Spoil, limit: int, scope: Scope
    ) -> None:
        events = append_events(timeline, scope, 7)
        spoiled = [events[n] for n in (6, 3, 2, 0)]
        for event in spoiled:
            spoil(scope, event)
        with pytest.raises(StoredDataError):
            walk(timeline, scope, a_query(limit=limit))
        pages = walk(timeline, scope, a_query(limit=limit, around_unreadable=True, namespace_prefix=()))
        assert shown(pages) == [events[n].id for n in (5, 4, 1)]
        assert [ref for page in pages for ref in page.unreadable] == [event.ref for event in spoiled]
        assert sum(page.scanned for page in pages) == len(events)
        assert all(len(page.events) + len(page.unreadable) <= limit for page in pages)

    @pytest.mark.parametrize("limit", [1, 2, 3, 7, 50])
    def test_a_walk_has_every_event_once(self, timeline: Timeline, limit: int, scope: Scope) -> None:
        tied = [an_event(scope, content=f"tied {n}") for n in range(5)]
        events = [*some_events(scope, 5, importance=0.5), *tied]
        timeline.append(scope, writes_of(scope, events))
        pages = walk(timeline, scope, a_query(limit=limit))
        ordered = sorted(events, key=lambda event: (event.timestamp, event.id), reverse=True)
        assert shown(pages) == [event.id for event in ordered]
        assert all(len(page.events) <= limit for page in pages)

    def test_a_walk_keeps_its_place_while_events_arrive(self, timeline: Timeline, scope: Scope) -> None:
        events = append_events(timeline, scope, 9)
        page, seen = timeline.window(scope, a_query(limit=2)), []
        while True:
            seen += [event.id for event in page.events]
            for moment in (NOW + SECOND, page.events[-1].timestamp, events[0].timestamp):
                timeline.append(scope, [a_write(scope, an_event(scope, timestamp=moment, content=f"late {len(seen)}"))])
            if page.more is None or len(seen) > 100:
                break
            page = timeline.window(scope, a_query(limit=2, after=page.more))
        assert [event_id for event_id in seen if event_id in {e.id for e in events}] == [e.id for e in reversed(events)]
        assert len(seen) == len(set(seen))

    def test_a_user_without_events_has_an_empty_page(self, timeline: Timeline) -> None:
        page = timeline.window(a_scope(), a_query())
        assert (page.events, page.scanned, page.more) == ((), 0, None)


THREADS = 8


class TimelineContract(TimelineWindowContract):
    """Appends, reads by id, the lists that context chooses from, and the tail; windows are inherited."""

    def test_an_event_is_read_back_as_it_was_written(self, timeline: Timeline) -> None:
        scope = a_scope(persona_id="p", household_id="h")
        event = a_full_event(scope)
        timeline.append(scope, [a_write(scope, event)])
        assert timeline.find(scope, event.id) == event
        assert timeline.read(scope, [event.ref]) == {event.id: event}

    def test_outcomes_come_in_order(self, timeline: Timeline, scope: Scope) -> None:
        events = some_events(scope, 100)
        outcomes = timeline.append(scope, writes_of(scope, events))
        assert [outcome.event_id for outcome in outcomes] == ids(events)
        assert {outcome.status for outcome in outcomes} == {AppendStatus.CREATED}
        assert {outcome.conversation_id for outcome in outcomes} == {"conversation"}

    def test_identities_lead_to_events_and_tombstones_to_none(self, timeline: Timeline) -> None:
        scope, other = a_scope(), a_scope()
        writes = writes_of(scope, some_events(scope, 120))
        timeline.append(scope, writes)
        timeline.bury(scope, ["f" * 64])
        asked = [*(write.identity for write in writes), "f" * 64, "0" * 64]
        known = timeline.identified(scope, asked)
        assert known == {write.identity: write.event.id for write in writes} | {"f" * 64: None}
        assert timeline.identified(other, asked) == {}
        assert timeline.identified(scope, []) == {}

    @pytest.mark.spec("P-20", "A-43")
    def test_a_duplicate_names_the_first_event(self, timeline: Timeline, scope: Scope) -> None:
        first = an_event(scope, conversation_id="made up")
        write = a_write(scope, first)
        timeline.append(scope, [write])
        again = replace(first, id=a_seed().nth(0), conversation_id="made up anew")
        [outcome] = timeline.append(scope, [replace(write, event=again)])
        assert outcome.status is AppendStatus.DUPLICATE
        assert (outcome.event_id, outcome.conversation_id) == (first.id, "made up")
        assert timeline.find(scope, again.id) is None

    def test_a_retry_is_created_again_and_changes_nothing(self, timeline: Timeline, scope: Scope) -> None:
        first = an_event(scope)
        write = a_write(scope, first)
        before = timeline.append(scope, [write])
        again = timeline.append(scope, [replace(write, event=replace(first, importance=0.9))])
        assert before == again
        assert timeline.find(scope, first.id) == first
        assert timeline.tail(scope).refs == (first.ref,)

    def test_a_retry_writes_only_what_is_missing(self, timeline: Timeline, scope: Scope) -> None:
        writes = writes_of(scope, some_events(scope, 5))
        timeline.append(scope, writes[:2])
        assert [o.status for o in timeline.append(scope, writes)] == [AppendStatus.CREATED] * 5
        assert ids(timeline.newest(scope, 10)) == [write.event.id for write in reversed(writes)]

    def test_of_equal_writes_at_once_one_is_created(self, timeline: Timeline, scope: Scope) -> None:
        first = an_event(scope)
        write = a_write(scope, first)
        copies = [replace(write, event=replace(first, id=a_seed().nth(0))) for _ in range(THREADS)]
        with ThreadPoolExecutor(THREADS) as pool:
            outcomes = [o for [o] in pool.map(lambda copy: timeline.append(scope, [copy]), copies)]
        assert Counter(o.status for o in outcomes) == {AppendStatus.CREATED: 1, AppendStatus.DUPLICATE: THREADS - 1}
        assert len({o.event_id for o in outcomes}) == 1
        assert len(timeline.newest(scope, 10)) == 1

    def test_writers_at_once_never_fail_each_other(self, timeline: Timeline, scope: Scope) -> None:
        writes = writes_of(scope, some_events(scope, 5 * THREADS, content="the same words"))
        with ThreadPoolExecutor(THREADS) as pool:
            outcomes = [o for [o] in pool.map(lambda write: timeline.append(scope, [write]), writes)]
        assert {o.status for o in outcomes} == {AppendStatus.CREATED}
        assert ids(timeline.newest(scope, 100)) == [write.event.id for write in reversed(writes)]

    def test_users_of_any_id_are_kept_apart(self, timeline: Timeline) -> None:
        base = a_scope()
        scopes = [Scope(base.tenant, user) for user in HARD_IDS] + [
            Scope(f"{base.tenant}#a", "b"),
            Scope(base.tenant, "a#b#"),
            Scope(f"{base.tenant}|", "a"),
        ]
        events = {scope: an_event(scope, conversation_id="c") for scope in scopes}
        for scope, event in events.items():
            assert timeline.append(scope, [a_write(base, event)])[0].status is AppendStatus.CREATED
        for scope, event in events.items():
            assert timeline.newest(scope, 100) == [event]
            assert timeline.tail(scope).refs == (event.ref,)
            assert timeline.of_conversation(scope, "c", 10) in ([event.ref], [])

    def test_the_hardest_ids_all_at_once(self, timeline: Timeline, projections: Projections) -> None:
        for hard in HARD_IDS:
            scope = a_scope(user_id=hard, persona_id=hard, household_id=hard)
            event = an_event(scope, conversation_id=hard, key=hard, space_id=hard, speaker=hard, tags=(hard,))
            timeline.append(scope, [a_write(scope, event)])
            project(timeline, projections, scope, [event])
            assert timeline.find(scope, event.id) == event
            assert timeline.of_conversation(scope, hard, 10) == [event.ref]
            assert timeline.newest(scope, 10) == [event]
            assert [c.id for c in timeline.conversations(scope, 10, None).conversations] == [hard]

    def test_equal_users_of_two_tenants_are_two(self, timeline: Timeline) -> None:
        mine, theirs = a_scope(user_id="same"), a_scope(user_id="same")
        event = append_event(timeline, mine)
        assert timeline.find(theirs, event.id) is None
        assert timeline.read(theirs, [event.ref]) == {}
        assert timeline.newest(theirs, 10) == []
        assert timeline.append(theirs, [a_write(mine, event)])[0].status is AppendStatus.CREATED

    def test_unknown_events_are_left_out(self, timeline: Timeline, scope: Scope) -> None:
        events = some_events(scope, 120)
        timeline.append(scope, writes_of(scope, events[:60]))
        timeline.append(scope, writes_of(scope, events[60:119]))
        assert set(timeline.read(scope, [event.ref for event in events])) == set(ids(events[:119]))
        assert timeline.read(scope, []) == {}
        assert timeline.find(scope, events[119].id) is None

    def test_private_expired_and_other_personas_records_are_read(self, timeline: Timeline, scope: Scope) -> None:
        past = NOW - timedelta(days=1)
        events = [
            an_event(scope, content="a", is_private=True),
            an_event(scope, content="b", expires_at=past),
            an_event(scope, content="c", persona_id="p"),
        ]
        timeline.append(scope, writes_of(scope, events))
        narrowed = replace(scope, persona_id="q")
        assert timeline.read(narrowed, [event.ref for event in events]) == {event.id: event for event in events}
        assert timeline.find(narrowed, events[2].id) == events[2]
        assert set(ids(timeline.newest(scope, 10))) == set(ids(events))

    @pytest.mark.spec("A-32", "A-49", "A-51")
    def test_persona_and_household_narrow_pages_and_lists(self, timeline: Timeline, projections: Projections) -> None:
        user = a_scope()
        scopes = [replace(user, persona_id=p, household_id=h) for p in (None, "p", "q") for h in (None, "h")]
        events = [an_event(scope, content=str(n), importance=0.8) for n, scope in enumerate(scopes)]
        timeline.append(user, writes_of(user, events))
        project(timeline, projections, user, events)
        for scope in scopes:
            expected = {event.id for event in events if scope.admits(event.persona_id, event.household_id)}
            assert set(ids(timeline.newest(scope, 10))) == expected
            assert {ref.id for ref in timeline.of_conversation(scope, "conversation", 10)} == expected
            assert {ref.id for ref in timeline.important(scope, 10)} == expected
            page = timeline.window(scope, a_query())
            assert {event.id for event in page.events} == expected
            assert page.scanned == len(page.events) + sum(page.dropped.values())

    @pytest.mark.spec("A-42")
    def test_the_newest_are_newest_by_their_own_time(self, timeline: Timeline, scope: Scope) -> None:
        events = some_events(scope, 6)
        for event in (events[3], events[0], events[5], events[1], events[4], events[2]):
            timeline.append(scope, [a_write(scope, event)])
        assert ids(timeline.newest(scope, 4)) == ids(reversed(events[2:]))

    def test_a_conversation_gives_its_newest(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
        events = [replace(e, conversation_id="ab"[n % 2]) for n, e in enumerate(some_events(scope, 10))]
        timeline.append(scope, writes_of(scope, events))
        project(timeline, projections, scope, events)
        assert timeline.of_conversation(scope, "a", 3) == [event.ref for event in reversed(events[4:10:2])]
        assert timeline.of_conversation(scope, "c", 3) == []

    @pytest.mark.spec("K-20")
    def test_the_most_important_come_first(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
        importances = (0.6, 0.9, 0.59, 1.0, 0.9, 0.0, 0.6)
        events = [replace(e, importance=i) for e, i in zip(some_events(scope, 7), importances, strict=True)]
        timeline.append(scope, writes_of(scope, events))
        project(timeline, projections, scope, events)
        assert [ref.id for ref in timeline.important(scope, 10)] == ids(events[n] for n in (3, 4, 1, 6, 0))
        assert [ref.id for ref in timeline.important(scope, 2)] == ids(events[n] for n in (3, 4))

    def test_the_tail_is_the_newest_hundred_to_arrive(self, timeline: Timeline, projections: Projections) -> None:
        scope, other = a_scope(), a_scope()
        events = list(reversed(some_events(scope, TAIL_EVENTS + 20)))
        arriving = [replace(event, id=a_seed().nth(0)) for event in events]
        for start in range(0, len(arriving), 60):
            timeline.append(scope, writes_of(scope, arriving[start : start + 60]))
        tail = timeline.tail(scope)
        assert [ref.id for ref in tail.refs] == ids(reversed(arriving[20:]))
        assert (tail.cut, tail.waiting) in ((True, TAIL_EVENTS), (True, TAIL_EVENTS + 20))
        projections.settle(scope, [event.ref for event in arriving[:30]])
        assert [ref.id for ref in timeline.tail(scope).refs] == ids(reversed(arriving[30:]))
        assert (timeline.tail(scope).cut, timeline.tail(scope).waiting) == (False, TAIL_EVENTS - 10)
        assert timeline.tail(other) == Tail((), cut=False, waiting=0)


def a_full_event(scope: Scope) -> Event:
    """An event with a value in every field."""
    return an_event(
        scope,
        role=Role.BOT,
        speaker="Anna\u0301 🙂",
        content="line one\nline two\t\"quoted\" \\ 'single' \u0000 \u202e \U00020000",
        content_type=ContentType.ASSISTANTRESPONSE,
        event_type=EventType.TASK,
        source=Source.INFERRED,
        timestamp=datetime(1900, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
        recorded_at=NOW + timedelta(microseconds=1),
        importance=0.7000000001,
        tags=("b", "a"),
        key="home",
        space_id="space",
        title="title",
        category="category",
        notes="notes",
        views=3,
        is_private=True,
        derive=False,
        idempotency_key="m-1 \U00020000",
        expires_at=datetime(2199, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        metadata=MappingProxyType({"a": [1, 2.5, None, {"b": True}], "ключ": "🙂", "n": 12345678901234567890}),
        embedding=pack_vector(a_vector(0.3)),
    )


def ids(events: Iterable[Event]) -> list[str]:
    """The ids, in order."""
    return [event.id for event in events]
