"""Erase a user (P-22): the store in the request itself, everything else by a job, verified by reading back.

The request empties the store: identities become tombstones. The job `erase` then empties the index, the archive, copies
and the list of users, walks the store again for what was written meanwhile, and reads everything back. It runs once
more after `AGAIN_AFTER`, when every request that was in flight at the erasure has ended.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from recollect.archive.compact import RewriteSegments
from recollect.archive.retain import archive_folder
from recollect.core.errors import NotFound, OutOfTime, VersionMismatch
from recollect.core.ids import IdSource
from recollect.core.items import ABSENT, ALL_PAGES, ItemWrite, of_tenant, pages
from recollect.core.scope import Scope
from recollect.deletion.forget_events import ForgetCopies
from recollect.deletion.storage import (
    JOB_KIND,
    Erasure,
    Exempt,
    erased_user_key,
    erasure_document,
    erasure_in,
    erasure_key,
    lapses_of,
    tombstone_outbox_write,
)
from recollect.deletion.tombstone_log import erasure_tombstone
from recollect.jobs.job import JOB_ID, Job, JobProgress, JobStatus, RemainingSeconds, job_in, job_key, job_write
from recollect.memories.audit import Action, Actor, ActorKind, AuditEntry, audit_key, audit_write
from recollect.ports import Eraser, Items, SearchIndex, SnapshotStore, Timeline
from recollect.session_log.entries import HEADS
from recollect.timeline.listing import KnownUsers

AGAIN_AFTER = timedelta(minutes=2)
"""The second job starts then: no request that was in flight at the erasure runs that long."""

_PAGE = 500
_RESERVE_SECONDS = 4.0
_TRIES = 5
_STORE, _ELSEWHERE, _VERIFY = "store", "elsewhere", "verify"
Counts: TypeAlias = Mapping[str, int] | None
Reach = Callable[[Scope, Exempt, datetime, RemainingSeconds], Counts]
"""Erases one part outside of the store and answers the counts; None when out of time."""
Check = Callable[[Scope, Exempt], int]
"""The number of objects left in one part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReport:
    """The counts of what was deleted so far; `verified` once a read-back of every part found nothing."""

    erasure: Erasure
    running: bool
    reached: Mapping[str, int]
    verified: bool


@dataclass(frozen=True, slots=True)
class EraseUser:
    """The use case behind `DELETE /v1/users/{user_id}` and `GET /v1/erasures/{id}`, and the job kind `erase`.

    `elsewhere` are the parts outside of the store, `again` those of the second job; `checks` read them back. `note`
    appends to the tombstone log.
    """

    _eraser: Eraser
    _items: Items
    _ids: IdSource
    _elsewhere: Sequence[Reach]
    _again: Sequence[Reach]
    _checks: Sequence[Check]
    _note: Callable[[Scope, Erasure], None]
    _engines: str

    def erase(
        self, scope: Scope, now: datetime, real_now: datetime, actor: Actor, remaining_seconds: RemainingSeconds
    ) -> Erasure:
        """Erases what was recorded before `now`. Raises OutOfTime where the job has to finish the store."""
        lapses = lapses_of(self._engines, now)
        erasure = Erasure(id=self._ids.fresh(), user_id=scope.user_id, at=now, lapses=lapses)
        self._begin(scope, erasure, real_now, actor)
        self._note(scope, erasure)
        erasure = replace(erasure, counts=self.hide(scope, erasure, remaining_seconds))
        write = ItemWrite(erasure_key(erasure.id), erasure_document(erasure))
        self._items.write(of_tenant(scope.tenant), [write], now)
        return erasure

    def hide(self, scope: Scope, erasure: Erasure, remaining_seconds: RemainingSeconds) -> Mapping[str, int]:
        """Empties the store, records after `now` included: the user has not begun anew yet. Raises OutOfTime."""
        counts: Counter[str] = Counter()
        after: str | None = None
        while True:
            page = self._eraser.erase(scope.user, _own_audit_entry(erasure), _PAGE, after)
            counts.update(page.counts)
            after = page.more
            if after is None:
                return counts
            if remaining_seconds() < _RESERVE_SECONDS:
                raise OutOfTime(f"the erasure {erasure.id} is stored and goes on; ask again until it is accepted")

    def resume(self, scope: Scope, erasure_id: str, now: datetime) -> None:
        """Applies an erasure from the tombstone log to a table that has lost it, or a part of it."""
        erasure = Erasure(id=erasure_id, user_id=scope.user_id, at=now, lapses=lapses_of(self._engines, now))
        self._write_once(of_tenant(scope.tenant), self._work(scope, erasure, now), now)
        erasure = self._known(scope.tenant, erasure_id) or erasure  # the first try's `at` counts
        self._write_once(scope.user, [_entry(erasure, Actor(ActorKind.JOB, JOB_KIND))], now)
        self._erase_store(scope, Exempt(before=erasure_id))

    def _write_once(self, owner: Scope, writes: Sequence[ItemWrite], now: datetime) -> None:
        with suppress(VersionMismatch):  # an earlier try has written it
            self._items.write(owner, writes, now)

    def _erase_store(self, scope: Scope, exempt: Exempt) -> None:
        for _ in pages(lambda after: self._eraser.erase(scope.user, exempt, _PAGE, after), ALL_PAGES):
            pass  # each page is erased where it is read

    def report(self, tenant: str, erasure_id: str) -> ErasureReport:
        """The state of an erasure. Raises NotFound."""
        keys = [erasure_key(erasure_id), job_key(erasure_id)]
        found = self._items.get(of_tenant(tenant), keys)
        if keys[0] not in found:
            raise NotFound("no such erasure")
        erasure = erasure_in(erasure_id, found[keys[0]].value)
        job = job_in(found[keys[1]]) if keys[1] in found else None
        reached = Counter(erasure.counts)
        reached.update(job.counts if job else {})
        done = job is not None and job.status is JobStatus.DONE
        return ErasureReport(erasure=erasure, running=not done, reached=reached, verified=done)

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """See `JobKind`: erases the store, then the parts elsewhere, then verifies; then it starts the second job."""
        scope = Scope(tenant, state["user_id"])
        exempt = Exempt(before=state["before"])
        progress = {_STORE: self._walked, _ELSEWHERE: self._reached, _VERIFY: self._verified}
        return progress[state.get("part", _STORE)](scope, exempt, dict(state), now, deadline)

    def _walked(
        self, scope: Scope, exempt: Exempt, state: dict[str, Any], _now: datetime, deadline: RemainingSeconds
    ) -> JobProgress:
        counts: Counter[str] = Counter()
        after: str | None = state.get("after")
        while True:
            page = self._eraser.erase(scope, exempt, _PAGE, after)
            counts.update(page.counts)
            after = page.more
            if after is None:
                return JobProgress(state={**state, "part": _ELSEWHERE, "after": None}, counts=counts, share=0.4)
            if deadline() < _RESERVE_SECONDS:
                return JobProgress(state={**state, "after": after}, counts=counts, share=0.2)

    def _reached(
        self, scope: Scope, exempt: Exempt, state: dict[str, Any], now: datetime, deadline: RemainingSeconds
    ) -> JobProgress:
        place, parts = int(state.get("place", 0)), self._again if state.get("again") else self._elsewhere
        if place == len(parts):
            return JobProgress(state={**state, "part": _VERIFY}, share=0.9)
        counts = parts[place](scope, exempt, now, deadline)
        done = {} if counts is None else {"place": place + 1}
        return JobProgress(state={**state, **done}, counts=counts or {}, share=0.5)

    def _verified(
        self, scope: Scope, exempt: Exempt, state: dict[str, Any], now: datetime, _deadline: RemainingSeconds
    ) -> JobProgress:
        left = self._eraser.left(scope, exempt) + sum(check(scope, exempt) for check in self._checks)
        if left:
            rounds = int(state.get("rounds", 0)) + 1
            again = {**state, "part": _STORE, "place": 0, "rounds": rounds}
            return JobProgress(state=again, pause=timedelta(seconds=min(2**rounds, 60)), given_up=rounds > _TRIES)
        if not state.get("again"):
            self._start_second_job(scope, state, now)
        return JobProgress(state=state, done=True, share=1.0)

    def _begin(self, scope: Scope, erasure: Erasure, real_now: datetime, actor: Actor) -> None:
        self._items.write(scope.user, [_entry(erasure, actor)], erasure.at)
        self._items.write(of_tenant(scope.tenant), self._work(scope, erasure, real_now), erasure.at)

    def _work(self, scope: Scope, erasure: Erasure, real_now: datetime) -> list[ItemWrite]:
        state = {"user_id": scope.user_id, "before": erasure.id, JOB_ID: erasure.id}
        job = Job(id=erasure.id, kind=JOB_KIND, asked_at=erasure.at, started_at=real_now, state=state)
        return [
            ItemWrite(erasure_key(erasure.id), erasure_document(erasure), ABSENT),
            ItemWrite(erased_user_key(scope.user_id), {"before": erasure.id}),
            job_write(job),
            tombstone_outbox_write(erasure.id, erasure_tombstone(scope, erasure.id)),
        ]

    def _known(self, tenant: str, erasure_id: str) -> Erasure | None:
        key = erasure_key(erasure_id)
        item = self._items.get(of_tenant(tenant), [key]).get(key)
        return erasure_in(erasure_id, item.value) if item else None

    def _start_second_job(self, scope: Scope, state: Mapping[str, Any], now: datetime) -> None:
        """The last walk, some minutes later; made once, whatever is tried again."""
        job_id = f"{state['before']}.again"
        later = now + AGAIN_AFTER
        first = {"user_id": scope.user_id, "before": state["before"], "again": True, JOB_ID: job_id}
        job = Job(id=job_id, kind=JOB_KIND, asked_at=later, started_at=later, state=first, retry_at=later)
        self._write_once(of_tenant(scope.tenant), [job_write(job)], now)


def _entry(erasure: Erasure, actor: Actor) -> ItemWrite:
    targets = (erasure.id,)
    return audit_write(
        AuditEntry(id=erasure.id, at=erasure.at, actor=actor, action=Action.ERASE, target_ids=targets, via="erase")
    )


def _own_audit_entry(erasure: Erasure) -> Exempt:
    return Exempt(frozenset([audit_key(erasure.id, erasure.at)]))


class EraseDocuments:
    """The search index."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def erase(self, scope: Scope, exempt: Exempt, _now: datetime, deadline: RemainingSeconds) -> Counts:
        """Removes the user's documents that are not exempt, page by page; None when out of time."""
        count, after = 0, None
        while True:
            page = self._index.listed(scope, _PAGE, after)
            gone = [ref.id for ref in page.refs if not exempt.keeps_record(ref.id)]
            if gone:
                self._index.remove(scope, gone)
            count, after = count + len(gone), page.more
            if after is None:
                return {"index": count}
            if deadline() < _RESERVE_SECONDS:
                return None

    def left(self, scope: Scope, exempt: Exempt) -> int:
        """The number of documents that are not exempt."""
        found = pages(lambda after: self._index.listed(scope, _PAGE, after), ALL_PAGES)
        return sum(not exempt.keeps_record(ref.id) for page in found for ref in page.refs)


@dataclass(frozen=True, slots=True)
class EraseArchive:
    """Segments, snapshots, index snapshots and retention's archives, with every earlier version of each object.

    Of the index snapshots, `erase_indexed` answers the number of objects deleted, `left_indexed` that of the vectors
    whose record ids do not pass.
    """

    _rewrite: RewriteSegments
    _store: SnapshotStore
    _erase_indexed: Callable[[Scope], int]
    _left_indexed: Callable[[Scope, Callable[[str], bool]], int]

    def erase(self, scope: Scope, _kept: Exempt, _now: datetime, _deadline: RemainingSeconds) -> Counts:
        """Deletes all of the user's objects; segments of records made since are written again."""
        report, indexed = self._rewrite.erase(scope), self._erase_indexed(scope)
        archived = self._archived(scope)
        for name in archived:
            self._store.delete(scope.tenant, name)
            self._store.purge(scope.tenant, name)
        return {
            "segments": report.segments,
            "snapshots": report.pieces,
            "index_snapshots": indexed,
            "archives": len(archived),
        }

    def left(self, scope: Scope, exempt: Exempt) -> int:
        """The number of records that are not exempt, and of retention's archives."""
        records = self._rewrite.left(scope, exempt.keeps_record) + self._left_indexed(scope, exempt.keeps_record)
        return records + len(self._archived(scope))

    def _archived(self, scope: Scope) -> list[str]:
        return list(self._store.names(scope.tenant, f"{archive_folder(scope.user_id)}/"))


class EraseCopies:
    """Records that other users imported from this one."""

    def __init__(self, copies: ForgetCopies) -> None:
        self._copies = copies

    def erase(self, scope: Scope, _kept: Exempt, now: datetime, deadline: RemainingSeconds) -> Counts:
        """Deletes them, page by page; None when out of time."""
        count = 0
        while True:
            found = self._copies.page(scope, _PAGE, now)
            count += found.forgotten
            if found.last:
                return {"copies": count}
            if deadline() < _RESERVE_SECONDS:
                return None

    def left(self, scope: Scope, _kept: Exempt) -> int:
        """0 or 1: whether a copy is left."""
        return self._copies.left(scope)


class EraseFromList:
    """The tenant's list of users; a user who has recorded or logged something since stays on it."""

    def __init__(self, users: KnownUsers, timeline: Timeline, items: Items) -> None:
        self._users = users
        self._timeline = timeline
        self._items = items

    def erase(self, scope: Scope, _kept: Exempt, now: datetime, _deadline: RemainingSeconds) -> Counts:
        """Removes the user; the next projection of that user enters them again."""
        if self._timeline.records(scope, 1, None).events or self._items.page(scope.user, HEADS, 1, None).items:
            return {}
        self._users.forget(scope, now)
        return {"users": 1}
