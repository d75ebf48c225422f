"""Recall: engines nominate, the domain ranks, the timeline decides.

Wave 1 (after the query is encoded): all arms of the index, and the tail of what the index does not show yet.
Wave 2: the best candidates and the tail are read back in one consistent batch; what is deleted, expired,
superseded, private or out of scope never appears, however stale the index. Search and context share it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recollect.application.candidates import candidate_of_event, candidate_of_hit
from recollect.application.recalled import (
    OpenRecall,
    Recalled,
    RecallRequest,
    effective_query,
    fallback_of,
    reaches,
    statistics_for,
    without_rejected_values,
)
from recollect.application.record_reading import RecordReading, Records
from recollect.application.tail_slots import TailSlots
from recollect.application.tail_vectors import TailVectors
from recollect.application.value_gate import ValueGate
from recollect.domain.embedding import FloatArray, TextKind
from recollect.domain.errors import Unavailable, UpstreamFailed
from recollect.domain.event import Event, EventRef
from recollect.domain.filters import DropReason, drop_reason
from recollect.domain.lexical import query_terms
from recollect.domain.nomination import Arm, NominationRequest, Nominations
from recollect.domain.ranking import Candidate, Mode, Query, Ranked, RankingPolicy, rank
from recollect.domain.representation import memory_drop_reason, says_otherwise
from recollect.domain.scope import Scope
from recollect.domain.slots import current_at, newest_of_slots, slot_of, superseded_in, with_told
from recollect.ports import Concurrency, Embedder, Items, SearchIndex, Timeline

PER_ARM = 100
_RESERVE = 10
_MAX_ROUNDS = 4


class Recall:
    """Begun and concluded apart, so that a caller can put its own reads into the same two waves."""

    def __init__(
        self,
        timeline: Timeline,
        items: Items,
        index: SearchIndex,
        embedder: Embedder | None,
        concurrency: Concurrency,
        policy: RankingPolicy,
    ) -> None:
        self._records = RecordReading(timeline, items, concurrency)
        self._gate = ValueGate(items)
        self._timeline = timeline
        self._index = index
        self._embedder = embedder
        self._concurrency = concurrency
        self._policy = policy
        self._tail_vectors = TailVectors(embedder)
        self._tail_slots = TailSlots(timeline, concurrency)

    def begin(self, scope: Scope, request: RecallRequest) -> OpenRecall:
        """Encodes the query and begins the first wave."""
        missing: list[str] = [] if self._comparable(scope) else ["vectors"]
        vector = self._vector(request, missing)
        query = Query(text=request.text, terms=query_terms(request.text), vector=vector, mode=request.mode)
        nomination = NominationRequest(
            filters=request.filters,
            limit=max(PER_ARM, request.wanted),
            terms=() if request.mode is Mode.SEMANTIC and vector is not None and not missing else query.terms,
            vector=None if request.mode is Mode.LEXICAL or missing else vector,
            min_similarity=request.min_similarity,
            count=request.count,
        )
        nominations = self._concurrency.submit(lambda: self._index.nominate(scope, nomination))
        tail = self._concurrency.submit(lambda: self._timeline.tail(scope))
        rejections = self._concurrency.submit(lambda: self._gate.load(scope))
        return OpenRecall(scope, request, query, nominations, tail, rejections, missing)

    def _comparable(self, scope: Scope) -> bool:
        """Whether the index in use has vectors of this embedder; it is asked by words alone where it has another's."""
        return self._embedder is None or self._index.holds_vectors(scope.tenant)

    def _vector(self, request: RecallRequest, missing: list[str]) -> FloatArray | None:
        """The query's. Without vectors in the index it is for the tail, where a meaning or a threshold is asked for."""
        if missing and request.mode is Mode.HYBRID and request.min_similarity is None:
            return None
        return request.vector if request.vector is not None else self._encoded(request, missing)

    def _encoded(self, request: RecallRequest, missing: list[str]) -> FloatArray | None:
        wordy = request.mode is Mode.LEXICAL and request.min_similarity is None
        if wordy or not request.text.strip():
            return None
        if self._embedder is None:
            missing.append("embedder")
            return None
        try:
            return self._embedder.encode([request.text], TextKind.QUERY)[0].vector
        except (Unavailable, UpstreamFailed):
            missing.append("embedder")
            return None

    def conclude(
        self, opened: OpenRecall, also: Sequence[EventRef] = (), known: Mapping[str, Event] | None = None
    ) -> Recalled:
        """Reads back and ranks. `also` is read in the same batch, `known` need not be; both are in `events`."""
        tail = opened.tail.result()
        nominations = self._nominations(opened)
        records = Records(dict(known or {}))
        candidates = self._first_candidates(opened, nominations, records)
        ranking = self._ranked(opened, list(candidates.values()), nominations)
        first = ranking[: opened.request.wanted + _RESERVE]
        wanted = [*(r.candidate.ref for r in first), *tail.refs, *also]
        self._records.read(opened.scope, wanted, records)
        found = [records.events[ref.id] for ref in tail.refs if ref.id in records.events]
        tail_events = self._tail_slots(opened.scope, found)
        records.events |= {event.id: event for event in tail_events}
        waiting = self._tail_candidates(opened, tail_events, records, candidates)
        if waiting:
            candidates |= waiting
            ranking = self._ranked(opened, list(candidates.values()), nominations)
        settled = self._settle(opened, candidates, ranking, records, tail_events, nominations)
        reached = [one for one in ranking if one.candidate.ref.id in waiting]
        alike = sum(1 for one in reached if Arm.VECTOR not in one.candidate.arms)
        told = replace(settled, tail_cut=tail.cut, tail_alike=alike, tail_unlike=len(waiting) - len(reached))
        return without_rejected_values(told, opened.rejections.result())

    def _nominations(self, opened: OpenRecall) -> Nominations | None:
        try:
            return opened.nominations.result()
        except (Unavailable, UpstreamFailed):
            opened.missing.append("index")
            return None

    def _first_candidates(
        self, opened: OpenRecall, nominations: Nominations | None, records: Records
    ) -> dict[str, Candidate]:
        if nominations is None:
            return self._timeline_candidates(opened, records)
        return {hit.ref.id: candidate_of_hit(hit) for hit in nominations.hits}

    def _timeline_candidates(self, opened: OpenRecall, records: Records) -> dict[str, Candidate]:
        """Without an index: the newest events and memories and the important ones, ranked by the same rules."""
        newest = self._timeline.newest(opened.scope, PER_ARM)
        important = self._timeline.important(opened.scope, PER_ARM)
        memories = self._records.newest_memories(opened.scope, PER_ARM)
        records.events |= {event.id: event for event in newest}
        refs = [*(event.ref for event in newest), *important, *memories]
        self._records.read(opened.scope, refs, records)
        ids = dict.fromkeys(ref.id for ref in refs)
        chosen = [records.events[i] for i in ids if i in records.events]
        return self._from_events(opened, chosen, records, Arm.TIMELINE)

    def _tail_candidates(
        self, opened: OpenRecall, tail_events: Sequence[Event], records: Records, known: Mapping[str, Candidate]
    ) -> dict[str, Candidate]:
        """The tail's records, over what an index says of the same ones: an index may lack their vectors."""
        made = self._from_events(opened, tail_events, records, Arm.TAIL)
        ranks = {event_id: dict(known[event_id].arms) if event_id in known else {} for event_id in made}
        return {i: replace(candidate, arms={**ranks[i], **candidate.arms}) for i, candidate in made.items()}

    def _from_events(
        self, opened: OpenRecall, events: Sequence[Event], records: Records, arm: Arm
    ) -> dict[str, Candidate]:
        views = [records.shown(event) for event in events]
        shown = [e for e in views if drop_reason(opened.scope, e, opened.request.filters) is None]
        vectors = self._vectors(opened, shown)
        return {
            event.id: candidate_of_event(event, opened.query.terms, vectors.get(event.id), {arm: position})
            for position, event in enumerate(shown, start=1)
        }

    def _vectors(self, opened: OpenRecall, events: Sequence[Event]) -> dict[str, FloatArray]:
        if opened.query.vector is None:
            return {}
        try:
            return self._tail_vectors.of(opened.scope, events)
        except (Unavailable, UpstreamFailed):
            opened.missing.append("tail vectors")
            return {}

    def _ranked(
        self, opened: OpenRecall, candidates: Sequence[Candidate], nominations: Nominations | None
    ) -> list[Ranked]:
        statistics = statistics_for(opened, candidates, nominations)
        ranked = rank(candidates, effective_query(opened), statistics, self._policy)
        return [one for one in ranked if reaches(one, opened)]

    def _settle(
        self,
        opened: OpenRecall,
        candidates: dict[str, Candidate],
        ranking: list[Ranked],
        records: Records,
        tail_events: tuple[Event, ...],
        nominations: Nominations | None,
    ) -> Recalled:
        """Drops what the records forbid, ranks the rest, reads what moved up: a bounded number of rounds."""
        dropped: dict[str, DropReason] = {}
        current = newest_of_slots(tail_events)
        ranked: list[Ranked] = []
        for _ in range(_MAX_ROUNDS):
            ranked = ranking[: opened.request.wanted]
            self._records.read(opened.scope, [r.candidate.ref for r in ranked], records)
            ids = [r.candidate.ref.id for r in ranked]
            new = {i: reason for i in ids if (reason := self._forbidden(opened, i, records, current)) is not None}
            repeated = records.repeated(i for i in ids if i not in new)
            dropped |= new
            ranked = [one for one in ranked if one.candidate.ref.id not in new and one.candidate.ref.id not in repeated]
            if not new and not repeated:
                break
            candidates = {i: c for i, c in candidates.items() if i not in new and i not in repeated}
            ranking = self._ranked(opened, list(candidates.values()), nominations)
        missing, fallback = tuple(opened.missing), fallback_of(opened, nominations)
        return Recalled(
            ranked=tuple(ranked),
            events=records.events,
            memories=records.memories,
            dropped=dropped,
            nominations=nominations,
            tail_events=tail_events,
            tail_cut=False,
            tail_alike=0,
            tail_unlike=0,
            missing=missing,
            fallback=fallback,
        )

    def _forbidden(
        self, opened: OpenRecall, event_id: str, records: Records, current: dict[tuple[str, str, str], Event]
    ) -> DropReason | None:
        event = records.events.get(event_id)
        if event is None:
            return DropReason.DELETED
        filters = opened.request.filters
        shown = records.shown(event)
        reason = drop_reason(opened.scope, shown, filters)
        if reason is None and not filters.include_superseded and self._superseded(opened, event, current):
            return DropReason.SUPERSEDED
        memory = records.memories.get(event_id)
        if memory is not None and says_otherwise(memory, event):
            return reason or DropReason.SUPERSEDED
        rejected = opened.rejections.result().shown(shown) is None
        return reason or memory_drop_reason(memory, filters) or (DropReason.DELETED if rejected else None)

    def _superseded(self, opened: OpenRecall, event: Event, current: dict[tuple[str, str, str], Event]) -> bool:
        filters = opened.request.filters
        slot = slot_of(event)
        if slot is None or (filters.as_of is None and filters.recorded_as_of is None):
            return superseded_in(event, current)
        history = with_told(self._timeline.slot_history(opened.scope, slot), [event])
        at = current_at(history, filters.as_of, filters.recorded_as_of)
        return at is not None and at.ref.id != event.id and at.order > (event.timestamp, event.id)
