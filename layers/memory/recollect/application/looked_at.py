"""The records that are looked at together for contradictions, and how any two of them stand to each other (P-24).

A record is read in its own words, also where its memory took up another one's part since: so what it does to others
does not hang on what came first. What a memory's content says beside that is read there too.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.application.read_memories import KeptMemory
from recollect.domain.claim_relations import relate
from recollect.domain.claims import Claim, Relation, RelationKind, Said
from recollect.domain.event import Event
from recollect.domain.key_retractions import takes_back
from recollect.domain.memory import Memory, MemoryStatus, Origin
from recollect.domain.recognition import claims_of, held_over, key_claim, restated, said_by
from recollect.domain.rules import Rules
from recollect.domain.settlement import BY_KEY, Verdict
from recollect.domain.slots import bound_of

_BY_ITS_SLOT = (RelationKind.SUPERSEDES, RelationKind.OVERRIDES)
_NO_LONGER_COUNT = (MemoryStatus.REJECTED, MemoryStatus.EXPIRED)


@dataclass(slots=True)
class LookedAt:
    """Their events, the memories that they are in, and what each says; `rules` are the tenant's.

    `led` has for each record that is looked at now the ids of those that it led to: with them, and with the others that
    are looked at now, it is held together. So what it does hangs on no other record of its batch.
    """

    events: dict[str, Event]
    memories: dict[str, KeptMemory]
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
