"""The objects of segments: written whole, replaced only as they were read, listed in a manifest (A-52, A-53).

A lost race raises VersionMismatch, and whoever lost it reads again and goes on: nobody waits for anybody.
"""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeAlias

from recollect.domain.errors import Conflict, StoredDataError, VersionMismatch
from recollect.domain.event import Event
from recollect.domain.record_line import RecordLine, line_text, read_line
from recollect.domain.scope import Scope
from recollect.domain.segment_file import pack_segment, raw_bytes, unpack_segment
from recollect.ports import SnapshotStore

WarnOf: TypeAlias = Callable[[Scope, str, int], None]
"""Told of an object of a user's that is not whole: its name, and how many places in it are wrong."""

_TRIES = 8


@dataclass(frozen=True, slots=True)
class PackedSegment:
    """A segment's object as it was written."""

    lines: int
    data: bytes
    raw_bytes: int


def no_warning(_scope: Scope, _name: str, _faults: int) -> None:
    """Nobody is told."""


class SegmentArchive:
    """Segment objects of one deployment's store."""

    def __init__(self, store: SnapshotStore, warn: WarnOf = no_warning) -> None:
        self._store = store
        self._warn = warn

    def write(self, scope: Scope, name: str, lines: Iterable[RecordLine]) -> PackedSegment:
        """Writes the object, or replaces the one that a try before left. Raises VersionMismatch in a lost race."""
        texts = [line_text(line) for line in lines]
        data = pack_segment(texts)
        found = self._store.get(scope.tenant, name)
        if found is None:
            self._store.put_if_absent(scope.tenant, name, data)
        elif found[0] != data:
            self._store.put_if_match(scope.tenant, name, data, found[1])
        return PackedSegment(len(texts), data, raw_bytes(texts))

    def read(self, scope: Scope, name: str) -> list[RecordLine]:
        """What is whole of it, in order; of the rest the warning tells. Nothing where the object is not there."""
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
        """Rewrites the object without these records, and purges what it held before; None where it has none of them.

        What is broken in it is left out too: nobody can tell what it says. One that loses all is deleted.
        """
        for _ in range(_TRIES):
            found = self._store.get(scope.tenant, name)
            if found is None:
                self._store.purge(scope.tenant, name)
                return None
            content = unpack_segment(found[0])
            kept = [text for text in content.lines if not _names(text, event_ids)]
            if kept and len(kept) == len(content.lines) and not content.faults:
                self._store.purge(scope.tenant, name)  # a try before may have ended between the two
                return None
            try:
                return self._replaced(scope, name, kept, found[1])
            except VersionMismatch:
                continue
        raise Conflict("a segment changes all the time")

    def supersede(self, scope: Scope, name: str, event: Event) -> tuple[bool, PackedSegment | None]:
        """Whether the object has this record, and the object as it was rewritten, where the record was a slot's value.

        The record says then what the event says of its successor; else nothing of it is changed.
        """
        for _ in range(_TRIES):
            found = self._store.get(scope.tenant, name)
            lines = unpack_segment(found[0]).lines if found else ()
            there = next((line for line in map(_read, lines) if line and line.event.id == event.id), None)
            if found is None or there is None or there.event.superseded_by is not None:
                return there is not None, None
            try:
                return True, self._replaced(scope, name, [_superseded(text, event) for text in lines], found[1])
            except VersionMismatch:
                continue
        raise Conflict("a segment changes all the time")

    def erase(self, scope: Scope, name: str) -> None:
        """Takes the object away with all that it ever held; until that is done it is still listed."""
        for _ in range(_TRIES):
            found = self._store.get(scope.tenant, name)
            if found is None:
                self._store.purge(scope.tenant, name)
                return
            try:
                self._replaced(scope, name, (), found[1])
            except VersionMismatch:
                continue
            return
        raise Conflict("an object changes all the time")

    def _replaced(self, scope: Scope, name: str, kept: Sequence[str], tag: str) -> PackedSegment:
        """One without a line is emptied before it goes: so it is there to be found until nothing of before is kept."""
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
    """The line; where it is the event's, with what supersedes that now."""
    line = _read(text)
    if line is None or line.event.id != event.id:
        return text
    told = replace(line.event, superseded_by=event.superseded_by, superseded_at=event.superseded_at)
    return line_text(replace(line, event=told))


def _names(text: str, event_ids: AbstractSet[str]) -> bool:
    """Whether it is the line of one of these; a line that cannot be read is, since it may be."""
    line = _read(text)
    return line is None or line.event.id in event_ids
