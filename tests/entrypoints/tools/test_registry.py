"""The registry of tools: what a model may call, with what, and what it may never claim (A-05, A-06, S-25, S-39)."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrypoints.tools.conftest import ANNA, NOW, Calling
from recollect.core.errors import Throttled
from recollect.core.event import Event, EventType, Role, Source
from recollect.core.scope import Scope
from recollect.entrypoints.tools.registry import BUILT_IN, Status, ToolResult, instructions_on, result_document
from recollect.memories.audit import Action, Actor, ActorKind
from recollect.memories.audit_log import AuditFilter
from recollect.memories.reading import MemoryQuery
from recollect.tool_calls.protocol import ToolCall

BOB = Scope("local", "bob")
VALID: dict[str, dict[str, Any]] = {
    "manage_knowledge": {"namespace": "vocabulary", "key": "orders:cost", "value": {"target": "total_amount"}},
    "save_memory": {"content": "Anna lives in Lyon"},
    "search_memory": {"query": "Lyon"},
    "forget_memory": {"key": "city"},
    "record_event": {"content": "Dentist on Tuesday"},
    "track_goal": {"goal": "Run a marathon"},
}


def stored(call: Calling, result: ToolResult, scope: Scope = ANNA) -> Event:
    event = call.app.parts.timeline.find(scope, result.result["id"])
    assert event is not None
    return event


@pytest.mark.spec("A-06")
@pytest.mark.parametrize("tool", BUILT_IN)
def test_each_tool_does_what_is_asked(call: Calling, tool: str) -> None:
    call("save_memory", content="Anna's city is Lyon", key="city")
    result = call(tool, **VALID[tool])
    assert result.ok, result
    assert result.message.endswith(".")


@pytest.mark.spec("A-06")
def test_an_unknown_tool_is_an_answer_that_names_the_known_ones(call: Calling) -> None:
    for repaired in (False, True):
        result = call.make(ToolCall("delete_everything", {"user_id": "anna"}, repaired=repaired))
        assert (result.status, result.wrote) == (Status.UNKNOWN_TOOL, False)
        assert all(name in result.message for name in BUILT_IN)


@pytest.mark.spec("A-05")
@pytest.mark.parametrize("tool", BUILT_IN)
@pytest.mark.parametrize("field", ["source", "role", "user_id", "tenant", "persona_id", "trust", "actor", "embedding"])
def test_what_is_no_parameter_is_refused_by_name(call: Calling, tool: str, field: str) -> None:
    result = call(tool, **VALID[tool], **{field: "user"})
    assert result.status is Status.INVALID_PARAMETERS
    assert [(fault.loc, fault.message) for fault in result.faults] == [((field,), "unknown field")]
    assert not call("search_memory", query="anna lyon").result["results"]


BAD_VALUES: dict[str, dict[str, list[Any]]] = {
    "save_memory": {
        "content": [" \n", "é" * 32_769, "\ud800"],
        "importance": [1.01, -0.01],
        "key": ["..", "k" * 129],
        "keywords": [["w"] * 51],
    },
    "search_memory": {"top_k": [0, 101], "query": [["x"]]},
    "record_event": {"event_type": ["party", "memory"], "timestamp": ["some day", "1850-01-01"]},
    "track_goal": {"status": ["won"], "goal": [" ", "x" * 501]},
    "manage_knowledge": {"action": ["erase"], "key": ["cost"]},
}
BAD_PARAMETERS: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("save_memory", {}, ("content",)),
    ("forget_memory", {}, ()),
    ("forget_memory", {"id": "a", "key": "b"}, ()),
    ("manage_knowledge", {"namespace": "rule"}, ()),
    ("manage_knowledge", {"namespace": "rule", "key": "vip"}, ()),
    ("manage_knowledge", {"namespace": "vocabulary", "key": "a:b", "value": {"goal": "x"}}, ("value", "goal")),
    *(
        (tool, VALID[tool] | {name: bad}, (name,))
        for tool, fields in BAD_VALUES.items()
        for name in fields
        for bad in fields[name]
    ),
]


@pytest.mark.spec("A-05")
@pytest.mark.parametrize(("tool", "parameters", "loc"), BAD_PARAMETERS, ids=range(len(BAD_PARAMETERS)))
def test_parameters_out_of_bounds_are_an_answer_that_says_where(
    call: Calling, tool: str, parameters: dict[str, Any], loc: tuple[str, ...]
) -> None:
    result = call(tool, **parameters)
    assert result.status is Status.INVALID_PARAMETERS
    assert [fault.loc for fault in result.faults] == [loc]
    assert result_document(result)["errors"][0]["loc"] == list(loc)


SOME_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from([*(name for parameters in VALID.values() for name in parameters), "action", "id", "top_k", "x"])


@pytest.mark.spec("A-05", "A-06")
@given(st.sampled_from([*BUILT_IN, "x"]), st.dictionaries(NAMES, SOME_JSON, max_size=5))
def test_any_parameters_are_an_answer(call: Calling, tool: str, parameters: dict[str, Any]) -> None:
    result = call(tool, **parameters)
    assert result.message
    result_document(result)


@pytest.mark.spec("A-05")
def test_the_action_beside_the_parameters_is_the_tools_where_it_has_one(call: Calling) -> None:
    listed = call.make(ToolCall("manage_knowledge", {"namespace": "rule"}, action="list"))
    assert listed.result == {"entries": [], "more": False}
    assert call.make(ToolCall("search_memory", {"query": "x"}, action="run")).ok


def test_what_a_model_saves_is_inferred_and_a_models(call: Calling) -> None:
    result = call("save_memory", content="Anna lives in Lyon", importance=0.9, keywords=["city"], key="home")
    memory = call.app.memories.store.one(ANNA, result.result["id"], NOW)
    assert (memory.source, memory.user_id, memory.content) == (Source.INFERRED, "anna", "Anna lives in Lyon")
    assert memory.metadata == {"actor": "model", "tool": "save_memory"}
    assert (memory.importance, memory.key, memory.timestamp, memory.keywords) == (0.9, "home", NOW, ("city",))
    assert (stored(call, result).event_type, result.stored) == (EventType.MEMORY, (memory.id,))
    (entry,) = call.app.memories.audit.page(ANNA, 10, None, AuditFilter()).entries
    assert (entry.actor, entry.action) == (Actor(ActorKind.MODEL, "save_memory"), Action.CREATE)


def test_what_is_known_is_not_saved_again(call: Calling) -> None:
    first, again = (call("save_memory", content="Anna lives in Lyon") for _ in range(2))
    assert (first.result["status"], again.result) == ("created", {"id": first.result["id"], "status": "duplicate"})
    assert again.message == "I knew that already."


def test_keywords_of_vcp_are_separated_by_commas(call: Calling) -> None:
    result = call("save_memory", content="Anna lives in Lyon", keywords="city, home,")
    assert call.app.memories.store.one(ANNA, result.result["id"], NOW).keywords == ("city", "home")


def test_an_event_of_a_models_has_its_type_and_time(call: Calling) -> None:
    result = call("record_event", content="Dentist", event_type="task", timestamp="2024-06-01T10:00:00Z")
    event = stored(call, result)
    assert (event.source, event.role, event.event_type) == (Source.INFERRED, Role.BOT, EventType.TASK)
    assert event.timestamp.isoformat() == "2024-06-01T10:00:00+00:00"
    again = call("record_event", content="Dentist", event_type="task", timestamp="2024-06-01T10:00:00Z")
    assert again.result == {"id": event.id, "status": "duplicate"}


def test_the_same_call_with_the_same_ids_stores_nothing_twice(call: Calling) -> None:
    seed = call.app.ids.seed(0, 4)
    asked = ToolCall("save_memory", {"content": "Anna lives in Lyon"})
    ids = {call.registry.execute(ANNA, asked, seed, NOW).result["id"] for _ in range(2)}
    assert len(ids) == 1
    assert len(call.app.memories.listing.page(ANNA, MemoryQuery(), 10, None, NOW).memories) == 1


def test_a_search_finds_the_users_memories_and_no_other_users(call: Calling) -> None:
    call("save_memory", content="Anna lives in Lyon")
    call("save_memory", BOB, content="Bob lives in Lyon")
    found = call("search_memory", query="who lives in Lyon?").result["results"]
    assert [one["content"] for one in found] == ["Anna lives in Lyon"]
    assert (found[0]["source"], found[0]["kind"]) == ("inferred", "memory")


def test_a_search_leaves_out_what_no_model_would_read(call: Calling) -> None:
    for number in range(3):
        call("save_memory", content=f"lyon {number} " + "x" * 20_000)
    result = call("search_memory", query="lyon").result
    assert len(result["results"]) + result["left_out"] == 3
    assert result["left_out"] >= 1


def test_forgetting_reaches_only_what_the_scope_admits(call: Calling) -> None:
    kept = call("save_memory", Scope("local", "anna", "work"), content="The office is in Lyon")
    for scope in (BOB, Scope("other", "anna"), Scope("local", "anna", "home")):
        assert call("forget_memory", scope, id=kept.result["id"]).status is Status.NOT_FOUND
    assert call("forget_memory", BOB, key="city").status is Status.NOT_FOUND
    stored(call, kept)


def test_forgetting_by_id_and_by_key(call: Calling) -> None:
    first = call("save_memory", content="Anna lives in Lyon")
    assert call("forget_memory", id=first.result["id"]).result == {"deleted": [first.result["id"]]}
    assert call.app.parts.timeline.find(ANNA, first.result["id"]) is None
    event = call("record_event", content="Dentist")
    assert call("forget_memory", id=event.result["id"]).result == {"deleted": [event.result["id"]]}
    entries = call.app.memories.audit.page(ANNA, 10, None, AuditFilter(action=Action.DELETE)).entries
    assert {entry.actor for entry in entries} == {Actor(ActorKind.MODEL, "forget_memory")}
    for city in ("Lyon", "Paris"):
        call("save_memory", content=f"Anna's city is {city}", key="city")
    assert len(call("forget_memory", key="city").result["deleted"]) == 2
    assert call("search_memory", query="city").result["results"] == []
    assert call("forget_memory", key="city").status is Status.NOT_FOUND


@pytest.mark.spec("S-25", "S-39")
def test_knowledge_that_a_model_writes_is_an_inference_whatever_it_says(call: Calling) -> None:
    value = {"target": "total_amount", "source": "user_instruction"}
    written = call("manage_knowledge", namespace="vocabulary", key="orders:cost", value=value)
    assert written.result == {"namespace": "vocabulary", "key": "orders:cost", "version": 1}
    read = call("manage_knowledge", namespace="vocabulary", key="orders:cost", action="read")
    assert (read.result["value"]["source"], read.wrote) == ("inference", False)


@pytest.mark.spec("S-39")
def test_the_four_actions_on_knowledge(call: Calling) -> None:
    rule = {"condition": "count > 100"}
    assert call("manage_knowledge", namespace="rule", key="vip", value=rule, action="upsert").ok
    listed = call("manage_knowledge", namespace="rule", action="list").result
    assert [entry["key"] for entry in listed["entries"]] == ["vip"]
    assert call("manage_knowledge", namespace="rule", key="vip", action="delete").ok
    for action in ("read", "delete"):
        assert call("manage_knowledge", namespace="rule", key="vip", action=action).status is Status.NOT_FOUND


def test_a_goal_is_tracked_and_known_again(call: Calling) -> None:
    first = call("track_goal", goal="Run a marathon", check_in_frequency="weekly")
    again = call("track_goal", goal="run a marathon", status="completed")
    assert again.result["id"] == first.result["id"]
    (goal,) = call.app.summaries.goals.listed(ANNA)
    assert (goal.status, goal.check_in_frequency) == ("completed", "weekly")
    assert call.app.summaries.goals.listed(BOB) == []


def test_a_part_that_does_not_answer_is_an_answer(call: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    def throttled(*_arguments: Any, **_named: Any) -> None:
        raise Throttled("table X asked to slow down")

    monkeypatch.setattr(type(call.app.parts.timeline), "append", throttled)
    result = call("save_memory", content="Anna lives in Lyon")
    assert (result.status, result.wrote) == (Status.UNAVAILABLE, True)
    assert "table" not in result.message


def test_the_tools_are_described_with_their_schemas(call: Calling) -> None:
    described = {one.name: one for one in call.registry.described()}
    assert list(described) == list(BUILT_IN)
    for name, one in described.items():
        assert one.schema["additionalProperties"] is False
        assert set(VALID[name]) <= set(one.schema["properties"])
        assert name in instructions_on(BUILT_IN)


def test_numpy_is_imported_with_the_first_call_and_not_before() -> None:
    code = (
        "import recollect.entrypoints.tools.registry, recollect.entrypoints.http.routes.tools, sys;"
        "assert 'numpy' not in sys.modules, 'imported too early'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
