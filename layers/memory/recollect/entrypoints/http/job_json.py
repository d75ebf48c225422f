"""A job as HTTP and the command line show it."""

from collections.abc import Sequence
from typing import Any

from recollect.core.time import iso
from recollect.jobs.job import Job
from recollect.timeline.quarantine import Noted


def failure_json(noted: Noted) -> dict[str, Any]:
    """An event that could not be projected: ids, counts, times and the class of the error, no text."""
    failed = noted.failed
    shown: dict[str, Any] = {
        "user_id": noted.scope.user_id,
        "event_id": failed.ref.id,
        "error": failed.error,
        "tries": failed.tries,
        "quarantined": failed.quarantined,
        "first_at": iso(failed.first_at),
        "last_at": iso(failed.last_at),
    }
    return shown if failed.next_at is None else {**shown, "next_at": iso(failed.next_at)}


def job_json(job: Job, failures: Sequence[Noted] = ()) -> dict[str, Any]:
    """Status, counts, and what failed, by the kind of error; no state. `failures` are events that fail now."""
    shown: dict[str, Any] = {
        "kind": job.kind,
        "status": job.status.value,
        "counts": dict(job.counts),
        "errors": [{"error": name, "count": count} for name, count in sorted(job.errors.items())],
        "asked_at": iso(job.asked_at),
    }
    if job.share is not None:
        shown["progress"] = job.share
    if job.finished_at is not None:
        shown["finished_at"] = iso(job.finished_at)
    if failures:
        shown["failures"] = list(map(failure_json, failures))
    return shown
