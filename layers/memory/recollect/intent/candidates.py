"""The candidates of a search by intent: the current records of a window, read in two waves (R-44, R-110, P-17).

Wave 1: the window's events, page by page, and beside them the tail of what is not projected yet, the newest memories,
rejected values and the user's spaces. Wave 2: the memories of the window's events that wave 1 did not bring, and the
records of directly saved ones. Superseded, expired and out-of-scope records, and those that the filters drop, are no
candidates; private and deleted ones are, marked as such, for the privacy filter to leave out.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from recollect.core.errors import StoredDataError
from recollect.core.event import Event, EventRef
from recollect.core.items import Item
from recollect.core.scope import Scope
from recollect.deletion.suppression import Rejections, SuppressionList
from recollect.intent.scoring import RetrievalRecord, record_of
from recollect.memories.memory import Memory, Origin
from recollect.memories.reading import NewestMemories
from recollect.memories.representation import as_it_stands
from recollect.memories.storage import SAME_AS, memory_in
from recollect.ports import Concurrency, Items, Pending, Timeline
from recollect.retrieval.filters import DropReason, SearchFilters, TimeWindow
from recollect.retrieval.hydrate import RecordReading, Records, SlotsAsOf
from recollect.retrieval.pipeline import without_later_successors
from recollect.retrieval.rerank import VisibilityFilter
from recollect.retrieval.unprojected import TailSlots
from recollect.timeline.listing import KnownSpaces
from recollect.timeline.timeline import COUNTED_RECORDS, Tail, WindowQuery

MOST_CANDIDATES = COUNTED_RECORDS
"""Events of a window that are scored, the newest first; the document's 20 cap the date-based mode only (R-44)."""
_MOST_PAGES = 12
_MOST_MEMORIES = 1000
_MOST_CATEGORIES = 1000
_MARKED = {DropReason.PRIVATE, DropReason.DELETED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The records, newest first; what else was read, and why it is none.

    `see` answers how one of them, by its id, is shown, and its current memory: it is computed for the few results only.
    `unreadable` are the ids of records whose event or memory cannot be read: they are not among the others (R-71).
    """

    records: tuple[RetrievalRecord, ...]
    see: Callable[[str], tuple[Event, Memory | None]]
    spaces: frozenset[str]
    dropped: Mapping[DropReason, int]
    exact: bool
    tail: int
    tail_cut: bool
    pending: int
    unreadable: tuple[str, ...] = ()

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of visible records, each once, at most 1,000 (R-21)."""
        shown = (record for record in self.records if not record.is_private and not record.is_deleted)
        named = dict.fromkeys(record.category for record in shown if record.category)
        return tuple(islice(named, _MOST_CATEGORIES))


@dataclass(frozen=True, slots=True)
class Begun:
    """The reads that need no window, under way."""

    tail: Pending[Tail]
    memories: Pending[NewestMemories]
    rejections: Pending[Rejections]
    spaces: Pending[frozenset[str]]


@dataclass(slots=True)
class _Walk:
    events: dict[str, Event] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    dropped: Counter[DropReason] = field(default_factory=Counter)
    scanned: int = 0
    cut: bool = False


class IntentCandidates:
    """Reads the candidates of a window."""

    def __init__(self, timeline: Timeline, items: Items, concurrency: Concurrency) -> None:
        self._timeline = timeline
        self._concurrency = concurrency
        self._reading = RecordReading(timeline, items, concurrency)
        self._gate = SuppressionList(items)
        self._spaces = KnownSpaces(items)
        self._tail_slots = TailSlots(timeline, concurrency)

    def begin(self, scope: Scope) -> Begun:
        """Begins what can be read before the query is analysed."""
        submit = self._concurrency.submit
        return Begun(
            submit(lambda: self._timeline.tail(scope)),
            submit(lambda: self._reading.newest(scope, _MOST_MEMORIES)),
            submit(lambda: self._gate.load(scope)),
            submit(lambda: self._spaces.of(scope)),
        )

    def gather(self, scope: Scope, filters: SearchFilters, begun: Begun) -> Candidates:
        """The candidates within `filters.window`. Raises what the ports raise."""
        walk = self._walk(scope, filters)
        tail = begun.tail.result()
        newest = begun.memories.result()
        records = Records(dict(walk.events), newest=newest, filters=filters, unreadable=walk.unreadable)
        saved = _saved_in(newest, filters.window, walk)
        asked = [*(event.ref for event in walk.events.values()), *tail.refs, *saved]
        self._reading.read(scope, [ref for ref in asked if ref.id not in walk.unreadable], records)
        # What proved unreadable just now is left out too.
        wanted = [ref for ref in asked if ref.id not in walk.unreadable]
        tail_events = self._tail_events(scope, tail, records)
        known = [*walk.events.values(), *tail_events] if tail.cut else tail_events
        slots = SlotsAsOf(self._timeline, self._concurrency, scope, filters, known)
        visibility = VisibilityFilter(scope, filters, records, slots, begun.rejections.result())
        named = begun.spaces.result() | _spaces_of((*walk.events.values(), *tail_events))
        return _candidates_of(visibility, walk, [ref.id for ref in wanted], named, tail)

    def _walk(self, scope: Scope, filters: SearchFilters) -> _Walk:
        walk, after = _Walk(), None
        window = TimeWindow(filters.window.start, filters.latest)
        for _ in range(_MOST_PAGES):
            query = WindowQuery(
                now=filters.now,
                window=window,
                limit=MOST_CANDIDATES - len(walk.events),
                conversation_id=filters.conversation_id,
                after=after,
                around_unreadable=True,
            )
            page = self._timeline.window(scope, query)
            walk.unreadable.update(ref.id for ref in page.unreadable)
            walk.events |= {event.id: event for event in page.events if not event.derives_nothing}
            walk.dropped += Counter(page.dropped)
            walk.scanned += page.scanned
            after = page.more
            if after is None or len(walk.events) >= MOST_CANDIDATES:
                break
        walk.cut = after is not None
        return walk

    def _tail_events(self, scope: Scope, tail: Tail, records: Records) -> tuple[Event, ...]:
        read = [records.events[ref.id] for ref in tail.refs if ref.id in records.events]
        there = [event for event in read if not event.derives_nothing]
        settled = self._tail_slots.read(scope, there)
        records.events |= {event.id: event for event in settled}
        return settled


def _candidates_of(
    visibility: VisibilityFilter, walk: _Walk, ids: Iterable[str], spaces: frozenset[str], tail: Tail
) -> Candidates:
    read = (visibility.records.events[i] for i in dict.fromkeys(ids) if i in visibility.records.events)
    there = [event for event in read if not event.derives_nothing]
    inside = [e for e in there if e.id in walk.events or visibility.filters.window.contains(e.timestamp)]
    reasons = visibility.hidden(event.id for event in inside)
    dropped = walk.dropped + Counter(reason for reason in reasons.values() if reason not in _MARKED)
    shown = _once_a_memory(visibility, [event for event in inside if event.id not in reasons])
    marked = [event for event in inside if reasons.get(event.id) in _MARKED]
    asked = without_later_successors({e.id: e for e in shown}, visibility.filters, [e.id for e in shown])
    records = [_record(visibility, event, reasons.get(event.id)) for event in _newest_first([*shown, *marked])]
    return Candidates(
        records=tuple(records),
        see=lambda event_id: _seen(visibility, asked[event_id]),
        spaces=spaces,
        dropped=dropped,
        exact=not walk.cut and walk.scanned < COUNTED_RECORDS,
        tail=len(tail.refs),
        tail_cut=tail.cut,
        pending=tail.waiting,
        unreadable=tuple(sorted(walk.unreadable)),
    )


def _once_a_memory(visibility: VisibilityFilter, events: Iterable[Event]) -> list[Event]:
    own: dict[str, Event] = {}
    for event in _newest_first(events):
        own.setdefault(visibility.records.own_id(event.id), event)
    return list(own.values())


def _newest_first(events: Iterable[Event]) -> list[Event]:
    return sorted(events, key=lambda event: (event.timestamp, event.id), reverse=True)


def _record(visibility: VisibilityFilter, event: Event, reason: DropReason | None) -> RetrievalRecord:
    """The record in the words of its memory, without rejected values."""
    shown = visibility.records.shown(event)
    if reason is not None:
        return record_of(shown, is_deleted=reason is DropReason.DELETED)
    return record_of(visibility.rejections.shown(shown) or shown)


def _seen(visibility: VisibilityFilter, event: Event) -> tuple[Event, Memory | None]:
    records, memory = visibility.records, visibility.records.memories.get(event.id)
    shown = visibility.rejections.shown(event) or visibility.rejections.shown(records.shown(event)) or event
    visible = visibility.rejections.shown_memory(records.seen(memory)) if memory is not None else None
    return shown, as_it_stands(visible, event) if visible is not None else None


def _saved_in(newest: NewestMemories, window: TimeWindow, walk: _Walk) -> list[EventRef]:
    """The records of memories in the window that no event carries: saved directly, or merged of several."""
    made = [item for item in newest.items.values() if SAME_AS not in item.value and item.key.key not in walk.events]
    others = (item for item in made if item.value.get("origin") != Origin.EVENT.value)
    return [ref for item in others if (ref := _ref_in(item, window, walk)) is not None]


def _ref_in(item: Item, window: TimeWindow, walk: _Walk) -> EventRef | None:
    try:
        memory = memory_in(item.value)
    except StoredDataError:
        walk.unreadable.add(item.key.key)
        return None
    return memory.ref if window.contains(memory.timestamp) else None


def _spaces_of(events: Iterable[Event]) -> frozenset[str]:
    return frozenset(event.space_id for event in events if event.space_id is not None and not event.is_private)
