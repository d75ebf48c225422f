"""What an answer says: a document, or the error that its status stands for."""

import email.utils
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import httpx

from recollect.client.calls import Call
from recollect.client.errors import RecollectApiError, error_of

_NO_CONTENT = 204


def document(call: Call, response: httpx.Response) -> dict[str, Any]:
    """The JSON of a good answer, empty where it has none. Raises RecollectApiError for every other."""
    if response.status_code == _NO_CONTENT:
        return {}
    body = _body(response)
    if response.status_code < 300 or (call.not_ready_is_an_answer and _says_not_ready(response, body)):
        if body is None:
            raise RecollectApiError(response.status_code, {"title": "the answer is no JSON object"})
        return dict(body)
    raise error_of(response.status_code, body or {}, retry_after_seconds(response))


def lines(call: Call, response: httpx.Response) -> str:
    """The text of a good answer that is no JSON. Raises RecollectApiError for every other."""
    if response.status_code >= 300:
        document(call, response)
    return response.text


def retry_after_seconds(response: httpx.Response) -> float | None:
    """How long the server asks to wait; None where it does not say, or not so that it can be read."""
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


def _body(response: httpx.Response) -> Mapping[str, Any] | None:
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None
