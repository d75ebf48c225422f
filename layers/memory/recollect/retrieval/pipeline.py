"""The search pipeline, shared by search and context: engines nominate, the domain ranks, the timeline decides.

Wave 1 (after the query is encoded; in process what needs no encoding is read meanwhile): all arms of the index, the
tail of events that are not projected yet, rejected values, and the newest memories, which spare the second wave most of
its look-ups. Wave 2: the best candidates and the tail are read back in one consistent batch. Deleted, expired,
superseded, private and out-of-scope records never appear, however stale the index. Superseded records are nominated all
the same: the successor takes the place of its predecessor, read in a third wave if neither wave read it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from recollect.core.errors import Unavailable, UpstreamFailed
from recollect.core.event import Event, EventRef, Role
from recollect.core.learned_share import SURELY_WISHES
from recollect.core.scope import Scope
from recollect.core.vectors import Encoding, FloatArray, TextKind, unit
from recollect.deletion.suppression import Rejections, SuppressionList
from recollect.memories.memory import Memory
from recollect.memories.reading import NewestMemories
from recollect.memories.representation import represented
from recollect.ports import Concurrency, Embedder, Items, Pending, SearchIndex, Timeline
from recollect.retrieval.filters import DropReason, SearchFilters, drop_reason
from recollect.retrieval.hydrate import RecordReading, Records, SlotsAsOf
from recollect.retrieval.nomination import Arm, Candidate, NominationRequest, Nominations
from recollect.retrieval.pooling import COSINE, SimilarityScale
from recollect.retrieval.ranking import Mode, Query, Ranked, RankingPolicy, on_scale, rank
from recollect.retrieval.rerank import Ranking, Reranker, VisibilityFilter, first_wanted
from recollect.retrieval.unprojected import TailSlots, TailVectors, candidate_of_event, statistics_of
from recollect.text.terms import TermStatistics, query_terms
from recollect.timeline.timeline import Tail

_TOLERANCE = 1e-9

COMPARED = 20
"""How many events without a vector a search encodes, the best by words first.

Right after an import, on every third question of the dev set, evidence recall@10 in semantic mode is .61 with 20, .62
with 40 and .63 with 80; without any it is .14, and .63 when all is projected.
"""

AlsoRead: TypeAlias = Callable[[Collection[str]], Sequence[EventRef]]
"""What else to read, given the ids of all that is known or read anyway."""

PER_ARM = 80
_MOST_TERMS = 256  # a dialogue put as one question has some 120; with 64 of them a third of its evidence was missed
_RESERVE = 1  # more are read where hits are hidden or of one memory: a wave then, instead of units for every query
MOST_WISHES = 4
"""Of so many words on how the user wants to be answered a context shows those that hold."""
_SUPERSEDED = 10  # nominated by each arm besides, so that their successors may take their places


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A query: its text or a vector, how to rank, what may be shown, how many results are wanted.

    `newest_memories` are read ahead in one page, which spares their look-ups. `near_misses` is how many results just
    behind the last one are answered too; the results do not depend on it. `rerank`: a second stage reads the best ones.
    `as_question`: its text is encoded towards what answers it, which a search does (docs/adr/0014). `wishes`: read too
    what of the user's words tells how they want to be answered, as far as the embedder knows such words.
    """

    text: str
    vector: FloatArray | None
    mode: Mode
    filters: SearchFilters
    wanted: int
    min_similarity: float | None = None
    count: bool = False
    newest_memories: int = 32
    near_misses: int = 0
    rerank: bool = False
    as_question: bool = False
    wishes: bool = False

    @property
    def kind(self) -> TextKind:
        """What its text is to the embedder."""
        return TextKind.QUESTION if self.as_question else TextKind.QUERY


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query that is being encoded, and the reads that began beside it; `missing` is as in `OpenRecall`."""

    scope: Scope
    request: RecallRequest
    encoding: Pending[Encoding | None]
    tail: Pending[Tail]
    rejections: Pending[Rejections]
    memories: Pending[NewestMemories]
    missing: list[str]


@dataclass(slots=True)
class OpenRecall:
    """A query whose first wave is under way; `missing` names the parts that did not answer.

    `nominated` is what the index answered, once that was awaited; None where it does not answer.
    """

    scope: Scope
    request: RecallRequest
    query: Query
    nomination: NominationRequest
    nominations: Pending[Nominations]
    tail: Pending[Tail]
    rejections: Pending[Rejections]
    memories: Pending[NewestMemories]
    missing: list[str] = field(default_factory=list)
    nominated: Nominations | None = None

    @property
    def effective_query(self) -> Query:
        """A semantic query without a vector is ranked by words; without vectors in the index, by all signals."""
        if self.query.mode is Mode.SEMANTIC and self.query.vector is None:
            return replace(self.query, mode=Mode.LEXICAL)
        if self.query.mode is Mode.SEMANTIC and "vectors" in self.missing:
            return replace(self.query, mode=Mode.HYBRID)
        return self.query

    @property
    def index_counts_tail(self) -> bool:
        return self.nominated is not None and self.nominated.includes_tail

    @property
    def superseded_ids(self) -> frozenset[str]:
        """Of the nominated ones."""
        return frozenset(hit.ref.id for hit in self.nominated.superseded) if self.nominated else frozenset()


@dataclass(frozen=True, slots=True)
class Recalled:
    """What may be shown, best first, each record in its current version; what read-back dropped, and why.

    `query` is the one that it was ranked by.
    `memories` has the memory of each record, in the version that the filters see; records of one memory are ranked
    once. `stored` has the memories as stored. `replaces` maps a result's id to the older records whose place it takes.
    `recovered` counts results that the engine's tally counts as dropped. `near_misses` come just behind the results,
    below the threshold too. `pending` counts the user's events that wait to be projected; with `tail_cut` an engine may
    know no more than the length of the tail. `tail_matched` counts events of the tail that rank by a vector which the
    index does not have, `tail_unmatched` those that the filters admit and that do not rank. `wishes` are ids of events
    that say how the user wants to be answered, the surest first; a context shows those that hold. `redacted` are ids of
    events that lack a sentence which was rejected: places in their words as they were said are none in these.
    """

    query: Query
    ranked: tuple[Ranked, ...]
    events: Mapping[str, Event]
    memories: Mapping[str, Memory]
    stored: Mapping[str, Memory] = field(repr=False)
    dropped: Mapping[str, DropReason]
    replaces: Mapping[str, tuple[EventRef, ...]]
    recovered: int
    slots: SlotsAsOf = field(repr=False)
    nominations: Nominations | None
    tail_events: tuple[Event, ...]
    tail_cut: bool
    pending: int
    tail_matched: int
    tail_unmatched: int
    missing: tuple[str, ...]
    fallback: str | None
    near_misses: tuple[Ranked, ...] = ()
    wishes: tuple[str, ...] = ()
    redacted: frozenset[str] = frozenset()

    def identity(self, one: Ranked) -> str:
        """The id of a hit's memory; without one the record's."""
        record_id = one.candidate.ref.id
        return self.memories[record_id].id if record_id in self.memories else record_id

    def text(self, one: Ranked) -> str:
        """What a hit says, after the name of who said it: none for the user."""
        event = self.events[one.candidate.ref.id]
        said_by = event.speaker or ("assistant" if event.role is Role.BOT else "")
        content = represented(event, self.memories.get(event.id)).content
        return f"{said_by}: {content}" if said_by else content


class SearchPipeline:
    """Asked, begun and concluded apart, so that a caller can put its own reads into the same two waves."""

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
        self._read_back = Reranker(self._records)
        self._gate = SuppressionList(items)
        self._timeline = timeline
        self._index = index
        self._embedder = embedder
        self._concurrency = concurrency
        self._policy = policy
        self._wishes = embedder.learned.wishes if embedder is not None else None
        self._tail_vectors = TailVectors(embedder)
        self._tail_slots = TailSlots(timeline, concurrency)

    def begin(self, scope: Scope, request: RecallRequest) -> OpenRecall:
        """Encodes the query and begins the first wave."""
        return self.nominate(self.ask(scope, request))

    def ask(self, scope: Scope, request: RecallRequest) -> AskedQuery:
        """Begins the encoding, and what does not need it; from here on a threshold is a cosine.

        What the caller submits before `nominate` is of the first wave too, and in process runs beside the encoding.
        """
        if request.min_similarity is not None:
            request = replace(request, min_similarity=self._scale(request).cosine(request.min_similarity))
        # An index with vectors of another embedder is asked by words alone.
        comparable = self._embedder is None or self._index.holds_vectors(scope.tenant)
        missing: list[str] = [] if comparable else ["vectors"]
        encoding = self._encoding(request, missing)
        # The tail before the nominations: what leaves it meanwhile is in the index that is asked then.
        tail = self._concurrency.submit(lambda: self._timeline.tail(scope))
        rejections = self._concurrency.submit(lambda: self._gate.load(scope))
        memories = self._concurrency.submit(lambda: self._newest(scope, request))
        return AskedQuery(scope, request, encoding, tail, rejections, memories, missing)

    def nominate(self, asked: AskedQuery) -> OpenRecall:
        """Awaits the encoding and asks the index."""
        scope, request, missing, encoding = asked.scope, asked.request, asked.missing, asked.encoding.result()
        vector, tokens = (encoding.vector, encoding.tokens) if encoding else (None, None)
        terms = query_terms(request.text, _MOST_TERMS)
        query = Query(
            text=request.text,
            terms=terms,
            vector=vector,
            mode=request.mode,
            tokens=tokens,
            moment=request.filters.moment,
            of_now=self._of_now(request, encoding),
        )
        nomination = NominationRequest(
            filters=request.filters,
            limit=max(PER_ARM, request.wanted),
            superseded=_SUPERSEDED,
            terms=() if request.mode is Mode.SEMANTIC and vector is not None and not missing else query.terms,
            vector=None if request.mode is Mode.LEXICAL or missing else vector,
            standing=self._wishes.weights if request.wishes and self._wishes is not None and not missing else None,
            min_similarity=request.min_similarity,
            count=request.count,
        )
        nominations = self._concurrency.submit(lambda: self._index.nominate(scope, nomination))
        first = asked.tail, asked.rejections, asked.memories
        return OpenRecall(scope, request, query, nomination, nominations, *first, missing)

    def _scale(self, request: RecallRequest) -> SimilarityScale:
        """A given vector is of an unknown model: its scale is the cosine itself (A-28)."""
        if self._embedder is None or request.vector is not None:
            return COSINE
        return self._embedder.question_scale if request.as_question else self._embedder.similarity_scale

    def _of_now(self, request: RecallRequest, encoding: Encoding | None) -> float:
        """0 where nothing tells: a given vector, an embedder whose questions nobody has sorted."""
        of_now = self._embedder.learned.of_now if self._embedder is not None and request.vector is None else None
        return of_now.of((encoding.as_query or encoding).vector) if of_now is not None and encoding is not None else 0.0

    def _newest(self, scope: Scope, request: RecallRequest) -> NewestMemories:
        """Read ahead only where reads run side by side: else the second wave asks for those that it needs."""
        ahead = self._concurrency.side_by_side
        return self._records.newest(scope, request.newest_memories) if ahead else NewestMemories()

    def _encoding(self, request: RecallRequest, missing: list[str]) -> Pending[Encoding | None]:
        """The vector also serves the tail, if the index has no vectors and a meaning or a threshold is asked for."""
        by_words = bool(missing) and request.mode is Mode.HYBRID and request.min_similarity is None
        wordy = request.mode is Mode.LEXICAL and request.min_similarity is None
        if not by_words and request.vector is None and not wordy and request.text.strip():
            return self._concurrency.beside(lambda: self._made(request, missing))
        given = None if by_words or request.vector is None else Encoding(request.vector, None)
        return self._concurrency.submit(lambda: given)

    def _made(self, request: RecallRequest, missing: list[str]) -> Encoding | None:
        with suppress(Unavailable, UpstreamFailed):
            if self._embedder is not None:
                (encoding,) = self._embedder.encode([request.text], request.kind, with_tokens=True)
                return encoding
        missing.append("embedder")
        return None

    def conclude(
        self, opened: OpenRecall, also: AlsoRead | None = None, known: Mapping[str, Event] | None = None
    ) -> Recalled:
        """Reads back and ranks. What `also` names is read in the same batch, `known` is not; both are in `events`."""
        tail = opened.tail.result()
        opened.nominated = self._nominations(opened)
        records = Records(dict(known or {}), newest=opened.memories.result(), filters=opened.request.filters)
        candidates = self._first_candidates(opened, records)
        ranking = self._ranked(opened, list(candidates.values()))
        standing = self._surest_wishes(opened.nominated.standing if opened.nominated else ())
        places = max(0, opened.request.wanted - len(standing))  # each wish takes one: what is read stays the same
        first = first_wanted(ranking, places + _RESERVE, opened.superseded_ids)
        by_words = self._waiting_words(opened, tail)
        wanted = [*(r.candidate.ref for r in first), *(hit.ref for hit in (*by_words, *standing)), *tail.refs]
        more = also({ref.id for ref in wanted} | records.events.keys()) if also is not None else ()
        self._records.read(opened.scope, [*wanted, *more], records)
        found = [records.events[ref.id] for ref in tail.refs if ref.id in records.events]
        tail_events = self._tail_slots.read(opened.scope, found)
        records.events |= {event.id: event for event in tail_events}
        waiting = self._tail_candidates(opened, tail_events, records, candidates)
        waiting |= self._compared(opened, by_words, records)
        if waiting:
            candidates |= waiting
            ranking = self._ranked(opened, list(candidates.values()))
        to_rank = Ranking(
            candidates=candidates,
            order=ranking,
            rank=lambda left: self._ranked(opened, left),
            rank_all=lambda left: self._ordered(opened, left),
            wanted=places,
            counted_superseded=_counted_superseded(opened, tail_events),
            near_misses=opened.request.near_misses,
        )
        recalled = self._recalled(opened, records, to_rank, tail_events, waiting)
        if opened.request.wishes:
            own_words = (one for one in waiting.values() if one.role != Role.BOT)
            sure = self._surest_wishes([*standing, *own_words])
            recalled = replace(recalled, wishes=tuple(one.ref.id for one in sure))
        return _without_rejected_values(recalled, opened.rejections.result())

    def _recalled(
        self,
        opened: OpenRecall,
        records: Records,
        ranking: Ranking,
        tail_events: tuple[Event, ...],
        waiting: Mapping[str, Candidate],
    ) -> Recalled:
        tail, filters = opened.tail.result(), opened.request.filters
        more = tail.cut and opened.index_counts_tail
        slots = SlotsAsOf(self._timeline, self._concurrency, opened.scope, filters, tail_events, more)
        visibility = VisibilityFilter(opened.scope, filters, records, slots, opened.rejections.result())
        back = self._read_back.rerank(visibility, ranking)
        scale, mode = self._scale(opened.request), opened.effective_query.mode
        live = {i for i in waiting if records.shown(records.events[i]).superseded_by is None}
        reached = [one for one in ranking.order if one.id in live]
        shown = [one.id for one in (*back.ranked, *back.near_misses)]
        return Recalled(
            query=opened.effective_query,
            ranked=on_scale(back.ranked, scale, mode),
            events=without_later_successors(records.events, filters, shown),
            memories={i: records.seen(memory) for i, memory in records.memories.items()},
            stored=records.memories,
            dropped=back.dropped,
            replaces=back.replaces,
            recovered=back.recovered,
            slots=slots,
            nominations=opened.nominated,
            tail_events=tail_events,
            tail_cut=tail.cut,
            pending=tail.waiting,
            tail_matched=sum(1 for one in reached if Arm.VECTOR not in one.candidate.arms),
            tail_unmatched=len(live) - len(reached),
            missing=tuple(dict.fromkeys(opened.missing)),
            fallback=_fallback_of(opened),
            near_misses=on_scale(back.near_misses, scale, mode),
        )

    def _surest_wishes(self, found: Iterable[Candidate]) -> list[Candidate]:
        """Those in which the user, no named speaker, surely says how they want to be answered, the surest first."""
        known = {one.ref.id: one for one in found if one.speaker is None}
        vectors = {i: one.vector for i, one in known.items() if one.vector is not None}
        shares = {i: self._wishes.of(unit(vector)) for i, vector in vectors.items()} if self._wishes is not None else {}
        sure = [i for i, share in shares.items() if share >= SURELY_WISHES]
        return [known[i] for i in sorted(sure, key=lambda i: (-shares[i], i))[:MOST_WISHES]]

    def _nominations(self, opened: OpenRecall) -> Nominations | None:
        try:
            return opened.nominations.result()
        except (Unavailable, UpstreamFailed):
            opened.missing.append("index")
            return None

    def _first_candidates(self, opened: OpenRecall, records: Records) -> dict[str, Candidate]:
        if opened.nominated is None:
            return self._timeline_candidates(opened, records)
        return {hit.ref.id: hit for hit in (*opened.nominated.superseded, *opened.nominated.hits)}

    def _timeline_candidates(self, opened: OpenRecall, records: Records) -> dict[str, Candidate]:
        """Without an index: the newest and the important events and the newest memories, ranked by the same rules."""
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
        """The tail's features take precedence over the index's, which may lack vectors."""
        made = self._from_events(opened, tail_events, records, Arm.TAIL)
        ranks = {event_id: dict(known[event_id].arms) if event_id in known else {} for event_id in made}
        return {i: replace(candidate, arms={**ranks[i], **candidate.arms}) for i, candidate in made.items()}

    def _compared(self, opened: OpenRecall, hits: Sequence[Candidate], records: Records) -> dict[str, Candidate]:
        events = [records.as_indexed(records.events[hit.ref.id]) for hit in hits if hit.ref.id in records.events]
        vectors = self._vectors(opened, events)
        return {hit.ref.id: replace(hit, vector=vectors[hit.ref.id]) for hit in hits if hit.ref.id in vectors}

    def _waiting_words(self, opened: OpenRecall, tail: Tail) -> tuple[Candidate, ...]:
        """Events of a bulk import that have no vector yet, to encode, by words, best first (`COMPARED`).

        The newest 100 events that wait get their vectors at every search (`TailVectors`); an import leaves thousands
        behind them. None where the tail holds all that wait, or no similarity is asked for.
        """
        nominated, query = opened.nominated, opened.query
        alike = query.mode is Mode.SEMANTIC or opened.request.min_similarity is not None
        if not alike or query.vector is None or "vectors" in opened.missing:
            return ()
        if nominated is None or not nominated.includes_tail or not tail.cut:
            return ()
        newest = {ref.id for ref in tail.refs}
        hits = self._by_words(opened, nominated)
        waiting = [hit for hit in hits if hit.vector is None and Arm.LEXICAL in hit.arms and hit.ref.id not in newest]
        return tuple(sorted(waiting, key=lambda hit: hit.arms[Arm.LEXICAL])[:COMPARED])

    def _by_words(self, opened: OpenRecall, nominated: Nominations) -> Iterable[Candidate]:
        if opened.nomination.terms or not opened.query.terms:
            return nominated.hits
        asked = replace(opened.nomination, terms=opened.query.terms, vector=None, superseded=0, count=False)
        try:
            return self._index.nominate(opened.scope, asked).hits
        except (Unavailable, UpstreamFailed):
            return ()

    def _from_events(
        self, opened: OpenRecall, events: Sequence[Event], records: Records, arm: Arm
    ) -> dict[str, Candidate]:
        reasons = {e.id: drop_reason(opened.scope, records.shown(e), opened.request.filters) for e in events}
        searchable = (e for e in events if not e.derives_nothing)
        indexed = [records.as_indexed(e) for e in searchable if reasons[e.id] in (None, DropReason.SUPERSEDED)]
        vectors = self._vectors(opened, indexed)
        return {
            event.id: candidate_of_event(event, opened.query.terms, vectors.get(event.id), {arm: position})
            for position, event in enumerate(indexed, start=1)
        }

    def _vectors(self, opened: OpenRecall, events: Sequence[Event]) -> dict[str, FloatArray]:
        if opened.query.vector is None:
            return {}
        try:
            return self._tail_vectors.of(opened.scope, events)
        except (Unavailable, UpstreamFailed):
            opened.missing.append("tail vectors")
            return {}

    def _ranked(self, opened: OpenRecall, candidates: Sequence[Candidate]) -> list[Ranked]:
        return _above_threshold(self._ordered(opened, candidates), opened)

    def _ordered(self, opened: OpenRecall, candidates: Sequence[Candidate]) -> list[Ranked]:
        return rank(candidates, opened.effective_query, _statistics_for(opened, candidates), self._policy)


def without_later_successors(
    events: Mapping[str, Event], filters: SearchFilters, shown: Iterable[str]
) -> dict[str, Event]:
    """The events; supersession after the instant of the query is left out (`docs/contradictions.md`, *Then and now*).

    A shown event was its slot's value at that instant, unless superseded ones are asked for.
    """
    current = set() if filters.include_superseded or not filters.looks_back else set(shown)
    return {i: _as_current(event) if i in current or _later(event, filters) else event for i, event in events.items()}


def _without_rejected_values(recalled: Recalled, rejections: Rejections) -> Recalled:
    """Without the sentences that the user rejected, and without records that hold nothing else (P-22)."""
    if not rejections:
        return recalled
    memories, stored = _redacted(recalled.memories, rejections), _redacted(recalled.stored, rejections)
    rejected = recalled.memories.keys() - memories.keys()
    found = rejections.shown_of(event for event in recalled.events.values() if event.id not in rejected)
    tail = rejections.shown_of(event for event in recalled.tail_events if event.id not in rejected)
    events = {event.id: event for event in found}
    cut = frozenset(i for i, event in events.items() if event.content != recalled.events[i].content)
    known = replace(recalled, events=events, tail_events=tuple(tail), redacted=cut)
    return replace(known, memories=memories, stored=stored)


def _redacted(memories: Mapping[str, Memory], rejections: Rejections) -> dict[str, Memory]:
    shown = {i: one for i, memory in memories.items() if (one := rejections.shown_memory(memory)) is not None}
    return {i: one if one.content == memories[i].content else _without_places(one) for i, one in shown.items()}


def _without_places(memory: Memory) -> Memory:
    """Of other words than those that the places of its lapses are of: that it lapses stays known, not which words."""
    return replace(memory, lapses=tuple(replace(one, start=0, end=0) for one in memory.lapses))


def _later(event: Event, filters: SearchFilters) -> bool:
    return filters.as_of is not None and event.superseded_at is not None and event.superseded_at > filters.as_of


def _as_current(event: Event) -> Event:
    return event if event.superseded_by is None else replace(event, superseded_by=None, superseded_at=None)


def _fallback_of(opened: OpenRecall) -> str | None:
    """What was used instead of what the query asked for; None where nothing was."""
    if opened.nominated is None:
        return "timeline"
    by_words = opened.query.vector is None or "vectors" in opened.missing
    return "lexical" if by_words and opened.query.mode is not Mode.LEXICAL else None


def _above_threshold(ranked: Iterable[Ranked], opened: OpenRecall) -> list[Ranked]:
    """Those that meet the threshold (cosine, inclusive, A-28), and in lexical mode hold a term of the query."""
    least, wordy = opened.request.min_similarity, opened.effective_query.mode is Mode.LEXICAL
    similar = (one for one in ranked if least is None or one.signals.get("similarity", -2.0) >= least - _TOLERANCE)
    return [one for one in similar if not wordy or one.signals.get("bm25", 0.0) > 0]


def _statistics_for(opened: OpenRecall, candidates: Sequence[Candidate]) -> TermStatistics:
    """The scope's statistics; those of the candidates where the engine counts fewer documents."""
    known = opened.nominated.statistics if opened.nominated else TermStatistics(0, 0, {})
    return known if known.documents >= len(candidates) else statistics_of(candidates, opened.query.terms)


def _counted_superseded(opened: OpenRecall, tail_events: Sequence[Event]) -> frozenset[str]:
    """Ids that the counts take for superseded: the engine's, and the tail's where the engine does not count it."""
    if opened.index_counts_tail:
        return opened.superseded_ids
    reasons = {event.id: drop_reason(opened.scope, event, opened.request.filters) for event in tail_events}
    return opened.superseded_ids | {i for i, reason in reasons.items() if reason is DropReason.SUPERSEDED}
