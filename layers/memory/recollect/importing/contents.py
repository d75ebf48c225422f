"""What a file holds, told before anything of it is stored; and its drafts in parts, each for a request of its own."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.importing.turns import (
    BadEntry,
    Dating,
    Entries,
    ExportFormat,
    LeftOut,
    PlacedDraft,
    Turn,
    drafts_of,
)

FAULTS_TOLD = 10
_SAMPLES = 3


@dataclass(slots=True)
class Contents:
    """Counts of what was read so far. `first` and `last` are the times that the file gives; `faults` the first ten,
    `samples` who said what in the first three.

    `undated` turns have no time, nor has one before them in their conversation.
    """

    formats: Counter[ExportFormat] = field(default_factory=Counter)
    conversations: set[str] = field(default_factory=set)
    turns: int = 0
    undated: int = 0
    left_out: int = 0
    bad: int = 0
    first: datetime | None = None
    last: datetime | None = None
    samples: list[tuple[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def drafts(self, entries: Entries, dating: Dating) -> Iterator[PlacedDraft]:
        """The drafts of what can be stored; everything is counted on the way."""
        undated = dating.undated
        for one in drafts_of(dating(self._noted(entries))):
            more, undated = dating.undated - undated, dating.undated
            if isinstance(one, PlacedDraft):
                self.turns += 1
                self.undated += more
                self.conversations.add(one.conversation_id)
                yield one
            elif isinstance(one, BadEntry):
                self.fault(one)
            elif isinstance(one, LeftOut):
                self.left_out += 1

    def fault(self, entry: BadEntry) -> None:
        """Counts an entry that cannot be stored."""
        self.bad += 1
        if len(self.faults) < FAULTS_TOLD:
            self.faults.append(f"{entry.place.label}: {entry.reason}")

    def note(self, at: datetime | None, speaker: str, content: str) -> None:
        """Notes when something was said, and the beginning of the file."""
        if len(self.samples) < _SAMPLES:
            self.samples.append((speaker, content))
        if at is not None:
            self.first = min(self.first or at, at)
            self.last = max(self.last or at, at)

    def _noted(self, entries: Entries) -> Entries:
        for entry in entries:
            if isinstance(entry, Turn):
                self.formats[entry.format] += 1
                self.note(entry.timestamp, entry.speaker or entry.role, entry.content)
            yield entry


def in_parts(drafts: Iterable[PlacedDraft], turns: int, content_bytes: int) -> Iterator[list[PlacedDraft]]:
    """The drafts in their order; a part has at most so many, and of content so many bytes or one draft."""
    part: list[PlacedDraft] = []
    size = 0
    for one in drafts:
        more = len(one.draft.content.encode())
        if part and (len(part) == turns or size + more > content_bytes):
            yield part
            part, size = [], 0
        part.append(one)
        size += more
    if part:
        yield part


def by_conversation(drafts: Sequence[PlacedDraft]) -> dict[str, list[PlacedDraft]]:
    """One request takes one conversation; within it the order of the file stays."""
    grouped: dict[str, list[PlacedDraft]] = {}
    for one in drafts:
        grouped.setdefault(one.conversation_id, []).append(one)
    return grouped
