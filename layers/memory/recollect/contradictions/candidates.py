"""Which records may contradict those that are projected now: found by attribute, by the index, among what is pending.

A record is entered under its attributes before others are looked up there, and the pending ones are read before the
index is asked: of two that come at once, at least the later one sees both.

The records that are looked at together for contradictions, and how any two of them stand to each other (P-24).

A record is read in its own words, also where its memory took up another one's part since: so what it does to others
does not hang on what came first. What a memory's content says beside that is read there too.

Which records still count: what a decision between two of them asks first (P-24).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from recollect.contradictions.decisions import BY_KEY, Verdict
from recollect.core.event import Event, EventRef
from recollect.core.items import ItemPath
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray
from recollect.deletion.suppression import ValueGate
from recollect.domain.claim_places import attribute_path, claim_writes, cues_path, entered_ref
from recollect.domain.claim_relations import relate
from recollect.domain.claims import Claim, ClaimKind, Relation, RelationKind, Said
from recollect.domain.key_retractions import takes_back
from recollect.domain.recognition import claims_of, held_over, key_claim, restated, said_by
from recollect.memories.memory import Memory, MemoryStatus, Origin
from recollect.memories.reading import ReadMemories, StandingMemories, StoredMemory
from recollect.ports import Items, SearchIndex, Timeline
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.nomination import Candidate, NominationRequest
from recollect.rules.groups import Rules
from recollect.text.terms import query_terms
from recollect.timeline.listing import readable_events
from recollect.timeline.slots import bound_of

CANDIDATES = 20
"""Nominated by each arm of the index."""

_PER_ATTRIBUTE = 50
_MOST_CUES = 50
_LATE = timedelta(minutes=10)

Claims = Mapping[str, Sequence[Claim]]


@dataclass(frozen=True, slots=True)
class Led:
    """Records as they are now, by id, and for each of those that asked the ids of what it led to."""

    events: Mapping[str, Event]
    to: Mapping[str, frozenset[str]]


class FindContradicting:
    """Reads only what claims ask for: without claims nothing at all. `without` are ids of what is never led to."""

    def __init__(
        self, timeline: Timeline, items: Items, index: SearchIndex, without: Collection[str] = frozenset()
    ) -> None:
        self._timeline = timeline
        self._items = items
        self._index = index
        self._without = without

    def sparing(self, event_ids: Collection[str]) -> "FindContradicting":
        """The same, which does not lead to these."""
        return FindContradicting(self._timeline, self._items, self._index, event_ids)

    def enter(self, scope: Scope, events: Iterable[Event], claims: Claims, now: datetime) -> None:
        """Enters the records under what they claim; again is no harm. One by one: together they would cost twice."""
        for write in (write for event in events for write in claim_writes(event, claims.get(event.id, ()))):
            self._items.write(scope.user, [write], now)

    def __call__(
        self,
        scope: Scope,
        events: Sequence[Event],
        claims: Claims,
        vectors: Mapping[str, FloatArray],
        now: datetime,
        *,
        plain: Collection[str] = frozenset(),
    ) -> Led:
        """Other records that may contradict these. Raises Unavailable where the index is away.

        `plain` are the ids of those that may do so in any words: what each is near to is looked at.
        """
        asking = [event for event in events if event.id in plain or any(map(_looks_around, claims.get(event.id, ())))]
        of_all = self._newer_cues(scope, [event for event in events if claims.get(event.id)])
        if asking:
            of_all |= {ref.id: ref for ref in self._timeline.tail(scope).refs}
        led = {event.id: self._of_itself(scope, event, claims.get(event.id, ())) for event in events}
        for event in asking:
            led[event.id] |= self._near(scope, event, claims.get(event.id, ()), vectors, now, event.id in plain)
        passed = led.keys() | self._without
        refs = {i: ref for found in (of_all, *led.values()) for i, ref in found.items() if i not in passed}
        read = readable_events(self._timeline, scope, list(refs.values()))
        return Led(read, {i: frozenset((*of_all, *found)) for i, found in led.items()})

    def _of_itself(self, scope: Scope, event: Event, claims: Sequence[Claim]) -> dict[str, EventRef]:
        found = [*self._of_attributes(scope, event, claims), *self._of_slot(scope, event, claims)]
        return {ref.id: ref for ref in found}

    def _near(
        self,
        scope: Scope,
        event: Event,
        claims: Sequence[Claim],
        vectors: Mapping[str, FloatArray],
        now: datetime,
        plain: bool,
    ) -> dict[str, EventRef]:
        near = self.similar(scope, event, vectors.get(event.id), now, ended=_looks_back(event, claims))
        # Of another value of an attribute, what shares no word with it is led to by that attribute.
        wide = plain or any(claim.kind is not ClaimKind.STATE for claim in claims)
        return {hit.ref.id: hit.ref for hit in near if wide or hit.counts}

    def similar(
        self, scope: Scope, event: Event, vector: FloatArray | None, now: datetime, *, ended: bool = False
    ) -> list[Candidate]:
        """The index's nearest by words and by meaning, within the event's own persona and household.

        `ended`: those too that something newer has ended already.
        """
        owner = Scope(scope.tenant, scope.user_id, event.persona_id, event.household_id)
        request = NominationRequest(
            filters=SearchFilters(now=now, include_superseded=ended),
            limit=CANDIDATES,
            terms=query_terms(event.searchable_text),
            vector=vector if vector is not None and self._index.holds_vectors(scope.tenant) else None,
        )
        hits = self._index.nominate(owner, request).hits
        return [hit for hit in hits if hit.ref.id != event.id and hit.ref.id not in self._without]

    def _of_attributes(self, scope: Scope, event: Event, claims: Iterable[Claim]) -> list[EventRef]:
        asked = [claim for claim in claims if claim.strong or claim.rule == BY_KEY]
        paths = dict.fromkeys(attribute_path(event, claim) for claim in asked)
        pages = [self._items.page(scope.user, path, _PER_ATTRIBUTE, None, descending=True) for path in paths]
        return [entered_ref(item) for page in pages for item in page.items]

    def _of_slot(self, scope: Scope, event: Event, claims: Sequence[Claim]) -> list[EventRef]:
        """The values of its key, where its words say more of them than that they are superseded."""
        if event.key is None or not any(_looks_around(claim) or claim.until is not None for claim in claims):
            return []
        slot = (event.persona_id or "", event.household_id or "", event.key)
        return [other.ref for other in self._timeline.of_slot(scope, slot)]

    def _newer_cues(self, scope: Scope, events: Sequence[Event]) -> dict[str, EventRef]:
        """Records that end something and are newer than one of these, which came late."""
        found: dict[str, EventRef] = {}
        for path, oldest in _oldest(events).items():
            page = self._items.page(scope.user, path, _MOST_CUES, None, descending=True)
            refs = [entered_ref(item) for item in page.items]
            found |= {ref.id: ref for ref in refs if ref.timestamp >= oldest}
        return found


def _looks_around(claim: Claim) -> bool:
    """Whether what it ends may have been said in any words, so that no attribute leads to it."""
    return claim.kind is not ClaimKind.STATE or claim.exclusive or claim.until is not None


def _looks_back(event: Event, claims: Iterable[Claim]) -> bool:
    """Whether it may say something of what has ended since: it was told late, or says that something never was so."""
    late = event.recorded_at - event.timestamp > _LATE
    return late or any(claim.kind is ClaimKind.RETRACTION for claim in claims)


def _oldest(events: Iterable[Event]) -> dict[ItemPath, datetime]:
    oldest: dict[ItemPath, datetime] = {}
    for event in events:
        path = cues_path(event)
        oldest[path] = min(event.timestamp, oldest.get(path, event.timestamp))
    return oldest


_BY_ITS_SLOT = (RelationKind.SUPERSEDES, RelationKind.OVERRIDES)
_NO_LONGER_COUNT = (MemoryStatus.REJECTED, MemoryStatus.EXPIRED)


@dataclass(slots=True)
class LookedAt:
    """Their events, the memories that they are in, and what each says; `rules` are the tenant's.

    `led` has for each record that is looked at now the ids of those that it led to: with them, and with the others that
    are looked at now, it is held together. So what it does hangs on no other record of its batch.
    """

    events: dict[str, Event]
    memories: dict[str, StoredMemory]
    rules: Rules
    led: Mapping[str, Collection[str]] = field(default_factory=dict)
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
        kept = self.memories.get(record_id)
        return kept.memory if kept is not None and kept.memory.id == record_id else None

    def identity(self, record_id: str) -> str:
        """The memory that a record is in, with others that say the same; without one the record."""
        kept = self.memories.get(record_id)
        return kept.memory.id if kept is not None else record_id

    def record(self, identity: str) -> Event:
        """A record that is in this memory: its own, where that is here."""
        if identity in self.events:
            return self.events[identity]
        return next(event for i, event in self.events.items() if self.identity(i) == identity)

    def never_so(self, record_id: str) -> bool:
        """Whether it was taken back: it decides nothing any more."""
        kept = self.memories.get(record_id)
        return kept is not None and kept.memory.status is MemoryStatus.RETRACTED

    def said_again(self, older: Said, newer: Said) -> bool:
        """Whether the older one's memory was said again after the newer: then it is the newer that is out of date."""
        return self.latest[self.identity(older.id)] > newer.order

    def pairs(self, fresh: Iterable[Event]) -> Iterable[tuple[Said, Said]]:
        """Each pair of which one is fresh, once, the older first."""
        seen: set[tuple[str, str]] = set()
        for event in fresh:
            own = self.said.get(event.id)
            for other in self._beside(event.id) if own else ():
                older, newer = sorted((own, other), key=lambda said: said.order) if own else (other, other)
                if older.id != newer.id and (older.id, newer.id) not in seen and self._may_contradict(older, newer):
                    seen.add((older.id, newer.id))
                    yield older, newer

    def _beside(self, record_id: str) -> Iterable[Said]:
        led = self.led.get(record_id, ())
        return (said for i, said in self.said.items() if i in self.led or i in led)

    def relation(self, older: Said, newer: Said) -> Relation | None:
        """How they are related; where both have the same key, that one supersedes the other the key says already."""
        a, b = self.events[older.id], self.events[newer.id]
        by_cues = self._by_cues(older, newer)
        if by_cues is not None and by_cues.kind is RelationKind.RETRACTS:
            return by_cues
        by_key = held_over(a, b) if bound_of(b) is not None else self._taken_back(a, newer) or held_over(a, b)
        if by_key is not None:
            return by_key
        relation = by_cues or restated(_cues(older), _cues(newer))
        keyed = a.key is not None and b.key is not None
        return None if relation and keyed and relation.kind in _BY_ITS_SLOT else relation

    def _taken_back(self, older: Event, newer: Said) -> Relation | None:
        """A newer value of the key that takes something back, without a word of what, takes back the one before it."""
        if older.key is None or self.events[newer.id].key != older.key:
            return None
        own = (older.timestamp, older.id)
        between = (e for e in self.events.values() if e.key == older.key and own < (e.timestamp, e.id) < newer.order)
        if any(between) or not takes_back(older.content, newer, self.rules.conflict.cue_rules.words):
            return None
        return Relation(kind=RelationKind.RETRACTS, rule="key.retraction", ended=((0, len(older.content)),))

    def in_words_of(self, memory: Memory, verdict: Verdict) -> Verdict:
        """What the verdict does to the memory as it is written now: other words than when both were looked at."""
        older, newer = self.said.get(memory.id), self.said.get(verdict.by)
        if older is None or newer is None or memory.content == older.text:
            return verdict
        made = claims_of(self.events[memory.id], memory, self.rules)
        again = relate(replace(older, text=memory.content, claims=made), _cues(newer), self.rules.conflict.cue_rules)
        if again is not None and again.kind is verdict.relation.kind:
            return replace(verdict, relation=again)
        return replace(verdict, relation=replace(verdict.relation, ended=((0, len(memory.content)),)))

    def edited(self, memory: Memory) -> bool:
        """Whether a person gave it other words than its record's."""
        event = self.events.get(memory.id)
        return event is not None and memory.origin is not Origin.MERGED and event.content != memory.content

    def bounds_of(self, memory: Memory) -> Sequence[Claim]:
        """The memory's own claims, in its own words: those with a bound in time set it."""
        said, event = self.said.get(memory.id), self.events.get(memory.id)
        if event is not None and event.key is not None and bound_of(event) is None:
            return ()  # its slot's value until the next one comes
        return said.claims if said is not None and said.text == memory.content else ()

    def _said(self, event: Event) -> Said | None:
        """What the record says; None where it counts no longer or claims nothing."""
        memory = self.memory(event.id)
        if memory is not None and memory.status in _NO_LONGER_COUNT:
            return None
        made = claims_in(event, memory, self.rules)
        text = event.content if memory is None or memory.origin is Origin.MERGED else memory.content
        return said_by(event, text, made, self.rules) if made else None

    def _may_contradict(self, older: Said, newer: Said) -> bool:
        """One persona, household and speaker; different keys never conflict, and what was never so ends nothing."""
        a, b = self.events[older.id], self.events[newer.id]
        keys = {event.key for event in (a, b) if event.key is not None}
        same = (a.persona_id, a.household_id, older.speaker) == (b.persona_id, b.household_id, newer.speaker)
        return same and len(keys) < 2 and not self.never_so(newer.id)

    def _by_cues(self, older: Said, newer: Said) -> Relation | None:
        """Of what they said, else of what the older one's memory took up beside that."""
        cue_rules = self.rules.conflict.cue_rules
        found = relate(_cues(older), _cues(newer), cue_rules)
        memory = self.memory(older.id)
        if found is not None or memory is None or memory.content == older.text:
            return found
        made = claims_of(self.events[older.id], memory, self.rules)
        return relate(replace(older, text=memory.content, claims=made), _cues(newer), cue_rules)


def claims_in(event: Event, memory: Memory | None, rules: Rules) -> tuple[Claim, ...]:
    """What a record claims: in its own words where its memory took up another one's, else in the memory's."""
    own = key_claim(event)
    said = claims_of(event, None if memory is None or memory.origin is Origin.MERGED else memory, rules)
    return (*said, *([own] if own else ()))


def claims_entered(event: Event, memory: Memory | None, rules: Rules) -> tuple[Claim, ...]:
    """The same, with what its memory claims beside that: by either it is found."""
    merged = memory is not None and memory.origin is Origin.MERGED
    return (*claims_in(event, memory, rules), *(claims_of(event, memory, rules) if merged else ()))


def _cues(said: Said) -> Said:
    kept = tuple(claim for claim in said.claims if claim.rule != BY_KEY)
    return said if len(kept) == len(said.claims) else replace(said, claims=kept)


@dataclass(frozen=True, slots=True)
class StandingRecord:
    """A record that counts, with its memory; where it is in another's memory, the event that carries that one."""

    event: Event
    kept: StoredMemory | None

    @property
    def id(self) -> str:
        """The memory's, or the event's that has none."""
        return self.kept.memory.id if self.kept is not None else self.event.id

    @property
    def said_at(self) -> datetime:
        """Since when it holds, in event time."""
        return self.kept.memory.valid_from if self.kept is not None else self.event.timestamp


class StandingRecords:
    """Deleted, expired, private and rejected ones count no longer, nor what was superseded, retracted or merged.

    Nor does a value whose bound is over.
    """

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._timeline = timeline
        self._read = ReadMemories(items)
        self._standing = StandingMemories(timeline)
        self._gate = ValueGate(items)

    def __call__(self, scope: Scope, ids: Iterable[str], now: datetime) -> dict[str, StandingRecord]:
        """Those of the records that count now and that the scope admits, by the ids asked for."""
        asked = list(dict.fromkeys(ids))
        kept = self._read.kept(scope, asked) if asked else {}
        events = self._events(scope, asked, kept)
        rejections = self._gate.load(scope) if events else None
        found: dict[str, StandingRecord] = {}
        for one in asked:
            event = events.get(kept[one].memory.id if one in kept else one)
            record = self._record(scope, event, kept.get(one), now) if event is not None else None
            if record is not None and not (rejections and rejections.rejects(*_said(record))):
                found[one] = record
        return found

    def _events(self, scope: Scope, asked: list[str], kept: dict[str, StoredMemory]) -> dict[str, Event]:
        """The records that carry the memories, in one batch; one by one those that are none."""
        refs: list[EventRef] = [one.memory.ref for one in kept.values()]
        found = self._timeline.read(scope, refs) if refs else {}
        alone = [event for one in asked if one not in kept and (event := self._timeline.find(scope, one))]
        return {**found, **{event.id: event for event in alone}}

    def _record(self, scope: Scope, event: Event, kept: StoredMemory | None, now: datetime) -> StandingRecord | None:
        if event.expired(now) or event.is_private or not scope.admits(event.persona_id, event.household_id):
            return None
        if kept is None:
            return StandingRecord(event, None) if event.superseded_by is None else None
        (memory,) = self._standing(scope, [kept.memory], {event.id: event})
        over = memory.valid_to is not None and memory.valid_to <= now
        counts = memory.status is MemoryStatus.ACTIVE and not over and not memory.expired(now)
        return StandingRecord(event, kept) if counts else None


def _said(record: StandingRecord) -> tuple[str, str | None, str | None]:
    content = record.kept.memory.content if record.kept is not None else record.event.content
    return content, record.event.persona_id, record.event.household_id
