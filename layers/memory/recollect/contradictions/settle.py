"""What `project` does about contradictions: first the judge, then the arbiter on what is left (P-24).

Every pair of records is compared when the later of the two is projected, and the result is the same from either side. A
memory changes atomically with the decision in the ledger and the entry of the audit; a decision that is there is not
made again, also one that a person took back.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from recollect.arbitration.arbitrate import ProposeConflicts
from recollect.contradictions.candidates import (
    Candidates,
    CandidateSet,
    FindContradicting,
    ProjectedRecords,
    profile_of,
)
from recollect.contradictions.decisions import (
    ARBITRATIONS,
    CONFLICTS,
    ConflictStatus,
    Decision,
    DecisionStatus,
    OpenConflict,
    Outcome,
    Step,
    Verdict,
    bounded,
    conflict_in,
    conflict_key,
    conflict_write,
    decision_about,
    decision_in,
    decision_key,
    pair_id,
    settled,
)
from recollect.contradictions.judge import Profile, RelationJudge, RelationKind, TimeBound
from recollect.contradictions.ledger import Deciding, DecisionWriter
from recollect.contradictions.merged import MergeParts, Merger
from recollect.core.errors import VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.idempotency import retry_on_conflict
from recollect.core.items import ABSENT, Item, ItemKey
from recollect.core.learned_share import SURELY_ASKS, LearnedShare
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray
from recollect.memories.memory import Memory, MemoryStatus, Origin
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.ports import Items
from recollect.rules.groups import ConflictRules
from recollect.timeline.failed_projections import Fault, fault_of

Promoted = Callable[[Scope, Event, datetime], StoredMemory | None]
"""The memory of a record, made now where there is none; None where there cannot be one."""

_AT_ONCE = 6
"""Verdicts that one step writes: each with its three entries in ledger and audit, within 25 writes."""

OUTCOMES = {
    RelationKind.SUPERSEDES: Outcome.SUPERSEDED,
    RelationKind.RETRACTS: Outcome.RETRACTED,
    RelationKind.OVERRIDES: Outcome.OVERRIDDEN,
    RelationKind.CHANGES_PART: Outcome.MERGED,
}


@dataclass(frozen=True, slots=True)
class _Change:
    """The memory as it will be, and the decisions that make it so."""

    after: Memory
    decisions: tuple[Decision, ...]
    verdicts: tuple[Verdict, ...]


class ApplyVerdicts:
    """Idempotent: a decision that is in the ledger is not made a second time."""

    def __init__(
        self, items: Items, promoted: Promoted, decided: DecisionWriter, merge: MergeParts, *, ask_a_model: bool = False
    ) -> None:
        """`ask_a_model`: what is left open waits for a language model."""
        self._items = items
        self._promoted = promoted
        self._decided = decided
        self._merge = merge
        self._ask_a_model = ask_a_model

    def apply(self, by: Deciding, loser: Event, against: Sequence[Verdict], found: CandidateSet) -> list[StoredMemory]:
        """The memories that changed: the loser's, a merged one, those that are current again."""

        def attempt() -> list[StoredMemory]:
            stored = self._promoted(by.scope, loser, by.now)
            if stored is None:
                return []
            change = self._change(by, stored.memory, against, found)
            if change is None:
                return list(self.repair(by, stored))
            return self._written(by, stored, change, found)

        return retry_on_conflict(attempt, "a memory")

    def memory_of(self, by: Deciding, event: Event) -> StoredMemory | None:
        """The memory that a record is in, made now where there is none; None where there cannot be one."""
        return self._promoted(by.scope, event, by.now)

    def bounds(
        self, by: Deciding, event: Event, stored: StoredMemory | None, bounds: Sequence[TimeBound]
    ) -> StoredMemory | None:
        """Writes the bounds that the memory's own words set; None where nothing changes."""
        if stored is None or stored.memory.id != event.id or stored.memory.status is not MemoryStatus.ACTIVE:
            return None
        after = bounded(stored.memory, bounds)
        return None if after == stored.memory else self._decided.write_bounds(by.scope, stored, after, by.now)

    def repair(self, by: Deciding, stored: StoredMemory | None) -> Iterator[StoredMemory]:
        """Finishes what was cut short: what a retracted memory had ended is current again."""
        if stored is None:
            return
        if stored.memory.status is MemoryStatus.RETRACTED:
            yield from self._decided.withdraw(by.scope, stored.memory.id, by.now)
        else:
            yield from self._decided.withdraw_retracted(by.scope, stored.memory, by.now)

    def open_conflict(self, by: Deciding, older: str, verdict: Verdict, rules: ConflictRules) -> None:
        """Opens a conflict, unless there is one, or a decision that holds or that a person took back."""
        conflict = OpenConflict(
            newer=verdict.by,
            older=older,
            at=by.now,
            step=Step.JUDGE,
            rule=verdict.relation.rule,
            confidence=round(verdict.relation.confidence, 4),
            ended=verdict.relation.ended,
        )
        asked = self._ask_a_model and rules.auto_apply != "off"
        write = conflict_write(conflict, ABSENT, ask_at=by.now if asked else None)
        known = self._items.get(by.scope.user, [write.key, decision_key(conflict.id)])
        if not any(key == write.key or _is_decided(item) for key, item in known.items()):
            with suppress(VersionMismatch):  # another process has opened it
                self._items.write(by.scope.user, [write], by.now)

    def _change(self, by: Deciding, memory: Memory, against: Sequence[Verdict], found: CandidateSet) -> _Change | None:
        pairs = [pair_id(one.by, memory.id) for one in against]
        known = self._items.get(by.scope.user, [key for one in pairs for key in (decision_key(one), conflict_key(one))])
        made = {key.key for key, item in known.items() if _is_settled(key, item, memory, found)}
        fresh = [one for one in against if pair_id(one.by, memory.id) not in made]
        whole = memory.status is MemoryStatus.ACTIVE
        after = bounded(memory, found.bounds_of(memory)) if whole else memory
        decisions: list[Decision] = []
        counted: list[Verdict] = []
        for verdict in sorted(fresh, key=lambda one: one.order)[:_AT_ONCE]:
            changed = settled(after, [found.for_current_words(memory, verdict)])
            if changed is not after:
                after = changed
                counted.append(verdict)
                decisions.append(_decision(memory, verdict, by.now))
        return _Change(after, tuple(decisions), tuple(counted)) if decisions else None

    def _written(self, by: Deciding, stored: StoredMemory, change: _Change, found: CandidateSet) -> list[StoredMemory]:
        after, decisions = change.after, change.decisions
        parts = [one for one in change.verdicts if one.kind is RelationKind.CHANGES_PART]
        if parts and after.status is MemoryStatus.MERGED:
            (part,) = [one for one in parts if one.by == after.superseded_by]
            winner = self._promoted(by.scope, found.record(part.by), by.now)
            return [] if winner is None else self._merge.merge(by, Merger(stored, winner, after, decisions), part)
        changed = self._decided.write(by, stored, after, decisions)
        return [changed, *self.repair(by, changed)]


def _is_settled(key: ItemKey, item: Item, memory: Memory, found: CandidateSet) -> bool:
    """Whether nothing is decided between the two any more: it was, or a person said that both hold."""
    if key.path == CONFLICTS:
        conflict = conflict_in(item.value)
        return conflict.status is ConflictStatus.SETTLED and conflict.winner is None
    return _is_final(decision_in(item.value), memory, found)


def _is_decided(item: Item) -> bool:
    """Whether it is a decision that holds, or that a person took back."""
    return item.key.path == ARBITRATIONS and decision_in(item.value).status is not DecisionStatus.WITHDRAWN


def _is_final(decision: Decision, memory: Memory, found: CandidateSet) -> bool:
    """Whether the decision is not made again: a key's gives way, and so does one that an earlier end replaced.

    A memory that a person edited since is not changed.
    """
    overtaken = memory.status is MemoryStatus.ACTIVE and decision.status is DecisionStatus.APPLIED
    again = overtaken and decision.outcome is not Outcome.OVERRIDDEN and not found.edited(memory)
    return decision.step is not Step.KEY and not again


def _decision(memory: Memory, verdict: Verdict, now: datetime) -> Decision:
    relation = verdict.relation
    reason = f"{relation.rule} reads a newer statement, sure to {relation.confidence:.2f}"
    decided = decision_about(memory, verdict.by, now, Step.JUDGE, relation.rule, OUTCOMES[relation.kind], reason)
    return replace(decided, until=relation.until, confidence=round(relation.confidence, 4))


_FEW = 6
_READ_AHEAD = 32
"""Where there are more records than a few, so many of the newest memories are read in one page, which tells of most
records that they have none: a look-up of each would cost a read unit."""
_MAY_END = Profile(states=True, may_end=True)
_MOST_ROUNDS = 4
"""So often a merged memory is compared again at once; further rounds wait for its marker."""

Verdicts = dict[str, list[Verdict]]


@dataclass(slots=True)
class Settled:
    """The memories that changed, by id."""

    memories: dict[str, StoredMemory] = field(default_factory=dict)

    def note(self, changed: StoredMemory | None) -> None:
        if changed is not None:
            self.memories[changed.memory.id] = changed

    def merged(self) -> set[str]:
        """The merged memories, each with its version."""
        found = (stored.memory for stored in self.memories.values())
        return {f"{one.id}/{one.version}" for one in found if one.origin is Origin.MERGED}


class SettleContradictions:
    """Idempotent. Raises what its ports raise, with a part of the decisions made."""

    def __init__(
        self,
        find: FindContradicting,
        read: ReadMemories,
        apply: ApplyVerdicts,
        judge: RelationJudge,
        asks: LearnedShare | None = None,
    ) -> None:
        self._find = find
        self._read = read
        self._apply = apply
        self._judge = judge
        self._asks = asks

    def settle(self, projected: ProjectedRecords) -> Settled:
        """Settles what these records contradict, and what contradicts them."""
        settled, seen, fresh = Settled(), set[str](), list(projected.events)
        for _ in range(_MOST_ROUNDS):
            changed = {event.id: settled.memories[event.id] for event in fresh if event.id in settled.memories}
            batch = replace(projected, events=fresh, memories={**projected.memories, **changed})
            found = self._found(batch)
            if found is None:
                break
            self._settle(batch, found, settled)
            merged = settled.merged() - seen
            seen |= merged
            fresh = [found.events[i] for one in merged if (i := one.partition("/")[0]) in found.events]
        return settled

    def rehearse(self, projected: ProjectedRecords) -> None:
        """Asks the judge what `settle` will ask about these, as things are now, so that its answers are there. Writes
        nothing.
        """
        found = self._found(projected)
        if found is not None:
            _verdicts([event for event in projected.events if event.id in found.said], found, projected.rules.conflict)

    def _found(self, batch: ProjectedRecords) -> CandidateSet | None:
        """These and their candidates; None where none of them states anything."""
        told = [event for event in batch.events if not self._only_asks(event, batch.vectors)]
        profiles = {e.id: profile for e in told if (profile := self._profile(e, batch.memories)) is not None}
        fresh = [event for event in batch.events if event.id in profiles and not event.expired(batch.now)]
        if not fresh:
            return None
        found = self._find.find(replace(batch, events=fresh), profiles)
        compared = self._compared(batch, fresh, found)
        newer = compared.newer_of_before(fresh)
        if not newer:
            return compared
        again = replace(batch, events=newer, vectors=found.vectors)
        beside = self._find.find(again, dict.fromkeys((one.id for one in newer), _MAY_END), ended=True)
        return self._compared(batch, fresh, found.with_beside(beside))

    def _compared(self, batch: ProjectedRecords, fresh: Sequence[Event], found: Candidates) -> CandidateSet:
        """With their memories; without what only asks."""
        own = {i: event for i, event in found.events.items() if event.is_own_words and not event.expired(batch.now)}
        others = {i: event for i, event in own.items() if not self._only_asks(event, found.vectors)}
        newest = self._read.newest(batch.scope, _READ_AHEAD) if len(others) > _FEW else None
        read = self._read.stored(batch.scope, others, newest) if others else {}
        return CandidateSet(
            {**others, **{event.id: event for event in fresh}},
            {**read, **batch.memories},
            self._judge,
            found.of,
            found.vectors,
            found.waiting,
            found.beside,
        )

    def _only_asks(self, event: Event, vectors: Mapping[str, FloatArray]) -> bool:
        """A request such as "tell me where I live" states nothing, whatever it looks like to a judge of pairs."""
        vector = vectors.get(event.id)
        if event.key is not None or vector is None or self._asks is None:
            return False
        return self._asks.of(vector) >= SURELY_ASKS

    def _profile(self, event: Event, memories: Mapping[str, StoredMemory]) -> Profile | None:
        stored = memories.get(event.id)
        own = stored.memory if stored is not None and stored.memory.id == event.id else None
        return profile_of(event, own, self._judge)

    def _settle(self, batch: ProjectedRecords, found: CandidateSet, settled: Settled) -> None:
        by = Deciding(batch.scope, batch.now)
        fresh = [event for event in batch.events if event.id in found.said]
        verdicts, undecided = _verdicts(fresh, found, batch.rules.conflict)
        for event in fresh:
            stored = found.memories.get(event.id)
            for changed in self._apply.repair(by, stored):
                settled.note(changed)
            settled.note(self._bounded(by, event, stored, found))
        if batch.rules.conflict.auto_apply == "off":
            undecided += [(older_id, verdict) for older_id, against in verdicts.items() for verdict in against]
        else:
            self._decide(by, verdicts, found, settled)
            self._remember(by, verdicts, found, settled)
        for older_id, verdict in undecided:
            self._apply.open_conflict(by, older_id, verdict, batch.rules.conflict)

    def _bounded(
        self, by: Deciding, event: Event, stored: StoredMemory | None, found: CandidateSet
    ) -> StoredMemory | None:
        """With the bounds that its words set. What surely ends becomes a memory for that, since an event has no end."""
        bounds, made = found.bounds(event.id), None
        if stored is None and any(bound.sure for bound in bounds):
            made = self._apply.memory_of(by, event)
        return self._apply.bounds(by, event, stored or made, bounds) or made

    def _remember(self, by: Deciding, verdicts: Verdicts, found: CandidateSet, settled: Settled) -> None:
        """What changes something becomes a memory too; what overrides it for a while ends with its bound."""
        for memory_id in dict.fromkeys(one.by for against in verdicts.values() for one in against):
            record = found.record(memory_id)
            stored = self._apply.memory_of(by, record)
            if memory_id not in settled.memories.keys() | found.memories.keys():
                settled.note(stored)
            settled.note(self._apply.bounds(by, record, stored, found.bounds(record.id)))

    def _decide(self, by: Deciding, verdicts: Verdicts, found: CandidateSet, settled: Settled) -> None:
        """Retractions first, the newest first: what was taken back decides nothing any more.

        Then from the oldest record on, so that a merged memory is compared as a whole.
        """
        oldest_first = sorted(verdicts, key=lambda one: (found.record(one).timestamp, one))
        retracted: set[str] = set()
        for retracting in (True, False):
            for older_id in reversed(oldest_first) if retracting else oldest_first:
                left = [one for one in verdicts[older_id] if one.by not in retracted]
                against = [one for one in left if (one.kind is RelationKind.RETRACTS) is retracting]
                for changed in self._apply.apply(by, found.record(older_id), against, found) if against else ():
                    settled.note(changed)
                if retracting and _retracted(older_id, settled, found):
                    retracted.add(older_id)


def _retracted(memory_id: str, settled: Settled, found: CandidateSet) -> bool:
    changed = settled.memories.get(memory_id)
    return found.is_retracted(memory_id) if changed is None else changed.memory.status is MemoryStatus.RETRACTED


def _verdicts(
    fresh: Iterable[Event], found: CandidateSet, rules: ConflictRules
) -> tuple[Verdicts, list[tuple[str, Verdict]]]:
    """What newer records do to older ones, by the older one's id; and what nobody can decide."""
    against: Verdicts = {}
    undecided: list[tuple[str, Verdict]] = []
    for older, newer, relation in found.relations(fresh, rules):
        verdict = Verdict(found.identity(newer.id), newer.at, relation)
        if relation.kind is not RelationKind.UNDECIDED:
            if not found.restated_since(older, newer):
                _add(against, found.identity(older.id), verdict)
        elif not found.is_retracted(older.id):
            undecided.append((found.identity(older.id), verdict))
    return against, undecided


def _add(against: Verdicts, older_id: str, verdict: Verdict) -> None:
    """Once for each pair of memories, however often their words were said."""
    known = against.setdefault(older_id, [])
    if verdict.by != older_id and all(one.by != verdict.by for one in known):
        known.append(verdict)


Mark = Callable[[Scope, Sequence[EventRef]], None]


class Steps(NamedTuple):
    """The two steps, in this order."""

    settle: SettleContradictions
    propose: ProposeConflicts


Sparing = Callable[[Scope], Steps | None]


@dataclass(slots=True)
class Contradicted:
    """The memories of the projected events afterwards, and the events whose words no longer hold as they were said."""

    memories: dict[str, StoredMemory]
    ended: list[EventRef] = field(default_factory=list)


class FollowContradictions:
    """`mark` marks changed memories for projection, so that the index follows; those projected now need no marker.

    `sparing` gives steps that leave out the user's events whose projection failed, None where there are none: an event
    must not fail because of another's words. The failed one is settled when it is projected itself.
    """

    def __init__(self, steps: Steps, mark: Mark, sparing: Sparing, *, spare_first: bool = False) -> None:
        self._steps = steps
        self._mark = mark
        self._sparing = sparing
        self._spare_first = spare_first

    def sparing_first(self) -> "FollowContradictions":
        """The same, which leaves those events out before anything failed: what they end is the process."""
        return FollowContradictions(self._steps, self._mark, self._sparing, spare_first=True)

    def rehearse(self, projected: ProjectedRecords) -> None:
        """What is slow of `follow`, before a transaction that others wait for. Raises as that."""
        self._steps.settle.rehearse(projected)

    def follow(self, projected: ProjectedRecords) -> Contradicted:
        """Idempotent. Raises what the ports raise, with a part of the changes made."""
        scope = projected.scope
        steps = self._sparing(scope) if self._spare_first else None
        try:
            changed = _changed(steps or self._steps, projected)
        except Exception as error:
            steps = self._sparing(scope) if fault_of(error) is Fault.OWN else None
            if steps is None:
                raise
            changed = _changed(steps, projected)
        own = {event.id for event in projected.events}
        self._mark(scope, [stored.memory.ref for i, stored in changed.items() if i not in own])
        newest = {i: changed.get(stored.memory.id, stored) for i, stored in projected.memories.items()}
        promoted = {i: stored for i, stored in changed.items() if i in own}
        return Contradicted({**promoted, **newest}, _ended(changed.values()))


def _changed(steps: Steps, projected: ProjectedRecords) -> dict[str, StoredMemory]:
    """The memories that changed, by id."""
    settled = steps.settle.settle(projected)
    proposed = steps.propose.propose(_made_now(projected, settled.memories), projected)
    return {**settled.memories, **{one.memory.id: one for one in proposed}}


def _made_now(projected: ProjectedRecords, settled: Mapping[str, StoredMemory]) -> list[tuple[Event, Memory]]:
    """Memories in their first version that the judge did not change."""
    unchanged = [event for event in projected.events if event.id in projected.memories.keys() - settled.keys()]
    found = [(event, projected.memories[event.id].memory) for event in unchanged]
    return [(event, memory) for event, memory in found if memory.id == event.id and memory.version == 1]


def _ended(changed: Iterable[StoredMemory]) -> list[EventRef]:
    """The events of memories that ended, whole or in part: summaries that quote them are made anew."""
    memories = (stored.memory for stored in changed)
    over = [memory for memory in memories if memory.has_ended]
    return [EventRef(source, memory.timestamp) for memory in over for source in memory.source_event_ids]
