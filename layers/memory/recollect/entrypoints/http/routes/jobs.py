"""`POST /v1/jobs/{kind}` and `GET /v1/jobs/{job_id}`: what an operator starts and watches. For administrators."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime

from recollect.app import App
from recollect.core.errors import NotFound
from recollect.core.ids import IdSeed
from recollect.entrypoints.http.fields import Shape, choice, flag, identifier
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.job_json import job_json
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.routing import COMMON_STATUSES, READ_STATUSES, Handle, Route
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.jobs.job import KINDS, Job
from recollect.jobs.run import JobOrder

WAIT_SECONDS = 900.0
_POLL_SECONDS = 0.05
_MOST_FAILURES = 100
_PATH = "/v1/jobs"

JOB_QUERY = Shape(
    "JobQuery",
    {
        "wait": choice("true", "false", default="false").described(
            "Answers when the job has ended, on a laptop; in the cloud a job is always answered at once."
        )
    },
)
NO_PARAMETERS = Shape("JobBody", {})
SNAPSHOT_BODY = Shape("SnapshotBody", {"user_id": identifier().described("Only this user; absent: everybody.")})
RESTORE_BODY = Shape(
    "RestoreBody",
    {
        "snapshot_id": identifier().needed().described("Or `timeline`: what compaction kept of the timelines."),
        "user_id": identifier().described("Only this user's; absent: everybody's."),
    },
)
REINDEX_BODY = Shape(
    "ReindexBody",
    {
        "from": choice("vectors", "events", default="vectors").described(
            "`events` drops everything derived and makes it again from the evidence."
        )
    },
)
RECONCILE_BODY = Shape(
    "ReconcileBody",
    {
        "replay": flag().described(
            "Tries again, as if for the first time, all events that failed by their own fault, quarantined ones too."
        )
    },
)
_BODIES: Mapping[str, Shape] = {
    "reconcile": RECONCILE_BODY,
    "snapshot": SNAPSHOT_BODY,
    "restore": RESTORE_BODY,
    "reindex": REINDEX_BODY,
}
_SUMMARIES = {
    "summarize": "Makes every summary that is due",
    "retain": "Prunes what the tenant's retention rules, and times of expiry, let go",
    "reconcile": "Projects all that was accepted before, but for events that fail by their own fault",
    "snapshot": "Makes a snapshot of the tenant",
    "restore": "Restores a snapshot",
    "reindex": "Builds the search index anew beside the old one",
}


def body_of(kind: str) -> Shape:
    """What a job of this kind is given."""
    return _BODIES.get(kind, NO_PARAMETERS)


def _start(kind: str) -> Handle:
    def start(app: App, request: Request) -> Reply:
        tenant = request.principal.tenant

        def work(seed: IdSeed) -> Answer:
            order = JobOrder(kind=kind, parameters=request.values, now=request.now, real_now=_real_now())
            return Answer(202, {"job_id": app.jobs.start(tenant, order, seed).id})

        seed = app.ids.seed(int(time.time() * 1000))
        claim = claim_of(request, f"POST {_PATH}/{kind}", seed)
        answer = run_once(app.parts.idempotency, claim, work) if claim else work(seed)
        job = app.jobs.read(tenant, answer.body["job_id"])
        if request.query["wait"] == "true" and request.call.request_id is None:
            job = _finished(app, tenant, job)
        return _reply(app, 200 if job.finished else 202, tenant, job, REPLAYED if answer.replayed else {})

    return start


def unknown_kind(_app: App, _request: Request) -> Reply:
    """Raises NotFound: the kinds that there are have routes of their own."""
    raise NotFound("no such kind of job")


def get_job(app: App, request: Request) -> Reply:
    """A job of the caller's tenant, as it stands."""
    tenant = request.principal.tenant
    return _reply(app, 200, tenant, app.jobs.read(tenant, request.path["job_id"]))


def _finished(app: App, tenant: str, job: Job) -> Job:
    """Runs it here and now, or waits for whoever does; as it stands where that takes too long."""
    over = time.monotonic() + WAIT_SECONDS
    while not job.finished and time.monotonic() < over:
        job = app.run_jobs.one(tenant, job.id, _real_now, lambda: over - time.monotonic())
        if not job.finished:
            time.sleep(_POLL_SECONDS)
    return job


def _reply(app: App, status: int, tenant: str, job: Job, headers: Mapping[str, str] | None = None) -> Reply:
    """With a reconcile that has ended, the tenant's events that fail as of now, at most 100."""
    failures = (
        app.projection.failed_events.listed(tenant, _MOST_FAILURES) if job.finished and job.kind == "reconcile" else []
    )
    log = {"job_id": job.id, "kind": job.kind, "status": job.status.value}
    return Reply(status, {"job_id": job.id, **job_json(job, failures)}, headers or {}, log=log)


def _real_now() -> datetime:
    return datetime.now(UTC)


ROUTES = (
    *(
        Route(
            method="POST",
            path=f"{_PATH}/{kind}",
            operation=f"{kind}Job",
            summary=_SUMMARIES[kind],
            handle=_start(kind),
            query=JOB_QUERY,
            body=body_of(kind),
            body_optional=True,
            answer="Job",
            statuses=(200, 202, 409, *COMMON_STATUSES),
            idempotent=True,
            admin=True,
        )
        for kind in KINDS
    ),
    Route(
        method="POST",
        path=f"{_PATH}/{{job_id}}",
        operation="unknownJob",
        summary="Any other kind of job: there is none",
        handle=unknown_kind,
        answer="Problem",
        statuses=(404, *READ_STATUSES),
        admin=True,
        documented=False,
    ),
    Route(
        method="GET",
        path=f"{_PATH}/{{job_id}}",
        operation="getJob",
        summary="How a job stands",
        handle=get_job,
        answer="Job",
        statuses=(200, 404, *READ_STATUSES),
        admin=True,
    ),
)
