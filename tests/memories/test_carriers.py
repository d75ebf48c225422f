"""Carriers of memories: projected like events, and no part of what was said."""

import pytest

from embedded.setting import ANNA, Memory
from recollect.contracts.examples import a_write, an_event
from recollect.core.errors import NotFound
from recollect.core.event import SPOKEN_TYPES, Event, EventType
from recollect.summaries.reading import ReadBacklog
from recollect.summaries.storage import SummaryState, state_in, state_key


def keep(memory: Memory, content: str) -> Event:
    """A carrier, a minute after all that was said."""
    memory.add("small talk")
    carrier = an_event(
        ANNA, content=content, event_type=EventType.MEMORY, conversation_id="", importance=0.9,
        timestamp=memory.now, recorded_at=memory.now,
    )  # fmt: skip
    memory.app.parts.timeline.append(ANNA, [a_write(ANNA, carrier)])
    return carrier


def test_clients_name_every_type_but_ours() -> None:
    assert set(SPOKEN_TYPES) == set(EventType) - {EventType.MEMORY}


@pytest.mark.parametrize("projected", [False, True])
def test_the_raw_window_and_the_conversations_have_none(memory: Memory, projected: bool) -> None:
    carrier = keep(memory, "Anna never eats nuts")
    if projected:
        memory.project()
    conversations = memory.app.timeline.listing.conversations(ANNA, 10, None).conversations
    assert [one.id for one in conversations] == (["c1"] if projected else [])
    answer = memory.context("What about nuts?")
    assert "Anna never eats nuts" not in [event.content for event in answer.gathered.raw_window]
    assert "Anna never eats nuts" not in [event.content for event in answer.gathered.recent]
    sections = {one.item.content: one.section.value for one in answer.prompt.memories}
    assert sections.get("Anna never eats nuts") in ("semantic", "important")
    with pytest.raises(NotFound):
        memory.app.timeline.listing.one(ANNA, carrier.id, memory.now)


def test_words_that_a_memory_has_already_are_not_the_memory(memory: Memory) -> None:
    keep(memory, "I never eat nuts")
    shown = [one.item.content for one in memory.context("I never eat nuts").prompt.memories]
    assert "I never eat nuts" in shown


def test_summaries_count_and_read_none(memory: Memory) -> None:
    keep(memory, "Anna never eats nuts")
    memory.project()
    key = state_key(None)
    item = memory.app.parts.items.get(ANNA.user, [key]).get(key)
    assert state_in(item, None).hint == len(memory.ids) == 1
    found = ReadBacklog(memory.app.parts.timeline, memory.app.parts.items).read(ANNA, SummaryState(), memory.now)
    assert [ref.id for ref in found.backlog.uncovered] == memory.ids
