"""Project: derives vectors, slots, conversations, index documents and bus events from events that are durable.

A change record is a hint (P-25): the event is read as it is now, and what that says is written. Everything here
may run twice, late and out of order; the pending marker goes last, when searches show the event.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.application.fill_slots import FillSlots
from recollect.domain.bus import episodic_saved
from recollect.domain.documents import index_document
from recollect.domain.embedding import FloatArray, TextKind, unpack_vector
from recollect.domain.errors import RecollectError
from recollect.domain.event import Event, EventRef
from recollect.domain.scope import Scope
from recollect.domain.timeline import PendingEvent, Projection
from recollect.ports import Embedder, Projections, Publisher, SearchIndex, Timeline


@dataclass(slots=True)
class ProjectionReport:
    """How many events were projected, how many were gone, and which failed, with the kind of failure."""

    projected: int = 0
    gone: int = 0
    failed: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Batch:
    """One user's part of the work, as far as it has come."""

    scope: Scope
    refs: dict[str, EventRef]
    events: dict[str, Event] = field(default_factory=dict)
    vectors: dict[str, FloatArray] = field(default_factory=dict)
    reindexed: dict[str, Event] = field(default_factory=dict)

    @property
    def gone(self) -> list[str]:
        return [event_id for event_id in self.refs if event_id not in self.events]


class ProjectEvents:
    """The use case behind the stream reader and the laptop's drain."""

    def __init__(
        self,
        timeline: Timeline,
        projections: Projections,
        index: SearchIndex,
        embedder: Embedder | None,
        publisher: Publisher,
    ) -> None:
        self._timeline = timeline
        self._projections = projections
        self._index = index
        self._embedder = embedder
        self._publisher = publisher
        self._fill_slots = FillSlots(timeline, projections)

    def __call__(self, pending: Sequence[PendingEvent], now: datetime) -> ProjectionReport:
        """Projects what it can; a failure of a part leaves that part's markers for the next try."""
        report = ProjectionReport()
        batches = [batch for batch in _by_user(pending) if self._attempt(batch, report, self._derive)]
        self._write_index([batch for batch in batches if batch.refs], now, report)
        for batch in batches:
            self._attempt(batch, report, lambda b: self._finish(b, now, report))
        return report

    def _attempt(self, batch: _Batch, report: ProjectionReport, step: Callable[[_Batch], None]) -> bool:
        """Runs a step of one user's batch; what it raises is that batch's failure and nobody else's."""
        try:
            step(batch)
        except RecollectError as error:
            report.failed |= {event_id: type(error).__name__ for event_id in batch.refs}
            batch.refs.clear()
            return False
        return True

    def _derive(self, batch: _Batch) -> None:
        batch.events = self._timeline.read(batch.scope, list(batch.refs.values()))
        self._embed(batch)
        for event in [event for event in batch.events.values() if event.key is not None]:
            changed = self._fill_slots(batch.scope, event)
            batch.events |= {e.id: e for e in changed if e.id in batch.events}
            batch.reindexed |= {e.id: e for e in changed if e.id not in batch.refs}
        others = self._projections.vectors(batch.scope, list(batch.reindexed))
        batch.vectors |= {event_id: p.vector for event_id, p in others.items() if p.vector is not None}
        for conversation_id, started_at in _conversations(batch.events.values()).items():
            self._projections.enter_conversation(batch.scope, conversation_id, started_at)

    def _embed(self, batch: _Batch) -> None:
        """Vectors that are kept already, then the callers' own, then the model's for the rest."""
        generation = self._embedder.generation if self._embedder else None
        kept = self._projections.vectors(batch.scope, list(batch.events))
        for event_id, projection in kept.items():
            if projection.vector is not None and projection.generation == generation:
                batch.vectors[event_id] = projection.vector
        wanted = [e for e in batch.events.values() if e.id not in batch.vectors and not e.is_private]
        made = self._made(wanted)
        batch.vectors |= made
        missing = [e for e in batch.events.values() if e.id in made or e.id not in kept]
        self._projections.save(batch.scope, [Projection(e.ref, batch.vectors.get(e.id), generation) for e in missing])

    def _made(self, events: Sequence[Event]) -> dict[str, FloatArray]:
        made = {e.id: unpack_vector(e.embedding) for e in events if e.embedding is not None}
        texts = [e for e in events if e.embedding is None]
        if self._embedder is not None and texts:
            encodings = self._embedder.encode([e.passage for e in texts], TextKind.PASSAGE)
            made |= {e.id: encoding.vector for e, encoding in zip(texts, encodings, strict=True)}
        return made

    def _write_index(self, batches: Sequence[_Batch], now: datetime, report: ProjectionReport) -> None:
        """One bulk for all users, since it returns only when searches show what it wrote."""
        documents = [
            index_document(batch.scope, event, batch.vectors.get(event.id))
            for batch in batches
            for event in (*batch.events.values(), *batch.reindexed.values())
            if not event.expired(now)
        ]
        try:
            failures = self._index.put(documents) if documents else []
            for batch in batches:
                expired = [event.id for event in batch.events.values() if event.expired(now)]
                if batch.gone or expired:
                    failures += self._index.remove(batch.scope, [*batch.gone, *expired])
        except RecollectError as error:
            _fail(batches, {event_id: type(error).__name__ for b in batches for event_id in b.refs}, report)
        else:
            _fail(batches, {failure.event_id: failure.reason for failure in failures}, report)

    def _finish(self, batch: _Batch, now: datetime, report: ProjectionReport) -> None:
        done = [event for event in batch.events.values() if event.id in batch.refs]
        published = [episodic_saved(event, now) for event in done if not event.expired(now)]
        refused = set(self._publisher.publish(batch.scope.tenant, published)) if published else set()
        report.failed |= dict.fromkeys(refused, "PublishFailed")
        self._projections.settle(batch.scope, [ref for ref in batch.refs.values() if ref.id not in refused])
        report.projected += len(done) - len(refused)
        report.gone += sum(1 for event_id in batch.gone if event_id in batch.refs)


def _by_user(pending: Sequence[PendingEvent]) -> list[_Batch]:
    batches: dict[Scope, _Batch] = {}
    for marker in pending:
        batch = batches.setdefault(marker.scope.user, _Batch(marker.scope.user, {}))
        batch.refs[marker.ref.id] = marker.ref
    return list(batches.values())


def _fail(batches: Iterable[_Batch], failed: dict[str, str], report: ProjectionReport) -> None:
    report.failed |= failed
    for batch in batches:
        if failed.keys() & batch.reindexed.keys():
            report.failed |= dict.fromkeys(batch.refs, "SuccessorOfFailed")
            batch.refs.clear()
        for event_id in failed.keys() & batch.refs.keys():
            del batch.refs[event_id]


def _conversations(events: Iterable[Event]) -> dict[str, datetime]:
    started: dict[str, datetime] = {}
    for event in events:
        started[event.conversation_id] = min(event.recorded_at, started.get(event.conversation_id, event.recorded_at))
    return started
