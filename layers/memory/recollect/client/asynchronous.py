"""The client for asyncio: the same names, awaited; lists are asynchronous iterators."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date
from typing import Any, Literal, Self, Unpack, cast

import httpx

from recollect.client import archive_calls, bridge_calls, calls, erasure_calls
from recollect.client.answers import document, lines
from recollect.client.async_arbitration_methods import AsyncArbitrationMethods
from recollect.client.calls import Call
from recollect.client.connection import client_options
from recollect.client.decisions import AsyncDecisions
from recollect.client.errors import ConnectionFailed
from recollect.client.retries import DEFAULT_RETRIES, RetryPolicy
from recollect.client.shapes import (
    AnalyzeOptions,
    ContextAnswer,
    ContextOptions,
    Event,
    EventOptions,
    IngestAnswer,
    Json,
    Memory,
    MemoryListOptions,
    MemoryOptions,
    Narrowing,
    NewEvent,
    SearchAnswer,
    SearchOptions,
    ToolCallOptions,
    TurnAnswer,
    TurnOptions,
)


class AsyncRecollect(AsyncDecisions, AsyncArbitrationMethods):
    """Long-term memory behind a URL. An asynchronous context manager; safe to share by tasks.

    Every method raises RecollectApiError where the server answers with an error, and ConnectionFailed where no
    answer comes, both after the retries.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
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
        user_id: str,
        events: Sequence[NewEvent],
        *,
        conversation_id: str | None = None,
        idempotency_key: str | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> IngestAnswer:
        """Stores 1 to 100 events; one result each. Raises Unprocessable where all were invalid."""
        call = calls.add_events(user_id, events, conversation_id, idempotency_key, narrowing)
        return cast(IngestAnswer, await self._answer(call))

    async def analyze(self, text: str, **options: Unpack[AnalyzeOptions]) -> Json:
        """What ingest and retrieval would decide of a text; stores nothing."""
        return await self._answer(calls.analyze(text, **options))

    def events(self, user_id: str, **options: Unpack[EventOptions]) -> AsyncIterator[Event]:
        """The timeline, newest first, through all pages; without bounds the last 30 days."""
        return cast(AsyncIterator[Event], self._items(calls.events(user_id, **options), "events"))

    async def event(self, user_id: str, event_id: str, **options: Unpack[Narrowing]) -> Event:
        """One event. Raises NotFound."""
        return cast(Event, await self._answer(calls.event(user_id, event_id, **options)))

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
        call = calls.delete_event(user_id, event_id, version, narrowing)
        await self._answer(erasure_calls.rejecting(call) if reject else call)

    async def delete_key(self, user_id: str, key: str, **narrowing: Unpack[Narrowing]) -> None:
        """Deletes a slot with its whole history; no older value comes back. Raises NotFound."""
        await self._answer(calls.delete_key(user_id, key, narrowing))

    def conversations(self, user_id: str, *, limit: int | None = None) -> AsyncIterator[Json]:
        """The conversations, the last begun first, through all pages; `limit` is a page's."""
        return self._items(calls.conversations(user_id, limit), "conversations")

    async def save_memory(
        self, user_id: str, content: str, *, idempotency_key: str | None = None, **options: Unpack[MemoryOptions]
    ) -> Memory:
        """Saves one memory, or answers the one that says the same. Raises Conflict where its value was rejected."""
        return cast(Memory, await self._answer(calls.save_memory(user_id, content, idempotency_key, **options)))

    def memories(self, user_id: str, **options: Unpack[MemoryListOptions]) -> AsyncIterator[Memory]:
        """The memories, the last made first, through all pages."""
        return cast(AsyncIterator[Memory], self._items(calls.memories(user_id, **options), "memories"))

    async def memory(self, user_id: str, memory_id: str, **narrowing: Unpack[Narrowing]) -> Memory:
        """One memory. Raises NotFound."""
        return cast(Memory, await self._answer(calls.memory(user_id, memory_id, narrowing)))

    async def memory_history(self, user_id: str, memory_id: str, **narrowing: Unpack[Narrowing]) -> list[Json]:
        """Every version of a memory, the oldest first. Raises NotFound."""
        return list((await self._answer(calls.memory(user_id, memory_id, narrowing, "/history")))["history"])

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
        return cast(Memory, await self._answer(calls.patch_memory(user_id, memory_id, changes, version, narrowing)))

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
        call = calls.delete_memory(user_id, memory_id, version, narrowing)
        await self._answer(erasure_calls.rejecting(call) if reject else call)

    async def search(self, user_id: str, query: str | None = None, **options: Unpack[SearchOptions]) -> SearchAnswer:
        """What memory holds about a query or a `vector`, best first."""
        return cast(SearchAnswer, await self._answer(calls.search(user_id, query, **options)))

    async def feedback(self, user_id: str, positive: bool, *, mode: Literal["intent", "other"] = "intent") -> Json:
        """Says whether a search helped; it is counted, and nothing is stored."""
        return await self._answer(calls.feedback(user_id, positive, mode))

    async def context(self, user_id: str, text: str, **options: Unpack[ContextOptions]) -> ContextAnswer:
        """What the next model call should get for this input."""
        return cast(ContextAnswer, await self._answer(calls.context(user_id, text, **options)))

    async def turn(
        self,
        user_id: str,
        text: str,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float = 60.0,
        **options: Unpack[TurnOptions],
    ) -> TurnAnswer:
        """One turn: the input is stored, answered by the model from memory, and the answer stored too.

        Raises UpstreamFailed where the model failed; the input is stored all the same.
        """
        call = calls.turn(user_id, text, idempotency_key, timeout_seconds, **options)
        return cast(TurnAnswer, await self._answer(call))

    async def tool_calls(
        self, text: str, *, idempotency_key: str | None = None, **options: Unpack[ToolCallOptions]
    ) -> Json:
        """The tool calls in a model's text and the text without them; with `execute` also what came of each."""
        return await self._answer(calls.tool_calls(text, idempotency_key, **options))

    async def health(self) -> Json:
        """Whether the process answers."""
        return await self._answer(calls.HEALTH)

    async def ready(self) -> Json:
        """Readiness, part by part; not being ready is an answer, not an error."""
        return await self._answer(calls.READY)

    async def bus(self, event_type: str | None = None, after: str | None = None) -> Json:
        """What was published last, oldest first; for administrators."""
        return await self._answer(calls.bus(event_type, after))

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
        return await self._answer(bridge_calls.signal(kind, source, severity, reason, idempotency_key))

    def audit(
        self, user_id: str, *, target_id: str | None = None, action: str | None = None, limit: int | None = None
    ) -> AsyncIterator[Json]:
        """Every change and refusal of a user's memory, newest first, through all pages; `limit` is a page's."""
        return self._items(bridge_calls.audit(user_id, target_id, action, limit), "entries")

    def ledger(
        self, user_id: str, *, outcome: str | None = None, event_id: str | None = None, limit: int | None = None
    ) -> AsyncIterator[Json]:
        """What the bridge made of events, newest first, through all pages; `limit` is a page's."""
        return self._items(bridge_calls.ledger(user_id, outcome, event_id, limit), "entries")

    async def rules(self) -> Json:
        """The tenant's rules, resolved, with their version; for administrators."""
        return await self._answer(calls.RULES)

    async def put_rules(self, document: Mapping[str, Any], *, version: str | None = None) -> Json:
        """Replaces the tenant's own rules; `{}` removes them. Raises VersionMismatch where `version` is not theirs."""
        return await self._answer(calls.put_rules(document, version))

    def knowledge(self, namespace: str | None = None, *, limit: int | None = None) -> AsyncIterator[Json]:
        """What was taught, by namespace and key, through all pages; `limit` is a page's."""
        return self._items(calls.knowledge(namespace, limit), "entries")

    async def knowledge_entry(self, namespace: str, key: str) -> Json:
        """One entry. Raises NotFound."""
        return await self._answer(calls.knowledge_entry(namespace, key))

    async def put_knowledge(self, namespace: str, key: str, value: Any, *, version: int | None = None) -> Json:
        """Makes or replaces an entry. Raises VersionMismatch where `version` is not its version."""
        return await self._answer(calls.put_knowledge(namespace, key, value, version))

    async def delete_knowledge(self, namespace: str, key: str, *, version: int | None = None) -> None:
        """Deletes an entry. Raises NotFound, and VersionMismatch where `version` is not its version."""
        await self._answer(calls.delete_knowledge(namespace, key, version))

    async def knowledge_prompt(self, store: str | None = None) -> str:
        """What a prompt says of the store, of every store where none is named; may be empty."""
        return str((await self._answer(calls.knowledge_prompt(store)))["prompt"])

    async def resolve(self, text: str, store: str, *, filter: str | None = None, comments: str | None = None) -> Json:
        """The query with learnt terms replaced and the conditions of learnt rules in its filter."""
        return await self._answer(calls.resolve(text, store, filter, comments))

    async def learn(
        self, text: str, store: str | None = None, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> Json:
        """Learns what the text says a word means; the answer has no `tool_call` where it says nothing of the kind."""
        return await self._answer(calls.learn(text, store, dry_run, idempotency_key))

    def summaries(
        self, user_id: str, *, persona_id: str | None = None, limit: int | None = None
    ) -> AsyncIterator[Json]:
        """Summaries, newest first, through all pages; without a persona those of all. `limit` is a page's."""
        return self._items(calls.summaries(user_id, persona_id, limit), "summaries")

    async def summarize(
        self, user_id: str, *, force: bool = False, persona_id: str | None = None, idempotency_key: str | None = None
    ) -> Json:
        """Makes a summary where one is due, or forced. Raises UpstreamFailed where the model fails."""
        return await self._answer(calls.summarize(user_id, persona_id, force, idempotency_key))

    async def goals(self, user_id: str, *, persona_id: str | None = None) -> list[Json]:
        """The goals that the user follows, or has followed."""
        return list((await self._answer(calls.goals(user_id, persona_id)))["goals"])

    async def patch_goal(
        self, user_id: str, goal_id: str, changes: Mapping[str, Any], *, version: int | None = None
    ) -> Json:
        """Changes any of goal, status, check_in_frequency. Raises VersionMismatch where `version` is not its own."""
        return await self._answer(calls.patch_goal(user_id, goal_id, changes, version))

    async def check_in(
        self, user_id: str, goal_id: str, day: date | str, status: str, *, idempotency_key: str | None = None
    ) -> Json:
        """Notes that an occasion was `completed` or `missed`; answers the goal. Raises NotFound."""
        return await self._answer(calls.check_in(user_id, goal_id, day, status, idempotency_key))

    async def export(self, user_id: str, **narrowing: Unpack[Narrowing]) -> AsyncIterator[str]:
        """All records of a user as pages of NDJSON, oldest first; `import_page` takes one."""
        call: Call | None = archive_calls.export(user_id, narrowing)
        while call is not None:
            response = await self._response(call)
            yield lines(call, response)
            call = archive_calls.next_page(call, response.headers.get("Link", ""))

    async def import_page(self, user_id: str, page: str, *, idempotency_key: str | None = None) -> Json:
        """Stores a page of an export as this user's; counts what was created, duplicate, refused, invalid."""
        return await self._answer(archive_calls.import_page(user_id, page, idempotency_key))

    def snapshots(self, *, limit: int | None = None) -> AsyncIterator[Json]:
        """The tenant's snapshots, the newest first, through all pages; for administrators."""
        return self._items(archive_calls.snapshots(limit), "snapshots")

    async def run_job(
        self, kind: str, *, wait: bool = False, idempotency_key: str | None = None, **parameters: str | bool
    ) -> Json:
        """Starts a job (`snapshot`, `restore`, `reindex`, …), as it stands then; for administrators.

        `wait` has a laptop answer when it has ended.
        """
        return await self._answer(archive_calls.run_job(kind, parameters, wait, idempotency_key))

    async def job(self, job_id: str) -> Json:
        """A job as it stands; for administrators. Raises NotFound."""
        return await self._answer(archive_calls.job(job_id))

    def rejections(self, user_id: str, **narrowing: Unpack[Narrowing]) -> AsyncIterator[Json]:
        """The values that were rejected, oldest first: ids, times, scopes, through all pages."""
        return self._items(erasure_calls.rejections(user_id, narrowing), "rejections")

    async def lift_rejection(self, user_id: str, rejection_id: str) -> None:
        """Lets a rejected value in again. Raises NotFound."""
        await self._answer(erasure_calls.lift_rejection(user_id, rejection_id))

    async def erase_user(self, user_id: str) -> str:
        """Erases a user everywhere: from the answer, the erasure's id, on nothing that was said before is read."""
        return str((await self._answer(erasure_calls.erase_user(user_id)))["erasure_id"])

    async def erasure(self, erasure_id: str) -> Json:
        """How far an erasure is. Raises NotFound."""
        return await self._answer(erasure_calls.erasure(erasure_id))

    async def openapi(self) -> Json:
        """The document that describes the surface."""
        return await self._answer(calls.OPENAPI)

    async def _items(self, call: Call, name: str) -> AsyncIterator[Json]:
        page = await self._answer(call)
        for item in page[name]:
            yield item
        while page.get("next_cursor"):
            page = await self._answer(call.after(page["next_cursor"]))
            for item in page[name]:
                yield item

    async def _answer(self, call: Call) -> dict[str, Any]:
        return document(call, await self._response(call))

    async def _response(self, call: Call) -> httpx.Response:
        attempt = 1
        while True:
            response, pause = await self._attempt(call, attempt)
            if response is not None and pause is None:
                return response
            await asyncio.sleep(pause or 0)
            attempt += 1

    async def _attempt(self, call: Call, attempt: int) -> tuple[httpx.Response | None, float | None]:
        """The answer, and how long to wait before the next try; no answer always comes with a wait."""
        try:
            response = await self._http.request(
                call.method,
                call.path,
                params=call.query,
                json=call.body,
                content=call.content,
                headers=call.headers,
                timeout=self._http.timeout if call.timeout_seconds is None else call.timeout_seconds,
            )
        except httpx.TransportError as error:
            pause = self._retries.pause_after_failure(attempt)
            if pause is None:
                raise ConnectionFailed(f"no answer from {self._http.base_url}: {type(error).__name__}") from error
            return None, pause
        return response, self._retries.pause_after(call, response, attempt)
