"""`POST /v1/tool-calls` on both surfaces (A-02, A-06, A-12 to A-18)."""

import json
from typing import Any

import pytest

from entrypoints.http.calling import Caller
from recollect.app import App
from recollect.core.errors import Throttled
from recollect.core.idempotency import IdempotencyClaim

PATH = "/v1/tool-calls"
FIELDS = "tool_name:「始」search_memory「末」query:「始」Lyon「末」top_k:「始」3「末」"
VCP = f"<<<[TOOL_REQUEST]>>>{FIELDS}<<<[END_TOOL_REQUEST]>>>"


def block(tool: str, **parameters: Any) -> str:
    return f"[[ABP_TOOL:{tool}]]{json.dumps(parameters)}[[END_ABP_TOOL]]"


def memories(caller: Caller) -> list[dict[str, Any]]:
    return list(caller.get("/v1/users/anna/memories").json["memories"])


SAVE = block("save_memory", content="Anna lives in Lyon")
COUNTERS = {"abp_ok": 0, "abp_failed": 0, "vcp_fallback": 0, "plain_text": 0}


@pytest.mark.spec("A-02", "A-18")
def test_calls_are_read_and_not_made_unless_asked_for(caller: Caller) -> None:
    answer = caller.post(PATH, {"text": f"I will remember that. {SAVE}", "user_id": "anna"})
    assert answer.status == 200
    assert answer.json == {
        "protocol": "abp",
        "calls": [{"tool": "save_memory", "parameters": {"content": "Anna lives in Lyon"}}],
        "text": "I will remember that.",
        "warnings": [],
        "statistics": {**COUNTERS, "abp_ok": 1},
    }
    assert caller.timeline().json["events"] == memories(caller) == []


@pytest.mark.spec("A-12", "A-14", "A-18")
@pytest.mark.parametrize("text", ["", " Just text.\n", "[[ABP_TOOL:x]] no JSON", VCP])
def test_without_a_request_the_text_comes_back_unchanged(caller: Caller, text: str) -> None:
    answer = caller.post(PATH, {"text": text, "user_id": "anna", "execute": True}).json
    assert (answer["protocol"], answer["calls"], answer["results"], answer["text"]) == ("text", [], [], text)
    assert answer["statistics"]["plain_text"] == 1


@pytest.mark.spec("A-09")
def test_strict_refuses_a_block_without_its_end(caller: Caller) -> None:
    text = SAVE.removesuffix("[[END_ABP_TOOL]]")
    lenient, strict = (caller.post(PATH, {"text": text, "strict": strict}).json for strict in (False, True))
    assert (lenient["protocol"], strict["protocol"]) == ("abp", "text")
    assert lenient["warnings"] == strict["warnings"] == ["ABP block 1: the end marker is missing"]


@pytest.mark.spec("A-06", "A-15", "A-17")
def test_vcp_is_executed_in_dual_mode(caller: Caller) -> None:
    caller.added("Anna lives in Lyon")
    answer = caller.post(PATH, {"text": VCP, "user_id": "anna", "dual": True, "execute": True}).json
    assert answer["protocol"] == "vcp"
    (result,) = answer["results"]
    assert [one["content"] for one in result["result"]["results"]] == ["Anna lives in Lyon"]


@pytest.mark.spec("A-06", "A-10")
def test_every_call_is_made_in_order_and_each_has_its_result(caller: Caller) -> None:
    text = SAVE + block("search_memory", query="Lyon") + block("launch_rockets") + block("save_memory", text="x")
    answer = caller.post(PATH, {"text": text, "user_id": "anna", "execute": True})
    saved, found, unknown, invalid = answer.json["results"]
    assert (answer.status, saved["ok"], saved["status"]) == (200, True, "done")
    assert [one["id"] for one in found["result"]["results"]] == [saved["result"]["id"]]
    assert (unknown["ok"], unknown["status"]) == (False, "unknown_tool")
    assert (invalid["ok"], invalid["status"]) == (False, "invalid_parameters")
    assert {"loc": ["text"], "message": "unknown field"} in invalid["errors"]


@pytest.mark.spec("A-05")
def test_without_executing_invalid_parameters_of_a_known_tool_are_a_warning(caller: Caller) -> None:
    answer = caller.post(PATH, {"text": block("search_memory", query="x", top_k=1000) + block("weather", city=1)}).json
    assert answer["warnings"] == ["call 1: top_k: Input should be less than or equal to 100"]
    assert len(answer["calls"]) == 2


def test_what_a_call_stores_is_the_users_inferred_and_a_models(caller: Caller) -> None:
    body = {"text": SAVE, "user_id": "anna", "persona_id": "home", "conversation_id": "c-1", "execute": True}
    (result,) = caller.post(PATH, body).json["results"]
    (memory,) = memories(caller)
    assert memory["id"] == result["result"]["id"]
    assert (memory["source"], memory["metadata"]["actor"], memory["persona_id"]) == ("inferred", "model", "home")
    noted = {**body, "text": block("record_event", content="Dentist")}
    (result,) = caller.post(PATH, noted).json["results"]
    (event,) = caller.timeline().json["events"]
    assert event["id"] == result["result"]["id"]
    assert (event["source"], event["role"], event["metadata"]["actor"]) == ("inferred", "bot", "model")
    assert (event["persona_id"], event["conversation_id"]) == ("home", "c-1")


def test_the_same_key_makes_no_call_twice_and_tells_the_same(caller: Caller) -> None:
    others = block("search_memory", query="Lyon") + block("track_goal", goal="Run") + block("forget_memory", id="x")
    body = {"text": SAVE + others, "user_id": "anna", "execute": True}
    assert caller.twice(PATH, body, "k").status == 200
    assert len(memories(caller)) == 1
    assert caller.post(PATH, {**body, "text": SAVE}, idempotency_key="k").status == 422


def test_a_replay_names_what_was_deleted_since(caller: Caller) -> None:
    body = {"text": SAVE, "user_id": "anna", "execute": True}
    (saved,) = caller.post(PATH, body, idempotency_key="k").json["results"]
    forget = {"text": block("forget_memory", id=saved["result"]["id"]), "user_id": "anna", "execute": True}
    assert caller.post(PATH, forget).json["results"][0]["ok"]
    (again,) = caller.post(PATH, body, idempotency_key="k").json["results"]
    assert (again["ok"], again["status"]) == (False, "refused")
    assert memories(caller) == []


def test_a_record_of_idempotency_holds_no_text(app: App, caller: Caller) -> None:
    text = SAVE + block("track_goal", goal="Run a marathon") + block("search_memory", query="Lyon")
    kept: list[Any] = []
    complete = app.parts.idempotency.complete

    def noted(claim: IdempotencyClaim, status: int, body: dict[str, object]) -> None:
        kept.append(body)
        complete(claim, status, body)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app.parts.idempotency, "complete", noted)
        caller.post(PATH, {"text": text, "user_id": "anna", "execute": True}, idempotency_key="k")
    assert not {"Lyon", "marathon"} & set(json.dumps(kept).replace('"', " ").split())
    assert len(kept[0]["calls"]) == 3


def test_a_failure_half_way_is_no_answer_and_a_retry_goes_on(app: App, caller: Caller) -> None:
    body = {"text": SAVE + block("track_goal", goal="Run"), "user_id": "anna", "execute": True}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app.summaries.goals, "track", _throttled)
        failed = caller.post(PATH, body, idempotency_key="k")
    assert (failed.status, failed.json["detail"]) == (503, "A part of the service does not answer now.")
    done = caller.post(PATH, body, idempotency_key="k")
    assert [one["ok"] for one in done.json["results"]] == [True, True]
    assert len(memories(caller)) == 1


def _throttled(*_arguments: Any) -> None:
    raise Throttled("slower")


def test_more_calls_than_one_request_makes_are_named(caller: Caller) -> None:
    text = block("search_memory", query="x") * 52
    answer = caller.post(PATH, {"text": text, "user_id": "anna", "execute": True}).json
    assert [one["status"] for one in answer["results"]] == ["done"] * 50
    assert answer["warnings"] == ["the last 2 calls were not made: one request makes 50"]


@pytest.mark.parametrize("unit", ['[[ABP_TOOL:x]]{"', "[[ABP_TOOL:xxxx]]{}"])
def test_a_megabyte_is_read_and_more_is_refused(caller: Caller, unit: str) -> None:
    noise = (unit * (1024 * 1024 // len(unit))).ljust(1024 * 1024)
    answer = caller.post(PATH, {"text": noise, "user_id": "anna", "execute": True})
    assert answer.status == 200
    assert answer.json["calls"] or answer.json["text"] == noise
    assert caller.post(PATH, {"text": noise + " "}).locs == {("body", "text")}


@pytest.mark.spec("A-18")
def test_each_way_is_a_metric_of_the_log_line(caller: Caller) -> None:
    caller.post(PATH, {"text": SAVE})
    line = json.loads(caller.surface.log.getvalue().splitlines()[-1])
    assert {name: line[name] for name in COUNTERS} == {**COUNTERS, "abp_ok": 1}
    (metrics,) = line["_aws"]["CloudWatchMetrics"]
    assert [metric["Name"] for metric in metrics["Metrics"]] == list(COUNTERS)
    assert (metrics["Namespace"], metrics["Dimensions"]) == ("Recollect", [["service"]])
    assert "Lyon" not in caller.surface.log.getvalue()


def test_calls_of_an_agent_stay_within_its_labels(caller: Caller) -> None:
    asked = {"user_id": "anna", "execute": True}
    text = SAVE + block("track_goal", goal="Learn French")
    made = caller.post(PATH, {"text": text, **asked, "agent_id": "guide", "namespace": ["org"]}).json["results"]
    assert [one["status"] for one in made] == ["done", "unknown_tool"]
    (saved,) = memories(caller)
    assert (saved["agent_id"], saved["namespace"]) == ("guide", ["org"])
    for agent, count in (("guide", 1), ("tutor", 0)):
        answer = caller.post(PATH, {"text": block("search_memory", query="Lyon"), **asked, "agent_id": agent})
        assert len(answer.json["results"][0]["result"]["results"]) == count
    assert caller.post(PATH, {"text": SAVE, **asked, "namespace": ["a/b"]}).status == 422
