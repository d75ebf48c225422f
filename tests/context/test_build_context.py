"""Context: the right lines, each once, in order, inside the budget; and it stores nothing."""

import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from embedded.deciding import PROMOTED, TITLE, merge, remember, supersede
from embedded.setting import ANNA, NOON, Memory, with_parts
from embedded.spoken import dated, said_in
from embedded.standing import Before
from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.core.errors import InvalidInput
from recollect.core.event import Event, Role
from recollect.core.scope import Scope
from recollect.core.vectors import Encoding, TextKind
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import WindowQuery


def contents(memory: Memory, text: str, **changes: Any) -> list[str]:
    return [selected.item.content for selected in memory.context(text, **changes).prompt.memories]


@pytest.mark.spec("K-15", "K-22", "K-25", "K-88")
def test_at_most_eight_none_twice_oldest_first(memory: Memory) -> None:
    memory.add(*(f"note about the dog {n}" for n in range(20)), EventDraft(content="Remember my dog", timestamp=NOON))
    memory.project()
    items = [selected.item for selected in memory.context("the dog", conversation_id="c1").prompt.memories]
    assert len(items) == 8
    assert len({item.id for item in items}) == 8
    assert [item.timestamp for item in items] == sorted(item.timestamp for item in items)


@pytest.mark.spec("K-16", "K-17", "K-20", "K-86", "K-88", "K-99")
def test_the_three_sources_stand_side_by_side(memory: Memory) -> None:
    memory.add(
        EventDraft(content="Remember that I never eat nuts", timestamp=NOON - timedelta(days=90)), conversation="old"
    )
    memory.add(
        EventDraft(content="My violin teacher is Ms Okafor", timestamp=NOON - timedelta(days=60)), conversation="old"
    )
    memory.add(*(f"small talk {n}" for n in range(12)))
    memory.project()
    answer = memory.context("When is my violin lesson, and can I eat nuts there?", conversation_id="c1")
    by_content = {selected.item.content: selected.section.value for selected in answer.prompt.memories}
    assert by_content["My violin teacher is Ms Okafor"] == "semantic"
    assert by_content["Remember that I never eat nuts"] in ("semantic", "important")
    assert by_content["small talk 11"] == "recent"


@pytest.mark.spec("K-18", "K-35", "K-36")
def test_the_current_input_appears_once_and_last(memory: Memory) -> None:
    memory.add("I have a dog", "Where do I live?")
    assert contents(memory, " Where do I live? ", conversation_id="c1") == ["I have a dog"]
    assert contents(memory, "dog?", conversation_id="c1", input_event_id=memory.ids[1]) == ["I have a dog"]
    assert memory.context("dog?").prompt.text.endswith("Current user input: dog?")


class Meanwhile(HashingEmbedder):
    """Encodes when the newest events were read, and not before."""

    def __init__(self) -> None:
        super().__init__()
        self.read = threading.Event()

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        assert self.read.wait(10), "nothing was read while the question was being encoded"
        return super().encode(texts, kind, with_tokens=with_tokens)


def test_in_process_the_newest_are_read_while_the_question_is_encoded(memory: Memory) -> None:
    memory.add("I have a dog", "My sister paints")
    memory.project()
    embedder = Meanwhile()

    class Noted(Before):
        def newest(self, scope: Scope, limit: int) -> list[Event]:
            found: list[Event] = self.part.newest(scope, limit)
            embedder.read.set()
            return found

    asked = with_parts(memory, embedder=embedder, timeline=Noted(memory.app.parts.timeline))
    found = asked.context("the dog").gathered.recalled
    assert found.missing == ()
    assert [one.id for one in found.ranked] == [one.id for one in memory.context("the dog").gathered.recalled.ranked]


@pytest.mark.spec("K-96")
def test_it_stores_nothing(memory: Memory) -> None:
    memory.add("I have a dog")
    memory.context("Where do I live?")
    page = memory.app.timeline.listing.window(ANNA, WindowQuery(now=memory.now, window=TimeWindow(), limit=10))
    assert [event.content for event in page.events] == ["I have a dog"]


def test_recent_is_the_conversation_and_the_rest_is_the_users(memory: Memory) -> None:
    memory.add("here one", "here two")
    memory.add("there one", conversation="c2")
    sections = {
        s.item.content: s.section.value for s in memory.context("anything", conversation_id="c1").prompt.memories
    }
    assert sections["here one"] == sections["here two"] == "recent"
    assert sections.get("there one", "semantic") != "recent"


@pytest.mark.spec("K-32", "K-33")
def test_the_raw_window_is_the_conversation_as_it_was_said(memory: Memory) -> None:
    memory.add(*(f"turn {n}" for n in range(14)))
    memory.add(EventDraft(content="Of course.", role=Role.BOT, timestamp=memory.now))
    messages = memory.context("go on", conversation_id="c1").messages.messages
    turns = [("user", f"turn {n}") for n in range(5, 14)]
    assert said_in(messages) == [*turns, ("assistant", "Of course."), ("user", "go on")]
    assert [m.role.value for m in messages] == ["system", "user", "assistant", "user"]
    assert dated(messages) == len(turns)


def test_what_is_in_the_raw_window_is_not_in_the_memories(memory: Memory) -> None:
    memory.add("I have a dog", "It is called Rex")
    answer = memory.context("dog", conversation_id="c1")
    fenced = "".join(m.content for m in answer.messages.messages if m.role.value == "system")
    assert "Rex" not in fenced
    assert "Rex" in answer.prompt.text


def test_the_raw_window_marks_what_no_longer_holds(memory: Memory) -> None:
    whole, part = "I live in Paris", "I work as a nurse and I swim on Mondays"
    old, busy, new, dry = remember(memory, whole, part, "I moved to Lyon", "The pool is closed for good")
    before = memory.context("And now?", conversation_id="c1")
    supersede(memory, old, new)
    supersede(memory, busy, dry, words="and I swim on Mondays")
    answer = memory.context("And now?", conversation_id="c1")
    assert [text for _, text in said_in(answer.messages.messages)][:2] == [
        f"{whole} [no longer holds, since Wed May 1]",
        f"{part} [no longer holds, since Wed May 1: “and I swim on Mondays”]",
    ]
    assert "no longer" not in "".join(message.content for message in before.messages.messages[1:])
    assert "no longer" not in answer.prompt.text


def test_of_a_message_that_was_merged_the_raw_window_marks_what_is_another_value(memory: Memory) -> None:
    old, new = remember(memory, TITLE, PROMOTED)
    merge(memory, old, new)
    answer = memory.context("And now?", conversation_id="c1")
    assert [text for _, text in said_in(answer.messages.messages)][:2] == [
        f"{TITLE} [no longer holds, since Wed May 1: “junior”]",
        PROMOTED,
    ]


def test_old_values_stay_in_the_raw_window_alone(memory: Memory) -> None:
    memory.add(EventDraft(content="I live in Paris", key="city", timestamp=NOON))
    memory.add(EventDraft(content="I live in Lyon", key="city", timestamp=NOON + timedelta(minutes=5)))
    for _ in ("tail", "indexed"):
        answer = memory.context("Where do I live?", conversation_id="c1")
        assert "Paris" not in answer.prompt.text
        assert "Lyon" in answer.prompt.text
        assert said_in(answer.messages.messages)[0][1].startswith("I live in Paris")
        memory.project()
    assert "Paris" in memory.context("Where do I live?", include_superseded=True).prompt.text
    past = memory.context("Where do I live?", as_of=NOON + timedelta(minutes=1))
    assert "Paris" in past.prompt.text
    assert "Lyon" not in past.prompt.text


def test_private_and_expired_never_appear(memory: Memory) -> None:
    memory.add(
        EventDraft(content="secret", is_private=True, timestamp=NOON, importance=1.0),
        EventDraft(content="passing", expires_at=memory.now, timestamp=NOON, importance=1.0),
        EventDraft(content="open", timestamp=NOON),
    )
    answer = memory.context("secret passing", conversation_id="c1")
    assert [s.item.content for s in answer.prompt.memories] == ["open"]
    assert all("secret" not in m.content for m in answer.messages.messages[:-1])


def test_other_users_and_personas_stay_out(memory: Memory) -> None:
    memory.add("Ben's dog", scope=Scope("acme", "ben"))
    memory.add("the coach's dog", scope=Scope("acme", "anna", "coach"))
    memory.add("my dog")
    assert contents(memory, "dog?") == ["the coach's dog", "my dog"]
    assert contents(memory, "dog?", scope=Scope("acme", "anna", "coach")) == ["the coach's dog"]
    said = [text for _, text in said_in(memory.context("dog?").messages.messages)]
    assert "my dog" in said
    assert "the coach's dog" not in said


def test_a_budget_holds_for_prompt_and_messages(memory: Memory) -> None:
    memory.add(*(f"a rather long note about the dog, number {n}" for n in range(30)))
    answer = memory.context("dog?", token_budget=60)
    assert answer.prompt.tokens <= 60
    assert answer.messages.tokens <= 60
    assert answer.tokens == max(answer.prompt.tokens, answer.messages.tokens)
    with pytest.raises(InvalidInput):
        memory.context("dog? " * 100, token_budget=10)


def test_limits_of_a_request_take_the_place_of_the_rules(memory: Memory) -> None:
    memory.add(*(f"note {n}" for n in range(20)))
    limits = {"total": 3, "recent": 3, "recent_fill": 3, "semantic": 0, "important": 0}
    assert contents(memory, "x", conversation_id="c1", limits=limits) == ["note 17", "note 18", "note 19"]


@pytest.mark.spec("K-76", "K-89")
@pytest.mark.parametrize(("wish", "triggered"), [("auto", True), ("never", False), ("always", True)])
def test_the_web_search_rule_decides_and_is_skipped_while_off(memory: Memory, wish: str, triggered: bool) -> None:
    decision = memory.context("What is the latest news?", web_search=wish).web_search
    assert (decision.triggered, decision.skipped) == (triggered, "off" if triggered else None)


def test_a_user_nobody_knows_gets_the_input_alone(memory: Memory) -> None:
    assert memory.context("hello", scope=Scope("acme", "nobody")).prompt.text == "Current user input: hello"


def test_the_receipt_names_why_each_line_is_there(memory: Memory) -> None:
    memory.add(*(f"small talk {n}" for n in range(15)), "My violin is old")
    memory.project()
    answer = memory.context("violin", conversation_id="c1")
    assert all(selected.reason for selected in answer.prompt.memories)
    assert all(left.reason for left in answer.left_out)
    assert answer.rules_version == memory.app.rules.resolved("acme").version
