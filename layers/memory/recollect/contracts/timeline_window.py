"""What a timeline promises of its pages: order, ends, narrowing, counts, and walks that miss and repeat nothing."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.contracts.examples import NOW, a_scope, a_write, an_event, some_events, writes_of
from recollect.domain.errors import StoredDataError
from recollect.domain.event import Event, EventType
from recollect.domain.filters import DropReason, TimeWindow
from recollect.domain.scope import Scope
from recollect.domain.timeline import Projection, WindowPage, WindowQuery
from recollect.ports import Projections, Timeline

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


class TimelineWindowContract:
    """Part of `timeline.TimelineContract`, by itself only to keep files short."""

    @pytest.mark.spec("A-46")
    def test_a_page_is_newest_first(self, timeline: Timeline) -> None:
        scope = a_scope()
        events = some_events(scope, 5)
        timeline.append(scope, writes_of(scope, [events[2], events[0], events[4], events[1], events[3]]))
        page = timeline.window(scope, a_query())
        assert page.events == tuple(reversed(events))
        assert page.more is None

    @pytest.mark.spec("A-50")
    def test_both_ends_are_inclusive(self, timeline: Timeline) -> None:
        scope = a_scope()
        events = some_events(scope, 5)
        timeline.append(scope, writes_of(scope, events))
        window = TimeWindow(events[1].timestamp, events[3].timestamp)
        assert shown([timeline.window(scope, a_query(window=window))]) == [events[n].id for n in (3, 2, 1)]
        microsecond = timedelta(microseconds=1)
        narrower = TimeWindow(events[1].timestamp + microsecond, events[3].timestamp - microsecond)
        assert shown([timeline.window(scope, a_query(window=narrower))]) == [events[2].id]

    def test_the_first_and_the_last_year_are_in_order(self, timeline: Timeline) -> None:
        scope = a_scope()
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
    def test_expired_events_are_dropped_and_counted_private_ones_shown(self, timeline: Timeline) -> None:
        scope = a_scope()
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

    @pytest.mark.spec("A-32", "A-49", "A-51")
    def test_persona_and_household_narrow_a_page(self, timeline: Timeline) -> None:
        user = a_scope()
        scopes = [replace(user, persona_id=p, household_id=h) for p in (None, "p", "q") for h in (None, "h")]
        events = [an_event(scope, content=str(n)) for n, scope in enumerate(scopes)]
        timeline.append(user, writes_of(user, events))
        for scope in scopes:
            page = timeline.window(scope, a_query())
            expected = {event.id for event in events if scope.admits(event.persona_id, event.household_id)}
            assert {event.id for event in page.events} == expected
            assert page.scanned == len(page.events) + sum(page.dropped.values())

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

    @pytest.mark.spec("R-71")
    @pytest.mark.parametrize("limit", [1, 2, 3, 50])
    def test_what_cannot_be_read_fails_a_page_unless_its_reader_goes_on_around_it(
        self, timeline: Timeline, spoil: Spoil, limit: int
    ) -> None:
        scope = a_scope()
        events = some_events(scope, 7)
        timeline.append(scope, writes_of(scope, events))
        spoiled = [events[n] for n in (6, 3, 2, 0)]
        for event in spoiled:
            spoil(scope, event)
        with pytest.raises(StoredDataError):
            walk(timeline, scope, a_query(limit=limit))
        pages = walk(timeline, scope, a_query(limit=limit, around_unreadable=True))
        assert shown(pages) == [events[n].id for n in (5, 4, 1)]
        assert [ref for page in pages for ref in page.unreadable] == [event.ref for event in spoiled]
        assert sum(page.scanned for page in pages) == len(events)
        assert all(len(page.events) + len(page.unreadable) <= limit for page in pages)

    @pytest.mark.parametrize("limit", [1, 2, 3, 7, 50])
    def test_a_walk_has_every_event_once(self, timeline: Timeline, limit: int) -> None:
        scope = a_scope()
        tied = [an_event(scope, content=f"tied {n}") for n in range(5)]
        events = [*some_events(scope, 5, importance=0.5), *tied]
        timeline.append(scope, writes_of(scope, events))
        pages = walk(timeline, scope, a_query(limit=limit))
        ordered = sorted(events, key=lambda event: (event.timestamp, event.id), reverse=True)
        assert shown(pages) == [event.id for event in ordered]
        assert all(len(page.events) <= limit for page in pages)

    def test_a_walk_keeps_its_place_while_events_arrive(self, timeline: Timeline) -> None:
        scope = a_scope()
        events = some_events(scope, 9)
        timeline.append(scope, writes_of(scope, events))
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
