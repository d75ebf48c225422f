"""A job: long work of an operator, done in steps that survive a time-out and a crash (api.md, *Operations*).

| collection  | owner  | key    | item                                                                 |
|-------------|--------|--------|----------------------------------------------------------------------|
| `jobs`      | tenant | job id | the job; in the queue `jobs` when somebody must look, until it ended |
| `job_turns` | tenant | kind   | `{job_id}`: whose turn it is; jobs of one kind run one after another |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from recollect.core.errors import StoredDataError
from recollect.core.items import Due, Item, ItemKey, ItemPath, ItemWrite
from recollect.core.time import from_iso, iso

FORMAT_VERSION = 1
QUEUE = "jobs"
JOBS = ItemPath("jobs")
JOB_ID = "job_id"
"""The first state of a job is its parameters, with its own id under this name."""

KINDS = ("summarize", "retain", "reconcile", "snapshot", "restore", "reindex")
LEASE = timedelta(seconds=60)
MOST_TRIES = 8
_FIRST_PAUSE = timedelta(seconds=2)
_LONGEST_PAUSE = timedelta(minutes=5)

RemainingSeconds: TypeAlias = Callable[[], float]


class JobStatus(StrEnum):
    """Running from the asking on, until it is over."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """What a step did.

    `state` is what the next step begins with: JSON, at most some 100 KB, without a text of a memory. `counts` and
    `errors` are those of this step and are added to the job's. `share` is how much of the whole is done, in [0, 1],
    where that is known; `pause` is how long the next step has to wait. `given_up` ends the job as failed.
    """

    state: Mapping[str, Any]
    counts: Mapping[str, int] = field(default_factory=dict)
    done: bool = False
    errors: Mapping[str, int] = field(default_factory=dict)
    share: float | None = None
    pause: timedelta | None = None
    given_up: bool = False


class JobKind(Protocol):
    """One kind of work. A step may be done twice, where the first try ended before it was noted."""

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """Goes on from the state, and returns while `deadline` still has seconds left (30 at most).

        `now` is the asker's clock. Unavailable, VersionMismatch, Conflict and UpstreamFailed, raised by it, are tried
        again after a pause, with the same state, at most 8 times in a row; any other error ends the job as failed.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as it stands. `asked_at` is by the asker's clock, `started_at` and the rest by the real one.

    `leased_until` bars others while somebody works; `retry_at` is when to go on after a failure or a pause, `tries`
    the failures in a row. `version` is that of its item, 0 for none yet.
    """

    id: str
    kind: str
    asked_at: datetime
    started_at: datetime
    status: JobStatus = JobStatus.RUNNING
    state: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)
    share: float | None = None
    leased_until: datetime | None = None
    retry_at: datetime | None = None
    tries: int = 0
    finished_at: datetime | None = None
    version: int = 0

    @property
    def finished(self) -> bool:
        """Whether nobody has to look at it any more."""
        return self.status is not JobStatus.RUNNING

    def clock(self, real_now: datetime) -> datetime:
        """The asker's time: the real one, moved as the request's clock was."""
        return real_now + (self.asked_at - self.started_at)

    def free(self, now: datetime) -> bool:
        """Whether somebody may take it: no lease (one of a clock that ran far ahead bars nobody) and no pause."""
        leased = self.leased_until is not None and now < self.leased_until <= now + 2 * LEASE
        return not self.finished and not leased and (self.retry_at is None or self.retry_at <= now)

    def taken(self, now: datetime) -> Job:
        """With a lease from now on."""
        return replace(self, leased_until=now + LEASE, retry_at=None)

    def let_go(self) -> Job:
        """Without: whoever comes next goes on at once, or after the pause."""
        return replace(self, leased_until=None)

    def stepped(self, progress: JobProgress, now: datetime) -> Job:
        """After a step that went well."""
        job = replace(
            self,
            state=progress.state,
            counts=_sum(self.counts, progress.counts),
            errors=_sum(self.errors, progress.errors),
            share=progress.share,
            tries=0,
        )
        if progress.done or progress.given_up:
            return job._ended(JobStatus.FAILED if progress.given_up else JobStatus.DONE, now)
        return replace(job.let_go(), retry_at=now + progress.pause) if progress.pause else job.taken(now)

    def stumbled(self, error: str, passing: bool, now: datetime) -> Job:
        """After a step that raised this kind of error: put off, or given up where it will not pass."""
        job = replace(self, errors=_sum(self.errors, {error: 1}), tries=self.tries + 1)
        if not passing or job.tries >= MOST_TRIES:
            return job._ended(JobStatus.FAILED, now)
        return replace(job.let_go(), retry_at=now + min(_FIRST_PAUSE * 2**self.tries, _LONGEST_PAUSE))

    def _ended(self, status: JobStatus, now: datetime) -> Job:
        return replace(self.let_go(), status=status, finished_at=now, retry_at=None)


def job_key(job_id: str) -> ItemKey:
    """Where a job is."""
    return ItemKey(JOBS, job_id)


def turn_key(kind: str) -> ItemKey:
    """Where it is told whose turn it is."""
    return ItemKey(ItemPath("job_turns"), kind)


def job_write(job: Job) -> ItemWrite:
    """The job as it is to be stored, on the condition that its item is as it was read."""
    at = job.retry_at or job.leased_until or job.started_at
    return ItemWrite(job_key(job.id), job_document(job), job.version, None if job.finished else Due(QUEUE, at))


def job_document(job: Job) -> dict[str, Any]:
    """The stored form; what is absent is left out."""
    document = {
        "format": FORMAT_VERSION,
        "kind": job.kind,
        "status": job.status.value,
        "asked_at": iso(job.asked_at),
        "started_at": iso(job.started_at),
        "state": dict(job.state),
        "counts": dict(job.counts),
        "errors": dict(job.errors),
        "share": job.share,
        "leased_until": _text(job.leased_until),
        "retry_at": _text(job.retry_at),
        "tries": job.tries,
        "finished_at": _text(job.finished_at),
    }
    return {name: value for name, value in document.items() if value is not None}


def job_in(item: Item) -> Job:
    """Reads what `job_document` wrote. Raises StoredDataError."""
    value = item.value
    try:
        if value["format"] > FORMAT_VERSION:
            raise StoredDataError("a job of a newer format")
        return Job(
            id=item.key.key,
            kind=value["kind"],
            status=JobStatus(value["status"]),
            asked_at=from_iso(value["asked_at"]),
            started_at=from_iso(value["started_at"]),
            state=value["state"],
            counts=value["counts"],
            errors=value["errors"],
            share=value.get("share"),
            leased_until=_moment(value.get("leased_until")),
            retry_at=_moment(value.get("retry_at")),
            tries=value["tries"],
            finished_at=_moment(value.get("finished_at")),
            version=item.version,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"a job's record cannot be read: {type(error).__name__}") from error


def _sum(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    total = Counter(first)
    for name, count in second.items():
        total[name] += count
    return dict(total)


def _text(moment: datetime | None) -> str | None:
    return iso(moment) if moment else None


def _moment(text: str | None) -> datetime | None:
    return from_iso(text) if text else None
