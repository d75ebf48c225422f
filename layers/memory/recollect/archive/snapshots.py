"""The jobs `snapshot` and `restore`: piece by piece, while reads and writes go on (A-52, A-55).

A repeated step of a snapshot writes nothing twice, since the user's own object lists the written pieces. Records
deleted while their piece is written are found by reading again afterwards. A slot's value is written as superseded
even where that is not projected yet: else, with the newer one deleted, it would come back with the snapshot (P-22).

A restore imports into this store, of another or the same snapshot: stored records stay, and what was deleted or erased
since stays deleted (`ImportMemories`). It is idempotent; what is unreadable is reported and skipped.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from recollect.archive.compact import RewriteSegments
from recollect.archive.record_line import RecordLine
from recollect.archive.segment_archive import ReadSegments
from recollect.archive.snapshot import (
    PIECE_EVENTS,
    Snapshot,
    SnapshotPiece,
    Snapshots,
    SnapshotUser,
    piece_name,
    vectors_bytes,
    vectors_in,
    vectors_name,
)
from recollect.archive.transfer import ImportMemories, ImportOrder, LineOutcome, RecordLines
from recollect.core.errors import InvalidInput, NotFound
from recollect.core.event import Event
from recollect.core.items import ALL_PAGES, pages
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso
from recollect.jobs.job import JOB_ID, JobProgress, Pace, RemainingSeconds, portion_of
from recollect.memories.audit import Actor, ActorKind
from recollect.ports import Projections, Timeline
from recollect.timeline.listing import KnownUsers
from recollect.timeline.slots import entry_of, slot_of, successor
from recollect.timeline.timeline import Tail

TIMELINE = "timeline"
"""Instead of a snapshot's id: the segments of the timelines, as far as they were compacted."""

RESTORE = Actor(ActorKind.JOB, "restore")
_RESERVE_SECONDS = 6.0
_RESTORE_RESERVE_SECONDS = 8.0
_PAGE = 300
_NONE = {"users": 0, "events": 0, "memories": 0, "bytes": 0}


@dataclass(frozen=True, slots=True)
class TakeSnapshot:
    """The job kind `snapshot`; the snapshot has the job's id. Parameters: `user_id`, absent for every user."""

    _timeline: Timeline
    _projections: Projections
    _snapshots: Snapshots
    _users: KnownUsers
    _lines: RecordLines
    _rewrite: RewriteSegments

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """Writes pieces while there is time, one at least: a step that has little of it gets on as well.

        The next state has the current user, the counts so far, and how many records were `seen`.
        """
        going = self._begun(tenant, state, now)
        counts: Counter[str] = Counter()
        pace = Pace(deadline, _RESERVE_SECONDS)
        while True:
            if going.get("current") is None and not self._next_user(tenant, going):
                self._finish(tenant, going)
                return JobProgress(state=going, counts=counts, done=True)
            user = self._piece(Scope(tenant, going["current"]), going[JOB_ID], now)
            going["seen"] += user.pieces[-1].records if user.pieces else 0
            if user.whole:
                counts.update(user.counts)
                going["counts"] = {name: count + going["counts"][name] for name, count in user.counts.items()}
                going["current"] = None
            if pace.over:
                return JobProgress(state=going, counts=counts)

    def _begun(self, tenant: str, state: Mapping[str, Any], now: datetime) -> dict[str, Any]:
        """The state of the first step; enters users whose first events are not projected yet."""
        if "created_at" in state:
            return {"seen": 0, **state}
        self._snapshots.begin(tenant, state[JOB_ID])
        for page in pages(lambda after: self._projections.pending(_PAGE, after), ALL_PAGES):
            for scope in {marker.scope.user for marker in page.markers if marker.scope.tenant == tenant}:
                self._users.note(scope, now)
        return {"created_at": iso(now), "counts": dict(_NONE), "last": False, "seen": 0, **state}

    def _next_user(self, tenant: str, going: dict[str, Any]) -> bool:
        if going["last"]:
            return False
        if going.get("user_id") is not None:
            going |= {"current": going["user_id"], "last": True}
            return True
        page = self._users.page(tenant, 1, going.get("after"))
        going |= {"after": page.more, "last": page.more is None, "current": next(iter(page.user_ids), None)}
        return going["current"] is not None

    def _piece(self, scope: Scope, snapshot_id: str, now: datetime) -> SnapshotUser:
        user, tag = self._snapshots.user(scope, snapshot_id)
        if user.whole:
            return user
        tail = self._timeline.tail(scope)  # before the records: events stored in between are among those
        page = self._timeline.records(scope, PIECE_EVENTS, user.after)
        written = user
        if page.events:
            lines = self._lines.read(scope, self._superseded(scope, page.events, tail), now)
            written = user.with_piece(self._written(scope, snapshot_id, len(user.pieces), page.events, lines))
        written = replace(written, whole=page.more is None)
        self._snapshots.put_user(scope, snapshot_id, written, tag)
        self._without_deleted(scope, lines if page.events else (), now)
        return written

    def _superseded(self, scope: Scope, events: Sequence[Event], tail: Tail) -> list[Event]:
        """The events in order; those with a newer value in their slot marked as superseded, projected or not."""
        current = [event for event in events if event.key is not None and event.superseded_by is None]
        if not current:
            return list(events)
        pending = self._timeline.read(scope, tail.refs) if tail.refs else {}
        known = {event.id: event for event in (*pending.values(), *events)}.values()
        marked = {event.id: self._marked(scope, event, None if tail.cut else known) for event in current}
        return [marked.get(event.id, event) for event in events]

    def _marked(self, scope: Scope, event: Event, known: Iterable[Event] | None) -> Event:
        """`known` has all events that may not be projected; None where too many wait: then the slot itself is read."""
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
        self._snapshots.archive.put(scope, vectors_name(snapshot_id, scope.user_id, number), vectors)
        first, last = ((iso(event.timestamp), event.id) for event in (events[0], events[-1]))
        memories = sum(line.memory is not None for line in lines)
        return SnapshotPiece(first, last, packed.lines, memories, len(packed.data) + len(vectors))

    def _without_deleted(self, scope: Scope, lines: Sequence[RecordLine], now: datetime) -> None:
        refs = [line.event.ref for line in lines]
        there = self._timeline.read(scope, refs) if refs else {}
        gone = [ref for ref in refs if ref.id not in there]
        if gone:
            self._rewrite.rewrite(scope, gone, now)

    def _finish(self, tenant: str, going: Mapping[str, Any]) -> None:
        made = Snapshot(going[JOB_ID], from_iso(going["created_at"]), going.get("user_id"), going["counts"])
        self._snapshots.finish(tenant, made)


@dataclass(frozen=True, slots=True)
class RestorePlace:
    """A user in the source: the name to continue after, and the number of pieces."""

    name: str
    user_id: str
    pieces: int


@dataclass(frozen=True, slots=True)
class RestoreSnapshot:
    """The job kind `restore`. Parameters: `snapshot_id`, or `timeline`; `user_id`, absent for every user in it."""

    _snapshots: Snapshots
    _segments: ReadSegments
    _import: ImportMemories
    _projections: Projections

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """Restores pieces while there is time. Raises NotFound for an unknown snapshot."""
        source = self._source(tenant, state)
        going = {"seen": 0, **state}
        counts: Counter[str] = Counter()
        pace = Pace(deadline, _RESTORE_RESERVE_SECONDS)
        total = source.records if going.get("user_id") is None else None
        for place in self._places(tenant, going, source):
            scope = Scope(tenant, place.user_id)
            for number in range(int(going.get("piece", 0)), place.pieces):
                if pace.over:
                    portion = portion_of(going["seen"], total, "records")
                    return JobProgress(state=going, counts=counts, portion=portion)
                restored = self._piece(scope, source, number, now)
                counts.update(restored)
                going |= {"piece": number + 1, "seen": going["seen"] + sum(restored.values())}
            counts["users"] += 1
            going |= {"name": place.name, "piece": 0}
        return JobProgress(state=going, counts=counts, done=True)

    def _source(self, tenant: str, state: Mapping[str, Any]) -> "RestoreSource":
        snapshot_id = state.get("snapshot_id")
        if not isinstance(snapshot_id, str):
            raise InvalidInput("a restore names its snapshot", ("snapshot_id",))
        if snapshot_id == TIMELINE:
            return _OfTimeline(self._segments)
        snapshot = self._snapshots.one(tenant, snapshot_id)
        return _OfSnapshot(self._snapshots, snapshot.id, snapshot.counts.get("events"))

    def _places(self, tenant: str, going: Mapping[str, Any], source: "RestoreSource") -> Iterator[RestorePlace]:
        user_id = going.get("user_id")
        if user_id is None:
            return source.users(tenant, going.get("name"))
        return iter([] if "name" in going else [source.user(Scope(tenant, user_id))])

    def _piece(self, scope: Scope, source: "RestoreSource", number: int, now: datetime) -> dict[str, int]:
        lines = source.lines(scope, number)
        report = self._import.import_lines(scope, lines, ImportOrder(actor=RESTORE, via="restore", now=now))
        refs = {ref.id: ref for ref in report.created}
        vectors = vectors_in(source.vectors(scope, number), refs) if refs else []
        if vectors:
            self._projections.save(scope, vectors)
        return {outcome.value: report.counts[outcome] for outcome in LineOutcome}


class _OfSnapshot:
    def __init__(self, snapshots: Snapshots, snapshot_id: str, records: int | None) -> None:
        self.records = records
        self._snapshots = snapshots
        self._id = snapshot_id

    def users(self, tenant: str, after: str | None) -> Iterator[RestorePlace]:
        for name, user in self._snapshots.users(tenant, self._id, after):
            yield RestorePlace(name, user.user_id, len(user.pieces))

    def user(self, scope: Scope) -> RestorePlace:
        user, tag = self._snapshots.user(scope, self._id)
        if tag is None:
            raise NotFound("the snapshot has nothing of this user")
        return RestorePlace(user.user_id, user.user_id, len(user.pieces))

    def lines(self, scope: Scope, number: int) -> list[RecordLine]:
        return self._snapshots.lines(scope, self._id, number)

    def vectors(self, scope: Scope, number: int) -> bytes:
        return self._snapshots.vectors(scope, self._id, number)


class _OfTimeline:
    records: int | None = None

    def __init__(self, segments: ReadSegments) -> None:
        self._segments = segments

    def users(self, tenant: str, after: str | None) -> Iterator[RestorePlace]:
        for name, manifest in self._segments.manifests(tenant, after):
            yield RestorePlace(name, manifest.user_id, len(manifest.segments))

    def user(self, scope: Scope) -> RestorePlace:
        return RestorePlace(scope.user_id, scope.user_id, len(self._segments.manifest(scope).segments))

    def lines(self, scope: Scope, number: int) -> list[RecordLine]:
        entries = self._segments.manifest(scope).segments
        return self._segments.segment(scope, entries[number].id) if number < len(entries) else []

    def vectors(self, _scope: Scope, _number: int) -> bytes:
        return b""


RestoreSource: TypeAlias = _OfSnapshot | _OfTimeline
