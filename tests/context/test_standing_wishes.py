"""How a user wants to be answered stands in every context, whatever is asked."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy
import pytest

from embedded.deciding import remember, supersede
from embedded.memory_items import reject
from embedded.setting import ANNA, Memory, open_memory, with_parts
from recollect.adapters.embedders.hashing import HashingEmbedder
from recollect.context.build import ContextAnswer
from recollect.context.selection import ShownIn
from recollect.core.event import Role
from recollect.core.learned_share import LearnedShare, LearnedShares
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.retrieval.pipeline import MOST_WISHES
from recollect.timeline.record import EventDraft

WISH = "Two lines at most, always"
QUESTION = "Which tram goes to the harbour"
BEN = Scope("acme", "ben")


class KnowsTheWish(HashingEmbedder):
    """To it whatever is much like the wish is one."""

    learned: Any = LearnedShares(
        wishes=LearnedShare(HashingEmbedder().encode([WISH], TextKind.PASSAGE)[0].vector * numpy.float32(50), -25.0)
    )


class WordsAlone:
    """An index whose vectors are another embedder's."""

    def __init__(self, index: Any) -> None:
        self._index = index

    def holds_vectors(self, tenant: str) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return with_parts(open_memory(tmp_path), embedder=KnowsTheWish())


def asked(memory: Memory, **changes: Any) -> ContextAnswer:
    """A question that finds nothing at all."""
    return memory.context(QUESTION, **{"conversation_id": "another", "min_similarity": 0.99, **changes})


def shown(answer: ContextAnswer) -> list[str]:
    return [one.selected.item.content for one in answer.items if ShownIn.MESSAGES in one.shown_in]


def why(answer: ContextAnswer, text: str) -> str:
    (one,) = (one for one in answer.items if one.selected.item.content == text)
    return answer.because(one)


@pytest.mark.parametrize("projected", [True, False])
def test_it_is_shown_for_a_question_that_does_not_find_it(memory: Memory, projected: bool) -> None:
    memory.add(WISH, "The ferns want water")
    if projected:
        memory.project()
    answer = asked(memory)
    assert (shown(answer), answer.nothing_relevant) == ([WISH], True)
    assert WISH in answer.messages.messages[0].content
    assert "says how you want to be answered" in why(answer, WISH)


def test_the_prompt_chooses_as_it_does_without(memory: Memory) -> None:
    memory.add(WISH, *(f"Remark number {n}" for n in range(20)))
    memory.project()
    plain = with_parts(memory, embedder=HashingEmbedder())
    assert asked(memory).prompt.text == asked(plain).prompt.text


@pytest.mark.parametrize(
    "gone",
    ["deleted", "rejected", "superseded", "not said yet", "another's", "a speaker's", "an assistant's", "private"],
)
def test_what_does_not_hold_for_this_user_is_no_wish(memory: Memory, gone: str) -> None:
    role = Role.BOT if gone == "an assistant's" else Role.USER
    speaker = "Ben" if gone == "a speaker's" else None
    draft = EventDraft(content=WISH, role=role, speaker=speaker, timestamp=memory.now, is_private=gone == "private")
    memory.add(draft, scope=BEN if gone == "another's" else ANNA)
    memory.project()
    changes: dict[str, Any] = {}
    if gone == "deleted":
        memory.app.deletion.events.record(ANNA, memory.ids[0], now=memory.now)
    if gone == "rejected":
        reject(memory, WISH)
    if gone == "superseded":
        (newer,) = remember(memory, "As long as you like from now on")
        supersede(memory, memory.ids[0], newer)
    if gone == "not said yet":
        changes = {"as_of": memory.now - timedelta(minutes=1)}
    assert WISH not in shown(asked(memory, **changes))


def test_the_surest_are_shown_each_once_and_none_that_the_raw_window_shows(memory: Memory) -> None:
    variants = [f"{WISH} x{n}" for n in range(MOST_WISHES + 2)]
    memory.add(*variants)
    memory.project()
    assert len(shown(asked(memory))) == MOST_WISHES
    here = asked(memory, conversation_id="c1")
    assert sum(one.content.count(WISH) for one in here.messages.messages) == len(variants)


def test_said_again_in_the_same_words_it_is_shown_once_as_it_was_said_last(memory: Memory) -> None:
    memory.add(WISH, f"{WISH.lower()}!!", f"{WISH} 🙂")
    memory.project()
    assert shown(asked(memory)) == [f"{WISH} 🙂"]


def test_a_hit_that_is_a_wish_is_shown_once(memory: Memory) -> None:
    memory.add(WISH)
    memory.project()
    answer = asked(memory, min_similarity=None)
    assert shown(answer) == [WISH]
    assert "says how" not in why(answer, WISH)


def test_an_index_of_another_embedder_knows_no_wishes(memory: Memory) -> None:
    memory.add(WISH)
    memory.project()
    assert shown(asked(with_parts(memory, index=WordsAlone(memory.app.parts.index)))) == []
