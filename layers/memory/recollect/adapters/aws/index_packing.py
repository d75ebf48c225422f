"""Packing: a user's waiting documents become blocks, and what was removed goes from the blocks there are.

Blocks are written first, then the list of them on condition that it is the one that was read, then the objects go that
no list names any more, then the items whose token is the one that was read. So tombstones go last: a run that dies has
the next one look for all that is left of what was removed. Whenever it dies it leaves a whole index.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import CONDITION_FAILED, ignored, translated
from recollect.adapters.aws.index_blocks import BLOCK_RECORDS, block_name, delete_blocks, delete_objects, pack_part
from recollect.adapters.aws.index_documents import BlockList, Bucket, IndexDocuments, StoredDocuments, Waiting
from recollect.adapters.aws.index_part import Part, joined, selected, with_full, with_packed
from recollect.adapters.aws.item_format import Attributes, binary, key_in, number, pack_json
from recollect.adapters.aws.keys import Key
from recollect.adapters.aws.table import ABSENT, SERVICE, ItemAccess, Walk
from recollect.core.scope import Scope

RESERVE_SECONDS = 15.0
FEWEST_PACKED = 8
"""Fewer waiting documents stay where they are, unless something was removed."""
FULL_RECORDS = 4096
"""The blocks of a user of no more documents have the vectors as they were given: a search then reads no others.

1,000 of them are 0.8 MB more of a block, which is read for one price whatever it holds. Of a larger user all of them
would be read too long.
"""
_ALL_LEFT_OVER = 16
"""Every so many packings, and whenever something was removed, what crashed runs left is looked for, too."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PackDocuments:
    """Packs the documents of whom a write asked for it, of every generation."""

    access: ItemAccess
    bucket: Bucket

    def run(self, remaining_seconds: Callable[[], float]) -> int:
        """Packs while there is time; returns how many users. One that fails waits for the next run."""
        packed = 0
        for item in self.access.walk(Walk(keys.PACKING)):
            if remaining_seconds() < RESERVE_SECONDS:
                break
            packed += self._asked(item)
        return packed

    def _asked(self, item: Attributes) -> bool:
        try:
            self.pack(item["g"]["S"], keys.user_of(item["u"]["S"]))
        except Exception as error:  # noqa: BLE001 - one user's failure must not stop the others
            _LOG.warning("documents that could not be packed", extra={"error": type(error).__name__})
            return False
        self._delete(key_in(item), item["w"]["S"])
        return True

    def pack(self, generation: str, scope: Scope) -> None:
        """Packs one user's documents. Raises VersionMismatch where another run was faster."""
        documents = IndexDocuments(self.access, generation, self.bucket)
        stored = documents.read(scope)
        removed = any(one.removed for one in stored.waiting)
        blocks = stored.blocks
        if removed or len(stored.tail) >= FEWEST_PACKED:
            blocks = self._write(documents, scope, stored)
            self._replace(generation, scope, stored.blocks, blocks)
        if removed or blocks.number % _ALL_LEFT_OVER == 0:
            delete_blocks(self.bucket(), generation, scope, blocks.number, blocks.names)
        else:
            delete_objects(self.bucket(), scope, set(stored.blocks.names).difference(blocks.names))
        if blocks is not stored.blocks:
            self.access.side_by_side(self._forget, stored.waiting)

    def _write(self, documents: IndexDocuments, scope: Scope, stored: StoredDocuments) -> BlockList:
        """Whole blocks of which all counts stay; the others and what waited are written anew."""
        *masks, waiting = stored.alive
        blocks = list(zip(stored.blocks.names, stored.parts, masks, strict=True))
        kept = {name: part for name, part, mask in blocks if mask.all() and 2 * len(part) > BLOCK_RECORDS}
        parts = [selected(part, mask) for name, part, mask in blocks if name not in kept]
        parts.append(selected(stored.tail, waiting))
        if sum(map(len, [*kept.values(), *parts])) <= FULL_RECORDS:
            parts = [with_full(part, lambda ids: documents.stored_vectors(scope, ids)) for part in parts]
        else:
            parts = [with_packed(part) for part in parts]
        number_, generation = stored.blocks.number + 1, documents.generation
        written = {}
        for part in _blocks(parts):
            name = block_name(generation, scope, number_, uuid.uuid4().hex[:12])
            self.bucket().put_if_absent(scope.tenant, name, pack_part(part))
            written[name] = part
        held = [*kept.values(), *written.values()]
        vectors = sum(int(np.count_nonzero(part.numbers["embedded"])) for part in held)
        return BlockList(number_, (*kept, *written), sum(map(len, held)), vectors)

    def _replace(self, generation: str, scope: Scope, before: BlockList, blocks: BlockList) -> None:
        key = keys.blocks_key(generation, scope)
        item = {
            **key.attributes,
            "v": number(blocks.number),
            "z": binary(pack_json(blocks.names)),
            "d": number(blocks.documents),
            "e": number(blocks.vectors),
        }
        condition = {"ConditionExpression": ABSENT}
        if before.number:
            condition = {"ConditionExpression": "v = :v", "ExpressionAttributeValues": {":v": number(before.number)}}  # type: ignore[dict-item]
        with translated(SERVICE):
            self.access.client.put_item(TableName=self.access.table, Item=item, **condition)

    def _forget(self, one: Waiting) -> None:
        self._delete(one.key, one.token)

    def _delete(self, key: Key, token: str) -> None:
        """Deletes an item unless it was written since."""
        with translated(SERVICE), ignored(CONDITION_FAILED):
            self.access.client.delete_item(
                TableName=self.access.table,
                Key=key.attributes,
                ConditionExpression="w = :w",
                ExpressionAttributeValues={":w": {"S": token}},
            )


def _blocks(parts: Sequence[Part]) -> list[Part]:
    """The parts as blocks of at most `BLOCK_RECORDS` documents."""
    there = [part for part in parts if len(part)]
    if not there:
        return []
    whole = joined(there)
    places = np.arange(len(whole))
    return [
        selected(whole, (places >= start) & (places < start + BLOCK_RECORDS))
        for start in range(0, len(whole), BLOCK_RECORDS)
    ]
