"""Memories as items of their user, each with its earlier versions and the record of its content.

| collection        | labels    | key                 | value                                                          |
|-------------------|-----------|---------------------|----------------------------------------------------------------|
| `memories`        |           | memory id           | the memory; or `{same_as}`: this event is in that memory too   |
| `memory_versions` | memory id | version, 8 digits   | the memory in that earlier version                             |
| `memory_contents` |           | `content_identity`  | `{id}`: the memory that has this content                       |
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from recollect.core.errors import InvalidInput, StoredDataError
from recollect.core.event import Event, Source
from recollect.core.items import ABSENT, MOST_BYTES, Due, Item, ItemKey, ItemPath, ItemWrite, json_bytes
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso
from recollect.memories.audit import content_hash
from recollect.memories.memory import Lapse, Memory, MemoryStatus, Origin
from recollect.timeline.record import to_record

FORMAT_VERSION = 2
MEMORIES = ItemPath("memories")
CONTENTS = ItemPath("memory_contents")
SAME_AS = "same_as"
TO_PROJECT = "memories"
"""The queue of memories whose change the index may not show yet."""

_BAR = re.compile(r"_([a-z])")
_DATES = ("timestamp", "valid_from", "valid_to", "recorded_at", "expires_at")
_READ: Mapping[str, Callable[[Any], object]] = {
    "source": Source,
    "status": MemoryStatus,
    "origin": Origin,
    "keywords": tuple,
    "source_event_ids": tuple,
    "metadata": lambda document: MappingProxyType(dict(document)),
}


def memory_key(memory_id: str) -> ItemKey:
    return ItemKey(MEMORIES, memory_id)


def versions_path(memory_id: str) -> ItemPath:
    return ItemPath("memory_versions", (memory_id,))


def version_key(memory_id: str, version: int) -> ItemKey:
    return ItemKey(versions_path(memory_id), f"{version:08d}")


def content_key(identity: str) -> ItemKey:
    """The key of the record of a content, by its `memory.content_identity`."""
    return ItemKey(CONTENTS, identity)


def memory_document(memory: Memory) -> dict[str, Any]:
    """The stored form, with its format; without None values."""
    values = {name: _plain(getattr(memory, name)) for name in Memory.__slots__ if name != "lapses"}
    values["namespace"] = values["namespace"] or None
    if memory.lapses:
        values["lapses"] = [lapse_document(lapse) for lapse in memory.lapses]
    return {"format": FORMAT_VERSION, **{name: value for name, value in values.items() if value is not None}}


def memory_in(document: Mapping[str, Any]) -> Memory:
    """Reads the stored form. Raises StoredDataError."""
    try:
        fields = dict(document)
        if fields.pop("format") > FORMAT_VERSION:
            raise StoredDataError("a memory of a newer format")
        fields |= {name: from_iso(fields[name]) for name in _DATES if name in fields}
        fields |= {name: read(fields[name]) for name, read in _READ.items()}
        fields["namespace"] = tuple(fields.get("namespace", ()))
        return Memory(**fields | {"lapses": tuple(map(_lapse_in, fields.get("lapses", ())))})
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"a memory's record cannot be read: {type(error).__name__}") from error


def fits(memory: Memory) -> bool:
    """Whether an item can hold it: control characters take six bytes each."""
    return json_bytes(memory_document(memory)) <= MOST_BYTES


def check_size(memory: Memory) -> None:
    """Raises InvalidInput for a memory that no item can hold."""
    if not fits(memory):
        raise InvalidInput(f"must be at most {MOST_BYTES} bytes of JSON, with keywords and metadata", ("content",))


def lapse_document(lapse: Lapse) -> dict[str, Any]:
    """The form stored and shown."""
    until = {"until": iso(lapse.until)} if lapse.until else {}
    announced = {"announced": True} if lapse.announced else {}
    values = {"by": lapse.by, "start": lapse.start, "end": lapse.end, "since": iso(lapse.since), "rule": lapse.rule}
    return values | until | announced


def _lapse_in(document: Mapping[str, Any]) -> Lapse:
    dates = {name: from_iso(document[name]) for name in ("since", "until") if name in document}
    return Lapse(**{**document, **dates})


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def changed_writes(item: Item, before: Memory, after: Memory, due: Due | None = None) -> list[ItemWrite]:
    """The memory's new version, and the old one in its history, on condition that the item has not changed.

    A due item stays due until the index shows it.
    """
    return [
        ItemWrite(memory_key(after.id), memory_document(after), item.version, due or item.due),
        ItemWrite(version_key(before.id, before.version), memory_document(before), ABSENT),
    ]


def shown_write(item: Item) -> ItemWrite:
    """The same memory, no longer due; it fails where somebody changed the memory."""
    return ItemWrite(item.key, item.value, item.version)


def trace(scope: Scope, memory: Memory) -> dict[str, Any]:
    """A memory in an audit entry: its id, its version and a keyed hash of its content."""
    hashed = content_hash(scope.tenant, scope.user_id, memory.content)
    return {"id": memory.id, "version": memory.version, "hash": hashed}


def memory_json(event: Event) -> dict[str, Any]:
    """An event's record with camelCase names, as other memory stores export it; `metadata` unchanged (K-84).

    `holds_until` is derived from the words, and left out.
    """
    record = to_record(replace(event, holds_until=None))
    return {_BAR.sub(lambda bar: bar.group(1).upper(), name): value for name, value in record.items()}
