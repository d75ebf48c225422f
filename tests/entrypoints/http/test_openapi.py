"""The document: valid, the same as the committed one, and kept by the answers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from entrypoints.http.calling import Caller
from entrypoints.http.promised import check, document
from recollect.app import App
from recollect.entrypoints.http.openapi import document_json
from recollect.entrypoints.http.reference import _code, overview, page
from recollect.entrypoints.http.routes import GROUPS, SECTIONS

MOST_BYTES = 150_000
"""Of a page, as a browser unpacks it."""
COMMITTED = Path(__file__).parents[3] / "docs" / "openapi.json"
ROUTES = {
    f"{method.upper()} {path}"
    for path, methods in json.loads(COMMITTED.read_text(encoding="utf-8"))["paths"].items()
    for method in methods
}
"""Those of the committed document."""


def test_the_document_is_valid_openapi() -> None:
    validate(document())


def test_the_committed_document_is_not_stale() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == document_json(), "stale: make docs"


def test_it_is_served_as_it_is_committed(caller: Caller) -> None:
    answer = caller.get("/v1/openapi.json")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.text == document_json()


@pytest.mark.parametrize("path", ["/docs", "/docs?subject=retrieval"])
def test_the_page_loads_nothing_and_sends_to_its_own_server_alone(caller: Caller, path: str) -> None:
    answer = caller.get(path)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert (policy["default-src"], policy["connect-src"]) == ("'none'", "'self'")
    assert all(policy[name].startswith("'sha256-") for name in ("style-src", "script-src"))
    assert all(word not in answer.text for word in ("http://", "https://", "src=", "@import"))


def test_the_first_page_leads_to_every_operation_and_schema_and_each_subject_has_what_it_names() -> None:
    pages = {name: page(name) for name in SECTIONS}
    ids = {name: set(re.findall(r'id="([^"]+)"', shown)) for name, shown in pages.items()}
    assert all(any(f'data-path="{route.split()[1]}"' in shown for shown in pages.values()) for route in ROUTES)
    assert max(len(shown.encode()) for shown in (*pages.values(), overview())) < MOST_BYTES
    for name, shown in pages.items():
        assert set(re.findall(r'href="#([^"]+)"', shown)) <= ids[name], name
    leads = re.findall(r'<li id="([^"]+)"><a href="\?subject=(\w+)#([^"]+)"', overview())
    assert all(one == target and target in ids[subject] for one, subject, target in leads)
    operations = [one["operationId"] for methods in document()["paths"].values() for one in methods.values()]
    schemas = [f"schema-{name}" for name in document()["components"]["schemas"]]
    assert sorted(one for one, _, _ in leads) == sorted([*operations, *schemas])
    assert set(SECTIONS) == set(GROUPS)


def test_a_subject_that_is_none_has_no_page(caller: Caller) -> None:
    assert caller.get("/docs?subject=weather").status == 404
    assert caller.get("/docs?topic=retrieval").status == 422


def test_an_example_is_shown_as_text() -> None:
    assert "&lt;b&gt;" in _code("Example", "<b>")
    assert "<b>" not in _code("Example", "<b>")


def test_every_operation_says_what_it_takes_and_gives() -> None:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            assert operation["operationId"], path
            assert operation["summary"], path
            bodiless = (method, path) in BODILESS or (method in READING and (method, path) != DELETE_ITEM)
            assert ("requestBody" in operation) is not bodiless, path
            named = {one["name"] for one in operation["parameters"] if one["in"] == "path"}
            assert named == {part[1:-1] for part in path.split("/") if part.startswith("{")}
            assert operation["security"] == ([] if path in OPEN else [{"bearer": []}])


READING = ("get", "delete")
DELETE_ITEM = ("delete", "/store/items")
"""LangGraph's clients name the item in a body."""
BODILESS = {
    ("post", "/v1/users/{user_id}/summaries"),
    ("post", "/v1/users/{user_id}/arbitrations/{arbitration_id}/reapply"),
    ("post", "/v1/users/{user_id}/conflicts/{conflict_id}/reopen"),
    ("post", "/v1/users/{user_id}/conversations/{conversation_id}/log/pop"),
}
OPEN = {"/v1/health", "/v1/ready", "/v1/openapi.json", "/docs"}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_answers_are_what_the_document_promises(app: App, caller: Caller) -> None:
    paths = document()["paths"]
    event = {"content": "I always drink tea", "title": "t", "key": "k", "speaker": "Anna", "metadata": {"a": 1}}
    events = {"user_id": "anna", "persona_id": "p", "events": [event, {"content": ""}, {**event, "timestamp": 0}]}
    posts: list[tuple[str, Any]] = [
        ("/v1/events", events),
        ("/v1/events", events | {"events": [{}]}),
        ("/v1/events", {}),
        ("/v1/events", b"{"),
        ("/v1/analyze", {"text": "yesterday 120/80 in Fitness", "spaces": ["Fitness"]}),
        ("/v1/search", {"user_id": "anna", "query": "tea", "explain": True, "include_superseded": True}),
        ("/v1/search", {"user_id": "anna", "query": "tea", "mode": "semantic"}),
        ("/v1/search", {"user_id": "anna", "query": "Do I always drink tea?", "mode": "intent", "explain": True}),
        ("/v1/search", {"user_id": "anna", "query": "and it tea?", "mode": "intent", "history": ["my tea"]}),
        ("/v1/search", {"user_id": "anna", "query": "Where is my umbrella?", "mode": "intent"}),
        ("/v1/search", {"user_id": "anna", "query": "hi", "mode": "intent"}),
        ("/v1/feedback", {"user_id": "anna", "positive": True}),
        ("/v1/context", {"user_id": "anna", "input": "tea", "explain": True, "token_budget": 99}),
        (
            "/v1/memories",
            {"user_id": "anna", "content": "tea", "keywords": ["k"], "key": "k", "expires_at": "2100-01-01"},
        ),
        ("/v1/memories", {"user_id": "anna", "content": "tea", "importance": 2}),
    ]
    posts += [("/v1/signals", {"type": kind, "source": "test"}) for kind in ("warning", "healthy", "x")]
    for path, body in posts:
        check(caller.post(path, body), paths[path]["post"])
    event_id = caller.timeline().json["events"][0]["id"]
    (memory,) = caller.get("/v1/users/anna/memories").json["memories"]
    gets = [
        ("/v1/users/{user_id}/events", "/v1/users/anna/events?top_k=1&from=0"),
        ("/v1/users/{user_id}/events", "/v1/users/anna/events?top_k=x"),
        ("/v1/users/{user_id}/events/{event_id}", f"/v1/users/anna/events/{event_id}"),
        ("/v1/users/{user_id}/events/{event_id}", "/v1/users/anna/events/none"),
        ("/v1/users/{user_id}/conversations", "/v1/users/anna/conversations"),
        ("/v1/users/{user_id}/memories", "/v1/users/anna/memories?status=active&limit=1"),
        ("/v1/users/{user_id}/memories", "/v1/users/anna/memories?status=x"),
        ("/v1/users/{user_id}/memories/{memory_id}", f"/v1/users/anna/memories/{memory['id']}"),
        ("/v1/users/{user_id}/memories/{memory_id}/history", f"/v1/users/anna/memories/{memory['id']}/history"),
        ("/v1/bus", "/v1/bus"),
        ("/v1/users/{user_id}/audit", "/v1/users/anna/audit?action=create"),
        ("/v1/users/{user_id}/audit", "/v1/users/anna/audit?limit=0"),
        ("/v1/users/{user_id}/ledger", "/v1/users/anna/ledger?outcome=promoted"),
        ("/v1/users/{user_id}/arbitrations", "/v1/users/anna/arbitrations?status=applied"),
        ("/v1/users/{user_id}/arbitrations", "/v1/users/anna/arbitrations?status=x"),
        ("/v1/users/{user_id}/conflicts", "/v1/users/anna/conflicts?status=open"),
        ("/v1/rules", "/v1/rules"),
        *((path, path) for path in OPEN),
    ]
    for path, target in gets:
        check(caller.get(target), paths[path]["get"])


def test_a_service_that_is_not_ready_says_which_part(app: App, caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    from recollect.core.errors import NotReady

    def missing() -> Any:
        raise NotReady("the index does not exist: recollect init")

    ready = caller.get("/v1/ready")
    assert (ready.status, ready.json["ready"], set(ready.json["parts"])) == (
        200,
        True,
        {"timeline", "index", "embedder", "judge", "rerank", "model", "tombstones", "projection"},
    )
    monkeypatch.setattr(app.readiness, "_checks", {"index": missing})
    answer = caller.get("/v1/ready")
    assert (answer.status, answer.json["ready"]) == (503, False)
    assert answer.json["parts"]["index"] == {"ready": False, "detail": "the index does not exist: recollect init"}
    check(answer, document()["paths"]["/v1/ready"]["get"])
    assert caller.get("/v1/health").json == {"status": "ok", "version": "0.1.0"}
