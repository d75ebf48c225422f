"""How an integration reaches a memory: a server over HTTP, or a store in this process, by the same routes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import httpx

from recollect.client.errors import ConnectionFailed, Unprocessable, error_of

_TRIES = 3
_AGAIN = (429, 503)
_OPERATIONS_AT_ONCE = 500
_BYTES_AT_ONCE = 4_000_000

_Place = TypeVar("_Place")
_Operation = TypeVar("_Operation", bound=Mapping[str, Any])


class Connection(Protocol):
    """Sends one request of which a repetition does no harm."""

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON of the answer. Raises what `recollect.client.errors` has."""

    def close(self) -> None:
        """Closes what is open."""


class ServerConnection:
    """A server at `url`; `api_key` goes out as a bearer token. Threads may share it."""

    def __init__(self, url: str, api_key: str | None = None, timeout_seconds: float = 30.0) -> None:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=timeout_seconds)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Repeats what failed before an answer came, and what was throttled, twice at most."""
        data = _json(body)
        for tries_left in reversed(range(_TRIES)):
            try:
                answer = self._client.post(path, content=data, headers={"Content-Type": "application/json"})
            except httpx.TransportError as error:
                if not tries_left:
                    raise ConnectionFailed(f"no response: {type(error).__name__}") from error
                continue
            if answer.status_code not in _AGAIN or not tries_left:
                return _read(answer.status_code, answer.content)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


class LocalConnection:
    """A store in a folder, opened in this process; no server and no network. Threads may share it.

    `embedder` is that of RECOLLECT_EMBEDDER where it is None. Raises ConfigurationError.
    """

    def __init__(self, path: str | Path, embedder: str | None = None) -> None:
        import io
        import os

        from recollect.bootstrap import open_app
        from recollect.entrypoints.http.access_log import AccessLog
        from recollect.entrypoints.http.dispatch import LOCAL, Dispatcher
        from recollect.entrypoints.http.routes import GROUPS, routes_of
        from recollect.settings import Settings

        own = {"RECOLLECT_HOME": str(Path(path).expanduser()), "RECOLLECT_ENGINES": "local"}
        chosen = {} if embedder is None else {"RECOLLECT_EMBEDDER": embedder}
        self._app = open_app(Settings.from_environment({**os.environ, **own, **chosen}))
        log = AccessLog("ERROR", io.StringIO(), f"recollect-{id(self)}")
        self._dispatcher = Dispatcher(self._app, routes_of(GROUPS), lambda _: LOCAL, log)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """As the server answers it."""
        from recollect.entrypoints.http.messages import Call

        answer = self._dispatcher.dispatch(Call(method="POST", path=path, body=_json(body)))
        content = answer.body.encode() if isinstance(answer.body, str) else answer.body
        return _read(answer.status, content)

    def close(self) -> None:
        """Closes the store."""
        self._app.parts.close()


def in_requests(operations: Sequence[tuple[_Place, _Operation]]) -> Iterator[list[tuple[_Place, _Operation]]]:
    """Operations of a batch with their places, in order, in requests of a size that a server takes.

    Puts go by themselves where there are several, so that reads may be repeated.
    """
    part: list[tuple[_Place, _Operation]] = []
    size = 0
    for place, operation in operations:
        own = len(json.dumps(operation, ensure_ascii=False).encode())
        full = len(part) == _OPERATIONS_AT_ONCE or size + own > _BYTES_AT_ONCE
        if part and (full or ("put" in operation) != ("put" in part[-1][1])):
            yield part
            part, size = [], 0
        part.append((place, operation))
        size += own
    if part:
        yield part


def answers_of(connection: Connection, operations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The answers of `/store/batch` to any number of operations, in order. Raises Unprocessable for a wrong one."""
    found: list[dict[str, Any]] = []
    for part in in_requests(list(enumerate(operations))):
        found += answers_at_once(connection, [operation for _, operation in part])
    return found


def answers_at_once(connection: Connection, operations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The answers to one request of operations, in more where they are too large for one answer."""
    try:
        return list(connection.post("/store/batch", {"operations": operations})["results"])
    except Unprocessable as error:
        if error.errors or len(operations) == 1:
            raise
        half = len(operations) // 2  # nothing is wrong with any
        return [*answers_at_once(connection, operations[:half]), *answers_at_once(connection, operations[half:])]


def _json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _read(status: int, content: bytes) -> Any:
    try:
        body = json.loads(content) if content else None
    except ValueError:
        body = None
    if status < 300:
        return body
    raise error_of(status, body if isinstance(body, dict) else {}, None)
