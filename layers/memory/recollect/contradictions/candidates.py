"""Which records may contradict those that are projected now, and which of them are current (P-24).

A newer statement is judged against the nearest older ones of its speaker and scope: a model of pairs takes
milliseconds for each.

The unprojected are read before the index is asked: of two that come at once, at least the later one sees both. What a
record does to one older record depends on the others that it is compared with. So one that waits does it when it is
projected, and one of before is compared with the nearest to it once more. A record is compared in its own words, also
where its memory took up another one's part since: so what it does to others does not depend on what came first. What a
memory's content says beside that is compared too.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from recollect.contradictions.decisions import BY_KEY, Verdict
from recollect.contradictions.judge import Profile, Relation, RelationJudge, RelationKind, Said, TimeBound
from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray
from recollect.deletion.suppression import SuppressionList
from recollect.memories.memory import Memory, MemoryStatus, Origin
from recollect.memories.reading import CurrentMemories, ReadMemories, StoredMemory
from recollect.memories.representation import is_over
from recollect.ports import Concurrency, Items, SearchIndex, Timeline
from recollect.retrieval.filters import SearchFilters, narrowed_to
from recollect.retrieval.nomination import Candidate, NominationRequest
from recollect.rules.groups import ConflictRules, Rules
from recollect.text.terms import query_terms
from recollect.timeline.listing import readable_events
from recollect.timeline.slots import bound_of, named_slot

CANDIDATES = 20
"""Nominated by each arm of the index."""

JUDGED = 12
"""Of them so many are judged, those of the nearest meaning."""

_SURE = 1.0
"""Whoever asks with that as the least confidence asks for no words that end."""

_LATE = timedelta(minutes=10)
"""A record that arrives so long after it was said may already have been ended by a newer one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedRecords:
    """One user's `events` that are projected now, their memories and vectors by event id, the tenant's `rules`."""

    scope: Scope
    events: Sequence[Event]
    memories: Mapping[str, StoredMemory]
    vectors: Mapping[str, FloatArray]
    rules: Rules
    now: datetime


@dataclass(frozen=True, slots=True)
class Candidates:
    """Records as they are now, and vectors, by id; for each record of the projection the ids of its candidates.

    `waiting`: the ids of those that are not projected yet. `beside`: what newer ones of before are compared with.
    """

    events: Mapping[str, Event]
    of: Mapping[str, frozenset[str]]
    vectors: Mapping[str, FloatArray]
    waiting: frozenset[str] = frozenset()
    beside: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def with_beside(self, newer: "Candidates") -> "Candidates":
        """With the candidates of newer records of before."""
        events, vectors = {**newer.events, **self.events}, {**newer.vectors, **self.vectors}
        return replace(self, events=events, vectors=vectors, beside=newer.of)


class FindContradicting:
    """Asks the index only for records that may end something, or that come late, side by side.

    `without` are ids never answered.
    """

    def __init__(
        self,
        timeline: Timeline,
        index: SearchIndex,
        concurrency: Concurrency,
        without: Collection[str] = frozenset(),
    ) -> None:
        self._timeline = timeline
        self._index = index
        self._concurrency = concurrency
        self._without = without

    def sparing(self, event_ids: Collection[str]) -> "FindContradicting":
        """The same, which never answers these."""
        return FindContradicting(self._timeline, self._index, self._concurrency, event_ids)

    def find(self, batch: ProjectedRecords, profiles: Mapping[str, Profile], *, ended: bool = False) -> Candidates:
        """Other records that may contradict these; `profiles` has what each states. Raises Unavailable.

        `ended`: those too that something newer has ended already.
        """
        scope, events, now = batch.scope, batch.events, batch.now
        asking = [event for event in events if profiles[event.id].may_end or self._comes_late(event)]
        unprojected = {ref.id: ref for ref in self._timeline.tail(scope).refs} if asking else {}
        found = {event.id: self._of_slot(scope, event) for event in events}
        vectors = dict(batch.vectors)
        begun = {
            event.id: self._concurrency.submit(
                partial(self._near, scope, event, profiles[event.id], batch.vectors.get(event.id), now, ended)
            )
            for event in asking
        }
        for event_id, asked in begun.items():
            near = asked.result()
            found[event_id] |= {hit.ref.id: hit.ref for hit in near}
            vectors |= {hit.ref.id: hit.vector for hit in near if hit.vector is not None}
        passed = found.keys() | self._without
        refs = {i: ref for some in (unprojected, *found.values()) for i, ref in some.items() if i not in passed}
        read = readable_events(self._timeline, scope, list(refs.values()))
        of = {i: frozenset((*unprojected, *some)) for i, some in found.items()}
        return Candidates(read, of, vectors, frozenset(unprojected))

    def similar(
        self, scope: Scope, event: Event, vector: FloatArray | None, now: datetime, *, ended: bool = False
    ) -> list[Candidate]:
        """The index's nearest by words and by meaning, within the event's own persona, household and labels.

        `ended`: those too that something newer has ended already.
        """
        owner = Scope(scope.tenant, scope.user_id, event.persona_id, event.household_id)
        request = NominationRequest(
            filters=SearchFilters(now=now, include_superseded=ended, **narrowed_to(event.labels)),
            limit=CANDIDATES,
            terms=query_terms(event.searchable_text),
            vector=vector if vector is not None and self._index.holds_vectors(scope.tenant) else None,
        )
        hits = self._index.nominate(owner, request).hits
        return [hit for hit in hits if hit.ref.id != event.id and hit.ref.id not in self._without]

    def _near(
        self, scope: Scope, event: Event, profile: Profile, vector: FloatArray | None, now: datetime, ended: bool
    ) -> list[Candidate]:
        """What it may end, or what may have ended it: of one that ends nothing only what was said after it."""
        hits = self.similar(scope, event, vector, now, ended=ended or self._comes_late(event))
        near = [hit for hit in hits if profile.may_end or hit.ref.timestamp >= event.timestamp]
        return sorted(near, key=lambda hit: -likeness(vector, hit.vector))[:JUDGED]

    def _comes_late(self, event: Event) -> bool:
        """Whether a newer one may be there that was not compared with it: also after a failure, which spares others."""
        return bool(self._without) or _is_late(event)

    def _of_slot(self, scope: Scope, event: Event) -> dict[str, EventRef]:
        """The values of its key: its words may say more of them than that they are superseded."""
        slot = named_slot(event)
        found = self._timeline.of_slot(scope, slot) if slot is not None else ()
        return {other.ref.id: other.ref for other in found}


def likeness(one: FloatArray | None, other: FloatArray | None) -> float:
    """The cosine of two unit vectors, within -1 and 1; 1 where one is missing, so that nothing is passed over."""
    return float(one @ other) if one is not None and other is not None else 1.0


def _is_late(event: Event) -> bool:
    return event.recorded_at - event.timestamp > _LATE


BOUNDED = "key.bounded"
_BY_ITS_SLOT = (RelationKind.SUPERSEDES, RelationKind.OVERRIDES)
_NOT_CURRENT = (MemoryStatus.REJECTED, MemoryStatus.EXPIRED)

Pair = tuple[Said, Said]
"""An older and a newer statement."""


@dataclass(slots=True)
class CandidateSet:
    """The records of a projection with their candidates: events, the memories that they are in, what each says.

    `candidates` has for each record that is projected now the ids of its own candidates: it is compared with those and
    with the others of its batch. So what it does depends on no other record of its batch.
    """

    events: dict[str, Event]
    memories: dict[str, StoredMemory]
    judge: RelationJudge
    candidates: Mapping[str, Collection[str]] = field(default_factory=dict)
    vectors: Mapping[str, FloatArray] = field(default_factory=dict)
    waiting: Collection[str] = ()
    beside: Mapping[str, Collection[str]] = field(default_factory=dict)
    said: dict[str, Said] = field(default_factory=dict)
    latest: dict[str, tuple[datetime, str]] = field(default_factory=dict)
    """For each memory, or record without one, when what it says was said last."""

    def __post_init__(self) -> None:
        self.said = {i: said for i, event in self.events.items() if (said := self._said(event))}
        for said in self.said.values():
            own = self.identity(said.id)
            self.latest[own] = max(self.latest.get(own, said.order), said.order)

    def memory(self, record_id: str) -> Memory | None:
        """The memory of that very record."""
        stored = self.memories.get(record_id)
        return stored.memory if stored is not None and stored.memory.id == record_id else None

    def identity(self, record_id: str) -> str:
        """The memory that a record is in, with others that say the same; without one the record."""
        stored = self.memories.get(record_id)
        return stored.memory.id if stored is not None else record_id

    def record(self, identity: str) -> Event:
        """A record that is in this memory: its own, where that is here."""
        if identity in self.events:
            return self.events[identity]
        return next(event for i, event in self.events.items() if self.identity(i) == identity)

    def is_retracted(self, record_id: str) -> bool:
        """Whether it was taken back: it decides nothing any more."""
        stored = self.memories.get(record_id)
        return stored is not None and stored.memory.status is MemoryStatus.RETRACTED

    def restated_since(self, older: Said, newer: Said) -> bool:
        """Whether the older one's memory was said again after the newer: then it is the newer that is out of date."""
        return self.latest[self.identity(older.id)] > newer.order

    def relations(self, fresh: Iterable[Event], rules: ConflictRules) -> Iterable[tuple[Said, Said, Relation]]:
        """Each pair of which one is fresh and the newer does something to the older: older, newer, what it does.

        UNDECIDED where the judge is less sure than `rules.settle`; left out below `rules.ask`.
        """
        pairs = list(self._pairs(fresh))
        judged = self._judged([*pairs, *self._pairs_beside()], rules.ask)
        for older, newer in pairs:
            relation = self._relation(older, newer, judged.get((older.id, newer.id)), rules.ask)
            if relation is not None and relation.confidence >= rules.ask:
                unsure = relation.confidence < rules.settle
                yield older, newer, replace(relation, kind=RelationKind.UNDECIDED) if unsure else relation

    def newer_of_before(self, fresh: Iterable[Event]) -> list[Event]:
        """The newer records that were projected before these and may, alone with one of them, do something to it."""
        pairs = [(older, newer) for older, newer in self._pairs(fresh) if newer.id not in self.candidates]
        doing = {newer.id for older, newer in pairs if self.judge.judge(newer, [older], _SURE) != [None]}
        return [self.events[one] for one in sorted(doing)]

    def for_current_words(self, memory: Memory, verdict: Verdict) -> Verdict:
        """What the verdict does to the memory as it is written now: other words than when both were compared."""
        older, newer = self.said.get(memory.id), self.said.get(verdict.by)
        if older is None or newer is None or memory.content == older.text:
            return verdict
        (again,) = self.judge.judge(newer, [replace(older, text=memory.content)])
        if again is not None and again.kind is verdict.relation.kind:
            return replace(verdict, relation=again)
        return replace(verdict, relation=replace(verdict.relation, ended=((0, len(memory.content)),)))

    def edited(self, memory: Memory) -> bool:
        """Whether a person gave it other words than its record's."""
        event = self.events.get(memory.id)
        return event is not None and memory.origin is not Origin.MERGED and event.content != memory.content

    def bounds(self, record_id: str) -> Sequence[TimeBound]:
        """The parts of a record's words that hold for a while only.

        None of a value of a key without a bound: it is its slot's until the next one comes.
        """
        said = self.said.get(record_id)
        if said is None:
            return ()
        event = self.events[record_id]
        found = self.judge.profile(said).bounds
        if event.key is None:
            return found
        until = bound_of(event)
        return () if until is None else (*found, TimeBound((0, len(event.content)), until, BY_KEY))

    def bounds_of(self, memory: Memory) -> Sequence[TimeBound]:
        """The same of a memory that has its record's words."""
        said = self.said.get(memory.id)
        return self.bounds(memory.id) if said is not None and said.text == memory.content else ()

    def _said(self, event: Event) -> Said | None:
        """What the record says; None where it counts no longer or states nothing."""
        memory = self.memory(event.id)
        if memory is not None and memory.status in _NOT_CURRENT:
            return None
        said = said_by(event, memory)
        return said if said is not None and (event.key is not None or self.judge.states(said)) else None

    def _pairs(self, fresh: Iterable[Event]) -> Iterable[Pair]:
        """Each pair of which one is fresh, once."""
        seen: set[tuple[str, str]] = set()
        for event in fresh:
            own = self.said.get(event.id)
            for other in self._against(event.id) if own else ():
                older, newer = sorted((own, other), key=lambda said: said.order) if own else (other, other)
                if older.id == newer.id or (older.id, newer.id) in seen or self._is_to_come(older, newer):
                    continue
                if self._may_contradict(older, newer):
                    seen.add((older.id, newer.id))
                    yield older, newer

    def _is_to_come(self, older: Said, newer: Said) -> bool:
        """Whether the newer one waits and came after the older: it sees that one when it is projected itself."""
        arrived, came = self.events[newer.id].recorded_at, self.events[older.id].recorded_at
        return newer.id in self.waiting and newer.id not in self.candidates and arrived >= came

    def _pairs_beside(self) -> Iterable[Pair]:
        """What newer records of before do to others: it was decided then, and says how sure they are of these."""
        for newer_id, others in self.beside.items():
            newer = self.said.get(newer_id)
            for older in (self.said[one] for one in others if newer is not None and one in self.said):
                if newer is not None and older.order < newer.order and self._may_contradict(older, newer):
                    yield older, newer

    def _against(self, record_id: str) -> Iterable[Said]:
        own = self.candidates.get(record_id, ())
        return (said for i, said in self.said.items() if i in self.candidates or i in own)

    def _may_contradict(self, older: Said, newer: Said) -> bool:
        """One persona, household, speaker, and the same labels.

        Different keys never conflict, and what was never so ends nothing.
        """
        a, b = self.events[older.id], self.events[newer.id]
        keys = {event.key for event in (a, b) if event.key is not None}
        same = (a.persona_id, a.household_id, older.speaker) == (b.persona_id, b.household_id, newer.speaker)
        return same and a.labels == b.labels and len(keys) < 2 and not self.is_retracted(newer.id)

    def _judged(self, pairs: Iterable[Pair], least: float) -> dict[tuple[str, str], Relation | None]:
        """What the judge says of each pair, by the ids of older and newer; one call for each newer one."""
        of_newer: dict[str, dict[str, Said]] = defaultdict(dict)
        for older, newer in pairs:
            of_newer[newer.id][older.id] = older
        judged: dict[tuple[str, str], Relation | None] = {}
        for newer_id, all_older in of_newer.items():
            for some in self._nearest(newer_id, list(all_older.values())):
                found = self.judge.judge(self.said[newer_id], some, least)
                judged |= {(one.id, newer_id): relation for one, relation in zip(some, found, strict=True)}
        return judged

    def _nearest(self, newer_id: str, older: Sequence[Said]) -> tuple[list[Said], list[Said]]:
        """The values of its key, and those of the nearest meaning, first those without a vector."""
        key = self.events[newer_id].key
        keyed = [one for one in older if key is not None and self.events[one.id].key == key]
        others = [one for one in older if one not in keyed]
        own = self.vectors.get(newer_id)
        return keyed, sorted(others, key=lambda one: -likeness(own, self.vectors.get(one.id)))[:JUDGED]

    def _relation(self, older: Said, newer: Said, judged: Relation | None, least: float) -> Relation | None:
        """The judge's word, but of two values of a key only what the key does not say already."""
        a, b = self.events[older.id], self.events[newer.id]
        judged = judged or self._by_merged_words(older, newer, least)
        if judged is not None and judged.kind is RelationKind.RETRACTS:
            return judged
        by_key = _by_bound_of_key(a, b)
        if by_key is not None:
            return by_key
        keyed = a.key is not None and b.key is not None
        return None if judged and keyed and judged.kind in _BY_ITS_SLOT else judged

    def _by_merged_words(self, older: Said, newer: Said, least: float) -> Relation | None:
        """What the newer one does to the words that the older one's memory took up beside its own."""
        memory = self.memory(older.id)
        if memory is None or memory.content == older.text:
            return None
        (found,) = self.judge.judge(newer, [replace(older, text=memory.content)], least)
        return found


def said_by(event: Event, memory: Memory | None) -> Said | None:
    """A record's statement: in its own words where its memory took up another one's, else in the memory's.

    None where they are not a person's own words.
    """
    if not event.is_own_words:
        return None
    text = event.content if memory is None or memory.origin is Origin.MERGED else memory.content
    return Said(id=event.id, text=text, at=event.timestamp, speaker=event.speaker or "")


def profile_of(event: Event, memory: Memory | None, judge: RelationJudge) -> Profile | None:
    """What a record says by itself, with what its memory says beside that; None where it is compared with nothing."""
    said = said_by(event, memory)
    if said is None:
        return None
    found = judge.profile(said)
    if memory is not None and memory.content != said.text:
        found |= judge.profile(replace(said, text=memory.content))
    if event.key is not None:
        found |= Profile(states=True, may_end=True)
    return found if found.states else None


def _by_bound_of_key(older: Event, newer: Event) -> Relation | None:
    """What a key says beside its slot, which holds no bounded value.

    A bounded one holds over what was said before it, within its bounds; what is said after it without any ends it, and
    so does one that is bound no earlier.
    """
    if newer.key is None or older.key != newer.key:
        return None
    until, of_older, ended = bound_of(newer), bound_of(older), ((0, len(older.content)),)
    if of_older is not None and (until is None or until >= of_older):
        return Relation(kind=RelationKind.SUPERSEDES, rule=BOUNDED, ended=ended)
    return None if until is None else Relation(kind=RelationKind.OVERRIDES, rule=BOUNDED, ended=ended, until=until)


@dataclass(frozen=True, slots=True)
class CurrentRecord:
    """A record that counts, with its memory; where it is in another's memory, the event that carries that one."""

    event: Event
    stored: StoredMemory | None

    @property
    def id(self) -> str:
        """The memory's, or the event's that has none."""
        return self.stored.memory.id if self.stored is not None else self.event.id

    @property
    def said_at(self) -> datetime:
        """Since when it holds, in event time."""
        return self.stored.memory.valid_from if self.stored is not None else self.event.timestamp


class CurrentRecords:
    """Deleted, expired and rejected ones count no longer, nor what was superseded, retracted or merged.

    Nor does a value whose bound is over, nor what has ended piece by piece, nor what no search finds.
    """

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._timeline = timeline
        self._read = ReadMemories(items)
        self._current = CurrentMemories(timeline)
        self._gate = SuppressionList(items)

    def read(self, scope: Scope, ids: Iterable[str], now: datetime) -> dict[str, CurrentRecord]:
        """Those of the records that count now and that the scope admits, by the ids asked for."""
        asked = list(dict.fromkeys(ids))
        stored = self._read.stored(scope, asked) if asked else {}
        events = self._events(scope, asked, stored)
        rejections = self._gate.load(scope) if events else None
        found: dict[str, CurrentRecord] = {}
        for one in asked:
            event = events.get(stored[one].memory.id if one in stored else one)
            record = self._record(scope, event, stored.get(one), now) if event is not None else None
            if record is not None and not (rejections and rejections.rejects(*_said(record))):
                found[one] = record
        return found

    def _events(self, scope: Scope, asked: list[str], stored: dict[str, StoredMemory]) -> dict[str, Event]:
        """The records that carry the memories, in one batch; one by one those that are none."""
        refs: list[EventRef] = [one.memory.ref for one in stored.values()]
        found = self._timeline.read(scope, refs) if refs else {}
        alone = [event for one in asked if one not in stored and (event := self._timeline.find(scope, one))]
        return {**found, **{event.id: event for event in alone}}

    def _record(self, scope: Scope, event: Event, stored: StoredMemory | None, now: datetime) -> CurrentRecord | None:
        if event.expired(now) or not event.is_searchable or not scope.admits(event.persona_id, event.household_id):
            return None
        if stored is None:
            return CurrentRecord(event, None) if event.superseded_by is None else None
        (memory,) = self._current.read(scope, [stored.memory], {event.id: event})
        return None if is_over(memory, now) or memory.expired(now) else CurrentRecord(event, stored)


def _said(record: CurrentRecord) -> tuple[str, str | None, str | None]:
    content = record.stored.memory.content if record.stored is not None else record.event.content
    return content, record.event.persona_id, record.event.household_id
