"""The tools of one agent of a user: what they store is labelled, and nothing of another agent is seen or changed."""

from typing import Any

import pytest

from entrypoints.tools.conftest import ANNA, NOW, Calling
from recollect.core.scope import NO_LABELS, Labels
from recollect.core.time import utc_now
from recollect.entrypoints.tools.registry import IDS_OF_A_CALL, OF_MCP, Status, ToolRegistry, ToolResult
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import Memory
from recollect.memories.reading import MemoryQuery
from recollect.tool_calls.protocol import ToolCall

COACH, TUTOR = Labels("coach", namespace=("org", "sport")), Labels("tutor")
RUNS = "Anna runs ten kilometres every morning"


class Agent:
    """Calls tools within labels."""

    def __init__(self, call: Calling, labels: Labels) -> None:
        self._app, self._labels = call.app, labels
        self._registry = ToolRegistry(call.app, OF_MCP)

    def __call__(self, tool: str, /, **parameters: Any) -> ToolResult:
        seed = self._app.ids.seed(0, IDS_OF_A_CALL)
        call = ToolCall(tool, parameters)
        return self._registry.execute(ANNA, call, seed, NOW, "c", self._labels)

    def did(self, tool: str, /, **parameters: Any) -> dict[str, Any]:
        result = self(tool, **parameters)
        assert result.ok, result.message
        return dict(result.result)

    def project(self) -> None:
        assert self._app.projection.reconciliation.run(NOW).failed == {}


@pytest.fixture
def coach(call: Calling) -> Agent:
    return Agent(call, COACH)


@pytest.fixture
def tutor(call: Calling) -> Agent:
    return Agent(call, TUTOR)


def memory(call: Calling) -> Memory:
    (found,) = call.app.memories.listing.page(ANNA, MemoryQuery(), 10, None, NOW).memories
    return found


def test_what_is_stored_has_the_labels(call: Calling, coach: Agent) -> None:
    coach.did("save_memory", content=RUNS)
    event_id = coach.did("record_event", content="Anna ran a marathon", event_type="task")["id"]
    event = call.app.timeline.listing.one(ANNA, event_id, NOW)
    assert (memory(call).labels, event.labels) == (COACH, COACH)


def test_another_agent_sees_none_of_it(coach: Agent, tutor: Agent) -> None:
    coach.did("save_memory", content=RUNS)
    coach.did("record_event", content="Anna runs with Bob every morning", event_type="task")
    for _ in ("waiting", "projected"):
        assert len(coach.did("search_memory", query="runs every morning")["results"]) == 2
        assert tutor.did("search_memory", query="runs every morning")["results"] == []
        for form in ("prompt", "messages"):
            assert "runs" in str(coach.did("recall_context", input="When?", form=form))
            assert "runs" not in str(tutor.did("recall_context", input="When?", form=form))
        assert tutor.did("list_memories") == {"memories": []}
        assert len(coach.did("list_memories")["memories"]) == 1
        coach.project()


@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("get_memory", {}),
        ("update_memory", {"content": "Anna walks"}),
        ("delete_memory", {}),
        ("forget_memory", {}),
    ],
)
def test_a_memory_of_another_agent_is_nobodys(
    call: Calling, coach: Agent, tutor: Agent, tool: str, more: dict[str, Any]
) -> None:
    memory_id = coach.did("save_memory", content=RUNS)["id"]
    assert tutor(tool, id=memory_id, **more).status is Status.NOT_FOUND
    assert memory(call).content == RUNS
    assert coach(tool, id=memory_id, **more).ok


def test_an_event_of_another_agent_is_not_forgotten(coach: Agent, tutor: Agent) -> None:
    event_id = coach.did("record_event", content=RUNS, event_type="task")["id"]
    assert tutor("forget_memory", id=event_id).status is Status.NOT_FOUND
    assert coach.did("forget_memory", id=event_id) == {"deleted": [event_id]}


def test_a_key_is_of_its_labels(call: Calling, coach: Agent, tutor: Agent) -> None:
    plain = Agent(call, NO_LABELS)
    ids = {name: agent.did("save_memory", content=f"By {name}", key="goal")["id"] for name, agent in (
        ("coach", coach), ("tutor", tutor), ("nobody", plain)
    )}  # fmt: skip
    assert tutor.did("forget_memory", key="goal")["deleted"] == [ids["tutor"]]
    assert plain.did("forget_memory", key="goal")["deleted"] == [ids["nobody"]]
    assert [one["id"] for one in coach.did("list_memories")["memories"]] == [ids["coach"]]


def test_a_page_of_one_agents_memories_does_not_go_on_as_anothers(coach: Agent, tutor: Agent) -> None:
    for number in range(2):
        coach.did("save_memory", content=f"{RUNS}, {number}")
    cursor = coach.did("list_memories", limit=1)["next_cursor"]
    assert tutor("list_memories", cursor=cursor).status is Status.INVALID_PARAMETERS
    assert len(coach.did("list_memories", cursor=cursor)["memories"]) == 1


def test_each_has_a_knowledge_graph_of_its_own(call: Calling, coach: Agent, tutor: Agent) -> None:
    coach.did("create_entities", entities=[{"name": "Bob", "entityType": "runner", "observations": ["fast"]}])
    assert tutor.did("read_graph")["entities"] == Agent(call, NO_LABELS).did("read_graph")["entities"] == []
    assert tutor("add_observations", observations=[{"entityName": "Bob", "contents": ["slow"]}]).ok is False
    tutor.did("delete_entities", entityNames=["Bob"])
    assert coach.did("open_nodes", names=["Bob"])["entities"][0]["observations"] == ["fast"]


def test_what_is_of_all_that_a_user_says_is_no_tool_of_an_agent(call: Calling, coach: Agent) -> None:
    refused = coach("track_goal", goal="Run a marathon")
    assert refused.status is Status.UNKNOWN_TOOL
    assert "track_goal" not in refused.message
    assert call.app.summaries.goals.listed(ANNA) == []
    assert Agent(call, NO_LABELS)("track_goal", goal="Run a marathon").ok


def test_an_erasure_of_the_user_reaches_what_an_agent_stored(call: Calling, coach: Agent) -> None:
    coach.did("create_entities", entities=[{"name": "Bob", "entityType": "runner", "observations": ["fast"]}])
    coach.did("save_memory", content=RUNS, key="sport")
    users, user = call.app.deletion.users, Actor(ActorKind.USER, ANNA.user_id)
    begun = users.erase(ANNA, NOW, utc_now(), user, lambda: 60.0)
    call.app.job_runs.one(ANNA.tenant, begun.id, utc_now, lambda: 60.0)
    assert coach.did("read_graph") == {"entities": [], "relations": []}
    assert coach.did("list_memories") == {"memories": []}
