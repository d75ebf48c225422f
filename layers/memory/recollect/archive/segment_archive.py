"""Segments in the store: their objects written and read back (A-52 to A-57).

Objects are written whole, replaced only on the version that was read, and listed in a manifest; a lost race raises
VersionMismatch. Readers get the lines that are intact; a warning reports the rest (A-55).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TypeAlias

from recollect.archive.record_line import RecordLine, line_text, read_line
from recollect.archive.segments import (
    PackedSegment,
    SegmentManifest,
    manifest_in,
    manifest_name,
    pack_segment,
    raw_bytes,
    segment_name,
    unpack_segment,
)
from recollect.core.errors import StoredDataError
from recollect.core.event import Event
from recollect.core.idempotency import retry_on_conflict
from recollect.core.scope import Scope
from recollect.ports import SnapshotStore

WarnOf: TypeAlias = Callable[[Scope, str, int], None]
"""Reports a damaged object of a user: its name, and the number of faults in it."""

_FOLDER, _MANIFEST = "timeline/", "/manifest.json"


class SegmentArchive:
    """Segment objects of one deployment's store."""

    def __init__(self, store: SnapshotStore, warn: WarnOf) -> None:
        self._store = store
        self._warn = warn

    def write(self, scope: Scope, name: str, lines: Iterable[RecordLine]) -> PackedSegment:
        """Writes the object, or replaces what an earlier try left. Raises VersionMismatch."""
        texts = [line_text(line) for line in lines]
        data = pack_segment(texts)
        self.put(scope, name, data)
        return PackedSegment(len(texts), data, raw_bytes(texts))

    def put(self, scope: Scope, name: str, data: bytes) -> None:
        """Writes an object, over what an earlier try left. Raises VersionMismatch."""
        found = self._store.get(scope.tenant, name)
        if found is None:
            self._store.put_if_absent(scope.tenant, name, data)
        elif found[0] != data:
            self._store.put_if_match(scope.tenant, name, data, found[1])

    def read(self, scope: Scope, name: str) -> list[RecordLine]:
        """The intact lines, in order; none where the object does not exist. Faults are reported."""
        found = self._store.get(scope.tenant, name)
        if found is None:
            self._warn(scope, name, 1)
            return []
        content = unpack_segment(found[0])
        lines = [line for line in map(_read, content.lines) if line is not None]
        faults = content.faults + len(content.lines) - len(lines)
        if faults:
            self._warn(scope, name, faults)
        return lines

    def remove(self, scope: Scope, name: str, event_ids: AbstractSet[str]) -> PackedSegment | None:
        """Rewrites the object without these records and purges earlier versions; None where it has none of them.

        Broken lines are removed too, since they may be theirs. An object that loses all lines is deleted. Raises
        Conflict.
        """

        def remove() -> PackedSegment | None:
            found = self._store.get(scope.tenant, name)
            content = unpack_segment(found[0] if found else b"")
            kept = [text for text in content.lines if not _names(text, event_ids)]
            if found is None or (kept and len(kept) == len(content.lines) and not content.faults):
                self._store.purge(scope.tenant, name)  # an earlier try may have ended before its purge
                return None
            return self._replaced(scope, name, kept, found[1])

        return retry_on_conflict(remove, "a segment")

    def supersede(self, scope: Scope, name: str, event: Event) -> tuple[bool, PackedSegment | None]:
        """Copies the event's successor to the object's line of that event, where the line is still a slot's current
        value.

        Answers whether the object has the record, and the object where it was rewritten. Raises Conflict.
        """

        def supersede() -> tuple[bool, PackedSegment | None]:
            found = self._store.get(scope.tenant, name)
            lines = unpack_segment(found[0]).lines if found else ()
            own = next((line for line in map(_read, lines) if line and line.event.id == event.id), None)
            if found is None or own is None or own.event.superseded_by is not None:
                return own is not None, None
            return True, self._replaced(scope, name, [_superseded(text, event) for text in lines], found[1])

        return retry_on_conflict(supersede, "a segment")

    def erase(self, scope: Scope, name: str) -> None:
        """Deletes the object with all earlier versions; until that is done it is still listed. Raises Conflict."""

        def erase() -> None:
            found = self._store.get(scope.tenant, name)
            if found is None:
                self._store.purge(scope.tenant, name)
            else:
                self._replaced(scope, name, (), found[1])

        retry_on_conflict(erase, "an object of the archive")

    def _replaced(self, scope: Scope, name: str, kept: Sequence[str], tag: str) -> PackedSegment:
        """An object without lines is emptied first: it stays listed until no earlier version is left."""
        data = pack_segment(kept)
        self._store.put_if_match(scope.tenant, name, data, tag)
        self._store.purge(scope.tenant, name)
        if not kept:
            self._store.delete(scope.tenant, name)
            self._store.purge(scope.tenant, name)
        return PackedSegment(len(kept), data, raw_bytes(kept))


def _read(text: str) -> RecordLine | None:
    try:
        return read_line(text)
    except StoredDataError:
        return None


def _superseded(text: str, event: Event) -> str:
    line = _read(text)
    if line is None or line.event.id != event.id:
        return text
    superseded = replace(line.event, superseded_by=event.superseded_by, superseded_at=event.superseded_at)
    return line_text(replace(line, event=superseded))


def _names(text: str, event_ids: AbstractSet[str]) -> bool:
    """Whether the line is one of these records'; an unreadable one counts, since it may be."""
    line = _read(text)
    return line is None or line.event.id in event_ids


class ReadSegments:
    """Reads written segments; the open one is in the table alone."""

    def __init__(self, store: SnapshotStore, archive: SegmentArchive) -> None:
        self._store = store
        self._archive = archive

    def read(self, scope: Scope) -> Iterator[RecordLine]:
        """Every record of the user's archive, segment by segment."""
        for entry in self.manifest(scope).segments:
            yield from self.segment(scope, entry.id)

    def manifest(self, scope: Scope) -> SegmentManifest:
        """The user's manifest; an empty one where there is none. Raises StoredDataError."""
        found = self._store.get(scope.tenant, manifest_name(scope.user_id))
        return manifest_in(found[0]) if found else SegmentManifest(scope.user_id)

    def segment(self, scope: Scope, segment: str) -> list[RecordLine]:
        """The intact lines of a segment."""
        return self._archive.read(scope, segment_name(scope.user_id, segment))

    def manifests(self, tenant: str, after: str | None) -> Iterator[tuple[str, SegmentManifest]]:
        """The manifests of the tenant's users with their names, after that name; broken ones are skipped."""
        for name in self._store.names(tenant, _FOLDER):
            found = self._store.get(tenant, name) if name.endswith(_MANIFEST) and name > (after or "") else None
            if found is not None:
                try:
                    yield name, manifest_in(found[0])
                except StoredDataError:
                    continue
