"""Entries of a conversation's log, and how they are stored.

| collection         | owner | labels             | key                 | value                                        |
|--------------------|-------|--------------------|---------------------|----------------------------------------------|
| `session_logs`     | user  |                    | conversation        | `conversation_id`, `next`, `begins`, `count` |
| `session_log`      | user  | conversation, main | sequence, 12 digits | `entries`: those from that sequence on       |
| `session_log_keys` | user  | conversation, main | SHA-256 of the key  | `sequence`                                   |

A conversation is named by the SHA-256 of its id, since an erasure, which goes by the `id` of the write in each value,
takes an id of ours in a name for it. The head (`session_logs`) is written with every change, on the version that was
read: one change after another. Sequences below its `begins` are cleared, whatever is still stored of them. `main` is
the branch; there is no other yet.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.core.items import Item, ItemKey, ItemPath, document_of, json_bytes, reading
from recollect.core.time import from_iso, iso

HEADS = ItemPath("session_logs")
ENTRIES = ItemPath("session_log")
MOST_ENTRIES = 1_000
"""Entries of one append."""
MOST_BYTES = 256 * 1024
"""Bytes of an entry's JSON."""
MOST_BYTES_AT_ONCE = 2_000_000
"""Bytes of JSON of one append."""
_BATCH_BYTES = 300 * 1024
_MAIN = "main"
_DIGITS = 12


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
    """A stored entry. `sequence` counts from 1 in a conversation and is never given again."""

    sequence: int
    at: datetime
    payload: Any = None
    blob: str | None = None
    role: Role | None = None
    entry_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The state of a log: the next sequence, the first that is not cleared, and how many entries there are."""

    conversation_id: str
    next: int = 1
    begins: int = 1
    count: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Entries that are stored as one item; their sequences follow one another."""

    key: ItemKey
    entries: tuple[Entry, ...] = field(default=())

    @property
    def document(self) -> dict[str, Any]:
        """As it is stored."""
        return {"entries": [_document(entry) for entry in self.entries]}


def head_key(conversation_id: str) -> ItemKey:
    """Where the head of a log is."""
    return ItemKey(HEADS, _digest(conversation_id))


def head_of_batch(batch: ItemKey) -> ItemKey:
    """Where the head of the log is that has the batch."""
    return ItemKey(HEADS, batch.path.labels[0])


def entries_path(conversation_id: str) -> ItemPath:
    """Where the batches of a log are."""
    return ItemPath(ENTRIES.collection, (_digest(conversation_id), _MAIN))


def keys_path(conversation_id: str) -> ItemPath:
    """Where the entry keys of a log are."""
    return ItemPath("session_log_keys", (_digest(conversation_id), _MAIN))


def entry_key(conversation_id: str, key: str) -> ItemKey:
    """Where it is noted which sequence a key has."""
    return ItemKey(keys_path(conversation_id), _digest(key))


def head_in(item: Item) -> Head:
    """The head of an item. Raises StoredDataError."""
    with reading("the head of a log"):
        numbers = {name: int(item.value[name]) for name in ("next", "begins", "count")}
        return Head(conversation_id=str(item.value["conversation_id"]), **numbers)


def head_document(head: Head) -> dict[str, Any]:
    """As it is stored."""
    return document_of(head)


def batch_in(item: Item) -> Batch:
    """The batch of an item. Raises StoredDataError."""
    with reading("a log"):
        first = int(item.key.key)
        return Batch(item.key, tuple(_entry(first + place, one) for place, one in enumerate(item.value["entries"])))


def batches_of(conversation_id: str, entries: Sequence[Entry]) -> Iterator[Batch]:
    """The entries in order, in batches whose sequences follow one another and which fit into an item."""
    part: list[Entry] = []
    size = 0
    for entry in entries:
        own = json_bytes(_document(entry)) + 1
        if part and (size + own > _BATCH_BYTES or entry.sequence != part[-1].sequence + 1):
            yield _batch(conversation_id, part)
            part, size = [], 0
        part.append(entry)
        size += own
    if part:
        yield _batch(conversation_id, part)


def entry_of(draft: Draft, sequence: int, at: datetime) -> Entry:
    """The entry that a draft becomes."""
    return Entry(
        sequence=sequence, at=at, payload=draft.payload, blob=draft.blob, role=draft.role, entry_key=draft.entry_key
    )


def check_drafts(drafts: Sequence[Draft]) -> None:
    """Raises InvalidInput for over 1,000 entries or 2 MB, a repeated key, and an entry over 256 KiB or no JSON."""
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
    try:
        return json_bytes({"payload": draft.payload, "blob": draft.blob})
    except (InvalidInput, ValueError) as error:  # infinity; half of a surrogate pair
        raise InvalidInput("an entry that is no JSON in Unicode", ("entries", place)) from error


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def _batch(conversation_id: str, entries: Sequence[Entry]) -> Batch:
    key = f"{entries[0].sequence:0{_DIGITS}d}"
    return Batch(ItemKey(entries_path(conversation_id), key), tuple(entries))


def _document(entry: Entry) -> dict[str, Any]:
    found: dict[str, Any] = {"at": iso(entry.at)}
    found |= {"payload": entry.payload} if entry.blob is None else {"blob": entry.blob}
    found |= {} if entry.role is None else {"role": entry.role.value}
    return found if entry.entry_key is None else {**found, "key": entry.entry_key}


def _entry(sequence: int, document: Mapping[str, Any]) -> Entry:
    role = document.get("role")
    return Entry(
        sequence=sequence,
        at=from_iso(document["at"]),
        payload=document.get("payload"),
        blob=document.get("blob"),
        role=None if role is None else Role(role),
        entry_key=document.get("key"),
    )
