"""Change records of the table, as Lambda hands them over, for the use case that projects events.

Powertools' batch processor calls a function for each record; here one call projects them all, since their texts are
encoded together and the index takes them in one bulk. So the partial answer is made here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from recollect.adapters.aws.stream import event_of_record
from recollect.core.errors import StoredDataError
from recollect.core.ids import id_milliseconds
from recollect.timeline.project import ProjectionReport
from recollect.timeline.timeline import PendingEvent

Record: TypeAlias = Mapping[str, Any]
Project: TypeAlias = Callable[[Sequence[PendingEvent], datetime], ProjectionReport]


@dataclass(slots=True)
class StreamReport:
    """What became of a batch of change records.

    `retry` holds the sequence numbers of the records to be sent again, lowest first: Lambda sends everything from
    the lowest on. Events that are noted as failed are none of them: reconcile tries those again, and each sending would
    project all others again. `malformed` names records that cannot be read: they are counted and logged, never tried
    again, and what they may have meant has a pending marker. `oldest_age_seconds` is 0 without a readable record.
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
    """Seconds since the oldest of the events arrived, by the time in its id."""
    if not batch.pending:
        return 0.0
    return max(0.0, now.timestamp() - min(map(id_milliseconds, batch.pending)) / 1000)
