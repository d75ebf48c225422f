"""Operations: what waits, whether every part answers, and long work with its progress. For administrators."""

from typing import Any

from recollect.core.errors import Forbidden
from recollect.core.time import utc_now
from recollect.entrypoints.console.api import Refusal
from recollect.entrypoints.console.spending import prices, spans_of
from recollect.entrypoints.console.visit import Views, Visit
from recollect.entrypoints.http.messages import Reply

views = Views()
_NEWEST = 20
REACHES = {
    "reconcile": "Projects what was accepted and is not searchable yet. Nothing is lost by it.",
    "summarize": "Makes every summary that is due, of every user.",
    "retain": "Deletes what the tenant's retention rules, and times of expiry, let go. This cannot be undone.",
    "snapshot": "Writes a snapshot of the tenant, from which it can be restored.",
    "reindex": "Builds the search index anew beside the old one; searches go on meanwhile.",
}
"""The jobs that need nothing but a click; a restore names a snapshot, and is a command's matter."""


@views.get("operations")
def operations(visit: Visit) -> Reply:
    """Backlog, parts, and the newest jobs, erasures among them."""
    _check_admin(visit)
    spans = spans_of(visit.api.get("/v1/usage"), utc_now().date())
    shown = {"readiness": _readiness(visit), "kinds": REACHES, "spans": spans, "prices": prices()}
    return visit.page("operations.html", jobs=_jobs(visit)["jobs"], **shown)


def _check_admin(visit: Visit) -> None:
    """As the routes of jobs do. Raises Forbidden."""
    if not visit.principal.admin:
        raise Forbidden("this needs an administrator")


def _readiness(visit: Visit) -> Any:
    """Not ready is an answer too."""
    try:
        return visit.api.get("/v1/ready")
    except Refusal as refused:
        if "parts" not in refused.problem:
            raise
        return refused.problem


def _jobs(visit: Visit) -> Any:
    return visit.api.get("/v1/jobs", limit=visit.most(_NEWEST), cursor=visit.query.get("cursor"))


@views.get("jobs")
def jobs(visit: Visit) -> Reply:
    """Jobs and erasures, the newest first; the page, and that of operations, asks again while one of them runs."""
    found = _jobs(visit)
    return visit.page("jobs.html", jobs=found["jobs"], more=found.get("next_cursor"))


@views.get("operations", "{kind}")
def ask_to_start(visit: Visit) -> Reply:
    """What a job would reach."""
    _check_admin(visit)
    kind = _kind(visit)
    return visit.page("start_job.html", kind=kind, reaches=REACHES[kind])


def _kind(visit: Visit) -> str:
    """The kind of job that is asked for. Raises Refusal for one that no click starts."""
    if visit.ids["kind"] not in REACHES:
        raise Refusal(404, {"title": "There is no such job", "detail": "There is no such kind of job."})
    return visit.ids["kind"]


@views.post("operations", "{kind}", of=ask_to_start)
def start(visit: Visit) -> Reply:
    """Starts it."""
    kind = _kind(visit)
    job = visit.api.post(f"/v1/jobs/{kind}", {}, once=visit.form.get("once", ""))
    return visit.go("jobs", job["job_id"])


@views.get("jobs", "{job_id}")
def job(visit: Visit) -> Reply:
    """How a job stands; the page asks again while it runs."""
    return visit.page("job.html", job=visit.api.get(f"/v1/jobs/{visit.ids['job_id']}"))
