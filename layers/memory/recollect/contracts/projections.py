"""The contract of `Projections`, and of the notes of events that could not be projected.

A subclass gives `timeline`, `projections`, `items` and `eraser`, over one store.
"""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import numpy as np
import pytest

from recollect.contracts.examples import (
    HARD_IDS,
    NOW,
    OwnUser,
    a_random_vector,
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
from recollect.core.errors import VersionMismatch
from recollect.core.event import Event
from recollect.core.items import pages
from recollect.core.scope import Scope
from recollect.core.vectors import pack_vector, unpack_vector
from recollect.deletion.storage import Exempt
from recollect.ports import Eraser, Items, Projections, Timeline
from recollect.projection.attempt import Failure, Noting
from recollect.projection.project import ProjectionReport
from recollect.projection.quarantine import FailedEvents
from recollect.projection.under_way import LONGEST, ProjectPending
from recollect.timeline.failed_projections import PROCESS_ENDED, RETRY_POLICY, FailedProjection, Fault
from recollect.timeline.slots import SlotEntry, entry_of, slot_of
from recollect.timeline.timeline import PendingEvent, Projection, Removal

THREADS = 8


def pending_of(projections: Projections, scope: Scope, limit: int = 100) -> list[PendingEvent]:
    """A user's markers, by a walk over those of all tenants."""
    walk = pages(lambda after: projections.pending(limit, after))
    return [marker for page in walk for marker in page.markers if marker.scope.user == scope.user]


def erased(eraser: Eraser, scope: Scope, exempt: Exempt = Exempt(), limit: int = 10) -> Counter[str]:  # noqa: B008 - frozen
    """Erases to the end; what was deleted, by part."""
    walk = pages(lambda after: eraser.erase(scope, exempt, limit, after))
    return sum((Counter(page.counts) for page in walk), Counter())


class ProjectionsContract(OwnUser):
    """Markers, vectors, slots, supersession, conversations."""

    def test_a_failed_call_within_together(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
        event = append_event(timeline, scope, key="city")
        with projections.together():
            projections.save(scope, [Projection(event.ref, a_vector(1), "test.1")])
            with pytest.raises(VersionMismatch):
                projections.supersede(scope, replace(event, version=event.version + 1), event.ref)
            projections.fill_slot(scope, event)
            assert set(projections.vectors(scope, [event.id])) == {event.id}
            projections.settle(scope, [event.ref])
        assert set(projections.vectors(scope, [event.id])) == {event.id}
        slot = slot_of(event)
        assert slot is not None
        assert timeline.slot_history(scope, slot) == [entry_of(event)]
        assert timeline.read(scope, [event.ref]) == {event.id: event}
        assert pending_of(projections, scope) == []

    def test_a_bounded_value_is_in_no_history(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
        paris = an_event(scope, key="city", content="Paris")
        berlin = an_event(scope, key="city", content="in Berlin until tomorrow", timestamp=NOW + timedelta(hours=1))
        timeline.append(scope, [a_write(scope, paris), a_write(scope, berlin)])
        for event in (paris, berlin):
            projections.fill_slot(scope, event)
            projections.settle(scope, [event.ref])
        slot = ("", "", "city")
        assert timeline.slot_history(scope, slot) == [entry_of(paris)]
        assert timeline.of_slot(scope, slot) == [berlin, paris]
        assert timeline.remove(scope, berlin, Removal())
        assert timeline.of_slot(scope, slot) == [paris]

    @pytest.mark.parametrize("limit", [1, 3, 100])
    def test_markers_come_oldest_first(self, timeline: Timeline, projections: Projections, limit: int) -> None:
        scope, other = a_scope(), a_scope()
        events, others = some_events(scope, 7), some_events(other, 2)
        timeline.append(scope, writes_of(scope, events))
        timeline.append(other, writes_of(other, others))
        assert [m.ref for m in pending_of(projections, scope, limit)] == [event.ref for event in events]
        projections.settle(scope, [event.ref for event in events[1:6]])
        assert [m.ref for m in pending_of(projections, scope, limit)] == [events[0].ref, events[6].ref]
        assert [m.ref for m in pending_of(projections, other, limit)] == [event.ref for event in others]
        projections.settle(scope, [event.ref for event in events])
        projections.settle(other, [event.ref for event in others])
        assert pending_of(projections, scope, limit) == []

    def test_settling_an_unknown_event_is_no_error(self, timeline: Timeline, projections: Projections) -> None:
        scope, other = a_scope(), a_scope()
        event = append_event(timeline, scope)
        projections.settle(other, [event.ref])
        projections.settle(scope, [an_event(scope).ref])
        assert [m.ref for m in pending_of(projections, scope)] == [event.ref]
        projections.settle(scope, [event.ref])

    def test_a_retried_append_marks_nothing_again(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        write = a_write(scope, an_event(scope))
        timeline.append(scope, [write])
        projections.settle(scope, [write.event.ref])
        timeline.append(scope, [write])
        assert pending_of(projections, scope) == []
        assert timeline.tail(scope).refs == ()

    def test_what_is_marked_is_pending_for_its_user_alone(self, timeline: Timeline, projections: Projections) -> None:
        scope, other = a_scope(), a_scope()
        event = append_event(timeline, scope)
        projections.settle(scope, [event.ref])
        for _ in range(2):
            projections.mark(scope, [event.ref])
        assert [m.ref for m in pending_of(projections, scope)] == [event.ref]
        assert timeline.tail(scope).refs == (event.ref,)
        assert pending_of(projections, other) == []

    def test_vectors_are_kept_as_they_are_stored(self, timeline: Timeline, projections: Projections) -> None:
        scope, other = a_scope(), a_scope()
        events = append_events(timeline, scope, 3)
        vector = a_random_vector(1, 384)
        saved = [Projection(events[0].ref, vector, "model.1"), Projection(events[1].ref, None, None)]
        projections.save(scope, saved)
        found = projections.vectors(scope, [event.id for event in events])
        assert set(found) == {events[0].id, events[1].id}
        assert found[events[1].id] == saved[1]
        assert (found[events[0].id].ref, found[events[0].id].generation) == (events[0].ref, "model.1")
        assert np.array_equal(found[events[0].id].vector, unpack_vector(pack_vector(vector)))  # type: ignore[arg-type]
        assert projections.vectors(other, [event.id for event in events]) == {}

    @pytest.mark.parametrize("known", [False, True])
    def test_what_is_saved_of_an_event_is_found_again(
        self, timeline: Timeline, projections: Projections, scope: Scope, known: bool
    ) -> None:
        event, other = (append_event(timeline, scope, importance=0.9, content=text) for text in ("one", "other"))
        given = {event.id: event} if known else None
        projections.save(scope, [Projection(e.ref, a_vector(), "model.1") for e in (event, other)], given)
        projections.settle(scope, [event.ref, other.ref])
        assert {ref.id for ref in timeline.important(scope, 10)} == {event.id, other.id}
        assert timeline.find(scope, event.id) == event

    def test_a_later_vector_replaces_an_earlier_one(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        event = append_event(timeline, scope)
        for vector, generation in ((a_vector(0.1), "model.1"), (a_vector(0.9), "model.2")):
            projections.save(scope, [Projection(event.ref, vector, generation)])
        kept = projections.vectors(scope, [event.id])[event.id]
        assert kept.generation == "model.2"
        assert np.array_equal(kept.vector, a_vector(0.9))  # type: ignore[arg-type]

    def test_many_vectors_are_kept_in_one_call(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        events = some_events(scope, 130)
        for start in range(0, 130, 65):
            timeline.append(scope, writes_of(scope, events[start : start + 65]))
        projections.save(scope, [Projection(e.ref, a_random_vector(n), "model.1") for n, e in enumerate(events)])
        found = projections.vectors(scope, [event.id for event in events])
        assert set(found) == {event.id for event in events}
        assert np.array_equal(found[events[77].id].vector, a_random_vector(77))  # type: ignore[arg-type]
        assert projections.vectors(scope, []) == {}
        projections.settle(scope, [event.ref for event in events])

    @pytest.mark.spec("P-19")
    def test_a_slot_lists_what_it_has_held(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
        events = some_events(scope, 4, key="home")
        persona = an_event(scope, key="home", persona_id="p", content="another slot")
        household = an_event(scope, key="home", household_id="p", content="and another")
        timeline.append(scope, writes_of(scope, [*events, persona, household]))
        for event in (events[2], events[0], events[0], events[3], persona, household):
            projections.fill_slot(scope, event)
        history = timeline.slot_history(scope, ("", "", "home"))
        assert sorted(history, key=lambda e: e.order) == [entry_of(events[n]) for n in (0, 2, 3)]
        assert timeline.slot_history(scope, ("p", "", "home")) == [entry_of(persona)]
        assert timeline.slot_history(scope, ("", "p", "home")) == [entry_of(household)]
        assert timeline.slot_history(scope, ("", "", "other")) == []
        assert timeline.slot_history(a_scope(), ("", "", "home")) == []

    def test_slots_of_any_name_are_kept_apart(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
        events = [an_event(scope, key=name, content=f"{n}") for n, name in enumerate(HARD_IDS)]
        events += [an_event(scope, persona_id=p, household_id=h, key=k) for p, h, k in _AMBIGUOUS]
        timeline.append(scope, writes_of(scope, events))
        for event in events:
            projections.fill_slot(scope, event)
        for event in events:
            assert timeline.slot_history(scope, slot_of(event) or ("", "", "")) == [entry_of(event)]

    @pytest.mark.spec("P-22")
    def test_a_refused_event_keeps_its_place(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
        there, refused, older = some_events(scope, 3, key="home")
        timeline.append(scope, [a_write(scope, there)])
        projections.fill_slot(scope, there)
        for _ in range(2):
            projections.keep_place(scope, there, emptied=True)
            projections.keep_place(scope, refused, emptied=True)
            projections.keep_place(scope, older, emptied=False)
            projections.fill_slot(scope, refused)
        projections.keep_place(scope, an_event(scope), emptied=True)
        assert sorted(timeline.slot_history(scope, ("", "", "home")), key=lambda e: e.ref.id) == [
            entry_of(there),
            SlotEntry(refused.ref, refused.recorded_at, True),
            SlotEntry(older.ref, older.recorded_at, False),
        ]
        assert timeline.find(scope, refused.id) is None
        assert timeline.of_slot(scope, ("", "", "home")) == [there]
        assert timeline.slot_history(a_scope(), ("", "", "home")) == []

    def test_supersession_is_written_and_lifted(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        old, new = append_events(timeline, scope, 2, key="home")
        superseded = projections.supersede(scope, old, new.ref)
        assert superseded == replace(old, superseded_by=new.id, superseded_at=new.timestamp, version=2)
        assert timeline.find(scope, old.id) == superseded
        current = projections.supersede(scope, superseded, None)
        assert timeline.find(scope, old.id) == current == replace(old, version=3)
        assert timeline.find(scope, new.id) == new

    @pytest.mark.spec("P-24")
    def test_the_end_of_a_value_is_stored_with_its_event(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        old, new = append_events(timeline, scope, 2, key="home")
        bounded = replace(old, holds_until=NOW)
        projections.store_bound(scope, bounded)
        assert timeline.find(scope, old.id) == bounded
        superseded = projections.supersede(scope, bounded, new.ref)
        assert superseded.holds_until == NOW
        with pytest.raises(VersionMismatch):
            projections.store_bound(scope, replace(old, holds_until=None))
        assert timeline.find(scope, old.id) == superseded
        with pytest.raises(VersionMismatch):
            projections.store_bound(scope, an_event(scope))

    def test_of_two_changes_at_once_one_is_refused(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        old, new = append_events(timeline, scope, 2, key="home")

        def attempt(_: int) -> bool:
            try:
                projections.supersede(scope, old, new.ref)
            except VersionMismatch:
                return False
            return True

        with ThreadPoolExecutor(THREADS) as pool:
            assert sum(pool.map(attempt, range(THREADS))) == 1
        found = timeline.find(scope, old.id)
        assert found is not None
        assert found.version == 2

    def test_what_is_gone_cannot_be_superseded(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        event = an_event(scope)
        with pytest.raises(VersionMismatch):
            projections.supersede(scope, event, an_event(scope).ref)
        assert timeline.find(scope, event.id) is None

    def test_conversations_are_listed_the_last_begun_first(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        names = ["b", "a", "tie 1", "tie 2", *HARD_IDS[:5]]
        begun = {
            name: NOW - timedelta(hours=n if "tie" not in name else 2) for n, name in enumerate(dict.fromkeys(names))
        }
        for name, moment in begun.items():
            projections.enter_conversation(scope, name, moment)
            projections.enter_conversation(scope, name, moment + timedelta(days=1))
        for limit in (1, 2, 50):
            found = [page.conversations for page in pages(partial(timeline.conversations, scope, limit), len(begun))]
            assert max(map(len, found)) <= limit
            listed = [conversation for page in found for conversation in page]
            assert {c.id: c.started_at for c in listed} == begun
            assert len(listed) == len(begun)
            assert [c.started_at for c in listed] == sorted(begun.values(), reverse=True)
        assert timeline.conversations(a_scope(), 10, None).conversations == ()

    def test_a_conversation_that_was_left_is_not_listed_until_it_is_entered_again(
        self, timeline: Timeline, projections: Projections
    ) -> None:
        scope, other = a_scope(), a_scope()
        for whose, name in ((scope, "a"), (scope, "b"), (other, "a")):
            projections.enter_conversation(whose, name, NOW)
        for _ in range(2):
            projections.leave_conversation(scope, "a")
        projections.leave_conversation(a_scope(), "a")
        listed = [[one.id for one in timeline.conversations(s, 9, None).conversations] for s in (scope, other)]
        assert listed == [["b"], ["a"]]
        projections.enter_conversation(scope, "a", NOW + timedelta(hours=1))
        assert [one.id for one in timeline.conversations(scope, 9, None).conversations] == ["a", "b"]

    def test_one_event_of_many_writers_is_one_entry(self, timeline: Timeline, projections: Projections) -> None:
        scope = a_scope()
        event = append_event(timeline, scope, id=a_seed().nth(0), key="home")
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(lambda _: projections.fill_slot(scope, event), range(THREADS)))
        assert timeline.slot_history(scope, ("", "", "home")) == [entry_of(event)]


_AMBIGUOUS = (("a#b", None, "c"), ("a", "b", "c"), ("a", "b#c", "d"), ("a#b#c", None, "d"), (None, "a", "b#c#d"))


def failure_of(scope: Scope, event: Event, *, removed: bool = False, error: str = "ValueError") -> Failure:
    """Its own."""
    return Failure((PendingEvent(scope.user, event.ref),), error, Fault.OWN, removed=removed)


def quarantined(failed: FailedEvents, scope: Scope, event: Event, begin: datetime = NOW) -> datetime:
    """Fails it as often as it may, each time when it is due; when that was over."""
    moment = begin
    for _ in range(RETRY_POLICY.most_tries):
        assert failed.note(failure_of(scope, event), moment)
        moment += RETRY_POLICY.longest_pause
    return moment


class FailedProjectionsContract(OwnUser):
    """Markers and notes together."""

    @pytest.fixture
    def failed(self, items: Items, projections: Projections) -> FailedEvents:
        return FailedEvents(items, projections)

    def test_what_is_noted_is_in_no_page_until_it_is_due(
        self, timeline: Timeline, projections: Projections, failed: FailedEvents, scope: Scope
    ) -> None:
        events = append_events(timeline, scope, 3)
        assert failed.note(failure_of(scope, events[1]), NOW)
        assert [marker.ref for marker in pending_of(projections, scope)] == [events[0].ref, events[2].ref]
        assert timeline.find(scope, events[1].id) == events[1]
        assert events[1].ref in timeline.of_conversation(scope, events[1].conversation_id, 10)
        assert failed.due(NOW, 10, scope.tenant) == []
        (due,) = failed.due(NOW + RETRY_POLICY.first_pause, 10, scope.tenant)
        assert due.scope == scope.user
        assert due.failed == FailedProjection(
            ref=events[1].ref,
            error="ValueError",
            tries=1,
            first_at=NOW,
            last_at=NOW,
            next_at=NOW + RETRY_POLICY.first_pause,
            version=1,
        )

    def test_a_vector_that_is_kept_already_stays(
        self, timeline: Timeline, projections: Projections, failed: FailedEvents, scope: Scope
    ) -> None:
        event = append_event(timeline, scope)
        projections.save(scope, [Projection(event.ref, a_vector(), "test.1")])
        failed.note(failure_of(scope, event), NOW)
        assert projections.vectors(scope, [event.id])[event.id].generation == "test.1"

    def test_pauses_double_until_quarantine(self, timeline: Timeline, failed: FailedEvents, scope: Scope) -> None:
        event = append_event(timeline, scope)
        over = quarantined(failed, scope, event)
        assert failed.due(over + timedelta(days=365), 10, scope.tenant) == []
        (note,) = failed.listed(scope.tenant, 10)
        assert (note.failed.tries, note.failed.quarantined, note.failed.first_at) == (8, True, NOW)
        assert failed.note(failure_of(scope, event), over)
        assert failed.listed(scope.tenant, 10) == [note]

    def test_a_replay_makes_notes_due_once(self, timeline: Timeline, failed: FailedEvents, scope: Scope) -> None:
        other = a_scope()
        mine, waiting = some_events(scope, 2)
        (theirs,) = some_events(other, 1)
        timeline.append(scope, writes_of(scope, [mine, waiting]))
        timeline.append(other, writes_of(other, [theirs]))
        over = max(quarantined(failed, scope, mine), quarantined(failed, other, theirs))
        failed.note(failure_of(scope, waiting), over)
        notes = failed.listed(scope.tenant, 10)
        assert [note.failed.ref for note in notes] == [mine.ref, waiting.ref]
        assert len(failed.replay(notes, "one", over)) == 2
        assert failed.replay(notes, "one", over) == []
        due = failed.due(over, 10, scope.tenant)
        assert {note.failed.ref for note in due} == {mine.ref, waiting.ref}
        assert {(note.failed.tries, note.failed.quarantined) for note in due} == {(0, False)}
        assert failed.due(over, 10, other.tenant) == []
        assert failed.standing(other.tenant).quarantined == 1
        failed.clear(due, over)
        assert failed.listed(scope.tenant, 10) == []

    def test_many_of_a_tenant_are_walked_in_pages(self, timeline: Timeline, failed: FailedEvents, scope: Scope) -> None:
        events = some_events(scope, 130)
        for start in range(0, 130, 65):
            timeline.append(scope, writes_of(scope, events[start : start + 65]))
        for event in events:
            failed.note(failure_of(scope, event), NOW)
        assert {note.failed.ref for note in failed.listed(scope.tenant, 1000)} == {event.ref for event in events}
        assert len(failed.listed(scope.tenant, 7)) == 7
        standing = failed.standing(scope.tenant)
        assert (standing.retried, standing.quarantined) == (130, 0)

    @pytest.mark.spec("P-22")
    def test_of_a_removal_the_marker_goes_and_the_note_is_tried_for_ever(
        self, timeline: Timeline, projections: Projections, failed: FailedEvents, scope: Scope
    ) -> None:
        event = append_event(timeline, scope)
        timeline.remove(scope, event, Removal())
        moment = NOW
        for _ in range(RETRY_POLICY.most_tries + 3):
            assert failed.note(failure_of(scope, event, removed=True), moment)
            moment += RETRY_POLICY.longest_pause
            assert pending_of(projections, scope) == []
            assert len(failed.due(moment, 10, scope.tenant)) == 1
        assert failed.standing(scope.tenant).quarantined == 1
        failed.forget(scope, [event.id], moment)
        assert failed.listed(scope.tenant, 10) == []

    def test_what_a_process_ended_with_is_set_apart(
        self, timeline: Timeline, projections: Projections, items: Items, failed: FailedEvents, scope: Scope
    ) -> None:
        events = append_events(timeline, scope, 3)
        timeline.remove(scope, events[2], Removal())
        markers = pending_of(projections, scope)
        stores = (timeline, projections, items, failed)

        def ended(given: Sequence[PendingEvent], _now: datetime, noting: Noting) -> ProjectionReport:
            with noting(given):
                raise GeneratorExit  # which nothing catches, as nothing does the end of a process

        with pytest.raises(GeneratorExit):
            ProjectPending(ended, *stores).project(markers, NOW)
        tried: list[str] = []

        def done(given: Sequence[PendingEvent], _now: datetime, noting: Noting) -> ProjectionReport:
            with noting(given):
                tried.extend(marker.ref.id for marker in given)
            return ProjectionReport(projected=len(given))

        pending, begun = ProjectPending(done, *stores), NOW + timedelta(seconds=1)
        assert (pending.project(markers, begun).elsewhere, tried) == (len(markers), [])
        assert failed.listed(scope.tenant, 10) == []
        over = NOW + 2 * LONGEST
        assert (pending.project(markers, over).elsewhere, {*tried}) == (0, {events[2].id})
        assert {marker.ref for marker in pending_of(projections, scope)} == {events[2].ref}
        due = failed.due(over, 10, scope.tenant)
        assert {note.failed.ref for note in due} == {event.ref for event in events[:2]}
        assert {(note.failed.error, note.failed.tries) for note in due} == {(PROCESS_ENDED, 1)}
        assert pending.project(markers, over).elsewhere == 0

    def test_a_try_alone_is_counted_before_it(self, timeline: Timeline, failed: FailedEvents, scope: Scope) -> None:
        event = append_event(timeline, scope)
        assert failed.set_apart([PendingEvent(scope, event.ref)], [event.id], NOW) == {event.id}
        (note,) = failed.due(NOW, 10, scope.tenant)
        begun = failed.begun_alone(note, NOW)
        assert begun is not None
        assert failed.begun_alone(note, NOW) is None
        assert failed.due(NOW, 10, scope.tenant) == []
        failed.ended_alone(begun, note, "Unavailable", NOW, is_own=False)
        (again,) = failed.due(NOW, 10, scope.tenant)
        assert again.failed.tries == 1
        begun = failed.begun_alone(again, NOW)
        assert begun is not None
        last = failed.begun_alone(begun, NOW)
        assert last is not None
        assert (last.failed.tries, last.failed.quarantined) == (RETRY_POLICY.most_ends, True)
        failed.ended_alone(last, begun, "ValueError", NOW, is_own=True)
        (raised,) = failed.listed(scope.tenant, 10)
        assert (raised.failed.error, raised.failed.tries, raised.failed.quarantined) == ("ValueError", 1, False)

    @pytest.mark.spec("P-22")
    def test_notes_are_erased_too(self, timeline: Timeline, failed: FailedEvents, eraser: Eraser, scope: Scope) -> None:
        old, new = append_events(timeline, scope, 2)
        quarantined(failed, scope, old)
        failed.note(failure_of(scope, new), NOW)
        erased(eraser, scope, Exempt(before=max(old.id, new.id)))
        assert [note.failed.ref.id for note in failed.listed(scope.tenant, 10)] == [max(old.id, new.id)]
        erased(eraser, scope)
        assert failed.listed(scope.tenant, 10) == []

    def test_any_names_are_told_apart(self, timeline: Timeline, projections: Projections, failed: FailedEvents) -> None:
        tenant = a_scope().tenant
        scopes = [a_scope(tenant=tenant, user_id=name) for name in HARD_IDS]
        for scope in scopes:
            event = append_event(timeline, scope)
            assert failed.note(failure_of(scope, event), NOW)
            assert pending_of(projections, scope) == []
        assert {note.scope for note in failed.listed(tenant, 1000)} == {scope.user for scope in scopes}
