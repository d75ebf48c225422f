"""Contradictions: found, settled, listed, resolved, reverted."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from recollect.composition.deployment import UseCases
from recollect.composition.memories import MemoryUseCases
from recollect.composition.search_index import SearchIndexUseCases
from recollect.context.rendering import fence_for
from recollect.contradictions.ask_model import AskAboutConflicts
from recollect.contradictions.candidates import CurrentRecords, FindContradicting
from recollect.contradictions.corrections import ListCorrections
from recollect.contradictions.decide_again import DecideAgain
from recollect.contradictions.doubts import FindDoubts
from recollect.contradictions.judge import RelationJudge, Said
from recollect.contradictions.ledger import DecisionWriter, ListConflicts, ListDecisions
from recollect.contradictions.merged import MergeParts, PartMemories
from recollect.contradictions.resolve import ResolveConflict, RestoreValue, RevertDecision
from recollect.contradictions.settle import ApplyVerdicts, SettleContradictions
from recollect.contradictions.told import TellDecisions
from recollect.core.event import OPEN_ENDED, Event
from recollect.memories.audit_log import AuditRefusedWrite
from recollect.memories.reading import ReadMemories
from recollect.rules.use_cases import TenantRuleStore


@dataclass(eq=False)
class ContradictionUseCases(UseCases):
    """`app.contradictions`."""

    _rules: TenantRuleStore
    _search_index: SearchIndexUseCases
    _memories: MemoryUseCases
    _judge: RelationJudge

    @cached_property
    def candidates(self) -> FindContradicting:
        return FindContradicting(self._parts.timeline, self._search_index.in_use, self._parts.concurrency)

    def end_of_value(self, event: Event) -> datetime:
        """Until when a keyed value holds by its own words, exclusive; OPEN_ENDED where it holds for good."""
        said = Said(id=event.id, text=event.content, at=event.timestamp)
        return self._judge.holds_until(said) or OPEN_ENDED

    @cached_property
    def settlement(self) -> SettleContradictions:
        """The projection's first step about contradictions."""
        return self.settle_among(self.candidates)

    def settle_among(self, find: FindContradicting) -> SettleContradictions:
        """The same over other candidates."""
        asks = self._parts.embedder.learned.asks if self._parts.embedder is not None else None
        return SettleContradictions(find, ReadMemories(self._parts.items), self.verdicts, self._judge, asks)

    @cached_property
    def doubts(self) -> FindDoubts:
        """What a context marks."""
        return FindDoubts(self._parts.items, self._current_records)

    @cached_property
    def ledger(self) -> DecisionWriter:
        return DecisionWriter(self._parts.items, self._deployment.ids)

    @cached_property
    def merged_parts(self) -> MergeParts:
        return MergeParts(self._parts.items, self.ledger)

    @cached_property
    def verdicts(self) -> ApplyVerdicts:
        asks = self._deployment.settings.judge == "model"
        return ApplyVerdicts(
            self._parts.items, self._memories.promoted, self.ledger, self.merged_parts, ask_a_model=asks
        )

    @cached_property
    def opinions(self) -> AskAboutConflicts | None:
        """The scheduled run over what the judge left open; None where no language model is asked."""
        if self._deployment.settings.judge != "model":
            return None
        return AskAboutConflicts(
            self._parts.items,
            self._current_records,
            self.resolution,
            self._deployment.model,
            self._rules.resolved,
            lambda: fence_for(secrets.token_hex(16)),
        )

    @cached_property
    def decisions(self) -> ListDecisions:
        """`GET /v1/users/{user_id}/arbitrations`."""
        return ListDecisions(self._parts.items)

    @cached_property
    def telling(self) -> TellDecisions:
        """What decisions and conflicts are about, in words: for people."""
        return TellDecisions(self._parts.timeline, self._parts.items)

    @cached_property
    def corrections(self) -> ListCorrections:
        """What people said of the judge's decisions, for its next training."""
        return ListCorrections(self._parts.timeline, self._parts.items)

    @cached_property
    def conflicts(self) -> ListConflicts:
        """`GET /v1/users/{user_id}/conflicts`."""
        return ListConflicts(self._parts.items, self._current_records)

    @cached_property
    def resolution(self) -> ResolveConflict:
        """`POST /v1/users/{user_id}/conflicts/{conflict_id}/resolve`."""
        memories = self._memories
        records = self._current_records, memories.promoted
        return ResolveConflict(self._parts.items, *records, self.ledger, memories.changes, memories.store)

    @cached_property
    def reversal(self) -> RevertDecision:
        """`POST /v1/users/{user_id}/arbitrations/{arbitration_id}/revert`."""
        timeline, items, ids = self._parts.timeline, self._parts.items, self._deployment.ids
        restore = RestoreValue(timeline, items, self._memories.store, ids, self._rules.resolved)
        part, refused = PartMemories(timeline, items), AuditRefusedWrite(items, ids)
        return RevertDecision(timeline, items, self.ledger, part, restore, self._memories.changes, refused)

    @cached_property
    def again(self) -> DecideAgain:
        """`POST /v1/users/{user_id}/arbitrations/{arbitration_id}/reapply`."""
        parts = self._parts
        return DecideAgain(parts.timeline, parts.items, self._current_records, self.ledger, self._memories.changes)

    @cached_property
    def _current_records(self) -> CurrentRecords:
        return CurrentRecords(self._parts.timeline, self._parts.items)
