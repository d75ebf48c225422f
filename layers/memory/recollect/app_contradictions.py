"""The use cases of contradictions: what settles them, what is open, what was decided. A part of `App`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from recollect.app import Parts
    from recollect.arbitration.arbitrate import ApplyArbitration, ChoosePolicy
    from recollect.arbitration.propose import ApplyGiven, ProposeConflicts
    from recollect.contradictions.candidates import FindContradicting, StandingRecords
    from recollect.contradictions.ledger import Decided, ListConflicts, ListDecisions
    from recollect.contradictions.merged import MergeParts
    from recollect.contradictions.resolve import ResolveConflict, RevertDecision
    from recollect.contradictions.settle import ApplyVerdicts, FollowContradictions, SettleContradictions, Steps
    from recollect.core.event import Event, EventRef
    from recollect.core.ids import IdSource
    from recollect.core.scope import Scope
    from recollect.memories.promote import PromoteMemories
    from recollect.memories.reading import KeptMemory
    from recollect.memories.save import KeepMemories
    from recollect.ports import SearchIndex
    from recollect.rules.groups import Rules
    from recollect.timeline.quarantine import FailedEvents
    from recollect.timeline.reproject import TellChanged


class ContradictionUseCases:
    """Mixed into `App`; each use case is imported and made when first used."""

    parts: Parts
    ids: IdSource

    if TYPE_CHECKING:

        @cached_property
        def index(self) -> SearchIndex: ...
        @cached_property
        def promote_memories(self) -> PromoteMemories: ...
        @cached_property
        def failed_events(self) -> FailedEvents: ...
        @cached_property
        def memories(self) -> KeepMemories: ...
        def rules(self, tenant: str) -> Rules: ...
        @cached_property
        def choose_policy(self) -> ChoosePolicy: ...
        def _announce(self, scope: Scope, refs: Sequence[EventRef]) -> None: ...
        def _corrected(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> None: ...

    @cached_property
    def follow_contradictions(self) -> FollowContradictions:
        """The part of `project` that contradictions need."""
        from recollect.contradictions.settle import FollowContradictions, Steps

        steps = Steps(self.settle_contradictions, self.propose_conflicts)
        return FollowContradictions(steps, self._mark_again, self._steps_sparing_failed)

    def _steps_sparing_failed(self, scope: Scope) -> Steps | None:
        from recollect.contradictions.settle import Steps

        failed = self.failed_events.of_user(scope)
        if not failed:
            return None
        find = self.find_contradicting.sparing(failed)
        return Steps(self._settling(find), self._proposing(find))

    def _mark_again(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        if refs:
            self.parts.projections.mark(scope, refs)
            self._announce(scope, refs)

    @cached_property
    def settle_contradictions(self) -> SettleContradictions:
        """Keys aside, what `project` does about contradictions first: cue rules."""
        return self._settling(self.find_contradicting)

    def _settling(self, find: FindContradicting) -> SettleContradictions:
        from recollect.contradictions.settle import SettleContradictions
        from recollect.memories.reading import ReadMemories

        return SettleContradictions(find, ReadMemories(self.parts.items), self.apply_verdicts)

    @cached_property
    def propose_conflicts(self) -> ProposeConflicts:
        """What it does then: the arbiter's word on what is left."""
        return self._proposing(self.find_contradicting)

    def _proposing(self, find: FindContradicting) -> ProposeConflicts:
        from recollect.arbitration.propose import ProposeConflicts

        parts = self.parts
        return ProposeConflicts(parts.timeline, parts.items, find, self.apply_arbitration, self.choose_policy.of)

    @cached_property
    def find_contradicting(self) -> FindContradicting:
        """Which records may contradict those of a projection."""
        from recollect.contradictions.candidates import FindContradicting

        return FindContradicting(self.parts.timeline, self.parts.items, self.index)

    @cached_property
    def decided(self) -> Decided:
        """The writes of decisions."""
        from recollect.contradictions.ledger import Decided

        return Decided(self.parts.items, self.ids)

    @cached_property
    def merge_parts(self) -> MergeParts:
        """One memory that holds what two said."""
        from recollect.contradictions.merged import MergeParts

        return MergeParts(self.parts.items, self.decided)

    @cached_property
    def apply_verdicts(self) -> ApplyVerdicts:
        """Writes what cue rules decided."""
        from recollect.contradictions.settle import ApplyVerdicts

        return ApplyVerdicts(self.parts.items, self._promoted, self.decided, self.merge_parts)

    @cached_property
    def apply_arbitration(self) -> ApplyArbitration:
        """Writes what the arbiter decided."""
        from recollect.arbitration.arbitrate import ApplyArbitration
        from recollect.memories.reading import ReadMemories

        return ApplyArbitration(ReadMemories(self.parts.items), self.decided, self.merge_parts)

    @cached_property
    def list_decisions(self) -> ListDecisions:
        """`GET /v1/users/{user_id}/arbitrations`."""
        from recollect.contradictions.ledger import ListDecisions

        return ListDecisions(self.parts.items)

    @cached_property
    def list_conflicts(self) -> ListConflicts:
        """`GET /v1/users/{user_id}/conflicts`."""
        from recollect.contradictions.ledger import ListConflicts

        return ListConflicts(self.parts.items, self._standing_records)

    @cached_property
    def resolve_conflict(self) -> ResolveConflict:
        """`POST /v1/users/{user_id}/conflicts/{conflict_id}/resolve`."""
        from recollect.contradictions.resolve import ResolveConflict

        standing = self._standing_records
        return ResolveConflict(self.parts.items, standing, self._promoted, self.decided, self._tell_changed)

    @cached_property
    def revert_decision(self) -> RevertDecision:
        """`POST /v1/users/{user_id}/arbitrations/{arbitration_id}/revert`."""
        from recollect.contradictions.merged import PartMemories
        from recollect.contradictions.resolve import BringBackValue, RevertDecision
        from recollect.memories.audit_log import NoteRefusedWrite

        timeline, items = self.parts.timeline, self.parts.items
        bring_back = BringBackValue(timeline, items, self.memories, self.ids, self.rules)
        part = PartMemories(timeline, items)
        refused = NoteRefusedWrite(items, self.ids)
        return RevertDecision(timeline, items, self.decided, part, bring_back, self._tell_changed, refused)

    @cached_property
    def _standing_records(self) -> StandingRecords:
        from recollect.contradictions.candidates import StandingRecords

        return StandingRecords(self.parts.timeline, self.parts.items)

    @cached_property
    def _tell_changed(self) -> TellChanged:
        from recollect.timeline.reproject import TellChanged

        return TellChanged(self.parts.projections, self._announce, self._corrected)

    def _promoted(self, scope: Scope, event: Event, now: datetime) -> KeptMemory | None:
        """The memory that a record is in, made now where there is none."""
        from recollect.memories.reading import ReadMemories

        kept = ReadMemories(self.parts.items).kept(scope, [event.id]).get(event.id)
        if kept is None and not event.is_carrier and not event.is_private:
            kept = self.promote_memories.promote(scope, [event], now, "cue").memories.get(event.id)
        return kept

    @cached_property
    def store_arbitration(self) -> ApplyGiven:
        """What `POST /v1/arbitrations` does with `apply`."""
        from recollect.arbitration.propose import ApplyGiven
        from recollect.memories.reading import ReadMemories

        parts = self.parts
        read = ReadMemories(parts.items)
        asks = (self.find_contradicting, self.apply_arbitration, self._tell_kept)
        return ApplyGiven(parts.timeline, read, self.memories, *asks, self.rules, parts.embedder)

    def _tell_kept(self, scope: Scope, changed: Sequence[KeptMemory], now: datetime) -> None:
        memories = [kept.memory for kept in changed]
        self._tell_changed(scope, memories, [one for one in memories if one.superseded_by is not None], now)
