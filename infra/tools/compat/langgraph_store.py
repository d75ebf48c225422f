"""A pytest plugin: `RecollectStore` in the place of LangGraph's in-memory and SQLite stores, over a running server.

Each store that a test opens is a tenant of its own, as each in-memory database is; a file opened again is the same one.
COMPAT_URL is the server, COMPAT_KEYS how many keys `compat-0`, `compat-1`, … it knows, each of a tenant of that name.
"""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import langgraph.store.memory
import langgraph.store.sqlite

from recollect.integrations.langgraph import AsyncRecollectStore, RecollectStore

_URL = os.environ["COMPAT_URL"]
_KEYS = int(os.environ["COMPAT_KEYS"])
_numbers = itertools.count()
_of_file: dict[str, str] = {}


def _key(connection: str = ":memory:") -> str:
    if connection in _of_file:
        return _of_file[connection]
    number = next(_numbers)
    if number >= _KEYS:
        raise RuntimeError("more stores than the server knows keys")
    if connection != ":memory:":
        _of_file[connection] = f"compat-{number}"
    return f"compat-{number}"


def _options(index: Any) -> dict[str, Any]:
    """SQLite's configuration calls the fields `text_fields`."""
    fields = {"fields": index["text_fields"]} if index and index.get("text_fields") else {}
    return {"index": {**index, **fields} if index else None}


class InMemoryStore(RecollectStore):
    """As LangGraph's."""

    def __init__(self, *, index: Any = None) -> None:
        super().__init__(_URL, api_key=_key(), **_options(index))


class SqliteStore(RecollectStore):
    """As LangGraph's."""

    @classmethod
    @contextmanager
    def from_conn_string(cls, connection: str, *, index: Any = None, ttl: Any = None) -> Iterator["SqliteStore"]:
        store = cls(_URL, api_key=_key(connection), ttl=ttl, **_options(index))
        try:
            yield store
        finally:
            store.close()

    def setup(self) -> None:
        """The server has done it."""


class AsyncSqliteStore(AsyncRecollectStore):
    """As LangGraph's."""

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, connection: str, *, index: Any = None, ttl: Any = None
    ) -> AsyncIterator["AsyncSqliteStore"]:
        store = cls(_URL, api_key=_key(connection), ttl=ttl, **_options(index))
        try:
            yield store
        finally:
            await asyncio.to_thread(store.close)

    async def setup(self) -> None:
        """The server has done it."""


for _module, _store in (
    (langgraph.store.memory, InMemoryStore),
    (langgraph.store.sqlite, SqliteStore),
    (langgraph.store.sqlite, AsyncSqliteStore),
):
    setattr(_module, _store.__name__, _store)
