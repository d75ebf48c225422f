"""The switch from one embedder's index to another's, and the job, on the real engines, with each search engine."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from embedded.reindexing import OTHER, OtherEmbedder
from engines.conftest import Deployment, drop_indexes, on_both
from recollect.app import App
from recollect.bootstrap.aws_parts import AwsParts
from recollect.composition import search_index
from recollect.core.scope import Scope
from recollect.entrypoints.http.aws import build_handler
from recollect.jobs.job import JobStatus
from recollect.jobs.run import JobOrder
from recollect.retrieval.nomination import IndexCount

pytestmark = [pytest.mark.engines, on_both]

TEXTS = ("I live in Paris with my dog", "My sister paints sunrises", "The bakery opens at seven")
ANNA = Scope("acme", "anna")


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pointers are kept for a moment, so that the job need not wait long."""
    monkeypatch.setattr(search_index, "POINTER_SECONDS", 0.2)


@pytest.fixture
def other(deployment: Deployment) -> Iterator[Deployment]:
    """The same deployment, with functions that have another embedder."""
    parts = AwsParts(deployment.app.settings)
    parts._embedding.__dict__["outcome"] = OtherEmbedder()
    app = App(deployment.app.settings, parts)
    handlers = {**deployment.handlers, "retrieval": build_handler(app, ["retrieval", "operations"])}
    yield replace(deployment, app=app, handlers=handlers)
    drop_indexes(parts, deployment.app.settings.index_prefix)


def _say(deployment: Deployment, *texts: str, user: str = "anna") -> None:
    said = [{"content": text} for text in texts]
    answer = deployment.call("ingest", "POST", "/v1/events", {"user_id": user, "conversation_id": "c", "events": said})
    assert answer.status == 201


def _reindexed(app: App, tenant: str = "acme", **parameters: Any) -> Any:
    now = datetime.now(UTC)
    order = JobOrder(kind="reindex", parameters=parameters, now=now, real_now=now)
    job = app.jobs.start(tenant, order, app.ids.seed(int(now.timestamp() * 1000)))
    for _ in range(100):
        job = app.job_runs.one(tenant, job.id, lambda: datetime.now(UTC), lambda: 100.0)
        if job.finished:
            break
        time.sleep(0.1)
    assert (job.status, dict(job.errors)) == (JobStatus.DONE, {})
    return job.counts


def _indexes(deployment: Deployment) -> list[str]:
    """The generations of which the search engine holds anything, by names that hold theirs."""
    parts: Any = deployment.app.parts
    if deployment.app.settings.search_engine == "domain":
        return sorted(parts.index._client.indices.get(index=f"{deployment.app.settings.index_prefix}-*"))
    items = parts.access.client.scan(TableName=parts.access.table, ConsistentRead=True)["Items"]
    return sorted({key.split("#")[1] for item in items if (key := item["pk"]["S"]).startswith("X#")})


@pytest.mark.spec("A-33", "A-35")
def test_a_generation_is_built_switched_to_and_the_old_index_goes(deployment: Deployment, other: Deployment) -> None:
    _say(deployment, *TEXTS)
    assert deployment.app.projection.reconciliation.run(datetime.now(UTC)).failed == {}
    ready = other.call("retrieval", "GET", "/v1/ready")
    assert (ready.status, ready.body["parts"]["index"]["ready"]) == (503, False)
    assert other.found("who paints sunrises")[0] == TEXTS[1]
    counts = _reindexed(other.app)
    assert (counts["rebuilt"], counts["encoded"], counts["dropped"]) == (3, 3, 3)
    assert other.found(TEXTS[1], mode="semantic", min_similarity=0.9) == [TEXTS[1]]
    assert other.call("retrieval", "GET", "/v1/ready").status == 200
    assert [OTHER in name for name in _indexes(other)] == [True], "the old index is gone"


def test_what_is_said_while_it_is_built_is_in_the_new_one(deployment: Deployment, other: Deployment) -> None:
    _say(deployment, *TEXTS)
    assert deployment.app.projection.reconciliation.run(datetime.now(UTC)).failed == {}
    state: Any = {}
    for number in range(100):
        progress = other.app.reindexing.reindex.step("acme", state, datetime.now(UTC), lambda: 0.0)
        if progress.done:
            break
        state = progress.state
        time.sleep(progress.pause.total_seconds() if progress.pause else 0)
        _say(deployment, f"meanwhile number{number}")
        assert other.app.projection.reconciliation.run(datetime.now(UTC)).failed == {}
        assert other.found(f"meanwhile number{number}")[0] == f"meanwhile number{number}"
    assert other.app.search_index.in_use.count(ANNA) == IndexCount(3 + number, 3 + number)
    assert other.app.search_index.health.lagging() == {}


def test_another_tenant_s_index_stays_in_use(deployment: Deployment, other: Deployment) -> None:
    _say(deployment, *TEXTS)
    body = {"user_id": "ben", "events": [{"content": "Ben lives in Oslo"}]}
    assert deployment.call("ingest", "POST", "/v1/events", body, tenant="strangers").status == 201
    assert deployment.app.projection.reconciliation.run(datetime.now(UTC)).failed == {}
    _reindexed(other.app)
    assert len(_indexes(other)) == 2
    answer = deployment.call("retrieval", "POST", "/v1/search", {"user_id": "ben", "query": "Oslo"}, tenant="strangers")
    assert answer.status == 200
