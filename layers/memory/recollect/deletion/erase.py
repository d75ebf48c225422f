"""Erase a user: hidden before the answer, then reached everywhere else, and verified by reading back (P-22).

What a reader could find goes first, in the request itself: identities become tombstones, the rest of the store is
emptied. What no reader sees without it (the index, the archive, copies) follows as a job, which walks the store again
for what was written meanwhile, and once more after the longest request is over.

What an erasure reaches outside of the store: the index, the archive, copies, the list of users (P-22).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from recollect.archive.compact import RewriteSegments
from recollect.archive.retention import archive_folder
from recollect.core.errors import NotFound, OutOfTime, VersionMismatch
from recollect.core.ids import IdSource
from recollect.core.items import ABSENT, ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.deletion.forget_events import ForgetCopies
from recollect.deletion.tombstone_log import erasure_tombstone
from recollect.deletion.tombstones import (
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
from recollect.jobs.job import JOB_ID, Job, JobProgress, JobStatus, RemainingSeconds, job_in, job_key, job_write
from recollect.memories.audit import Action, Actor, ActorKind, AuditEntry, audit_key, audit_write
from recollect.ports import Eraser, Items, SearchIndex, SnapshotStore, Timeline
from recollect.timeline.listing import KnownUsers

AGAIN_AFTER = timedelta(minutes=2)
"""The last walk: by then whatever was under way at the erasure is over."""

_PAGE = 500
_RESERVE_SECONDS = 4.0
_TRIES = 5
_STORE, _ELSEWHERE, _VERIFY = "store", "elsewhere", "verify"
Reach = Callable[[Scope, Exempt, datetime, RemainingSeconds], Mapping[str, int] | None]
"""One part outside of the store: what it took away, None where its time was over before it was done."""
Check = Callable[[Scope, Exempt], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReport:
    """What was reached so far; `verified` once all of it was read back and nothing was there."""

    erasure: Erasure
    running: bool
    reached: Mapping[str, int]
    verified: bool


class EraseUser:
    """The use case behind `DELETE /v1/users/{user_id}` and `GET /v1/erasures/{id}`, and the job kind `erase`.

    `elsewhere` are the parts outside of the store, `again` those of the last walk; `checks` read them back. `note`
    writes the tombstone outside of the table.
    """

    def __init__(
        self,
        eraser: Eraser,
        items: Items,
        ids: IdSource,
        elsewhere: Sequence[Reach],
        again: Sequence[Reach],
        checks: Sequence[Check],
        note: Callable[[Scope, Erasure], None],
        engines: str,
    ) -> None:
        self._eraser = eraser
        self._items = items
        self._ids = ids
        self._elsewhere = elsewhere
        self._again = again
        self._checks = checks
        self._note = note
        self._engines = engines

    def __call__(
        self, scope: Scope, now: datetime, real_now: datetime, actor: Actor, remaining_seconds: RemainingSeconds
    ) -> Erasure:
        """From the answer on nothing that was recorded before is read. Raises OutOfTime where it goes on by itself."""
        erasure_id = self._new_id()
        erasure = Erasure(id=erasure_id, user_id=scope.user_id, at=now, lapses=lapses_of(self._engines, now))
        self._begin(scope, erasure, real_now, actor)
        self._note(scope, erasure)
        hidden = self.hide(scope, erasure, remaining_seconds)
        return self._counted(scope, replace(erasure, counts=hidden), now)

    def hide(self, scope: Scope, erasure: Erasure, remaining_seconds: RemainingSeconds) -> Mapping[str, int]:
        """Empties the store, the newest things too: until then the user has not begun anew. Raises OutOfTime."""
        counts: Counter[str] = Counter()
        after: str | None = None
        while True:
            page = self._eraser.erase(scope.user, _kept(erasure), _PAGE, after)
            counts.update(page.counts)
            after = page.more
            if after is None:
                return counts
            if remaining_seconds() < _RESERVE_SECONDS:
                raise OutOfTime(f"the erasure {erasure.id} is stored and goes on; ask again until it is accepted")

    def resume(self, scope: Scope, erasure_id: str, now: datetime) -> None:
        """Does an erasure again on a table that does not know of it, or knows of its beginning."""
        erasure = Erasure(id=erasure_id, user_id=scope.user_id, at=now, lapses=lapses_of(self._engines, now))
        self._write_once(of_tenant(scope.tenant), self._work(scope, erasure, now), now)
        erasure = self._known(scope.tenant, erasure_id) or erasure  # its time is that of the first try
        self._write_once(scope.user, [_entry(erasure, Actor(ActorKind.JOB, JOB_KIND))], now)
        self._eraser_walk(scope, Exempt(before=erasure_id))

    def _write_once(self, owner: Scope, writes: Sequence[ItemWrite], now: datetime) -> None:
        with suppress(VersionMismatch):  # an earlier try has done that
            self._items.write(owner, writes, now)

    def _eraser_walk(self, scope: Scope, exempt: Exempt) -> None:
        after: str | None = None
        while True:
            after = self._eraser.erase(scope.user, exempt, _PAGE, after).more
            if after is None:
                return

    def report(self, tenant: str, erasure_id: str) -> ErasureReport:
        """How it stands. Raises NotFound."""
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
        """See `JobKind`: the store, what lies elsewhere, and reading back; the last walk is a job of its own."""
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
        """Read back from every part; what is there is taken away again."""
        left = self._eraser.left(scope, exempt) + sum(check(scope, exempt) for check in self._checks)
        if left:
            rounds = int(state.get("rounds", 0)) + 1
            again = {**state, "part": _STORE, "place": 0, "rounds": rounds}
            return JobProgress(state=again, pause=timedelta(seconds=min(2**rounds, 60)), given_up=rounds > _TRIES)
        if not state.get("again"):
            self._ask_again(scope, state, now)
        return JobProgress(state=state, done=True, share=1.0)

    def _begin(self, scope: Scope, erasure: Erasure, real_now: datetime, actor: Actor) -> None:
        """The user's entry of the audit; then the erasure, its job and the bound below which the user's records are
        refused, all at once.
        """
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

    def _counted(self, scope: Scope, erasure: Erasure, now: datetime) -> Erasure:
        write = ItemWrite(erasure_key(erasure.id), erasure_document(erasure))
        self._items.write(of_tenant(scope.tenant), [write], now)
        return erasure

    def _ask_again(self, scope: Scope, state: Mapping[str, Any], now: datetime) -> None:
        """The last walk, some minutes later; made once, whatever is tried again."""
        job_id = f"{state['before']}.again"
        later = now + AGAIN_AFTER
        first = {"user_id": scope.user_id, "before": state["before"], "again": True, JOB_ID: job_id}
        job = Job(id=job_id, kind=JOB_KIND, asked_at=later, started_at=later, state=first, retry_at=later)
        try:
            self._items.write(of_tenant(scope.tenant), [job_write(job)], now)
        except VersionMismatch:
            return

    def _new_id(self) -> str:
        return self._ids.fresh()


def _entry(erasure: Erasure, actor: Actor) -> ItemWrite:
    targets = (erasure.id,)
    return audit_write(
        AuditEntry(id=erasure.id, at=erasure.at, actor=actor, action=Action.ERASE, target_ids=targets, via="erase")
    )


def _kept(erasure: Erasure) -> Exempt:
    """The user's own entry of the audit, alone."""
    return Exempt(frozenset([audit_key(erasure.id, erasure.at)]))


class EraseDocuments:
    """The search index; a document of what is there again stays."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def __call__(
        self, scope: Scope, exempt: Exempt, _now: datetime, deadline: RemainingSeconds
    ) -> Mapping[str, int] | None:
        """Removes what is listed, page by page."""
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
        """How many documents are there."""
        count, after = 0, None
        while True:
            page = self._index.listed(scope, _PAGE, after)
            count += sum(not exempt.keeps_record(ref.id) for ref in page.refs)
            after = page.more
            if after is None:
                return count


@dataclass(frozen=True, slots=True)
class Indexed:
    """Snapshots of the tenant's indexes: how many objects were erased, how many records are left but those it keeps."""

    erase: Callable[[Scope], int]
    left: Callable[[Scope, Callable[[str], bool]], int]


class EraseArchive:
    """Segments, snapshots, those of indexes and retention's archives, with every earlier version of each object."""

    def __init__(self, rewrite: RewriteSegments, store: SnapshotStore, indexed: Indexed) -> None:
        self._rewrite = rewrite
        self._store = store
        self._indexed = indexed

    def __call__(
        self, scope: Scope, _kept: Exempt, _now: datetime, _deadline: RemainingSeconds
    ) -> Mapping[str, int] | None:
        """Takes them away; of what the user has said since, segments are written again."""
        report, indexed = self._rewrite.erase(scope), self._indexed.erase(scope)
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
        """How many records are read back that should be gone, and how many of retention's archives are there."""
        records = self._rewrite.left(scope, exempt.keeps_record) + self._indexed.left(scope, exempt.keeps_record)
        return records + len(self._archived(scope))

    def _archived(self, scope: Scope) -> list[str]:
        return list(self._store.names(scope.tenant, f"{archive_folder(scope.user_id)}/"))


class EraseCopies:
    """What others imported from the user."""

    def __init__(self, copies: ForgetCopies) -> None:
        self._copies = copies

    def __call__(
        self, scope: Scope, _kept: Exempt, now: datetime, deadline: RemainingSeconds
    ) -> Mapping[str, int] | None:
        """Deletes them, page by page."""
        count = 0
        while True:
            found = self._copies.page(scope, _PAGE, now)
            count += found.forgotten
            if found.last:
                return {"copies": count}
            if deadline() < _RESERVE_SECONDS:
                return None

    def left(self, scope: Scope, _kept: Exempt) -> int:
        """Whether there are any."""
        return self._copies.left(scope)


class EraseFromList:
    """The tenant's list of users: a user who is there again stays on it."""

    def __init__(self, users: KnownUsers, timeline: Timeline) -> None:
        self._users = users
        self._timeline = timeline

    def __call__(
        self, scope: Scope, _kept: Exempt, now: datetime, _deadline: RemainingSeconds
    ) -> Mapping[str, int] | None:
        """Takes the user off; whoever comes meanwhile is noted again by the next projection."""
        if self._timeline.records(scope, 1, None).events:
            return {}
        self._users.forget(scope, now)
        return {"users": 1}
