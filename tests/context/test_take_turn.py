"""The turn: stored first, answered from memory, answered once; whatever fails, the user's words are stored."""

from dataclasses import replace
from typing import Any

import numpy
import pytest

from embedded.contradicting import on, say
from embedded.setting import ANNA, Memory, away, with_parts
from embedded.spoken import said_in
from embedded.turning import Talk, sent, talk
from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.context.turn import IDS_OF_A_TURN, MOST_CALLS, RESPONSE_BYTES, seed_of_call, seed_of_response
from recollect.contradictions.pairs import PairScores
from recollect.core.errors import (
    Conflict,
    InvalidInput,
    NotReady,
    OutOfTime,
    Throttled,
    TurnUnanswered,
    Unavailable,
    UpstreamFailed,
)
from recollect.core.event import ANSWERED_BY, QUOTING_MODEL, ContentType, Role, Source
from recollect.core.ids import IdSeed
from recollect.core.learned_share import LearnedShare, LearnedShares
from recollect.core.scope import Scope
from recollect.timeline.record import EventDraft
from recollect.tool_calls.protocol import ToolCall
from samples.judged import REMAINS

SAVE = '[[ABP_TOOL:save_memory]]\n{"content": "Likes tea", "source": "user", "user_id": "ben"}\n[[END_ABP_TOOL]]'
VCP = "<<<[TOOL_REQUEST]>>>\ntool_name:「始」search_memory「末」\nquery:「始」tea「末」\n<<<[END_TOOL_REQUEST]>>>"


@pytest.mark.spec("K-74", "K-75", "K-80", "K-89", "K-96")
def test_input_and_response_are_stored_with_the_tags_of_the_input(memory: Memory) -> None:
    session = talk(memory, "It will rain.")
    answer = session.say("How is the weather today?")
    said, responded = session.stored()
    assert (said.id, said.role, said.content) == (answer.input_event_id, Role.USER, "How is the weather today?")
    assert (responded.id, responded.role, responded.content) == (answer.response_event_id, Role.BOT, "It will rain.")
    assert responded.tags == said.tags == ("weather", "question", "news")
    assert responded.content_type is ContentType.ASSISTANTRESPONSE
    assert responded.source is Source.CONVERSATION
    assert (responded.importance, responded.metadata["model"], answer.model) == (0.3, "scripted", "scripted")


@pytest.mark.spec("K-59", "K-60", "K-61", "K-62", "K-94")
def test_a_session_keeps_its_conversation_and_another_one_has_another(memory: Memory) -> None:
    first, second = talk(memory), talk(memory)
    for text in ("one", "two", "three"):
        first.say(text)
    second.say("elsewhere")
    by_conversation: dict[str, int] = {}
    for event in first.stored():
        by_conversation[event.conversation_id] = by_conversation.get(event.conversation_id, 0) + 1
    assert by_conversation == {first.conversation_id: 6, second.conversation_id: 2}
    third = talk(memory)
    third.conversation_id = first.conversation_id
    assert third.say("later").conversation_id == first.conversation_id


@pytest.mark.spec("K-79", "P-2", "P-23")
def test_the_whole_context_goes_to_the_model_and_the_input_once_and_last(memory: Memory) -> None:
    memory.add("My violin teacher is Ms Okafor", conversation="old")
    session = talk(memory)
    session.say("Hello there")
    answer = session.say("Who is my violin teacher?")
    assert answer.context is not None
    request = session.model.asked[-1]
    assert request.messages == answer.context.messages.messages
    assert [text for _, text in said_in(request.messages)] == ["Hello there", "I see.", "Who is my violin teacher?"]
    assert request.user_input == "Who is my violin teacher?"
    assert sent(request).count("Who is my violin teacher?") == 1
    assert "Ms Okafor" in sent(request)
    assert "You can call tools." in request.messages[0].content
    assert answer.context.prompt.text.endswith("\n\nCurrent user input: Who is my violin teacher?")


@pytest.mark.spec("K-77", "K-92")
@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (UpstreamFailed("no"), UpstreamFailed),
        (Throttled("slow down"), UpstreamFailed),
        (Unavailable("away"), UpstreamFailed),
        (NotReady("no key"), UpstreamFailed),
        (OutOfTime("too slow"), OutOfTime),
    ],
)
def test_a_failing_model_costs_no_word_of_the_users(memory: Memory, failure: Exception, cause: type) -> None:
    session = talk(memory, failure, "Better now.")
    seed = session.seed()
    with pytest.raises(TurnUnanswered) as raised:
        session.say("Remember my dog", seed)
    assert session.contents() == [("user", "Remember my dog")]
    assert raised.value.input_event_id == session.stored()[0].id
    assert raised.value.conversation_id == session.stored()[0].conversation_id
    assert isinstance(raised.value.cause, cause)
    answer = session.say("Remember my dog", seed, resumed=True)
    assert session.contents() == [("user", "Remember my dog"), ("bot", "Better now.")]
    assert answer.input_event_id == raised.value.input_event_id
    assert answer.conversation_id == raised.value.conversation_id


@pytest.mark.spec("K-77")
def test_a_model_that_cannot_even_be_made_costs_no_word_either(memory: Memory) -> None:
    session = talk(memory)

    def unmade() -> Any:
        raise NotReady("no such model")

    session.memory.app.context.turn._model = unmade
    with pytest.raises(TurnUnanswered):
        session.say("Remember my dog")
    assert session.contents() == [("user", "Remember my dog")]


@pytest.mark.spec("K-74")
def test_the_input_is_durable_before_anything_else_is_tried(memory: Memory) -> None:
    session = talk(memory, lambda _: str(session.contents()))
    assert session.say("first of all").response == "[('user', 'first of all')]"
    with away(session.memory, "timeline", "newest", "tail") as broken, pytest.raises(TurnUnanswered) as raised:
        Talk(broken, session.model).say("and this")
    assert isinstance(raised.value.cause, Unavailable)
    assert session.contents()[-1] == ("user", "and this")
    with away(session.memory, "timeline", "append") as broken, pytest.raises(Unavailable):
        Talk(broken, session.model).say("but not this")
    assert len(session.contents()) == 3


def test_a_retry_finds_the_response_that_was_stored_before_the_answer_was_lost(memory: Memory) -> None:
    session = talk(memory, "The first answer.", "Another answer.")
    seed = session.seed()
    first = session.say("hello", seed)
    again = session.say("hello", seed, resumed=True)
    assert (again.response, again.model, again.context) == ("The first answer.", "scripted", None)
    assert (again.input_event_id, again.response_event_id) == (first.input_event_id, first.response_event_id)
    assert len(session.model.asked) == 1
    assert len(session.stored()) == 2


def test_the_model_has_the_time_that_is_left(memory: Memory) -> None:
    session = talk(memory)
    session.say("hello", seconds=20.0)
    assert 17 < session.model.asked[0].seconds < 19
    with pytest.raises(TurnUnanswered) as raised:
        session.say("no time", seconds=1.0)
    assert isinstance(raised.value.cause, OutOfTime)
    assert len(session.model.asked) == 1
    assert session.contents()[-1] == ("user", "no time")


def test_an_input_beyond_the_budget_is_refused_and_not_stored(memory: Memory) -> None:
    session = talk(memory)
    with pytest.raises(InvalidInput) as raised:
        session.say("word " * 100, token_budget=50)
    assert raised.value.loc == ("body", "token_budget")
    assert session.stored() == []
    answer = session.say("short", token_budget=50)
    assert answer.context is not None
    assert answer.context.tokens <= 50
    assert session.model.asked[-1].messages == answer.context.messages.messages


def test_an_input_whose_value_was_rejected_begins_no_turn(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    session = talk(memory)
    from recollect.timeline.timeline import AppendOutcome, AppendStatus

    refused = [AppendOutcome(AppendStatus.REFUSED, None, None, "rejected")]
    monkeypatch.setattr(type(memory.app.parts.timeline), "append", lambda *_: refused)
    with pytest.raises(Conflict):
        session.say("I live in Paris")
    assert session.model.asked == []


@pytest.mark.spec("A-02", "A-07")
def test_calls_are_executed_and_leave_the_response(memory: Memory) -> None:
    session = talk(memory, f"Gladly.\n{SAVE}\nAnything else?")
    answer = session.say("I like tea")
    assert [call.tool for call in session.tools.calls] == ["save_memory"]
    assert answer.response == "Gladly.\n\nAnything else?"
    assert session.contents()[-1] == ("bot", answer.response)
    assert [one.status for one in answer.tool_calls] == ["done"]


@pytest.mark.spec("A-13")
def test_both_protocols_are_understood(memory: Memory) -> None:
    session = talk(memory, VCP)
    assert session.say("tea?").response == "It is done."
    assert [call.tool for call in session.tools.calls] == ["search_memory"]


def test_at_most_eight_calls_in_one_round(memory: Memory) -> None:
    session = talk(memory, "\n".join(SAVE.replace("tea", f"tea {n}") for n in range(11)))
    answer = session.say("I like tea")
    assert len(session.tools.calls) == MOST_CALLS == 8
    assert [one.status for one in answer.tool_calls] == ["done"] * 8 + ["refused"] * 3
    assert len({seed.nth(0) for seed in session.tools.seeds}) == 8
    assert len(session.model.asked) == 1


@pytest.mark.parametrize("empty", ["", " \n "])
def test_an_empty_answer_is_a_failing_model(memory: Memory, empty: str) -> None:
    session = talk(memory, empty)
    with pytest.raises(TurnUnanswered) as raised:
        session.say("hello")
    assert isinstance(raised.value.cause, UpstreamFailed)


def test_an_answer_without_end_is_cut_and_half_characters_are_mended(memory: Memory) -> None:
    session = talk(memory, "é" * RESPONSE_BYTES, "half \ud83d a pair")
    assert len(session.say("hello").response.encode()) == RESPONSE_BYTES
    assert session.say("hello again").response == "half ? a pair"


def test_the_turn_is_the_users_alone(memory: Memory) -> None:
    session = talk(memory)
    session.say("My secret is 42")
    other = replace(talk(memory), scope=Scope("acme", "ben"))
    other.say("What is the secret?")
    assert "42" not in sent(other.model.asked[-1])
    assert all(event.user_id == "ben" for event in other.stored())


def test_evidence_is_what_the_messages_hold_oldest_first_and_without_the_input(memory: Memory) -> None:
    memory.add("I have a dog", "It is called Rex")
    session = talk(memory)
    session.conversation_id = "c1"
    session.say("What is my dog called?")
    evidence = session.model.asked[0].evidence
    assert [(one.text, one.role) for one in evidence] == [("I have a dog", "user"), ("It is called Rex", "user")]
    assert [one.event_id for one in evidence] == memory.ids


@pytest.mark.spec("P-24")
def test_evidence_of_the_conversation_itself_is_what_holds(memory: Memory) -> None:
    say(memory, on(0, f"I live in Paris. {REMAINS}"), on(1, "My dentist is Dr Woods."), on(2, "I moved to Lyon."))
    say(memory, on(3, "My dentist is Dr Stone now."))
    session = talk(memory)
    session.conversation_id = "c1"
    session.say("Where do I live?")
    assert "I live in Paris." in sent(session.model.asked[0])
    evidence = [one.text for one in session.model.asked[0].evidence]
    assert evidence == [REMAINS, "I moved to Lyon.", "My dentist is Dr Stone now."]


@pytest.mark.spec("P-24")
@pytest.mark.parametrize("conversation", ["c1", "another"])
def test_evidence_says_what_may_have_changed_it(memory: Memory, conversation: str) -> None:
    old, newer = "I live in Marchmont near the canal", "First night in Leith near the canal"
    unsure = TablePairModel({(newer, old): PairScores(changed=0.4)})
    doubting = with_parts(memory, pair_model=unsure)
    say(doubting, on(0, old), on(1, newer))
    session = talk(doubting)
    session.conversation_id = conversation
    session.say("Where do I live near the canal?")
    evidence = session.model.asked[0].evidence
    assert [(one.text, one.against and one.against.words) for one in evidence] == [(old, newer), (newer, None)]


class Asking:
    """Stands before an embedder: any message asks, as likely as the bias says."""

    def __init__(self, embedder: Any, bias: float) -> None:
        self._embedder = embedder
        self.learned = LearnedShares(asks=LearnedShare(numpy.zeros(embedder.dimension, numpy.float32), bias))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)


@pytest.mark.parametrize(("bias", "kept"), [(5.0, ["It is in Italy."]), (-5.0, ["Tell me of Rome", "It is in Italy."])])
def test_what_surely_only_asks_is_no_evidence(memory: Memory, bias: float, kept: list[str]) -> None:
    memory.add("Tell me of Rome")
    memory.add(EventDraft(content="It is in Italy.", role=Role.BOT, timestamp=memory.now))
    memory.project()
    session = talk(memory, embedder=Asking(memory.app.parts.embedder, bias))
    session.conversation_id = "c1"
    session.say("What of Rome?")
    assert [one.text for one in session.model.asked[0].evidence] == kept


def test_a_turn_is_published_like_any_event(memory: Memory) -> None:
    talk(memory).say("hello")
    memory.project()
    published = memory.app.parts.publisher.published(ANNA.tenant, None, None)
    assert [event.detail["content"] for event in published] == ["hello", "I see."]


def test_an_answer_that_only_quotes_is_stored_and_recalled_nowhere(memory: Memory) -> None:
    memory.add("My lurcher is called Biscuit")
    said = EventDraft(content="You said: my lurcher is called Biscuit", role=Role.BOT, timestamp=memory.now)
    memory.add(replace(said, metadata={ANSWERED_BY: QUOTING_MODEL}, importance=0.9), conversation="chat")
    for _ in ("in the tail", "projected"):
        assert memory.found("lurcher Biscuit") == ["My lurcher is called Biscuit"]
        assert memory.found("You said lurcher", mode="semantic", min_similarity=-1.0) == [
            "My lurcher is called Biscuit"
        ]
        answer = memory.context("What is my lurcher called?", conversation_id="new")
        assert [one.selected.item.content for one in answer.items] == ["My lurcher is called Biscuit"]
        memory.project()
    assert ("assistant", said.content) in said_in(memory.context("go on", conversation_id="chat").messages.messages)


SEED = IdSeed(1_700_000_000_000 << 12, 42)


@pytest.mark.spec("P-21")
def test_ids_follow_the_order_in_which_things_are_said() -> None:
    calls = [seed_of_call(SEED, place, ToolCall("save_memory", {"content": str(place)})) for place in range(8)]
    made = [SEED.nth(0), SEED.nth(1), *(seed.nth(n) for seed in calls for n in range(4)), seed_of_response(SEED).nth(0)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert seed_of_response(SEED).nth(1) < IdSeed(SEED.tick + IDS_OF_A_TURN, 0).nth(0)


def test_the_same_call_has_the_same_ids_and_another_one_others() -> None:
    tea, cake = (ToolCall("save_memory", {"content": content}) for content in ("tea", "cake"))
    assert seed_of_call(SEED, 0, tea) == seed_of_call(SEED, 0, ToolCall("save_memory", {"content": "tea"}))
    others = [seed_of_call(SEED, 0, cake), seed_of_call(SEED, 1, tea), seed_of_call(IdSeed(SEED.tick, 43), 0, tea)]
    assert len({seed.nth(0) for seed in [seed_of_call(SEED, 0, tea), *others]}) == 4


def test_neither_the_order_of_fields_nor_a_call_beyond_the_last_makes_other_ids() -> None:
    one, other = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert seed_of_call(SEED, 0, ToolCall("t", one)) == seed_of_call(SEED, 0, ToolCall("t", other))
    last = seed_of_call(SEED, 7, ToolCall("t", one))
    assert seed_of_call(SEED, 8, ToolCall("t", one)) == last
    assert seed_of_call(SEED, 99, ToolCall("t", one)) == last
    assert (last.tick - SEED.tick, seed_of_response(SEED).tick - SEED.tick) == (2 + 7 * 4, 2 + 8 * 4)
    assert 0 <= last.tail < 1 << 62
