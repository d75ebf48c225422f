"""A file that was dropped on the console: what it holds, and the requests to the API that store it, part by part.

A file comes again with every step, whose place in it says where to go on: nothing of it is kept between requests, here
or in the function of a stack.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from typing import Any, Final, Protocol

from recollect.archive.record_line import is_line
from recollect.core.time import iso
from recollect.entrypoints.console.api import user_path
from recollect.entrypoints.console.forms import Upload
from recollect.entrypoints.http.routes.snapshots import GivenPage, take_line
from recollect.importing.contents import Contents, by_conversation, in_parts
from recollect.importing.reading import ExportFile, entries_in, numbered_lines
from recollect.importing.turns import BadEntry, Dating, ExportFormat, Place, PlacedDraft

OWN = "recollect"
PART_TURNS: Final = 100
PART_BYTES: Final = 500_000
"""Of content: in JSON it is up to six times as long, and a request has five million bytes."""
_PART_LINES: Final = 500
_LONGEST_LINE_BYTES: Final = 4_500_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a file may be, and its conversations where it is a zip."""

    file_bytes: int
    unpacked_bytes: int


HERE: Final = Limits(32_000_000, 128 * 1024**2)
ON_A_STACK: Final = Limits(4_000_000, 24 * 1024**2)
"""Lambda takes requests of 6 MB, in which a file is longer by a third; the function has 512 MB."""


@dataclass(frozen=True, slots=True)
class Sending:
    """A request: its path and body, and what each of its entries is called in the file."""

    path: str
    body: bytes
    places: Sequence[str]


@dataclass(frozen=True, slots=True)
class Part:
    """Requests for so many entries of the file; up to here it has so many bytes."""

    entries: int
    offset_bytes: int
    sendings: Sequence[Sending]


class Dropped(Protocol):
    """A file of either sort; `contents` tells of what was read so far. Reading raises InvalidInput."""

    upload: Upload
    contents: Contents

    @property
    def kinds(self) -> Sequence[str]:
        """What it was recognised as."""

    def parts(self, user_id: str, done: int) -> Iterator[Part]:
        """What is to be stored, without so many entries that were before."""


@dataclass(slots=True)
class Chats:
    """Conversations in any of the formats of `recollect import`, read as it reads them."""

    upload: Upload
    file: ExportFile
    dating: Dating
    contents: Contents = field(default_factory=Contents)

    @property
    def kinds(self) -> Sequence[str]:
        """The formats of its turns."""
        return list(self.contents.formats)

    def parts(self, user_id: str, done: int) -> Iterator[Part]:
        """One request for each conversation of a hundred turns: the events are known by their source ids."""
        entries = entries_in(self.file, BytesIO(self.upload.content))
        drafts = self.contents.drafts(entries, self.dating)
        for part in in_parts(islice(drafts, done, None), PART_TURNS, PART_BYTES):
            sendings = [_events(user_id, name, some) for name, some in by_conversation(part).items()]
            yield Part(len(part), part[-1].place.offset_bytes, sendings)


def _events(user_id: str, conversation_id: str, drafts: Sequence[PlacedDraft]) -> Sending:
    events = [_event(one) for one in drafts]
    body = {"user_id": user_id, "conversation_id": conversation_id, "events": events}
    return Sending("/v1/events", json.dumps(body).encode(), [one.place.label for one in drafts])


def _event(placed: PlacedDraft) -> Mapping[str, Any]:
    draft = placed.draft
    said = {"role": draft.role, "content": draft.content, "metadata": dict(draft.metadata)}
    at = {} if draft.timestamp is None else {"timestamp": iso(draft.timestamp)}
    underived = {} if draft.derive else {"derive": False}
    return {**said, **at, **underived, **({} if draft.speaker is None else {"speaker": draft.speaker})}


@dataclass(slots=True)
class Records:
    """An export of Recollect: its lines are sent as they are."""

    upload: Upload
    contents: Contents = field(default_factory=Contents)

    @property
    def kinds(self) -> Sequence[str]:
        """What we call it."""
        return [OWN]

    def parts(self, user_id: str, done: int) -> Iterator[Part]:
        """A request for at most 500 lines."""
        lines: list[bytes] = []
        size, number, at = 0, 0, 0
        for number, place, line in islice(self._lines(), done, None):
            if lines and (len(lines) == _PART_LINES or size + len(line) > PART_BYTES):
                yield self._part(user_id, lines, number - 1, at)
                lines, size = [], 0
            lines.append(line)
            size, at = size + len(line), place.offset_bytes
        if lines:
            yield self._part(user_id, lines, number, at)

    def _part(self, user_id: str, lines: Sequence[bytes], last: int, at: int) -> Part:
        places = [f"line {number}" for number in range(last - len(lines) + 1, last + 1)]
        return Part(len(lines), at, [Sending(user_path(user_id, "import"), b"\n".join(lines), places)])

    def _lines(self) -> Iterator[tuple[int, Place, bytes]]:
        """Every line; one that cannot be sent is empty."""
        for number, place, line in numbered_lines(BytesIO(self.upload.content)):
            yield number, place, self._noted(number, place, line)

    def _noted(self, number: int, place: Place, line: bytes | None) -> bytes:
        """The line, counted by what it holds."""
        if line is None or len(line) > _LONGEST_LINE_BYTES:
            self.contents.fault(BadEntry(place, f"is longer than {_LONGEST_LINE_BYTES} bytes"))
            return b""
        try:
            text = line.decode().rstrip("\n")
        except UnicodeDecodeError:
            self.contents.fault(BadEntry(place, "is not UTF-8"))
            return b""
        page = GivenPage()
        take_line(page, number, text, None)
        self._count(page)
        for fault in page.faults:
            self.contents.fault(BadEntry(place, fault["message"]))
        return b"" if page.faults else text.encode()

    def _count(self, page: GivenPage) -> None:
        self.contents.turns += len(page.lines) + len(page.items) + len(page.logged)
        for line in page.lines:
            self.contents.conversations.add(line.event.conversation_id)
            self.contents.note(line.event.timestamp, line.event.speaker or line.event.role, line.event.content)


def dropped(upload: Upload, file: ExportFile, dating: Dating) -> Dropped:
    """What was sent, as an export of ours, else as the file that it is to be read as."""
    own = file.format is ExportFormat.AUTO and _is_own(upload.content)
    return Records(upload) if own else Chats(upload, file, dating)


def _is_own(content: bytes) -> bool:
    first = content[:_LONGEST_LINE_BYTES].partition(b"\n")[0]
    try:
        return first.startswith(b"{") and is_line(json.loads(first))
    except (ValueError, RecursionError):
        return False
