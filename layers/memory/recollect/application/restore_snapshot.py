"""Restores a snapshot, or the archive of timelines, into this store, piece by piece (job `restore`, A-52, A-55).

What is there stays, what was deleted or erased since stays away (`import_memories`): so it may run twice, and into the
store that the snapshot was taken of. What cannot be read is told and left out.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollect.application.import_memories import ImportMemories, ImportOrder, LineOutcome
from recollect.application.read_segments import ReadSegments
from recollect.application.snapshot_store import Snapshots
from recollect.domain.audit import Actor, ActorKind
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.job import JobProgress, RemainingSeconds
from recollect.domain.record_line import RecordLine
from recollect.domain.scope import Scope
from recollect.domain.snapshot import vectors_in
from recollect.ports import Projections

TIMELINE = "timeline"
"""Instead of a snapshot's id: the segments of the timelines, as far as they were compacted."""

RESTORE = Actor(ActorKind.JOB, "restore")
_RESERVE_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class RestorePlace:
    """A user in what is restored: a name to go on after, whose it is, and in how many pieces."""

    name: str
    user_id: str
    pieces: int


class RestoreSource(Protocol):
    """Where records come from."""

    def users(self, tenant: str, after: str | None) -> Iterator[RestorePlace]: ...
    def user(self, scope: Scope) -> RestorePlace: ...
    def lines(self, scope: Scope, number: int) -> list[RecordLine]: ...
    def vectors(self, scope: Scope, number: int) -> bytes: ...


class RestoreSnapshot:
    """The job kind `restore`. Parameters: `snapshot_id`, or `timeline`; `user_id`, absent for every user in it."""

    def __init__(
        self, snapshots: Snapshots, segments: ReadSegments, importing: ImportMemories, projections: Projections
    ) -> None:
        self._snapshots = snapshots
        self._segments = segments
        self._import = importing
        self._projections = projections

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """Restores pieces while there is time. Raises NotFound for no such snapshot."""
        source = self._source(tenant, state)
        going = dict(state)
        counts: Counter[str] = Counter()
        for place in self._places(tenant, going, source):
            scope = Scope(tenant, place.user_id)
            for number in range(int(going.get("piece", 0)), place.pieces):
                if deadline() < _RESERVE_SECONDS:
                    return JobProgress(state=going, counts=counts)
                counts.update(self._piece(scope, source, number, now))
                going["piece"] = number + 1
            counts["users"] += 1
            going |= {"name": place.name, "piece": 0}
        return JobProgress(state=going, counts=counts, done=True)

    def _source(self, tenant: str, state: Mapping[str, Any]) -> RestoreSource:
        snapshot_id = state.get("snapshot_id")
        if not isinstance(snapshot_id, str):
            raise InvalidInput("a restore names its snapshot", ("snapshot_id",))
        if snapshot_id == TIMELINE:
            return _OfTimeline(self._segments)
        return _OfSnapshot(self._snapshots, self._snapshots.one(tenant, snapshot_id).id)

    def _places(self, tenant: str, going: Mapping[str, Any], source: RestoreSource) -> Iterator[RestorePlace]:
        user_id = going.get("user_id")
        if user_id is None:
            return source.users(tenant, going.get("name"))
        return iter([] if "name" in going else [source.user(Scope(tenant, user_id))])

    def _piece(self, scope: Scope, source: RestoreSource, number: int, now: datetime) -> dict[str, int]:
        lines = source.lines(scope, number)
        report = self._import(scope, lines, ImportOrder(actor=RESTORE, via="restore", now=now))
        refs = {ref.id: ref for ref in report.created}
        vectors = vectors_in(source.vectors(scope, number), refs) if refs else []
        if vectors:
            self._projections.save(scope, vectors)
        return {outcome.value: report.counts[outcome] for outcome in LineOutcome}


class _OfSnapshot:
    def __init__(self, snapshots: Snapshots, snapshot_id: str) -> None:
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
