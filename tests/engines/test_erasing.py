"""Rejected values and erased users on the real engines: table, stream, index, bucket."""

from datetime import UTC, datetime
from typing import Any

import pytest

from engines.conftest import Deployment, on_both
from engines.test_forgetting import SECRET, in_index, in_table, ingested
from recollect.deletion.tombstone_log import seconds_from_now

pytestmark = [pytest.mark.engines, on_both]


def statuses(deployment: Deployment, *contents: str, **more: Any) -> list[str]:
    return [result["status"] for result in deployment.ingest(*contents, **more).body["results"]]


def finished(deployment: Deployment, erasure_id: str) -> dict[str, object]:
    deployment.app.job_runs.one("acme", erasure_id, lambda: datetime.now(UTC), seconds_from_now(60))
    body: dict[str, object] = deployment.call("retrieval", "GET", f"/v1/erasures/{erasure_id}").body
    return body


@pytest.mark.spec("P-22")
def test_a_rejected_value_is_refused_until_it_is_lifted(deployment: Deployment) -> None:
    (event_id,) = ingested(deployment, SECRET)
    deployment.pump.drain()
    path = f"/v1/users/anna/events/{event_id}?reject=true"
    assert deployment.call("retrieval", "DELETE", path).status == 204
    assert statuses(deployment, SECRET.upper(), f"We met. {SECRET}. We left.", day=2) == ["refused", "created"]
    for _ in range(2):
        assert deployment.found(SECRET) == ["We met. We left."]
        deployment.pump.drain()
    (listed,) = deployment.call("retrieval", "GET", "/v1/users/anna/rejections").body["rejections"]
    assert deployment.call("retrieval", "DELETE", f"/v1/users/anna/rejections/{listed['id']}").status == 204
    assert statuses(deployment, SECRET, day=3) == ["created"]


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("projected", [False, True])
def test_an_erased_user_is_gone_everywhere(deployment: Deployment, projected: bool) -> None:
    ingested(deployment, "the cat sleeps", SECRET, key="home")
    if projected:
        deployment.pump.drain()
        assert len(in_index(deployment)) == 2
    answer = deployment.call("retrieval", "DELETE", "/v1/users/anna")
    assert answer.status == 202
    assert deployment.found(SECRET) == []
    assert deployment.call("retrieval", "GET", "/v1/users/anna/events?last_days=3650").body["events"] == []
    report = finished(deployment, answer.body["erasure_id"])
    assert (report["status"], report["verified"]) == ("done", True), report
    deployment.pump.drain()
    assert deployment.pump.given_up == 0
    assert in_index(deployment) == set()
    assert {kind: len(keys) for kind, keys in in_table(deployment).items()} == {"E": 0, "D": 2, "V": 0, "K": 0, "P": 0}
    assert statuses(deployment, "the cat sleeps", "a new life", key="home") == ["refused", "created"]
    deployment.pump.drain()
    assert deployment.found("life") == ["a new life"]
    lapses = {one["part"] for one in report["lapses"]}  # type: ignore[attr-defined]
    assert lapses == {"idempotency_records", "bus_log", "index_snapshots", "point_in_time_backups"}


@pytest.mark.spec("P-22")
def test_a_restored_table_is_not_ready_until_it_has_forgotten(deployment: Deployment) -> None:
    (event_id,) = ingested(deployment, SECRET)
    deployment.pump.drain()
    access = deployment.app.parts.access  # type: ignore[attr-defined]
    items = access.client.scan(TableName=access.table, ConsistentRead=True)["Items"]
    assert deployment.call("retrieval", "DELETE", f"/v1/users/anna/events/{event_id}").status == 204
    deployment.pump.drain()
    for item in access.client.scan(TableName=access.table, ConsistentRead=True)["Items"]:
        access.client.delete_item(TableName=access.table, Key={name: item[name] for name in ("pk", "sk")})
    access.put_many(items)
    ready = deployment.call("retrieval", "GET", "/v1/ready")
    assert (ready.status, ready.body["parts"]["tombstones"]["ready"]) == (503, False)
    assert dict(deployment.app.deletion.tombstones.apply(datetime.now(UTC), seconds_from_now(60))) == {"events": 1}
    assert deployment.call("retrieval", "GET", "/v1/ready").status == 200
    deployment.pump.drain()
    assert deployment.found(SECRET) == []
    assert in_index(deployment) == set()
