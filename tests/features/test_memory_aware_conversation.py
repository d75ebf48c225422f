"""MemoryAwareConversation.feature: sources, recency, search, limits (K-88)."""

import pytest
from pytest_bdd import given, parsers, scenario, scenarios, then

from features.world import LONG_AGO, World
from recollect.core.scope import Scope
from recollect.timeline.record import EventDraft


@pytest.mark.spec("K-15", "K-17", "K-20", "K-24", "K-86", "K-88", "K-98", "K-99", "P-1")
@scenario("MemoryAwareConversation.feature", "Context is built from multiple sources")
def test_the_sources() -> None: ...


@pytest.mark.spec("K-16", "K-25", "K-35", "K-71", "K-88", "P-2")
@scenario("MemoryAwareConversation.feature", "The newest exchanges come first in choice and stand in the order said")
def test_recent_history() -> None: ...


@pytest.mark.spec("K-17", "K-64", "K-85", "K-88")
@scenario("MemoryAwareConversation.feature", "At most three memories come from the search")
def test_search() -> None: ...


@pytest.mark.spec("K-22", "K-63", "K-69", "K-88", "K-91")
@scenario("MemoryAwareConversation.feature", "Never more than eight memories")
def test_the_limit() -> None: ...


scenarios("MemoryAwareConversation.feature")


@given(parsers.parse("{count:d} messages of small talk in this conversation"))
def small_talk(world: World, count: int) -> None:
    world.memory.add(*(f"small talk {number}" for number in range(1, count + 1)))
    world.talk.conversation_id = "c1"


@given(parsers.parse('another user once said "{text}"'))
def another_said(world: World, text: str) -> None:
    world.store(EventDraft(content=text, timestamp=LONG_AGO), Scope("acme", "ben"))


@then(parsers.parse('the context holds "{text}" from {section}'))
def holds_from(world: World, text: str, section: str) -> None:
    assert text in world.by_section(section)


@then(parsers.parse('the context does not hold "{text}"'))
def does_not_hold(world: World, text: str) -> None:
    assert text not in world.prompt


@then(parsers.parse('the recent part holds "small talk {first:d}" to "small talk {last:d}"'))
def recent_holds(world: World, first: int, last: int) -> None:
    expected = [f"small talk {number}" for number in range(first, last + 1)]
    assert world.by_section("recent")[-len(expected) :] == expected


@then("the memories are in chronological order")
def in_order(world: World) -> None:
    times = [chosen.item.timestamp for chosen in world.shown.prompt.memories]
    assert times == sorted(times)


@then(parsers.parse('the input "{text}" stands once, as the last line'))
def stands_last(world: World, text: str) -> None:
    assert world.prompt.splitlines()[-1] == f"Current user input: {text}"
    assert world.prompt.count(text) == 1


@then(parsers.parse("at most {count:d} memories come from {section}"))
def at_most(world: World, count: int, section: str) -> None:
    assert 0 < len(world.by_section(section)) <= count


@then(parsers.parse("the context holds {count:d} memories, none of them twice"))
def holds_memories(world: World, count: int) -> None:
    ids = {chosen.item.id for chosen in world.shown.prompt.memories}
    assert len(world.shown.prompt.memories) == len(ids) == count
