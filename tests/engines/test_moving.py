"""A deployment changes from one search engine to the other by a parameter and the job `reindex`, in both directions.

Searches go on, by vectors too, and what is said or deleted meanwhile counts; another tenant stays until its own job.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from embedded.setting import judged
from engines.conftest import Deployment, lambda_context, on_both, shown_at_once
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.composition import search_index
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.entrypoints.http.aws import build_handler
from recollect.entrypoints.lambda_handlers import jobs_handler, project_handler
from recollect.jobs.job import JobStatus
from recollect.jobs.run import JobOrder
from recollect.retrieval.nomination import IndexCount

pytestmark = [pytest.mark.engines, on_both]

TEXTS = ("I live in Paris with my dog", "My sister paints sunrises", "The bakery opens at seven")
ANNA, BEN = Scope("acme", "anna"), Scope("strangers", "anna")
SEMANTIC: dict[str, Any] = {"mode": "semantic", "min_similarity": 0.9}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pointers are kept for a moment, so that the job need not wait long."""
    monkeypatch.setattr(search_index, "POINTER_SECONDS", 0.2)


@pytest.fixture
def moved(deployment: Deployment) -> Iterator[Deployment]:
    """The same table and bucket, with functions whose parameter names the other engine; both have an address."""
    before = deployment.app.settings
    url = before.opensearch_url or deployment.engines.opensearch_url
    after = "table" if before.search_engine == "domain" else "domain"
    app = judged(open_app(replace(before, search_engine=after, opensearch_url=url)))
    parts: Any = app.parts
    app.parts.create()
    shown_at_once(parts, before.index_prefix)
    handlers = {
        **deployment.handlers,
        "retrieval": build_handler(app, ["retrieval", "operations", "forgetting"]),
        "project": project_handler(app),
        "jobs": jobs_handler(app),
    }
    yield replace(deployment, app=app, handlers=handlers)
    if after == "domain":
        parts.index._client.indices.delete(index=f"{before.index_prefix}-*")


def _reconciled(deployment: Deployment) -> None:
    assert deployment.app.projection.reconciliation.run(datetime.now(UTC)).failed == {}


def _reindexed(app: App, tenant: str = "acme") -> Any:
    now = datetime.now(UTC)
    order = JobOrder(kind="reindex", parameters={}, now=now, real_now=now)
    job = app.jobs.start(tenant, order, app.ids.seed(int(now.timestamp() * 1000)))
    for _ in range(100):
        job = app.job_runs.one(tenant, job.id, lambda: datetime.now(UTC), lambda: 100.0)
        if job.finished:
            break
        time.sleep(0.1)
    assert (job.status, dict(job.errors)) == (JobStatus.DONE, {})
    return job.counts


@pytest.mark.spec("A-33")
def test_a_tenant_moves_while_it_is_searched(deployment: Deployment, moved: Deployment) -> None:
    deployment.ingest(*TEXTS)
    deployment.ingest("Ben lives in Oslo", tenant="strangers")
    _reconciled(deployment)
    ready = moved.call("retrieval", "GET", "/v1/ready")
    assert (ready.status, "former search engine" in ready.body["parts"]["index"]["detail"]) == (200, True)
    for state in ("not moved yet", "moved"):
        assert moved.found(TEXTS[1], **SEMANTIC) == [TEXTS[1]], state
        assert moved.found("Oslo", tenant="strangers") == ["Ben lives in Oslo"], state
        if state == "not moved yet":
            assert moved.app.parts.index.count(ANNA) == IndexCount(0, 0)
            counts = _reindexed(moved.app)
            assert (counts["rebuilt"], counts["encoded"], counts["dropped"]) == (3, 0, 3)
    assert moved.app.parts.index.count(ANNA) == IndexCount(3, 3)
    former = moved.app.parts.former_index
    assert former is not None
    assert former.count(of_tenant("acme")) == IndexCount(0, 0), "nothing of the tenant is left in the other engine"
    assert former.count(of_tenant("strangers")) == IndexCount(1, 1), "the other tenant has not moved"
    assert moved.app.search_index.health.lagging() == {"strangers": "engine"}
    assert _reindexed(moved.app, "strangers")["dropped"] == 1
    assert moved.app.search_index.health.lagging() == {}
    assert moved.found("Oslo", tenant="strangers") == ["Ben lives in Oslo"]


def test_what_is_said_and_deleted_while_it_moves_counts(deployment: Deployment, moved: Deployment) -> None:
    ids = [one["event_id"] for one in deployment.ingest(*TEXTS).body["results"]]
    _reconciled(deployment)
    state: Any = {}
    for number in range(100):
        progress = moved.app.reindexing.reindex.step("acme", state, datetime.now(UTC), lambda: 0.0)
        if progress.done:
            break
        state = progress.state
        time.sleep(progress.pause.total_seconds() if progress.pause else 0)
        moved.ingest(f"meanwhile number{number}", day=2 + number)
        if number == 1:
            moved.app.deletion.events.forget(ANNA, now=datetime.now(UTC), event_id=ids[0])
        _reconciled(moved)
        assert moved.found(f"meanwhile number{number}")[0] == f"meanwhile number{number}"
        assert (TEXTS[0] in moved.found(TEXTS[0])) is (number < 1)
    assert moved.app.search_index.in_use.count(ANNA) == IndexCount(2 + number, 2 + number)
    assert moved.app.search_index.health.lagging() == {}
    assert ids[0] not in {ref.id for ref in moved.app.parts.index.listed(ANNA, 100, None).refs}


def test_the_jobs_pack_what_the_table_holds(deployment: Deployment, moved: Deployment) -> None:
    """Whichever engine the functions name: what was deleted must go from the blocks before a tenant moves, too."""
    deployment.ingest(*TEXTS)
    _reconciled(deployment)
    answer = moved.handlers["jobs"]({"task": "jobs"}, lambda_context(60))
    assert answer["complete"]
    assert len(moved.found("Paris sister bakery")) == 3
