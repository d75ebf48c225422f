"""The contracts of removal, of `Eraser` and of rejected values (P-22).

A subclass gives `timeline`, `projections`, `items` and `eraser`, over one store.
"""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

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
from recollect.contracts.projections import erased, pending_of
from recollect.contracts.timeline import project
from recollect.core.errors import InvalidInput, VersionMismatch
from recollect.core.event import Event
from recollect.core.items import ABSENT, MOST_BYTES, ItemKey, ItemPath, ItemWrite
from recollect.core.scope import Scope
from recollect.deletion.storage import Exempt
from recollect.ports import Eraser, Items, Projections, Timeline
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.record import event_identity
from recollect.timeline.slots import SlotEntry, entry_of
from recollect.timeline.timeline import AppendStatus, PendingEvent, Projection, Removal, Tail, WindowQuery

HOME = ("", "", "home")


def pending_ids(projections: Projections, scope: Scope) -> list[str]:
    """The ids of the user's markers, each once, in the order in which they are found."""
    return list(dict.fromkeys(marker.ref.id for marker in pending_of(projections, scope)))


class RemovalContract(OwnUser):
    """`remove`, `of_slot` and `forget`."""

    @pytest.mark.spec("P-22")
    @pytest.mark.parametrize("projected", [False, True])
    def test_a_removed_event_is_gone_and_its_siblings_are_not(
        self, timeline: Timeline, projections: Projections, projected: bool, scope: Scope
    ) -> None:
        before, event, after = append_events(timeline, scope, 3, importance=0.9)
        if projected:
            project(timeline, projections, scope, [before, event, after])
        assert timeline.remove(scope, event, Removal())
        assert timeline.find(scope, event.id) is None
        assert timeline.read(scope, [e.ref for e in (before, event, after)]) == {e.id: e for e in (before, after)}
        assert timeline.newest(scope, 10) == [after, before]
        query = WindowQuery(now=NOW, window=TimeWindow(), limit=10)
        assert timeline.window(scope, query).events == (after, before)
        projections.forget(scope, [event.ref])
        assert event.ref not in timeline.important(scope, 10)
        assert event.ref not in timeline.of_conversation(scope, event.conversation_id, 10)
        assert event.ref not in timeline.tail(scope).refs

    @pytest.mark.spec("P-22")
    def test_the_same_event_is_refused_and_the_same_words_later_are_new(self, timeline: Timeline) -> None:
        scope, other = a_scope(), a_scope()
        event = an_event(scope)
        write = a_write(scope, event)
        timeline.append(scope, [write])
        timeline.append(other, [write])
        timeline.remove(scope, event, Removal())
        sent_again = replace(write, event=replace(event, id=a_seed().nth(0)))
        for again in (write, sent_again):
            [outcome] = timeline.append(scope, [again])
            assert (outcome.status, outcome.event_id, outcome.reason) == (AppendStatus.REFUSED, None, "deleted")
        assert timeline.newest(scope, 10) == []
        later = an_event(scope, timestamp=NOW + timedelta(microseconds=1))
        [outcome] = timeline.append(scope, [a_write(scope, later)])
        assert outcome.status is AppendStatus.CREATED
        assert timeline.append(other, [write])[0].status is AppendStatus.CREATED
        assert timeline.newest(other, 10) == [event]

    @pytest.mark.spec("P-22")
    @pytest.mark.parametrize("known", ["named", "without conversation", "without time", "by no rule of today"])
    def test_the_tombstone_is_that_of_the_identity_it_was_stored_with(self, timeline: Timeline, known: str) -> None:
        scope = a_scope()
        event, other = some_events(scope, 2)
        identities = {
            "named": event_identity(scope, event, event.conversation_id, True),
            "without conversation": event_identity(scope, event, None, True),
            "without time": event_identity(scope, event, None, False),
            "by no rule of today": "f" * 64,
        }
        write = replace(a_write(scope, event), identity=identities[known])
        timeline.append(scope, [write, a_write(scope, other)])
        timeline.remove(scope, event, Removal())
        assert timeline.identified(scope, [write.identity]) == {write.identity: None}
        assert [o.status for o in timeline.append(scope, [write])] == [AppendStatus.REFUSED]
        assert [o.status for o in timeline.append(scope, [a_write(scope, other)])] == [AppendStatus.CREATED]

    @pytest.mark.spec("P-22")
    def test_a_buried_identity_is_refused_and_one_whose_event_is_there_is_not(self, timeline: Timeline) -> None:
        scope, other = a_scope(), a_scope()
        lost, there = (a_write(scope, event) for event in some_events(scope, 2))
        timeline.append(scope, [there])
        for _ in range(2):
            timeline.bury(scope, [lost.identity, there.identity, lost.identity])
        assert timeline.identified(scope, [lost.identity, there.identity]) == {
            lost.identity: None,
            there.identity: there.event.id,
        }
        [refused, again] = timeline.append(scope, [lost, there])
        assert (refused.status, refused.event_id, refused.reason) == (AppendStatus.REFUSED, None, "deleted")
        assert again.status is AppendStatus.CREATED
        assert timeline.find(scope, lost.event.id) is None
        assert timeline.append(other, [lost])[0].status is AppendStatus.CREATED
        timeline.bury(scope, [])

    def test_what_is_not_there_is_not_removed(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
        event = an_event(scope)
        assert timeline.remove(scope, event, Removal()) is False
        timeline.append(scope, [a_write(scope, event)])
        assert timeline.remove(a_scope(), event, Removal()) is False
        assert timeline.remove(scope, event, Removal()) is True
        assert timeline.remove(scope, event, Removal()) is False
        projections.forget(scope, [event.ref])
        projections.forget(scope, [event.ref])
        assert pending_ids(projections, scope) == []

    def test_another_version_is_not_removed(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
        old, new = append_events(timeline, scope, 2, key="home")
        superseded = projections.supersede(scope, old, new.ref)
        with pytest.raises(VersionMismatch):
            timeline.remove(scope, old, Removal(also=(new.ref,)))
        assert timeline.find(scope, old.id) == superseded
        assert timeline.append(scope, [a_write(scope, old)])[0].status is AppendStatus.CREATED
        assert timeline.slot_history(scope, HOME) == []
        assert timeline.remove(scope, superseded, Removal())

    @pytest.mark.parametrize("projected", [False, True])
    def test_its_marker_stays_until_what_was_derived_is_forgotten(
        self, timeline: Timeline, projections: Projections, projected: bool, scope: Scope
    ) -> None:
        event, other = append_events(timeline, scope, 2)
        projections.save(scope, [Projection(e.ref, a_vector(), "model.1") for e in (event, other)])
        if projected:
            projections.settle(scope, [event.ref, other.ref])
        timeline.remove(scope, event, Removal())
        projections.settle(scope, [event.ref, other.ref])
        assert pending_ids(projections, scope) == [event.id]
        assert PendingEvent(scope, event.ref) in pending_of(projections, scope)
        projections.forget(scope, [event.ref])
        assert pending_of(projections, scope) == []
        assert projections.vectors(scope, [event.id, other.id]).keys() == {other.id}
        assert timeline.tail(scope) == Tail((), cut=False, waiting=0)

    def test_markers_of_removals_are_walked_in_pages(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        events = append_events(timeline, scope, 9)
        projections.settle(scope, [event.ref for event in events[:3]])
        for event in events[1:7]:
            timeline.remove(scope, event, Removal())
        for limit in (2, 100):
            assert {m.ref.id for m in pending_of(projections, scope, limit)} == {event.id for event in events[1:]}
        projections.forget(scope, [event.ref for event in events[1:7]])
        projections.settle(scope, [event.ref for event in events])
        assert pending_of(projections, scope) == []

    def test_others_are_marked_with_it(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
        event, other, gone = some_events(scope, 3)
        timeline.append(scope, writes_of(scope, [event, other]))
        projections.settle(scope, [event.ref, other.ref])
        timeline.remove(scope, event, Removal(also=(other.ref,)))
        assert sorted(pending_ids(projections, scope)) == sorted([event.id, other.id])
        timeline.remove(scope, other, Removal(also=(gone.ref,)))
        projections.forget(scope, [event.ref, other.ref, gone.ref])
        assert pending_of(projections, scope) == []

    @pytest.mark.spec("P-22")
    @pytest.mark.parametrize("filled", [False, True])
    def test_a_removed_value_keeps_its_place_in_its_slot(
        self, timeline: Timeline, projections: Projections, filled: bool, scope: Scope
    ) -> None:
        old, value = append_events(timeline, scope, 2, key="home")
        if filled:
            projections.fill_slot(scope, old)
            projections.fill_slot(scope, value)
        timeline.remove(scope, value, Removal(empties_slot=True))
        timeline.remove(scope, old, Removal())
        for event in (old, value):
            projections.fill_slot(scope, event)
        projections.forget(scope, [old.ref, value.ref])
        assert sorted(timeline.slot_history(scope, HOME), key=lambda e: e.order) == [
            SlotEntry(old.ref, old.recorded_at, False),
            SlotEntry(value.ref, value.recorded_at, True),
        ]

    def test_without_a_key_no_slot_is_touched(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
        event, keyed = an_event(scope), an_event(scope, key="home", content="Rome")
        timeline.append(scope, writes_of(scope, [event, keyed]))
        projections.fill_slot(scope, keyed)
        timeline.remove(scope, event, Removal(empties_slot=True))
        assert timeline.slot_history(scope, HOME) == [entry_of(keyed)]

    @pytest.mark.parametrize("projected", [0, 3, 7])
    def test_a_slot_gives_all_its_events(self, timeline: Timeline, projections: Projections, projected: int) -> None:
        scope = a_scope()
        events = some_events(scope, 6, key="home")
        events[1] = replace(events[1], is_private=True, expires_at=NOW - timedelta(days=1))
        others = [an_event(scope, key="home", persona_id="p"), an_event(scope, key="home", household_id="h")]
        others += [an_event(scope, key="house"), an_event(scope)]
        everything = [*events, *(replace(e, content=str(n)) for n, e in enumerate(others))]
        timeline.append(scope, writes_of(scope, everything))
        for event in events[:projected]:
            projections.fill_slot(scope, event)
            projections.settle(scope, [event.ref])
        assert timeline.of_slot(scope, HOME) == events[::-1]
        assert [e.id for e in timeline.of_slot(scope, ("p", "", "home"))] == [others[0].id]
        assert [e.id for e in timeline.of_slot(scope, ("", "h", "home"))] == [others[1].id]
        assert timeline.of_slot(scope, ("", "", "other")) == timeline.of_slot(a_scope(), HOME) == []
        timeline.remove(scope, events[2], Removal())
        timeline.remove(scope, events[5], Removal(empties_slot=True))
        assert [e.id for e in timeline.of_slot(scope, HOME)] == [events[n].id for n in (4, 3, 1, 0)]

    def test_of_many_removers_one_removes(self, timeline: Timeline, scope: Scope) -> None:
        event = append_event(timeline, scope, key="home")
        with ThreadPoolExecutor(6) as pool:
            assert sum(pool.map(lambda _: timeline.remove(scope, event, Removal()), range(6))) == 1

    def test_an_append_at_the_same_time_is_before_it_or_refused(self, timeline: Timeline, scope: Scope) -> None:
        events = some_events(scope, 4)
        writes = writes_of(scope, events)
        timeline.append(scope, writes)

        def both(n: int) -> None:
            with ThreadPoolExecutor(2) as pool:
                again = pool.submit(timeline.append, scope, [writes[n]])
                pool.submit(timeline.remove, scope, events[n], Removal()).result()
                assert again.result()[0].status in (AppendStatus.CREATED, AppendStatus.REFUSED)

        for n in range(len(events)):
            both(n)
        assert timeline.newest(scope, 10) == []
        assert {outcome.status for outcome in timeline.append(scope, writes)} == {AppendStatus.REFUSED}

    def test_ids_of_any_script_are_removed(self, timeline: Timeline, projections: Projections) -> None:
        removed: list[tuple[Scope, Event]] = []
        for hard in HARD_IDS:
            scope = a_scope(user_id=hard, persona_id=hard, household_id=hard)
            event = append_event(timeline, scope, conversation_id=hard, key=hard)
            assert timeline.of_slot(scope, (hard, hard, hard)) == [event]
            assert timeline.remove(scope, event, Removal(empties_slot=True))
            assert timeline.of_slot(scope, (hard, hard, hard)) == []
            removed.append((scope, event))
        marked = {(marker.scope, marker.ref) for marker in projections.pending(1000, None).markers}
        assert {(scope.user, event.ref) for scope, event in removed} <= marked
        for scope, event in removed:
            projections.forget(scope, [event.ref])
        marked = {(marker.scope, marker.ref) for marker in projections.pending(1000, None).markers}
        assert not {(scope.user, event.ref) for scope, event in removed} & marked


ENTRY = ItemKey(ItemPath("audit"), "01800000-0000-7000-8000-000000000001")
GOAL = ItemKey(ItemPath("goals"), "01800000-0000-7000-8000-000000000002")


class Stored:
    """Some of everything of a user."""

    def __init__(self, scope: Scope, timeline: Timeline, projections: Projections, items: Items) -> None:
        self.scope = scope
        self.events = [replace(one, key="home") for one in some_events(scope, 7)]
        self.writes = writes_of(scope, self.events)
        timeline.append(scope, self.writes)
        for event in self.events[:4]:
            projections.save(scope, [Projection(event.ref, a_vector(), "generation")])
            projections.fill_slot(scope, event)
            projections.enter_conversation(scope, event.conversation_id, NOW)
            projections.settle(scope, [event.ref])
        timeline.remove(scope, self.events[3], Removal())
        timeline.reject(scope, "f" * 64, [], NOW)
        items.write(scope, [ItemWrite(ENTRY, {"a": 1}), ItemWrite(GOAL, {"b": 1})], NOW)
        items.write(scope, [ItemWrite(ItemKey(ItemPath("states", ("~#", "x")), "state"), {"c": 1})], NOW)


def nothing_left(stored: Stored, timeline: Timeline, projections: Projections, items: Items) -> bool:
    """Whether no port gives anything of the user's."""
    scope, refs = stored.scope, [event.ref for event in stored.events]
    found = (
        timeline.read(scope, refs),
        timeline.newest(scope, 10),
        timeline.records(scope, 10, None).events,
        timeline.important(scope, 10),
        timeline.tail(scope).refs,
        timeline.of_conversation(scope, stored.events[0].conversation_id, 10),
        timeline.conversations(scope, 10, None).conversations,
        timeline.slot_history(scope, ("", "", "home")),
        projections.vectors(scope, [ref.id for ref in refs]),
        pending_of(projections, scope),
        items.page(scope, ItemPath("goals"), 10, None).items,
        items.page(scope, ItemPath("states"), 10, None).items,
    )
    return not any(found)


class ErasingContract(OwnUser):
    """`Eraser`."""

    @pytest.fixture
    def stored(self, timeline: Timeline, projections: Projections, items: Items) -> Stored:
        return Stored(a_scope(), timeline, projections, items)

    @pytest.mark.spec("P-22")
    @pytest.mark.parametrize("limit", [1, 4, 1000])
    def test_everything_goes_and_the_same_events_are_refused(
        self, stored: Stored, eraser: Eraser, timeline: Timeline, projections: Projections, items: Items, limit: int
    ) -> None:
        other = Stored(a_scope(), timeline, projections, items)
        assert eraser.left(stored.scope, Exempt()) > 10
        counts = erased(eraser, stored.scope, limit=limit)
        assert (counts["identities"], counts["events"], counts["items"]) == (6, 6, 3)
        assert eraser.left(stored.scope, Exempt()) == 0
        assert nothing_left(stored, timeline, projections, items)
        assert erased(eraser, stored.scope) == Counter()
        again = [replace(write, event=replace(write.event, id=a_seed().nth(0))) for write in stored.writes]
        outcomes = timeline.append(stored.scope, again)
        assert {(one.status, one.reason) for one in outcomes} == {(AppendStatus.REFUSED, "deleted")}
        assert len(timeline.records(other.scope, 10, None).events) == 6
        assert eraser.left(other.scope, Exempt()) > 10

    @pytest.mark.spec("P-22")
    def test_the_user_may_start_anew(
        self, stored: Stored, eraser: Eraser, timeline: Timeline, projections: Projections
    ) -> None:
        erased(eraser, stored.scope)
        later = replace(stored.events[0], id=a_seed().nth(0), content="a new life")
        write = replace(a_write(stored.scope, later), fingerprint="f" * 64)
        assert timeline.append(stored.scope, [write])[0].status is AppendStatus.CREATED
        assert timeline.newest(stored.scope, 10) == [later]
        projections.fill_slot(stored.scope, later)
        assert [entry.ref for entry in timeline.slot_history(stored.scope, ("", "", "home"))] == [later.ref]

    def test_what_is_kept_stays(self, stored: Stored, eraser: Eraser, items: Items) -> None:
        kept = Exempt(frozenset([ENTRY]))
        erased(eraser, stored.scope, kept)
        assert items.get(stored.scope, [ENTRY, GOAL]).keys() == {ENTRY}
        assert (eraser.left(stored.scope, kept), eraser.left(stored.scope, Exempt())) == (0, 1)

    def test_what_is_newer_stays(self, stored: Stored, eraser: Eraser, timeline: Timeline, items: Items) -> None:
        by_id = sorted(stored.events, key=lambda event: event.id)
        old, new = by_id[:2], by_id[2:]
        there = {event.id for event in timeline.records(stored.scope, 10, None).events}
        kept = Exempt(before=new[0].id)
        erased(eraser, stored.scope, kept)
        left = {event.id for event in timeline.records(stored.scope, 10, None).events}
        assert left == there & {event.id for event in new}
        assert items.get(stored.scope, [ENTRY, GOAL]) == {}
        assert items.page(stored.scope, ItemPath("states"), 10, None).items
        assert timeline.conversations(stored.scope, 10, None).conversations
        assert eraser.left(stored.scope, kept) == 0
        again = {write.event.id: write for write in stored.writes}
        outcomes = timeline.append(stored.scope, [again[event.id] for event in old])
        assert {one.status for one in outcomes} == {AppendStatus.REFUSED}

    def test_ids_of_any_script(
        self, eraser: Eraser, timeline: Timeline, projections: Projections, items: Items
    ) -> None:
        for hard in HARD_IDS:
            scope = a_scope(user_id=hard)
            events: list[Event] = some_events(scope, 2, key=hard, conversation_id=hard, persona_id=hard)
            timeline.append(scope, writes_of(scope, events))
            projections.fill_slot(scope, events[0])
            items.write(scope, [ItemWrite(ItemKey(ItemPath("goals", (hard,)), hard), {"a": 1})], NOW)
            erased(eraser, scope)
            assert eraser.left(scope, Exempt()) == 0
            assert timeline.newest(scope, 10) == []

    def test_a_stranger_is_no_error(self, eraser: Eraser) -> None:
        assert erased(eraser, a_scope()) == Counter()


_SECOND = timedelta(seconds=1)
NOTE = ItemKey(ItemPath("rejections"), "018f0000-0000-7000-8000-000000000001")


def a_note(value: str | None = "yes", expected: int | None = None) -> ItemWrite:
    """The write of an item beside the rejection."""
    return ItemWrite(NOTE, None if value is None else {"note": value}, expected)


class RejectingContract(OwnUser):
    """`Timeline.reject` and `Timeline.lift`."""

    @pytest.mark.spec("P-22")
    def test_a_rejected_value_is_refused_until_it_is_lifted(self, timeline: Timeline, items: Items) -> None:
        scope, other = a_scope(), a_scope()
        write, fine = a_write(scope, an_event(scope)), a_write(scope, an_event(scope, content="another"))
        for _ in range(2):
            timeline.reject(scope, write.fingerprint, [a_note()], NOW)
        [refused, created] = timeline.append(scope, [write, fine])
        assert (refused.status, refused.event_id, refused.reason) == (AppendStatus.REFUSED, None, "rejected")
        assert created.status is AppendStatus.CREATED
        assert timeline.newest(scope, 10) == [fine.event]
        assert timeline.append(other, [write])[0].status is AppendStatus.CREATED
        assert items.get(scope, [NOTE])[NOTE].version == 2
        for _ in range(2):
            timeline.lift(scope, write.fingerprint, [a_note(None)], NOW)
        assert items.get(scope, [NOTE]) == {}
        assert timeline.append(scope, [write])[0].status is AppendStatus.CREATED

    def test_what_is_stored_already_stays(self, timeline: Timeline, scope: Scope) -> None:
        event = append_event(timeline, scope)
        timeline.reject(scope, a_write(scope, event).fingerprint, [], NOW)
        assert timeline.find(scope, event.id) == event
        assert timeline.append(scope, [a_write(scope, event)])[0].status is AppendStatus.CREATED
        timeline.lift(scope, a_write(scope, event).fingerprint, [], NOW)

    @pytest.mark.parametrize("lifting", [False, True])
    def test_an_item_that_was_changed_meanwhile_stops_it(self, timeline: Timeline, items: Items, lifting: bool) -> None:
        scope = a_scope()
        write = a_write(scope, an_event(scope))
        items.write(scope, [a_note("before")], NOW)
        if lifting:
            timeline.reject(scope, write.fingerprint, [], NOW)
        change = timeline.lift if lifting else timeline.reject
        with pytest.raises(VersionMismatch):
            change(scope, write.fingerprint, [a_note("after", ABSENT)], NOW)
        with pytest.raises(InvalidInput):
            change(scope, write.fingerprint, [a_note("x" * MOST_BYTES)], NOW)
        expected = AppendStatus.REFUSED if lifting else AppendStatus.CREATED
        assert timeline.append(scope, [write])[0].status is expected
        assert items.get(scope, [NOTE])[NOTE].value == {"note": "before"}

    def test_an_append_at_the_same_time_is_before_it_or_refused(self, timeline: Timeline, scope: Scope) -> None:
        for number in range(4):
            first, second = (an_event(scope, content=f"value {number}", timestamp=at) for at in (NOW, NOW - _SECOND))
            write = a_write(scope, first)
            with ThreadPoolExecutor(2) as pool:
                appended = pool.submit(timeline.append, scope, [write])
                pool.submit(timeline.reject, scope, write.fingerprint, [], NOW).result()
                assert appended.result()[0].status in (AppendStatus.CREATED, AppendStatus.REFUSED)
            assert timeline.append(scope, [a_write(scope, second)])[0].status is AppendStatus.REFUSED

    def test_ids_of_any_script(self, timeline: Timeline, items: Items) -> None:
        for hard in HARD_IDS:
            scope: Scope = a_scope(user_id=hard)
            write = a_write(scope, an_event(scope))
            timeline.reject(scope, write.fingerprint, [a_note(hard)], NOW)
            assert timeline.append(scope, [write])[0].status is AppendStatus.REFUSED
            assert items.get(scope, [NOTE])[NOTE].value == {"note": hard}
