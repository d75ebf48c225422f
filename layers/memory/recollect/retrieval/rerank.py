"""Read-back of a ranking: the visibility filter, the successors of superseded records, and the final order."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.deletion.suppression import Rejections
from recollect.memories.representation import memory_drop_reason, says_otherwise, successor_of
from recollect.retrieval.filters import DropReason, SearchFilters, drop_reason
from recollect.retrieval.hydrate import RecordReading, Records, SlotsAsOf
from recollect.retrieval.nomination import Candidate
from recollect.retrieval.ranking import Ranked
from recollect.timeline.slots import bound_of, named_slot, slot_of

_MOST_STEPS = 8
_MAX_ROUNDS = 4
_NEAR_RESERVE = 5  # of the near misses some may not be shown
Rank = Callable[[Sequence[Candidate]], list[Ranked]]


@dataclass(frozen=True, slots=True)
class VisibilityFilter:
    """What one read may show: no deleted, private, expired, rejected or superseded record, however it was found."""

    scope: Scope
    filters: SearchFilters
    records: Records
    slots: SlotsAsOf
    rejections: Rejections

    def hidden(self, record_ids: Iterable[str]) -> dict[str, DropReason]:
        """Those of the records, all of them read before, that may not be shown, and why."""
        ids = list(record_ids)
        there = [self.records.events[i] for i in ids if i in self.records.events]
        over = self.slots.superseded(there) if not self.filters.include_superseded else set()
        reasons = {i: self._reason(i, over) for i in ids}
        return {i: reason for i, reason in reasons.items() if reason is not None}

    def _reason(self, record_id: str, over: set[str]) -> DropReason | None:
        event = self.records.events.get(record_id)
        if event is None:
            return DropReason.DELETED
        shown = self.records.shown(event)
        reason = drop_reason(self.scope, shown, self.filters)
        if reason is not None:
            return reason
        memory = self.records.memories.get(record_id)
        if record_id in over or (memory is not None and says_otherwise(memory, event)):
            return DropReason.SUPERSEDED
        of_memory = memory_drop_reason(memory, self.filters, self.records.sees)
        return of_memory or (DropReason.DELETED if self.rejections.shown(shown) is None else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Candidates by id, and their order; `rank` orders others by the same rules, `rank_all` without the threshold.

    `counted_superseded` are candidates that the counts take for superseded already.
    """

    candidates: Mapping[str, Candidate]
    order: Sequence[Ranked]
    rank: Rank
    rank_all: Rank
    wanted: int
    counted_superseded: frozenset[str] = frozenset()
    near_misses: int = 0


@dataclass(frozen=True, slots=True)
class Reranked:
    """What may be shown, best first; what was dropped, and why, less what the tally counts already.

    `replaces` maps a result's id to the older records whose place it takes. `recovered` counts results that the tally
    counts as dropped: successors took their places. `near_misses` come next.
    """

    ranked: tuple[Ranked, ...]
    dropped: Mapping[str, DropReason]
    replaces: Mapping[str, tuple[EventRef, ...]]
    recovered: int
    near_misses: tuple[Ranked, ...] = ()


@dataclass(slots=True)
class _Walk:
    places: dict[str, str]
    passed: dict[str, set[str]]
    found: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, record_ids: Iterable[str]) -> "_Walk":
        places = {one: one for one in record_ids}
        return cls(places, {one: {one} for one in places})


class Succession:
    """Follows successors, at most eight steps and never in a circle; a slot of many values takes two.

    Each step reads what is not read yet in one wave. Where the successor was deleted, rejected or is hidden from this
    reader, nothing takes the record's place: the slot is empty (P-22).
    """

    def __init__(self, reading: RecordReading) -> None:
        self._reading = reading

    def of(self, visibility: VisibilityFilter, record_ids: Iterable[str]) -> dict[str, str]:
        """The visible successors, by the ids of the superseded records; records without one are left out."""
        walk = _Walk.of(record_ids)
        for step in range(_MOST_STEPS):
            ways = {
                start: way
                for start, place in walk.places.items()
                if (way := _next(visibility, place, step)) is not None
            }
            if not ways:
                break
            self._advance(visibility, walk, ways)
        return walk.found

    def _advance(self, visibility: VisibilityFilter, walk: _Walk, ways: dict[str, EventRef | str]) -> None:
        self._reading.look_up(visibility.scope, ways.values(), visibility.records)
        ends = {start: visibility.records.own_id(_id_of(way)) for start, way in ways.items()}
        reasons = visibility.hidden(dict.fromkeys(ends.values()))
        walk.places = {}
        for start, end in ends.items():
            if end not in reasons:
                walk.found[start] = end
            elif reasons[end] is DropReason.SUPERSEDED and end not in walk.passed[start]:
                walk.places[start] = end
                walk.passed[start].add(end)


def _next(visibility: VisibilityFilter, record_id: str, step: int) -> EventRef | str | None:
    records = visibility.records
    event, memory = records.events.get(record_id), records.memories.get(record_id)
    if event is not None and (in_slot := _in_slot(visibility, event, step)) is not None:
        return in_slot
    return successor_of(memory, visibility.filters) if memory is not None else None


def _in_slot(visibility: VisibilityFilter, event: Event, step: int) -> EventRef | None:
    """The slot's history decides where the next value is not the last one, or the past is asked for."""
    slot = named_slot(event)
    newest = visibility.slots.newest.get(slot) if slot is not None else None
    if newest is not None and (newest.timestamp, newest.id) > (event.timestamp, event.id):
        return newest.ref
    if slot is None or (event.superseded_by is None and bound_of(event) is None):
        return None
    current = _current_in_slot(visibility.records, event)
    if current is not None and not visibility.filters.looks_back:
        return current.ref
    if step or visibility.filters.looks_back or event.superseded_by is None or event.superseded_at is None:
        entry = visibility.slots.current(slot)
        newer = entry is not None and entry.emptied is None and entry.order > (event.timestamp, event.id)
        return entry.ref if entry is not None and newer else None
    return EventRef(event.superseded_by, event.superseded_at)


def _current_in_slot(records: Records, event: Event) -> Event | None:
    slot, order = named_slot(event), (event.timestamp, event.id)
    same = (e for e in records.events.values() if e.key == event.key and e.superseded_by is None and slot_of(e) == slot)
    return next((e for e in same if (e.timestamp, e.id) > order), None)


def _id_of(way: EventRef | str) -> str:
    return way if isinstance(way, str) else way.id


@dataclass(slots=True)
class _Found:
    dropped: dict[str, DropReason] = field(default_factory=dict)
    successors: dict[str, str] = field(default_factory=dict)
    followed: set[str] = field(default_factory=set)


class Reranker:
    """Drops what is hidden, ranks the rest, reads what moved up: a bounded number of rounds."""

    def __init__(self, reading: RecordReading) -> None:
        self._reading = reading
        self._succession = Succession(reading)

    def rerank(self, visibility: VisibilityFilter, ranking: Ranking) -> Reranked:
        """A successor takes the best place among its own and those of its predecessors."""
        found = _Found()
        left, order = dict(ranking.candidates), list(ranking.order)
        ranked: list[Ranked] = []
        for _ in range(_MAX_ROUNDS):
            ranked = first_wanted(order, ranking.wanted, ranking.counted_superseded)
            out = self._round(visibility, found, ranked)
            if not out:
                break
            ranked = [one for one in ranked if one.candidate.ref.id not in out]
            left = {i: candidate for i, candidate in left.items() if i not in out}
            order = ranking.rank(list(left.values()))
        shown = ranked[: ranking.wanted]
        near = self._near(visibility, ranking, found, left, shown) if ranking.near_misses else ()
        return replace(_answer(visibility, ranking, found, shown), near_misses=near)

    def _near(
        self,
        visibility: VisibilityFilter,
        ranking: Ranking,
        found: _Found,
        left: Mapping[str, Candidate],
        shown: Sequence[Ranked],
    ) -> tuple[Ranked, ...]:
        places = [one.candidate.ref.id for one in shown]
        order = ranking.rank_all(list(left.values()))
        behind = [one for one in order if one.candidate.ref.id not in places and one.score > 0]
        next_ones = behind[: ranking.near_misses + _NEAR_RESERVE]
        self._reading.read(visibility.scope, [one.candidate.ref for one in next_ones], visibility.records)
        ids = [one.candidate.ref.id for one in next_ones]
        out = {*visibility.hidden(ids), *found.successors, *_repeated(visibility, found, [*places, *ids])}
        return tuple(one for one in next_ones if one.candidate.ref.id not in out)[: ranking.near_misses]

    def _round(self, visibility: VisibilityFilter, found: _Found, ranked: Sequence[Ranked]) -> set[str]:
        self._reading.read(visibility.scope, [one.candidate.ref for one in ranked], visibility.records)
        ids = [one.candidate.ref.id for one in ranked]
        reasons = visibility.hidden(i for i in ids if i not in found.successors)
        found.successors |= self._followed(visibility, found, reasons)
        reasons = {i: reason for i, reason in reasons.items() if i not in found.successors}
        found.dropped |= reasons
        left = [i for i in ids if i not in reasons]
        return {*reasons, *_repeated(visibility, found, left)}

    def _followed(
        self, visibility: VisibilityFilter, found: _Found, reasons: Mapping[str, DropReason]
    ) -> dict[str, str]:
        over = [i for i, reason in reasons.items() if reason is DropReason.SUPERSEDED and i not in found.followed]
        found.followed.update(over)
        return self._succession.of(visibility, over) if over else {}


def first_wanted(order: Sequence[Ranked], wanted: int, superseded: Collection[str]) -> list[Ranked]:
    """The first `wanted`, and the superseded ones among them besides: several may have one successor."""
    places = [place for place, one in enumerate(order) if one.candidate.ref.id not in superseded]
    return list(order if len(places) <= wanted else order[: places[wanted]])


def _repeated(visibility: VisibilityFilter, found: _Found, ids: Iterable[str]) -> set[str]:
    """Those of the same memory, or with the same successor, as one before them."""
    seen: set[str] = set()
    again: set[str] = set()
    for record_id in ids:
        identity = visibility.records.own_id(found.successors.get(record_id, record_id))
        if identity in seen:
            again.add(record_id)
        seen.add(identity)
    return again


def _answer(visibility: VisibilityFilter, ranking: Ranking, found: _Found, ranked: Sequence[Ranked]) -> Reranked:
    own_places = {visibility.records.own_id(one.candidate.ref.id) for one in ranking.order} - found.successors.keys()
    alone: dict[str, str] = {}
    for old, now in found.successors.items():
        if visibility.records.own_id(now) not in own_places:
            alone.setdefault(now, old)
    counted = {i for i in ranking.counted_superseded if i in alone.values()}
    stale = {one.candidate.ref.id for one in ranked} & ranking.counted_superseded - found.successors.keys()
    over = {old: DropReason.SUPERSEDED for old in found.successors if old not in alone.values()}
    counted_drops = {i for i in ranking.counted_superseded if (found.dropped | over).get(i) is DropReason.SUPERSEDED}
    dropped = {i: reason for i, reason in (found.dropped | over).items() if i not in counted_drops}
    return Reranked(
        tuple(_with_successor(visibility, found, one) for one in ranked),
        dropped,
        _replaces(visibility, found),
        len(counted | stale),
    )


def _with_successor(visibility: VisibilityFilter, found: _Found, one: Ranked) -> Ranked:
    now = found.successors.get(one.candidate.ref.id)
    return (
        one if now is None else replace(one, candidate=replace(one.candidate, ref=visibility.records.events[now].ref))
    )


def _replaces(visibility: VisibilityFilter, found: _Found) -> dict[str, tuple[EventRef, ...]]:
    olds: dict[str, list[EventRef]] = {}
    for old, now in found.successors.items():
        if old in visibility.records.events:
            olds.setdefault(visibility.records.own_id(now), []).append(visibility.records.events[old].ref)
    return {now: tuple(sorted(refs, key=lambda ref: (ref.timestamp, ref.id))) for now, refs in olds.items()}
