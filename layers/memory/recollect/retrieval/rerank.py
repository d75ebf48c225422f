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


class Succession:
    """Follows successors, at most eight steps and never in a circle; a slot of many values takes two.

    Each step reads what is not read yet in one wave. Where the successor was deleted, rejected or is hidden from this
    reader, nothing takes the record's place: the slot is empty (P-22).
    """

    def __init__(self, reading: RecordReading) -> None:
        self._reading = reading

    def of(self, visibility: VisibilityFilter, record_ids: Iterable[str]) -> dict[str, str]:
        """The visible successors, by the ids of the superseded records; records without one are left out."""
        places = {one: one for one in record_ids}
        walk = _Walk(places, {one: {one} for one in places})
        for step in range(_MOST_STEPS):
            ahead = {start: _next(visibility, place, step) for start, place in walk.places.items()}
            ways = {start: way for start, way in ahead.items() if way is not None}
            if not ways:
                break
            self._advance(visibility, walk, ways)
        return walk.found

    def _advance(self, visibility: VisibilityFilter, walk: _Walk, ways: dict[str, EventRef | str]) -> None:
        self._reading.look_up(visibility.scope, ways.values(), visibility.records)
        ids = {start: way if isinstance(way, str) else way.id for start, way in ways.items()}
        ends = {start: visibility.records.own_id(one) for start, one in ids.items()}
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


@dataclass(slots=True)
class _Run:
    """One ranking that is read back, and what was found of it so far."""

    visibility: VisibilityFilter
    ranking: Ranking
    dropped: dict[str, DropReason] = field(default_factory=dict)
    successors: dict[str, str] = field(default_factory=dict)
    followed: set[str] = field(default_factory=set)

    def repeated(self, ids: Iterable[str]) -> set[str]:
        """Those of the same memory, or with the same successor, as one before them."""
        seen: set[str] = set()
        again: set[str] = set()
        for record_id in ids:
            identity = self.visibility.records.own_id(self.successors.get(record_id, record_id))
            if identity in seen:
                again.add(record_id)
            seen.add(identity)
        return again

    def answer(self, ranked: Sequence[Ranked], near_misses: tuple[Ranked, ...]) -> Reranked:
        own_id, counted_superseded = self.visibility.records.own_id, self.ranking.counted_superseded
        own_places = {own_id(one.id) for one in self.ranking.order} - self.successors.keys()
        alone: dict[str, str] = {}
        for old, now in self.successors.items():
            if own_id(now) not in own_places:
                alone.setdefault(now, old)
        counted = {i for i in counted_superseded if i in alone.values()}
        stale = {one.id for one in ranked} & counted_superseded - self.successors.keys()
        over = {old: DropReason.SUPERSEDED for old in self.successors if old not in alone.values()}
        dropped = self.dropped | over
        counted_drops = {i for i in counted_superseded if dropped.get(i) is DropReason.SUPERSEDED}
        return Reranked(
            ranked=tuple(map(self._with_successor, ranked)),
            dropped={i: reason for i, reason in dropped.items() if i not in counted_drops},
            replaces=self._replaces(),
            recovered=len(counted | stale),
            near_misses=near_misses,
        )

    def _with_successor(self, one: Ranked) -> Ranked:
        now = self.successors.get(one.id)
        if now is None:
            return one
        return replace(one, candidate=replace(one.candidate, ref=self.visibility.records.events[now].ref))

    def _replaces(self) -> dict[str, tuple[EventRef, ...]]:
        records = self.visibility.records
        olds: dict[str, list[EventRef]] = {}
        for old, now in self.successors.items():
            if old in records.events:
                olds.setdefault(records.own_id(now), []).append(records.events[old].ref)
        return {now: tuple(sorted(refs, key=lambda ref: (ref.timestamp, ref.id))) for now, refs in olds.items()}


class Reranker:
    """Drops what is hidden, ranks the rest, reads what moved up: a bounded number of rounds."""

    def __init__(self, reading: RecordReading) -> None:
        self._reading = reading
        self._succession = Succession(reading)

    def rerank(self, visibility: VisibilityFilter, ranking: Ranking) -> Reranked:
        """A successor takes the best place among its own and those of its predecessors."""
        run = _Run(visibility, ranking)
        left, order = dict(ranking.candidates), list(ranking.order)
        ranked: list[Ranked] = []
        for _ in range(_MAX_ROUNDS):
            ranked = first_wanted(order, ranking.wanted, ranking.counted_superseded)
            out = self._round(run, ranked)
            if not out:
                break
            ranked = [one for one in ranked if one.id not in out]
            left = {i: candidate for i, candidate in left.items() if i not in out}
            order = ranking.rank(list(left.values()))
        shown = ranked[: ranking.wanted]
        return run.answer(shown, self._near(run, left, shown) if ranking.near_misses else ())

    def _near(self, run: _Run, left: Mapping[str, Candidate], shown: Sequence[Ranked]) -> tuple[Ranked, ...]:
        places, wanted = [one.id for one in shown], run.ranking.near_misses
        order = run.ranking.rank_all(list(left.values()))
        next_ones = [one for one in order if one.id not in places and one.score > 0][: wanted + _NEAR_RESERVE]
        self._read(run, next_ones)
        ids = [one.id for one in next_ones]
        out = {*run.visibility.hidden(ids), *run.successors, *run.repeated([*places, *ids])}
        return tuple(one for one in next_ones if one.id not in out)[:wanted]

    def _round(self, run: _Run, ranked: Sequence[Ranked]) -> set[str]:
        self._read(run, ranked)
        ids = [one.id for one in ranked]
        reasons = run.visibility.hidden(i for i in ids if i not in run.successors)
        run.successors |= self._followed(run, reasons)
        reasons = {i: reason for i, reason in reasons.items() if i not in run.successors}
        run.dropped |= reasons
        return {*reasons, *run.repeated(i for i in ids if i not in reasons)}

    def _followed(self, run: _Run, reasons: Mapping[str, DropReason]) -> dict[str, str]:
        over = [i for i, reason in reasons.items() if reason is DropReason.SUPERSEDED and i not in run.followed]
        run.followed.update(over)
        return self._succession.of(run.visibility, over) if over else {}

    def _read(self, run: _Run, ranked: Sequence[Ranked]) -> None:
        self._reading.read(run.visibility.scope, [one.candidate.ref for one in ranked], run.visibility.records)


def first_wanted(order: Sequence[Ranked], wanted: int, superseded: Collection[str]) -> list[Ranked]:
    """The first `wanted`, and the superseded ones among them besides: several may have one successor."""
    places = [place for place, one in enumerate(order) if one.id not in superseded]
    return list(order if len(places) <= wanted else order[: places[wanted]])
