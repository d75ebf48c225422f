"""What stands behind a conversation beside its events: a summary, the goals, a store's knowledge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from recollect.domain.errors import StoredDataError, Unavailable
from recollect.domain.goals import Goal, GoalStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.domain.event import Event
    from recollect.domain.filters import SearchFilters
    from recollect.domain.knowledge import KnowledgeSection
    from recollect.domain.scope import Scope
    from recollect.domain.summary import Summary
    from recollect.ports import Concurrency, Pending

T = TypeVar("T")

MOST_GOALS = 20
_EARLIER_SUMMARIES = 20


class SummaryPage(Protocol):
    """Summaries, the newest first."""

    @property
    def summaries(self) -> Sequence[Summary]: ...


class SummaryReader(Protocol):
    """Summaries of a user and persona."""

    def latest(self, scope: Scope) -> Summary | None:
        """The newest one."""

    def page(self, scope: Scope, limit: int, after: str | None) -> SummaryPage:
        """The newest first."""


class GoalReader(Protocol):
    """Goals of a user and persona."""

    def listed(self, scope: Scope) -> Sequence[Goal]:
        """All of them."""


class KnowledgeReader(Protocol):
    """A tenant's knowledge."""

    def section(self, tenant: str, store: str | None) -> KnowledgeSection:
        """What a prompt is told of it, and the entries behind that (S-31)."""


@dataclass(frozen=True, slots=True)
class Background:
    """What was read; `missing` names the parts that could not be. `goals` are the active ones."""

    summary: Summary | None = None
    goals: tuple[Goal, ...] = ()
    knowledge: KnowledgeSection | None = None
    missing: tuple[str, ...] = ()

    def covers(self, scope: Scope, event: Event) -> bool:
        """Whether the summary speaks for the event, so that it is in no raw window (P-5, H-15).

        A summary is of one persona, over all of its conversations (P-21).
        """
        return self.summary is not None and event.persona_id == scope.persona_id and self.summary.covers(event.ref)


@dataclass(frozen=True, slots=True)
class OpenBackground:
    """Reads that are under way."""

    filters: SearchFilters
    summary: Pending[Summary | None]
    goals: Pending[Sequence[Goal]]
    knowledge: Pending[KnowledgeSection | None]

    def result(self) -> Background:
        """What they give; a part that does not answer, or cannot be read, is named and left out."""
        missing: list[str] = []
        summary = _or_missing(self.summary, "summary", missing)
        goals = _or_missing(self.goals, "goals", missing) or ()
        knowledge = _or_missing(self.knowledge, "knowledge", missing)
        if _in_the_past(self.filters):
            goals = _as_summarised(goals, summary)
        active = [goal for goal in goals if goal.status is GoalStatus.ACTIVE]
        return Background(summary, tuple(active[:MOST_GOALS]), knowledge, tuple(missing))


class ReadBackground:
    """Begins the three reads of the first wave."""

    def __init__(
        self, summaries: SummaryReader, goals: GoalReader, knowledge: KnowledgeReader, concurrency: Concurrency
    ) -> None:
        self._summaries = summaries
        self._goals = goals
        self._knowledge = knowledge
        self._concurrency = concurrency

    def begin(self, scope: Scope, store: str | None, filters: SearchFilters) -> OpenBackground:
        """Of the scope's persona, where it names none of the default one (P-23); knowledge only for a store."""
        return OpenBackground(
            filters,
            self._begin(lambda: self._summary(scope, filters)),
            self._begin(lambda: self._goals.listed(scope)),
            self._begin(lambda: self._knowledge.section(scope.tenant, store) if store is not None else None),
        )

    def _begin(self, read: Callable[[], T]) -> Pending[T]:
        return self._concurrency.submit(read)

    def _summary(self, scope: Scope, filters: SearchFilters) -> Summary | None:
        """The newest (H-14); of a past instant the newest that could be known then, of the newest twenty."""
        if not _in_the_past(filters):
            return self._summaries.latest(scope)
        page = self._summaries.page(scope, _EARLIER_SUMMARIES, None)
        own = (one for one in page.summaries if one.persona_id == scope.persona_id)
        return next((one for one in own if _known_then(one, filters)), None)


def _in_the_past(filters: SearchFilters) -> bool:
    return filters.as_of is not None or filters.recorded_as_of is not None


def _known_then(summary: Summary, filters: SearchFilters) -> bool:
    said = filters.as_of is None or summary.covered_until <= filters.as_of
    return said and (filters.recorded_as_of is None or summary.created_at <= filters.recorded_as_of)


def _as_summarised(goals: Sequence[Goal], summary: Summary | None) -> list[Goal]:
    """The goals as they stood in a summary; one that it does not name was not known then."""
    then = {tracked.goal: tracked for tracked in summary.tracked_goals} if summary else {}
    return [
        replace(goal, status=known.status, check_in_frequency=known.check_in_frequency, history=known.history)
        for goal in goals
        if (known := then.get(goal.goal)) is not None
    ]


def _or_missing(pending: Pending[T], part: str, missing: list[str]) -> T | None:
    try:
        return pending.result()
    except (Unavailable, StoredDataError):
        missing.append(part)
        return None
