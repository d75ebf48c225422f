"""The HTTP surface without a socket: the client's requests, answered by the use cases of this process.

Threads of the process project what is stored, as those of `recollect serve` do; a call that has stored something is
answered when that is projected, or after ten seconds.
"""

import asyncio
import logging
import os
import threading
import weakref
from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import parse_qsl

import httpx

from recollect.bootstrap import open_app
from recollect.core.errors import InvalidInput
from recollect.core.ids import id_fault
from recollect.entrypoints.cli.console import ensure_model
from recollect.entrypoints.http.credentials import Authenticate
from recollect.entrypoints.http.dispatch import Answer, Dispatcher
from recollect.entrypoints.http.messages import LOCAL_SECONDS, Call, Reply
from recollect.entrypoints.http.routes import GROUPS, routes_of
from recollect.entrypoints.http.routing import Route
from recollect.entrypoints.worker import LOCAL_POLICY, AwaitedProjector
from recollect.settings import Principal, Settings

_LOG = logging.getLogger(__name__)
_BESIDE_THE_MODEL_SECONDS: Final = 5.0
_LONGEST_WAIT_SECONDS: Final = 10.0
_POLICY: Final = replace(LOCAL_POLICY, stop_seconds=60.0)
"""A model that is still at work when the interpreter ends would abort the process."""


def settings_in(folder: str | os.PathLike[str] | None, embedder: str | None) -> Settings:
    """The environment's settings, over the local engines in this folder. Raises ConfigurationError."""
    own = {"RECOLLECT_ENGINES": "local", "RECOLLECT_LOCAL_API": "0"}
    if folder is not None:
        own["RECOLLECT_HOME"] = os.fspath(folder)
    if embedder is not None:
        own["RECOLLECT_EMBEDDER"] = embedder
    return Settings.from_environment({**os.environ, **own})


class InProcess(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport of httpx, for both clients and any number of threads and tasks.

    After a fork the child opens the folder for itself with its first request: threads, SQLite's connections and the
    model's threads do not outlive a fork. What was open before stays as it is until the child ends.
    """

    def __init__(self, settings: Settings, tenant: str) -> None:
        """Opens it; builds the embedding model where it is missing. Raises RecollectError where it cannot be opened."""
        fault = id_fault(tenant)
        if fault is not None:
            raise InvalidInput(f"tenant: {fault}")
        self._settings = settings
        self._authenticate = _speaking_for(tenant)
        ensure_model(settings, _LOG.warning)
        self._begin()
        self._opened_now()
        _OPEN.add(self)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer of the route, whatever it is."""
        request.read()
        return _response(self._opened_now().answer(request))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The same in a thread: the use cases wait for the disk and reckon."""
        await request.aread()
        return _response(await asyncio.to_thread(lambda: self._opened_now().answer(request)))

    def close(self) -> None:
        """Ends the threads and closes the file."""
        self._end()

    async def aclose(self) -> None:
        """The same; other tasks go on meanwhile."""
        await asyncio.to_thread(self._end)

    def forked(self) -> None:
        """In the child of a fork: forgets what belongs to the parent."""
        self._end.detach()
        _LEFT_TO_THE_PARENT.append(self._holder)
        self._begin()

    def _begin(self) -> None:
        self._opening = threading.Lock()
        self._holder: list[_Opened] = []
        self._end = weakref.finalize(self, _close_all, self._holder)

    def _opened_now(self) -> "_Opened":
        with self._opening:
            if not self._holder:
                self._holder.append(_Opened(self._settings, self._authenticate))
            return self._holder[0]


class _Opened:
    """The app over an open folder, its routes and its threads."""

    def __init__(self, settings: Settings, authenticate: Authenticate) -> None:
        self._app = open_app(settings)
        self._app.parts.create()
        self._dispatcher = Dispatcher(self._app, routes_of(GROUPS), authenticate, DebugLog())
        self._seconds = max(LOCAL_SECONDS, settings.model_timeout_seconds + _BESIDE_THE_MODEL_SECONDS)
        self._projector = AwaitedProjector(self._app, _POLICY) if settings.projector == "on" else None
        if self._projector is not None:
            self._projector.start()

    def answer(self, request: httpx.Request) -> Answer:
        """What the route answers."""
        call = Call(
            method=request.method,
            path=request.url.path,
            query=parse_qsl(request.url.query.decode(), keep_blank_values=True),
            headers={name.lower(): value for name, value in request.headers.items()},
            body=request.content,
            remaining_seconds=self._seconds,
        )
        answer = self._dispatcher.dispatch(call)
        if self._projector is not None:
            self._projector.wait(_LONGEST_WAIT_SECONDS)
        return answer

    def close(self) -> None:
        """Ends the threads after the step under way, and closes the file."""
        if self._projector is not None:
            self._projector.stop()
        self._app.close()


class DebugLog:
    """One line per request for the program's own logging, at DEBUG; ids, texts and keys are in none."""

    def request(
        self,
        _call: Call,
        route: Route | None,
        _principal: Principal | None,
        reply: Reply,
        seconds: float,
        error: Exception | None,
    ) -> None:
        """A failure of ours stands at ERROR, by its class."""
        fields = {"route": route.template if route else "none", "status": reply.status, "seconds": round(seconds, 4)}
        if reply.status >= 500 and error is not None:
            _LOG.error("%s failed: %s", fields["route"], type(error).__name__, extra=fields)
        else:
            _LOG.debug("%s: %s", fields["route"], reply.status, extra=fields)


def _speaking_for(tenant: str) -> Authenticate:
    principal = Principal(tenant, admin=True)
    return lambda _call: principal


def _response(answer: Answer) -> httpx.Response:
    headers: Mapping[str, str] = answer.headers
    body = answer.body if isinstance(answer.body, bytes) else answer.body.encode()
    return httpx.Response(answer.status, headers=headers, content=body)


def _close_all(opened: list[_Opened]) -> None:
    while opened:
        opened.pop().close()


_OPEN: "weakref.WeakSet[InProcess]" = weakref.WeakSet()
_LEFT_TO_THE_PARENT: list[list[_Opened]] = []
"""SQLite's connections may not even be closed in a child (its documentation, *How To Corrupt*, 2.6)."""


def _after_fork() -> None:
    for transport in list(_OPEN):
        transport.forked()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)
