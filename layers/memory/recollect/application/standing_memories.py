"""Memories as they stand: with what their records say, and what is recorded already but not projected yet (P-19)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recollect.domain.event import Event
from recollect.domain.memory import Memory, MemoryStatus
from recollect.domain.representation import as_it_stands
from recollect.domain.scope import Scope
from recollect.domain.slots import slot_of
from recollect.ports import Timeline


class StandingMemories:
    """A newer value of its key supersedes a memory from the moment it is durable, whatever the projector does."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def __call__(self, scope: Scope, memories: Sequence[Memory], events: Mapping[str, Event]) -> list[Memory]:
        """The memories in order; `events` are the records that carry them. Without keyed ones nothing more is read."""
        known = [as_it_stands(memory, events[memory.id]) for memory in memories]
        if not any(_may_be_superseded(memory) for memory in known):
            return known
        pending = self._pending(scope)
        return [self._standing(memory, pending) for memory in known]

    def _pending(self, scope: Scope) -> list[Event]:
        refs = self._timeline.tail(scope).refs
        found = self._timeline.read(scope, refs).values() if refs else ()
        return sorted((e for e in found if e.key is not None), key=lambda e: (e.timestamp, e.id))

    def _standing(self, memory: Memory, pending: Sequence[Event]) -> Memory:
        if not _may_be_superseded(memory):
            return memory
        own, order = (memory.persona_id or "", memory.household_id or "", memory.key), (memory.timestamp, memory.id)
        newer = (event for event in pending if slot_of(event) == own and (event.timestamp, event.id) > order)
        by = next(newer, None)
        return memory if by is None else _superseded(memory, by)


def _may_be_superseded(memory: Memory) -> bool:
    return memory.key is not None and memory.status is MemoryStatus.ACTIVE


def _superseded(memory: Memory, by: Event) -> Memory:
    valid_to = by.timestamp if memory.valid_to is None else memory.valid_to
    return replace(memory, status=MemoryStatus.SUPERSEDED, superseded_by=by.id, valid_to=valid_to)
