"""The jobs of the index: `reindex` rebuilds it, `RotateIndex` snapshots it, `BeginReindex` starts a rebuild on a
laptop.

`reindex` builds an index beside the one in use, checks it, switches to it and drops the old one. From `vectors` it
makes documents of the records with stored vectors, and encodes missing ones; from `events` it derives everything again
(`rederive.py`). Reads and writes go on: writes to both indexes, reads to the one in use. Steps are idempotent (A-33 to
A-37).

A rotation writes the vectors of a tenant to `semantic-index/`, user by user, page by page (A-36), as the last part of
the job `snapshot`. Records deleted while their page is written are found by reading again afterwards.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from recollect.core.errors import InvalidInput, NotReady, RecollectError
from recollect.core.event import Event, EventRef
from recollect.core.ids import IdSource
from recollect.core.items import ABSENT, of_tenant
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso
from recollect.jobs.job import JOB_ID, JobKind, JobProgress, Pace, Portion, RemainingSeconds, portion_of
from recollect.jobs.run import JobOrder, Jobs
from recollect.memories.reading import ReadMemories
from recollect.memories.representation import indexed
from recollect.ports import Items, Projections, SearchIndex, Timeline
from recollect.search_index.health import CheckIndex, CheckRebuilt, Sample
from recollect.search_index.page import SnapshotVector, words_hash
from recollect.search_index.rebuild import IndexSnapshots, RebuildIndex
from recollect.search_index.rederive import Rederive
from recollect.search_index.state import LOST, NO_GENERATION, Engines, IndexState, IndexStates
from recollect.timeline.listing import KnownUsers

KIND = "reindex"
FROM = "from"
VECTORS, EVENTS = "vectors", "events"
RESERVE_SECONDS = 10.0
MOST_PASSES = 3
PAGE = 500
MOST_USERS_COUNTED, MOST_RECORDS_COUNTED = 1_000, 1_000_000
_ROTATION_RESERVE_SECONDS = 6.0
_ROTATION = "semantic_index"
_ROTATED = 0.6
"""The share of a snapshot that is done when the rotation begins."""

_DROPPED_AT_ONCE = 1_000
_JOBS_CHECKED = 50
_MOST_TENANTS = 10_000


Maker: TypeAlias = RebuildIndex | Rederive
"""One walk over the records of a user, page by page."""


@dataclass(slots=True)
class _Step:
    """One step; `state` is what the next one begins with."""

    tenant: str
    state: dict[str, Any]
    now: datetime
    pace: Pace
    counts: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)

    def progress(self, **more: Any) -> JobProgress:
        return JobProgress(state=self.state, counts=dict(self.counts), errors=dict(self.errors), **more)


@dataclass(frozen=True, slots=True)
class Reindex:
    """A `JobKind`. `makers` by the value of `from`; `engines` has the index of this process's embedder.

    `ready` raises NotReady where the configured embedder is missing: an index of words must not replace its vectors.
    `dropped` is called after a tenant's generation was deleted. It moves a tenant from the former engine, too.
    """

    _engines: Engines
    _states: IndexStates
    _users: KnownUsers
    _makers: Mapping[str, Callable[[], Maker]]
    _ready: Callable[[], None]
    _dropped: Callable[[str, str], None]

    @property
    def _index(self) -> SearchIndex:
        return self._engines.index

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """See `JobKind`: as many pages as the time allows, at least one."""
        step = _Step(tenant, dict(state), now, Pace(deadline, RESERVE_SECONDS, PAGE))
        phases = {None: self._begin, "walk": self._walk, "switch": self._switch, "drop": self._drop}
        return phases[state.get("phase")](step)

    def _begin(self, step: _Step) -> JobProgress:
        """Writes go to both indexes from now on; pauses until other processes have read the new state."""
        if step.state.setdefault(FROM, VECTORS) not in self._makers:
            raise InvalidInput(f"one of {', '.join(self._makers)} is needed", ("body", FROM))
        self._ready()
        self._index.create()
        identity = self._index.identity()
        before = self._states.read(step.tenant)
        self._states.change(step.tenant, lambda state: self._begun(state, identity, before.version == ABSENT))
        step.state |= {"phase": "walk", "identity": identity}
        step.state |= self._extent(step.tenant, before.state)
        step.counts.update(rebuilt=0, dropped=0)
        return step.progress(pause=self._pause(), portion=_walked(step.state))

    def _extent(self, tenant: str, before: IndexState) -> dict[str, Any]:
        """How much there is to do: the records of the index in use; where it is lost, or of many users, the users."""
        users = self._users.page(tenant, MOST_USERS_COUNTED, None)
        former = self._engines.former() if self._engines.left(before) is not None else None
        beside = former or self._index
        in_use = beside if before.generation == beside.generation else beside.of(before.generation)
        records = in_use.count(of_tenant(tenant), most=MOST_RECORDS_COUNTED).documents if users.more is None else 0
        return {"of": "records", "total": records} if records else {"of": "users", "total": len(users.user_ids)}

    def _begun(self, state: IndexState, identity: str, first: bool) -> IndexState:
        known = IndexState(generation=state.generation, identity=identity) if first else state
        return known.begun(self._index.generation)

    def _pause(self) -> timedelta | None:
        return timedelta(seconds=self._states.cache_seconds) if self._states.cache_seconds else None

    def _walk(self, step: _Step) -> JobProgress:
        """Gives up where a user's documents are not all visible after three passes."""
        maker = self._makers[step.state[FROM]]()
        while True:
            if "user" not in step.state and not self._next_user(step):
                step.state["phase"] = "switch"
                return step.progress(share=0.9)
            if step.state.get("passes", 1) > MOST_PASSES:
                step.errors["IndexLacksDocuments"] += 1
                return step.progress(given_up=True)
            self._page(step, Scope(step.tenant, step.state["user"]), maker)
            step.pace.took_one()
            if step.pace.over:
                settled = Counter(maker.settled())
                step.counts.update(settled)
                step.state["walked"] = step.state.get("walked", 0) - settled["refused"]
                portion = _walked(step.state)
                return step.progress(portion=portion, share=0.9 * portion.share if portion else None)

    def _next_user(self, step: _Step) -> bool:
        """Users added meanwhile are in both indexes anyway."""
        if step.state.get("last"):
            return False
        page = self._users.page(step.tenant, 1, step.state.get("users"))
        step.state |= {"users": page.more, "last": page.more is None}
        if page.user_ids:
            step.state["user"] = page.user_ids[0]
        return bool(page.user_ids)

    def _page(self, step: _Step, scope: Scope, maker: Maker) -> None:
        if "orphans" in step.state:
            self._orphans(step, scope, maker)
            return
        page = maker.page(scope, _place(step.state.get("after")), step.pace.size, step.now)
        step.counts.update(page.counts)
        step.state["walked"] = step.state.get("walked", 0) + page.documents
        if step.state.get("of") == "records" and step.state.get("passes", 1) == 1:
            step.state["seen"] = step.state.get("seen", 0) + page.documents
        step.state["after"] = _stored(page.more)
        if page.more is None:
            self._finish_user(step, scope, page.sample)

    def _finish_user(self, step: _Step, scope: Scope, sample: Sample | None) -> None:
        """Leaves the user where the index shows at least what was written, else walks once more."""
        found = CheckRebuilt(self._index).check(scope, step.state.pop("walked"), sample, step.now)
        passes = step.state.get("passes", 1)
        if found.too_many:
            step.state["orphans"] = None
        elif found.whole:
            self._leave_user(step)
        else:
            step.state["passes"] = passes + 1

    def _orphans(self, step: _Step, scope: Scope, maker: Maker) -> None:
        removed, more = maker.orphans(scope, step.state["orphans"], step.pace.size)
        step.counts["removed"] += removed
        step.state["orphans"] = more
        if more is None:
            self._leave_user(step)

    def _leave_user(self, step: _Step) -> None:
        step.counts["users"] += 1
        if step.state.get("of") == "users":
            step.state["seen"] = step.state.get("seen", 0) + 1
        for name in ("user", "after", "passes", "orphans", "walked"):
            step.state.pop(name, None)

    def _switch(self, step: _Step) -> JobProgress:
        """One conditional write moves the pointer. Raises NotReady where the index was lost meanwhile."""
        if self._index.identity() != step.state["identity"]:
            raise NotReady("the index was lost while it was built")
        before = self._states.read(step.tenant).state
        generation, identity, left = self._index.generation, step.state["identity"], self._engines.left(before)
        self._states.change(step.tenant, lambda state: state.switched(generation, identity))
        if before.generation == generation and left is None:
            return step.progress(done=True, share=1.0)
        step.state |= {"phase": "drop", "old": before.generation, "left": left is not None}
        return step.progress(pause=self._pause(), share=0.9)

    def _drop(self, step: _Step) -> JobProgress:
        """The old index of the tenant, once no process reads it any more."""
        old, former = step.state["old"], self._engines.former() if step.state.get("left") else None
        beside, whole = (former or self._index).of(old), old not in self._others(step.tenant, left=former is not None)
        while True:
            dropped = beside.drop(step.tenant, _DROPPED_AT_ONCE, whole=whole)
            step.counts["dropped"] += dropped
            if not dropped:
                if old != self._index.generation:
                    self._dropped(step.tenant, old)
                return step.progress(done=True, share=1.0)
            if step.pace.over:
                return step.progress(share=0.95)

    def _others(self, tenant: str, *, left: bool) -> set[str]:
        """The generations of other tenants, in this engine or in the former one."""
        states = [state for other, state in self._states.all() if other != tenant]
        return {g for state in states if (self._engines.left(state) is not None) is left for g in state.generations}


def _walked(state: Mapping[str, Any]) -> Portion | None:
    return portion_of(state.get("seen", 0), state.get("total"), state.get("of", "records"))


def _place(stored: list[str] | None) -> EventRef | None:
    return EventRef(stored[0], from_iso(stored[1])) if stored else None


def _stored(ref: EventRef | None) -> list[str] | None:
    return [ref.id, iso(ref.timestamp)] if ref else None


@dataclass(frozen=True, slots=True)
class RotateIndex:
    """A `JobKind`: runs the steps of `first`, such as those of a snapshot, then its own."""

    _timeline: Timeline
    _projections: Projections
    _items: Items
    _users: KnownUsers
    _snapshots: Callable[[], IndexSnapshots]
    _generation: str
    _counted: Callable[[Scope], int]
    _first: JobKind | None = None

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """See `JobKind`. Counts `indexed`: vectors in the snapshot of the index."""
        total = state["total"] if "total" in state else self._counted(Scope(tenant, state.get("user_id") or ""))
        state = {**state, "total": total}
        if self._first is None or _ROTATION in state:
            return self._own(tenant, {**state, _ROTATION: dict(state.get(_ROTATION, {}))}, deadline)
        progress = self._first.step(tenant, state, now, deadline)
        going = {**progress.state, _ROTATION: {}} if progress.done else progress.state
        portion = portion_of(int(progress.state.get("seen", 0)), total, "records")
        share = _ROTATED if progress.done else _ROTATED * portion.share if portion else None
        return replace(progress, state=going, portion=portion, share=share, done=False)

    def _own(self, tenant: str, state: dict[str, Any], deadline: RemainingSeconds) -> JobProgress:
        walk, indexed, pace = state[_ROTATION], 0, Pace(deadline, _ROTATION_RESERVE_SECONDS, PAGE)
        while True:
            if self._generation == NO_GENERATION or ("user" not in walk and not self._next_user(tenant, state)):
                return JobProgress(state=state, counts={"indexed": indexed}, done=True)
            made, records = self._page(Scope(tenant, walk["user"]), str(state[JOB_ID]), walk)
            indexed, walk["seen"] = indexed + made, walk.get("seen", 0) + records
            if pace.over:
                portion = portion_of(walk["seen"], state["total"], "records")
                share = _ROTATED + (1 - _ROTATED) * portion.share if portion else None
                return JobProgress(state=state, counts={"indexed": indexed}, portion=portion, share=share)

    def _next_user(self, tenant: str, state: dict[str, Any]) -> bool:
        walk = state[_ROTATION]
        if walk.get("last"):
            return False
        page = self._users.page(tenant, 1, walk.get("users"))
        user_ids = [state["user_id"]] if state.get("user_id") is not None else list(page.user_ids)
        walk |= {"users": page.more, "last": page.more is None or state.get("user_id") is not None, "number": 0}
        walk |= {"user": user_ids[0]} if user_ids else {}
        return bool(user_ids)

    def _page(self, scope: Scope, rotation: str, walk: dict[str, Any]) -> tuple[int, int]:
        """How many vectors were written, of how many records."""
        page, snapshots = self._timeline.records(scope, PAGE, _place(walk.get("after"))), self._snapshots()
        vectors = self._vectors(scope, page.events) if page.events else []
        if vectors:
            snapshots.put(scope, rotation, walk["number"], page.events[0].ref, vectors)
            there = self._timeline.read(scope, [event.ref for event in page.events])
            gone = [event.ref for event in page.events if event.id not in there]
            if gone:
                snapshots.forget(scope, gone)
        walk |= {"number": walk["number"] + 1, "after": _stored(page.more)}
        if page.more is None:
            snapshots.finish(scope, rotation)
            walk.pop("user")
        return len(vectors), len(page.events)

    def _vectors(self, scope: Scope, events: Sequence[Event]) -> list[SnapshotVector]:
        """The stored vectors, except of memories whose change is not projected yet: their words are newer."""
        kept = self._projections.vectors(scope, [event.id for event in events])
        fit = {i: one.vector for i, one in kept.items() if one.generation == self._generation}
        memories = ReadMemories(self._items).stored(scope, fit)
        changed = {i for i, one in memories.items() if one.memory.id == i and one.item.due is not None}
        own = {i: one.memory for i, one in memories.items() if one.memory.id == i}
        words = {event.id: words_hash(indexed(event, own.get(event.id)).passage) for event in events}
        return [SnapshotVector(i, words[i], v) for i, v in fit.items() if v is not None and i not in changed]


@dataclass(slots=True, eq=False)
class BeginReindex:
    """Starts `reindex` where an index is another embedder's, lost or incomplete (A-34).

    In the cloud of lost ones alone (`refill`), which are made anew from stored vectors: an operator decides about
    another embedder, since to encode everything may take hours and cost money; readiness shows that it is needed.
    `begin` checks every `pause_seconds`. At most one job of a tenant is started in `again_seconds`.
    """

    _check: CheckIndex
    _jobs: Jobs
    _ids: IdSource
    _ready: Callable[[], None]
    _pause_seconds: float = 5.0
    _again_seconds: float = 60.0
    _checked_at: float | None = field(default=None, init=False)
    _begun: dict[str, float] = field(default_factory=dict, init=False)

    def begin(self, now: datetime) -> list[str]:
        """The tenants whose rebuild was started; none while the embedder is missing.

        Raises what the parts raise; where one tenant's job cannot be started, once all others are.
        """
        if self._checked_at is not None and time.monotonic() - self._checked_at < self._pause_seconds:
            return []
        self._checked_at = time.monotonic()
        return self._begin_all(self._check.lagging(_MOST_TENANTS), now)

    def refill(self, now: datetime) -> list[str]:
        """The same for the tenants whose index is not the one that they wrote to, however lately it was checked.

        Counts no documents.
        """
        found = self._check.lagging(_MOST_TENANTS, counted=0)
        return self._begin_all([tenant for tenant, reason in found.items() if reason == LOST], now)

    def _begin_all(self, lagging: Iterable[str], now: datetime) -> list[str]:
        begun, failures = [], []
        for tenant in lagging:
            try:
                if self._is_due(tenant) and self._is_ready():
                    self._begin(tenant, now)
                    begun.append(tenant)
            except Exception as error:  # noqa: BLE001 - one tenant's failure must not stop the others
                failures.append(error)
        if failures:
            raise failures[0]
        return begun

    def _is_ready(self) -> bool:
        try:
            self._ready()
        except RecollectError:
            return False
        return True

    def _is_due(self, tenant: str) -> bool:
        begun = self._begun.get(tenant)
        if begun is not None and time.monotonic() - begun < self._again_seconds:
            return False
        jobs = [job for job in self._jobs.newest(tenant, _JOBS_CHECKED) if job.kind == KIND]
        return all(job.finished for job in jobs)

    def _begin(self, tenant: str, now: datetime) -> None:
        order = JobOrder(kind=KIND, parameters={"from": "vectors"}, now=now, real_now=now)
        self._jobs.start(tenant, order, self._ids.seed(int(now.timestamp() * 1000)))
        self._begun[tenant] = time.monotonic()
