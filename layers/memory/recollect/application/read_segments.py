"""Reads the archive of a timeline back: what is whole is served, of the rest a warning tells (A-55)."""

from collections.abc import Iterator

from recollect.application.segment_archive import SegmentArchive
from recollect.domain.errors import StoredDataError
from recollect.domain.record_line import RecordLine
from recollect.domain.scope import Scope
from recollect.domain.segments import SegmentManifest, manifest_in, manifest_name, segment_name
from recollect.ports import SnapshotStore

_FOLDER, _MANIFEST = "timeline/", "/manifest.json"


class ReadSegments:
    """The segments that are written; the open one is in the table alone."""

    def __init__(self, store: SnapshotStore, archive: SegmentArchive) -> None:
        self._store = store
        self._archive = archive

    def __call__(self, scope: Scope) -> Iterator[RecordLine]:
        """Every record of the user's archive, segment by segment."""
        for entry in self.manifest(scope).segments:
            yield from self.segment(scope, entry.id)

    def manifest(self, scope: Scope) -> SegmentManifest:
        """The user's manifest; an empty one where there is none. Raises StoredDataError."""
        found = self._store.get(scope.tenant, manifest_name(scope.user_id))
        return manifest_in(found[0]) if found else SegmentManifest(scope.user_id)

    def segment(self, scope: Scope, segment: str) -> list[RecordLine]:
        """What is whole of a segment."""
        return self._archive.read(scope, segment_name(scope.user_id, segment))

    def manifests(self, tenant: str, after: str | None) -> Iterator[tuple[str, SegmentManifest]]:
        """The manifests of the tenant's users with their names, from after that one on; broken ones are left out."""
        for name in self._store.names(tenant, _FOLDER):
            found = self._store.get(tenant, name) if name.endswith(_MANIFEST) and name > (after or "") else None
            if found is not None:
                try:
                    yield name, manifest_in(found[0])
                except StoredDataError:
                    continue
