"""The built functions answer at every route, carry an event from ingest to search, take turns, forget, speak MCP."""

import copy
import json
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from deployment.asking import (
    CONTEXT,
    EVENTS,
    SEARCH,
    TURN,
    Functions,
    SignedRequests,
    asked,
    found,
    ingested,
    of,
    projected,
    said,
)
from deployment.built import Deployment, RunningFunction, started
from deployment.conftest import Opt
from deployment.gateway import SIGNING_KEYS, SIGNING_PARAMETER, Gateway, Need
from deployment.permissions import BEDROCK_MODEL_ARN, refusals
from deployment.requests import SERVED_BY, SNEAKERS, good_statuses, http_event, signed_event
from deployment.template import FUNCTIONS, WITH_DATA, sample_events
from entrypoints.http.test_agentcore import AgentCore
from entrypoints.http.test_authorizer import Issuer, langgraph_through
from infra.local.function_process import NoAnswer
from recollect.adapters.embedders.model_folder import GENERATION, pooled_generation
from recollect.api_keys import PREFIX, ApiKeys
from recollect.bootstrap.aws_parts import AwsParts
from recollect.settings import Principal, Settings

pytestmark = [pytest.mark.built, pytest.mark.engines]

NOW = datetime(2026, 11, 1, tzinfo=UTC)
CONTENT_TYPE = {"content-type": "application/json"}
OF_ANOTHER_WIRE = ("mcp", "console", "mem0", "agentcore")
SAVE, MEMORY = "POST /v1/memories", "/v1/users/{user_id}/memories/{memory_id}"


@pytest.fixture
def user() -> str:
    return f"anna-{uuid.uuid4().hex[:8]}"


@pytest.mark.parametrize("route", sorted(route for route, name in SERVED_BY.items() if name not in OF_ANOTHER_WIRE))
def test_every_route_is_answered(functions: Functions, route: str) -> None:
    answer = asked(functions, route)
    assert answer["statusCode"] in good_statuses(route), answer


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_for_sam_local_invoke_is_answered(functions: Functions, name: str) -> None:
    for event in sample_events(name).values():
        answer = functions[name].invoke(event)
        assert answer.get("statusCode", 200) in (200, 201), answer
        assert answer.get("batchItemFailures", []) == []


def test_the_schedules_run_the_jobs_that_were_asked_for(functions: Functions) -> None:
    """Those of the routes above among them; `retain` has begun its own day's."""
    job_id = said(asked(functions, "POST /v1/jobs/reconcile"))["job_id"]
    pruned = functions["retain"].invoke(sample_events("retain")["schedule-retain"])
    assert (pruned["failed"], pruned["complete"]) == (0, True)
    answer = functions["jobs"].invoke(sample_events("jobs")["schedule-jobs"])
    assert set(answer) == {"done", "failed", "running", "complete"}
    assert said(asked(functions, "GET /v1/jobs/{job_id}", job_id))["status"] == "done"


def test_an_event_of_another_kind_is_an_error_of_the_function(functions: Functions) -> None:
    assert functions["project"].outcome({"task": "unknown"}).error is not None


@pytest.mark.spec("P-25")
def test_an_event_goes_from_ingest_by_the_stream_to_search_and_context(functions: Functions, user: str) -> None:
    event_id = ingested(functions, user)
    assert projected(functions, user, event_id) == {"batchItemFailures": []}
    told = [entry["DetailType"] for entry in functions["project"].gateway.published[-2:]]
    assert told == ["memory:episodic:saved", "memory:semantic:saved"]
    assert event_id in {one["id"] for one in found(functions, user)["results"]}
    context = said(functions["context"].invoke(of(user, CONTEXT)))
    assert "Lyon" in context["prompt"]


def test_a_record_that_comes_twice_changes_nothing(functions: Functions, user: str) -> None:
    event_id = ingested(functions, user)
    assert projected(functions, user, event_id, times=3) == {"batchItemFailures": []}
    assert projected(functions, user, event_id, kind="stream-modify") == {"batchItemFailures": []}
    assert [one["id"] for one in found(functions, user)["results"]].count(event_id) == 1


def test_what_the_stream_never_brought_is_projected_by_the_schedule(functions: Functions, user: str) -> None:
    event_id = ingested(functions, user)
    answer = functions["project"].invoke(sample_events("project")["schedule-reconcile"])
    assert answer["projected"] >= 1
    assert answer["failed"] == 0
    assert event_id in {one["id"] for one in found(functions, user)["results"]}
    assert '"OldestPendingAge"' in functions["project"].log


def test_without_the_search_engine_records_come_again_and_reads_go_on(functions: Functions, user: str) -> None:
    for one in functions.values():
        one.gateway.away.add("opensearch")
    try:
        event_id = ingested(functions, user)
        assert projected(functions, user, event_id)["batchItemFailures"] != []
        assert event_id in {one["id"] for one in found(functions, user)["results"]}
    finally:
        for one in functions.values():
            one.gateway.away.clear()
    assert projected(functions, user, event_id) == {"batchItemFailures": []}
    assert event_id in {one["id"] for one in found(functions, user)["results"]}


@pytest.mark.spec("K-74", "K-75")
def test_a_turn_is_answered_from_memory_and_remembered(functions: Functions, user: str) -> None:
    event_id = ingested(functions, user)
    projected(functions, user, event_id)
    turn = of(user, TURN)
    turn["headers"]["idempotency-key"] = user
    answer = said(functions["converse"].invoke(turn))
    assert "Lyon" in answer["response"]
    assert answer["model"] == "extractive"
    assert not {"embedder", "rerank"} & set(answer["context"]["diagnostics"]["missing"])
    stored = [answer["input_event_id"], answer["response_event_id"]]
    assert [contents(functions, user, one) for one in stored] == [
        "Where did I move last week?",
        answer["response"],
    ]
    again = functions["converse"].invoke(turn)
    assert again["headers"]["Idempotent-Replayed"] == "true"
    assert [said(again)[name] for name in ("input_event_id", "response_event_id")] == stored


def contents(functions: Functions, user: str, event_id: str) -> str:
    return str(said(asked(functions, "GET /v1/users/{user_id}/events/{event_id}", user, event_id))["content"])


LEARNT, UNLEARNT = (
    f"[[ABP_TOOL:manage_knowledge]]\n{json.dumps({'namespace': 'words', 'key': 'flat', **more})}\n[[END_ABP_TOOL]]"
    for more in ({"value": "Lyon"}, {"action": "delete"})
)


@pytest.fixture
def bedrock(functions: Functions, deployment: Deployment, opt: Opt, tmp_path: Path) -> Iterator[RunningFunction]:
    """The function `converse` where a model on Bedrock answers."""
    names = {**deployment.names, "Model": "bedrock", "BedrockModel": BEDROCK_MODEL_ARN}
    said = f"In Lyon, since last week.\n{LEARNT}\n{UNLEARNT}"
    with Gateway(
        deployment.upstream, said=said, invoked=lambda asked, event: functions[asked].outcome(event)
    ) as gateway:
        chosen = replace(deployment, names=names)
        function = started("converse", chosen, gateway, opt["converse"], tmp_path / "bedrock.log")
        yield function
        function.stop()


def test_a_model_on_bedrock_is_called_as_the_role_allows(
    functions: Functions, bedrock: RunningFunction, deployment: Deployment, user: str
) -> None:
    ingested(functions, user)
    answer = said(bedrock.invoke(of(user, TURN)))
    assert answer["response"] == "In Lyon, since last week."
    assert answer["model"] == f"bedrock:{BEDROCK_MODEL_ARN}"
    assert [call["status"] for call in answer["tool_calls"]] == ["done", "done"]
    assert "I moved to Lyon" in json.dumps(bedrock.gateway.asked[-1]["messages"])
    assert Need("bedrock:InvokeModel", BEDROCK_MODEL_ARN) in bedrock.gateway.needs
    assert refusals("converse", bedrock.gateway.needs, deployment.names["IndexPrefix"]) == set()


def test_rules_come_from_the_parameter(functions: Functions) -> None:
    tags = said(asked(functions, "POST /v1/analyze", body={"text": "We went out in the canoe."}))["tags"]
    assert "boats" in tags
    rules_read = Need("ssm:GetParameter", "parameter/recollect/rules")
    reading = {name for name, one in functions.items() if rules_read in one.gateway.needs}
    assert reading == set(WITH_DATA)


def test_a_tenants_rules_are_put_and_taken_back(functions: Functions) -> None:
    before = said(asked(functions, "PUT /v1/rules", body={}))
    put = said(asked(functions, "PUT /v1/rules"))
    assert put["rules"]["summary"]["messages"] == 40
    assert said(asked(functions, "GET /v1/rules"))["version"] == put["version"]
    again = said(asked(functions, "PUT /v1/rules", body={}))
    assert (again["version"], again["own"]) == (before["version"], {})


def test_knowledge_is_kept_used_and_deleted(functions: Functions) -> None:
    place = ("vocabulary", SNEAKERS)
    said(asked(functions, "PUT /v1/knowledge/{namespace}/{key}", *place))
    assert said(asked(functions, "GET /v1/knowledge/{namespace}/{key}", *place))["key"] == "shop:sneakers"
    assert said(asked(functions, "GET /v1/knowledge/{namespace}", "vocabulary"))["entries"]
    resolved = said(asked(functions, "POST /v1/knowledge/resolve"))
    assert resolved["text"] == "red category:shoes"
    assert "category:shoes" in said(asked(functions, "GET /v1/knowledge", query="format=prompt&store=shop"))["prompt"]
    assert asked(functions, "DELETE /v1/knowledge/{namespace}/{key}", *place)["statusCode"] == 204
    assert asked(functions, "GET /v1/knowledge/{namespace}/{key}", *place)["statusCode"] == 404


def test_a_models_calls_save_find_follow_and_forget(functions: Functions, user: str) -> None:
    saved, goal = called(
        functions,
        user,
        ("save_memory", {"content": "Anna rows in a canoe.", "key": "hobby"}),
        ("track_goal", {"goal": "Row every Sunday"}),
    )
    assert (saved["ok"], goal["ok"]) == (True, True)
    (hit,) = called(functions, user, ("search_memory", {"query": "canoe"}))
    assert hit["result"]["results"][0]["source"] == "inferred"
    assert kept(functions, user) == ["completed"]
    forgotten, forgotten_key = called(
        functions, user, ("forget_memory", {"id": saved["result"]["id"]}), ("forget_memory", {"key": "hobby"})
    )
    assert (forgotten["ok"], forgotten_key["status"]) == (True, "not_found")
    (nothing,) = called(functions, user, ("search_memory", {"query": "canoe"}))
    assert nothing["result"]["results"] == []


def called(functions: Functions, user: str, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    blocks = [f"[[ABP_TOOL:{tool}]]\n{json.dumps(given)}\n[[END_ABP_TOOL]]" for tool, given in calls]
    body = {"user_id": user, "text": "\n".join(blocks), "execute": True}
    results = said(asked(functions, "POST /v1/tool-calls", body=body))["results"]
    return list(results)


def kept(functions: Functions, user: str) -> list[str]:
    """How the only goal stands after it was kept, and patched to be completed: what its check-ins say."""
    (goal,) = said(asked(functions, "GET /v1/users/{user_id}/goals", user))["goals"]
    patched = said(asked(functions, "PATCH /v1/users/{user_id}/goals/{goal_id}", user, goal["id"]))
    assert patched["status"] == "completed"
    checked = said(asked(functions, "POST /v1/users/{user_id}/goals/{goal_id}/check-ins", user, goal["id"]))
    return [one["status"] for one in checked["history"]]


@pytest.mark.spec("H-10")
def test_the_schedule_summarizes_whom_project_found_due(functions: Functions, user: str) -> None:
    event_id = ingested(functions, user)
    projected(functions, user, event_id)
    answer = functions["summarize"].invoke(sample_events("summarize")["schedule-summarize"])
    assert answer["made"] >= 1
    assert (answer["failed"], answer["complete"]) == (0, True)
    (summary,) = said(asked(functions, "GET /v1/users/{user_id}/summaries", user))["summaries"]
    assert "Lyon" in summary["summary"]
    assert event_id in summary["source_event_ids"]
    assert '"SummariesMade"' in functions["summarize"].log
    context = said(functions["context"].invoke(of(user, CONTEXT)))
    assert context["summary"]["id"] == summary["id"]


def test_a_summary_is_made_on_request(functions: Functions, user: str) -> None:
    ingested(functions, user)
    answer = asked(functions, "POST /v1/users/{user_id}/summaries", user)
    assert (answer["statusCode"], said(answer)["reason"]) == (201, "age")
    again = asked(functions, "POST /v1/users/{user_id}/summaries", user)
    assert (again["statusCode"], said(again)["due"]) == (200, False)


@pytest.mark.spec("P-22")
def test_a_deleted_event_is_gone_everywhere_and_stays_gone(functions: Functions, user: str) -> None:
    event_id = ingested(functions, user)
    projected(functions, user, event_id)
    said(asked(functions, "POST /v1/users/{user_id}/summaries", user))
    deleted = asked(functions, "DELETE /v1/users/{user_id}/events/{event_id}", user, event_id)
    assert deleted["statusCode"] == 204
    assert event_id not in {one["id"] for one in found(functions, user)["results"]}
    (summary,) = said(asked(functions, "GET /v1/users/{user_id}/summaries", user))["summaries"]
    assert "Lyon" not in summary["summary"]
    assert projected(functions, user, event_id, kind="stream-remove") == {"batchItemFailures": []}
    again = said(functions["ingest"].invoke(of(user, EVENTS)))
    assert again["results"][0]["status"] == "refused"


@pytest.mark.spec("A-19", "A-21")
def test_a_memory_is_saved_found_edited_and_deleted(functions: Functions, user: str) -> None:
    memory = said(functions[SERVED_BY[SAVE]].invoke(of(user, SAVE)))
    again = functions[SERVED_BY[SAVE]].invoke(of(user, SAVE))
    assert (again["statusCode"], said(again)) == (200, memory)
    assert memory["embedding_id"].partition("/")[0] == pooled_generation(GENERATION)
    question = {"user_id": user, "query": "What does Anna drink?"}
    for method, content in (("GET", "green"), ("PATCH", "black")):
        assert content in said(asked(functions, f"{method} {MEMORY}", user, memory["id"]))["content"]
        (found,) = said(asked(functions, SEARCH, body=question))["results"]
        assert (found["id"], found["kind"], found["content"]) == (memory["id"], "memory", f"Anna drinks {content} tea")
        assert functions["project"].invoke(sample_events("project")["schedule-reconcile"])["failed"] == 0
    history = said(asked(functions, f"GET {MEMORY}/history", user, memory["id"]))["history"]
    assert [one["version"] for one in history] == [1, 2]
    listed = said(asked(functions, "GET /v1/users/{user_id}/memories", user))["memories"]
    assert [one["id"] for one in listed] == [memory["id"]]
    assert asked(functions, f"DELETE {MEMORY}", user, memory["id"])["statusCode"] == 204
    assert said(asked(functions, SEARCH, body=question))["results"] == []


def test_a_key_is_deleted_with_its_history(functions: Functions, user: str) -> None:
    for city in ("Lyon", "Paris", "Rome"):
        turn = {"role": "user", "content": f"I live in {city}.", "key": "home_city"}
        said(asked(functions, "POST /v1/events", body={"user_id": user, "events": [turn]}))
        if city == "Paris":
            assert functions["project"].invoke(sample_events("project")["schedule-reconcile"])["projected"] >= 2
    assert [one["content"] for one in found(functions, user)["results"]] == ["I live in Rome."]
    deleted = asked(functions, "DELETE /v1/users/{user_id}/keys/{key}", user, "home_city")
    assert deleted["statusCode"] == 204
    assert found(functions, user)["results"] == []
    assert functions["project"].invoke(sample_events("project")["schedule-reconcile"])["failed"] == 0


def test_an_assistant_lists_tools_saves_finds_and_recalls(functions: Functions, user: str) -> None:
    tools = spoken(functions, user, "tools/list")["tools"]
    assert {"recall_context", "save_memory", "forget_memory", "manage_knowledge"} <= {tool["name"] for tool in tools}
    saved = tool(functions, user, "save_memory", content="Anna rows in a canoe.")
    assert "canoe" in json.dumps(tool(functions, user, "search_memory", query="canoe"))
    assert "canoe" in json.dumps(tool(functions, user, "recall_context", input="What does Anna do on Sundays?"))
    tool(functions, user, "manage_knowledge", namespace="vocabulary", key=f"{user}:boat", value={"target": "canoe"})
    tool(functions, user, "manage_knowledge", namespace="vocabulary", key=f"{user}:boat", action="delete")
    tool(functions, user, "forget_memory", id=saved["structuredContent"]["result"]["id"])
    assert tool(functions, user, "search_memory", query="canoe")["structuredContent"]["result"]["results"] == []


def tool(functions: Functions, user: str, name: str, **arguments: Any) -> dict[str, Any]:
    result = spoken(functions, user, "tools/call", name=name, arguments=arguments)
    assert result["isError"] is False, result
    return result


def spoken(functions: Functions, user: str, method: str, **params: Any) -> dict[str, Any]:
    event = copy.deepcopy(sample_events("mcp")["http"])
    event["body"] = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    event["headers"]["x-recollect-user"] = user
    result: dict[str, Any] = said(functions["mcp"].invoke(event))["result"]
    return result


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_the_protocols_other_methods_are_refused_as_it_wants(functions: Functions, method: str) -> None:
    event = copy.deepcopy(sample_events("mcp")["http"])
    event["requestContext"]["http"]["method"] = method
    assert functions["mcp"].invoke(event)["statusCode"] == 405


def signing(functions: Functions, tenant: str) -> AgentCore:
    """boto3's clients of AgentCore, with an access key of the tenant."""
    key = f"AKIA{tenant.upper()}"
    return AgentCore.of(SignedRequests(functions["agentcore"]), key, SIGNING_KEYS[key]["secret"])


def test_boto3_keeps_its_agentcore_memory_here_by_its_signature(functions: Functions, user: str) -> None:
    acme, globex, actor = signing(functions, "acme"), signing(functions, "globex"), f"team/{user}/sessions"
    memory = acme.memory(user.replace("-", "_"))
    event = acme.said(memory, "I moved to Lyon in May", actor)
    assert acme.found(memory, "Where does she live?", namespace=f"/facts/{actor}/") == ["I moved to Lyon in May"]
    sessions = acme.data.list_sessions(memoryId=memory, actorId=actor)["sessionSummaries"]
    assert [one["actorId"] for one in sessions] == [actor]
    acme.put(memory, f"/facts/{actor}/", "She paddles a canoe")
    assert "She paddles a canoe" in acme.found(memory, "boats", namespace=f"/facts/{actor}/")
    assert globex.control.list_memories()["memories"] == []
    acme.data.delete_event(memoryId=memory, actorId=actor, sessionId="s", eventId=event["eventId"])
    assert acme.events(memory, actor) == []
    acme.control.delete_memory(memoryId=memory)


def test_nothing_is_answered_there_without_a_signature(functions: Functions) -> None:
    for headers in ({}, {"authorization": "Bearer header.claims.signature"}):
        answer = functions["agentcore"].invoke(signed_event("POST", "/memories/", b"{}", headers))
        assert answer["statusCode"] == 403


@pytest.fixture
def keys(deployment: Deployment) -> ApiKeys:
    """As an operator has them, over the stack's table."""
    given = {"RECOLLECT_ENGINES": "aws", "RECOLLECT_SEARCH_ENGINE": "table"}
    settings = Settings.from_environment({**given, "RECOLLECT_TABLE": deployment.names["Table"]})
    return ApiKeys(AwsParts(settings).items)


def let_in(functions: Functions, event: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
    """The event as the API hands it on once it has asked the authorizer."""
    event = copy.deepcopy(event)
    event["requestContext"].pop("authorizer", None)
    event["headers"] = {name.lower(): value for name, value in {**CONTENT_TYPE, **headers}.items()}
    asked = {name: one for name, one in event.items() if name not in ("body", "isBase64Encoded")}
    told = functions["authorizer"].invoke({**asked, "type": "REQUEST"})
    assert told["isAuthorized"] is True
    event["requestContext"]["authorizer"] = {"lambda": told["context"]}
    return event


def by_key(functions: Functions, headers: dict[str, str], route: str, *ids: str, **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = functions[SERVED_BY[route]].invoke(
        let_in(functions, http_event(route, *ids, **more), headers)
    )
    return answer


def test_mem0_s_client_is_answered_whole_by_its_own_header(functions: Functions, keys: ApiKeys, user: str) -> None:
    acme, globex = ({"Authorization": f"Token {keys.make(Principal(one), '', NOW)[0]}"} for one in ("acme", "globex"))
    memory, listed, filters = "/v1/memories/{memory_id}/", "POST /v3/memories/", {"filters": {"user_id": user}}

    def done(route: str, *ids: str, **more: Any) -> Any:
        return said(by_key(functions, acme, route, *ids, **more))

    def add(**more: Any) -> Any:
        messages = [{"role": "user", "content": "I moved to Lyon"}]
        return done("POST /v3/memories/add/", body={"messages": messages, "user_id": user, **more})

    assert done("GET /v1/ping/")["project_id"] == "acme"
    add(run_id="talk-1")
    add(infer=False)
    wanted = {"query": "Where does she live?", "threshold": 0, **filters}
    assert done("POST /v3/memories/search/", body=wanted)["results"]
    assert said(by_key(functions, globex, "POST /v3/memories/search/", body=wanted))["results"] == []
    first, *_ = done(listed, body=filters)["results"]
    assert done(f"GET {memory}", first["id"])["user_id"] == user
    assert by_key(functions, globex, f"GET {memory}", first["id"])["statusCode"] == 404
    done(f"PUT {memory}", first["id"], body={"text": "She paddles a canoe"})
    assert len(done(f"GET {memory}history/", first["id"])) == 2
    done("POST /v1/feedback/", body={"memory_id": first["id"]})
    done("PUT /v1/batch/", body={"memories": [{"memory_id": first["id"], "text": "She rows"}]})
    assert user in {one["id"] for one in done("GET /v1/entities/")["results"]}
    done("DELETE /v1/batch/", body={"memories": [{"memory_id": first["id"]}]})
    kept, *_ = add(infer=False)["results"]
    done(f"DELETE {memory}", kept["id"])
    done("DELETE /v1/memories/", query=f"user_id={user}&run_id=talk-1")
    done("DELETE /v2/entities/{entity_type}/{entity_name}/", "user", user)
    assert done(listed, body=filters)["results"] == []


def test_langgraph_s_own_client_and_a_bearer_reach_items_and_events(
    functions: Functions, keys: ApiKeys, user: str
) -> None:
    key, made = keys.make(Principal("acme"), "", NOW)
    other, _ = keys.make(Principal("globex"), "", NOW)

    def send(request: httpx.Request) -> httpx.Response:
        route, more = f"{request.method} {request.url.path}", {"query": request.url.query.decode()}
        if given := request.read():
            more["body"] = given.decode()
        answer = by_key(functions, dict(request.headers), route, **more)
        return httpx.Response(answer["statusCode"], text=answer["body"])

    store, others = (langgraph_through(send, secret).store for secret in (key, other))
    store.put_item(["users", user], key="tea", value={"text": "She drinks tea", "cups": 2})
    assert store.get_item(["users", user], key="tea")["value"]["text"] == "She drinks tea"
    assert [one["key"] for one in store.search_items(["users", user], filter={"cups": {"$gt": 1}})["items"]] == ["tea"]
    assert store.search_items(["users", user], filter={"cups": {"$gt": 2}})["items"] == []
    assert others.search_items(["users", user])["items"] == []
    events = "GET /v1/users/{user_id}/events"
    assert by_key(functions, {"Authorization": f"Bearer {key}"}, events, user)["statusCode"] == 200
    keys.revoke(made.id, NOW)
    refused = by_key(functions, {"Authorization": f"Bearer {key}"}, events, user)
    assert (refused["statusCode"], json.loads(refused["body"])["detail"]) == (401, "the key is unknown")
    assert by_key(functions, {"x-api-key": f"{PREFIX}made-up"}, events, user)["statusCode"] == 401
    assert by_key(functions, {}, events, user)["statusCode"] == 401
    assert not [one.log for one in functions.values() if key[len(PREFIX) :] in one.log]


def test_an_assistant_is_let_in_by_a_key(functions: Functions, keys: ApiKeys, user: str) -> None:
    event, (key, _) = sample_events("mcp")["http"], keys.make(Principal("acme"), "", NOW)
    event["body"] = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
    own = {**event["headers"], "x-recollect-user": user}
    for secret, status in ((key, 200), (f"{PREFIX}made-up", 401)):
        headers = {**own, "authorization": f"Bearer {secret}"}
        assert functions["mcp"].invoke(let_in(functions, event, headers))["statusCode"] == status


def test_a_token_is_checked_by_the_built_authorizer_too(functions: Functions, issuer: Issuer, user: str) -> None:
    events = "GET /v1/users/{user_id}/events"
    for token, status in ((issuer.token(), 200), (issuer.token(aud="x"), 401), ("header.claims.signature", 401)):
        assert by_key(functions, {"Authorization": f"Bearer {token}"}, events, user)["statusCode"] == status


def test_access_keys_that_cannot_be_read_stop_the_start_and_are_not_told(
    deployment: Deployment, opt: Opt, tmp_path: Path
) -> None:
    with Gateway(deployment.upstream) as gateway:
        gateway.parameters[SIGNING_PARAMETER] = json.dumps({"A/B": SIGNING_KEYS["AKIAACME"]})
        function = started("agentcore", deployment, gateway, opt["agentcore"], tmp_path / "agentcore.log")
        with pytest.raises(NoAnswer, match="RECOLLECT_SIGNING_KEYS_PARAMETER: what it holds must be JSON"):
            function.outcome(signed_event("POST", "/memories/", b"{}", {}))
        function.stop()
    assert "secret-of-acme" not in function.log


def test_roles_allow_all_that_was_asked_of_the_services(functions: Functions, deployment: Deployment) -> None:
    """Runs last in this file: by then everything has been through."""
    prefix = deployment.names["IndexPrefix"]
    refused = {name: sorted(refusals(name, functions[name].gateway.needs, prefix)) for name in FUNCTIONS}
    assert refused == {name: [] for name in FUNCTIONS}
    assert all(functions[name].gateway.needs for name in WITH_DATA)


def test_logs_hold_no_text_and_no_token(functions: Functions) -> None:
    for one in functions.values():
        assert not [text for text in ("Lyon", "canoe", "sneakers", "header.claims.signature") if text in one.log]
