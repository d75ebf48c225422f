"""Rebuilding a user's documents in an index, page by page, and the snapshots of an index as objects (A-36, A-37).

A rebuild reuses stored vectors and derives nothing else. A document has its record's version, so a concurrent
projection wins. Records deleted meanwhile are removed again: they are read once more after the write (P-25).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime

from recollect.core.errors import Unavailable, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.items import in_parts
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, TextKind
from recollect.memories.reading import ReadMemories
from recollect.memories.representation import indexed
from recollect.ports import (
    Concurrency,
    Embedder,
    IndexFailure,
    Items,
    Pending,
    Projections,
    SearchIndex,
    SnapshotStore,
    Timeline,
)
from recollect.projection.under_way import ProjectPending
from recollect.retrieval.nomination import IndexDocument
from recollect.retrieval.unprojected import given_vectors
from recollect.search_index.health import Sample
from recollect.search_index.page import (
    WHOLE,
    SnapshotVector,
    covering,
    index_document,
    index_folder,
    page_bytes,
    page_in,
    page_name,
    without,
    words_hash,
)
from recollect.timeline.timeline import PendingEvent, Projection

_ENCODED_AT_ONCE = 64
"""So few that they are encoded within the time of a note (`under_way.LONGEST`)."""


@dataclass(frozen=True, slots=True)
class RebuiltPage:
    """How many documents were put, and how many vectors encoded; `more` is where the next page begins.

    `settled` is the outcome of the previous page's write, and of the last page's own. `postponed` records are left to
    others, who make their documents.
    """

    made: int
    encoded: int
    settled: Counter[str]
    more: EventRef | None
    sample: Sample | None = None
    postponed: int = 0

    @property
    def documents(self) -> int:
        """Documents put, without those of earlier pages that the index refused for good."""
        return self.made - self.settled["refused"]

    @property
    def counts(self) -> dict[str, int]:
        postponed = {"postponed": self.postponed} if self.postponed else {}
        return {"rebuilt": self.documents, "encoded": self.encoded, **postponed, **self.settled}


@dataclass(slots=True, eq=False)
class RebuildIndex:
    """One walk; `index` is that of the embedder's generation only.

    A page is written while the next one is read; `settled` waits for the pending write. What is encoded is noted by
    `pending`: a record with which the process ends is left to those who try it alone.
    """

    _timeline: Timeline
    _projections: Projections
    _items: Items
    _index: SearchIndex
    _embedder: Embedder | None
    _concurrency: Concurrency
    _pending: ProjectPending
    _snapshots: "IndexSnapshots | None" = None
    _under_way: Pending[Counter[str]] | None = field(default=None, init=False)

    def page(self, scope: Scope, after: EventRef | None, limit: int, now: datetime) -> RebuiltPage:
        """Indexes the user's next records; searches show all pages when this returns the last one.

        Raises what reading, encoding and writing raise, Unavailable for a busy index.
        """
        page = self._timeline.records(scope, limit, after)
        shown = self._as_said(scope, page.events)
        vectors, encoded, spared = self._vectors(scope, [event for event in shown if event.is_searchable], now)
        live = [event for event in shown if event.id not in spared and not event.expired(now)]
        documents = [index_document(scope, event, vectors.get(event.id)) for event in live]
        expired = [event.id for event in shown if event.expired(now)]
        settled, last = self.settled(), page.more is None
        self._under_way = self._concurrency.submit(lambda: self._written(scope, documents, live, expired, last))
        settled += self.settled() if last else Counter()
        return RebuiltPage(len(documents), encoded, settled, page.more, _sample(live, vectors), len(spared))

    def settled(self) -> Counter[str]:
        """The outcome of the pending write, `removed` and `refused`; raises what it raised."""
        under_way, self._under_way = self._under_way, None
        return under_way.result() if under_way is not None else Counter()

    def _written(
        self,
        scope: Scope,
        documents: Sequence[IndexDocument],
        live: Sequence[Event],
        expired: Sequence[str],
        last: bool,
    ) -> Counter[str]:
        refused = _refused(self._index.put(documents, shown=last))
        return Counter(refused=refused, removed=self._remove_gone(scope, live, expired))

    def orphans(self, scope: Scope, after: str | None, limit: int) -> tuple[int, str | None]:
        """Removes documents without a record, of the next `limit`; answers how many, and the next cursor."""
        page = self._index.listed(scope, limit, after)
        there = self._timeline.read(scope, page.refs) if page.refs else {}
        gone = [ref.id for ref in page.refs if ref.id not in there]
        if gone:
            _refused(self._index.remove(scope, gone))
        return len(gone), page.more

    def _as_said(self, scope: Scope, events: Sequence[Event]) -> list[Event]:
        """The events in the words of the memories that have their ids."""
        kept = ReadMemories(self._items).read(scope, [event.id for event in events])
        own = {event_id: memory for event_id, memory in kept.items() if memory.id == event_id}
        return [indexed(event, own.get(event.id)) for event in events]

    def _vectors(
        self, scope: Scope, events: Sequence[Event], now: datetime
    ) -> tuple[dict[str, FloatArray], int, set[str]]:
        """The events' vectors: stored, else from a snapshot, else encoded; new ones are stored.

        How many were encoded, and which of the events are left to others.
        """
        if self._embedder is None or not events:
            return {}, 0, set()
        generation = self._embedder.generation
        kept = self._projections.vectors(scope, [event.id for event in events])
        found = {i: p.vector for i, p in kept.items() if p.vector is not None and p.generation == generation}
        missing = [event for event in events if event.id not in found]
        saved = dict(self._snapshots.vectors(scope, missing)) if self._snapshots and missing else {}
        unmade = [event for event in missing if event.id not in saved]
        spared = self._pending.spared(scope, [event.id for event in unmade], now) if unmade else set()
        made = self._encoded(self._embedder, scope, [event for event in unmade if event.id not in spared], now)
        fresh = saved | made
        if fresh:
            refs = {event.id: event.ref for event in missing}
            segments = {i: one.segment for i, one in kept.items()}
            made_now = [Projection(refs[i], vector, generation, segments.get(i)) for i, vector in fresh.items()]
            self._projections.save(scope, made_now, {event.id: event for event in missing})
        return found | fresh, len(made), spared

    def _encoded(
        self, embedder: Embedder, scope: Scope, events: Sequence[Event], now: datetime
    ) -> dict[str, FloatArray]:
        made = given_vectors(events, embedder)
        noting = self._pending.noting(now)
        for some in in_parts([event for event in events if event.id not in made], _ENCODED_AT_ONCE):
            with noting([PendingEvent(scope.user, event.ref) for event in some]):
                encodings = embedder.encode([event.passage for event in some], TextKind.PASSAGE)
            made |= {event.id: encoding.vector for event, encoding in zip(some, encodings, strict=True)}
        return made

    def _remove_gone(self, scope: Scope, written: Sequence[Event], expired: Sequence[str]) -> int:
        there = self._timeline.read(scope, [event.ref for event in written]) if written else {}
        gone = [event.id for event in written if event.id not in there]
        if gone or expired:
            _refused(self._index.remove(scope, [*gone, *expired]))
        return len(gone)


def _sample(events: Sequence[Event], vectors: Mapping[str, FloatArray]) -> Sample | None:
    found = (event for event in reversed(events) if event.id in vectors and vectors[event.id].any())
    event = next(found, None)
    return Sample(event.ref, vectors[event.id]) if event else None


def _refused(failures: Sequence[IndexFailure]) -> int:
    """The number refused for good; raises Unavailable where a retry may help."""
    if any(failure.retryable for failure in failures):
        raise Unavailable(f"the index did not take {len(failures)} documents")
    return len(failures)


class IndexSnapshots:
    """The snapshots of one generation in a deployment's store."""

    def __init__(self, store: SnapshotStore, generation: str) -> None:
        self._store = store
        self._generation = generation
        self._read: dict[tuple[Scope, str], dict[str, SnapshotVector]] = {}

    def of(self, generation: str) -> "IndexSnapshots":
        return self if generation == self._generation else IndexSnapshots(self._store, generation)

    def vectors(self, scope: Scope, events: Sequence[Event]) -> Mapping[str, FloatArray]:
        """Vectors from the newest complete snapshot, where the words are still the same."""
        names = self._newest_whole(scope)
        found: dict[str, FloatArray] = {}
        for event in events if names else ():
            for name in covering(names, event.ref):
                kept = self._page(scope, name).get(event.id)
                if kept is not None and kept.words == words_hash(event.passage):
                    found[event.id] = kept.vector
        return found

    def put(self, scope: Scope, rotation: str, number: int, first: EventRef, vectors: Sequence[SnapshotVector]) -> None:
        """Writes a page, over what an earlier try left."""
        name = f"{self._rotation(scope, rotation)}{page_name(first, number)}"
        data = page_bytes(vectors)
        try:
            self._store.put_if_absent(scope.tenant, name, data)
        except VersionMismatch:
            found = self._store.get(scope.tenant, name)
            if found is not None and found[0] != data:
                self._store.put_if_match(scope.tenant, name, data, found[1])

    def finish(self, scope: Scope, rotation: str) -> None:
        """Marks the snapshot complete and deletes those before it."""
        whole = f"{self._rotation(scope, rotation)}{WHOLE}"
        if self._store.get(scope.tenant, whole) is None:
            self._store.put_if_absent(scope.tenant, whole, b"")
        for name in self._names(scope):
            if not name.startswith(self._rotation(scope, rotation)):
                self._erase(scope.tenant, name)

    def forget(self, scope: Scope, refs: Sequence[EventRef]) -> int:
        """Removes these records from every snapshot; answers how many objects were rewritten."""
        by_rotation: dict[str, list[str]] = defaultdict(list)
        for name in self._names(scope):
            by_rotation[name.rpartition("/")[0]].append(name)
        pages = {name for names in by_rotation.values() for ref in refs for name in covering(names, ref)}
        gone = {ref.id for ref in refs}
        return sum(self._rewritten(scope, name, gone) for name in sorted(pages))

    def erase(self, scope: Scope) -> int:
        """Deletes all of the user's objects; answers their number."""
        names = self._names(scope)
        for name in names:
            self._erase(scope.tenant, name)
        return len(names)

    def left(self, scope: Scope, keeps: Callable[[str], bool]) -> int:
        """The number of the user's vectors whose record ids do not pass `keeps`."""
        objects = [self._store.get(scope.tenant, name) for name in self._names(scope) if not name.endswith(f"/{WHOLE}")]
        return sum(not keeps(record_id) for found in objects if found for record_id in page_in(found[0]))

    def drop(self, tenant: str) -> None:
        """Deletes all objects of the generation, of every user of the tenant."""
        for name in list(self._store.names(tenant, index_folder(self._generation))):
            self._erase(tenant, name)

    def _rewritten(self, scope: Scope, name: str, gone: AbstractSet[str]) -> bool:
        self._read.clear()
        while True:
            found = self._store.get(scope.tenant, name)
            kept = page_in(found[0]) if found else {}
            if found is None or not kept.keys() & gone:
                return False
            try:
                self._store.put_if_match(scope.tenant, name, without(kept, gone), found[1])
            except VersionMismatch:
                continue
            self._store.purge(scope.tenant, name)
            return True

    def _erase(self, tenant: str, name: str) -> None:
        self._store.delete(tenant, name)
        self._store.purge(tenant, name)

    def _names(self, scope: Scope) -> list[str]:
        return list(self._store.names(scope.tenant, index_folder(self._generation, scope.user_id)))

    def _newest_whole(self, scope: Scope) -> list[str]:
        names = self._names(scope)
        whole = sorted(name.removesuffix(WHOLE) for name in names if name.endswith(f"/{WHOLE}"))
        return [name for name in names if name.startswith(whole[-1])] if whole else []

    def _page(self, scope: Scope, name: str) -> dict[str, SnapshotVector]:
        """Caches one page: records are asked for in order."""
        place = (scope.user, name)
        if place not in self._read:
            found = self._store.get(scope.tenant, name)
            self._read = {place: page_in(found[0]) if found else {}}
        return self._read[place]

    def _rotation(self, scope: Scope, rotation: str) -> str:
        return f"{index_folder(self._generation, scope.user_id)}{rotation}/"
