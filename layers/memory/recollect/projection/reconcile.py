"""Reconciliation: projects events that no stream brought, found by their markers, and retries failed ones.

`RetryFailed` retries when a note is due, or on an operator's request; `Reconcile` works through the markers of all
tenants; the job `reconcile` of one tenant ends when everything accepted before it is projected, but for events that
failed by their own fault.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from recollect.core.errors import RecollectError, StoredDataError, Unavailable
from recollect.core.event import EventRef
from recollect.core.ids import accepted_ms, id_milliseconds
from recollect.core.items import Document, DueItem, pages
from recollect.core.scope import Scope
from recollect.jobs.job import JOB_ID, JobProgress, Pace, RemainingSeconds, portion_of
from recollect.memories.deferred_promotion import ReconcileBridge
from recollect.memories.storage import SAME_AS, TO_PROJECT, memory_in
from recollect.ports import Items, Projections
from recollect.projection.attempt import raised_at
from recollect.projection.project import ProjectEvents, ProjectionReport
from recollect.projection.quarantine import FailedEvents, Noted, Standing
from recollect.projection.under_way import ProjectPending
from recollect.timeline.timeline import PendingEvent

_PAGE = 100


class MarkStaleMemories:
    """Sets the markers of memories that the index may not show; the first step of a reconciliation.

    It leaves out events with a note of a failed projection: these are retried when due.
    """

    def __init__(self, items: Items, projections: Projections, failed: FailedEvents) -> None:
        self._items = items
        self._projections = projections
        self._failed = failed

    def mark(self, now: datetime) -> None:
        """Marks due memories of every tenant; one that fails stays due, and stops no other.

        Raises as `Items.due`, and Unavailable.
        """
        for page in pages(lambda after: self._items.due(TO_PROJECT, now, _PAGE, after)):
            for owner, due in groupby(sorted(page.items, key=_whose), key=lambda one: one.owner):
                self._attempt(owner, list(due))

    def _attempt(self, owner: Scope, due: Sequence[DueItem]) -> None:
        """A user's memories together; where that fails each by itself."""
        try:
            self._mark(owner, due)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one memory's failure must not stop the others
            if len(due) > 1:
                for one in due:
                    self._attempt(owner, [one])
                return
            fields = {"error": type(error).__name__, "at": raised_at(error)}
            _LOG.warning("a memory could not be marked to be projected", extra=fields)

    def _mark(self, owner: Scope, due: Sequence[DueItem]) -> None:
        found = self._items.get(owner, [one.key for one in due])
        whole = [item.value for item in found.values() if item.due is not None and SAME_AS not in item.value]
        refs = {ref.id: ref for value in whole if (ref := _ref(value)) is not None}
        noted = self._failed.noted(owner, list(refs))
        self._projections.mark(owner, [ref for event_id, ref in refs.items() if event_id not in noted])


def _ref(value: Document) -> EventRef | None:
    """None for an unreadable memory, which must not stop the others."""
    try:
        return memory_in(value).ref
    except StoredDataError as error:
        _LOG.warning("a memory cannot be read", extra={"error": type(error).__name__})
        return None


def _whose(due: DueItem) -> tuple[str, str]:
    return due.owner.tenant, due.owner.user_id


MOST_AT_ONCE = 100
"""Notes retried in one run: each may be an attempt of its own, and the run has other work."""

PAGE = 300

_JOB_PAGE = 200
_RESERVE_SECONDS = 10.0
_MOST_PASSES = 8
_COUNTED_AT_ONCE, _MOST_COUNTED_PAGES = 1_000, 20
_FIRST_PAUSE = timedelta(seconds=1)
_LONGEST_PAUSE = timedelta(minutes=1)
_CLOCKS_APART_MS = 5_000
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many events a page of a replay tried, with what result, and where the next page begins."""

    tried: int
    report: ProjectionReport
    more: str | None


class RetryFailed:
    """Runs after all other projections. Raises as `Items.due` does.

    An event with which a process ended is projected `alone`, after the others, and counted before: so the others are
    projected before a process ends with it again, and after the last of its tries it is left.
    """

    def __init__(self, failed: FailedEvents, project: ProjectPending, alone: ProjectEvents) -> None:
        self._failed = failed
        self._project = project
        self._alone = alone

    def retry(self, now: datetime, tenant: str | None = None) -> ProjectionReport:
        """Retries due notes, of every tenant or of one, at most 100."""
        return self._tried(self._failed.due(now, MOST_AT_ONCE, tenant), now)

    def replay(self, tenant: str, replay: str, after: str | None, now: datetime) -> Replayed:
        """Retries a page of all failed events of a tenant from the start: due or not, quarantined or not.

        Each event once in the replay of this name. An interrupted page stays due.
        """
        page = self._failed.page(tenant, after)
        reset = self._failed.replay(page.notes, replay, now)
        return Replayed(len(reset), self._tried(reset, now), page.more)

    def standing(self, tenant: str | None = None) -> Standing:
        return self._failed.standing(tenant)

    def _tried(self, notes: Sequence[Noted], now: datetime) -> ProjectionReport:
        together = [note for note in notes if not note.failed.is_tried_alone]
        report = self._project.project([note.marker for note in together], now) if together else ProjectionReport()
        self._failed.clear([note for note in together if _is_done(note, report)], now)
        for note in notes:
            if note.failed.is_tried_alone:
                report.add(self._tried_alone(note, now))
        return report

    def _tried_alone(self, note: Noted, now: datetime) -> ProjectionReport:
        event_id, begun = note.failed.ref.id, self._failed.begun_alone(note, now)
        if begun is None:
            return ProjectionReport()
        report = self._alone.project([note.marker], now)
        if _is_done(note, report):
            self._failed.clear([begun], now)
        else:
            error = report.failed.get(event_id, "")
            self._failed.ended_alone(begun, note, error, now, is_own=event_id in report.noted)
        return report


def _is_done(note: Noted, report: ProjectionReport) -> bool:
    return (note.scope.user, note.failed.ref.id) in report.done


class Reconcile:
    """Works through the markers, oldest first, in pages; at most `max_pages` in one call.

    `before` completes the work of ended processes: missing markers, deletions missing in the tombstone log. After the
    last page `retry` retries failed events that are due.
    """

    def __init__(
        self,
        projections: Projections,
        project: ProjectPending,
        retry: RetryFailed,
        *before: Callable[[datetime], None],
    ) -> None:
        self._projections = projections
        self._project = project
        self._retry = retry
        self._before = before

    def run(self, now: datetime, max_pages: int = 10_000) -> ProjectionReport:
        """Tries every present marker once; failures stay for the next run."""
        total = ProjectionReport()
        after: str | None = None
        for _ in range(max_pages):
            report, after = self.page(now, after)
            total.add(report)
            if after is None:
                break
        return total

    def page(self, now: datetime, after: str | None, limit: int = PAGE) -> tuple[ProjectionReport, str | None]:
        """One page, for callers that stop between pages or show progress; and where the next page begins."""
        if after is None:
            for complete in self._before:
                self._completed(complete, now)
        page = self._projections.pending(limit, after)
        report = self._project.project(page.markers, now)
        if page.more is None:
            report.add(self._retry.retry(now))
        return report, page.more

    @staticmethod
    def _completed(complete: Callable[[datetime], None], now: datetime) -> None:
        """A defect in the step must not stop the projection; the caller hears of an absent engine."""
        try:
            complete(now)
        except RecollectError:
            raise
        except Exception as error:  # noqa: BLE001 - see above
            fields = {"error": type(error).__name__, "at": raised_at(error)}
            _LOG.error("a step before reconciliation failed unexpectedly", extra=fields)

    def standing(self) -> Standing:
        return self._retry.standing()

    def oldest_age(self, real_now: datetime) -> timedelta:
        """The age of the oldest event with a marker, or retried after a failure; zero without any."""
        page = self._projections.pending(1, None)
        recorded = [id_milliseconds(marker.ref.id) for marker in page.markers]
        retried = self.standing().oldest_ms
        recorded += [] if retried is None else [retried]
        if not recorded:
            return timedelta(0)
        return max(timedelta(0), timedelta(milliseconds=real_now.timestamp() * 1000 - min(recorded)))


@dataclass(slots=True)
class _Pass:
    """One walk over the markers; `late` counts events accepted before the request that are still pending."""

    late: int
    seen: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class ReconcileJob:
    """Walks over the tenant's markers until a whole walk leaves nothing that was accepted before the request.

    Markers of removals count too, so that half-done deletions are completed; deferred events are promoted after that. A
    walk that left events is repeated after a pause, at most 8 times. Events that failed by their own fault delay
    nothing: the counts `failed` and `quarantined` say how many the tenant has in the end. With `replay` the job retries
    all of them first, from the start.
    """

    _projections: Projections
    _project: ProjectPending
    _retry: RetryFailed
    _bridge: ReconcileBridge
    _mark: MarkStaleMemories

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """See `JobKind`: as many pages as the time allows, at least one."""
        walk = _Pass(late=int(state.get("late", 0)), seen=int(state.get("seen", 0)))
        if state.get("walked"):
            return self._promote_deferred(tenant, state, now, walk, deadline)
        if state.get("replay"):
            return self._replay(tenant, state, now, walk, deadline)
        after: str | None = state.get("after")
        if after is None:
            self._mark.mark(now)
            state = {**state, "total": self._waiting(tenant)}
        pace = Pace(deadline, _RESERVE_SECONDS, _JOB_PAGE)
        while True:
            page = self._projections.pending(pace.size, after)
            self._project_own(tenant, page.markers, str(state[JOB_ID]), now, walk)
            after = page.more
            pace.took_one()
            if after is None or pace.over:
                break
        if after is not None:
            portion = portion_of(walk.seen, state.get("total"), "messages")
            share = 0.9 * portion.share if portion else None
            going = {**state, "after": after, "late": walk.late, "seen": walk.seen}
            return _progress(going, walk, portion=portion, share=share)
        _count(self._retry.retry(now, tenant), walk)
        return self._after_walk(state, walk)

    def _waiting(self, tenant: str) -> int:
        """How many markers the tenant has, of the first 20,000 of all."""
        found = pages(lambda after: self._projections.pending(_COUNTED_AT_ONCE, after), _MOST_COUNTED_PAGES)
        return sum(marker.scope.tenant == tenant for page in found for marker in page.markers)

    def _replay(
        self, tenant: str, state: Mapping[str, Any], now: datetime, walk: _Pass, deadline: RemainingSeconds
    ) -> JobProgress:
        """The first phase of a replay, over several steps; a page may be tried twice."""
        after: str | None = state.get("replay_after")
        standing = self._retry.standing(tenant) if after is None else None
        total = standing.retried + standing.quarantined if standing else state.get("total")
        pace = Pace(deadline, _RESERVE_SECONDS)
        while True:
            page = self._retry.replay(tenant, str(state[JOB_ID]), after, now)
            walk.counts.update(replayed=page.tried)
            walk.seen += page.tried
            _count(page.report, walk)
            after = page.more
            if after is None or pace.over:
                break
        own = {JOB_ID: state[JOB_ID]}
        further = {"replay": True, "replay_after": after, "total": total, "seen": walk.seen}
        portion = portion_of(walk.seen, total, "failed messages")
        return _progress(own if after is None else {**own, **further}, walk, portion=portion)

    def _project_own(
        self, tenant: str, markers: Sequence[PendingEvent], job_id: str, now: datetime, walk: _Pass
    ) -> None:
        own = [marker for marker in markers if marker.scope.tenant == tenant]
        walk.seen += len(own)
        if not own:
            return
        report = self._project.project(own, now)
        _count(report, walk)
        asked_ms = id_milliseconds(job_id) + _CLOCKS_APART_MS
        waiting = report.failed.keys() - report.noted
        walk.late += sum(1 for event_id in waiting if (accepted_ms(event_id) or 0) <= asked_ms)
        # Events neither done nor failed changed while they were projected, and keep their markers.
        walk.late += max(0, len(own) - report.projected - report.gone - len(report.failed))

    def _after_walk(self, state: Mapping[str, Any], walk: _Pass) -> JobProgress:
        own = {JOB_ID: state[JOB_ID]}
        if not walk.late:
            return _progress({**own, "walked": True}, walk, share=0.9)
        passes = int(state.get("passes", 0)) + 1
        pause = min(_FIRST_PAUSE * 2**passes, _LONGEST_PAUSE)
        return _progress({**own, "passes": passes}, walk, pause=pause, given_up=passes >= _MOST_PASSES)

    def _promote_deferred(
        self, tenant: str, state: Mapping[str, Any], now: datetime, walk: _Pass, deadline: RemainingSeconds
    ) -> JobProgress:
        run = self._bridge.reconcile(now, tenant, deadline)
        walk.counts.update(promoted=run.deferred.promoted, published=run.outbox.published)
        walk.errors.update(run.deferred.failed)
        done = run.deferred.complete and run.outbox.complete
        if done:
            standing = self._retry.standing(tenant)
            walk.counts.update(failed=standing.retried, quarantined=standing.quarantined)
        return _progress(state, walk, done=done, share=1.0 if done else 0.9)


def _progress(state: Mapping[str, Any], walk: _Pass, **more: Any) -> JobProgress:
    return JobProgress(state=state, counts=walk.counts, errors=walk.errors, **more)


def _count(report: ProjectionReport, walk: _Pass) -> None:
    walk.counts.update(projected=report.projected, gone=report.gone)
    walk.errors.update(report.failed.values())
