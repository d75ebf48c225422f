"""What stands in the memories of a context: what its filters, window and threshold admit (P-23)."""

from datetime import timedelta
from pathlib import Path

import pytest

from embedded.setting import Memory, open_memory
from recollect.context.build import ContextAnswer
from recollect.context.selection import ShownIn
from recollect.core.event import Role
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.record import EventDraft

QUESTION = "Where do I live now?"
HOME, TEA, CAPITAL = "I live in Lyon by the river", "I like green tea", "What is the capital of Slovenia?"
ASSISTANT = "Ljubljana is where they live"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = open_memory(tmp_path)
    made.add(TEA, CAPITAL, HOME, EventDraft(content=ASSISTANT, role=Role.BOT, timestamp=made.now))
    made.project()
    return made


def shown(answer: ContextAnswer) -> list[str]:
    """The contents of the memories of the messages."""
    return [one.selected.item.content for one in answer.items if ShownIn.MESSAGES in one.shown_in]


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
    answer = memory.context(QUESTION, conversation_id="another", tags=("card",))
    assert shown(answer) == [f"{HOME}, says the card"]
    assert TEA not in answer.prompt.text


@pytest.mark.spec("P-23")
def test_a_threshold_leaves_out_what_is_unlike_the_input(memory: Memory) -> None:
    answer = memory.context(HOME + "!", conversation_id="another", min_similarity=0.5)
    assert TEA not in shown(answer)
