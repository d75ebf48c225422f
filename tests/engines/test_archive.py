"""Segments, snapshots, exports on DynamoDB Local, OpenSearch and the S3 server."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from engines.conftest import Deployment, on_both
from recollect.archive.record_line import read_line
from recollect.archive.transfer import ImportOrder, LineOutcome
from recollect.core.scope import Scope
from recollect.jobs.job import JOB_ID, JobKind
from recollect.memories.audit import Actor, ActorKind

pytestmark = pytest.mark.engines
ANNA, BEN = Scope("acme", "anna"), Scope("acme", "ben")
NOW = datetime(2026, 1, 5, tzinfo=UTC)


def add(deployment: Deployment, count: int, user: str = "anna") -> list[str]:
    ids = []
    for start in range(0, count, 100):
        events = [
            {"content": f"remark {n} about the garden", "timestamp": f"2026-01-01T{n // 60:02}:{n % 60:02}:00"}
            for n in range(start, min(start + 100, count))
        ]
        answer = deployment.call("ingest", "POST", "/v1/events", {"user_id": user, "events": events})
        ids += [one["event_id"] for one in answer.body["results"]]
    report = deployment.app.projection.reconciliation.run(NOW)
    assert report.failed == {}
    return ids


def run(kind: JobKind, **state: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    while True:
        progress = kind.step("acme", state, NOW, lambda: 60.0)
        counts = {name: counts.get(name, 0) + count for name, count in progress.counts.items()}
        state = dict(progress.state)
        if progress.done:
            return counts


@on_both
@pytest.mark.spec("P-22")
def test_snapshots_are_taken_restored_and_rewritten(deployment: Deployment) -> None:
    app, ids = deployment.app, add(deployment, 40)
    add(deployment, 3, "ben")
    job_id = app.ids.seed(1_800_000_000_000).nth(0)
    counts = run(app.archive.take_snapshot, **{JOB_ID: job_id})
    assert (counts["users"], counts["events"]) == (2, 43)
    [listed] = app.segments.snapshots.page("acme", 10, None).snapshots
    assert (listed.id, listed.counts["events"]) == (job_id, 43)
    app.deletion.events.forget(ANNA, now=NOW, event_id=ids[7])
    app.projection.reconciliation.run(NOW)
    assert len(app.segments.snapshots.lines(ANNA, job_id, 0)) == 39
    restored = run(app.archive.restore, snapshot_id=job_id)
    assert restored == {"created": 0, "duplicate": 42, "refused": 0, "invalid": 0, "users": 2}
    client = app.parts._bucket.client  # type: ignore[attr-defined]
    bucket = app.settings.snapshot_bucket
    versions = client.list_object_versions(Bucket=bucket, Prefix="acme/snapshots/data/").get("Versions", ())
    held = [one for one in versions if one["Key"].endswith(".segment")]
    assert all(one["IsLatest"] for one in held)
    assert app.segments.rewriting.erase(ANNA).pieces == 1
    left = [one["Key"] for one in client.list_object_versions(Bucket=bucket, Prefix="acme/").get("Versions", ())]
    assert sorted(name.rsplit("/", 1)[1] for name in left if "/data/" in name) == [
        "00000000.segment", "00000000.vectors", "user.json",
    ]  # fmt: skip


@pytest.mark.spec("P-22")
def test_an_archived_value_says_that_a_deleted_one_superseded_it(deployment: Deployment) -> None:
    app = deployment.app
    paris = said(deployment, "Paris", 1)
    app.projection.reconciliation.run(NOW)
    app.segments.compaction.close(ANNA, NOW)
    app.segments.compaction.compact(ANNA, NOW)
    before, beside = (app.ids.seed(1_800_000_000_000 + n).nth(0) for n in range(2))
    run(app.archive.take_snapshot, **{JOB_ID: before})
    lyon = said(deployment, "Lyon", 2)
    run(app.archive.take_snapshot, **{JOB_ID: beside})
    lines = app.segments.snapshots.lines(ANNA, beside, 0)
    assert [(line.event.id, line.event.superseded_by) for line in lines] == [(paris, lyon), (lyon, None)]
    app.deletion.events.forget(ANNA, now=NOW, event_id=lyon)
    app.projection.reconciliation.run(NOW)
    archived = [app.segments.snapshots.lines(ANNA, one, 0) for one in (before, beside)]
    for kept in (*archived, list(app.segments.contents.read(ANNA))):
        assert [(line.event.id, line.event.superseded_by) for line in kept] == [(paris, lyon)]


def said(deployment: Deployment, city: str, day: int) -> str:
    """The id of a new value of a slot, not projected."""
    answer = deployment.ingest(city, key="city", timestamp=f"2026-01-0{day}T00:00:00Z")
    return str(answer.body["results"][0]["event_id"])


@pytest.mark.spec("P-22")
def test_an_export_is_imported_for_another_user(deployment: Deployment) -> None:
    app, ids = deployment.app, add(deployment, 105)
    page = app.segments.exports.page(ANNA, None, NOW)
    lines = [read_line(text) for text in page.text.splitlines()]
    assert ([line.event.id for line in lines], page.more) == (ids, None)
    order = ImportOrder(actor=Actor(ActorKind.USER, "ben"), via="import", now=NOW)
    app.deletion.events.forget(ANNA, now=NOW, event_id=ids[3])
    for user, outcome in ((BEN, LineOutcome.CREATED), (BEN, LineOutcome.DUPLICATE), (ANNA, LineOutcome.DUPLICATE)):
        counts = app.archive.imports.import_lines(user, lines, order).counts
        assert counts == {outcome: 104, LineOutcome.REFUSED: 1}
    app.projection.reconciliation.run(NOW)
    copies = app.segments.exports.page(BEN, None, NOW).text.splitlines()
    assert {json.loads(text)["origin"]["user_id"] for text in copies} == {"anna"}
    assert len(copies) == 104
