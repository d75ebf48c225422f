"""One attempt to project some events: derives vectors, slots, conversations, index documents and bus events.

A change record is a hint (P-25): the attempt reads the event as it is now. Every step is idempotent, and may run late
and out of order; the pending marker goes last, when searches show the event. Vectors come first: after them are only
writes, which one store may commit together. An exception fails the events of its step; `ProjectEvents` then tries them
in smaller parts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeAlias

from recollect.archive.segment_places import NOTHING_COUNTED, Counting
from recollect.archive.segments import ROLL_EVENTS
from recollect.core.event import Event, EventRef
from recollect.core.items import in_parts
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, TextKind
from recollect.memories.reading import StoredMemory
from recollect.memories.representation import indexed
from recollect.ports import Embedder, IndexFailure, Pending, Projections, Publisher, SearchIndex, Timeline
from recollect.projection.steps import BEFORE_THEY_ARE_READ, ProjectedBatch, ProjectionStep, ProjectionSteps
from recollect.retrieval.unprojected import given_vectors
from recollect.rules.groups import Rules
from recollect.search_index.page import index_document
from recollect.timeline.bus import BusEvent, SegmentPlace, episodic_saved, semantic_saved
from recollect.timeline.failed_projections import Fault, fault_of
from recollect.timeline.fill_slots import FillSlots
from recollect.timeline.timeline import PendingEvent, Projection

Forget: TypeAlias = Callable[[Scope, Sequence[str], datetime], None]
Noting: TypeAlias = Callable[[Sequence[PendingEvent]], AbstractContextManager[None]]
"""What surrounds a part of an attempt."""


def unnoted(_: Sequence[PendingEvent]) -> AbstractContextManager[None]:
    """Nothing."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Failure:
    """Events that failed together. `error` is the class of an error, or the index's reason; never a text.

    `at` is the file and line that raised; `removed`: the event is deleted, but its derived data could not be removed.
    """

    markers: tuple[PendingEvent, ...]
    error: str
    fault: Fault
    at: str = ""
    removed: bool = False


@dataclass(slots=True)
class Outcome:
    """What an attempt did. `done` are the projected and the deleted events, each with its user's scope.

    An event that is neither done nor failed changed meanwhile, and keeps its marker.
    """

    projected: int = 0
    gone: int = 0
    done: set[tuple[Scope, str]] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: "Outcome") -> None:
        self.projected += other.projected
        self.gone += other.gone
        self.done |= other.done
        self.failures += other.failures


@dataclass(slots=True)
class _Batch:
    scope: Scope
    refs: dict[str, EventRef]
    was_read: bool = False
    events: dict[str, Event] = field(default_factory=dict)
    bounds: dict[str, datetime] = field(default_factory=dict)
    counting: Counting = NOTHING_COUNTED
    stored: dict[str, Projection] = field(default_factory=dict)
    vectors: dict[str, FloatArray] = field(default_factory=dict)
    unsaved: set[str] = field(default_factory=set)
    reindexed: dict[str, Event] = field(default_factory=dict)
    memories: dict[str, StoredMemory] = field(default_factory=dict)
    segments: dict[str, SegmentPlace] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    rules: Rules = BEFORE_THEY_ARE_READ

    def indexed(self, event: Event) -> Event:
        """The event in its index form: with the words of the memory that has its id."""
        stored = self.memories.get(event.id)
        own = stored is not None and stored.memory.id == event.id
        return indexed(event, stored.memory if stored is not None and own else None)

    @property
    def gone(self) -> list[str]:
        return [event_id for event_id in self.refs if event_id not in self.events]

    @property
    def gone_refs(self) -> list[EventRef]:
        return [self.refs[event_id] for event_id in self.gone]

    @property
    def markers(self) -> tuple[PendingEvent, ...]:
        return tuple(PendingEvent(self.scope, ref) for ref in self.refs.values())

    def failed(self, error: Exception) -> Failure:
        """All its events; the attempt does nothing more for them."""
        removed = self.was_read and not self.refs.keys() & self.events.keys()
        failure = Failure(self.markers, type(error).__name__, fault_of(error), raised_at(error), removed)
        self.refs.clear()
        return failure

    def refused(self, failures: Iterable[IndexFailure]) -> list[Failure]:
        """The events whose document the index did not write or remove; the attempt does nothing more for them.

        Where it is the document of an event that one of these supersedes, all of them fail.
        """
        found: list[Failure] = []
        for failure in failures:
            fault = Fault.OUTAGE if failure.retryable else Fault.OWN
            if failure.event_id in self.refs:
                removed = failure.event_id not in self.events
                marker = PendingEvent(self.scope, self.refs.pop(failure.event_id))
                found.append(Failure((marker,), failure.reason, fault, removed=removed))
            elif failure.event_id in self.reindexed and self.refs:
                found.append(Failure(self.markers, "SuccessorOfFailed", fault))
                self.refs.clear()
        return found


@dataclass(frozen=True, slots=True)
class ProjectionAttempt:
    """Projects events of any users; `forget` removes the notes of deleted events."""

    _timeline: Timeline
    _projections: Projections
    _index: SearchIndex
    _embedder: Embedder | None
    _publisher: Publisher
    _steps: ProjectionSteps
    _forget: Forget | None = None

    def run(self, pending: Sequence[PendingEvent], now: datetime, noting: Noting = unnoted) -> Outcome:
        """Projects what it can. Raises no `Exception`: each is in `failures`, with the events that it stopped.

        A few at once, where other writers wait for their end; `noting` surrounds each such part. What may come from an
        absent engine stops the rest too, so that it is asked once.
        """
        outcome, parts = Outcome(), [*in_parts(pending, self._projections.most_together)]
        for place, part in enumerate(parts, start=1):
            with noting(part):
                made = self._run_together(part, now)
            outcome.add(made)
            stopped = next((one for one in made.failures if one.fault is not Fault.OWN and not made.done), None)
            if stopped is not None:
                rest = (marker for other in parts[place:] for marker in other)
                outcome.failures.remove(stopped)
                outcome.failures.append(replace(stopped, markers=(*stopped.markers, *rest)))
                break
        return outcome

    def _run_together(self, pending: Sequence[PendingEvent], now: datetime) -> Outcome:
        outcome = Outcome()
        batches = [
            b for b in _by_user(pending) if self._step(b, outcome, lambda batch: self._read_and_encode(batch, now))
        ]
        if not batches:
            return outcome
        together, unprepared = _Combined(batches), list(outcome.failures)
        if self._projections.others_wait:
            self._rehearse(batches, now)
        try:
            with self._projections.together():
                self._write(batches, now, outcome)
        except Exception as error:  # noqa: BLE001 - nothing of it was committed
            return Outcome(failures=[*unprepared, together.failed(error)])
        return outcome

    def _rehearse(self, batches: Sequence[_Batch], now: datetime) -> None:
        """What raises here raises again where it counts. What changed in between is read then, and judged there."""
        for batch in batches:
            events, memories = list(batch.events.values()), dict(batch.memories)
            rehearsed = ProjectedBatch(events, vectors=batch.vectors, rules=batch.rules, memories=memories)
            with suppress(Exception):
                self._steps.rehearse(batch.scope, rehearsed, now)

    def _write(self, batches: Sequence[_Batch], now: datetime, outcome: Outcome) -> None:
        derived = [batch for batch in batches if self._step(batch, outcome, lambda b: self._derive(b, now))]
        self._write_index([batch for batch in derived if batch.refs], now, outcome)
        for batch in derived:
            self._step(batch, outcome, lambda b: self._finish(b, now, outcome))

    def _step(self, batch: _Batch, outcome: Outcome, step: Callable[[_Batch], None]) -> bool:
        """Runs a step of one user's batch; an exception fails that batch alone."""
        try:
            step(batch)
        except Exception as error:  # noqa: BLE001 - one user's failure must not stop the other users
            if batch.refs:
                outcome.failures.append(batch.failed(error))
            return False
        return True

    def _read_and_encode(self, batch: _Batch, now: datetime) -> None:
        """Reads the current events and gets their vectors: slow, so before any write.

        Copies of deleted events are other users' records: they are deleted first, in writes that wait for the disk.
        What is stored of deleted events is read too, in the same wave, and ignored: it must not stop their removal.
        """
        scope, ids = batch.scope, list(batch.refs)
        stored = self._steps.concurrency.submit(lambda: self._stored(scope, ids))
        memories = self._steps.concurrency.submit(lambda: self._steps.memories.read(scope, ids))
        rules = self._steps.concurrency.submit(lambda: self._steps.rules(scope.tenant))
        batch.events = self._timeline.read(scope, list(batch.refs.values()))
        batch.was_read = True
        unread = [event for event in batch.events.values() if event.key is not None and event.holds_until is None]
        batch.bounds = {event.id: self._steps.bound(event) for event in unread}
        self._run(self._steps.before, batch.scope, ProjectedBatch(gone=batch.gone_refs), now)
        if not batch.events:
            return
        batch.rules = rules.result()
        batch.counting, kept = stored.result()
        batch.stored = {i: one for i, one in kept.items() if i in batch.events}
        fit = {i: one.vector for i, one in batch.stored.items() if one.generation == self._model}
        batch.vectors = {i: vector for i, vector in fit.items() if vector is not None}
        batch.memories = {i: one for i, one in memories.result().items() if i in batch.events}
        in_other_words = [e.id for e in batch.events.values() if batch.indexed(e).content != e.content]
        for event_id in in_other_words:
            batch.vectors.pop(event_id, None)
        unmade = [e for e in batch.events.values() if e.id not in batch.vectors and e.is_searchable]
        made = self._encode([batch.indexed(event) for event in unmade])
        batch.vectors |= made
        batch.unsaved = {e.id for e in batch.events.values() if e.id in made or e.id not in fit}

    def _stored(self, scope: Scope, event_ids: Sequence[str]) -> tuple[Counting, dict[str, Projection]]:
        """The counter of segments first: see `AssignSegments`."""
        counting = self._steps.segments.counting(scope)
        return counting, self._projections.vectors(scope, event_ids)

    def _derive(self, batch: _Batch, now: datetime) -> None:
        """What needs the events alone is written side by side with the rest."""
        projected = ProjectedBatch(events=list(batch.events.values()), rules=batch.rules)
        calls = [partial(step, batch.scope, projected, now) for step in self._steps.beside]
        calls.append(partial(self._place, batch, projected.events, now))
        calls += [partial(self._enter, batch.scope, begun) for begun in (_conversations(projected.events),) if begun]
        beside = [self._steps.concurrency.submit(call) for call in calls]
        try:
            self._fill_slots(batch)
            changed_words = self._derive_more(batch, now)
        except Exception:
            with suppress(Exception):
                _all_done(beside)  # no write goes on when the events are tried again
            raise
        _all_done(beside)
        self._encode_again(batch, changed_words)

    def _fill_slots(self, batch: _Batch) -> None:
        slots = FillSlots(self._timeline, self._projections, batch.bounds)
        for event in [event for event in batch.events.values() if event.key is not None]:
            changed = slots.fill(batch.scope, event)
            batch.events |= {e.id: e for e in changed if e.id in batch.events}
            batch.reindexed |= {e.id: e for e in changed if e.id not in batch.refs}
        if batch.reindexed:
            others = self._projections.vectors(batch.scope, list(batch.reindexed))
            fit = {i: p.vector for i, p in others.items() if p.generation == self._model}
            batch.vectors |= {event_id: vector for event_id, vector in fit.items() if vector is not None}

    def _place(self, batch: _Batch, events: Sequence[Event], now: datetime) -> None:
        """Saves the events' vectors with their segments, which were counted just before: one write for both."""
        counting, stored = batch.counting, {i: one.segment for i, one in batch.stored.items()}
        for part in in_parts(events, ROLL_EVENTS):
            assigned = self._steps.segments.assign(batch.scope, part, now, counting, stored)
            counting, stored = assigned.counting, {**stored, **assigned.numbers}
            batch.segments |= assigned.places
            batch.numbers |= assigned.numbers
            unplaced = {i for i, number in assigned.numbers.items() if self._lacks(batch, i, number)}
            self._save(batch, [event for event in part if event.id in batch.unsaved | unplaced])

    @staticmethod
    def _lacks(batch: _Batch, event_id: str, number: int) -> bool:
        stored = batch.stored.get(event_id)
        return stored is None or stored.segment != number

    def _save(self, batch: _Batch, events: Sequence[Event]) -> None:
        if events:
            made = [Projection(e.ref, batch.vectors.get(e.id), self._model, batch.numbers.get(e.id)) for e in events]
            self._projections.save(batch.scope, made, {event.id: event for event in events})

    def _enter(self, scope: Scope, begun: Mapping[str, datetime]) -> None:
        for conversation_id, started_at in begun.items():
            self._projections.enter_conversation(scope, conversation_id, started_at)

    def _derive_more(self, batch: _Batch, now: datetime) -> list[Event]:
        """The steps of the other subjects; answers the events that have other words after a merge."""
        events = list(batch.events.values())
        before = {event.id: batch.indexed(event).content for event in events}
        read = {event.id: batch.memories.get(event.id) for event in events}
        changed = list(batch.reindexed.values())
        projected = ProjectedBatch(events, changed, batch.gone_refs, read, batch.vectors, batch.rules)
        self._run(self._steps.derive, batch.scope, projected, now)
        batch.memories = projected.memories
        return [event for event in events if batch.indexed(event).content != before[event.id]]

    @staticmethod
    def _run(steps: Sequence[ProjectionStep], scope: Scope, batch: ProjectedBatch, now: datetime) -> None:
        for step in steps:
            step(scope, batch, now)

    def _encode_again(self, batch: _Batch, merged: Sequence[Event]) -> None:
        """A merged event's vector is still that of its earlier words."""
        made = self._encode([batch.indexed(event) for event in merged if event.is_searchable])
        if made:
            batch.vectors |= made
            self._save(batch, [event for event in merged if event.id in made])

    @property
    def _model(self) -> str | None:
        return self._embedder.generation if self._embedder else None

    def _encode(self, events: Sequence[Event]) -> dict[str, FloatArray]:
        made: dict[str, FloatArray] = given_vectors(events, self._embedder)
        texts = [e for e in events if e.id not in made]
        if self._embedder is not None and texts:
            encodings = self._embedder.encode([e.passage for e in texts], TextKind.PASSAGE)
            made |= {e.id: encoding.vector for e, encoding in zip(texts, encodings, strict=True)}
        return made

    def _write_index(self, batches: Sequence[_Batch], now: datetime, outcome: Outcome) -> None:
        """One bulk for all users, since it returns only when searches show it."""
        try:
            failures = self._in_index(batches, now)
        except Exception as error:  # noqa: BLE001 - whichever document raised, all are tried again
            outcome.failures.append(_Combined(batches).failed(error))
            for batch in batches:
                batch.refs.clear()
        else:
            for batch in batches:
                outcome.failures += batch.refused(failures)

    def _in_index(self, batches: Sequence[_Batch], now: datetime) -> list[IndexFailure]:
        documents = [
            index_document(batch.scope, batch.indexed(event), batch.vectors.get(event.id))
            for batch in batches
            for event in (*batch.events.values(), *batch.reindexed.values())
            if not batch.indexed(event).expired(now)
        ]
        failures = self._index.put(documents) if documents else []
        for batch in batches:
            expired = [event.id for event in batch.events.values() if batch.indexed(event).expired(now)]
            if batch.gone or expired:
                failures += self._index.remove(batch.scope, [*batch.gone, *expired])
        return failures

    def _finish(self, batch: _Batch, now: datetime, outcome: Outcome) -> None:
        done = [event for event in batch.events.values() if event.id in batch.refs]
        unpublished = self._publish(batch, done, now)
        removed, changed = self._changed_meanwhile(batch) if batch.refs else ({}, set())
        left = removed.keys() | unpublished | changed
        projected = {event.id: event for event in done if event.id not in left}
        gone = {event_id: batch.refs[event_id] for event_id in batch.gone} | removed
        failures = self._index.remove(batch.scope, list(removed)) if removed else []
        for failure in failures:
            gone.pop(failure.event_id, None)
        overtaken = [event.ref for i, event in batch.reindexed.items() if i in changed]
        if overtaken:
            self._projections.mark(batch.scope, overtaken)
        self._projections.settle(batch.scope, [event.ref for event in projected.values()])
        self._steps.memories.shown(batch.scope, [batch.memories[i] for i in projected if i in batch.memories], now)
        if gone:
            self._remove_derived(batch.scope, gone, now)
        self._count(batch, outcome, projected.keys(), gone.keys() & batch.refs.keys())
        outcome.failures += [_unpublished(batch, event_id) for event_id in unpublished]
        outcome.failures += batch.refused([one for one in failures if one.event_id in batch.refs])

    def _remove_derived(self, scope: Scope, gone: dict[str, EventRef], now: datetime) -> None:
        self._run(self._steps.remove, scope, ProjectedBatch(gone=list(gone.values())), now)
        if self._forget is not None:
            self._forget(scope, list(gone), now)
        self._projections.forget(scope, list(gone.values()))

    def _count(self, batch: _Batch, outcome: Outcome, projected: Set[str], gone: Set[str]) -> None:
        outcome.projected += len(projected)
        outcome.gone += len(gone)
        outcome.done |= {(batch.scope, event_id) for event_id in projected | gone}

    def _publish(self, batch: _Batch, done: Sequence[Event], now: datetime) -> set[str]:
        """Returns the ids of the events that the bus refused."""
        of_event: dict[str, str] = {}
        events: list[BusEvent] = []
        for event in done:
            own = [] if event.expired(now) else _announcements(batch, event, now)
            of_event |= {one.id: event.id for one in own}
            events += own
        refused = self._publisher.publish(batch.scope.tenant, events) if events else []
        return {of_event[bus_id] for bus_id in refused}

    def _changed_meanwhile(self, batch: _Batch) -> tuple[dict[str, EventRef], set[str]]:
        """Events deleted and events changed since they were read; called after all writes, before a marker goes."""
        written = {event.id: event for event in (*batch.events.values(), *batch.reindexed.values())}
        if not written:
            return {}, set()
        known = {i: batch.memories.get(i) for i in written}
        memories = self._steps.concurrency.submit(lambda: self._steps.memories.changed(batch.scope, known))
        there = self._timeline.read(batch.scope, [event.ref for event in written.values()])
        removed = {event_id: event.ref for event_id, event in written.items() if event_id not in there}
        edited = memories.result() & there.keys() if there else set()
        return removed, edited | {i for i, event in there.items() if event.version != written[i].version}


def _all_done(calls: Sequence[Pending[None]]) -> None:
    """Waits for all, then raises the first failure."""
    failures: list[Exception] = []
    for one in calls:
        try:
            one.result()
        except Exception as failure:  # noqa: BLE001 - raised once all are done
            failures.append(failure)
    if failures:
        raise failures[0]


def _announcements(batch: _Batch, event: Event, now: datetime) -> list[BusEvent]:
    episodic = [episodic_saved(event, now, batch.segments.get(event.id))] if event.is_announced else []
    stored = batch.memories.get(event.id)
    return [*episodic, semantic_saved(stored.memory, now)] if stored and stored.memory.id == event.id else episodic


def _by_user(pending: Sequence[PendingEvent]) -> list[_Batch]:
    batches: dict[Scope, _Batch] = {}
    for marker in pending:
        batch = batches.setdefault(marker.scope.user, _Batch(marker.scope.user, {}))
        batch.refs[marker.ref.id] = marker.ref
    return list(batches.values())


def _unpublished(batch: _Batch, event_id: str) -> Failure:
    return Failure((PendingEvent(batch.scope, batch.refs[event_id]),), "PublishFailed", Fault.OUTAGE)


class _Combined:
    """The events of some batches before the attempt, for a failure of all of them."""

    def __init__(self, batches: Sequence[_Batch]) -> None:
        self._markers = tuple(marker for batch in batches for marker in batch.markers)
        self._removed = all(len(batch.gone) == len(batch.refs) for batch in batches)

    def failed(self, error: Exception) -> Failure:
        return Failure(self._markers, type(error).__name__, fault_of(error), raised_at(error), self._removed)


def raised_at(error: BaseException) -> str:
    """File and line of an error, for the log; its message may quote a text."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place else ""


def _conversations(events: Iterable[Event]) -> dict[str, datetime]:
    started: dict[str, datetime] = {}
    for event in events:
        if event.is_carrier:
            continue
        started[event.conversation_id] = min(event.recorded_at, started.get(event.conversation_id, event.recorded_at))
    return started
