"""A person says which of two records counts, or takes a decision back (api.md, *Arbitration*; P-22, P-24).

What a cue rule, the arbiter or a person decided is undone on the loser's memory; what was merged is taken apart. A
value of a key is written anew: only so is it its slot's newest, also when all is derived again. Its new memory is a
copy of the older value's record, and deleted with it. A decision stays in the ledger, as reverted, and is never made
again by itself.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from recollect.archive.record_line import RecordOrigin
from recollect.contradictions.candidates import CurrentRecord, CurrentRecords
from recollect.contradictions.decisions import (
    ConflictStatus,
    Decision,
    DecisionStatus,
    OpenConflict,
    Outcome,
    Step,
    conflict_document,
    conflict_in,
    conflict_key,
    decision_in,
    decision_key,
    pair_id,
)
from recollect.contradictions.ledger import DecisionWriter, ListConflicts, ListDecisions
from recollect.contradictions.merged import PartMemories, moved_record
from recollect.contradictions.settle import Promoted
from recollect.core.errors import Conflict, InvalidInput
from recollect.core.event import Event, EventRef
from recollect.core.idempotency import retry_on_conflict
from recollect.core.ids import IdSeed, IdSource
from recollect.core.items import Due, Item, ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.deletion.suppression import SuppressionList
from recollect.deletion.tombstones import copy_entry, origin_entry
from recollect.memories.audit import Actor
from recollect.memories.audit_log import AuditRefusedWrite, RefusedWrite
from recollect.memories.memory import Memory, MemoryDraft, MemoryStatus, Origin
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.memories.save import ReprojectChanged, SavedMemory, SaveMemories
from recollect.memories.storage import TO_PROJECT, changed_writes
from recollect.ports import Items, Timeline
from recollect.rules.groups import Rules
from recollect.timeline.slots import slot_of

RULE = "resolved"
_REASON = "a person said which one counts"


@dataclass(frozen=True, slots=True)
class Resolved:
    """The conflict as it is settled, and the decision's id; None where there is none between these two ids."""

    conflict: OpenConflict
    decision_id: str | None


@dataclass(frozen=True, slots=True)
class _Sides:
    """The record that counts, and the memory that does not."""

    winner: CurrentRecord
    loser: StoredMemory


class ResolveConflict:
    """Loser, conflict, decision and audit are one step, on condition that neither memory changed meanwhile."""

    def __init__(
        self,
        items: Items,
        current: CurrentRecords,
        promoted: Promoted,
        decided: DecisionWriter,
        changes: ReprojectChanged,
    ) -> None:
        self._items = items
        self._current = current
        self._conflicts = ListConflicts(items, current)
        self._promoted = promoted
        self._decided = decided
        self._changes = changes
        self._read = ReadMemories(items)

    def resolve(self, scope: Scope, conflict_id: str, winner: str, actor: Actor, now: datetime) -> Resolved:
        """The loser is superseded by the winner. The same winner again changes nothing.

        Raises NotFound, InvalidInput where the winner is neither of the two, Conflict where it was settled otherwise,
        or where one of the two no longer counts.
        """

        def attempt() -> Resolved:
            self._conflicts.one(scope, conflict_id, now)  # in this scope
            item = self._conflicts.item(scope, conflict_id)
            conflict = _checked(conflict_in(item.value), winner)
            if conflict.status is ConflictStatus.SETTLED:
                return self._again(scope, conflict, now)
            sides = self._sides(scope, conflict, winner, now)
            return self._written(scope, item, sides, replace(conflict, winner=winner), actor, now)

        return retry_on_conflict(attempt, "one of the memories")

    def _again(self, scope: Scope, conflict: OpenConflict, now: datetime) -> Resolved:
        """What a try that was cut short left to follow, follows."""
        loser = conflict.older if conflict.winner == conflict.newer else conflict.newer
        key = decision_key(pair_id(conflict.winner or "", loser))
        stored = self._read.kept(scope.user, [loser]).get(loser)
        if stored is not None:
            self._changes.reproject(scope.user, [stored.memory], [stored.memory], now)
        return Resolved(conflict, key.key if self._items.get(scope.user, [key]) else None)

    def _sides(self, scope: Scope, conflict: OpenConflict, winner: str, now: datetime) -> _Sides:
        loser = conflict.older if winner == conflict.newer else conflict.newer
        found = self._current.read(scope.user, (winner, loser), now)
        if len(found) < 2 or found[winner].id == found[loser].id:
            raise Conflict("one of the two no longer counts")
        stored = found[loser].stored or self._promoted(scope.user, found[loser].event, now)
        if stored is None:
            raise Conflict("the other one cannot be kept as superseded")
        return _Sides(found[winner], stored)

    def _written(
        self, scope: Scope, item: Item, sides: _Sides, conflict: OpenConflict, actor: Actor, now: datetime
    ) -> Resolved:
        before = sides.loser.memory
        after = _superseded(before, sides.winner)
        decision = _decision(before, after, now)
        settled = replace(conflict, status=ConflictStatus.SETTLED)
        writes = [
            *changed_writes(sides.loser.item, before, after, Due(TO_PROJECT, now)),
            ItemWrite(item.key, conflict_document(settled), item.version),
            *self._decision_writes(scope, decision, before, after, actor, now),
            *_unchanged(sides.winner),
        ]
        self._items.write(scope.user, writes, now)
        self._changes.reproject(scope.user, [after], [before], now)
        return Resolved(settled, decision.id)

    def _decision_writes(
        self, scope: Scope, decision: Decision, before: Memory, after: Memory, actor: Actor, now: datetime
    ) -> list[ItemWrite]:
        """The decision takes the place of one between the two that was taken back."""
        key = decision_key(decision.id)
        known = self._items.get(scope.user, [key]).get(key)
        writes = self._decided.decision_writes(scope, decision, before, after, now, actor)
        return [replace(one, expected=known.version) if known and one.key == key else one for one in writes]


def _checked(conflict: OpenConflict, winner: str) -> OpenConflict:
    if winner not in (conflict.newer, conflict.older):
        raise InvalidInput("is neither of the two", ("body", "winner"))
    if conflict.status is ConflictStatus.SETTLED and conflict.winner != winner:
        raise Conflict("the conflict was settled otherwise")
    return conflict


def _superseded(loser: Memory, winner: CurrentRecord) -> Memory:
    """It held until the winner came; where that was there before, it never did."""
    ends = max(loser.valid_from, winner.said_at)
    ends = ends if loser.valid_to is None else min(loser.valid_to, ends)
    return replace(
        loser,
        status=MemoryStatus.SUPERSEDED,
        superseded_by=winner.id,
        valid_to=ends,
        settled_by=Step.USER.value,
        version=loser.version + 1,
    )


def _decision(before: Memory, after: Memory, now: datetime) -> Decision:
    return Decision(
        winner=after.superseded_by or "",
        loser=before.id,
        at=now,
        step=Step.USER,
        rule=RULE,
        outcome=Outcome.SUPERSEDED,
        reason=_REASON,
        before=before.version,
        after=after.version,
    )


def _unchanged(winner: CurrentRecord) -> list[ItemWrite]:
    """Its memory, as it was read: who changes it meanwhile changes what was decided about."""
    if winner.stored is None:
        return []
    item = winner.stored.item
    return [ItemWrite(item.key, item.value, item.version, item.due)]


_NEXT = timedelta(microseconds=1)


class RestoreValue:
    """`rules` are those of a tenant."""

    def __init__(
        self, timeline: Timeline, items: Items, memories: SaveMemories, ids: IdSource, rules: Callable[[str], Rules]
    ) -> None:
        self._timeline = timeline
        self._items = items
        self._memories = memories
        self._ids = ids
        self._rules = rules
        self._read = ReadMemories(items)

    def restore(
        self,
        scope: Scope,
        older: Memory,
        event: Event,
        decision_writes: Sequence[ItemWrite],
        actor: Actor,
        now: datetime,
    ) -> Memory:
        """The memory that is current then; `decision_writes` go into the same step: so it is made once.

        Raises VersionMismatch or Conflict where their items changed meanwhile, Conflict for a rejected value.
        """
        owner = Scope(scope.tenant, older.user_id, older.persona_id, older.household_id)
        draft = _draft(older, event, max(now, self._newest(scope, event) + _NEXT))
        seed = self._ids.seed(time.time_ns() // 1_000_000)
        also = [*decision_writes, self._copy_entry(scope, event, seed, draft, now)]
        saved = self._memories.save(owner, draft, seed, now, actor, self._rules(scope.tenant), also)
        return self._current_value(scope, saved, decision_writes, now)

    def current(self, scope: Scope, record_id: str) -> str | None:
        """The memory that is the value of a record's slot now; None where the record is gone, or the slot empty."""
        event = self._timeline.find(scope, record_id)
        slot = slot_of(event) if event is not None else None
        newest = next(iter(self._timeline.of_slot(scope, slot)), None) if slot is not None else None
        stored = self._read.kept(scope, [newest.id]).get(newest.id) if newest is not None else None
        return stored.memory.id if stored is not None else None

    def _current_value(
        self, scope: Scope, saved: SavedMemory, decision_writes: Sequence[ItemWrite], now: datetime
    ) -> Memory:
        """Where the value was current again already, by other words of it, only `decision_writes` are written."""
        if not saved.created:
            self._items.write(scope.user, decision_writes, now)
        return saved.memory

    def _newest(self, scope: Scope, event: Event) -> datetime:
        """The newest timestamp that the slot has had, of a value that is gone too."""
        slot = slot_of(event)
        if slot is None:
            raise Conflict("the value has no key")
        had = [entry.ref.timestamp for entry in self._timeline.slot_history(scope, slot)]
        return max([*had, *(one.timestamp for one in self._timeline.of_slot(scope, slot)), event.timestamp])

    def _copy_entry(self, scope: Scope, event: Event, seed: IdSeed, draft: MemoryDraft, now: datetime) -> ItemWrite:
        """The tenant's entry of the copy stands before it is made; the user's own is made with it."""
        origin, copy = RecordOrigin(scope.user_id, event.id), EventRef(seed.nth(0), draft.timestamp or now)
        self._items.write(of_tenant(scope.tenant), [copy_entry(origin, scope.user_id, copy)], now)
        return origin_entry(origin, copy.id)


def _draft(older: Memory, event: Event, timestamp: datetime) -> MemoryDraft:
    known = [moment for moment in (event.expires_at, older.expires_at) if moment is not None]
    return MemoryDraft(
        content=older.content,
        importance=older.importance,
        source=older.source,
        keywords=older.keywords,
        timestamp=timestamp,
        key=older.key,
        expires_at=min(known, default=None),
        metadata=older.metadata,
        embedding=event.embedding if older.content == event.content else None,
    )


REVERTED = DecisionStatus.REVERTED
VIA = "revert"


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
class _Reversal:
    """The decision as it is stored, and its loser, of which the timeline has the record."""

    item: Item
    decision: Decision
    loser: StoredMemory
    event: Event


class RevertDecision:
    """One step each, on condition that nothing of it changed meanwhile."""

    def __init__(
        self,
        timeline: Timeline,
        items: Items,
        decided: DecisionWriter,
        part: PartMemories,
        restore: RestoreValue,
        changes: ReprojectChanged,
        refused: AuditRefusedWrite,
    ) -> None:
        self._timeline = timeline
        self._items = items
        self._decided = decided
        self._part = part
        self._restore = restore
        self._changes = changes
        self._refused = refused
        self._decisions = ListDecisions(items)
        self._read = ReadMemories(items)
        self._gate = SuppressionList(items)

    def revert(self, scope: Scope, decision_id: str, order: RevertOrder) -> Reverted:
        """Takes it back. Raises NotFound, and Conflict where it does not hold any more, where the loser is gone, was
        rejected, or has been ended by something else since.
        """

        def attempt() -> Reverted:
            item = self._decisions.item(scope, decision_id)
            decision = decision_in(item.value)
            if order.again and decision.status is REVERTED:
                return self.current(scope, decision)
            return self._revert(scope.user, self._reversal(scope, item, decision, order), order)

        return retry_on_conflict(attempt, "one of the memories")

    def current(self, scope: Scope, decision: Decision) -> Reverted:
        """What counts now, after it was taken back."""
        value = self._restore.current(scope.user, decision.loser) if decision.step is Step.KEY else None
        return Reverted(decision, value or decision.loser)

    def _reversal(self, scope: Scope, item: Item, decision: Decision, order: RevertOrder) -> _Reversal:
        if decision.status is not DecisionStatus.APPLIED:
            raise Conflict("the decision does not hold any more")
        stored = self._read.kept(scope, [decision.loser]).get(decision.loser)
        event = self._timeline.read(scope, [stored.memory.ref]).get(stored.memory.id) if stored is not None else None
        if stored is None or event is None or stored.memory.id != decision.loser:
            raise Conflict("the memory is gone")
        if event.expired(order.now) or stored.memory.expired(order.now):
            raise Conflict("the memory is gone")
        self._check(scope, stored.memory, order)
        return _Reversal(item, decision, stored, event)

    def _revert(self, scope: Scope, reversal: _Reversal, order: RevertOrder) -> Reverted:
        decision = reversal.decision
        reverted = replace(decision, status=REVERTED)
        if decision.step is Step.KEY:
            if reversal.loser.memory.superseded_by != decision.winner:
                raise Conflict("the memory has been ended by something else since")
            writes = self._decided.ledger_writes(
                scope, reversal.item, reversal.loser.memory, REVERTED, order.actor, order.now
            )
            value = self._restore.restore(scope, reversal.loser.memory, reversal.event, writes, order.actor, order.now)
            return Reverted(reverted, value.id)
        after, writes = self._decided.without_decision(
            scope, reversal.item, reversal.loser, REVERTED, order.actor, order.now
        )
        if after == reversal.loser.memory:
            raise Conflict("the memory has been ended by something else since")
        if reversal.loser.memory.status is MemoryStatus.MERGED and decision.outcome is Outcome.MERGED:
            self._split(scope, reversal, after, writes, order)
        else:
            self._items.write(scope, [*writes, *self._open_again(scope, decision)], order.now)
            self._changes.reproject(scope, [after], [], order.now)
        return Reverted(reverted, after.id)

    def _split(
        self, scope: Scope, reversal: _Reversal, after: Memory, writes: list[ItemWrite], order: RevertOrder
    ) -> None:
        """The memory that took the other one's part gets its own words back."""
        merged = self._read.kept(scope, [reversal.decision.winner]).get(reversal.decision.winner)
        if merged is None or merged.memory.origin is not Origin.MERGED:
            also: list[ItemWrite] = []
            changed, lost = [after], []
        else:
            parted = self._part.part(scope, merged.memory, reversal.loser.memory)
            self._check(scope, parted, order)
            also = [
                *changed_writes(merged.item, merged.memory, parted, Due(TO_PROJECT, order.now)),
                *moved_record(self._items, scope, merged.memory, parted),
            ]
            changed, lost = [after, parted], [merged.memory]
        self._items.write(scope, [*writes, *also, *self._open_again(scope, reversal.decision)], order.now)
        self._changes.reproject(scope, changed, lost, order.now)

    def _check(self, scope: Scope, memory: Memory, order: RevertOrder) -> None:
        """Raises Conflict where what would come back is a rejected value; the audit has an entry of it."""
        if self._gate.load(scope).rejects(memory.content, memory.persona_id, memory.household_id):
            refused = RefusedWrite(
                actor=order.actor, via=VIA, now=order.now, target_ids=(memory.id,), content=memory.content
            )
            self._refused.record(scope, refused)
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
