"""The Python client, sync and async: over HTTP, or with `local` in this process through the same requests.

with Recollect("http://127.0.0.1:8700") as memory:
    memory.add("I live in Porto", user_id="ana")
    print(memory.context("Where do I live?", user_id="ana")["prompt"])
"""

from recollect.client.async_recollect import AsyncRecollect
from recollect.client.errors import (
    BadRequest,
    CannotOpen,
    Conflict,
    ConnectionFailed,
    Forbidden,
    ForeignSession,
    KeyReused,
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
from recollect.client.recollect import Recollect
from recollect.client.transport import ApiKey, AsyncApiKey, RetryPolicy

__all__ = [
    "ApiKey",
    "AsyncApiKey",
    "AsyncRecollect",
    "BadRequest",
    "CannotOpen",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "ForeignSession",
    "KeyReused",
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
