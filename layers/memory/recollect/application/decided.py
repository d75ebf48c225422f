"""The writes of decisions: the memory in its next version, the ledger, the audit; and what takes a decision back."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.application.read_memories import KeptMemory, ReadMemories
from recollect.application.value_gate import ValueGate
from recollect.domain.audit import Action, Actor, ActorKind, AuditEntry, audit_write
from recollect.domain.decisions import (
    Decision,
    DecisionStatus,
    Outcome,
    decision_document,
    decision_in,
    decision_key,
    pair_id,
    won_path,
)
from recollect.domain.errors import Conflict, VersionMismatch
from recollect.domain.ids import IdSource
from recollect.domain.items import Due, Item, ItemKey, ItemWrite
from recollect.domain.memory import Memory, MemoryStatus
from recollect.domain.memory_items import memory_in, version_key
from recollect.domain.memory_writes import TO_PROJECT, changed_writes, trace
from recollect.domain.scope import Scope
from recollect.domain.settlement import reopened
from recollect.ports import Items

PROJECT = Actor(ActorKind.JOB, "project")
CUE = "cue"
_PAGE = 100
_TRIES = 8


class Decided:
    """Each change is one step, on condition that nobody changed the memory meanwhile; the index follows by a marker."""

    def __init__(self, items: Items, ids: IdSource) -> None:
        self._items = items
        self._ids = ids
        self._read = ReadMemories(items)
        self._gate = ValueGate(items)

    def changed(
        self,
        scope: Scope,
        kept: KeptMemory,
        after: Memory,
        decisions: Sequence[Decision],
        now: datetime,
        actor: Actor = PROJECT,
    ) -> KeptMemory:
        """Writes the loser and the decisions. Raises VersionMismatch where one was made meanwhile."""
        after = replace(after, version=kept.memory.version + 1)
        told = [write for one in decisions for write in self.told(scope, one, kept.memory, after, now, actor)]
        written = self._items.write(scope.user, [*_changed(kept, after, now), *told], now)
        return _kept(after, written)

    def told(
        self, scope: Scope, decision: Decision, before: Memory, after: Memory, now: datetime, actor: Actor = PROJECT
    ) -> list[ItemWrite]:
        """The decision in the ledger and its entry in the audit; what the key decided of the same two gives way.

        Written with the memory in its next version, so that nobody takes one back meanwhile.
        """
        action = Action.MERGE if decision.outcome is Outcome.MERGED else Action.SUPERSEDE
        entry = self._entry(scope, action, decision, before, after, now, actor)
        return [
            ItemWrite(decision_key(decision.id), decision_document(decision)),
            ItemWrite(ItemKey(won_path(decision.winner), decision.loser), {}),
            audit_write(replace(entry, reason=decision.outcome.value)),
        ]

    def bounded(self, scope: Scope, kept: KeptMemory, after: Memory, now: datetime) -> KeptMemory | None:
        """Writes the bounds that a memory's own words set; None where it changed meanwhile: the next round sees it."""
        after = replace(after, version=kept.memory.version + 1)
        entry = replace(self._blank(Action.PATCH, (after.id,), now, PROJECT), reason="bounded", via=CUE)
        entry = replace(entry, before=trace(scope, kept.memory), after=trace(scope, after))
        try:
            written = self._items.write(scope.user, [*_changed(kept, after, now), audit_write(entry)], now)
        except VersionMismatch:
            return None
        return _kept(after, written)

    def withdrawn(self, scope: Scope, winner: str, now: datetime) -> Iterator[KeptMemory]:
        """Takes back what a record decided that turned out never to have been true; the memories it had ended.

        Those whose value was rejected meanwhile stay ended (P-22).
        """
        for item in self._won_by(scope, winner):
            changed = self._withdrawn(scope, decision_in(item.value), now)
            if changed is not None:
                yield changed

    def fallen(self, scope: Scope, memory: Memory, now: datetime) -> Iterator[KeptMemory]:
        """The memory without what was decided by records that were taken back meanwhile: they ended nothing."""
        by = dict.fromkeys([memory.superseded_by, *(lapse.by for lapse in memory.lapses)])
        winners = [one for one in by if one not in (None, memory.id)]
        kept = self._read.kept(scope, [one for one in winners if one]) if winners else {}
        fallen = [one for one, own in kept.items() if own.memory.status is MemoryStatus.RETRACTED]
        keys = [decision_key(pair_id(one, memory.id)) for one in fallen]
        for item in self._items.get(scope.user, keys).values() if keys else ():
            changed = self._withdrawn(scope, decision_in(item.value), now)
            if changed is not None:
                yield changed

    def taken_back(
        self, scope: Scope, decision: Decision, status: DecisionStatus, actor: Actor, now: datetime
    ) -> KeptMemory | None:
        """The loser as it was without this decision; None where it is gone, or something else ended it since."""
        for _ in range(_TRIES):
            key = decision_key(decision.id)
            item = self._items.get(scope.user, [key]).get(key)
            kept = self._read.kept(scope, [decision.loser]).get(decision.loser)
            if item is None or kept is None or decision_in(item.value).status is not DecisionStatus.APPLIED:
                return None
            after, writes = self.back(scope, item, kept, status, actor, now)
            try:
                written = self._items.write(scope.user, writes, now)
            except VersionMismatch:
                continue
            return None if after == kept.memory else _kept(after, written)
        raise Conflict("a memory changes all the time")

    def back(
        self, scope: Scope, item: Item, kept: KeptMemory, status: DecisionStatus, actor: Actor, now: datetime
    ) -> tuple[Memory, list[ItemWrite]]:
        """The loser without the decision that `item` is, as it is where that changes nothing; and what to write."""
        decision = decision_in(item.value)
        after = reopened(kept.memory, decision.winner)
        if after == kept.memory:
            return after, [_as(item, status)]
        ends = self._ended_before(scope, decision) if after.status is not kept.memory.status else after.valid_to
        after = replace(after, valid_to=ends, version=kept.memory.version + 1)
        entry = self._entry(scope, Action.REVERT, decision, kept.memory, after, now, actor)
        return after, [*_changed(kept, after, now), _as(item, status), audit_write(entry)]

    def ledger(
        self, scope: Scope, item: Item, loser: Memory, status: DecisionStatus, actor: Actor, now: datetime
    ) -> list[ItemWrite]:
        """The same where the loser's memory stays as it is: another record takes its place."""
        entry = self._entry(scope, Action.REVERT, decision_in(item.value), loser, loser, now, actor)
        return [_as(item, status), audit_write(replace(entry, after=None))]

    def _withdrawn(self, scope: Scope, decision: Decision, now: datetime) -> KeptMemory | None:
        if decision.status is not DecisionStatus.APPLIED or self._rejected(scope, decision.loser):
            return None
        return self.taken_back(scope, decision, DecisionStatus.WITHDRAWN, PROJECT, now)

    def _ended_before(self, scope: Scope, decision: Decision) -> datetime | None:
        """The bound that the loser's own words had set, which a decision may have brought forward."""
        key = version_key(decision.loser, decision.before)
        item = self._items.get(scope.user, [key]).get(key)
        before = memory_in(item.value) if item is not None else None
        return before.valid_to if before is not None and before.status is MemoryStatus.ACTIVE else None

    def _rejected(self, scope: Scope, memory_id: str) -> bool:
        rejections = self._gate.load(scope)
        kept = self._read.kept(scope, [memory_id]).get(memory_id) if rejections else None
        return kept is not None and rejections.shown_memory(kept.memory) is None

    def _won_by(self, scope: Scope, winner: str) -> list[Item]:
        page = self._items.page(scope.user, won_path(winner), _PAGE, None)
        keys = [decision_key(pair_id(winner, item.key.key)) for item in page.items]
        return list(self._items.get(scope.user, keys).values()) if keys else []

    def _entry(
        self,
        scope: Scope,
        action: Action,
        decision: Decision,
        before: Memory,
        after: Memory,
        now: datetime,
        actor: Actor,
    ) -> AuditEntry:
        blank = self._blank(action, (decision.loser, decision.winner), now, actor)
        told = replace(blank, via=decision.step.value, rule=decision.rule, event_ids=(decision.winner,))
        return replace(told, before=trace(scope, before), after=trace(scope, after))

    def _blank(self, action: Action, targets: tuple[str, ...], now: datetime, actor: Actor) -> AuditEntry:
        entry_id = self._ids.fresh()
        return AuditEntry(id=entry_id, at=now, actor=actor, action=action, target_ids=targets, via=CUE)


def _as(item: Item, status: DecisionStatus) -> ItemWrite:
    """The decision with another status, on condition that nobody changed it meanwhile."""
    return ItemWrite(item.key, decision_document(replace(decision_in(item.value), status=status)), item.version)


def _changed(kept: KeptMemory, after: Memory, now: datetime) -> list[ItemWrite]:
    return changed_writes(kept.item, kept.memory, after, Due(TO_PROJECT, now))


def _kept(after: Memory, written: Sequence[Item | None]) -> KeptMemory:
    if written[0] is None:
        raise Conflict("a memory was not written")
    return KeptMemory(after, written[0])
