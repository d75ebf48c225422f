"""Scenarios of what only reads: a crash in it changes nothing, and a part that is away is named or said."""

from crashes.derived import AFTER, summarized, taught
from crashes.scenario import scenario
from crashes.world import World
from embedded.setting import ANNA
from recollect.intent.retrieve import IntentQuestion
from recollect.retrieval.filters import SearchFilters, TimeWindow
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.timeline.timeline import WindowQuery


def everything(world: World) -> None:
    """Messages, some of them pending, a summary, goals, knowledge, rules."""
    summarized(world)
    taught(world)
    world.say("The bakery opens.")


def _request(world: World) -> RecallRequest:
    filters = SearchFilters(now=world.now)
    return RecallRequest(text="sister", vector=None, mode=Mode.HYBRID, filters=filters, wanted=3, count=True)


@scenario(prepare=everything, says=AFTER, reads=True, degrades=True)
def search(world: World) -> list[str]:
    return [result.event.content for result in world.app.retrieval.memory.search(ANNA, _request(world)).results]


@scenario(prepare=everything, says=AFTER, reads=True, degrades=True)
def search_by_intent(world: World) -> list[str]:
    """By keywords and recency."""
    question = IntentQuestion(text="What does my sister paint?", filters=SearchFilters(now=world.now))
    answer = world.app.intent.retrieve(ANNA, question, world.app.begin_rules("acme"))
    return [result.event.content for result in answer.results]


@scenario(prepare=everything, says=AFTER, reads=True, degrades=True)
def context(world: World) -> str:
    request = world.context_request("What does my sister do?", store="shop", web_search="always")
    return world.app.context.model_call.build(ANNA, request, world.app.begin_rules("acme")).prompt.text


@scenario(prepare=everything, says=AFTER, reads=True)
def listing(world: World) -> list[str]:
    page = world.app.timeline.listing.window(ANNA, WindowQuery(now=world.now, window=TimeWindow(), limit=3))
    one = world.app.timeline.listing.one(ANNA, page.events[0].id, world.now)
    return [one.content, *(c.id for c in world.app.timeline.listing.conversations(ANNA, 10, None).conversations)]


@scenario(prepare=everything, says=AFTER, reads=True)
def summaries_and_goals(world: World) -> list[str]:
    latest = world.app.summaries.stored.latest(ANNA)
    world.app.summaries.stored.page(ANNA, 10, None)
    world.app.summaries.stored.one(ANNA, "nothing")
    world.app.summaries.goals.one(ANNA, world.known["goal"])
    return [latest.text if latest else "", *(goal.goal for goal in world.app.summaries.goals.listed(ANNA))]


@scenario(prepare=everything, says=AFTER, reads=True)
def knowledge_and_rules(world: World) -> list[str]:
    knowledge, rules = world.app.knowledge, world.app.rules
    knowledge.section("acme", "shop")
    knowledge.resolve("acme", "cost above 3", "shop")
    return [
        str(knowledge.get("acme", "notes", "zebra").value),
        *(entry.key for entry in knowledge.listed("acme").entries),
        rules.read("acme").rules.version,
        rules.resolved("acme").version,
    ]


@scenario(prepare=everything, says=AFTER, reads=True, degrades=True)
def readiness(world: World) -> list[str]:
    return sorted(world.app.readiness.check().parts)
