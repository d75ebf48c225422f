"""Snapshots as objects: listed, and their users read and written.

What changed from one snapshot to another: records added, removed, changed.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from recollect.archive.record_line import RecordLine, line_text
from recollect.archive.segment_archive import SegmentArchive
from recollect.archive.snapshot import (
    BEGUN,
    MANIFESTS,
    Snapshot,
    SnapshotUser,
    data_folder,
    manifest_of,
    piece_name,
    snapshot_bytes,
    snapshot_in,
    snapshot_in_name,
    user_bytes,
    user_in,
    user_name,
    vectors_name,
)
from recollect.core.errors import NotFound, StoredDataError, VersionMismatch
from recollect.core.scope import Scope
from recollect.ports import SnapshotStore


@dataclass(frozen=True, slots=True)
class SnapshotPage:
    """Snapshots, the newest first; `more` where the next page goes on."""

    snapshots: tuple[Snapshot, ...]
    more: str | None


class Snapshots:
    """The snapshots of one deployment's store."""

    def __init__(self, store: SnapshotStore, archive: SegmentArchive) -> None:
        self.store = store
        self.archive = archive

    def page(self, tenant: str, limit: int, after: str | None) -> SnapshotPage:
        """Whole snapshots of the tenant; one whose manifest cannot be read is left out."""
        ids = [one for one in reversed(self.ids(tenant)) if after is None or one < after]
        found = [self._found(tenant, one) for one in ids[:limit]]
        more = ids[limit - 1] if len(ids) > limit else None
        return SnapshotPage(tuple(one for one in found if one is not None), more)

    def ids(self, tenant: str) -> list[str]:
        """All of them, the oldest first."""
        return sorted(snapshot_in_name(name) for name in self.store.names(tenant, MANIFESTS))

    def one(self, tenant: str, snapshot_id: str) -> Snapshot:
        """A snapshot by its id. Raises NotFound, StoredDataError."""
        found = self.store.get(tenant, manifest_of(snapshot_id))
        if found is None:
            raise NotFound("no such snapshot")
        return snapshot_in(found[0])

    def finish(self, tenant: str, snapshot: Snapshot) -> None:
        """Lists it; a second time is no error."""
        try:
            self.store.put_if_absent(tenant, manifest_of(snapshot.id), snapshot_bytes(snapshot))
        except VersionMismatch:
            return

    def begin(self, tenant: str, snapshot_id: str) -> None:
        """Tells deletions to look there; a second time is no error."""
        try:
            self.store.put_if_absent(tenant, BEGUN + snapshot_id, b"")
        except VersionMismatch:
            return

    def begun(self, tenant: str) -> list[str]:
        """Those too that are being taken, or were given up half-way: where a deletion has to look."""
        return sorted(name.removeprefix(BEGUN) for name in self.store.names(tenant, BEGUN))

    def users(self, tenant: str, snapshot_id: str, after: str | None) -> Iterator[tuple[str, SnapshotUser]]:
        """The users in it with the names of their objects, in the order of those, from after that one on."""
        for name in self.store.names(tenant, data_folder(snapshot_id)):
            if name.endswith("/user.json") and (after is None or name > after):
                found = self.store.get(tenant, name)
                if found is not None:
                    yield name, user_in(found[0])

    def user(self, scope: Scope, snapshot_id: str) -> tuple[SnapshotUser, str | None]:
        """A user in it, and the tag of their object; an empty one and None where there is none."""
        found = self.store.get(scope.tenant, user_name(snapshot_id, scope.user_id))
        return (user_in(found[0]), found[1]) if found else (SnapshotUser(scope.user_id), None)

    def put_user(self, scope: Scope, snapshot_id: str, user: SnapshotUser, tag: str | None) -> str:
        """Writes the user as it is then; answers the new tag. Raises VersionMismatch where somebody else did."""
        name, data = user_name(snapshot_id, scope.user_id), user_bytes(user)
        if tag is None:
            return self.store.put_if_absent(scope.tenant, name, data)
        return self.store.put_if_match(scope.tenant, name, data, tag)

    def lines(self, scope: Scope, snapshot_id: str, number: int) -> list[RecordLine]:
        """What is whole of a piece."""
        return self.archive.read(scope, piece_name(snapshot_id, scope.user_id, number))

    def vectors(self, scope: Scope, snapshot_id: str, number: int) -> bytes:
        """The vectors of a piece, as stored."""
        found = self.store.get(scope.tenant, vectors_name(snapshot_id, scope.user_id, number))
        return found[0] if found else b""

    def put_vectors(self, scope: Scope, snapshot_id: str, number: int, data: bytes) -> None:
        """Writes the vectors of a piece, whatever a try before left."""
        name = vectors_name(snapshot_id, scope.user_id, number)
        found = self.store.get(scope.tenant, name)
        if found is None:
            self.store.put_if_absent(scope.tenant, name, data)
        elif found[0] != data:
            self.store.put_if_match(scope.tenant, name, data, found[1])

    def _found(self, tenant: str, snapshot_id: str) -> Snapshot | None:
        try:
            return self.one(tenant, snapshot_id)
        except (NotFound, StoredDataError):
            return None


ADDED, REMOVED, CHANGED = "added", "removed", "changed"


@dataclass(frozen=True, slots=True)
class RecordChange:
    """A record that is in one of them alone, or in both and not the same."""

    kind: str
    user_id: str
    record_id: str


@dataclass(slots=True)
class SnapshotDiff:
    """All changes counted, and the first of them named."""

    counts: Counter[str] = field(default_factory=Counter)
    changes: list[RecordChange] = field(default_factory=list)


class DiffSnapshots:
    """Walks both side by side, a piece of each in memory at a time."""

    def __init__(self, snapshots: Snapshots) -> None:
        self._snapshots = snapshots

    def __call__(self, tenant: str, first: str, second: str, named: int = 100) -> SnapshotDiff:
        """From the first to the second; `named` changes at most are listed. Raises NotFound."""
        before, after = self._snapshots.one(tenant, first), self._snapshots.one(tenant, second)
        users = dict.fromkeys(user.user_id for one in (before, after) for user in self._users(tenant, one.id))
        diff = SnapshotDiff()
        for user_id in users:
            scope = Scope(tenant, user_id)
            for kind, record_id in _changes(self._lines(scope, before.id), self._lines(scope, after.id)):
                diff.counts[kind] += 1
                if len(diff.changes) < named:
                    diff.changes.append(RecordChange(kind, user_id, record_id))
        return diff

    def _users(self, tenant: str, snapshot_id: str) -> Iterator[SnapshotUser]:
        return (user for _, user in self._snapshots.users(tenant, snapshot_id, None))

    def _lines(self, scope: Scope, snapshot_id: str) -> Iterator[RecordLine]:
        user, _ = self._snapshots.user(scope, snapshot_id)
        for number in range(len(user.pieces)):
            yield from self._snapshots.lines(scope, snapshot_id, number)


def _changes(before: Iterator[RecordLine], after: Iterator[RecordLine]) -> Iterator[tuple[str, str]]:
    """Both are in the order of their records' places."""
    old, new = next(before, None), next(after, None)
    while old is not None or new is not None:
        if new is None or (old is not None and _place(old) < _place(new)):
            assert old is not None
            yield REMOVED, old.event.id
            old = next(before, None)
        elif old is None or _place(new) < _place(old):
            yield ADDED, new.event.id
            new = next(after, None)
        else:
            if line_text(old) != line_text(new):
                yield CHANGED, new.event.id
            old, new = next(before, None), next(after, None)


def _place(line: RecordLine) -> tuple[datetime, str]:
    return line.event.timestamp, line.event.id
