"""The steps that other subjects run in a projection: one list, one signature."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from recollect.archive.segment_places import AssignSegments
from recollect.contradictions.candidates import ProjectedRecords
from recollect.contradictions.settle import FollowContradictions
from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray
from recollect.memories.memory import Origin
from recollect.memories.promote import MemoryStep
from recollect.memories.reading import StoredMemory
from recollect.memories.representation import represented
from recollect.ports import Concurrency
from recollect.rules.groups import Rules, SummaryRules
from recollect.summaries.run import LostWords
from recollect.timeline.listing import KnownSpaces, KnownUsers

FollowEvents: TypeAlias = Callable[[Scope, Sequence[Event], Sequence[EventRef], datetime], None]
CountMessages: TypeAlias = Callable[[Scope, Sequence[Event], SummaryRules, datetime], None]
FollowWords: TypeAlias = Callable[[Scope, LostWords, datetime], None]


BEFORE_THEY_ARE_READ = Rules()  # making them takes a millisecond, for their version


@dataclass(slots=True)
class ProjectedBatch:
    """One user's part of a projection; the steps read it and add to it.

    `events` are projected now, with their `vectors`; `changed` are others that they superseded; `gone` are deleted.
    `read` are the memories of `events` as read before, None for events without one. The steps set `memories`, those of
    the events by the events' ids, and `ended`, events whose words no longer hold. `rules` are the tenant's, read once,
    so that all steps of a batch see one version; of a batch without events they are not read.
    """

    events: Sequence[Event] = ()
    changed: Sequence[Event] = ()
    gone: Sequence[EventRef] = ()
    read: Mapping[str, StoredMemory | None] = field(default_factory=dict)
    vectors: Mapping[str, FloatArray] = field(default_factory=dict)
    rules: Rules = BEFORE_THEY_ARE_READ
    memories: dict[str, StoredMemory] = field(default_factory=dict)
    ended: list[EventRef] = field(default_factory=list)


ProjectionStep: TypeAlias = Callable[[Scope, ProjectedBatch, datetime], None]


@dataclass(frozen=True, slots=True)
class ProjectionSteps:
    """What `project` runs for the other subjects. Each step is idempotent, and may run late and concurrently."""

    rules: Callable[[str], Rules]
    bound: Callable[[Event], datetime]
    memories: MemoryStep
    contradictions: FollowContradictions
    segments: AssignSegments
    users: KnownUsers
    spaces: KnownSpaces
    messages: CountMessages
    summaries: FollowWords
    expiry: FollowEvents
    archive: Callable[[Scope, Sequence[EventRef], datetime], None]
    outbox: Callable[[Scope, datetime], None]
    copies: Callable[[Scope, Sequence[EventRef], datetime], object]
    concurrency: Concurrency

    @property
    def before(self) -> tuple[ProjectionStep, ...]:
        """Before any write."""
        return (self._delete_copies,)

    @property
    def beside(self) -> tuple[ProjectionStep, ...]:
        """Side by side with those of `derive`, before the index and the markers: they need events and rules alone."""
        return (self._note_user, self._note_spaces, self._count_messages)

    @property
    def derive(self) -> tuple[ProjectionStep, ...]:
        """After slots are written, before the index and the markers."""
        return (
            self._promote,
            self._settle_contradictions,
            self._update_summaries,
            self._note_expiry,
        )

    @property
    def remove(self) -> tuple[ProjectionStep, ...]:
        """Before the markers of deleted events go."""
        return (self._forget_memories, self._forget_archived, self._publish_pruned)

    def rehearse(self, scope: Scope, batch: ProjectedBatch, now: datetime) -> None:
        """What of `derive` is slow and writes nothing; what it reads is read again there. Raises as those steps."""
        if batch.events:
            self.contradictions.rehearse(_records(scope, batch, now))

    def _delete_copies(self, scope: Scope, batch: ProjectedBatch, now: datetime) -> None:
        if batch.gone:
            self.copies(scope, batch.gone, now)

    def _note_user(self, scope: Scope, batch: ProjectedBatch, now: datetime) -> None:
        if batch.events:
            self.users.note(scope, now)

    def _note_spaces(self, scope: Scope, batch: ProjectedBatch, now: datetime) -> None:
        if batch.events:
            self.spaces.note(scope, batch.events, now)

    def _promote(self, scope: Scope, batch: ProjectedBatch, now: datetime) -> None:
        together = [*batch.events, *batch.changed]
        batch.memories = self.memories.follow(scope, together, batch.rules, now, batch.read) if together else {}

    def _settle_contradictions(self, scope: Scope, batch: ProjectedBatch, now: datetime) -> None:
        if not batch.events:
            return
        found = self.contradictions.follow(_records(scope, batch, now))
        batch.memories, batch.ended = found.memories, found.ended

    def _count_messages(self, scope: Scope, batch: ProjectedBatch, now: datetime) -> None:
        if batch.events:
            self.messages(scope, batch.events, batch.rules.summary, now)

    def _update_summaries(self, scope: Scope, batch: ProjectedBatch, now: datetime) -> None:
        deleted = [*batch.gone, *_replaced(batch.events, batch.memories)]
        superseded = [event.ref for event in batch.changed if event.superseded_by is not None]
        ended = dict.fromkeys([*superseded, *batch.ended, *_ended_before(batch.memories.values())])
        self.summaries(scope, LostWords(deleted, list(ended)), now)

    def _note_expiry(self, scope: Scope, batch: ProjectedBatch, now: datetime) -> None:
        self.expiry(scope, [_represented(event, batch.memories) for event in batch.events], batch.gone, now)

    def _forget_memories(self, scope: Scope, batch: ProjectedBatch, now: datetime) -> None:
        self.memories.forget(scope, [ref.id for ref in batch.gone], now)

    def _forget_archived(self, scope: Scope, batch: ProjectedBatch, now: datetime) -> None:
        self.archive(scope, batch.gone, now)

    def _publish_pruned(self, scope: Scope, _batch: ProjectedBatch, now: datetime) -> None:
        self.outbox(scope, now)


def _records(scope: Scope, batch: ProjectedBatch, now: datetime) -> ProjectedRecords:
    return ProjectedRecords(
        scope=scope,
        events=batch.events,
        memories=batch.memories,
        vectors=batch.vectors,
        rules=batch.rules,
        now=now,
    )


def _replaced(events: Sequence[Event], memories: Mapping[str, StoredMemory]) -> list[EventRef]:
    """Events whose words a person has just replaced: summaries lose the words, where the patch ended before that."""
    found = (memories[event.id] for event in events if event.id in memories and memories[event.id].edits(event))
    changed = [one.memory for one in found if one.item.due is not None and one.memory.origin is not Origin.MERGED]
    return [EventRef(source, memory.timestamp) for memory in changed for source in memory.source_event_ids]


def _ended_before(memories: Iterable[StoredMemory]) -> list[EventRef]:
    """Events of memories that ended since the index last showed them: a try that was cut short, or a person's."""
    due = [one.memory for one in memories if one.item.due is not None and one.memory.has_ended]
    return [EventRef(source, memory.timestamp) for memory in due for source in memory.source_event_ids]


def _represented(event: Event, memories: Mapping[str, StoredMemory]) -> Event:
    """As readers see it: a memory may expire before its event."""
    stored = memories.get(event.id)
    return represented(event, stored.memory if stored is not None and stored.memory.id == event.id else None)
