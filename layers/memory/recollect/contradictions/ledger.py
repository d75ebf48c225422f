"""The ledger of contradictions: its writes, and the open conflicts and decisions that it lists (`docs/decisions.md`).

A conflict is open only while both of its records are current. Where one of them was deleted, rejected, superseded,
retracted or has expired since, it is shown as settled: in favour of the one that is still current, or of none; in
favour of the newer one where the words in doubt have ended. Nothing is written for that, so that a conflict is open
again where such a change is taken back.

The decisions that the newest records won come first: their order is that of the winners' ids, so that a walk sees each
of them once, whatever is decided meanwhile.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from recollect.contradictions.candidates import CurrentRecord, CurrentRecords
from recollect.contradictions.decisions import (
    ARBITRATIONS,
    CONFLICTS,
    ConflictStatus,
    Decision,
    DecisionStatus,
    OpenConflict,
    Outcome,
    Step,
    conflict_in,
    conflict_key,
    decision_in,
    decision_key,
    decision_write,
    has_passed,
    pair_id,
    reopened,
    won_path,
)
from recollect.core.errors import Conflict, NotFound, VersionMismatch
from recollect.core.idempotency import retry_on_conflict
from recollect.core.ids import IdSource
from recollect.core.items import Due, Item, ItemKey, ItemWrite
from recollect.core.scope import Scope
from recollect.deletion.suppression import SuppressionList
from recollect.memories.audit import Action, Actor, ActorKind, AuditEntry, audit_write
from recollect.memories.memory import Memory, MemoryStatus, with_changes
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.memories.storage import TO_PROJECT, changed_writes, memory_in, trace, version_key
from recollect.ports import Items
from recollect.timeline.listing import FilteredPages

PROJECT = Actor(ActorKind.JOB, "project")
JUDGE = "judge"
NO_CHANGES: Mapping[str, Any] = MappingProxyType({})
_PAGE = 100


@dataclass(frozen=True, slots=True)
class Deciding:
    """Whose memories a decision changes, when, and who made it."""

    scope: Scope
    now: datetime
    actor: Actor = PROJECT


class DecisionWriter:
    """Each write is atomic and conditional on the memory's version; a marker lets the index follow."""

    def __init__(self, items: Items, ids: IdSource) -> None:
        self._items = items
        self._ids = ids
        self._read = ReadMemories(items)
        self._gate = SuppressionList(items)

    def write(self, by: Deciding, stored: StoredMemory, after: Memory, decisions: Sequence[Decision]) -> StoredMemory:
        """Writes the loser and the decisions. Raises VersionMismatch where one was made meanwhile."""
        after = replace(after, version=stored.memory.version + 1)
        entries = self.decision_writes(by, decisions, stored.memory, after)
        written = self._items.write(by.scope.user, [*_memory_writes(stored, after, by.now), *entries], by.now)
        return _as_stored(after, written)

    def decision_writes(
        self, by: Deciding, decisions: Iterable[Decision], before: Memory, after: Memory, also: Memory | None = None
    ) -> list[ItemWrite]:
        """The decisions in the ledger and their entries in the audit; what the key decided of the same two gives way.

        Written with the memory in its next version, so that nobody takes one back meanwhile. `also` is the memory that
        took the other one up.
        """
        return [write for one in decisions for write in self._decision_writes(by, one, before, after, also)]

    def _decision_writes(
        self, by: Deciding, decision: Decision, before: Memory, after: Memory, also: Memory | None
    ) -> list[ItemWrite]:
        action = Action.MERGE if decision.outcome is Outcome.MERGED else Action.SUPERSEDE
        entry = self._entry(by, action, decision, before, after, also)
        return [
            decision_write(decision),
            ItemWrite(ItemKey(won_path(decision.winner), decision.loser), {}),
            audit_write(replace(entry, reason=decision.outcome.value)),
        ]

    def write_bounds(self, scope: Scope, stored: StoredMemory, after: Memory, now: datetime) -> StoredMemory | None:
        """Writes the bounds that a memory's own words set; None where it changed meanwhile: the next round sees it."""
        after = replace(after, version=stored.memory.version + 1)
        entry = self._blank(Deciding(scope, now), Action.PATCH, (after.id,))
        entry = replace(entry, reason="bounded", before=trace(scope, stored.memory), after=trace(scope, after))
        try:
            written = self._items.write(scope.user, [*_memory_writes(stored, after, now), audit_write(entry)], now)
        except VersionMismatch:
            return None
        return _as_stored(after, written)

    def withdraw(self, scope: Scope, winner: str, now: datetime) -> Iterator[StoredMemory]:
        """Takes back what a record decided that turned out never to have been true; the memories it had ended.

        Those whose value was rejected meanwhile stay ended (P-22).
        """
        return self._withdrawn(Deciding(scope, now), self._won_by(scope, winner))

    def withdraw_retracted(self, scope: Scope, memory: Memory, now: datetime) -> Iterator[StoredMemory]:
        """The memory without what was decided by records that were taken back meanwhile: they ended nothing."""
        by = dict.fromkeys([memory.superseded_by, *(lapse.by for lapse in memory.lapses)])
        winners = [one for one in by if one not in (None, memory.id)]
        stored = self._read.stored(scope, [one for one in winners if one]) if winners else {}
        retracted = [one for one, own in stored.items() if own.memory.status is MemoryStatus.RETRACTED]
        keys = [decision_key(pair_id(one, memory.id)) for one in retracted]
        return self._withdrawn(Deciding(scope, now), self._items.get(scope.user, keys).values() if keys else ())

    def _withdrawn(self, by: Deciding, decisions: Iterable[Item]) -> Iterator[StoredMemory]:
        for item in decisions:
            changed = self._withdraw_one(by, decision_in(item.value))
            if changed is not None:
                yield changed

    def _withdraw_one(self, by: Deciding, decision: Decision) -> StoredMemory | None:
        """The loser as it was without this decision; None where it is gone, or something else ended it since."""
        if decision.status is not DecisionStatus.APPLIED or self._rejected(by.scope, decision.loser):
            return None

        def attempt() -> StoredMemory | None:
            key = decision_key(decision.id)
            item = self._items.get(by.scope.user, [key]).get(key)
            stored = self._read.stored(by.scope, [decision.loser]).get(decision.loser)
            if item is None or stored is None or decision_in(item.value).status is not DecisionStatus.APPLIED:
                return None
            after, writes = self.without_decision(by, item, stored, DecisionStatus.WITHDRAWN)
            written = self._items.write(by.scope.user, writes, by.now)
            return None if after == stored.memory else _as_stored(after, written)

        return retry_on_conflict(attempt, "a memory")

    def without_decision(
        self,
        by: Deciding,
        item: Item,
        stored: StoredMemory,
        status: DecisionStatus,
        also: Memory | None = None,
        changes: Mapping[str, Any] = NO_CHANGES,
    ) -> tuple[Memory, list[ItemWrite]]:
        """The loser without the decision that `item` is, as it is where that changes nothing; and what to write.

        `also` is the memory that gives it back, `changes` what a person sets right with it.
        """
        decision = decision_in(item.value)
        after = reopened(stored.memory, decision.winner)
        if after == stored.memory:
            return after, [_with_status(item, status)]
        ends = self._ended_before(by.scope, decision) if after.status is not stored.memory.status else after.valid_to
        after = replace(with_changes(after, changes), valid_to=ends, version=stored.memory.version + 1)
        entry = self._entry(by, Action.REVERT, decision, stored.memory, after, also)
        return after, [*_memory_writes(stored, after, by.now), _with_status(item, status), audit_write(entry)]

    def ledger_writes(self, by: Deciding, item: Item, loser: Memory, status: DecisionStatus) -> list[ItemWrite]:
        """The same where the loser's memory stays as it is: another record takes its place."""
        entry = self._entry(by, Action.REVERT, decision_in(item.value), loser, loser)
        return [_with_status(item, status), audit_write(replace(entry, after=None))]

    def both_hold(self, by: Deciding, conflict: OpenConflict, reason: str = "both hold") -> ItemWrite:
        """The audit's entry that a person found no conflict, or found one again: nothing is decided between the two."""
        entry = self._blank(by, Action.PATCH, (conflict.older, conflict.newer))
        return audit_write(replace(entry, via=Step.USER.value, reason=reason))

    def _ended_before(self, scope: Scope, decision: Decision) -> datetime | None:
        """The bound that the loser's own words had set, which a decision may have brought forward."""
        key = version_key(decision.loser, decision.before)
        item = self._items.get(scope.user, [key]).get(key)
        before = memory_in(item.value) if item is not None else None
        return before.valid_to if before is not None and before.status is MemoryStatus.ACTIVE else None

    def _rejected(self, scope: Scope, memory_id: str) -> bool:
        rejections = self._gate.load(scope)
        stored = self._read.stored(scope, [memory_id]).get(memory_id) if rejections else None
        return stored is not None and rejections.shown_memory(stored.memory) is None

    def _won_by(self, scope: Scope, winner: str) -> list[Item]:
        page = self._items.page(scope.user, won_path(winner), _PAGE, None)
        keys = [decision_key(pair_id(winner, item.key.key)) for item in page.items]
        return list(self._items.get(scope.user, keys).values()) if keys else []

    def _entry(
        self,
        by: Deciding,
        action: Action,
        decision: Decision,
        before: Memory,
        after: Memory,
        also: Memory | None = None,
    ) -> AuditEntry:
        blank = self._blank(by, action, (decision.loser, decision.winner))
        entry = replace(blank, via=decision.step.value, rule=decision.rule, event_ids=(decision.winner,))
        traced = replace(entry, before=trace(by.scope, before), after=trace(by.scope, after))
        return traced if also is None else replace(traced, also=trace(by.scope, also))

    def _blank(self, by: Deciding, action: Action, targets: tuple[str, ...]) -> AuditEntry:
        entry_id = self._ids.fresh()
        return AuditEntry(id=entry_id, at=by.now, actor=by.actor, action=action, target_ids=targets, via=JUDGE)


def _with_status(item: Item, status: DecisionStatus) -> ItemWrite:
    """The decision with another status, on condition that nobody changed it meanwhile."""
    return decision_write(replace(decision_in(item.value), status=status), item.version)


def _memory_writes(stored: StoredMemory, after: Memory, now: datetime) -> list[ItemWrite]:
    return changed_writes(stored.item, stored.memory, after, Due(TO_PROJECT, now))


def _as_stored(after: Memory, written: Sequence[Item | None]) -> StoredMemory:
    if written[0] is None:
        raise Conflict("a memory was not written")
    return StoredMemory(after, written[0])


Current = Mapping[str, CurrentRecord]


@dataclass(frozen=True, slots=True)
class ConflictPage:
    """Conflicts, those of the newest records first; `more` where the next page goes on: one may be short or empty."""

    conflicts: tuple[OpenConflict, ...]
    more: str | None


class ListConflicts:
    """Where persona or household narrow, a conflict is shown while one of its records is there to tell."""

    def __init__(self, items: Items, current: CurrentRecords) -> None:
        self._items = items
        self._current = current
        self._pages = FilteredPages(items, CONFLICTS)

    def page(
        self,
        scope: Scope,
        limit: int,
        after: str | None,
        status: ConflictStatus | None,
        now: datetime,
        record: str | None = None,
    ) -> ConflictPage:
        """A page of the user's conflicts, as they stand now; with `record` those of which that is a side."""

        def chosen(items: Sequence[Item]) -> list[OpenConflict | None]:
            conflicts = [conflict_in(item.value) for item in items]
            asked = [one for one in conflicts if record in (None, one.newer, one.older)]
            current = self._current.read(scope, [i for one in asked for i in (one.newer, one.older)], now)
            admitted = {one.id: current_state(one, current) for one in asked if _admitted(scope, one, current)}
            shown = [admitted.get(one.id) for one in conflicts]
            return [one if one is not None and status in (None, one.status) else None for one in shown]

        all_of_them = status is None and record is None and scope == scope.user
        found, more = self._pages.page(scope, limit, after, chosen, all_of_them=all_of_them)
        return ConflictPage(tuple(found), more)

    def one(self, scope: Scope, conflict_id: str, now: datetime) -> OpenConflict:
        """A conflict as it stands now. Raises NotFound."""
        item = self.item(scope, conflict_id)
        conflict = conflict_in(item.value)
        current = self._current.read(scope, (conflict.newer, conflict.older), now)
        if not _admitted(scope, conflict, current):
            raise NotFound("no such conflict")
        return current_state(conflict, current)

    def item(self, scope: Scope, conflict_id: str) -> Item:
        """A conflict as it is stored. Raises NotFound."""
        key = conflict_key(conflict_id)
        item = self._items.get(scope.user, [key]).get(key)
        if item is None:
            raise NotFound("no such conflict")
        return item


def current_state(conflict: OpenConflict, current: Current) -> OpenConflict:
    """The conflict, settled where not both of its records count, both are one by now, or the words in doubt ended."""
    if conflict.status is ConflictStatus.SETTLED:
        return conflict
    left = [one for one in (conflict.newer, conflict.older) if one in current]
    if len(left) == 2 and current[left[0]].id != current[left[1]].id:
        older = current[conflict.older].stored
        if older is None or not has_passed(conflict, older.memory):
            return conflict
    return replace(conflict, status=ConflictStatus.SETTLED, winner=left[0] if left else None)


def _admitted(scope: Scope, conflict: OpenConflict, current: Current) -> bool:
    return scope == scope.user or conflict.newer in current or conflict.older in current


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionFilter:
    """Which decisions; None is any."""

    status: DecisionStatus | None = None
    step: Step | None = None
    winner: str | None = None
    loser: str | None = None

    def admits(self, decision: Decision) -> bool:
        """Whether the decision is one of them."""
        return (
            self.status in (None, decision.status)
            and self.step in (None, decision.step)
            and self.winner in (None, decision.winner)
            and self.loser in (None, decision.loser)
        )


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """Decisions; `more` where the next page goes on: a page may be short, or empty, before the end."""

    decisions: tuple[Decision, ...]
    more: str | None


class ListDecisions:
    """A decision outlives what it tells of; where persona or household narrow, it goes with the loser's memory."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._pages = FilteredPages(items, ARBITRATIONS)
        self._read = ReadMemories(items)

    def page(self, scope: Scope, limit: int, after: str | None, wanted: DecisionFilter) -> DecisionPage:
        """A page of the user's decisions."""

        def chosen(items: Sequence[Item]) -> list[Decision | None]:
            decisions = [decision_in(item.value) for item in items]
            own = self._admitted(scope, decisions)
            return [one if wanted.admits(one) and (own is None or one.loser in own) else None for one in decisions]

        all_of_them = wanted == DecisionFilter() and scope == scope.user
        found, more = self._pages.page(scope, limit, after, chosen, all_of_them=all_of_them)
        return DecisionPage(tuple(found), more)

    def one(self, scope: Scope, decision_id: str) -> Decision:
        """A decision by its id. Raises NotFound."""
        return decision_in(self.item(scope, decision_id).value)

    def item(self, scope: Scope, decision_id: str) -> Item:
        """The same as it is stored. Raises NotFound."""
        key = decision_key(decision_id)
        item = self._items.get(scope.user, [key]).get(key)
        if item is None or self._admitted(scope, [decision_in(item.value)]) == {}:
            raise NotFound("no such decision")
        return item

    def _admitted(self, scope: Scope, decisions: Sequence[Decision]) -> dict[str, Memory] | None:
        """The losers' memories that a narrowed scope admits; None where nothing narrows."""
        if scope == scope.user:
            return None
        memories = self._read.read(scope, [one.loser for one in decisions])
        return {i: one for i, one in memories.items() if scope.admits(one.persona_id, one.household_id)}
