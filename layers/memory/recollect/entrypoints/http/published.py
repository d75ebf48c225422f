"""Documents that are the same for everybody: answered compressed, and not at all to who has them already.

Whoever finds the address may ask for them without credentials, and they are large: 357 KB, or 25 KB compressed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from recollect.entrypoints.http.messages import Reply, Request

MAX_AGE_SECONDS = 300
NO_HEADERS: Mapping[str, str] = {}
_GZIP = "gzip"
_ANY = "*"


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
