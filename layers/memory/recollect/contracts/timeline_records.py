"""The contracts of the records of a timeline, of carriers, and of the items written with an event or its removal.

A subclass gives `timeline`, `projections` and `items`, over one store.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.contracts.examples import (
    HARD_IDS,
    NOW,
    OwnUser,
    a_scope,
    a_seed,
    a_write,
    an_event,
    append_event,
    append_events,
    some_events,
    writes_of,
)
from recollect.contracts.items import a_key, a_put
from recollect.contracts.timeline import a_query, project, walk
from recollect.core.errors import InvalidInput, VersionMismatch
from recollect.core.event import Event, EventType
from recollect.core.items import ABSENT, MOST_BYTES, MOST_WRITES, Due, Item, ItemWrite
from recollect.core.scope import Scope
from recollect.ports import Items, Projections, Timeline
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.timeline import AppendStatus, Projection, Removal

LATER = NOW + timedelta(seconds=5)
KEY, OTHER = a_key("k", "label"), a_key("other")
THREADS = 4


class ItemsWithEventsContract(OwnUser):
    """`EventWrite.items` and `Removal.items`."""

    @pytest.mark.spec("P-20")
    def test_they_are_written_with_their_event(self, timeline: Timeline, items: Items) -> None:
        scope = a_scope(persona_id="p", household_id="h")
        event = an_event(scope, recorded_at=LATER)
        due = Due("jobs", LATER)
        items.write(scope.user, [a_put(OTHER)], NOW)
        writes = (ItemWrite(KEY, {"n": 1}, ABSENT, due), a_put(OTHER, {"n": 2}, None), ItemWrite(a_key("gone"), None))
        [outcome] = timeline.append(scope, [replace(a_write(scope, event), items=writes)])
        assert outcome.status is AppendStatus.CREATED
        assert timeline.find(scope, event.id) == event
        kept = items.get(scope.user, [KEY, OTHER])
        assert kept == {KEY: Item(KEY, {"n": 1}, 1, LATER, due), OTHER: Item(OTHER, {"n": 2}, 2, LATER)}

    @pytest.mark.spec("P-20")
    @pytest.mark.parametrize("expected", [ABSENT, 2])
    def test_a_mismatch_stores_nothing(self, timeline: Timeline, items: Items, expected: int, scope: Scope) -> None:
        items.write(scope, [a_put(KEY)], NOW)
        write = a_write(scope, an_event(scope))
        for more in ((), (a_put(a_key("any"), {}, None),)):
            with pytest.raises(VersionMismatch):
                timeline.append(scope, [replace(write, items=(a_put(OTHER), a_put(KEY, {}, expected), *more))])
        assert timeline.find(scope, write.event.id) is None
        assert timeline.records(scope, 5, None).events == ()
        assert timeline.tail(scope).refs == ()
        assert items.get(scope, [KEY, OTHER]) == {KEY: Item(KEY, {"n": 1}, 1, NOW)}
        [outcome] = timeline.append(scope, [replace(write, items=(a_put(OTHER), a_put(KEY, {}, 1)))])
        assert outcome.status is AppendStatus.CREATED
        assert items.get(scope, [KEY, OTHER]).keys() == {KEY, OTHER}

    def test_a_retry_writes_them_no_second_time(self, timeline: Timeline, items: Items, scope: Scope) -> None:
        write = replace(a_write(scope, an_event(scope)), items=(a_put(KEY), a_put(OTHER, {"n": 1}, None)))
        before = timeline.append(scope, [write])
        items.write(scope, [a_put(OTHER, {"n": 2}, 1)], LATER)
        assert timeline.append(scope, [write]) == before
        assert [item.version for item in items.get(scope, [KEY, OTHER]).values()] == [1, 2]

    @pytest.mark.parametrize("expected", [ABSENT, None])
    def test_those_of_a_duplicate_are_not_written(self, timeline: Timeline, items: Items, expected: int | None) -> None:
        scope = a_scope()
        write = a_write(scope, an_event(scope))
        timeline.append(scope, [write])
        again = replace(write, event=replace(write.event, id=a_seed().nth(0)), items=(a_put(KEY, {}, expected),))
        assert [o.status for o in timeline.append(scope, [again])] == [AppendStatus.DUPLICATE]
        assert items.get(scope, [KEY]) == {}

    def test_those_of_a_refused_event_are_not_written(self, timeline: Timeline, items: Items, scope: Scope) -> None:
        deleted, rejected = (replace(a_write(scope, e), items=(a_put(a_key(e.id)),)) for e in some_events(scope, 2))
        timeline.bury(scope, [deleted.identity])
        timeline.reject(scope, rejected.fingerprint, [], NOW)
        outcomes = timeline.append(scope, [deleted, rejected])
        assert [o.status for o in outcomes] == [AppendStatus.REFUSED] * 2
        assert items.get(scope, [a_key(write.event.id) for write in (deleted, rejected)]) == {}

    def test_a_refusal_goes_before_a_version(self, timeline: Timeline, items: Items, scope: Scope) -> None:
        items.write(scope, [a_put(KEY)], NOW)
        write = replace(a_write(scope, an_event(scope)), items=(a_put(KEY),))
        timeline.reject(scope, write.fingerprint, [], NOW)
        assert [o.status for o in timeline.append(scope, [write])] == [AppendStatus.REFUSED]

    def test_as_many_and_as_large_as_items_may_be(self, timeline: Timeline, items: Items, scope: Scope) -> None:
        keys = [a_key(f"{n:02d}") for n in range(MOST_WRITES)]
        write = replace(a_write(scope, an_event(scope)), items=tuple(a_put(key) for key in keys))
        assert timeline.append(scope, [write])[0].status is AppendStatus.CREATED
        assert len(items.get(scope, keys)) == MOST_WRITES
        assert timeline.remove(scope, write.event, Removal(items=tuple(ItemWrite(k, None, 1) for k in keys), at=LATER))
        assert items.get(scope, keys) == {}

    @pytest.mark.parametrize("wrong", ["large", "many"])
    def test_too_large_or_too_many_is_refused(self, timeline: Timeline, items: Items, wrong: str, scope: Scope) -> None:
        first, second = (a_write(scope, event) for event in some_events(scope, 2))
        refused = {
            "large": (a_put(KEY, {"text": "x" * MOST_BYTES}),),
            "many": tuple(a_put(a_key(str(n))) for n in range(MOST_WRITES + 1)),
        }[wrong]
        with pytest.raises(InvalidInput):
            timeline.append(scope, [first, replace(second, items=refused)])
        assert timeline.records(scope, 5, None).events == ()
        timeline.append(scope, [first])
        with pytest.raises(InvalidInput):
            timeline.remove(scope, first.event, Removal(items=refused, at=NOW))
        assert timeline.find(scope, first.event.id) == first.event

    def test_of_many_appends_with_one_item_one_is_stored(self, timeline: Timeline, items: Items, scope: Scope) -> None:
        writes = [replace(a_write(scope, e), items=(a_put(KEY, {"id": e.id}),)) for e in some_events(scope, THREADS)]

        def stored(number: int) -> bool:
            try:
                return timeline.append(scope, [writes[number]])[0].status is AppendStatus.CREATED
            except VersionMismatch:
                return False

        with ThreadPoolExecutor(THREADS) as pool:
            won = list(pool.map(stored, range(THREADS)))
        assert sum(won) == 1
        event = writes[won.index(True)].event
        assert items.get(scope, [KEY])[KEY].value == {"id": event.id}
        assert timeline.records(scope, 9, None).events == (event,)

    def test_appends_that_take_any_version_all_count(self, timeline: Timeline, items: Items, scope: Scope) -> None:
        writes = [replace(a_write(scope, e), items=(a_put(KEY, {}, None),)) for e in some_events(scope, 3)]
        with ThreadPoolExecutor(3) as pool:
            outcomes = [o for [o] in pool.map(lambda write: timeline.append(scope, [write]), writes)]
        assert {o.status for o in outcomes} == {AppendStatus.CREATED}
        assert items.get(scope, [KEY])[KEY].version == 3

    @pytest.mark.spec("P-22")
    @pytest.mark.parametrize("key", [None, "home"])
    def test_they_are_written_with_the_removal(self, timeline: Timeline, items: Items, key: str | None) -> None:
        scope = a_scope(persona_id="p")
        event, other = some_events(scope, 2, key=key)
        timeline.append(scope, [replace(a_write(scope, event), items=(a_put(KEY),)), a_write(scope, other)])
        writes = (ItemWrite(KEY, None, 1), a_put(OTHER, {"n": 3}, None))
        removal = Removal(also=(other.ref,), items=writes, at=LATER)
        assert timeline.remove(scope, event, removal)
        assert timeline.find(scope, event.id) is None
        assert items.get(scope.user, [KEY, OTHER]) == {OTHER: Item(OTHER, {"n": 3}, 1, LATER)}
        assert timeline.remove(scope, event, removal) is False
        assert items.get(scope.user, [OTHER])[OTHER].version == 1

    @pytest.mark.spec("P-22")
    @pytest.mark.parametrize("also_any", [False, True])
    def test_a_mismatch_removes_nothing(self, timeline: Timeline, items: Items, also_any: bool, scope: Scope) -> None:
        write = replace(a_write(scope, an_event(scope)), items=(a_put(KEY),))
        timeline.append(scope, [write])
        more = (a_put(a_key("any"), {}, None),) if also_any else ()
        with pytest.raises(VersionMismatch):
            timeline.remove(scope, write.event, Removal(items=(a_put(OTHER), a_put(KEY, {}, 2), *more), at=LATER))
        assert timeline.find(scope, write.event.id) == write.event
        assert items.get(scope, [KEY, OTHER]) == {KEY: Item(KEY, {"n": 1}, 1, NOW)}
        assert timeline.append(scope, [write])[0].status is AppendStatus.CREATED

    def test_those_of_another_version_of_the_event_are_not_written(self, timeline: Timeline, items: Items) -> None:
        scope = a_scope()
        event = append_event(timeline, scope)
        with pytest.raises(VersionMismatch):
            timeline.remove(scope, replace(event, version=2), Removal(items=(a_put(KEY),), at=NOW))
        assert items.get(scope, [KEY]) == {}
        assert timeline.find(scope, event.id) == event

    def test_of_many_removers_one_writes_them(self, timeline: Timeline, items: Items, scope: Scope) -> None:
        event = append_event(timeline, scope, key="home")
        removal = Removal(items=(a_put(KEY, {}, None),), at=LATER)
        with ThreadPoolExecutor(THREADS) as pool:
            assert sum(pool.map(lambda _: timeline.remove(scope, event, removal), range(THREADS))) == 1
        assert items.get(scope, [KEY])[KEY].version == 1

    def test_those_of_a_removal_need_an_instant(self) -> None:
        with pytest.raises(ValueError, match="instant"):
            Removal(items=(a_put(KEY),))


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


class RecordsContract(OwnUser):
    """`records`, and what `EventType.MEMORY` is hidden from."""

    @pytest.mark.parametrize("limit", [1, 2, 3, 50])
    def test_every_record_comes_once_the_oldest_first(self, timeline: Timeline, limit: int) -> None:
        scope, other = a_scope(), a_scope()
        events = [*some_events(scope, 4), *(an_event(scope, content=f"tied {n}") for n in range(3))]
        events += [an_event(scope, content=str(at), timestamp=at) for at in (datetime(1900, 1, 1, tzinfo=UTC), LAST)]
        timeline.append(scope, writes_of(scope, events[::-1]))
        timeline.append(other, writes_of(other, some_events(other, 2)))
        assert all_records(timeline, scope, limit) == in_order(events)

    def test_whatever_is_stored_is_among_them(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
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

    def test_a_walk_goes_on_though_its_place_is_gone(self, timeline: Timeline, scope: Scope) -> None:
        events = append_events(timeline, scope, 5)
        page = timeline.records(scope, 2, None)
        assert page.events == tuple(events[:2])
        assert page.more == events[1].ref
        timeline.remove(scope, events[1], Removal())
        late = append_event(timeline, scope, timestamp=events[1].timestamp + timedelta(microseconds=1), content="late")
        assert timeline.records(scope, 9, page.more).events == (late, *events[2:])

    def test_users_of_any_id_are_walked(self, timeline: Timeline, scope: Scope) -> None:
        assert all_records(timeline, scope, 5) == []
        for hard in HARD_IDS:
            scope = a_scope(user_id=hard, persona_id=hard, household_id=hard)
            events = [an_event(scope, conversation_id=hard, key=hard), a_carrier(scope)]
            timeline.append(scope, writes_of(scope, events))
            assert all_records(timeline, scope, 1) == in_order(events)

    @pytest.mark.parametrize("projected", [False, True])
    def test_carriers_are_hidden(self, timeline: Timeline, projections: Projections, projected: bool) -> None:
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
        pages = walk(timeline, scope, a_query(limit=limit))
        assert [event for page in pages for event in page.events] == events[::-1]

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
