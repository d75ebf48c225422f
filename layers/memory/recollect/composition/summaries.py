"""Summaries and goals."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from recollect.composition.deployment import UseCases
from recollect.core.errors import RecollectError
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.rules.use_cases import TenantRuleStore
from recollect.summaries.choosing import Remember
from recollect.summaries.goal_store import GoalStore
from recollect.summaries.reading import ReadSummaries, RedactSummaries
from recollect.summaries.run import NoteMessages, RedactLostWords, RunSummaries, SummarizeJob
from recollect.summaries.summarize import Summarize


@dataclass(eq=False)
class SummaryUseCases(UseCases):
    """`app.summaries`; `_remember` is opened where a language model chooses what to remember."""

    _rules: TenantRuleStore
    _remember: Callable[[], Remember]

    @cached_property
    def conversations(self) -> Summarize:
        """`POST /v1/users/{user_id}/summaries`."""
        chooses = self._deployment.settings.extraction == "model"
        remember = self._remember() if chooses else None
        return Summarize(self._parts.timeline, self._parts.items, self._deployment.model, remember)

    @cached_property
    def rounds(self) -> RunSummaries:
        """The scheduled run over all users."""
        return RunSummaries(self._parts.items, self.conversations, self._rules.resolved, self._deployment.ids)

    @cached_property
    def job(self) -> SummarizeJob:
        """The job `summarize`."""
        return SummarizeJob(self.rounds)

    @cached_property
    def stored(self) -> ReadSummaries:
        """`GET /v1/users/{user_id}/summaries`."""
        return ReadSummaries(self._parts.items)

    @cached_property
    def goals(self) -> GoalStore:
        """`/v1/users/{user_id}/goals`."""
        return GoalStore(self._parts.items, self._deployment.ids)

    @cached_property
    def redaction(self) -> RedactSummaries:
        return RedactSummaries(self._parts.items, self._deployment.ids)

    @cached_property
    def messages(self) -> NoteMessages:
        return NoteMessages(self._parts.items)

    @cached_property
    def lost_words(self) -> RedactLostWords:
        return RedactLostWords(self.redaction)

    def redact_at_once(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> None:
        """Redacts before the projection does; where that fails, `project` does so by the pending marker."""
        with suppress(RecollectError):
            self.redaction.redact(scope, refs, now)

    def end_at_once(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> None:
        """The same for what holds no more."""
        with suppress(RecollectError):
            self.redaction.end(scope, refs, now)
