"""Arbitration of a candidate against stored memories (A-69 to A-123, P-24).

`ProposeConflicts` is step 3 of settling a contradiction, for new memories that neither a key nor the judge decides. By
default it leaves a proposal on an open conflict, and both memories stay; `conflict.auto_apply` `all` applies it.
`ArbitrateAndStore` is `POST /v1/arbitrations` with `apply`: it stores the decision about given statements.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.arbitration.arbiter import (
    Action,
    Arbitration,
    ArbitrationOptions,
    ArbitrationPolicy,
    Verdict,
    proposal_of,
    signals_of,
    weigh,
)
from recollect.arbitration.detection import Statement, Vector, detection_options, similarity
from recollect.arbitration.merge_rules import MergeRuleRegistry
from recollect.arbitration.registry import MergeRuleStore
from recollect.contradictions.candidates import FindContradicting, ProjectedRecords
from recollect.contradictions.decisions import (
    Decision,
    OpenConflict,
    Outcome,
    Step,
    conflict_key,
    conflict_write,
    decision_about,
    decision_key,
    pair_id,
)
from recollect.contradictions.ledger import Deciding, DecisionWriter
from recollect.contradictions.merged import MergeParts, Merger
from recollect.core.errors import InvalidInput, NotFound, VersionMismatch
from recollect.core.event import Event, Source
from recollect.core.idempotency import retry_on_conflict
from recollect.core.ids import IdSeed
from recollect.core.items import ABSENT
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, TextKind, pack_vector, unpack_vector
from recollect.memories.audit import Actor
from recollect.memories.memory import Memory, MemoryDraft, MemoryStatus
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.memories.save import SaveMemories
from recollect.ports import Embedder, Items, Timeline
from recollect.retrieval.nomination import Candidate
from recollect.rules.groups import Rules
from recollect.rules.values import TOLERANCE, Place, read_options
from recollect.timeline.listing import readable_events

ARBITER = "arbiter"
_STATUS = {
    Outcome.SUPERSEDED: MemoryStatus.SUPERSEDED,
    Outcome.MERGED: MemoryStatus.MERGED,
    Outcome.REJECTED: MemoryStatus.REJECTED,
}


@dataclass(frozen=True, slots=True)
class ArbitrationRequest:
    """A candidate, and the statements that it may contradict.

    `options` are merged over those of the rule, in its own groups: `detection`, `arbitration`, `merge`. `rule` names
    the merge rule whatever its conditions; None: the first one that the candidate meets.
    """

    candidate: Statement
    existing: tuple[Statement, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    rule: str | None = None


class ChoosePolicy:
    """The tenant's thresholds, over them the merge rule's options, over them the request's own (A-120 to A-123)."""

    def __init__(self, merge_rules: MergeRuleStore) -> None:
        self._merge_rules = merge_rules

    def choose(self, tenant: str, request: ArbitrationRequest, rules: Rules) -> ArbitrationPolicy:
        """Raises InvalidInput at ("rule",) for an unknown rule, at ("options", "weights") where the weights do not sum
        to 1.
        """
        registry = self._merge_rules.registry(tenant)
        name = _name(registry, request)
        settings, options = registry.settings(name), request.options
        detection = settings.detection_over(detection_options(rules.conflict))
        arbitration = read_options(options.get("arbitration", {}), settings.arbitration, Place())
        _check_weights(arbitration)
        merge = read_options(options.get("merge", {}), settings.merge, Place())
        return ArbitrationPolicy(
            read_options(options.get("detection", {}), detection, Place()), arbitration, merge, name
        )

    def of(self, scope: Scope, candidate: Statement, rules: Rules) -> ArbitrationPolicy:
        """The policy for a candidate without options."""
        return self.choose(scope.tenant, ArbitrationRequest(candidate), rules)


def _name(registry: MergeRuleRegistry, request: ArbitrationRequest) -> str:
    if request.rule is None:
        return registry.matching(request.candidate).name
    try:
        return registry.rule(request.rule).name
    except NotFound:
        raise InvalidInput("there is no merge rule of this name", ("rule",)) from None


def _check_weights(options: ArbitrationOptions) -> None:
    if abs(options.weights.total - 1) > TOLERANCE:
        raise InvalidInput("the weights, with those of the rule, must sum to 1", ("options", "weights"))


@dataclass(frozen=True, slots=True)
class Applying:
    """Who applies a verdict and when; `seed` gives the ids of new memories, the same in a retry."""

    actor: Actor
    seed: IdSeed
    now: datetime


class ApplyArbitration:
    """Applies a verdict to two stored memories; the loser stays, with its status (A-77 to A-90)."""

    def __init__(self, read: ReadMemories, decided: DecisionWriter, merge: MergeParts) -> None:
        self._read = read
        self._decided = decided
        self._merge = merge

    def apply(self, by: Deciding, candidate: Statement, arbitration: Arbitration) -> list[StoredMemory]:
        """The memories that changed; none where one is no longer active. Raises NotFound where one is not stored,
        Conflict.
        """
        if arbitration.arbitrated is None:
            return []
        existing = arbitration.arbitrated.existing
        return retry_on_conflict(lambda: self._applied(by, candidate, existing, arbitration), "one of the memories")

    def _applied(
        self, by: Deciding, candidate: Statement, existing: Statement, arbitration: Arbitration
    ) -> list[StoredMemory]:
        verdict = arbitration.verdict
        loser, winner = self._sides(by.scope, candidate, existing, verdict)
        if any(one.memory.status is not MemoryStatus.ACTIVE for one in (loser, winner)):
            return []
        decision = _decision(loser.memory, winner.memory, verdict, arbitration.rule, by.now)
        after = _lost(loser.memory, winner.memory, decision)
        if verdict.merged is None:
            return [self._decided.write(by, loser, after, [decision])]
        made = verdict.merged
        merged = replace(winner.memory, content=made.content, importance=made.importance, keywords=made.keywords)
        return self._merge.into(by, Merger(loser, winner, after, [decision]), merged)

    def _sides(
        self, scope: Scope, candidate: Statement, existing: Statement, verdict: Verdict
    ) -> tuple[StoredMemory, StoredMemory]:
        """Loser and winner; a merge is into the candidate."""
        loser_id = verdict.loser.id if verdict.loser is not None else existing.id
        winner_id = candidate.id if loser_id == existing.id else existing.id
        stored = self._read.stored(scope, [loser_id, winner_id])
        if loser_id not in stored or winner_id not in stored:
            raise NotFound("no such memory")
        return stored[loser_id], stored[winner_id]


def _decision(loser: Memory, winner: Memory, verdict: Verdict, rule: str, now: datetime) -> Decision:
    outcomes = {Action.KEEP: Outcome.SUPERSEDED, Action.MERGE: Outcome.MERGED, Action.REJECT: Outcome.REJECTED}
    outcome = outcomes[verdict.action]
    decided = decision_about(loser, winner.id, now, Step.ARBITER, rule, outcome, verdict.reason)
    return replace(decided, confidence=verdict.confidence)


def _lost(loser: Memory, winner: Memory, decision: Decision) -> Memory:
    """Valid until the winner's start, or never where the winner is older."""
    ends = max(loser.valid_from, winner.valid_from)
    status = _STATUS[decision.outcome]
    return replace(loser, status=status, superseded_by=winner.id, valid_to=ends, settled_by=ARBITER)


Policy = Callable[[Scope, Statement, Rules], ArbitrationPolicy]
"""The tenant's merge rule for a candidate, with the thresholds of its rules."""

Changed = Callable[[Scope, Sequence[StoredMemory], datetime], None]
"""Updates the index and whatever quotes the changed memories."""


@dataclass(eq=False)
class ProposeConflicts:
    """Compares new memories with their nearest in the index; most have none near enough."""

    _timeline: Timeline
    _items: Items
    _find: FindContradicting
    _apply: ApplyArbitration
    _policy: Policy

    def __post_init__(self) -> None:
        self._read = ReadMemories(self._items)

    def propose(self, made: Sequence[tuple[Event, Memory]], projected: ProjectedRecords) -> list[StoredMemory]:
        """The memories that changed: none, unless `auto_apply` is `all`. `made` are those made by this projection."""
        if projected.rules.conflict.auto_apply == "off":
            return []
        return [one for event, memory in made for one in self._weighed(event, memory, projected)]

    def _weighed(self, event: Event, memory: Memory, projected: ProjectedRecords) -> list[StoredMemory]:
        scope, rules, now = projected.scope, projected.rules, projected.now
        vector = projected.vectors.get(event.id)
        candidate = statement_of(memory, vector)
        found = self._find.similar(scope, event, vector, now)
        hits = {hit.ref.id: hit for hit in found if _may_be_alike(hit, candidate, rules)}
        near = self._near(scope, event, memory, hits)
        if not near:
            return []
        arbitration = weigh(candidate, list(near.values()), self._policy(scope, candidate, rules))
        if arbitration.arbitrated is None or self._known(scope, memory.id, arbitration.arbitrated.existing.id):
            return []
        if rules.conflict.auto_apply == "all":
            return self._apply.apply(Deciding(scope, now), candidate, arbitration)
        self._leave_open(scope, memory.id, arbitration, now)
        return []

    def _near(self, scope: Scope, event: Event, memory: Memory, hits: Mapping[str, Candidate]) -> dict[str, Statement]:
        """Active memories of the same speaker that may be alike; those of another key never conflict."""
        if not hits:
            return {}
        events = readable_events(self._timeline, scope, [hit.ref for hit in hits.values()])
        stored = self._read.stored(scope, events)
        alike = (one for i, e in events.items() if (one := stored.get(i)) and _comparable(event, memory, e, one.memory))
        return {one.memory.id: statement_of(one.memory, hits[one.memory.id].vector) for one in alike}

    def _known(self, scope: Scope, one: str, other: str) -> bool:
        """Whether the two have a conflict, open or settled, or a decision, reverted or not."""
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
        with suppress(VersionMismatch):  # another process has left it open
            self._items.write(scope.user, [conflict_write(conflict, ABSENT)], now)


def statement_of(memory: Memory, vector: FloatArray | None) -> Statement:
    """The memory as a statement."""
    return Statement(
        id=memory.id,
        user_id=memory.user_id,
        content=memory.content,
        embedding=_numbers(vector),
        importance=memory.importance,
        timestamp=memory.timestamp,
        source=memory.source.value,
        keywords=memory.keywords,
        persona_id=memory.persona_id,
    )


def _may_be_alike(hit: Candidate, candidate: Statement, rules: Rules) -> bool:
    """Whether a content signal is possible: the index has vectors, but no keywords."""
    alike = similarity(candidate.embedding, _numbers(hit.vector))
    return bool(candidate.keywords) or (alike is not None and alike > rules.conflict.semantic_threshold)


def _comparable(event: Event, memory: Memory, other_event: Event, other: Memory) -> bool:
    """Two active memories of one speaker, persona, household and the same labels; keys are settled elsewhere."""
    keyed = memory.key is not None and other.key is not None
    same_scope = (memory.persona_id, memory.household_id) == (other.persona_id, other.household_id)
    same_place = same_scope and memory.labels == other.labels
    active = other.status is MemoryStatus.ACTIVE and other.id == other_event.id and other.id != memory.id
    return active and not keyed and same_place and event.speaker == other_event.speaker


@dataclass(eq=False)
class ArbitrateAndStore:
    """Stores a candidate that is no memory yet, and the loser too; the answer has the given ids.

    Without `existing` it decides against the stored memories. Idempotent for the same seed, which gives the ids.
    """

    _timeline: Timeline
    _read: ReadMemories
    _save: SaveMemories
    _find: FindContradicting
    _apply: ApplyArbitration
    _changed: Changed
    _rules: Callable[[str], Rules]
    _embedder: Embedder | None

    def arbitrate(
        self, scope: Scope, request: ArbitrationRequest, policy: ArbitrationPolicy, applying: Applying
    ) -> Arbitration:
        """Raises Conflict where a value was rejected, and what storing raises."""
        candidate, existing = request.candidate, request.existing
        own = self._stored(scope, candidate, applying, 0)
        vector = None if existing else self._vector(candidate)
        compared = candidate if existing else replace(candidate, embedding=_numbers(vector))
        against = existing or self._near(scope, own, vector, applying)
        found = weigh(compared, against, policy)
        if found.arbitrated is None:
            return replace(found, stored={candidate.id: own})
        other = found.arbitrated.existing
        stored = {candidate.id: own, other.id: self._stored(scope, other, applying, 1)}
        by = Deciding(scope, applying.now, applying.actor)
        changed = self._apply.apply(by, replace(candidate, id=own), _named(found, stored))
        self._changed(scope, changed, applying.now)
        return replace(found, stored=stored)

    def _stored(self, scope: Scope, statement: Statement, applying: Applying, place: int) -> str:
        """The id of the statement's memory, saved now where it is none."""
        owner = Scope(scope.tenant, statement.user_id, statement.persona_id)
        if statement.id in self._read.stored(owner, [statement.id]):
            return statement.id
        seed = IdSeed(applying.seed.tick + place, applying.seed.tail)
        draft = _draft(statement)
        saved = self._save.save(owner, draft, seed, applying.now, applying.actor, self._rules(scope.tenant))
        return saved.memory.id

    def _vector(self, candidate: Statement) -> FloatArray | None:
        """The candidate's vector: the given one where it is of this embedder's length."""
        if self._embedder is None:
            return None
        if candidate.embedding is not None and len(candidate.embedding) == self._embedder.dimension:
            return unpack_vector(pack_vector(candidate.embedding))
        return self._embedder.encode([candidate.content], TextKind.PASSAGE)[0].vector

    def _near(self, scope: Scope, own: str, vector: FloatArray | None, applying: Applying) -> list[Statement]:
        event = self._timeline.find(scope, own)
        if event is None:
            return []
        hits = {hit.ref.id: hit for hit in self._find.similar(scope, event, vector, applying.now)}
        stored = self._read.stored(scope, hits)
        active = {k.memory.id: k.memory for k in stored.values() if k.memory.status is MemoryStatus.ACTIVE}
        keyed = event.key is not None
        open_to = [memory for memory in active.values() if memory.id != own and not (keyed and memory.key)]
        return [statement_of(m, hits[m.id].vector if m.id in hits else None) for m in open_to]


class Arbitrate:
    """The use case behind `POST /v1/arbitrations`."""

    def __init__(self, policy: ChoosePolicy, decisions: Callable[[], ArbitrateAndStore]) -> None:
        self._policy = policy
        self._decisions = decisions

    def weighed(self, tenant: str, request: ArbitrationRequest, rules: Rules) -> Arbitration:
        """The decision about the given statements; stores nothing. Raises InvalidInput as `ChoosePolicy`."""
        return weigh(request.candidate, request.existing, self._policy.choose(tenant, request, rules))

    def applied(self, scope: Scope, request: ArbitrationRequest, rules: Rules, applying: Applying) -> Arbitration:
        """Decides and stores. Raises InvalidInput as `ChoosePolicy`, and what storing raises."""
        policy = self._policy.choose(scope.tenant, request, rules)
        return self._decisions().arbitrate(scope, request, policy, applying)


def _numbers(vector: FloatArray | None) -> Vector | None:
    return None if vector is None else vector.astype("float64")


def _draft(statement: Statement) -> MemoryDraft:
    return MemoryDraft(
        content=statement.content,
        importance=statement.importance,
        source=Source(statement.source) if statement.source else None,
        keywords=statement.keywords,
        timestamp=statement.timestamp,
        embedding=None if statement.embedding is None else pack_vector(statement.embedding),
    )


def _named(found: Arbitration, stored: dict[str, str]) -> Arbitration:
    """The same with the memories' ids."""
    conflict, verdict = found.arbitrated, found.verdict
    sides = {name: getattr(verdict, name) for name in ("winner", "loser", "merged")}
    named = {name: replace(one, id=stored.get(one.id, one.id)) for name, one in sides.items() if one is not None}
    if conflict is not None:
        conflict = replace(conflict, existing=replace(conflict.existing, id=stored[conflict.existing.id]))
    return replace(found, arbitrated=conflict, verdict=replace(verdict, **named))
