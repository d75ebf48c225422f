"""Tries again what could not be projected: when its time has come, or when an operator asks for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.application.failed_events import FailedEvents, Noted, Standing
from recollect.application.project_events import ProjectEvents, ProjectionReport

MOST_AT_ONCE = 100
"""Each may be an attempt of its own: so many fit in a run that has other things to do."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many events a page of a replay tried, what became of them, and where the next page goes on."""

    tried: int
    report: ProjectionReport
    more: str | None


class RetryFailed:
    """After all others: what failed before goes last. Raises as `Items.due` does."""

    def __init__(self, failed: FailedEvents, project: ProjectEvents) -> None:
        self._failed = failed
        self._project = project

    def __call__(self, now: datetime, tenant: str | None = None) -> ProjectionReport:
        """Those that are due, of every tenant or of one, at most 100; nothing where there are none."""
        return self._tried(self._failed.due(now, MOST_AT_ONCE, tenant), now)

    def replay(self, tenant: str, replay: str, after: str | None, now: datetime) -> Replayed:
        """A page of all that failed of a tenant, as if for the first time: due or not, quarantined or not.

        Each once in the replay of this name. What the process leaves undone is due then.
        """
        page = self._failed.page(tenant, after)
        reset = self._failed.replay(page.notes, replay, now)
        return Replayed(len(reset), self._tried(reset, now), page.more)

    def standing(self, tenant: str | None = None) -> Standing:
        """How many there are."""
        return self._failed.standing(tenant)

    def _tried(self, notes: Sequence[Noted], now: datetime) -> ProjectionReport:
        if not notes:
            return ProjectionReport()
        report = self._project([note.marker for note in notes], now)
        self._failed.clear([note for note in notes if (note.scope.user, note.failed.ref.id) in report.done], now)
        return report
