"""What every `Publisher` promises (A-58, A-59; api.md, `GET /v1/bus`)."""

import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.contracts.examples import FOUR_BYTES, HARD_IDS, NOW, a_scope, an_event, some_events
from recollect.domain.bus import EPISODIC_SAVED, KEPT_PER_TENANT, BusEvent, episodic_saved
from recollect.domain.event import Event
from recollect.domain.scope import Scope
from recollect.ports import Publisher

Keep = Callable[[Scope, list[Event]], None]
WARNING = "memory:episodic:warning"


def saved(events: list[Event]) -> list[BusEvent]:
    """What is published of events, each when it was recorded."""
    return [episodic_saved(event, event.recorded_at) for event in events]


def a_warning(after: timedelta = timedelta(0)) -> BusEvent:
    """A published event that is about no event of the timeline."""
    detail = {"severity": "high", "reason": "capacity", "hints": ["add capacity", "日本"], "lagMs": 12.5, "to": None}
    return BusEvent(str(uuid.uuid4()), WARNING, NOW + after, detail)  # type: ignore[arg-type]


class PublisherContract:
    """Hold an adapter to it by a subclass that gives the fixtures `publisher` and `keep`.

    `keep` makes events durable in the timeline that the publisher belongs to: what is published is stored before.
    """

    @pytest.mark.spec("A-58", "A-59")
    def test_what_is_published_is_read_back_as_it_was(self, publisher: Publisher, keep: Keep) -> None:
        scope = a_scope(persona_id="p")
        events = [an_event(scope, importance=0.8, content="“quoted” 🙂\n", recorded_at=NOW + timedelta(seconds=3))]
        keep(scope, events)
        assert publisher.publish(scope.tenant, saved(events)) == []
        (found,) = publisher.published(scope.tenant, None, None)
        assert found == saved(events)[0]
        assert dict(found.detail) == {
            "eventId": events[0].id,
            "userId": scope.user_id,
            "personaId": "p",
            "eventType": "conversation",
            "timestamp": "2025-03-01T12:00:00.000000Z",
            "importance": 0.8,
            "content": "“quoted” 🙂\n",
            "segmentId": None,
        }

    def test_nothing_published_nothing_read(self, publisher: Publisher) -> None:
        assert publisher.publish(a_scope().tenant, []) == []
        assert publisher.published(a_scope().tenant, None, None) == []

    def test_events_come_oldest_first(self, publisher: Publisher, keep: Keep) -> None:
        scope = a_scope()
        events = some_events(scope, 30)
        keep(scope, events)
        for start in range(0, 30, 10):
            assert publisher.publish(scope.tenant, saved(events[start : start + 10])) == []
        assert publisher.published(scope.tenant, None, None) == saved(events)

    def test_after_gives_what_follows(self, publisher: Publisher, keep: Keep) -> None:
        scope = a_scope()
        events = some_events(scope, 5)
        keep(scope, events)
        publisher.publish(scope.tenant, saved(events))
        assert publisher.published(scope.tenant, None, events[2].id) == saved(events[3:])
        assert publisher.published(scope.tenant, None, events[-1].id) == []

    def test_an_unknown_after_gives_all(self, publisher: Publisher, keep: Keep) -> None:
        scope = a_scope()
        events = some_events(scope, 3)
        keep(scope, events)
        publisher.publish(scope.tenant, saved(events))
        assert publisher.published(scope.tenant, None, "unknown") == saved(events)

    def test_a_repetition_is_listed_once(self, publisher: Publisher, keep: Keep) -> None:
        scope = a_scope()
        events = some_events(scope, 3)
        keep(scope, events)
        publisher.publish(scope.tenant, saved(events))
        later = [replace(one, time=one.time + timedelta(minutes=1)) for one in saved(events)]
        assert publisher.publish(scope.tenant, [*saved(events[:1]), *later[1:]]) == []
        assert publisher.published(scope.tenant, None, None) == saved(events)

    def test_other_types_keep_their_detail(self, publisher: Publisher) -> None:
        tenant = a_scope().tenant
        warning = a_warning()
        assert publisher.publish(tenant, [warning]) == []
        assert publisher.published(tenant, None, None) == [warning]

    def test_a_type_is_picked(self, publisher: Publisher, keep: Keep) -> None:
        scope = a_scope()
        events = some_events(scope, 2)
        keep(scope, events)
        warning = a_warning(timedelta(seconds=1))
        publisher.publish(scope.tenant, [*saved(events), warning])
        assert publisher.published(scope.tenant, WARNING, None) == [warning]
        assert publisher.published(scope.tenant, EPISODIC_SAVED, None) == saved(events)
        assert publisher.published(scope.tenant, WARNING, events[0].id) == [warning]
        assert publisher.published(scope.tenant, "memory:episodic:pruned", None) == []

    def test_tenants_are_apart(self, publisher: Publisher, keep: Keep) -> None:
        tenants = [*HARD_IDS, a_scope().tenant]
        tenants = [tenant + uuid.uuid4().hex[:8] if len(tenant) < 100 else tenant for tenant in tenants]
        for tenant in tenants:
            scope = Scope(tenant, FOUR_BYTES)
            event = an_event(scope, content=f"of {tenant}")
            keep(scope, [event])
            publisher.publish(tenant, saved([event]))
        for tenant in tenants:
            assert [one.detail["content"] for one in publisher.published(tenant, None, None)] == [f"of {tenant}"]

    def test_the_last_thousand_are_kept(self, publisher: Publisher) -> None:
        tenant = a_scope().tenant
        warnings = [a_warning(timedelta(seconds=n)) for n in range(KEPT_PER_TENANT + 50)]
        for start in range(0, len(warnings), 350):
            assert publisher.publish(tenant, warnings[start : start + 350]) == []
        assert publisher.published(tenant, None, None) == warnings[50:]
        assert publisher.published(tenant, None, warnings[-3].id) == warnings[-2:]
