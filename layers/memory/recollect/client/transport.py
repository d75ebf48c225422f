"""How a client connects, reads a response, and decides whether to repeat a call.

It may repeat every call: one that has an effect carries an idempotency key or is idempotent.
"""

import base64
import email.utils
import json
import random
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import httpx

from recollect import __version__
from recollect.client.errors import RecollectApiError, error_of

SHARED_OWNER = "__shared__"
"""The user who owns what is nobody's: it has an agent, an application or a namespace instead."""
_SAMPLES = 20
_LABELS = ("agent_id", "app_id", "namespace", "namespace_prefix")
_PLAIN_ID = re.compile("[A-Za-z0-9._-]+")
_NEXT = re.compile(r'<([^>]*)>; *rel="next"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request. `body` is sent as JSON, `content` as it is; both None: no body.

    `not_ready_is_an_answer`: a 503 with a JSON body is an answer, not an error.
    `timeout_seconds` None: the client's. `repeatable` False: what it does a second time is something else, so it is
    sent again only where the server refused to begin (429).
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    not_ready_is_an_answer: bool = False
    timeout_seconds: float | None = None
    repeatable: bool = True

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
    return once(replace(_call("POST", segments, query), body=sent), key)


def once(call: Call, key: str | None) -> Call:
    """The call with an idempotency key, the caller's or a fresh one."""
    return replace(call, headers={**call.headers, "Idempotency-Key": key or uuid4().hex})


def put(*segments: str, body: Mapping[str, Any], version: int | str | None) -> Call:
    """Replaces an object, only that version where one is given; None in the body is sent as null."""
    return replace(_call("PUT", segments), body=plain(body), headers=_if_match(version))


def patch(*segments: str, body: Mapping[str, Any], version: int | None, query: Mapping[str, Any] | None = None) -> Call:
    """Changes an object, any version where none is given; None in the body is sent as null."""
    return of_version(replace(_call("PATCH", segments, query), body=plain(body)), version)


def of_version(call: Call, version: int | None) -> Call:
    """The call for that version of an object, any where none is given."""
    headers = {"If-Match": "*"} if version is None else _if_match(version)
    return replace(call, headers={**call.headers, **headers})


def delete(*segments: str, version: int | None = None, query: Mapping[str, Any] | None = None) -> Call:
    """Deletes an object, only that version where one is given."""
    return replace(_call("DELETE", segments, query), headers=_if_match(version))


def store(
    method: str,
    part: str,
    body: Mapping[str, Any] | None = None,
    query: Mapping[str, Any] | None = None,
    version: int | None = None,
) -> Call:
    """A call under `/store`, of the items of applications; None in the body is left out. Version 0 is of nothing."""
    sent = None if body is None else present(body)
    headers = {"If-None-Match": "*"} if version == 0 else _if_match(version)
    return Call(method=method, path=f"/store/{part}", query=_query(query), body=sent, headers=headers)


def next_page(call: Call, link: str) -> Call | None:
    """The call of the next page in a `Link` header; None at the end."""
    found = _NEXT.search(link)
    cursor = dict(parse_qsl(urlsplit(found[1]).query)).get("cursor") if found else None
    return call.after(cursor) if cursor else None


def path_segment(value: str) -> str:
    """An id in a path: itself where plain, else `~` and the unpadded base64url of its UTF-8.

    Raises ValueError where the id is no Unicode text.
    """
    if _PLAIN_ID.fullmatch(value) and value not in (".", ".."):
        return value
    return "~" + base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")


def asked_of(
    order: Sequence[str | None], user_id: str | None, text: str | None, options: Mapping[str, Any]
) -> tuple[str | None, str | None]:
    """Whose memory is asked for what: ("Where?",) beside `user_id` or labels, or the user before the text.

    Raises TypeError where that is more, or neither a user nor a label.
    """
    given = list(order)
    labelled = any(options.get(name) is not None for name in _LABELS)
    if user_id is None and not (labelled and len(given) + (text is not None) == 1):
        user_id = given.pop(0) if given else None
    if given and text is None:
        text = given.pop(0)
    if given or (user_id is None and not labelled):
        raise TypeError("give a text and user_id=…, or the user's id and the text")
    return user_id, text


def deleted_together(total: Mapping[str, Any], page: Mapping[str, Any]) -> dict[str, Any]:
    """The sum of two answers of a deletion by filter, with the first samples."""
    samples = [*total["memory_ids"], *page["memory_ids"]][:_SAMPLES]
    return {**{name: total[name] + page[name] for name in ("matched", "deleted")}, "memory_ids": samples}


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
    return Call(method=method, path=path, query=_query(query))


def _query(given: Mapping[str, Any] | None) -> dict[str, str]:
    return {name: _in_query(value) for name, value in present(given or {}).items()}


def _in_query(value: Any) -> str:
    """Labels with slashes between, an object and yes or no as JSON."""
    if isinstance(value, list):
        return "/".join(map(str, value))
    return json.dumps(value) if isinstance(value, dict | bool) else str(value)


def _if_match(version: int | str | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}


ApiKey: TypeAlias = str | Callable[[], str]
"""A key or a token, or what gives the current one."""
AsyncApiKey: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""The same; what is asked may have to be awaited."""

_NO_CONTENT = 204
_UNAUTHENTICATED = 401
_THROTTLED = 429
_MAY_PASS = frozenset({_THROTTLED, 502, 503, 504})
_IN_FLIGHT = 409


def client_options(base_url: str, api_key: AsyncApiKey | None, timeout_seconds: float) -> dict[str, Any]:
    """Options of an httpx client. Redirects are not followed: they would send the key elsewhere."""
    headers = {"User-Agent": f"recollect-python/{__version__}", "Accept": "application/json"}
    if isinstance(api_key, str) and api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    auth = _AskedKey(api_key) if callable(api_key) else None
    told = {"base_url": base_url.rstrip("/"), "headers": headers, "auth": auth}
    return {**told, "timeout": httpx.Timeout(timeout_seconds), "follow_redirects": False}


class _AskedKey(httpx.Auth):
    """A key that is asked for before the first call, kept, and asked for anew, once a call, where it is refused (401).

    A request that was refused has done nothing, so it is sent again whatever it is.
    """

    def __init__(self, ask: Callable[[], str | Awaitable[str]]) -> None:
        self._ask = ask
        self._key: str | None = None

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """The request with the key; once more with another one."""
        if self._key is None:
            self._key = _key_of(self._ask())
        sent = _signed(request, self._key)
        if (yield request).status_code == _UNAUTHENTICATED:
            if self._key == sent:  # another thread has asked since where it is not
                self._key = _key_of(self._ask())
            _signed(request, self._key)
            yield request

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """The same for asyncio."""
        if self._key is None:
            self._key = await self._asked()
        sent = _signed(request, self._key)
        if (yield request).status_code == _UNAUTHENTICATED:
            if self._key == sent:
                self._key = await self._asked()
            _signed(request, self._key)
            yield request

    async def _asked(self) -> str:
        given = self._ask()
        return _key_of(given if isinstance(given, str) else await given)


def _signed(request: httpx.Request, key: str) -> str:
    request.headers["Authorization"] = f"Bearer {key}"
    return key


def _key_of(given: object) -> str:
    if isinstance(given, str) and given:
        return given
    if isinstance(given, Coroutine):
        given.close()  # or it would warn, long after, that nobody waited for it
    raise TypeError(f"api_key gave {type(given).__name__}, and not a key as text; one to await is AsyncRecollect's")


def request_options(call: Call) -> dict[str, Any]:
    """Arguments of httpx's `request`."""
    options: dict[str, Any] = {"method": call.method, "url": call.path, "params": call.query, "json": call.body}
    options |= {"content": call.content, "headers": call.headers}
    return options if call.timeout_seconds is None else options | {"timeout": call.timeout_seconds}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """`tries` counts the first. Pauses double from `first_pause_seconds`, half of each at random.

    The server's `Retry-After` replaces the pause; where it exceeds `longest_pause_seconds`, the error is raised at
    once.
    """

    tries: int = 4
    first_pause_seconds: float = 0.2
    longest_pause_seconds: float = 10.0

    def pause_after_failure(self, attempt: int) -> float | None:
        """Seconds to wait after try number `attempt` (from 1) got no response; None: give up."""
        return self._pause(attempt) if attempt < self.tries else None

    def pause_after(self, call: Call, response: httpx.Response, attempt: int) -> float | None:
        """Seconds to wait before the next try; None where this response is final."""
        asked = _retry_after_seconds(response)
        if attempt >= self.tries or not _may_pass(call, response, asked):
            return None
        pause = self._pause(attempt) if asked is None else asked
        return pause if pause <= self.longest_pause_seconds else None

    def _pause(self, attempt: int) -> float:
        whole: float = min(self.first_pause_seconds * 2 ** (attempt - 1), self.longest_pause_seconds)
        return whole / 2 + random.uniform(0, whole / 2)  # noqa: S311 - spreads retries, guards nothing


EVERY_DAY = 110_000
"""As many days back as a window may go: the whole timeline."""

DEFAULT_RETRIES = RetryPolicy()


def document_of(call: Call, response: httpx.Response) -> dict[str, Any]:
    """The JSON object of a successful response, empty for 204 and for null. Raises RecollectApiError for any other."""
    if response.status_code == _NO_CONTENT or (response.status_code < 300 and response.content == b"null"):
        return {}
    body = _json_object(response)
    if response.status_code < 300 or (call.not_ready_is_an_answer and _says_not_ready(response, body)):
        if body is None:
            raise RecollectApiError(response.status_code, {"title": "the answer is no JSON object"})
        return dict(body)
    raise error_of(response.status_code, body or {}, _retry_after_seconds(response))


def text_of(call: Call, response: httpx.Response) -> str:
    """The text of a successful response. Raises RecollectApiError for any other."""
    if response.status_code >= 300:
        document_of(call, response)
    return response.text


def _may_pass(call: Call, response: httpx.Response, asked: float | None) -> bool:
    """A conflict may pass only with `Retry-After`: then a request with the same key is in flight."""
    if call.not_ready_is_an_answer and response.status_code == 503:
        return False
    if not call.repeatable:
        return response.status_code == _THROTTLED
    return response.status_code in _MAY_PASS or (response.status_code == _IN_FLIGHT and asked is not None)


def _retry_after_seconds(response: httpx.Response) -> float | None:
    """None where the header is absent or unreadable."""
    given = response.headers.get("Retry-After", "").strip()
    if given.isdecimal():
        return float(given)
    try:
        moment = email.utils.parsedate_to_datetime(given)
    except ValueError:
        return None
    return max(0.0, (moment - datetime.now(UTC)).total_seconds()) if moment.tzinfo else None


def _says_not_ready(response: httpx.Response, body: Mapping[str, Any] | None) -> bool:
    return response.status_code == 503 and body is not None and "ready" in body


def _json_object(response: httpx.Response) -> Mapping[str, Any] | None:
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None
