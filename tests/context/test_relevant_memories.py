"""What stands in the memories of `messages`: what the second stage finds needed, and what the filters admit (P-23)."""

from datetime import timedelta
from pathlib import Path

import pytest

from embedded.deciding import now, remember, supersede
from embedded.memory_items import patch, reject
from embedded.setting import ANNA, Memory, open_memory, with_parts
from recollect.adapters.relevance.table_relevance import TableRelevance
from recollect.context.build import ContextAnswer
from recollect.context.selection import ShownIn
from recollect.core.errors import Unavailable
from recollect.core.event import Role
from recollect.retrieval.filters import TimeWindow
from recollect.retrieval.second_stage import RELEVANCE
from recollect.text.dates import day_of
from recollect.timeline.record import EventDraft

QUESTION = "Where do I live now?"
HOME, TEA, CAPITAL = "I live in Lyon by the river", "I like green tea", "What is the capital of Slovenia?"
ASSISTANT = "Ljubljana is where they live"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    rows = {(QUESTION, HOME): 9.0, (QUESTION, f"assistant: {ASSISTANT}"): 8.0}
    made = with_parts(open_memory(tmp_path), relevance_model=TableRelevance(rows))
    made.add(TEA, CAPITAL, HOME, EventDraft(content=ASSISTANT, role=Role.BOT, timestamp=made.now))
    made.project()
    return made


def shown(answer: ContextAnswer) -> list[str]:
    """The contents of the memories of the messages."""
    return [one.selected.item.content for one in answer.items if ShownIn.MESSAGES in one.shown_in]


@pytest.mark.spec("P-23")
def test_what_the_second_stage_finds_needed_is_shown_and_the_prompt_keeps_its_own_choice(memory: Memory) -> None:
    with_it = memory.context(QUESTION, conversation_id="another")
    without = memory.context(QUESTION, conversation_id="another", rerank=False)
    assert HOME in shown(with_it)
    assert set(shown(with_it)) < set(shown(without)), "what is not needed falls behind"
    assert with_it.prompt.text == without.prompt.text


class Away:
    """A second stage that does not answer."""

    version = "away"

    def logits(self, question: str, texts: list[str]) -> list[float]:
        raise Unavailable(f"{len(texts)} texts and {len(question)} characters are not read")


def test_without_the_second_stage_the_first_one_orders_and_the_answer_says_so(memory: Memory) -> None:
    first_stage = memory.context(QUESTION, conversation_id="another", rerank=False)
    away = with_parts(memory, relevance_model=Away()).context(QUESTION, conversation_id="another")
    assert shown(away) == shown(first_stage) != []
    assert (away.missing, first_stage.missing) == (("rerank",), ())


def test_a_search_is_ordered_by_the_second_stage_where_that_is_asked_for(memory: Memory) -> None:
    plain, reranked = (memory.search(QUESTION, wanted=4, rerank=asked).results for asked in (False, True))
    assert {one.event.content for one in reranked} == {one.event.content for one in plain}
    assert not any(RELEVANCE in one.ranked.signals for one in plain)
    needed = {one.event.content for one in reranked if one.ranked.signals[RELEVANCE] > 0.9}
    assert needed == {HOME, ASSISTANT}


def test_a_search_without_its_second_stage_is_ordered_by_the_first_and_says_so(memory: Memory) -> None:
    plain, away = memory.search(QUESTION), with_parts(memory, relevance_model=Away()).search(QUESTION, rerank=True)
    assert [one.event.id for one in away.results] == [one.event.id for one in plain.results] != []
    assert (away.diagnostics.missing, plain.diagnostics.missing) == (("rerank",), ())


def test_what_a_reranked_search_does_not_show_is_a_near_miss(memory: Memory) -> None:
    whole = memory.search(QUESTION, wanted=4, rerank=True).results
    short = memory.search(QUESTION, wanted=2, near_misses=1, rerank=True)
    shown = [one.event.id for one in (*short.results, *short.near_misses)]
    assert shown == [one.event.id for one in whole[:3]]
    assert [one.place for one in short.near_misses] == [3]


@pytest.mark.spec("P-23")
def test_a_window_bounds_the_memories_and_not_the_raw_window(memory: Memory) -> None:
    window = TimeWindow(memory.now + timedelta(days=1), None)
    answer = memory.context(QUESTION, conversation_id="another", window=window)
    assert shown(answer) == []
    assert HOME not in answer.prompt.text
    own = memory.context(QUESTION, conversation_id="c1", window=window)
    assert any(HOME in message.content for message in own.messages.messages)


@pytest.mark.spec("P-23")
def test_filters_are_of_all_memories(memory: Memory) -> None:
    memory.add(EventDraft(content=f"{HOME}, says the card", tags=("card",), timestamp=memory.now))
    memory.project()
    answer = memory.context(QUESTION, conversation_id="another", tags=("card",), rerank=False)
    assert shown(answer) == [f"{HOME}, says the card"]
    assert TEA not in answer.prompt.text


@pytest.mark.spec("P-23")
def test_a_threshold_leaves_out_what_is_unlike_the_input(memory: Memory) -> None:
    answer = memory.context(HOME + "!", conversation_id="another", min_similarity=0.5, rerank=False)
    assert TEA not in shown(answer)


def test_another_users_memories_are_never_read_together(memory: Memory) -> None:
    other = type(ANNA)(ANNA.tenant, "ben")
    answer = memory.context(QUESTION, scope=other, conversation_id="another")
    assert answer.nothing_relevant
    assert shown(answer) == []


@pytest.mark.spec("P-23")
def test_a_question_that_was_asked_often_is_shown_once(memory: Memory) -> None:
    for number, often in enumerate(
        (CAPITAL, "Slovenia: what is the capital of it?", "What is the capital of Slovenia, eh?")
    ):
        memory.add(often, conversation=f"c{number}")
    memory.project()
    answer = shown(memory.context("Which capital was it, that of Slovenia?", conversation_id="another"))
    assert len([one for one in answer if "Slovenia" in one]) == 1


@pytest.mark.spec("P-23", "P-24")
def test_what_ended_words_of_a_needed_line_is_needed_as_much(tmp_path: Path) -> None:
    asked, old = "What is our churn?", "The churn is 4.1 percent, it goes into the deck"
    new = "Their second guy shouted crush it, I had 2.6 wrong"
    memory = with_parts(open_memory(tmp_path), relevance_model=TableRelevance({(asked, old): 9.0}))
    memory.add(TEA, CAPITAL)
    older, newer = remember(memory, old, new)
    before = memory.context(asked, conversation_id="another")
    assert old in shown(before)
    assert new not in shown(before)
    supersede(memory, older, newer, words="4.1 percent")
    left = "The churn is […], it goes into the deck"
    memory = with_parts(memory, relevance_model=TableRelevance({(asked, left): 9.0}))
    assert shown(memory.context(asked, conversation_id="another")) == [left, new]


@pytest.mark.spec("P-23", "P-24")
def test_words_that_hold_no_more_stand_at_their_place_with_the_day_of_their_end(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    old, new = remember(
        memory, "My dentist Jane Shaw, up the stairs above Greggs, works in Park Row", "The dentist moved to the mill"
    )
    supersede(memory, old, new, words="up the stairs above Greggs")
    asked = memory.context("Where is my dentist?", conversation_id="another")
    (said,) = [line for line in asked.messages.messages[0].content.splitlines() if "Park Row" in line]
    ended = f"[until {day_of(now(memory, new).timestamp, memory.now)}: up the stairs above Greggs]"
    whole = f"My dentist Jane Shaw, {ended}, works in Park Row"
    assert said.endswith(whole), "what ended it stands beside it"
    assert [one for one in shown(asked) if "Greggs" in one] == [], "an item's content is what holds"
    patch(memory, old, content="My dentist Jane Shaw, works in Park Row")
    asked = memory.context("Where is my dentist?", conversation_id="another")
    assert whole in asked.messages.messages[0].content, "an edit to what it says already leaves it as it was"
    patch(memory, old, content="My dentist Jane Shaw is in Park Row")
    asked = memory.context("Where is my dentist?", conversation_id="another")
    assert "Greggs" not in asked.messages.messages[0].content


@pytest.mark.spec("P-24")
def test_words_that_are_held_over_besides_stand_nowhere(tmp_path: Path) -> None:
    """What its own bound took out of a text cannot be marked as ended: what has ended stands behind what is left."""
    memory = open_memory(tmp_path)
    said, ended = "My dentist Jane Shaw is in Park Row. Until 3 May her nurse Ann is here.", "in Park Row"
    old, new = remember(memory, said, "The dentist moved to the mill")
    supersede(memory, old, new, words=ended)
    memory.now += timedelta(days=30)
    asked = memory.context("Where is my dentist?", conversation_id="another").messages.messages[0].content
    (line,) = [one for one in asked.splitlines() if "Jane Shaw" in one]
    assert "Ann" not in line
    assert "[until" not in line


@pytest.mark.spec("P-22", "P-24")
@pytest.mark.parametrize("rejected", ["It is up the stairs above Greggs.", "Anna paints on Mondays."])
def test_words_that_a_person_rejected_are_not_told_as_ended(tmp_path: Path, rejected: str) -> None:
    memory = open_memory(tmp_path)
    told = "Anna paints on Mondays. My dentist Jane Shaw works in Park Row. It is up the stairs above Greggs."
    old, new = remember(memory, told, "The dentist moved to the mill")
    supersede(memory, old, new, words="It is up the stairs above Greggs.")
    reject(memory, rejected)
    messages = memory.context("Where is my dentist?", conversation_id="another").messages.messages[0].content
    (said,) = [line for line in messages.splitlines() if "Park Row" in line]
    assert rejected.rstrip(".") not in messages
    assert "until" not in said, "the places of what ended are of other words"
