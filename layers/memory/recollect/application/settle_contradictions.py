"""Settles contradictions by cue rules, a part of `project`: what newer words end, take back or hold over (P-24).

Every pair of records is looked at from the side that is projected later, and what follows from it is the same from
either side. A memory changes in one step with the decision in the ledger and the entry of the audit; a decision that is
there is not made again, also one that a person took back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.application.apply_verdicts import ApplyVerdicts
from recollect.application.find_contradicting import FindContradicting
from recollect.application.looked_at import LookedAt, claims_entered
from recollect.application.read_memories import KeptMemory, ReadMemories
from recollect.domain.claims import Claim, RelationKind
from recollect.domain.embedding import FloatArray
from recollect.domain.event import Event, EventRef
from recollect.domain.memory import MemoryStatus, Origin
from recollect.domain.plain_statements import may_say_otherwise
from recollect.domain.recognition import said_by, speaks
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.domain.settlement import Verdict

_MOST_ROUNDS = 4
"""As often a memory that took up another one's part is looked at anew at once; further ones wait for its marker."""

Verdicts = dict[str, list[Verdict]]


@dataclass(slots=True)
class Settled:
    """The memories that changed, by id, and the records that they are of: those are to be shown anew."""

    memories: dict[str, KeptMemory] = field(default_factory=dict)
    refs: dict[str, EventRef] = field(default_factory=dict)

    def note(self, changed: KeptMemory | None) -> None:
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
        memories: Mapping[str, KeptMemory],
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
        memories: Mapping[str, KeptMemory],
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


def _claims(event: Event, memories: Mapping[str, KeptMemory], rules: Rules) -> tuple[Claim, ...]:
    kept = memories.get(event.id)
    return claims_entered(event, kept.memory if kept is not None and kept.memory.id == event.id else None, rules)


def _plain(events: Iterable[Event], claims: Mapping[str, tuple[Claim, ...]], rules: Rules) -> frozenset[str]:
    """Those that may end something in words which no rule knows; what has no verb and no cue says nothing of that."""
    stating = (e for e in events if any(claim.attribute != "bit" for claim in claims[e.id]))
    said = (said_by(e, e.content, claims[e.id], rules) for e in stating)
    return frozenset(one.id for one in said if may_say_otherwise(one, rules.conflict.cue_rules))


def _by_record(settled: Settled, events: Iterable[Event]) -> dict[str, KeptMemory]:
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
