"""The keys of the table: only this module builds and reads them.

| partition `pk`              | sort `sk`                      | item                                              |
|-----------------------------|--------------------------------|---------------------------------------------------|
| `U#{tenant}#{user}`         | `E#{instant}#{id}`             | event                                             |
|                             | `D#{identity}`                 | dedupe record; without an event id, a tombstone   |
|                             | `R#{fingerprint}`              | rejected value                                    |
|                             | `V#{id}`                       | projection: vector, segment, index entries, instant |
|                             | `K#{hash of slot}#{instant}#{id}` | a value that a slot has had                    |
|                             | `C#{hash of conversation}`     | conversation                                      |
|                             | `M#{collection}#l{label}#…#k{key}` | item; the tenant's own are the empty user's   |
|                             | `O#{hash of the place}`        | names an item of an application that is the user's |
| `N#{tenant}`                | `#l{label}#…#k{key}`           | item of an application                            |
| `P#{shard of the user}`     | `{hash of the user}#{id}`      | pending marker                                    |
|                             | `{hash of the user}#{id}#`     | marker of a removal                               |
| `I#{hash of the key}`       | `I`                            | idempotency record                                |
| `L#{tenant}`                | `L`                            | until when the tenant's writes are paid for       |
|                             | `L#turns`                      | until when the tenant's turns are                 |
| `A#{tenant}`                | `{day}`                        | what the tenant asked for on that day             |
| `B#{tenant}#{shard}`        | `{instant}#{id}#{type}`        | entry of the bus log                              |
| `X#{generation}#{hash of the user}` | `T#{half}#{id}`        | document of the table's own index                 |
|                             | `B`                            | the list of the blocks of those documents         |
| `Y`                         | hash of such a partition       | asks for its documents to be packed into blocks   |

Instants are the 16 digits of `core.time.sortable`; ids are UUIDv7, so that they sort by arrival. In an id that a
client chose, `~` is written `~0` and `#` is written `~1`: no id reaches another partition and no two ids are equal.
Several such ids of one sort key are one hash, since a sort key holds 1,024 bytes and an id up to 512. An item's key is
unescaped and last, so that items of one path sort by their keys; its labels are escaped, and one of more than 110 bytes
is `~2` and its hash, so that four of them fit before the longest key. `k` sorts before `l`: the items of a path come
before those below it.
"""

import base64
import hashlib
import json
import struct
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, NamedTuple

from recollect.core.errors import InvalidInput, StoredDataError
from recollect.core.event import EventRef
from recollect.core.items import ItemKey, ItemPath
from recollect.core.limited import Limited
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds, sortable
from recollect.items.item import ItemPlace, Namespace
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.timeline import PendingEvent

PENDING_SHARDS = 32
BUS_SHARDS = 8
DUE_SHARDS = 8
TAIL_HALVES = 2
PACKING = "Y"
BLOCKS = "B"
"""The sort key of the list of a user's blocks: before all documents."""
MAX_PARTITION_BYTES = 2048
MAX_SORT_BYTES = 1024

_HASH_BYTES = 16  # 128 bits: no second id of the same hash can be found
_ORDERED_ID_CHARACTERS = 18  # milliseconds and counter of a UUIDv7: all of it that orders
_INSTANT_CHARACTERS = 16
_IMPORTANCE_CHARACTERS = 16
_AFTER_SEPARATOR = "$"  # the character after `#`
_LABEL_BYTES = 110
_DEEP_LABEL_BYTES = 24
_WIDE_LABELS = 4
_NAME_BYTES = 200
_HASHED = "~2"  # what `escape` never writes


class Key(NamedTuple):
    """The primary key of an item."""

    pk: str
    sk: str

    @property
    def attributes(self) -> dict[str, dict[str, str]]:
        """The service's form."""
        return {"pk": {"S": self.pk}, "sk": {"S": self.sk}}


class SortRange(NamedTuple):
    """Sort keys from `low` to `high`, both inclusive; the prefix of a kind of item always ends with a separator."""

    low: str
    high: str


def escape(client_id: str) -> str:
    """A client's id without the separator; at most 512 bytes of UTF-8 for 128 characters."""
    return client_id.replace("~", "~0").replace("#", "~1")


def unescape(text: str) -> str:
    """Reads what `escape` wrote."""
    return text.replace("~1", "#").replace("~0", "~")


def user_partition(scope: Scope) -> str:
    """The partition of a user."""
    return f"U#{escape(scope.tenant)}#{escape(scope.user_id)}"


def user_of(partition: str) -> Scope:
    """The user of a partition. Raises StoredDataError where it is no user's."""
    parts = partition.split("#")
    if len(parts) != 3 or parts[0] != "U":
        raise StoredDataError("a key that names no user")
    return Scope(unescape(parts[1]), unescape(parts[2]))


def event_key(scope: Scope, ref: EventRef) -> Key:
    """Where an event is."""
    return _key(user_partition(scope), f"E#{_place(ref)}")


def event_of(sort_key: str) -> EventRef | None:
    """The event whose sort key it is; None for another kind of item."""
    return _ref(sort_key[2:]) if sort_key.startswith("E#") else None


def event_range(window: TimeWindow, after: EventRef | None = None) -> SortRange:
    """The sort keys of the events in a window, up to `after` (inclusive) where a walk continues."""
    low = f"E#{sortable(window.start)}" if window.start else "E#"
    high = f"E#{sortable(window.end)}{_AFTER_SEPARATOR}" if window.end else f"E{_AFTER_SEPARATOR}"
    return SortRange(low, min(high, f"E#{_place(after)}") if after else high)


def records_from(after: EventRef | None) -> SortRange:
    """The sort keys of a user's events from `after` (inclusive) on."""
    return SortRange(f"E#{_place(after)}" if after else "E#", f"E{_AFTER_SEPARATOR}")


def dedupe_key(scope: Scope, identity: str) -> Key:
    """Where the dedupe record, or the tombstone, of an identity is."""
    return _key(user_partition(scope), f"D#{identity}")


def rejection_key(scope: Scope, fingerprint: str) -> Key:
    """Where a rejected value is."""
    return _key(user_partition(scope), f"R#{fingerprint}")


def projection_key(scope: Scope, event_id: str) -> Key:
    """Where an event's projection is."""
    return _key(user_partition(scope), f"V#{escape(event_id)}")


def projected_id(sort_key: str) -> str:
    """The event of a projection's sort key."""
    return unescape(sort_key.removeprefix("V#"))


def slot_key(scope: Scope, slot: tuple[str, str, str], ref: EventRef) -> Key:
    """Where the entry of an event in its slot's history is."""
    return _key(user_partition(scope), _slot_prefix(slot) + _place(ref))


def slot_range(slot: tuple[str, str, str]) -> SortRange:
    """The sort keys of a slot's history."""
    return _beginning_with(_slot_prefix(slot))


def slot_entry_of(sort_key: str) -> EventRef:
    """The event of an entry of a slot's history."""
    return _ref(sort_key.split("#", 2)[2])


def conversation_key(scope: Scope, conversation_id: str) -> Key:
    """Where a conversation is listed, by its id, so that it is listed once."""
    return _key(user_partition(scope), f"C#{_hash(conversation_id)}")


def conversation_range() -> SortRange:
    """The sort keys of a user's conversations."""
    return _beginning_with("C#")


def pending_partition(shard: int) -> str:
    """One of the partitions that share the pending markers."""
    return f"P#{shard:02d}"


def pending_of_user(scope: Scope) -> tuple[str, SortRange]:
    """The partition and the sort keys of a user's pending markers; they sort by arrival."""
    partition, prefix = _pending_place(scope)
    return partition, _beginning_with(prefix)


def pending_key(scope: Scope, event_id: str) -> Key:
    """Where the pending marker of an event is."""
    partition, prefix = _pending_place(scope)
    return _key(partition, prefix + escape(event_id))


def removal_key(scope: Scope, event_id: str) -> Key:
    """Where the marker of an event's removal is: beside the pending marker, whose removal must not take it along."""
    partition, prefix = _pending_place(scope)
    return _key(partition, f"{prefix}{escape(event_id)}#")


def pending_id(sort_key: str) -> str:
    """The event of a pending marker's sort key, or of a removal's."""
    return unescape(sort_key.split("#")[1])


def idempotency_key(key_hash: str) -> Key:
    """Where the record of an idempotency key is."""
    return _key(f"I#{key_hash}", "I")


def rate_key(tenant: str, kind: Limited) -> Key:
    """Where it stands until when what a tenant did of this kind is paid for."""
    return _key(f"L#{escape(tenant)}", "L" if kind is Limited.WRITES else f"L#{kind.value}")


def usage_partition(tenant: str) -> str:
    """The partition of a tenant's counts, which functions may add to that write nothing else."""
    return f"A#{escape(tenant)}"


def usage_key(tenant: str, day: date) -> Key:
    """Where a day's counts are."""
    return _key(usage_partition(tenant), day.isoformat())


def usage_day(sort_key: str) -> date:
    """The day of such a key."""
    return date.fromisoformat(sort_key)


def bus_partition(tenant: str, shard: int) -> str:
    """One of the partitions that share a tenant's bus log."""
    return f"B#{escape(tenant)}#{shard}"


def bus_key(tenant: str, event_type: str, ref: EventRef) -> Key:
    """Where a published event is logged: `ref` is its id and the time of its publishing."""
    return _key(bus_partition(tenant, _shard(ref.id, BUS_SHARDS)), f"{_place(ref)}#{escape(event_type)}")


def bus_entry_of(sort_key: str) -> tuple[EventRef, str]:
    """Id, time and type of an entry of the bus log."""
    place, event_type = sort_key.rsplit("#", 1)
    return _ref(place), unescape(event_type)


def conversation_index(scope: Scope, conversation_id: str) -> str:
    """The partition of a user's conversation in the index `conversation`."""
    return _hash(scope.tenant, scope.user_id, conversation_id)


def index_order(ref: EventRef) -> str:
    """How an event sorts in the index `conversation`: by instant, then by arrival."""
    return sortable(ref.timestamp) + ref.id[:_ORDERED_ID_CHARACTERS]


def importance_order(importance: float, ref: EventRef) -> str:
    """How an event sorts in the index `importance`: by importance (exactly, >= 0), instant, arrival."""
    return struct.pack(">d", importance).hex() + index_order(ref)


def order_in(importance: str) -> str:
    """The `index_order` within an `importance_order`."""
    return importance[_IMPORTANCE_CHARACTERS:]


def indexed_ref(sort_key: str, order: str) -> EventRef:
    """The event of an index entry: from the projection's sort key and the entry's `index_order`."""
    return EventRef(projected_id(sort_key), from_microseconds(int(order[:_INSTANT_CHARACTERS])))


def item_key(owner: Scope, key: ItemKey) -> Key:
    """Where an item is."""
    return _key(user_partition(owner), f"{_path_prefix(key.path)}k{key.key}")


def item_range(path: ItemPath) -> SortRange:
    """The sort keys of the items in a path, and below it."""
    return _beginning_with(_path_prefix(path))


def item_of(sort_key: str) -> ItemKey:
    """The item of a sort key without hashed labels. Raises StoredDataError."""
    path, found, name = sort_key.partition("#k")
    kind, *labels = path.split("#")
    if kind != "M" or not found or not labels or any(label.startswith(f"l{_HASHED}") for label in labels):
        raise StoredDataError("a key that names no item")
    return ItemKey(ItemPath(labels[0], tuple(unescape(label[1:]) for label in labels[1:])), name)


def name_of_item(sort_key: str) -> str:
    """The key within its path of the item whose sort key it is."""
    return sort_key.partition("#k")[2]


def has_hashed_label(path: ItemPath) -> bool:
    """Whether the item must have its labels as an attribute, since its key has only a hash."""
    return any(_label(label).startswith(_HASHED) for label in path.labels)


def namespaced_partition(tenant: str) -> str:
    """The partition of a tenant's items of applications."""
    return f"N#{escape(tenant)}"


def namespaced_key(tenant: str, place: ItemPlace) -> Key:
    """Where an item of an application is."""
    key = escape(place.key)
    name = key if len(key.encode()) <= _NAME_BYTES else f"{_HASHED}{_hash(place.key)}"
    return _key(namespaced_partition(tenant), f"{_namespace_prefix(place.namespace)}k{name}")


def namespaced_range(namespace: Namespace) -> SortRange:
    """The sort keys of the items in a namespace, and below it."""
    return _beginning_with(_namespace_prefix(namespace))


def namespace_range(tenant: str, namespace: Namespace, after: str | None, *, descending: bool) -> SortRange:
    """The sort keys of the items in a namespace alone, from a key on, inclusive."""
    low, high = f"{_namespace_prefix(namespace)}k", after_namespace(namespace)
    place = None if after is None else namespaced_key(tenant, ItemPlace(namespace, after)).sk
    return SortRange(low, place or high) if descending else SortRange(place or low, high)


def after_namespace(namespace: Namespace) -> str:
    """The first sort key that those below the namespace can have, after those in it."""
    return f"{_namespace_prefix(namespace)}l"


def owned_key(scope: Scope, place: ItemPlace) -> Key:
    """Where it stands that the user owns an item of an application."""
    return _key(user_partition(scope), f"O#{_hash(scope.tenant, *place.namespace, place.key)}")


def owned_range() -> SortRange:
    """The sort keys of what names the items that a user owns."""
    return _beginning_with("O#")


def due_partition(queue: str, shard: int) -> str:
    """One of the partitions of the index `due` that share a queue."""
    return f"{queue}#{shard}"


def due_shard(queue: str, key: Key) -> str:
    """The partition of the index `due` in which an item waits."""
    return due_partition(queue, _shard(f"{key.pk} {key.sk}", DUE_SHARDS))


def queue_of(partition: str) -> str:
    """The queue of a partition of the index `due`."""
    return partition.rsplit("#", 1)[0]


def due_range(moment: datetime) -> SortRange:
    """The order in the index `due` of the items that are due at the moment (inclusive)."""
    return SortRange("0", sortable(moment))


def index_partition(generation: str, scope: Scope) -> str:
    """The partition of a user's documents in the table's own index: apart from the records, and without an id."""
    return f"X#{escape(generation)}#{_hash(scope.tenant, scope.user_id)}"


def document_key(generation: str, scope: Scope, event_id: str) -> Key:
    """Where a document of the tail is: in one of two halves, which are read side by side."""
    half = _shard(event_id, TAIL_HALVES)
    return _key(index_partition(generation, scope), f"T#{half}#{escape(event_id)}")


def blocks_key(generation: str, scope: Scope) -> Key:
    """Where the list of a user's blocks is."""
    return _key(index_partition(generation, scope), BLOCKS)


def packing_key(generation: str, scope: Scope) -> Key:
    """Where it is noted that a user's documents want to be packed."""
    return _key(PACKING, _hash(index_partition(generation, scope)))


def documents_range(half: int | None = None) -> SortRange:
    """The sort keys of a user's documents, or of one half of them."""
    return _beginning_with("T#" if half is None else f"T#{half}#")


def document_of(sort_key: str) -> str:
    """The event of a document's sort key."""
    return unescape(sort_key.split("#", 2)[2])


def _key(partition: str, sort_key: str) -> Key:
    if len(partition.encode()) > MAX_PARTITION_BYTES or len(sort_key.encode()) > MAX_SORT_BYTES:
        raise InvalidInput("an id is too long: at most 128 characters")
    return Key(partition, sort_key)


def _beginning_with(prefix: str) -> SortRange:
    return SortRange(prefix, prefix[:-1] + _AFTER_SEPARATOR)


def _slot_prefix(slot: tuple[str, str, str]) -> str:
    return f"K#{_hash(*slot)}#"


def _path_prefix(path: ItemPath) -> str:
    return "".join((f"M#{path.collection}#", *(f"l{_label(label)}#" for label in path.labels)))


def _namespace_prefix(namespace: Namespace) -> str:
    """The same for a namespace alone and with more labels after it."""
    most = ((_LABEL_BYTES if depth < _WIDE_LABELS else _DEEP_LABEL_BYTES) for depth in range(len(namespace)))
    return "#" + "".join(f"l{_label(label, size)}#" for label, size in zip(namespace, most, strict=True))


def _label(label: str, most_bytes: int = _LABEL_BYTES) -> str:
    escaped = escape(label)
    return escaped if len(escaped.encode()) <= most_bytes else f"{_HASHED}{_hash(label)}"


def _pending_place(scope: Scope) -> tuple[str, str]:
    shard = _shard(user_partition(scope), PENDING_SHARDS)
    return pending_partition(shard), f"{_hash(scope.tenant, scope.user_id)}#"


def _place(ref: EventRef) -> str:
    return f"{sortable(ref.timestamp)}#{escape(ref.id)}"


def _ref(place: str) -> EventRef:
    try:
        instant, event_id = place.split("#", 1)
        return EventRef(unescape(event_id), from_microseconds(int(instant)))
    except ValueError as error:
        raise StoredDataError("a key that names no event") from error


def _hash(*ids: str) -> str:
    digest = hashlib.sha256(json.dumps(ids).encode()).digest()[:_HASH_BYTES]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _shard(text: str, shards: int) -> int:
    return hashlib.sha256(text.encode()).digest()[0] % shards


def event_of_record(record: Mapping[str, Any]) -> PendingEvent | None:
    """The event of a stream record, with its user; None for a record of another kind of item."""
    key = record["dynamodb"]["Keys"]
    ref = event_of(key["sk"]["S"])
    return PendingEvent(user_of(key["pk"]["S"]), ref) if ref else None
