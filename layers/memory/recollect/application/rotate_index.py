"""Rotation: a snapshot of a tenant's index to `semantic-index/`, user by user, page by page (A-36).

The vectors alone: documents are made of the records. It is the last part of the job `snapshot`, and resumes as that
does. What is deleted while its page is written is found by reading again afterwards.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.application.index_snapshots import IndexSnapshots
from recollect.application.known_users import KnownUsers
from recollect.application.read_memories import ReadMemories
from recollect.domain.event import Event, EventRef
from recollect.domain.index_snapshot import KeptVector, words_hash
from recollect.domain.index_state import NO_GENERATION
from recollect.domain.instants import from_iso, iso
from recollect.domain.job import JOB_ID, JobKind, JobProgress, RemainingSeconds
from recollect.domain.representation import indexed
from recollect.domain.scope import Scope
from recollect.ports import Items, Projections, Timeline

PAGE = 500
_RESERVE_SECONDS = 6.0
_OWN = "semantic_index"


class RotateIndex:
    """A `JobKind`: first another one's steps, such as those of a snapshot, then its own."""

    def __init__(
        self,
        timeline: Timeline,
        projections: Projections,
        items: Items,
        users: KnownUsers,
        snapshots: Callable[[], IndexSnapshots],
        generation: str,
        first: JobKind | None = None,
    ) -> None:
        self._timeline = timeline
        self._projections = projections
        self._memories = ReadMemories(items)
        self._users = users
        self._snapshots = snapshots
        self._generation = generation
        self._first = first

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """See `JobKind`. Counts `indexed`: vectors in the snapshot of the index."""
        if self._first is not None and _OWN not in state:
            progress = self._first.step(tenant, state, now, deadline)
            if not progress.done:
                return progress
            going = {**progress.state, _OWN: {}}
            return JobProgress(state=going, counts=progress.counts, errors=progress.errors)
        return self._own(tenant, {**state, _OWN: dict(state.get(_OWN, {}))}, deadline)

    def _own(self, tenant: str, state: dict[str, Any], deadline: RemainingSeconds) -> JobProgress:
        walk, indexed = state[_OWN], 0
        while True:
            if self._generation == NO_GENERATION or ("user" not in walk and not self._next_user(tenant, state)):
                return JobProgress(state=state, counts={"indexed": indexed}, done=True)
            indexed += self._page(Scope(tenant, walk["user"]), str(state[JOB_ID]), walk)
            if deadline() < _RESERVE_SECONDS:
                return JobProgress(state=state, counts={"indexed": indexed})

    def _next_user(self, tenant: str, state: dict[str, Any]) -> bool:
        walk = state[_OWN]
        if walk.get("last"):
            return False
        page = self._users.page(tenant, 1, walk.get("users"))
        user_ids = [state["user_id"]] if state.get("user_id") is not None else list(page.user_ids)
        walk |= {"users": page.more, "last": page.more is None or state.get("user_id") is not None, "number": 0}
        walk |= {"user": user_ids[0]} if user_ids else {}
        return bool(user_ids)

    def _page(self, scope: Scope, rotation: str, walk: dict[str, Any]) -> int:
        page, snapshots = self._timeline.records(scope, PAGE, _place(walk.get("after"))), self._snapshots()
        vectors = self._vectors(scope, page.events) if page.events else []
        if vectors:
            snapshots.put(scope, rotation, walk["number"], page.events[0].ref, vectors)
            there = self._timeline.read(scope, [event.ref for event in page.events])
            gone = [event.ref for event in page.events if event.id not in there]
            if gone:
                snapshots.forget(scope, gone)
        walk |= {"number": walk["number"] + 1, "after": _told(page.more)}
        if page.more is None:
            snapshots.finish(scope, rotation)
            walk.pop("user")
        return len(vectors)

    def _vectors(self, scope: Scope, events: Sequence[Event]) -> list[KeptVector]:
        """What is kept of these events; not of a memory whose change is yet to be projected: its words are newer."""
        kept = self._projections.vectors(scope, [event.id for event in events])
        fit = {i: one.vector for i, one in kept.items() if one.generation == self._generation}
        memories = self._memories.kept(scope, fit)
        changed = {i for i, one in memories.items() if one.memory.id == i and one.item.due is not None}
        own = {i: one.memory for i, one in memories.items() if one.memory.id == i}
        words = {event.id: words_hash(indexed(event, own.get(event.id)).passage) for event in events}
        return [KeptVector(i, words[i], v) for i, v in fit.items() if v is not None and i not in changed]


def _place(told: list[str] | None) -> EventRef | None:
    return EventRef(told[0], from_iso(told[1])) if told else None


def _told(ref: EventRef | None) -> list[str] | None:
    return [ref.id, iso(ref.timestamp)] if ref else None
