"""Logs: one line per request, with decisions and counts, and never a word of anybody's."""

import json
from typing import Any

import pytest

from entrypoints.http.calling import Caller, Cloud, Laptop
from recollect.app import App
from recollect.core.ids import trace_of
from recollect.entrypoints.http.routing import path_segment

SECRET = "xyzzysecret"


def lines(surface: Any) -> list[dict[str, Any]]:
    """The log lines so far."""
    return [json.loads(line) for line in surface.log.getvalue().splitlines()]


def test_a_line_per_request(cloud: Cloud, laptop: Laptop) -> None:
    for surface in (cloud, laptop):
        caller = Caller(surface)
        caller.add({"content": "one"}, {"content": ""})
        caller.timeline()
        caller.get("/nowhere")
        added, listed, lost = lines(surface)
        assert (added["route"], added["status"], added["level"]) == ("POST /v1/events", 201, "INFO")
        assert added["outcome"] == {"events": 2, "replayed": False, "created": 1, "invalid": 1}
        assert len(added["tenant"]) == 12
        assert "trace" not in listed
        assert added["duration_ms"] >= 0
        assert (listed["route"], listed["outcome"]["returned"] > 0) == ("GET /v1/users/{user_id}/events", True)
        assert (lost["route"], lost["status"], lost["outcome"]) == ("none", 404, {"problem": "no-such-route"})
    assert lines(cloud)[0]["request_id"] == "JKJaXmPLvHcESHA="


@pytest.mark.spec("H-26")
@pytest.mark.spec("P-18")
def test_no_line_has_a_word_of_anybodys(app: App, caller: Caller) -> None:
    texts = ("content", "content_type", "speaker", "key", "space_id", "title", "category", "notes")
    event: dict[str, Any] = {name: f"{SECRET} {name}" for name in texts}
    event["metadata"] = {SECRET: SECRET}
    scope = {"user_id": f"{SECRET} user", "persona_id": SECRET, "household_id": SECRET}
    user = f"/v1/users/{path_segment(scope['user_id'])}"
    headers = dict.fromkeys(("authorization", "cookie", "x_api_key", "user_agent", "referer"), f"{SECRET} header")
    headers["idempotency_key"] = SECRET
    headers_of_origin = {"origin": f"http://{SECRET}", "host": SECRET}
    search = {**scope, "query": SECRET, "history": [SECRET], "active_space_id": SECRET, "explain": True}
    filters = {"key": SECRET, "tags": [SECRET], "space_id": SECRET, "metadata": {SECRET: SECRET}}
    context = {**scope, "input": SECRET, "conversation_id": SECRET, "input_event_id": SECRET, "store": SECRET}
    answers = [
        caller.post("/v1/events", {**scope, "conversation_id": SECRET, "events": [event, {SECRET: SECRET}]}, **headers),
        caller.post("/v1/events", {**scope, SECRET: SECRET}, **headers),
        caller.post("/v1/events", f'{{"{SECRET}": }}'.encode(), **headers),
        caller.post("/v1/analyze", {"text": SECRET, "history": [SECRET], "spaces": [SECRET], "categories": [SECRET]}),
        caller.post("/v1/search", {**search, "filters": filters}, **headers),
        caller.post("/v1/search", {**search, "mode": SECRET}, **headers),
        caller.post("/v1/context", context, **headers),
        caller.get(f"/v1/users/{SECRET}/events/{SECRET}", {"persona_id": SECRET}, **headers),
        caller.get(f"/v1/users/{SECRET}/events", {"cursor": SECRET, SECRET: SECRET}, **headers),
        caller.get(f"/{SECRET}", {SECRET: SECRET}, **headers),
        caller.get("/v1/bus", {"type": SECRET, "after": SECRET}, **headers),
        caller.get("/v1/health", x_recollect_now=SECRET),
        caller.get("/v1/health", **headers_of_origin),
        memory := caller.post("/v1/memories", {**scope, "content": SECRET, "key": SECRET, "keywords": [SECRET]}),
        caller.patch(f"{user}/memories/{memory.json['id']}", {"content": f"{SECRET} again"}, if_match="*"),
        caller.get(f"{user}/memories/{memory.json['id']}/history"),
        caller.get(f"{user}/memories", {"key": SECRET}),
        caller.delete(f"{user}/keys/{SECRET}?persona_id={SECRET}&household_id={SECRET}"),
        caller.put("/v1/rules", {"tags": {SECRET: [SECRET]}}),
        caller.put("/v1/rules", {"tags": {SECRET: SECRET}, SECRET: 1}),
    ]
    assert [answer.status for answer in answers][:4] == [201, 422, 400, 200]
    assert [answer.status for answer in answers][-7:] == [201, 200, 200, 200, 204, 200, 422]
    assert len(lines(caller.surface)) == len(answers)
    log = caller.surface.log.getvalue()
    assert SECRET not in log
    assert all(decision in log.replace(" ", "") for decision in ('"created":true', '"deleted":1', '"rules_version"'))


def test_a_failing_write_logs_no_word_either(app: App, cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_self: Any, _scope: Any, writes: Any) -> None:
        raise ValueError(f"cannot store {writes}")

    monkeypatch.setattr(type(app.parts.timeline), "append", fail)
    answer = Caller(cloud).add({"content": SECRET})
    assert answer.status == 500
    assert SECRET not in answer.text + cloud.log.getvalue()


def test_the_line_of_a_request_and_of_its_projection_name_one_trace(cloud: Cloud) -> None:
    caller = Caller(cloud)
    answer = caller.add({"content": "one"}, {"content": "two"})
    (added,) = lines(cloud)
    made = {trace_of(result["event_id"]) for result in answer.json["results"]}
    assert made == {added["trace"]}
    again = caller.add({"content": "three"})
    assert {trace_of(result["event_id"]) for result in again.json["results"]} == {lines(cloud)[-1]["trace"]} != made


def test_the_trace_of_x_ray_is_in_the_line(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1")
    Caller(cloud).get("/nowhere")
    assert lines(cloud)[-1]["xray_trace_id"] == "1-5759e988-bd862e3fe1be46a994272793"
