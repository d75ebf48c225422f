"""A job: its states, its stored form, and the protocol of one kind of work (`docs/operations.md`, *Jobs*).

| collection  | owner  | key    | item                                                                 |
|-------------|--------|--------|----------------------------------------------------------------------|
| `jobs`      | tenant | job id | the job; in the queue `jobs` until it ends                           |
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
from recollect.core.items import Due, Item, ItemKey, ItemPath, ItemWrite, document_of, reading
from recollect.core.time import from_iso

FORMAT_VERSION = 1
QUEUE = "jobs"
JOBS = ItemPath("jobs")
JOB_ID = "job_id"
"""A job's first state is its parameters, with its own id under this name."""

KEPT = timedelta(days=90)
"""How long a job is listed after its end; an erasure for good, as its proof."""

KINDS = ("summarize", "retain", "reconcile", "snapshot", "restore", "reindex")
LEASE = timedelta(seconds=60)
MOST_TRIES = 8
TOLD_SECONDS = 3.0
"""A step ends after so long, so that its progress is stored, and seen."""

_FIRST_PAUSE = timedelta(seconds=2)
_QUICK_SECONDS, _SLOW_SECONDS = 2.0, 5.0
_FIRST_SIZE = 20
_INTERRUPTED = "Interrupted"

RemainingSeconds: TypeAlias = Callable[[], float]


class JobStatus(StrEnum):
    """Running from the request on, until the job ends."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Activity(StrEnum):
    """What becomes of a running job now: `interrupted` where nothing is heard any more of whoever was at it."""

    WAITING = "waiting"
    WORKING = "working"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Portion:
    """So many of so many `of` something (a noun in the plural).

    A total is counted at the start, up to a bound: where more is found, that is the total.
    """

    done: int
    total: int
    of: str

    @property
    def share(self) -> float:
        """In [0, 1]."""
        return min(1.0, self.done / self.total) if self.total else 0.0


def portion_of(done: int, total: int | None, of: str) -> Portion | None:
    """None where no total is known."""
    return Portion(done, max(done, total), of) if total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """What a step did.

    `state` is the start of the next step: JSON, at most some 100 KB, without text of a memory. `counts` and `errors` of
    this step are added to the job's. `portion` is how far the part of the work that is under way has come, `share` how
    much of the whole is done, in [0, 1], by default that of the portion; None where it is not known. `pause` is how
    long the next step must wait. `given_up` ends the job as failed.
    """

    state: Mapping[str, Any]
    counts: Mapping[str, int] = field(default_factory=dict)
    done: bool = False
    errors: Mapping[str, int] = field(default_factory=dict)
    share: float | None = None
    portion: Portion | None = None
    pause: timedelta | None = None
    given_up: bool = False

    @property
    def is_only_a_pause(self) -> bool:
        """Whether it waits, and says nothing new of how far it is."""
        return self.pause is not None and self.share is None and self.portion is None


class JobKind(Protocol):
    """One kind of work. Steps are idempotent: a step runs again where its process ended before storing the progress."""

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """Continues from the state, and returns while `deadline` still has seconds left (30 at most).

        `now` is the requester's clock. What is raised is `RunJobs`' to judge: it repeats the step with the same state
        after a pause, at most 8 times in a row, or ends the job as failed.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job. `asked_at` is by the requester's clock, `started_at` and the other instants by the real one.

    `share` and `portion` are those of the last step that told them (`JobProgress`): what pauses keeps them. Of one that
    is done `counts` say how much it was.

    `leased_until` excludes others while one process works; `retry_at` is when to continue after a failure or a pause,
    `tries` the failures in a row. `version` is that of its item, 0 before it is stored.
    """

    id: str
    kind: str
    status: JobStatus = JobStatus.RUNNING
    asked_at: datetime
    started_at: datetime
    state: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)
    share: float | None = None
    portion: Portion | None = None
    leased_until: datetime | None = None
    retry_at: datetime | None = None
    tries: int = 0
    finished_at: datetime | None = None
    version: int = 0

    @property
    def finished(self) -> bool:
        return self.status is not JobStatus.RUNNING

    def clock(self, real_now: datetime) -> datetime:
        """The requester's time: the real one, shifted as the request's clock was."""
        return real_now + (self.asked_at - self.started_at)

    def activity(self, now: datetime) -> Activity | None:
        """None once it has ended."""
        if self.finished:
            return None
        if self.leased_until is None:
            return Activity.WAITING
        return Activity.INTERRUPTED if self.free(now) else Activity.WORKING

    def free(self, now: datetime) -> bool:
        """Whether a process may take it: no lease and no pause. A lease of a clock far ahead does not count."""
        leased = self.leased_until is not None and now < self.leased_until <= now + 2 * LEASE
        return not self.finished and not leased and (self.retry_at is None or self.retry_at <= now)

    def taken(self, now: datetime) -> Job:
        return replace(self, leased_until=now + LEASE, retry_at=None)

    def interrupted(self, now: datetime) -> Job:
        """Found with a lapsed lease: that counts as a failure, so that a step which kills its process ends at last."""
        if self.tries + 1 < MOST_TRIES:
            return replace(self, tries=self.tries + 1)
        return replace(self, errors=_sum(self.errors, {_INTERRUPTED: 1}))._ended(JobStatus.FAILED, now)

    def released(self) -> Job:
        """Without a lease: any process may continue at once, or after the pause."""
        return replace(self, leased_until=None)

    def stepped(self, progress: JobProgress, now: datetime) -> Job:
        job = replace(
            self,
            state=progress.state,
            counts=_sum(self.counts, progress.counts),
            errors=_sum(self.errors, progress.errors),
            share=self.share if progress.is_only_a_pause else _share(progress),
            portion=self.portion if progress.is_only_a_pause else None if progress.done else progress.portion,
            tries=0,
        )
        if progress.done or progress.given_up:
            return job._ended(JobStatus.FAILED if progress.given_up else JobStatus.DONE, now)
        return replace(job.released(), retry_at=now + progress.pause) if progress.pause else job.taken(now)

    def failed(self, error: str, transient: bool, now: datetime) -> Job:
        """After a step that raised this kind of error: to be retried where it is transient, else ended."""
        job = replace(self, errors=_sum(self.errors, {error: 1}), tries=self.tries + 1)
        if not transient or job.tries >= MOST_TRIES:
            return job._ended(JobStatus.FAILED, now)
        return replace(job.released(), retry_at=now + _FIRST_PAUSE * 2**self.tries)

    def _ended(self, status: JobStatus, now: datetime) -> Job:
        return replace(self.released(), status=status, finished_at=now, retry_at=None)


def job_key(job_id: str) -> ItemKey:
    return ItemKey(JOBS, job_id)


def turn_key(kind: str) -> ItemKey:
    return ItemKey(ItemPath("job_turns"), kind)


def job_write(job: Job) -> ItemWrite:
    """The write of the job, on condition that its item has not changed since it was read."""
    at = job.retry_at or job.leased_until or job.started_at
    return ItemWrite(job_key(job.id), job_document(job), job.version, None if job.finished else Due(QUEUE, at))


def job_document(job: Job) -> dict[str, Any]:
    """The stored form; absent values are left out."""
    portion = {} if job.portion is None else {"portion": document_of(job.portion)}
    return {"format": FORMAT_VERSION, **document_of(job, without=("id", "version", "portion")), **portion}


@reading("a job's record")
def job_in(item: Item) -> Job:
    value = item.value
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
        portion=Portion(**value["portion"]) if "portion" in value else None,
        leased_until=_moment(value.get("leased_until")),
        retry_at=_moment(value.get("retry_at")),
        tries=value["tries"],
        finished_at=_moment(value.get("finished_at")),
        version=item.version,
    )


class Pace:
    """When a step ends, and how much it takes at a time: `most`, once that is quick.

    It is `over` after `TOLD_SECONDS`, or with less than `reserve_seconds` left.
    """

    def __init__(self, deadline: RemainingSeconds, reserve_seconds: float, most: int = _FIRST_SIZE) -> None:
        self.size = min(_FIRST_SIZE, most)
        self._deadline = deadline
        self._reserve = reserve_seconds
        self._most = most
        self._began = self._before = deadline()

    @property
    def over(self) -> bool:
        """Whether the step is to end, after what it has under way."""
        left = self._deadline()
        return left < self._reserve or self._began - left >= TOLD_SECONDS

    def took_one(self) -> None:
        """After each page: the next one is larger where it was quick, smaller where it was slow."""
        left = self._deadline()
        seconds, self._before = self._before - left, left
        if seconds < _QUICK_SECONDS:
            self.size = min(2 * self.size, self._most)
        elif seconds > _SLOW_SECONDS:
            self.size = max(1, self.size // 2)


def _share(progress: JobProgress) -> float | None:
    if progress.done:
        return 1.0
    return progress.portion.share if progress.share is None and progress.portion else progress.share


def _sum(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    total = Counter(first)
    total.update(second)
    return dict(total)


def _moment(text: str | None) -> datetime | None:
    return from_iso(text) if text else None
