"""A conversation from the first word to an answer from memory, without a language model."""

from datetime import timedelta

import pytest

from embedded.setting import NOON, Memory, with_parts
from embedded.turning import ScriptedModel, Talk, talk
from recollect.adapters.models.resilient import ExtractiveModel
from recollect.timeline.record import EventDraft

LONG_AGO = NOON - timedelta(days=60)


class Knows:
    """A web search that always answers the same."""

    def search(self, query: str, seconds: float) -> tuple[str, ...]:
        return ("Rain until noon",)


def say(session: Talk, memory: Memory, *texts: str) -> str:
    """Turns a minute apart; the prompt of the last one."""
    for text in texts:
        answer = session.say(text)
        memory.now = session.memory.now = session.memory.now + timedelta(minutes=1)
    assert answer.context is not None
    return answer.context.prompt.text


@pytest.mark.spec("K-31", "K-32", "K-33", "K-36", "K-79", "K-90", "K-98")
def test_what_was_said_is_quoted_in_the_next_turn_and_dated(memory: Memory) -> None:
    session = Talk(with_parts(memory, model=ExtractiveModel()), ScriptedModel([]))
    prompt = say(session, memory, "My name is Anna and I live in Lyon", "I prefer tea to coffee", "Tea or coffee?")
    lines = prompt.splitlines()
    assert "- You said (2 minutes ago): My name is Anna and I live in Lyon" in lines
    assert any(line.startswith("- I responded (1 minutes ago): ") for line in lines)
    assert lines[-1] == "Current user input: Tea or coffee?"
    assert "I prefer tea to coffee" in session.contents()[-1][1]


@pytest.mark.spec("K-26", "K-27", "K-28", "K-30", "K-42", "K-76", "K-89", "K-102")
def test_what_the_web_says_stands_before_what_was_remembered(memory: Memory) -> None:
    memory.add(EventDraft(content="I take the umbrella to the harbour", timestamp=LONG_AGO), conversation="old")
    session = talk(memory, "Take it.", web_search=Knows())
    prompt = say(session, memory, "Will it rain at the harbour today?")
    assert prompt.startswith(
        "Here's current web search information relevant to your question:\nRain until noon\n\n"
        "Here's some relevant context from our previous conversations:\n"
    )
    assert [role for role, _ in session.contents()[-2:]] == ["user", "bot"]
