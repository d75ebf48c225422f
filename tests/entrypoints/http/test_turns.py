"""`POST /v1/turns`: over both surfaces, by the extractive provider and by a server that speaks OpenAI's protocol."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.embedders.local_server import Reply, Server, running_server
from entrypoints.http import calling
from entrypoints.http.calling import Answered, Caller, Cloud, Laptop
from entrypoints.http.conftest import opened, settings_in
from entrypoints.http.promised import check, document
from recollect.app import App
from recollect.bootstrap import open_app

SAVE = '[[ABP_TOOL:save_memory]]\n{"content": "Likes green tea", "key": "drink"}\n[[END_ABP_TOOL]]'
EVENTS_OF_A_TURN = ("input_event_id", "response_event_id")


def completion(text: str) -> dict[str, Any]:
    """A chat completion."""
    message = {"role": "assistant", "content": text}
    return {"model": "llama", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def turn(caller: Caller, text: str, /, *, key: str | None = None, **more: Any) -> Answered:
    """One turn of Anna's."""
    headers = {"idempotency_key": key} if key else {}
    answer = caller.post("/v1/turns", {"user_id": "anna", "input": text, **more}, **headers)
    check(answer, document()["paths"]["/v1/turns"]["post"])
    return answer


def said(caller: Caller) -> list[tuple[str, str]]:
    """Role and content of Anna's events, oldest first."""
    return [(event["role"], event["content"]) for event in reversed(caller.timeline().json["events"])]


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as state:
        state.replies = [Reply(completion("I see."))]
        yield state


def variables_of(server: Server) -> dict[str, str]:
    """Settings by which the model is that server."""
    url = f"{server.url}/v1"
    return {"RECOLLECT_MODEL": "openai", "RECOLLECT_OPENAI_BASE_URL": url, "RECOLLECT_OPENAI_MODEL": "llama"}


@pytest.fixture(params=["cloud", "laptop"])
def modelled(request: pytest.FixtureRequest, tmp_path: Path, server: Server) -> Iterator[Caller]:
    """Each surface, over an app whose model is the local server."""
    with opened(tmp_path, **variables_of(server)) as app:
        surface = Cloud(app) if request.param == "cloud" else Laptop(app)
        yield Caller(surface)
        if isinstance(surface, Laptop):
            surface.close()


@pytest.mark.spec("K-74", "K-75", "K-78")
def test_a_turn_without_a_model_quotes_the_memory_and_says_so(caller: Caller) -> None:
    caller.added("My violin teacher is Ms Okafor")
    answer = turn(caller, "Who is my violin teacher?").json
    assert "Ms Okafor" in answer["response"]
    assert answer["model"] == "extractive"
    assert answer["context"]["prompt"].endswith("Current user input: Who is my violin teacher?")
    assert answer["context"]["diagnostics"]["input_event_id"] == answer["input_event_id"]
    events = {event["id"]: event for event in caller.timeline().json["events"]}
    assert events[answer["input_event_id"]]["content"] == "Who is my violin teacher?"
    assert events[answer["response_event_id"]]["content"] == answer["response"]
    assert events[answer["response_event_id"]]["role"] == "bot"
    assert {event["conversation_id"] for event in list(events.values())[:2]} == {answer["conversation_id"]}


@pytest.mark.spec("A-39")
def test_too_many_turns_are_told_to_come_back_later_and_nothing_of_them_is_stored(
    modelled: Caller, server: Server
) -> None:
    assert modelled.put("/v1/rules", {"limits": {"turns_per_second": 0.01}}).status == 200
    assert turn(modelled, "I drink green tea", key="first").status == 200
    assert turn(modelled, "I drink green tea", key="first").status == 200, "a replay asks no model"
    refused = turn(modelled, "What do I drink?", key="second")
    assert (refused.status, refused.json["type"]) == (429, "urn:recollect:problem:throttled")
    assert refused.headers["retry-after"] == "100"
    assert said(modelled) == [("user", "I drink green tea"), ("bot", "I see.")]
    assert len(server.asked) == 1
    modelled.added("I drink coffee too")
    assert modelled.put("/v1/rules", {}).status == 200
    assert turn(modelled, "What do I drink?", key="second").status == 200


@pytest.mark.spec("A-39")
def test_what_a_turn_stores_counts_as_writes(caller: Caller) -> None:
    assert caller.put("/v1/rules", {"limits": {"writes_per_second": 0.01}}).status == 200
    assert turn(caller, "I drink green tea").status == 200
    refused = caller.post("/v1/memories", {"user_id": "anna", "content": "Likes tea"})
    assert (refused.status, refused.headers["retry-after"]) == (429, "200")
    assert turn(caller, "I drink coffee too").status == 429


@pytest.mark.spec("K-79", "K-80")
def test_a_model_gets_the_messages_and_its_calls_are_executed(modelled: Caller, server: Server) -> None:
    server.replies = [Reply(completion(f"Noted.\n{SAVE}")), Reply(completion("Green tea."))]
    first = turn(modelled, "I drink green tea").json
    assert first["response"] == "Noted."
    (call,) = first["tool_calls"]
    assert (call["tool"], call["status"], call["parameters"]["key"]) == ("save_memory", "done", "drink")
    second = turn(modelled, "What do I drink?", conversation_id=first["conversation_id"]).json
    assert (second["response"], second["conversation_id"]) == ("Green tea.", first["conversation_id"])
    sent = server.asked[-1][2]["messages"]
    assert [one["content"] for one in sent] == [one["content"] for one in second["context"]["messages"]]
    assert {one["role"] for one in sent} == {"system", "user", "assistant"}
    (memory,) = modelled.get("/v1/users/anna/memories").json["memories"]
    assert (memory["content"], memory["source"], memory["key"]) == ("Likes green tea", "inferred", "drink")


@pytest.mark.spec("K-77", "H-31")
def test_a_failing_model_is_a_502_that_names_the_stored_input_and_a_retry_stores_nothing_twice(
    modelled: Caller, server: Server
) -> None:
    server.replies = [Reply({"error": "secret of the provider"}, status=400)]
    failed = turn(modelled, "Remember my dog", key="once")
    assert failed.status == 502
    assert "secret" not in failed.text
    event_id, conversation = failed.json["input_event_id"], failed.json["conversation_id"]
    assert said(modelled) == [("user", "Remember my dog")]
    server.replies = [Reply(completion("Your dog it is."))]
    retried = turn(modelled, "Remember my dog", key="once")
    assert (retried.status, retried.json["response"]) == (200, "Your dog it is.")
    assert (retried.json["input_event_id"], retried.json["conversation_id"]) == (event_id, conversation)
    assert "idempotent-replayed" not in retried.headers
    assert said(modelled) == [("user", "Remember my dog"), ("bot", "Your dog it is.")]


def test_out_of_time_is_a_504_that_names_what_was_stored(
    app: App, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.replies = [Reply(completion("late"), after_seconds=30)]
    short = SimpleNamespace(get_remaining_time_in_millis=lambda: 3_000, aws_request_id="request-1")
    monkeypatch.setattr(calling, "CONTEXT", short)
    slow = open_app(settings_in(tmp_path, **variables_of(server)))
    failed = turn(Caller(Cloud(slow)), "Remember my dog", key="once")
    assert failed.status == 504
    assert said(Caller(Cloud(app))) == [("user", "Remember my dog")]
    assert caller_event(app, failed.json["input_event_id"]) == "Remember my dog"
    slow.parts.close()


def caller_event(app: App, event_id: str) -> str:
    event = Caller(Cloud(app)).get(f"/v1/users/anna/events/{event_id}").json
    return str(event["content"])


def test_the_same_key_gives_the_same_answer_without_its_context(modelled: Caller, server: Server) -> None:
    server.replies = [Reply(completion(f"One.\n{SAVE}")), Reply(completion("Two."))]
    first = turn(modelled, "hello", key="k")
    again = turn(modelled, "hello", key="k")
    assert (again.status, again.headers["idempotent-replayed"]) == (first.status, "true")
    assert "context" not in again.json
    same = ("conversation_id", "response", "model", "input_event_id", "response_event_id")
    assert [again.json[name] for name in same] == [first.json[name] for name in same]
    assert again.json["tool_calls"] == [{"tool": "save_memory", "status": "done"}]
    assert len(server.asked) == 1
    assert turn(modelled, "hello again", key="k").status == 422
    assert turn(modelled, "hello", key="another").json["response"] == "Two."


def test_a_replay_names_what_was_deleted_since(caller: Caller) -> None:
    first = turn(caller, "hello", key="k").json
    deleted = caller.delete(f"/v1/users/anna/events/{first['response_event_id']}")
    assert deleted.status < 300, deleted.text
    again = turn(caller, "hello", key="k")
    assert (again.status, again.json["refused"]) == (200, [first["response_event_id"]])
    assert again.json["response"] is None


def test_budget_and_limits_hold_for_what_the_model_gets(modelled: Caller, server: Server) -> None:
    modelled.added(*(f"a rather long note about the dog, number {n}" for n in range(20)))
    answer = turn(modelled, "And the dog?", token_budget=80, limits={"total": 2}, web_search="never").json
    assert answer["context"]["tokens"] <= 80
    assert len(answer["context"]["items"]) <= 2
    sent = server.asked[-1][2]["messages"]
    assert [one["content"] for one in sent] == [one["content"] for one in answer["context"]["messages"]]


def test_the_log_line_holds_no_word(modelled: Caller, server: Server) -> None:
    server.replies = [Reply(completion(f"xyzzy-answer {SAVE}"))]
    turn(modelled, "xyzzy-input")
    log = modelled.surface.log.getvalue()
    assert "xyzzy" not in log
    assert "green tea" not in log
    assert '"tool_calls"' in log


@pytest.mark.spec("K-76", "K-81", "K-82", "K-83")
def test_a_web_search_is_told_of_in_the_context_and_its_failure_too(tmp_path: Path, server: Server) -> None:
    variables = {"RECOLLECT_WEB_SEARCH": "duckduckgo", "RECOLLECT_WEB_SEARCH_URL": server.url}
    app = open_app(settings_in(tmp_path, **variables))
    caller = Caller(Cloud(app))
    server.replies = [Reply({"AbstractText": "Rain in Lyon", "RelatedTopics": []})]
    found = turn(caller, "Will it rain today?").json["context"]
    assert found["web_search"] == {"triggered": True, "keywords": ["today"], "results": ["Rain in Lyon"]}
    assert found["prompt"].splitlines()[1:3] == ["Rain in Lyon", ""]
    server.replies = [Reply(b"<html>", status=500)]
    failed = turn(caller, "And the latest news?").json["context"]
    assert failed["web_search"] == {"triggered": True, "keywords": ["news", "latest"], "results": [], "failed": True}
    assert "web_search" in failed["diagnostics"]["missing"]
    assert "web search" not in failed["prompt"]
    quiet = turn(caller, "And the latest news?", web_search="never").json["context"]
    assert quiet["web_search"] == {"triggered": False, "keywords": ["news", "latest"]}
    app.parts.close()


def test_a_turn_of_an_agent_stays_within_its_labels(modelled: Caller, server: Server) -> None:
    """What it stores is labelled; of another agent neither context nor tools see anything."""
    find = '[[ABP_TOOL:search_memory]]\n{"query": "drinks tea"}\n[[END_ABP_TOOL]]'
    coach: dict[str, Any] = {"agent_id": "coach", "namespace": ["org", "sport"]}
    server.replies = [Reply(completion(f"Noted.\n{SAVE}")), *[Reply(completion(f"Let me see.\n{find}"))] * 2]
    first = turn(modelled, "I drink green tea", **coach).json
    events = [modelled.get(f"/v1/users/anna/events/{first[name]}").json for name in EVENTS_OF_A_TURN]
    (memory,) = modelled.get("/v1/users/anna/memories").json["memories"]
    for one in (*events, memory):
        assert (one["agent_id"], one["namespace"]) == ("coach", ["org", "sport"])
    again = turn(modelled, "What tea do I drink?", conversation_id=first["conversation_id"], **coach).json
    other = turn(modelled, "What tea do I drink?", conversation_id=first["conversation_id"], agent_id="tutor").json
    told = [one["tool_calls"][0]["result"]["results"] for one in (again, other)]
    assert "Likes green tea" in [one["content"] for one in told[0]]
    assert {one["content"] for one in told[1]} <= {"What tea do I drink?"}
    assert "green tea" in str(again["context"]["messages"])
    assert "green tea" not in str(other["context"])
    for sent in server.asked[1:]:
        assert "track_goal" not in str(sent[2]["messages"])
