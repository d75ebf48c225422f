"""The contract of `Projections` about the segments of events: they are stored beside the vectors.

A subclass gives `timeline` and `projections`, over one store.
"""

import numpy as np
import pytest

from recollect.contracts.examples import OwnUser, a_scope, a_vector, append_event, append_events
from recollect.contracts.projections import pending_of
from recollect.core.scope import Scope
from recollect.ports import Projections, Timeline
from recollect.timeline.timeline import PlacedEvent, Projection, Removal


class SegmentsOfEventsContract(OwnUser):
    """Kept whatever is saved later, known until a deleted event is forgotten."""

    @pytest.mark.spec("A-59")
    def test_a_segment_is_kept_with_the_vector(
        self, timeline: Timeline, projections: Projections, scope: Scope
    ) -> None:
        """Whatever is saved later without one."""
        first, second, bare = events = append_events(timeline, scope, 3)
        projections.save(scope, [Projection(e.ref, a_vector(), "model.1", n) for e, n in ((first, 1), (second, 12))])
        projections.save(scope, [Projection(bare.ref, None, None)])
        ids = [event.id for event in events]
        assert {i: one.segment for i, one in projections.vectors(scope, ids).items()} == {
            first.id: 1, second.id: 12, bare.id: None,
        }  # fmt: skip
        projections.save(scope, [Projection(first.ref, None, None), Projection(second.ref, a_vector(0.9), "model.2")])
        found = projections.vectors(scope, ids)
        assert (found[first.id].vector, found[first.id].generation, found[first.id].segment) == (None, None, 1)
        assert (found[second.id].generation, found[second.id].segment) == ("model.2", 12)
        assert np.array_equal(found[second.id].vector, a_vector(0.9))  # type: ignore[arg-type]
        assert projections.places(scope, ids) == {e.id: PlacedEvent(e.ref, n) for e, n in ((first, 1), (second, 12))}
        assert projections.places(scope, []) == projections.places(a_scope(), ids) == {}

    @pytest.mark.spec("A-59")
    def test_an_event_is_placed_before_it_has_a_vector(
        self, timeline: Timeline, projections: Projections, scope: Scope
    ) -> None:
        event, other = append_events(timeline, scope, 2, importance=0.9)
        projections.save(scope, [Projection(other.ref, a_vector(), "model.1")])
        for number in (3, 4):  # the first stays
            projections.place(scope, event, number)
            projections.place(scope, other, number)
        assert {i: one.segment for i, one in projections.places(scope, [event.id, other.id]).items()} == {
            event.id: 3, other.id: 3,
        }  # fmt: skip
        found = projections.vectors(scope, [event.id, other.id])
        assert found[event.id] == Projection(event.ref, None, None, 3)
        assert np.array_equal(found[other.id].vector, a_vector())  # type: ignore[arg-type]
        assert found[other.id].generation == "model.1"
        assert {ref.id for ref in timeline.important(scope, 10)} == {event.id, other.id}
        projections.save(scope, [Projection(event.ref, a_vector(), "model.1")])
        assert projections.vectors(scope, [event.id])[event.id].segment == 3

    @pytest.mark.spec("P-22")
    def test_a_deleted_event_gets_no_segment(self, timeline: Timeline, projections: Projections, scope: Scope) -> None:
        event = append_event(timeline, scope)
        assert timeline.remove(scope, event, Removal())
        projections.place(scope, event, 1)
        assert projections.places(scope, [event.id]) == {}
        assert projections.vectors(scope, [event.id]) == {}
        assert {marker.ref for marker in pending_of(projections, scope)} == {event.ref}

    @pytest.mark.spec("P-22")
    def test_the_segment_of_a_deleted_event_is_known_until_it_is_forgotten(
        self, timeline: Timeline, projections: Projections, scope: Scope
    ) -> None:
        """Also where its removal is to be tried again later, without its markers and its vector."""
        event, other, bare = append_events(timeline, scope, 3)
        projections.save(scope, [Projection(e.ref, a_vector(), "model.1", 2) for e in (event, other)])
        projections.save(scope, [Projection(bare.ref, a_vector(), "model.1")])
        assert timeline.remove(scope, bare, Removal())
        assert timeline.remove(scope, event, Removal())
        assert projections.places(scope, [event.id]) == {event.id: PlacedEvent(event.ref, 2)}
        for _ in range(2):
            projections.forget(scope, [event.ref, bare.ref], keeps_segment=True)
        assert {marker.ref for marker in pending_of(projections, scope)} == {other.ref}
        assert projections.places(scope, [event.id, bare.id]) == {event.id: PlacedEvent(event.ref, 2)}
        assert {i: one.vector for i, one in projections.vectors(scope, [event.id, bare.id]).items()} == {event.id: None}
        projections.forget(scope, [event.ref])
        assert projections.places(scope, [event.id, other.id]) == {other.id: PlacedEvent(other.ref, 2)}
