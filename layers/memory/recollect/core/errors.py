"""Every error that Recollect raises on purpose, in one tree.

The adapter that meets a foreign error (boto3, OpenSearch, SQLite, HTTP) translates it; `entrypoints.http.problems`
maps the tree to HTTP statuses.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any


class RecollectError(Exception):
    """Base of all errors raised on purpose. `args[0]` is a sentence without contents of memories."""


class InvalidInput(RecollectError):
    """Input that breaks a rule; `loc` is the path to it, such as ("body", "events", 0, "content")."""

    def __init__(self, message: str, loc: Sequence[str | int] = ()) -> None:
        super().__init__(message)
        self.loc = tuple(loc)


class NotFound(RecollectError):
    """No such object in this scope; another user's object answers the same."""


class Unauthenticated(RecollectError):
    """No credentials, or unknown ones."""


class Forbidden(RecollectError):
    """The credentials are known, but carry no tenant, or not the right that this needs."""


class Conflict(RecollectError):
    """The state of an object forbids the request."""


class InFlight(Conflict):
    """Another request with the same idempotency key is still running."""


class KeyReused(RecollectError):
    """An idempotency key came back with another body. `first` is what the first request was answered, if it ended."""

    def __init__(self, message: str, first: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.first = first


class VersionMismatch(RecollectError):
    """The object changed since the caller read it. `is_named`: they named the version, so no further try is taken."""

    def __init__(self, message: str, *, is_named: bool = False) -> None:
        super().__init__(message)
        self.is_named = is_named


class Unavailable(RecollectError):
    """A dependency does not answer now; the same call may succeed later."""


class NotReady(Unavailable):
    """A part has not started, or its set-up (model, table, index) is missing."""


class Throttled(Unavailable):
    """A dependency asks to slow down; `retry_after_seconds` where it says for how long."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class WritesBlocked(Unavailable):
    """A store refuses every write (its storage is full, or it protects itself); reads still work."""


class OutOfTime(Unavailable):
    """The time of this call is used up."""


class UpstreamFailed(RecollectError):
    """A model or another outside service failed, or answered something that cannot be used."""


class CutAnswer(UpstreamFailed):
    """The connection ended before the whole answer had come. Another try may succeed."""


class TurnUnanswered(UpstreamFailed):
    """A turn's input is stored, but no answer to it: `cause` says why (K-77). A retry continues from there."""

    def __init__(
        self,
        message: str,
        cause: RecollectError | None = None,
        conversation_id: str | None = None,
        input_event_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.cause = cause
        self.conversation_id = conversation_id
        self.input_event_id = input_event_id


class StoredDataError(RecollectError):
    """A stored record cannot be read: it is corrupt, or a newer version wrote it."""


class ConfigurationError(RecollectError):
    """A setting is missing or wrong; `variable` names it."""

    def __init__(self, variable: str, message: str) -> None:
        super().__init__(f"{variable}: {message}")
        self.variable = variable


INSTALL_BASE = "pip install recollect"
"""Installs what runs a memory in this process, where `pip install --no-deps` left it out."""
INSTALL = "pip install 'recollect[local]'"
"""Installs everything that a laptop can use."""
INSTALL_AWS = "pip install 'recollect[aws]'"
"""Installs what calls AWS: its engines, and Bedrock."""
INSTALL_VECTORS = "pip install 'recollect[vectors]'"
"""Installs what computes with vectors that are made elsewhere."""
ENGINE_PACKAGES = ("certifi", "pydantic", "rich", "typer", "urllib3")
"""What runs a memory in this process, and the commands, of what every installation brings. The client does without."""


def require_engine(purpose: str) -> None:
    """Raises NotReady, with the command that installs it, where one of `ENGINE_PACKAGES` is missing."""
    for package in ENGINE_PACKAGES:
        require_package(package, purpose, INSTALL_BASE)


def require_package(package: str, purpose: str, install: str = INSTALL) -> None:
    """Raises NotReady, with the command that installs it, unless the package is installed; imports nothing."""
    if find_spec(package) is None:
        raise missing_package(package, purpose, install)


def missing_package(package: str | None, purpose: str, install: str = INSTALL) -> NotReady:
    """The error that names what needs the package, and the command that installs it."""
    return NotReady(f"{purpose} needs the package {package}: {install}")
