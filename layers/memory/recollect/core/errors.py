"""The error tree: everything Recollect raises on purpose, in one place.

Foreign errors (boto3, OpenSearch, SQLite, HTTP) are translated once, in the adapter that meets them;
`entrypoints.http.problems` maps the tree to HTTP in one table.

* RecollectError
  x InvalidInput        what was given is wrong, and where
  x NotFound            no such object in this scope
  x Forbidden           the credentials do not reach that far
  x Unauthenticated     no or unknown credentials
  x Conflict            the object's state forbids it
    - InFlight          the same idempotency key is being worked on
    - KeyReused         an idempotency key came back with another body
  x VersionMismatch     someone else changed it first
  x Unavailable         something we depend on is not there now; trying again may help
    - NotReady          a part has not started, or its set-up is missing
    - Throttled         asked to slow down
    - WritesBlocked     it answers, and takes no writes until somebody gives it room
    - OutOfTime         the time of this call is used up
  x UpstreamFailed      a model or another outside service answered wrongly
    - CutAnswer         its answer broke off; trying again may help
    - TurnUnanswered    a turn's input is stored, and there is no answer to it
  x StoredDataError     what is stored cannot be read: corrupt, or of a newer format
  x ConfigurationError  a setting is wrong; names the variable
"""

from collections.abc import Sequence


class RecollectError(Exception):
    """Base of all errors raised on purpose. `args[0]` is a sentence without contents of memories."""


class InvalidInput(RecollectError):
    """Input that breaks a rule; `loc` is the path to it, such as ("body", "events", 0, "content")."""

    def __init__(self, message: str, loc: Sequence[str | int] = ()) -> None:
        super().__init__(message)
        self.loc = tuple(loc)


class NotFound(RecollectError):
    """No such object in this scope; another user's object is not told apart from none."""


class Unauthenticated(RecollectError):
    """No credentials, or unknown ones."""


class Forbidden(RecollectError):
    """The credentials are known, but carry no tenant, or not the right that this needs."""


class Conflict(RecollectError):
    """The state of an object forbids the request."""


class InFlight(Conflict):
    """The same idempotency key is being worked on by another request."""


class KeyReused(RecollectError):
    """An idempotency key came back with another body."""


class VersionMismatch(RecollectError):
    """The object changed since the caller read it."""


class Unavailable(RecollectError):
    """A thing that we depend on does not answer now; the same call may succeed later."""


class NotReady(Unavailable):
    """A part has not started, or its set-up (model, table, index) is missing."""


class Throttled(Unavailable):
    """Asked to slow down; `retry_after_seconds` says for how long, where that is known."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class WritesBlocked(Unavailable):
    """A store answers and refuses every write: its storage is full, or it protects itself; reads go on."""


class OutOfTime(Unavailable):
    """The time of this call is used up."""


class UpstreamFailed(RecollectError):
    """A model or another outside service failed, or answered something that cannot be used."""


class CutAnswer(UpstreamFailed):
    """The answer broke off: the connection ended before all that was announced had come. Another try may help."""


class TurnUnanswered(UpstreamFailed):
    """A turn's input is stored, and there is no answer to it: `cause` says why (K-77). A retry goes on from there."""

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
    """What is stored cannot be read: corrupt, or written by a newer version."""


class ConfigurationError(RecollectError):
    """A setting is missing or wrong; `variable` names it."""

    def __init__(self, variable: str, message: str) -> None:
        super().__init__(f"{variable}: {message}")
        self.variable = variable
