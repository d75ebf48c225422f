"""LangGraph's checkpointer over the items of Recollect (extra `langgraph`; docs/integrations/langgraph.md).

| namespace                                      | key                          | item                               |
|------------------------------------------------|------------------------------|------------------------------------|
| root, `checkpoints`, thread, namespace, bucket | checkpoint id                | checkpoint, metadata, parent, run  |
| root, `latest`, thread                         | namespace                    | id of the newest checkpoint        |
| root, `values`, thread, namespace, bucket      | channel and version, hashed  | value of a channel, once a version |
| root, `writes`, thread, namespace, checkpoint  | task and index, hashed       | a pending write                    |
| root, `parts`, thread, namespace, bucket       | kind, key and number, hashed | a part of what is too large        |

Values go out before the checkpoint that needs them, so that none is ever without. A bucket is a sixteenth: a search
reads at most 10,000 items on AWS, and a long thread that is to be deleted has more.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)

from recollect.client.errors import Conflict, VersionMismatch
from recollect.client.recollect import Recollect
from recollect.client.transport import ApiKey
from recollect.integrations.item_batches import answers_of, delete_below, deletions, items_below, label, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.serde.base import SerializerProtocol

    from recollect.client.in_process import EmbedderName

_CHECKPOINTS, _LATEST, _VALUES, _WRITES, _PARTS = _KINDS = ("checkpoints", "latest", "values", "writes", "parts")
_EMPTY = "empty"
_PART_BYTES = 180_000
"""Of serialized bytes in one item: in base64 they and their names stay below 256 KiB."""

_BUCKET = 4
"""The label of a bucket, in order."""
_TRIES = 64

Namespace = tuple[str, ...]
Typed = tuple[str, bytes]
Documents = list[dict[str, Any]]
PendingWrites = list[tuple[str, str, Any]]


@dataclass(frozen=True, slots=True)
class _Thread:
    """A thread and one of its checkpoint namespaces."""

    thread_id: str
    namespace: str

    def labels(self, root: str, kind: str, *more: str) -> Namespace:
        """The namespace of its items of this kind."""
        return (root, kind, label(self.thread_id), label(self.namespace), *more)

    def place(self, root: str, kind: str, key: str) -> tuple[Namespace, str]:
        """Where its item of that key is."""
        return self.labels(root, kind, _hash(key)[0]), key

    def config(self, checkpoint_id: str) -> RunnableConfig:
        """The configuration that names one of its checkpoints."""
        named = {"thread_id": self.thread_id, "checkpoint_ns": self.namespace, "checkpoint_id": checkpoint_id}
        return {"configurable": named}


class RecollectSaver(BaseCheckpointSaver[str]):
    """A checkpointer for LangGraph: synchronous, and from `async` code by threads.

    `owner` is the `user_id` that every item names, so that erasing that user reaches the threads; `root` is the first
    label of items, `ttl_minutes` their lifetime, which a read begins anew. Raises what `recollect.client.errors` has.
    `prune` is not there: it would have to know which ancestors the graph's delta channels need.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8700",
        *,
        api_key: ApiKey | None = None,
        owner: str | None = None,
        root: str = "checkpoints",
        ttl_minutes: float | None = None,
        serde: SerializerProtocol | None = None,
        timeout_seconds: float = 30.0,
        memory: Recollect | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._memory = memory or Recollect(url, api_key, timeout_seconds)
        self._root = root
        self._options: dict[str, Any] = {"index": False}
        self._options |= {} if owner is None else {"user_id": owner}
        self._options |= {} if ttl_minutes is None else {"ttl": ttl_minutes}

    @classmethod
    def local(cls, path: str | Path | None = None, *, embedder: EmbedderName | None = "none", **options: Any) -> Self:
        """A checkpointer in a folder, in this process, without a server; the other options are those of the class.

        Without `path` it is RECOLLECT_HOME.
        """
        return cls(memory=Recollect.local(path, embedder=embedder), **options)

    def close(self) -> None:
        """Closes the connection, or the store in this process."""
        self._memory.close()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The named checkpoint of a thread, or its newest; None where there is none."""
        thread = _thread_of(config)
        checkpoint_id = get_checkpoint_id(config) or self._newest(thread)
        if checkpoint_id is None:
            return None
        found = self._got([thread.place(self._root, _CHECKPOINTS, checkpoint_id)])[0]
        return None if found is None else self._tuple(thread, checkpoint_id, found)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """The checkpoints of a thread, or of all, the newest of each namespace first."""
        end = get_checkpoint_id(before) if before else None
        left = limit
        for thread, checkpoint_id, value in self._listed(config):
            if left is not None and left <= 0:
                return
            if end is not None and checkpoint_id >= end:
                continue
            metadata = self._loaded(value["metadata"], thread)
            if all(metadata.get(name) == wanted for name, wanted in (filter or {}).items()):
                left = None if left is None else left - 1
                yield self._tuple(thread, checkpoint_id, value)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keeps a checkpoint; of its values those of new versions."""
        thread, checkpoint_id = _thread_of(config), checkpoint["id"]
        kept = cast("dict[str, Any]", checkpoint.copy())
        values = kept.pop("channel_values")
        written = [
            operation
            for channel, version in new_versions.items()
            for operation in self._value(thread, channel, version, values)
        ]
        described = get_checkpoint_metadata(config, metadata)
        document: dict[str, Any] = {"parent": get_checkpoint_id(config), "run_id": described.get("run_id")}
        for name, value in (("checkpoint", kept), ("metadata", described)):
            document[name], parts = self._packed(thread, name, checkpoint_id, self.serde.dumps_typed(value))
            written += parts
        newest, *_ = self._sent([_get(*self._latest(thread)), *written])
        self._finish(thread, checkpoint_id, document, newest.get("item"))
        return thread.config(checkpoint_id)

    def _finish(
        self, thread: _Thread, checkpoint_id: str, document: Mapping[str, Any], newest: Mapping[str, Any] | None
    ) -> None:
        """The checkpoint, and the pointer on the version that was read: of two at once the newer one stays there."""
        for _ in range(_TRIES):
            last = [self._put(*thread.place(self._root, _CHECKPOINTS, checkpoint_id), document)]
            if _id_in(newest) <= checkpoint_id:
                pointer = self._put(*self._latest(thread), {"checkpoint_id": checkpoint_id})
                pointer["put"]["version"] = newest["version"] if newest else 0
                last.append(pointer)
            try:
                self._sent(last)
            except VersionMismatch:
                newest = self._sent([_get(*self._latest(thread))])[0].get("item")
            else:
                return
        raise Conflict(409, {"detail": "the thread changes all the time"})

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keeps what a task wrote; of a repetition only errors, interrupts and the like replace what is there."""
        thread, checkpoint_id = _thread_of(config), config["configurable"]["checkpoint_id"]
        labels = thread.labels(self._root, _WRITES, label(checkpoint_id))
        indexed = {WRITES_IDX_MAP.get(channel, place): (channel, one) for place, (channel, one) in enumerate(writes)}
        keys = {index: _hash(task_id, index) for index in indexed}
        regular = [index for index in indexed if index >= 0]
        there = self._got([(labels, keys[index]) for index in regular])
        known = {index for index, item in zip(regular, there, strict=True) if item is not None}
        last: Documents = []
        first: Documents = []
        for index, (channel, value) in indexed.items():
            if index in known:
                continue
            name = f"{checkpoint_id}/{task_id}/{index}"
            packed, parts = self._packed(thread, _WRITES, name, self.serde.dumps_typed(value))
            first += parts
            described = {"task_id": task_id, "path": task_path, "index": index, "channel": channel, "value": packed}
            last.append(self._put(labels, keys[index], described))
        self._sent(first)
        self._sent(last)

    def delete_thread(self, thread_id: str) -> None:
        """Deletes all that a thread has."""
        for kind in _KINDS:
            delete_below(self._memory, (self._root, kind, label(thread_id)))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints of these runs, with their writes; values go with their thread."""
        wanted = {"run_id": {"in": [*run_ids]}}
        for item in items_below(self._memory, (self._root, _CHECKPOINTS), wanted) if run_ids else ():
            _, _, thread_label, namespace_label, *_ = item["namespace"]
            delete_below(self._memory, (self._root, _WRITES, thread_label, namespace_label, label(item["key"])))
            self._sent(deletions([item]))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies all that a thread has, the values first."""
        for kind in (_PARTS, _VALUES, _WRITES, _CHECKPOINTS, _LATEST):
            found = items_below(self._memory, (self._root, kind, label(source_thread_id)))
            copies = [
                self._put(
                    (self._root, kind, label(target_thread_id), *item["namespace"][3:]), item["key"], item["value"]
                )
                for item in found
            ]
            self._sent(copies)

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002
        """Versions that rise, and differ in the branches of a thread."""
        last = 0 if current is None else current if isinstance(current, int) else int(current.split(".")[0])
        return f"{last + 1:032}.{random.random():016}"  # noqa: S311 - tells branches apart, guards nothing

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The same, in a thread."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """The same; each is read in a thread when it is asked for."""
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (one := await asyncio.to_thread(next, found, None)) is not None:
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """The same, in a thread."""
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """The same, in a thread."""
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """The same, in a thread."""
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """The same, in a thread."""
        await asyncio.to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """The same, in a thread."""
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    def _newest(self, thread: _Thread) -> str | None:
        """By the pointer; by all checkpoints where it names one that was deleted."""
        checkpoint_id = _id_in({"value": self._got([self._latest(thread)])[0] or {}})
        if not checkpoint_id or self._got([thread.place(self._root, _CHECKPOINTS, checkpoint_id)])[0] is not None:
            return checkpoint_id or None
        labels = thread.labels(self._root, _CHECKPOINTS)
        return max((item["key"] for item in items_below(self._memory, labels)), default=None)

    def _listed(self, config: RunnableConfig | None) -> Iterator[tuple[_Thread, str, dict[str, Any]]]:
        """The stored checkpoints that a configuration is about, the newest of each namespace first."""
        prefix: Namespace = (self._root, _CHECKPOINTS)
        wanted = config["configurable"] if config else {}
        if "thread_id" in wanted:
            prefix = (*prefix, label(str(wanted["thread_id"])))
            if wanted.get("checkpoint_ns") is not None:
                prefix = (*prefix, label(wanted["checkpoint_ns"]))
        found = items_below(self._memory, prefix)
        found.sort(key=lambda item: item["key"], reverse=True)
        found.sort(key=lambda item: item["namespace"][:_BUCKET])
        for item in found:
            thread = _Thread(text_of(item["namespace"][2]), text_of(item["namespace"][3]))
            if wanted.get("checkpoint_id") in (None, "", item["key"]):
                yield thread, item["key"], item["value"]

    def _tuple(self, thread: _Thread, checkpoint_id: str, value: Mapping[str, Any]) -> CheckpointTuple:
        checkpoint = self._loaded(value["checkpoint"], thread)
        versions = checkpoint["channel_versions"]
        keys = [thread.place(self._root, _VALUES, _hash(channel, version)) for channel, version in versions.items()]
        stored = zip(versions, self._got(keys), strict=True)
        values = {name: one["value"] for name, one in stored if one is not None and one["value"]["type"] != _EMPTY}
        checkpoint["channel_values"] = {name: self._loaded(one, thread) for name, one in values.items()}
        parent = value.get("parent")
        return CheckpointTuple(
            config=thread.config(checkpoint_id),
            checkpoint=checkpoint,
            metadata=self._loaded(value["metadata"], thread),
            parent_config=thread.config(parent) if parent else None,
            pending_writes=self._writes(thread, checkpoint_id),
        )

    def _writes(self, thread: _Thread, checkpoint_id: str) -> PendingWrites:
        labels = thread.labels(self._root, _WRITES, label(checkpoint_id))
        found = [item["value"] for item in items_below(self._memory, labels)]
        found.sort(key=lambda one: writes_sort_key(one["path"], one["task_id"], one["index"]))
        return [(one["task_id"], one["channel"], self._loaded(one["value"], thread)) for one in found]

    def _value(
        self, thread: _Thread, channel: str, version: str | float, values: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        typed = self.serde.dumps_typed(values[channel]) if channel in values else (_EMPTY, b"")
        key = _hash(channel, version)
        packed, parts = self._packed(thread, _VALUES, key, typed)
        yield from parts
        yield self._put(*thread.place(self._root, _VALUES, key), {"value": packed})

    def _packed(
        self, thread: _Thread, kind: str, name: str, typed: Typed
    ) -> tuple[dict[str, Any], Sequence[dict[str, Any]]]:
        """A serialized value as JSON, and the puts of its parts where it is too large for one item."""
        type_, data = typed
        if len(data) <= _PART_BYTES // 2:
            return {"type": type_, "data": _encoded(data)}, ()
        cut = [data[start : start + _PART_BYTES] for start in range(0, len(data), _PART_BYTES)]
        keys = [_hash(kind, name, number) for number in range(len(cut))]
        places = [thread.place(self._root, _PARTS, key) for key in keys]
        puts = [self._put(*place, {"data": _encoded(part)}) for place, part in zip(places, cut, strict=True)]
        return {"type": type_, "parts": keys}, puts

    def _loaded(self, packed: Mapping[str, Any], thread: _Thread) -> Any:
        if "data" in packed:
            return self.serde.loads_typed((packed["type"], base64.b64decode(packed["data"])))
        parts = self._got([thread.place(self._root, _PARTS, key) for key in packed["parts"]])
        data = b"".join(base64.b64decode(one["data"]) for one in parts if one is not None)
        return self.serde.loads_typed((packed["type"], data))

    def _latest(self, thread: _Thread) -> tuple[Namespace, str]:
        return (self._root, _LATEST, label(thread.thread_id)), label(thread.namespace)

    def _put(self, namespace: Namespace, key: str, value: Mapping[str, Any]) -> dict[str, Any]:
        return {"put": {"namespace": namespace, "key": key, "value": value, **self._options}}

    def _got(self, places: Sequence[tuple[Namespace, str]]) -> Sequence[dict[str, Any] | None]:
        """The documents at these places."""
        answers = self._sent([_get(namespace, key) for namespace, key in places])
        return [one["item"]["value"] if one.get("item") else None for one in answers]

    def _sent(self, operations: Sequence[Mapping[str, Any]]) -> Sequence[dict[str, Any]]:
        return answers_of(self._memory, operations)


def _thread_of(config: RunnableConfig) -> _Thread:
    named = config["configurable"]
    return _Thread(str(named["thread_id"]), named.get("checkpoint_ns", ""))


def _get(namespace: Namespace, key: str) -> dict[str, Any]:
    return {"get": {"namespace": namespace, "key": key}}


def _id_in(pointer: Mapping[str, Any] | None) -> str:
    return str(pointer["value"].get("checkpoint_id", "")) if pointer else ""


def _hash(*names: object) -> str:
    return hashlib.sha256(json.dumps([str(name) for name in names]).encode()).hexdigest()


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
