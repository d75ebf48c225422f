"""A request as a value: method, path, query, body, headers. No network here."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

_PLAIN_ID = re.compile("[A-Za-z0-9._-]+")
_NEXT = re.compile(r'<([^>]*)>; *rel="next"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request. `body` is sent as JSON, `content` as it is; both None: no body.

    `not_ready_is_an_answer`: a 503 with a JSON body is an answer, not an error.
    `timeout_seconds` None: the client's.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    not_ready_is_an_answer: bool = False
    timeout_seconds: float | None = None

    def after(self, cursor: str) -> "Call":
        """The next page of a list."""
        return replace(self, query={**self.query, "cursor": cursor})


def get(*segments: str, query: Mapping[str, Any] | None = None) -> Call:
    """A GET under `/v1`."""
    return _call("GET", segments, query)


def post(*segments: str, body: Mapping[str, Any], query: Mapping[str, Any] | None = None) -> Call:
    """A POST without effect; sends the values of `body` that are not None."""
    return replace(_call("POST", segments, query), body=present(body))


def post_once(
    key: str | None, *segments: str, body: Mapping[str, Any] | None = None, query: Mapping[str, Any] | None = None
) -> Call:
    """A POST with an idempotency key, the caller's or a fresh one, so that the client may repeat it."""
    sent = None if body is None else present(body)
    return replace(_call("POST", segments, query), body=sent, headers={"Idempotency-Key": key or uuid4().hex})


def put(*segments: str, body: Mapping[str, Any], version: int | str | None) -> Call:
    """Replaces an object, only that version where one is given; None in the body is sent as null."""
    return replace(_call("PUT", segments), body=plain(body), headers=_if_match(version))


def patch(*segments: str, body: Mapping[str, Any], version: int | None, query: Mapping[str, Any] | None = None) -> Call:
    """Changes an object, any version where none is given; None in the body is sent as null."""
    headers = {"If-Match": "*"} if version is None else _if_match(version)
    return replace(_call("PATCH", segments, query), body=plain(body), headers=headers)


def delete(*segments: str, version: int | None = None, query: Mapping[str, Any] | None = None) -> Call:
    """Deletes an object, only that version where one is given."""
    return replace(_call("DELETE", segments, query), headers=_if_match(version))


def next_page(call: Call, link: str) -> Call | None:
    """The call of the next page in a `Link` header; None at the end."""
    found = _NEXT.search(link)
    cursor = dict(parse_qsl(urlsplit(found[1]).query)).get("cursor") if found else None
    return call.after(cursor) if cursor else None


def path_segment(value: str) -> str:
    """An id in a path: itself where plain, else `~` and the unpadded base64url of its UTF-8 (api.md, *Ids*).

    Raises ValueError where the id is no Unicode text.
    """
    if _PLAIN_ID.fullmatch(value) and value not in (".", ".."):
        return value
    return "~" + base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are not None, as JSON."""
    return {name: plain(value) for name, value in values.items() if value is not None}


def plain(value: Any) -> Any:
    """The value as JSON: times in ISO 8601, arrays of numbers as lists."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _call(method: str, segments: tuple[str, ...], query: Mapping[str, Any] | None = None) -> Call:
    path = "/v1/" + "/".join(map(path_segment, segments))
    return Call(method=method, path=path, query={name: str(value) for name, value in present(query or {}).items()})


def _if_match(version: int | str | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}
