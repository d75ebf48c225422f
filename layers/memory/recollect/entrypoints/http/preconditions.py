"""`If-Match`: which version of a resource a request is about (api.md, *Versions*)."""

from collections.abc import Mapping

from recollect.entrypoints.http.problems import NEEDS_VERSION, Declined

HEADER = "If-Match"
_ANY = "*"


def etag(version: object) -> str:
    """The ETag of a version."""
    return f'"{version}"'


def require(headers: Mapping[str, str]) -> None:
    """Raises Declined (428) where the request does not say which version it is about."""
    if HEADER.lower() not in headers:
        raise Declined(NEEDS_VERSION, f"{HEADER} is missing: an ETag of the object, or {_ANY}")


def expects(headers: Mapping[str, str]) -> bool:
    """Whether the request names versions; `*` is any that is there."""
    return headers.get(HEADER.lower(), _ANY).strip() != _ANY


def matches(headers: Mapping[str, str], version: object) -> bool:
    """Whether the version is among those that the request names. A weak tag never is (RFC 9110)."""
    named = headers.get(HEADER.lower(), _ANY)
    return named.strip() == _ANY or etag(version) in (tag.strip() for tag in named.split(","))
