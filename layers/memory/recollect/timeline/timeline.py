"""What is asked of a timeline and what it answers: writes, pages, the tail."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from recollect.core.event import Event, EventRef
    from recollect.core.items import ItemWrite
    from recollect.core.scope import Scope
    from recollect.core.vectors import FloatArray
    from recollect.retrieval.filters import DropReason, TimeWindow


TAIL_EVENTS = 100
IMPORTANT_FROM = 0.6
COUNTED_RECORDS = 10_000


@dataclass(frozen=True, slots=True)
class EventWrite:
    """An event about to be made durable, with its dedupe key and the fingerprint of its value.

    `items` of the user are written in the same step, as of the event's `recorded_at`: at most 25.
    """

    event: Event
    identity: str
    fingerprint: str
    items: tuple[ItemWrite, ...] = ()


class AppendStatus(StrEnum):
    """What became of a write."""

    CREATED = "created"
    DUPLICATE = "duplicate"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class AppendOutcome:
    """`event_id` and `conversation_id` are those of the stored event: of the earlier one for a duplicate.

    `reason` says why an event was refused: `deleted` (its identity is tombstoned) or `rejected` (its value is).
    """

    status: AppendStatus
    event_id: str | None
    conversation_id: str | None = None
    reason: str | None = None

    @classmethod
    def of_known(cls, event: Event, event_id: str | None, conversation_id: str | None) -> AppendOutcome:
        """The outcome for an event whose identity is known: a retry, a duplicate, or a tombstone (`event_id` None)."""
        if event_id is None:
            return cls(AppendStatus.REFUSED, None, reason="deleted")
        status = AppendStatus.CREATED if event_id == event.id else AppendStatus.DUPLICATE
        return cls(status, event_id, conversation_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowQuery:
    """A page of the timeline, newest first. `after` is the last event of the page before; `now` decides expiry.

    A record that cannot be read fails the page (StoredDataError), unless its reader goes on `around_unreadable` ones.
    """

    now: datetime
    window: TimeWindow
    limit: int
    conversation_id: str | None = None
    event_type: str | None = None
    after: EventRef | None = None
    around_unreadable: bool = False


@dataclass(frozen=True, slots=True)
class WindowPage:
    """Events newest first; how many records were read for it, and why others were dropped (A-48, A-51).

    `more` is where the next page goes on; None at the end. `unreadable` are the places of records that take room on
    the page and cannot be read, where the query goes on around them.
    """

    events: tuple[Event, ...]
    scanned: int
    dropped: Mapping[DropReason, int]
    more: EventRef | None
    unreadable: tuple[EventRef, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Records, the oldest first; `more` is where the next page goes on, None at the end.

    A page may be short, even empty, where more follows: persona and household narrow what was read.
    """

    events: tuple[Event, ...]
    more: EventRef | None


@dataclass(frozen=True, slots=True)
class Tail:
    """The newest events by arrival that are not projected yet, newest first; `cut` where there are more.

    `waiting` is how many wait in all, at least `len(refs)`; a store that would have to read them all to count them
    answers that many, and `cut` says that there are more.
    """

    refs: tuple[EventRef, ...]
    cut: bool
    waiting: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of a user and when its first event was recorded."""

    id: str
    started_at: datetime


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """Conversations, the last begun first; `more` is the last one's place where there is another page."""

    conversations: tuple[Conversation, ...]
    more: str | None


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """A marker: this event is durable and not yet projected."""

    scope: Scope
    ref: EventRef


@dataclass(frozen=True, slots=True)
class PendingPage:
    """Markers of all tenants, oldest arrival first; `more` where the next page goes on."""

    markers: tuple[PendingEvent, ...]
    more: str | None


@dataclass(frozen=True, slots=True)
class Projection:
    """What was derived from an event and is kept beside it: its vector (None without an embedder)."""

    ref: EventRef
    vector: FloatArray | None
    generation: str | None


@dataclass(frozen=True, slots=True)
class Removal:
    """How an event is taken away.

    `empties_slot`: the event was the value of its slot, which then holds none; `also` are to be projected again,
    because the removal changes what was derived from them. `items` of the user, at most 25, are written in the same
    step as of `at`. Raises ValueError where items are given without it.
    """

    empties_slot: bool = False
    also: tuple[EventRef, ...] = ()
    items: tuple[ItemWrite, ...] = ()
    at: datetime | None = None

    def __post_init__(self) -> None:
        if self.items and self.at is None:
            raise ValueError("items of a removal need the instant they are written at")
