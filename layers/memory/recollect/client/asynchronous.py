"""The client for asyncio: the same names, awaited; lists are asynchronous iterators."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Self, Unpack, cast

import httpx

from recollect.client import calls
from recollect.client.answers import document
from recollect.client.calls import Call
from recollect.client.connection import client_options
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
    Narrowing,
    NewEvent,
    SearchAnswer,
    SearchOptions,
)


class AsyncRecollect:
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

    def conversations(self, user_id: str, *, limit: int | None = None) -> AsyncIterator[Json]:
        """The conversations, the last begun first, through all pages; `limit` is a page's."""
        return self._items(calls.conversations(user_id, limit), "conversations")

    async def search(self, user_id: str, query: str | None = None, **options: Unpack[SearchOptions]) -> SearchAnswer:
        """What memory holds about a query or a `vector`, best first."""
        return cast(SearchAnswer, await self._answer(calls.search(user_id, query, **options)))

    async def context(self, user_id: str, text: str, **options: Unpack[ContextOptions]) -> ContextAnswer:
        """What the next model call should get for this input."""
        return cast(ContextAnswer, await self._answer(calls.context(user_id, text, **options)))

    async def health(self) -> Json:
        """Whether the process answers."""
        return await self._answer(calls.HEALTH)

    async def ready(self) -> Json:
        """Readiness, part by part; not being ready is an answer, not an error."""
        return await self._answer(calls.READY)

    async def bus(self, event_type: str | None = None, after: str | None = None) -> Json:
        """What was published last, oldest first; for administrators."""
        return await self._answer(calls.bus(event_type, after))

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
        attempt = 1
        while True:
            response, pause = await self._attempt(call, attempt)
            if response is not None and pause is None:
                return document(call, response)
            await asyncio.sleep(pause or 0)
            attempt += 1

    async def _attempt(self, call: Call, attempt: int) -> tuple[httpx.Response | None, float | None]:
        """The answer, and how long to wait before the next try; no answer always comes with a wait."""
        try:
            response = await self._http.request(
                call.method, call.path, params=call.query, json=call.body, headers=call.headers
            )
        except httpx.TransportError as error:
            pause = self._retries.pause_after_failure(attempt)
            if pause is None:
                raise ConnectionFailed(f"no answer from {self._http.base_url}: {type(error).__name__}") from error
            return None, pause
        return response, self._retries.pause_after(call, response, attempt)
