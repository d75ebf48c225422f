"""The scheduled run of reconcile: as many pages as the time of the invocation allows."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.core.errors import RecollectError
from recollect.timeline.project import ProjectionReport
from recollect.timeline.reconcile import Reconcile

TASK = "reconcile"

# A page is 100 events: some seconds with everything well, more where calls run into their time-outs.
RESERVE_SECONDS = 40.0


@dataclass(frozen=True, slots=True)
class ReconcileReport:
    """What a run did, whether it saw every marker, and what is left: the age of the oldest that waits, and how many
    events are quarantined (None: not to be had).
    """

    projection: ProjectionReport
    complete: bool
    oldest_age_seconds: float | None
    quarantined: int | None = None


def is_reconcile(event: Any) -> bool:
    """Whether an event asks for a run: the schedule sends `{"task": "reconcile"}`."""
    return isinstance(event, dict) and event.get("task") == TASK


def run_reconcile(
    reconcile: Reconcile, clock: Callable[[], datetime], remaining_seconds: Callable[[], float]
) -> ReconcileReport:
    """Projects what waits: a page at least, and no further one with less than 40 s left. Raises as `reconcile` does."""
    total = ProjectionReport()
    report, after = reconcile.page(clock(), None)
    total.add(report)
    while after is not None and remaining_seconds() >= RESERVE_SECONDS:
        report, after = reconcile.page(clock(), after)
        total.add(report)
    return ReconcileReport(total, after is None, _oldest_age(reconcile, clock()), _quarantined(reconcile))


def _oldest_age(reconcile: Reconcile, now: datetime) -> float | None:
    try:
        return reconcile.oldest_age(now).total_seconds()
    except RecollectError:
        return None


def _quarantined(reconcile: Reconcile) -> int | None:
    try:
        return reconcile.standing().quarantined
    except RecollectError:
        return None
