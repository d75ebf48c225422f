"""What decisions, open conflicts and memories tell a person of what ended: its words, since when and until when (P-24).

The words that a decision ended are those of the loser's version that it made: so a decision tells the same when it was
taken back, or something else ended the memory since. Words that were rejected, deleted or have expired are told by
none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.contradictions.decisions import (
    ConflictStatus,
    Decision,
    OpenConflict,
    Step,
    conflict_in,
    conflict_key,
    decision_in,
    decision_key,
    ended_for_good,
    pair_id,
    places_in_doubt,
)
from recollect.contradictions.parts import Span
from recollect.contradictions.quotes import excerpt_of_ended, words_about
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.deletion.suppression import Rejections, SuppressionList
from recollect.memories.memory import Lapse, Memory, MemoryStatus
from recollect.memories.reading import ReadMemories
from recollect.memories.representation import as_it_stands, in_words_of, seen
from recollect.memories.storage import memory_in, version_key
from recollect.ports import Items, Timeline
from recollect.retrieval.filters import SearchFilters
from recollect.text.omission import left_of, says_more

GONE = "(gone)"
"""Told instead of words that are deleted, expired or rejected."""

_HIDDEN = (MemoryStatus.REJECTED, MemoryStatus.EXPIRED)


@dataclass(frozen=True, slots=True)
class Ending:
    """Words of a memory that no longer hold, by which record; `whole` where nothing of it is left.

    `since` is the day from which, where it was told beforehand; `until` is when they hold again.
    """

    by: str
    words: str
    whole: bool = False
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """All the words of a record, and when they were said."""

    words: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Sides:
    """Both records whole, None for one that is gone; `places` are of the older's words that ended or are in doubt.

    Without places all of them are, or it is not known which.
    """

    older: Said | None = None
    newer: Said | None = None
    places: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class ToldDecision:
    """A decision with what it ended, the loser as it was said and what is left of it, and what holds instead.

    `left` is what holds of the loser by now, whatever ended the rest: empty where all of it does, or nothing, which
    is `nothing_left`. Of `sides` the older is the loser.
    """

    decision: Decision
    said_at: datetime | None
    was: str
    ended: Ending
    now: str
    left: str = ""
    nothing_left: bool = False
    sides: Sides = Sides()


@dataclass(frozen=True, slots=True)
class ToldConflict:
    """A conflict with the words of both sides that it is about, and when the older ones were said.

    `doubted` are the words of the older one that would end; None where these are not known, or have ended.
    """

    conflict: OpenConflict
    said_at: datetime | None
    older: str
    newer: str
    sides: Sides = Sides()
    doubted: Ending | None = None


@dataclass(frozen=True, slots=True)
class _Record:
    """A record as it may be shown: its memory, in all its words, or the event that has none."""

    event: Event
    memory: Memory | None

    @property
    def said_at(self) -> datetime:
        return self.event.timestamp if self.memory is None else self.memory.timestamp

    def words(self, now: datetime) -> str:
        """Those that hold now; all where none do."""
        return self.event.content if self.memory is None else in_words_of(self.memory, now).content

    def left(self, now: datetime) -> str:
        """Those that hold now, where others of the memory do not; empty where all hold, or none."""
        held = self._held(now)
        return "" if self.memory is None or held is None or held.content == self.memory.content else held.content

    def is_over(self, now: datetime) -> bool:
        """Whether nothing of it holds now, and no other memory took it in."""
        if self.memory is None:
            return self.event.superseded_by is not None
        return self.memory.status is not MemoryStatus.MERGED and self._held(now) is None

    def _held(self, now: datetime) -> Memory | None:
        if self.memory is None:
            return None
        return seen(as_it_stands(self.memory, self.event), SearchFilters(now=now))


class TellDecisions:
    """Reads what is told at once, by a page."""

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._timeline = timeline
        self._items = items
        self._read = ReadMemories(items)
        self._gate = SuppressionList(items)

    def decisions(self, scope: Scope, decisions: Sequence[Decision], now: datetime) -> list[ToldDecision]:
        """Each decision, in their order."""
        rejections = self._gate.load(scope)
        records = self._records(scope, (i for one in decisions for i in (one.winner, one.loser)), now, rejections)
        made = self._made(scope, decisions, rejections)
        return [_told(one, records, made.get(one.id), now) for one in decisions]

    def conflicts(self, scope: Scope, conflicts: Sequence[OpenConflict], now: datetime) -> list[ToldConflict]:
        """Each conflict, in their order."""
        rejections = self._gate.load(scope)
        records = self._records(scope, (i for one in conflicts for i in (one.newer, one.older)), now, rejections)
        return [_in_doubt(one, records.get(one.older), records.get(one.newer), now) for one in conflicts]

    def settled_by(self, scope: Scope, conflicts: Iterable[OpenConflict]) -> dict[str, Step | None]:
        """Who said how these were settled, by their ids: None where both hold. Without those that nobody settled."""
        keys = [conflict_key(one.id) for one in conflicts if one.status is ConflictStatus.SETTLED]
        stored = [conflict_in(item.value) for item in self._items.get(scope.user, keys).values()] if keys else []
        settled = {one.id: one for one in stored if one.status is ConflictStatus.SETTLED}
        made = {one.id: decision_key(_decided(one)) for one in settled.values() if one.winner is not None}
        found = self._items.get(scope.user, list(made.values())) if made else {}
        steps = {i: decision_in(found[key].value).step for i, key in made.items() if key in found}
        return {i: steps.get(i, None if one.winner is None else Step.USER) for i, one in settled.items()}

    def endings(self, scope: Scope, memory_ids: Iterable[str], now: datetime) -> dict[str, tuple[Ending, ...]]:
        """What of these memories has ended, or is to end on a day that was told; without those of which nothing has."""
        records = self._records(scope, memory_ids, now, self._gate.load(scope))
        found = {i: endings_of(one.memory) for i, one in records.items() if one.memory is not None}
        return {i: endings for i, endings in found.items() if endings}

    def _records(
        self, scope: Scope, ids: Iterable[str], now: datetime, rejections: Rejections
    ) -> Mapping[str, _Record]:
        """Those that may be shown, by the ids asked for."""
        asked = list(dict.fromkeys(ids))
        stored = self._read.stored(scope, asked) if asked else {}
        refs = [one.memory.ref for one in stored.values()]
        carriers = self._timeline.read(scope, refs) if refs else {}
        records: dict[str, _Record] = {}
        for one in asked:
            memory = stored[one].memory if one in stored else None
            event = self._timeline.find(scope, one) if memory is None else carriers.get(memory.id)
            shown = _shown(scope, event, memory, now, rejections) if event is not None else None
            if shown is not None:
                records[one] = shown
        return records

    def _made(self, scope: Scope, decisions: Sequence[Decision], rejections: Rejections) -> Mapping[str, Memory]:
        """The loser in the version that each decision made, where that is an earlier one and may be shown whole."""
        keys = {one.id: version_key(one.loser, one.after) for one in decisions}
        found = self._items.get(scope.user, list(dict.fromkeys(keys.values()))) if keys else {}
        made = {i: memory_in(found[key].value) for i, key in keys.items() if key in found}
        return {i: one for i, one in made.items() if rejections.shown_memory(one) == one}


def endings_of(memory: Memory, about: str = "") -> tuple[Ending, ...]:
    """What of a memory has ended by others or by its own bound: by record and day, the first in its words first."""
    groups: dict[tuple[str, datetime | None, datetime | None], list[Span]] = {}
    for one in memory.lapses:
        groups.setdefault((one.by, _told_beforehand(one, memory), one.until), []).append((one.start, one.end))
    return tuple(
        Ending(by, excerpt_of_ended(memory.content, spans, about), left_of(memory.content, spans) is None, since, until)
        for (by, since, until), spans in groups.items()
    )


def _decided(conflict: OpenConflict) -> str:
    """The id of the decision by which it was settled."""
    loser = conflict.older if conflict.winner == conflict.newer else conflict.newer
    return pair_id(conflict.winner or "", loser)


def _told_beforehand(lapse: Lapse, memory: Memory) -> datetime | None:
    return lapse.since if lapse.announced or lapse.by == memory.id else None


def _shown(scope: Scope, event: Event, memory: Memory | None, now: datetime, rejections: Rejections) -> _Record | None:
    """Without what was rejected: places in other words are none of a memory's lapses."""
    if event.expired(now) or not scope.admits(event.persona_id, event.household_id):
        return None
    if memory is None:
        said = rejections.shown(event)
        return None if said is None else _Record(said, None)
    own = rejections.shown_memory(memory)
    if own is None or memory.expired(now) or memory.status in _HIDDEN:
        return None
    return _Record(event, own if own == memory else replace(own, lapses=()))


def _told(decision: Decision, records: Mapping[str, _Record], made: Memory | None, now: datetime) -> ToldDecision:
    winner, loser = records.get(decision.winner), records.get(decision.loser)
    newer = _said(winner, now)
    if loser is None:
        ended = Ending(decision.winner, GONE, whole=True)
        about = words_about(newer.words, ended.words) if newer is not None else GONE
        return ToldDecision(decision, None, GONE, ended, about, nothing_left=True, sides=Sides(newer=newer))
    memory = made or loser.memory
    ended = _ended(decision, loser, memory, "" if newer is None else newer.words)
    older = Said(loser.event.content if memory is None else memory.content, loser.said_at)
    was, sides = words_about(older.words, ended.words), Sides(older, newer, _places(memory, decision.winner))
    about = words_about(newer.words, ended.words) if newer is not None else GONE
    left = words_about(loser.left(now), ended.words)
    return ToldDecision(decision, older.at, was, ended, about, left, loser.is_over(now), sides)


def _said(record: _Record | None, now: datetime) -> Said | None:
    return None if record is None else Said(record.words(now), record.said_at)


def _places(memory: Memory | None, by: str) -> tuple[Span, ...]:
    lapses = memory.lapses if memory is not None else ()
    return tuple(sorted((one.start, one.end) for one in lapses if one.by == by))


def _ended(decision: Decision, loser: _Record, memory: Memory | None, instead: str) -> Ending:
    """What it ended of the memory; where that is all, in the words that had not ended before."""
    if memory is None:
        return Ending(decision.winner, words_about(loser.event.content, instead), whole=True, until=decision.until)
    own = next((one for one in endings_of(memory, instead) if one.by == decision.winner), None)
    if own is not None:
        return own
    before = [(one.start, one.end) for one in memory.lapses if one.until is None and not one.announced]
    words = words_about(left_of(memory.content, before) or memory.content, instead)
    return Ending(decision.winner, words, whole=True, until=decision.until)


def _in_doubt(conflict: OpenConflict, older: _Record | None, newer: _Record | None, now: datetime) -> ToldConflict:
    """Where the older one's words are others now, the judge's places are none of them."""
    before, after = (one.words(now) if one is not None else "" for one in (older, newer))
    places = conflict.ended if older is not None and before == older.event.content else ()
    said = words_about(before, after, places) if older is not None else GONE
    answer = words_about(after, said) if newer is not None else GONE
    sides = Sides(_said(older, now), _said(newer, now), places)
    doubted = _doubted(conflict, older, after) if older is not None else None
    return ToldConflict(conflict, None if older is None else older.said_at, said, answer, sides, doubted)


def _doubted(conflict: OpenConflict, older: _Record, about: str) -> Ending | None:
    """Of one in other words than those in which it was said nobody knows where they would be."""
    said, memory = older.event.content, older.memory
    if memory is not None and not memory.is_as_said(said):
        return None
    ended = ended_for_good(memory) if memory is not None else []
    places = places_in_doubt(conflict, said, ended)
    whole = not says_more(said, (*places, *ended))
    return Ending(conflict.newer, excerpt_of_ended(said, places, about), whole) if places else None
