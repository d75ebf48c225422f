"""What follows from events that were projected, beside vectors, slots and the index."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.archive.segment_archive import AssignSegments
from recollect.contradictions.settle import Contradicted, FollowContradictions
from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray
from recollect.memories.memory import Origin
from recollect.memories.promote import FollowMemories
from recollect.memories.reading import KeptMemory
from recollect.memories.representation import represented
from recollect.rules.groups import Rules
from recollect.timeline.bus import SegmentPlace
from recollect.timeline.listing import KnownSpaces, KnownUsers

KeepUp = Callable[[Scope, Sequence[Event], Sequence[EventRef], datetime], None]


@dataclass(slots=True)
class Followed:
    """The memories of events by the events' ids, and the segments of those that were just projected."""

    memories: dict[str, KeptMemory]
    segments: dict[str, SegmentPlace] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Projected:
    """`events` are projected now, with their vectors; `changed` are others that they superseded; `gone` are removed.

    `read` are the memories of `events` as they were read before, None where there was none.
    """

    events: Sequence[Event]
    changed: Sequence[Event]
    gone: Sequence[EventRef]
    read: Mapping[str, KeptMemory | None]
    vectors: Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True)
class Following:
    """The parts of `project` that other subjects need; each may run twice, late and beside itself."""

    rules: Callable[[str], Rules]
    memories: FollowMemories
    contradictions: FollowContradictions
    segments: AssignSegments
    users: KnownUsers
    spaces: KnownSpaces
    summaries: KeepUp
    expiry: KeepUp
    archive: Callable[[Scope, Sequence[EventRef], datetime], None]
    """Takes what is gone out of segments and snapshots, before its marker goes."""
    pruned: Callable[[Scope, datetime], None]
    """Publishes that it is gone, before its marker goes."""
    copies: Callable[[Scope, Sequence[EventRef], datetime], object]
    """Deletes what others copied of it, before anything is written."""

    def __call__(self, scope: Scope, projected: Projected, now: datetime) -> Followed:
        """Raises what the items, the index and the timeline raise."""
        events = projected.events
        if events:
            self.users.note(scope, now)
            self.spaces.note(scope, events, now)
        made = self._memories(scope, projected, now)
        segments = self.segments(scope, events, now) if events else {}
        gone = [*projected.gone, *_replaced(events, made.memories), *made.ended]
        self.summaries(scope, events, gone, now)
        self.expiry(scope, [_represented(event, made.memories) for event in events], projected.gone, now)
        return Followed(made.memories, segments)

    def _memories(self, scope: Scope, projected: Projected, now: datetime) -> Contradicted:
        """Promoted, and then settled: what contradicts what is known of memories alone."""
        together = [*projected.events, *projected.changed]
        if not together:
            return Contradicted({})
        rules = self.rules(scope.tenant)
        memories = self.memories(scope, together, rules, now, projected.read)
        if not projected.events:
            return Contradicted(memories)
        return self.contradictions(scope, projected.events, memories, projected.vectors, rules, now)


def _replaced(events: Sequence[Event], memories: Mapping[str, KeptMemory]) -> list[EventRef]:
    """Events whose words a person replaced just now: what quotes them loses them, where the patch ended before that."""
    found = (memories[event.id] for event in events if event.id in memories and memories[event.id].edits(event))
    changed = [one.memory for one in found if one.item.due is not None and one.memory.origin is not Origin.MERGED]
    return [EventRef(source, memory.timestamp) for memory in changed for source in memory.source_event_ids]


def _represented(event: Event, memories: Mapping[str, KeptMemory]) -> Event:
    """As readers see it: a memory may expire before its event."""
    kept = memories.get(event.id)
    return represented(event, kept.memory if kept is not None and kept.memory.id == event.id else None)
