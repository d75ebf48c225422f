"""What an export is read as: turns, entries that are no turns, and lines that cannot be read."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from recollect.core.event import Role


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands: words for a person (`line 17`), and how many bytes of the file end with it."""

    label: str
    offset_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said. `timestamp` None: the export does not say when.

    `source_id` tells the turn from every other of its conversation and is the same whenever the export is read.
    """

    place: Place
    conversation_id: str
    role: Role
    speaker: str | None
    content: str
    timestamp: datetime | None
    source_id: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An entry that nobody said: a system line, a tool's output, an image without words."""

    place: Place


@dataclass(frozen=True, slots=True)
class BadEntry:
    """An entry that cannot be read, and why; `reason` holds nothing of the content."""

    place: Place
    reason: str


Entry: TypeAlias = Turn | LeftOut | BadEntry
Entries: TypeAlias = Iterator[Entry]
