"""The port `SearchIndex` in the table itself: one user's documents are read and scored exactly, without an engine.

A search reads all of the user's documents: the items that wait (`index_documents`), and the blocks in the bucket, which
a process keeps for its next searches. Blocks of a user of few records have the vectors as they were given. In others
they are packed to half a byte a number; for those that may be among the best the projections' own are read, so that
ranks and answers have them as they were given, too.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from recollect.adapters.aws import keys
from recollect.adapters.aws.index_blocks import ANY_NUMBER, delete_blocks
from recollect.adapters.aws.index_cache import BlockCache
from recollect.adapters.aws.index_columns import UserColumns
from recollect.adapters.aws.index_documents import PACKED_AFTER, PACKED_AT_ONCE, Bucket, IndexDocuments
from recollect.adapters.aws.index_nomination import ColumnsNomination
from recollect.adapters.aws.index_packing import PackDocuments
from recollect.adapters.aws.index_part import record_of
from recollect.adapters.aws.item_format import key_in
from recollect.adapters.aws.table import ItemAccess, Walk
from recollect.core.event import EventRef
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds
from recollect.ports import IndexFailure
from recollect.retrieval.nomination import IndexCount, IndexDocument, IndexedPage, NominationRequest, Nominations
from recollect.search_index.state import NO_GENERATION

TABLE_IDENTITY = "table"

_LOG = logging.getLogger(__name__)

Users = Callable[[str], Iterable[str]]
"""The users of a tenant."""


class TableIndex:
    """`SearchIndex` in DynamoDB, and in S3 where there is a `bucket`; without one for some thousand records a user.

    `generation` and `dimension` are the embedder's, None and 0 without one. `users` names whom `count` and `drop` of a
    whole tenant walk, one by one. Reads are consistent, so a write shows at once, whatever `cache` keeps.
    """

    def __init__(
        self,
        access: ItemAccess,
        users: Users,
        generation: str | None,
        dimension: int = 0,
        bucket: Bucket | None = None,
        *,
        by_words: bool = False,
        cache: BlockCache | None = None,
    ) -> None:
        self._documents = IndexDocuments(access, generation or NO_GENERATION, bucket, cache)
        self._access = access
        self._users = users
        self._generation = generation
        self._dimension = dimension
        self._bucket = bucket
        self._by_words = by_words

    @property
    def generation(self) -> str:
        return self._generation or NO_GENERATION

    def holds_vectors(self, tenant: str) -> bool:  # noqa: ARG002 - of every tenant
        return self._generation is not None and not self._by_words

    def of(self, generation: str) -> TableIndex:
        named = None if generation == NO_GENERATION else generation
        cache = self._documents.cache
        return TableIndex(self._access, self._users, named, self._dimension, self._bucket, by_words=True, cache=cache)

    def put(self, documents: Sequence[IndexDocument], *, shown: bool = True) -> list[IndexFailure]:  # noqa: ARG002
        """Raises Throttled or Unavailable, with some written; the same call again completes it."""
        found = self._access.side_by_side(self._put, documents) if documents else []
        if self._bucket is not None and documents:
            self._access.side_by_side(self._see_to_packing, list(Counter(map(_user, documents)).items()))
        return [failure for failure in found if failure is not None]

    def _see_to_packing(self, written: tuple[Scope, int]) -> None:
        """Packs a user's documents where too many wait, asks for it where enough do."""
        scope, count = written
        waiting = self._documents.waiting_count(scope, PACKED_AT_ONCE)
        if waiting >= PACKED_AT_ONCE and self._packed(scope):
            return
        if waiting // PACKED_AFTER > max(waiting - count, 0) // PACKED_AFTER:
            self._documents.ask_for_packing(scope)

    def _packed(self, scope: Scope) -> bool:
        """False where it failed: the documents are written, whatever becomes of it."""
        assert self._bucket is not None
        try:
            PackDocuments(self._access, self._bucket).pack(self.generation, scope)
        except Exception as error:  # noqa: BLE001 - jobs does it then
            _LOG.info("documents are not packed by the write", extra={"error": type(error).__name__})
            return False
        return True

    def _put(self, document: IndexDocument) -> IndexFailure | None:
        record = record_of(document)
        if self._by_words:
            record = record._replace(vector=None)
        elif document.vector is not None and document.vector.shape != (self._dimension,):
            return IndexFailure(record.id, f"a vector of {self._dimension} numbers is needed", retryable=False)
        fits = self._documents.put(_user(document), record, by_words=self._by_words)
        return None if fits else IndexFailure(record.id, "document_too_large", retryable=False)

    def remove(self, scope: Scope, event_ids: Sequence[str], *, shown: bool = True) -> list[IndexFailure]:  # noqa: ARG002
        self._documents.remove(scope, event_ids)
        return []

    def nominate(self, scope: Scope, request: NominationRequest) -> Nominations:
        """Raises InvalidInput for a vector of another length, Throttled, Unavailable."""
        stored = self._documents.read(scope)
        columns = stored.columns(lambda event_ids: self._documents.stored_vectors(scope, event_ids))
        return ColumnsNomination(columns, scope, request).nominations()

    def count(self, owner: Scope, most: int | None = None) -> IndexCount:
        """Reads all documents of a user; of a tenant only those of users of whom something waits to be packed.

        Of the others it reads three small items: what their blocks held when they were written.
        """
        if owner != of_tenant(owner.tenant):
            return _counted(self._columns(owner))
        total = IndexCount(0, 0)
        for user_id in self._users(owner.tenant):
            scope = Scope(owner.tenant, user_id)
            one = self._documents.packed_count(scope) or _counted(self._columns(scope))
            total = IndexCount(total.documents + one.documents, total.vectors + one.vectors)
            if most is not None and total.documents >= most:
                break
        return total

    def listed(self, scope: Scope, limit: int, after: str | None) -> IndexedPage:
        columns = self._columns(scope)
        places = {columns.id(place): place for place in np.flatnonzero(columns["alive"]).tolist()}
        later = sorted((i for i in places if after is None or i.encode() > after.encode()), key=str.encode)
        moments = [from_microseconds(int(columns["timestamp"][places[i]])) for i in later[:limit]]
        refs = tuple(EventRef(*pair) for pair in zip(later, moments, strict=False))
        return IndexedPage(refs, refs[-1].id if len(later) > limit else None)

    def drop(self, tenant: str, limit: int, *, whole: bool = False) -> int:  # noqa: ARG002 - the table stays
        """Deletes documents of this generation, user by user; a user's blocks at once."""
        for user_id in self._users(tenant):
            dropped = self._drop(Scope(tenant, user_id), limit)
            if dropped:
                return dropped
        return 0

    def _drop(self, scope: Scope, limit: int) -> int:
        """The blocks first, so that no tombstone goes before what it hides."""
        if self._bucket is not None:
            packed = sum(map(len, self._documents.read(scope).parts))
            places = [keys.blocks_key(self.generation, scope), keys.packing_key(self.generation, scope)]
            self._access.delete_many(places)
            delete_blocks(self._bucket(), self.generation, scope, ANY_NUMBER, ())
            if packed:
                return packed
        items, _ = self._access.page(Walk(keys.index_partition(self.generation, scope)), limit)
        self._access.delete_many(key_in(item) for item in items)
        return len(items)

    def pack(self, remaining_seconds: Callable[[], float]) -> int:
        """See the port; nothing without a bucket."""
        return 0 if self._bucket is None else PackDocuments(self._access, self._bucket).run(remaining_seconds)

    def identity(self) -> str:
        """The table's, since the index is in it."""
        return TABLE_IDENTITY

    def owns(self, identity: str) -> bool:
        return identity == TABLE_IDENTITY

    def check(self) -> str:
        self._access.get(keys.document_key(self.generation, Scope("", ""), ""))
        return f"in DynamoDB table {self._access.table}, without a search engine"

    def create(self) -> bool:
        """False: the table is made as the timeline's."""
        return False

    def _columns(self, scope: Scope) -> UserColumns:
        return self._documents.read(scope).columns()


def _user(document: IndexDocument) -> Scope:
    return Scope(document.tenant, document.user_id)


def _counted(columns: UserColumns) -> IndexCount:
    return IndexCount(int(np.count_nonzero(columns["alive"])), int(np.count_nonzero(columns["embedded"])))
