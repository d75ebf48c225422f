"""What `project` does about contradictions: cue rules first, then the arbiter's word on what is left (P-24)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from recollect.application.propose_conflicts import ProposeConflicts
from recollect.application.read_memories import KeptMemory
from recollect.application.settle_contradictions import SettleContradictions
from recollect.domain.embedding import FloatArray
from recollect.domain.event import Event, EventRef
from recollect.domain.failed_projections import Fault, fault_of
from recollect.domain.memory import Memory, MemoryStatus
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope

Mark = Callable[[Scope, Sequence[EventRef]], None]


class Steps(NamedTuple):
    """What settles, and what proposes then."""

    settle: SettleContradictions
    propose: ProposeConflicts


Sparing = Callable[[Scope], Steps | None]


@dataclass(slots=True)
class Contradicted:
    """The memories of the projected events as they are then, and the events that hold no longer as they were said."""

    memories: dict[str, KeptMemory]
    ended: list[EventRef] = field(default_factory=list)


class FollowContradictions:
    """`mark` lets those be projected again that are not projected now: their documents follow.

    `sparing` gives steps that do not look at the user's events whose projection failed, None where there are none:
    an event must not fail because of another's words. That one is settled when it is projected itself.
    """

    def __init__(self, steps: Steps, mark: Mark, sparing: Sparing) -> None:
        self._steps = steps
        self._mark = mark
        self._sparing = sparing

    def __call__(
        self,
        scope: Scope,
        events: Sequence[Event],
        memories: Mapping[str, KeptMemory],
        vectors: Mapping[str, FloatArray],
        rules: Rules,
        now: datetime,
    ) -> Contradicted:
        """Raises what the ports raise, with some of it done: again makes the rest."""
        try:
            changed = _changed(self._steps, scope, events, memories, vectors, rules, now)
        except Exception as error:
            steps = self._sparing(scope) if fault_of(error) is Fault.OWN else None
            if steps is None:
                raise
            changed = _changed(steps, scope, events, memories, vectors, rules, now)
        own = {event.id for event in events}
        self._mark(scope, [kept.memory.ref for i, kept in changed.items() if i not in own])
        newest = {i: changed.get(kept.memory.id, kept) for i, kept in memories.items()}
        promoted = {i: kept for i, kept in changed.items() if i in own}
        return Contradicted({**promoted, **newest}, _ended(changed.values()))


def _changed(
    steps: Steps,
    scope: Scope,
    events: Sequence[Event],
    memories: Mapping[str, KeptMemory],
    vectors: Mapping[str, FloatArray],
    rules: Rules,
    now: datetime,
) -> dict[str, KeptMemory]:
    """The memories that changed, by id."""
    settled = steps.settle(scope, events, memories, vectors, rules, now)
    made = _made_now(events, memories, settled.memories)
    proposed = steps.propose(scope, made, vectors, rules, now)
    return {**settled.memories, **{one.memory.id: one for one in proposed}}


def _made_now(
    events: Sequence[Event], memories: Mapping[str, KeptMemory], settled: Mapping[str, KeptMemory]
) -> list[tuple[Event, Memory]]:
    """Memories in their first version that no cue rule had anything to do with."""
    found = [(event, memories[event.id].memory) for event in events if event.id in memories]
    return [
        (event, memory)
        for event, memory in found
        if memory.id == event.id and memory.version == 1 and memory.id not in settled
    ]


def _ended(changed: Iterable[KeptMemory]) -> list[EventRef]:
    """The events of memories that ended, whole or in part: what quotes them loses them."""
    over = [kept.memory for kept in changed if kept.memory.status is not MemoryStatus.ACTIVE or kept.memory.lapses]
    return [EventRef(source, memory.timestamp) for memory in over for source in memory.source_event_ids]
