"""Throttling, the job `reindex`, and warnings of the index, over HTTP (A-35, A-38, A-39)."""

import pytest

from entrypoints.http.calling import Caller, Laptop


def _events(*contents: str) -> dict[str, object]:
    return {"user_id": "anna", "conversation_id": "c", "events": [{"content": content} for content in contents]}


@pytest.mark.spec("A-39")
def test_too_many_writes_are_told_to_come_back_later(caller: Caller) -> None:
    assert caller.put("/v1/rules", {"limits": {"writes_per_second": 0.01}}).status == 200
    assert caller.post("/v1/events", _events("one", "two")).status == 201
    for path, body in (("/v1/events", _events("three")), ("/v1/memories", {"user_id": "anna", "content": "four"})):
        refused = caller.post(path, body)
        assert (refused.status, refused.json["type"]) == (429, "urn:recollect:problem:throttled")
        assert refused.headers["retry-after"] == "200"
    assert caller.get("/v1/users/anna/events").status == 200
    assert caller.put("/v1/rules", {}).status == 200
    assert caller.post("/v1/events", _events("three")).status == 201


@pytest.mark.spec("A-39")
def test_a_throttled_request_is_not_kept_under_its_key(caller: Caller) -> None:
    caller.put("/v1/rules", {"limits": {"writes_per_second": 0.01}})
    key = {"Idempotency_Key": "the-key"}
    assert caller.post("/v1/events", _events("one"), **key).status == 201
    assert caller.post("/v1/events", _events("one"), **key).status == 201, "a replay writes nothing"
    assert caller.post("/v1/events", _events("two"), Idempotency_Key="another").status == 429
    caller.put("/v1/rules", {})
    assert caller.post("/v1/events", _events("two"), Idempotency_Key="another").status == 201


@pytest.mark.parametrize("source", ["vectors", "events"])
def test_reindex_counts_what_it_rebuilt(laptop: Laptop, source: str) -> None:
    caller = Caller(laptop)
    caller.post("/v1/events", _events("I live in Paris", "My sister paints"))
    caller.post("/v1/jobs/reconcile?wait=true", {})
    answer = caller.post("/v1/jobs/reindex?wait=true", {"from": source})
    assert (answer.status, answer.json["status"]) == (200, "done")
    assert answer.json["counts"]["rebuilt"] == 2
    assert answer.json["unchanged"] == ["summaries", "goals"]
    assert answer.json["counts"]["dropped"] == (2 if source == "events" else 0)
    found = caller.post("/v1/search", {"user_id": "anna", "query": "who paints"})
    assert found.json["results"][0]["content"] == "My sister paints"
    assert caller.get("/v1/ready").json["parts"]["index"]["ready"]
