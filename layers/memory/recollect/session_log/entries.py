"""Entries of a conversation's log, and how they are stored.

| collection             | owner | labels                 | key                | value                                |
|------------------------|-------|------------------------|--------------------|--------------------------------------|
| `session_logs`         | user  |                        | conversation       | `conversation_id`, `next`, `begins`, |
|                        |       |                        |                    | `count`, `branches`, `last`, `popped`|
| `session_log`          | user  | conversation, main     | sequence, 12 digits| `entries` from that sequence on,     |
|                        |       |                        |                    | `branch` unless `main`, `origin`     |
| `session_log_keys`     | user  | conversation, main     | SHA-256 of the key | `sequence`                           |
| `session_log_versions` | user  | conversation, sequence | version, 6 digits  | `entry` in that version, `branch`    |

A conversation is named by the SHA-256 of its id, since an erasure, which goes by the `id` of the write in each value,
takes an id of ours in a name for it. The head (`session_logs`) is written with every change, on the version that was
read: one change after another. Sequences below its `begins` are cleared, whatever is still stored of them. The label
`main` stands for all branches: their entries lie in one order, which is the one in which they came.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.core.items import Item, ItemKey, ItemPath, document_of, is_deeper, json_bytes, reading
from recollect.core.time import from_iso, iso
from recollect.session_log.branches import MAIN, Branch, branch_document, branch_in

HEADS = ItemPath("session_logs")
ENTRIES = ItemPath("session_log")
VERSIONS = ItemPath("session_log_versions")
MOST_ENTRIES = 1_000
"""Entries of one append."""
MOST_BYTES = 256 * 1024
"""Bytes of an entry's JSON."""
MOST_LEVELS = 64
"""Of lists and objects in an entry's payload."""
MOST_BYTES_AT_ONCE = 2_000_000
"""Bytes of JSON of one append."""
_BATCH_BYTES = 300 * 1024
_ALL_BRANCHES = "main"
_DIGITS = 12
_VERSION_DIGITS = 6


class Role(StrEnum):
    """Who an entry is from."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is appended: `payload` any JSON, or `blob` base64 instead of it; `entry_key` makes a repetition harmless."""

    payload: Any = None
    blob: str | None = None
    role: Role | None = None
    entry_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A stored entry. `sequence` counts from 1 in a conversation and is never given again.

    `version` counts its contents from 1; `edited_at` is when it got the present one, None for the first.
    """

    sequence: int
    at: datetime
    payload: Any = None
    blob: str | None = None
    role: Role | None = None
    entry_key: str | None = None
    branch: str = MAIN
    version: int = 1
    edited_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The state of a log: the next sequence, the first that is not cleared, the number of entries, the branches.

    No entry of `main` is beyond `last`, where it is known. `popped` is the sequence of an entry that was taken and had
    a history: of it something may be left.
    """

    conversation_id: str
    next: int = 1
    begins: int = 1
    count: int = 0
    branches: Mapping[str, Branch] = field(default_factory=dict)
    last: int | None = None
    popped: int | None = None

    def grown(self, entries: Sequence[Entry]) -> "Head":
        """With further entries, rising, of branches that it has."""
        last = {entry.branch: entry.sequence for entry in entries}
        longer = {name: replace(self.branches[name], last=end) for name, end in last.items() if name != MAIN}
        return replace(
            self,
            next=entries[-1].sequence + 1,
            count=self.count + len(entries),
            branches={**self.branches, **longer},
            last=last.get(MAIN, self.last),
        )

    def ending(self, branch: str, last: int) -> "Head":
        """With a branch that has no entry beyond `last`."""
        if branch == MAIN:
            return replace(self, last=last)
        return replace(self, branches={**self.branches, branch: replace(self.branches[branch], last=last)})


@dataclass(frozen=True, slots=True)
class Origin:
    """The request that appended entries, which may be repeated, and the first sequence that it gave."""

    request: str
    first: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Entries of one branch that are stored as one item; their sequences follow one another."""

    key: ItemKey
    entries: tuple[Entry, ...]
    origin: Origin | None = None

    @property
    def branch(self) -> str:
        """The branch of them all."""
        return self.entries[0].branch

    @property
    def document(self) -> dict[str, Any]:
        """As it is stored."""
        found: dict[str, Any] = {"entries": [_document(entry) for entry in self.entries]}
        found |= {} if self.branch == MAIN else {"branch": self.branch}
        return found if self.origin is None else {**found, "origin": [self.origin.request, self.origin.first]}


def head_key(conversation_id: str) -> ItemKey:
    """Where the head of a log is."""
    return ItemKey(HEADS, _digest(conversation_id))


def head_of(stored: ItemKey) -> ItemKey:
    """Where the head of the log is that has the batch, or the earlier version."""
    return ItemKey(HEADS, stored.path.labels[0])


def entries_path(conversation_id: str) -> ItemPath:
    """Where the batches of a log are."""
    return ItemPath(ENTRIES.collection, (_digest(conversation_id), _ALL_BRANCHES))


def batch_key(conversation_id: str, sequence: int) -> ItemKey:
    """Where the batch is that begins with that sequence."""
    return ItemKey(entries_path(conversation_id), _number(sequence))


def keys_path(conversation_id: str) -> ItemPath:
    """Where the entry keys of a log are."""
    return ItemPath("session_log_keys", (_digest(conversation_id), _ALL_BRANCHES))


def versions_path(conversation_id: str, sequence: int | None = None) -> ItemPath:
    """Where the earlier versions of an entry are; without a sequence those of the whole log."""
    labels = (_digest(conversation_id),) if sequence is None else (_digest(conversation_id), _number(sequence))
    return ItemPath(VERSIONS.collection, labels)


def version_key(conversation_id: str, entry: Entry) -> ItemKey:
    """Where the entry is when it is an earlier version."""
    return ItemKey(versions_path(conversation_id, entry.sequence), f"{entry.version:0{_VERSION_DIGITS}d}")


def entry_key(conversation_id: str, key: str) -> ItemKey:
    """Where it is noted which sequence a key has."""
    return ItemKey(keys_path(conversation_id), _digest(key))


def head_in(item: Item) -> Head:
    """The head of an item. Raises StoredDataError."""
    with reading("the head of a log"):
        numbers = {name: int(item.value[name]) for name in ("next", "begins", "count")}
        branches = {name: branch_in(name, one) for name, one in item.value.get("branches", {}).items()}
        numbers |= {name: int(item.value[name]) for name in ("last", "popped") if name in item.value}
        return Head(conversation_id=str(item.value["conversation_id"]), branches=branches, **numbers)


def head_document(head: Head) -> dict[str, Any]:
    """As it is stored."""
    branches = {name: branch_document(one) for name, one in head.branches.items()}
    return document_of(head, {"branches"}) | ({"branches": branches} if branches else {})


def batch_in(item: Item) -> Batch:
    """The batch of an item. Raises StoredDataError."""
    with reading("a log"):
        first, branch = int(item.key.key), str(item.value.get("branch", MAIN))
        entries = [_entry(first + place, branch, one) for place, one in enumerate(item.value["entries"])]
        origin = item.value.get("origin")
        return Batch(item.key, tuple(entries), None if origin is None else Origin(str(origin[0]), int(origin[1])))


def version_in(item: Item) -> Entry:
    """The entry of an item that holds an earlier version. Raises StoredDataError."""
    with reading("a version of an entry"):
        return _entry(int(item.key.path.labels[1]), str(item.value.get("branch", MAIN)), item.value["entry"])


def version_document(entry: Entry) -> dict[str, Any]:
    """An earlier version as it is stored."""
    found: dict[str, Any] = {"entry": _document(entry)}
    return found if entry.branch == MAIN else {**found, "branch": entry.branch}


def batches_of(conversation_id: str, entries: Sequence[Entry], origin: Origin | None = None) -> Iterator[Batch]:
    """The entries in order, in batches of one branch whose sequences follow one another and which fit into an item."""
    part: list[Entry] = []
    size = 0
    for entry in entries:
        own = json_bytes(_document(entry)) + 1
        if part and (size + own > _BATCH_BYTES or not _follows(entry, part[-1])):
            yield _batch(conversation_id, part, origin)
            part, size = [], 0
        part.append(entry)
        size += own
    if part:
        yield _batch(conversation_id, part, origin)


def entry_of(draft: Draft, sequence: int, at: datetime, branch: str = MAIN) -> Entry:
    """The entry that a draft becomes."""
    given = {name: getattr(draft, name) for name in ("payload", "blob", "role", "entry_key")}
    return Entry(sequence=sequence, at=at, branch=branch, **given)


def check_drafts(drafts: Sequence[Draft]) -> None:
    """Raises InvalidInput for over 1,000 entries or 2 MB, a repeated key; an entry over 256 KiB, too deep, no JSON."""
    sizes = [_size(draft, place) for place, draft in enumerate(drafts)]
    for place, size in enumerate(sizes):
        if size > MOST_BYTES:
            raise InvalidInput(f"an entry of more than {MOST_BYTES} bytes of JSON", ("entries", place))
    if len(drafts) > MOST_ENTRIES or sum(sizes) > MOST_BYTES_AT_ONCE:
        raise InvalidInput(f"at most {MOST_ENTRIES} entries and {MOST_BYTES_AT_ONCE} bytes at once", ("entries",))
    keys = [draft.entry_key for draft in drafts if draft.entry_key is not None]
    if len(set(keys)) < len(keys):
        raise InvalidInput("an entry_key stands twice", ("entries",))


def _size(draft: Draft, place: int) -> int:
    if is_deeper(draft.payload, MOST_LEVELS):
        raise InvalidInput("an entry that is nested too deeply", ("entries", place))
    try:
        return json_bytes({"payload": draft.payload, "blob": draft.blob})
    except (InvalidInput, ValueError) as error:  # infinity; half of a surrogate pair
        raise InvalidInput("an entry that is no JSON in Unicode", ("entries", place)) from error


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def _number(sequence: int) -> str:
    return f"{sequence:0{_DIGITS}d}"


def _follows(entry: Entry, last: Entry) -> bool:
    return entry.sequence == last.sequence + 1 and entry.branch == last.branch


def _batch(conversation_id: str, entries: Sequence[Entry], origin: Origin | None) -> Batch:
    return Batch(batch_key(conversation_id, entries[0].sequence), tuple(entries), origin)


def _document(entry: Entry) -> dict[str, Any]:
    found: dict[str, Any] = {"at": iso(entry.at)}
    found |= {"payload": entry.payload} if entry.blob is None else {"blob": entry.blob}
    found |= {} if entry.role is None else {"role": entry.role.value}
    found |= {} if entry.entry_key is None else {"key": entry.entry_key}
    found |= {"version": entry.version} if entry.version > 1 else {}
    return found if entry.edited_at is None else {**found, "edited_at": iso(entry.edited_at)}


def _entry(sequence: int, branch: str, document: Mapping[str, Any]) -> Entry:
    role, edited_at = document.get("role"), document.get("edited_at")
    return Entry(
        sequence=sequence,
        at=from_iso(document["at"]),
        payload=document.get("payload"),
        blob=document.get("blob"),
        role=None if role is None else Role(role),
        entry_key=document.get("key"),
        branch=branch,
        version=int(document.get("version", 1)),
        edited_at=None if edited_at is None else from_iso(edited_at),
    )
