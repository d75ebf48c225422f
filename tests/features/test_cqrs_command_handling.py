"""CQRSCommandHandling.feature: what a command stores, when it searches the web, what a failure costs (K-89)."""

from dataclasses import dataclass, field

import pytest
from pytest_bdd import given, parsers, scenario, scenarios, then, when

from embedded.turning import ScriptedModel
from features.world import World
from recollect.core.errors import InvalidInput, RecollectError, TurnUnanswered, Unavailable, UpstreamFailed
from recollect.timeline.record import EventDraft


@pytest.mark.spec("K-74", "K-75", "K-80", "K-89", "K-96", "K-98")
@scenario("CQRSCommandHandling.feature", "Input and answer are both stored")
def test_a_turn() -> None: ...


@pytest.mark.spec("K-74", "K-77", "K-89")
@scenario("CQRSCommandHandling.feature", "A model that fails costs no word of the user's")
def test_a_failing_model() -> None: ...


@pytest.mark.spec("K-96")
@scenario("CQRSCommandHandling.feature", "Reading stores nothing")
def test_a_query() -> None: ...


@pytest.mark.spec("K-73")
@scenario("CQRSCommandHandling.feature", "Empty content is no memory")
def test_empty_content() -> None: ...


@pytest.mark.spec("K-38", "K-39", "K-40", "K-41", "K-42", "K-89")
@scenario("CQRSCommandHandling.feature", "What triggers a web search")
def test_the_trigger() -> None: ...


@pytest.mark.spec("K-26", "K-27", "K-28", "K-30", "K-76", "K-102")
@scenario("CQRSCommandHandling.feature", "Web results stand first in the prompt")
def test_web_results() -> None: ...


@pytest.mark.spec("K-29", "K-77", "K-83", "K-92")
@scenario("CQRSCommandHandling.feature", "A web search that fails leaves no block, and the turn goes on")
def test_a_failing_search() -> None: ...


scenarios("CQRSCommandHandling.feature")


@dataclass
class Web:
    """A web search that answers one thing, or fails; it keeps what it was asked."""

    answer: str | RecollectError
    asked: list[str] = field(default_factory=list)

    def search(self, query: str, seconds: float) -> tuple[str, ...]:
        self.asked.append(query)
        if isinstance(self.answer, RecollectError):
            raise self.answer
        return (self.answer,)


@given(parsers.parse('a web search that knows "{text}"'), target_fixture="web")
def web_that_knows(world: World, text: str) -> Web:
    return searching(world, Web(text))


@given("a web search that fails", target_fixture="web")
def web_that_fails(world: World) -> Web:
    return searching(world, Web(Unavailable("no network")))


def searching(world: World, web: Web) -> Web:
    world.replace_parts(web_search=web)
    return web


@given("a model that fails")
def model_that_fails(world: World) -> None:
    world.replace_parts(model=ScriptedModel([UpstreamFailed("no")]))


@given("a model that fails once")
def model_that_fails_once(world: World) -> None:
    world.replace_parts(model=ScriptedModel([UpstreamFailed("no"), "Rex it is."]))


@when("the user sends it again")
def sends_again(world: World) -> None:
    assert world.said is not None
    world.say(*world.said, resumed=True)


@when(parsers.re('an empty memory "(?P<text>.*)" is stored'))
def stores_nothing(world: World, text: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        world.store(EventDraft(content=text.replace("\\t", "\t")))
    world.failure = raised.value


@then("it is refused")
def is_refused(world: World) -> None:
    assert isinstance(world.failure, InvalidInput)
    assert world.talk.stored() == []


@then("the turn fails")
def fails(world: World) -> None:
    assert isinstance(world.failure, TurnUnanswered)


@then("the conversation holds")
def holds(world: World, datatable: list[list[str]]) -> None:
    said = world.answer.response if world.answer is not None else ""
    expected = [(role, text.replace("<the answer>", said)) for role, text in datatable[1:]]
    assert world.talk.contents()[-len(expected) :] == expected
    assert len([event for event in world.talk.stored() if event.conversation_id != "long ago"]) == len(expected)


@then("the answer carries the tags of the input")
def carries_the_tags(world: World) -> None:
    said, answered = world.talk.stored()
    assert said.tags == answered.tags != ()


@then(parsers.parse("{count:d} memory is stored"))
def are_stored(world: World, count: int) -> None:
    assert len(world.talk.stored()) == count


@then(parsers.parse("the web was searched: {searched}"))
def was_searched(world: World, web: Web, searched: str) -> None:
    assert bool(web.asked) is (searched == "yes")


@then("the prompt begins with")
def begins_with(world: World, docstring: str) -> None:
    assert world.prompt.startswith(docstring + "\n")


@then("the prompt holds no web results")
def holds_no_web_results(world: World, web: Web) -> None:
    assert web.asked
    assert "web search information" not in world.prompt
