"""Step 3 of what settles a contradiction: the arbiter's word on memories that no key and no cue rule decides (P-24).

By default it is a proposal on an open conflict, and both memories stay; `conflict.auto_apply` `all` applies it.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from recollect.application.apply_arbitration import ApplyArbitration
from recollect.application.find_contradicting import FindContradicting
from recollect.application.read_memories import KeptMemory, ReadMemories
from recollect.application.readable_events import readable_events
from recollect.domain.arbitration_policy import Arbitration, ArbitrationPolicy, weigh
from recollect.domain.candidate import Candidate
from recollect.domain.decisions import OpenConflict, Step, conflict_document, conflict_key, decision_key, pair_id
from recollect.domain.embedding import FloatArray
from recollect.domain.errors import VersionMismatch
from recollect.domain.event import Event
from recollect.domain.items import ABSENT, ItemWrite
from recollect.domain.memory import Memory, MemoryStatus
from recollect.domain.proposals import proposal_of, signals_of
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.domain.statement import Statement, similarity
from recollect.ports import Items, Timeline

Policy = Callable[[Scope, Statement, Rules], ArbitrationPolicy]
"""The tenant's merge rule for a candidate, with the thresholds of its rules."""


class ProposeConflicts:
    """Looks at memories that were made just now, and at their nearest in the index; most have none near enough."""

    def __init__(
        self,
        timeline: Timeline,
        items: Items,
        find: FindContradicting,
        apply: ApplyArbitration,
        policy: Policy,
    ) -> None:
        self._timeline = timeline
        self._items = items
        self._find = find
        self._read = ReadMemories(items)
        self._apply = apply
        self._policy = policy

    def __call__(
        self,
        scope: Scope,
        made: Sequence[tuple[Event, Memory]],
        vectors: Mapping[str, FloatArray],
        rules: Rules,
        now: datetime,
    ) -> list[KeptMemory]:
        """The memories that changed by it: none, unless all verdicts are applied."""
        if rules.conflict.auto_apply == "off":
            return []
        return [one for event, memory in made for one in self._weighed(scope, event, memory, vectors, rules, now)]

    def _weighed(
        self,
        scope: Scope,
        event: Event,
        memory: Memory,
        vectors: Mapping[str, FloatArray],
        rules: Rules,
        now: datetime,
    ) -> list[KeptMemory]:
        candidate = statement_of(memory, vectors.get(event.id))
        near = self._near(scope, event, memory, vectors.get(event.id), rules, now)
        if not near:
            return []
        arbitration = weigh(candidate, list(near.values()), self._policy(scope, candidate, rules))
        if arbitration.arbitrated is None or self._known(scope, memory.id, arbitration.arbitrated.existing.id):
            return []
        if rules.conflict.auto_apply == "all":
            return self._apply(scope, candidate, arbitration, now)
        self._leave_open(scope, memory.id, arbitration, now)
        return []

    def _near(
        self, scope: Scope, event: Event, memory: Memory, vector: FloatArray | None, rules: Rules, now: datetime
    ) -> dict[str, Statement]:
        """Active memories of the same speaker that may be alike; those of another key never conflict."""
        candidate = statement_of(memory, vector)
        found = self._find.similar(scope, event, vector, now)
        hits = {hit.ref.id: hit for hit in found if _may_be_alike(hit, candidate, rules)}
        if not hits:
            return {}
        events = readable_events(self._timeline, scope, [hit.ref for hit in hits.values()])
        kept = self._read.kept(scope, events)
        alike = (one for i, e in events.items() if (one := kept.get(i)) and _comparable(event, memory, e, one.memory))
        return {one.memory.id: statement_of(one.memory, hits[one.memory.id].vector) for one in alike}

    def _known(self, scope: Scope, one: str, other: str) -> bool:
        """Whether the two are known already: a conflict, open or settled, or a decision, taken back or not."""
        pairs = (pair_id(one, other), pair_id(other, one))
        keys = [make(pair) for pair in pairs for make in (conflict_key, decision_key)]
        return bool(self._items.get(scope.user, keys))

    def _leave_open(self, scope: Scope, newer: str, arbitration: Arbitration, now: datetime) -> None:
        found = arbitration.arbitrated
        if found is None:
            return
        conflict = OpenConflict(
            newer=newer,
            older=found.existing.id,
            at=now,
            step=Step.ARBITER,
            rule=arbitration.rule,
            signals=signals_of(found),
            severity=found.severity,
            proposal=proposal_of(arbitration.verdict),
        )
        try:
            self._items.write(
                scope.user, [ItemWrite(conflict_key(conflict.id), conflict_document(conflict), ABSENT)], now
            )
        except VersionMismatch:
            return


def statement_of(memory: Memory, vector: FloatArray | None) -> Statement:
    """The memory as the arbiter weighs it."""
    return Statement(
        id=memory.id,
        user_id=memory.user_id,
        content=memory.content,
        embedding=None if vector is None else vector.astype("float64"),
        importance=memory.importance,
        timestamp=memory.timestamp,
        source=memory.source.value,
        keywords=memory.keywords,
        persona_id=memory.persona_id,
    )


def _may_be_alike(hit: Candidate, candidate: Statement, rules: Rules) -> bool:
    """Whether a content signal is possible: the index knows vectors, and no keywords."""
    vector = None if hit.vector is None else hit.vector.astype("float64")
    alike = similarity(candidate.embedding, vector)
    return bool(candidate.keywords) or (alike is not None and alike > rules.conflict.semantic_threshold)


def _comparable(event: Event, memory: Memory, other_event: Event, other: Memory) -> bool:
    """Two active memories of one speaker, persona and household; a key is settled by itself."""
    keyed = memory.key is not None and other.key is not None
    same_place = (memory.persona_id, memory.household_id) == (other.persona_id, other.household_id)
    active = other.status is MemoryStatus.ACTIVE and other.id == other_event.id and other.id != memory.id
    return active and not keyed and same_place and event.speaker == other_event.speaker
