"""`POST /v1/jobs/{kind}`, `GET /v1/jobs` and `…/{job_id}`: what an operator starts and watches. For administrators."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Field

from recollect.app import App
from recollect.core.errors import NotFound
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.deletion.storage import JOB_KIND as ERASE
from recollect.entrypoints.http.cursors import listing_of, page_reply, start_of
from recollect.entrypoints.http.headers import Answer, Attempt, countdown, idempotent
from recollect.entrypoints.http.messages import NO_HEADERS, Reply, Request
from recollect.entrypoints.http.models import (
    AnswerModel,
    Count,
    Counts,
    Identifier,
    Maybe,
    Nothing,
    OneOf,
    Paged,
    RequestModel,
    Share,
    Some,
    Time,
    YesOrNo,
    page_of,
)
from recollect.entrypoints.http.routing import Routes
from recollect.jobs.job import KINDS, Activity, Job, JobStatus
from recollect.jobs.run import JobOrder
from recollect.projection.quarantine import Noted

WAIT_SECONDS = 900.0
_POLL_SECONDS = 0.05
_MOST_FAILURES = 100
_PATH = "/v1/jobs"


class JobQuery(RequestModel):
    wait: YesOrNo = Field(
        "false",
        description="Answers when the job has ended, on a laptop; in the cloud a job is always answered at once.",
    )


class JobBody(Nothing):
    pass


class SnapshotBody(RequestModel):
    user_id: Maybe[Identifier] = Field(None, description="Only this user; absent: everybody.")


class RestoreBody(RequestModel):
    snapshot_id: Identifier = Field(description="Or `timeline`: what compaction kept of the timelines.")
    user_id: Maybe[Identifier] = Field(None, description="Only this user's; absent: everybody's.")


class ReindexBody(RequestModel):
    start: Annotated[str, OneOf("vectors", "events")] = Field(
        "vectors", alias="from", description="`events` drops everything derived and makes it again from the evidence."
    )


class ReconcileBody(RequestModel):
    replay: Maybe[bool] = Field(
        None,
        description="Tries again, as if for the first time, all events that failed by their own fault, quarantined "
        "ones too.",
    )


class JobError(AnswerModel):
    error: str
    count: Count


class FailureAnswer(AnswerModel):
    """An event that could not be projected: ids, counts, times and the class of the error, no text."""

    user_id: str
    event_id: str
    error: str
    tries: Count
    quarantined: bool
    first_at: Time
    last_at: Time
    next_at: Maybe[Time] = None

    @classmethod
    def of(cls, noted: Noted) -> Self:
        """What was noted of it."""
        return cls.made_of(noted.failed, user_id=noted.scope.user_id, event_id=noted.failed.ref.id)


class PortionAnswer(AnswerModel, title="Portion"):
    """How far the part of the work that is under way has come."""

    done: Count
    total: Count
    of: str = Field(description="Of what, in the plural: records, messages, users.")


class JobAnswer(AnswerModel, title="Job"):
    job_id: str
    kind: str
    status: Annotated[str, OneOf(*JobStatus)]
    activity: Maybe[Annotated[str, OneOf(*Activity)]] = Field(
        None,
        description="While it runs: `working`, `waiting` for its turn or for the next run, or `interrupted`, where "
        "nothing was heard for a minute of the process that was at it: it ended without a word, or is at one long "
        "piece of work. The next run goes on, and gives up after 8 times in a row.",
    )
    counts: Counts
    errors: list[JobError]
    asked_at: Time
    progress: Maybe[Share] = None
    portion: Maybe[PortionAnswer] = None
    erasure_id: Maybe[str] = Field(None, description="Of a job that erases a user.")
    finished_at: Maybe[Time] = None
    failures: Some[FailureAnswer] = None
    unchanged: Some[str] = Field(None, description="What is derived and a `reindex` leaves as it is.")

    @classmethod
    def of(cls, job: Job, failures: Sequence[Noted] = ()) -> Self:
        """Status, counts, and what failed, by the kind of error; no state. `failures` are events that fail now."""
        errors = [JobError(error=name, count=count) for name, count in sorted(job.errors.items())]
        noted = list(map(FailureAnswer.of, failures))
        return cls.made_of(
            job,
            job_id=job.id,
            activity=job.activity(utc_now()),
            errors=errors,
            progress=job.share,
            portion=PortionAnswer.made_of(job.portion) if job.portion else None,
            erasure_id=job.state["before"] if job.kind == ERASE else None,
            failures=noted,
            unchanged=unchanged_by(job),
        )


JobsPage = page_of("JobsPage", "jobs", JobAnswer)


def unchanged_by(job: Job) -> list[str]:
    """What a reindex that ended did not make again: summaries follow new messages, goals summaries."""
    return ["summaries", "goals"] if job.kind == "reindex" and job.finished else []


_BODIES: Mapping[str, type[RequestModel]] = {
    "reconcile": ReconcileBody,
    "snapshot": SnapshotBody,
    "restore": RestoreBody,
    "reindex": ReindexBody,
}
_SUMMARIES = {
    "summarize": "Makes every summary that is due",
    "retain": "Prunes what the tenant's retention rules, and times of expiry, let go",
    "reconcile": "Projects all that was accepted before, but for events that fail by their own fault",
    "snapshot": "Makes a snapshot of the tenant",
    "restore": "Restores a snapshot",
    "reindex": "Builds the search index anew beside the old one",
}
routes = Routes()


def body_of(kind: str) -> type[RequestModel]:
    """What a job of this kind is given."""
    return _BODIES.get(kind, JobBody)


def _starter(kind: str) -> Callable[[App, Request, JobQuery, RequestModel], Reply]:
    def start(app: App, request: Request, query: JobQuery, body: RequestModel) -> Reply:
        tenant = request.principal.tenant
        parameters = body.model_dump(by_alias=True, exclude_none=True)

        def work(attempt: Attempt) -> Answer:
            order = JobOrder(kind=kind, parameters=parameters, now=request.now, real_now=utc_now())
            return Answer(202, {"job_id": app.jobs.start(tenant, order, attempt.seed).id})

        answer = idempotent(app, request, work)
        job = app.jobs.read(tenant, answer.body["job_id"])
        if query.wait == "true" and request.call.request_id is None:
            job = _finished(app, tenant, job)
        return _reply(app, 200 if job.finished else 202, tenant, job, answer.headers)

    return start


for _kind in KINDS:
    routes.post(
        f"{_PATH}/{_kind}",
        operation=f"{_kind}Job",
        summary=_SUMMARIES[_kind],
        body=body_of(_kind),
        body_optional=True,
        answer=JobAnswer,
        good=(200, 202),
        errors=(409,),
        idempotent=True,
        admin=True,
    )(_starter(_kind))


@routes.post(f"{_PATH}/{{job_id}}", errors=(404,), admin=True, documented=False)
def unknown_job(_app: App, _request: Request) -> Reply:
    """Any other kind of job: there is none."""
    raise NotFound("no such kind of job")


@routes.get(_PATH, answer=JobsPage, admin=True)
def list_jobs(app: App, request: Request, query: Paged) -> Reply:
    """Jobs and erasures, the newest first; a job is listed for 90 days after its end."""
    tenant = request.principal.tenant
    listing = listing_of(app, "jobs", Scope(tenant, ""))
    page = app.jobs.page(tenant, query.limit, start_of(query, listing))
    return page_reply(JobsPage, list(map(JobAnswer.of, page.jobs)), page.more, listing)


@routes.get(f"{_PATH}/{{job_id}}", answer=JobAnswer, errors=(404,), admin=True)
def get_job(app: App, request: Request) -> Reply:
    """How a job stands."""
    tenant = request.principal.tenant
    return _reply(app, 200, tenant, app.jobs.read(tenant, request.path["job_id"]))


def _finished(app: App, tenant: str, job: Job) -> Job:
    """Runs it here and now, or waits for whoever does; as it stands where that takes too long."""
    left = countdown(WAIT_SECONDS)
    while not job.finished and left() > 0:
        job = app.job_runs.one(tenant, job.id, utc_now, left)
        if not job.finished:
            time.sleep(_POLL_SECONDS)
    return job


def _reply(app: App, status: int, tenant: str, job: Job, headers: Mapping[str, str] = NO_HEADERS) -> Reply:
    """With a reconcile that has ended, the tenant's events that fail as of now, at most 100."""
    failures = (
        app.projection.failed_events.listed(tenant, _MOST_FAILURES) if job.finished and job.kind == "reconcile" else []
    )
    log = {"job_id": job.id, "kind": job.kind, "status": job.status.value}
    return Reply(status, JobAnswer.of(job, failures), headers, log=log)


def failure_json(noted: Noted) -> dict[str, Any]:
    """An event that could not be projected."""
    return FailureAnswer.of(noted).document()


def job_json(job: Job, failures: Sequence[Noted] = ()) -> dict[str, Any]:
    """A job as it stands."""
    return JobAnswer.of(job, failures).document()
