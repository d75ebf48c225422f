"""What stands before the ASGI application on a laptop: whose request it is, how large, and whether it can be read.

A web page in the user's browser must not read the user's memory: without keys only requests whose Host and Origin
are this server's own pass. Bodies are cut off while they stream in, and what is no UTF-8 is refused.
"""

from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, MutableMapping
from typing import Any
from urllib.parse import quote, urlsplit

from recollect.core.errors import Forbidden
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.dispatch import Answer, rendered
from recollect.entrypoints.http.messages import Call, Reply
from recollect.entrypoints.http.models import NotJson, utf8
from recollect.entrypoints.http.problems import TOO_LARGE, Declined, reply_to
from recollect.entrypoints.http.routing import BODY_BYTES

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

OWN_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_HTTP_PORT = 80
_ASCII_QUERY = "".join(map(chr, range(0x21, 0x7F)))
_DIGITS_OF_A_LENGTH = 18


class Gate:
    """An ASGI application around another. `own_names`: the hosts it answers to; None: any, since keys guard it.

    `origins` are those of other sites whose pages may call it. `longest` says how many bytes a body may have by the
    first part of the path, where that is more than ours; below those of `files` it need not be text.
    """

    def __init__(
        self,
        inner: Application,
        log: AccessLog,
        own_names: frozenset[str] | None,
        origins: Iterable[str] = (),
        longest: Mapping[str, int] | None = None,
        files: Container[str] = (),
    ) -> None:
        self._inner = inner
        self._log = log
        self._own_names = own_names
        self._origins = frozenset(origins)
        self._longest = longest or {}
        self._files = files

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Passes a request on with its whole body, in a form that decodes as UTF-8, or answers it with a problem."""
        if scope["type"] != "http":
            return
        try:
            self._check_sender(scope)
            first = scope["path"].lstrip("/").partition("/")[0]
            body = await _read_body(scope["headers"], receive, self._longest.get(first, BODY_BYTES))
            if first not in self._files:
                utf8(body)
        except (Forbidden, Declined, NotJson) as error:
            await self._refuse(scope, send, error)
            return
        await self._inner(_readable(scope), replayed(body), send)

    def _check_sender(self, scope: Message) -> None:
        if self._own_names is None:
            return
        hosts, origins = _values(scope["headers"], b"host"), _values(scope["headers"], b"origin")
        port = (scope.get("server") or ("", _HTTP_PORT))[1]
        own = len(hosts) == 1 and self._is_own(f"http://{hosts[0]}", port)
        if not own or not all(origin in self._origins or self._is_own(origin, port) for origin in origins):
            raise Forbidden("Host and Origin must be this server's own; elsewhere set RECOLLECT_API_KEYS")

    def _is_own(self, url: str, port: int | None) -> bool:
        try:
            parts = urlsplit(url)
            named = parts.port if parts.port is not None else _HTTP_PORT
        except ValueError:
            return False
        return parts.scheme == "http" and parts.hostname in (self._own_names or ()) and named == port

    async def _refuse(self, scope: Message, send: Send, error: Exception) -> None:
        reply = reply_to(error)
        self._log.request(_bare_call(scope), None, None, reply, 0.0, error)
        await send_reply(reply, send)


async def send_reply(reply: Reply, send: Send) -> None:
    """Sends a reply of ours from an ASGI application."""
    await send_answer(rendered(reply), send)


async def send_answer(answer: Answer, send: Send) -> None:
    """Sends what is ready to go out."""
    headers = [(name.lower().encode(), value.encode()) for name, value in answer.headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    body = answer.body if isinstance(answer.body, bytes) else answer.body.encode()
    await send({"type": "http.response.body", "body": body})


async def _read_body(headers: Iterable[tuple[bytes, bytes]], receive: Receive, most: int) -> bytes:
    """The whole body. Raises Declined as soon as it is too large."""
    for length in _values(headers, b"content-length"):
        if length.isdecimal() and (len(length) > _DIGITS_OF_A_LENGTH or int(length) > most):
            raise Declined(TOO_LARGE, f"a body has at most {most} bytes")
    parts: list[bytes] = []
    total, more = 0, True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        total, more = total + len(parts[-1]), message.get("more_body", False)
        if total > most:
            raise Declined(TOO_LARGE, f"a body has at most {most} bytes")
    return b"".join(parts)


def _readable(scope: Message) -> Message:
    """The same request with headers and query that decode as UTF-8."""
    headers: Headers = [(_as_utf8(name), _as_utf8(value)) for name, value in scope["headers"]]
    query = quote(scope.get("query_string", b""), safe=_ASCII_QUERY).encode()
    return {**scope, "headers": headers, "query_string": query}


def _as_utf8(value: bytes) -> bytes:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1").encode()
    return value


def replayed(body: bytes) -> Receive:
    """Gives a body that was read once more, whole."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for given, value in headers if given.lower() == name]


def _bare_call(scope: Message) -> Call:
    """What the log line of a refused request can say of it."""
    return Call(method=scope["method"], path=scope["path"])
