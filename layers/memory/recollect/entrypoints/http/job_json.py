"""A job as HTTP and the command line show it."""

from typing import Any

from recollect.domain.instants import iso
from recollect.domain.job import Job


def job_json(job: Job) -> dict[str, Any]:
    """Status, counts, and what failed, by the kind of error; no state."""
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
    return shown
