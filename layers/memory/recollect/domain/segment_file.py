"""Segments as bytes: NDJSON whose every line has a checksum, compressed in parts, so that a fault loses little.

Each line is a JSON object whose last member is `crc`, the CRC-32 of the line without it. 125 lines make one member of
a gzip file: `zcat` reads all of it, and where a byte is wrong, the lines before it in its member and all other members
are still served. 125 lines are more than the 32 KB that deflate looks back: the parts cost next to nothing.
"""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

MEMBER_LINES = 125
_GZIP = 31  # zlib's word for gzip's own header and checksum
_MAGIC = b"\x1f\x8b\x08"
_LEVEL = 6
_STEP_BYTES = 1024


@dataclass(frozen=True, slots=True)
class SegmentContent:
    """The lines that are whole, in order, and how many places were not: lines, or the ends of broken members."""

    lines: tuple[str, ...]
    faults: int


def pack_segment(lines: Sequence[str]) -> bytes:
    """The bytes of a segment; each line is the text of a JSON object with at least one member. No lines: no bytes."""
    parts = (lines[start : start + MEMBER_LINES] for start in range(0, len(lines), MEMBER_LINES))
    return b"".join(gzip.compress("".join(map(_sealed, part)).encode(), _LEVEL, mtime=0) for part in parts)


def unpack_segment(data: bytes) -> SegmentContent:
    """Reads what `pack_segment` wrote, as far as it is whole; never raises."""
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
    """The line without its checksum; None where it is another line's, or none."""
    body, mark, crc = sealed.rpartition(b',"crc":"')
    line = body + b"}"
    if not mark or crc != f'{zlib.crc32(line):08x}"}}'.encode():
        return None
    return line.decode()


def _members(data: bytes) -> Iterator[tuple[bytes, bool]]:
    """The text of each member, and whether it was whole; after a broken one the next that begins like one."""
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
    """As much of the first member as can be read, and its length; None where it breaks off."""
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
    """What comes before the wrong byte."""
    with suppress(zlib.error):
        for position in range(len(data)):
            yield reader.decompress(data[position : position + 1])


def raw_bytes(lines: Iterable[str]) -> int:
    """The size of the same lines as plain NDJSON: what compression is measured against."""
    return sum(len(line.encode()) + 1 for line in lines)
