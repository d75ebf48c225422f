"""A restore rehearsed: a snapshot into an empty store beside the one in use, and what holds there."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.app import App
from recollect.archive.rehearsal import (
    Check,
    RehearsalOrder,
    RehearsalReport,
    content_check,
    forgotten_check,
    outcome_check,
    recall_check,
)
from recollect.archive.snapshot import Snapshot, SnapshotDiff
from recollect.bootstrap.scratch import scratch_app
from recollect.core.errors import NotFound, Unavailable
from recollect.core.event import Event
from recollect.core.items import in_parts
from recollect.core.scope import Scope
from recollect.deletion.tombstone_log import EVENTS, deleted_records, seconds_from_now
from recollect.jobs.job import JOB_ID, JobKind, RemainingSeconds
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode

_SHOWN = 10
_LONGEST_QUESTION = 300
_READ_TOGETHER = 100


def rehearse(app: App, order: RehearsalOrder, now: datetime) -> RehearsalReport:
    """Restores into a scratch store, looks, and takes it away; the store in use is only read.

    Raises NotFound without such a snapshot, NotReady without an archive, Unavailable where the time is not enough,
    Conflict where something else has the scratch store's name.
    """
    snapshot = _snapshot(app, order)
    began = time.monotonic()
    with scratch_app(app) as scratch:
        found = _Rehearsal(app, scratch, order, snapshot, now, seconds_from_now(order.seconds))
        checks = found.checks()
        counts = {str(name): count for name, count in found.counts.items() if count}
        return RehearsalReport(snapshot.id, len(found.users), counts, tuple(checks), time.monotonic() - began)


def _snapshot(app: App, order: RehearsalOrder) -> Snapshot:
    if order.snapshot_id is not None:
        return app.segments.snapshots.one(order.tenant, order.snapshot_id)
    newest = app.segments.snapshots.page(order.tenant, 1, None).snapshots
    if not newest:
        raise NotFound("there is no snapshot to rehearse with; the job `snapshot` takes one")
    return newest[0]


@dataclass(slots=True)
class _Rehearsal:
    app: App
    scratch: App
    order: RehearsalOrder
    snapshot: Snapshot
    now: datetime
    left: RemainingSeconds
    users: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lines: int = 0

    def checks(self) -> list[Check]:
        """What was deleted first, as docs/operations.md asks; then the records, then what is derived from them."""
        self._apply_deletions()
        self._restore()
        found = [outcome_check(self.counts, self.lines), content_check(self._difference(), self.counts)]
        found.append(self._projected())
        return [*found, self._forgotten(), self._recall()]

    def _apply_deletions(self) -> None:
        self.scratch.deletion.tombstones.apply(self.now, self._time_left)
        self.scratch.job_runs.run(lambda: self.now, self._time_left, only="erase")

    def _restore(self) -> None:
        snapshots = self.app.segments.snapshots
        named = (user.user_id for _, user in snapshots.users(self.order.tenant, self.snapshot.id, None))
        for user_id in [self.order.user_id] if self.order.user_id is not None else named:
            if len(self.users) == self.order.most_users:
                break
            self.users.append(user_id)
            asked = {"snapshot_id": self.snapshot.id, "user_id": user_id}
            self.counts.update(self._job(self.scratch.archive.restore, asked))
            self.lines += sum(1 for _ in self._restored(self._scope(user_id)))
        del self.counts["users"]

    def _restored(self, scope: Scope) -> Iterator[Event]:
        """The records of a user in the snapshot."""
        user, _ = self.app.segments.snapshots.user(scope, self.snapshot.id)
        for number in range(len(user.pieces)):
            for line in self.app.segments.snapshots.lines(scope, self.snapshot.id, number):
                yield line.event

    def _difference(self) -> SnapshotDiff:
        job_id = self.scratch.ids.seed(int(self.now.timestamp() * 1000)).nth(0)
        self._job(self.scratch.archive.take_snapshot, {JOB_ID: job_id})
        return self.scratch.segments.differences.diff(self.order.tenant, self.snapshot.id, job_id, users=self.users)

    def _projected(self) -> Check:
        report = self.scratch.projection.reconciliation.run(self.now)
        waiting = len(self.scratch.parts.projections.pending(1, None).markers)
        return Check("projection", not report.failed and not waiting, f"{len(report.failed)} records failed")

    def _forgotten(self) -> Check:
        looked_up = returned = 0
        log, number = self.scratch.deletion.tombstone_log, 1
        while (tombstone := log.read(number)) is not None:
            number += 1
            if tombstone["kind"] == EVENTS and tombstone["tenant"] == self.order.tenant:
                refs = [one.ref for one in deleted_records(tombstone)]
                looked_up += len(refs)
                scope = self._scope(tombstone["user_id"])
                returned += sum(
                    len(self.scratch.parts.timeline.read(scope, part)) for part in in_parts(refs, _READ_TOGETHER)
                )
            self._time_left()
        return forgotten_check(returned, looked_up, self.scratch.deletion.tombstones.check().ready)

    def _recall(self) -> Check:
        """By records' own words, spread over the users: where the store in use shows one, the other store must."""
        asked = same = 0
        each = max(1, -(-self.order.questions // max(1, len(self.users))))
        for user_id in self.users:
            for event in self._questions(self._scope(user_id), each):
                if asked == self.order.questions or not self._shows(self.app, event):
                    continue
                asked += 1
                same += self._shows(self.scratch, event)
        return recall_check(asked, same)

    def _questions(self, scope: Scope, count: int) -> list[Event]:
        """Current, public records, evenly apart."""
        current = [e for e in self._restored(scope) if not e.is_private and e.superseded_by is None and e.content]
        return current[:: max(1, len(current) // count)][:count]

    def _shows(self, app: App, event: Event) -> bool:
        self._time_left()
        request = RecallRequest(
            text=event.content[:_LONGEST_QUESTION],
            vector=None,
            mode=Mode.HYBRID,
            filters=SearchFilters(now=self.now),
            wanted=_SHOWN,
        )
        answer = app.retrieval.memory.search(self._scope(event.user_id), request)
        return any(event.content == one.event.content for one in answer.results)

    def _job(self, kind: JobKind, state: Mapping[str, Any]) -> Counter[str]:
        counts: Counter[str] = Counter()
        while True:
            progress = kind.step(self.order.tenant, state, self.now, self._time_left)
            counts.update(progress.counts)
            state = progress.state
            if progress.done:
                return counts

    def _time_left(self) -> float:
        left = self.left()
        if left <= 0:
            raise Unavailable("the rehearsal did not end in its time; give it more, or fewer users")
        return left

    def _scope(self, user_id: str) -> Scope:
        return Scope(self.order.tenant, user_id)
