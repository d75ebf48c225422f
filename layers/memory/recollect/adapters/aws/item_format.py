"""How items are written and read, and what their attributes mean: their names are short because they are paid for.

| item        | attributes beside `pk` and `sk`                                                                  |
|-------------|--------------------------------------------------------------------------------------------------|
| event       | `z` the record (packed JSON of `domain.record`), `v` version, `d` identity (for its tombstone),  |
|             | `e` the caller's embedding; no `ttl`: expiry leaves a tombstone, which the service would not     |
| dedupe      | `n` event id, `k` conversation id; neither in a tombstone                                        |
| marker      | `u` the user's partition, `t` the event's instant                                                |
| projection  | `x` vector (float16), `g` its generation, `o` order by time; for the indexes also                |
|             | `c` conversation, `i` order by importance (only from 0.6 up), `p` persona, `h` household         |
| slot entry  | `t` the instant of recording; where the event was removed `r`, whether it was the value           |
| conversation| `n` conversation id, `t` the instant when it began                                               |
| kept item   | `z` the document (packed JSON), `v` version, `t` the instant of writing; `n` the labels (JSON),  |
|             | where the key has a hash for one; for the index `due` also `q` queue and shard, `w` order by time |
| idempotency | `b` hash of the body, `s` seed, `l` lapses at, `f` forgotten at, `a` status, `z` answer, `ttl`   |
| bus log     | `u` the user's partition and `t` the event's instant, or `z` the packed detail; `ttl`            |

Instants are microseconds since 1900, but for `ttl`, the service's own: seconds since 1970. Index entries hang on the
projection, not on the event: so they cost one unit each and not the two or more of a transaction, and a conversation
or the important ones may lack the tail anyway.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias

from recollect.adapters.aws import keys
from recollect.adapters.aws.keys import Key
from recollect.adapters.aws.packing import pack_json, unpack_json
from recollect.domain.embedding import pack_vector, unpack_vector
from recollect.domain.errors import StoredDataError
from recollect.domain.event import Event, EventRef
from recollect.domain.instants import from_microseconds, microseconds, sortable
from recollect.domain.items import Due, DueItem, ItemKey, ItemPath
from recollect.domain.items import Item as KeptItem
from recollect.domain.record import from_record, to_record
from recollect.domain.scope import Scope
from recollect.domain.slots import SlotEntry
from recollect.domain.timeline import IMPORTANT_FROM, EventWrite, PendingEvent, Projection

Value: TypeAlias = dict[str, Any]
Item: TypeAlias = dict[str, Value]


def text(value: str) -> Value:
    """A string attribute."""
    return {"S": value}


def number(value: int) -> Value:
    """A number attribute."""
    return {"N": str(value)}


def binary(value: bytes) -> Value:
    """A binary attribute."""
    return {"B": value}


def instant(moment: datetime) -> Value:
    """A time as a number attribute."""
    return number(microseconds(moment))


def moment_in(item: Mapping[str, Value], name: str) -> datetime:
    """Reads what `instant` wrote."""
    return from_microseconds(int(item[name]["N"]))


def key_in(item: Mapping[str, Value]) -> Key:
    """The item's own key."""
    return Key(item["pk"]["S"], item["sk"]["S"])


def item_bytes(item: Mapping[str, Value]) -> int:
    """The size that the service counts: names and values."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def event_item(scope: Scope, write: EventWrite) -> Item:
    """A new event's item."""
    event = write.event
    item: Item = {
        **keys.event_key(scope, event.ref).attributes,
        **record_attributes(event),
        "d": text(write.identity),
    }
    if event.embedding is not None:
        item["e"] = binary(event.embedding)
    return item


def record_attributes(event: Event) -> Item:
    """Those of an event's attributes that change with its version."""
    return {"z": binary(pack_json(to_record(replace(event, embedding=None)))), "v": number(event.version)}


def event_in(item: Mapping[str, Value]) -> Event:
    """The event of an item. Raises StoredDataError where it cannot be read."""
    if "z" not in item:
        raise StoredDataError("an event's item without its record")
    event = from_record(unpack_json(item["z"]["B"]))
    return replace(event, embedding=item["e"]["B"]) if "e" in item else event


def event_ref_in(item: Mapping[str, Value]) -> EventRef:
    """The place of an event's item, of which nothing but the key is read. Raises StoredDataError for another kind."""
    place = keys.event_of(item["sk"]["S"])
    if place is None:
        raise StoredDataError("a key that names no event")
    return place


def dedupe_item(scope: Scope, write: EventWrite) -> Item:
    """What tells that an event was stored, and which."""
    return {
        **keys.dedupe_key(scope, write.identity).attributes,
        "n": text(write.event.id),
        "k": text(write.event.conversation_id),
    }


def pending_item(scope: Scope, ref: EventRef) -> Item:
    """What tells that an event is yet to be projected."""
    return {
        **keys.pending_key(scope, ref.id).attributes,
        "u": text(keys.user_partition(scope)),
        "t": instant(ref.timestamp),
    }


def removal_marker_item(scope: Scope, event: Event) -> Item:
    """What tells that an event was removed, and what was derived from it not yet."""
    return pending_item(scope, event.ref) | keys.removal_key(scope, event.id).attributes


def marked_ref(item: Mapping[str, Value]) -> EventRef:
    """The event of a marker."""
    return EventRef(keys.pending_id(item["sk"]["S"]), moment_in(item, "t"))


def marked_event(item: Mapping[str, Value]) -> PendingEvent:
    """The event of a marker, and whose it is."""
    return PendingEvent(keys.user_of(item["u"]["S"]), marked_ref(item))


def projection_item(scope: Scope, projection: Projection, event: Event | None) -> Item:
    """What is kept of a projection; with its index entries unless the event is gone."""
    ref = projection.ref
    item: Item = {**keys.projection_key(scope, ref.id).attributes, "o": text(keys.index_order(ref))}
    if projection.vector is not None:
        item["x"] = binary(pack_vector(projection.vector))
    if projection.generation is not None:
        item["g"] = text(projection.generation)
    return item | (_index_attributes(scope, event) if event else {})


def _index_attributes(scope: Scope, event: Event) -> Item:
    entries: Item = {}
    if not event.is_carrier:
        entries["c"] = text(keys.conversation_index(scope, event.conversation_id))
    if event.importance >= IMPORTANT_FROM:
        entries["i"] = text(keys.importance_order(event.importance, event.ref))
    if event.persona_id is not None:
        entries["p"] = text(event.persona_id)
    if event.household_id is not None:
        entries["h"] = text(event.household_id)
    return entries


def projected_ref(item: Mapping[str, Value]) -> EventRef:
    """The event of a projection, or of an entry in one of the two indexes."""
    order = item["o"]["S"] if "o" in item else keys.order_in(item["i"]["S"])
    return keys.indexed_ref(item["sk"]["S"], order)


def projection_in(item: Mapping[str, Value]) -> Projection:
    """The projection of an item."""
    vector = unpack_vector(item["x"]["B"]) if "x" in item else None
    return Projection(projected_ref(item), vector, item["g"]["S"] if "g" in item else None)


def admitted(scope: Scope, item: Mapping[str, Value]) -> bool:
    """Whether a projection, or its index entry, is the user's and within persona and household."""
    persona, household = (item[name]["S"] if name in item else None for name in ("p", "h"))
    return item["pk"]["S"] == keys.user_partition(scope) and scope.admits(persona, household)


def slot_item(scope: Scope, slot: tuple[str, str, str], event: Event, emptied: bool | None = None) -> Item:
    """An entry of a slot's history."""
    item = {**keys.slot_key(scope, slot, event.ref).attributes, "t": instant(event.recorded_at)}
    return item if emptied is None else item | {"r": {"BOOL": emptied}}


def slot_entry_in(item: Mapping[str, Value]) -> SlotEntry:
    """The entry of an item."""
    emptied = item["r"]["BOOL"] if "r" in item else None
    return SlotEntry(keys.slot_entry_of(item["sk"]["S"]), moment_in(item, "t"), emptied)


def kept_item_attributes(place: Key, kept: KeptItem) -> Item:
    """An item of the port `Items`."""
    item: Item = {
        **place.attributes,
        "z": binary(pack_json(kept.value)),
        "v": number(kept.version),
        "t": instant(kept.updated_at),
    }
    if keys.has_hashed_label(kept.key.path):
        item["n"] = text(json.dumps([kept.key.path.collection, *kept.key.path.labels], ensure_ascii=False))
    if kept.due is not None:
        item |= {"q": text(keys.due_shard(kept.due.queue, place)), "w": text(sortable(kept.due.at))}
    return item


def kept_item(item: Mapping[str, Value]) -> KeptItem:
    """Reads what `kept_item_attributes` wrote. Raises StoredDataError."""
    due = Due(keys.queue_of(item["q"]["S"]), _due_at(item)) if "q" in item else None
    value = unpack_json(item["z"]["B"])
    return KeptItem(_kept_key(item), value, int(item["v"]["N"]), moment_in(item, "t"), due)


def kept_due_item(item: Mapping[str, Value]) -> DueItem:
    """An entry of the index `due`."""
    return DueItem(keys.user_of(item["pk"]["S"]), _kept_key(item), _due_at(item))


def _due_at(item: Mapping[str, Value]) -> datetime:
    return from_microseconds(int(item["w"]["S"]))


def _kept_key(item: Mapping[str, Value]) -> ItemKey:
    if "n" not in item:
        return keys.item_of(item["sk"]["S"])
    collection, *labels = json.loads(item["n"]["S"])
    return ItemKey(ItemPath(collection, tuple(labels)), keys.name_of_item(item["sk"]["S"]))


def _value_bytes(value: Value) -> int:
    ((kind, content),) = value.items()
    if kind == "N":
        return (len(content) + 1) // 2 + 1
    return len(content) if kind == "B" else len(content.encode())
