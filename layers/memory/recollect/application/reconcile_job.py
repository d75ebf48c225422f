"""The job `reconcile`: done when all that was accepted before it is projected, but for what failed by its own fault."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from recollect.application.mark_changed import MarkChanged
from recollect.application.project_events import ProjectEvents, ProjectionReport
from recollect.application.reconcile_bridge import ReconcileBridge
from recollect.application.retry_failed import RetryFailed
from recollect.domain.ids import id_milliseconds
from recollect.domain.job import JOB_ID, JobProgress, RemainingSeconds
from recollect.domain.timeline import PendingEvent
from recollect.ports import Projections

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
        mark: MarkChanged,
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
