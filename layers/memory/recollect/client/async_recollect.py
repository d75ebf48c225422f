"""The client for asyncio: its everyday methods, over HTTP or in this process.

`recollect.py` is generated from this file (`make docs`): change methods here.

They are named as mem0's users know them: the text or the id first, `user_id` by name. What they call has more options.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from os import PathLike
from typing import Any, Self, Unpack, cast, overload

from recollect.client.asynchronous import AsyncResources
from recollect.client.errors import NotFound
from recollect.client.in_process import EmbedderName, open_in_process
from recollect.client.messages import events_of
from recollect.client.transport import DEFAULT_RETRIES, SHARED_OWNER, RetryPolicy, asked_of, post, present
from recollect.client.types import (
    ContextAnswer,
    ContextOptions,
    IngestAnswer,
    Json,
    Labelling,
    Memory,
    MemoryListOptions,
    Narrowing,
    SearchAnswer,
    SearchOptions,
)


class AsyncRecollect(AsyncResources):
    """Long-term memory behind a URL, or with `local` in this process. An asynchronous context manager.

    Safe to share by tasks. Every method raises RecollectApiError where the answer is an error, and ConnectionFailed
    where no answer comes, both after the retries.
    """

    @classmethod
    def local(
        cls,
        folder: str | PathLike[str] | None = None,
        *,
        tenant: str = "local",
        embedder: EmbedderName | None = None,
        retries: RetryPolicy = DEFAULT_RETRIES,
    ) -> Self:
        """A memory without a server: the same methods and errors, over a SQLite file in `folder`.

        Without `folder` it is RECOLLECT_HOME, which the command `recollect` uses too; all other settings are those of
        the environment, `embedder` in place of RECOLLECT_EMBEDDER. Several processes may use one folder. The first use
        fetches the embedding model (91 MB). What a call stores is projected before it returns, or within ten seconds
        goes on in the background; threads work until `close`. Raises CannotOpen.
        """
        transport = open_in_process(folder, tenant=tenant, embedder=embedder)
        return cls("http://recollect.local", retries=retries, transport=transport)

    async def add(
        self,
        messages: str | Sequence[Mapping[str, object]],
        *,
        user_id: str | None = None,
        conversation_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        **labelling: Unpack[Labelling],
    ) -> IngestAnswer:
        """Stores what the user said, or 1 to 100 messages with `role` and `content` and what else an event has.

        `agent_id`, `app_id` and `namespace` label them; with one of these there need be no user.

        One result each, in order; `metadata` is that of each. What matters of them becomes a memory by the rules;
        `search` finds all of them. Raises Unprocessable where all were invalid.
        """
        events, keys = events_of(messages, metadata), {"idempotency_key": idempotency_key}
        return await self.add_events(user_id, events, conversation_id=conversation_id, **keys, **labelling)

    @overload
    async def search(
        self, query: str | None = None, *, user_id: str | None = None, **options: Unpack[SearchOptions]
    ) -> SearchAnswer: ...
    @overload
    async def search(
        self, user_id: str, query: str | None = None, **options: Unpack[SearchOptions]
    ) -> SearchAnswer: ...
    async def search(
        self, *order: str | None, user_id: str | None = None, query: str | None = None, **options: Any
    ) -> SearchAnswer:
        """Hits for a query or a `vector`, best first, each with its `score`.

        `search("Where does Anna live?", user_id="anna")`, or in the order ("anna", "Where does Anna live?").
        `agent_id`, `app_id`, `namespace`, `namespace_prefix` and `filter` narrow it; with one of the first four there
        need be no user.
        """
        user, asked = asked_of(order, user_id, query, options)
        call = post("search", body={"user_id": user, "query": asked, **options})
        return cast(SearchAnswer, await self._answer(call))

    @overload
    async def context(
        self, text: str, *, user_id: str | None = None, **options: Unpack[ContextOptions]
    ) -> ContextAnswer: ...
    @overload
    async def context(self, user_id: str, text: str, **options: Unpack[ContextOptions]) -> ContextAnswer: ...
    async def context(
        self, *order: str | None, user_id: str | None = None, text: str | None = None, **options: Any
    ) -> ContextAnswer:
        """The context for the next model call with this input: `prompt`, or `messages` for its API.

        `context("Where do I live?", user_id="anna")`, or in the order ("anna", "Where do I live?").
        """
        user, asked = asked_of(order, user_id, text, options)
        call = post("context", body={"user_id": user, "input": asked, **options})
        return cast(ContextAnswer, await self._answer(call))

    async def get(self, memory_id: str, *, user_id: str, **narrowing: Unpack[Narrowing]) -> Memory:
        """One memory. Raises NotFound."""
        return await self.memory(user_id, memory_id, **narrowing)

    async def get_all(
        self, *, user_id: str | None = None, most: int | None = None, **options: Unpack[MemoryListOptions]
    ) -> list[Memory]:
        """The memories that hold now, newest first, at most `most`; with `status=None` those that ended too.

        Without a user those that are nobody's; labels and `filter` narrow them.
        """
        options.setdefault("status", "active")
        found: list[Memory] = []
        async for memory in self.memories(user_id or SHARED_OWNER, **options):
            if len(found) == most:
                break
            found.append(memory)
        return found

    async def update(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        user_id: str,
        version: int | None = None,
        importance: float | None = None,
        keywords: Sequence[str] | None = None,
        expires_at: date | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> Memory:
        """Changes what is given of a memory, only that version where one is given; its history keeps the older ones.

        Raises NotFound, VersionMismatch.
        """
        changed: dict[str, Any] = {"content": content, "importance": importance, "keywords": keywords}
        changed |= {"expires_at": expires_at, "metadata": metadata}
        return await self.patch_memory(user_id, memory_id, present(changed), version=version, **narrowing)

    async def delete(
        self, memory_id: str, *, user_id: str, version: int | None = None, **narrowing: Unpack[Narrowing]
    ) -> None:
        """Deletes a memory with the events it was made from; an event, where the id is that of an event.

        Raises NotFound, VersionMismatch.
        """
        try:
            await self.delete_memory(user_id, memory_id, version=version, **narrowing)
        except NotFound:
            await self.delete_event(user_id, memory_id, version=version, **narrowing)

    async def delete_all(self, *, user_id: str) -> str:
        """Erases a user everywhere; answers the erasure's id, whose state `erasure` tells."""
        return await self.erase_user(user_id)

    async def history(self, memory_id: str, *, user_id: str, **narrowing: Unpack[Narrowing]) -> list[Json]:
        """Every version of a memory, oldest first. Raises NotFound."""
        return await self.memory_history(user_id, memory_id, **narrowing)
