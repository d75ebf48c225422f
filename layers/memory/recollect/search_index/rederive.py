"""The job `reindex` with `events`: all that is derived of a user's records is derived again.

The projection derives it, with vectors encoded again and each document removed before it is put. Evidence stays:
events, directly saved memories, edits, decisions, tombstones. A changed memory stays as it is; an unchanged promoted
one is made of its event again, with its id and time. Slots and conversations are entered again in place, so that no
reader sees an older value meanwhile.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from recollect.core.errors import Unavailable
from recollect.core.event import Event, EventRef
from recollect.core.items import ItemWrite
from recollect.core.scope import Scope
from recollect.memories.memory import Memory, Origin
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.memories.storage import memory_document, memory_key
from recollect.ports import IndexFailure, Items, Projections, Publisher, SearchIndex, Timeline
from recollect.projection.project import ProjectEvents
from recollect.projection.under_way import ProjectPending
from recollect.retrieval.nomination import IndexDocument
from recollect.search_index.health import Sample
from recollect.search_index.rebuild import RebuildIndex
from recollect.timeline.bus import BusEvent
from recollect.timeline.timeline import PendingEvent, Projection

Projector = Callable[[Projections, SearchIndex, Publisher], ProjectEvents]


@dataclass(frozen=True, slots=True)
class RederivedPage:
    """Documents put, documents there before, memories made again, records that failed or are left to others; `more` is
    where the next page begins.
    """

    documents: int
    dropped: int
    memories: int
    failed: int
    more: EventRef | None
    sample: Sample | None = None

    @property
    def counts(self) -> dict[str, int]:
        return {
            "rebuilt": self.documents,
            "dropped": self.dropped,
            "memories": self.memories,
            "postponed": self.failed,
        }


@dataclass(frozen=True, slots=True)
class Rederive:
    """`index` is that of the embedder's generation only; `projector` makes a `ProjectEvents`.

    What is begun is noted: a record with which the process ends is left to those who try it alone.
    """

    _timeline: Timeline
    _projections: Projections
    _items: Items
    _index: SearchIndex
    _projector: Projector
    _rebuild: RebuildIndex
    _pending: ProjectPending

    def page(self, scope: Scope, after: EventRef | None, limit: int, now: datetime) -> RederivedPage:
        """Derives the user's next records. A failed record is marked for projection; raises where all of them fail."""
        dropped = self._index.count(scope).documents if after is None else 0
        page = self._timeline.records(scope, limit, after)
        spared = self._pending.spared(scope, [event.id for event in page.events], now) if page.events else set()
        events = [event for event in page.events if event.id not in spared]
        memories = self._remade(scope, events, now)
        index = _Replaced(self._index, shown=page.more is None)
        fresh = _Fresh(self._projections, {event.id for event in events})
        markers = [PendingEvent(scope.user, event.ref) for event in events]
        projector = self._projector(cast(Projections, fresh), cast(SearchIndex, index), _Silent())
        report = projector.project(markers, now, self._pending.noting(now))
        if report.failed and len(report.failed) >= len(events):
            raise Unavailable("none of a page could be derived again")
        if report.failed:
            self._projections.mark(scope, [event.ref for event in events if event.id in report.failed])
        put = len(index.put_ids & {event.id for event in events} - report.failed.keys())
        return RederivedPage(put, dropped, memories, len(report.failed) + len(spared), page.more)

    def settled(self) -> dict[str, int]:
        """Empty: nothing is ever pending."""
        return {}

    def orphans(self, scope: Scope, after: str | None, limit: int) -> tuple[int, str | None]:
        return self._rebuild.orphans(scope, after, limit)

    def _remade(self, scope: Scope, events: Sequence[Event], now: datetime) -> int:
        """Makes memories in their first version of their events again; answers how many there are."""
        by_id = {event.id: event for event in events}
        stored = {i: one for i, one in ReadMemories(self._items).stored(scope, by_id).items() if _is_derived(i, one)}
        for event_id, one in stored.items():
            fresh = _of_event(one.memory, by_id[event_id])
            if fresh != one.memory:
                write = ItemWrite(memory_key(event_id), memory_document(fresh), one.item.version, one.item.due)
                self._items.write(scope.user, [write], now)
        return len(stored)


def _is_derived(event_id: str, stored: StoredMemory) -> bool:
    memory = stored.memory
    return memory.id == event_id and memory.version == 1 and memory.origin is Origin.EVENT


def _of_event(memory: Memory, event: Event) -> Memory:
    return replace(
        memory,
        persona_id=event.persona_id,
        household_id=event.household_id,
        agent_id=event.agent_id,
        app_id=event.app_id,
        namespace=event.namespace,
        content=event.content,
        importance=event.importance,
        source=event.source,
        timestamp=event.timestamp,
        key=event.key,
        valid_from=event.timestamp,
        expires_at=event.expires_at,
        metadata=event.metadata,
    )


class _Fresh:
    """Projections that hide stored vectors of these events, and settle no marker: markers belong to the projector
    that publishes.
    """

    def __init__(self, projections: Projections, event_ids: set[str]) -> None:
        self._projections = projections
        self._event_ids = event_ids

    def __getattr__(self, name: str) -> Any:
        return getattr(self._projections, name)

    def save(self, scope: Scope, projections: Sequence[Projection], known: Mapping[str, Event] | None = None) -> None:
        self._projections.save(scope, projections, known)
        self._event_ids = self._event_ids - {one.ref.id for one in projections}

    def vectors(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, Projection]:
        found = self._projections.vectors(scope, event_ids)
        hidden = self._event_ids & found.keys()
        return found | {i: replace(found[i], vector=None, generation=None) for i in hidden}

    def settle(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Does nothing: a pending event stays pending."""

    def forget(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Does nothing: the projector works off the marker of a removal."""


class _Replaced:
    """An index that removes each document before it puts it."""

    def __init__(self, index: SearchIndex, *, shown: bool) -> None:
        self._index = index
        self._shown = shown
        self.put_ids: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def put(self, documents: Sequence[IndexDocument], *, shown: bool = True) -> list[IndexFailure]:  # noqa: ARG002
        for scope in {Scope(document.tenant, document.user_id) for document in documents}:
            own = [d.ref.id for d in documents if (d.tenant, d.user_id) == (scope.tenant, scope.user_id)]
            failures = self._index.remove(scope, own, shown=False)
            if failures:
                return failures
        self.put_ids |= {document.ref.id for document in documents}
        return self._index.put(documents, shown=self._shown)


class _Silent:
    """Publishes nothing: what is derived again was published when it was new."""

    def publish(self, tenant: str, events: Sequence[BusEvent]) -> list[str]:  # noqa: ARG002
        return []

    def published(self, tenant: str, event_type: str | None, after: str | None) -> list[BusEvent]:  # noqa: ARG002
        return []
