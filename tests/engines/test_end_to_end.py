"""HTTP → DynamoDB → its stream → the project handler → OpenSearch or the table → search, on the real engines."""

from datetime import UTC, datetime
from typing import Any

import pytest

from embedded.reindexing import stepped
from embedded.setting import Memory
from engines.conftest import Deployment, lambda_context, on_both
from recollect.core.scope import Scope

pytestmark = [pytest.mark.engines, on_both]

TEXTS = ("I live in Paris with my dog", "My sister paints sunrises", "The bakery opens at seven")

NOW = datetime(2024, 6, 1, tzinfo=UTC)
SAVED = "/v1/bus?type=memory:episodic:saved"


def test_what_was_said_comes_back_before_and_after_the_stream(deployment: Deployment) -> None:
    answer = deployment.ingest(*TEXTS)
    assert answer.status == 201
    ids = [result["event_id"] for result in answer.body["results"]]
    modes: dict[str, dict[str, Any]] = {"hybrid": {}, "lexical": {}, "semantic": {"min_similarity": 0}}
    for state in ("tail", "indexed"):
        for mode, more in modes.items():
            assert deployment.found("my sister paints", mode=mode, **more)[0] == TEXTS[1], (state, mode)
        if state == "tail":
            assert deployment.pump.drain() >= 3
            assert deployment.pump.given_up == 0
    ready = deployment.call("retrieval", "GET", "/v1/ready")
    assert (ready.status, ready.body["parts"]["timeline"]["pending"]) == (200, 0)
    assert [e["id"] for e in deployment.call("retrieval", "GET", SAVED).body["events"]] == ids
    assert deployment.call("retrieval", "GET", f"/v1/users/anna/events/{ids[0]}").body["content"] == TEXTS[0]
    listed = deployment.call("retrieval", "GET", "/v1/users/anna/conversations").body
    assert [c.get("id") or c.get("conversation_id") for c in listed["conversations"]] == ["c1"]


def test_what_was_said_is_found_at_every_moment_though_the_engine_itself_refreshes_once_an_hour(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the answer of ingest on: by its marker until the index shows it, also while `project` is at work."""
    parts: Any = deployment.app.parts
    if deployment.app.settings.search_engine == "domain":
        hourly = {"index": {"refresh_interval": "3600s", "max_refresh_listeners": None}}
        parts.index._client.indices.put_settings(index=f"{deployment.app.settings.index_prefix}-*", body=hourly)
    while_projecting: list[str] = []
    settle = type(parts.projections).settle

    def searched_first(self: Any, scope: Any, refs: Any) -> None:
        while_projecting.extend(deployment.found("my sister paints")[:1])
        settle(self, scope, refs)
        while_projecting.extend(deployment.found("my sister paints")[:1])

    monkeypatch.setattr(type(parts.projections), "settle", searched_first)
    deployment.ingest(*TEXTS)
    assert deployment.found("my sister paints")[0] == TEXTS[1]
    assert deployment.pump.drain() >= 3
    assert while_projecting
    assert set(while_projecting) == {TEXTS[1]}
    assert parts.timeline.tail(Scope("acme", "anna")).refs == ()
    assert deployment.found("my sister paints")[0] == TEXTS[1]


def test_a_stream_that_never_comes_is_made_good_by_reconcile(deployment: Deployment) -> None:
    deployment.ingest(*TEXTS)
    assert len(deployment.app.parts.projections.pending(10, None).markers) == 3
    deployment.handlers["project"]({"task": "reconcile"}, lambda_context())
    assert deployment.app.parts.projections.pending(10, None).markers == ()
    assert deployment.found("bakery")[0] == TEXTS[2]
    assert deployment.pump.drain() >= 3
    answer = deployment.call("retrieval", "POST", "/v1/search", {"user_id": "anna", "query": "bakery"})
    assert answer.body["diagnostics"]["matched_count"] == 3


def test_the_newest_value_of_a_key_whatever_the_order(deployment: Deployment) -> None:
    for day, city in ((3, "Lyon"), (1, "Rome"), (2, "Paris")):
        deployment.ingest(f"I live in {city}", day=day, key="city")
        deployment.pump.drain()
    assert deployment.found("I live in Rome Paris Lyon") == ["I live in Lyon"]
    assert len(deployment.found("I live in Rome Paris Lyon", include_superseded=True)) == 3
    assert deployment.found("I live in", as_of="2024-05-02T12:00:00Z") == ["I live in Paris"]


def test_what_is_not_to_be_derived_is_in_the_timeline_alone(deployment: Deployment) -> None:
    said = "I moved to Lyon, always remember that"
    answer = deployment.ingest(said, importance=0.9, derive=False)
    (event_id,) = [result["event_id"] for result in answer.body["results"]]
    for state in ("tail", "indexed", "reindexed"):
        for way in ({}, {"mode": "lexical"}, {"mode": "semantic", "min_similarity": -1.0}):
            assert deployment.found(said, **way) == [], (state, way)
        asked = {"user_id": "anna", "conversation_id": "c1", "input": "go on"}
        assert said in deployment.call("context", "POST", "/v1/context", asked).body["prompt"]
        deployment.pump.drain()
        if state == "indexed":
            stepped(Memory(deployment.app, NOW), "acme", lambda _: None, **{"from": "events"})
    listed = deployment.call("retrieval", "GET", f"/v1/users/anna/events/{event_id}").body
    assert (listed["content"], listed["derive"]) == (said, False)
    assert deployment.call("retrieval", "GET", "/v1/users/anna/memories").body["memories"] == []
    assert deployment.call("retrieval", "GET", "/v1/bus").body["events"] == []
    stored = deployment.app.parts.projections.vectors(Scope("acme", "anna"), [event_id])
    assert stored[event_id].vector is None


def test_an_events_own_key_counts_once_before_and_after_the_stream(deployment: Deployment) -> None:
    first = deployment.ingest("I live in Paris", idempotency_key="m-1").body["results"][0]["event_id"]
    for day in (2, 3):
        again = deployment.ingest("I live in Paris", day=day, idempotency_key="m-1")
        assert again.body["results"] == [{"status": "duplicate", "event_id": first}]
        other = deployment.ingest("I live in Oslo", day=day, idempotency_key="m-1")
        assert (other.status, other.body["results"][0]["reason"]) == (422, "key_reused")
        assert deployment.ingest("I live in Rome", tenant=f"other-{day}", idempotency_key="m-1").status == 201
        deployment.pump.drain()
    assert deployment.found("where do I live") == ["I live in Paris"]


def test_tenants_never_meet(deployment: Deployment) -> None:
    deployment.ingest("I live in Paris")
    deployment.ingest("I live in Oslo", tenant="other")
    for _ in ("tail", "indexed"):
        assert deployment.found("where do I live") == ["I live in Paris"]
        assert deployment.found("where do I live", tenant="other") == ["I live in Oslo"]
        assert deployment.found("where do I live", tenant="third") == []
        deployment.pump.drain()
    assert len(deployment.call("retrieval", "GET", SAVED, tenant="other").body["events"]) == 1


def test_with_the_projector_stopped_the_last_of_more_than_a_page_of_markers_is_found(deployment: Deployment) -> None:
    for batch in range(11):
        contents = [f"entry w{batch * 100 + n}" for n in range(100)]
        assert deployment.ingest(*contents, timestamp=f"2019-01-{batch % 28 + 1:02d}T00:00:00Z").status == 201
    modes: dict[str, dict[str, Any]] = {"hybrid": {}, "lexical": {}, "semantic": {"min_similarity": 0}}
    for mode, more in modes.items():
        assert deployment.found("entry w1099", mode=mode, **more)[0] == "entry w1099"
