"""What all of AgentCore's operations have in common: errors, names, pages, and where its things are kept as items.

Everything is an item of the tenant below the label `agentcore`. What belongs to an actor is owned by our user of that
name, so that erasing the user reaches it.

| namespace                                     | key            | value                                          |
|-----------------------------------------------|----------------|------------------------------------------------|
| `agentcore`                                   | memory id      | the memory as it was described (`memories`)    |
| `agentcore`, `names`                          | its name       | its id                                         |
| `agentcore`, memory, `actors`                 | hash of it     | the actor                                      |
| `agentcore`, memory, `sessions`, actor        | session        | the session                                    |
| `agentcore`, memory, `events`, actor, session | time and id    | an event (`events`)                            |
| `agentcore`, memory, `branches`, the same two | its name       | where in which branch it begins                |
| `agentcore`, memory, `parts`, event           | number         | a part of a large payload                      |
| `agentcore`, memory, `records`, its namespace | record id      | a record that was put there (`records`)        |
| `agentcore`, memory, `places`                 | record id      | in which namespace under which key it is       |
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.app import App
from recollect.core.errors import (
    Conflict,
    Forbidden,
    InFlight,
    InvalidInput,
    NotFound,
    RecollectError,
    VersionMismatch,
)
from recollect.core.ids import id_fault
from recollect.core.items import ALL_PAGES, pages
from recollect.core.scope import SHARED_OWNER, Scope
from recollect.entrypoints.http.cursors import Listing, open_cursor, seal
from recollect.entrypoints.http.messages import Reply, Request, encoded
from recollect.entrypoints.http.models import json_text
from recollect.entrypoints.http.problems import Declined, reply_to
from recollect.entrypoints.http.routing import Wire
from recollect.items.item import ItemListing, ItemPlace, ListedPage, Namespace, NamespacedItem
from recollect.items.use_cases import Get, Put

ROOT = "agentcore"
EVENT_BYTES = 11_000_000
"""Of a request or an answer on a server of one's own: an event has at most 10 MB, as AgentCore's."""
STACK_EVENT_BYTES = 4_400_000
"""Of a request to a stack: the event is its answer too, which Lambda sends in base64 where that is shorter."""
_ACTORS = tuple(
    re.compile(rf"(/memories/[^/]+/actor/)(.+)(/sessions{behind})") for behind in ("/[^/]+/events/[^/]+", "/[^/]+", "")
)
"""The paths that name an actor: of an event, of a session, of all sessions."""
_AT_ONCE = 25
_PLAIN = re.compile("[A-Za-z0-9_-]{1,64}")
_BY_STATUS = {
    400: "ValidationException",
    401: "AccessDeniedException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    405: "ValidationException",
    413: "ValidationException",
    422: "ValidationException",
    429: "ThrottledException",
}
_STATUS = {"ValidationException": 400, "AccessDeniedException": 403, "RetryableConflictException": 409}


def refusal(error: Exception) -> Reply:
    """The error as botocore reads it: its type in a header, a sentence in the body."""
    told = reply_to(error)
    kind = _BY_STATUS.get(told.status, "ServiceException")
    if isinstance(error, InFlight | VersionMismatch):
        kind = "RetryableConflictException"
    elif isinstance(error, Conflict):
        kind = "ConflictException"
    status = error.kind.status if isinstance(error, Declined) else _STATUS.get(kind, told.status)
    headers = {name: value for name, value in told.headers.items() if name != "WWW-Authenticate"}
    return Reply(status, json_text({"message": _sentence(told)}), {**headers, "x-amzn-ErrorType": kind}, log=told.log)


def code_of(error: RecollectError) -> int:
    """The status of an error of one record among several."""
    return refusal(error).status


def _sentence(told: Reply) -> str:
    assert isinstance(told.body, Mapping)
    places = (f"{'.'.join(map(str, one['loc']))}: {one['message']}" for one in told.body["errors"])
    return "; ".join(places) or str(told.body["detail"])


WIRE = Wire(
    refusal,
    encoded_ids=True,
    body_bytes=EVENT_BYTES,
    answer_bytes=EVENT_BYTES,
    stack_body_bytes=STACK_EVENT_BYTES,
)


def sent_paths(path: str) -> list[str]:
    """As which botocore may have sent a path that an HTTP API has decoded: of all names only an actor's has slashes.

    One, or several where an actor has `sessions` as a part of the name; to which of them the signature fits was sent.
    """
    found = (actors.fullmatch(path) for actors in _ACTORS)
    guesses = [_with_actor(*one.groups()) for one in found if one is not None]
    return list(dict.fromkeys(guesses)) or [encoded(path)]


def _with_actor(before: str, actor: str, after: str) -> str:
    return f"{encoded(before)}{encoded(actor, safe='')}{encoded(after)}"


def label(name: str) -> str:
    """A name as a label: itself where it can be one, else a hash."""
    return name if _PLAIN.fullmatch(name) else f"~{_digest(name)}"


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def short_digest(name: str) -> str:
    """Of an actor, where only so much fits: 13 hex digits."""
    return _digest(name)[:13]


def conversation_of(session: str) -> str:
    """Our conversation of a session: of that name where it is an id of ours."""
    return session if id_fault(session) is None else label(session)


def user_of(actor: str) -> str:
    """Our user whose data an actor's are: of that name where it is an id of ours."""
    return actor if id_fault(actor) is None else f"actor:{_digest(actor)}"


def epoch(at: datetime) -> float:
    """As botocore reads a time."""
    return at.timestamp()


@dataclass(frozen=True, slots=True)
class Kept:
    """The items of AgentCore's memories of one tenant, as the credentials of a request reach them.

    `reader` is the user whose credentials they are, who is nobody where these name the owner of what is nobody's.
    """

    app: App
    tenant: str
    now: datetime
    reader: str | None

    @classmethod
    def of(cls, app: App, request: Request) -> "Kept":
        """Those that a request is about."""
        principal = request.principal
        subject = "" if principal.subject in (None, SHARED_OWNER) else principal.subject
        return cls(app, principal.tenant, request.now, subject if principal.limited_to_subject else None)

    def check_operator(self) -> None:
        """Raises Forbidden for credentials of one user."""
        if self.reader is not None:
            raise Forbidden("the credentials are one user's")

    def scope(self, actor: str) -> Scope:
        """The user of an actor. Raises Forbidden for credentials of another."""
        user = user_of(actor)
        if self.reader not in (None, user):
            raise Forbidden("the credentials are another user's")
        return Scope(self.tenant, user)

    def get(self, namespace: Namespace, key: str, owner: str | None = None) -> NamespacedItem | None:
        """The item there; None for one that another user owns, who has put it there past us."""
        item = self.app.items.get(self.tenant, Get(ItemPlace(namespace, key), refresh=False), self.now)
        return item if item is not None and item.owner == owner else None

    def found(self, namespace: Namespace, key: str, what: str, owner: str | None = None) -> NamespacedItem:
        """The same. Raises NotFound."""
        item = self.get(namespace, key, owner)
        if item is None:
            raise NotFound(f"there is no such {what}")
        return item

    def page(
        self, namespace: Namespace, limit: int, after: str | None, *, descending: bool = False
    ) -> tuple[tuple[NamespacedItem, ...], str | None]:
        """Items of a namespace, whoever owns them, and where the next page begins."""
        listed = self._listed(namespace, limit, after, descending)
        return listed.items, listed.more

    def every(
        self, namespace: Namespace, after: str | None = None, *, descending: bool = False
    ) -> Iterator[NamespacedItem]:
        """All items of a namespace from `after` on; whoever reads them may delete them."""
        for listed in pages(lambda place: self._listed(namespace, _AT_ONCE, place, descending), ALL_PAGES, after):
            yield from listed.items

    def _listed(self, namespace: Namespace, limit: int, after: str | None, descending: bool) -> ListedPage:
        wanted = ItemListing(namespace=namespace, limit=limit, after=after, descending=descending)
        return self.app.items.page(self.tenant, wanted, self.now)

    def put(self, *puts: Put) -> None:
        """Each by itself, side by side."""
        self.app.items.batch(self.tenant, puts, self.now)

    def delete(self, *places: ItemPlace) -> None:
        """The same for deletions."""
        self.put(*(Put(place=place, value=None) for place in places))


def document(place: ItemPlace, value: Mapping[str, Any], **more: Any) -> Put:
    """A put without vectors."""
    return Put(place=place, value=value, **{"index": False, **more})


def opened(kept: Kept, name: str, token: str | None, parts: int = 1) -> list[Any]:
    """Where a listing goes on; Nones at its beginning. Raises InvalidInput for a token of another one."""
    if token is None:
        return [None] * parts
    try:
        return open_cursor(token, _listing(kept, name), parts)
    except InvalidInput:
        raise InvalidInput("is no token of this list", ("nextToken",)) from None


def sealed(kept: Kept, name: str, *place: str | None) -> dict[str, str]:
    """The token of what follows; nothing where nothing does."""
    return {"nextToken": seal(list(place), _listing(kept, name))} if any(one is not None for one in place) else {}


def _listing(kept: Kept, name: str) -> Listing:
    settings = kept.app.settings
    return Listing(f"{settings.engines}:{settings.table}", f"agentcore {name}", Scope(kept.tenant, kept.reader or ""))
