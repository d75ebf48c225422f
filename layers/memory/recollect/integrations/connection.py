"""How an integration reaches a memory: a server over HTTP, or a store in this process, by the same routes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import httpx

from recollect.client.errors import ConnectionFailed, error_of

_TRIES = 3
_AGAIN = (429, 503)


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
