"""The port `SearchIndex` in the table itself: one user's documents are read and scored exactly, without an engine.

Each document is an item in a partition of its user and generation; a search reads them all, in two queries side by
side. Attributes beside `pk` and `sk`:

| attribute | meaning                                                                                  |
|-----------|------------------------------------------------------------------------------------------|
| `v`       | version of the event; an older one never replaces a newer                                |
| `z`       | the document (packed JSON)                                                               |
| `x`       | its vector (float16)                                                                     |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import CONDITION_FAILED, ignored, translated
from recollect.adapters.aws.index_columns import UserColumns
from recollect.adapters.aws.index_nomination import ColumnsNomination
from recollect.adapters.aws.index_part import Record, part_of, record_of
from recollect.adapters.aws.item_format import (
    Attributes,
    binary,
    item_bytes,
    key_in,
    number,
    pack_json,
    unpack_json,
)
from recollect.adapters.aws.table import SERVICE, ItemAccess, Walk
from recollect.core.errors import StoredDataError
from recollect.core.event import EventRef
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds
from recollect.ports import IndexFailure
from recollect.retrieval.nomination import IndexCount, IndexDocument, IndexedPage, NominationRequest, Nominations
from recollect.search_index.state import NO_GENERATION

TABLE_IDENTITY = "table"
MOST_BYTES = 390_000
"""Of an item: the service takes 400 KB."""

Users = Callable[[str], Iterable[str]]
"""The users of a tenant."""


class TableIndex:
    """`SearchIndex` in DynamoDB, for users of some thousand records each.

    `generation` and `dimension` are the embedder's, None and 0 without one. `users` names whom `count` and `drop` of a
    whole tenant walk: they read all of it. Reads are consistent, so a write shows at once.
    """

    def __init__(
        self, access: ItemAccess, users: Users, generation: str | None, dimension: int = 0, *, by_words: bool = False
    ) -> None:
        self._access = access
        self._users = users
        self._generation = generation
        self._dimension = dimension
        self._by_words = by_words

    @property
    def generation(self) -> str:
        return self._generation or NO_GENERATION

    def holds_vectors(self, tenant: str) -> bool:  # noqa: ARG002 - of every tenant
        return self._generation is not None and not self._by_words

    def of(self, generation: str) -> TableIndex:
        named = None if generation == NO_GENERATION else generation
        return TableIndex(self._access, self._users, named, self._dimension, by_words=True)

    def put(self, documents: Sequence[IndexDocument], *, shown: bool = True) -> list[IndexFailure]:  # noqa: ARG002
        """Raises Throttled or Unavailable, with some written; the same call again completes it."""
        found = self._access.side_by_side(self._put, documents) if documents else []
        return [failure for failure in found if failure is not None]

    def _put(self, document: IndexDocument) -> IndexFailure | None:
        record = record_of(document)
        if self._by_words:
            record = record._replace(vector=None)
        elif document.vector is not None and document.vector.shape != (self._dimension,):
            reason = f"a vector of {self._dimension} numbers is needed"
            return IndexFailure(record.id, reason, retryable=False)
        key = keys.document_key(self.generation, Scope(document.tenant, document.user_id), record.id)
        item = {**key.attributes, **document_attributes(record)}
        if item_bytes(item) > MOST_BYTES:
            return IndexFailure(record.id, "document_too_large", retryable=False)
        with translated(SERVICE), ignored(CONDITION_FAILED):
            self._access.client.put_item(
                TableName=self._access.table,
                Item=item,
                ConditionExpression=f"attribute_not_exists(v) OR v {'<' if self._by_words else '<='} :v",
                ExpressionAttributeValues={":v": item["v"]},
            )
        return None

    def remove(self, scope: Scope, event_ids: Sequence[str], *, shown: bool = True) -> list[IndexFailure]:  # noqa: ARG002
        self._access.delete_many(keys.document_key(self.generation, scope, event_id) for event_id in event_ids)
        return []

    def nominate(self, scope: Scope, request: NominationRequest) -> Nominations:
        """Raises InvalidInput for a vector of another length, Throttled, Unavailable."""
        return ColumnsNomination(self._columns(scope), scope, request).nominations()

    def count(self, owner: Scope) -> IndexCount:
        """Reads all documents of the user, or of every user of the tenant."""
        whole = owner == of_tenant(owner.tenant)
        users = self._users(owner.tenant) if whole else [owner.user_id]
        counts = [_counted(self._columns(Scope(owner.tenant, user_id))) for user_id in users]
        return IndexCount(sum(one.documents for one in counts), sum(one.vectors for one in counts))

    def listed(self, scope: Scope, limit: int, after: str | None) -> IndexedPage:
        columns = self._columns(scope)
        places = {columns.id(place): place for place in np.flatnonzero(columns["alive"]).tolist()}
        later = sorted((i for i in places if after is None or i.encode() > after.encode()), key=str.encode)
        moments = [from_microseconds(int(columns["timestamp"][places[i]])) for i in later[:limit]]
        refs = tuple(EventRef(*pair) for pair in zip(later, moments, strict=False))
        return IndexedPage(refs, refs[-1].id if len(later) > limit else None)

    def drop(self, tenant: str, limit: int, *, whole: bool = False) -> int:  # noqa: ARG002 - the table stays
        """Deletes documents of this generation, user by user."""
        for user_id in self._users(tenant):
            walk = Walk(keys.index_partition(self.generation, Scope(tenant, user_id)))
            items, _ = self._access.page(walk, limit)
            if items:
                self._access.delete_many(key_in(item) for item in items)
                return len(items)
        return 0

    def identity(self) -> str:
        """The table's, since the index is in it."""
        return TABLE_IDENTITY

    def check(self) -> str:
        self._access.get(keys.document_key(self.generation, Scope("", ""), ""))
        return f"in DynamoDB table {self._access.table}, without a search engine"

    def create(self) -> bool:
        """False: the table is made as the timeline's."""
        return False

    def _columns(self, scope: Scope) -> UserColumns:
        walks = [
            Walk(keys.index_partition(self.generation, scope), keys.documents_range(half))
            for half in range(keys.TAIL_HALVES)
        ]
        found = self._access.side_by_side(lambda walk: list(self._access.walk(walk)), walks)
        records = sorted((record_in(item) for items in found for item in items), key=_arrival)
        part = part_of(records)
        return UserColumns([part], [np.ones(len(part), dtype=np.bool_)])


def document_attributes(record: Record) -> Attributes:
    """Those of a document's attributes that are not its key."""
    stored = pack_json(record[2:-1])
    vector = {} if record.vector is None else {"x": binary(record.vector)}
    return {"v": number(record.version), "z": binary(stored), **vector}


def record_in(item: Attributes) -> Record:
    """Reads a document's item. Raises StoredDataError."""
    stored = unpack_json(item["z"]["B"])
    try:
        vector = item["x"]["B"] if "x" in item else None
        at, recorded_at, expires_at, names, importance, private, superseded, terms, labels = stored
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
        vector,
    )


def _arrival(record: Record) -> tuple[int, str]:
    return record.recorded_at, record.id


def _counted(columns: UserColumns) -> IndexCount:
    return IndexCount(int(np.count_nonzero(columns["alive"])), int(np.count_nonzero(columns["embedded"])))
