"""Errors as `application/problem+json`: one table from the error tree to HTTP."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from recollect.core import errors
from recollect.core.errors import InvalidInput
from recollect.entrypoints.http.messages import Reply
from recollect.entrypoints.http.models import FAULT, NotJson
from recollect.timeline.ingest import FieldError

PROBLEM_TYPE = "application/problem+json"
_RETRY_SECONDS = 1
_NAMED_AT_MOST = 20
_UNKNOWN = "extra_forbidden"
_REQUIRED = "is required"
_SENTENCES = {
    "missing": _REQUIRED,
    _UNKNOWN: "unknown field",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "finite_number": "must be a finite number",
    "float_type": "must be a number",
    "greater_than_equal": "must be at least {ge}",
    "int_type": "must be a whole number",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "string_type": "must be text",
    "too_long": "must have at most {max_length} entries",
    "too_short": "must have at least {min_length} entries",
    FAULT: "{message}",
}
"""What a client is told of each type of pydantic's errors, with the bounds in its context."""

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: status, the end of its `type`, its title, and whether the error's own sentence is told."""

    status: int
    name: str
    title: str
    told: bool = True

    @property
    def type(self) -> str:
        """The URN that names the kind."""
        return f"urn:recollect:problem:{self.name}"


UNEXPECTED = Kind(500, "unexpected", "Something went wrong here", told=False)
NOT_JSON = Kind(400, "not-json", "The body is not JSON")
NO_ROUTE = Kind(404, "no-such-route", "There is no such route")
WRONG_METHOD = Kind(405, "method-not-allowed", "The route does not know this method")
TOO_LARGE = Kind(413, "too-large", "The body is too large")
NEEDS_VERSION = Kind(428, "needs-version", "The request must say which version it changes")
INVALID = Kind(422, "invalid", "The input is invalid")

BY_ERROR: Mapping[type[errors.RecollectError], Kind] = {
    errors.RecollectError: UNEXPECTED,
    errors.InvalidInput: INVALID,
    errors.NotFound: Kind(404, "not-found", "There is no such object"),
    errors.Unauthenticated: Kind(401, "unauthenticated", "Credentials are missing or unknown"),
    errors.Forbidden: Kind(403, "forbidden", "The credentials do not reach that far"),
    errors.Conflict: Kind(409, "conflict", "The object's state forbids it"),
    errors.InFlight: Kind(409, "in-flight", "The same request is being worked on"),
    errors.KeyReused: Kind(422, "idempotency-key-reused", "The idempotency key came with another body"),
    errors.VersionMismatch: Kind(412, "version-mismatch", "The object has changed"),
    errors.Unavailable: Kind(503, "unavailable", "A part of the service does not answer now", told=False),
    errors.WritesBlocked: Kind(503, "writes-blocked", "A part of the service takes no writes now", told=False),
    errors.NotReady: Kind(503, "not-ready", "The service is not ready", told=False),
    errors.Throttled: Kind(429, "throttled", "Too many requests", told=False),
    errors.OutOfTime: Kind(504, "out-of-time", "The time of the request was used up"),
    errors.UpstreamFailed: Kind(502, "upstream-failed", "A model or another outside service failed", told=False),
    errors.CutAnswer: Kind(502, "answer-cut", "The answer of a model or another outside service broke off", told=False),
    errors.TurnUnanswered: Kind(502, "turn-unanswered", "There is no answer to the turn"),
    errors.StoredDataError: Kind(500, "stored-data", "What is stored cannot be read", told=False),
    errors.ConfigurationError: Kind(500, "configuration", "The service is not set up rightly", told=False),
}
"""Every class of the tree has an entry of its own; a test walks the tree."""


class Declined(Exception):
    """HTTP itself forbids the request: no such route, another method, too large a body."""

    def __init__(self, kind: Kind, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.headers = kind, detail, headers or {}


class Refused(Exception):
    """Values break rules; each fault has its path, and a message without contents."""

    def __init__(self, *faults: FieldError) -> None:
        super().__init__()
        self.faults = faults


def read_as(model: type[Model], value: Any, *loc: str) -> Model:
    """The value as the model reads it. Raises Refused, its paths beginning with `loc`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = faults_of(error)
    raise Refused(*(FieldError((*loc, *fault.loc), fault.message) for fault in faults))


def faults_of(error: ValidationError) -> tuple[FieldError, ...]:
    """At most 20 of what pydantic found, unknown fields first."""
    found = error.errors(include_url=False, include_input=False)
    found.sort(key=lambda one: one["type"] != _UNKNOWN)
    return tuple(FieldError(one["loc"], _sentence(one)) for one in found[:_NAMED_AT_MOST])


def _sentence(found: Mapping[str, Any]) -> str:
    bounds = {name: f"{one:g}" if isinstance(one, float) else one for name, one in found.get("ctx", {}).items()}
    return _SENTENCES.get(found["type"], "is invalid").format(**bounds)


@contextmanager
def located(place_of: Callable[[str], tuple[str, ...] | None]) -> Iterator[None]:
    """Says of what the domain refuses where in the request it stood.

    `place_of` gives the path before the error's own, by the first part of that (empty: none); None leaves it as it is.
    """
    try:
        yield
    except InvalidInput as error:
        place = place_of(str(error.loc[0]) if error.loc else "")
        if place is None:
            raise
        raise InvalidInput(str(error), (*place, *error.loc)) from None


def kind_of(error: Exception) -> Kind:
    """The kind of an error: that of the nearest class in the table; of anything else `unexpected`."""
    known = (BY_ERROR[base] for base in type(error).__mro__ if base in BY_ERROR)
    return next(known, UNEXPECTED)


def problem(
    kind: Kind,
    detail: str,
    faults: Sequence[FieldError] = (),
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Reply:
    """The answer of one problem. `detail` and the faults' messages hold nothing of what was sent."""
    body = {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        "errors": fault_list(faults),
        **(more or {}),
    }
    return Reply(kind.status, body, headers or {}, PROBLEM_TYPE, {"problem": kind.name})


def fault_list(faults: Sequence[FieldError]) -> list[dict[str, Any]]:
    """The `errors` of a problem or of an invalid event."""
    return [{"loc": list(fault.loc), "message": fault.message} for fault in faults]


def reply_to(error: Exception) -> Reply:
    """What a client is told of an error: of an unexpected one nothing but that it happened (H-26)."""
    if isinstance(error, Declined):
        return problem(error.kind, error.detail, headers=error.headers)
    if isinstance(error, Refused):
        return problem(INVALID, _summary(error.faults), error.faults)
    if isinstance(error, NotJson):
        return problem(NOT_JSON, str(error), [FieldError(("body",), str(error))])
    if isinstance(error, errors.TurnUnanswered) and error.cause is not None:
        return _unanswered(error, error.cause)
    kind = kind_of(error)
    detail = str(error) if kind.told else f"{kind.title}."
    return problem(kind, detail, _located(error), _headers_of(error, kind))


def _unanswered(error: errors.TurnUnanswered, cause: Exception) -> Reply:
    """The problem that the cause is, naming what is stored all the same (K-77)."""
    kind = kind_of(cause)
    stored = {"conversation_id": error.conversation_id, "input_event_id": error.input_event_id}
    return problem(kind, str(error), _located(cause), _headers_of(cause, kind), stored)


def _located(error: Exception) -> list[FieldError]:
    return [FieldError(error.loc, str(error))] if isinstance(error, errors.InvalidInput) and error.loc else []


def _headers_of(error: Exception, kind: Kind) -> dict[str, str]:
    if kind.status == 401:
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, errors.Throttled) and error.retry_after_seconds:
        return {"Retry-After": str(max(_RETRY_SECONDS, math.ceil(error.retry_after_seconds)))}
    waiting = isinstance(error, errors.Unavailable | errors.InFlight)
    return {"Retry-After": str(_RETRY_SECONDS)} if waiting else {}


def _summary(faults: Sequence[FieldError]) -> str:
    """How many values are invalid, and which fields are missing: those names are ours, and nothing of what was sent."""
    count = "1 value is invalid" if len(faults) == 1 else f"{len(faults)} values are invalid"
    missing = dict.fromkeys(str(fault.loc[-1]) for fault in faults if fault.loc and fault.message == _REQUIRED)
    return f"{count}; required: {', '.join(missing)}" if missing else count
