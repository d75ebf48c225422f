"""What follows from events that were projected, beside vectors, slots and the index."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.application.assign_segments import AssignSegments
from recollect.application.follow_memories import FollowMemories
from recollect.application.known_users import KnownUsers
from recollect.application.read_memories import KeptMemory
from recollect.domain.bus import SegmentPlace
from recollect.domain.event import Event, EventRef
from recollect.domain.representation import represented
from recollect.domain.scope import Scope

KeepUp = Callable[[Scope, Sequence[Event], Sequence[EventRef], datetime], None]


@dataclass(slots=True)
class Followed:
    """The memories of events by the events' ids, and the segments of those that were just projected."""

    memories: dict[str, KeptMemory]
    segments: dict[str, SegmentPlace] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Following:
    """The parts of `project` that other subjects need; each may run twice, late and beside itself."""

    memories: FollowMemories
    segments: AssignSegments
    users: KnownUsers
    summaries: KeepUp
    expiry: KeepUp
    archive: Callable[[Scope, Sequence[EventRef], datetime], None]
    """Takes what is gone out of segments and snapshots, before its marker goes."""
    pruned: Callable[[Scope, datetime], None]
    """Publishes that it is gone, before its marker goes."""
    copies: Callable[[Scope, Sequence[EventRef], datetime], object]
    """Deletes what others copied of it, before anything is written."""

    def __call__(
        self,
        scope: Scope,
        events: Sequence[Event],
        changed: Sequence[Event],
        gone: Sequence[EventRef],
        now: datetime,
    ) -> Followed:
        """`events` are projected now, `changed` are others that they superseded. Raises what the items raise."""
        if events:
            self.users.note(scope, now)
        followed = Followed(
            memories=self.memories(scope, [*events, *changed], now),
            segments=self.segments(scope, events, now) if events else {},
        )
        self.summaries(scope, events, [*gone, *_replaced(events, followed.memories)], now)
        self.expiry(scope, [_represented(event, followed.memories) for event in events], gone, now)
        return followed


def _replaced(events: Sequence[Event], memories: Mapping[str, KeptMemory]) -> list[EventRef]:
    """Events whose words a person replaced just now: what quotes them loses them, where the patch ended before that."""
    found = (memories[event.id] for event in events if event.id in memories and memories[event.id].edits(event))
    changed = [kept.memory for kept in found if kept.item.due is not None]
    return [EventRef(source, memory.timestamp) for memory in changed for source in memory.source_event_ids]


def _represented(event: Event, memories: Mapping[str, KeptMemory]) -> Event:
    """As readers see it: a memory may expire before its event."""
    kept = memories.get(event.id)
    return represented(event, kept.memory if kept is not None and kept.memory.id == event.id else None)
