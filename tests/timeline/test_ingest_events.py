"""Ingest: durable before the answer, once whatever is sent again."""

from datetime import timedelta

import pytest

from embedded.setting import ANNA, NOON, Memory, away
from recollect.core.errors import Unavailable
from recollect.core.event import ContentType, Role, Source
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.ingest import FieldError, IngestStatus, InvalidDraft
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import WindowQuery


def stored(memory: Memory) -> list[str]:
    page = memory.app.timeline.listing.window(ANNA, WindowQuery(now=memory.now, window=TimeWindow(), limit=200))
    return [event.content for event in page.events]


@pytest.mark.spec("K-74", "A-41", "A-42")
def test_events_are_stored_in_the_order_of_their_time(memory: Memory) -> None:
    memory.add(
        EventDraft(content="second", timestamp=NOON), EventDraft(content="first", timestamp=NOON - timedelta(days=1))
    )
    memory.add(EventDraft(content="third", timestamp=NOON))
    assert stored(memory) == ["third", "second", "first"]


@pytest.mark.spec("K-01", "K-06", "K-14", "K-87", "K-98")
def test_what_is_absent_follows_the_rules(memory: Memory) -> None:
    answer = memory.add(
        EventDraft(content="I always walk"),
        EventDraft(content="Fine", role=Role.BOT),
        EventDraft(content="Tea, never coffee", content_type="UserPreference", importance=0.25),
    )
    events = [result.event for result in answer.results if result.event]
    assert [event.importance for event in events] == [0.6, 0.3, 0.25]
    assert [event.content_type for event in events] == [
        ContentType.USERINPUT,
        ContentType.ASSISTANTRESPONSE,
        ContentType.USERPREFERENCE,
    ]
    assert [event.source for event in events] == [Source.USER, Source.CONVERSATION, Source.USER]


@pytest.mark.spec("A-43")
def test_the_same_event_again_is_a_duplicate_and_names_the_first(memory: Memory) -> None:
    draft = EventDraft(content="I live in Paris", timestamp=NOON)
    first = memory.add(draft).results[0]
    again = memory.add(draft, draft).results
    assert [result.status for result in again] == [IngestStatus.DUPLICATE] * 2
    assert {result.event_id for result in again} == {first.event_id}
    assert stored(memory) == ["I live in Paris"]


@pytest.mark.spec("A-43")
def test_twice_in_one_request_is_once(memory: Memory) -> None:
    draft = EventDraft(content="ok", timestamp=NOON)
    results = memory.add(draft, EventDraft(content="else", timestamp=NOON), draft).results
    assert [r.status for r in results] == [IngestStatus.CREATED, IngestStatus.CREATED, IngestStatus.DUPLICATE]
    assert results[2].event_id == results[0].event_id


@pytest.mark.spec("A-43")
def test_two_peoples_ok_at_one_instant_are_two_events(memory: Memory) -> None:
    memory.add(
        EventDraft(content="ok", speaker="Anna", timestamp=NOON),
        EventDraft(content="ok", speaker="Ben", timestamp=NOON),
    )
    assert stored(memory) == ["ok", "ok"]


def test_without_a_timestamp_the_same_words_are_said_again(memory: Memory) -> None:
    memory.add(EventDraft(content="ok"), EventDraft(content="ok"))
    assert stored(memory) == ["ok", "ok"]


def test_a_bad_event_does_not_refuse_the_others(memory: Memory) -> None:
    bad = InvalidDraft((FieldError(("content",), "blank"),))
    seed = memory.app.ids.seed(0, 3)
    answer = memory.app.timeline.events.ingest(
        ANNA, "c1", [bad, EventDraft(content="good")], seed, NOON, memory.app.rules.resolved("acme")
    )
    assert [result.status for result in answer.results] == [IngestStatus.INVALID, IngestStatus.CREATED]
    assert answer.results[0].errors == bad.errors
    assert stored(memory) == ["good"]


def test_a_retry_with_the_same_seed_answers_the_same_ids(memory: Memory) -> None:
    drafts = [EventDraft(content="a"), EventDraft(content="b", timestamp=NOON)]
    seed = memory.app.ids.seed(0, 3)
    rules = memory.app.rules.resolved("acme")
    first = memory.app.timeline.events.ingest(ANNA, None, drafts, seed, NOON, rules)
    again = memory.app.timeline.events.ingest(ANNA, None, drafts, seed, NOON + timedelta(hours=1), rules)
    assert [r.event_id for r in again.results] == [r.event_id for r in first.results]
    assert [r.status for r in again.results] == [IngestStatus.CREATED] * 2
    assert again.conversation_id == first.conversation_id
    assert sorted(stored(memory)) == ["a", "b"]


@pytest.mark.spec("K-59", "K-61", "K-62")
def test_a_conversation_is_made_only_where_none_is_given(memory: Memory) -> None:
    assert memory.add("one", conversation="mine").conversation_id == "mine"
    made = {memory.add(text, conversation=None).conversation_id for text in ("two", "three")}
    assert len(made) == 2
    assert "mine" not in made


def test_an_import_run_twice_names_the_conversation_it_is_in(memory: Memory) -> None:
    draft = EventDraft(content="hello", timestamp=NOON)
    first = memory.add(draft, conversation=None)
    assert memory.add(draft, conversation=None).conversation_id == first.conversation_id


def test_nothing_is_answered_where_nothing_is_durable(memory: Memory) -> None:
    with away(memory, "timeline", "append") as broken, pytest.raises(Unavailable):
        broken.add("lost?")
    assert stored(memory) == []


@pytest.mark.spec("K-77")
@pytest.mark.parametrize(("part", "method"), [("index", "put"), ("publisher", "publish")])
def test_ingest_does_not_wait_for_what_is_derived(memory: Memory, part: str, method: str) -> None:
    with away(memory, part, method) as broken:
        assert broken.add("kept").results[0].status is IngestStatus.CREATED
    assert memory.project() == 1
