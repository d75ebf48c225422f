"""The log of a conversation over the port `Items`: its head, its batches, and changes on the head that was read."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from recollect.core.errors import InvalidInput, VersionMismatch
from recollect.core.ids import IdSource
from recollect.core.items import ABSENT, ALL_PAGES, MOST_WRITES, Item, ItemPath, ItemWrite, pages
from recollect.core.scope import Scope
from recollect.ports import Items
from recollect.session_log.entries import (
    Batch,
    Entry,
    Head,
    batch_in,
    batch_key,
    batches_of,
    entries_path,
    head_document,
    head_in,
    head_key,
    versions_path,
)

TRIES = 64
"""Each loses only to another writer's success: so many writers at once all come through."""
WHAT = "the log of the conversation"
_PAGE = 100


@dataclass(frozen=True, slots=True)
class StoredHead:
    """The head of a log as it was read; `item` is None where nothing is stored."""

    item: Item | None
    head: Head


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry in the batch that has it."""

    item: Item
    batch: Batch
    entry: Entry


@dataclass(frozen=True, slots=True)
class LogStore:
    """What the use cases of logs share."""

    items: Items
    ids: IdSource

    def head(self, scope: Scope, conversation_id: str) -> StoredHead:
        """That of an empty log where nothing is stored."""
        key = head_key(conversation_id)
        return stored_head(self.items.get(scope.user, [key]).get(key), conversation_id)

    def change(self, scope: Scope, stored: StoredHead, head: Head, writes: Sequence[ItemWrite], now: datetime) -> None:
        """The head on the version that was read, and the rest with it. Raises VersionMismatch."""
        expected = ABSENT if stored.item is None else stored.item.version
        own = ItemWrite(head_key(head.conversation_id), head_document(head), expected)
        if len(writes) >= MOST_WRITES:
            raise InvalidInput(f"at most {MOST_WRITES - 2} entries with a key at once, fewer large ones", ("entries",))
        revision = {"id": self.ids.fresh()}
        marked = [one if one.value is None else replace(one, value={**one.value, **revision}) for one in (own, *writes)]
        self.items.write(scope.user, marked, now)

    def batches(
        self, scope: Scope, conversation_id: str, start: str | None = None, *, at_once: int = _PAGE, newest_first: bool
    ) -> Iterator[Item]:
        """The batches of all branches in either order, those that were cleared too."""
        return self._all(scope, entries_path(conversation_id), start, at_once, descending=newest_first)

    def entry(self, scope: Scope, head: Head, sequence: int) -> StoredEntry | None:
        """The entry of that sequence; None where it was removed or never there."""
        if not head.begins <= sequence < head.next:
            return None
        beyond = self.items.beside(scope.user, batch_key(head.conversation_id, sequence + 1))
        path = entries_path(head.conversation_id)
        for item in self.items.page(scope.user, path, 1, beyond, descending=True).items:
            batch = batch_in(item)
            found = [entry for entry in batch.entries if entry.sequence == sequence]
            return StoredEntry(item, batch, found[0]) if found else None
        return None

    def forget_versions(self, scope: Scope, conversation_id: str, sequence: int, now: datetime) -> None:
        """Removes the earlier versions of an entry that is there no longer."""
        self.remove(scope, self._all(scope, versions_path(conversation_id, sequence)), now)

    def remove_before(self, scope: Scope, conversation_id: str, path: ItemPath, now: datetime) -> None:
        """What is below the first sequence of the log; a later clearing finds what a crash left."""
        begins = self.head(scope, conversation_id).head.begins
        self.remove(scope, (one for one in self._all(scope, path) if _sequence(one) < begins), now)

    def remove(self, scope: Scope, old: Iterator[Item], now: datetime) -> None:
        """Removes items as they were read."""
        while part := list(islice(old, MOST_WRITES)):
            writes = [ItemWrite(one.key, None, one.version) for one in part]
            with suppress(VersionMismatch):  # a key of them is given again
                self.items.write(scope.user, writes, now)

    def _all(
        self, scope: Scope, path: ItemPath, start: str | None = None, at_once: int = _PAGE, *, descending: bool = False
    ) -> Iterator[Item]:
        for page in pages(
            lambda after: self.items.page(scope.user, path, at_once, after, descending=descending), ALL_PAGES, start
        ):
            yield from page.items


def stored_head(item: Item | None, conversation_id: str) -> StoredHead:
    """That of an empty log where nothing is stored."""
    return StoredHead(item, Head(conversation_id=conversation_id) if item is None else head_in(item))


def rewritten(conversation_id: str, stored: StoredEntry, entry: Entry | None) -> list[ItemWrite]:
    """The writes that put another entry, or none, in the place of one; its batch may become two or three."""
    entries = [entry if one is stored.entry else one for one in stored.batch.entries]
    left = batches_of(conversation_id, [one for one in entries if one is not None], stored.batch.origin)
    writes = {stored.item.key: ItemWrite(stored.item.key, None, stored.item.version)}
    for batch in left:
        expected = stored.item.version if batch.key == stored.item.key else ABSENT
        writes[batch.key] = ItemWrite(batch.key, batch.document, expected)
    return list(writes.values())


def _sequence(item: Item) -> int:
    """Of a batch the first one, of an entry's key the one that it notes, of an earlier version its entry's."""
    if "sequence" in item.value:
        return int(item.value["sequence"])
    return int(item.key.path.labels[1] if "entry" in item.value else item.key.key)
