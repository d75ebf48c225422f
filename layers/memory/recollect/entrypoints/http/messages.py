"""One request and one answer as the routes see them, whichever server they came through."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.core.errors import Forbidden
from recollect.core.scope import Scope
from recollect.settings import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request as a server hands it over.

    `path` and `query` are percent-decoded once; header names are in lower case. `claims` are those of a JWT that
    the authorizer in front has checked, None where there is no authorizer. `body` is what was sent, in bytes.
    """

    method: str
    path: str
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]
    body: bytes
    claims: Mapping[str, Any] | None
    remaining_seconds: float
    request_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A checked request: who asks, when, and the values that the route declared."""

    principal: Principal
    now: datetime
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    call: Call

    def scope(self, given: Mapping[str, Any]) -> Scope:
        """The user meant by `user_id`, narrowed as given. Raises Forbidden where the token is another user's."""
        user_id = given["user_id"]
        if self.principal.limited_to_subject and self.principal.subject != user_id:
            raise Forbidden("the credentials are another user's")
        return Scope(self.principal.tenant, user_id, given.get("persona_id"), given.get("household_id"))


@dataclass(frozen=True, slots=True)
class Reply:
    """A status and a body: JSON of a mapping, a ready text, or bytes that are sent as they are.

    `log` holds counts and decisions for the log line; `metrics` are counts that CloudWatch sums up, by name; where a
    name ends in `Ms`, milliseconds.
    """

    status: int
    body: Mapping[str, Any] | str | bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    log: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
