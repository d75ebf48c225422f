"""Deletion on the real engines: table, stream, index; records of the stream that come late, twice or never."""

from datetime import UTC, datetime
from typing import Any

import pytest

from deployment.permissions import refusals
from engines.conftest import Deployment, lambda_context, on_both
from engines.test_jobs_end_to_end import noting
from recollect.adapters.aws import keys
from recollect.core.errors import NotFound
from recollect.core.scope import Scope
from recollect.deletion.forget_conversation import WholeConversation
from recollect.memories.audit import Actor, ActorKind
from recollect.projection.project import ProjectEvents
from recollect.session_log.entries import Draft
from recollect.timeline.timeline import PendingEvent

pytestmark = [pytest.mark.engines, on_both]

ANNA = Scope("acme", "anna")
SECRET = "the zebra sings at midnight"


def ingested(deployment: Deployment, *contents: str, **more: Any) -> list[str]:
    results = deployment.ingest(*contents, **more).body["results"]
    return [result.get("event_id") or result["status"] for result in results]


def forget(deployment: Deployment, **named: str) -> tuple[str, ...]:
    return deployment.app.deletion.events.forget(ANNA, now=datetime.now(UTC), **named).event_ids  # type: ignore[arg-type]


def in_index(deployment: Deployment) -> set[str]:
    """The ids of all documents, whether a search may show them or not."""
    index: Any = deployment.app.parts.index
    if not hasattr(index, "_client"):
        return {ref.id for ref in index.listed(ANNA, 100, None).refs}
    index._client.indices.refresh(index=index._plan.alias)
    hits = index._client.search(index=index._plan.alias, body={"query": {"match_all": {}}, "size": 100})["hits"]["hits"]
    return {hit["_source"]["event_id"] for hit in hits}


def in_table(deployment: Deployment) -> dict[str, set[str]]:
    """The sort keys of anna's partition, and her markers, by kind."""
    access: Any = deployment.app.parts.access  # type: ignore[attr-defined]
    items = access.client.scan(TableName=access.table, ConsistentRead=True)["Items"]
    own = {item["sk"]["S"] for item in items if item["pk"]["S"] == keys.user_partition(ANNA)}
    kinds = {kind: {sk for sk in own if sk.startswith(f"{kind}#")} for kind in "EDVK"}
    return kinds | {"P": {item["sk"]["S"] for item in items if item["pk"]["S"].startswith("P#")}}


@pytest.mark.spec("P-22")
def test_a_deleted_conversation_leaves_tombstones_and_nothing_else(deployment: Deployment) -> None:
    (kept,) = ingested(deployment, "the cat sleeps", day=2)
    said = [{"content": SECRET, "timestamp": "2024-05-01T12:00:00Z"}]
    body = {"user_id": "anna", "conversation_id": "monday", "events": said}
    deployment.call("ingest", "POST", "/v1/events", body)
    deployment.app.logs.append(ANNA, "monday", [Draft(payload=SECRET)], datetime.now(UTC))
    deployment.pump.drain()
    whole, user = WholeConversation("monday", 100, None, lambda: 1.0), Actor(ActorKind.USER, "anna")
    conversations = deployment.app.deletion.conversations
    with noting(deployment) as needs:
        parts = [conversations.delete(ANNA, whole, datetime.now(UTC), user) for _ in range(2)]
    assert refusals("memories", needs, deployment.app.settings.index_prefix) == set()
    assert [(part.deleted, part.more) for part in parts] == [(1, None), (0, None)]
    assert deployment.found(SECRET) == ["the cat sleeps"]
    deployment.pump.drain()
    assert in_index(deployment) == {kept}
    assert {kind: len(found) for kind, found in in_table(deployment).items()} == {
        "E": 1,
        "D": 2,
        "V": 1,
        "K": 0,
        "P": 0,
    }
    listed = deployment.call("retrieval", "GET", "/v1/users/anna/conversations").body["conversations"]
    assert [one["id"] for one in listed] == ["c1"]
    assert deployment.app.logs.read(ANNA, "monday", 10).entries == ()
    (again,) = deployment.call("ingest", "POST", "/v1/events", body).body["results"]
    assert again == {"status": "refused", "reason": "deleted"}


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("way", ["stream", "reconcile"])
@pytest.mark.parametrize("projected", [False, True])
def test_a_deleted_event_leaves_a_tombstone_and_nothing_else(deployment: Deployment, projected: bool, way: str) -> None:
    kept, secret = ingested(deployment, "the cat sleeps", SECRET)
    if projected:
        deployment.pump.drain()
        assert in_index(deployment) == {kept, secret}
    assert forget(deployment, event_id=secret) == (secret,)
    assert deployment.found(SECRET) == ["the cat sleeps"]
    if way == "stream":
        deployment.pump.drain()
        assert deployment.pump.given_up == 0
    else:
        assert deployment.app.projection.reconciliation.run(datetime.now(UTC)).failed == {}
    assert in_index(deployment) == {kept}
    left = in_table(deployment)
    assert {kind: len(found) for kind, found in left.items()} == {"E": 1, "D": 2, "V": 1, "K": 0, "P": 0}
    assert deployment.found(SECRET) == ["the cat sleeps"]
    assert deployment.call("retrieval", "GET", f"/v1/users/anna/events/{secret}").status == 404
    published = deployment.call("retrieval", "GET", "/v1/bus").body["events"]
    assert [event["id"] for event in published if "content" in event["detail"]] == [kept]
    assert [event["detail"]["ids"] for event in published if "ids" in event["detail"]] == [[secret]]
    assert ingested(deployment, "the cat sleeps", SECRET) == [kept, "refused"]


@pytest.mark.spec("P-25")
def test_old_records_bring_nothing_back(deployment: Deployment) -> None:
    ids = ingested(deployment, "the cat sleeps", SECRET)
    places = [keys.event_key(ANNA, ref) for ref in deployment.app.parts.timeline.tail(ANNA).refs]
    deployment.pump.drain()
    forget(deployment, event_id=ids[1])
    deployment.pump.drain()
    records = [
        {"eventName": name, "dynamodb": {"Keys": place.attributes, "SequenceNumber": str(n)}}
        for n, (name, place) in enumerate((name, place) for name in ("INSERT", "MODIFY") for place in places)
    ]
    for _ in range(2):
        assert deployment.handlers["project"]({"Records": records}, lambda_context()) == {"batchItemFailures": []}
        assert in_index(deployment) == {ids[0]}
    assert {kind: len(found) for kind, found in in_table(deployment).items() if kind in "EVP"} == {
        "E": 1, "V": 1, "P": 0,
    }  # fmt: skip


@pytest.mark.spec("P-19", "P-22")
def test_a_slot_stays_empty_whatever_comes_late(deployment: Deployment) -> None:
    rome = ingested(deployment, "Rome", key="city")
    deployment.pump.drain()
    (lyon,) = ingested(deployment, "Lyon", day=3, key="city")
    assert forget(deployment, event_id=lyon) == (lyon,)
    for _ in range(2):
        assert deployment.found("Rome Lyon") == []
        deployment.pump.drain()
    ingested(deployment, "Oslo", day=2, key="city")
    ingested(deployment, "Bonn", day=3, key="city")
    for _ in range(2):
        assert deployment.found("Rome Lyon Oslo Bonn") == []
        assert sorted(deployment.found("Rome Lyon Oslo Bonn", include_superseded=True)) == ["Bonn", "Oslo", "Rome"]
        deployment.pump.drain()
    ingested(deployment, "Kyiv", day=4, key="city")
    for _ in range(2):
        assert deployment.found("Kyiv") == ["Kyiv"]
        deployment.pump.drain()
    assert len(forget(deployment, key="city")) == 4
    deployment.pump.drain()
    assert in_index(deployment) == set()
    assert len(in_table(deployment)["K"]) == 5
    with pytest.raises(NotFound):
        forget(deployment, event_id=rome[0])


@pytest.mark.spec("P-25")
def test_a_projection_that_was_overtaken_cleans_up_after_itself(deployment: Deployment) -> None:
    """The document is written after its removal: what the index never had leaves no version there to stop it."""
    kept, secret = ingested(deployment, "the cat sleeps", SECRET)
    markers = [PendingEvent(ANNA, ref) for ref in deployment.app.parts.timeline.tail(ANNA).refs]
    parts = deployment.app.parts
    real, steps = parts.index, deployment.app.projection.steps

    def projecting(index: Any) -> ProjectEvents:
        return ProjectEvents(parts.timeline, parts.projections, index, parts.embedder, parts.publisher, steps)

    class Overtaken:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def put(self, documents: Any, *, shown: bool = True) -> Any:
            forget(deployment, event_id=secret)
            assert projecting(real).project(parts.projections.pending(10, None).markers, datetime.now(UTC)).failed == {}
            return real.put(documents, shown=shown)

    report = projecting(Overtaken()).project(markers, datetime.now(UTC))
    assert (report.projected, report.gone, report.failed) == (1, 1, {})
    assert in_index(deployment) == {kept}
    assert {kind: len(found) for kind, found in in_table(deployment).items() if kind in "EVP"} == {
        "E": 1, "V": 1, "P": 0,
    }  # fmt: skip
