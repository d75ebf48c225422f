"""What the client raises: one tree, by the status of the response.

* RecollectClientError
  x CannotOpen          no memory in this process
  x ConnectionFailed    no response
  x ForeignSession      the session is another framework's
  x RecollectApiError   an error response: its status and its problem document
    - BadRequest 400, Unauthenticated 401, Forbidden 403, NotFound 404, Conflict 409, VersionMismatch 412,
      Unprocessable 413, 422 and 428 (KeyReused where an idempotency key came with another body), Throttled 429,
      UpstreamFailed 502, Unavailable 503 and 504
"""

from collections.abc import Mapping, Sequence
from typing import Any

_TOLD = 5


class RecollectClientError(Exception):
    """Base of all errors of the client."""


class CannotOpen(RecollectClientError):
    """`local` found a package missing, a setting wrong, or a folder that it cannot use; the text says which."""


class ConnectionFailed(RecollectClientError):
    """No response: the server is unreachable, or too slow. `__cause__` is httpx's error."""


class ForeignSession(RecollectClientError):
    """A session under this id has what another framework wrote; the text names both. Nothing was read or changed."""


class RecollectApiError(RecollectClientError):
    """The server responded with an error; its text names the first faults of the input.

    `status` is HTTP's; `problem` the body (`type`, `title`, `detail`, `errors` with `loc`), empty without one;
    `retry_after_seconds` the server's `Retry-After`, if any.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after_seconds: float | None = None) -> None:
        detail = problem.get("detail") or problem.get("title") or problem.get("message") or "no problem document"
        self.status = status
        self.problem = dict(problem)
        super().__init__(f"{status}: {detail}{_told(self.errors)}")
        self.retry_after_seconds = retry_after_seconds

    @property
    def errors(self) -> list[Mapping[str, Any]]:
        """The faults of the input, each with `loc` and `message`."""
        listed = self.problem.get("errors")
        return list(listed) if isinstance(listed, list) else []

    @property
    def results(self) -> list[Mapping[str, Any]]:
        """Of `add` and `add_events`: one of each event that was invalid, or of those that the first request stored."""
        listed = self.problem.get("results")
        return list(listed) if isinstance(listed, list) else []


class BadRequest(RecollectApiError):
    """400: the body is no JSON."""


class Unauthenticated(RecollectApiError):
    """401: no credentials, or unknown ones."""


class Forbidden(RecollectApiError):
    """403: the credentials do not allow it."""


class NotFound(RecollectApiError):
    """404: no such object in this tenant and user."""


class Conflict(RecollectApiError):
    """409: the object's state forbids it, or the same idempotency key is in flight."""


class VersionMismatch(RecollectApiError):
    """412: the object has changed since it was read."""


class Unprocessable(RecollectApiError):
    """413, 422, 428: the input is wrong; `errors` says where."""


class KeyReused(Unprocessable):
    """422: the idempotency key came with another body before.

    What that one stored stands, as `results` of `add` and `add_events` name it; none where it did not end, or is gone.
    """


class Throttled(RecollectApiError):
    """429: too many requests, also after the retries."""


class UpstreamFailed(RecollectApiError):
    """502: a model or another outside service failed."""


class Unavailable(RecollectApiError):
    """503, 504: not ready, or out of time."""


def _told(faults: Sequence[Any]) -> str:
    """What the first faults say of which part; empty without any."""
    told = [f"{_path(one.get('loc'))}{one.get('message')}" for one in faults if isinstance(one, Mapping)]
    more = f"; {len(told) - _TOLD} more" if len(told) > _TOLD else ""
    return f" ({'; '.join(told[:_TOLD])}{more})" if told else ""


def _path(loc: object) -> str:
    return f"{'.'.join(map(str, loc))}: " if isinstance(loc, list) and loc else ""


_BY_STATUS: Mapping[int, type[RecollectApiError]] = {
    400: BadRequest,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: VersionMismatch,
    413: Unprocessable,
    422: Unprocessable,
    428: Unprocessable,
    429: Throttled,
    502: UpstreamFailed,
    503: Unavailable,
    504: Unavailable,
}

_BY_TYPE: Mapping[str, type[RecollectApiError]] = {"urn:recollect:problem:idempotency-key-reused": KeyReused}


def error_of(status: int, problem: Mapping[str, Any], retry_after_seconds: float | None) -> RecollectApiError:
    """The error of a status, or of a kind of problem."""
    known = _BY_TYPE.get(str(problem.get("type"))) or _BY_STATUS.get(status, RecollectApiError)
    return known(status, problem, retry_after_seconds)
