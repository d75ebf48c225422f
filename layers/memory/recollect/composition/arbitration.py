"""The arbiter and its merge rules."""

from dataclasses import dataclass
from functools import cached_property

from recollect.arbitration.arbitrate import (
    ApplyArbitration,
    Arbitrate,
    ArbitrateAndStore,
    ChoosePolicy,
    ProposeConflicts,
)
from recollect.arbitration.merge_memories import MergeMemories
from recollect.arbitration.registry import MergeRuleStore
from recollect.composition.contradictions import ContradictionUseCases
from recollect.composition.deployment import UseCases
from recollect.composition.memories import MemoryUseCases
from recollect.contradictions.candidates import FindContradicting
from recollect.memories.reading import ReadMemories
from recollect.rules.use_cases import TenantRuleStore
from recollect.timeline.bus import BusOutbox


@dataclass(eq=False)
class ArbitrationUseCases(UseCases):
    """`app.arbitration`."""

    _rules: TenantRuleStore
    _memories: MemoryUseCases
    _contradictions: ContradictionUseCases
    _outbox: BusOutbox

    @cached_property
    def merge_rules(self) -> MergeRuleStore:
        """`/v1/merge-rules`."""
        return MergeRuleStore(self._parts.items, self._outbox)

    @cached_property
    def policies(self) -> ChoosePolicy:
        """The merge rule in force with the tenant's thresholds, for every part that arbitrates."""
        return ChoosePolicy(self.merge_rules)

    @cached_property
    def arbiter(self) -> Arbitrate:
        """`POST /v1/arbitrations`."""
        return Arbitrate(self.policies, lambda: self.given)

    @cached_property
    def verdicts(self) -> ApplyArbitration:
        found = self._contradictions
        return ApplyArbitration(ReadMemories(self._parts.items), found.ledger, found.merged_parts)

    @cached_property
    def given(self) -> ArbitrateAndStore:
        """`POST /v1/arbitrations` with `apply`."""
        parts, memories = self._parts, self._memories
        asks = (self._contradictions.candidates, self.verdicts, memories.reproject_stored)
        read = ReadMemories(parts.items)
        return ArbitrateAndStore(parts.timeline, read, memories.store, *asks, self._rules.resolved, parts.embedder)

    @cached_property
    def by_hand(self) -> MergeMemories:
        """`POST /v1/users/{user_id}/memories/{memory_id}/merge`."""
        parts, memories = self._parts, self._memories
        merged_parts = self._contradictions.merged_parts
        return MergeMemories(parts.items, memories.store, merged_parts, memories.reproject_stored)

    @cached_property
    def proposals(self) -> ProposeConflicts:
        """The projection's arbitration of contradictions that the judge left open."""
        return self.propose_among(self._contradictions.candidates)

    def propose_among(self, find: FindContradicting) -> ProposeConflicts:
        """The same over other candidates."""
        parts = self._parts
        return ProposeConflicts(parts.timeline, parts.items, find, self.verdicts, self.policies.of)
