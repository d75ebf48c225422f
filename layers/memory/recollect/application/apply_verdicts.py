"""Writes what cue rules decided: the memory that loses, the decision, the entry of the audit, in one step (P-24)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.application.decided import Decided
from recollect.application.looked_at import LookedAt
from recollect.application.merge_parts import MergeParts
from recollect.application.read_memories import KeptMemory
from recollect.domain.claims import RelationKind, Said
from recollect.domain.decisions import (
    Decision,
    DecisionStatus,
    OpenConflict,
    Outcome,
    Step,
    conflict_document,
    conflict_key,
    decision_in,
    decision_key,
    pair_id,
)
from recollect.domain.errors import Conflict, VersionMismatch
from recollect.domain.event import Event
from recollect.domain.items import ABSENT, ItemWrite
from recollect.domain.memory import Memory, MemoryStatus
from recollect.domain.scope import Scope
from recollect.domain.settlement import Verdict, bounded, settled
from recollect.domain.slots import bound_of
from recollect.ports import Items

Promoted = Callable[[Scope, Event, datetime], KeptMemory | None]
"""The memory of a record, made now where there is none; None where there cannot be one."""

_TRIES = 8
_AT_ONCE = 6
"""Verdicts that one step writes: each with its three entries in ledger and audit, within 25 writes."""

OUTCOMES = {
    RelationKind.SUPERSEDES: Outcome.SUPERSEDED,
    RelationKind.RETRACTS: Outcome.RETRACTED,
    RelationKind.OVERRIDES: Outcome.OVERRIDDEN,
    RelationKind.CHANGES_PART: Outcome.MERGED,
}


@dataclass(frozen=True, slots=True)
class _Made:
    """The memory as it will be, and the decisions that make it so."""

    after: Memory
    decisions: tuple[Decision, ...]
    verdicts: tuple[Verdict, ...]


class ApplyVerdicts:
    """Again is no harm: a decision that is in the ledger is not made a second time."""

    def __init__(self, items: Items, promoted: Promoted, decided: Decided, merge: MergeParts) -> None:
        self._items = items
        self._promoted = promoted
        self._decided = decided
        self._merge = merge

    def __call__(
        self, scope: Scope, loser: Event, against: Sequence[Verdict], found: LookedAt, now: datetime
    ) -> list[KeptMemory]:
        """The memories that changed by it: the loser's, one that holds both parts, those that are current again."""
        for _ in range(_TRIES):
            kept = self._promoted(scope, loser, now)
            if kept is None:
                return []
            made = self._made(scope, kept.memory, against, found, now)
            if made is None:
                return list(self.mend(scope, kept, now))
            try:
                return self._written(scope, kept, made, found, now)
            except VersionMismatch:
                continue
        raise Conflict("a memory changes all the time")

    def remembered(self, scope: Scope, event: Event, now: datetime) -> KeptMemory | None:
        """The memory that a record is in, made now where there is none; None where there cannot be one."""
        return self._promoted(scope, event, now)

    def bounds(
        self, scope: Scope, event: Event, kept: KeptMemory | None, said: Said | None, now: datetime
    ) -> KeptMemory | None:
        """The memory with the bounds that its own words set; None where nothing changes."""
        if kept is None or said is None or kept.memory.id != event.id or kept.memory.status is not MemoryStatus.ACTIVE:
            return None
        if event.key is not None and bound_of(event) is None:
            return None  # it is its slot's value until the next one comes
        after = bounded(kept.memory, said.claims)
        return None if after == kept.memory else self._decided.bounded(scope, kept, after, now)

    def mend(self, scope: Scope, kept: KeptMemory | None, now: datetime) -> Iterator[KeptMemory]:
        """What was cut short: what a retracted memory ended is current again, and it itself where its winner was."""
        if kept is None:
            return
        if kept.memory.status is MemoryStatus.RETRACTED:
            yield from self._decided.withdrawn(scope, kept.memory.id, now)
        else:
            yield from self._decided.fallen(scope, kept.memory, now)

    def leave_open(self, scope: Scope, older: str, verdict: Verdict, now: datetime) -> None:
        """Notes that nobody can tell which counts; where that stands already, or was settled, nothing changes."""
        conflict = OpenConflict(newer=verdict.by, older=older, at=now, step=Step.CUE, rule=verdict.relation.rule)
        key = conflict_key(conflict.id)
        if not self._items.get(scope.user, [key]):
            self._open(scope, ItemWrite(key, conflict_document(conflict), ABSENT), now)

    def _open(self, scope: Scope, write: ItemWrite, now: datetime) -> None:
        try:
            self._items.write(scope.user, [write], now)
        except VersionMismatch:
            return

    def _made(
        self, scope: Scope, memory: Memory, against: Sequence[Verdict], found: LookedAt, now: datetime
    ) -> _Made | None:
        known = self._items.get(scope.user, [decision_key(pair_id(one.by, memory.id)) for one in against])
        made = {key.key for key, item in known.items() if _stands(decision_in(item.value), memory, found)}
        fresh = [one for one in against if pair_id(one.by, memory.id) not in made]
        whole = memory.status is MemoryStatus.ACTIVE
        after = bounded(memory, found.bounds_of(memory)) if whole else memory
        decisions: list[Decision] = []
        counted: list[Verdict] = []
        for verdict in sorted(fresh, key=lambda one: one.order)[:_AT_ONCE]:
            changed = settled(after, [found.in_words_of(memory, verdict)])
            if changed is not after:
                after = changed
                counted.append(verdict)
                decisions.append(_decision(memory, verdict, now))
        return _Made(after, tuple(decisions), tuple(counted)) if decisions else None

    def _written(self, scope: Scope, kept: KeptMemory, made: _Made, found: LookedAt, now: datetime) -> list[KeptMemory]:
        parts = [one for one in made.verdicts if one.relation.kind is RelationKind.CHANGES_PART]
        if parts and made.after.status is MemoryStatus.MERGED:
            (part,) = [one for one in parts if one.by == made.after.superseded_by]
            winner = self._promoted(scope, found.record(part.by), now)
            return [] if winner is None else self._merge(scope, kept, winner, made.after, made.decisions, part, now)
        changed = self._decided.changed(scope, kept, made.after, made.decisions, now)
        return [changed, *self.mend(scope, changed, now)]


def _stands(decision: Decision, memory: Memory, found: LookedAt) -> bool:
    """Whether it is not made again: a key's gives way, and so does one that an earlier end had taken the place of.

    A memory that a person edited since is left in peace.
    """
    overtaken = memory.status is MemoryStatus.ACTIVE and decision.status is DecisionStatus.APPLIED
    again = overtaken and decision.outcome is not Outcome.OVERRIDDEN and not found.edited(memory)
    return decision.step is not Step.KEY and not again


def _decision(memory: Memory, verdict: Verdict, now: datetime) -> Decision:
    relation = verdict.relation
    return Decision(
        winner=verdict.by,
        loser=memory.id,
        at=now,
        step=Step.CUE,
        rule=relation.rule,
        outcome=OUTCOMES[relation.kind],
        reason=f"the cue rule {relation.rule} reads a newer statement",
        before=memory.version,
        after=memory.version + 1,
        until=relation.until,
    )
