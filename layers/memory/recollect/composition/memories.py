"""Memories: saving, listing, promotion, audit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from recollect.composition.deletion import DeletionUseCases
from recollect.composition.deployment import UseCases
from recollect.composition.summaries import SummaryUseCases
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.memories.audit_log import ListAudit
from recollect.memories.chosen import KeepChosen
from recollect.memories.correct import CorrectEvent
from recollect.memories.deferred_promotion import PromoteDeferred, ReconcileBridge, SignalBridge
from recollect.memories.promote import BridgeGate, MemoryStep, PromoteMemories
from recollect.memories.reading import ListMemories, MemoryHistory, ReadMemories, StoredMemory
from recollect.memories.save import ReprojectChanged, SaveMemories
from recollect.memories.worth_keeping import WorthKeeping
from recollect.rules.use_cases import TenantRuleStore
from recollect.timeline.bus import BusOutbox
from recollect.usage import MESSAGE


@dataclass(eq=False)
class MemoryUseCases(UseCases):
    """`app.memories`."""

    _summaries: SummaryUseCases
    _deletion: DeletionUseCases
    _outbox: BusOutbox
    _rules: TenantRuleStore

    @cached_property
    def store(self) -> SaveMemories:
        """`/v1/memories` and its neighbours."""
        parts, deployment = self._parts, self._deployment
        listeners = (deployment.announce, self._summaries.redact_at_once)
        counted = deployment.usage.of(MESSAGE)
        return SaveMemories(
            parts.timeline, parts.projections, parts.items, deployment.ids, *listeners, deployment.generation, counted
        )

    @cached_property
    def listing(self) -> ListMemories:
        """`GET /v1/users/{user_id}/memories` and a memory's versions."""
        return ListMemories(self._parts.timeline, self._parts.items)

    @cached_property
    def versions(self) -> MemoryHistory:
        """`GET /v1/users/{user_id}/memories/{memory_id}/history`."""
        return MemoryHistory(self.listing, self.audit)

    @cached_property
    def audit(self) -> ListAudit:
        """`GET /v1/users/{user_id}/audit` and the ledger."""
        return ListAudit(self._parts.items)

    @cached_property
    def promotion(self) -> PromoteMemories:
        items, ids = self._parts.items, self._deployment.ids
        gate = BridgeGate(items, ids, WorthKeeping(self._parts.pair_model))
        return PromoteMemories(items, gate.decide, ids, self._deployment.generation)

    @cached_property
    def chosen(self) -> KeepChosen:
        """What a language model chose to remember. It asks no judge, whose model is not opened for it."""
        parts, ids = self._parts, self._deployment.ids
        gate = BridgeGate(parts.items, ids)
        promote = PromoteMemories(parts.items, gate.decide, ids, self._deployment.generation)
        return KeepChosen(parts.timeline, parts.items, gate, promote, self._rules.resolved)

    @cached_property
    def step(self) -> MemoryStep:
        return MemoryStep(self._parts.items, self.promotion, self._deletion.memories)

    @cached_property
    def deferred(self) -> PromoteDeferred:
        """Promotes events that waited for a healthy signal."""
        parts, promote = self._parts, self.promotion.promote
        return PromoteDeferred(parts.items, parts.timeline, parts.publisher, promote, self._deployment.ids)

    @cached_property
    def bridge(self) -> ReconcileBridge:
        """The bridge's part of a reconciliation."""
        return ReconcileBridge(self._outbox, self.deferred)

    @cached_property
    def signals(self) -> SignalBridge:
        """`POST /v1/signals`."""
        return SignalBridge(self._parts.items, self._outbox)

    @cached_property
    def changes(self) -> ReprojectChanged:
        """Marks memories for projection after a person's change."""
        return ReprojectChanged(self._parts.projections, self._deployment.announce, self._summaries.end_at_once)

    @cached_property
    def corrections(self) -> CorrectEvent:
        """`POST /v1/users/{user_id}/events/{event_id}/correct`."""
        return CorrectEvent(self._parts.timeline, self._parts.items, self._set_right, self.store)

    def _set_right(self, scope: Scope, event: Event, now: datetime) -> StoredMemory | None:
        if not event.is_searchable:
            return None
        return self.promotion.promote(scope, [event], now, "memories").memories.get(event.id)

    def promoted(self, scope: Scope, event: Event, now: datetime) -> StoredMemory | None:
        """The memory of a record, made now where there is none; None of a carrier, or of what no search finds."""
        stored = ReadMemories(self._parts.items).stored(scope, [event.id]).get(event.id)
        if stored is None and not event.is_carrier and event.is_searchable:
            stored = self.promotion.promote(scope, [event], now, "judge").memories.get(event.id)
        return stored

    def reproject_stored(self, scope: Scope, changed: Sequence[StoredMemory], now: datetime) -> None:
        """The same for stored memories; summaries lose the superseded ones."""
        memories = [stored.memory for stored in changed]
        self.changes.reproject(scope, memories, [one for one in memories if one.superseded_by is not None], now)
