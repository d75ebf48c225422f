"""One request and one answer as the routes see them, whichever server they came through.

A document that is the same for everybody is answered compressed, and not at all to who has it already.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, TypeVar
from urllib.parse import quote

from recollect.core.errors import Forbidden, VersionMismatch
from recollect.core.scope import SHARED_OWNER, Scope
from recollect.entrypoints.http.models import AnswerModel
from recollect.memories.audit import Actor, ActorKind
from recollect.settings import Principal

LOCAL_SECONDS = 30.0
"""What a request has where no server limits its time."""
VERSION = "If-Match"
V = TypeVar("V", int, str)
NO_HEADERS: Mapping[str, str] = {}
_ANY = "*"


def encoded(path: str, safe: str = "/") -> str:
    """A decoded path percent-encoded as botocore does it; whatever text it is."""
    return quote(path, safe=f"{safe}-._~", errors="surrogatepass")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request as a server hands it over.

    `path` and `query` are percent-decoded once; header names are in lower case. `claims` are those of a JWT that
    the authorizer in front has checked, `handed_on` what an authorizer that is a function has found
    (`credentials.HandedOnReader`), each None where there is no such one. `body` is what was sent, in bytes.
    `raw_path` is the path as it was sent, where the server tells it, `base_path` what stood before it: an API's stage.
    `source_address` is the sender's, where an API told it. `is_asked_for` is False for what a page of the
    console in this process asks by itself, which is not counted as the tenant's; nothing that is sent can say so.
    """

    method: str
    path: str
    query: Sequence[tuple[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    claims: Mapping[str, Any] | None = None
    handed_on: Mapping[str, Any] | None = None
    remaining_seconds: float = LOCAL_SECONDS
    request_id: str | None = None
    source_address: str | None = None
    raw_path: str | None = None
    base_path: str = ""
    is_asked_for: bool = True

    @property
    def is_authorized(self) -> bool:
        """Whether an API's authorizer has said who asks."""
        return self.claims is not None or self.handed_on is not None

    @property
    def encoded_path(self) -> str:
        """All of the path percent-encoded; where the server has decoded it, as botocore encodes such a one."""
        return self.base_path + (self.raw_path if self.raw_path is not None else encoded(self.path))


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

        Where `asked` may name a user and does not, it is who owns what is nobody's. Raises Forbidden where the token is
        another user's.
        """
        user_id = self.path["user_id"] if "user_id" in self.path else getattr(asked, "user_id", "")
        user_id = SHARED_OWNER if user_id is None else user_id
        self.check_user(user_id)
        narrowed = (getattr(asked, name, None) for name in ("persona_id", "household_id"))
        return Scope(self.principal.tenant, user_id, *narrowed)

    def check_user(self, user_id: str) -> None:
        """Raises Forbidden where the token is another user's; what is nobody's is no user's."""
        if self.principal.limited_to_subject and (self.principal.subject != user_id or user_id == SHARED_OWNER):
            raise Forbidden("the credentials are another user's")

    @property
    def names_version(self) -> bool:
        """Whether the request has the header `If-Match`."""
        return VERSION.lower() in self.call.headers

    @property
    def expects_version(self) -> bool:
        """Whether the request names versions; `*` is any that is there."""
        return self._named != _ANY

    def accepts(self, version: object) -> bool:
        """Whether the version is among those that the request names. A weak tag never is (RFC 9110)."""
        return self._named == _ANY or _tag(version) in (tag.strip() for tag in self._named.split(","))

    def expected(self, version: V, refusal: str) -> V | None:
        """The version to replace; None for any. Raises VersionMismatch where it is none that the request names."""
        if not self.accepts(version):
            raise VersionMismatch(refusal)
        return version if self.expects_version else None

    @property
    def _named(self) -> str:
        return self.call.headers.get(VERSION.lower(), _ANY).strip()


def etag(version: object) -> dict[str, str]:
    """The header with the ETag of a version."""
    return {"ETag": _tag(version)}


def _tag(version: object) -> str:
    return f'"{version}"'


def user_in(scope: Scope) -> Actor:
    """The user as the one who acts."""
    return Actor(ActorKind.USER, scope.user_id)


@dataclass(frozen=True, slots=True)
class Reply:
    """A status and a body: a model, JSON of a mapping, a ready text, or bytes that are sent as they are.

    `log` holds counts and decisions for the log line; `metrics` are counts that CloudWatch sums up, by name; where a
    name ends in `Ms`, milliseconds. `trace` names what was made by the request (`core.ids.trace_of`).
    """

    status: int
    body: AnswerModel | Mapping[str, Any] | str | bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    log: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    trace: str | None = None


MAX_AGE_SECONDS = 300
_GZIP = "gzip"


@dataclass(frozen=True, slots=True)
class Published:
    """A document, plain and compressed; `etag` is that of both, and so a weak one (RFC 9110, 8.8.3)."""

    text: str
    content_type: str
    gzipped: bytes
    etag: str


def publish(text: str, content_type: str) -> Published:
    """Compresses it, in the same bytes on every run: once a process, when the document is first asked for."""
    import gzip

    plain = text.encode()
    return Published(text, content_type, gzip.compress(plain, mtime=0), f'W/"{sha256(plain).hexdigest()[:32]}"')


def reply_published(request: Request, document: Published, more_headers: Mapping[str, str] = NO_HEADERS) -> Reply:
    """The document in the form that the client takes, or 304 where `If-None-Match` names it."""
    given = request.call.headers
    headers = {
        **more_headers,
        "Cache-Control": f"public, max-age={MAX_AGE_SECONDS}",
        "ETag": document.etag,
        "Vary": "Accept-Encoding",
    }
    if _names(given.get("if-none-match", ""), document.etag):
        return Reply(304, "", headers, document.content_type)
    if takes_gzip(given.get("accept-encoding", "")):
        return Reply(200, document.gzipped, {**headers, "Content-Encoding": _GZIP}, document.content_type)
    return Reply(200, document.text, headers, document.content_type)


def _names(if_none_match: str, etag: str) -> bool:
    """By weak comparison, as the header asks for: `W/` makes no difference."""
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return tags == [_ANY] or etag.removeprefix("W/") in tags


def takes_gzip(accept_encoding: str) -> bool:
    """Whether the header names gzip, or any coding, with a weight above zero; none names nothing."""
    weights = {}
    for part in accept_encoding.lower().split(","):
        coding, _, parameter = part.partition(";")
        weights[coding.strip()] = _weight(parameter)
    return weights.get(_GZIP, weights.get(_ANY, 0.0)) > 0


def _weight(parameter: str) -> float:
    """1 without a weight, 0 for one that cannot be read."""
    name, _, value = parameter.partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
