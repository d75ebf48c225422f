"""Appending to the log of a conversation, reading it in either order, taking its last entry, clearing it.

A change writes the head on the version that it read, with all that belongs to it, at once: an append is stored whole
or not at all, and of two at the same time one comes after the other.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice

from recollect.core.errors import InvalidInput, VersionMismatch
from recollect.core.idempotency import retry_on_conflict
from recollect.core.ids import IdSource
from recollect.core.items import ABSENT, ALL_PAGES, MOST_WRITES, Item, ItemPath, ItemWrite, in_parts, pages
from recollect.core.scope import Scope
from recollect.ports import Items
from recollect.session_log.entries import (
    ENTRIES,
    HEADS,
    Draft,
    Entry,
    Head,
    batch_in,
    batches_of,
    check_drafts,
    entries_path,
    entry_key,
    entry_of,
    head_document,
    head_in,
    head_key,
    head_of_batch,
    keys_path,
)

_PAGE = 100
_RESTORED_AT_ONCE = 8
_TRIES = 64
"""Each loses only to another writer's success: so many writers at once all come through."""
_WHAT = "the log of the conversation"


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of one entry: its sequence, and whether an entry of that key was there before."""

    sequence: int
    duplicate: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reading goes on: the page of the store that has the next entry, and the last sequence that was read."""

    page: str | None = None
    sequence: int = 0

    def passed(self, entry: Entry, newest_first: bool) -> bool:
        """Whether the entry was read."""
        if self.sequence == 0:
            return False
        return entry.sequence >= self.sequence if newest_first else entry.sequence <= self.sequence


@dataclass(frozen=True, slots=True)
class LogPage:
    """Entries in the order that was asked for; `more` is where the next page begins, None at the end."""

    entries: tuple[Entry, ...]
    more: Place | None


@dataclass(frozen=True, slots=True)
class Log:
    """A log that has entries."""

    conversation_id: str
    entries: int
    last_sequence: int
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class LogsPage:
    """Logs in a fixed order; a page may be short before the end."""

    logs: tuple[Log, ...]
    more: str | None


@dataclass(frozen=True, slots=True)
class Logged:
    """An entry and the conversation whose log it is in."""

    conversation_id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class LoggedPage:
    """Entries of several logs; `more` is where the next page begins, None at the end."""

    entries: tuple[Logged, ...]
    more: str | None


@dataclass(frozen=True, slots=True)
class SessionLogs:
    """The use cases behind `…/conversations/{conversation_id}/log`. `note` lists the user among those of the tenant."""

    _items: Items
    _ids: IdSource
    _note: Callable[[Scope, datetime], None]

    def append(self, scope: Scope, conversation_id: str, drafts: Sequence[Draft], now: datetime) -> list[Appended]:
        """All of them or none; one whose key is there already is a duplicate of that entry.

        Raises InvalidInput, and Conflict where others change the log all the time.
        """
        check_drafts(drafts)
        self._note(scope, now)
        return retry_on_conflict(lambda: self._append(scope, conversation_id, drafts, now), _WHAT, _TRIES)

    def read(
        self, scope: Scope, conversation_id: str, limit: int, place: Place | None = None, *, newest_first: bool = False
    ) -> LogPage:
        """At most `limit` entries, from the first or from the last on."""
        found: list[Entry] = []
        for page, entry in self._walk(scope, conversation_id, place or Place(), limit, newest_first=newest_first):
            if len(found) == limit:
                return LogPage(tuple(found), Place(page, found[-1].sequence))
            found.append(entry)
        return LogPage(tuple(found), None)

    def pop(self, scope: Scope, conversation_id: str, now: datetime) -> Entry | None:
        """Removes the last entry and returns it; None where there is none. Raises Conflict."""
        return retry_on_conflict(lambda: self._pop(scope, conversation_id, now), _WHAT, _TRIES)

    def clear(self, scope: Scope, conversation_id: str, now: datetime) -> None:
        """Removes all entries, at once for whoever reads; later ones go on with the sequences. Raises Conflict."""
        if retry_on_conflict(lambda: self._begin_anew(scope, conversation_id, now), _WHAT, _TRIES):
            for path in (entries_path(conversation_id), keys_path(conversation_id)):
                self._remove_cleared(scope, conversation_id, path, now)

    def logs(self, scope: Scope, limit: int, after: str | None) -> LogsPage:
        """A page of the user's logs that have entries, in a fixed order."""
        page = self._items.page(scope.user, HEADS, limit, after)
        heads = [(item, head_in(item)) for item in page.items]
        shown = (Log(one.conversation_id, one.count, one.next - 1, item.updated_at) for item, one in heads if one.count)
        return LogsPage(tuple(shown), page.more)

    def lasting(self, scope: Scope, limit: int, after: str | None) -> LoggedPage:
        """A page of all entries of the user's logs, by logs, in order, for an export; `limit` counts stored batches."""
        page = self._items.page(scope.user, ENTRIES, limit, after)
        keys = list(dict.fromkeys(head_of_batch(item.key) for item in page.items))
        heads = {key: head_in(item) for key, item in self._items.get(scope.user, keys).items()}
        batches = [(heads[key], batch_in(item)) for item in page.items if (key := head_of_batch(item.key)) in heads]
        found = (
            Logged(head.conversation_id, entry)
            for head, batch in batches
            for entry in batch.entries
            if entry.sequence >= head.begins
        )
        return LoggedPage(tuple(found), page.more)

    def restore(self, scope: Scope, conversation_id: str, entries: Sequence[Entry], now: datetime) -> int:
        """Stores entries with their sequences, rising, those beyond the log's last one; how many.

        What is there, and what was cleared or popped since, has a smaller sequence. Raises Conflict.
        """
        stored = 0
        for part in in_parts(entries, _RESTORED_AT_ONCE):
            work = partial(self._restore, scope, conversation_id, part, now)
            stored += retry_on_conflict(work, _WHAT, _TRIES)
        self._note(scope, now)
        return stored

    def _append(self, scope: Scope, conversation_id: str, drafts: Sequence[Draft], now: datetime) -> list[Appended]:
        keys = {draft.entry_key: entry_key(conversation_id, draft.entry_key) for draft in drafts if draft.entry_key}
        read = self._items.get(scope.user, [head_key(conversation_id), *keys.values()])
        item = read.get(head_key(conversation_id))
        head = _head(item, conversation_id)
        noted = {name: int(read[key].value["sequence"]) for name, key in keys.items() if key in read}
        known = {name: sequence for name, sequence in noted.items() if sequence >= head.begins}
        entries: list[Entry] = []
        writes: list[ItemWrite] = []
        results: list[Appended] = []
        for draft in drafts:
            if draft.entry_key in known:
                results.append(Appended(known[draft.entry_key], duplicate=True))
                continue
            sequence = head.next + len(entries)
            entries.append(entry_of(draft, sequence, now))
            results.append(Appended(sequence))
            if draft.entry_key is not None:
                writes.append(ItemWrite(keys[draft.entry_key], {"sequence": sequence}))
        if entries:
            changed = replace(head, next=head.next + len(entries), count=head.count + len(entries))
            writes += [ItemWrite(one.key, one.document) for one in batches_of(conversation_id, entries)]
            self._write(scope, conversation_id, item, changed, writes, now)
        return results

    def _restore(self, scope: Scope, conversation_id: str, entries: Sequence[Entry], now: datetime) -> int:
        item, head = self._head(scope, conversation_id)
        fresh = [entry for entry in entries if entry.sequence >= head.next]
        if fresh:
            changed = replace(head, next=fresh[-1].sequence + 1, count=head.count + len(fresh))
            keyed = [(entry.entry_key, entry.sequence) for entry in fresh if entry.entry_key is not None]
            writes = [ItemWrite(entry_key(conversation_id, key), {"sequence": sequence}) for key, sequence in keyed]
            writes += [ItemWrite(one.key, one.document) for one in batches_of(conversation_id, fresh)]
            self._write(scope, conversation_id, item, changed, writes, now)
        return len(fresh)

    def _pop(self, scope: Scope, conversation_id: str, now: datetime) -> Entry | None:
        item, head = self._head(scope, conversation_id)
        last = self._items.page(scope.user, entries_path(conversation_id), 1, None, descending=True).items
        batch = batch_in(last[0]) if last else None
        if batch is None or batch.entries[-1].sequence < head.begins:
            return None
        left = replace(batch, entries=batch.entries[:-1])
        popped = batch.entries[-1]
        writes = [ItemWrite(batch.key, left.document if left.entries else None, last[0].version)]
        if popped.entry_key is not None:
            writes.append(ItemWrite(entry_key(conversation_id, popped.entry_key), None))
        self._write(scope, conversation_id, item, replace(head, count=head.count - 1), writes, now)
        return popped

    def _begin_anew(self, scope: Scope, conversation_id: str, now: datetime) -> bool:
        item, head = self._head(scope, conversation_id)
        if item is not None:
            self._write(scope, conversation_id, item, replace(head, begins=head.next, count=0), [], now)
        return item is not None

    def _write(
        self,
        scope: Scope,
        conversation_id: str,
        stored: Item | None,
        head: Head,
        writes: Sequence[ItemWrite],
        now: datetime,
    ) -> None:
        """The head on the version that was read, and the rest with it. Raises VersionMismatch."""
        expected = ABSENT if stored is None else stored.version
        own = ItemWrite(head_key(conversation_id), head_document(head), expected)
        if len(writes) >= MOST_WRITES:
            raise InvalidInput(f"at most {MOST_WRITES - 2} entries with a key at once, fewer large ones", ("entries",))
        revision = {"id": self._ids.fresh()}
        marked = [one if one.value is None else replace(one, value={**one.value, **revision}) for one in (own, *writes)]
        self._items.write(scope.user, marked, now)

    def _head(self, scope: Scope, conversation_id: str) -> tuple[Item | None, Head]:
        key = head_key(conversation_id)
        item = self._items.get(scope.user, [key]).get(key)
        return item, _head(item, conversation_id)

    def _walk(
        self, scope: Scope, conversation_id: str, place: Place, limit: int, *, newest_first: bool
    ) -> Iterator[tuple[str | None, Entry]]:
        """The entries from a place on, each with the start of the store's page that has it."""
        path = entries_path(conversation_id)
        begins = self._head(scope, conversation_id)[1].begins
        start: str | None = place.page
        while True:
            page = self._items.page(scope.user, path, min(limit + 1, _PAGE), start, descending=newest_first)
            for item in page.items:
                entries = batch_in(item).entries
                for entry in reversed(entries) if newest_first else entries:
                    if entry.sequence >= begins and not place.passed(entry, newest_first):
                        yield start, entry
            if page.more is None:
                return
            start = page.more

    def _remove_cleared(self, scope: Scope, conversation_id: str, path: ItemPath, now: datetime) -> None:
        """What is below the first sequence of the log; a later clearing finds what a crash left."""
        begins = self._head(scope, conversation_id)[1].begins
        read = pages(lambda after: self._items.page(scope.user, path, _PAGE, after), ALL_PAGES)
        old = (one for page in read for one in page.items if _sequence(one) < begins)
        while part := list(islice(old, MOST_WRITES)):
            writes = [ItemWrite(one.key, None, one.version) for one in part]
            with suppress(VersionMismatch):  # a key of them is given again
                self._items.write(scope.user, writes, now)


def _head(item: Item | None, conversation_id: str) -> Head:
    """That of an empty log where nothing is stored."""
    return Head(conversation_id=conversation_id) if item is None else head_in(item)


def _sequence(item: Item) -> int:
    """Of a batch the first one, of an entry's key the one that it notes."""
    return int(item.value["sequence"]) if "sequence" in item.value else int(item.key.key)
