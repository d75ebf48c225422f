"""Snapshots: what was there of a tenant, or of one user, when it was taken (api.md, *Operations*).

| object of the tenant                          | content                                                              |
|-----------------------------------------------|----------------------------------------------------------------------|
| `snapshots/manifests/{id}.json`               | the snapshot: written last, so that only a whole one is listed       |
| `snapshots/begun/{id}`                        | nothing: where a deletion has to look, written first                 |
| `snapshots/data/{id}/{user hash}/user.json`   | the user and the pieces of their timeline                            |
| `snapshots/data/{id}/{user hash}/{n}.segment` | up to 500 records, as in a segment of the timeline, oldest first     |
| `snapshots/data/{id}/{user hash}/{n}.vectors` | the vectors of the same records, so that nothing is embedded again   |

A piece covers the records from its first to its last instant: so a deletion finds the one that may hold a record
by the record's own place, whatever the size of the timeline.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.archive.segments import user_hash
from recollect.core.errors import InvalidInput, StoredDataError
from recollect.core.event import EventRef
from recollect.core.time import from_iso, iso
from recollect.core.vectors import pack_vector, unpack_vector
from recollect.timeline.timeline import Projection

FORMAT_VERSION = 1
PIECE_EVENTS = 500
MANIFESTS = "snapshots/manifests/"
BEGUN = "snapshots/begun/"
DATA = "snapshots/data/"
_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A whole snapshot. `user_id` None: of every user of the tenant. `counts`: users, events, memories, bytes"""

    id: str
    created_at: datetime
    user_id: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SnapshotPiece:
    """A part of a user's timeline, from `first` to `last`, both places (instant, id) of records at its making."""

    first: tuple[str, str]
    last: tuple[str, str]
    records: int
    memories: int
    bytes: int

    def covers(self, ref: EventRef) -> bool:
        """Whether a record of that place would be in it."""
        return tuple(self.first) <= (iso(ref.timestamp), ref.id) <= tuple(self.last)


@dataclass(frozen=True, slots=True)
class SnapshotUser:
    """One user in a snapshot; `whole` once all pieces are written."""

    user_id: str
    pieces: tuple[SnapshotPiece, ...] = ()
    whole: bool = False

    @property
    def after(self) -> EventRef | None:
        """The last record that a piece covers: where the next one goes on."""
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
        """With one more piece."""
        return replace(self, pieces=(*self.pieces, piece))


def manifest_of(snapshot_id: str) -> str:
    """The object that says that there is this snapshot."""
    return f"{MANIFESTS}{snapshot_id}.json"


def snapshot_in_name(name: str) -> str:
    """The snapshot of a manifest's name."""
    return name.removeprefix(MANIFESTS).removesuffix(".json")


def data_folder(snapshot_id: str, user_id: str | None = None) -> str:
    """How the names of all data begin: of a snapshot, or of a user in it."""
    return f"{DATA}{snapshot_id}/" + (f"{user_hash(user_id)}/" if user_id is not None else "")


def user_name(snapshot_id: str, user_id: str) -> str:
    """The object of a user."""
    return data_folder(snapshot_id, user_id) + "user.json"


def piece_name(snapshot_id: str, user_id: str, number: int) -> str:
    """The object of a piece; numbers count from 0."""
    return f"{data_folder(snapshot_id, user_id)}{number:0{_DIGITS}d}.segment"


def vectors_name(snapshot_id: str, user_id: str, number: int) -> str:
    """The object of the same records' vectors."""
    return f"{data_folder(snapshot_id, user_id)}{number:0{_DIGITS}d}.vectors"


def snapshot_json(snapshot: Snapshot) -> dict[str, Any]:
    """As a list shows it."""
    shown = {"id": snapshot.id, "created_at": iso(snapshot.created_at), "counts": dict(snapshot.counts)}
    return shown if snapshot.user_id is None else {**shown, "user_id": snapshot.user_id}


def snapshot_bytes(snapshot: Snapshot) -> bytes:
    """The manifest's object."""
    return _json({"format": FORMAT_VERSION, **snapshot_json(snapshot)})


def snapshot_in(data: bytes) -> Snapshot:
    """Reads what `snapshot_bytes` wrote. Raises StoredDataError."""
    document = _read(data)
    try:
        created_at = from_iso(document["created_at"])
        return Snapshot(document["id"], created_at, document.get("user_id"), dict(document["counts"]))
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError("a snapshot cannot be read") from error


def user_bytes(user: SnapshotUser) -> bytes:
    """The user's object."""
    return _json({"format": FORMAT_VERSION, **asdict(user)})


def user_in(data: bytes) -> SnapshotUser:
    """Reads what `user_bytes` wrote. Raises StoredDataError."""
    document = _read(data)
    try:
        pieces = tuple(
            SnapshotPiece(tuple(one["first"]), tuple(one["last"]), one["records"], one["memories"], one["bytes"])
            for one in document["pieces"]
        )
        return SnapshotUser(document["user_id"], pieces, document["whole"])
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError("a user of a snapshot cannot be read") from error


def vectors_bytes(projections: Sequence[Projection]) -> bytes:
    """Vectors as JSON Lines: id, generation, and the stored bytes in base64; they do not compress."""
    lines = [
        {"id": one.ref.id, "generation": one.generation, "vector": base64.b64encode(pack_vector(one.vector)).decode()}
        for one in projections
        if one.vector is not None
    ]
    return b"".join(_json(line) + b"\n" for line in lines)


def vectors_in(data: bytes, refs: Mapping[str, EventRef]) -> list[Projection]:
    """Those of the vectors that belong to these records; what cannot be read is left out: it can be made again."""
    found = []
    for line in data.splitlines():
        try:
            one = json.loads(line)
            if one["id"] in refs:
                vector = unpack_vector(base64.b64decode(one["vector"]))
                found.append(Projection(refs[one["id"]], vector, one["generation"]))
        except (KeyError, TypeError, ValueError, InvalidInput):
            continue
    return found


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _read(data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data)
        newer = document["format"] > FORMAT_VERSION
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError("a snapshot's object cannot be read") from error
    if newer:
        raise StoredDataError("a snapshot of a newer format")
    return dict(document)
