"""How items are written and read. Attribute names and JSON are short, since a write costs by its bytes.

| kind        | attributes beside `pk` and `sk`                                                                  |
|-------------|--------------------------------------------------------------------------------------------------|
| event       | `z` the record (packed JSON of `timeline.record`), `v` version, `d` identity (for its tombstone),  |
|             | `e` the caller's embedding; no `ttl`: expiry leaves a tombstone, which the service would not     |
| dedupe      | `n` event id, `k` conversation id; neither in a tombstone                                        |
| marker      | `u` the user's partition, `t` the event's instant                                                |
| projection  | `x` vector (float16), `g` its generation, `o` order by time, `n` segment; for the indexes also   |
|             | `c` conversation, `i` order by importance (only from 0.6 up), `p` persona, `h` household         |
| slot entry  | `t` the instant of recording; where the event was removed `r`, whether it was the value           |
| conversation| `n` conversation id, `t` the instant when it began                                               |
| item        | `z` the document (packed JSON), `v` version, `t` the instant of writing; `n` the labels (JSON),  |
|             | where the key has a hash for one; for the index `due` also `q` queue and shard, `w` order by time |
| idempotency | `b` hash of the body, `s` seed, `l` lapses at, `f` forgotten at, `a` status, `z` answer, `ttl`   |
| bus log     | `u` the user's partition and `t` the event's instant, or `z` the packed detail; `ttl`            |

Packed JSON begins with the byte of its form: 0 plain, 1 raw deflate with `_DICTIONARY`, which never changes, since
stored items need it; so a turn of 1 KB takes one write unit instead of two. Instants are microseconds since 1900, but
for `ttl`, the service's own: seconds since 1970. Index entries hang on the projection, not on the event: they cost one
unit each instead of a transaction's two, and a conversation or the important ones may lack the tail anyway.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias

from recollect.adapters.aws import keys
from recollect.adapters.aws.keys import Key
from recollect.core.errors import StoredDataError
from recollect.core.event import Event, EventRef
from recollect.core.items import Due, DueItem, Item, ItemKey, ItemPath
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds, microseconds, sortable
from recollect.core.vectors import pack_vector, unpack_vector
from recollect.timeline.record import from_record, to_record
from recollect.timeline.slots import SlotEntry
from recollect.timeline.timeline import IMPORTANT_FROM, EventWrite, PendingEvent, PlacedEvent, Projection

_PLAIN = b"\x00"
_DEFLATED = b"\x01"
_DICTIONARY = (
    b'"status":"duplicate","reason":"refused","errors":[{"loc":["msg":"event_id":"results":[{"status":"created",'
    b'"superseded_by":"superseded_at":"expires_at":"is_private":true,"views":"notes":"","category":"","title":"",'
    b'"space_id":"","key":"","household_id":"","persona_id":"","event_type":"preference","event_type":"emotion",'
    b'"event_type":"reminder","event_type":"task","source":"inferred","source":"system","source":"skill",'
    b'"content_type":"default","content_type":"contextualfact","content_type":"factuallearning",'
    b'"content_type":"userpreference","tags":["weather","greeting","news","time","preference","personal","question"],"metadata":{"source_id":"'
    b'"version":2,{"format":1,"id":"019","user_id":"","conversation_id":"019","role":"bot","speaker":"","content":"'
    b'","content_type":"assistantresponse","source":"conversation","timestamp":"202{"format":1,"id":"019'
    b'","user_id":"user-","conversation_id":"","role":"user","content":"I ","content_type":"userinput",'
    b'"source":"user","timestamp":"2026-01-01T00:00:00.000000Z","recorded_at":"2026-01-01T00:00:00.000000Z",'
    b'"importance":0.4}'
)


def pack_json(value: object) -> bytes:
    """The shorter of the two forms."""
    plain = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)
    short = deflate.compress(plain) + deflate.flush()
    return _DEFLATED + short if len(short) < len(plain) else _PLAIN + plain


def unpack_json(data: bytes) -> Any:
    """Reads what `pack_json` wrote. Raises StoredDataError where it cannot."""
    try:
        return json.loads(_plain(data))
    except (zlib.error, ValueError) as error:
        raise StoredDataError("a packed record cannot be read") from error


def _plain(data: bytes) -> bytes:
    if data[:1] == _PLAIN:
        return data[1:]
    if data[:1] != _DEFLATED:
        raise StoredDataError("a packed record of an unknown form")
    return zlib.decompressobj(-zlib.MAX_WBITS, _DICTIONARY).decompress(data[1:])


Value: TypeAlias = dict[str, Any]
Attributes: TypeAlias = dict[str, Value]


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


def event_item(scope: Scope, write: EventWrite) -> Attributes:
    """A new event's item."""
    event = write.event
    item: Attributes = {
        **keys.event_key(scope, event.ref).attributes,
        **record_attributes(event),
        "d": text(write.identity),
    }
    if event.embedding is not None:
        item["e"] = binary(event.embedding)
    return item


def record_attributes(event: Event) -> Attributes:
    """Those of an event's attributes that change with its version."""
    return {"z": binary(pack_json(to_record(replace(event, embedding=None)))), "v": number(event.version)}


def event_in(item: Mapping[str, Value]) -> Event:
    """The event of an item. Raises StoredDataError where it cannot be read."""
    if "z" not in item:
        raise StoredDataError("an event's item without its record")
    event = from_record(unpack_json(item["z"]["B"]))
    return replace(event, embedding=item["e"]["B"]) if "e" in item else event


def event_ref_in(item: Mapping[str, Value]) -> EventRef:
    """The reference in the key of an event's item. Raises StoredDataError for another kind."""
    place = keys.event_of(item["sk"]["S"])
    if place is None:
        raise StoredDataError("a key that names no event")
    return place


def dedupe_item(scope: Scope, write: EventWrite) -> Attributes:
    """The dedupe record of an identity: which event has it."""
    return {
        **keys.dedupe_key(scope, write.identity).attributes,
        "n": text(write.event.id),
        "k": text(write.event.conversation_id),
    }


def pending_item(scope: Scope, ref: EventRef) -> Attributes:
    """The marker of an event that is not projected yet."""
    return {
        **keys.pending_key(scope, ref.id).attributes,
        "u": text(keys.user_partition(scope)),
        "t": instant(ref.timestamp),
    }


def removal_marker_item(scope: Scope, event: Event) -> Attributes:
    """The marker of a removed event whose derived items are not removed yet."""
    return pending_item(scope, event.ref) | keys.removal_key(scope, event.id).attributes


def marked_ref(item: Mapping[str, Value]) -> EventRef:
    """The event of a marker."""
    return EventRef(keys.pending_id(item["sk"]["S"]), moment_in(item, "t"))


def marked_event(item: Mapping[str, Value]) -> PendingEvent:
    """The event of a marker, and whose it is."""
    return PendingEvent(keys.user_of(item["u"]["S"]), marked_ref(item))


def projection_item(scope: Scope, projection: Projection, event: Event | None) -> Attributes:
    """A projection, with its index entries unless the event is deleted."""
    ref = projection.ref
    item: Attributes = {**keys.projection_key(scope, ref.id).attributes, "o": text(keys.index_order(ref))}
    if projection.vector is not None:
        item["x"] = binary(pack_vector(projection.vector))
    if projection.generation is not None:
        item["g"] = text(projection.generation)
    if projection.segment is not None:
        item["n"] = number(projection.segment)
    return item | (_index_attributes(scope, event) if event else {})


def _index_attributes(scope: Scope, event: Event) -> Attributes:
    entries: Attributes = {}
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
    segment = int(item["n"]["N"]) if "n" in item else None
    return Projection(projected_ref(item), vector, item["g"]["S"] if "g" in item else None, segment)


def placed_in(item: Mapping[str, Value]) -> PlacedEvent:
    """The event of a projection that has a segment."""
    return PlacedEvent(projected_ref(item), int(item["n"]["N"]))


def admitted(scope: Scope, item: Mapping[str, Value]) -> bool:
    """Whether a projection or its index entry is the user's and passes persona and household."""
    persona, household = (item[name]["S"] if name in item else None for name in ("p", "h"))
    return item["pk"]["S"] == keys.user_partition(scope) and scope.admits(persona, household)


def slot_item(scope: Scope, slot: tuple[str, str, str], event: Event, emptied: bool | None = None) -> Attributes:
    """An entry of a slot's history."""
    item = {**keys.slot_key(scope, slot, event.ref).attributes, "t": instant(event.recorded_at)}
    return item if emptied is None else item | {"r": {"BOOL": emptied}}


def slot_entry_in(item: Mapping[str, Value]) -> SlotEntry:
    """The entry of an item."""
    emptied = item["r"]["BOOL"] if "r" in item else None
    return SlotEntry(keys.slot_entry_of(item["sk"]["S"]), moment_in(item, "t"), emptied)


def item_attributes(place: Key, item: Item) -> Attributes:
    """The item of the port `Items`."""
    found: Attributes = {
        **place.attributes,
        "z": binary(pack_json(item.value)),
        "v": number(item.version),
        "t": instant(item.updated_at),
    }
    if keys.has_hashed_label(item.key.path):
        found["n"] = text(json.dumps([item.key.path.collection, *item.key.path.labels], ensure_ascii=False))
    if item.due is not None:
        found |= {"q": text(keys.due_shard(item.due.queue, place)), "w": text(sortable(item.due.at))}
    return found


def item_in(item: Mapping[str, Value]) -> Item:
    """Reads what `item_attributes` wrote. Raises StoredDataError."""
    due = Due(keys.queue_of(item["q"]["S"]), _due_at(item)) if "q" in item else None
    value = unpack_json(item["z"]["B"])
    return Item(_item_key(item), value, int(item["v"]["N"]), moment_in(item, "t"), due)


def due_item_in(item: Mapping[str, Value]) -> DueItem:
    """An entry of the index `due`."""
    return DueItem(keys.user_of(item["pk"]["S"]), _item_key(item), _due_at(item))


def _due_at(item: Mapping[str, Value]) -> datetime:
    return from_microseconds(int(item["w"]["S"]))


def _item_key(item: Mapping[str, Value]) -> ItemKey:
    if "n" not in item:
        return keys.item_of(item["sk"]["S"])
    collection, *labels = json.loads(item["n"]["S"])
    return ItemKey(ItemPath(collection, tuple(labels)), keys.name_of_item(item["sk"]["S"]))


def _value_bytes(value: Value) -> int:
    ((kind, content),) = value.items()
    if kind == "N":
        return (len(content) + 1) // 2 + 1
    return len(content) if kind == "B" else len(content.encode())
