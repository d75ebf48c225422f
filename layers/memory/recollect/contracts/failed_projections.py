"""What the store promises of events that could not be projected: a note keeps them out of everybody's way.

A subclass gives the fixtures `timeline`, `projections`, `items` and `eraser`, over one store.
"""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from recollect.application.failed_events import FailedEvents
from recollect.application.projection_attempt import Failure
from recollect.contracts.examples import HARD_IDS, NOW, a_scope, a_vector, some_events, writes_of
from recollect.contracts.projections import pending_of
from recollect.domain.erasure import Kept
from recollect.domain.event import Event
from recollect.domain.failed_projections import RETRY_POLICY, FailedProjection, Fault
from recollect.domain.scope import Scope
from recollect.domain.timeline import PendingEvent, Projection, Removal
from recollect.ports import Eraser, Items, Projections, Timeline


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


class FailedProjectionsContract:
    """Markers and notes together."""

    @pytest.fixture
    def failed(self, items: Items, projections: Projections) -> FailedEvents:
        return FailedEvents(items, projections)

    @pytest.fixture
    def scope(self) -> Scope:
        """Of a tenant that no other test has."""
        return Scope(uuid4().hex, "anna")

    def test_what_is_noted_is_in_no_page_until_it_is_due(
        self, timeline: Timeline, projections: Projections, failed: FailedEvents, scope: Scope
    ) -> None:
        events = some_events(scope, 3)
        timeline.append(scope, writes_of(scope, events))
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
        (event,) = some_events(scope, 1)
        timeline.append(scope, writes_of(scope, [event]))
        projections.save(scope, [Projection(event.ref, a_vector(), "test.1")])
        failed.note(failure_of(scope, event), NOW)
        assert projections.vectors(scope, [event.id])[event.id].generation == "test.1"

    def test_each_failure_doubles_the_pause_and_the_last_one_quarantines(
        self, timeline: Timeline, failed: FailedEvents, scope: Scope
    ) -> None:
        (event,) = some_events(scope, 1)
        timeline.append(scope, writes_of(scope, [event]))
        over = quarantined(failed, scope, event)
        assert failed.due(over + timedelta(days=365), 10, scope.tenant) == []
        (note,) = failed.listed(scope.tenant, 10)
        assert (note.failed.tries, note.failed.quarantined, note.failed.first_at) == (8, True, NOW)
        assert failed.note(failure_of(scope, event), over)
        assert failed.listed(scope.tenant, 10) == [note]

    def test_a_replay_makes_the_tenants_notes_due_and_is_safe_to_do_twice(
        self, timeline: Timeline, failed: FailedEvents, scope: Scope
    ) -> None:
        other = Scope(uuid4().hex, "anna")
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

    def test_many_of_a_tenant_are_walked_page_by_page(
        self, timeline: Timeline, failed: FailedEvents, scope: Scope
    ) -> None:
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
        (event,) = some_events(scope, 1)
        timeline.append(scope, writes_of(scope, [event]))
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

    @pytest.mark.spec("P-22")
    def test_a_note_goes_with_its_user(
        self, timeline: Timeline, failed: FailedEvents, eraser: Eraser, scope: Scope
    ) -> None:
        old, new = some_events(scope, 2)
        timeline.append(scope, writes_of(scope, [old, new]))
        quarantined(failed, scope, old)
        failed.note(failure_of(scope, new), NOW)
        _erase(eraser, scope, Kept(before=max(old.id, new.id)))
        assert [note.failed.ref.id for note in failed.listed(scope.tenant, 10)] == [max(old.id, new.id)]
        _erase(eraser, scope, Kept())
        assert failed.listed(scope.tenant, 10) == []

    def test_users_and_events_of_any_name_are_told_apart(
        self, timeline: Timeline, projections: Projections, failed: FailedEvents
    ) -> None:
        tenant = uuid4().hex
        scopes = [a_scope(tenant=tenant, user_id=name) for name in HARD_IDS]
        for scope in scopes:
            (event,) = some_events(scope, 1)
            timeline.append(scope, writes_of(scope, [event]))
            assert failed.note(failure_of(scope, event), NOW)
            assert pending_of(projections, scope) == []
        assert {note.scope for note in failed.listed(tenant, 1000)} == {scope.user for scope in scopes}


def _erase(eraser: Eraser, scope: Scope, kept: Kept) -> None:
    after: str | None = None
    for _ in range(100):
        after = eraser.erase(scope, kept, 10, after).more
        if after is None:
            return
