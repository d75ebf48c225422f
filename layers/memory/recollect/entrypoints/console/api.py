"""The HTTP API as the console calls it: the routes of this process, with the credentials of the browser's request."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from recollect.entrypoints.http.dispatch import Answer
from recollect.entrypoints.http.messages import VERSION, Call
from recollect.entrypoints.http.routing import path_segment
from recollect.settings import Principal

Dispatch = Callable[[Call], Answer]
_NOT_FOUND = 404
_FORBIDDEN = 403
_STALE = 412
_BUSY = 429
_UNANSWERED = (503, 504)
_NO_FORM = (401, _FORBIDDEN, _NOT_FOUND)
_AGAIN = "Whether it was done is not known. Try it again in a moment: it is done once."
_BUSY_TOLD = (
    "The server is busy with an import, or at its limit of writes. Nothing is changed: try it again in a moment."
)


class Refusal(Exception):
    """The API's problem with a request: its status and its document (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(status)
        self.status, self.problem = status, problem

    @property
    def is_mendable(self) -> bool:
        """Whether other words, the version that holds now, or the same a moment later may be taken."""
        return self.status not in _NO_FORM

    @property
    def is_stale(self) -> bool:
        """Whether another version holds than the one that was shown."""
        return self.status == _STALE

    @property
    def sentences(self) -> list[str]:
        """What is wrong, for a person to read."""
        if self.status == _BUSY:
            return [_BUSY_TOLD]
        faults = self.problem.get("errors") or ()
        named = [f"{_place(fault['loc'])}: {fault['message']}" for fault in faults]
        told = named or [_sentence(str(self.problem.get("detail") or self.problem.get("title") or self.status))]
        return [*told, _AGAIN] if self.status in _UNANSWERED else told


def _sentence(text: str) -> str:
    """With a capital and a point, as it stands on a page."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _place(loc: list[Any]) -> str:
    return ".".join(str(part) for part in loc if part not in ("body", "query", "path")) or "the request"


@dataclass(frozen=True, slots=True)
class Found:
    """A good answer: its document, and the headers."""

    document: Any
    headers: Mapping[str, str]


class Api:
    """Calls for one request of a browser."""

    def __init__(self, dispatch: Dispatch, call: Call, principal: Principal) -> None:
        self._dispatch = dispatch
        self._call = replace(call, query=(), body=b"")
        self._principal = principal

    def get(self, path: str, **query: Any) -> Any:
        """The document at a path. Raises Refusal."""
        return self.send("GET", path, query=query).document

    def find(self, path: str) -> Any:
        """The document at a path, None where there is none. Raises Refusal for every other reason."""
        try:
            return self.get(path)
        except Refusal as refused:
            if refused.status != _NOT_FOUND:
                raise
            return None

    def text(self, target: str) -> tuple[str, str | None]:
        """A text at a path with its query, and the target of the next page. Raises Refusal."""
        parts = urlsplit(target)
        answer = self._answered("GET", parts.path, parse_qsl(parts.query, keep_blank_values=True), b"", {})
        following, _, rest = answer.headers.get("Link", "").partition(">")
        return str(answer.body), following.removeprefix("<") if 'rel="next"' in rest else None

    def post(self, path: str, body: Any = None, *, once: str = "", **query: Any) -> Any:
        """The document that a POST answers; for `once` see `send`."""
        return self.send("POST", path, body, query=query, once=once).document

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        version: str = "",
        once: str = "",
        is_asked_for: bool = True,
    ) -> Found:
        """The answer of a route. `version`: the one that is changed, or empty. Raises Refusal.

        `once` names a form: the same sent twice by it is done once; other words are another request. What nobody has
        asked for is not counted as the tenant's, unless another process answers it.
        """
        pairs = [(name, str(value)) for name, value in (query or {}).items() if value not in (None, "")]
        named = {VERSION.lower(): version if version == "*" else f'"{version}"'} if version else {}
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        key = hashlib.sha256(f"{once} {path} ".encode() + content).hexdigest()
        named |= {"idempotency-key": key} if once else {}
        answer = self._answered(method, path, pairs, content, named, is_asked_for=is_asked_for)
        document = json.loads(answer.body) if answer.body else None
        return Found(document, answer.headers)

    def _answered(
        self,
        method: str,
        path: str,
        query: list[tuple[str, str]],
        body: bytes,
        headers: Mapping[str, str],
        *,
        is_asked_for: bool = True,
    ) -> Answer:
        own = {**self._call.headers, **headers}
        call = replace(self._call, method=method, path=path, query=query, headers=own, body=body)
        answer = self._dispatch(replace(call, is_asked_for=is_asked_for))
        if answer.status >= 400:
            raise self._refusal(answer, path)
        return answer

    def _refusal(self, answer: Answer, path: str) -> Refusal:
        """Another user is absent for whoever speaks for one."""
        if answer.status == _FORBIDDEN and self._principal.limited_to_subject and path.startswith("/v1/users/"):
            return absent("object")
        return Refusal(answer.status, json.loads(answer.body))


def absent(what: str) -> Refusal:
    """The API's answer for what is not there."""
    return Refusal(_NOT_FOUND, {"title": f"There is no such {what}", "detail": f"There is no such {what}."})


def user_path(user_id: str, *parts: str) -> str:
    """A path of the API below a user; every part is a word of ours or an id."""
    return "/v1/users/" + "/".join(path_segment(one) for one in (user_id, *parts))
