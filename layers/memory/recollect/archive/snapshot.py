"""Snapshots of a tenant or one user as objects: their format, their store, and the difference of two.

How an operator makes them and restores from one: `docs/operations.md`.

| object of the tenant                          | content                                                              |
|-----------------------------------------------|----------------------------------------------------------------------|
| `snapshots/begun/{id}`                        | nothing; written first: deletions look into this snapshot            |
| `snapshots/data/{id}/{user hash}/user.json`   | the user and the pieces of their timeline                            |
| `snapshots/data/{id}/{user hash}/{n}.segment` | up to 500 records, as in a segment of the timeline, oldest first     |
| `snapshots/data/{id}/{user hash}/{n}.vectors` | the vectors of the same records, so that nothing is embedded again   |
| `snapshots/manifests/{id}.json`               | the snapshot; written last, so that only a complete one is listed    |

A piece covers the records from its first to its last instant: a deletion finds the piece that may hold a record by the
record's own place, whatever the size of the timeline.
"""

import base64
import hashlib
import heapq
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from recollect.archive.record_line import RecordLine, line_text
from recollect.archive.segment_archive import SegmentArchive
from recollect.archive.segments import json_line
from recollect.core.errors import InvalidInput, NotFound, StoredDataError, VersionMismatch
from recollect.core.event import EventRef
from recollect.core.items import reading
from recollect.core.scope import Scope, user_hash
from recollect.core.time import from_iso, iso
from recollect.core.vectors import pack_vector, stored_vector
from recollect.ports import SnapshotStore
from recollect.timeline.timeline import Projection

# Stores on a file system allow 255 bytes for a part, S3 1,024 for a key.
MAX_PART_CHARACTERS = 200
MAX_PATH_CHARACTERS = 900
_PLAIN = re.compile(r"[a-z0-9_-][a-z0-9._-]{0,199}")
_ENCODED, _CONTINUED = "~", "~~"


def tenant_part(tenant: str) -> str:
    """The tenant's part of a path: a plain name unchanged, else its hash, which is never read back."""
    return tenant if _PLAIN.fullmatch(tenant) else _ENCODED + hashlib.sha256(tenant.encode()).hexdigest()


def path_of(name: str) -> str:
    """The path of a name. Raises InvalidInput for a name that the port forbids."""
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise InvalidInput("a snapshot's name has no empty, '.' or '..' part")
    path = "/".join(piece for part in parts for piece in _pieces(part))
    if len(path) > MAX_PATH_CHARACTERS:
        raise InvalidInput("a snapshot's name is too long")
    return path


def name_of(path: str) -> str:
    parts: list[str] = []
    for piece in path.split("/"):
        if piece.startswith(_CONTINUED):
            parts[-1] += piece.removeprefix(_CONTINUED)
        else:
            parts.append(piece)
    return "/".join(_decoded(part) for part in parts)


def folder_of(prefix: str) -> str:
    """The path of the whole parts of a name's beginning, with its `/`; "" where it has none."""
    folder, slash, _ = prefix.rpartition("/")
    return path_of(folder) + slash if folder else ""


def _pieces(part: str) -> Iterator[str]:
    if _PLAIN.fullmatch(part):
        yield part
        return
    encoded = base64.b32encode(part.encode()).decode().rstrip("=").lower()
    for start in range(0, len(encoded), MAX_PART_CHARACTERS):
        yield (_CONTINUED if start else _ENCODED) + encoded[start : start + MAX_PART_CHARACTERS]


def _decoded(part: str) -> str:
    if not part.startswith(_ENCODED):
        return part
    encoded = part.removeprefix(_ENCODED).upper()
    return base64.b32decode(encoded + "=" * (-len(encoded) % 8)).decode()


FORMAT_VERSION = 1
PIECE_EVENTS = 500
MANIFESTS = "snapshots/manifests/"
BEGUN = "snapshots/begun/"
DATA = "snapshots/data/"
ADDED, REMOVED, CHANGED = "added", "removed", "changed"
_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A complete snapshot. `user_id` None: of every user of the tenant. `counts`: users, events, memories, bytes."""

    id: str
    created_at: datetime
    user_id: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SnapshotPiece:
    """A part of a user's timeline, from `first` to `last`, each the place (instant, id) of a record."""

    first: tuple[str, str]
    last: tuple[str, str]
    records: int
    memories: int
    bytes: int

    def covers(self, ref: EventRef) -> bool:
        """Whether a record of that place would be in this piece."""
        return tuple(self.first) <= (iso(ref.timestamp), ref.id) <= tuple(self.last)


@dataclass(frozen=True, slots=True)
class SnapshotUser:
    """One user in a snapshot; `whole` once all pieces are written."""

    user_id: str
    pieces: tuple[SnapshotPiece, ...] = ()
    whole: bool = False

    @property
    def after(self) -> EventRef | None:
        """The last record that a piece covers."""
        return EventRef(self.pieces[-1].last[1], from_iso(self.pieces[-1].last[0])) if self.pieces else None

    @property
    def counts(self) -> dict[str, int]:
        """What the pieces held when they were written."""
        return {
            "users": 1,
            "events": sum(piece.records for piece in self.pieces),
            "memories": sum(piece.memories for piece in self.pieces),
            "bytes": sum(piece.bytes for piece in self.pieces),
        }

    def with_piece(self, piece: SnapshotPiece) -> "SnapshotUser":
        return replace(self, pieces=(*self.pieces, piece))


def manifest_of(snapshot_id: str) -> str:
    return f"{MANIFESTS}{snapshot_id}.json"


def snapshot_in_name(name: str) -> str:
    return name.removeprefix(MANIFESTS).removesuffix(".json")


def data_folder(snapshot_id: str, user_id: str | None = None) -> str:
    """The prefix of all data of a snapshot, or of a user in it."""
    return f"{DATA}{snapshot_id}/" + (f"{user_hash(user_id)}/" if user_id is not None else "")


def user_name(snapshot_id: str, user_id: str) -> str:
    return data_folder(snapshot_id, user_id) + "user.json"


def piece_name(snapshot_id: str, user_id: str, number: int) -> str:
    """The object of a piece; numbers count from 0."""
    return f"{data_folder(snapshot_id, user_id)}{number:0{_DIGITS}d}.segment"


def vectors_name(snapshot_id: str, user_id: str, number: int) -> str:
    return f"{data_folder(snapshot_id, user_id)}{number:0{_DIGITS}d}.vectors"


def snapshot_json(snapshot: Snapshot) -> dict[str, Any]:
    shown = {"id": snapshot.id, "created_at": iso(snapshot.created_at), "counts": dict(snapshot.counts)}
    return shown if snapshot.user_id is None else {**shown, "user_id": snapshot.user_id}


def snapshot_bytes(snapshot: Snapshot) -> bytes:
    return json_line({"format": FORMAT_VERSION, **snapshot_json(snapshot)})


@reading("a snapshot")
def snapshot_in(data: bytes) -> Snapshot:
    document = _read(data)
    created_at = from_iso(document["created_at"])
    return Snapshot(document["id"], created_at, document.get("user_id"), dict(document["counts"]))


def user_bytes(user: SnapshotUser) -> bytes:
    return json_line({"format": FORMAT_VERSION, **asdict(user)})


@reading("a user of a snapshot")
def user_in(data: bytes) -> SnapshotUser:
    document = _read(data)
    pieces = tuple(
        SnapshotPiece(tuple(one["first"]), tuple(one["last"]), one["records"], one["memories"], one["bytes"])
        for one in document["pieces"]
    )
    return SnapshotUser(document["user_id"], pieces, document["whole"])


def vectors_bytes(projections: Sequence[Projection]) -> bytes:
    """Vectors as JSON Lines: id, generation, and the stored bytes in base64."""
    lines = [
        {"id": one.ref.id, "generation": one.generation, "vector": base64.b64encode(pack_vector(one.vector)).decode()}
        for one in projections
        if one.vector is not None
    ]
    return b"".join(json_line(line) + b"\n" for line in lines)


def vectors_in(data: bytes, refs: Mapping[str, EventRef]) -> list[Projection]:
    """The vectors of these records; unreadable ones are skipped, and all without numpy: they can be computed again."""
    found = []
    for line in data.splitlines():
        try:
            one = json.loads(line)
            if one["id"] in refs:
                vector = stored_vector(base64.b64decode(one["vector"]))
                if vector is not None:
                    found.append(Projection(refs[one["id"]], vector, one["generation"]))
        except (KeyError, TypeError, ValueError, InvalidInput):
            continue
    return found


def _read(data: bytes) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(data)
    if document["format"] > FORMAT_VERSION:
        raise StoredDataError("a snapshot of a newer format")
    return document


@dataclass(frozen=True, slots=True)
class SnapshotPage:
    """Snapshots, newest first; `more` is the cursor of the next page."""

    snapshots: tuple[Snapshot, ...]
    more: str | None


class Snapshots:
    """The snapshots of one deployment's store."""

    def __init__(self, store: SnapshotStore, archive: SegmentArchive) -> None:
        self.store = store
        self.archive = archive

    def page(self, tenant: str, limit: int, after: str | None) -> SnapshotPage:
        """Complete snapshots of the tenant; one with an unreadable manifest is skipped."""
        ids = [one for one in reversed(self.ids(tenant)) if after is None or one < after]
        found = [self._found(tenant, one) for one in ids[:limit]]
        more = ids[limit - 1] if len(ids) > limit else None
        return SnapshotPage(tuple(one for one in found if one is not None), more)

    def ids(self, tenant: str) -> list[str]:
        """All of them, oldest first."""
        return sorted(snapshot_in_name(name) for name in self.store.names(tenant, MANIFESTS))

    def one(self, tenant: str, snapshot_id: str) -> Snapshot:
        """A snapshot by its id. Raises NotFound, StoredDataError."""
        found = self.store.get(tenant, manifest_of(snapshot_id))
        if found is None:
            raise NotFound("no such snapshot")
        return snapshot_in(found[0])

    def finish(self, tenant: str, snapshot: Snapshot) -> None:
        """Lists it; idempotent."""
        with suppress(VersionMismatch):
            self.store.put_if_absent(tenant, manifest_of(snapshot.id), snapshot_bytes(snapshot))

    def begin(self, tenant: str, snapshot_id: str) -> None:
        """Makes deletions look into this snapshot; idempotent."""
        with suppress(VersionMismatch):
            self.store.put_if_absent(tenant, BEGUN + snapshot_id, b"")

    def begun(self, tenant: str) -> list[str]:
        """All that deletions look into, incomplete ones too."""
        return sorted(name.removeprefix(BEGUN) for name in self.store.names(tenant, BEGUN))

    def users(self, tenant: str, snapshot_id: str, after: str | None) -> Iterator[tuple[str, SnapshotUser]]:
        """The users in it, with the names of their objects, by name, after that one."""
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
        """Writes the user; answers the new tag. Raises VersionMismatch."""
        name, data = user_name(snapshot_id, scope.user_id), user_bytes(user)
        if tag is None:
            return self.store.put_if_absent(scope.tenant, name, data)
        return self.store.put_if_match(scope.tenant, name, data, tag)

    def lines(self, scope: Scope, snapshot_id: str, number: int) -> list[RecordLine]:
        return self.archive.read(scope, piece_name(snapshot_id, scope.user_id, number))

    def vectors(self, scope: Scope, snapshot_id: str, number: int) -> bytes:
        found = self.store.get(scope.tenant, vectors_name(snapshot_id, scope.user_id, number))
        return found[0] if found else b""

    def _found(self, tenant: str, snapshot_id: str) -> Snapshot | None:
        try:
            return self.one(tenant, snapshot_id)
        except (NotFound, StoredDataError):
            return None


@dataclass(frozen=True, slots=True)
class RecordChange:
    """A record that only one of two snapshots has, or that differs in them."""

    kind: str
    user_id: str
    record_id: str


@dataclass(slots=True)
class SnapshotDiff:
    """The number of changes by kind, and the first of them."""

    counts: Counter[str] = field(default_factory=Counter)
    changes: list[RecordChange] = field(default_factory=list)


class DiffSnapshots:
    """Walks both snapshots side by side, with one piece of each in memory."""

    def __init__(self, snapshots: Snapshots) -> None:
        self._snapshots = snapshots

    def diff(
        self, tenant: str, first: str, second: str, named: int = 100, users: Iterable[str] | None = None
    ) -> SnapshotDiff:
        """The changes from the first to the second, of these users; lists at most `named` of them. Raises NotFound."""
        before, after = self._snapshots.one(tenant, first), self._snapshots.one(tenant, second)
        theirs = users if users is not None else self._of_either(tenant, before.id, after.id)
        diff = SnapshotDiff()
        for user_id in theirs:
            scope = Scope(tenant, user_id)
            for kind, record_id in _changes(self._lines(scope, before.id), self._lines(scope, after.id)):
                diff.counts[kind] += 1
                if len(diff.changes) < named:
                    diff.changes.append(RecordChange(kind, user_id, record_id))
        return diff

    def _of_either(self, tenant: str, *snapshot_ids: str) -> Iterable[str]:
        return dict.fromkeys(
            user.user_id for one in snapshot_ids for _, user in self._snapshots.users(tenant, one, None)
        )

    def _lines(self, scope: Scope, snapshot_id: str) -> Iterator[RecordLine]:
        user, _ = self._snapshots.user(scope, snapshot_id)
        for number in range(len(user.pieces)):
            yield from self._snapshots.lines(scope, snapshot_id, number)


def _changes(before: Iterator[RecordLine], after: Iterator[RecordLine]) -> Iterator[tuple[str, str]]:
    """Both are in the order of their records' places."""
    merged = heapq.merge(_sided(before, REMOVED), _sided(after, ADDED), key=itemgetter(0))
    for (_, record_id), found in groupby(merged, key=itemgetter(0)):
        (_, kind, line), *others = found
        if not others:
            yield kind, record_id
        elif line_text(line) != line_text(others[0][2]):
            yield CHANGED, record_id


def _sided(lines: Iterator[RecordLine], kind: str) -> Iterator[tuple[tuple[datetime, str], str, RecordLine]]:
    """Each line with its place, and the change that it is where the other snapshot has no such record."""
    return (((line.event.timestamp, line.event.id), kind, line) for line in lines)
