"""Recall: engines nominate, the domain ranks, the timeline decides.

Wave 1 (after the query is encoded): all arms of the index, and the tail of what the index does not show yet.
Wave 2: the best candidates and the tail are read back in one consistent batch; what is deleted, expired,
superseded, private or out of scope never appears, however stale the index. Search and context share it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.application.candidates import candidate_of_event, candidate_of_hit, statistics_of
from recollect.application.tail_slots import TailSlots
from recollect.application.tail_vectors import TailVectors
from recollect.domain.embedding import FloatArray, TextKind
from recollect.domain.errors import Unavailable, UpstreamFailed
from recollect.domain.event import Event, EventRef
from recollect.domain.filters import DropReason, SearchFilters, drop_reason
from recollect.domain.lexical import TermStatistics, query_terms
from recollect.domain.nomination import Arm, NominationRequest, Nominations
from recollect.domain.ranking import Candidate, Mode, Query, Ranked, RankingPolicy, rank
from recollect.domain.scope import Scope
from recollect.domain.slots import current_at, newest_of_slots, slot_of, superseded_in
from recollect.domain.timeline import Tail
from recollect.ports import Concurrency, Embedder, Pending, SearchIndex, Timeline

PER_ARM = 100
_RESERVE = 10
_MAX_ROUNDS = 4
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A question put to memory: its text or a vector, how to rank, what may be shown, how many are wanted."""

    text: str
    vector: FloatArray | None
    mode: Mode
    filters: SearchFilters
    wanted: int
    min_similarity: float | None = None
    count: bool = False


@dataclass(slots=True)
class OpenRecall:
    """A recall under way, after its first wave was begun; `missing` names parts that did not answer."""

    scope: Scope
    request: RecallRequest
    query: Query
    nominations: Pending[Nominations]
    tail: Pending[Tail]
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Recalled:
    """What may be shown, best first, with each record as it is now; what was dropped at read-back, and why."""

    ranked: tuple[Ranked, ...]
    events: Mapping[str, Event]
    dropped: Mapping[str, DropReason]
    nominations: Nominations | None
    tail_events: tuple[Event, ...]
    tail_cut: bool
    missing: tuple[str, ...]
    fallback: str | None


class Recall:
    """Begun and concluded apart, so that a caller can put its own reads into the same two waves."""

    def __init__(
        self,
        timeline: Timeline,
        index: SearchIndex,
        embedder: Embedder | None,
        concurrency: Concurrency,
        policy: RankingPolicy,
    ) -> None:
        self._timeline = timeline
        self._index = index
        self._embedder = embedder
        self._concurrency = concurrency
        self._policy = policy
        self._tail_vectors = TailVectors(embedder)
        self._tail_slots = TailSlots(timeline, concurrency)

    def begin(self, scope: Scope, request: RecallRequest) -> OpenRecall:
        """Encodes the query and begins the first wave."""
        missing: list[str] = []
        vector = request.vector if request.vector is not None else self._encoded(request, missing)
        query = Query(text=request.text, terms=query_terms(request.text), vector=vector, mode=request.mode)
        nomination = NominationRequest(
            filters=request.filters,
            limit=max(PER_ARM, request.wanted),
            terms=() if request.mode is Mode.SEMANTIC and vector is not None else query.terms,
            vector=None if request.mode is Mode.LEXICAL else vector,
            min_similarity=request.min_similarity,
            count=request.count,
        )
        nominations = self._concurrency.submit(lambda: self._index.nominate(scope, nomination))
        tail = self._concurrency.submit(lambda: self._timeline.tail(scope))
        return OpenRecall(scope, request, query, nominations, tail, missing)

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
        events: dict[str, Event] = dict(known or {})
        candidates = self._first_candidates(opened, nominations, events)
        ranking = self._ranked(opened, list(candidates.values()), nominations)
        first = ranking[: opened.request.wanted + _RESERVE]
        wanted = [*(r.candidate.ref for r in first), *tail.refs, *also]
        self._read(opened.scope, wanted, events)
        tail_events = self._tail_slots(opened.scope, [events[ref.id] for ref in tail.refs if ref.id in events])
        events |= {event.id: event for event in tail_events}
        waiting = self._tail_candidates(opened, tail_events, candidates)
        if waiting:
            candidates |= waiting
            ranking = self._ranked(opened, list(candidates.values()), nominations)
        return self._settle(opened, candidates, ranking, events, tail_events, tail.cut, nominations)

    def _nominations(self, opened: OpenRecall) -> Nominations | None:
        try:
            return opened.nominations.result()
        except (Unavailable, UpstreamFailed):
            opened.missing.append("index")
            return None

    def _first_candidates(
        self, opened: OpenRecall, nominations: Nominations | None, events: dict[str, Event]
    ) -> dict[str, Candidate]:
        if nominations is None:
            return self._timeline_candidates(opened, events)
        return {hit.ref.id: candidate_of_hit(hit) for hit in nominations.hits}

    def _timeline_candidates(self, opened: OpenRecall, events: dict[str, Event]) -> dict[str, Candidate]:
        """Without an index: the newest events and the important ones, ranked by the same rules."""
        newest = self._timeline.newest(opened.scope, PER_ARM)
        important = self._timeline.important(opened.scope, PER_ARM)
        events |= {event.id: event for event in newest}
        self._read(opened.scope, important, events)
        chosen = [
            events[i] for i in dict.fromkeys([*(e.id for e in newest), *(r.id for r in important)]) if i in events
        ]
        return self._from_events(opened, chosen, Arm.TIMELINE)

    def _tail_candidates(
        self, opened: OpenRecall, tail_events: Sequence[Event], known: Mapping[str, Candidate]
    ) -> dict[str, Candidate]:
        """The tail's records, over what an index says of the same ones: an index may lack their vectors."""
        made = self._from_events(opened, tail_events, Arm.TAIL)
        ranks = {event_id: dict(known[event_id].arms) if event_id in known else {} for event_id in made}
        return {i: replace(candidate, arms={**ranks[i], **candidate.arms}) for i, candidate in made.items()}

    def _from_events(self, opened: OpenRecall, events: Sequence[Event], arm: Arm) -> dict[str, Candidate]:
        shown = [e for e in events if drop_reason(opened.scope, e, opened.request.filters) is None]
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

    def _read(self, scope: Scope, refs: Sequence[EventRef], events: dict[str, Event]) -> None:
        unread = {ref.id: ref for ref in refs if ref.id not in events}
        if unread:
            events |= self._timeline.read(scope, list(unread.values()))

    def _ranked(
        self, opened: OpenRecall, candidates: Sequence[Candidate], nominations: Nominations | None
    ) -> list[Ranked]:
        statistics = _statistics(opened, candidates, nominations)
        ranked = rank(candidates, _effective(opened), statistics, self._policy)
        return [one for one in ranked if _reaches(one, opened)]

    def _settle(
        self,
        opened: OpenRecall,
        candidates: dict[str, Candidate],
        ranking: list[Ranked],
        events: dict[str, Event],
        tail_events: tuple[Event, ...],
        tail_cut: bool,
        nominations: Nominations | None,
    ) -> Recalled:
        """Drops what the records forbid, ranks the rest, reads what moved up: a bounded number of rounds."""
        dropped: dict[str, DropReason] = {}
        current = newest_of_slots(tail_events)
        ranked: list[Ranked] = []
        for _ in range(_MAX_ROUNDS):
            ranked = ranking[: opened.request.wanted]
            self._read(opened.scope, [r.candidate.ref for r in ranked], events)
            ids = [r.candidate.ref.id for r in ranked]
            new = {i: reason for i in ids if (reason := self._forbidden(opened, events.get(i), current)) is not None}
            dropped |= new
            ranked = [one for one in ranked if one.candidate.ref.id not in new]
            if not new:
                break
            alive = [c for event_id, c in candidates.items() if event_id not in dropped]
            ranking = self._ranked(opened, alive, nominations)
        missing, fallback = tuple(opened.missing), _fallback(opened, nominations)
        return Recalled(tuple(ranked), events, dropped, nominations, tail_events, tail_cut, missing, fallback)

    def _forbidden(
        self, opened: OpenRecall, event: Event | None, current: dict[tuple[str, str, str], Event]
    ) -> DropReason | None:
        if event is None:
            return DropReason.DELETED
        filters = opened.request.filters
        reason = drop_reason(opened.scope, event, filters)
        if reason is None and not filters.include_superseded and self._superseded(opened, event, current):
            return DropReason.SUPERSEDED
        return reason

    def _superseded(self, opened: OpenRecall, event: Event, current: dict[tuple[str, str, str], Event]) -> bool:
        filters = opened.request.filters
        slot = slot_of(event)
        if slot is None or (filters.as_of is None and filters.recorded_as_of is None):
            return superseded_in(event, current)
        history = self._timeline.slot_history(opened.scope, slot)
        at = current_at(history, filters.as_of, filters.recorded_as_of)
        return at is not None and at.ref.id != event.id and at.order > (event.timestamp, event.id)


def _effective(opened: OpenRecall) -> Query:
    """A semantic question without a vector is ranked by its words: said so in `fallback`."""
    query = opened.query
    if query.mode is Mode.SEMANTIC and query.vector is None:
        return Query(text=query.text, terms=query.terms, vector=None, mode=Mode.LEXICAL)
    return query


def _fallback(opened: OpenRecall, nominations: Nominations | None) -> str | None:
    if nominations is None:
        return "timeline"
    return "lexical" if opened.query.vector is None and opened.query.mode is not Mode.LEXICAL else None


def _reaches(ranked: Ranked, opened: OpenRecall) -> bool:
    """Whether it meets the threshold (cosine, inclusive, A-28), or in lexical mode has a term of the query."""
    least = opened.request.min_similarity
    if least is not None and ranked.signals.get("similarity", -2.0) < least - _TOLERANCE:
        return False
    return "bm25" in ranked.signals and ranked.signals["bm25"] > 0 if _effective(opened).mode is Mode.LEXICAL else True


def _statistics(opened: OpenRecall, candidates: Sequence[Candidate], nominations: Nominations | None) -> TermStatistics:
    """The scope's statistics; those of the candidates themselves where the engine has fewer documents."""
    known = nominations.statistics if nominations else TermStatistics(0, 0, {})
    return known if known.documents >= len(candidates) else statistics_of(candidates, opened.query.terms)
