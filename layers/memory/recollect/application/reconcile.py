"""Reconcile: projects what the stream never brought, found by the pending markers in the table."""

from collections.abc import Callable
from datetime import datetime, timedelta

from recollect.application.project_events import ProjectEvents, ProjectionReport
from recollect.domain.ids import id_milliseconds
from recollect.ports import Projections

PAGE = 300


class Reconcile:
    """Works through the markers, oldest first, in pages; at most `max_pages` in one call.

    `before` makes good what processes that ended have left: markers that were not set, deletions that were not told.
    """

    def __init__(self, projections: Projections, project: ProjectEvents, *before: Callable[[datetime], None]) -> None:
        self._projections = projections
        self._project = project
        self._before = before

    def __call__(self, now: datetime, max_pages: int = 10_000) -> ProjectionReport:
        """Done when every marker that was there has been tried once; failures stay for the next run."""
        total = ProjectionReport()
        after: str | None = None
        for _ in range(max_pages):
            report, after = self.page(now, after)
            total.projected += report.projected
            total.gone += report.gone
            total.failed |= report.failed
            if after is None:
                break
        return total

    def page(self, now: datetime, after: str | None) -> tuple[ProjectionReport, str | None]:
        """One page, for callers that stop between pages or show how far they are; and where the next goes on."""
        if after is None:
            for make_good in self._before:
                make_good(now)
        page = self._projections.pending(PAGE, after)
        return self._project(page.markers, now), page.more

    def oldest_age(self, real_now: datetime) -> timedelta:
        """How long the oldest marker has been waiting; zero without any."""
        page = self._projections.pending(1, None)
        if not page.markers:
            return timedelta(0)
        recorded = id_milliseconds(page.markers[0].ref.id)
        return max(timedelta(0), timedelta(milliseconds=real_now.timestamp() * 1000 - recorded))
