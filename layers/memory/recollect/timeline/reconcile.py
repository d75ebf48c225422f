"""Tries again what could not be projected: when its time has come, or when an operator asks for it.

Reconcile: projects what the stream never brought, found by the pending markers in the table.

The job `reconcile`: done when all that was accepted before it is projected, but for what failed by its own fault.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from recollect.core.errors import RecollectError
from recollect.core.ids import id_milliseconds
from recollect.jobs.job import JOB_ID, JobProgress, RemainingSeconds
from recollect.memories.deferred_promotion import ReconcileBridge
from recollect.ports import Projections
from recollect.timeline.project import ProjectEvents, ProjectionReport
from recollect.timeline.projection_attempt import raised_at
from recollect.timeline.quarantine import FailedEvents, Noted, Standing
from recollect.timeline.reproject import MarkStaleMemories
from recollect.timeline.timeline import PendingEvent

MOST_AT_ONCE = 100
"""Each may be an attempt of its own: so many fit in a run that has other things to do."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many events a page of a replay tried, what became of them, and where the next page goes on."""

    tried: int
    report: ProjectionReport
    more: str | None


class RetryFailed:
    """After all others: what failed before goes last. Raises as `Items.due` does."""

    def __init__(self, failed: FailedEvents, project: ProjectEvents) -> None:
        self._failed = failed
        self._project = project

    def __call__(self, now: datetime, tenant: str | None = None) -> ProjectionReport:
        """Those that are due, of every tenant or of one, at most 100; nothing where there are none."""
        return self._tried(self._failed.due(now, MOST_AT_ONCE, tenant), now)

    def replay(self, tenant: str, replay: str, after: str | None, now: datetime) -> Replayed:
        """A page of all that failed of a tenant, as if for the first time: due or not, quarantined or not.

        Each once in the replay of this name. What the process leaves undone is due then.
        """
        page = self._failed.page(tenant, after)
        reset = self._failed.replay(page.notes, replay, now)
        return Replayed(len(reset), self._tried(reset, now), page.more)

    def standing(self, tenant: str | None = None) -> Standing:
        """How many there are."""
        return self._failed.standing(tenant)

    def _tried(self, notes: Sequence[Noted], now: datetime) -> ProjectionReport:
        if not notes:
            return ProjectionReport()
        report = self._project([note.marker for note in notes], now)
        self._failed.clear([note for note in notes if (note.scope.user, note.failed.ref.id) in report.done], now)
        return report


PAGE = 300
_LOG = logging.getLogger(__name__)


class Reconcile:
    """Works through the markers, oldest first, in pages; at most `max_pages` in one call.

    `before` makes good what processes that ended have left: markers that were not set, deletions that were not told.
    After the last page `retry` tries again what failed before and is due.
    """

    def __init__(
        self,
        projections: Projections,
        project: ProjectEvents,
        retry: RetryFailed,
        *before: Callable[[datetime], None],
    ) -> None:
        self._projections = projections
        self._project = project
        self._retry = retry
        self._before = before

    def __call__(self, now: datetime, max_pages: int = 10_000) -> ProjectionReport:
        """Done when every marker that was there has been tried once; failures stay for the next run."""
        total = ProjectionReport()
        after: str | None = None
        for _ in range(max_pages):
            report, after = self.page(now, after)
            total.add(report)
            if after is None:
                break
        return total

    def page(self, now: datetime, after: str | None) -> tuple[ProjectionReport, str | None]:
        """One page, for callers that stop between pages or show how far they are; and where the next goes on."""
        if after is None:
            for make_good in self._before:
                self._made_good(make_good, now)
        page = self._projections.pending(PAGE, after)
        report = self._project(page.markers, now)
        if page.more is None:
            report.add(self._retry(now))
        return report, page.more

    @staticmethod
    def _made_good(make_good: Callable[[datetime], None], now: datetime) -> None:
        """A defect in it must not stop the projection; a part that is away is the caller's to know."""
        try:
            make_good(now)
        except RecollectError:
            raise
        except Exception as error:  # noqa: BLE001 - see above
            told = {"error": type(error).__name__, "at": raised_at(error)}
            _LOG.error("a step before reconciliation failed unexpectedly", extra=told)

    def standing(self) -> Standing:
        """How many events failed and are tried again, and how many are quarantined."""
        return self._retry.standing()

    def oldest_age(self, real_now: datetime) -> timedelta:
        """How long the oldest event has waited that is marked, or tried again after a failure; zero without any."""
        page = self._projections.pending(1, None)
        recorded = [id_milliseconds(marker.ref.id) for marker in page.markers]
        retried = self.standing().oldest_ms
        recorded += [] if retried is None else [retried]
        if not recorded:
            return timedelta(0)
        return max(timedelta(0), timedelta(milliseconds=real_now.timestamp() * 1000 - min(recorded)))


_PAGE = 200
_RESERVE_SECONDS = 10.0
_MOST_PASSES = 8
_FIRST_PAUSE = timedelta(seconds=1)
_LONGEST_PAUSE = timedelta(minutes=1)
_CLOCKS_APART_MS = 5_000


@dataclass(slots=True)
class _Pass:
    """What one walk over the markers did; `late` of what it had to project are still there."""

    late: int
    counts: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


class ReconcileJob:
    """Walks over the markers of the tenant until a whole walk left none of what was accepted before the asking.

    Markers of removals are among them, so that half-done deletions are completed too; what was deferred is promoted
    after that. A walk that left some is made again after a pause, at most 8 times. What failed by its own fault is
    noted and holds nothing up: the counts `failed` and `quarantined` say how many such events the tenant has in the
    end. With `replay` all of them are tried again first, as if for the first time.
    """

    def __init__(
        self,
        projections: Projections,
        project: ProjectEvents,
        retry: RetryFailed,
        bridge: ReconcileBridge,
        mark: MarkStaleMemories,
    ) -> None:
        self._projections = projections
        self._project = project
        self._retry = retry
        self._bridge = bridge
        self._mark = mark

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """See `JobKind`: as many pages as the time allows, one at least."""
        walk = _Pass(late=int(state.get("late", 0)))
        if state.get("walked"):
            return self._swept(tenant, state, now, walk, deadline)
        if state.get("replay"):
            return self._replayed(tenant, state, now, walk, deadline)
        after: str | None = state.get("after")
        if after is None:
            self._mark(now)
        while True:
            page = self._projections.pending(_PAGE, after)
            self._project_own(tenant, page.markers, str(state[JOB_ID]), now, walk)
            after = page.more
            if after is None or deadline() < _RESERVE_SECONDS:
                break
        if after is not None:
            return _progress({**state, "after": after, "late": walk.late}, walk)
        _count(self._retry(now, tenant), walk)
        return self._walked(state, walk)

    def _replayed(
        self, tenant: str, state: Mapping[str, Any], now: datetime, walk: _Pass, deadline: RemainingSeconds
    ) -> JobProgress:
        """The first step of a replay, as often as it takes; a page may be tried twice."""
        after: str | None = state.get("replay_after")
        while True:
            page = self._retry.replay(tenant, str(state[JOB_ID]), after, now)
            walk.counts.update(replayed=page.tried)
            _count(page.report, walk)
            after = page.more
            if after is None or deadline() < _RESERVE_SECONDS:
                break
        own = {JOB_ID: state[JOB_ID]}
        further = {} if after is None else {"replay": True, "replay_after": after}
        return _progress({**own, **further}, walk)

    def _project_own(
        self, tenant: str, markers: Sequence[PendingEvent], job_id: str, now: datetime, walk: _Pass
    ) -> None:
        own = [marker for marker in markers if marker.scope.tenant == tenant]
        if not own:
            return
        report = self._project(own, now)
        _count(report, walk)
        asked_ms = id_milliseconds(job_id) + _CLOCKS_APART_MS
        waiting = report.failed.keys() - report.noted
        walk.late += sum(1 for event_id in waiting if _accepted_ms(event_id) <= asked_ms)
        # Neither done nor failed: it changed while it was projected, and its marker is still there.
        walk.late += max(0, len(own) - report.projected - report.gone - len(report.failed))

    def _walked(self, state: Mapping[str, Any], walk: _Pass) -> JobProgress:
        """After a whole walk: on to what was deferred, or once more."""
        own = {JOB_ID: state[JOB_ID]}
        if not walk.late:
            return _progress({**own, "walked": True}, walk, share=0.9)
        passes = int(state.get("passes", 0)) + 1
        pause = min(_FIRST_PAUSE * 2**passes, _LONGEST_PAUSE)
        return _progress({**own, "passes": passes}, walk, pause=pause, given_up=passes >= _MOST_PASSES)

    def _swept(
        self, tenant: str, state: Mapping[str, Any], now: datetime, walk: _Pass, deadline: RemainingSeconds
    ) -> JobProgress:
        """What was deferred is promoted, unless the bridge is suspended; what the bus did not take is published."""
        run = self._bridge(now, tenant, deadline)
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


def _accepted_ms(event_id: str) -> int:
    """When it was accepted; an id that is none of ours counts as old."""
    try:
        return id_milliseconds(event_id)
    except ValueError:
        return 0
