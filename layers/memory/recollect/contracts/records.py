"""The contract of `Timeline.records`, and of carriers, which `Timeline.window` hides.

A subclass gives `timeline` and `projections`, over one store.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.contracts.examples import HARD_IDS, NOW, a_scope, a_write, an_event, some_events, writes_of
from recollect.contracts.timeline import a_query, project
from recollect.core.event import Event, EventType
from recollect.core.scope import Scope
from recollect.ports import Projections, Timeline
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.timeline import Projection, Removal

LAST = datetime(2199, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


def a_carrier(scope: Scope, **changes: Any) -> Event:
    """What carries a memory that was saved directly."""
    return an_event(scope, **{"event_type": EventType.MEMORY, "conversation_id": "", "content": "kept", **changes})


def all_records(timeline: Timeline, scope: Scope, limit: int) -> list[Event]:
    """The whole walk, page by page; no page is longer than asked."""
    page = timeline.records(scope, limit, None)
    found = list(page.events)
    while page.more is not None:
        page = timeline.records(scope, limit, page.more)
        assert len(page.events) <= limit
        found += page.events
    return found


class RecordsContract:
    """`records`, and what `EventType.MEMORY` is hidden from."""

    @pytest.mark.parametrize("limit", [1, 2, 3, 50])
    def test_every_record_comes_once_the_oldest_first(self, timeline: Timeline, limit: int) -> None:
        scope, other = a_scope(), a_scope()
        events = [*some_events(scope, 4), *(an_event(scope, content=f"tied {n}") for n in range(3))]
        events += [an_event(scope, content=str(at), timestamp=at) for at in (datetime(1900, 1, 1, tzinfo=UTC), LAST)]
        timeline.append(scope, writes_of(scope, events[::-1]))
        timeline.append(other, writes_of(other, some_events(other, 2)))
        assert all_records(timeline, scope, limit) == in_order(events)

    def test_whatever_is_stored_is_among_them(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        old, new = some_events(scope, 2, key="home")
        rest = [
            an_event(scope, content="private", is_private=True),
            an_event(scope, content="expired", expires_at=NOW - timedelta(days=1)),
            a_carrier(scope),
            an_event(scope, content="removed"),
        ]
        timeline.append(scope, writes_of(scope, [old, new, *rest]))
        superseded = projections.supersede(scope, old, new.ref)
        project(timeline, projections, scope, [new, rest[2]])
        timeline.remove(scope, rest[3], Removal())
        assert all_records(timeline, scope, 50) == in_order([superseded, new, *rest[:3]])

    @pytest.mark.spec("A-32")
    @pytest.mark.parametrize("limit", [1, 3])
    def test_persona_and_household_narrow_them(self, timeline: Timeline, limit: int) -> None:
        user = a_scope()
        scopes = [replace(user, persona_id=p, household_id=h) for p in (None, "p", "q") for h in (None, "h")]
        events = [an_event(scope, content=str(n)) for n, scope in enumerate(scopes)]
        timeline.append(user, writes_of(user, events))
        for scope in scopes:
            admitted = [event for event in events if scope.admits(event.persona_id, event.household_id)]
            assert all_records(timeline, scope, limit) == in_order(admitted)

    def test_a_walk_goes_on_though_its_place_is_gone(self, timeline: Timeline) -> None:
        scope = a_scope()
        events = some_events(scope, 5)
        timeline.append(scope, writes_of(scope, events))
        page = timeline.records(scope, 2, None)
        assert page.events == tuple(events[:2])
        assert page.more == events[1].ref
        timeline.remove(scope, events[1], Removal())
        late = an_event(scope, timestamp=events[1].timestamp + timedelta(microseconds=1), content="late")
        timeline.append(scope, [a_write(scope, late)])
        assert timeline.records(scope, 9, page.more).events == (late, *events[2:])

    def test_of_nothing_there_is_an_empty_page(self, timeline: Timeline) -> None:
        page = timeline.records(a_scope(), 5, None)
        assert (page.events, page.more) == ((), None)

    def test_users_of_any_id_are_walked(self, timeline: Timeline) -> None:
        for hard in HARD_IDS:
            scope = a_scope(user_id=hard, persona_id=hard, household_id=hard)
            events = [an_event(scope, conversation_id=hard, key=hard), a_carrier(scope)]
            timeline.append(scope, writes_of(scope, events))
            assert all_records(timeline, scope, 1) == in_order(events)

    @pytest.mark.parametrize("projected", [False, True])
    def test_a_carrier_is_hidden_and_not_counted(
        self, timeline: Timeline, projections: Projections, projected: bool
    ) -> None:
        scope, carriers, events = _mixed(timeline, a_scope())
        if projected:
            for one in (*carriers, *events):
                projections.save(scope, [_projection(one)])
                projections.settle(scope, [one.ref])
        page = timeline.window(scope, a_query())
        assert (page.events, page.scanned, sum(page.dropped.values())) == (tuple(events[::-1]), len(events), 0)
        outside = timeline.window(scope, a_query(window=TimeWindow(NOW + timedelta(days=1), None)))
        assert outside.scanned in (0, len(events))
        assert timeline.window(scope, a_query(event_type=EventType.MEMORY.value)).events == ()
        assert timeline.window(scope, a_query(conversation_id="")).events == ()
        assert timeline.newest(scope, 3) == events[:-4:-1]
        assert timeline.of_conversation(scope, "", 10) == []

    @pytest.mark.parametrize("limit", [1, 2, 50])
    def test_pages_of_a_window_walk_over_carriers(self, timeline: Timeline, limit: int) -> None:
        scope, _, events = _mixed(timeline, a_scope())
        page = timeline.window(scope, a_query(limit=limit))
        found = list(page.events)
        while page.more is not None:
            page = timeline.window(scope, a_query(limit=limit, after=page.more))
            found += page.events
        assert found == events[::-1]

    def test_a_carrier_is_found_where_records_are(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        carrier = a_carrier(scope, key="home", importance=0.9, title="t")
        timeline.append(scope, [a_write(scope, carrier)])
        assert timeline.tail(scope).refs == (carrier.ref,)
        assert timeline.of_slot(scope, ("", "", "home")) == [carrier]
        projections.save(scope, [_projection(carrier)])
        projections.fill_slot(scope, carrier)
        projections.settle(scope, [carrier.ref])
        assert timeline.find(scope, carrier.id) == carrier
        assert timeline.read(scope, [carrier.ref]) == {carrier.id: carrier}
        assert timeline.important(scope, 10) == [carrier.ref]
        assert timeline.of_slot(scope, ("", "", "home")) == [carrier]
        assert [entry.ref for entry in timeline.slot_history(scope, ("", "", "home"))] == [carrier.ref]
        assert timeline.remove(scope, carrier, Removal(empties_slot=True))
        assert timeline.find(scope, carrier.id) is None


def in_order(events: Sequence[Event]) -> list[Event]:
    """Oldest first, of one instant by id."""
    return sorted(events, key=lambda event: (event.timestamp, event.id))


def _projection(event: Event) -> Projection:
    return Projection(event.ref, None, None)


def _mixed(timeline: Timeline, scope: Scope) -> tuple[Scope, list[Event], list[Event]]:
    """Carriers before, between and after events, all of them with a time of their own."""
    everything = some_events(scope, 12)
    places = (0, 3, 4, 7, 11)
    carriers = [replace(everything[n], event_type=EventType.MEMORY, conversation_id="") for n in places]
    events = [event for n, event in enumerate(everything) if n not in places]
    timeline.append(scope, writes_of(scope, [*carriers, *events]))
    return scope, carriers, events
