"""Revert: a person takes a decision back (api.md, *Arbitration*; P-22, P-24).

What a cue rule, the arbiter or a person decided is undone on the loser's memory; what was merged is taken apart. A
value of a key comes back by being written anew, so that it is its slot's newest. The decision stays in the ledger, as
reverted, and is never made again by itself.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from recollect.application.bring_back_value import BringBackValue
from recollect.application.decided import Decided
from recollect.application.list_decisions import ListDecisions
from recollect.application.merge_parts import moved_record
from recollect.application.note_refusals import NoteRefusedWrite, RefusedWrite
from recollect.application.part_memories import PartMemories
from recollect.application.read_memories import KeptMemory, ReadMemories
from recollect.application.tell_changed import TellChanged
from recollect.application.value_gate import ValueGate
from recollect.domain.audit import Actor
from recollect.domain.decisions import (
    ConflictStatus,
    Decision,
    DecisionStatus,
    Outcome,
    Step,
    conflict_document,
    conflict_in,
    conflict_key,
    decision_in,
    pair_id,
)
from recollect.domain.errors import Conflict, VersionMismatch
from recollect.domain.event import Event
from recollect.domain.items import Due, Item, ItemWrite
from recollect.domain.memory import Memory, MemoryStatus, Origin
from recollect.domain.memory_writes import TO_PROJECT, changed_writes
from recollect.domain.scope import Scope
from recollect.ports import Items, Timeline

REVERTED = DecisionStatus.REVERTED
VIA = "revert"
_TRIES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertOrder:
    """Who takes it back, and when. `again`: an earlier try of the same request may have done it."""

    actor: Actor
    now: datetime
    again: bool = False


@dataclass(frozen=True, slots=True)
class Reverted:
    """The decision as it is then, and the memory that counts again; of a slot the one that is current now."""

    decision: Decision
    memory_id: str


@dataclass(frozen=True, slots=True)
class _Undoing:
    """The decision as it is kept, and its loser, of which the timeline has the record."""

    item: Item
    decision: Decision
    loser: KeptMemory
    event: Event


class RevertDecision:
    """One step each, on condition that nothing of it changed meanwhile."""

    def __init__(
        self,
        timeline: Timeline,
        items: Items,
        decided: Decided,
        part: PartMemories,
        bring_back: BringBackValue,
        tell: TellChanged,
        refused: NoteRefusedWrite,
    ) -> None:
        self._timeline = timeline
        self._items = items
        self._decided = decided
        self._part = part
        self._bring_back = bring_back
        self._tell = tell
        self._refused = refused
        self._decisions = ListDecisions(items)
        self._read = ReadMemories(items)
        self._gate = ValueGate(items)

    def __call__(self, scope: Scope, decision_id: str, order: RevertOrder) -> Reverted:
        """Takes it back. Raises NotFound, and Conflict where it does not hold any more, where the loser is gone, was
        rejected, or has been ended by something else since.
        """
        for _ in range(_TRIES):
            item = self._decisions.item(scope, decision_id)
            decision = decision_in(item.value)
            if order.again and decision.status is REVERTED:
                return self.current(scope, decision)
            undoing = self._undoing(scope, item, decision, order)
            try:
                return self._undone(scope.user, undoing, order)
            except VersionMismatch:
                continue
        raise Conflict("the memories change all the time")

    def current(self, scope: Scope, decision: Decision) -> Reverted:
        """What counts now, after it was taken back."""
        value = self._bring_back.current(scope.user, decision.loser) if decision.step is Step.KEY else None
        return Reverted(decision, value or decision.loser)

    def _undoing(self, scope: Scope, item: Item, decision: Decision, order: RevertOrder) -> _Undoing:
        if decision.status is not DecisionStatus.APPLIED:
            raise Conflict("the decision does not hold any more")
        kept = self._read.kept(scope, [decision.loser]).get(decision.loser)
        event = self._timeline.read(scope, [kept.memory.ref]).get(kept.memory.id) if kept is not None else None
        if kept is None or event is None or kept.memory.id != decision.loser:
            raise Conflict("the memory is gone")
        if event.expired(order.now) or kept.memory.expired(order.now):
            raise Conflict("the memory is gone")
        self._check(scope, kept.memory, order)
        return _Undoing(item, decision, kept, event)

    def _undone(self, scope: Scope, undoing: _Undoing, order: RevertOrder) -> Reverted:
        decision = undoing.decision
        reverted = replace(decision, status=REVERTED)
        if decision.step is Step.KEY:
            if undoing.loser.memory.superseded_by != decision.winner:
                raise Conflict("the memory has been ended by something else since")
            writes = self._decided.ledger(scope, undoing.item, undoing.loser.memory, REVERTED, order.actor, order.now)
            value = self._bring_back(scope, undoing.loser.memory, undoing.event, writes, order.actor, order.now)
            return Reverted(reverted, value.id)
        after, writes = self._decided.back(scope, undoing.item, undoing.loser, REVERTED, order.actor, order.now)
        if after == undoing.loser.memory:
            raise Conflict("the memory has been ended by something else since")
        if undoing.loser.memory.status is MemoryStatus.MERGED and decision.outcome is Outcome.MERGED:
            self._parted(scope, undoing, after, writes, order)
        else:
            self._items.write(scope, [*writes, *self._open_again(scope, decision)], order.now)
            self._tell(scope, [after], [], order.now)
        return Reverted(reverted, after.id)

    def _parted(
        self, scope: Scope, undoing: _Undoing, after: Memory, writes: list[ItemWrite], order: RevertOrder
    ) -> None:
        """The memory that took the other one's part gets its own words back."""
        merged = self._read.kept(scope, [undoing.decision.winner]).get(undoing.decision.winner)
        if merged is None or merged.memory.origin is not Origin.MERGED:
            also: list[ItemWrite] = []
            changed, lost = [after], []
        else:
            parted = self._part(scope, merged.memory, undoing.loser.memory)
            self._check(scope, parted, order)
            also = [
                *changed_writes(merged.item, merged.memory, parted, Due(TO_PROJECT, order.now)),
                *moved_record(self._items, scope, merged.memory, parted),
            ]
            changed, lost = [after, parted], [merged.memory]
        self._items.write(scope, [*writes, *also, *self._open_again(scope, undoing.decision)], order.now)
        self._tell(scope, changed, lost, order.now)

    def _check(self, scope: Scope, memory: Memory, order: RevertOrder) -> None:
        """Raises Conflict where what would come back is a rejected value; the audit has an entry of it."""
        if self._gate.load(scope).rejects(memory.content, memory.persona_id, memory.household_id):
            refused = RefusedWrite(
                actor=order.actor, via=VIA, now=order.now, target_ids=(memory.id,), content=memory.content
            )
            self._refused(scope, refused)
            raise Conflict("the value was rejected")

    def _open_again(self, scope: Scope, decision: Decision) -> list[ItemWrite]:
        """The conflict that a person had settled so is open again."""
        if decision.step is not Step.USER:
            return []
        keys = [conflict_key(pair_id(*pair)) for pair in _both_ways(decision)]
        return [
            ItemWrite(item.key, _opened(item), item.version)
            for item in self._items.get(scope, keys).values()
            if conflict_in(item.value).winner == decision.winner
        ]


def _both_ways(decision: Decision) -> tuple[tuple[str, str], tuple[str, str]]:
    return (decision.winner, decision.loser), (decision.loser, decision.winner)


def _opened(item: Item) -> dict[str, object]:
    return conflict_document(replace(conflict_in(item.value), status=ConflictStatus.OPEN, winner=None))
