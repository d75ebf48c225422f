"""One entry of a log: read, edited, removed; what it was before stays in its history.

Nothing is derived from an entry, so nothing else changes with it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from recollect.core.errors import NotFound, VersionMismatch
from recollect.core.idempotency import retry_on_conflict
from recollect.core.items import ABSENT, ItemWrite
from recollect.core.scope import Scope
from recollect.session_log.entries import (
    Draft,
    Entry,
    check_drafts,
    version_document,
    version_in,
    version_key,
    versions_path,
)
from recollect.session_log.store import TRIES, WHAT, LogStore, StoredEntry, StoredHead, rewritten
from recollect.session_log.use_cases import removal


@dataclass(frozen=True, slots=True)
class EntryName:
    """Which entry of which log."""

    conversation_id: str
    sequence: int


@dataclass(frozen=True, slots=True)
class VersionsPage:
    """Earlier versions of an entry, oldest first; `more` is where the next page begins, None at the end."""

    versions: tuple[Entry, ...]
    more: str | None


Accepts = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Edit:
    """The fields of a draft that change, and which version of the entry they may replace.

    `again`: an earlier try of the same request may have made it.
    """

    content: Mapping[str, Any]
    accepts: Accepts
    again: bool = False

    def is_made_in(self, entry: Entry) -> bool:
        """Whether the entry is what that try made of it."""
        return self.again and self.accepts(entry.version - 1) and replace(entry, **self.content) == entry


@dataclass(frozen=True, slots=True)
class EditLog:
    """The use cases behind `…/log/entries/{sequence}`."""

    _store: LogStore

    def one(self, scope: Scope, name: EntryName) -> Entry:
        """The entry. Raises NotFound."""
        return self._stored(scope, name)[1].entry

    def in_version(self, scope: Scope, name: EntryName, version: int) -> Entry:
        """The entry as it is or was in a version. Raises NotFound."""
        entry = self.one(scope, name)
        if entry.version == version:
            return entry
        key = version_key(name.conversation_id, replace(entry, version=version))
        earlier = self._store.items.get(scope.user, [key]).get(key)
        if earlier is None:
            raise NotFound("the entry has no such version")
        return version_in(earlier)

    def edit(self, scope: Scope, name: EntryName, edit: Edit, now: datetime) -> Entry:
        """Gives an entry another content. The one before stays in its history.

        Raises NotFound, VersionMismatch where the edit does not accept the entry's version, InvalidInput, and Conflict
        where others change the log all the time.
        """
        edited = retry_on_conflict(partial(self._edit, scope, name, edit, now), WHAT, TRIES)
        return _accepted(edited)

    def remove(self, scope: Scope, name: EntryName, accepts: Accepts, now: datetime) -> None:
        """Removes an entry with its key and its history, also one that a try which ended early has left.

        Raises NotFound, VersionMismatch and Conflict.
        """
        try:
            self.one(scope, name)
        except NotFound:
            self._store.forget_versions(scope, name.conversation_id, name.sequence, now)
            raise
        removed = _accepted(retry_on_conflict(partial(self._remove, scope, name, accepts, now), WHAT, TRIES))
        if removed.version > 1:
            self._store.forget_versions(scope, name.conversation_id, name.sequence, now)

    def versions(self, scope: Scope, name: EntryName, limit: int, after: str | None) -> VersionsPage:
        """A page of what the entry was before. Raises NotFound."""
        self.one(scope, name)
        path = versions_path(name.conversation_id, name.sequence)
        page = self._store.items.page(scope.user, path, limit, after)
        return VersionsPage(tuple(map(version_in, page.items)), page.more)

    def _edit(self, scope: Scope, name: EntryName, edit: Edit, now: datetime) -> Entry | None:
        head, stored = self._stored(scope, name)
        before = stored.entry
        if not edit.accepts(before.version):
            return before if edit.is_made_in(before) else None
        after = replace(before, **edit.content)
        if after == before:
            return before
        check_drafts([Draft(payload=after.payload, blob=after.blob)])
        after = replace(after, version=before.version + 1, edited_at=now)
        earlier = ItemWrite(version_key(name.conversation_id, before), version_document(before), ABSENT)
        writes = [*rewritten(name.conversation_id, stored, after), earlier]
        self._store.change(scope, head, head.head, writes, now)
        return after

    def _remove(self, scope: Scope, name: EntryName, accepts: Accepts, now: datetime) -> Entry | None:
        head, stored = self._stored(scope, name)
        if not accepts(stored.entry.version):
            return None
        fewer = replace(head.head, count=head.head.count - 1)
        self._store.change(scope, head, fewer, removal(name.conversation_id, stored), now)
        return stored.entry

    def _stored(self, scope: Scope, name: EntryName) -> tuple[StoredHead, StoredEntry]:
        head = self._store.head(scope, name.conversation_id)
        stored = self._store.entry(scope, head.head, name.sequence)
        if stored is None:
            raise NotFound("the log has no such entry")
        return head, stored


def _accepted(entry: Entry | None) -> Entry:
    if entry is None:
        raise VersionMismatch("the entry changed since it was read")
    return entry
