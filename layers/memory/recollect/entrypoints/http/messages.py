"""One request and one answer as the routes see them, whichever server they came through."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.core.errors import Forbidden
from recollect.core.scope import Scope
from recollect.entrypoints.http.models import AnswerModel
from recollect.memories.audit import Actor, ActorKind
from recollect.settings import Principal

LOCAL_SECONDS = 30.0
"""What a request has where no server limits its time."""


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
    """A checked request: who asks, when, and the models that the route declared; `route` names it."""

    principal: Principal
    now: datetime
    route: str
    path: Mapping[str, str] = field(default_factory=dict)
    query: Any = None
    body: Any = None
    call: Call

    def scope(self, asked: object = None) -> Scope:
        """The user in the path, else the one that `asked` names, narrowed to the persona and household in `asked`.

        Raises Forbidden where the token is another user's.
        """
        user_id = self.path["user_id"] if "user_id" in self.path else getattr(asked, "user_id", "")
        self.check_user(user_id)
        narrowed = (getattr(asked, name, None) for name in ("persona_id", "household_id"))
        return Scope(self.principal.tenant, user_id, *narrowed)

    def check_user(self, user_id: str) -> None:
        """Raises Forbidden where the token is another user's."""
        if self.principal.limited_to_subject and self.principal.subject != user_id:
            raise Forbidden("the credentials are another user's")


def user_in(scope: Scope) -> Actor:
    """The user as the one who acts."""
    return Actor(ActorKind.USER, scope.user_id)


@dataclass(frozen=True, slots=True)
class Reply:
    """A status and a body: a model, JSON of a mapping, a ready text, or bytes that are sent as they are.

    `log` holds counts and decisions for the log line; `metrics` are counts that CloudWatch sums up, by name; where a
    name ends in `Ms`, milliseconds.
    """

    status: int
    body: AnswerModel | Mapping[str, Any] | str | bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    log: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
