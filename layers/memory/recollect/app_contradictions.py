"""The use cases of contradictions: what settles them, what is open, what was decided. A part of `App`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from recollect.app import Parts
    from recollect.application.apply_arbitration import ApplyArbitration
    from recollect.application.apply_given import ApplyGiven
    from recollect.application.apply_verdicts import ApplyVerdicts
    from recollect.application.choose_policy import ChoosePolicy
    from recollect.application.decided import Decided
    from recollect.application.failed_events import FailedEvents
    from recollect.application.find_contradicting import FindContradicting
    from recollect.application.follow_contradictions import FollowContradictions, Steps
    from recollect.application.keep_memories import KeepMemories
    from recollect.application.list_conflicts import ListConflicts
    from recollect.application.list_decisions import ListDecisions
    from recollect.application.merge_parts import MergeParts
    from recollect.application.promote_memories import PromoteMemories
    from recollect.application.propose_conflicts import ProposeConflicts
    from recollect.application.read_memories import KeptMemory
    from recollect.application.resolve_conflict import ResolveConflict
    from recollect.application.revert_decision import RevertDecision
    from recollect.application.settle_contradictions import SettleContradictions
    from recollect.application.standing_records import StandingRecords
    from recollect.application.tell_changed import TellChanged
    from recollect.domain.event import Event, EventRef
    from recollect.domain.ids import IdSource
    from recollect.domain.rules import Rules
    from recollect.domain.scope import Scope
    from recollect.ports import SearchIndex


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
        from recollect.application.follow_contradictions import FollowContradictions, Steps

        steps = Steps(self.settle_contradictions, self.propose_conflicts)
        return FollowContradictions(steps, self._mark_again, self._steps_sparing_failed)

    def _steps_sparing_failed(self, scope: Scope) -> Steps | None:
        from recollect.application.follow_contradictions import Steps

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
        from recollect.application.read_memories import ReadMemories
        from recollect.application.settle_contradictions import SettleContradictions

        return SettleContradictions(find, ReadMemories(self.parts.items), self.apply_verdicts)

    @cached_property
    def propose_conflicts(self) -> ProposeConflicts:
        """What it does then: the arbiter's word on what is left."""
        return self._proposing(self.find_contradicting)

    def _proposing(self, find: FindContradicting) -> ProposeConflicts:
        from recollect.application.propose_conflicts import ProposeConflicts

        parts = self.parts
        return ProposeConflicts(parts.timeline, parts.items, find, self.apply_arbitration, self.choose_policy.of)

    @cached_property
    def find_contradicting(self) -> FindContradicting:
        """Which records may contradict those of a projection."""
        from recollect.application.find_contradicting import FindContradicting

        return FindContradicting(self.parts.timeline, self.parts.items, self.index)

    @cached_property
    def decided(self) -> Decided:
        """The writes of decisions."""
        from recollect.application.decided import Decided

        return Decided(self.parts.items, self.ids)

    @cached_property
    def merge_parts(self) -> MergeParts:
        """One memory that holds what two said."""
        from recollect.application.merge_parts import MergeParts

        return MergeParts(self.parts.items, self.decided)

    @cached_property
    def apply_verdicts(self) -> ApplyVerdicts:
        """Writes what cue rules decided."""
        from recollect.application.apply_verdicts import ApplyVerdicts

        return ApplyVerdicts(self.parts.items, self._promoted, self.decided, self.merge_parts)

    @cached_property
    def apply_arbitration(self) -> ApplyArbitration:
        """Writes what the arbiter decided."""
        from recollect.application.apply_arbitration import ApplyArbitration
        from recollect.application.read_memories import ReadMemories

        return ApplyArbitration(ReadMemories(self.parts.items), self.decided, self.merge_parts)

    @cached_property
    def list_decisions(self) -> ListDecisions:
        """`GET /v1/users/{user_id}/arbitrations`."""
        from recollect.application.list_decisions import ListDecisions

        return ListDecisions(self.parts.items)

    @cached_property
    def list_conflicts(self) -> ListConflicts:
        """`GET /v1/users/{user_id}/conflicts`."""
        from recollect.application.list_conflicts import ListConflicts

        return ListConflicts(self.parts.items, self._standing_records)

    @cached_property
    def resolve_conflict(self) -> ResolveConflict:
        """`POST /v1/users/{user_id}/conflicts/{conflict_id}/resolve`."""
        from recollect.application.resolve_conflict import ResolveConflict

        standing = self._standing_records
        return ResolveConflict(self.parts.items, standing, self._promoted, self.decided, self._tell_changed)

    @cached_property
    def revert_decision(self) -> RevertDecision:
        """`POST /v1/users/{user_id}/arbitrations/{arbitration_id}/revert`."""
        from recollect.application.bring_back_value import BringBackValue
        from recollect.application.note_refusals import NoteRefusedWrite
        from recollect.application.part_memories import PartMemories
        from recollect.application.revert_decision import RevertDecision

        timeline, items = self.parts.timeline, self.parts.items
        bring_back = BringBackValue(timeline, items, self.memories, self.ids, self.rules)
        part = PartMemories(timeline, items)
        refused = NoteRefusedWrite(items, self.ids)
        return RevertDecision(timeline, items, self.decided, part, bring_back, self._tell_changed, refused)

    @cached_property
    def _standing_records(self) -> StandingRecords:
        from recollect.application.standing_records import StandingRecords

        return StandingRecords(self.parts.timeline, self.parts.items)

    @cached_property
    def _tell_changed(self) -> TellChanged:
        from recollect.application.tell_changed import TellChanged

        return TellChanged(self.parts.projections, self._announce, self._corrected)

    def _promoted(self, scope: Scope, event: Event, now: datetime) -> KeptMemory | None:
        """The memory that a record is in, made now where there is none."""
        from recollect.application.read_memories import ReadMemories

        kept = ReadMemories(self.parts.items).kept(scope, [event.id]).get(event.id)
        if kept is None and not event.is_carrier and not event.is_private:
            kept = self.promote_memories.promote(scope, [event], now, "cue").memories.get(event.id)
        return kept

    @cached_property
    def store_arbitration(self) -> ApplyGiven:
        """What `POST /v1/arbitrations` does with `apply`."""
        from recollect.application.apply_given import ApplyGiven
        from recollect.application.read_memories import ReadMemories

        parts = self.parts
        read = ReadMemories(parts.items)
        asks = (self.find_contradicting, self.apply_arbitration, self._tell_kept)
        return ApplyGiven(parts.timeline, read, self.memories, *asks, self.rules, parts.embedder)

    def _tell_kept(self, scope: Scope, changed: Sequence[KeptMemory], now: datetime) -> None:
        memories = [kept.memory for kept in changed]
        self._tell_changed(scope, memories, [one for one in memories if one.superseded_by is not None], now)
