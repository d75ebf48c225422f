"""A slot's value was deleted: the archive's line of the value before it says that something newer superseded it (P-22).

An object of the archive holds a record as it was when it was written. There the older value may still be the current
one; without the newer, which is gone or was never archived, a restore elsewhere would bring it back by itself.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from recollect.application.compact_segments import change_manifest
from recollect.application.segment_archive import SegmentArchive
from recollect.application.snapshot_store import Snapshots
from recollect.domain.emptied_slots import emptied_key, emptied_slot
from recollect.domain.event import Event, EventRef
from recollect.domain.items import MOST_WRITES, ItemWrite
from recollect.domain.scope import Scope
from recollect.domain.segments import SegmentManifest, entry_of, place_key, segment_id, segment_name
from recollect.domain.snapshot import piece_name
from recollect.ports import Items, SnapshotStore, Timeline

_MOST_VALUES = 100
"""Older values that are looked for in an archive which has none of the newer ones."""


class EmptyArchivedSlots:
    """Called before what is gone is taken out of the archive; again is no harm."""

    def __init__(
        self, timeline: Timeline, items: Items, store: SnapshotStore, archive: SegmentArchive, snapshots: Snapshots
    ) -> None:
        self._timeline = timeline
        self._items = items
        self._store = store
        self._archive = archive
        self._snapshots = snapshots

    def __call__(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> None:
        """Of what is gone that which was a slot's value. Raises Unavailable, Conflict; then it is done again."""
        emptied = self._items.get(scope.user, [emptied_key(ref.id) for ref in refs])
        for key, item in emptied.items():
            older = self._older(scope, emptied_slot(item.value), key.key)
            if older:
                self._in_segments(scope, older)
                for snapshot in self._snapshots.begun(scope.tenant):
                    self._in_snapshot(scope, snapshot, older)
        done = [ItemWrite(key, None) for key in emptied]
        for start in range(0, len(done), MOST_WRITES):
            self._items.write(scope.user, done[start : start + MOST_WRITES], now)

    def _older(self, scope: Scope, slot: tuple[str, str, str], gone_id: str) -> list[Event]:
        """The values before the one that is gone, as they are now, the newest first."""
        history = sorted(self._timeline.slot_history(scope, slot), key=lambda entry: entry.order, reverse=True)
        place = next((n for n, entry in enumerate(history) if entry.ref.id == gone_id), len(history))
        refs = [entry.ref for entry in history[place + 1 :] if entry.emptied is None][:_MOST_VALUES]
        there = self._timeline.read(scope, refs) if refs else {}
        found = (there[ref.id] for ref in refs if ref.id in there)
        return [event for event in found if event.superseded_by is not None]

    def _in_segments(self, scope: Scope, older: Sequence[Event]) -> None:
        """The newest of them that is in a segment; one of a segment that is yet to be written says it by itself."""
        places = self._items.get(scope.user, [place_key(event.id) for event in older])
        for event in older:
            item = places.get(place_key(event.id))
            if item is not None and self._in_segment(scope, segment_id(int(item.value["n"])), event):
                return

    def _in_segment(self, scope: Scope, segment: str, event: Event) -> bool:
        there, packed = self._archive.supersede(scope, segment_name(scope.user_id, segment), event)
        if packed is not None:
            entry = entry_of(segment, packed.lines, packed.data, packed.raw_bytes)
            change_manifest(self._store, scope, partial(SegmentManifest.with_entry, entry=entry))
        return there

    def _in_snapshot(self, scope: Scope, snapshot: str, older: Sequence[Event]) -> None:
        """The newest of them that is in the snapshot."""
        user, _ = self._snapshots.user(scope, snapshot)
        for event in older:
            for number, piece in enumerate(user.pieces):
                name = piece_name(snapshot, scope.user_id, number)
                if piece.covers(event.ref) and self._archive.supersede(scope, name, event)[0]:
                    return
