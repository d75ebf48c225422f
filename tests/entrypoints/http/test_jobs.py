"""`/v1/jobs`: for administrators, each tenant for itself, answered at once or, on a laptop, when the job has ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from openapi_schema_validator import OAS31Validator

from entrypoints.http.calling import Answered, Caller, Cloud, Laptop
from entrypoints.http.promised import document
from recollect.app import App
from recollect.jobs.job import KINDS

THEN, LATER = "2024-05-01T12:00:00Z", "2024-09-01T12:00:00Z"


def of(app: App, tenant: str, *, admin: bool = True) -> Caller:
    """A caller of that tenant, in the cloud."""
    return Caller(Cloud(app, {"tenant": tenant, "scope": "recollect/admin" if admin else "openid"}))


def start(caller: Caller, kind: str, body: Any = None, query: str = "", **headers: str) -> Answered:
    """Asks for a job."""
    return caller.post(f"/v1/jobs/{kind}{query}", b"" if body is None else body, **headers)


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_is_answered_at_once_and_shown_to_its_tenant(caller: Caller, kind: str) -> None:
    body = {"snapshot_id": "s1"} if kind == "restore" else None
    answer = start(caller, kind, body, x_recollect_now=THEN)
    assert answer.status == 202, answer.text
    job_id = answer.json["job_id"]
    shown = caller.get(f"/v1/jobs/{job_id}")
    assert (shown.status, shown.json) == (200, answer.json)
    expected = {"job_id": job_id, "kind": kind, "status": "running", "activity": "waiting", "counts": {}, "errors": []}
    assert shown.json == {**expected, "asked_at": "2024-05-01T12:00:00.000000Z"}
    schemas = document()["components"]["schemas"]
    OAS31Validator({**schemas["Job"], "components": {"schemas": schemas}}).validate(shown.json)


def test_in_the_cloud_nobody_waits(cloud: Cloud) -> None:
    assert start(Caller(cloud), "retain", {}, "?wait=true").status == 202


@pytest.mark.spec("A-57", "A-62")
def test_on_a_laptop_one_may_wait_for_the_end(laptop: Laptop) -> None:
    caller = Caller(laptop)
    caller.put("/v1/rules", b'{"retention": [{"older_than_days": 90}]}')
    (old,) = caller.added("the zebra sings", timestamp="2024-05-01T12:00:00Z")
    (new,) = caller.added("the cat sleeps", timestamp="2024-08-31T12:00:00Z")
    assert start(caller, "reconcile", query="?wait=true").json["counts"]["projected"] == 2
    answer = start(caller, "retain", query="?wait=true", x_recollect_now=LATER)
    assert (answer.status, answer.json["status"], answer.json["errors"]) == (200, "done", [])
    assert answer.json["counts"] == {"users": 1, "expired": 0, "pruned": 1, "archived": 0}
    assert caller.get(f"/v1/users/anna/events/{old}").status == 404
    assert caller.get(f"/v1/users/anna/events/{new}").status == 200
    (told,) = caller.get("/v1/bus", {"type": "memory:episodic:pruned"}).json["events"]
    assert told["detail"]["ids"] == [old]
    again = caller.add({"content": "the zebra sings", "timestamp": "2024-05-01T12:00:00Z"})
    assert again.json["results"][0]["status"] == "refused"


def test_reconcile_is_done_when_what_was_accepted_before_is_projected(laptop: Laptop, app: App) -> None:
    caller = Caller(laptop)
    caller.added("the zebra sings")
    assert len(app.parts.projections.pending(10, None).markers) == 1
    answer = start(caller, "reconcile", query="?wait=true")
    assert (answer.status, answer.json["status"], answer.json["progress"]) == (200, "done", 1.0)
    assert app.parts.projections.pending(10, None).markers == ()


def test_jobs_are_listed_page_by_page_to_their_tenants_administrators(app: App) -> None:
    mine, theirs = of(app, "acme"), of(app, "other")
    ids = [start(mine, "retain").json["job_id"] for _ in range(3)]
    other = start(theirs, "snapshot").json["job_id"]
    first = mine.get("/v1/jobs", {"limit": "2"}).json
    assert [job["job_id"] for job in first["jobs"]] == [ids[2], ids[1]]
    rest = mine.get("/v1/jobs", {"cursor": first["next_cursor"]}).json
    assert ([job["job_id"] for job in rest["jobs"]], "next_cursor" in rest) == ([ids[0]], False)
    assert [job["job_id"] for job in theirs.get("/v1/jobs").json["jobs"]] == [other]
    assert theirs.get("/v1/jobs", {"cursor": first["next_cursor"]}).status == 422
    assert of(app, "acme", admin=False).get("/v1/jobs").status == 403


def test_an_erasure_is_listed_by_its_id_without_the_user(caller: Caller) -> None:
    caller.added("I sail")
    erasure = caller.delete("/v1/users/anna").json["erasure_id"]
    shown = caller.get("/v1/jobs")
    (job,) = [one for one in shown.json["jobs"] if one["kind"] == "erase" and one["job_id"] == erasure]
    assert job["erasure_id"] == erasure
    assert "anna" not in shown.text


@contextmanager
def refusing(app: App) -> Iterator[None]:
    """For a while nothing can be encoded."""

    class Refusing:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def encode(self, *_: Any, **__: Any) -> Any:
            raise ValueError("the zebra sings")

    real, attempt = app.parts.embedder, app.projection.events
    attempt._embedder = cast(Any, Refusing())
    try:
        yield
    finally:
        attempt._embedder = real


def test_what_fails_is_listed_without_its_text_and_replayed(laptop: Laptop, app: App) -> None:
    caller = Caller(laptop)
    (event_id,) = caller.added("the zebra sings")
    with refusing(app):
        answer = start(caller, "reconcile", query="?wait=true")
    assert (answer.status, answer.json["status"]) == (200, "done")
    assert (answer.json["counts"]["failed"], answer.json["counts"]["quarantined"]) == (1, 0)
    (failure,) = answer.json["failures"]
    assert (failure["event_id"], failure["user_id"], failure["error"]) == (event_id, "anna", "ValueError")
    assert (failure["tries"], failure["quarantined"]) == (1, False)
    assert "zebra" not in answer.text
    schemas = document()["components"]["schemas"]
    OAS31Validator({**schemas["Job"], "components": {"schemas": schemas}}).validate(answer.json)
    again = start(caller, "reconcile", {"replay": True}, query="?wait=true").json
    assert (again["counts"]["replayed"], again["counts"]["projected"], again["counts"]["failed"]) == (1, 1, 0)
    assert "failures" not in again
    assert caller.get("/v1/ready").json["parts"]["projection"]["detail"] == "no event has failed"


def test_what_fails_is_its_tenants_alone(app: App) -> None:
    of(app, "acme").added("the zebra sings")
    with refusing(app):
        app.projection.reconciliation.run(datetime.now(UTC))
    job_id = start(of(app, "other"), "reconcile", {"replay": True}).json["job_id"]
    app.job_runs.run(lambda: datetime.now(UTC), lambda: 900.0)
    shown = of(app, "other").get(f"/v1/jobs/{job_id}").json
    assert (shown["counts"]["replayed"], "failures" in shown) == (0, False)
    assert app.projection.failed_events.standing("acme").retried == 1


def test_a_tenants_reconcile_leaves_others_alone(app: App) -> None:
    of(app, "acme").added("the zebra sings")
    of(app, "other").added("the owl hoots")
    job_id = start(of(app, "acme"), "reconcile").json["job_id"]

    app.job_runs.run(lambda: datetime.now(UTC), lambda: 900.0)
    assert of(app, "acme").get(f"/v1/jobs/{job_id}").json["counts"]["projected"] == 1
    assert [marker.scope.tenant for marker in app.parts.projections.pending(10, None).markers] == ["other"]


def test_others_see_nothing_of_it(app: App) -> None:
    job_id = start(of(app, "acme"), "retain").json["job_id"]
    assert of(app, "acme").get(f"/v1/jobs/{job_id}").status == 200
    assert of(app, "other").get(f"/v1/jobs/{job_id}").status == 404
    assert of(app, "acme", admin=False).get(f"/v1/jobs/{job_id}").status == 403
    assert start(of(app, "acme", admin=False), "retain").status == 403


def test_what_is_no_job(caller: Caller) -> None:
    assert start(caller, "dance").status == 404
    assert start(caller, "dance", {}).status == 404
    assert caller.get("/v1/jobs/018f0000-0000-7000-8000-000000000000").status == 404
    assert caller.get("/v1/jobs/~").status == 422


@pytest.mark.parametrize(
    ("kind", "body", "query", "loc"),
    [
        ("restore", None, "", ("body", "snapshot_id")),
        ("restore", {"snapshot_id": ""}, "", ("body", "snapshot_id")),
        ("restore", {"snapshot_id": "s", "tenant": "other"}, "", ("body", "tenant")),
        ("reindex", {"from": "nothing"}, "", ("body", "from")),
        ("retain", {"older_than_days": 1}, "", ("body", "older_than_days")),
        ("retain", {"replay": True}, "", ("body", "replay")),
        ("reconcile", {"replay": "yes"}, "", ("body", "replay")),
        ("retain", {}, "?wait=yes", ("query", "wait")),
    ],
)
def test_what_a_kind_does_not_take(caller: Caller, kind: str, body: Any, query: str, loc: tuple[str, ...]) -> None:
    answer = start(caller, kind, body, query)
    assert (answer.status, answer.locs) == (422, {loc})


def test_a_body_that_is_no_json(caller: Caller) -> None:
    assert start(caller, "retain", b"{").status == 400


def test_the_same_key_is_the_same_job(caller: Caller) -> None:
    first = caller.twice("/v1/jobs/retain", {})
    assert start(caller, "retain", {}, idempotency_key="twice").json["job_id"] != first.json["job_id"]
    assert start(caller, "reconcile", {}, idempotency_key="once").json["job_id"] != first.json["job_id"]


def test_summaries_that_are_due_are_made_on_demand(laptop: Laptop) -> None:
    caller = Caller(laptop)
    for _ in range(6):
        caller.added(*(f"Anna says {n} things about her garden." for n in range(10)))
    assert start(caller, "reconcile", query="?wait=true").json["status"] == "done"
    answer = start(caller, "summarize", query="?wait=true")
    assert (answer.status, answer.json["status"], answer.json["counts"]["made"]) == (200, "done", 1)
    assert caller.get("/v1/users/anna/summaries").json["summaries"]
