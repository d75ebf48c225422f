"""Long-term memory for conversational agents.

    from recollect import Recollect

    memory = Recollect.local("~/.recollect")  # or Recollect("http://127.0.0.1:8700")
    memory.add("I moved to Lyon", user_id="anna")
    memory.search("Where do I live?", user_id="anna")

The client is imported with the first of its names: functions and `import recollect` do without it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.client import (
        ApiKey,
        AsyncApiKey,
        AsyncRecollect,
        BadRequest,
        CannotOpen,
        Conflict,
        ConnectionFailed,
        Forbidden,
        ForeignSession,
        KeyReused,
        NotFound,
        Recollect,
        RecollectApiError,
        RecollectClientError,
        RetryPolicy,
        Throttled,
        Unauthenticated,
        Unavailable,
        Unprocessable,
        UpstreamFailed,
        VersionMismatch,
    )

__version__ = "0.1.0"

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
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("recollect.client"), name)
