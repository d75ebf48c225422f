"""Which records may contradict those that are projected now: found by attribute, by the index, among what is pending.

A record is entered under its attributes before others are looked up there, and the pending ones are read before the
index is asked: of two that come at once, at least the later one sees both.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.application.readable_events import readable_events
from recollect.domain.candidate import Candidate
from recollect.domain.claim_places import attribute_path, claim_writes, cues_path, entered_ref
from recollect.domain.claims import Claim, ClaimKind
from recollect.domain.embedding import FloatArray
from recollect.domain.event import Event, EventRef
from recollect.domain.filters import SearchFilters
from recollect.domain.items import ItemPath
from recollect.domain.lexical import query_terms
from recollect.domain.nomination import NominationRequest
from recollect.domain.scope import Scope
from recollect.domain.settlement import BY_KEY
from recollect.ports import Items, SearchIndex, Timeline

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
