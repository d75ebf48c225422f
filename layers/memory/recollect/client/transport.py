"""How a client connects, reads a response, and decides whether to repeat a call.

It may repeat every call: one that has an effect carries an idempotency key or is idempotent.
"""

import email.utils
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

from recollect import __version__
from recollect.client.calls import Call
from recollect.client.errors import RecollectApiError, error_of

_NO_CONTENT = 204
_MAY_PASS = frozenset({429, 502, 503, 504})
_IN_FLIGHT = 409


def client_options(base_url: str, api_key: str | None, timeout_seconds: float) -> dict[str, Any]:
    """Options of an httpx client. Redirects are not followed: they would send the key elsewhere."""
    headers = {"User-Agent": f"recollect-python/{__version__}", "Accept": "application/json"}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    timeout = httpx.Timeout(timeout_seconds)
    return {"base_url": base_url.rstrip("/"), "headers": headers, "timeout": timeout, "follow_redirects": False}


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


DEFAULT_RETRIES = RetryPolicy()


def document_of(call: Call, response: httpx.Response) -> dict[str, Any]:
    """The JSON object of a successful response, empty for 204. Raises RecollectApiError for any other."""
    if response.status_code == _NO_CONTENT:
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
