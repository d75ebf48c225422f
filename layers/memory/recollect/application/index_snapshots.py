"""Snapshots of an index as objects: read by who builds one, rewritten where a record is deleted (A-36, A-37)."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from recollect.domain.embedding import FloatArray
from recollect.domain.errors import VersionMismatch
from recollect.domain.event import Event, EventRef
from recollect.domain.index_snapshot import (
    WHOLE,
    KeptVector,
    covering,
    index_folder,
    page_bytes,
    page_in,
    page_name,
    without,
    words_hash,
)
from recollect.domain.scope import Scope
from recollect.ports import SnapshotStore


class IndexSnapshots:
    """Those of one generation in a deployment's store."""

    def __init__(self, store: SnapshotStore, generation: str) -> None:
        self._store = store
        self._generation = generation
        self._read: dict[tuple[Scope, str], dict[str, KeptVector]] = {}

    def of(self, generation: str) -> "IndexSnapshots":
        """Those of another one."""
        return self if generation == self._generation else IndexSnapshots(self._store, generation)

    def __call__(self, scope: Scope, events: Sequence[Event]) -> Mapping[str, FloatArray]:
        """Vectors of these events from the newest whole snapshot, as far as their words are still the same."""
        names = self._newest_whole(scope)
        found: dict[str, FloatArray] = {}
        for event in events if names else ():
            for name in covering(names, event.ref):
                kept = self._page(scope, name).get(event.id)
                if kept is not None and kept.words == words_hash(event.passage):
                    found[event.id] = kept.vector
        return found

    def put(self, scope: Scope, rotation: str, number: int, first: EventRef, vectors: Sequence[KeptVector]) -> None:
        """Writes a page, whatever a try before left."""
        name = f"{self._rotation(scope, rotation)}{page_name(first, number)}"
        data = page_bytes(vectors)
        try:
            self._store.put_if_absent(scope.tenant, name, data)
        except VersionMismatch:
            found = self._store.get(scope.tenant, name)
            if found is not None and found[0] != data:
                self._store.put_if_match(scope.tenant, name, data, found[1])

    def finish(self, scope: Scope, rotation: str) -> None:
        """The snapshot is whole: those before it go."""
        whole = f"{self._rotation(scope, rotation)}{WHOLE}"
        if self._store.get(scope.tenant, whole) is None:
            self._store.put_if_absent(scope.tenant, whole, b"")
        for name in list(self._store.names(scope.tenant, index_folder(self._generation, scope.user_id))):
            if not name.startswith(self._rotation(scope, rotation)):
                self._erase(scope, name)

    def forget(self, scope: Scope, refs: Sequence[EventRef]) -> int:
        """Takes these records out, whole snapshot or not; how many objects were rewritten."""
        by_rotation: dict[str, list[str]] = defaultdict(list)
        for name in self._store.names(scope.tenant, index_folder(self._generation, scope.user_id)):
            by_rotation[name.rpartition("/")[0]].append(name)
        pages = {name for names in by_rotation.values() for ref in refs for name in covering(names, ref)}
        gone = {ref.id for ref in refs}
        return sum(self._rewritten(scope, name, gone) for name in sorted(pages))

    def erase(self, scope: Scope) -> int:
        """All of the user's; how many objects there were."""
        names = list(self._store.names(scope.tenant, index_folder(self._generation, scope.user_id)))
        for name in names:
            self._erase(scope, name)
        return len(names)

    def left(self, scope: Scope, keeps: Callable[[str], bool]) -> int:
        """How many vectors of the user's are there that an erasure does not keep."""
        names = self._store.names(scope.tenant, index_folder(self._generation, scope.user_id))
        objects = [self._store.get(scope.tenant, name) for name in names if not name.endswith(f"/{WHOLE}")]
        return sum(not keeps(record_id) for found in objects if found for record_id in page_in(found[0]))

    def drop(self, tenant: str) -> None:
        """All of the generation's, of every user of the tenant."""
        for name in list(self._store.names(tenant, index_folder(self._generation))):
            self._store.delete(tenant, name)
            self._store.purge(tenant, name)

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

    def _erase(self, scope: Scope, name: str) -> None:
        self._store.delete(scope.tenant, name)
        self._store.purge(scope.tenant, name)

    def _newest_whole(self, scope: Scope) -> list[str]:
        names = list(self._store.names(scope.tenant, index_folder(self._generation, scope.user_id)))
        whole = sorted(name.removesuffix(WHOLE) for name in names if name.endswith(f"/{WHOLE}"))
        return [name for name in names if name.startswith(whole[-1])] if whole else []

    def _page(self, scope: Scope, name: str) -> dict[str, KeptVector]:
        """One page is kept: records are asked for in their order."""
        place = (scope.user, name)
        if place not in self._read:
            found = self._store.get(scope.tenant, name)
            self._read = {place: page_in(found[0]) if found else {}}
        return self._read[place]

    def _rotation(self, scope: Scope, rotation: str) -> str:
        return f"{index_folder(self._generation, scope.user_id)}{rotation}/"
