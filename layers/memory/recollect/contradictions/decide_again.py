"""A person makes a decision anew that was taken back: the loser is as the decision had left it (P-24).

So taking back can be taken back, also where the loser was given other words with it. The ledger keeps one decision a
pair: it holds again, with the loser's versions of now.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.contradictions.candidates import CurrentRecords
from recollect.contradictions.decisions import (
    ConflictStatus,
    Decision,
    DecisionStatus,
    Outcome,
    Step,
    conflict_in,
    conflict_key,
    conflict_write,
    decision_in,
    pair_id,
)
from recollect.contradictions.ledger import Deciding, DecisionWriter, ListDecisions
from recollect.contradictions.merged import moved_record
from recollect.contradictions.resolve import Reverted, RevertOrder
from recollect.core.errors import Conflict, VersionMismatch
from recollect.core.idempotency import retry_on_conflict
from recollect.core.items import Due, Item, ItemWrite
from recollect.core.scope import Scope
from recollect.deletion.suppression import SuppressionList
from recollect.memories.memory import Lapse, Memory, MemoryStatus
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.memories.save import ReprojectChanged
from recollect.memories.storage import TO_PROJECT, changed_writes, memory_in, version_key
from recollect.ports import Items, Timeline

_NEVER_SO = (MemoryStatus.RETRACTED, MemoryStatus.REJECTED, MemoryStatus.EXPIRED)


def can_be_made_again(decision: Decision) -> bool:
    """A key's is not: the value that counts is the newest. Nor is a merger: the two are merged anew."""
    return (
        decision.status is DecisionStatus.REVERTED
        and decision.step is not Step.KEY
        and decision.outcome is not Outcome.MERGED
    )


@dataclass(eq=False)
class DecideAgain:
    """One step, on condition that nothing of it changed meanwhile."""

    _timeline: Timeline
    _items: Items
    _current: CurrentRecords
    _decided: DecisionWriter
    _changes: ReprojectChanged

    def __post_init__(self) -> None:
        self._decisions = ListDecisions(self._items)
        self._read = ReadMemories(self._items)
        self._gate = SuppressionList(self._items)

    def reapply(self, scope: Scope, decision_id: str, order: RevertOrder) -> Reverted:
        """The decision holds again. The loser's words are those of then: what they were meanwhile is in its history.

        Raises NotFound, VersionMismatch, and Conflict where it was not taken back or cannot be made again, where one of
        the two is gone, or where the loser has ended by something else since.
        """

        def attempt() -> Reverted:
            item = self._decisions.item(scope, decision_id)
            decision = decision_in(item.value)
            if order.again and decision.status is DecisionStatus.APPLIED:
                return Reverted(decision, decision.loser)
            if not can_be_made_again(decision):
                raise Conflict("the decision cannot be made again")
            stored = self._loser(scope, decision, order)
            return self._made(Deciding(scope.user, order.now, order.actor), item, stored)

        return retry_on_conflict(attempt, "one of the memories")

    def _loser(self, scope: Scope, decision: Decision, order: RevertOrder) -> StoredMemory:
        loser = self._current.read(scope, (decision.loser,), order.now).get(decision.loser)
        if loser is None or loser.stored is None or loser.stored.memory.id != decision.loser:
            raise Conflict("the memory is gone, or has been ended by something else since")
        if not self._is_there(scope, decision.winner, order.now):
            raise Conflict("what had ended it is not there any more")
        if not order.accepts(loser.stored.memory.version):
            raise VersionMismatch("the memory has changed since it was read", is_named=True)
        return loser.stored

    def _is_there(self, scope: Scope, winner: str, now: datetime) -> bool:
        """Whether the record was not deleted or rejected, and not taken back; it may have ended since itself."""
        event, stored = self._timeline.find(scope, winner), self._read.stored(scope, [winner]).get(winner)
        if event is None or event.expired(now) or self._gate.load(scope).shown(event) is None:
            return False
        return stored is None or not (stored.memory.expired(now) or stored.memory.status in _NEVER_SO)

    def _made(self, by: Deciding, item: Item, stored: StoredMemory) -> Reverted:
        decision, before = decision_in(item.value), stored.memory
        after = _ended_again(before, self._then(by.scope, decision), decision.winner)
        made = replace(decision, status=DecisionStatus.APPLIED, before=before.version, after=after.version)
        entries = self._decided.decision_writes(by, [made], before, after)
        writes = [
            *changed_writes(stored.item, before, after, Due(TO_PROJECT, by.now)),
            *(replace(one, expected=item.version) if one.key == item.key else one for one in entries),
            *moved_record(self._items, by.scope, before, after),
            *self._settled(by.scope, decision),
        ]
        self._items.write(by.scope, writes, by.now)
        self._changes.reproject(by.scope, [after], [before], by.now)
        return Reverted(made, after.id)

    def _then(self, scope: Scope, decision: Decision) -> Memory:
        """The loser in the version that the decision made."""
        key = version_key(decision.loser, decision.after)
        item = self._items.get(scope, [key]).get(key)
        made = memory_in(item.value) if item is not None else None
        if made is None or self._gate.load(scope).shown_memory(made) != made:
            raise Conflict("what it said then is not kept any more")
        return made

    def _settled(self, scope: Scope, decision: Decision) -> Sequence[ItemWrite]:
        """The conflict that was settled so is settled so again."""
        both_ways = (decision.winner, decision.loser), (decision.loser, decision.winner)
        found = self._items.get(scope, [conflict_key(pair_id(*pair)) for pair in both_ways]).values()
        without = [(conflict_in(one.value), one.version) for one in found if "winner" not in one.value]
        return [
            conflict_write(replace(conflict, status=ConflictStatus.SETTLED, winner=decision.winner), version)
            for conflict, version in without
        ]


def _ended_again(memory: Memory, then: Memory, by: str) -> Memory:
    """The memory's next version, ended by this record as it was `then`, in the words of then.

    Raises Conflict where other words are there now of which something has ended too.
    """
    if memory.content != then.content:
        if any(one.by != memory.id for one in memory.lapses):
            raise Conflict("its words are others, and some of them have ended since")
        said = {name: getattr(then, name) for name in ("content", "importance", "keywords", "metadata")}
        memory = replace(memory, **said, lapses=tuple(one for one in then.lapses if one.by == memory.id))
    lapses = {*memory.lapses, *(one for one in then.lapses if one.by == by)}
    ended = then if then.superseded_by == by else memory
    if ended is memory and lapses == {*memory.lapses}:
        raise Conflict("nothing of it would end")
    return replace(
        memory,
        lapses=tuple(sorted(lapses, key=_place)),
        status=ended.status,
        superseded_by=ended.superseded_by,
        valid_to=ended.valid_to,
        settled_by=ended.settled_by,
        version=memory.version + 1,
    )


def _place(one: Lapse) -> tuple[object, ...]:
    return one.start, one.end, one.since, one.by
