"""Values of the port `Timeline`: writes and their outcomes, pages, the tail, markers, projections, removals."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from recollect.retrieval.filters import lies_below

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from recollect.core.event import Event, EventRef
    from recollect.core.items import ItemWrite
    from recollect.core.scope import Labels, Scope
    from recollect.core.vectors import FloatArray
    from recollect.retrieval.filters import DropReason, TimeWindow


TAIL_EVENTS = 100
IMPORTANT_FROM = 0.6
COUNTED_RECORDS = 10_000


@dataclass(frozen=True, slots=True)
class EventWrite:
    """An event to be made durable, with its dedupe key and the fingerprint of its value.

    `items` of the user, at most 25, are written atomically with it, as of the event's `recorded_at`.
    """

    event: Event
    identity: str
    fingerprint: str
    items: tuple[ItemWrite, ...] = ()


class AppendStatus(StrEnum):
    CREATED = "created"
    DUPLICATE = "duplicate"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class AppendOutcome:
    """`event_id` and `conversation_id` are those of the stored event: of the earlier one for a duplicate.

    `reason` says why an event was refused: `deleted` (its identity has a tombstone) or `rejected` (its value is
    rejected).
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

    `agent_id`, `app_id` and `namespace` are asked for exactly, `namespace_prefix` with all below it. An unreadable
    record fails the page (StoredDataError), unless `around_unreadable`.
    """

    now: datetime
    window: TimeWindow
    limit: int
    conversation_id: str | None = None
    event_type: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    namespace: tuple[str, ...] | None = None
    namespace_prefix: tuple[str, ...] | None = None
    after: EventRef | None = None
    around_unreadable: bool = False

    @property
    def asks_for_labels(self) -> bool:
        """Whether only records of some labels are wanted."""
        return any(one is not None for one in (self.agent_id, self.app_id, self.namespace, self.namespace_prefix))

    def admits(self, labels: Labels) -> bool:
        """Whether a record of these labels is wanted."""
        asked = ((self.agent_id, labels.agent_id), (self.app_id, labels.app_id), (self.namespace, labels.namespace))
        return all(one in (None, has) for one, has in asked) and lies_below(labels.namespace, self.namespace_prefix)


@dataclass(frozen=True, slots=True)
class WindowPage:
    """Events newest first; how many records were read for it, and why others were dropped (A-48, A-51).

    `more` is where the next page begins; None at the end. `unreadable` are the places of records on the page that
    cannot be read, with `around_unreadable`.
    """

    events: tuple[Event, ...]
    scanned: int
    dropped: Mapping[DropReason, int]
    more: EventRef | None
    unreadable: tuple[EventRef, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Records, the oldest first; `more` is where the next page begins, None at the end.

    A page may be short, even empty, before the end: persona and household filter the records that were read.
    """

    events: tuple[Event, ...]
    more: EventRef | None


@dataclass(frozen=True, slots=True)
class Tail:
    """The newest pending events by arrival, newest first; `cut` where there are more.

    `waiting` is how many wait in all; a store that would have to read them all to count them returns `len(refs)`.
    """

    refs: tuple[EventRef, ...]
    cut: bool
    waiting: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of a user, and when its first event was recorded."""

    id: str
    started_at: datetime


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """Conversations, the last begun first; `more` is where the next page begins, None at the end."""

    conversations: tuple[Conversation, ...]
    more: str | None


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """A pending marker: this event is durable and not yet projected."""

    scope: Scope
    ref: EventRef


@dataclass(frozen=True, slots=True)
class PendingPage:
    """Markers of all tenants, oldest arrival first; `more` is where the next page begins."""

    markers: tuple[PendingEvent, ...]
    more: str | None


@dataclass(frozen=True, slots=True)
class Projection:
    """What is stored beside an event: its vector (None without an embedder) and the vector's generation.

    `segment` is the number of the segment that the event is in, from 1 and for good (A-59); None where it is not known
    here.
    """

    ref: EventRef
    vector: FloatArray | None
    generation: str | None
    segment: int | None = None


@dataclass(frozen=True, slots=True)
class PlacedEvent:
    """An event, and the number of the segment that it is in."""

    ref: EventRef
    segment: int


@dataclass(frozen=True, slots=True)
class Removal:
    """How to remove an event.

    `empties_slot`: the event was the value of its slot, which then has none; `also` are events to project again,
    because the removal changes their derived data. `items` of the user, at most 25, are written atomically as of `at`.
    Raises ValueError for items without `at`.
    """

    empties_slot: bool = False
    also: tuple[EventRef, ...] = ()
    items: tuple[ItemWrite, ...] = ()
    at: datetime | None = None

    def __post_init__(self) -> None:
        if self.items and self.at is None:
            raise ValueError("items of a removal need the instant they are written at")
