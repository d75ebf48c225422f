"""Segments: which event is in which, their objects' names, manifests and bytes (A-52, A-53, A-59).

An event belongs, for good, to the segment that was open when it was first projected. Segments are numbered from 1 and
closed at 500 events. Segments and manifests are objects of the tenant, under a hash of the user's id. The number of an
event's segment is in its projection. The user's items:

| collection      | labels  | key                | value                                                               |
|-----------------|---------|--------------------|---------------------------------------------------------------------|
| `segments`      |         | `open`             | `SegmentCounter`; due in `segments` while one waits to be written   |
| `segment_rolls` | segment | events before it   | `{ids}`: up to 50 of the segment's events, in order of projection   |
| `segment_of`    |         | event id           | `{n, t}`: segment and instant, as releases of before wrote them     |

The rolls of releases of before have two digits as their keys: their number in the segment, of 50 events each.

A segment's bytes are NDJSON in a gzip file, which `zcat` reads. Each line is a JSON object whose last member is `crc`,
the CRC-32 of the line without it. 125 lines make one gzip member: where a byte is wrong, the lines before it in its
member and all other members are still readable. 125 lines exceed deflate's window of 32 KB, so the split costs little.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from recollect.core.errors import StoredDataError
from recollect.core.event import EventRef
from recollect.core.items import ItemKey, ItemPath, reading
from recollect.core.scope import user_hash
from recollect.core.time import EARLIEST, LATEST, from_iso
from recollect.timeline.timeline import PlacedEvent

SEGMENT_EVENTS = 500
ROLL_EVENTS = 50
QUEUE = "segments"
FORMAT_VERSION = 1
COUNTER = ItemKey(ItemPath("segments"), "open")
PLACES = ItemPath("segment_of")
MEMBER_LINES = 125
_BOTH_RELEASES = timedelta(hours=1)  # functions of the release before may go on for minutes, by other clocks
_DIGITS = 8
_GZIP = 31  # zlib's `wbits` for gzip's own header and checksum
_MAGIC = b"\x1f\x8b\x08"
_LEVEL = 6
_STEP_BYTES = 1024


@dataclass(frozen=True, slots=True)
class SegmentCounter:
    """The open segment: its number, how many of its events are in rolls, and the ids of those that are not yet.

    `written` is the last segment in the archive; those between it and the open one wait to be written. Of events
    recorded until `older_until` the place may be an item of its own, as a release of before wrote it.
    """

    number: int = 1
    rolled: int = 0
    ids: tuple[str, ...] = ()
    written: int = 0
    older_until: datetime = EARLIEST

    @property
    def count(self) -> int:
        return self.rolled + len(self.ids)

    @property
    def full(self) -> bool:
        return self.count >= SEGMENT_EVENTS

    def overflows(self, coming: int) -> bool:
        """Whether its ids go into a roll before so many events are counted."""
        return self.full or (bool(self.ids) and len(self.ids) + coming > ROLL_EVENTS)

    @property
    def room(self) -> int:
        """How many events may be counted at once after that."""
        return min(ROLL_EVENTS, SEGMENT_EVENTS - self.count)

    @property
    def waiting(self) -> bool:
        return self.number - 1 > self.written

    def with_events(self, event_ids: Iterable[str], now: datetime) -> SegmentCounter:
        """With these counted. The first time after a release of before it is known how long that one has gone on."""
        until = now + _BOTH_RELEASES if self.older_until == LATEST else self.older_until
        return replace(self, ids=(*self.ids, *event_ids), older_until=until)

    def put_by(self) -> SegmentCounter:
        """After its ids were put into a roll: in the same segment, or in the next where that is full."""
        rolled = replace(self, rolled=self.count, ids=())
        return rolled.closed() if rolled.full else rolled

    def closed(self) -> SegmentCounter:
        return replace(self, number=self.number + 1, rolled=0, ids=())


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """A written segment in its manifest: `bytes` as stored, `raw_bytes` as plain NDJSON; `sha256` of the object."""

    id: str
    events: int
    bytes: int
    raw_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class SegmentManifest:
    """The written segments of one user, by number."""

    user_id: str
    segments: tuple[SegmentEntry, ...] = ()

    def with_entry(self, entry: SegmentEntry) -> SegmentManifest:
        """With this entry, in place of an earlier one of that id."""
        others = [one for one in self.segments if one.id != entry.id]
        return replace(self, segments=tuple(sorted([*others, entry], key=lambda one: one.id)))

    def without(self, segment: str) -> SegmentManifest:
        return replace(self, segments=tuple(one for one in self.segments if one.id != segment))


def segment_id(number: int) -> str:
    return f"{number:0{_DIGITS}d}"


def segment_name(user_id: str, segment: str) -> str:
    """The object of a segment (A-53)."""
    return f"{timeline_folder(user_id)}{segment}.segment"


def manifest_name(user_id: str) -> str:
    return f"{timeline_folder(user_id)}manifest.json"


def timeline_folder(user_id: str) -> str:
    """The prefix of all objects of a user's archive."""
    return f"timeline/{user_hash(user_id)}/"


def roll_key(counter: SegmentCounter) -> ItemKey:
    """Where the ids of the counter go."""
    return ItemKey(ItemPath("segment_rolls", (segment_id(counter.number),)), f"{counter.rolled:03d}")


def place_key(event_id: str) -> ItemKey:
    """Where a release of before wrote an event's place."""
    return ItemKey(PLACES, event_id)


@reading("the segment of an event")
def placed_in(event_id: str, value: Mapping[str, Any]) -> PlacedEvent:
    """What it wrote there."""
    return PlacedEvent(EventRef(event_id, from_iso(value["t"])), int(value["n"]))


@reading("a counter of segments")
def counter_in(value: Mapping[str, Any]) -> SegmentCounter:
    until = from_iso(value["older_until"]) if "older_until" in value else LATEST
    return SegmentCounter(int(value["number"]), int(value["rolled"]), tuple(value["ids"]), int(value["written"]), until)


def manifest_bytes(manifest: SegmentManifest) -> bytes:
    return json_line({"format": FORMAT_VERSION, **asdict(manifest)})


def json_line(document: Mapping[str, Any]) -> bytes:
    """The JSON of the archive's objects, without spaces and line end."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


@reading("a manifest")
def manifest_in(data: bytes) -> SegmentManifest:
    document = json.loads(data)
    if document["format"] > FORMAT_VERSION:
        raise StoredDataError("a manifest of a newer format")
    return SegmentManifest(document["user_id"], tuple(SegmentEntry(**one) for one in document["segments"]))


def ordered(refs: Iterable[EventRef]) -> list[EventRef]:
    """Oldest first: the order of lines inside a segment."""
    return sorted(refs, key=lambda ref: (ref.timestamp, ref.id))


@dataclass(frozen=True, slots=True)
class PackedSegment:
    """A segment's object: the number of its lines, its bytes, and their size as plain NDJSON."""

    lines: int
    data: bytes
    raw_bytes: int

    def entry(self, segment: str) -> SegmentEntry:
        sha256 = hashlib.sha256(self.data).hexdigest()
        return SegmentEntry(segment, self.lines, len(self.data), self.raw_bytes, sha256)


@dataclass(frozen=True, slots=True)
class SegmentContent:
    """The intact lines, in order, and the number of faults: broken lines, and ends of broken members."""

    lines: tuple[str, ...]
    faults: int


def pack_segment(lines: Sequence[str]) -> bytes:
    """The bytes of a segment; each line is a JSON object with at least one member. No lines: no bytes."""
    parts = (lines[start : start + MEMBER_LINES] for start in range(0, len(lines), MEMBER_LINES))
    return b"".join(gzip.compress("".join(map(_sealed, part)).encode(), _LEVEL, mtime=0) for part in parts)


def unpack_segment(data: bytes) -> SegmentContent:
    """Reads what `pack_segment` wrote, as far as it is intact; never raises."""
    lines: list[str] = []
    faults = 0
    for text, whole in _members(data):
        *found, rest = text.split(b"\n")
        opened = [_opened(line) for line in found]
        lines += [line for line in opened if line is not None]
        faults += opened.count(None) + (0 if whole and not rest else 1)
    return SegmentContent(tuple(lines), faults)


def _sealed(line: str) -> str:
    return f'{line[:-1]},"crc":"{zlib.crc32(line.encode()):08x}"}}\n'


def _opened(sealed: bytes) -> str | None:
    """The line without its checksum; None where the checksum is wrong or absent."""
    body, mark, crc = sealed.rpartition(b',"crc":"')
    line = body + b"}"
    if not mark or crc != f'{zlib.crc32(line):08x}"}}'.encode():
        return None
    return line.decode()


def _members(data: bytes) -> Iterator[tuple[bytes, bool]]:
    """The text of each member, and whether it is intact; a broken one is followed by the next gzip header."""
    start = 0
    while start < len(data):
        text, used = _inflated(data[start:])
        if used is not None:
            yield text, True
            start += used
            continue
        yield text, False
        following = data.find(_MAGIC, start + 1)
        if following < 0:
            return
        start = following


def _inflated(data: bytes) -> tuple[bytes, int | None]:
    """The readable text of the first member, and its length; None where it is broken."""
    reader = zlib.decompressobj(_GZIP)
    found: list[bytes] = []
    for start in range(0, len(data), _STEP_BYTES):
        before = reader.copy()
        try:
            found.append(reader.decompress(data[start : start + _STEP_BYTES]))
        except zlib.error:
            return b"".join([*found, *_byte_by_byte(before, data[start : start + _STEP_BYTES])]), None
        if reader.eof:
            return b"".join(found), start + min(_STEP_BYTES, len(data) - start) - len(reader.unused_data)
    return b"".join(found), None


def _byte_by_byte(reader: Any, data: bytes) -> Iterator[bytes]:
    """The text before the wrong byte."""
    with suppress(zlib.error):
        for position in range(len(data)):
            yield reader.decompress(data[position : position + 1])


def raw_bytes(lines: Iterable[str]) -> int:
    """The size of the same lines as plain NDJSON."""
    return sum(len(line.encode()) + 1 for line in lines)
