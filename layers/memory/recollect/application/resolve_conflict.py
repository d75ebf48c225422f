"""Resolve: a person says which of two records counts (api.md, *Arbitration*)."""

from dataclasses import dataclass, replace
from datetime import datetime

from recollect.application.apply_verdicts import Promoted
from recollect.application.decided import Decided
from recollect.application.list_conflicts import ListConflicts
from recollect.application.read_memories import KeptMemory, ReadMemories
from recollect.application.standing_records import StandingRecord, StandingRecords
from recollect.application.tell_changed import TellChanged
from recollect.domain.audit import Actor
from recollect.domain.decisions import (
    ConflictStatus,
    Decision,
    OpenConflict,
    Outcome,
    Step,
    conflict_document,
    conflict_in,
    decision_key,
    pair_id,
)
from recollect.domain.errors import Conflict, InvalidInput, VersionMismatch
from recollect.domain.items import Due, Item, ItemWrite
from recollect.domain.memory import Memory, MemoryStatus
from recollect.domain.memory_writes import TO_PROJECT, changed_writes
from recollect.domain.scope import Scope
from recollect.ports import Items

RULE = "resolved"
_REASON = "a person said which one counts"
_TRIES = 8


@dataclass(frozen=True, slots=True)
class Resolved:
    """The conflict as it is settled, and the decision's id; None where there is none between these two ids."""

    conflict: OpenConflict
    decision_id: str | None


@dataclass(frozen=True, slots=True)
class _Sides:
    """The record that counts, and the memory that does not."""

    winner: StandingRecord
    loser: KeptMemory


class ResolveConflict:
    """Loser, conflict, decision and audit are one step, on condition that neither memory changed meanwhile."""

    def __init__(
        self, items: Items, standing: StandingRecords, promoted: Promoted, decided: Decided, tell: TellChanged
    ) -> None:
        self._items = items
        self._standing = standing
        self._conflicts = ListConflicts(items, standing)
        self._promoted = promoted
        self._decided = decided
        self._tell = tell
        self._read = ReadMemories(items)

    def __call__(self, scope: Scope, conflict_id: str, winner: str, actor: Actor, now: datetime) -> Resolved:
        """The loser is superseded by the winner. The same winner again changes nothing.

        Raises NotFound, InvalidInput where the winner is neither of the two, Conflict where it was settled otherwise,
        or where one of the two no longer counts.
        """
        for _ in range(_TRIES):
            self._conflicts.one(scope, conflict_id, now)  # in this scope
            item = self._conflicts.item(scope, conflict_id)
            conflict = _checked(conflict_in(item.value), winner)
            if conflict.status is ConflictStatus.SETTLED:
                return self._again(scope, conflict, now)
            sides = self._sides(scope, conflict, winner, now)
            try:
                return self._written(scope, item, sides, replace(conflict, winner=winner), actor, now)
            except VersionMismatch:
                continue
        raise Conflict("the memories change all the time")

    def _again(self, scope: Scope, conflict: OpenConflict, now: datetime) -> Resolved:
        """What a try that was cut short left to follow, follows."""
        loser = conflict.older if conflict.winner == conflict.newer else conflict.newer
        key = decision_key(pair_id(conflict.winner or "", loser))
        kept = self._read.kept(scope.user, [loser]).get(loser)
        if kept is not None:
            self._tell(scope.user, [kept.memory], [kept.memory], now)
        return Resolved(conflict, key.key if self._items.get(scope.user, [key]) else None)

    def _sides(self, scope: Scope, conflict: OpenConflict, winner: str, now: datetime) -> _Sides:
        loser = conflict.older if winner == conflict.newer else conflict.newer
        found = self._standing(scope.user, (winner, loser), now)
        if len(found) < 2 or found[winner].id == found[loser].id:
            raise Conflict("one of the two no longer counts")
        kept = found[loser].kept or self._promoted(scope.user, found[loser].event, now)
        if kept is None:
            raise Conflict("the other one cannot be kept as superseded")
        return _Sides(found[winner], kept)

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
            *self._told(scope, decision, before, after, actor, now),
            *_unchanged(sides.winner),
        ]
        self._items.write(scope.user, writes, now)
        self._tell(scope.user, [after], [before], now)
        return Resolved(settled, decision.id)

    def _told(
        self, scope: Scope, decision: Decision, before: Memory, after: Memory, actor: Actor, now: datetime
    ) -> list[ItemWrite]:
        """The decision takes the place of one between the two that was taken back."""
        key = decision_key(decision.id)
        known = self._items.get(scope.user, [key]).get(key)
        told = self._decided.told(scope, decision, before, after, now, actor)
        return [replace(one, expected=known.version) if known and one.key == key else one for one in told]


def _checked(conflict: OpenConflict, winner: str) -> OpenConflict:
    if winner not in (conflict.newer, conflict.older):
        raise InvalidInput("is neither of the two", ("body", "winner"))
    if conflict.status is ConflictStatus.SETTLED and conflict.winner != winner:
        raise Conflict("the conflict was settled otherwise")
    return conflict


def _superseded(loser: Memory, winner: StandingRecord) -> Memory:
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


def _unchanged(winner: StandingRecord) -> list[ItemWrite]:
    """Its memory, as it was read: who changes it meanwhile changes what was decided about."""
    if winner.kept is None:
        return []
    item = winner.kept.item
    return [ItemWrite(item.key, item.value, item.version, item.due)]
