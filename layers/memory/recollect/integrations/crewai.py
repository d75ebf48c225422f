"""CrewAI's storage of memories over the items of Recollect (extra `crewai`).

A record is an item: CrewAI's fields, its embedding as the application's own vector, and the scopes that it is within.
CrewAI embeds, scores and consolidates; what it stores is kept exactly.
"""

from __future__ import annotations

import asyncio
import base64
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crewai.memory.types import MemoryRecord, ScopeInfo

from recollect.integrations.connection import SERVER, Opened
from recollect.integrations.item_batches import answers_of, deletions, items_below, label

if TYPE_CHECKING:
    from recollect.client.recollect import Recollect
    from recollect.client.transport import ApiKey

_MOST_FOUND = 1_000


class RecollectStorage(Opened):
    """A `StorageBackend` of CrewAI's `Memory`: `Memory(storage=RecollectStorage(…))`.

    `user_id` is the user whose data it is, so that erasing and exporting them reaches it, and whose records alone the
    storage has; `root` is the first label of the items. A scope is a path of whole names: `/team` is not within `/te`.
    Its methods raise what `recollect.client.errors` has.
    """

    def __init__(
        self,
        url: str = SERVER,
        *,
        api_key: ApiKey | None = None,
        user_id: str | None = None,
        root: str = "crewai",
        memory: Recollect | None = None,
    ) -> None:
        self._connect(url, api_key, memory)
        self._user_id = user_id
        self._records = (root, label(user_id or ""), "records")

    def save(self, records: Sequence[MemoryRecord]) -> None:
        """Keeps records, each in the place of the one with its id."""
        answers_of(self._memory, [self._put(record) for record in records])

    def update(self, record: MemoryRecord) -> None:
        """Keeps a record in the place of the one with its id."""
        self.save([record])

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """None where there is none."""
        found = self._at([record_id])
        return _record(found[0]) if found else None

    def search(
        self,
        query_embedding: Sequence[float],
        scope_prefix: str | None = None,
        categories: Sequence[str] | None = None,
        metadata_filter: Mapping[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """At most `limit` records by the cosine of their embeddings, best first.

        Embeddings of another length are passed over. `categories` asks for any of them, `metadata_filter` for all of
        its values.
        """
        vector = [float(number) for number in query_embedding]
        if not any(vector) or limit < 1:
            return []
        asked = {"namespace_prefix": self._records, "query_vector": vector, "limit": min(limit, _MOST_FOUND)}
        where = _where(scope_prefix, categories, metadata_filter)
        (answer,) = answers_of(self._memory, [{"search": asked | ({"where": where} if where else {})}])
        scored = [(item, item.get("score")) for item in answer["items"]]
        return [(_record(item), score) for item, score in scored if score is not None and score >= min_score]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: Sequence[str] | None = None,
        record_ids: Sequence[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: Mapping[str, Any] | None = None,
    ) -> int:
        """Deletes what fulfils all that is asked, everything where nothing is; answers how many."""
        where = _where(scope_prefix, categories, metadata_filter, older_than)
        if record_ids is not None and not where:
            found = self._at(record_ids)
        else:
            found = self._below(where)
            found = found if record_ids is None else [item for item in found if item["key"] in {*record_ids}]
        answers_of(self._memory, deletions(found))
        return len(found)

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """The records within a scope, newest first."""
        found = sorted(self._below(_where(scope_prefix)), key=lambda item: item["value"]["created"], reverse=True)
        return [_record(item) for item in found[max(offset, 0) :][: max(limit, 0)]]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """What there is within a scope."""
        records = self.list_records(scope, limit=_EVERY)
        return ScopeInfo(
            path=_path(scope),
            record_count=len(records),
            categories=sorted({category for record in records for category in record.categories}),
            oldest_record=records[-1].created_at if records else None,
            newest_record=records[0].created_at if records else None,
            child_scopes=_children(scope, records),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """The scopes directly below one that have records, sorted."""
        return _children(parent, self.list_records(parent, limit=_EVERY))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """How many records within a scope have each category."""
        found = self._below(_where(scope_prefix))
        return dict(Counter(category for item in found for category in item["value"]["record"]["categories"]))

    def count(self, scope_prefix: str | None = None) -> int:
        """How many records are within a scope."""
        return len(self._below(_where(scope_prefix)))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Deletes all records within a scope."""
        self.delete(scope_prefix)

    async def asave(self, records: Sequence[MemoryRecord]) -> None:
        """The same, in a thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(self, query_embedding: Sequence[float], **options: Any) -> list[tuple[MemoryRecord, float]]:
        """The same, in a thread."""
        return await asyncio.to_thread(lambda: self.search(query_embedding, **options))

    async def adelete(self, **options: Any) -> int:
        """The same, in a thread."""
        return await asyncio.to_thread(lambda: self.delete(**options))

    def _put(self, record: MemoryRecord) -> dict[str, Any]:
        put: dict[str, Any] = {"namespace": self._records, "key": record.id, "value": _value(record)}
        put |= {"vectors": [_floats(record)]} if any(_floats(record)) else {"index": False}
        return {"put": put if self._user_id is None else put | {"user_id": self._user_id}}

    def _at(self, record_ids: Sequence[str]) -> list[dict[str, Any]]:
        gets = [{"get": {"namespace": self._records, "key": one}} for one in dict.fromkeys(record_ids)]
        return [answer["item"] for answer in answers_of(self._memory, gets) if answer.get("item")]

    def _below(self, where: Mapping[str, Any]) -> list[dict[str, Any]]:
        return items_below(self._memory, self._records, where or None)


_EVERY = 2**31


def _where(
    scope: str | None,
    categories: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    older_than: datetime | None = None,
) -> dict[str, Any]:
    """What is asked in the grammar of docs/filters.md."""
    where: dict[str, Any] = {}
    if scope is not None and _path(scope) != "/":
        where["within"] = {"contains": _path(scope)}
    if categories:
        where["or"] = [{"record.categories": {"contains": one}} for one in categories]
    for name, value in (metadata or {}).items():
        where[f"record.metadata.{name}"] = {"eq": value}
    if older_than is not None:
        where["created"] = {"lt": _seconds(older_than)}
    return where


def _value(record: MemoryRecord) -> dict[str, Any]:
    names = [name for name in record.scope.split("/") if name]
    return {
        "record": record.model_dump(mode="json"),
        "embedding": base64.b64encode(array("f", _floats(record)).tobytes()).decode(),
        "created": _seconds(record.created_at),
        "within": ["/" + "/".join(names[:depth]) for depth in range(len(names) + 1)],
    }


def _record(item: Mapping[str, Any]) -> MemoryRecord:
    value = item["value"]
    embedding = array("f", base64.b64decode(value["embedding"])).tolist()
    return MemoryRecord(**value["record"], embedding=embedding or None)


def _floats(record: MemoryRecord) -> list[float]:
    return [float(number) for number in record.embedding or ()]


def _seconds(moment: datetime) -> float:
    """Since 1970; CrewAI's times without a zone are of UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _path(scope: str) -> str:
    return "/" + "/".join(name for name in scope.split("/") if name)


def _children(scope: str, records: Sequence[MemoryRecord]) -> list[str]:
    above = _path(scope).rstrip("/") + "/"
    below = (_path(record.scope).removeprefix(above) for record in records if _path(record.scope).startswith(above))
    return sorted({above + rest.split("/")[0] for rest in below if rest})
