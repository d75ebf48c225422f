"""All entries of a user's logs with what they were before, for an export, and the same brought back by an import."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from recollect.core.errors import InvalidInput
from recollect.core.idempotency import retry_on_conflict
from recollect.core.items import ABSENT, Item, ItemWrite, in_parts
from recollect.core.scope import Scope
from recollect.session_log.branches import MOST_BRANCHES, Branch
from recollect.session_log.entries import (
    ENTRIES,
    VERSIONS,
    Entry,
    Head,
    batch_in,
    batches_of,
    entry_key,
    head_in,
    head_of,
    version_document,
    version_in,
    version_key,
)
from recollect.session_log.store import TRIES, WHAT, LogStore

_RESTORED_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Logged:
    """An entry, the conversation whose log it is in, and its branch, None for `main`.

    `earlier`: the entry is no longer so; it is a version in the history of the one with its sequence.
    """

    conversation_id: str
    entry: Entry
    branch: Branch | None = None
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class LoggedPage:
    """Entries of several logs; `more` is where the next page begins, None at the end."""

    entries: tuple[Logged, ...]
    more: str | None


@dataclass(frozen=True, slots=True)
class LastingLogs:
    """What an export has of logs, and an import gives them."""

    _store: LogStore

    def entries(self, scope: Scope, limit: int, after: str | None) -> LoggedPage:
        """A page of all entries, by logs, in order; `limit` counts stored batches."""
        page = self._store.items.page(scope.user, ENTRIES, limit, after)
        whole = [(item, entry) for item in page.items for entry in batch_in(item).entries]
        return LoggedPage(tuple(self._logged(scope, whole, earlier=False)), page.more)

    def versions(self, scope: Scope, limit: int, after: str | None) -> LoggedPage:
        """A page of what entries were before, by logs and entries, oldest first."""
        page = self._store.items.page(scope.user, VERSIONS, limit, after)
        whole = [(item, version_in(item)) for item in page.items]
        return LoggedPage(tuple(self._logged(scope, whole, earlier=True)), page.more)

    def restore(self, scope: Scope, conversation_id: str, logged: Sequence[Logged], now: datetime) -> int:
        """Stores entries with their sequences, rising, those beyond the log's last one; how many.

        What is there, and what was cleared or popped since, has a smaller sequence. Earlier versions are stored where
        the entry is there that they are of. Raises Conflict.
        """
        stored = 0
        for earlier in (False, True):
            for part in in_parts([one for one in logged if one.earlier == earlier], _RESTORED_AT_ONCE):
                work = partial(self._restore, scope, conversation_id, part, now)
                stored += retry_on_conflict(work, WHAT, TRIES)
        return stored

    def _logged(self, scope: Scope, whole: Sequence[tuple[Item, Entry]], *, earlier: bool) -> Iterator[Logged]:
        """The entries that are not cleared, nor left of one that was popped, with their logs and branches."""
        keys = list(dict.fromkeys(head_of(item.key) for item, _ in whole))
        heads = {key: head_in(item) for key, item in self._store.items.get(scope.user, keys).items()}
        for item, entry in whole:
            head = heads.get(head_of(item.key))
            if head is not None and entry.sequence >= head.begins and not (earlier and entry.sequence == head.popped):
                yield Logged(head.conversation_id, entry, head.branches.get(entry.branch), earlier)

    def _restore(self, scope: Scope, conversation_id: str, logged: Sequence[Logged], now: datetime) -> int:
        stored = self._store.head(scope, conversation_id)
        fresh = [one for one in logged if not one.earlier and one.entry.sequence >= stored.head.next]
        entries = [one.entry for one in fresh]
        versions = [one.entry for one in logged if one.earlier and self._is_missing(scope, stored.head, one.entry)]
        if not entries and not versions:
            return 0
        named = {one.branch.name: one.branch for one in fresh if one.branch is not None}
        head = replace(stored.head, branches={**named, **stored.head.branches})
        if len(head.branches) > MOST_BRANCHES:
            raise InvalidInput(f"a log has at most {MOST_BRANCHES} branches", ("branch",))
        head = head.grown(entries) if entries else head
        keyed = [(entry.entry_key, entry.sequence) for entry in entries if entry.entry_key is not None]
        writes = [ItemWrite(entry_key(conversation_id, key), {"sequence": sequence}) for key, sequence in keyed]
        writes += [ItemWrite(one.key, one.document) for one in batches_of(conversation_id, entries)]
        writes += [ItemWrite(version_key(conversation_id, one), version_document(one), ABSENT) for one in versions]
        self._store.change(scope, stored, head, writes, now)
        return len(entries) + len(versions)

    def _is_missing(self, scope: Scope, head: Head, earlier: Entry) -> bool:
        """Whether the entry is there in a later version, and this one is not."""
        stored = self._store.entry(scope, head, earlier.sequence)
        if stored is None or stored.entry.at != earlier.at or stored.entry.version <= earlier.version:
            return False
        key = version_key(head.conversation_id, earlier)
        return not self._store.items.get(scope.user, [key])
