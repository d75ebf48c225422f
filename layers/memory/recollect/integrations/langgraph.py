"""LangGraph's `BaseStore`, and beside it its checkpointer, over the items of Recollect (extra `langgraph`).

A batch is one request for what it reads and then one for what it puts, more only where they are large. With an `index`
as LangGraph's own stores take it, texts are embedded here and their vectors sent; without one the server embeds them,
if it has a model.
"""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore

from recollect.client.errors import Unprocessable
from recollect.client.recollect import Recollect
from recollect.client.transport import ApiKey
from recollect.integrations.item_batches import answers_at_once, in_requests
from recollect.integrations.langgraph_saver import RecollectSaver

if TYPE_CHECKING:
    from pathlib import Path

    from langgraph.store.base import IndexConfig, TTLConfig

    from recollect.client.in_process import EmbedderName

__all__ = ["AsyncRecollectStore", "RecollectSaver", "RecollectStore", "finite"]

_NOTHING: dict[str, list[object]] = {"$in": []}
_LARGEST = sys.float_info.max


class RecollectStore(BaseStore):
    """A store for LangGraph: synchronous, and from `async` code by threads.

    `index` is LangGraph's `IndexConfig` (`dims`, `embed`, `fields`); `ttl` its `TTLConfig`, of which the server does
    the sweeping. `owner` is the `user_id` that every put names, so that erasing that user reaches the items.
    Raises ValueError for input that the server refuses, else what `recollect.client.errors` has.
    """

    supports_ttl = True

    def __init__(
        self,
        url: str = "http://127.0.0.1:8700",
        *,
        api_key: ApiKey | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        owner: str | None = None,
        timeout_seconds: float = 30.0,
        memory: Recollect | None = None,
    ) -> None:
        self._memory = memory or Recollect(url, api_key, timeout_seconds)
        self.ttl_config = ttl
        self.index_config = index
        self.embeddings = ensure_embeddings(index["embed"]) if index else None
        self._fields = _tokenized((index or {}).get("fields") or ["$"])
        self._owner = owner

    @classmethod
    def local(cls, path: str | Path | None = None, *, embedder: EmbedderName | None = None, **options: Any) -> Self:
        """A store in a folder, in this process, without a server; the other options are those of the class.

        Without `path` it is RECOLLECT_HOME. `embedder` is `e5`, `none`, … as RECOLLECT_EMBEDDER, which is asked where
        it is None.
        """
        return cls(memory=Recollect.local(path, embedder=embedder), **options)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The results in order. Raises InvalidNamespaceError before anything is sent."""
        listed = list(ops)
        for op in listed:
            validate_op_namespace(op)
        results: list[Result] = [None] * len(listed)
        for places in in_requests(self._operations(listed)):
            answers = self._sent([operation for _, operation in places])
            for (place, _), answer in zip(places, answers, strict=True):
                results[place] = _result(listed[place], answer)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def close(self) -> None:
        """Closes the connection, or the store in this process."""
        self._memory.close()

    def _sent(self, operations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        try:
            return answers_at_once(self._memory, operations)
        except Unprocessable as error:
            raise ValueError(str(error)) from error

    def _operations(self, ops: Sequence[Op]) -> list[tuple[int, dict[str, Any]]]:
        """What is sent, with the places in the batch: reads first, then of each item the last put."""
        last = {(op.namespace, op.key): place for place, op in enumerate(ops) if isinstance(op, PutOp)}
        queries = self._embedded([op.query for op in ops if isinstance(op, SearchOp) and op.query])
        reads = [(place, self._read(op, queries)) for place, op in enumerate(ops) if not isinstance(op, PutOp)]
        puts = [(place, op) for place, op in enumerate(ops) if isinstance(op, PutOp) and place in last.values()]
        texts = [self._texts(op) for _, op in puts]
        vectors = self._vectors([text for some in texts for text in some])
        written = [
            (place, self._put(op, [vectors[text] for text in some if any(vectors[text])]))
            for (place, op), some in zip(puts, texts, strict=True)
        ]
        return [*reads, *written]

    def _read(self, op: Op, queries: Mapping[str, list[float]]) -> dict[str, Any]:
        if isinstance(op, GetOp):
            return {"get": {"namespace": op.namespace, "key": op.key, "refresh_ttl": op.refresh_ttl}}
        if isinstance(op, ListNamespacesOp):
            return {"list_namespaces": _listing(op)}
        if not isinstance(op, SearchOp):
            raise TypeError(f"unknown operation: {type(op).__name__}")
        asked: dict[str, Any] = {
            "namespace_prefix": op.namespace_prefix,
            "limit": op.limit,
            "offset": op.offset,
            "refresh_ttl": op.refresh_ttl,
        }
        if op.filter:
            asked["filter"] = finite(op.filter)
        if op.query and self.embeddings is None:
            asked["query"] = op.query
        elif op.query and any(queries[op.query]):
            asked["query_vector"] = queries[op.query]
        return {"search": asked}

    def _put(self, op: PutOp, vectors: Sequence[list[float]]) -> dict[str, Any]:
        put: dict[str, Any] = {"namespace": op.namespace, "key": op.key, "value": op.value}
        if op.value is None:
            return {"put": put}
        if self._owner is not None:
            put["user_id"] = self._owner
        if op.ttl is not None:
            put["ttl"] = op.ttl
        if self.embeddings is None:
            put["index"] = op.index
        else:
            put |= {"vectors": vectors} if vectors else {"index": False}
        return {"put": put}

    def _texts(self, op: PutOp) -> list[str]:
        if self.embeddings is None or op.value is None or op.index is False:
            return []
        fields = self._fields if op.index is None else _tokenized(op.index)
        return [text for field in fields for text in get_text_at_path(op.value, field)]

    def _embedded(self, queries: Sequence[str]) -> dict[str, list[float]]:
        embeddings = self.embeddings
        return {} if embeddings is None else {query: _floats(embeddings.embed_query(query)) for query in set(queries)}

    def _vectors(self, texts: Sequence[str]) -> dict[str, list[float]]:
        distinct = list(dict.fromkeys(texts))
        if self.embeddings is None or not distinct:
            return {}
        made = self.embeddings.embed_documents(distinct)
        return {text: _floats(vector) for text, vector in zip(distinct, made, strict=True)}


class AsyncRecollectStore(AsyncBatchedBaseStore):
    """The same for `async` code: what is awaited at once goes out together, in one request.

    Made within a running loop. Its synchronous methods work in other threads, and are refused in the loop's own.
    """

    supports_ttl = True

    def __init__(self, url: str = "http://127.0.0.1:8700", **options: Any) -> None:
        super().__init__()
        self._store = RecollectStore(url, **options)
        self.ttl_config = self._store.ttl_config
        self.index_config = self._store.index_config
        self.embeddings = self._store.embeddings

    @classmethod
    def local(cls, path: str | Path | None = None, *, embedder: EmbedderName | None = None, **options: Any) -> Self:
        """As `RecollectStore.local`."""
        return cls(memory=Recollect.local(path, embedder=embedder), **options)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Raises InvalidStateError in the loop's own thread, which it would stop."""
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is self._loop:
            raise asyncio.InvalidStateError("in the loop's own thread await abatch instead of calling batch")
        return self._store.batch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The results in order."""
        return await self._store.abatch(ops)

    def close(self) -> None:
        """Closes the connection, or the store in this process."""
        self._store.close()


def finite(filter_: Any) -> Any:
    """A filter without what JSON cannot say: no number is beyond infinity, and none compares with NaN."""
    if not isinstance(filter_, Mapping):
        return _NOTHING if _is_no_number(filter_) else filter_
    found: dict[str, Any] = {}
    for name, value in filter_.items():
        if name.startswith("$") and _is_no_number(value):
            found |= _bounded(name, value)
        else:
            found[name] = finite(value)
    return found


def _bounded(operator: str, value: float) -> dict[str, Any]:
    if operator in ("$lt", "$lte") and value == math.inf:
        return {"$lte": _LARGEST}
    if operator in ("$gt", "$gte") and value == -math.inf:
        return {"$gte": -_LARGEST}
    return {"$exists": True} if operator == "$ne" else _NOTHING


def _is_no_number(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _listing(op: ListNamespacesOp) -> dict[str, Any]:
    listing: dict[str, Any] = {"limit": op.limit, "offset": op.offset}
    for condition in op.match_conditions or ():
        if condition.match_type in listing:
            raise ValueError(f"one {condition.match_type} at most")
        listing[condition.match_type] = condition.path
    if op.max_depth is not None:
        listing["max_depth"] = op.max_depth
    return listing


def _result(op: Op, answer: Mapping[str, Any]) -> Result:
    if isinstance(op, GetOp):
        found = answer.get("item")
        return Item(**_fields(found)) if found else None
    if isinstance(op, SearchOp):
        return [SearchItem(**_fields(one), score=one.get("score")) for one in answer["items"]]
    if isinstance(op, ListNamespacesOp):
        return [tuple(one) for one in answer["namespaces"]]
    return None


def _fields(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "value": found["value"],
        "key": found["key"],
        "namespace": tuple(found["namespace"]),
        "created_at": datetime.fromisoformat(found["created_at"]),
        "updated_at": datetime.fromisoformat(found["updated_at"]),
    }


def _tokenized(fields: Sequence[str]) -> list[Any]:
    return [field if field == "$" else tokenize_path(field) for field in fields]


def _floats(vector: Iterable[float]) -> list[float]:
    return [float(number) for number in vector]
