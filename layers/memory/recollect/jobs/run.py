"""Jobs started and read by an operator, and run step by step under a lease.

Any process can continue from a stored step.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from recollect.core.errors import Conflict, NotFound, RecollectError, Unavailable, UpstreamFailed, VersionMismatch
from recollect.core.ids import COUNTER_BITS, IdSeed
from recollect.core.items import MOST_WRITES, DueItem, Item, ItemWrite, of_tenant, pages
from recollect.jobs.job import (
    JOB_ID,
    JOBS,
    KEPT,
    KINDS,
    QUEUE,
    Job,
    JobKind,
    JobStatus,
    RemainingSeconds,
    job_in,
    job_key,
    job_write,
    turn_key,
)
from recollect.ports import Items

STEP_SECONDS = 30.0
LEAST_SECONDS = 5.0
"""The runner begins no step with less time left."""

_PAGE = 100
_MOST_PAGES = 1_000
_TRANSIENT = (Unavailable, VersionMismatch, Conflict, UpstreamFailed)
_LOG = logging.getLogger(__name__)

Clock: TypeAlias = Callable[[], datetime]
Kinds: TypeAlias = Mapping[str, Callable[[], JobKind]]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOrder:
    """A request for a job; `now` is the requester's clock, `real_now` the real one."""

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    now: datetime
    real_now: datetime


@dataclass(frozen=True, slots=True)
class JobPage:
    """Jobs, the last requested first; `more` is where the next page begins."""

    jobs: list[Job]
    more: str | None


class Jobs:
    """Each request makes a job of its own; jobs of one kind and tenant run in turn.

    So a job that is requested while another one runs sees what came after that one's start.
    """

    def __init__(self, items: Items) -> None:
        self._items = items

    def start(self, tenant: str, order: JobOrder, seed: IdSeed) -> Job:
        """Makes a job, durable on return; `seed` gives its id, so that a retry finds it.

        Raises NotFound for an unknown kind.
        """
        if order.kind not in KINDS:
            raise NotFound("no such kind of job")
        job_id = seed.nth(0)
        state = {**order.parameters, JOB_ID: job_id}
        job = Job(id=job_id, kind=order.kind, asked_at=order.now, started_at=order.real_now, state=state)
        with suppress(VersionMismatch):
            self._items.write(of_tenant(tenant), [job_write(job)], order.real_now)
        return self.read(tenant, job_id)

    def read(self, tenant: str, job_id: str) -> Job:
        """The tenant's job. Raises NotFound."""
        return _read(self._items, tenant, job_id)

    def newest(self, tenant: str, limit: int) -> list[Job]:
        """The tenant's jobs, the last requested first."""
        return self.page(tenant, limit, None).jobs

    def page(self, tenant: str, limit: int, after: str | None) -> JobPage:
        """The same, page by page."""
        page = self._items.page(of_tenant(tenant), JOBS, limit, after, descending=True)
        return JobPage([job_in(item) for item in page.items], page.more)


@dataclass(slots=True)
class JobRun:
    """How many jobs a run ended, done or failed; `running` wait, or other processes run them.

    `errors` are counted by class.
    """

    done: int = 0
    failed: int = 0
    running: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    complete: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """For a log line and metrics."""
        return {"done": self.done, "failed": self.failed, "running": self.running}


class RunJobs:
    """Runs due jobs. The lease decides which process runs one; a lapsed lease means a crash or a time-out."""

    def __init__(self, items: Items, kinds: Kinds) -> None:
        self._items = items
        self._kinds = kinds

    def run(self, clock: Clock, remaining_seconds: RemainingSeconds, only: str | None = None) -> JobRun:
        """Runs every due job of every tenant, as far as the time goes; `only` those of this kind.

        Raises as `Items.due`. A job that cannot be read or written does not stop the others.
        """
        run, started = JobRun(), clock()
        for page in pages(lambda after: self._items.due(QUEUE, started, _PAGE, after), _MOST_PAGES):
            for due in page.items:
                if remaining_seconds() < LEAST_SECONDS:
                    return run
                self._run_one(due, clock, remaining_seconds, only, run)
            run.complete = page.more is None
        return run

    def _run_one(
        self, due: DueItem, clock: Clock, remaining_seconds: RemainingSeconds, only: str | None, run: JobRun
    ) -> None:
        tenant, job_id = due.owner.tenant, due.key.key
        try:
            job = _read(self._items, tenant, job_id)
            if only in (None, job.kind):
                job = self.one(tenant, job_id, clock, remaining_seconds)
        except Exception as error:  # noqa: BLE001 - one job's failure, a defect too, must not stop the others
            run.errors[type(error).__name__] += 1
            return
        run.done += job.status is JobStatus.DONE
        run.failed += job.status is JobStatus.FAILED
        run.running += not job.finished

    def one(
        self,
        tenant: str,
        job_id: str,
        clock: Clock,
        remaining_seconds: RemainingSeconds,
        on_step: Callable[[Job], None] = lambda _job: None,
    ) -> Job:
        """Runs a job until it ends, pauses, another process takes it, or the time is over; returns its current state.

        Calls `on_step` after each step. Where it is another job's turn, runs that one first. Raises NotFound.
        """
        job = self._taken(tenant, _read(self._items, tenant, job_id), clock, remaining_seconds)
        while job is not None and not job.finished and job.leased_until is not None:
            if remaining_seconds() < LEAST_SECONDS:
                job = self._written(tenant, job.released(), clock())
                break
            job = self._written(tenant, self._stepped(tenant, job, clock, remaining_seconds), clock())
            if job is not None:
                on_step(job)
        return job or _read(self._items, tenant, job_id)

    def _taken(self, tenant: str, job: Job, clock: Clock, remaining_seconds: RemainingSeconds) -> Job | None:
        """With a lease; None where another process holds it, or it is another job's turn."""
        turn = self._turn(tenant, job.kind)
        holder = str(turn.value[JOB_ID]) if turn else job.id
        if not job.finished and holder != job.id:
            with suppress(NotFound):
                if not self.one(tenant, holder, clock, remaining_seconds).finished:
                    return None
            turn = self._turn(tenant, job.kind)
            if turn is not None and turn.value[JOB_ID] not in (holder, job.id):
                return None
        now = clock()
        if not job.free(now):
            return None
        job = job.interrupted(now) if job.leased_until is not None else job
        if job.finished:
            return self._written(tenant, job, now)
        mine = ItemWrite(turn_key(job.kind), {JOB_ID: job.id}, turn.version if turn else 0)
        return self._written(tenant, job.taken(now), now, mine)

    def _turn(self, tenant: str, kind: str) -> Item | None:
        return self._items.get(of_tenant(tenant), [turn_key(kind)]).get(turn_key(kind))

    def _stepped(self, tenant: str, job: Job, clock: Clock, remaining_seconds: RemainingSeconds) -> Job:
        """The job after its next step; whatever the step raises becomes a failure of the job."""
        over = min(remaining_seconds(), STEP_SECONDS)
        began = clock()

        def deadline() -> float:
            return min(remaining_seconds(), over - (clock() - began).total_seconds())

        try:
            kind = self._kinds[job.kind]()
            return job.stepped(kind.step(tenant, job.state, job.clock(began), deadline), clock())
        except (KeyboardInterrupt, SystemExit):
            self._written(tenant, job.released(), clock())  # so that the next process need not wait for the lease
            raise
        except RecollectError as error:
            return job.failed(type(error).__name__, isinstance(error, _TRANSIENT), clock())
        except Exception as error:  # noqa: BLE001 - a defect of one job must not end the run of the others
            # No message and no traceback: they may quote what somebody said.
            _LOG.error("a job's step failed unexpectedly", extra={"job_id": job.id, "error": type(error).__name__})
            return job.failed(type(error).__name__, True, clock())

    def _written(self, tenant: str, job: Job, now: datetime, turn: ItemWrite | None = None) -> Job | None:
        """The stored job; None where another process has changed it since it was read."""
        writes = [job_write(job), *([turn] if turn else [])]
        if job.finished:
            writes.append(ItemWrite(turn_key(job.kind), None))
        try:
            item = self._items.write(of_tenant(tenant), writes, now)[0]
        except VersionMismatch:
            return None
        assert item is not None
        if job.finished:
            done = {"job_id": job.id, "kind": job.kind, "status": job.status.value, "errors": dict(job.errors)}
            _LOG.info("a job ended", extra=done | {"counts": dict(job.counts)})
            self._forget_old(tenant, now)
        return job_in(item)

    def _forget_old(self, tenant: str, now: datetime) -> None:
        """Of jobs that were asked for before `KEPT`, the newest: as many end as begin, so that none stays long."""
        owner, before = of_tenant(tenant), now - KEPT
        place = job_key(IdSeed(int(before.timestamp() * 1000) << COUNTER_BITS, 0).nth(0))
        with suppress(RecollectError):  # the next one that ends does it
            page = self._items.page(owner, JOBS, MOST_WRITES, self._items.beside(owner, place), descending=True)
            old = [ItemWrite(item.key, None, item.version) for item in page.items if _has_lapsed(job_in(item), before)]
            if old:
                self._items.write(owner, old, now)


def _has_lapsed(job: Job, before: datetime) -> bool:
    return job.kind in KINDS and job.finished_at is not None and job.finished_at < before


def _read(items: Items, tenant: str, job_id: str) -> Job:
    key = job_key(job_id)
    item = items.get(of_tenant(tenant), [key]).get(key)
    if item is None:
        raise NotFound("no such job")
    return job_in(item)
