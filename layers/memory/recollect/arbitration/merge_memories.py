"""A person merges two of a user's memories: one takes up the other, which stays as merged into it (P-22, P-24).

The kept memory names the sources of both, so that what deletes one of them reaches it. The decision is in the ledger,
and is taken back as every other (`RevertDecision`): both memories are then what they were.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.arbitration.arbitrate import Changed, statement_of
from recollect.arbitration.merging import MergeOptions, merge
from recollect.contradictions.decisions import (
    Decision,
    DecisionStatus,
    Outcome,
    Step,
    decision_about,
    decision_in,
    decision_key,
    pair_id,
)
from recollect.contradictions.ledger import Deciding
from recollect.contradictions.merged import MergeParts, Merger, sources_of
from recollect.core.errors import Conflict, InvalidInput, NotFound, VersionMismatch
from recollect.core.idempotency import TRIES
from recollect.core.scope import Scope
from recollect.memories.audit import Actor
from recollect.memories.memory import MOST_SOURCES, Memory, MemoryStatus, check_values
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.memories.save import SaveMemories
from recollect.memories.storage import check_size
from recollect.ports import Items

RULE = "merged"
_REASON = "a person merged the two"
_KEYED = "the value of a key is replaced by the next one, and is not merged"
_APART = "both must be of one persona, household and namespace, and expire at the same time"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeOrder:
    """Which memory takes up which `other`, of the versions that the person saw.

    `content` is what it then says; None: both texts, without what they have in common. `again`: an earlier try of the
    same request may have done it.
    """

    kept: str
    other: str
    accepts: Callable[[int], bool]
    other_version: int
    content: str | None
    actor: Actor
    now: datetime
    again: bool = False


@dataclass(frozen=True, slots=True)
class MergedMemory:
    """The memory that took up the other one, and the decision that says so."""

    memory: Memory
    decision: Decision


@dataclass(eq=False)
class MergeMemories:
    """Both memories, decision and audit are one step, on condition that neither memory changed meanwhile."""

    _items: Items
    _memories: SaveMemories
    _merge: MergeParts
    _changed: Changed

    def __post_init__(self) -> None:
        self._read = ReadMemories(self._items)

    def merge(self, scope: Scope, order: MergeOrder) -> MergedMemory:
        """Raises NotFound, InvalidInput for one memory twice, VersionMismatch, and Conflict where the two cannot become
        one: one of them is not current, is the value of a key, or is of another place, or a rejected value would be
        in it.
        """
        if order.kept == order.other:
            raise InvalidInput("must be another memory", ("body", "other"))
        for _ in range(TRIES):
            kept, other = self._stored(scope, order.kept, order.now), self._stored(scope, order.other, order.now)
            known = self.decided(scope, order.kept, order.other) if order.again else None
            if known is not None:
                self._changed(scope.user, [other, kept], order.now)
                return MergedMemory(kept.memory, known)
            _check(kept.memory, other.memory, order)
            try:
                return self._written(scope, kept, other, order)
            except VersionMismatch:
                continue
        raise VersionMismatch("the memories change all the time")

    def decided(self, scope: Scope, kept: str, other: str) -> Decision | None:
        """The merger of these two that holds; None where there is none."""
        key = decision_key(pair_id(kept, other))
        item = self._items.get(scope.user, [key]).get(key)
        if item is None:
            return None
        decision = decision_in(item.value)
        holds = decision.status is DecisionStatus.APPLIED and decision.outcome is Outcome.MERGED
        return decision if holds else None

    def _stored(self, scope: Scope, memory_id: str, now: datetime) -> StoredMemory:
        self._memories.one(scope, memory_id, now)  # there, and in this scope
        stored = self._read.stored(scope.user, [memory_id]).get(memory_id)
        if stored is None or stored.memory.id != memory_id:
            raise NotFound("no such memory")
        return stored

    def _written(self, scope: Scope, kept: StoredMemory, other: StoredMemory, order: MergeOrder) -> MergedMemory:
        by = Deciding(scope.user, order.now, order.actor)
        loser, winner = other.memory, kept.memory
        decision = decision_about(loser, winner.id, by.now, Step.USER, RULE, Outcome.MERGED, _REASON)
        ends = max(loser.valid_from, winner.valid_from)
        settled = Step.USER.value
        after = replace(loser, status=MemoryStatus.MERGED, superseded_by=winner.id, valid_to=ends, settled_by=settled)
        merged = self._joined(scope, winner, loser, order)
        check_values(merged.content, merged.importance)
        check_size(merged)
        changed: Sequence[StoredMemory] = self._merge.into(by, Merger(other, kept, after, [decision]), merged)
        if not changed:
            raise Conflict("this memory's value was rejected")
        self._changed(scope.user, changed, order.now)
        return MergedMemory(changed[-1].memory, decision)

    def _joined(self, scope: Scope, kept: Memory, other: Memory, order: MergeOrder) -> Memory:
        """Of the words that hold now: what has ended of either does not come back."""
        shown = [self._memories.one(scope, one.id, order.now) for one in sorted((kept, other), key=_age)]
        first, second = (statement_of(one, None) for one in shown)
        made = merge(first, second, MergeOptions()).statement
        content = made.content if order.content is None else order.content
        return replace(kept, content=content, importance=made.importance, keywords=made.keywords)


def _age(memory: Memory) -> tuple[datetime, str]:
    return memory.timestamp, memory.id


def _check(kept: Memory, other: Memory, order: MergeOrder) -> None:
    if not order.accepts(kept.version) or other.version != order.other_version:
        raise VersionMismatch("the memory has changed since it was read")
    if any(one.status is not MemoryStatus.ACTIVE for one in (kept, other)):
        raise Conflict("one of the two is not current")
    if kept.key is not None or other.key is not None:
        raise Conflict(_KEYED)
    if _place(kept) != _place(other):
        raise Conflict(_APART)
    if len({*sources_of(kept), *sources_of(other)}) > MOST_SOURCES:
        raise Conflict(f"together they have more than {MOST_SOURCES} sources")


def _place(memory: Memory) -> tuple[object, ...]:
    return memory.persona_id, memory.household_id, memory.labels, memory.expires_at
