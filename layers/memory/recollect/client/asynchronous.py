"""Every route as a method of the client for asyncio. `synchronous.py` is generated from this file (`make docs`)."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import count
from typing import Any, Literal, Self, Unpack, cast
from uuid import uuid4

import httpx

from recollect.client.errors import ConnectionFailed
from recollect.client.transport import (
    DEFAULT_RETRIES,
    EVERY_DAY,
    AsyncApiKey,
    Call,
    RetryPolicy,
    client_options,
    delete,
    deleted_together,
    document_of,
    get,
    next_page,
    of_version,
    once,
    patch,
    post,
    post_once,
    present,
    put,
    request_options,
    store,
    text_of,
)
from recollect.client.types import (
    AnalyzeOptions,
    ConflictListOptions,
    DecisionListOptions,
    DeletionOptions,
    Event,
    EventOptions,
    IngestAnswer,
    Json,
    Labelling,
    Memory,
    MemoryListOptions,
    MemoryOptions,
    Narrowing,
    NewEvent,
    ToolCallOptions,
    TurnAnswer,
    TurnOptions,
)


class AsyncResources:
    """What `AsyncRecollect` has beside its everyday methods. An asynchronous context manager; safe to share by tasks.

    Every method raises RecollectApiError where the server answers with an error, and ConnectionFailed where no
    answer comes, both after the retries. `api_key` may be a function that gives the current token
    (`AsyncApiKey`): it is asked before the first call, and again, once a call, where the server refuses it (401).
    """

    def __init__(
        self,
        base_url: str,
        api_key: AsyncApiKey | None = None,
        timeout_seconds: float = 10.0,
        *,
        retries: RetryPolicy = DEFAULT_RETRIES,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(transport=transport, **client_options(base_url, api_key, timeout_seconds))
        self._retries = retries

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def add_events(
        self,
        user_id: str | None,
        events: Sequence[NewEvent],
        *,
        conversation_id: str | None = None,
        idempotency_key: str | None = None,
        **labelling: Unpack[Labelling],
    ) -> IngestAnswer:
        """Stores 1 to 100 events; one result each. Raises Unprocessable where all were invalid.

        The user may be None where an agent, an application or a namespace is given.
        """
        body = {"user_id": user_id, **labelling, "conversation_id": conversation_id, "events": list(events)}
        return cast(IngestAnswer, await self._answer(post_once(idempotency_key, "events", body=body)))

    async def analyze(self, text: str, **options: Unpack[AnalyzeOptions]) -> Json:
        """The decisions of ingest and retrieval about a text; stores nothing."""
        return await self._answer(post("analyze", body={"text": text, **options}))

    def events(self, user_id: str, **options: Unpack[EventOptions]) -> AsyncIterator[Event]:
        """The timeline, newest first, through all pages; without bounds all of it."""
        query = {name.rstrip("_"): value for name, value in options.items()}
        if query.keys().isdisjoint(("from", "to", "last_days")):
            query["last_days"] = EVERY_DAY
        return cast(AsyncIterator[Event], self._items(get("users", user_id, "events", query=query), "events"))

    async def event(self, user_id: str, event_id: str, **options: Unpack[Narrowing]) -> Event:
        """One event. Raises NotFound."""
        return cast(Event, await self._answer(get("users", user_id, "events", event_id, query=options)))

    async def correct_event(
        self,
        user_id: str,
        event_id: str,
        content: str,
        *,
        importance: float | None = None,
        keywords: Sequence[str] | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> Memory:
        """What is remembered of an event from now on, which stays as it was said; answers the memory.

        Raises NotFound, Conflict where there is a memory of it or may be none, VersionMismatch.
        """
        body = {"content": content, "importance": importance, "keywords": keywords}
        call = post_once(idempotency_key, "users", user_id, "events", event_id, "correct", body=body, query=narrowing)
        return cast(Memory, await self._answer(of_version(call, version)))

    async def delete_event(
        self,
        user_id: str,
        event_id: str,
        *,
        version: int | None = None,
        reject: bool = False,
        **narrowing: Unpack[Narrowing],
    ) -> None:
        """Deletes an event and what was derived from it; `reject` refuses its value from now on.

        Raises NotFound, or VersionMismatch for another version.
        """
        query = {**narrowing, "reject": "true" if reject else None}
        await self._answer(delete("users", user_id, "events", event_id, version=version, query=query))

    async def delete_key(self, user_id: str, key: str, **narrowing: Unpack[Narrowing]) -> None:
        """Deletes a slot with its whole history; no older value comes back. Raises NotFound."""
        await self._answer(delete("users", user_id, "keys", key, query=narrowing))

    def conversations(self, user_id: str, *, limit: int | None = None) -> AsyncIterator[Json]:
        """The conversations, latest start first, through all pages; `limit` is a page's."""
        return self._items(get("users", user_id, "conversations", query={"limit": limit}), "conversations")

    async def delete_conversation(self, user_id: str, conversation_id: str, **narrowing: Unpack[Narrowing]) -> int:
        """Deletes a conversation: its events, each as `delete_event` does, and its log; answers how many events went.

        It makes as many calls as that takes; broken off, the same call again goes on. Of a persona or a household only
        its events go.
        """
        deleted: int = 0
        query = dict[str, Any](narrowing)
        while True:
            page = await self._answer(delete("users", user_id, "conversations", conversation_id, query=query))
            deleted += page["deleted"]
            if "next_cursor" not in page:
                return deleted
            query["cursor"] = page["next_cursor"]

    async def append_log(
        self,
        user_id: str,
        conversation_id: str,
        entries: Sequence[Mapping[str, Any]],
        *,
        branch: str | None = None,
        root: int | None = None,
        idempotency_key: str | None = None,
    ) -> Json:
        """Keeps entries exactly, in order, all or none: `payload` any JSON, or `blob`; `role`, `entry_key`.

        `branch` is where they come instead of `main`; a new one begins behind the entry `root`. Nothing is derived
        from them. `results` has the sequence of each.
        """
        place = ("users", user_id, "conversations", conversation_id, "log")
        body = {"entries": list(entries), "branch": branch, "root": root}
        return await self._answer(post_once(idempotency_key, *place, body=body))

    def log(
        self,
        user_id: str,
        conversation_id: str,
        *,
        newest_first: bool = False,
        limit: int | None = None,
        branch: str | None = None,
        include_parents: bool = False,
        every_branch: bool = False,
    ) -> AsyncIterator[Json]:
        """The entries of a conversation's log in either order, through all pages; `limit` is a page's.

        Those of `main`, of a `branch`, with `include_parents` what leads to it, with `every_branch` all.
        """
        query = {
            "order": "desc" if newest_first else "asc",
            "limit": limit,
            "branch": branch,
            "include_parents": "true" if include_parents else None,
            "every_branch": "true" if every_branch else None,
        }
        return self._items(get("users", user_id, "conversations", conversation_id, "log", query=query), "entries")

    async def log_branches(self, user_id: str, conversation_id: str) -> list[Json]:
        """The branches of a log besides `main`: `name`, `root`, and the `parent` that has the root."""
        answer = await self._answer(get("users", user_id, "conversations", conversation_id, "log", "branches"))
        return cast(list[Json], answer["branches"])

    async def log_entry(self, user_id: str, conversation_id: str, sequence: int) -> Json:
        """One entry, of whichever branch. Raises NotFound."""
        return await self._answer(get(*_entry(user_id, conversation_id, sequence)))

    async def edit_log_entry(
        self,
        user_id: str,
        conversation_id: str,
        sequence: int,
        content: Mapping[str, Any],
        *,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Json:
        """Gives an entry another `payload` or `blob`, and `role`; only that version of it where one is given.

        What it was stays in its history. Raises NotFound, VersionMismatch.
        """
        call = patch(*_entry(user_id, conversation_id, sequence), body=content, version=version)
        return await self._answer(once(call, idempotency_key))

    async def delete_log_entry(
        self, user_id: str, conversation_id: str, sequence: int, *, version: int | None = None
    ) -> None:
        """Removes an entry with its history. Raises NotFound, VersionMismatch."""
        await self._answer(delete(*_entry(user_id, conversation_id, sequence), version=version))

    def log_entry_history(
        self, user_id: str, conversation_id: str, sequence: int, *, limit: int | None = None
    ) -> AsyncIterator[Json]:
        """What an entry was before, oldest first, through all pages; `limit` is a page's. Raises NotFound."""
        segments = (*_entry(user_id, conversation_id, sequence), "history")
        return self._items(get(*segments, query={"limit": limit}), "versions")

    async def pop_log(self, user_id: str, conversation_id: str, *, branch: str | None = None) -> Json | None:
        """Removes the last entry, of `main` or of a branch, and returns it; None where there is none.

        Not repeated where no answer comes.
        """
        segments = ("users", user_id, "conversations", conversation_id, "log", "pop")
        call = post(*segments, body={}, query={"branch": branch})
        return (await self._answer(replace(call, repeatable=False))).get("entry")

    async def clear_log(self, user_id: str, conversation_id: str) -> None:
        """Removes all entries of a conversation's log, and its branches."""
        await self._answer(delete("users", user_id, "conversations", conversation_id, "log"))

    def logs(self, user_id: str, *, limit: int | None = None) -> AsyncIterator[Json]:
        """The user's logs that have entries, by their conversations, through all pages; `limit` is a page's."""
        return self._items(get("users", user_id, "logs", query={"limit": limit}), "logs")

    def users(self, *, limit: int | None = None) -> AsyncIterator[Json]:
        """The users who have a memory or a log, by their ids, through all pages; `limit` is a page's."""
        return self._items(get("users", query={"limit": limit}), "users")

    async def save_memory(
        self, user_id: str | None, content: str, *, idempotency_key: str | None = None, **options: Unpack[MemoryOptions]
    ) -> Memory:
        """Saves one memory, or answers an equal one. Raises Conflict where its value was rejected.

        The user may be None where an agent, an application or a namespace is given.
        """
        body = {"user_id": user_id, "content": content, **options}
        return cast(Memory, await self._answer(post_once(idempotency_key, "memories", body=body)))

    def memories(self, user_id: str, **options: Unpack[MemoryListOptions]) -> AsyncIterator[Memory]:
        """The memories, newest first, through all pages; superseded ones too, unless `status` is "active"."""
        return cast(AsyncIterator[Memory], self._items(get("users", user_id, "memories", query=options), "memories"))

    async def memory(self, user_id: str, memory_id: str, **narrowing: Unpack[Narrowing]) -> Memory:
        """One memory. Raises NotFound."""
        return cast(Memory, await self._answer(get("users", user_id, "memories", memory_id, query=narrowing)))

    async def memory_history(self, user_id: str, memory_id: str, **narrowing: Unpack[Narrowing]) -> list[Json]:
        """Every version of a memory, oldest first. Raises NotFound."""
        call = get("users", user_id, "memories", memory_id, "history", query=narrowing)
        return list((await self._answer(call))["history"])

    async def patch_memory(
        self,
        user_id: str,
        memory_id: str,
        changes: Mapping[str, Any],
        *,
        version: int | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> Memory:
        """Changes any of content, importance, keywords, expires_at, metadata; None clears `expires_at`.

        Raises VersionMismatch where `version` is not its own.
        """
        call = patch("users", user_id, "memories", memory_id, body=changes, version=version, query=narrowing)
        return cast(Memory, await self._answer(call))

    async def merge_memories(
        self,
        user_id: str,
        memory_id: str,
        other: Mapping[str, Any],
        *,
        content: str | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> Json:
        """Takes the `other` memory up, as it was read; answers the `memory` and the `decision`, which can be reverted.

        Without `content` both texts are joined. Raises NotFound, VersionMismatch, Conflict.
        """
        body = {"other": other["id"], "other_version": other["version"], "content": content}
        call = post_once(idempotency_key, "users", user_id, "memories", memory_id, "merge", body=body, query=narrowing)
        return await self._answer(of_version(call, version))

    async def delete_memory(
        self,
        user_id: str,
        memory_id: str,
        *,
        version: int | None = None,
        reject: bool = False,
        **narrowing: Unpack[Narrowing],
    ) -> None:
        """Deletes a memory with the events it was made from; `reject` refuses its value from now on.

        Raises NotFound, or VersionMismatch.
        """
        query = {**narrowing, "reject": "true" if reject else None}
        await self._answer(delete("users", user_id, "memories", memory_id, version=version, query=query))

    async def delete_memories(
        self,
        user_id: str | None = None,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        **options: Unpack[DeletionOptions],
    ) -> Json:
        """Deletes all memories that labels, `key`, `status` and `filter` select, each as `delete_memory` does.

        `matched` of the answer is their number, `memory_ids` are some of them; with `dry_run` nothing is deleted. It
        makes as many calls as that takes; broken off, the same call again goes on.
        """
        body: dict[str, Any] = {"user_id": user_id, "dry_run": dry_run, **options}
        key = idempotency_key or uuid4().hex
        total: Json = {"matched": 0, "deleted": 0, "memory_ids": []}
        for place in count():
            page = await self._answer(post_once(f"{key}.{place}", "memories", "delete", body=body))
            total = deleted_together(total, page)
            if "next_cursor" not in page:
                break
            body["cursor"] = page["next_cursor"]
        return total

    async def feedback(self, user_id: str, positive: bool, *, mode: Literal["intent", "other"] = "intent") -> Json:
        """Says whether a search helped; it is counted, and nothing is stored."""
        return await self._answer(post("feedback", body={"user_id": user_id, "positive": positive, "mode": mode}))

    async def turn(
        self,
        user_id: str,
        text: str,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float = 60.0,
        **options: Unpack[TurnOptions],
    ) -> TurnAnswer:
        """One turn: stores the input, lets the model answer it from memory, and stores the answer.

        Raises UpstreamFailed where the model failed; the input is stored all the same.
        """
        call = post_once(idempotency_key, "turns", body={"user_id": user_id, "input": text, **options})
        return cast(TurnAnswer, await self._answer(replace(call, timeout_seconds=timeout_seconds)))

    async def tool_calls(
        self, text: str, *, idempotency_key: str | None = None, **options: Unpack[ToolCallOptions]
    ) -> Json:
        """The tool calls in a model's text, and the text without them; with `execute` also their results."""
        return await self._answer(post_once(idempotency_key, "tool-calls", body={"text": text, **options}))

    async def health(self) -> Json:
        """Whether the process responds."""
        return await self._answer(get("health"))

    async def ready(self) -> Json:
        """Readiness, part by part; "not ready" is a response, not an error."""
        return await self._answer(replace(get("ready"), not_ready_is_an_answer=True))

    async def bus(self, event_type: str | None = None, after: str | None = None) -> Json:
        """The last published events, oldest first; for administrators."""
        return await self._answer(get("bus", query={"type": event_type, "after": after}))

    async def signal(
        self,
        kind: Literal["warning", "healthy"],
        source: str,
        *,
        severity: str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Json:
        """A warning suspends the tenant's automatic promotion, healthy resumes it; for administrators."""
        body = {"type": kind, "source": source, "severity": severity, "reason": reason}
        return await self._answer(post_once(idempotency_key, "signals", body=body))

    def audit(
        self, user_id: str, *, target_id: str | None = None, action: str | None = None, limit: int | None = None
    ) -> AsyncIterator[Json]:
        """Every change and refusal of a user's memory, newest first, through all pages; `limit` is a page's."""
        query = {"target_id": target_id, "action": action, "limit": limit}
        return self._items(get("users", user_id, "audit", query=query), "entries")

    def ledger(
        self, user_id: str, *, outcome: str | None = None, event_id: str | None = None, limit: int | None = None
    ) -> AsyncIterator[Json]:
        """The outcomes of promotion, newest first, through all pages; `limit` is a page's."""
        query = {"outcome": outcome, "event_id": event_id, "limit": limit}
        return self._items(get("users", user_id, "ledger", query=query), "entries")

    async def rules(self) -> Json:
        """The tenant's rules, resolved, with their version; for administrators."""
        return await self._answer(get("rules"))

    async def put_rules(self, document: Mapping[str, Any], *, version: str | None = None) -> Json:
        """Replaces the tenant's own rules; `{}` removes them. Raises VersionMismatch where `version` is not theirs."""
        return await self._answer(put("rules", body=document, version=version))

    def knowledge(self, namespace: str | None = None, *, limit: int | None = None) -> AsyncIterator[Json]:
        """Taught entries, by namespace and key, through all pages; `limit` is a page's."""
        segments = ("knowledge",) if namespace is None else ("knowledge", namespace)
        return self._items(get(*segments, query={"limit": limit}), "entries")

    async def knowledge_entry(self, namespace: str, key: str) -> Json:
        """One entry. Raises NotFound."""
        return await self._answer(get("knowledge", namespace, key))

    async def put_knowledge(self, namespace: str, key: str, value: Any, *, version: int | None = None) -> Json:
        """Creates or replaces an entry. Raises VersionMismatch where `version` is not its version."""
        return await self._answer(put("knowledge", namespace, key, body={"value": value}, version=version))

    async def delete_knowledge(self, namespace: str, key: str, *, version: int | None = None) -> None:
        """Deletes an entry. Raises NotFound, and VersionMismatch where `version` is not its version."""
        await self._answer(delete("knowledge", namespace, key, version=version))

    async def knowledge_prompt(self, store: str | None = None) -> str:
        """What a prompt says of the store, of every store where none is named; may be empty."""
        call = get("knowledge", query={"format": "prompt", "store": store})
        return str((await self._answer(call))["prompt"])

    async def resolve(self, text: str, store: str, *, filter: str | None = None, comments: str | None = None) -> Json:
        """The query with learnt terms replaced and the conditions of learnt rules in its filter."""
        body = {"text": text, "store": store, "filter": filter, "comments": comments}
        return await self._answer(post("knowledge", "resolve", body=body))

    async def learn(
        self, text: str, store: str | None = None, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> Json:
        """Learns what the text says a word means; the answer has no `tool_call` where it says nothing of the kind."""
        body = {"text": text, "store": store, "dry_run": dry_run}
        return await self._answer(post_once(idempotency_key, "knowledge", "learn", body=body))

    async def put_item(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        index: Sequence[str] | bool | None = None,
        ttl_minutes: float | None = None,
        user_id: str | None = None,
        vectors: Sequence[Sequence[float]] | None = None,
        version: int | None = None,
    ) -> None:
        """Keeps a document exactly, in the place of what was there; `index` names the fields that are embedded.

        `vectors` are the application's own instead. Raises VersionMismatch where `version` is not its version; 0 is
        that of a place where nothing is.
        """
        body = {"namespace": namespace, "key": key, "value": value, "index": index, "ttl": ttl_minutes}
        await self._answer(store("PUT", "items", {**body, "user_id": user_id, "vectors": vectors}, version=version))

    async def item(self, namespace: Sequence[str], key: str, *, refresh_ttl: bool | None = None) -> Json | None:
        """One item; None where there is none. With `refresh_ttl` False its lifetime does not begin anew."""
        query = {"namespace": ".".join(namespace), "key": key, "refresh_ttl": refresh_ttl}
        return await self._answer(store("GET", "items", query=query)) or None

    async def delete_item(self, namespace: Sequence[str], key: str, *, version: int | None = None) -> None:
        """Deletes an item. Raises VersionMismatch where `version` is not its version."""
        await self._answer(store("DELETE", "items", {"namespace": namespace, "key": key}, version=version))

    async def search_items(
        self,
        prefix: Sequence[str] = (),
        *,
        query: str | None = None,
        query_vector: Sequence[float] | None = None,
        where: Mapping[str, Any] | None = None,
        filter: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[Json]:
        """Items below a prefix, by meaning and by fields; without a query the last written first.

        `where` is the grammar of docs/filters.md, `filter` LangGraph's form of it; `query_vector` is compared with the
        application's own vectors. With `refresh_ttl` False no lifetime begins anew.
        """
        asked = {"query": query, "query_vector": query_vector, "where": where, "filter": filter}
        page = {"limit": limit, "offset": offset, "refresh_ttl": refresh_ttl}
        body = {"namespace_prefix": prefix, **asked, **page}
        return list((await self._answer(store("POST", "items/search", body)))["items"])

    async def delete_items(
        self,
        namespace_prefix: Sequence[str] = (),
        *,
        where: Mapping[str, Any] | None = None,
        filter: Mapping[str, Any] | None = None,
        dry_run: bool = False,
        limit: int | None = None,
    ) -> Json:
        """Deletes the items below a prefix that pass `where`, at most 1,000; while there are `more`, call it again.

        `filter` is LangGraph's form; `matched` is their number, `items` are places of some; with `dry_run` nothing is
        deleted.
        """
        which = {"namespace_prefix": list(namespace_prefix), "where": where, "filter": filter}
        return await self._answer(store("POST", "items/delete", {**which, "dry_run": dry_run, "limit": limit}))

    async def item_namespaces(
        self,
        prefix: Sequence[str] = (),
        *,
        suffix: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[list[str]]:
        """Namespaces that have items, sorted; `*` is any one label."""
        body = {"prefix": prefix, "suffix": suffix, "max_depth": max_depth, "limit": limit, "offset": offset}
        return list((await self._answer(store("POST", "namespaces", body)))["namespaces"])

    async def item_batch(self, operations: Sequence[Mapping[str, Any]]) -> list[Json]:
        """The results of several operations, in order: what is read is read before anything is written."""
        return list((await self._answer(store("POST", "batch", {"operations": operations})))["results"])

    def summaries(
        self, user_id: str, *, persona_id: str | None = None, limit: int | None = None
    ) -> AsyncIterator[Json]:
        """Summaries, newest first, through all pages; without a persona those of all. `limit` is a page's."""
        query = {"persona_id": persona_id, "limit": limit}
        return self._items(get("users", user_id, "summaries", query=query), "summaries")

    async def summarize(
        self, user_id: str, *, force: bool = False, persona_id: str | None = None, idempotency_key: str | None = None
    ) -> Json:
        """Makes a summary where one is due, or forced. Raises UpstreamFailed where the model fails."""
        query = {"persona_id": persona_id, "force": "true" if force else None}
        return await self._answer(post_once(idempotency_key, "users", user_id, "summaries", query=query))

    async def goals(self, user_id: str, *, persona_id: str | None = None) -> list[Json]:
        """The user's goals, current and past."""
        call = get("users", user_id, "goals", query={"persona_id": persona_id})
        return list((await self._answer(call))["goals"])

    async def add_goal(
        self,
        user_id: str,
        goal: str,
        *,
        check_in_frequency: str | None = None,
        persona_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Json:
        """Sets a goal and answers it; one of the same words is active again. Raises Conflict for a rejected value.

        A retry's response has `refused` alone where it was deleted since.
        """
        body = {"goal": goal, "check_in_frequency": check_in_frequency}
        call = post_once(idempotency_key, "users", user_id, "goals", body=body, query={"persona_id": persona_id})
        return await self._answer(call)

    async def patch_goal(
        self,
        user_id: str,
        goal_id: str,
        changes: Mapping[str, Any],
        *,
        persona_id: str | None = None,
        version: int | None = None,
    ) -> Json:
        """Changes any of goal, status, check_in_frequency. Raises VersionMismatch where `version` is not its own."""
        segments, query = ("users", user_id, "goals", goal_id), {"persona_id": persona_id}
        return await self._answer(patch(*segments, body=present(changes), version=version, query=query))

    async def check_in(
        self,
        user_id: str,
        goal_id: str,
        day: date | str,
        status: str,
        *,
        persona_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Json:
        """Notes that an occasion was `completed` or `missed`; answers the goal. Raises NotFound."""
        segments, body = ("users", user_id, "goals", goal_id, "check-ins"), {"date": day, "status": status}
        call = post_once(idempotency_key, *segments, body=body, query={"persona_id": persona_id})
        return await self._answer(call)

    def decisions(self, user_id: str, **options: Unpack[DecisionListOptions]) -> AsyncIterator[Json]:
        """Decisions between memories, by newest winner, through all pages."""
        return self._items(get("users", user_id, "arbitrations", query=options), "arbitrations")

    async def revert_decision(
        self,
        user_id: str,
        decision_id: str,
        *,
        changes: Mapping[str, Any] | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> Json:
        """Reverts a decision; answers it with the `memory` that is active now, with these `changes` of it.

        Where only a part of it had ended, its `content` without that part. Raises NotFound, Conflict, and
        VersionMismatch where `version` is not the loser's.
        """
        segments = ("users", user_id, "arbitrations", decision_id, "revert")
        call = post_once(idempotency_key, *segments, body=dict(changes) if changes else None, query=narrowing)
        return await self._answer(of_version(call, version))

    async def reapply_decision(
        self,
        user_id: str,
        decision_id: str,
        *,
        version: int | None = None,
        idempotency_key: str | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> Json:
        """Makes a decision again that was reverted; answers it with the `memory` as the decision had left it.

        Raises NotFound, Conflict, and VersionMismatch where `version` is not the loser's.
        """
        segments = ("users", user_id, "arbitrations", decision_id, "reapply")
        return await self._answer(of_version(post_once(idempotency_key, *segments, query=narrowing), version))

    def conflicts(self, user_id: str, **options: Unpack[ConflictListOptions]) -> AsyncIterator[Json]:
        """Open conflicts between memories, and settled ones, through all pages."""
        return self._items(get("users", user_id, "conflicts", query=options), "conflicts")

    async def resolve_conflict(
        self,
        user_id: str,
        conflict_id: str,
        winner: str | None = None,
        *,
        both: bool = False,
        older: str | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> Json:
        """Makes the winner supersede the other one, or lets `both` hold: in these words of the `older` one, if given.

        Raises NotFound, Conflict, Unprocessable, and VersionMismatch where `version` is not the older one's.
        """
        segments = ("users", user_id, "conflicts", conflict_id, "resolve")
        body: Json = {"both": True, "older": older} if both else {"winner": winner}
        call = post_once(idempotency_key, *segments, body=body, query=narrowing)
        return await self._answer(of_version(call, version))

    async def reopen_conflict(
        self, user_id: str, conflict_id: str, *, idempotency_key: str | None = None, **narrowing: Unpack[Narrowing]
    ) -> Json:
        """Takes back that both hold; answers the conflict. Raises NotFound, Conflict."""
        segments = ("users", user_id, "conflicts", conflict_id, "reopen")
        return await self._answer(post_once(idempotency_key, *segments, query=narrowing))

    async def arbitrate(
        self,
        candidate: Mapping[str, Any],
        existing: Sequence[Mapping[str, Any]] = (),
        *,
        options: Mapping[str, Any] | None = None,
        rule: str | None = None,
        apply: bool = False,
        idempotency_key: str | None = None,
    ) -> Json:
        """Which of a candidate and `existing` memories (without them: stored ones) counts; `apply` stores it."""
        body = {"candidate": candidate, "existing": list(existing), "options": options, "rule": rule}
        if apply:
            return await self._answer(post_once(idempotency_key, "arbitrations", body={**body, "apply": True}))
        return await self._answer(post("arbitrations", body=body))

    async def merge(
        self, first: Mapping[str, Any], second: Mapping[str, Any], *, options: Mapping[str, Any] | None = None
    ) -> Json:
        """Merges two statements, with statistics; stores nothing."""
        body = {"first": first, "second": second, "options": options}
        return await self._answer(post("merges", body=body))

    def merge_rules(self, *, limit: int | None = None) -> AsyncIterator[Json]:
        """All merge rules; with a limit, which is a page's, by name."""
        return self._items(get("merge-rules", query={"limit": limit}), "rules")

    async def merge_rule(self, name: str) -> Json:
        """A merge rule, raw and `resolved`. Raises NotFound."""
        return await self._answer(get("merge-rules", name))

    async def put_merge_rule(self, name: str, document: Mapping[str, Any], *, version: int | None = None) -> Json:
        """Registers or replaces a merge rule. Raises VersionMismatch for another version."""
        return await self._answer(put("merge-rules", name, body=document, version=version))

    async def patch_merge_rule(self, name: str, changes: Mapping[str, Any], *, version: int | None = None) -> Json:
        """Merges changes into a merge rule; None takes a property away. Raises NotFound and VersionMismatch."""
        return await self._answer(patch("merge-rules", name, body=changes, version=version))

    async def delete_merge_rule(self, name: str, *, version: int | None = None) -> None:
        """Deletes a merge rule. Raises NotFound, VersionMismatch, and Conflict where another one extends it."""
        await self._answer(delete("merge-rules", name, version=version))

    async def import_merge_rules(
        self, rules: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> Json:
        """Registers all of these merge rules, as `merge_rules` gives them, or none."""
        call = post_once(idempotency_key, "merge-rules", "import", body={"rules": list(rules)})
        return await self._answer(call)

    async def match_merge_rule(self, candidate: Mapping[str, Any]) -> Json:
        """The merge rule that a candidate meets: its name, and what it says."""
        return await self._answer(post("merge-rules", "match", body={"candidate": candidate}))

    async def export(self, user_id: str, **narrowing: Unpack[Narrowing]) -> AsyncIterator[str]:
        """All records of a user as pages of NDJSON, oldest first; `import_page` takes one."""
        call: Call | None = get("users", user_id, "export", query=narrowing)
        while call is not None:
            response = await self._response(call)
            yield text_of(call, response)
            call = next_page(call, response.headers.get("Link", ""))

    async def import_page(self, user_id: str, page: str, *, idempotency_key: str | None = None) -> Json:
        """Stores a page of an export as this user's; counts what was created, duplicate, refused, invalid."""
        call = post_once(idempotency_key, "users", user_id, "import")
        headers = {**call.headers, "Content-Type": "application/x-ndjson"}
        return await self._answer(replace(call, content=page.encode(), headers=headers))

    def snapshots(self, *, limit: int | None = None) -> AsyncIterator[Json]:
        """The tenant's snapshots, newest first, through all pages; for administrators."""
        return self._items(get("snapshots", query={"limit": limit}), "snapshots")

    async def run_job(
        self, kind: str, *, wait: bool = False, idempotency_key: str | None = None, **parameters: str | bool
    ) -> Json:
        """Starts a job (`snapshot`, `restore`, `reindex`, …), as it stands then; for administrators.

        `wait` has a laptop answer when it has ended.
        """
        query = {"wait": "true" if wait else None}
        return await self._answer(post_once(idempotency_key, "jobs", kind, body=parameters, query=query))

    async def job(self, job_id: str) -> Json:
        """A job's current state; for administrators. Raises NotFound."""
        return await self._answer(get("jobs", job_id))

    def jobs(self, *, limit: int | None = None) -> AsyncIterator[Json]:
        """The tenant's jobs and erasures, newest first, through all pages; for administrators."""
        return self._items(get("jobs", query={"limit": limit}), "jobs")

    async def usage(self) -> Json:
        """What the tenant asked for, this month and since the first day that has a count; for administrators."""
        return await self._answer(get("usage"))

    def rejections(
        self, user_id: str, *, limit: int | None = None, **narrowing: Unpack[Narrowing]
    ) -> AsyncIterator[Json]:
        """Rejected values, oldest first: ids, times, scopes, through all pages; `limit` is a page's."""
        return self._items(get("users", user_id, "rejections", query={**narrowing, "limit": limit}), "rejections")

    async def lift_rejection(self, user_id: str, rejection_id: str, **narrowing: Unpack[Narrowing]) -> None:
        """Accepts a rejected value again. Raises NotFound."""
        await self._answer(delete("users", user_id, "rejections", rejection_id, query=narrowing))

    async def erase_user(self, user_id: str) -> str:
        """Erases a user everywhere: no read returns earlier records after the response. Answers the erasure's id."""
        return str((await self._answer(delete("users", user_id)))["erasure_id"])

    async def erasure(self, erasure_id: str) -> Json:
        """The state of an erasure. Raises NotFound."""
        return await self._answer(get("erasures", erasure_id))

    async def openapi(self) -> Json:
        """The OpenAPI document."""
        return await self._answer(get("openapi.json"))

    async def _items(self, call: Call, name: str) -> AsyncIterator[Json]:
        page = await self._answer(call)
        for item in page[name]:
            yield item
        while page.get("next_cursor"):
            page = await self._answer(call.after(page["next_cursor"]))
            for item in page[name]:
                yield item

    async def _answer(self, call: Call) -> dict[str, Any]:
        return document_of(call, await self._response(call))

    async def _response(self, call: Call) -> httpx.Response:
        attempt = 1
        while True:
            response, pause = await self._attempt(call, attempt)
            if response is not None and pause is None:
                return response
            await asyncio.sleep(pause or 0)
            attempt += 1

    async def _attempt(self, call: Call, attempt: int) -> tuple[httpx.Response | None, float | None]:
        """The response and the pause before the next try; without a response there is always a pause."""
        try:
            response = await self._http.request(**request_options(call))
        except httpx.TransportError as error:
            pause = self._retries.pause_after_failure(attempt) if call.repeatable else None
            if pause is None:
                raise ConnectionFailed(f"no answer from {self._http.base_url}: {type(error).__name__}") from error
            return None, pause
        return response, self._retries.pause_after(call, response, attempt)


def _entry(user_id: str, conversation_id: str, sequence: int) -> tuple[str, ...]:
    return ("users", user_id, "conversations", conversation_id, "log", "entries", str(sequence))
