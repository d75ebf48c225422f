"""Runs of projection: over change records of the table, as Lambda hands them over, and over the pending markers.

Powertools' batch processor calls a function for each record; here one call projects them all, since their texts are
encoded together and the index takes them in one bulk. So the partial answer is made here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from recollect.adapters.aws.keys import event_of_record
from recollect.core.errors import RecollectError, StoredDataError
from recollect.core.ids import id_milliseconds
from recollect.projection.project import ProjectionReport
from recollect.projection.reconcile import Reconcile
from recollect.timeline.timeline import PendingEvent

# A page of reconcile takes some seconds with everything well, more where calls run into their time-outs.
RESERVE_SECONDS = 40.0
PAGE = 50
"""Events of a page: a page of long ones ends within the function's time-out."""

Record: TypeAlias = Mapping[str, Any]
Project: TypeAlias = Callable[[Sequence[PendingEvent], datetime], ProjectionReport]


@dataclass(slots=True)
class StreamReport:
    """What became of a batch of change records.

    `retry` holds the sequence numbers of the records that Lambda sends again, lowest first: it sends everything from
    the lowest on. It has no event that is noted as failed: reconcile tries those again, and each sending would project
    all others again. `malformed` names records that cannot be read: the handler counts and logs them and never tries
    them again, and the event that such a record may name has a pending marker. `oldest_age_seconds` is 0 where no
    record can be read.
    """

    projection: ProjectionReport = field(default_factory=ProjectionReport)
    retry: list[str] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    oldest_age_seconds: float = 0.0

    @property
    def answer(self) -> dict[str, list[dict[str, str]]]:
        """For `ReportBatchItemFailures`."""
        return {"batchItemFailures": [{"itemIdentifier": number} for number in self.retry]}


@dataclass(slots=True)
class _Batch:
    """The events that records name, each once, with the sequence numbers of the records that name it."""

    pending: dict[str, PendingEvent] = field(default_factory=dict)
    numbers: dict[str, list[str]] = field(default_factory=dict)
    malformed: list[str] = field(default_factory=list)

    def take(self, record: Record) -> None:
        number = _sequence_number(record)
        try:
            named = _event_named(record)
        except (StoredDataError, LookupError, TypeError, AttributeError, ValueError):
            self.malformed.append(number)
            return
        if named is not None:
            self.pending[named.ref.id] = named
            self.numbers.setdefault(named.ref.id, []).append(number)


def project_records(records: Sequence[Record], project: Project, now: datetime) -> StreamReport:
    """Projects the events that change records name; other items of the table are passed over (P-25)."""
    batch = _Batch()
    for record in records:
        batch.take(record)
    report = StreamReport(malformed=batch.malformed, oldest_age_seconds=_oldest_age(batch, now))
    if batch.pending:
        report.projection = project(list(batch.pending.values()), now)
        waiting = report.projection.failed.keys() - report.projection.noted
        failed = [number for event_id in waiting for number in batch.numbers.get(event_id, ())]
        report.retry = sorted(failed, key=int)
    return report


@dataclass(frozen=True, slots=True)
class ReconcileReport:
    """What a run of reconcile did, and whether it saw every marker.

    `oldest_age_seconds` is the age of the oldest event that waits, `quarantined` how many events are; None: unknown,
    since the engine did not answer.
    """

    projection: ProjectionReport
    complete: bool
    oldest_age_seconds: float | None
    quarantined: int | None = None

    @property
    def counts(self) -> dict[str, int]:
        """For a log line and the answer."""
        projection = self.projection
        counts = {"projected": projection.projected, "gone": projection.gone, "failed": len(projection.failed)}
        return counts if self.quarantined is None else counts | {"quarantined": self.quarantined}


def run_reconcile(
    reconcile: Reconcile, clock: Callable[[], datetime], remaining_seconds: Callable[[], float]
) -> ReconcileReport:
    """Projects what waits: a page at least, and no further one with less than 40 s left. Raises as `reconcile` does."""
    total = ProjectionReport()
    report, after = reconcile.page(clock(), None, PAGE)
    total.add(report)
    while after is not None and remaining_seconds() >= RESERVE_SECONDS:
        report, after = reconcile.page(clock(), after, PAGE)
        total.add(report)
    return ReconcileReport(total, after is None, _oldest_pending_age(reconcile, clock()), _quarantined(reconcile))


def _event_named(record: Record) -> PendingEvent | None:
    """The event whose item changed; None for an item of another kind. Raises where the record cannot be read."""
    named = event_of_record(record)
    if named is not None:
        int(_sequence_number(record))
        id_milliseconds(named.ref.id)
    return named


def _sequence_number(record: Any) -> str:
    """Empty where the record has none: it could not be asked for again."""
    change = record.get("dynamodb") if isinstance(record, Mapping) else None
    number = change.get("SequenceNumber") if isinstance(change, Mapping) else None
    return number if isinstance(number, str) else ""


def _oldest_age(batch: _Batch, now: datetime) -> float:
    if not batch.pending:
        return 0.0
    return max(0.0, now.timestamp() - min(map(id_milliseconds, batch.pending)) / 1000)


def _oldest_pending_age(reconcile: Reconcile, now: datetime) -> float | None:
    try:
        return reconcile.oldest_age(now).total_seconds()
    except RecollectError:
        return None


def _quarantined(reconcile: Reconcile) -> int | None:
    try:
        return reconcile.standing().quarantined
    except RecollectError:
        return None
