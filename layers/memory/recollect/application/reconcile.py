"""Reconcile: projects what the stream never brought, found by the pending markers in the table."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from recollect.application.failed_events import Standing
from recollect.application.project_events import ProjectEvents, ProjectionReport
from recollect.application.projection_attempt import raised_at
from recollect.application.retry_failed import RetryFailed
from recollect.domain.errors import RecollectError
from recollect.domain.ids import id_milliseconds
from recollect.ports import Projections

PAGE = 300
_LOG = logging.getLogger(__name__)


class Reconcile:
    """Works through the markers, oldest first, in pages; at most `max_pages` in one call.

    `before` makes good what processes that ended have left: markers that were not set, deletions that were not told.
    After the last page `retry` tries again what failed before and is due.
    """

    def __init__(
        self,
        projections: Projections,
        project: ProjectEvents,
        retry: RetryFailed,
        *before: Callable[[datetime], None],
    ) -> None:
        self._projections = projections
        self._project = project
        self._retry = retry
        self._before = before

    def __call__(self, now: datetime, max_pages: int = 10_000) -> ProjectionReport:
        """Done when every marker that was there has been tried once; failures stay for the next run."""
        total = ProjectionReport()
        after: str | None = None
        for _ in range(max_pages):
            report, after = self.page(now, after)
            total.add(report)
            if after is None:
                break
        return total

    def page(self, now: datetime, after: str | None) -> tuple[ProjectionReport, str | None]:
        """One page, for callers that stop between pages or show how far they are; and where the next goes on."""
        if after is None:
            for make_good in self._before:
                self._made_good(make_good, now)
        page = self._projections.pending(PAGE, after)
        report = self._project(page.markers, now)
        if page.more is None:
            report.add(self._retry(now))
        return report, page.more

    @staticmethod
    def _made_good(make_good: Callable[[datetime], None], now: datetime) -> None:
        """A defect in it must not stop the projection; a part that is away is the caller's to know."""
        try:
            make_good(now)
        except RecollectError:
            raise
        except Exception as error:  # noqa: BLE001 - see above
            told = {"error": type(error).__name__, "at": raised_at(error)}
            _LOG.error("a step before reconciliation failed unexpectedly", extra=told)

    def standing(self) -> Standing:
        """How many events failed and are tried again, and how many are quarantined."""
        return self._retry.standing()

    def oldest_age(self, real_now: datetime) -> timedelta:
        """How long the oldest event has waited that is marked, or tried again after a failure; zero without any."""
        page = self._projections.pending(1, None)
        recorded = [id_milliseconds(marker.ref.id) for marker in page.markers]
        retried = self.standing().oldest_ms
        recorded += [] if retried is None else [retried]
        if not recorded:
            return timedelta(0)
        return max(timedelta(0), timedelta(milliseconds=real_now.timestamp() * 1000 - min(recorded)))
