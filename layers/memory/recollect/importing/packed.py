"""The zip in which ChatGPT, Claude and WhatsApp on an iPhone hand out an export: the files of conversations in it."""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import IO

from recollect.core.errors import InvalidInput
from recollect.importing.turns import Entries, Place

MOST_UNPACKED_BYTES = 1024**3
_SIGNATURE = b"PK\x03\x04"
_NAME = re.compile(r"conversations(?:-\d+)?\.json|_chat\.txt")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, UnicodeDecodeError)


@dataclass(frozen=True, slots=True)
class Share:
    """A file's share of a zip's progress. `name` None: it is the only file."""

    name: str | None
    before_bytes: int
    total_bytes: int
    packed_bytes: int

    def placed(self, entries: Entries) -> Entries:
        """The same entries, their places those of the zip; of several files each is named."""
        return (replace(entry, place=self._place(entry.place)) for entry in entries)

    def _place(self, place: Place) -> Place:
        label = place.label if self.name is None else f"{self.name}, {place.label}"
        done = self.before_bytes + place.offset_bytes
        return Place(label, self.packed_bytes * done // max(1, self.total_bytes))


@dataclass(frozen=True, slots=True)
class UnpackedFile:
    """One file of a zip, open."""

    stream: IO[bytes]
    size_bytes: int
    share: Share


def is_zip(stream: IO[bytes]) -> bool:
    """Whether the file is a zip; the stream stands at its beginning afterwards."""
    head = stream.read(len(_SIGNATURE))
    stream.seek(0)
    return head == _SIGNATURE


def unpacked_files(stream: IO[bytes], most_bytes: int = MOST_UNPACKED_BYTES) -> Iterator[UnpackedFile]:
    """The files of conversations in the zip, by name, each open until the next one; nothing is written to the disk.

    Raises InvalidInput where there is none, they have more bytes together, or the zip is encrypted.
    """
    with zipfile.ZipFile(stream) as archive:
        members = _members(archive, most_bytes)
        packed, total, before = size_of(stream), sum(one.file_size for one in members), 0
        for member in members:
            share = Share(member.filename if len(members) > 1 else None, before, total, packed)
            with archive.open(member) as unpacked:
                yield UnpackedFile(unpacked, member.file_size, share)
            before += member.file_size


@contextmanager
def damage_told() -> Iterator[None]:
    """Raises InvalidInput where the zip turns out to be damaged while it is opened or read."""
    try:
        yield
    except _DAMAGED:
        raise InvalidInput("the zip is damaged; unpack it, and import its conversations.json") from None


def _members(archive: zipfile.ZipFile, most_bytes: int) -> Sequence[zipfile.ZipInfo]:
    found = [one for one in archive.infolist() if _NAME.fullmatch(PurePosixPath(one.filename).name)]
    if not found:
        raise InvalidInput("the zip holds no conversations.json (ChatGPT, Claude) and no _chat.txt (WhatsApp)")
    if any(one.flag_bits & _ENCRYPTED or one.compress_type not in _METHODS for one in found):
        raise InvalidInput("the zip is encrypted, or packed in an unusual way; unpack it first")
    if sum(one.file_size for one in found) > most_bytes:
        most = most_bytes // 1024**2
        raise InvalidInput(f"the zip's conversations are larger than {most} MB unpacked; unpack it, and import them")
    return sorted(found, key=lambda one: one.filename)


def size_of(stream: IO[bytes]) -> int:
    """Its bytes, wherever it stands."""
    here = stream.tell()
    size = stream.seek(0, 2)
    stream.seek(here)
    return size
