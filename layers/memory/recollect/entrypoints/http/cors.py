"""Pages of other origins in a browser, where the settings name them: their preflights, and what lets them read answers.

Fetch standard, *CORS protocol*. The same methods and headers as the API's in template.yaml; MCP is for no page.
"""

from collections.abc import Iterable

from recollect.entrypoints.http.gate import Application, Headers, Message, Receive, Send

METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
ALLOWED_HEADERS = ("authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "x-api-key")
EXPOSED_HEADERS = ("etag", "idempotent-replayed", "link", "retry-after")
MAX_AGE_SECONDS = 3600
ANY_ORIGIN = "*"
_NO_CONTENT = 204


class Cors:
    """An ASGI application around another: answers preflights of these origins, and names them in each answer."""

    def __init__(self, inner: Application, origins: Iterable[str], excepted_path: str) -> None:
        self._inner = inner
        self._origins = frozenset(origins)
        self._excepted_path = excepted_path

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Passes everything on but a preflight of an origin that may call."""
        headers = scope["headers"] if scope["type"] == "http" else []
        origin = _first(headers, b"origin")
        if origin is None or scope["path"] == self._excepted_path or not self._origins & {ANY_ORIGIN, origin}:
            await self._inner(scope, receive, send)
        elif scope["method"] == "OPTIONS" and _first(headers, b"access-control-request-method") is not None:
            await self._answer_preflight(origin, send)
        else:
            await self._inner(scope, receive, self._naming(origin, send))

    async def _answer_preflight(self, origin: str, send: Send) -> None:
        headers = [
            *self._allowing(origin),
            (b"access-control-allow-methods", _joined(METHODS)),
            (b"access-control-allow-headers", _joined(ALLOWED_HEADERS)),
            (b"access-control-max-age", str(MAX_AGE_SECONDS).encode()),
        ]
        await send({"type": "http.response.start", "status": _NO_CONTENT, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _naming(self, origin: str, send: Send) -> Send:
        """Sends on, with what lets a page of the origin read the answer."""
        own = [*self._allowing(origin), (b"access-control-expose-headers", _joined(EXPOSED_HEADERS))]

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *own]}
            await send(message)

        return named

    def _allowing(self, origin: str) -> Headers:
        if ANY_ORIGIN in self._origins:
            return [(b"access-control-allow-origin", ANY_ORIGIN.encode())]
        return [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"origin")]


def _joined(names: Iterable[str]) -> bytes:
    return ", ".join(names).encode()


def _first(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str | None:
    return next((value.decode("latin-1") for given, value in headers if given.lower() == name), None)
