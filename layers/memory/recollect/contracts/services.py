"""The contracts of `Model` (`RemoteModelContract` for those behind a network) and of `Publisher` (A-58, A-59)."""

import time
import traceback
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum

import pytest

from recollect.context.model_call import Evidence, ModelRequest, Task
from recollect.context.rendering import Message, MessageRole
from recollect.contracts.examples import FOUR_BYTES, HARD_IDS, NOW, OwnUser, a_scope, an_event, some_events
from recollect.core.errors import OutOfTime, RecollectError, Throttled, Unavailable, UpstreamFailed
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.memories.memory import promoted
from recollect.ports import Model, Publisher
from recollect.timeline.bus import (
    EPISODIC_PRUNED,
    EPISODIC_SAVED,
    EPISODIC_WARNING,
    KEPT_PER_TENANT,
    SEMANTIC_SAVED,
    BusEvent,
    SegmentPlace,
    episodic_pruned,
    episodic_saved,
    semantic_saved,
)

SAID = "My lurcher is called Biscuit."
ASKED = "What is the name of my lurcher?"


class Trouble(StrEnum):
    """How a model's server may fail."""

    THROTTLED = "throttled: it asks for seven seconds"
    IN_TROUBLE = "an error of its own"
    REFUSED = "a refusal"
    SILENT = "no answer for seconds"
    TRICKLING = "an answer that comes a byte at a time"
    CUT = "an answer that breaks off"
    NO_JSON = "an answer that is no JSON"
    NO_MESSAGE = "JSON without a message"
    NO_TEXT = "a message without text"
    CUT_JSON = "a text that ends at the limit of tokens, where JSON was asked for"


PASSING: dict[Trouble, type[RecollectError]] = {
    Trouble.THROTTLED: Throttled,
    Trouble.IN_TROUBLE: Unavailable,
    Trouble.SILENT: OutOfTime,
    Trouble.TRICKLING: OutOfTime,
}
"""The errors after which another try may help; every other trouble is UpstreamFailed."""
_SLOW = (Trouble.SILENT, Trouble.TRICKLING)
_MOST_SECONDS = 2.0


def a_request(seconds: float = 5.0, *, json_answer: bool = False) -> ModelRequest:
    """A question with what was recalled for it."""
    return ModelRequest(
        task=Task.CONVERSE,
        messages=(Message(MessageRole.SYSTEM, f"Recalled: {SAID}"), Message(MessageRole.USER, ASKED)),
        evidence=(Evidence("e1", SAID, "user", NOW),),
        user_input=ASKED,
        seconds=seconds,
        json_answer=json_answer,
    )


class ModelContract:
    """A subclass gives the fixture `model`: one that answers."""

    @pytest.mark.spec("K-79")
    def test_it_answers_with_a_text_and_says_who_did(self, model: Model) -> None:
        answer = model.generate(a_request())
        assert answer.text.strip()
        assert answer.model
        assert answer.model in model.name

    def test_its_name_stays(self, model: Model) -> None:
        before = model.name
        model.generate(a_request())
        assert model.name == before != ""

    def test_unusual_messages_are_no_trouble(self, model: Model) -> None:
        bot, user = Message(MessageRole.ASSISTANT, "Hello!"), Message(MessageRole.USER, "日本 🙂\x00 \n[[")
        for messages in ((bot,), (bot, user, user, bot, bot, user), (user, Message(MessageRole.SYSTEM, "")), (user,)):
            assert model.generate(replace(a_request(), messages=messages, evidence=())).text.strip()


class RemoteModelContract(ModelContract):
    """A subclass gives `model`, and `suffer`: it makes the model's server answer with a trouble from then on."""

    @pytest.mark.spec("H-27", "H-30", "K-77")
    @pytest.mark.parametrize("trouble", list(Trouble))
    def test_each_trouble_is_an_error_of_the_tree_that_shows_nothing_of_what_was_said(
        self, model: Model, suffer: Callable[[Trouble], None], trouble: Trouble
    ) -> None:
        suffer(trouble)
        seconds = 0.25 if trouble in _SLOW else 10.0  # more than a busy machine needs
        began = time.monotonic()
        with pytest.raises(PASSING.get(trouble, UpstreamFailed)) as raised:
            model.generate(a_request(seconds, json_answer=True))
        assert time.monotonic() - began < _MOST_SECONDS
        if isinstance(raised.value, Throttled):
            assert raised.value.retry_after_seconds == 7
        assert raised.value.__cause__ is None
        shown = "".join(traceback.format_exception_only(raised.value))
        assert not any(word in shown for word in ("lurcher", "Biscuit", "Bearer"))


Keep = Callable[[Scope, list[Event]], None]
Unreliable = Callable[[dict[str, int]], Publisher]


def saved(events: list[Event]) -> list[BusEvent]:
    """What is published of events, each when it was recorded."""
    return [episodic_saved(event, event.recorded_at) for event in events]


def a_warning(after: timedelta = timedelta(0)) -> BusEvent:
    """A published event that is about no event of the timeline."""
    detail = {"severity": "high", "reason": "capacity", "hints": ["add capacity", "日本"], "lagMs": 12.5, "to": None}
    return BusEvent(str(uuid.uuid4()), EPISODIC_WARNING, NOW + after, detail)  # type: ignore[arg-type]


class PublisherContract(OwnUser):
    """A subclass gives the fixtures `publisher`, `keep` and `unreliable`.

    `keep` makes events durable in the publisher's timeline, since events are published after they are stored.
    `unreliable` makes a publisher whose bus fails the events of these ids so many times, without waiting between.
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
            "timelineLagMs": 3000,
            "segmentCount": 0,
        }

    @pytest.mark.spec("A-59", "A-61")
    def test_the_segment_is_read_back(self, publisher: Publisher, keep: Keep, scope: Scope) -> None:
        event = an_event(scope)
        keep(scope, [event])
        published = episodic_saved(event, NOW, SegmentPlace("0000000000000042", 7))
        assert (published.detail["segmentId"], published.detail["segmentCount"]) == ("0000000000000042", 7)
        assert publisher.publish(scope.tenant, [published]) == []
        assert publisher.published(scope.tenant, None, None) == [published]

    @pytest.mark.spec("A-23")
    def test_a_memory_is_published_beside_its_event(self, publisher: Publisher, keep: Keep) -> None:
        scope = a_scope(persona_id="p", household_id="h")
        event = an_event(scope, content="“words” 🙂")
        keep(scope, [event])
        memory = semantic_saved(promoted(event, ("k",), NOW), NOW + timedelta(seconds=1))
        assert memory.id != event.id
        assert publisher.publish(scope.tenant, [*saved([event]), memory]) == []
        assert publisher.publish(scope.tenant, [replace(memory, time=NOW + timedelta(hours=1))]) == []
        assert publisher.published(scope.tenant, None, None) == [*saved([event]), memory]
        assert publisher.published(scope.tenant, SEMANTIC_SAVED, event.id) == [memory]
        assert publisher.published(scope.tenant, EPISODIC_SAVED, memory.id) == []

    @pytest.mark.spec("A-62", "A-63")
    def test_what_was_pruned_is_listed_by_ids_and_hashes(self, publisher: Publisher, scope: Scope) -> None:
        pruned = episodic_pruned(scope, some_events(scope, 3), "retention", NOW)
        assert publisher.publish(scope.tenant, pruned) == []
        assert publisher.published(scope.tenant, EPISODIC_PRUNED, None) == pruned

    def test_what_the_bus_takes_at_a_second_try_is_taken(self, unreliable: Unreliable) -> None:
        tenant, warnings = a_scope().tenant, [a_warning(timedelta(seconds=n)) for n in range(12)]
        publisher = unreliable({warnings[3].id: 1, warnings[11].id: 2})
        assert publisher.publish(tenant, warnings) == []
        assert publisher.published(tenant, None, None) == warnings

    def test_what_the_bus_does_not_take_is_named_and_not_listed(self, unreliable: Unreliable) -> None:
        tenant, warnings = a_scope().tenant, [a_warning(timedelta(seconds=n)) for n in range(12)]
        refused = [warnings[3], warnings[11]]
        publisher = unreliable({one.id: 3 for one in refused})
        assert publisher.publish(tenant, warnings) == [one.id for one in refused]
        assert publisher.published(tenant, None, None) == [one for one in warnings if one not in refused]
        assert publisher.publish(tenant, refused) == []
        assert sorted(one.id for one in publisher.published(tenant, None, None)) == sorted(one.id for one in warnings)

    def test_nothing_published_nothing_read(self, publisher: Publisher) -> None:
        assert publisher.publish(a_scope().tenant, []) == []
        assert publisher.published(a_scope().tenant, None, None) == []

    def test_events_come_oldest_first(self, publisher: Publisher, keep: Keep, scope: Scope) -> None:
        events = some_events(scope, 30)
        keep(scope, events)
        for start in range(0, 30, 10):
            assert publisher.publish(scope.tenant, saved(events[start : start + 10])) == []
        assert publisher.published(scope.tenant, None, None) == saved(events)

    def test_after_gives_what_follows(self, publisher: Publisher, keep: Keep, scope: Scope) -> None:
        events = some_events(scope, 5)
        keep(scope, events)
        publisher.publish(scope.tenant, saved(events))
        assert publisher.published(scope.tenant, None, events[2].id) == saved(events[3:])
        assert publisher.published(scope.tenant, None, events[-1].id) == []
        assert publisher.published(scope.tenant, None, "unknown") == saved(events)

    def test_a_repetition_is_listed_once(self, publisher: Publisher, keep: Keep, scope: Scope) -> None:
        events = some_events(scope, 3)
        keep(scope, events)
        publisher.publish(scope.tenant, saved(events))
        later = [replace(one, time=one.time + timedelta(minutes=1)) for one in saved(events)]
        assert publisher.publish(scope.tenant, [*saved(events[:1]), *later[1:]]) == []
        assert publisher.published(scope.tenant, None, None) == saved(events)

    def test_a_type_is_picked(self, publisher: Publisher, keep: Keep, scope: Scope) -> None:
        events = some_events(scope, 2)
        keep(scope, events)
        warning = a_warning(timedelta(seconds=1))
        publisher.publish(scope.tenant, [*saved(events), warning])
        assert publisher.published(scope.tenant, EPISODIC_WARNING, None) == [warning]
        assert publisher.published(scope.tenant, EPISODIC_SAVED, None) == saved(events)
        assert publisher.published(scope.tenant, EPISODIC_WARNING, events[0].id) == [warning]
        assert publisher.published(scope.tenant, EPISODIC_PRUNED, None) == []

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
