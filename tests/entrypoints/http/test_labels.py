"""Agents, applications and namespaces beside users, and what is nobody's (docs/memories.md)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from entrypoints.http.calling import Caller, Cloud
from entrypoints.http.test_credentials import with_settings
from recollect.app import App
from recollect.core.scope import SHARED_OWNER

TEAM = ["org", "team"]
SLACK = "We talk to each other on Slack"
TEAMS = "We talk to each other on Teams"


def saved(caller: Caller, content: str, **more: Any) -> dict[str, Any]:
    answer = caller.post("/v1/memories", {"content": content, **more})
    assert answer.status in (200, 201), answer.text
    return dict(answer.json)


def found(caller: Caller, query: str, **more: Any) -> set[str]:
    answer = caller.post("/v1/search", {"query": query, "mode": "lexical", **more})
    assert answer.status == 200, answer.text
    return {one["content"] for one in answer.json["results"]}


def listed(caller: Caller, user: str = SHARED_OWNER, **query: str) -> set[str]:
    answer = caller.get(f"/v1/users/{user}/memories", query)
    assert answer.status == 200, answer.text
    return {one["content"] for one in answer.json["memories"]}


def project(app: App) -> None:
    assert app.projection.reconciliation.run(datetime.now(UTC)).failed == {}


def test_a_namespace_keeps_what_is_nobody_s(app: App, caller: Caller) -> None:
    shown = saved(caller, SLACK, namespace=TEAM, agent_id="helper", app_id="chat")
    assert (shown["user_id"], shown["namespace"], shown["agent_id"]) == (SHARED_OWNER, TEAM, "helper")
    for _ in ("waiting", "projected"):
        assert found(caller, "talk slack", namespace=TEAM) == {SLACK}
        assert found(caller, "talk slack", namespace_prefix=["org"]) == {SLACK}
        assert found(caller, "talk slack", agent_id="helper", app_id="chat") == {SLACK}
        assert found(caller, "talk slack", namespace=["org"]) == set()
        assert found(caller, "talk slack", namespace_prefix=["or"]) == set()
        assert found(caller, "talk slack", agent_id="other") == set()
        assert found(caller, "talk slack", user_id="anna") == set()
        project(app)
    assert listed(caller, namespace="org/team") == listed(caller, namespace_prefix="org") == {SLACK}
    assert listed(caller, namespace="org") == listed(caller, agent_id="other") == set()


def test_labels_narrow_a_user_s_memory(app: App, caller: Caller) -> None:
    for agent in ("tutor", "coach"):
        event = {"role": "user", "content": f"I train every morning with the {agent}", "importance": 0.9}
        body = {"user_id": "anna", "agent_id": agent, "conversation_id": "c", "events": [event]}
        assert caller.post("/v1/events", body).status == 201
    for _ in ("waiting", "projected"):
        assert len(found(caller, "train morning", user_id="anna")) == 2
        only = found(caller, "train morning", user_id="anna", agent_id="coach")
        assert only == {"I train every morning with the coach"}
        asked = {"user_id": "anna", "agent_id": "coach", "input": "When do I train in the morning?"}
        context = caller.post("/v1/context", {**asked, "conversation_id": "c"}).json
        assert "coach" in context["prompt"]
        assert "tutor" not in str(context)
        project(app)


def test_labels_narrow_the_list_of_a_user_s_events(caller: Caller) -> None:
    for agent, namespace in (("tutor", ["org", "a"]), ("coach", ["org", "b"])):
        body = {"user_id": "anna", "agent_id": agent, "namespace": namespace, "events": [{"content": agent}]}
        assert caller.post("/v1/events", body).status == 201

    def told(**query: str) -> list[str]:
        answer = caller.get("/v1/users/anna/events", query)
        assert answer.status == 200, answer.text
        return [one["content"] for one in answer.json["events"]]

    assert told(agent_id="coach") == told(namespace="org/b") == ["coach"]
    assert sorted(told(namespace_prefix="org")) == ["coach", "tutor"]
    assert told(namespace="org") == told(agent_id="coach", namespace="org/a") == told(app_id="coach") == []
    first = caller.get("/v1/users/anna/events", {"namespace_prefix": "org", "limit": "1"}).json
    cursor = {"limit": "1", "cursor": first["next_cursor"]}
    assert caller.get("/v1/users/anna/events", {**cursor, "namespace_prefix": "org"}).json["events"] != first["events"]
    assert caller.get("/v1/users/anna/events", {**cursor, "agent_id": "coach"}).status == 422
    assert caller.get("/v1/users/anna/events", {"namespace": "org//a"}).status == 422


def test_other_labels_make_another_memory_and_another_slot(app: App, caller: Caller) -> None:
    one = saved(caller, SLACK, namespace=["org", "a"])
    assert saved(caller, SLACK, namespace=["org", "b"])["id"] != one["id"]
    assert saved(caller, SLACK, namespace=["org", "a"])["id"] == one["id"]
    saved(caller, "Slack", namespace=["org", "a"], key="messenger")
    saved(caller, "Teams", namespace=["org", "b"], key="messenger")
    project(app)
    assert listed(caller, key="messenger", status="active") == {"Slack", "Teams"}
    saved(caller, "Matrix", namespace=["org", "a"], key="messenger")
    project(app)
    assert listed(caller, key="messenger", status="active") == {"Matrix", "Teams"}


def test_what_is_nobody_s_is_exported_and_erased(app: App, caller: Caller) -> None:
    saved(caller, SLACK, namespace=TEAM)
    project(app)
    assert SLACK in caller.get(f"/v1/users/{SHARED_OWNER}/export").text
    assert caller.delete(f"/v1/users/{SHARED_OWNER}").status == 202
    assert found(caller, "talk slack", namespace=TEAM) == set()


@pytest.mark.parametrize(
    "whose",
    [
        {},
        {"user_id": None, "agent_id": None},
        {"namespace": []},
        {"namespace": [""]},
        {"namespace": ["a/b"]},
        {"namespace": "org"},
        {"namespace": ["x"] * 17},
        {"namespace": ["x" * 1_025]},
        {"namespace": ["a\u0000"]},
        {"agent_id": ""},
    ],
)
def test_who_is_nobody_and_no_label_are_refused(caller: Caller, whose: dict[str, Any]) -> None:
    assert caller.post("/v1/memories", {"content": SLACK, **whose}).status == 422
    assert caller.post("/v1/search", {"query": "slack", **whose}).status == 422


def test_a_filter_narrows_searches_contexts_and_lists(app: App, caller: Caller) -> None:
    for score in (3, 5):
        event = {"role": "user", "content": f"I rated the tea {score}", "metadata": {"tea": {"score": score}}}
        caller.post("/v1/events", {"user_id": "anna", "events": [{**event, "importance": 0.8}]})
    wanted = {"or": [{"metadata.tea.score": {"gte": 4}}, {"metadata.tea.kind": "green"}], "role": "user"}
    for _ in ("waiting", "projected"):
        assert found(caller, "rated tea", user_id="anna", filter=wanted) == {"I rated the tea 5"}
        body = {"user_id": "anna", "input": "How was the tea rated?", "filter": wanted}
        items = caller.post("/v1/context", body).json["items"]
        assert {one["content"] for one in items} == {"I rated the tea 5"}
        project(app)
    text = '{"metadata.tea.score": {"lt": 4}}'
    assert listed(caller, "anna", filter=text) == {"I rated the tea 3"}
    for wrong in ({"colour": 1}, {"metadata.x": {"near": 1}}, {"timestamp": "soon"}):
        answer = caller.post("/v1/search", {"user_id": "anna", "query": "tea", "filter": wrong})
        assert (answer.status, answer.json["errors"][0]["loc"][:2]) == (422, ["body", "filter"])
    assert caller.get("/v1/users/anna/memories", {"filter": "{"}).status == 422
    assert caller.get("/v1/users/anna/memories", {"filter": '{"title": "x"}'}).status == 422


def test_credentials_of_one_user_do_not_reach_what_is_nobody_s(app: App) -> None:
    with_settings(app, subject_claim="sub")
    for subject in ("anna", SHARED_OWNER):
        caller = Caller(Cloud(app, {"tenant": "acme", "sub": subject}))
        assert caller.post("/v1/memories", {"content": SLACK, "namespace": TEAM}).status == 403
        assert caller.post("/v1/search", {"query": "slack", "namespace": TEAM}).status == 403
        assert caller.get(f"/v1/users/{SHARED_OWNER}/memories").status == 403
        assert caller.post("/v1/memories/delete", {"namespace": TEAM}).status == 403
