"""The arbiter and its merge rules."""

from functools import cached_property

from recollect.arbitration.arbitrate import ApplyArbitration, Arbitrate, ChoosePolicy
from recollect.arbitration.propose import ArbitrateAndStore, ProposeConflicts
from recollect.arbitration.registry import MergeRuleStore
from recollect.composition.contradictions import ContradictionUseCases
from recollect.composition.deployment import Deployment
from recollect.composition.memories import MemoryUseCases
from recollect.contradictions.candidates import FindContradicting
from recollect.memories.reading import ReadMemories
from recollect.rules.use_cases import KeepRules
from recollect.timeline.bus import BusOutbox


class ArbitrationUseCases:
    """`app.arbitration`."""

    def __init__(
        self,
        deployment: Deployment,
        rules: KeepRules,
        memories: MemoryUseCases,
        contradictions: ContradictionUseCases,
        outbox: BusOutbox,
    ) -> None:
        self._parts = deployment.parts
        self._rules = rules
        self._memories = memories
        self._contradictions = contradictions
        self._outbox = outbox

    @cached_property
    def merge_rules(self) -> MergeRuleStore:
        """`/v1/merge-rules`."""
        return MergeRuleStore(self._parts.items, self._outbox)

    @cached_property
    def choose_policy(self) -> ChoosePolicy:
        """Which merge rule holds, with the tenant's thresholds: for every part that asks the arbiter."""
        return ChoosePolicy(self.merge_rules)

    @cached_property
    def arbitrate(self) -> Arbitrate:
        """`POST /v1/arbitrations`."""
        return Arbitrate(self.choose_policy, lambda *asked: self.apply_given(*asked))

    @cached_property
    def apply(self) -> ApplyArbitration:
        """Writes what the arbiter decided."""
        found = self._contradictions
        return ApplyArbitration(ReadMemories(self._parts.items), found.ledger, found.merge)

    @cached_property
    def apply_given(self) -> ArbitrateAndStore:
        """What `POST /v1/arbitrations` does with `apply`."""
        parts, memories = self._parts, self._memories
        asks = (self._contradictions.find, self.apply, memories.reproject_kept)
        read = ReadMemories(parts.items)
        return ArbitrateAndStore(parts.timeline, read, memories.keep, *asks, self._rules.resolved, parts.embedder)

    @cached_property
    def propose(self) -> ProposeConflicts:
        """What `project` does about contradictions that the judge left."""
        return self.propose_among(self._contradictions.find)

    def propose_among(self, find: FindContradicting) -> ProposeConflicts:
        """The same among other candidates."""
        parts = self._parts
        return ProposeConflicts(parts.timeline, parts.items, find, self.apply, self.choose_policy.of)
