"""ConversationFlow.feature: a conversation from end to end, its tags, and how long ago (K-90)."""

from datetime import timedelta

import pytest
from pytest_bdd import given, parsers, scenario, scenarios, then, when

from embedded.setting import NOON
from features.world import World
from recollect.timeline.record import EventDraft

UNITS = ("seconds", "minutes", "hours", "days")


@pytest.mark.spec("K-31", "K-32", "K-36", "K-79", "K-90", "K-98")
@scenario("ConversationFlow.feature", "What was said is remembered in the next turn")
def test_end_to_end() -> None: ...


@pytest.mark.spec("K-59", "K-60", "K-61", "K-62", "K-94")
@scenario("ConversationFlow.feature", "A conversation keeps its id, and another one has another")
def test_conversations() -> None: ...


@pytest.mark.spec("K-43", "K-44", "K-45", "K-46", "K-47", "K-48", "K-49", "K-50", "K-51", "K-52", "K-90")
@scenario("ConversationFlow.feature", "Tag extraction")
def test_tags() -> None: ...


@pytest.mark.spec("K-54", "K-55", "K-56", "K-57", "K-58", "K-90")
@scenario("ConversationFlow.feature", "Time-based display")
def test_time() -> None: ...


@pytest.mark.spec("K-33")
@scenario("ConversationFlow.feature", "The answer's own lines are the assistant's")
def test_the_assistants_lines() -> None: ...


scenarios("ConversationFlow.feature")


@given(parsers.parse('the user said "{text}" {count:d} {unit}'))
def said_earlier(world: World, text: str, count: int, unit: str) -> None:
    assert unit in UNITS
    world.store(EventDraft(content=text, timestamp=NOON - timedelta(**{unit: count})))


@when("the user begins a new conversation")
def begins(world: World) -> None:
    world.talk.conversation_id = None


@then(parsers.parse('the answer quotes "{text}"'))
def quotes(world: World, text: str) -> None:
    assert world.answer is not None, world.failure
    assert text in world.answer.response


@then(parsers.parse('the prompt ends with "{line}"'))
def ends_with(world: World, line: str) -> None:
    assert world.prompt.endswith(line)


@then(parsers.parse('a line of the prompt begins with "{start}"'))
def a_line_begins(world: World, start: str) -> None:
    assert any(line.startswith(start) for line in world.prompt.splitlines())


@then(parsers.parse("its tags are {tags}"))
def has_tags(world: World, tags: str) -> None:
    assert world.stored is not None
    assert list(world.stored.tags) == ([] if tags == "none" else tags.split(", "))


@then(parsers.parse("there are {count:d} conversations of {first:d} and {second:d} memories"))
def conversations(world: World, count: int, first: int, second: int) -> None:
    ids = [event.conversation_id for event in world.talk.stored()]
    assert len(set(ids)) == count
    assert [ids.count(one) for one in dict.fromkeys(ids)] == [first, second]
