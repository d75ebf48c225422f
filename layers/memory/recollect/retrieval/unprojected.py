"""Candidates of events that are not projected yet: their slots, vectors and features are made at read (P-19)."""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, TextKind, stored_vector, unpack_vector
from recollect.ports import Concurrency, Embedder, Timeline
from recollect.retrieval.nomination import Arm, Candidate
from recollect.search_index.page import voice_of
from recollect.text.terms import TermStatistics, terms
from recollect.timeline.slots import entry_of, newest_of_slots, slot_of, successor

_CACHED = 2000


class TailSlots:
    """Applies to the tail the slot rule that projection will apply.

    An event that arrives late, behind its slot's value or behind a removed one, does not fill the slot. Only the newest
    of each slot is looked up.
    """

    def __init__(self, timeline: Timeline, concurrency: Concurrency) -> None:
        self._timeline = timeline
        self._concurrency = concurrency

    def read(self, scope: Scope, events: Sequence[Event]) -> tuple[Event, ...]:
        """The events in order, superseded where something newer holds."""
        asked = [event for event in newest_of_slots(events).values() if event.superseded_by is None]
        settled = [self._concurrency.submit(partial(self._settled, scope, event)) for event in asked]
        known = {event.id: event for event in (one.result() for one in settled)}
        return tuple(known.get(event.id, event) for event in events)

    def _settled(self, scope: Scope, event: Event) -> Event:
        slot = slot_of(event)
        by = successor(entry_of(event), self._timeline.slot_history(scope, slot)) if slot else None
        return replace(event, superseded_by=by.ref.id, superseded_at=by.ref.timestamp) if by else event


class TailVectors:
    """A bounded cache by user, event and version, so that a slow projector costs each event one encoding."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._cache: OrderedDict[tuple[Scope, str, int], FloatArray] = OrderedDict()

    def of(self, scope: Scope, events: Sequence[Event]) -> dict[str, FloatArray]:
        """A vector per event id; none where there is no embedder. Raises what the embedder raises."""
        if self._embedder is None:
            return {}
        keys = {event.id: (scope.user, event.id, event.version) for event in events}
        missing = [event for event in events if keys[event.id] not in self._cache]
        made = self._encoded(self._embedder, missing)
        found = {event.id: made.get(event.id, self._cache.get(keys[event.id])) for event in events}
        for event in missing:
            self._cache[keys[event.id]] = made[event.id]
        while len(self._cache) > _CACHED:
            self._cache.popitem(last=False)
        return {event_id: vector for event_id, vector in found.items() if vector is not None}

    @staticmethod
    def _encoded(embedder: Embedder, events: Sequence[Event]) -> dict[str, FloatArray]:
        made = {e.id: unpack_vector(e.embedding) for e in events if e.embedding is not None}
        texts = [e for e in events if e.embedding is None]
        encodings = embedder.encode([e.passage for e in texts], TextKind.PASSAGE) if texts else []
        return made | {e.id: encoding.vector for e, encoding in zip(texts, encodings, strict=True)}


def candidate_of_event(
    event: Event, query: Sequence[str], vector: FloatArray | None, arms: Mapping[Arm, int]
) -> Candidate:
    """The features that an index would give, made from the record itself."""
    counted = Counter(terms(event.searchable_text))
    return Candidate(
        ref=event.ref,
        arms=arms,
        conversation_id=event.conversation_id,
        counts={term: counted[term] for term in query if counted[term]},
        length=counted.total(),
        vector=vector,
        role=voice_of(event),
        speaker=event.speaker,
        importance=event.importance,
    )


def statistics_of(candidates: Sequence[Candidate], query: Sequence[str]) -> TermStatistics:
    frequency = {term: sum(1 for c in candidates if c.counts.get(term)) for term in query}
    return TermStatistics(len(candidates), sum(c.length for c in candidates), frequency)


def given_vectors(events: Iterable[Event], embedder: Embedder | None) -> dict[str, FloatArray]:
    """Callers' vectors by event id; those of another dimension are left out and made anew from the text."""
    given = ((event.id, stored_vector(event.embedding)) for event in events)
    there = {event_id: vector for event_id, vector in given if vector is not None}
    return {i: vector for i, vector in there.items() if embedder is None or len(vector) == embedder.dimension}
