"""Project: derives vectors, slots, conversations, index documents and bus events from events that are durable.

A change record is a hint (P-25): the event is read as it is now, and what that says is written. Everything here
may run twice, late and out of order; the pending marker goes last, when searches show the event. Vectors are made
first: what follows is writes alone, which one store may commit together.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.application.fill_slots import FillSlots
from recollect.application.following import Following, Projected
from recollect.application.given_vectors import given_vectors
from recollect.application.read_memories import KeptMemory
from recollect.domain.bus import BusEvent, SegmentPlace, episodic_saved, semantic_saved
from recollect.domain.documents import index_document
from recollect.domain.embedding import FloatArray, TextKind
from recollect.domain.errors import RecollectError
from recollect.domain.event import Event, EventRef
from recollect.domain.representation import indexed
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
    unsaved: list[EventRef] = field(default_factory=list)
    reindexed: dict[str, Event] = field(default_factory=dict)
    memories: dict[str, KeptMemory] = field(default_factory=dict)
    segments: dict[str, SegmentPlace] = field(default_factory=dict)

    def told(self, event: Event) -> Event:
        """The event as the index is told of it: in the words of the memory that has its id."""
        kept = self.memories.get(event.id)
        own = kept is not None and kept.memory.id == event.id
        return indexed(event, kept.memory if kept is not None and own else None)

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
        following: Following,
    ) -> None:
        self._timeline = timeline
        self._projections = projections
        self._index = index
        self._embedder = embedder
        self._publisher = publisher
        self._fill_slots = FillSlots(timeline, projections)
        self._following = following
        self._memories = following.memories

    def __call__(self, pending: Sequence[PendingEvent], now: datetime) -> ProjectionReport:
        """Projects what it can; a failure of a part leaves that part's markers for the next try."""
        report = ProjectionReport()
        by_user = _by_user(pending)
        batches = [batch for batch in by_user if self._attempt(batch, report, lambda b: self._prepare(b, now))]
        failed = dict(report.failed)
        try:
            with self._projections.together():
                self._write(batches, now, report)
        except RecollectError as error:
            lost = {event_id: type(error).__name__ for marker in pending if (event_id := marker.ref.id) not in failed}
            return ProjectionReport(failed=failed | lost)
        return report

    def _write(self, batches: Sequence[_Batch], now: datetime, report: ProjectionReport) -> None:
        """What is derived, the index, the bus, and last the markers."""
        derived = [batch for batch in batches if self._attempt(batch, report, lambda b: self._derive(b, now))]
        self._write_index([batch for batch in derived if batch.refs], now, report)
        for batch in derived:
            self._attempt(batch, report, lambda b: self._finish(b, now, report))

    def _attempt(self, batch: _Batch, report: ProjectionReport, step: Callable[[_Batch], None]) -> bool:
        """Runs a step of one user's batch; what it raises is that batch's failure and nobody else's."""
        try:
            step(batch)
        except RecollectError as error:
            report.failed |= {event_id: type(error).__name__ for event_id in batch.refs}
            batch.refs.clear()
            return False
        return True

    def _prepare(self, batch: _Batch, now: datetime) -> None:
        """Reads the events as they are now, and gets their vectors: slow, so before anything is written.

        Copies of what is gone are other users' evidence: they go by themselves, in steps that wait for the disk.
        """
        batch.events = self._timeline.read(batch.scope, list(batch.refs.values()))
        if batch.gone:
            self._following.copies(batch.scope, [batch.refs[event_id] for event_id in batch.gone], now)
        kept = self._projections.vectors(batch.scope, list(batch.events)) if batch.events else {}
        batch.vectors = {i: p.vector for i, p in kept.items() if p.vector is not None and p.generation == self._model}
        batch.memories = self._memories.read(batch.scope, list(batch.events.values()))
        in_other_words = [e.id for e in batch.events.values() if batch.told(e).content != e.content]
        for event_id in in_other_words:
            batch.vectors.pop(event_id, None)
        unmade = [e for e in batch.events.values() if e.id not in batch.vectors and e.is_searchable]
        made = self._made([batch.told(event) for event in unmade])
        batch.vectors |= made
        batch.unsaved = [e.ref for e in batch.events.values() if e.id in made or e.id not in kept]

    def _derive(self, batch: _Batch, now: datetime) -> None:
        if batch.unsaved:
            made = [Projection(ref, batch.vectors.get(ref.id), self._model) for ref in batch.unsaved]
            self._projections.save(batch.scope, made)
        for event in [event for event in batch.events.values() if event.key is not None]:
            changed = self._fill_slots(batch.scope, event)
            batch.events |= {e.id: e for e in changed if e.id in batch.events}
            batch.reindexed |= {e.id: e for e in changed if e.id not in batch.refs}
        if batch.reindexed:
            others = self._projections.vectors(batch.scope, list(batch.reindexed))
            fit = {i: p.vector for i, p in others.items() if p.generation == self._model}
            batch.vectors |= {event_id: vector for event_id, vector in fit.items() if vector is not None}
        for conversation_id, started_at in _conversations(batch.events.values()).items():
            self._projections.enter_conversation(batch.scope, conversation_id, started_at)
        self._follow(batch, now)

    def _follow(self, batch: _Batch, now: datetime) -> None:
        events, gone = list(batch.events.values()), [batch.refs[event_id] for event_id in batch.gone]
        said = {event.id: batch.told(event).content for event in events}
        projected = Projected(
            events,
            list(batch.reindexed.values()),
            gone,
            {event.id: batch.memories.get(event.id) for event in events},
            batch.vectors,
        )
        followed = self._following(batch.scope, projected, now)
        batch.memories, batch.segments = followed.memories, followed.segments
        self._encode_again(batch, [event for event in events if batch.told(event).content != said[event.id]])

    def _encode_again(self, batch: _Batch, merged: Sequence[Event]) -> None:
        """What took in another's words just now has a vector of the words that it had before."""
        made = self._made([batch.told(event) for event in merged if event.is_searchable])
        if made:
            batch.vectors |= made
            refs = [event.ref for event in merged if event.id in made]
            self._projections.save(batch.scope, [Projection(ref, made[ref.id], self._model) for ref in refs])

    @property
    def _model(self) -> str | None:
        return self._embedder.generation if self._embedder else None

    def _made(self, events: Sequence[Event]) -> dict[str, FloatArray]:
        made: dict[str, FloatArray] = given_vectors(events, self._embedder)
        texts = [e for e in events if e.id not in made]
        if self._embedder is not None and texts:
            encodings = self._embedder.encode([e.passage for e in texts], TextKind.PASSAGE)
            made |= {e.id: encoding.vector for e, encoding in zip(texts, encodings, strict=True)}
        return made

    def _write_index(self, batches: Sequence[_Batch], now: datetime, report: ProjectionReport) -> None:
        """One bulk for all users, since it returns only when searches show what it wrote."""
        documents = [
            index_document(batch.scope, batch.told(event), batch.vectors.get(event.id))
            for batch in batches
            for event in (*batch.events.values(), *batch.reindexed.values())
            if not batch.told(event).expired(now)
        ]
        try:
            failures = self._index.put(documents) if documents else []
            for batch in batches:
                expired = [event.id for event in batch.events.values() if batch.told(event).expired(now)]
                if batch.gone or expired:
                    failures += self._index.remove(batch.scope, [*batch.gone, *expired])
        except RecollectError as error:
            _fail(batches, {event_id: type(error).__name__ for b in batches for event_id in b.refs}, report)
        else:
            _fail(batches, {failure.event_id: failure.reason for failure in failures}, report)

    def _finish(self, batch: _Batch, now: datetime, report: ProjectionReport) -> None:
        done = [event for event in batch.events.values() if event.id in batch.refs]
        refused = self._published(batch, done, now)
        report.failed |= dict.fromkeys(refused, "PublishFailed")
        removed, changed = self._meanwhile(batch) if batch.refs else ({}, set())
        kept = [e for e in done if e.id not in removed and e.id not in refused and e.id not in changed]
        gone = self._without_documents(batch, removed, report)
        overtaken = [event.ref for i, event in batch.reindexed.items() if i in changed]
        if overtaken:
            self._projections.mark(batch.scope, overtaken)
        self._projections.settle(batch.scope, [event.ref for event in kept])
        self._memories.shown(batch.scope, [batch.memories[e.id] for e in kept if e.id in batch.memories], now)
        if gone:
            self._memories.forget(batch.scope, list(gone), now)
            self._following.archive(batch.scope, list(gone.values()), now)
            self._following.pruned(batch.scope, now)
            self._projections.forget(batch.scope, list(gone.values()))
        report.projected += len(kept)
        report.gone += len(gone.keys() & batch.refs.keys())

    def _published(self, batch: _Batch, done: Sequence[Event], now: datetime) -> set[str]:
        """Publishes what was saved; answers the ids of what the bus did not take."""
        told: dict[str, str] = {}
        events: list[BusEvent] = []
        for event in done:
            said = [] if event.expired(now) else _announcements(batch, event, now)
            told |= {one.id: event.id for one in said}
            events += said
        refused = self._publisher.publish(batch.scope.tenant, events) if events else []
        return {told[bus_id] for bus_id in refused}

    def _meanwhile(self, batch: _Batch) -> tuple[dict[str, EventRef], set[str]]:
        """Those that are gone since they were read, and those that changed; after all writes, before a marker goes."""
        written = {event.id: event for event in (*batch.events.values(), *batch.reindexed.values())}
        if not written:
            return {}, set()
        there = self._timeline.read(batch.scope, [event.ref for event in written.values()])
        removed = {event_id: event.ref for event_id, event in written.items() if event_id not in there}
        edited = self._memories.changed(batch.scope, {i: batch.memories.get(i) for i in there})
        return removed, edited | {i for i, event in there.items() if event.version != written[i].version}

    def _without_documents(
        self, batch: _Batch, removed: dict[str, EventRef], report: ProjectionReport
    ) -> dict[str, EventRef]:
        """All that are gone, less those whose documents the index would not remove: their markers stay."""
        failures = self._index.remove(batch.scope, list(removed)) if removed else []
        failed = {failure.event_id: failure.reason for failure in failures}
        report.failed |= failed
        gone = {event_id: batch.refs[event_id] for event_id in batch.gone} | removed
        return {event_id: ref for event_id, ref in gone.items() if event_id not in failed}


def _announcements(batch: _Batch, event: Event, now: datetime) -> list[BusEvent]:
    """That it was saved, and that a memory was made of it (A-23, A-44)."""
    silent = event.is_private or event.is_carrier
    episodic = [] if silent else [episodic_saved(event, now, batch.segments.get(event.id))]
    kept = batch.memories.get(event.id)
    return [*episodic, semantic_saved(kept.memory, now)] if kept and kept.memory.id == event.id else episodic


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
        if event.is_carrier:
            continue
        started[event.conversation_id] = min(event.recorded_at, started.get(event.conversation_id, event.recorded_at))
    return started
