"""Writes what cue rules decided: the memory that loses, the decision, the entry of the audit, in one step (P-24).

Settles contradictions by cue rules, a part of `project`: what newer words end, take back or hold over (P-24).

Every pair of records is looked at from the side that is projected later, and what follows from it is the same from
either side. A memory changes in one step with the decision in the ledger and the entry of the audit; a decision that is
there is not made again, also one that a person took back.

What `project` does about contradictions: cue rules first, then the arbiter's word on what is left (P-24).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from recollect.arbitration.propose import ProposeConflicts
from recollect.contradictions.candidates import FindContradicting, LookedAt, claims_entered
from recollect.contradictions.decisions import (
    Decision,
    DecisionStatus,
    OpenConflict,
    Outcome,
    Step,
    Verdict,
    bounded,
    conflict_document,
    conflict_key,
    decision_in,
    decision_key,
    pair_id,
    settled,
)
from recollect.contradictions.ledger import Decided
from recollect.contradictions.merged import MergeParts
from recollect.core.errors import Conflict, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.items import ABSENT, ItemWrite
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray
from recollect.domain.claims import Claim, RelationKind, Said
from recollect.domain.plain_statements import may_say_otherwise
from recollect.domain.recognition import said_by, speaks
from recollect.memories.memory import Memory, MemoryStatus, Origin
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.ports import Items
from recollect.rules.groups import Rules
from recollect.timeline.failed_projections import Fault, fault_of
from recollect.timeline.slots import bound_of

Promoted = Callable[[Scope, Event, datetime], StoredMemory | None]
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
    ) -> list[StoredMemory]:
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

    def remembered(self, scope: Scope, event: Event, now: datetime) -> StoredMemory | None:
        """The memory that a record is in, made now where there is none; None where there cannot be one."""
        return self._promoted(scope, event, now)

    def bounds(
        self, scope: Scope, event: Event, kept: StoredMemory | None, said: Said | None, now: datetime
    ) -> StoredMemory | None:
        """The memory with the bounds that its own words set; None where nothing changes."""
        if kept is None or said is None or kept.memory.id != event.id or kept.memory.status is not MemoryStatus.ACTIVE:
            return None
        if event.key is not None and bound_of(event) is None:
            return None  # it is its slot's value until the next one comes
        after = bounded(kept.memory, said.claims)
        return None if after == kept.memory else self._decided.bounded(scope, kept, after, now)

    def mend(self, scope: Scope, kept: StoredMemory | None, now: datetime) -> Iterator[StoredMemory]:
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

    def _written(
        self, scope: Scope, kept: StoredMemory, made: _Made, found: LookedAt, now: datetime
    ) -> list[StoredMemory]:
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


_MOST_ROUNDS = 4
"""As often a memory that took up another one's part is looked at anew at once; further ones wait for its marker."""

Verdicts = dict[str, list[Verdict]]


@dataclass(slots=True)
class Settled:
    """The memories that changed, by id, and the records that they are of: those are to be shown anew."""

    memories: dict[str, StoredMemory] = field(default_factory=dict)
    refs: dict[str, EventRef] = field(default_factory=dict)

    def note(self, changed: StoredMemory | None) -> None:
        """One more that changed, or the same again."""
        if changed is not None:
            self.memories[changed.memory.id] = changed
            self.refs[changed.memory.id] = changed.memory.ref

    def merged(self) -> set[str]:
        """Those that took up another one's part, with the version in which they did."""
        found = (kept.memory for kept in self.memories.values())
        return {f"{one.id}/{one.version}" for one in found if one.origin is Origin.MERGED}


class SettleContradictions:
    """`rules` are the tenant's; raises what its ports raise, with some decisions made: again makes the rest."""

    def __init__(self, find: FindContradicting, read: ReadMemories, apply: ApplyVerdicts) -> None:
        self._find = find
        self._read = read
        self._apply = apply

    def __call__(
        self,
        scope: Scope,
        events: Sequence[Event],
        memories: Mapping[str, StoredMemory],
        vectors: Mapping[str, FloatArray],
        rules: Rules,
        now: datetime,
    ) -> Settled:
        """Settles what these records, which are projected now, contradict or are contradicted by."""
        settled, seen, fresh = Settled(), set[str](), list(events)
        for _ in range(_MOST_ROUNDS):
            found = self._found(scope, fresh, {**memories, **_by_record(settled, fresh)}, vectors, rules, now)
            if found is None:
                break
            self._settle(scope, [e for e in fresh if e.id in found.said], found, settled, now)
            merged = settled.merged() - seen
            seen |= merged
            fresh = [found.events[i] for one in merged if (i := one.partition("/")[0]) in found.events]
        return settled

    def _found(
        self,
        scope: Scope,
        events: Sequence[Event],
        memories: Mapping[str, StoredMemory],
        vectors: Mapping[str, FloatArray],
        rules: Rules,
        now: datetime,
    ) -> LookedAt | None:
        """These and what may contradict them; None where none of them claims anything."""
        claims = {e.id: made for e in events if (made := _claims(e, memories, rules))}
        fresh = [event for event in events if event.id in claims and not event.expired(now)]
        if not fresh:
            return None
        self._find.enter(scope, fresh, claims, now)
        led = self._find(scope, fresh, claims, vectors, now, plain=_plain(fresh, claims, rules))
        others = {i: event for i, event in led.events.items() if speaks(event) and not event.expired(now)}
        read = self._read.kept(scope, others) if others else {}
        return LookedAt({**others, **{event.id: event for event in fresh}}, {**read, **memories}, rules, led.to)

    def _settle(self, scope: Scope, fresh: Sequence[Event], found: LookedAt, settled: Settled, now: datetime) -> None:
        verdicts, undecided = _verdicts(fresh, found)
        for event in fresh:
            for changed in self._apply.mend(scope, found.memories.get(event.id), now):
                settled.note(changed)
            settled.note(self._apply.bounds(scope, event, found.memories.get(event.id), found.said.get(event.id), now))
        if found.rules.conflict.auto_apply == "off":
            undecided += [(older_id, verdict) for older_id, against in verdicts.items() for verdict in against]
        else:
            self._decide(scope, verdicts, found, settled, now)
            self._bound(scope, verdicts, found, settled, now)
        for older_id, verdict in undecided:
            self._apply.leave_open(scope, older_id, verdict, now)

    def _bound(self, scope: Scope, verdicts: Verdicts, found: LookedAt, settled: Settled, now: datetime) -> None:
        """What holds over something else for a while is a memory, and ends with its bound."""
        over = (one.by for against in verdicts.values() for one in against if _holds_over(one))
        for memory_id in dict.fromkeys(over):
            record = found.record(memory_id)
            kept = self._apply.remembered(scope, record, now)
            settled.note(self._apply.bounds(scope, record, kept, found.said.get(record.id), now))

    def _decide(self, scope: Scope, verdicts: Verdicts, found: LookedAt, settled: Settled, now: datetime) -> None:
        """What was taken back first, the newest of it before what it took back itself: that decides nothing any more.

        Then from the oldest record on, so that what was merged goes on as a whole.
        """
        oldest_first = sorted(verdicts, key=lambda one: (found.record(one).timestamp, one))
        never_so: set[str] = set()
        for retracting in (True, False):
            for older_id in reversed(oldest_first) if retracting else oldest_first:
                against = [
                    one for one in verdicts[older_id] if _takes_back(one) is retracting and one.by not in never_so
                ]
                for changed in self._apply(scope, found.record(older_id), against, found, now) if against else ():
                    settled.note(changed)
                if retracting and _retracted(older_id, settled, found):
                    never_so.add(older_id)


def _claims(event: Event, memories: Mapping[str, StoredMemory], rules: Rules) -> tuple[Claim, ...]:
    kept = memories.get(event.id)
    return claims_entered(event, kept.memory if kept is not None and kept.memory.id == event.id else None, rules)


def _plain(events: Iterable[Event], claims: Mapping[str, tuple[Claim, ...]], rules: Rules) -> frozenset[str]:
    """Those that may end something in words which no rule knows; what has no verb and no cue says nothing of that."""
    stating = (e for e in events if any(claim.attribute != "bit" for claim in claims[e.id]))
    said = (said_by(e, e.content, claims[e.id], rules) for e in stating)
    return frozenset(one.id for one in said if may_say_otherwise(one, rules.conflict.cue_rules))


def _by_record(settled: Settled, events: Iterable[Event]) -> dict[str, StoredMemory]:
    return {event.id: settled.memories[event.id] for event in events if event.id in settled.memories}


def _takes_back(verdict: Verdict) -> bool:
    return verdict.relation.kind is RelationKind.RETRACTS


def _holds_over(verdict: Verdict) -> bool:
    return verdict.relation.kind is RelationKind.OVERRIDES


def _retracted(memory_id: str, settled: Settled, found: LookedAt) -> bool:
    changed = settled.memories.get(memory_id)
    return found.never_so(memory_id) if changed is None else changed.memory.status is MemoryStatus.RETRACTED


def _verdicts(fresh: Iterable[Event], found: LookedAt) -> tuple[Verdicts, list[tuple[str, Verdict]]]:
    """What newer records do to older ones, by the older one's id; and what no rule can tell."""
    against: Verdicts = {}
    undecided: list[tuple[str, Verdict]] = []
    for older, newer in found.pairs(fresh):
        relation = found.relation(older, newer)
        if relation is None:
            continue
        verdict = Verdict(found.identity(newer.id), newer.at, relation)
        if relation.kind is not RelationKind.UNDECIDED:
            if not found.said_again(older, newer):
                _add(against, found.identity(older.id), verdict)
        elif not found.never_so(older.id):
            undecided.append((found.identity(older.id), verdict))
    return against, undecided


def _add(against: Verdicts, older_id: str, verdict: Verdict) -> None:
    """Once for each pair of memories, however often their words were said."""
    known = against.setdefault(older_id, [])
    if verdict.by != older_id and all(one.by != verdict.by for one in known):
        known.append(verdict)


Mark = Callable[[Scope, Sequence[EventRef]], None]


class Steps(NamedTuple):
    """What settles, and what proposes then."""

    settle: SettleContradictions
    propose: ProposeConflicts


Sparing = Callable[[Scope], Steps | None]


@dataclass(slots=True)
class Contradicted:
    """The memories of the projected events as they are then, and the events that hold no longer as they were said."""

    memories: dict[str, StoredMemory]
    ended: list[EventRef] = field(default_factory=list)


class FollowContradictions:
    """`mark` lets those be projected again that are not projected now: their documents follow.

    `sparing` gives steps that do not look at the user's events whose projection failed, None where there are none:
    an event must not fail because of another's words. That one is settled when it is projected itself.
    """

    def __init__(self, steps: Steps, mark: Mark, sparing: Sparing) -> None:
        self._steps = steps
        self._mark = mark
        self._sparing = sparing

    def __call__(
        self,
        scope: Scope,
        events: Sequence[Event],
        memories: Mapping[str, StoredMemory],
        vectors: Mapping[str, FloatArray],
        rules: Rules,
        now: datetime,
    ) -> Contradicted:
        """Raises what the ports raise, with some of it done: again makes the rest."""
        try:
            changed = _changed(self._steps, scope, events, memories, vectors, rules, now)
        except Exception as error:
            steps = self._sparing(scope) if fault_of(error) is Fault.OWN else None
            if steps is None:
                raise
            changed = _changed(steps, scope, events, memories, vectors, rules, now)
        own = {event.id for event in events}
        self._mark(scope, [kept.memory.ref for i, kept in changed.items() if i not in own])
        newest = {i: changed.get(kept.memory.id, kept) for i, kept in memories.items()}
        promoted = {i: kept for i, kept in changed.items() if i in own}
        return Contradicted({**promoted, **newest}, _ended(changed.values()))


def _changed(
    steps: Steps,
    scope: Scope,
    events: Sequence[Event],
    memories: Mapping[str, StoredMemory],
    vectors: Mapping[str, FloatArray],
    rules: Rules,
    now: datetime,
) -> dict[str, StoredMemory]:
    """The memories that changed, by id."""
    settled = steps.settle(scope, events, memories, vectors, rules, now)
    made = _made_now(events, memories, settled.memories)
    proposed = steps.propose(scope, made, vectors, rules, now)
    return {**settled.memories, **{one.memory.id: one for one in proposed}}


def _made_now(
    events: Sequence[Event], memories: Mapping[str, StoredMemory], settled: Mapping[str, StoredMemory]
) -> list[tuple[Event, Memory]]:
    """Memories in their first version that no cue rule had anything to do with."""
    found = [(event, memories[event.id].memory) for event in events if event.id in memories]
    return [
        (event, memory)
        for event, memory in found
        if memory.id == event.id and memory.version == 1 and memory.id not in settled
    ]


def _ended(changed: Iterable[StoredMemory]) -> list[EventRef]:
    """The events of memories that ended, whole or in part: what quotes them loses them."""
    over = [kept.memory for kept in changed if kept.memory.status is not MemoryStatus.ACTIVE or kept.memory.lapses]
    return [EventRef(source, memory.timestamp) for memory in over for source in memory.source_event_ids]
