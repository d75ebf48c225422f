"""The functions `jobs` and `retain` on the real engines: asked for over HTTP, run by their handlers."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from opensearchpy import Transport

from deployment.gateway import TRANSACTION_ACTIONS, Need
from deployment.permissions import refusals
from engines.conftest import Deployment, lambda_context, on_both, on_the_domain, shown_at_once
from recollect.core.errors import NotReady
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.time import iso
from recollect.entrypoints.http.aws import build_handler
from recollect.entrypoints.lambda_handlers import jobs_handler, retain_handler
from recollect.jobs.job import KINDS, job_key

pytestmark = pytest.mark.engines

ANNA = Scope("acme", "anna")
NOW = datetime.now(UTC)


@pytest.fixture
def jobs(deployment: Deployment) -> Deployment:
    app = deployment.app
    handlers = {
        "admin": build_handler(app, ["jobs", "rules", "retrieval"]),
        "jobs": jobs_handler(app),
        "retain": retain_handler(app),
    }
    return replace(deployment, handlers={**deployment.handlers, **handlers})


def say(jobs: Deployment, text: str, days_ago: float, **more: Any) -> str:
    event = {"content": text, "timestamp": iso(NOW - timedelta(days=days_ago)), **more}
    answer = jobs.call("ingest", "POST", "/v1/events", {"user_id": "anna", "events": [event]})
    assert answer.status in (200, 201), answer
    return str(answer.body["results"][0].get("event_id") or answer.body["results"][0]["status"])


def run(jobs: Deployment, function: str) -> Any:
    return jobs.handlers[function]({"task": function}, lambda_context(840))


def asked(jobs: Deployment, kind: str) -> str:
    answer = jobs.call("admin", "POST", f"/v1/jobs/{kind}", {})
    assert answer.status == 202, answer
    return str(answer.body["job_id"])


@contextmanager
def noting(jobs: Deployment) -> Iterator[set[Need]]:
    """What is asked of the table and of the search engine meanwhile, as a role names it."""
    needs: set[Need] = set()

    def note(params: dict[str, Any], model: Any, **_: Any) -> None:
        index = f"table/index/{params['IndexName']}" if "IndexName" in params else "table"
        items = params.get("TransactItems", [])
        kinds = {TRANSACTION_ACTIONS[kind] for item in items for kind in item} if items else {model.name}
        needs.update(Need(f"dynamodb:{kind}", index) for kind in kinds)

    def perform(transport: Transport, method: str, url: str, *given: Any, **named: Any) -> Any:
        needs.add(Need(f"es:ESHttp{method.capitalize()}", f"domain{url}"))
        return ask(transport, method, url, *given, **named)

    events, ask = jobs.app.parts.access.client.meta.events, Transport.perform_request  # type: ignore[attr-defined]
    events.register("provide-client-params.dynamodb.*", note)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Transport, "perform_request", perform)
            yield needs
    finally:
        events.unregister("provide-client-params.dynamodb.*", note)


@on_both
@pytest.mark.spec("A-57", "A-62", "A-63", "A-64", "A-65")
def test_what_the_rules_let_go_is_gone_everywhere_told_and_archived(jobs: Deployment) -> None:
    rules = {"retention": [{"older_than_days": 30, "archive": True}]}
    assert jobs.call("admin", "PUT", "/v1/rules", rules).status == 200
    old = say(jobs, "the zebra sings at midnight", 40, importance=0.9)
    over = say(jobs, "the owl hoots at noon", 5, expires_at=iso(NOW - timedelta(days=1)))
    say(jobs, "the cat sleeps all day", 2)
    reconcile = asked(jobs, "reconcile")
    with noting(jobs) as needs:
        assert run(jobs, "jobs") == {"done": 1, "failed": 0, "running": 0, "complete": True}
    assert refusals("jobs", needs, jobs.app.settings.index_prefix) == set()
    shown = jobs.call("admin", "GET", f"/v1/jobs/{reconcile}").body
    assert (shown["status"], shown["counts"]["projected"]) == ("done", 3)
    assert "the zebra sings at midnight" in jobs.found("zebra sings midnight")
    with noting(jobs) as needs:
        assert run(jobs, "retain")["done"] == 1
    assert refusals("retain", needs, jobs.app.settings.index_prefix) == set()
    assert jobs.found("zebra sings midnight") == ["the cat sleeps all day"]
    run_again = asked(jobs, "reconcile")
    run(jobs, "jobs")
    assert jobs.call("admin", "GET", f"/v1/jobs/{run_again}").body["counts"]["gone"] == 2
    _is_gone(jobs, old, over)
    assert say(jobs, "the zebra sings at midnight", 40, importance=0.9) == "refused"


def _is_gone(jobs: Deployment, old: str, over: str) -> None:
    app = jobs.app
    assert [event.content for event in app.parts.timeline.records(ANNA, 10, None).events] == ["the cat sleeps all day"]
    told = app.parts.publisher.published("acme", "memory:episodic:pruned", None)
    assert {one for event in told for one in event.detail["ids"]} == {old, over}  # type: ignore[union-attr]
    store = app.parts.snapshots
    objects = [store.get("acme", name) for name in store.names("acme", "archive/")]
    lines = [json.loads(line) for one in objects if one for line in gzip.decompress(one[0]).splitlines()]
    assert [line["id"] for line in lines] == [old]
    assert app.parts.items.due("expiry", NOW, 10, None).items == ()


@pytest.mark.parametrize("kind", KINDS)
def test_the_role_of_jobs_allows_what_each_kind_asks_for(jobs: Deployment, kind: str) -> None:
    say(jobs, "the zebra sings at midnight", 4, importance=0.9)
    asked(jobs, "reconcile")
    run(jobs, "jobs")
    body = {"snapshot_id": "none"} if kind == "restore" else {"from": "events"} if kind == "reindex" else {}
    assert jobs.call("admin", "POST", f"/v1/jobs/{kind}", body).status == 202
    with noting(jobs) as needs:
        run(jobs, "jobs")
    assert refusals("jobs", needs, jobs.app.settings.index_prefix) == set()


def test_a_job_whose_runner_died_is_resumed_by_the_next_schedule(jobs: Deployment) -> None:
    class Died(BaseException):
        pass

    def die(*_: Any) -> Any:
        raise Died

    app, job_id = jobs.app, asked(jobs, "retain")
    app.__dict__["job_kinds"] = {"retain": lambda: type("Dying", (), {"step": die})()}
    with pytest.raises(Died):
        app.job_runs.run(lambda: datetime.now(UTC), lambda: 900.0)
    leased = app.parts.items.get(of_tenant("acme"), [job_key(job_id)])[job_key(job_id)]
    assert leased.due is not None
    assert leased.due.at > NOW
    del app.__dict__["job_kinds"], app.__dict__["job_runs"]
    assert run(jobs, "jobs")["done"] == 0
    later = leased.due.at + timedelta(seconds=1)
    assert app.job_runs.run(lambda: later, lambda: 900.0).done == 1


def test_a_tenants_job_touches_no_other_tenant(jobs: Deployment) -> None:
    say(jobs, "the zebra sings", 40)
    event = {"content": "the owl hoots", "expires_at": iso(NOW - timedelta(days=1))}
    jobs.call("ingest", "POST", "/v1/events", {"user_id": "anna", "events": [event]}, tenant="other")
    job_id = asked(jobs, "reconcile")
    run(jobs, "jobs")
    assert jobs.call("admin", "GET", f"/v1/jobs/{job_id}", tenant="other").status == 404
    assert jobs.call("admin", "GET", f"/v1/jobs/{job_id}").body["counts"]["projected"] == 1
    markers = jobs.app.parts.projections.pending(10, None).markers
    assert {marker.scope.tenant for marker in markers} == {"other"}


@on_the_domain
@pytest.mark.spec("A-34")
def test_a_lost_index_is_made_and_filled_again_by_itself(jobs: Deployment) -> None:
    say(jobs, "the cat sleeps all day", 2)
    assert jobs.pump.drain() > 0
    parts: Any = jobs.app.parts
    prefix = jobs.app.settings.index_prefix
    parts.index._client.indices.delete(index=f"{prefix}-*")
    with pytest.raises(NotReady):
        parts.index.identity()
    jobs.app.search_index.states.cache_seconds = 0.0
    with noting(jobs) as needs:
        assert run(jobs, "jobs")["done"] == 1
    assert refusals("jobs", needs, prefix) == set()
    shown_at_once(parts, prefix)
    assert jobs.found("cat sleeps") == ["the cat sleeps all day"]
    with noting(jobs) as needs:
        assert run(jobs, "jobs")["done"] == 0
    assert [need for need in needs if need.action.startswith("es:")] == [
        Need("es:ESHttpHead", f"domain/_alias/{parts.index._plan.alias}")
    ], "where nothing is missing it costs one request"
