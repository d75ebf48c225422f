"""The job `summarize`: every summary of one tenant that is due, now instead of at the next scheduled run."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from recollect.application.run_summaries import RESERVE_SECONDS, RunSummaries
from recollect.domain.job import JobProgress, RemainingSeconds


class SummarizeJob:
    """One run over those who are due; who fails is put off by that run itself, and counted."""

    def __init__(self, run: RunSummaries) -> None:
        self._run = run

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        """See `JobKind`: as many as the time allows, one at least."""
        began, begun = monotonic(), 0

        def clock() -> datetime:
            return now + timedelta(seconds=monotonic() - began)

        def remaining_seconds() -> float:
            nonlocal begun
            begun += 1
            return RESERVE_SECONDS + (deadline() if begun > 1 else max(deadline(), 1.0))

        report = self._run(clock, remaining_seconds, tenant)
        return JobProgress(state=state, counts=report.counts, errors=report.failed, done=report.complete)
