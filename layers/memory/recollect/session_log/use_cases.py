"""Appending to the log of a conversation, reading it in either order, taking its last entry, clearing it.

A change writes the head on the version that it read, with all that belongs to it, at once: an append is stored whole
or not at all, and of two at the same time one comes after the other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count, takewhile

from recollect.core.errors import Conflict, InvalidInput, NotFound, Throttled
from recollect.core.idempotency import retry_on_conflict
from recollect.core.ids import IdSeed, id_milliseconds
from recollect.core.items import Item, ItemKey, ItemWrite
from recollect.core.scope import Scope
from recollect.session_log.branches import MAIN, MAIN_ALONE, MOST_BRANCHES, Branch, Span, View, spans_of
from recollect.session_log.entries import (
    HEADS,
    Draft,
    Entry,
    Head,
    Origin,
    batch_in,
    batch_key,
    batches_of,
    check_drafts,
    entries_path,
    entry_key,
    entry_of,
    head_in,
    head_key,
    keys_path,
    versions_path,
)
from recollect.session_log.reading import LogPage, Place, Walk
from recollect.session_log.store import TRIES, WHAT, LogStore, StoredEntry, StoredHead, rewritten, stored_head

_PAGE = 100
_MOST_PAGES = 20
_POPPED_AT_ONCE = 10
_MOST_POPPED_OVER = 200
"""Batches of other branches that one request looks through for the last entry of its own."""
_SKEW_MILLISECONDS = 60_000


@dataclass(frozen=True, slots=True)
class Appending:
    """Onto which branch entries come: a new one begins behind the entry `root`.

    `request` is the seed of a request that may be repeated, `again` whether an earlier try of it may have stored them.
    """

    branch: str = MAIN
    root: int | None = None
    request: IdSeed | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of one entry: its sequence, and whether an entry of that key was there before."""

    sequence: int
    duplicate: bool = False


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
class SessionLogs:
    """The use cases behind `…/conversations/{conversation_id}/log`. `note` lists the user among those of the tenant."""

    _store: LogStore
    _note: Callable[[Scope, datetime], None]

    def append(
        self,
        scope: Scope,
        conversation_id: str,
        drafts: Sequence[Draft],
        now: datetime,
        how: Appending = Appending(),
    ) -> list[Appended]:
        """All of them or none; one whose key is there already is a duplicate of that entry.

        Raises InvalidInput, NotFound for a branch that is not there where no root is named, and Conflict where it has
        another root, or where others change the log all the time.
        """
        check_drafts(drafts)
        self._note(scope, now)
        return retry_on_conflict(lambda: self._append(scope, conversation_id, drafts, now, how), WHAT, TRIES)

    def read(
        self,
        scope: Scope,
        conversation_id: str,
        limit: int,
        place: Place | None = None,
        *,
        newest_first: bool = False,
        view: View = MAIN_ALONE,
    ) -> LogPage:
        """At most `limit` entries of the view and 4 MB, from the first or from the last on. Raises NotFound."""
        spans = _seen(self._store.head(scope, conversation_id).head, view)
        walk = Walk(limit, place or Place(), newest_first, spans)
        path = entries_path(conversation_id)
        start = walk.place.page
        if start is None and not newest_first:
            start = self._store.items.beside(scope.user, batch_key(conversation_id, spans[-1].low))
        for _ in range(_MOST_PAGES):
            at_once = min(limit + 1, _PAGE)
            page = self._store.items.page(scope.user, path, at_once, start, descending=newest_first)
            if not walk.take(page.items):
                return LogPage(tuple(walk.found), Place(start, walk.last))
            if page.more is None:
                return LogPage(tuple(walk.found), None)
            start = page.more
        return LogPage(tuple(walk.found), Place(start, walk.last))

    def branches(self, scope: Scope, conversation_id: str) -> list[Branch]:
        """The branches besides `main`, in the order of their roots."""
        found = self._store.head(scope, conversation_id).head.branches.values()
        return sorted(found, key=lambda one: (one.root, one.name))

    def pop(self, scope: Scope, conversation_id: str, now: datetime, branch: str = MAIN) -> Entry | None:
        """Removes the last entry of a branch with its history and returns it; None where there is none.

        What is left of one that stopped half way is removed too. Raises NotFound, Conflict, and Throttled where so much
        of other branches has come since that the next try has to go on looking.
        """
        popped = retry_on_conflict(lambda: self._pop(scope, conversation_id, branch, now), WHAT, TRIES)
        if isinstance(popped, int):
            raise Throttled("the last entry lies behind many of other branches")
        if popped is not None and popped.version > 1:
            self._store.forget_versions(scope, conversation_id, popped.sequence, now)
        return popped

    def clear(self, scope: Scope, conversation_id: str, now: datetime) -> None:
        """Removes all entries and branches, at once for whoever reads; later ones go on with the sequences.

        Raises Conflict.
        """
        if retry_on_conflict(lambda: self._begin_anew(scope, conversation_id, now), WHAT, TRIES):
            for path in (entries_path(conversation_id), keys_path(conversation_id), versions_path(conversation_id)):
                self._store.remove_before(scope, conversation_id, path, now)

    def logs(self, scope: Scope, limit: int, after: str | None) -> LogsPage:
        """A page of the user's logs that have entries, in a fixed order."""
        page = self._store.items.page(scope.user, HEADS, limit, after)
        heads = [(item, head_in(item)) for item in page.items]
        shown = (Log(one.conversation_id, one.count, one.next - 1, item.updated_at) for item, one in heads if one.count)
        return LogsPage(tuple(shown), page.more)

    def _append(
        self, scope: Scope, conversation_id: str, drafts: Sequence[Draft], now: datetime, how: Appending
    ) -> list[Appended]:
        keys = {draft.entry_key: entry_key(conversation_id, draft.entry_key) for draft in drafts if draft.entry_key}
        read = self._store.items.get(scope.user, [head_key(conversation_id), *keys.values()])
        stored = stored_head(read.get(head_key(conversation_id)), conversation_id)
        known = _known(keys, read, stored.head)
        first = self._of_another_try(scope, stored, how)
        if first is not None:
            return _outcomes(drafts, known, first)
        head = self._with_branch(scope, stored.head, how)
        new = [draft for draft in drafts if draft.entry_key not in known]
        entries = [entry_of(draft, head.next + place, now, how.branch) for place, draft in enumerate(new)]
        if entries:
            self._store.change(scope, stored, head.grown(entries), _writes(conversation_id, entries, keys, how), now)
        return _outcomes(drafts, known, head.next)

    def _of_another_try(self, scope: Scope, stored: StoredHead, how: Appending) -> int | None:
        """The first sequence that another try of the request stored, looked for among what was written since.

        A first try asks too, where the log was written after it began: its claim may have lapsed meanwhile.
        """
        if how.request is None or stored.item is None:
            return None
        since = id_milliseconds(how.request.nth(0)) - (_SKEW_MILLISECONDS if how.again else 0)

        def is_recent(item: Item) -> bool:
            return id_milliseconds(str(item.value["id"])) >= since

        if not is_recent(stored.item):
            return None
        batches = self._store.batches(scope, stored.head.conversation_id, newest_first=True)
        origins = (batch_in(item).origin for item in takewhile(is_recent, batches))
        return next((one.first for one in origins if one is not None and one.request == how.request.encode()), None)

    def _with_branch(self, scope: Scope, head: Head, how: Appending) -> Head:
        """The head with the branch that is appended to."""
        branch = head.branches.get(how.branch)
        if how.branch == MAIN or branch is not None:
            if how.root not in (None, branch and branch.root):
                raise Conflict(f"the branch begins behind {branch.root if branch else 'no entry'}")
            return head
        if how.root is None:
            raise NotFound("the log has no such branch, and none begins without a root")
        root = self._store.entry(scope, head, how.root)
        if root is None:
            raise InvalidInput("is no entry of the log", ("root",))
        if len(head.branches) >= MOST_BRANCHES:
            raise InvalidInput(f"a log has at most {MOST_BRANCHES} branches", ("branch",))
        made = Branch(name=how.branch, root=how.root, parent=root.entry.branch)
        return replace(head, branches={**head.branches, made.name: made})

    def _pop(self, scope: Scope, conversation_id: str, branch: str, now: datetime) -> Entry | int | None:
        """The entry, or up to where it was looked for in vain, which the head notes."""
        stored = self._store.head(scope, conversation_id)
        if stored.head.popped is not None:
            self._store.forget_versions(scope, conversation_id, stored.head.popped, now)
        own = _seen(stored.head, View(branch))[0]
        if branch == MAIN and stored.head.last is not None:
            own = replace(own, high=stored.head.last)
        last = self._last(scope, conversation_id, own)
        if last is None:
            return None
        if isinstance(last, int):
            self._store.change(scope, stored, stored.head.ending(branch, last), [], now)
            return last
        popped = last.entry.sequence if last.entry.version > 1 else None
        head = replace(stored.head, count=stored.head.count - 1, popped=popped)
        shorter = head.ending(branch, last.entry.sequence - 1)
        self._store.change(scope, stored, shorter, removal(conversation_id, last), now)
        return last.entry

    def _last(self, scope: Scope, conversation_id: str, span: Span) -> StoredEntry | int | None:
        """The last entry of a span; where too much lies before it, the sequence at which to go on looking."""
        start = self._store.items.beside(scope.user, batch_key(conversation_id, span.high + 1))
        found = self._store.batches(scope, conversation_id, start, at_once=_POPPED_AT_ONCE, newest_first=True)
        for passed, item in enumerate(found):
            batch = batch_in(item)
            entry = batch.entries[-1]
            if entry.sequence <= span.low:
                return None
            if span.has(entry.branch, entry.sequence):
                return StoredEntry(item, batch, entry)
            if passed == _MOST_POPPED_OVER:
                return batch.entries[0].sequence
        return None

    def _begin_anew(self, scope: Scope, conversation_id: str, now: datetime) -> bool:
        stored = self._store.head(scope, conversation_id)
        if stored.item is not None:
            head = Head(conversation_id=conversation_id, next=stored.head.next, begins=stored.head.next)
            self._store.change(scope, stored, head, [], now)
        return stored.item is not None


def removal(conversation_id: str, stored: StoredEntry) -> list[ItemWrite]:
    """The writes that remove an entry with its key."""
    writes = rewritten(conversation_id, stored, None)
    if stored.entry.entry_key is not None:
        writes.append(ItemWrite(entry_key(conversation_id, stored.entry.entry_key), None))
    return writes


def _seen(head: Head, view: View) -> Sequence[Span]:
    try:
        return spans_of(view, head.branches, head.begins, head.next)
    except KeyError:
        raise NotFound("the log has no such branch") from None


def _known(keys: Mapping[str, ItemKey], read: Mapping[ItemKey, Item], head: Head) -> dict[str | None, int]:
    """The sequences of the entry keys that the log has."""
    noted = {name: int(read[key].value["sequence"]) for name, key in keys.items() if key in read}
    return {name: sequence for name, sequence in noted.items() if sequence >= head.begins}


def _outcomes(drafts: Sequence[Draft], known: Mapping[str | None, int], first: int) -> list[Appended]:
    """What became of each draft: those that the log did not have got the sequences from `first` on, in order."""
    sequences = count(first)
    found: list[Appended] = []
    for draft in drafts:
        before = known.get(draft.entry_key)
        if before is None or first <= before < first + len(drafts):
            found.append(Appended(next(sequences)))
        else:
            found.append(Appended(before, duplicate=True))
    return found


def _writes(
    conversation_id: str, entries: Sequence[Entry], keys: Mapping[str, ItemKey], how: Appending
) -> list[ItemWrite]:
    keyed = [(entry.entry_key, entry.sequence) for entry in entries if entry.entry_key is not None]
    origin = None if how.request is None else Origin(how.request.encode(), entries[0].sequence)
    batches = batches_of(conversation_id, entries, origin)
    return [
        *(ItemWrite(keys[key], {"sequence": sequence}) for key, sequence in keyed),
        *(ItemWrite(one.key, one.document) for one in batches),
    ]
