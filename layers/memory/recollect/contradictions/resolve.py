"""A person says which of two records counts, or takes a decision back (`docs/decisions.md`; P-22, P-24).

What the judge, the arbiter or a person decided is undone on the loser's memory; what was merged is taken apart. A
value of a key is written anew: only so is it its slot's newest, also when all is derived again. Its new memory is a
copy of the older value's record, and deleted with it. A decision stays in the ledger, as reverted, and is never made
again by itself.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from recollect.contradictions.candidates import CurrentRecord, CurrentRecords
from recollect.contradictions.decisions import (
    ConflictStatus,
    Decision,
    DecisionStatus,
    OpenConflict,
    Outcome,
    Step,
    Verdict,
    conflict_in,
    conflict_key,
    conflict_write,
    decision_about,
    decision_in,
    decision_key,
    pair_id,
    settled,
)
from recollect.contradictions.judge import Relation, RelationKind
from recollect.contradictions.ledger import Deciding, DecisionWriter, ListConflicts, ListDecisions
from recollect.contradictions.merged import PartMemories, moved_record
from recollect.contradictions.settle import Promoted
from recollect.core.errors import Conflict, InvalidInput, VersionMismatch
from recollect.core.event import Event, EventRef, RecordOrigin
from recollect.core.idempotency import retry_on_conflict
from recollect.core.ids import IdSeed, IdSource
from recollect.core.items import Due, Item, ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.deletion.storage import copy_entry, origin_entry
from recollect.deletion.suppression import SuppressionList
from recollect.memories.audit import Actor
from recollect.memories.audit_log import AuditRefusedWrite, RefusedWrite
from recollect.memories.memory import Memory, MemoryDraft, MemoryStatus, Origin, check_values, with_changes
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.memories.save import MemoryChange, ReprojectChanged, SaveMemories
from recollect.memories.storage import TO_PROJECT, changed_writes, check_size
from recollect.ports import Items, Timeline
from recollect.rules.groups import Rules
from recollect.text.omission import left_of
from recollect.timeline.slots import slot_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """Who settles a conflict, and how the decision tells of it."""

    actor: Actor
    step: Step = Step.USER
    rule: str = "resolved"
    reason: str = "a person said which one counts"
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderWords:
    """What the older one of a conflict says from now on, and who says so.

    `accepts`: whether a version is the one that they saw, of its memory, or of the event that has none.
    """

    content: str
    actor: Actor
    accepts: Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Resolved:
    """The conflict as it is settled, and the decision's id; None where there is none between these two ids."""

    conflict: OpenConflict
    decision_id: str | None


@dataclass(frozen=True, slots=True)
class _Sides:
    """The conflict as it will be, the record that counts, and the memory that does not."""

    settled: OpenConflict
    winner: CurrentRecord
    loser: StoredMemory
    as_said: bool
    """Whether the loser has the words in which it was said: those of which the conflict knows what would end."""

    @property
    def ended(self) -> Sequence[tuple[int, int]]:
        """The words of the loser that end; none where all of it does."""
        spans = self.settled.ended
        in_part = self.as_said and self.settled.winner == self.settled.newer
        return spans if in_part and left_of(self.loser.memory.content, spans) is not None else ()


@dataclass(eq=False)
class ResolveConflict:
    """Loser, conflict, decision and audit are one step, on condition that neither memory changed meanwhile."""

    _items: Items
    _current: CurrentRecords
    _promoted: Promoted
    _decided: DecisionWriter
    _changes: ReprojectChanged
    _memories: SaveMemories

    def __post_init__(self) -> None:
        self._conflicts = ListConflicts(self._items, self._current)
        self._read = ReadMemories(self._items)

    def resolve(self, scope: Scope, conflict_id: str, winner: str, settling: Settling, now: datetime) -> Resolved:
        """The loser is superseded by the winner; of an older one whose words in doubt are known these alone end.

        The same winner again changes nothing. Raises NotFound, InvalidInput where the winner is neither of the two,
        Conflict where it was settled otherwise, or where one of the two no longer counts.
        """

        def attempt() -> Resolved:
            self._conflicts.one(scope, conflict_id, now)  # in this scope
            item = self._conflicts.item(scope, conflict_id)
            conflict = _checked(conflict_in(item.value), winner)
            if conflict.winner is not None:
                return self._again(scope, conflict, now)
            sides = self._sides(scope, conflict, winner, now)
            return self._written(Deciding(scope.user, now, settling.actor), item, sides, settling)

        return retry_on_conflict(attempt, "one of the memories")

    def keep_both(self, scope: Scope, conflict_id: str, actor: Actor, now: datetime) -> OpenConflict:
        """Both hold: the conflict is settled without a winner, and no memory changes. Again it changes nothing.

        Raises NotFound, and Conflict where one was said to count, or where one of the two no longer counts.
        """

        def attempt() -> OpenConflict:
            item = self._to_keep(scope, conflict_id, now)
            settled = conflict_in(item.value)
            if settled.status is ConflictStatus.OPEN:
                settled = replace(settled, status=ConflictStatus.SETTLED)
                self._items.write(scope.user, self._both_hold(Deciding(scope.user, now, actor), settled, item), now)
            return settled

        return retry_on_conflict(attempt, "the conflict")

    def amend_older(self, scope: Scope, conflict_id: str, words: OlderWords, now: datetime) -> OpenConflict:
        """The older one says this from now on, and both hold: one step. A retry changes nothing.

        What it said before stays in its history. Raises as `keep_both`, VersionMismatch, and as an edit of a memory.
        """

        def attempt() -> OpenConflict:
            item = self._to_keep(scope, conflict_id, now)
            settled = replace(conflict_in(item.value), status=ConflictStatus.SETTLED)
            stored = self._older(scope, settled, words, now)
            if item.value["status"] == ConflictStatus.SETTLED:
                if stored.memory.content != words.content:
                    raise Conflict("the conflict was settled otherwise")
                return settled
            if not words.accepts(stored.memory.version):
                raise VersionMismatch("the memory has changed since it was read", is_named=True)
            change = MemoryChange({"content": words.content}, words.actor, words.accepts)
            also = self._both_hold(Deciding(scope.user, now, words.actor), settled, item)
            self._memories.edit(scope, stored, change, now, also)
            return settled

        return retry_on_conflict(attempt, "the conflict")

    def reopen(self, scope: Scope, conflict_id: str, actor: Actor, now: datetime) -> OpenConflict:
        """Takes back that both hold: somebody has to say which counts. Of an open one it changes nothing.

        Raises NotFound, and Conflict where one was said to count: that decision is taken back.
        """

        def attempt() -> OpenConflict:
            self._conflicts.one(scope, conflict_id, now)  # in this scope
            item = self._conflicts.item(scope, conflict_id)
            conflict = conflict_in(item.value)
            if conflict.winner is not None:
                raise Conflict("one of the two was said to count: take that decision back")
            if conflict.status is ConflictStatus.OPEN:
                return conflict
            opened, by = replace(conflict, status=ConflictStatus.OPEN), Deciding(scope.user, now, actor)
            writes = [conflict_write(opened, item.version), self._decided.both_hold(by, opened, "opened again")]
            self._items.write(scope.user, writes, now)
            return opened

        return retry_on_conflict(attempt, "the conflict")

    def _to_keep(self, scope: Scope, conflict_id: str, now: datetime) -> Item:
        """The conflict of which both hold, or may: raises as `keep_both`."""
        shown = self._conflicts.one(scope, conflict_id, now)  # in this scope
        item = self._conflicts.item(scope, conflict_id)
        conflict = conflict_in(item.value)
        if conflict.winner is not None:
            raise Conflict("the conflict was settled otherwise")
        if conflict.status is ConflictStatus.OPEN and shown.status is ConflictStatus.SETTLED:
            raise Conflict("one of the two no longer counts")
        return item

    def _both_hold(self, by: Deciding, settled: OpenConflict, item: Item) -> list[ItemWrite]:
        return [conflict_write(settled, item.version), self._decided.both_hold(by, settled)]

    def _older(self, scope: Scope, conflict: OpenConflict, words: OlderWords, now: datetime) -> StoredMemory:
        """The memory that has the older one's words; made now where there is none."""
        found = self._current.read(scope, (conflict.older,), now).get(conflict.older)
        if found is None:
            raise Conflict("one of the two no longer counts")
        if found.stored is not None:
            return found.stored
        if not words.accepts(found.event.version):
            raise VersionMismatch("the event has changed since it was read", is_named=True)
        made = self._promoted(scope.user, found.event, now)
        if made is None:
            raise Conflict("the older one has no memory")
        return made

    def _again(self, scope: Scope, conflict: OpenConflict, now: datetime) -> Resolved:
        """What a try that was cut short left to follow, follows."""
        loser = conflict.older if conflict.winner == conflict.newer else conflict.newer
        key = decision_key(pair_id(conflict.winner or "", loser))
        stored = self._read.stored(scope.user, [loser]).get(loser)
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
        as_said = stored.memory.is_as_said(found[loser].event.content)
        return _Sides(replace(conflict, status=ConflictStatus.SETTLED, winner=winner), found[winner], stored, as_said)

    def _written(self, by: Deciding, item: Item, sides: _Sides, settling: Settling) -> Resolved:
        before, step = sides.loser.memory, settling.step
        after = _without_ended(before, sides, step) if sides.ended else _superseded(before, sides.winner, step)
        made = decision_about(before, sides.winner.id, by.now, step, settling.rule, Outcome.SUPERSEDED, settling.reason)
        decision = replace(made, confidence=settling.confidence)
        writes = [
            *changed_writes(sides.loser.item, before, after, Due(TO_PROJECT, by.now)),
            conflict_write(sides.settled, item.version),
            *self._decision_writes(by, decision, before, after),
            *_unchanged(sides.winner),
        ]
        self._items.write(by.scope.user, writes, by.now)
        self._changes.reproject(by.scope, [after], [before], by.now)
        return Resolved(sides.settled, decision.id)

    def _decision_writes(self, by: Deciding, decision: Decision, before: Memory, after: Memory) -> list[ItemWrite]:
        """The decision takes the place of one between the two that was taken back."""
        key = decision_key(decision.id)
        known = self._items.get(by.scope.user, [key]).get(key)
        writes = self._decided.decision_writes(by, [decision], before, after)
        return [replace(one, expected=known.version) if known and one.key == key else one for one in writes]


def _checked(conflict: OpenConflict, winner: str) -> OpenConflict:
    if winner not in (conflict.newer, conflict.older):
        raise InvalidInput("is neither of the two", ("body", "winner"))
    if conflict.winner not in (None, winner):
        raise Conflict("the conflict was settled otherwise")
    return conflict


def _without_ended(loser: Memory, sides: _Sides, by: Step) -> Memory:
    """What else it says holds on."""
    relation = Relation(kind=RelationKind.SUPERSEDES, rule=by.value, ended=tuple(sides.ended))
    verdict = Verdict(sides.winner.id, max(loser.valid_from, sides.winner.said_at), relation)
    return replace(settled(loser, [verdict]), version=loser.version + 1)


def _superseded(loser: Memory, winner: CurrentRecord, by: Step) -> Memory:
    """It held until the winner came; where that was there before, it never did."""
    ends = max(loser.valid_from, winner.said_at)
    ends = ends if loser.valid_to is None else min(loser.valid_to, ends)
    settled = replace(loser, settled_by=by.value, version=loser.version + 1)
    return replace(settled, status=MemoryStatus.SUPERSEDED, superseded_by=winner.id, valid_to=ends)


def _unchanged(winner: CurrentRecord) -> list[ItemWrite]:
    """Its memory, as it was read: who changes it meanwhile changes what was decided about."""
    if winner.stored is None:
        return []
    item = winner.stored.item
    return [ItemWrite(item.key, item.value, item.version, item.due)]


_NEXT = timedelta(microseconds=1)


@dataclass(eq=False)
class RestoreValue:
    """`_rules` are those of a tenant."""

    _timeline: Timeline
    _items: Items
    _memories: SaveMemories
    _ids: IdSource
    _rules: Callable[[str], Rules]

    def __post_init__(self) -> None:
        self._read = ReadMemories(self._items)

    def restore(self, by: Deciding, older: Memory, event: Event, decision_writes: Sequence[ItemWrite]) -> Memory:
        """The memory that is current then; `decision_writes` go into the same step: so it is made once.

        Raises VersionMismatch or Conflict where their items changed meanwhile, Conflict for a rejected value.
        """
        scope, now = by.scope, by.now
        owner = Scope(scope.tenant, older.user_id, older.persona_id, older.household_id)
        draft = _draft(older, event, max(now, self._newest(scope, event) + _NEXT))
        seed = self._ids.seed(time.time_ns() // 1_000_000)
        also = [*decision_writes, self._copy_entry(scope, event, seed, draft, now)]
        saved = self._memories.save(owner, draft, seed, now, by.actor, self._rules(scope.tenant), also)
        if not saved.created:  # current again already, by other words of the value
            self._items.write(scope.user, decision_writes, now)
        return saved.memory

    def current(self, scope: Scope, record_id: str) -> str | None:
        """The memory that is the value of a record's slot now; None where the record is gone, or the slot empty."""
        event = self._timeline.find(scope, record_id)
        slot = slot_of(event) if event is not None else None
        newest = next(iter(self._timeline.of_slot(scope, slot)), None) if slot is not None else None
        stored = self._read.stored(scope, [newest.id]).get(newest.id) if newest is not None else None
        return stored.memory.id if stored is not None else None

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
        labels=older.labels,
    )


REVERTED = DecisionStatus.REVERTED
VIA = "revert"
_ENDED_OTHERWISE = "the memory has been ended by something else since"
_EDITED = "the memory's words were edited since, and nothing of them has ended by this: edit it, or put its words back"


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertOrder:
    """Who takes it back, and when. `again`: an earlier try of the same request may have done it.

    `changes` is what they set right of the memory that counts again: where a part of it did end, the words without that
    part. `accepts`: whether the loser's version is the one that they saw.
    """

    actor: Actor
    now: datetime
    again: bool = False
    changes: Mapping[str, Any] = field(default_factory=dict)
    accepts: Callable[[int], bool] = lambda _version: True


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


@dataclass(frozen=True, slots=True)
class _Split:
    """The memory that gives the other one back, as it is then and as it was `merged`, and what to write for it."""

    memory: Memory
    merged: Memory
    writes: tuple[ItemWrite, ...]


@dataclass(eq=False)
class RevertDecision:
    """One step each, on condition that nothing of it changed meanwhile."""

    _timeline: Timeline
    _items: Items
    _decided: DecisionWriter
    _part: PartMemories
    _restore: RestoreValue
    _changes: ReprojectChanged
    _refused: AuditRefusedWrite

    def __post_init__(self) -> None:
        self._decisions = ListDecisions(self._items)
        self._read = ReadMemories(self._items)
        self._gate = SuppressionList(self._items)

    def revert(self, scope: Scope, decision_id: str, order: RevertOrder) -> Reverted:
        """Takes it back, and sets right what is told to be in the same step.

        Raises NotFound, and Conflict where it does not hold any more, where the loser is gone, was rejected, has been
        ended by something else since, or has other words, of which this ended none;
        VersionMismatch, and as an edit of a memory.
        """

        def attempt() -> Reverted:
            item = self._decisions.item(scope, decision_id)
            decision = decision_in(item.value)
            if order.again and decision.status is REVERTED:
                return self.current(scope, decision)
            reversal = self._reversal(scope, item, decision, order)
            return self._revert(Deciding(scope.user, order.now, order.actor), reversal, order.changes)

        return retry_on_conflict(attempt, "one of the memories")

    def current(self, scope: Scope, decision: Decision) -> Reverted:
        """What counts now, after it was taken back."""
        value = self._restore.current(scope.user, decision.loser) if decision.step is Step.KEY else None
        return Reverted(decision, value or decision.loser)

    def _reversal(self, scope: Scope, item: Item, decision: Decision, order: RevertOrder) -> _Reversal:
        if decision.status is not DecisionStatus.APPLIED:
            raise Conflict("the decision does not hold any more")
        stored = self._read.stored(scope, [decision.loser]).get(decision.loser)
        event = self._timeline.read(scope, [stored.memory.ref]).get(stored.memory.id) if stored is not None else None
        if stored is None or event is None or stored.memory.id != decision.loser:
            raise Conflict("the memory is gone")
        if event.expired(order.now) or stored.memory.expired(order.now):
            raise Conflict("the memory is gone")
        if not order.accepts(stored.memory.version):
            raise VersionMismatch("the memory has changed since it was read", is_named=True)
        self._check(Deciding(scope, order.now, order.actor), stored.memory)
        return _Reversal(item, decision, stored, event)

    def _revert(self, by: Deciding, reversal: _Reversal, changes: Mapping[str, Any]) -> Reverted:
        decision, loser = reversal.decision, reversal.loser.memory
        reverted = replace(decision, status=REVERTED)
        if decision.step is Step.KEY:
            if loser.superseded_by != decision.winner:
                raise Conflict(_ENDED_OTHERWISE)
            writes = self._decided.ledger_writes(by, reversal.item, loser, REVERTED)
            older = with_changes(loser, changes)
            return Reverted(reverted, self._restore.restore(by, older, reversal.event, writes).id)
        merges = loser.status is MemoryStatus.MERGED and decision.outcome is Outcome.MERGED
        split = self._split(by, reversal) if merges else None
        parted = split.memory if split is not None else None
        after, writes = self._decided.without_decision(by, reversal.item, reversal.loser, REVERTED, parted, changes)
        if after == loser:
            raise Conflict(_EDITED if loser.status is MemoryStatus.ACTIVE else _ENDED_OTHERWISE)
        lost = [] if split is None else [split.merged]
        if changes:
            writes += self._set_right(by, loser, after)
            lost += [loser] if after.content != loser.content else []
        writes += [] if split is None else split.writes
        writes += self._without_winner(by.scope, decision, is_open=not changes)
        self._items.write(by.scope, writes, by.now)
        self._changes.reproject(by.scope, [after, *(() if split is None else [split.memory])], lost, by.now)
        return Reverted(reverted, after.id)

    def _set_right(self, by: Deciding, before: Memory, after: Memory) -> list[ItemWrite]:
        """What an edit writes beside the memory. Raises InvalidInput, and Conflict for rejected words."""
        check_values(after.content, after.importance)
        check_size(after)
        self._check(by, after)
        return moved_record(self._items, by.scope, before, after)

    def _split(self, by: Deciding, reversal: _Reversal) -> _Split | None:
        """The memory that took the other one's part gets its own words back; None where it is none any more."""
        scope = by.scope
        merged = self._read.stored(scope, [reversal.decision.winner]).get(reversal.decision.winner)
        if merged is None or merged.memory.origin is not Origin.MERGED:
            return None
        parted = self._part.part(scope, merged.memory, reversal.loser.memory)
        self._check(by, parted)
        changed = changed_writes(merged.item, merged.memory, parted, Due(TO_PROJECT, by.now))
        moved = moved_record(self._items, scope, merged.memory, parted)
        return _Split(parted, merged.memory, (*changed, *moved))

    def _check(self, by: Deciding, memory: Memory) -> None:
        """Raises Conflict where what would come back is a rejected value; the audit has an entry of it."""
        if self._gate.load(by.scope).rejects(memory.content, memory.persona_id, memory.household_id):
            target, content = (memory.id,), memory.content
            refused = RefusedWrite(actor=by.actor, via=VIA, now=by.now, target_ids=target, content=content)
            self._refused.record(by.scope, refused)
            raise Conflict("the value was rejected")

    def _without_winner(self, scope: Scope, decision: Decision, *, is_open: bool) -> list[ItemWrite]:
        """The conflict that a person or a language model had settled so is open again; no model is asked again.

        Where a person set the loser right, both hold.
        """
        if decision.step not in (Step.USER, Step.MODEL):
            return []
        both_ways = (decision.winner, decision.loser), (decision.loser, decision.winner)
        found = self._items.get(scope, [conflict_key(pair_id(*pair)) for pair in both_ways]).values()
        settled = [(conflict_in(item.value), item.version) for item in found]
        status = ConflictStatus.OPEN if is_open else ConflictStatus.SETTLED
        return [
            conflict_write(replace(conflict, status=status, winner=None), version)
            for conflict, version in settled
            if conflict.winner == decision.winner
        ]
