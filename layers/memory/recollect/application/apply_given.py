"""`POST /v1/arbitrations` with `apply`: what is decided of given statements is stored (A-77 to A-90, api.md)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.application.apply_arbitration import ApplyArbitration
from recollect.application.arbitrate import Applying
from recollect.application.find_contradicting import FindContradicting
from recollect.application.keep_memories import KeepMemories
from recollect.application.propose_conflicts import statement_of
from recollect.application.read_memories import KeptMemory, ReadMemories
from recollect.domain.arbitration_policy import Arbitration, ArbitrationPolicy, weigh
from recollect.domain.embedding import FloatArray, TextKind, pack_vector, unpack_vector
from recollect.domain.event import Source
from recollect.domain.ids import IdSeed
from recollect.domain.memory import MemoryStatus
from recollect.domain.memory_drafting import MemoryDraft
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.domain.statement import Statement, Vector
from recollect.ports import Embedder, Timeline

Changed = Callable[[Scope, Sequence[KeptMemory], datetime], None]
"""Lets the index, and what quotes them, follow the memories that changed."""


class ApplyGiven:
    """A statement that is no memory of the user's yet becomes one, the loser too; the answer names them as given.

    Again with the same seed makes nothing twice: the seed gives the ids.
    """

    def __init__(
        self,
        timeline: Timeline,
        read: ReadMemories,
        keep: KeepMemories,
        find: FindContradicting,
        apply: ApplyArbitration,
        changed: Changed,
        rules: Callable[[str], Rules],
        embedder: Embedder | None,
    ) -> None:
        self._timeline = timeline
        self._read = read
        self._keep = keep
        self._find = find
        self._apply = apply
        self._changed = changed
        self._rules = rules
        self._embedder = embedder

    def __call__(
        self,
        scope: Scope,
        candidate: Statement,
        existing: Sequence[Statement],
        policy: ArbitrationPolicy,
        applying: Applying,
    ) -> Arbitration:
        """Raises Conflict where a value was rejected, and what storing raises."""
        own = self._stored(scope, candidate, applying, 0)
        vector = None if existing else self._vector(candidate)
        compared = candidate if existing else replace(candidate, embedding=_numbers(vector))
        against = existing or self._near(scope, own, vector, applying)
        found = weigh(compared, against, policy)
        if found.arbitrated is None:
            return replace(found, stored={candidate.id: own})
        other = found.arbitrated.existing
        stored = {candidate.id: own, other.id: self._stored(scope, other, applying, 1)}
        changed = self._apply(scope, replace(candidate, id=own), _named(found, stored), applying.now, applying.actor)
        self._changed(scope, changed, applying.now)
        return replace(found, stored=stored)

    def _stored(self, scope: Scope, statement: Statement, applying: Applying, place: int) -> str:
        """The id of the memory that the statement is, made now where it is none."""
        owner = Scope(scope.tenant, statement.user_id, statement.persona_id)
        if statement.id in self._read.kept(owner, [statement.id]):
            return statement.id
        seed = IdSeed(applying.seed.tick + place, applying.seed.tail)
        draft = _draft(statement)
        saved = self._keep.save(owner, draft, seed, applying.now, applying.actor, self._rules(scope.tenant))
        return saved.memory.id

    def _vector(self, candidate: Statement) -> FloatArray | None:
        """The candidate's as the index has them: the given one where it is of this embedder's length."""
        if self._embedder is None:
            return None
        if candidate.embedding is not None and len(candidate.embedding) == self._embedder.dimension:
            return unpack_vector(pack_vector(candidate.embedding))
        return self._embedder.encode([candidate.content], TextKind.PASSAGE)[0].vector

    def _near(self, scope: Scope, own: str, vector: FloatArray | None, applying: Applying) -> list[Statement]:
        """The active memories that the index finds near it, with their vectors."""
        event = self._timeline.find(scope, own)
        if event is None:
            return []
        hits = {hit.ref.id: hit for hit in self._find.similar(scope, event, vector, applying.now)}
        kept = self._read.kept(scope, hits)
        active = {k.memory.id: k.memory for k in kept.values() if k.memory.status is MemoryStatus.ACTIVE}
        keyed = event.key is not None
        open_to = [memory for memory in active.values() if memory.id != own and not (keyed and memory.key)]
        return [statement_of(m, hits[m.id].vector if m.id in hits else None) for m in open_to]


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
    """The same with the ids of the memories."""
    conflict, verdict = found.arbitrated, found.verdict
    sides = {name: getattr(verdict, name) for name in ("winner", "loser", "merged")}
    named = {name: replace(one, id=stored.get(one.id, one.id)) for name, one in sides.items() if one is not None}
    if conflict is not None:
        conflict = replace(conflict, existing=replace(conflict.existing, id=stored[conflict.existing.id]))
    return replace(found, arbitrated=conflict, verdict=replace(verdict, **named))
