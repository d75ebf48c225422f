"""A user's documents in the table's own index as they are stored: items that no block has yet, and blocks.

An item of a document has beside `pk` and `sk`:

| attribute | meaning                                                                                       |
|-----------|-----------------------------------------------------------------------------------------------|
| `v`       | version of the event; an older one never replaces a newer                                     |
| `z`       | the document (packed JSON); without it the item is the tombstone of a removed one              |
| `x`       | its vector (float16)                                                                          |
| `b`       | written for words alone: a block's document of the same version stands                        |
| `y`       | removed: whatever a block has of it does not count                                            |
| `w`       | a token of the write, by which packing knows what it has read                                 |

The list of blocks is an item with its number `v`, the objects' names `z`, and how many documents (`d`) and vectors
(`e`) are in them. Packing writes blocks, then the list, then deletes the items. So the items are read before the list,
which is the last of its partition in the order of that read: a document that left the items is in the list's blocks.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import CONDITION_FAILED, ignored, translated
from recollect.adapters.aws.index_blocks import block_folder, read_block
from recollect.adapters.aws.index_cache import BlockCache
from recollect.adapters.aws.index_columns import UserColumns
from recollect.adapters.aws.index_ids import places_of
from recollect.adapters.aws.index_part import Part, Record, StoredVectors, part_of
from recollect.adapters.aws.index_vectors import STORED_VECTOR
from recollect.adapters.aws.item_format import (
    Attributes,
    binary,
    item_bytes,
    key_in,
    number,
    pack_json,
    text,
    unpack_json,
)
from recollect.adapters.aws.keys import Key
from recollect.adapters.aws.table import SERVICE, ItemAccess, Walk
from recollect.adapters.exact_search import Mask
from recollect.core.errors import StoredDataError, Unavailable
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray
from recollect.ports import SnapshotStore
from recollect.retrieval.nomination import IndexCount

MOST_BYTES = 390_000
"""Of an item: the service takes 400 KB."""
PACKED_AFTER = 16
"""So many waiting documents ask for packing, which the next run of jobs does, and so many more ask again."""
PACKED_AT_ONCE = 256
"""So many are packed by the write itself: a search reads every one of them, and the next run may be a minute away."""
_READS = 3
_TRUE = number(1)

_LOG = logging.getLogger(__name__)

Bucket = Callable[[], SnapshotStore]
"""Opens the store of the blocks."""


class Waiting(NamedTuple):
    """An item that is not packed yet; without a record, a tombstone."""

    key: Key
    id: str
    token: str
    by_words: bool
    removed: bool
    record: Record | None


class BlockList(NamedTuple):
    """The objects that hold a user's packed documents; `number` grows with each change, 0 before the first.

    `documents` and `vectors` are what they held when the list was written.
    """

    number: int = 0
    names: tuple[str, ...] = ()
    documents: int = 0
    vectors: int = 0


@dataclass(frozen=True)
class StoredDocuments:
    """All that is stored of a user, as it was read."""

    waiting: Sequence[Waiting]
    blocks: BlockList
    parts: Sequence[Part]

    @cached_property
    def tail(self) -> Part:
        """The waiting documents, by their arrival."""
        return part_of(self._records)

    @cached_property
    def alive(self) -> list[Mask]:
        """Which positions count: of each block, then of the tail."""
        masks, kept = [], np.ones(len(self._records), dtype=np.bool_)
        places = {record.id: n for n, record in enumerate(self._records)}
        newer = {one.id: one for one in self.waiting}
        for part in self.parts:
            mask = np.ones(len(part), dtype=np.bool_)
            for place, event_id in places_of(part.ids, newer):
                one = newer[event_id]
                mask[place] = _stands(one, int(part.numbers["version"][place]))
                if mask[place] and one.id in places:
                    kept[places[one.id]] = False
            masks.append(mask)
        return [*masks, kept]

    def columns(self, stored: StoredVectors | None = None) -> UserColumns:
        """What counts, as columns."""
        return UserColumns([*self.parts, self.tail], self.alive, stored)

    @cached_property
    def _records(self) -> list[Record]:
        found = [one.record for one in self.waiting if one.record is not None]
        return sorted(found, key=lambda record: (record.recorded_at, record.id))


def _stands(newer: Waiting, version: int) -> bool:
    """Whether a block's document stands beside an item of the same record."""
    if newer.removed or newer.record is None:
        return False
    return version > newer.record.version or (version == newer.record.version and newer.by_words)


@dataclass(frozen=True, slots=True)
class IndexDocuments:
    """The documents of one generation; `bucket` None keeps all of them as items, `cache` None reads each block anew."""

    access: ItemAccess
    generation: str
    bucket: Bucket | None = None
    cache: BlockCache | None = None

    def put(self, scope: Scope, record: Record, *, by_words: bool) -> bool:
        """Writes a document unless a newer one is there; by words also unless one of that version is.

        False for one that is too large.
        """
        key = keys.document_key(self.generation, scope, record.id)
        values, absent = _values(record, by_words)
        if item_bytes({**key.attributes, **values}) > MOST_BYTES:
            return False
        older = "attribute_not_exists(v) OR v <= :v"
        if by_words:
            older = "attribute_not_exists(v) OR v < :v OR (attribute_not_exists(z) AND v <= :v)"
        self._update(key, values, absent, older)
        return True

    def remove(self, scope: Scope, event_ids: Sequence[str]) -> None:
        """Removes documents; where there may be blocks, a tombstone stays until the next packing."""
        places = [keys.document_key(self.generation, scope, event_id) for event_id in dict.fromkeys(event_ids)]
        if self.bucket is None:
            self.access.delete_many(places)
            return
        values = {"y": _TRUE, "w": text(_token())}
        self.access.side_by_side(lambda place: self._update(place, values, ("z", "x", "b"), None), places)
        self.ask_for_packing(scope)

    def _update(self, key: Key, values: Attributes, absent: Sequence[str], condition: str | None) -> None:
        expression = "SET " + ", ".join(f"{name} = :{name}" for name in values)
        expression += f" REMOVE {', '.join(absent)}" if absent else ""
        request: dict[str, Any] = {"ConditionExpression": condition} if condition else {}
        with translated(SERVICE), ignored(CONDITION_FAILED):
            self.access.client.update_item(
                TableName=self.access.table,
                Key=key.attributes,
                UpdateExpression=expression,
                ExpressionAttributeValues={f":{name}": value for name, value in values.items()},
                **request,
            )

    def ask_for_packing(self, scope: Scope) -> None:
        """Notes that the user's documents want to be packed; idempotent."""
        key = keys.packing_key(self.generation, scope)
        asked = {"u": text(keys.user_partition(scope)), "g": text(self.generation), "w": text(_token())}
        self.access.put_many([{**key.attributes, **asked}])

    def read(self, scope: Scope) -> StoredDocuments:
        """What counts of the user. Raises Unavailable where packing was faster three times.

        A block that is gone while the list still names it is lost, as after the table was restored to an earlier
        moment: the others are searched, and the job `reindex` makes its documents anew.
        """
        before = None
        for _ in range(_READS):
            waiting, blocks = self._items(scope)
            parts = self._parts(scope, blocks)
            if None not in parts or before == blocks.number:
                return _there(waiting, blocks, parts)
            before = blocks.number
        raise Unavailable("the blocks of the index were replaced while they were read")

    def _items(self, scope: Scope) -> tuple[list[Waiting], BlockList]:
        """What waits, and then the list of blocks, in one query of the few items: of several each is rounded up.

        Where all documents stay items, both halves are read side by side.
        """
        partition = keys.index_partition(self.generation, scope)
        if self.bucket is not None:
            items = list(self.access.walk(Walk(partition, newest_first=True)))
            blocks = items.pop() if items and _lists_blocks(items[-1]) else None
            return list(map(_waiting, items)), _block_list(blocks)
        walks = [Walk(partition, keys.documents_range(half)) for half in range(keys.TAIL_HALVES)]
        halves = self.access.side_by_side(lambda walk: list(self.access.walk(walk)), walks)
        return [_waiting(item) for items in halves for item in items], BlockList()

    def waiting_count(self, scope: Scope, most: int) -> int:
        """How many items wait, up to `most`; those of the last second may be missing."""
        walk = Walk(keys.index_partition(self.generation, scope), keys.documents_range(), consistent=False)
        return self.access.count(walk, most)

    def packed_count(self, scope: Scope) -> IndexCount | None:
        """What the blocks hold, without reading them; None where something waits that may change it."""
        partition = keys.index_partition(self.generation, scope)
        items, _ = self.access.page(Walk(partition, newest_first=True), 1)
        if items and not _lists_blocks(items[0]):
            return None
        blocks = _block_list(items[0] if items else None)
        return IndexCount(blocks.documents, blocks.vectors)

    def _parts(self, scope: Scope, blocks: BlockList) -> list[Part | None]:
        if self.cache is not None:
            self.cache.keep(scope.tenant, block_folder(self.generation, scope), blocks.names)
        if self.bucket is None or not blocks.names:
            return []
        store = self.bucket()
        return self.access.side_by_side(lambda name: read_block(store, scope, name, self.cache), blocks.names)

    def stored_vectors(self, scope: Scope, event_ids: Sequence[str]) -> Mapping[str, FloatArray]:
        """The vectors of the projections, where they are of this generation.

        Not read consistently: a vector changes with its document, which then waits among the items.
        """
        places = [keys.projection_key(scope, event_id) for event_id in event_ids]
        found = self.access.get_many(places, consistent=False, attributes=("g", "x"))
        there = [item for item in found.values() if "x" in item and item.get("g") == text(self.generation)]
        return {
            keys.projected_id(item["sk"]["S"]): np.frombuffer(item["x"]["B"], STORED_VECTOR).astype(np.float32)
            for item in there
        }


def _lists_blocks(item: Attributes) -> bool:
    return key_in(item).sk == keys.BLOCKS


def _block_list(item: Attributes | None) -> BlockList:
    if item is None:
        return BlockList()
    numbers = (int(item[name]["N"]) for name in "vde")
    return BlockList(next(numbers), tuple(unpack_json(item["z"]["B"])), *numbers)


def _there(waiting: Sequence[Waiting], blocks: BlockList, parts: Sequence[Part | None]) -> StoredDocuments:
    found = {name: part for name, part in zip(blocks.names, parts, strict=True) if part is not None}
    if len(found) < len(blocks.names):
        _LOG.warning("blocks of the index are lost", extra={"blocks": len(blocks.names) - len(found)})
    return StoredDocuments(waiting, blocks._replace(names=tuple(found)), list(found.values()))


def _values(record: Record, by_words: bool) -> tuple[Attributes, tuple[str, ...]]:
    """The attributes that a write sets, and those that it takes away; a tombstone's `y` stays for the blocks."""
    values: Attributes = {
        "v": number(record.version),
        "z": binary(pack_json(record[2:-1])),
        "w": text(_token()),
    }
    optional = {"x": None if record.vector is None else binary(record.vector), "b": _TRUE if by_words else None}
    values |= {name: value for name, value in optional.items() if value is not None}
    return values, tuple(name for name, value in optional.items() if value is None)


def _waiting(item: Attributes) -> Waiting:
    key = key_in(item)
    record = record_in(item) if "z" in item else None
    return Waiting(key, keys.document_of(key.sk), item["w"]["S"], "b" in item, "y" in item, record)


def record_in(item: Attributes) -> Record:
    """Reads a document's item. Raises StoredDataError."""
    try:
        at, recorded_at, expires_at, names, importance, private, superseded, terms, labels = unpack_json(item["z"]["B"])
    except (TypeError, ValueError) as error:
        raise StoredDataError("a document of the index of another form") from error
    return Record(
        keys.document_of(item["sk"]["S"]),
        int(item["v"]["N"]),
        at,
        recorded_at,
        expires_at,
        names,
        importance,
        private,
        superseded,
        terms,
        labels,
        item["x"]["B"] if "x" in item else None,
    )


def _token() -> str:
    return uuid.uuid4().hex[:16]
