"""Takes a snapshot of a tenant or of one user, piece by piece, while everything goes on (job `snapshot`).

What was written is found again by the user's own object: a step that is done twice writes nothing twice. What is
deleted while its piece is written is found by reading again afterwards. A slot's value says who superseded it though
that is not projected yet: where the newer one is deleted, the older one must not come back with the snapshot (P-22).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.application.known_users import KnownUsers
from recollect.application.record_lines import RecordLines
from recollect.application.rewrite_segments import RewriteSegments
from recollect.application.snapshot_store import Snapshots
from recollect.domain.event import Event
from recollect.domain.instants import from_iso, iso
from recollect.domain.job import JOB_ID, JobProgress, RemainingSeconds
from recollect.domain.record_line import RecordLine
from recollect.domain.scope import Scope
from recollect.domain.slots import entry_of, slot_of, successor
from recollect.domain.snapshot import (
    PIECE_EVENTS,
    Snapshot,
    SnapshotPiece,
    SnapshotUser,
    piece_name,
    vectors_bytes,
)
from recollect.domain.timeline import Tail
from recollect.ports import Projections, Timeline

_RESERVE_SECONDS = 6.0
_PAGE = 300
_NONE = {"users": 0, "events": 0, "memories": 0, "bytes": 0}


class TakeSnapshot:
    """The job kind `snapshot`; the snapshot has the job's id. Parameters: `user_id`, absent for every user."""

    def __init__(
        self,
        timeline: Timeline,
        projections: Projections,
        snapshots: Snapshots,
        users: KnownUsers,
        lines: RecordLines,
        rewrite: RewriteSegments,
    ) -> None:
        self._timeline = timeline
        self._projections = projections
        self._snapshots = snapshots
        self._users = users
        self._lines = lines
        self._rewrite = rewrite

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """Writes pieces while there is time. `state` after it: whose turn it is, and what was counted so far."""
        going = self._begun(tenant, state, now)
        counts: Counter[str] = Counter()
        while deadline() > _RESERVE_SECONDS:
            if going.get("current") is None and not self._next_user(tenant, going):
                self._finish(tenant, going)
                return JobProgress(state=going, counts=counts, done=True)
            user = self._piece(Scope(tenant, going["current"]), going[JOB_ID], now)
            if user.whole:
                counts.update(user.counts)
                going["counts"] = {name: count + going["counts"][name] for name, count in user.counts.items()}
                going["current"] = None
        return JobProgress(state=going, counts=counts)

    def _begun(self, tenant: str, state: Mapping[str, Any], now: datetime) -> dict[str, Any]:
        """The state of a first step; by then everybody who said something is known, though nothing is projected."""
        if "created_at" in state:
            return dict(state)
        self._snapshots.begin(tenant, state[JOB_ID])
        after: str | None = None
        while True:
            page = self._projections.pending(_PAGE, after)
            for scope in {marker.scope.user for marker in page.markers if marker.scope.tenant == tenant}:
                self._users.note(scope, now)
            after = page.more
            if after is None:
                return {"created_at": iso(now), "counts": dict(_NONE), "last": False, **state}

    def _next_user(self, tenant: str, going: dict[str, Any]) -> bool:
        """Moves on to the next user; False where there is none."""
        if going["last"]:
            return False
        if going.get("user_id") is not None:
            going |= {"current": going["user_id"], "last": True}
            return True
        page = self._users.page(tenant, 1, going.get("after"))
        going |= {"after": page.more, "last": page.more is None, "current": next(iter(page.user_ids), None)}
        return going["current"] is not None

    def _piece(self, scope: Scope, snapshot_id: str, now: datetime) -> SnapshotUser:
        """Writes the next piece of a user; the user as they stand then."""
        user, tag = self._snapshots.user(scope, snapshot_id)
        if user.whole:
            return user
        tail = self._timeline.tail(scope)  # before the records: what is stored in between is among those
        page = self._timeline.records(scope, PIECE_EVENTS, user.after)
        written = user
        if page.events:
            lines = self._lines(scope, self._superseded(scope, page.events, tail), now)
            written = user.with_piece(self._written(scope, snapshot_id, len(user.pieces), page.events, lines))
        written = replace(written, whole=page.more is None)
        self._snapshots.put_user(scope, snapshot_id, written, tag)
        self._without_deleted(scope, lines if page.events else (), now)
        return written

    def _superseded(self, scope: Scope, events: Sequence[Event], tail: Tail) -> list[Event]:
        """The events in order; those that something newer of their slot holds over say so, projected or not."""
        current = [event for event in events if event.key is not None and event.superseded_by is None]
        if not current:
            return list(events)
        pending = self._timeline.read(scope, tail.refs) if tail.refs else {}
        known = {event.id: event for event in (*pending.values(), *events)}.values()
        told = {event.id: self._told(scope, event, None if tail.cut else known) for event in current}
        return [told.get(event.id, event) for event in events]

    def _told(self, scope: Scope, event: Event, known: Iterable[Event] | None) -> Event:
        """`known` has all that may not be projected; None where so much waits that the slot itself is read."""
        slot = slot_of(event)
        if slot is None:
            return event
        values = self._timeline.of_slot(scope, slot) if known is None else known
        by = successor(entry_of(event), (entry_of(one) for one in values if slot_of(one) == slot))
        return replace(event, superseded_by=by.ref.id, superseded_at=by.ref.timestamp) if by else event

    def _written(
        self, scope: Scope, snapshot_id: str, number: int, events: Sequence[Event], lines: Sequence[RecordLine]
    ) -> SnapshotPiece:
        name = piece_name(snapshot_id, scope.user_id, number)
        packed = self._snapshots.archive.write(scope, name, lines)
        kept = self._projections.vectors(scope, [line.event.id for line in lines])
        vectors = vectors_bytes([kept[line.event.id] for line in lines if line.event.id in kept])
        self._snapshots.put_vectors(scope, snapshot_id, number, vectors)
        first, last = ((iso(event.timestamp), event.id) for event in (events[0], events[-1]))
        memories = sum(line.memory is not None for line in lines)
        return SnapshotPiece(first, last, packed.lines, memories, len(packed.data) + len(vectors))

    def _without_deleted(self, scope: Scope, lines: Sequence[RecordLine], now: datetime) -> None:
        refs = [line.event.ref for line in lines]
        there = self._timeline.read(scope, refs) if refs else {}
        gone = [ref for ref in refs if ref.id not in there]
        if gone:
            self._rewrite(scope, gone, now)

    def _finish(self, tenant: str, going: Mapping[str, Any]) -> None:
        made = Snapshot(going[JOB_ID], from_iso(going["created_at"]), going.get("user_id"), going["counts"])
        self._snapshots.finish(tenant, made)
