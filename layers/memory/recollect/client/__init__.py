"""A small Python client of the HTTP surface, sync and async over httpx; it knows nothing of the rest of the package.

with Recollect("http://127.0.0.1:8700") as memory:
    memory.add_events("ana", [{"content": "I live in Porto", "timestamp": "2025-05-01T09:00:00Z"}])
    print(memory.context("ana", "Where do I live?")["prompt"])
"""

from recollect.client.asynchronous import AsyncRecollect
from recollect.client.errors import (
    BadRequest,
    Conflict,
    ConnectionFailed,
    Forbidden,
    NotFound,
    RecollectApiError,
    RecollectClientError,
    Throttled,
    Unauthenticated,
    Unavailable,
    Unprocessable,
    UpstreamFailed,
    VersionMismatch,
)
from recollect.client.synchronous import Recollect
from recollect.client.transport import RetryPolicy

__all__ = [
    "AsyncRecollect",
    "BadRequest",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "NotFound",
    "Recollect",
    "RecollectApiError",
    "RecollectClientError",
    "RetryPolicy",
    "Throttled",
    "Unauthenticated",
    "Unavailable",
    "Unprocessable",
    "UpstreamFailed",
    "VersionMismatch",
]
